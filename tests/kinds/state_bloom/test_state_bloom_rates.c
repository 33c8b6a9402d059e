/* test_state_bloom_rates.c - kinds/state_bloom/size.h: what it states, compared with tables that
 * are filled and churned; and the law that no present key ever has a wrong value.
 *
 * usage: test_state_bloom_rates [TABLES [OPERATIONS]]     of each sort; of each history
 */
#include "cells_oracle.h"
#include "kinds/state_bloom/size.h"
#include "rates.h"
#include "sigcomm2006/mix.h"

static uint64_t tables = 12, operations = 100000;

/* ------------------------------------------------------------------ the law */

/* From tables with room to tables in which nearly all answers are "don't know" and counters
 * stick. */
static void a_key_that_is_there_never_has_a_wrong_value(void **state) {
    (void)state;
    static const uint64_t counted[][OVERLAID_FIELDS] = {
        { 40000, 6, 8, 3, 0 },
        { 6000, 4, 3, 2, 0 },
        { 2000, 2, 2, 1, 0 },
        { 3000, 1, 100, 4, 0 },
    };
    for (size_t g = 0; g < COUNT(counted); g++) {
        check_law("state_bloom", counted[g], operations, 5 + g, false);
    }
}

/* The same if cells have no counters. A key whose answer is "don't know" cannot be dropped, and
 * stays. */
static void a_wrong_value_needs_no_counters_to_be_ruled_out(void **state) {
    (void)state;
    static const uint64_t plain[OVERLAID_FIELDS] = { 60000, 6, 5, 0, 0 };
    watched *const        lived = watched_make("state_bloom", plain, 1000, 5000, 9);
    while (lived->n < 1000) watched_put(lived, watched_any_value(lived));
    for (uint64_t i = 0; i < 4000; i++) {
        watched_replace(lived);
        (void)watched_move(lived, dice_below(&lived->chance, lived->n));
        (void)watched_is_unknown(lived, dice_below(&lived->chance, lived->n));
    }
    (void)watched_unknown(lived);
    watched_free(lived);
}

/* ------------------------------------------------------------------ insertions only */

#define MIX_VALUES 4

typedef struct mix_rates {
    series unknown[MIX_VALUES], absent_unknown, absent_value[MIX_VALUES];
} mix_rates;

static void mix_table(const uint64_t *g, const double *n, uint64_t seed, mix_rates *rates) {
    watched *const lived = watched_make("state_bloom", g, 2000, 2000, seed);
    uint64_t       unknown[MIX_VALUES] = { 0 }, absent_unknown = 0, absent[MIX_VALUES] = { 0 };
    for (unsigned v = 0; v < MIX_VALUES; v++) {
        for (double i = 0; i < n[v]; i++) watched_put(lived, v);
    }
    for (uint64_t i = 0; i < lived->n; i++)
        unknown[lived->value[i]] += watched_is_unknown(lived, i);
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(lived->states, ABSENT_ID + i, &value);
        absent_unknown += status == TAMIS_ERR_UNKNOWN;
        absent[value] += status == TAMIS_OK;
    }
    series_add(&rates->absent_unknown, (double)absent_unknown / QUERIES);
    for (unsigned v = 0; v < MIX_VALUES; v++) {
        if (n[v] > 0) series_add(&rates->unknown[v], (double)unknown[v] / n[v]);
        series_add(&rates->absent_value[v], (double)absent[v] / QUERIES);
    }
    watched_free(lived);
}

static void expect_mix(const uint64_t *g, const double *n) {
    mix_rates     rates = { 0 };
    sbf_mix const mix = { (double)g[OVERLAID_CELLS], (unsigned)g[OVERLAID_HASHES], MIX_VALUES, n };
    for (uint64_t i = 0; i < tables; i++) mix_table(g, n, 100 + i, &rates);
    for (unsigned v = 0; v < MIX_VALUES; v++) {
        if (n[v] > 0)
            expect_near("a key is unknown", &rates.unknown[v], 1 / n[v], sbf_mix_unknown(&mix, v));
        expect_near("an absent key has a value", &rates.absent_value[v], 1.0 / QUERIES,
                    sbf_mix_absent_value(&mix, v));
    }
    expect_near("an absent key is unknown", &rates.absent_unknown, 1.0 / QUERIES,
                sbf_mix_absent_unknown(&mix));
}

static void insertions_have_the_rates_of_the_paper(void **state) {
    (void)state;
    static const uint64_t loads[][OVERLAID_FIELDS] = { /* 0.3, 0.7 and 2 keys in a cell */
                                                       { 20000, 3, MIX_VALUES, 4, 0 },
                                                       { 11500, 4, MIX_VALUES, 4, 0 },
                                                       { 5000, 5, MIX_VALUES, 4, 0 }
    };
    static const double mixes[][MIX_VALUES] = {
        { 500, 500, 500, 500 }, { 1700, 200, 95, 5 }, { 1000, 1000, 0, 0 }, { 2000, 0, 0, 0 }
    };
    for (size_t load = 0; load < COUNT(loads); load++) {
        for (size_t mix = 0; mix < COUNT(mixes); mix++) expect_mix(loads[load], mixes[mix]);
    }
}

