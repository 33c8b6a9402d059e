/* analysis.h - what a table of counters with variable increments does: its fpr, and how often a
 * counter sticks.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, section III. Names follow it: n keys, m counters
 * of b bits, k hashes, the set of increments D; X, how many hits a counter has had; p, the
 * probability that one counter excludes an absent key.
 *
 * Idea. Equation (5) of the paper says fpr = (1 - p)^k. Theorem 2 computes p for D = D_L, where
 * counters with X > 2 exclude no key. Here p is computed for every D and every X. The distribution
 * of the sum of j random increments tells e(j), how often a counter with X = j excludes an absent
 * key, and s(j), how often such a counter is stuck at its maximum. Both depend on D and b only.
 * X is binomial (equation (2)), so
 *
 *     p = sum over j of  P[X = j] e(j),      P[X = j] = C(nk, j) (1/m)^j (1 - 1/m)^(nk - j)
 *
 * For D = D_L this is Theorem 2, and a test holds it against the printed formula.
 *
 * Worked example: D = {4, 5, 6, 7}. A counter with no hits excludes every key, e(0) = 1. With one
 * hit it is one of four numbers and excludes the other three: e(1) = 3/4. With two hits, of the 16
 * sums and 4 numbers 10 of 64 pairs are excluded: e(2) = 10/64 = 0.156. Both numbers are the
 * coefficients of Theorem 2 for L = 4. With three hits or more e(j) = 0. For {8, 12, 14, 15} the
 * first ones are 1, 0.75, 0.484, 0.215, 0.052 and 0.004.
 *
 * Why (1 - p)^k is not the whole truth: probes of one key may meet in the same counter, and tables
 * differ from each other in how full they happen to be. theory/meet.h corrects for both. With the
 * correction the fpr is right to 1% from 40 counters on.
 *
 * Blocked tables. All counters of a key are in one cache line, each in a sector of its own
 * (core/sectors.h). The number of keys in a line is binomial; in a line with j keys each sector has
 * j hits, independently of the other sectors. So the mean over lines is exact (theory/blocked.h).
 *
 * Invariants: every function here is pure. A profile depends on D and b only, so that a search over
 * m and k computes it once.
 */
#ifndef TAMIS_KINDS_VICBF_ANALYSIS_H
#define TAMIS_KINDS_VICBF_ANALYSIS_H

#include "core/sectors.h"
#include "need.h"

/* ------------------------------------------------------------------ the geometry */

enum {
    VI_COUNTERS, /* m */
    VI_HASHES,   /* k */
    VI_MORE,     /* of 256 keys, how many have one hash more */
    VI_COUNTER_BITS,
    VI_INCREMENTS, /* D as a mask: bit v is set if v is in D */
    VI_BLOCKED,    /* 1: all counters of a key are in one cache line */
    VI_FIELDS
};

#define VI_MIN_BITS 2
#define VI_MAX_BITS 12
#define VI_MAX_HASHES 40

#define VI_SET(first, last) ((UINT64_C(2) << (last)) - (UINT64_C(1) << (first)))
#define VI_D(l) VI_SET(l, 2 * (l)-1) /* D_L = {L, ..., 2L-1} of the paper */
#define VI_ONE VI_D(1)               /* the plain counting filter */
#define VI_GENERAL (UINT64_C(1) << 8 | UINT64_C(1) << 12 | UINT64_C(1) << 14 | UINT64_C(1) << 15)

/* Counters in a line of a blocked table. */
static inline uint64_t vi_per_line(const uint64_t *g) {
    return SECTORS_LINE_BITS / g[VI_COUNTER_BITS];
}

/* A line has a sector for each hash, so that no two hashes of a key meet. */
static inline uint64_t vi_sectors(const uint64_t *g) {
    return g[VI_HASHES] + (g[VI_MORE] != 0);
}

/* The first counter of sector i; after the last sector, the number of counters. */
static inline uint64_t vi_sector(const uint64_t *g, uint64_t i) {
    return sectors_first(vi_per_line(g), vi_sectors(g), i);
}

/* Hashes of a key, on average. */
static inline double vi_mean_hashes(const uint64_t *g) {
    return (double)g[VI_HASHES] + (double)g[VI_MORE] / 256;
}

/* False for a geometry that cannot exist, or is too large to address. */
bool tamis_vi_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* Other hits that a counter has room for, beside the copies of the key that is counted. In a full
 * table nearly all counters of a key are shared. One of them with no more other hits than that is
 * enough, and at a rate of 0.1% fewer than one key in 10^8 have none. */
#define VI_OTHERS 6

/* The highest count that is exact in a full table, whichever increments a key has: the maximum of a
 * counter stands for "stuck". */
uint64_t tamis_vi_count_to(const uint64_t *geometry);

/* ------------------------------------------------------------------ one counter */

/* Hits of a counter that are distinguished. This is as many as fill any counter of up to 8 bits
 * with the usual D. For wider counters, the chance to be stuck after more hits is taken to be 0 or
 * 1. */
#define VI_MAX_KEYS 256

/* What is known of a counter by its number of hits j, 0 to top + 1. */
typedef struct vi_profile {
    unsigned top;                       /* counters with more hits than that exclude no key */
    double   full;                      /* counters with at least this many hits are stuck */
    double   excludes[VI_MAX_KEYS + 2]; /* e(j): P[it excludes a random increment] */
    double   both[VI_MAX_KEYS + 2];     /* P[it may hold two random increments at once] */
    double   stuck[VI_MAX_KEYS + 2];    /* s(j): P[the sum is at the maximum or beyond] */
} vi_profile;

void tamis_vi_profile(uint64_t increments, unsigned counter_bits, vi_profile *ret_profile);

/* p: P[one counter excludes an absent key], when each of `hits` hits meets it with chance 1/m. */
double tamis_vi_excludes(const vi_profile *profile, double counters, double hits);

/* ------------------------------------------------------------------ a table of n keys */

/* With the profile of its increments and bits; and without, for a single question. */
double tamis_vi_fpr_by(const vi_profile *profile, const uint64_t *geometry, double n);
double tamis_vi_fpr(const uint64_t *geometry, double n);

/* How often an absent key passes a line of a blocked table depends on the keys in the line, and not
 * on how many lines there are. So a search for the number of lines keeps it: by the number of keys
 * in a line; negative: not known yet. */
#define VI_KNOWN_KEYS 256

typedef struct vi_known {
    double passes[VI_KNOWN_KEYS];
} vi_known;

void tamis_vi_forget(vi_known *ret_known);

/* The fpr, with what is known of tables that differ in the number of counters only. */
double tamis_vi_fpr_known(const vi_profile *profile, const uint64_t *geometry, double n,
                          vi_known *known);

/* P[any counter ever sticks]: while n keys are added, and while further keys, up to `lifetime` in
 * all, each take the place of one that was removed. */
double tamis_vi_saturation_by(const vi_profile *profile, const uint64_t *geometry, double n,
                              double lifetime);
double tamis_vi_saturation(const uint64_t *geometry, double n, double lifetime);

/* All of it, and the cache lines of an operation. */
void tamis_vi_predict(const uint64_t *geometry, const tamis_workload *work,
                      tamis_forecast *ret_forecast);

#endif
