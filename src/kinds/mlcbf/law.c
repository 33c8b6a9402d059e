/* law.c - see ml_law.h. */
#include "law.h"

#include "theory/meet.h"
#include "theory/vi_rate.h"

#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-80

/* ------------------------------------------------------------------ a counter */

/* Panjer's recursion for a binomial number of hits: chance[c] is a sum over the last hit v. Once
 * all that a hit can come from is negligible, so is the rest. */
void tamis_ml_law(const numbered *of, double counters, double hits, ml_law *ret_law) {
    double const q = 1 / counters, a = -q / (1 - q), b = -(hits + 1) * a;
    double const most = hits * of->d.value[of->d.n - 1];
    double       total = exp(hits * log1p(-q)), fresh = 1;
    memset(ret_law->chance, 0, sizeof ret_law->chance);
    ret_law->chance[0] = total;
    unsigned c = 1;
    for (; c < ML_MAX_SUM && c <= most; c++) {
        double const each = b / c;
        double       sum = 0;
        for (unsigned i = 0; i < of->d.n && of->d.value[i] <= c; i++) {
            unsigned const v = of->d.value[i];
            sum += (a + each * v) * ret_law->chance[c - v];
        }
        ret_law->chance[c] = sum > 0 ? sum / of->d.n : 0;
        total += ret_law->chance[c];
        fresh += ret_law->chance[c];
        if (c % 64 != 0) continue;
        if (fresh < NEGLIGIBLE && total > 0.5) break;
        fresh = 0;
    }
    ret_law->end = c < ML_MAX_SUM ? c + 1 : c;
    ret_law->beyond = total < 1 - 1e-9 ? 1 - total : 0; /* less is rounding */
}

/* Small integers, so that a model fits the stack of a small thread. */
void tamis_ml_model(uint64_t mask, bool is_plain, ml_model *ret_model) {
    const increments *const d = &ret_model->of.d;
    ret_model->of = numbered_make(mask, is_plain);
    for (uint64_t c = 0; c < ML_MAX_SUM; c++) {
        ret_model->excluded[c] = (uint8_t)lrint(tamis_vi_excluded(d, c) * d->n);
        ret_model->both[c] = (uint16_t)lrint(tamis_vi_held_both(d, c) * d->n * d->n);
    }
    for (uint64_t c = 0; c < ML_MAX_SUM; c++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < d->n && c + d->value[i] < ML_MAX_SUM; i++) {
            sum += ret_model->excluded[c + d->value[i]];
        }
        ret_model->after[c] = (uint16_t)sum;
    }
}

ml_counter tamis_ml_counter(const ml_model *of, const ml_law *law) {
    double const n = of->of.d.n;
    double       excluded = 0, both = 0, after = 0;
    for (unsigned c = 0; c < law->end; c++) {
        excluded += law->chance[c] * of->excluded[c];
        both += law->chance[c] * of->both[c];
        after += law->chance[c] * of->after[c];
    }
    return (ml_counter){ excluded / n, law->beyond + both / (n * n), after / (n * n) };
}

/* Two places of a key are one counter, once in m times, or two that share out the hits between them
 * (meet.h). That some counters are stuck is left out of that. */
double tamis_ml_rate(const ml_counter *is, double passes, double m, double k, double n) {
    double const slope = is->after - is->excludes, pass = 1 - is->excludes;
    double const joint = is->both - pass * pass - n * k / m * slope * slope;
    if (!(passes > 0)) return fmin(1, n / 0x1p64);
    double const excess = joint / (m * passes * passes);
    return fmin(1, pow(passes, k) * tamis_meet_pairs(excess, k) + n / 0x1p64);
}

/* ------------------------------------------------------------------ levels */

static unsigned level_of(const levels *l, uint64_t x) {
    unsigned level = 0;
    while (level + 1 < l->depth && x >= l->base[level + 1]) level++;
    return level;
}

static void add_hit(const ml_model *of, const levels *l, unsigned c, double chance,
                    ml_heights *is) {
    unsigned const from = level_of(l, numbered_number(&of->of, c));
    for (unsigned i = 0; i < of->of.d.n; i++) {
        uint64_t const x = numbered_number(&of->of, c + of->of.d.value[i]);
        is->climbs[from][level_of(l, x)] += chance / of->of.d.n;
        if (x >= levels_top(l)) is->reaches += chance / of->of.d.n;
    }
}

void tamis_ml_heights(const ml_model *of, const levels *l, const ml_law *law,
                      ml_heights *ret_heights) {
    ml_heights is = { .top = law->beyond, .depth = l->depth };
    is.last[l->depth - 1] = law->beyond;
    for (unsigned i = 0; i < l->depth; i++) is.cost[i] = (unsigned)levels_cost(l, l->base[i]);
    for (unsigned c = 0; c < law->end; c++) {
        double const chance = law->chance[c];
        if (!(chance > 0)) continue;
        uint64_t const x = numbered_number(&of->of, c);
        unsigned const level = level_of(l, x);
        is.last[level] += chance;
        if (x >= levels_top(l)) {
            is.top += chance;
            continue;
        }
        is.excludes[level] += chance * of->excluded[c] / of->of.d.n;
        add_hit(of, l, c, chance, &is);
    }
    *ret_heights = is;
}

