/* size.h - the analysis of counters that are counted up by variable increments.
 *
 * Names: n keys, m counters of b bits, k hashes; D, the increments (core/increments.h).
 *
 * Paper: "The Variable-Increment Counting Bloom Filter", theorems 1 and 2. Theirs are for the first
 * two or three keys that meet in a counter. Here all are counted: the law of the sum of j random
 * increments, for each j, tells exactly how often such a counter excludes an absent key, e(j), and
 * how often it is stuck at its maximum, s(j). Both depend on D and b alone. A counter meets j keys
 * with a binomial probability, so
 *
 *     p = sum over j of P[j] e(j),    fpr = (1 - p)^k
 *
 * but for what small tables do (meet.h): counters of a key may meet, and tables scatter. It is
 * right to 1% from 40 counters on.
 *
 * In a blocked table all counters of a key are in one cache line, each in a sector of its own.
 * Lines have a binomial number of keys, and a line with j of them has in each sector j hits, of any
 * of its counters, independent of the other sectors: so that is exact, too.
 */
#ifndef TAMIS_KINDS_VICBF_SIZE_H
#define TAMIS_KINDS_VICBF_SIZE_H

#include "core/sectors.h"
#include "need.h"

/* The geometry. */
enum {
    VI_COUNTERS,
    VI_HASHES,
    VI_MORE, /* of 256 keys, how many have one hash more */
    VI_COUNTER_BITS,
    VI_INCREMENTS, /* bit v: v is one of them */
    VI_BLOCKED,    /* 1: all counters of a key are in one cache line */
    VI_FIELDS
};

#define VI_MIN_BITS 2
#define VI_MAX_BITS 12
#define VI_MAX_HASHES 40

#define VI_SET(first, last) ((UINT64_C(2) << (last)) - (UINT64_C(1) << (first)))
#define VI_D(l) VI_SET(l, 2 * (l)-1) /* D_L of the paper */
#define VI_GENERAL (UINT64_C(1) << 8 | UINT64_C(1) << 12 | UINT64_C(1) << 14 | UINT64_C(1) << 15)

/* Counters in a line of a blocked table. */
static inline uint64_t vi_per_line(const uint64_t *g) {
    return SECTORS_LINE_BITS / g[VI_COUNTER_BITS];
}

/* A line is cut into a sector for each hash, so that no two hashes of a key meet; the first counter
 * of sector i, and behind the last one how many there are. */
static inline uint64_t vi_sectors(const uint64_t *g) {
    return g[VI_HASHES] + (g[VI_MORE] != 0);
}

static inline uint64_t vi_sector(const uint64_t *g, uint64_t i) {
    return sectors_first(vi_per_line(g), vi_sectors(g), i);
}

/* Hashes of a key, on average. */
static inline double vi_mean_hashes(const uint64_t *g) {
    return (double)g[VI_HASHES] + (double)g[VI_MORE] / 256;
}

/* What counters of so many keys tell, up to as many as fill any of them. Where that is more than
 * VI_MAX_KEYS, and only then, the chance to be stuck with more is taken to be 0 or 1. */
#define VI_MAX_KEYS 256

typedef struct vi_profile {
    unsigned top;                       /* counters of more keys exclude nobody */
    double   full;                      /* and those of so many are stuck */
    double   excludes[VI_MAX_KEYS + 2]; /* P[an absent key is excluded] */
    double   both[VI_MAX_KEYS + 2];     /* P[two increments of one, which meet there, are not] */
    double   stuck[VI_MAX_KEYS + 2];    /* P[the sum is at the maximum or beyond] */
} vi_profile;

void tamis_vi_profile(uint64_t increments, unsigned counter_bits, vi_profile *ret_profile);

/* P[one counter excludes an absent key], when it is hit `hits` times with a chance of 1/m each. */
double tamis_vi_excludes(const vi_profile *of, double counters, double hits);

double tamis_vi_fpr(const uint64_t *geometry, double n);

/* P[any counter ever sticks]. */
double tamis_vi_saturation(const uint64_t *geometry, double n, double lifetime);

typedef struct vi_need {
    double n, fpr, lifetime;
    bool   is_blocked; /* if that is free */
} vi_need;

/* Fill in what is free, for the smallest table. False: it cannot be had. */
bool tamis_vi_choose(const vi_need *need, uint64_t *geometry);

#endif
