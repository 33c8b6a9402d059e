/* analysis.h - what a table of pairs of counters does: its fpr, and how often an entry sticks.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, sections II and VI. Names follow it: n keys, m
 * entries, k hashes; a Bh sequence D of l numbers v_1 to v_l; the counters c1, c2 and c3 (pairs.h);
 * X, how many hits an entry has had; f_D(j), the detection probability function of section VI.
 *
 * Idea. Equation (9) of the paper, of which Theorem 1 is the case f_D(j) = 0 for j > h, is
 *
 *     fpr = (1 - sum over j of  P[X = j] (1 - 1/l)^j f_D(j))^k
 *
 * It is for counters without end. Here (1 - 1/l)^j f_D(j) is replaced by e(j): how often an entry
 * with j hits excludes an absent key, as its counters really are. The distribution of the sum of j
 * random numbers of D tells e(j) exactly, and s(j), how often the entry was marked on its way to j
 * hits. Both depend on D and the bits only. P[X = j] is the binomial of equation (2).
 *
 * Why "on its way": c3 may leave its range and would come back with the next key, but an entry that
 * was marked stays marked. So it is not enough to look at the sum of all j numbers.
 *
 * In small tables, places of one key may meet in the same entry, and tables differ in how full they
 * happen to be: theory/meet.h corrects for both.
 *
 * Invariants: every function here is pure. A profile depends on D and the bits only, so that a
 * search over m and k computes it once.
 */
#ifndef TAMIS_KINDS_BHCBF_ANALYSIS_H
#define TAMIS_KINDS_BHCBF_ANALYSIS_H

#include "need.h"
#include "pairs.h"

/* ------------------------------------------------------------------ the geometry */

enum {
    BH_ENTRIES,    /* m */
    BH_HASHES,     /* k */
    BH_COUNT_BITS, /* of c1 */
    BH_SUM_BITS,   /* of c2 or c3 */
    BH_SEQUENCE,   /* D as a mask: bit v is set if v is in it */
    BH_H,          /* D is a Bh sequence for this h */
    BH_IMPROVED,   /* 1: lookups also use entries with more than h keys (section VI) */
    BH_CENTRED,    /* 1: c3 instead of c2 (section VI) */
    BH_FIELDS
};

#define BH_MIN_BITS 2
#define BH_MAX_COUNT_BITS 6
#define BH_MAX_SUM_BITS 12
#define BH_MAX_COUNT ((1 << BH_MAX_COUNT_BITS) - 1)
#define BH_MAX_HASHES 64

/* A lookup among up to h keys needs the sums of up to h - 1 numbers: does the table of sums of this
 * sequence reach so far? */
static inline bool bh_has_rows(uint64_t mask, uint64_t h) {
    return sums_make(mask, (unsigned)h).rows == h;
}

/* Can this geometry be made: all fields in their ranges, the sequence a Bh sequence for h? */
bool tamis_bh_is_possible(const uint64_t *geometry);

pairs tamis_bh_pairs(const uint64_t *geometry);

/* Other hits that an entry has room for, beside the copies of the key that is counted. In a full
 * table nearly all entries of a key are shared. One of them with no more other hits than that is
 * enough, and at a rate of 0.1% fewer than one key in 10^8 have none. */
#define BH_OTHERS 6

/* The highest count that is exact in a full table: this many copies of any key, and BH_OTHERS of
 * any other, fit an entry. */
uint64_t tamis_bh_count_to(const uint64_t *geometry);

/* ------------------------------------------------------------------ one entry */

/* What is known of an entry by its number of hits j, 0 to top + 1. */
typedef struct bh_profile {
    unsigned top;                        /* entries with more hits than that are marked */
    double   excludes[BH_MAX_COUNT + 2]; /* e(j): P[it excludes a place of an absent key] */
    double   both[BH_MAX_COUNT + 2];     /* P[it may hold two places that meet there] */
    double   stuck[BH_MAX_COUNT + 2];    /* s(j): P[the entry was marked before it had j keys] */
    double   risk[BH_MAX_COUNT + 2];     /* P[one key more, or its removal, marks it] */
} bh_profile;

void tamis_bh_profile(const pairs *layout, bh_profile *ret_profile);

/* Parts of it, which take a part of the time: all but risk; only top and stuck; and then also risk.
 * `most` is a number of hits that no entry has: from there on, entries are taken for marked. That
 * makes rates and risks a little larger, if it changes them at all. */
void tamis_bh_profile_rate(const pairs *layout, unsigned most, bh_profile *ret_profile);
void tamis_bh_profile_stuck(const pairs *layout, unsigned most, bh_profile *ret_profile);
void tamis_bh_profile_risk(const pairs *layout, bh_profile *profile);

/* Such a number: more hits have a chance of less than `never`. */
unsigned tamis_bh_most_hits(double entries, double hits, double never);

/* P[an entry excludes a place of an absent key], and P[it is marked], when each of `hits` hits
 * meets it with chance 1/m. */
double tamis_bh_excludes(const bh_profile *profile, double entries, double hits);
double tamis_bh_stuck(const bh_profile *profile, double entries, double hits);

/* P[an entry has more than `top` hits]. */
double tamis_bh_beyond(double top, double entries, double hits);

/* ------------------------------------------------------------------ a table of n keys */

double tamis_bh_fpr(const bh_profile *profile, double entries, double k, double n);

/* P[any entry is ever marked]: while n keys are added, and while further keys, up to `lifetime` in
 * all, each take the place of one that was removed. */
double tamis_bh_saturation(const bh_profile *profile, double entries, double k, double n,
                           double lifetime);

#endif
