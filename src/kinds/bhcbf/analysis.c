/* analysis.c - see analysis.h.
 *
 * From the bottom up: the sum of j random numbers of D; what an entry with such a sum excludes; an
 * entry with a binomial number of hits; a table.
 *
 * Below, `above` is a sum of j numbers less the least such sum, j v_1. It lies between 0 and
 * j x width, where width is v_l - v_1.
 */
#include "analysis.h"

#include "sequences.h"
#include "theory/meet.h"
#include "theory/tails.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ geometries */

bool tamis_bh_is_possible(const uint64_t *g) {
    return bh_is_in(g[BH_ENTRIES], 2, PAIRS_MAX_ENTRIES) &&
           bh_is_in(g[BH_HASHES], 1, BH_MAX_HASHES) &&
           bh_is_in(g[BH_COUNT_BITS], BH_MIN_BITS, BH_MAX_COUNT_BITS) &&
           bh_is_in(g[BH_SUM_BITS], BH_MIN_BITS, BH_MAX_SUM_BITS) &&
           sums_are_possible(g[BH_SEQUENCE]) && bh_is_in(g[BH_H], 1, SEQUENCES_MAX_H) &&
           tamis_is_bh(g[BH_SEQUENCE], (unsigned)g[BH_H]) && bh_has_rows(g[BH_SEQUENCE], g[BH_H]) &&
           g[BH_IMPROVED] <= 1 && g[BH_CENTRED] <= 1;
}

pairs tamis_bh_pairs(const uint64_t *g) {
    return pairs_make(g[BH_SEQUENCE], (unsigned)g[BH_COUNT_BITS], (unsigned)g[BH_SUM_BITS],
                      g[BH_IMPROVED] != 0 ? UINT8_MAX : (unsigned)g[BH_H], g[BH_CENTRED] != 0);
}

/* Entries leave their range first with equal numbers: sums of others are between those. */
uint64_t tamis_bh_count_to(const uint64_t *g) {
    pairs const layout = tamis_bh_pairs(g);
    for (uint64_t hits = 1;; hits++) {
        for (unsigned i = 0; i < layout.sums.n; i++) {
            pair const p = { hits + 1, (hits + 1) * layout.sums.value[i] };
            if (pairs_pack(&layout, p) == pairs_mark(&layout))
                return hits > BH_OTHERS ? hits - BH_OTHERS : 1;
        }
    }
}

/* ------------------------------------------------------------------ an entry with j hits */

#define LAW_SUMS \
    UINT64_C(1750) /* values of `above`: as many as the stack of a small thread holds */

/* The largest j that is looked at: as far as c1 counts and LAW_SUMS has room for j + 1. */
static unsigned last_hits(const pairs *layout) {
    uint64_t const room = LAW_SUMS / layout->sums.width - 2;
    return (unsigned)min_u64(bits_low(layout->count_bits), room);
}

static pair pair_after(const pairs *layout, unsigned j, uint64_t above) {
    return (pair){ j, (uint64_t)j * layout->sums.least + above };
}

/* Does such an entry not fit its bits? */
static bool is_out_of_range(const pairs *layout, unsigned j, uint64_t above) {
    return pairs_pack(layout, pair_after(layout, j, above)) == pairs_mark(layout);
}

/* ------------------------------------------------------------------ entries that were marked */

/* kept[above] is P[j keys have this sum, and the entry was never out of range]. Go from j - 1 keys
 * to j: the mean over the last number v of what the sum was before. Returns P[marked by key j]. In
 * place, from the largest sum down, so that smaller sums are still those of j - 1 keys. */
static double keep_one_more(const pairs *layout, unsigned j, double *kept) {
    const sums *const table = &layout->sums;
    uint64_t const    last = (uint64_t)(j - 1) * table->width;
    double            lost = 0;
    for (uint64_t above = last + table->width + 1; above-- > 0;) {
        double sum = 0;
        for (unsigned i = 0; i < table->n; i++) {
            uint64_t const from = above - (table->value[i] - table->least); /* may wrap */
            if (from <= last) sum += kept[from];
        }
        bool const is_out = is_out_of_range(layout, j, above);
        lost += is_out ? sum / table->n : 0;
        kept[above] = is_out ? 0 : sum / table->n;
    }
    return lost;
}

/* ------------------------------------------------------------------ what entries exclude */

/* The share of the l numbers that an entry excludes. */
static double share_excluded(const pairs *layout, pair p) {
    unsigned excluded = 0;
    for (unsigned i = 0; i < layout->sums.n; i++) {
        excluded += !pairs_may_hold(layout, p, 1, layout->sums.value[i]);
    }
    return (double)excluded / layout->sums.n;
}

/* The share of pairs of numbers that it may hold at once. Pairs are ordered: (v, w) and (w, v) are
 * two, (v, v) is one. */
static double share_of_both(const pairs *layout, pair p) {
    const sums *const table = &layout->sums;
    unsigned          held = 0;
    for (unsigned i = 0; i < table->n; i++) {
        for (unsigned j = 0; j <= i; j++) {
            bool const holds = pairs_may_hold(layout, p, 2, table->value[i] + table->value[j]);
            held += holds ? 1u + (j != i) : 0;
        }
    }
    return (double)held / ((double)table->n * table->n);
}

/* excludes[j] and both[j]: means over the sum of j numbers. A marked entry holds everything.
 * Beyond the table of sums (sums.h), only the least and the largest sum of c1 numbers are known, so
 * that only sums within 2 x width of one of them exclude anything: the others are not looked at. */
