/* size.c - see size.h.
 *
 * The search, from the outside in:
 *
 *     increments   {8, 12, 14, 15}, {16, 24, 28, 30, 31}, {4, 5, 6, 7}, {1}
 *     hashes       1, 2, ... until tables only grow
 *     counters, widths, blocks, area    see size.h
 *
 * A table that cannot be cheaper than the best so far is given up as soon as that is known: after
 * its widths, when the bits of its counters without any reserve are already too many.
 */
#include "size.h"

#include "theory/crossing.h"

#include <math.h>
#include <string.h>

#define ML_MAX_STUCK 1e-3  /* however much overflow is accepted: see size.h */
#define MIN_COUNTERS 64    /* with fewer, the places of a key are often the same counter */
#define MAX_PER_KEY 4096.0 /* counters for each hash of a key: a rate that needs more is too low */

/* The best table so far. */
typedef struct ml_search {
    const tamis_need *need;
    double            n, lifetime; /* keys at one time, and in all */
    uint64_t          count_to;    /* tables that count less are passed over */
    double            price, rate;
    uint64_t          best[ML_FIELDS]; /* no hashes: none yet */
} ml_search;

/* Are both the blocks and their counters fixed, and so the size? */
static bool is_sized(const tamis_need *need) {
    return need_is_fixed(need, ML_BLOCKS) && need_is_fixed(need, ML_COUNTERS);
}

/* The accepted P[anything ever sticks]. */
static double max_stuck(const tamis_need *need) {
    return fmin(need->overflow, ML_MAX_STUCK);
}

/* What is to be small: bits; and if speed is preferred also hashes, each of which is a line to wait
 * for. The weight says that one hash fewer is worth up to a tenth more memory. */
static double price_of(const ml_search *search, const uint64_t *g, double bits) {
    return bits * (need_is_fast(search->need) ? 10 + (double)g[ML_HASHES] : 1);
}

/* ------------------------------------------------------------------ the fewest counters */

/* Tables that differ in the number of counters only: what tamis_crossing() asks the rates of. */
typedef struct ml_family {
    const ml_model *model;
    double          k, n;
} ml_family;

/* The rate of m counters, if each has as many bits as it needs. */
static __attribute__((noinline)) double ml_rate_with(const void *context, double m) {
    const ml_family *const family = context;
    double const           counters = fmax(2, m), hits = family->n * family->k;
    ml_law                 law;
    tamis_ml_short_law(&family->model->map, counters, hits, &law);
    ml_counter const counter = tamis_ml_counter(family->model, &law);
    return tamis_ml_rate(&counter, 1 - counter.excludes, counters, family->k, family->n);
}

/* The fewest counters that meet the rate with k hashes, to 1 in 10^4; 0: none do. The upper end
 * begins at one counter per hit and doubles until it meets the rate; the lower end is where
 * counters would have twice the most hits. Then bisection closes in. `guess` may be any number; the
 * search is shorter if it is near the result. */
static double ml_fewest_counters(const ml_search *search, const ml_model *model, double k,
                                 double guess) {
    double const    hits = search->n * k;
    ml_family const family = { model, k, search->n };
    crossing        cross = tamis_crossing(ml_rate_with, &family, search->need->fpr);
    double          high = hits;
    tamis_crossing_close_in(&cross, fmax(2, guess), hits * MAX_PER_KEY, 5e-5);
    while (!tamis_crossing_meets(&cross, fmax(2, high))) {
        high *= 2;
        if (high > 0x1p53 || high > hits * MAX_PER_KEY) return 0;
    }
    high = fmax(2, high);
    double low = fmax(1, hits / (2 * ML_MAX_HITS));
    while (high - low > fmax(1e-4 * high, 1) && high > 2) {
        double const m = fmax(2, (low + high) / 2);
        if (tamis_crossing_meets(&cross, m))
            high = m;
        else
            low = m;
    }
    return ceil(high);
}

/* ------------------------------------------------------------------ blocks of one line */

/* Tables that differ in the area of a block only. */
typedef struct ml_blocks {
    const ml_heights *heights;
    const ml_life    *life;
    const ml_window  *window; /* of areas that are likely to be asked for, or NULL */
    double            limit;  /* how often anything may stick */
} ml_blocks;

/* The accepted number of events in which something sticks, on average. Such events are rare and
 * nearly independent, so P[none] = exp(-events). */
static double may_stick(const tamis_need *need) {
    return -log1p(-max_stuck(need));
}

