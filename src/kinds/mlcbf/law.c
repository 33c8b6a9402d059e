/* law.c - see law.h.
 *
 * Two recursions carry this file, and both have the same form. The generating function of what is
 * asked for is a power, and its derivative gives each coefficient from the few before it: so a
 * distribution takes one pass, and no convolution. The first is that of the sum of a counter
 * (Panjer, ml_make_law), the second that of the bits that the cells of a block take (series_next).
 */
#include "law.h"

#include "theory/meet.h"
#include "theory/vi_rate.h"

#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-80 /* also when it is multiplied by all hits of a table's life */
#define NO_DIGIT 1e-25   /* no digit of a rate depends on it */

/* ------------------------------------------------------------------ the sum of a counter */

/* Panjer's recursion. For a binomial number of hits N with P[N = j] = (a + b/j) P[N = j - 1],
 *
 *     chance[c] = 1/|D| x sum over v of D of  (a + b v / c) chance[c - v]
 *
 * N hits with the chance q = 1/m each have a = -q / (1 - q) and b = (hits + 1) q / (1 - q). For D =
 * {1} the sum is N itself, and this is the ratio of two neighbouring terms of the binomial.
 *
 * It may stop when the last 64 chances, more than any increment, are negligible: all that follow
 * are made of them. Before the bulk of the distribution they are negligible, too, so half of it
 * must have come first. */
static void ml_make_law(const numbered *map, double counters, double hits, double negligible,
                        ml_law *ret_law) {
    const increments *const d = &map->d;
    double const            q = 1 / counters, a = -q / (1 - q), b = -(hits + 1) * a;
    double const            most = hits * d->value[d->n - 1];
    double                  total = exp(hits * log1p(-q)), recent = 1;
    unsigned                c = 1, n = 0; /* n: increments that are not larger than c */
    memset(ret_law->chance, 0, sizeof ret_law->chance);
    ret_law->chance[0] = total;
    for (; c < ML_MAX_SUM && c <= most; c++) {
        double const each = b / c;
        double       sum = 0;
        while (n < d->n && d->value[n] <= c) n++;
        for (unsigned i = 0; i < n; i++) {
            unsigned const v = d->value[i];
            sum += (a + each * v) * ret_law->chance[c - v];
        }
        ret_law->chance[c] = sum > 0 ? sum / d->n : 0;
        total += ret_law->chance[c];
        recent += ret_law->chance[c];
        if (c % 64 != 0) continue;
        if (recent < negligible && total > 0.5) break;
        recent = 0;
    }
    ret_law->end = c < ML_MAX_SUM ? c + 1 : c;
    ret_law->beyond = total < 1 - 1e-9 ? 1 - total : 0; /* less is rounding */
}

void tamis_ml_law(const numbered *map, double counters, double hits, ml_law *ret_law) {
    ml_make_law(map, counters, hits, NEGLIGIBLE, ret_law);
}

void tamis_ml_short_law(const numbered *map, double counters, double hits, ml_law *ret_law) {
    ml_make_law(map, counters, hits, NO_DIGIT, ret_law);
}

/* ------------------------------------------------------------------ what a counter excludes */

/* Shares are kept as small integers, so that a model fits the stack of a small thread. */
void tamis_ml_model(uint64_t mask, bool is_plain, ml_model *ret_model) {
    const increments *const d = &ret_model->map.d;
    ret_model->map = numbered_make(mask, is_plain);
    /* From here on, a counter excludes nothing: without any two increments, what is left is still a
     * possible sum of others (increments_conductor). */
    uint64_t const useless = increments_conductor(d) + 2u * d->value[d->n - 1];
    for (uint64_t c = 0; c < ML_MAX_SUM; c++) {
        double const excluded = c < useless ? tamis_vi_excluded(d, c) : 0;
        double const both = c < useless ? tamis_vi_held_both(d, c) : 1;
        ret_model->excluded[c] = (uint8_t)lrint(excluded * d->n);
        ret_model->both[c] = (uint16_t)lrint(both * d->n * d->n);
    }
    for (uint64_t c = 0; c < ML_MAX_SUM; c++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < d->n && c + d->value[i] < ML_MAX_SUM; i++) {
            sum += ret_model->excluded[c + d->value[i]];
        }
        ret_model->after[c] = (uint16_t)sum;
    }
}

