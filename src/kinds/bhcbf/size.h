/* size.h - the analysis of pairs of counters with a Bh sequence.
 *
 * Names: n keys, m entries, k hashes; a sequence of l numbers; c1 and c2 (pairs.h).
 *
 * Paper: "The Variable-Increment Counting Bloom Filter", theorem 1 and equation 9. Theirs is for
 * counters without end. Here the law of the sum of j random numbers, for each j, tells exactly how
 * often an entry that j keys have met excludes an absent key, e(j), and how often it has stuck by
 * then, s(j), on the way too. Both depend on the sequence and the bits alone. An entry meets j keys
 * with a binomial probability P[j], so
 *
 *     p = sum over j of P[j] e(j),    fpr = (1 - p)^k
 *
 * but for what small tables do: places of a key may meet, and tables scatter. Both are a matter of
 * two places at a time, and of the order of k^2/m.
 */
#ifndef TAMIS_KINDS_BHCBF_SIZE_H
#define TAMIS_KINDS_BHCBF_SIZE_H

#include "need.h"
#include "pairs.h"

/* The geometry. */
enum {
    BH_ENTRIES,
    BH_HASHES,
    BH_COUNT_BITS, /* of c1 */
    BH_SUM_BITS,   /* of c2 or c3 */
    BH_SEQUENCE,   /* bit v: v is in it */
    BH_H,          /* for which it is a Bh sequence */
    BH_IMPROVED,   /* 1: lookups make something of more than h keys, too */
    BH_CENTRED,    /* 1: c3 in place of c2 */
    BH_FIELDS
};

#define BH_MIN_BITS 2
#define BH_MAX_COUNT_BITS 6
#define BH_MAX_SUM_BITS 12
#define BH_MAX_COUNT ((1 << BH_MAX_COUNT_BITS) - 1)
#define BH_MAX_HASHES 64

/* Is it one that can be made: all fields in their ranges, the sequence a Bh sequence for h? */
bool tamis_bh_is_possible(const uint64_t *geometry);

pairs tamis_bh_pairs(const uint64_t *geometry);

/* What entries tell that so many keys have met. */
typedef struct bh_profile {
    unsigned top;                        /* all beyond are stuck */
    double   excludes[BH_MAX_COUNT + 2]; /* P[a place of an absent key is excluded] */
    double   both[BH_MAX_COUNT + 2];     /* P[two places of one, which meet there, are not] */
    double   stuck[BH_MAX_COUNT + 2];    /* P[it has stuck on the way] */
    double   risk[BH_MAX_COUNT + 2];     /* P[one key more, or that less, takes it out of range] */
} bh_profile;

void tamis_bh_profile(const pairs *of, bh_profile *ret_profile);

/* P[an entry excludes a place of an absent key], P[it is stuck], after n keys. */
double tamis_bh_excludes(const bh_profile *of, double entries, double hits);
double tamis_bh_stuck(const bh_profile *of, double entries, double hits);

/* Of a geometry, of which the profile is known. */
double tamis_bh_fpr(const bh_profile *of, const uint64_t *geometry, double n);

/* P[any entry ever sticks]. */
double tamis_bh_saturation(const bh_profile *of, const uint64_t *geometry, double n,
                           double lifetime);

typedef struct bh_need {
    double n, fpr, lifetime;
    double stuck; /* the largest chance that any entry ever sticks, which decides about bits */
} bh_need;

/* Fill in what is free, for the smallest table. False: it cannot be had. */
bool tamis_bh_choose(const bh_need *need, uint64_t *geometry);

#endif