/* How often anything sticks, with this much area in each block. The window knows the areas that are
 * likely to be asked for; others are computed one by one, which takes as long as the whole window.
 *
 *     area         below the window              in it             above it
 *     answer       as for its least area, if     from the window   computed
 *                  that sticks too often; else
 *                  computed
 *
 * The first answer is too low, since less area sticks more often. But the caller only asks whether
 * it is above the limit, and that it is. */
static double sticks_with(const void *context, double area) {
    const ml_blocks *const blocks = context;
    const ml_window *const window = blocks->window;
    ml_cells               others;
    if (window == NULL) return tamis_ml_sticks(blocks->heights, blocks->life, area, &others);
    double const least = (double)ml_window_least(window);
    if (tamis_ml_cells_in(window, fmax(area, least), &others)) {
        double const sticks = tamis_ml_sticks_by(blocks->heights, blocks->life, &others);
        if (area >= least || sticks > blocks->limit) return sticks;
    }
    return tamis_ml_sticks(blocks->heights, blocks->life, area, &others);
}

/* An area that all counters of a block together cannot exhaust. */
static double most_area(const ml_life *life, const ml_heights *heights) {
    return fmin(ML_MAX_AREA, life->counters * heights->cost[heights->depth - 1]);
}

/* Give each line this many counters, and the rest of it to their cells above level 0. One bit of
 * the line says "closed". With 200 counters of 2 bits, 111 bits are left for cells. */
static void share_line(double m, uint64_t counters, uint64_t *g) {
    g[ML_COUNTERS] = counters;
    g[ML_BLOCKS] = (uint64_t)ceil(m / (double)counters);
    g[ML_AREA] = ML_LINE_BITS - 1 - counters * g[ML_BITS];
}

/* Have lines of this many counters enough area, and so stick rarely enough? */
static bool line_is_enough(const ml_search *search, const ml_heights *heights, double m,
                           uint64_t counters, uint64_t *g) {
    share_line(m, counters, g);
    ml_life const   life = tamis_ml_life(g, search->n, search->lifetime);
    ml_blocks const blocks = { heights, &life, NULL, may_stick(search->need) };
    double const    area = fmin((double)g[ML_AREA], most_area(&life, heights));
    return sticks_with(&blocks, area) <= blocks.limit;
}

/* As many counters in a line as leave enough area. More counters need more area and leave less, so
 * bisection finds them. Fewer than `least` would make the table dearer than the best so far. Most
 * tables end there, since lines of `least` counters have not enough area. */
static bool fit_line(const ml_search *search, const ml_heights *heights, double m, uint64_t *g) {
    double const   most_lines = floor(search->price / price_of(search, g, ML_LINE_BITS) + 1e-9);
    uint64_t const least = (uint64_t)fmax(1, fmin(ceil(m / most_lines), ML_LINE_BITS));
    uint64_t       low = least, high = (ML_LINE_BITS - 1) / g[ML_BITS] + 1;
    if (least >= high || !line_is_enough(search, heights, m, least, g)) return false;
    while (high - low > 1) {
        uint64_t const half = (low + high) / 2;
        if (line_is_enough(search, heights, m, half, g))
            low = half;
        else
            high = half;
    }
    share_line(m, low, g);
    return true;
}

/* ------------------------------------------------------------------ blocks of any length */

/* Enough blocks that none is too long, all of the same size; unless the user fixed the blocks or
 * their counters, which then decide the other. The area is not known yet: a tenth more than the
 * cells take on average is near enough. */
static void cut_blocks(const tamis_need *need, const ml_heights *heights, double m, uint64_t *g) {
    double const bits = m * ((double)g[ML_BITS] + 1.1 * tamis_ml_mean_cost(heights));
    double const most = ML_MAX_COUNTERS - 1;
    if (need_is_fixed(need, ML_COUNTERS)) {
        g[ML_BLOCKS] = (uint64_t)fmax(1, ceil(m / (double)need->fixed[ML_COUNTERS]));
        return;
    }
    if (!need_is_fixed(need, ML_BLOCKS)) {
        g[ML_BLOCKS] = (uint64_t)fmax(ceil(bits / ML_BLOCK_BITS), ceil(m / most));
    }
    g[ML_COUNTERS] = (uint64_t)ceil(m / (double)g[ML_BLOCKS]);
}

/* The least area that is too small rarely enough; false: none is. The upper end begins at the mean
 * and 8 standard deviations, and grows by as much until it is enough; then bisection. One pass over
 * the bits of a block gives the numbers for all areas of a window around that; see sticks_with().
 * Not inlined: its frame is large. */
