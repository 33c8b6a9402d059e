/* rates.h - tables that live beside the truth, and rates that are what is stated.
 *
 * Keys of one table share its cells, so rates of tables are compared, with the standard error that
 * their scatter gives.
 */
#ifndef TAMIS_TESTS_RATES_H
#define TAMIS_TESTS_RATES_H

#include "cells_oracle.h"

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
    assert_int_equal(tamis_states_put_id(of->states, of->id[i], of->value[i]), TAMIS_OK);
}

static inline void life_put(life *of, uint64_t value) {
    life_put_at(of, of->n++, value);
}

static inline uint64_t life_any_value(life *of) {
    return dice_below(&of->chance, of->values);
}

static inline tamis_status life_move(life *of, uint64_t i) {
    uint32_t const     to = (uint32_t)life_any_value(of);
    tamis_status const status = tamis_states_move_id(of->states, of->id[i], of->value[i], to);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    if (status == TAMIS_OK) of->value[i] = to;
    return status;
}

/* Of n keys, one goes and one comes. */
static inline void life_replace(life *of) {
    uint64_t const     i = dice_below(&of->chance, of->n);
    tamis_status const status = tamis_states_drop_id(of->states, of->id[i], of->value[i]);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
    life_put_at(of, i, life_any_value(of));
}

/* Does the key have its value? No other, and it is never absent. */
static inline bool life_is_unknown(const life *of, uint64_t i) {
    uint32_t           value = 0;
    tamis_status const status = tamis_states_get_id(of->states, of->id[i], &value);
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
        answered += tamis_states_get_id(of->states, ABSENT_ID + i, &value) == TAMIS_OK;
    }
    return (double)answered / QUERIES;
}

/* ------------------------------------------------------------------ the law */

/* Any operation that a well-behaved caller does, and what is known then. Drops say which value the
 * key has, or also that any will do. */
static inline void law_step(life *of, uint64_t most, bool is_named) {
    uint64_t const what = dice_below(&of->chance, 8);
    if (of->n == 0 || (what < 3 && of->n < most)) {
        life_put(of, life_any_value(of));
        return;
    }
    uint64_t const i = dice_below(&of->chance, of->n);
    if (what < 4) {
        bool const     is_any = !is_named && dice_below(&of->chance, 2) == 0;
        uint64_t const from = is_any ? TAMIS_ANY_VALUE : of->value[i];
        assert_int_equal(tamis_states_drop_id(of->states, of->id[i], from), TAMIS_OK);
        of->id[i] = of->id[--of->n];
        of->value[i] = of->value[of->n];
    } else if (what < 6) {
        tamis_status const status = life_move(of, i);
        assert_true(!is_named || status == TAMIS_OK);
    } else {
        (void)life_is_unknown(of, i);
    }
}

/* A key that is there never has a wrong value. Named: in a kind in which nobody who says what value
 * a key has is ever refused. */
static inline void check_law(const char *kind, const uint64_t *g, uint64_t operations,
                             uint64_t seed, bool is_named) {
    life *const of = life_make(kind, g, 1000, 1000000, seed);
    for (uint64_t i = 0; i < operations; i++) law_step(of, 1000, is_named);
    (void)life_unknown(of);
    assert_int_equal(of->states->set.table.keys, of->n);
    assert_true(tamis_states_validate(of->states, NULL));
    life_free(of);
}

/* ------------------------------------------------------------------ churn */

/* n keys, that all have been replaced so many times less one; with each that comes, some move. */
typedef struct churn {
    const uint64_t *g;
    uint64_t        n, turnovers, moves;
    sample          unknown, answered;
} churn;

static inline void churn_table(churn *of, const char *kind, uint64_t seed) {
    life *const table = life_make(kind, of->g, of->n, of->n * of->turnovers, seed);
    while (table->n < of->n) life_put(table, life_any_value(table));
    for (uint64_t i = of->n; i < of->n * of->turnovers; i++) {
        life_replace(table);
        for (uint64_t j = 0; j < of->moves; j++)
            (void)life_move(table, dice_below(&table->chance, of->n));
    }
    sample_add(&of->unknown, life_unknown(table));
    sample_add(&of->answered, life_answered(table));
    life_free(table);
}

/* Measured beside stated, for people. */
static inline void churn_print(const churn *of, const shared_forecast *told) {
    const uint64_t *const g = of->g;
    print_message("# cells=%llu hashes=%llu values=%llu counter_bits=%llu, %llu keys x %llu, %llu "
                  "moves: unknown %.5f, stated %.5f; fpr %.5f, stated %.5f\n",
                  (unsigned long long)g[SHARED_CELLS], (unsigned long long)g[SHARED_HASHES],
                  (unsigned long long)g[SHARED_VALUES], (unsigned long long)g[SHARED_COUNTER_BITS],
                  (unsigned long long)of->n, (unsigned long long)of->turnovers,
                  (unsigned long long)of->moves, sample_mean(&of->unknown), told->unknown,
                  sample_mean(&of->answered), told->fpr);
}

#endif