/* ------------------------------------------------------------------ a block */

/* f(z)^n, where f has a term for each level: coefficient after coefficient. */
typedef struct series {
    double recent[ML_MAX_COST];                /* the last of them, by their index modulo that */
    double scale;                              /* ln of what they are to be multiplied with */
    double rise[LEVELS_MAX], fall[LEVELS_MAX]; /* what those before weigh: rise - i fall, over i */
    unsigned cost[LEVELS_MAX], depth;
} series;

static_assert((ML_MAX_COST & (ML_MAX_COST - 1)) == 0, "a modulo that is a mask");

/* f must have a constant term. */
static series series_make(const ml_heights *is, double n) {
    series of = { .recent = { 1 }, .scale = n * log(is->last[0]), .depth = is->depth };
    for (unsigned l = 1; l < is->depth; l++) {
        of.cost[l] = is->cost[l];
        of.fall[l] = is->last[l] / is->last[0];
        of.rise[l] = is->cost[l] * (n + 1) * of.fall[l];
    }
    return of;
}

/* From those before, since f^n' f = n f' f^n. The next ones wait for it: the division does not. */
static double series_next(series *of, uint64_t i) {
    double const index = (double)i, over = 1 / index;
    double       sum = 0;
    for (unsigned l = 1; l < of->depth && of->cost[l] <= i; l++) {
        sum += (of->rise[l] - index * of->fall[l]) * over *
               of->recent[(i - of->cost[l]) % ML_MAX_COST];
    }
    double const term = sum > 0 ? sum : 0;
    of->recent[i % ML_MAX_COST] = term;
    return term;
}

static void shrink(series *of, ml_cells *ret_cells) {
    for (unsigned i = 0; i < ML_MAX_COST; i++) {
        of->recent[i] *= 1e-200;
        ret_cells->under[i] *= 1e-200;
    }
    ret_cells->over *= 1e-200;
    of->scale += 200 * log(10);
}

double tamis_ml_mean_cost(const ml_heights *is) {
    double mean = 0;
    for (unsigned l = 1; l < is->depth; l++) mean += is->last[l] * is->cost[l];
    return mean;
}

double tamis_ml_cost_deviation(const ml_heights *is) {
    double const mean = tamis_ml_mean_cost(is);
    double       square = 0;
    for (unsigned l = 1; l < is->depth; l++) square += is->last[l] * is->cost[l] * is->cost[l];
    return sqrt(fmax(0, square - mean * mean));
}

/* One coefficient after the other, until what comes no longer counts. */
void tamis_ml_cells(const ml_heights *is, double n, double area, ml_cells *ret_cells) {
    ml_cells found = { .over = 0 };
    double   fresh = 0; /* the last few terms */
    if (!(is->last[0] > 0)) {
        *ret_cells = (ml_cells){ .over = 1 };
        return;
    }
    series of = series_make(is, n);
    if (area < ML_MAX_COST) found.under[(unsigned)area] = 1;
    double const   mean = n * tamis_ml_mean_cost(is);
    uint64_t const last = (uint64_t)(n * is->cost[is->depth - 1]), end = (uint64_t)area;
    for (uint64_t i = 1; i <= last; i++) {
        double const term = series_next(&of, i);
        if (i > end)
            found.over += term;
        else if (end - i < ML_MAX_COST)
            found.under[end - i] = term;
        fresh += term;
        if (i % ML_MAX_COST == 0) {
            if (i > end && (double)i > mean && fresh <= found.over * 1e-17) break;
            fresh = 0;
        }
        if (term > 1e200) shrink(&of, &found);
    }
    double const scale = exp(of.scale);
    found.over *= scale;
    for (unsigned i = 0; i < ML_MAX_COST; i++) found.under[i] *= scale;
    *ret_cells = found;
}

double tamis_ml_between(const ml_cells *others, unsigned paid, unsigned cost) {
    double sum = 0;
    for (unsigned i = paid; i < cost; i++) sum += others->under[i];
    return sum;
}

/* A hit closes its block if the cells of all others leave room for what its counter had, and not
 * for what it needs. */
static double closes(const ml_heights *is, const ml_cells *others) {
    double sum = 0;
    for (unsigned from = 0; from < is->depth; from++) {
        for (unsigned to = from + 1; to < is->depth; to++) {
            sum += is->climbs[from][to] * tamis_ml_between(others, is->cost[from], is->cost[to]);
        }
    }
    return sum;
}

/* One more counter, on each level that it may have. */
double tamis_ml_closed(const ml_heights *is, const ml_cells *others) {
    double sum = others->over;
    for (unsigned l = 1; l < is->depth; l++) {
        sum += is->last[l] * tamis_ml_between(others, 0, is->cost[l]);
    }
    return sum;
}

double tamis_ml_sticks(const ml_heights *is, const ml_life *of, double area, ml_cells *ret_others) {
    tamis_ml_cells(is, of->counters - 1, area, ret_others);
    return of->blocks * (tamis_ml_closed(is, ret_others) + of->counters * is->top) +
           of->hits_later * (is->reaches + closes(is, ret_others));
}
