/* size.c - see bh_size.h. */
#include "size.h"

#include "sequences.h"
#include "theory/meet.h"
#include "theory/tails.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ geometries */

static bool is_in(uint64_t value, uint64_t first, uint64_t last) {
    return value >= first && value <= last;
}

/* A lookup of up to h keys needs the rows of up to h - 1 keys. */
static bool has_rows(uint64_t mask, uint64_t h) {
    return sums_make(mask, (unsigned)h).rows == h;
}

bool tamis_bh_is_possible(const uint64_t *g) {
    return is_in(g[BH_ENTRIES], 2, PAIRS_MAX_ENTRIES) && is_in(g[BH_HASHES], 1, BH_MAX_HASHES) &&
           is_in(g[BH_COUNT_BITS], BH_MIN_BITS, BH_MAX_COUNT_BITS) &&
           is_in(g[BH_SUM_BITS], BH_MIN_BITS, BH_MAX_SUM_BITS) &&
           sums_are_possible(g[BH_SEQUENCE]) && is_in(g[BH_H], 1, SEQUENCES_MAX_H) &&
           tamis_is_bh(g[BH_SEQUENCE], (unsigned)g[BH_H]) && has_rows(g[BH_SEQUENCE], g[BH_H]) &&
           g[BH_IMPROVED] <= 1 && g[BH_CENTRED] <= 1;
}

pairs tamis_bh_pairs(const uint64_t *g) {
    return pairs_make(g[BH_SEQUENCE], (unsigned)g[BH_COUNT_BITS], (unsigned)g[BH_SUM_BITS],
                      g[BH_IMPROVED] != 0 ? UINT8_MAX : (unsigned)g[BH_H], g[BH_CENTRED] != 0);
}

/* ------------------------------------------------------------------ sums of random numbers
 *
 * Below, `above` is a sum of j numbers less its least value, j v_1: it is 0 to j x width. */

#define LAW_SUMS \
    UINT64_C(1750) /* sums that are told apart: what the stack of a small thread holds */

/* What is being computed. */
typedef struct bh_task {
    const pairs *layout;
    uint64_t     copies;
    unsigned     top; /* keys, as in bh_profile */
} bh_task;

static bh_task task_make(const pairs *layout, uint64_t copies) {
    uint64_t const most = LAW_SUMS / layout->sums.width - 2; /* top + 1 keys have sums, too */
    uint64_t const keys = bits_low(layout->count_bits) / copies;
    return (bh_task){ layout, copies, (unsigned)(keys < most ? keys : most) };
}

/* An entry that j keys have hit. */
static pair pair_of(const bh_task *task, unsigned j, uint64_t above) {
    uint64_t const sum = (uint64_t)j * task->layout->sums.least + above;
    return (pair){ task->copies * j, task->copies * sum };
}

static bool is_out_of_range(const bh_task *task, unsigned j, uint64_t above) {
    return pairs_pack(task->layout, pair_of(task, j, above)) == pairs_mark(task->layout);
}

/* ------------------------------------------------------------------ entries that were marked */

/* kept[above] is the chance that j keys have this sum and the entry was never out of range. Go from
 * j - 1 keys to j; returns what was lost by that. In place, from the top down. */
static double keep_one_more(const bh_task *task, unsigned j, double *kept) {
    const sums *const table = &task->layout->sums;
    uint64_t const    last = (uint64_t)(j - 1) * table->width;
    double            lost = 0;
    for (uint64_t above = last + table->width + 1; above-- > 0;) {
        double sum = 0;
        for (unsigned i = 0; i < table->n; i++) {
            uint64_t const from = above - (table->value[i] - table->least); /* may wrap */
            if (from <= last) sum += kept[from];
        }
        bool const is_out = is_out_of_range(task, j, above);
        lost += is_out ? sum / table->n : 0;
        kept[above] = is_out ? 0 : sum / table->n;
    }
    return lost;
}

/* ------------------------------------------------------------------ what entries exclude */