static __attribute__((noinline)) bool fit_area(const ml_search *search, const ml_heights *heights,
                                               uint64_t *g) {
    ml_life const   life = tamis_ml_life(g, search->n, search->lifetime);
    ml_window       window;
    ml_blocks const blocks = { heights, &life, &window, may_stick(search->need) };
    crossing        cross = tamis_crossing(sticks_with, &blocks, blocks.limit);
    double const    most = most_area(&life, heights);
    double const    mean = life.counters * tamis_ml_mean_cost(heights);
    double const    some = 8 * sqrt(life.counters) * tamis_ml_cost_deviation(heights) + 16;
    double          low = -1, high = fmin(most, ceil(mean + some));
    double const    first = fmax(0, fmax(floor(mean) - ML_MAX_COST, high - ML_WINDOW / 2.0));
    tamis_ml_window(heights, life.counters - 1, (uint64_t)first, ML_WINDOW, &window);
    tamis_crossing_close_in(&cross, high, most, 0);
    while (!tamis_crossing_meets(&cross, high)) {
        if (high >= most) return false;
        low = high;
        high = fmin(most, ceil(high + some));
    }
    if (low < 0 && !tamis_crossing_meets(&cross, floor(mean))) low = floor(mean);
    while (high - low > 1) {
        double const half = floor((low + high) / 2);
        if (tamis_crossing_meets(&cross, half))
            high = half;
        else
            low = half;
    }
    g[ML_AREA] = (uint64_t)high;
    return true;
}

/* Blocks, counters and area for m counters. A single level has no cells, so it needs no lines. */
static bool fit_blocks(const ml_search *search, const ml_heights *heights, double m, uint64_t *g) {
    const tamis_need *const need = search->need;
    bool const is_free = !need_is_fixed(need, ML_BLOCKS) && !need_is_fixed(need, ML_COUNTERS) &&
                         !need_is_fixed(need, ML_AREA);
    if (need_is_fast(need) && is_free && heights->depth > 1) return fit_line(search, heights, m, g);
    if (!is_sized(need)) cut_blocks(need, heights, m, g);
    if (g[ML_COUNTERS] > ML_MAX_COUNTERS) return false;
    return need_is_fixed(need, ML_AREA) || fit_area(search, heights, g);
}

/* ------------------------------------------------------------------ which table is better */

/* Keep this table if it is cheaper than the best so far, or as cheap with a lower rate, and if it
 * meets the rate by the whole analysis. If the number of blocks is fixed, any rate is accepted. */
static void ml_try_table(ml_search *search, const ml_model *model, const uint64_t *g) {
    const tamis_need *const need = search->need;
    levels const            layout = ml_levels(g);
    double const            bits = (double)g[ML_BLOCKS] * (double)levels_block_bits(&layout);
    double const            price = price_of(search, g, bits);
    ml_forecast             forecast;
    if (price > search->price) return;
    if (search->count_to != 0 && tamis_ml_count_to(g) < search->count_to) return;
    tamis_ml_forecast_by(model, g, search->n, search->lifetime, &forecast);
    if (need->fpr > 0 && forecast.fpr > need->fpr && !need_is_fixed(need, ML_BLOCKS)) return;
    if (price >= search->price && forecast.fpr >= search->rate) return;
    search->price = price;
    search->rate = forecast.fpr;
    memcpy(search->best, g, sizeof search->best);
}

/* ------------------------------------------------------------------ what is tried */

/* The widths of the levels, if they are free, for m counters with this law. Counters that reach the
 * top may use an eighth of the accepted probability of sticking, and blocks that close the rest. A
 * bit of a cell above level 0 costs more than one bit of memory, since the area has a reserve for
 * chance: 15% more, and 60% in blocks of one line, which have a larger reserve. */
static bool choose_widths(const ml_search *search, const ml_model *model, const ml_law *law,
                          double m, uint64_t *g) {
    const tamis_need *const need = search->need;
    if (need_is_fixed(need, ML_BITS)) return true;
    double const       later = fmax(0, search->lifetime - search->n) * (double)g[ML_HASHES];
    widths_rules const rules = { .max_top = max_stuck(need) / 8 / (m + later),
                                 .dearer = need_is_fast(need) ? 1.6 : 1.15,
                                 .count_to = search->count_to };
    return tamis_ml_widths(model, law, &rules, g + ML_BITS);
}

/* A table with k hashes, as far as it is known without its blocks. */
typedef struct ml_draft {
    double   m;    /* counters; 0: there is no such table */
    double   bits; /* of these counters and their cells, without any reserve: no table has fewer */
    uint64_t widths[LEVELS_MAX];
} ml_draft;