/* Means over the sum of a counter. Sums beyond the law exclude nothing, and may hold any two
 * increments. */
ml_counter tamis_ml_counter(const ml_model *model, const ml_law *law) {
    double const n = model->map.d.n;
    double       excluded = 0, both = 0, after = 0;
    for (unsigned c = 0; c < law->end; c++) {
        excluded += law->chance[c] * model->excluded[c];
        both += law->chance[c] * model->both[c];
        after += law->chance[c] * model->after[c];
    }
    return (ml_counter){ excluded / n, law->beyond + both / (n * n), after / (n * n) };
}

/* Two places of a key pass together more often than independent ones would, by the factor that
 * meet.h asks for. With the probability 1/m they are the same counter. Otherwise they are two
 * counters that share the hits of the table: what one has, the other has not. That some counters
 * are stuck is left out of this correction, and is in `pass`. */
double tamis_ml_rate(const ml_counter *counter, double pass, double m, double k, double n) {
    double const slope = counter->after - counter->excludes, ideal = 1 - counter->excludes;
    double const joint = counter->both - ideal * ideal - n * k / m * slope * slope;
    if (!(pass > 0)) return fmin(1, n / 0x1p64);
    double const excess = joint / (m * pass * pass);
    return fmin(1, pow(pass, k) * tamis_meet_pairs(excess, k) + n / 0x1p64);
}

/* ------------------------------------------------------------------ levels */

/* By the sum of a counter: the level of its last cell, and the first sum at the top. Numbers rise
 * with the sums, so one pass finds them all. */
typedef struct sum_levels {
    uint8_t  level[ML_MAX_SUM + INCREMENTS_MAX + 1];
    unsigned top;
} sum_levels;

static void find_levels(const ml_model *model, const levels *layout, unsigned end,
                        sum_levels *ret_levels) {
    const increments *const d = &model->map.d;
    unsigned                level = 0;
    ret_levels->top = end + d->value[d->n - 1];
    for (unsigned c = 0; c < end + d->value[d->n - 1]; c++) {
        uint64_t const x = numbered_number(&model->map, c);
        while (level + 1 < layout->depth && x >= layout->base[level + 1]) level++;
        if (x >= levels_top(layout) && c < ret_levels->top) ret_levels->top = c;
        ret_levels->level[c] = (uint8_t)level;
    }
}

/* Add what one more hit does to counters with the sum c, whose share is `chance`. All increments
 * are equally likely. */
static void add_hit(const increments *d, const sum_levels *sums, unsigned c, double chance,
                    ml_heights *heights) {
    double const each = chance / d->n;
    double      *climbs = heights->climbs[sums->level[c]];
    for (unsigned i = 0; i < d->n; i++) {
        unsigned const next = c + d->value[i];
        climbs[sums->level[next]] += each;
        if (next >= sums->top) heights->reaches += each;
    }
}

/* A counter at the top excludes no key, and no hit changes it. Sums that are too large for the law
 * (law->beyond) count as at the top. */
void tamis_ml_heights(const ml_model *model, const levels *layout, const ml_law *law,
                      ml_heights *ret_heights) {
    const increments *const d = &model->map.d;
    unsigned const          depth = layout->depth;
    ml_heights              heights = { .top = law->beyond, .depth = depth };
    sum_levels              sums;
    find_levels(model, layout, law->end, &sums);
    heights.last[depth - 1] = law->beyond;
    for (unsigned l = 0; l < depth; l++) {
        heights.cost[l] = (unsigned)levels_cost(layout, layout->base[l]);
    }
    for (unsigned c = 0; c < law->end; c++) {
        double const chance = law->chance[c];
        if (!(chance > 0)) continue;
        heights.last[sums.level[c]] += chance;
        if (c >= sums.top) {
            heights.top += chance;
            continue;
        }
        heights.excludes[sums.level[c]] += chance * model->excluded[c] / d->n;
        add_hit(d, &sums, c, chance, &heights);
    }
    *ret_heights = heights;
}

/* A counter on level 0 costs nothing, so the sums begin with level 1. */
double tamis_ml_mean_cost(const ml_heights *heights) {
    double mean = 0;
    for (unsigned l = 1; l < heights->depth; l++) mean += heights->last[l] * heights->cost[l];
    return mean;
}