/* The share of places that an entry excludes. */
static double share_excluded(const pairs *layout, pair p) {
    unsigned excluded = 0;
    for (unsigned i = 0; i < layout->sums.n; i++) {
        excluded += !pairs_may_hold(layout, p, 1, layout->sums.value[i]);
    }
    return (double)excluded / layout->sums.n;
}

/* The share of pairs of places that it holds together. Pairs are ordered: (v, w) and (w, v) are
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

/* excludes[j] and both[j]. If c1 is beyond the table of sums, only sums next to the least and the
 * largest possible one exclude anything; the others need not be looked at. */
static void find_shares(const bh_task *task, unsigned j, const double *kept,
                        bh_profile *ret_profile) {
    const sums *const table = &task->layout->sums;
    uint64_t const    last = (uint64_t)j * table->width;
    uint64_t const    edge = (2u * table->width + task->copies - 1) / task->copies;
    bool const        is_beyond = task->copies * j >= table->rows + 2u;
    double            excludes = 0, both = ret_profile->stuck[j]; /* a marked entry holds all */
    for (uint64_t above = 0; above <= last; above++) {
        bool const is_inside = is_beyond && above >= edge && above + edge <= last;
        pair const p = pair_of(task, j, above);
        if (kept[above] == 0) continue;
        excludes += is_inside ? 0 : kept[above] * share_excluded(task->layout, p);
        both += kept[above] * (is_inside ? 1 : share_of_both(task->layout, p));
    }
    ret_profile->excludes[j] = excludes;
    ret_profile->both[j] = both;
}

/* stuck[] up to top + 1 and, with_shares, excludes[] and both[]. */
static void profile_kept(const bh_task *task, bool with_shares, bh_profile *ret_profile) {
    double kept[LAW_SUMS];
    memset(kept, 0, sizeof kept);
    kept[0] = 1;
    for (unsigned j = 0; j <= task->top; j++) {
        if (with_shares) find_shares(task, j, kept, ret_profile);
        ret_profile->stuck[j + 1] = ret_profile->stuck[j] + keep_one_more(task, j + 1, kept);
    }
    ret_profile->both[task->top + 1] = 1;
}

/* ------------------------------------------------------------------ the risk of later keys */

/* The sums of j keys if no entry were ever marked, and which of them are out of range. */
typedef struct free_law {
    double chance[LAW_SUMS];
    bool   is_out[LAW_SUMS];
} free_law;

/* From j - 1 keys to j. Returns P[the sum of j - 1 keys is within its range and that of j is not,
 * or the other way round]: that is what one add, or one removal, does to an entry. */