/* ------------------------------------------------------------------ turnover */

/* If all values differ, or change as often as possible, every overlap is unknown, and the measured
 * share is the planned one. With few values that stay it is at most that. */
static void expect_churn(const uint64_t *g, uint64_t n, uint64_t turnovers, uint64_t moves,
                         bool is_tight) {
    turnover          c = { .g = g, .n = n, .turnovers = turnovers, .moves = moves };
    double const      one = 1.0 / (double)n;
    overlaid_forecast told;
    tamis_state_bloom_forecast(g, (double)n, (double)(n * turnovers), &told);
    for (uint64_t i = 0; i < tables; i++) turnover_table(&c, "state_bloom", 500 + i);
    turnover_print(&c, &told);
    if (is_tight)
        expect_near("under churn a key is unknown", &c.unknown, one, told.unknown);
    else
        expect_at_most("under churn a key is unknown", &c.unknown, one, told.unknown);
    expect_at_most("an absent key has a value", &c.answered, 1.0 / QUERIES, told.fpr);
}

static void churn_has_the_rates_that_are_stated(void **state) {
    (void)state;
    uint64_t const many = UINT64_C(1) << 20;
    uint64_t const roomy[OVERLAID_FIELDS] = { 40000, 4, many, 4, 0 };
    uint64_t const full[OVERLAID_FIELDS] = { 9000, 3, many, 8, 0 };
    uint64_t const moving[OVERLAID_FIELDS] = { 30000, 4, 8, 4, 0 };
    uint64_t const stuck[OVERLAID_FIELDS] = { 30000, 4, many, 2, 0 };
    uint64_t const plain[OVERLAID_FIELDS] = { 40000, 4, 8, 0, 0 };
    expect_churn(roomy, 2000, 1, 0, true);
    expect_churn(roomy, 2000, 2, 0, true);
    expect_churn(roomy, 2000, 16, 0, true);
    expect_churn(full, 2000, 4, 0, true);
    expect_churn(moving, 2000, 8, 0, false);
    expect_churn(moving, 2000, 8, 1, false);
    expect_churn(stuck, 2000, 16, 0, false);
    expect_churn(plain, 2000, 1, 1, true);
    expect_churn(plain, 1000, 4, 1, false);
}

/* The stated fpr is the smallest that holds for any values. Tables in which all keys have one value
 * reach it: nothing is unknown, and an absent key is found if all its cells are in use. This is so
 * after filling and under churn, without and with timers. */
static void expect_worst_fpr(const uint64_t *g, uint64_t n, uint64_t turnovers) {
    series            answered = { 0, 0, 0 };
    overlaid_forecast told;
    tamis_state_bloom_forecast(g, (double)n, (double)(n * turnovers), &told);
    for (uint64_t i = 0; i < tables; i++) {
        watched *const lived = watched_make("state_bloom", g, n, n * turnovers, 900 + i);
        while (lived->n < n) watched_put(lived, 1);
        for (uint64_t j = 0; j < n * (turnovers - 1); j++) {
            uint64_t const at = dice_below(&lived->chance, n);
            assert_int_equal(tamis_states_drop_id(lived->states, lived->id[at], 1), TAMIS_OK);
            watched_put_at(lived, at, 1);
        }
        assert_true(watched_unknown(lived) == 0);
        series_add(&answered, watched_answered(lived));
        watched_free(lived);
    }
    print_message("# one value, n = %llu, %llu turnovers, k = %llu: fpr %.5f, stated %.5f\n",
                  (unsigned long long)n, (unsigned long long)turnovers,
                  (unsigned long long)g[OVERLAID_HASHES], series_mean(&answered), told.fpr);
    expect_near("an absent key has a value", &answered, 1.0 / QUERIES, told.fpr);
}

static void one_value_has_the_fpr_that_is_stated(void **state) {
    (void)state;
    static const uint64_t light[OVERLAID_FIELDS] = { 20000, 3, 8, 4, 0 };
    static const uint64_t middle[OVERLAID_FIELDS] = { 12000, 4, 2, 8, 0 };
    static const uint64_t heavy[OVERLAID_FIELDS] = { 5000, 5, 100, 8, 0 };
    static const uint64_t timed[OVERLAID_FIELDS] = { 9000, 3, 8, 6, 3 };
    for (uint64_t turnovers = 1; turnovers <= 4; turnovers += 3) {
        expect_worst_fpr(light, 2000, turnovers);
        expect_worst_fpr(middle, 2000, turnovers);
        expect_worst_fpr(middle, 1000, turnovers);
        expect_worst_fpr(heavy, 2000, turnovers);
        expect_worst_fpr(timed, 2000, turnovers);
    }
}

/* With V equally common values fewer are false, as the paper's formulas say (mix.h). How much fewer
 * depends on the table; what is stated stays an upper bound. */
