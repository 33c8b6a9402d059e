/* size.c - see state_bloom_size.h. */
#include "size.h"

#include <math.h>

#define OLDEST 40.0 /* mean lives; e^-40 of the keys are older */
#define STEPS 128   /* of the integral, even */

unsigned tamis_state_bloom_code_bits(uint64_t values) {
    unsigned bits = 2;
    while (UINT64_C(1) << bits < values + 2) bits++;
    return bits;
}

unsigned tamis_state_bloom_cell_bits(const uint64_t *g) {
    return tamis_state_bloom_code_bits(g[SHARED_VALUES]) + (unsigned)g[SHARED_COUNTER_BITS] +
           (unsigned)g[SHARED_TIMER_BITS];
}

/* ------------------------------------------------------------------ churn */

typedef struct churn {
    double   m, n, lives; /* lives: T */
    unsigned k;
    double   stuck; /* share of cells */
} churn;

/* All cells of a key of that age are held by others, or were. */
static double p_overlapped(const churn *of, double age) {
    double const others = of->n - 1 + of->n * age;
    double const q = -expm1(of->k * others * log1p(-1 / of->m));
    return tamis_shared_all(q + of->stuck, of->m, of->k);
}

/* Simpson's rule over the ages up to T; the rest are as old as the table. */
static double churn_unknown(const churn *of) {
    double const oldest = fmin(of->lives, OLDEST), step = oldest / STEPS;
    double       sum = 0;
    for (unsigned i = 0; i <= STEPS && oldest > 0; i++) {
        double const age = i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * exp(-age) * p_overlapped(of, age);
    }
    return sum * step / 3 + exp(-oldest) * p_overlapped(of, oldest);
}

void tamis_state_bloom_forecast(const uint64_t *g, double n, double lifetime,
                                shared_forecast *ret) {
    double const   m = (double)g[SHARED_CELLS];
    unsigned const k = (unsigned)g[SHARED_HASHES];
    unsigned const bits = (unsigned)g[SHARED_COUNTER_BITS];
    bool const     is_for_good = bits == 0 && g[SHARED_TIMER_BITS] == 0;
    double const   there = is_for_good ? fmax(n, lifetime) : n;
    churn          of = { .m = m, .n = there, .k = k };
    of.lives = fmax(lifetime / there - 1, 0);
    of.stuck = bits == 0 ? 0 : tamis_shared_stuck(m, k, n, lifetime, (double)(UINT64_C(1) << bits));
    double const held = fmin(-expm1(k * there * log1p(-1 / m)) + of.stuck, 1);
    *ret = (shared_forecast){ .fpr = tamis_shared_all(held, m, k) + n / 18446744073709551616.0,
                              .unknown = fmin(churn_unknown(&of), 1),
                              .saturation = -expm1(-m * of.stuck),
                              .held = held };
}

/* Cells that age need no counters: a key counts until its timeout is over in any case. And without
 * drops there is nothing to count. */
bool tamis_state_bloom_choose(shared_need need, uint64_t *g) {
    bool const is_counted = need.timer_bits == 0 && need.lifetime > need.n;
    need.law = tamis_state_bloom_forecast;
    need.cell_bits = tamis_state_bloom_cell_bits;
    need.least_counter_bits = is_counted ? 1 : 0;
    need.most_counter_bits = is_counted ? SHARED_MAX_COUNTER_BITS : 0;
    return tamis_shared_choose(&need, g);
}

/* ------------------------------------------------------------------ insertions only */

/* P[none of so many keys hits a cell]. */
static double p_missed(const state_bloom_mix *of, double keys) {
    return exp(of->k * keys * log1p(-1 / of->m));
}

static double all_keys(const state_bloom_mix *of) {
    double sum = 0;
    for (unsigned i = 0; i < of->values; i++) sum += of->n[i];
    return sum;
}

/* P[a cell has value i]: hit by keys of that value and no others. */
static double p_value(const state_bloom_mix *of, unsigned i) {
    return p_missed(of, all_keys(of) - of->n[i]) * (1 - p_missed(of, of->n[i]));
}

static double p_unknown(const state_bloom_mix *of) {
    double rest = 1 - p_missed(of, all_keys(of));
    for (unsigned i = 0; i < of->values; i++) rest -= p_value(of, i);
    return fmax(rest, 0);
}

double tamis_state_bloom_mix_unknown(const state_bloom_mix *of, unsigned i) {
    return tamis_shared_all(1 - p_missed(of, all_keys(of) - of->n[i]), of->m, of->k);
}

double tamis_state_bloom_mix_absent_unknown(const state_bloom_mix *of) {
    return tamis_shared_all(p_unknown(of), of->m, of->k);
}

double tamis_state_bloom_mix_absent_value(const state_bloom_mix *of, unsigned i) {
    double const unknown = p_unknown(of);
    return tamis_shared_all(unknown + p_value(of, i), of->m, of->k) -
           tamis_shared_all(unknown, of->m, of->k);
}