static double free_one_more(const bh_task *task, unsigned j, free_law *law) {
    const sums *const table = &task->layout->sums;
    uint64_t const    last = (uint64_t)(j - 1) * table->width;
    double            differ = 0;
    for (uint64_t above = last + table->width + 1; above-- > 0;) {
        bool const is_out = is_out_of_range(task, j, above);
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

static void profile_risk(const bh_task *task, bh_profile *ret_profile) {
    free_law law;
    memset(&law, 0, sizeof law);
    law.chance[0] = 1;
    for (unsigned j = 0; j <= task->top; j++) {
        ret_profile->risk[j] = free_one_more(task, j + 1, &law);
    }
}

/* Without shares it takes a third of the time. */
static void profile_of(const pairs *layout, bool with_shares, bh_profile *ret_profile) {
    bh_task const task = task_make(layout, 1);
    *ret_profile = (bh_profile){ .top = task.top };
    profile_kept(&task, with_shares, ret_profile);
    profile_risk(&task, ret_profile);
}

void tamis_bh_profile(const pairs *layout, bh_profile *ret_profile) {
    profile_of(layout, true, ret_profile);
}

/* ------------------------------------------------------------------ entries */

/* The mean of what[j] over the number of hits of an entry, up to top. */
static double mean_over_hits(const bh_profile *of, const double *what, double m, double hits) {
    double const odds = 1 / (m - 1);
    double       chance = exp(hits * log1p(-1 / m)), sum = 0;
    for (unsigned j = 0; j <= of->top; j++) {
        sum += chance * what[j];
        chance *= fmax(0, hits - j) / (j + 1) * odds;
    }
    return sum;
}

/* The chance of more hits than c1 can count. */
static double beyond_top(double top, double m, double hits) {
    return hits > top ? tamis_binomial_tail(hits, 1 / m, top + 1) : 0;
}

double tamis_bh_excludes(const bh_profile *of, double entries, double hits) {
    return mean_over_hits(of, of->excludes, entries, hits);
}

double tamis_bh_stuck(const bh_profile *of, double entries, double hits) {
    return mean_over_hits(of, of->stuck, entries, hits) + beyond_top(of->top, entries, hits);
}

static double fpr_of(const bh_profile *of, double m, double k, double n) {
    double const   pass = 1 - tamis_bh_excludes(of, m, n * k);
    meet_law const tells = { of->excludes, of->both, of->top };
    return fmin(1, tamis_meet_power(&tells, m, n * k, pass, k) + n / 0x1p64);
}

double tamis_bh_fpr(const bh_profile *of, const uint64_t *g, double n) {
    return fpr_of(of, (double)g[BH_ENTRIES], (double)g[BH_HASHES], n);
}

/* Entries that stick in the filling, and those that each later removal and add bring to it. A
 * little too large, since an entry that would come back and leave again is counted twice. */
static double saturation_of(const bh_profile *of, double m, double k, double n, double lifetime) {
    double const filling = m * tamis_bh_stuck(of, m, n * k);
    double const later = fmax(0, lifetime - n) * k;
    return -expm1(-(filling + later * mean_over_hits(of, of->risk, m, n * k)));
}

double tamis_bh_saturation(const bh_profile *of, const uint64_t *g, double n, double lifetime) {
    return saturation_of(of, (double)g[BH_ENTRIES], (double)g[BH_HASHES], n, lifetime);
}

/* ------------------------------------------------------------------ choice */

/* The first made the smallest tables, over n = 10^3 to 10^8 and rates of 1% to 0.01%, of all that
 * were tried: those of 4 numbers up to 10, 5 up to 14, 6 up to 22 and 7 up to 26, with h = 2. What
 * the paper has, {1, 4, 13, 15}, takes 9 to 26% more. It and the last are for larger h. */
static const uint64_t sequences[] = {
    SEQUENCE_4(1, 3, 8, 16) | SEQUENCE_2(22, 25) | SEQUENCE_1(26), /* for h up to 2 */
    SEQUENCE_4(1, 4, 13, 15),                                      /* 3 */
    SEQUENCE_2(1, 2) | SEQUENCE_1(15),                             /* 13 */
};

/* The largest h, or 0: none. */
static uint64_t largest_h(uint64_t mask) {
    uint64_t h = 0;
    if (!sums_are_possible(mask)) return 0;
    while (h < SEQUENCES_MAX_H && tamis_is_bh(mask, (unsigned)h + 1) && has_rows(mask, h + 1)) h++;
    return h;
}

/* What is free of the sequence and its h; false: there is none. */
static bool choose_sequence(uint64_t *g) {
    for (unsigned i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        uint64_t const mask = g[BH_SEQUENCE] != NEED_FREE ? g[BH_SEQUENCE] : sequences[i];
        uint64_t const most = largest_h(mask), h = g[BH_H] != NEED_FREE ? g[BH_H] : most;
        if (h < 1 || h > most) continue;
        g[BH_SEQUENCE] = mask;
        g[BH_H] = h;
        return true;
    }
    return false;
}

#define TRIED_K 40

typedef struct search {
    const bh_need  *need;
    const uint64_t *fixed;
    double          stuck;                   /* as much is put up with */
    double          size[BH_MAX_HASHES + 1]; /* entries, with k hashes, if none ever stuck */
    uint64_t        k;                       /* the best */
    double          least;                   /* bits of the best so far */
    uint64_t        best[BH_FIELDS];
} search;

static bool is_fixed(const search *of, unsigned field) {
    return of->fixed[field] != NEED_FREE;
}

/* The fewest entries that keep the fpr, to one in 10^4; infinity: none do. */
static double fewest(const bh_need *need, const bh_profile *of, double k) {
    double low = 1, high = fmax(2, need->n);
    for (; fpr_of(of, high, k, need->n) > need->fpr; high *= 2) {
        if (high > (double)PAIRS_MAX_ENTRIES / 4) return INFINITY;
        low = high;
    }
    while (high - low > fmax(1, 1e-4 * high)) {
        double const half = floor((low + high) / 2);
        *(fpr_of(of, half, k, need->n) > need->fpr ? &low : &high) = half;
    }
    return high;
}

/* The sizes of tables for each k, and the best: the smallest, or, if all are the same, that of the
 * least fpr. They hardly depend on bits, as long as few entries stick: c1 of 4 bits will do. */
static bool choose_k(search *of, const uint64_t *g) {
    bool const is_sized = is_fixed(of, BH_ENTRIES);
    bool const is_whole = is_fixed(of, BH_COUNT_BITS) && is_fixed(of, BH_SUM_BITS);
    uint64_t   wide[BH_FIELDS], k = is_fixed(of, BH_HASHES) ? of->fixed[BH_HASHES] : 1;
    uint64_t   last = is_fixed(of, BH_HASHES) ? k : TRIED_K;
    double     least = INFINITY;
    bh_profile profile;
    memcpy(wide, g, sizeof wide);
    if (!is_whole) wide[BH_COUNT_BITS] = 4, wide[BH_SUM_BITS] = BH_MAX_SUM_BITS;
    wide[BH_CENTRED] = is_whole && g[BH_CENTRED] != 0;
    pairs const shape = tamis_bh_pairs(wide);
    tamis_bh_profile(&shape, &profile);
    for (; k <= last; k++) {
        double const m = is_sized ? (double)g[BH_ENTRIES] : fewest(of->need, &profile, (double)k);
        double const cost = is_sized ? fpr_of(&profile, m, (double)k, of->need->n) : m;
        of->size[k] = m;
        if (cost < least) of->k = k;
        if (cost > 1.1 * least) break;
        least = fmin(least, cost);
    }
    return least < INFINITY;
}

/* The k that is worth trying least of all: fewer keys meet in an entry than with the best. */
static uint64_t lowest_k(const search *of) {
    if (is_fixed(of, BH_ENTRIES) || is_fixed(of, BH_HASHES)) return of->k;
    return of->k <= 6 ? 1 : of->k - 6;
}

/* So many bits: with the best k, or a lower one if entries stick with that. */
static void try_bits(search *of, uint64_t *g) {
    double const bits = (double)(g[BH_COUNT_BITS] + g[BH_SUM_BITS]), n = of->need->n;
    if (bits * of->size[of->k] >= of->least) return;
    pairs const shape = tamis_bh_pairs(g);
    bh_profile  profile;
    profile_of(&shape, false, &profile);
    for (uint64_t k = of->k; k >= lowest_k(of); k--) {
        double const m = of->size[k], life = of->need->lifetime;
        if (bits * m >= of->least || m > (double)PAIRS_MAX_ENTRIES) continue;
        if (of->stuck < 1 && saturation_of(&profile, m, (double)k, n, life) > of->stuck) continue;
        of->least = bits * m;
        memcpy(of->best, g, sizeof of->best);
        of->best[BH_ENTRIES] = (uint64_t)m;
        of->best[BH_HASHES] = k;
    }
}

/* Would c1 alone stick too often, whatever c2? */
static bool is_short(const search *of, uint64_t count_bits) {
    uint64_t const k = lowest_k(of);
    double const   m = of->size[k], top = (double)bits_low((unsigned)count_bits);
    return m < INFINITY && m * beyond_top(top, m, of->need->n * (double)k) > of->stuck;
}

/* All bits that are worth trying; centred, which is never far from the best. */
static void try_all(search *of, uint64_t *g) {
    uint64_t const a = of->fixed[BH_COUNT_BITS], b = of->fixed[BH_SUM_BITS];
    g[BH_CENTRED] = of->fixed[BH_CENTRED] != 0;
    for (uint64_t bits = a != NEED_FREE ? a : 3; bits <= (a != NEED_FREE ? a : 6); bits++) {
        g[BH_COUNT_BITS] = bits;
        for (uint64_t sum = b != NEED_FREE ? b : bits + 1; sum <= (b != NEED_FREE ? b : 12);
             sum++) {
            g[BH_SUM_BITS] = sum;
            if (!is_short(of, bits)) try_bits(of, g);
        }
    }
}

/* Where no bits will do beside those that are fixed, entries may stick: c2 as wide as c1 needs, or
 * centred in what it has. */
static void try_widest(search *of, uint64_t *g) {
    g[BH_COUNT_BITS] = is_fixed(of, BH_COUNT_BITS) ? of->fixed[BH_COUNT_BITS] : 4;
    g[BH_CENTRED] = is_fixed(of, BH_SUM_BITS) && of->fixed[BH_CENTRED] != 0;
    if (is_fixed(of, BH_CENTRED)) g[BH_CENTRED] = of->fixed[BH_CENTRED];
    g[BH_SUM_BITS] = is_fixed(of, BH_SUM_BITS) ? of->fixed[BH_SUM_BITS] : BH_MAX_SUM_BITS;
    sums const     row = sums_make(g[BH_SEQUENCE], 1);
    uint64_t const top = bits_low((unsigned)g[BH_COUNT_BITS]) * (row.least + row.width);
    while (!is_fixed(of, BH_SUM_BITS) && bits_low((unsigned)g[BH_SUM_BITS] - 1) >= top) {
        g[BH_SUM_BITS]--;
    }
    of->stuck = 1;
    try_bits(of, g);
}

/* The size of the best, now with all that may stick. */
static bool settle(search *of, uint64_t *ret_geometry) {
    uint64_t *const g = of->best;
    bh_profile      profile;
    if (!(of->least < INFINITY)) return false;
    if (!is_fixed(of, BH_ENTRIES)) {
        pairs const shape = tamis_bh_pairs(g);
        tamis_bh_profile(&shape, &profile);
        double const m = fewest(of->need, &profile, (double)g[BH_HASHES]);
        if (m > (double)PAIRS_MAX_ENTRIES) return false;
        g[BH_ENTRIES] = (uint64_t)m;
    }
    memcpy(ret_geometry, g, sizeof of->best);
    return true;
}

static bool is_free_or(uint64_t value, uint64_t first, uint64_t last) {
    return value == NEED_FREE || is_in(value, first, last);
}

static bool may_be_possible(const bh_need *need, const uint64_t *g) {
    return (need->fpr > 0 || g[BH_ENTRIES] != NEED_FREE) &&
           is_free_or(g[BH_ENTRIES], 2, PAIRS_MAX_ENTRIES) &&
           is_free_or(g[BH_HASHES], 1, BH_MAX_HASHES) &&
           is_free_or(g[BH_COUNT_BITS], BH_MIN_BITS, BH_MAX_COUNT_BITS) &&
           is_free_or(g[BH_SUM_BITS], BH_MIN_BITS, BH_MAX_SUM_BITS) &&
           is_free_or(g[BH_IMPROVED], 0, 1) && is_free_or(g[BH_CENTRED], 0, 1);
}

bool tamis_bh_choose(const bh_need *need, uint64_t *geometry) {
    uint64_t g[BH_FIELDS];
    memcpy(g, geometry, sizeof g);
    if (!may_be_possible(need, g) || !choose_sequence(g)) return false;
    if (g[BH_IMPROVED] == NEED_FREE) g[BH_IMPROVED] = 1;
    search     of = { .need = need, .fixed = geometry, .stuck = need->stuck, .least = INFINITY };
    bool const is_any = is_fixed(&of, BH_COUNT_BITS) || is_fixed(&of, BH_SUM_BITS);
    if (!choose_k(&of, g)) return false;
    try_all(&of, g);
    if (!(of.least < INFINITY) && is_any) try_widest(&of, g);
    return settle(&of, geometry);
}
