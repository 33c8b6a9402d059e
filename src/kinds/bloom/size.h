/* size.h - the geometry of a Bloom filter, its rate, and how large it must be.
 *
 * Scattered filters have the rate of theory/bloom_rate.h. In a blocked filter the keys of a line
 * are binomial, and in a line with j keys a sector of s bits has a share of 1 - (1 - 1/s)^j marked
 * bits, independently of the other sectors; so the rate is the mean of (1 - (1 - 1/s)^j)^k over j,
 * exactly (theory/blocked.h). Bits per key for some rates, and the k that takes the fewest:
 *
 *     rate         10%       1%        0.3%       0.1%       0.01%      1e-6
 *     scattered    4.8       9.6       12.1       14.4       19.2       28.8
 *     blocked      4.9 (4)   10.1 (8)  12.8 (8)   15.7 (8)   23.0 (16)  39.2 (16)
 *     the same, fast, with 8 hashes at least:
 *                  5.9 (8)   as above
 *
 * Lines are not equally full, and the fullest ones make most of the false positives. The lower the
 * rate, the more it costs to keep these below it.
 *
 * Example: at 10.1 bits for a key a line has 512 / 10.1 = 50.7 keys on average, with a deviation of
 * 7.1. With k = 8, a line of 51 keys has a share of 1 - (1 - 1/64)^51 = 0.55 marked bits, and a
 * rate of 0.55^8 = 0.86%; one of 65 keys, two deviations more, has 0.64 and 2.8%.
 */
#ifndef TAMIS_KINDS_BLOOM_SIZE_H
#define TAMIS_KINDS_BLOOM_SIZE_H

#include "need.h"

/* The geometry: m, k, and whether all marks of a key are in one cache line. */
enum { BLOOM_BITS, BLOOM_HASHES, BLOOM_BLOCKED, BLOOM_FIELDS };

#define BLOOM_MAX_BITS (UINT64_C(1) << 63)

/* False for a geometry that cannot exist, or is too large to address. */
bool tamis_bloom_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

double tamis_bloom_rate(const uint64_t *geometry, double n);

/* Fill in the fields that are not fixed, for the smallest filter. It is blocked if speed is
 * preferred and nothing is fixed: geometries without the field mean what they meant before it came.
 * If the bits are fixed, any rate is accepted. False: there is no such filter. */
bool tamis_bloom_plan(const tamis_need *need, uint64_t *ret_geometry);

#endif
