/* analysis.c - see analysis.h.
 *
 * From the bottom up: the sum of j random numbers of D; what an entry with such a sum excludes; an
 * entry with a binomial number of hits; a table.
 *
 * Below, `above` is a sum of j numbers less the least such sum, j v_1. It lies between 0 and
 * j x width, where width is v_l - v_1.
 *
 * An entry with j keys and the sum j v_1 + above has c2 = j v_1 + above and c3 = above - j (c -
 * v_1). For {1, 4, 13, 15}, c = 8 and 5 bits of c3, that is -15 to 16: two keys fit with `above`
 * from 0 to 28 (all), three with 6 to 37 of 42.
 */
#include "analysis.h"

#include "sequences.h"
#include "theory/meet.h"
#include "theory/tails.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ geometries */

/* All fields in their ranges; and h is one that this sequence really has, and for which lookups
 * have the sums that they ask (sums.h). */
bool tamis_bh_is_possible(const uint64_t *g) {
    return need_is_in(g[BH_ENTRIES], 2, PAIRS_MAX_ENTRIES) &&
           need_is_in(g[BH_HASHES], 1, BH_MAX_HASHES) &&
           need_is_in(g[BH_COUNT_BITS], BH_MIN_BITS, BH_MAX_COUNT_BITS) &&
           need_is_in(g[BH_SUM_BITS], BH_MIN_BITS, BH_MAX_SUM_BITS) &&
           sums_are_possible(g[BH_SEQUENCE]) && need_is_in(g[BH_H], 1, SEQUENCES_MAX_H) &&
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

#define BH_LAW_SUMS \
    UINT64_C(1750) /* values of `above`: they must fit on the stack of a small thread */

/* The largest j that is looked at: as far as c1 counts and BH_LAW_SUMS has room for j + 1. */
static unsigned last_hits(const pairs *layout) {
    uint64_t const room = BH_LAW_SUMS / layout->sums.width - 2;
    return (unsigned)min_u64(bits_low(layout->count_bits), room);
}

/* Which sums of j keys fit the bits of an entry: those from `first` to `last`, except for one of
 * them that would look like the mark (pairs.h). None if last < first. */
typedef struct fitting {
    int64_t first, last, like_mark;
} fitting;

/* `zero` is the `above` for which c2 or c3 is 0. For c2 (c = 0) that is -j v_1: c2 is j v_1 or
 * more. The mark has all bits set: a c1 that is full, and a c2 of `range` or a c3 of -1. */
static fitting find_fitting(const pairs *layout, unsigned j) {
    int64_t const range = (int64_t)bits_low(layout->sum_bits),
                  most = (int64_t)j * layout->sums.width;
    int64_t const zero =
        (int64_t)j * (layout->centre - layout->sums.least); /* where c2 or c3 is 0 */
    int64_t const  least = zero + layout->low;
    uint64_t const full = bits_low(layout->count_bits);
    fitting        fit = { least > 0 ? least : 0, least + range < most ? least + range : most, -1 };
    if (j > full) fit.last = fit.first - 1;
    if (j == full) fit.like_mark = zero + (layout->centre != 0 ? -1 : range);
    return fit;
}

static bool fits(const fitting *fit, int64_t above) {
    return above >= fit->first && above <= fit->last && above != fit->like_mark;
}

/* ------------------------------------------------------------------ entries that were marked */

/* The distribution of a sum, with zeros on both sides: so no bounds check is needed when two
 * numbers are subtracted from a sum. chance[above] is at room[LAW_MARGIN + above]. */
#define LAW_MARGIN (2 * SUMS_MAX)

typedef double law_room[LAW_MARGIN + BH_LAW_SUMS];

/* No keys: the sum is 0. Returns where the chance of that is. */
static double *law_begin(law_room room) {
    memset(room, 0, sizeof(law_room));
    room[LAW_MARGIN] = 1;
    return room + LAW_MARGIN;
}

/* Go from j - 1 keys to j: the mean over the last number v of what the sum was before. For {1, 4,
 * 13, 15} and j = 1 that is 1/4 for `above` = 0, 3, 12 and 14. */
static double mean_before(const sums *table, const double *chance, int64_t above) {
    double sum = 0;
    for (unsigned i = 0; i < table->n; i++) sum += chance[above - (table->value[i] - table->least)];
    return sum / table->n;
}

/* kept[above] is P[j keys have this sum, and the entry was never out of range]. Go from j - 1 keys
 * to j. Returns P[marked by key j]. In place, from the largest sum down, so that smaller sums are
 * still those of j - 1 keys; only those that fitted can be before. */
static double keep_one_more(const pairs *layout, unsigned j, double *kept) {
    const sums *const table = &layout->sums;
    fitting const     before = find_fitting(layout, j - 1), now = find_fitting(layout, j);
    double            lost = 0;
    for (int64_t above = before.last + table->width; above >= before.first; above--) {
        double const chance = mean_before(table, kept, above);
        bool const   is_kept = fits(&now, above);
        lost += is_kept ? 0 : chance;
        kept[above] = is_kept ? chance : 0;
    }
    return lost;
}

/* ------------------------------------------------------------------ what entries exclude */

/* If `times` numbers are subtracted from a sum of j keys, the rest is between -times x width and j
 * x width. If the rest is not a sum of j - times numbers, the entry does not contain these
 * numbers. */
static bool is_left(const sums *table, unsigned j, unsigned times, int64_t rest) {
    return rest >= 0 &&
           sums_may_be(table, j - times, (uint64_t)rest + (uint64_t)(j - times) * table->least);
}

/* The chance of all sums that are `rest` and one number of the sequence. */
static double chance_with_one(const sums *table, const double *kept, int64_t rest) {
    double sum = 0;
    for (unsigned i = 0; i < table->n; i++) sum += kept[rest + (table->value[i] - table->least)];
    return sum;
}

/* And of `rest` and two numbers: ordered pairs. */
static double chance_with_two(const sums *table, const double *kept, int64_t rest) {
    double sum = 0;
    for (unsigned i = 0; i < table->n; i++) {
        sum += chance_with_one(table, kept, rest + (table->value[i] - table->least));
    }
    return sum;
}

/* The share of all choices of `times` numbers that an entry with j keys does not contain. If j -
 * times is beyond the table of sums (sums.h), only the ends of the range are excluded.
 *
 * With one key, an entry with the number a excludes all others: for a number b the rest is a - b,
 * and only 0 is left by no keys. Of the 16 pairs of {1, 4, 13, 15} 12 are excluded: e(1) = 3/4. */
static double share_not_held(const pairs *layout, unsigned j, unsigned times, const double *kept) {
    const sums *const table = &layout->sums;
    int64_t const     most = (int64_t)j * table->width, edge = (int64_t)times * table->width;
    bool const        is_beyond = j >= table->rows + times;
    double            sum = 0;
    if (j > layout->reach) return 0;
    for (int64_t rest = -edge; rest <= most; rest++) {
        if (is_beyond && rest == 0) rest = most - edge + 1;
        if (j < times || !is_left(table, j, times, rest))
            sum += times == 1 ? chance_with_one(table, kept, rest)
                              : chance_with_two(table, kept, rest);
    }
    return sum / (times == 1 ? table->n : table->n * table->n);
}

/* stuck[] up to top + 1 and, with_shares, excludes[] and both[]. Marked entries hold everything. */
static void profile_kept(const pairs *layout, bool with_shares, bh_profile *ret_profile) {
    law_room      room;
    double *const kept = law_begin(room);
    for (unsigned j = 0; j <= ret_profile->top; j++) {
        if (with_shares) {
            ret_profile->excludes[j] = share_not_held(layout, j, 1, kept);
            ret_profile->both[j] = 1 - share_not_held(layout, j, 2, kept);
        }
        ret_profile->stuck[j + 1] = ret_profile->stuck[j] + keep_one_more(layout, j + 1, kept);
    }
    ret_profile->both[ret_profile->top + 1] = 1;
}

/* ------------------------------------------------------------------ the risk of later keys */

/* Do all sums from `first` to `last` fit, or does none of them? Then a step from one side to the
 * other is impossible, and need not be looked at number by number. */
static bool all_are(const fitting *fit, int64_t first, int64_t last, bool is_fitting) {
    bool const has_like_mark = fit->like_mark >= first && fit->like_mark <= last;
    if (!is_fitting) return first > fit->last || last < fit->first;
    return first >= fit->first && last <= fit->last && !has_like_mark;
}

/* From j - 1 keys to j, as keep_one_more, but no entry is ever marked: chance[above] is P[j keys
 * have this sum]. Returns P[the sum of j - 1 keys is within its range and that of j keys is not, or
 * the other way round]: the first is what an add does to an entry, the second what a removal
 * does. */
static double free_one_more(const pairs *layout, unsigned j, double *chance) {
    const sums *const table = &layout->sums;
    fitting const     before = find_fitting(layout, j - 1), now = find_fitting(layout, j);
    int64_t const     last = (int64_t)(j - 1) * table->width;
    double            differ = 0;
    for (int64_t from = 0; from <= last; from++) {
        bool const fitted = fits(&before, from);
        if (all_are(&now, from, from + table->width, fitted)) continue;
        for (unsigned i = 0; i < table->n; i++) {
            int64_t const above = from + (table->value[i] - table->least);
            differ += fits(&now, above) != fitted ? chance[from] / table->n : 0;
        }
    }
    for (int64_t above = last + table->width; above >= 0; above--) {
        chance[above] = mean_before(table, chance, above);
    }
    return differ;
}

/* risk[j]: what one key more, or its removal, does to an entry with j keys. */
void tamis_bh_profile_risk(const pairs *layout, bh_profile *profile) {
    law_room      room;
    double *const chance = law_begin(room);
    for (unsigned j = 0; j <= profile->top; j++) {
        profile->risk[j] = free_one_more(layout, j + 1, chance);
    }
}

static unsigned least_of(unsigned a, unsigned b) {
    return a < b ? a : b;
}

void tamis_bh_profile_rate(const pairs *layout, unsigned most, bh_profile *ret_profile) {
    *ret_profile = (bh_profile){ .top = least_of(last_hits(layout), most) };
    profile_kept(layout, true, ret_profile);
}

void tamis_bh_profile(const pairs *layout, bh_profile *ret_profile) {
    tamis_bh_profile_rate(layout, BH_MAX_COUNT, ret_profile);
    tamis_bh_profile_risk(layout, ret_profile);
}

void tamis_bh_profile_stuck(const pairs *layout, unsigned most, bh_profile *ret_profile) {
    *ret_profile = (bh_profile){ .top = least_of(last_hits(layout), most) };
    profile_kept(layout, false, ret_profile);
}

/* The terms of the binomial, each from the one before. From twice the mean on, a term is less than
 * half of the one before, so that all terms from there on are less than twice the next one. */
unsigned tamis_bh_most_hits(double m, double hits, double never) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m));
    unsigned     j = 0;
    for (; j < BH_MAX_COUNT && (2 * chance > never || j < 2 * hits / m + 1); j++) {
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return j;
}

/* ------------------------------------------------------------------ an entry with random hits */

/* The mean of by_hits[j] over the number of hits of an entry, P[X = j] of equation (2), up to top.
 * Each term of the binomial follows from the one before. */
static double bh_mean_over_hits(const bh_profile *profile, const double *by_hits, double m,
                                double hits) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m)), sum = 0;
    for (unsigned j = 0; j <= profile->top; j++) {
        sum += chance * by_hits[j];
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return sum;
}

/* Such an entry is taken for marked, whatever c2 is: `top` is as far as c1 counts, or as far as the
 * profile goes. */
double tamis_bh_beyond(double top, double m, double hits) {
    return hits > top ? tamis_binomial_tail(hits, 1 / m, top + 1) : 0;
}

double tamis_bh_excludes(const bh_profile *profile, double m, double hits) {
    return bh_mean_over_hits(profile, profile->excludes, m, hits);
}

double tamis_bh_stuck(const bh_profile *profile, double m, double hits) {
    return bh_mean_over_hits(profile, profile->stuck, m, hits) +
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
    return -expm1(-(filling + later * bh_mean_over_hits(profile, profile->risk, m, n * k)));
}