/* Draft it: the fewest counters, and the widths of their levels. *guess is near the number of
 * counters, or 0 if nothing is known; it becomes that number.
 *
 * A draft of infinitely many bits says that there is no such table. One that is given up early, as
 * its counters alone are too dear, has their bits: draft_from() must see where sizes rise. It has
 * no counters (m is 0), and try_cheapest() passes it over, by its price. */
static __attribute__((noinline)) ml_draft draft_hashes(const ml_search *search,
                                                       const ml_model  *model,
                                                       const uint64_t *fields, uint64_t k,
                                                       double *guess) {
    double const near = *guess != 0 ? *guess : search->n * (double)k;
    ml_draft     draft = { .bits = INFINITY };
    uint64_t     g[ML_FIELDS];
    ml_law       law;
    ml_heights   heights;
    memcpy(g, fields, sizeof g);
    g[ML_HASHES] = k;
    double m =
        is_sized(search->need) ? ml_total(g) : ml_fewest_counters(search, model, (double)k, near);
    *guess = m;
    if (!is_sized(search->need) && m != 0) m = fmax(m, MIN_COUNTERS);
    if (m < 2 || search->n * (double)k / m > ML_MAX_HITS) return draft;
    if (price_of(search, g, m) > search->price) { /* a bit for each counter, at least */
        draft.bits = m;
        return draft;
    }
    tamis_ml_law(&model->map, m, search->n * (double)k, &law);
    if (!choose_widths(search, model, &law, m, g)) return draft;
    levels const layout = levels_make(1, 0, g + ML_BITS);
    tamis_ml_heights(model, &layout, &law, &heights);
    draft.m = m;
    draft.bits = m * ((double)g[ML_BITS] + tamis_ml_mean_cost(&heights));
    memcpy(draft.widths, g + ML_BITS, sizeof draft.widths);
    return draft;
}

/* Make a table of a draft, and try it. */
static __attribute__((noinline)) void try_draft(ml_search *search, const ml_model *model,
                                                const ml_draft *draft, uint64_t *g) {
    ml_law     law;
    ml_heights heights;
    memcpy(g + ML_BITS, draft->widths, sizeof draft->widths);
    tamis_ml_law(&model->map, draft->m, search->n * (double)g[ML_HASHES], &law);
    levels const layout = levels_make(1, 0, g + ML_BITS);
    tamis_ml_heights(model, &layout, &law, &heights);
    if (fit_blocks(search, &heights, draft->m, g)) ml_try_table(search, model, g);
}

/* The drafts of one D, by k. */
typedef struct ml_drafts {
    ml_draft by_k[ML_MAX_HASHES + 1];
    double   least; /* bits of the smallest */
} ml_drafts;

#define MANY_BITS 1e5 /* several blocks: their reserve is less than a tenth of the table */

/* Draft k = first, first + step, ..., until drafts are so much larger than the least that no
 * difference in reserves can make up for it. With step -1 the loop ends at k = 0. */
static void draft_from(const ml_search *search, const ml_model *model, const uint64_t *g,
                       uint64_t first, int step, double guess, ml_drafts *all) {
    for (uint64_t k = first; k >= 1 && k <= ML_MAX_HASHES; k += (uint64_t)(int64_t)step) {
        double const rise = all->least < MANY_BITS ? 1.5 : 1.2;
        all->by_k[k] = draft_hashes(search, model, g, k, &guess);
        if (all->by_k[k].bits > rise * all->least) return;
        all->least = fmin(all->least, all->by_k[k].bits);
    }
}

/* All k that may be best. Sizes fall with k to a single minimum, which is about 0.3 log2(1 / fpr),
 * and then rise. */
static void draft_all(const ml_search *search, const ml_model *model, const uint64_t *g,
                      ml_drafts *ret_drafts) {
    uint64_t const fixed = search->need->fixed[ML_HASHES];
    double const   middle = fmin(ML_MAX_HASHES, fmax(1, rint(-0.3 * log2(search->need->fpr))));
    uint64_t const first = fixed != NEED_FREE      ? fixed
                           : search->need->fpr > 0 ? (uint64_t)middle
                                                   : 1;
    double         guess = 0;
    ret_drafts->least = INFINITY;
    for (unsigned k = 0; k <= ML_MAX_HASHES; k++) ret_drafts->by_k[k].bits = INFINITY;
    if (fixed != NEED_FREE) {
        ret_drafts->by_k[fixed] = draft_hashes(search, model, g, fixed, &guess);
        return;
    }
    draft_from(search, model, g, first, 1, 0, ret_drafts);
    draft_from(search, model, g, first - 1, -1, ret_drafts->by_k[first].m, ret_drafts);
}