double tamis_ml_cost_deviation(const ml_heights *heights) {
    double const mean = tamis_ml_mean_cost(heights);
    double       square = 0;
    for (unsigned l = 1; l < heights->depth; l++) {
        square += heights->last[l] * heights->cost[l] * heights->cost[l];
    }
    return sqrt(fmax(0, square - mean * mean));
}

/* ------------------------------------------------------------------ the cells of a block */

/* The coefficients of f(z)^n, one after the other, where
 *
 *     f(z) = sum over levels l of  last[l] z^cost[l],      cost[0] = 0
 *
 * is the distribution of the bits of one counter. From (f^n)' f = n f' f^n follows, for the
 * coefficients g_i of f^n,
 *
 *     i f_0 g_i = sum over l >= 1 of  ((n + 1) cost[l] - i) last[l] g_(i - cost[l])
 *
 * For n = 2 and f(z) = 0.9 + 0.1 z^3: 3 x 0.9 g_3 = (3 x 3 - 3) 0.1 g_0, and with g_0 = 0.81 that
 * is g_3 = 0.18.
 *
 * They are computed without the factor f_0^n, whose logarithm is kept in `scale`: it would
 * underflow.
 *
 * Beyond i = (n + 1) cost[l] the terms have both signs. If hardly any counter is on level 0, f_0 is
 * small, and they cancel: at 2.3 times the capacity of a table for 1000 keys, a forecast of
 * saturation is 0.8657 instead of 0.8647 (with numbers of 128 bits), at 2.4 times it is 1. Up to
 * 2.2 times all six digits are right, and nobody plans beyond the capacity. */
typedef struct series {
    double   recent[ML_MAX_COST]; /* the last coefficients, by their index modulo ML_MAX_COST */
    double   scale;               /* ln of the factor that all of them lack */
    double   rise[LEVELS_MAX];    /* (n + 1) cost[l] last[l] / last[0] */
    double   fall[LEVELS_MAX];    /* last[l] / last[0] */
    unsigned cost[LEVELS_MAX], depth;
} series;

static_assert((ML_MAX_COST & (ML_MAX_COST - 1)) == 0, "a modulo that is a mask");

/* last[0] must not be 0. */
static series series_make(const ml_heights *heights, double n) {
    series made = { .recent = { 1 }, .scale = n * log(heights->last[0]), .depth = heights->depth };
    for (unsigned l = 1; l < heights->depth; l++) {
        made.cost[l] = heights->cost[l];
        made.fall[l] = heights->last[l] / heights->last[0];
        made.rise[l] = heights->cost[l] * (n + 1) * made.fall[l];
    }
    return made;
}

/* Coefficient i, from those before it: those before 0 are 0, as `recent` is at the start. The
 * division by i does not wait for the coefficients before. */
static double series_next(series *power, uint64_t i) {
    double const over = 1 / (double)i;
    double       sum = 0;
    for (unsigned l = 1; l < power->depth; l++) {
        sum += (power->rise[l] * over - power->fall[l]) *
               power->recent[(i - power->cost[l]) % ML_MAX_COST];
    }
    double const term = sum > 0 ? sum : 0;
    power->recent[i % ML_MAX_COST] = term;
    return term;
}

/* Coefficients have become so large that they would overflow: move a factor into the scale. All
 * that were computed so far are made smaller by it. */
static void shrink(series *power, ml_window *window) {
    for (unsigned i = 0; i < ML_MAX_COST; i++) power->recent[i] *= 1e-200;
    for (unsigned i = 0; i < window->length; i++) window->chance[i] *= 1e-200;
    window->beyond *= 1e-200;
    power->scale += 200 * log(10);
}

/* Keep coefficient i, if it is in the window or beyond it: beyond, only the sum is of interest. */
static void keep(ml_window *window, uint64_t i, double term) {
    if (i < window->first) return;
    if (i - window->first < window->length)
        window->chance[i - window->first] = term;
    else
        window->beyond += term;
}

/* All coefficients, up to the most bits that the counters can take. It may stop beyond the window
 * and the mean, where coefficients fall, when the last ML_MAX_COST of them no longer change the
 * sum. */
