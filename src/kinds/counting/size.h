/* size.h - the analysis of the counting Bloom filter: n keys, m counters, k hashes.
 *
 * Its fpr is that of a Bloom filter (bloom_size.h): a counter that is not 0 is a mark. Blocked, all
 * counters of a key are in one cache line, each in a sector of its own, and a line with j keys has
 * in a sector of s counters a share of 1 - (1 - 1/s)^j that are not 0. The rate is the mean over
 * lines of the product over sectors, exactly (blocked.h).
 *
 * A counter sticks when as many keys as it can count have hit it. How many hit one counter is
 * binomial in both layouts: of nk hits with a chance of 1/m each, or of n keys with a chance of 1
 * by the lines times s.
 *
 * Minimal increase: an add counts up only those counters of the key that are its smallest (S.
 * Cohen, Y. Matias, "Spectral Bloom Filters", SIGMOD 2003). Counters are not 0 where they would not
 * be otherwise, so the rate is the same. Let a_v be the share of counters that are at least v, and
 * u = nk/m for different keys. A key finds its smallest to be v, and one of its counters to be so,
 * that often that
 *
 *     d a_(v+1) / du = (a_v - a_(v+1)) a_v^(k-1),    a_0 = 1.
 *
 * Counters come to the top v together, those of one key: m/k (a_(v-1)^k - a_v^k) du times. It is a
 * mean-field law, and the more exact the larger the table: to a fifth for hundreds of counters.
 */
#ifndef TAMIS_KINDS_COUNTING_SIZE_H
#define TAMIS_KINDS_COUNTING_SIZE_H

#include "core/sectors.h"
#include "need.h"

/* The geometry. */
enum {
    CBF_COUNTERS,
    CBF_HASHES,
    CBF_COUNTER_BITS,
    CBF_BLOCKED, /* 1: all counters of a key are in one cache line */
    CBF_MINIMAL, /* 1: an add counts up only the smallest counters of the key */
    CBF_FIELDS
};

#define CBF_MIN_BITS 2
#define CBF_USUAL_BITS 4
#define CBF_MAX_BITS 16
#define CBF_MAX_HASHES 64
#define CBF_PAD_BYTES 8 /* behind counters that are anywhere; those of a line end within it */

/* False for a geometry that cannot be, or is too large to address. */
bool tamis_cbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

double tamis_cbf_fpr(const uint64_t *geometry, double n);

/* P[any counter ever sticks]. A little too large, since a counter that falls and rises again is
 * counted twice. With minimal increase nothing falls, and it is that of n keys. */
double tamis_cbf_saturation(const uint64_t *geometry, double n, double lifetime);

/* Fill in what is free, for the smallest table. With fpr 0, or the counters and hashes fixed, the
 * rate is what it is. False: it cannot be had. */
bool tamis_cbf_choose(double fpr, double n, uint64_t *geometry);

#endif