/* Try the table of the cheapest draft that is left, and take the draft from the list. False: none
 * is as cheap as the best table. */
static bool try_cheapest(ml_search *search, const ml_model *model, const uint64_t *fields,
                         ml_drafts *all) {
    double   price = search->price;
    uint64_t best = 0, g[ML_FIELDS];
    memcpy(g, fields, sizeof g);
    for (uint64_t k = 1; k <= ML_MAX_HASHES; k++) {
        g[ML_HASHES] = k;
        double const next = price_of(search, g, all->by_k[k].bits);
        if (next == INFINITY || next > price) continue;
        best = k;
        price = next;
    }
    if (best == 0) return false;
    g[ML_HASHES] = best;
    try_draft(search, model, &all->by_k[best], g);
    all->by_k[best].bits = INFINITY;
    return true;
}

/* All numbers of hashes for one D. To find the blocks of a table takes ten times as long as to
 * draft it, and no table is cheaper than its draft. So first all are drafted. Then tables are made,
 * the cheapest draft first, until a draft is dearer than the best table. */
static void ml_try_set(ml_search *search, uint64_t mask) {
    const uint64_t *const fixed = search->need->fixed;
    uint64_t              g[ML_FIELDS];
    ml_drafts             drafts;
    ml_model              model;
    tamis_ml_model(mask, fixed[ML_PLAIN] == 1, &model);
    if (fixed[ML_BITS] == NEED_FREE && !tamis_ml_can_count(&model, search->count_to)) return;
    memcpy(g, fixed, sizeof g);
    g[ML_INCREMENTS] = mask;
    g[ML_PLAIN] = fixed[ML_PLAIN] == 1;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        if (g[ML_BITS + l] == NEED_FREE) g[ML_BITS + l] = 0;
    }
    draft_all(search, &model, g, &drafts);
    while (try_cheapest(search, &model, g, &drafts)) continue;
}

/* All sets of increments, or the fixed one. Each later set has to be smaller than the best so
 * far. */
static void ml_try_sets(ml_search *search) {
    static const uint64_t   sets[] = { ML_GENERAL, ML_GENERAL_WIDE, ML_D4, ML_ONE };
    const tamis_need *const need = search->need;
    if (need_is_fixed(need, ML_INCREMENTS)) {
        ml_try_set(search, need->fixed[ML_INCREMENTS]);
        return;
    }
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i++) ml_try_set(search, sets[i]);
}

/* ------------------------------------------------------------------ the choice */

/* Can the fixed fields be met at all? Without a rate, the size must be given. */
static bool ml_need_is_possible(const tamis_need *need) {
    const uint64_t *const fixed = need->fixed;
    uint64_t const        k = fixed[ML_HASHES], mask = fixed[ML_INCREMENTS];
    if (need->fpr <= 0 && !is_sized(need)) return false;
    if (k != NEED_FREE && (k < 1 || k > ML_MAX_HASHES)) return false;
    if (fixed[ML_BLOCKS] == 0 || fixed[ML_COUNTERS] == 0 || fixed[ML_BITS] == 0) return false;
    if (fixed[ML_PLAIN] != NEED_FREE && fixed[ML_PLAIN] > 1) return false;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint64_t const bits = fixed[ML_BITS + l];
        if (bits != NEED_FREE && bits > LEVELS_MAX_BITS) return false;
    }
    return mask == NEED_FREE || increments_are_possible(mask);
}

bool tamis_ml_choose(const tamis_need *need, uint64_t *ret_geometry) {
    /* The price from which on a table is too large. If speed is preferred, the price depends on the
     * hashes, too, and a limit of bytes says nothing about it. */
    double const limit = need_is_fast(need) ? INFINITY : 8 * need_bytes_limit(need);
    ml_search    search = { .need = need,
                            .n = (double)need->work.capacity,
                            .lifetime = (double)need->work.lifetime,
                            .count_to = min_u64(need->count_to, ML_MAX_COUNT),
                            .price = limit,
                            .rate = 2 };
    if (!ml_need_is_possible(need)) return false;
    ml_try_sets(&search);
    if (search.best[ML_HASHES] == 0 && search.count_to != 0) {
        search.count_to = 0; /* the fixed fields cannot count that far: the planner reports it */
        ml_try_sets(&search);
    }
    if (search.best[ML_HASHES] == 0) return false;
    memcpy(ret_geometry, search.best, sizeof search.best);
    return true;
}