static void equally_common_values_have_a_lower_fpr(void **state) {
    static const double   equal[MIX_VALUES] = { 500, 500, 500, 500 };
    static const uint64_t loads[][OVERLAID_FIELDS] = { { 40000, 3, MIX_VALUES, 4, 0 },
                                                       { 20000, 5, MIX_VALUES, 4, 0 },
                                                       { 9000, 3, MIX_VALUES, 8, 0 } };
    (void)state;
    for (size_t i = 0; i < COUNT(loads); i++) {
        const uint64_t *const g = loads[i];
        sbf_mix const mix = { (double)g[OVERLAID_CELLS], (unsigned)g[OVERLAID_HASHES], MIX_VALUES,
                              equal };
        series        answered = { 0, 0, 0 };
        overlaid_forecast told;
        double            expected = 0;
        tamis_state_bloom_forecast(g, 2000, 2000, &told);
        for (unsigned v = 0; v < MIX_VALUES; v++) expected += sbf_mix_absent_value(&mix, v);
        for (uint64_t seed = 0; seed < tables; seed++) {
            watched *const lived = watched_make("state_bloom", g, 2000, 2000, 700 + seed);
            while (lived->n < 2000) watched_put(lived, (uint32_t)(lived->n % MIX_VALUES));
            series_add(&answered, watched_answered(lived));
            watched_free(lived);
        }
        print_message("# %d equal values, k = %llu: fpr %.6f, by the paper %.6f, stated %.6f\n",
                      MIX_VALUES, (unsigned long long)g[OVERLAID_HASHES], series_mean(&answered),
                      expected, told.fpr);
        expect_near("an absent key has a value", &answered, 1.0 / QUERIES, expected);
        assert_true(expected < told.fpr);
    }
}

/* ------------------------------------------------------------------ ageing */

#define AGE_ACTIVE 1000
#define AGE_LIFE 1500 /* ticks, on average */
#define AGE_TOUCHED 200
#define AGE_LINGERING 1100 /* keys until they are gone: at most TIMEOUT x 4/3 after the end */

/* Keys are no longer touched at their end, and stay until their cells age: these keys count,
 * too. */
static double aged_table(const uint64_t *g, uint64_t seed) {
    watched *const lived =
        watched_make("state_bloom", g, AGE_ACTIVE + AGE_LINGERING, UINT64_C(1) << 20, seed);
    uint64_t backlog;
    for (uint64_t i = 0; i < AGE_ACTIVE; i++) watched_put(lived, watched_any_value(lived));
    for (uint64_t tick = 0; tick < 8 * AGE_LIFE; tick++) {
        assert_int_equal(tamis_states_tick(lived->states, 1, NULL, &backlog), TAMIS_OK);
        assert_int_equal(backlog, 0);
        if (dice_below(&lived->chance, AGE_LIFE) < AGE_ACTIVE) {
            uint64_t const i = dice_below(&lived->chance, lived->n);
            watched_put_at(lived, i,
                           watched_any_value(lived)); /* what was there is touched no more */
        }
        for (uint64_t i = tick % AGE_TOUCHED; i < lived->n; i += AGE_TOUCHED) {
            tamis_status const status = tamis_states_touch_id(lived->states, lived->id[i]);
            assert_true(status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN);
        }
    }
    double const unknown = watched_unknown(lived);
    watched_free(lived);
    return unknown;
}

static void ageing_tables_have_the_rates_that_are_stated(void **state) {
    (void)state;
    static const uint64_t g[OVERLAID_FIELDS] = { 60000, 5, 1000, 0, 3 };
    series                unknown = { 0, 0, 0 };
    overlaid_forecast     told;
    tamis_state_bloom_forecast(g, AGE_ACTIVE + AGE_LINGERING, 1e6, &told);
    for (uint64_t i = 0; i < tables; i++) series_add(&unknown, aged_table(g, 40 + i));
    print_message("# ageing: unknown %.5f, stated %.5f\n", series_mean(&unknown), told.unknown);
    expect_at_most("a key that is touched is unknown", &unknown, 1.0 / AGE_ACTIVE, told.unknown);
    assert_true(series_mean(&unknown) >
                told.unknown / 30); /* and the plan is not far too careful */
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_there_never_has_a_wrong_value),
        cmocka_unit_test(a_wrong_value_needs_no_counters_to_be_ruled_out),
        cmocka_unit_test(insertions_have_the_rates_of_the_paper),
        cmocka_unit_test(churn_has_the_rates_that_are_stated),
        cmocka_unit_test(one_value_has_the_fpr_that_is_stated),
        cmocka_unit_test(equally_common_values_have_a_lower_fpr),
        cmocka_unit_test(ageing_tables_have_the_rates_that_are_stated),
    };
    if (argc > 1) tables = strtoull(argv[1], NULL, 10);
    if (argc > 2) operations = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("state_bloom_rates", tests, NULL, NULL);
}
