/* analysis.c - see analysis.h.
 *
 * The steps of a forecast; law.h has what each of them is:
 *
 *     law       the distribution of the sum of a counter, from m, n and k
 *     average   what a counter excludes if it has all the bits it wants
 *     heights   how many counters reach each level, and what those exclude
 *     others    the bits that the cells of a block take, without those of one counter
 *     sticks    events in which something sticks, over the whole life
 */
#include "analysis.h"

#include <math.h>

/* The largest sum below the top of the levels, in hits that add the largest increment, less
 * ML_OTHERS for other keys. With levels of 2, 3 and 3 bits and {8, 12, 14, 15} the top is 17:
 * number 16 is the sum 32, 2 hits of 15, and so only a count of 1 is exact. */
uint64_t tamis_ml_count_to(const uint64_t *g) {
    numbered const map = numbered_make(g[ML_INCREMENTS], g[ML_PLAIN] != 0);
    levels const   layout = ml_levels(g);
    uint64_t const hits = numbered_value(&map, levels_top(&layout) - 1) / map.d.value[map.d.n - 1];
    return hits > ML_OTHERS ? hits - ML_OTHERS : 1;
}

ml_life tamis_ml_life(const uint64_t *g, double n, double lifetime) {
    return (ml_life){ (double)g[ML_BLOCKS], (double)g[ML_COUNTERS],
                      fmax(0, lifetime - n) * (double)g[ML_HASHES] };
}

/* 1 - p: P[an absent key passes a counter]. A counter excludes what its value excludes, as long as
 * its block is open. In a closed block, one that reaches above level 0 is stuck and excludes
 * nothing. The block of such a counter is closed if the cells of the others left no room for its
 * own. */
static double pass_one(const ml_heights *heights, const ml_cells *others) {
    double excluded = 0;
    for (unsigned l = 0; l < heights->depth; l++) {
        double const open =
            l == 0 ? 1 : 1 - others->over - tamis_ml_between(others, 0, heights->cost[l]);
        excluded += heights->excludes[l] * fmax(0, open);
    }
    return fmin(1, fmax(0, 1 - excluded));
}

/* Not inlined: the frames of law, heights and cells together are more than a small thread has. */
__attribute__((noinline)) void tamis_ml_forecast_by(const ml_model *model, const uint64_t *g,
                                                    double n, double lifetime,
                                                    ml_forecast *ret_forecast) {
    double const  m = ml_total(g), k = (double)g[ML_HASHES];
    levels const  layout = ml_levels(g);
    ml_life const life = tamis_ml_life(g, n, lifetime);
    ml_law        law;
    ml_heights    heights;
    ml_cells      others;
    *ret_forecast = (ml_forecast){ .fpr = 1, .top = 1, .closed = 1, .ever = 1 };
    if (m < 2 || n * k / m > ML_MAX_HITS) return;
    tamis_ml_law(&model->map, m, n * k, &law);
    ml_counter const average = tamis_ml_counter(model, &law);
    tamis_ml_heights(model, &layout, &law, &heights);
    double const sticks = tamis_ml_sticks(&heights, &life, (double)g[ML_AREA], &others);
    ret_forecast->top = heights.top;
    ret_forecast->ever = -expm1(-sticks); /* rare and nearly independent events */
    ret_forecast->closed = fmin(1, tamis_ml_closed(&heights, &others));
    ret_forecast->fpr = tamis_ml_rate(&average, pass_one(&heights, &others), m, k, n);
    /* A counter has a cell on level l if its last one is there or above. */
    for (unsigned l = 0; l < layout.depth; l++) {
        for (unsigned up = l; up < layout.depth; up++) ret_forecast->level[l] += heights.last[up];
    }
}

void tamis_ml_forecast(const uint64_t *g, double n, double lifetime, ml_forecast *ret_forecast) {
    ml_model model;
    tamis_ml_model(g[ML_INCREMENTS], g[ML_PLAIN] != 0, &model);
    tamis_ml_forecast_by(&model, g, n, lifetime, ret_forecast);
}
