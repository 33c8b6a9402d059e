/* rates.h - tables that are compared with exact ones, and measured rates with stated ones.
 *
 * Keys of one table share its cells and are not independent. So the rates of whole tables are
 * compared, with the standard error of these rates.
 */
#ifndef TAMIS_TESTS_RATES_H
#define TAMIS_TESTS_RATES_H

#include "cells_oracle.h"

#define MAX_KEYS 4000
#define QUERIES 20000
#define ABSENT_ID (UINT64_C(1) << 40) /* ids from here on are never put */

/* ------------------------------------------------------------------ stated and measured */

static inline void expect_near(const char *name, const series *rates, double one, double stated) {
    double const off = (series_mean(rates) - stated) / series_error(rates, one);
    if (fabs(off) > 4)
        fail_msg("%s: %g, not %g (%.1f sigma)", name, series_mean(rates), stated, off);
}

static inline void expect_at_most(const char *name, const series *rates, double one,
                                  double stated) {
    double const off = (series_mean(rates) - stated) / series_error(rates, one);
    if (off > 4) fail_msg("%s: %g, above %g (%.1f sigma)", name, series_mean(rates), stated, off);
}

/* ------------------------------------------------------------------ a table and the truth */

typedef struct watched {
    tamis_states *states;
    dice          chance;
    uint64_t      n, values, next;
    uint64_t      id[MAX_KEYS];
    uint32_t      value[MAX_KEYS];
} watched;

static inline watched *watched_make(const char *kind, const uint64_t *g, uint64_t n,
                                    uint64_t lifetime, uint64_t seed) {
    watched *const lived = calloc(1, sizeof *lived);
    assert_non_null(lived);
    assert_true(n <= MAX_KEYS);
    lived->states = states_of(kind, NULL, g, n, lifetime, seed);
    lived->chance = (dice){ seed * 77 };
    lived->values = g[OVERLAID_VALUES];
    return lived;
}

static inline void watched_free(watched *lived) {
    tamis_states_free(lived->states);
    free(lived);
}

static inline void watched_put_at(watched *lived, uint64_t i, uint64_t value) {
    lived->id[i] = lived->next++;
    lived->value[i] = (uint32_t)value;
    assert_int_equal(tamis_states_put_id(lived->states, lived->id[i], lived->value[i]), TAMIS_OK);
}

static inline void watched_put(watched *lived, uint64_t value) {
    watched_put_at(lived, lived->n++, value);
}

static inline uint64_t watched_any_value(watched *lived) {
    return dice_below(&lived->chance, lived->values);
}

static inline tamis_status watched_move(watched *lived, uint64_t i) {
    uint32_t const     to = (uint32_t)watched_any_value(lived);
    tamis_status const status =
        tamis_states_move_id(lived->states, lived->id[i], lived->value[i], to);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    if (status == TAMIS_OK) lived->value[i] = to;
    return status;
}

/* Replace one of the n keys by a new one. */
static inline void watched_replace(watched *lived) {
    uint64_t const     i = dice_below(&lived->chance, lived->n);
    tamis_status const status = tamis_states_drop_id(lived->states, lived->id[i], lived->value[i]);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    watched_put_at(lived, i, watched_any_value(lived));
}

/* Is the key unknown? Otherwise it must have its own value; it must never be absent. */
static inline bool watched_is_unknown(const watched *lived, uint64_t i) {
    uint32_t           value = 0;
    tamis_status const status = tamis_states_get_id(lived->states, lived->id[i], &value);
    if (status == TAMIS_ERR_UNKNOWN) return true;
    assert_int_equal(status, TAMIS_OK);
    assert_int_equal(value, lived->value[i]);
    return false;
}

static inline double watched_unknown(const watched *lived) {
    uint64_t unknown = 0;
    for (uint64_t i = 0; i < lived->n; i++) unknown += watched_is_unknown(lived, i);
    return (double)unknown / (double)lived->n;
}

/* The share of absent keys that have a value. */
static inline double watched_answered(const watched *lived) {
    uint64_t answered = 0;
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint32_t value;
        answered += tamis_states_get_id(lived->states, ABSENT_ID + i, &value) == TAMIS_OK;
    }
    return (double)answered / QUERIES;
}

/* ------------------------------------------------------------------ the law */

/* A random operation of a well-behaved caller, and the check of its answer. Drops name the value of
 * the key, or say that any value is meant. */
static inline void law_step(watched *lived, uint64_t most, bool is_named) {
    uint64_t const operation = dice_below(&lived->chance, 8);
    if (lived->n == 0 || (operation < 3 && lived->n < most)) {
        watched_put(lived, watched_any_value(lived));
        return;
    }
    uint64_t const i = dice_below(&lived->chance, lived->n);
    if (operation < 4) {
        bool const     is_any = !is_named && dice_below(&lived->chance, 2) == 0;
        uint64_t const from = is_any ? TAMIS_ANY_VALUE : lived->value[i];
        assert_int_equal(tamis_states_drop_id(lived->states, lived->id[i], from), TAMIS_OK);
        lived->id[i] = lived->id[--lived->n];
        lived->value[i] = lived->value[lived->n];
    } else if (operation < 6) {
        tamis_status const status = watched_move(lived, i);
        assert_true(!is_named || status == TAMIS_OK);
    } else {
        (void)watched_is_unknown(lived, i);
    }
}

/* A present key never has a wrong value. If the caller names the value, the kind never refuses. */
static inline void check_law(const char *kind, const uint64_t *g, uint64_t operations,
                             uint64_t seed, bool is_named) {
    watched *const lived = watched_make(kind, g, 1000, 1000000, seed);
    for (uint64_t i = 0; i < operations; i++) law_step(lived, 1000, is_named);
    (void)watched_unknown(lived);
    assert_int_equal(lived->states->set.table.keys, lived->n);
    assert_true(tamis_states_validate(lived->states, NULL));
    watched_free(lived);
}

/* ------------------------------------------------------------------ turnover */

/* n keys that were all replaced this many times less one. With each new key, some others are
 * moved. */
typedef struct turnover {
    const uint64_t *g;
    uint64_t        n, turnovers, moves;
    series          unknown, answered;
} turnover;

static inline void turnover_table(turnover *c, const char *kind, uint64_t seed) {
    watched *const table = watched_make(kind, c->g, c->n, c->n * c->turnovers, seed);
    while (table->n < c->n) watched_put(table, watched_any_value(table));
    for (uint64_t i = c->n; i < c->n * c->turnovers; i++) {
        watched_replace(table);
        for (uint64_t j = 0; j < c->moves; j++)
            (void)watched_move(table, dice_below(&table->chance, c->n));
    }
    series_add(&c->unknown, watched_unknown(table));
    series_add(&c->answered, watched_answered(table));
    watched_free(table);
}

/* Print the measured and the stated rate, for people. */
static inline void turnover_print(const turnover *c, const overlaid_forecast *told) {
    const uint64_t *const g = c->g;
    print_message("# cells=%llu hashes=%llu values=%llu counter_bits=%llu, %llu keys x %llu, %llu "
                  "moves: unknown %.5f, stated %.5f; fpr %.5f, stated %.5f\n",
                  (unsigned long long)g[OVERLAID_CELLS], (unsigned long long)g[OVERLAID_HASHES],
                  (unsigned long long)g[OVERLAID_VALUES],
                  (unsigned long long)g[OVERLAID_COUNTER_BITS], (unsigned long long)c->n,
                  (unsigned long long)c->turnovers, (unsigned long long)c->moves,
                  series_mean(&c->unknown), told->unknown, series_mean(&c->answered), told->fpr);
}

#endif
