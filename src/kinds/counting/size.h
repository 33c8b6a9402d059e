/* size.h - the analysis of the counting Bloom filter, and how large it must be.
 *
 * Names: n keys, m counters, k hashes.
 *
 * Rate. A counter that is not 0 is a mark, so the rate is that of a Bloom filter
 * (theory/bloom_rate.h). In a blocked table a line with j keys has, in a sector of s counters, a
 * share of 1 - (1 - 1/s)^j that are not 0; the rate is the mean over lines of the product over
 * sectors, exactly (theory/blocked.h). Copies of a key hit the same counters, so they do not change
 * the rate.
 *
 * Saturation. How many keys hit one counter is binomial in both layouts: of nk hits with a chance
 * of 1/m each, or of n keys with a chance of 1 / (lines x s). If every key has c copies, each hit
 * adds c, and a counter sticks after ceil(top / c) hits.
 *
 * Width of counters. Enough bits that
 *   - a key with `count_to` copies is below the maximum, which stands for "stuck";
 *   - a counter sticks after 15 hits at the earliest, as with the usual 4 bits and one copy: with
 *     the best k, that has a probability of 2e-15 per counter.
 *
 * So 3 copies of every key take counters of 6 bits: 63 / 3 = 21 hits; of 5 bits they stick after
 * 31 / 3, rounded up to 11.
 *
 * Minimal increase: an add counts up only those counters of the key that have its smallest value
 * (S. Cohen, Y. Matias, "Spectral Bloom Filters", SIGMOD 2003). The same counters as otherwise are
 * not 0, so the rate is the same. Let a_v be the share of counters that are at least v, and
 * u = nk/m for different keys. A key counts a counter of value v up if v is its smallest value, so
 *
 *     d a_(v+1) / du = (a_v - a_(v+1)) a_v^(k-1),    a_0 = 1.
 *
 * The share of counters of value v is a_v - a_(v+1), and the other k - 1 counters of the key must
 * be at least v. Without the last factor that is the law of plain counters, which are hit at the
 * rate 1.
 *
 * The counters of a key reach the top v together, and that happens m/k (a_(v-1)^k - a_v^k) du
 * times. This is a mean-field law: the larger the table, the more exact. It is right to a fifth for
 * hundreds of counters.
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
#define CBF_MAX_COUNTERS (UINT64_C(1) << 62)
#define CBF_PAD_BYTES 8 /* behind scattered counters; those of a line end within it */

/* False for a geometry that cannot exist, or is too large to address. */
bool tamis_cbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* The highest count that is exact: the maximum of a counter stands for "stuck". */
uint64_t tamis_cbf_count_to(const uint64_t *geometry);

double tamis_cbf_fpr(const uint64_t *geometry, double n);

/* P[any counter ever sticks]. A little too large, since a counter that falls and rises again is
 * counted twice. With minimal increase nothing falls, and only the n keys of the filling count. */
double tamis_cbf_saturation(const uint64_t *geometry, const tamis_workload *work);

/* Fill in the fields that are not fixed, for the smallest table. If the size and the hashes are
 * fixed, or the fpr is 0, any rate is accepted. False: there is no such table. */
bool tamis_cbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