void tamis_ml_window(const ml_heights *heights, double counters, uint64_t first, unsigned length,
                     ml_window *ret_window) {
    double recent = 0; /* the sum of the last few coefficients */
    ret_window->first = first;
    ret_window->length = length;
    ret_window->beyond = heights->last[0] > 0 ? 0 : 1;
    memset(ret_window->chance, 0, length * sizeof ret_window->chance[0]);
    if (!(heights->last[0] > 0)) return;
    series         power = series_make(heights, counters);
    double const   mean = counters * tamis_ml_mean_cost(heights);
    uint64_t const last = (uint64_t)(counters * heights->cost[heights->depth - 1]);
    keep(ret_window, 0, 1);
    for (uint64_t i = 1; i <= last; i++) {
        double const term = series_next(&power, i);
        keep(ret_window, i, term);
        recent += term;
        if (i % ML_MAX_COST == 0) {
            bool const is_beyond = i >= first + length && (double)i > mean;
            if (is_beyond && recent <= ret_window->beyond * 1e-17) break;
            recent = 0;
        }
        if (term > 1e200) shrink(&power, ret_window);
    }
    double const scale = exp(power.scale);
    ret_window->beyond *= scale;
    for (unsigned i = 0; i < length; i++) ret_window->chance[i] *= scale;
}

/* More than the area is all that the window has above it, and what is beyond the window. */
bool tamis_ml_cells_in(const ml_window *window, double area, ml_cells *ret_cells) {
    uint64_t const end = (uint64_t)area, first = window->first;
    if (end < ml_window_least(window) || end >= first + window->length) return false;
    *ret_cells = (ml_cells){ .over = 0 };
    for (uint64_t i = end + 1; i < first + window->length; i++) {
        ret_cells->over += window->chance[i - first];
    }
    ret_cells->over += window->beyond;
    for (unsigned i = 0; i < ML_MAX_COST && i <= end; i++) {
        ret_cells->under[i] = window->chance[end - i - first];
    }
    return true;
}

/* A window that ends with the area. Not inlined: its frame is large. */
__attribute__((noinline)) void tamis_ml_cells(const ml_heights *heights, double counters,
                                              double area, ml_cells *ret_cells) {
    uint64_t const end = (uint64_t)area;
    uint64_t const first = end < ML_MAX_COST ? 0 : end - (ML_MAX_COST - 1);
    ml_window      window;
    tamis_ml_window(heights, counters, first, (unsigned)(end - first) + 1, &window);
    (void)tamis_ml_cells_in(&window, area, ret_cells);
}

/* ------------------------------------------------------------------ blocks that close */

double tamis_ml_between(const ml_cells *others, unsigned paid, unsigned cost) {
    double sum = 0;
    for (unsigned i = paid; i < cost; i++) sum += others->under[i];
    return sum;
}

/* One more counter beside the others. If the cells of these are too many alone (`over`), the block
 * is closed in any case. Otherwise it is if they leave less room than the cells of the counter
 * take, on each level that it may reach. */
double tamis_ml_closed(const ml_heights *heights, const ml_cells *others) {
    double sum = others->over;
    for (unsigned l = 1; l < heights->depth; l++) {
        sum += heights->last[l] * tamis_ml_between(others, 0, heights->cost[l]);
    }
    return sum;
}

/* P[one hit closes its block]: the cells of all others leave room for what its counter had, and not
 * for what the counter needs now. */
static double hit_closes(const ml_heights *heights, const ml_cells *others) {
    const unsigned *const cost = heights->cost;
    double                sum = 0;
    for (unsigned from = 0; from < heights->depth; from++) {
        for (unsigned to = from + 1; to < heights->depth; to++) {
            sum += heights->climbs[from][to] * tamis_ml_between(others, cost[from], cost[to]);
        }
    }
    return sum;
}

/* In the filling: blocks that are closed, and counters at the top. Later: each hit may bring its
 * counter to the top, or close its block. */
double tamis_ml_sticks_by(const ml_heights *heights, const ml_life *life, const ml_cells *others) {
    double const closed = tamis_ml_closed(heights, others);
    return life->blocks * (closed + life->counters * heights->top) +
           life->hits_later * (heights->reaches + hit_closes(heights, others));
}

double tamis_ml_sticks(const ml_heights *heights, const ml_life *life, double area,
                       ml_cells *ret_others) {
    tamis_ml_cells(heights, life->counters - 1, area, ret_others);
    return tamis_ml_sticks_by(heights, life, ret_others);
}