static void find_shares(const pairs *layout, unsigned j, const double *kept,
                        bh_profile *ret_profile) {
    const sums *const table = &layout->sums;
    uint64_t const    last = (uint64_t)j * table->width, edge = 2u * table->width;
    bool const        is_beyond = j >= table->rows + 2u;
    double            excludes = 0, both = ret_profile->stuck[j];
    for (uint64_t above = 0; above <= last; above++) {
        bool const is_inside = is_beyond && above >= edge && above + edge <= last;
        pair const p = pair_after(layout, j, above);
        if (kept[above] == 0) continue;
        excludes += is_inside ? 0 : kept[above] * share_excluded(layout, p);
        both += kept[above] * (is_inside ? 1 : share_of_both(layout, p));
    }
    ret_profile->excludes[j] = excludes;
    ret_profile->both[j] = both;
}

/* stuck[] up to top + 1 and, with_shares, excludes[] and both[]. */
static void profile_kept(const pairs *layout, bool with_shares, bh_profile *ret_profile) {
    double kept[LAW_SUMS];
    memset(kept, 0, sizeof kept);
    kept[0] = 1;
    for (unsigned j = 0; j <= ret_profile->top; j++) {
        if (with_shares) find_shares(layout, j, kept, ret_profile);
        ret_profile->stuck[j + 1] = ret_profile->stuck[j] + keep_one_more(layout, j + 1, kept);
    }
    ret_profile->both[ret_profile->top + 1] = 1;
}

/* ------------------------------------------------------------------ the risk of later keys */

/* The sum of j numbers if no entry were ever marked, and which sums are out of range. */
typedef struct free_law {
    double chance[LAW_SUMS];
    bool   is_out[LAW_SUMS];
} free_law;

/* From j - 1 keys to j, as keep_one_more. Returns P[the sum of j - 1 keys is within its range and
 * that of j keys is not, or the other way round]: the first is what an add does to an entry, the
 * second what a removal does. */
static double free_one_more(const pairs *layout, unsigned j, free_law *law) {
    const sums *const table = &layout->sums;
    uint64_t const    last = (uint64_t)(j - 1) * table->width;
    double            differ = 0;
    for (uint64_t above = last + table->width + 1; above-- > 0;) {
        bool const is_out = is_out_of_range(layout, j, above);
        double     sum = 0;
        for (unsigned i = 0; i < table->n; i++) {
            uint64_t const from = above - (table->value[i] - table->least); /* may wrap */
            if (from > last) continue;
            sum += law->chance[from];
            differ += law->is_out[from] != is_out ? law->chance[from] / table->n : 0;
        }
        law->chance[above] = sum / table->n;
        law->is_out[above] = is_out;
    }
    return differ;
}

static void profile_risk(const pairs *layout, bh_profile *ret_profile) {
    free_law law;
    memset(&law, 0, sizeof law);
    law.chance[0] = 1;
    for (unsigned j = 0; j <= ret_profile->top; j++) {
        ret_profile->risk[j] = free_one_more(layout, j + 1, &law);
    }
}

void tamis_bh_profile(const pairs *layout, bh_profile *ret_profile) {
    *ret_profile = (bh_profile){ .top = last_hits(layout) };
    profile_kept(layout, true, ret_profile);
    profile_risk(layout, ret_profile);
}

void tamis_bh_profile_stuck(const pairs *layout, bh_profile *ret_profile) {
    *ret_profile = (bh_profile){ .top = last_hits(layout) };
    profile_kept(layout, false, ret_profile);
    profile_risk(layout, ret_profile);
}

/* ------------------------------------------------------------------ an entry with random hits */

/* The mean of by_hits[j] over the number of hits of an entry, P[X = j] of equation (2), up to top.
 * Each term of the binomial follows from the one before. */
static double mean_over_hits(const bh_profile *profile, const double *by_hits, double m,
                             double hits) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m)), sum = 0;
    for (unsigned j = 0; j <= profile->top; j++) {
        sum += chance * by_hits[j];
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return sum;
}

double tamis_bh_beyond(double top, double m, double hits) {
    return hits > top ? tamis_binomial_tail(hits, 1 / m, top + 1) : 0;
}

double tamis_bh_excludes(const bh_profile *profile, double m, double hits) {
    return mean_over_hits(profile, profile->excludes, m, hits);
}

double tamis_bh_stuck(const bh_profile *profile, double m, double hits) {
    return mean_over_hits(profile, profile->stuck, m, hits) +
           tamis_bh_beyond(profile->top, m, hits);
}

/* ------------------------------------------------------------------ a table */

/* Equation (9) with the correction of theory/meet.h, and n / 2^64: keys whose 64-bit hash is that
 * of a stored key. */
double tamis_bh_fpr(const bh_profile *profile, double m, double k, double n) {
    double const   pass = 1 - tamis_bh_excludes(profile, m, n * k);
    meet_law const law = { profile->excludes, profile->both, profile->top };
    return fmin(1, tamis_meet_power(&law, m, n * k, pass, k) + n / 0x1p64);
}

/* Expected events: entries that are marked while the table is filled, and entries that each later
 * removal and add marks. Events are rare and nearly independent, so P[any] = 1 - e^-expected. A
 * little too large, since an entry that would leave its range twice is counted twice. */
double tamis_bh_saturation(const bh_profile *profile, double m, double k, double n,
                           double lifetime) {
    double const filling = m * tamis_bh_stuck(profile, m, n * k);
    double const later = fmax(0, lifetime - n) * k;
    return -expm1(-(filling + later * mean_over_hits(profile, profile->risk, m, n * k)));
}
