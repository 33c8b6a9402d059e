/* theory.c - see theory.h. */
#include "theory.h"

#include "lab.h"
#include "theory/bloom_rate.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ Bloom filters */

/* law[x] is the probability of x marked places. One more throw marks a new one with (m - x)/m. */
static void throw_once(double *law, size_t m) {
    for (size_t x = m; x > 0; x--) {
        double const stays = (double)x / (double)m;
        double const arrives = (double)(m - x + 1) / (double)m;
        law[x] = law[x] * stays + law[x - 1] * arrives;
    }
    law[0] = 0;
}

rate_law theory_bloom_rate(const places *table) {
    size_t const  m = (size_t)table->m, throws = (size_t)table->n * table->k;
    double *const law = lab_allocate(m + 1, sizeof *law);
    double        mean = 0, square = 0;
    law[0] = 1;
    for (size_t i = 0; i < throws; i++) throw_once(law, m);
    for (size_t x = 0; x <= m; x++) {
        double const rate = pow((double)x / table->m, table->k);
        mean += law[x] * rate;
        square += law[x] * rate * rate;
    }
    free(law);
    return (rate_law){ mean, sqrt(square - mean * mean) };
}

double theory_bloom_deviation(const places *table) {
    double const p = tamis_bloom_fill(table->m, table->k, table->n), q = 1 - p;
    double const load = table->k * table->n / table->m;
    double const variance = q * (1 - q * (1 + load)) / table->m; /* of the share of marked places */
    return table->k * pow(p, table->k - 1.0) * sqrt(variance);
}

double theory_rate_sigma(double rate, double deviation, double filters, double queries) {
    double const one_filter = deviation * deviation + rate * (1 - rate) / queries;
    return sqrt(one_filter / filters);
}

/* ------------------------------------------------------------------ counters under churn
 *
 * One counter is a chain on 0, 1, ..., level, where `level` is never left. In a step the removed
 * key was on the counter with probability x/n, and then the new one is with u = 1 - (1 - 1/m)^k.
 * Neglected: keys with two of their places on this counter, which are rare by k/2m. In the results
 * that is a relative error below 1e-4.
 */

#define MAX_LEVEL 16

typedef struct chain {
    unsigned top; /* the state that is never left */
    double   go[MAX_LEVEL + 1][MAX_LEVEL + 1];
} chain;

static void chain_step(const places *table, unsigned level, chain *ret_step) {
    double const up = -expm1(table->k * log1p(-1 / table->m));
    *ret_step = (chain){ .top = level };
    for (unsigned x = 0; x < level; x++) {
        double const down = x / table->n;
        if (x > 0) ret_step->go[x][x - 1] = down * (1 - up);
        ret_step->go[x][x] = (1 - down) * (1 - up) + down * up;
        ret_step->go[x][x + 1] = (1 - down) * up;
    }
    ret_step->go[level][level] = 1;
}

/* All terms are positive, so nothing cancels, and a product keeps its relative accuracy. */
static chain chain_then(const chain *first, const chain *second) {
    chain product = { .top = first->top };
    for (unsigned i = 0; i <= first->top; i++) {
        for (unsigned j = 0; j <= first->top; j++) {
            for (unsigned via = 0; via <= first->top; via++) {
                product.go[i][j] += first->go[i][via] * second->go[via][j];
            }
        }
    }
    return product;
}

/* `steps` steps, by squaring. */
static chain chain_repeat(chain step, uint64_t steps) {
    chain all = { .top = step.top };
    for (unsigned i = 0; i <= step.top; i++) all.go[i][i] = 1;
    for (; steps != 0; steps /= 2) {
        if (steps % 2 != 0) all = chain_then(&all, &step);
        step = chain_then(&step, &step);
    }
    return all;
}

double theory_ever_reaches(const places *table, unsigned level, uint64_t steps) {
    if (level > MAX_LEVEL) lab_die("no chain for counters of %u", level);
    double const throws = table->n * table->k;
    double       reaches = tamis_binomial_tail(throws, 1 / table->m, level);
    chain        step;
    chain_step(table, level, &step);
    chain const all = chain_repeat(step, steps);
    for (unsigned x = 0; x < level; x++) {
        reaches += exp(tamis_binomial_log(throws, 1 / table->m, x)) * all.go[x][level];
    }
    return reaches;
}

/* A step adds one key to n - 1 others, and raises k counters. */
double theory_rises(const places *table, unsigned level, uint64_t steps) {
    double const below = tamis_binomial_log((table->n - 1) * table->k, 1 / table->m, level - 1.0);
    return (double)steps * table->k * exp(below);
}

/* ------------------------------------------------------------------ extremes
 *
 * For a count X: E[X] is the sum of P[X >= x] over x = 1, 2, ..., and E[X^2] that of
 * (2x - 1) P[X >= x]. The lowest of N counts is at least x if all are, the highest if any is.
 */

typedef double at_least(double tail, double trials);

static double all_at_least(double tail, double trials) {
    return pow(tail, trials);
}

static double any_at_least(double tail, double trials) {
    return tail < 1 ? -expm1(trials * log1p(-tail)) : 1;
}

static extreme extreme_of(double queries, double rate, double trials, at_least *law) {
    double mean = 0, square = 0;
    for (double x = 1; x <= queries; x++) {
        double const probability = law(tamis_binomial_tail(queries, rate, x), trials);
        mean += probability;
        square += (2 * x - 1) * probability;
        if (x > queries * rate && probability < 1e-12) break;
    }
    return (extreme){ mean, sqrt(square - mean * mean) };
}

extreme theory_lowest(double queries, double rate, double trials) {
    return extreme_of(queries, rate, trials, all_at_least);
}

extreme theory_highest(double queries, double rate, double trials) {
    return extreme_of(queries, rate, trials, any_at_least);
}
