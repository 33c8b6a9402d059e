/* rates.h - tables that live beside the truth, and rates that are what is stated.
 *
 * Keys of one table share its cells, so rates of tables are compared, with the standard error that
 * their scatter gives.
 */
#ifndef TAMIS_TESTS_RATES_H
#define TAMIS_TESTS_RATES_H

#include "cells_oracle.h"

#include <math.h>

#define MAX_KEYS 4000
#define QUERIES 20000
#define ABSENT_ID (UINT64_C(1) << 40) /* ids from here on are never put */

/* ------------------------------------------------------------------ samples */

typedef struct sample {
    double n, sum, squares;
} sample;

static inline void sample_add(sample *of, double x) {
    of->n++;
    of->sum += x;
    of->squares += x * x;
}

static inline double sample_mean(const sample *of) {
    return of->sum / of->n;
}

/* The standard error of the mean, but not less than if one more event had been seen. */
static inline double sample_error(const sample *of, double one) {
    double const mean = sample_mean(of), variance = of->squares / of->n - mean * mean;
    return sqrt(fmax(variance, 0) / (of->n - 1)) + one / of->n;
}

static inline void expect_near(const char *what, const sample *of, double one, double stated) {
    double const off = (sample_mean(of) - stated) / sample_error(of, one);
    if (fabs(off) > 4) fail_msg("%s: %g, not %g (%.1f sigma)", what, sample_mean(of), stated, off);
}

static inline void expect_at_most(const char *what, const sample *of, double one, double stated) {
    double const off = (sample_mean(of) - stated) / sample_error(of, one);
    if (off > 4) fail_msg("%s: %g, above %g (%.1f sigma)", what, sample_mean(of), stated, off);
}

/* ------------------------------------------------------------------ a table and the truth */

typedef struct life {
    tamis_states *states;
    dice          chance;
    uint64_t      n, values, next;
    uint64_t      id[MAX_KEYS];
    uint32_t      value[MAX_KEYS];
} life;

static inline life *life_make(const char *kind, const uint64_t *g, uint64_t n, uint64_t lifetime,
                              uint64_t seed) {
    life *const of = calloc(1, sizeof *of);
    assert_non_null(of);
    assert_true(n <= MAX_KEYS);
    of->states = states_of(kind, NULL, g, n, lifetime, seed);
    of->chance = (dice){ seed * 77 };
    of->values = g[SHARED_VALUES];
    return of;
}

static inline void life_free(life *of) {
    tamis_states_free(of->states);
    free(of);
}

static inline void life_put_at(life *of, uint64_t i, uint64_t value) {
    of->id[i] = of->next++;
    of->value[i] = (uint32_t)value;
    assert_int_equal(tamis_states_put_hash(of->states, of->id[i], of->value[i]), TAMIS_OK);
}

static inline void life_put(life *of, uint64_t value) {
    life_put_at(of, of->n++, value);
}

static inline uint64_t life_any_value(life *of) {
    return dice_below(&of->chance, of->values);
}

static inline tamis_status life_move(life *of, uint64_t i) {
    uint32_t const     to = (uint32_t)life_any_value(of);
    tamis_status const status = tamis_states_move_hash(of->states, of->id[i], of->value[i], to);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    if (status == TAMIS_OK) of->value[i] = to;
    return status;
}

/* Of n keys, one goes and one comes. */
static inline void life_replace(life *of) {
    uint64_t const     i = dice_below(&of->chance, of->n);
    tamis_status const status = tamis_states_drop_hash(of->states, of->id[i], of->value[i]);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    life_put_at(of, i, life_any_value(of));
}

/* Does the key have its value? No other, and it is never absent. */
static inline bool life_is_unknown(const life *of, uint64_t i) {
    uint32_t           value = 0;
    tamis_status const status = tamis_states_get_hash(of->states, of->id[i], &value);
    if (status == TAMIS_ERR_UNKNOWN) return true;
    assert_int_equal(status, TAMIS_OK);
    assert_int_equal(value, of->value[i]);
    return false;
}

static inline double life_unknown(const life *of) {
    uint64_t unknown = 0;
    for (uint64_t i = 0; i < of->n; i++) unknown += life_is_unknown(of, i);
    return (double)unknown / (double)of->n;
}

/* How often a key that is not there has a value. */
static inline double life_answered(const life *of) {
    uint64_t answered = 0;
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint32_t value;
        answered += tamis_states_get_hash(of->states, ABSENT_ID + i, &value) == TAMIS_OK;
    }
    return (double)answered / QUERIES;
}

/* Measured beside stated, for people. */
static inline void print_rates(const uint64_t *g, uint64_t n, uint64_t turnovers, uint64_t moves,
                               const sample *unknown, const sample *answered,
                               const shared_forecast *told) {
    print_message("# cells=%llu hashes=%llu values=%llu counter_bits=%llu, %llu keys x %llu, %llu "
                  "moves: unknown %.5f, stated %.5f; fpr %.5f, stated %.5f\n",
                  (unsigned long long)g[SHARED_CELLS], (unsigned long long)g[SHARED_HASHES],
                  (unsigned long long)g[SHARED_VALUES], (unsigned long long)g[SHARED_COUNTER_BITS],
                  (unsigned long long)n, (unsigned long long)turnovers, (unsigned long long)moves,
                  sample_mean(unknown), told->unknown, sample_mean(answered), told->fpr);
}

#endif
