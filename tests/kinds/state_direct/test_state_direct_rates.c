/* test_state_direct_rates.c - kinds/state_direct/size.h: what it states, compared with tables that
 * are filled and churned; and the law that no present key ever has a wrong value.
 *
 * usage: test_state_direct_rates [TABLES [OPERATIONS]]     of each sort; of each history
 */
#include "cells_oracle.h"
#include "kinds/state_direct/size.h"
#include "rates.h"

static uint64_t tables = 12, operations = 100000;

/* ------------------------------------------------------------------ the law */

/* From tables with room to tables in which nearly all answers are "don't know" and counters
 * stick. */
static void a_key_that_is_there_never_has_a_wrong_value(void **state) {
    (void)state;
    static const uint64_t counted[][OVERLAID_FIELDS] = {
        { 20000, 9, 8, 4, 0 }, { 6000, 4, 3, 3, 0 }, { 3000, 3, 2, 2, 0 }, { 4000, 1, 16, 4, 0 }
    };
    for (size_t g = 0; g < COUNT(counted); g++) {
        check_law("state_direct", counted[g], operations, 5 + g, true);
    }
}

/* ------------------------------------------------------------------ rates */

/* The rates are near those stated for keys that are never dropped, since each drop names its value
 * and leaves nothing behind. They are at most those stated for callers who name no value; if
 * counters stick, they are at most the first ones. */
static void expect_rates(const uint64_t *g, uint64_t n, uint64_t turnovers, uint64_t moves,
                         bool is_tight) {
    turnover          c = { .g = g, .n = n, .turnovers = turnovers, .moves = moves };
    double const      one = 1.0 / (double)n;
    overlaid_forecast told, named;
    tamis_state_direct_forecast(g, (double)n, (double)(n * turnovers), &told);
    tamis_state_direct_forecast(g, (double)n, (double)n, &named);
    for (uint64_t i = 0; i < tables; i++) turnover_table(&c, "state_direct", 300 + i);
    turnover_print(&c, &told);
    expect_at_most("a key is unknown", &c.unknown, one, told.unknown);
    expect_at_most("an absent key has a value", &c.answered, 1.0 / QUERIES, told.fpr);
    if (!is_tight) return;
    expect_near("a key is unknown", &c.unknown, one, named.unknown);
    expect_near("an absent key has a value", &c.answered, 1.0 / QUERIES, named.fpr);
}

static void tables_have_the_rates_that_are_stated(void **state) {
    (void)state;
    static const uint64_t light[OVERLAID_FIELDS] = { 20000, 4, 8, 4, 0 };
    static const uint64_t middle[OVERLAID_FIELDS] = { 18000, 6, 8, 5, 0 };
    static const uint64_t heavy[OVERLAID_FIELDS] = { 6000, 3, 16, 6, 0 };
    static const uint64_t two[OVERLAID_FIELDS] = { 12000, 4, 2, 5, 0 };
    static const uint64_t stuck[OVERLAID_FIELDS] = { 12000, 4, 8, 3, 0 };
    static const uint64_t marks[OVERLAID_FIELDS] = { 12000, 4, 8, 0, 0 };
    expect_rates(light, 2000, 1, 0, true);
    expect_rates(middle, 2000, 1, 0, true);
    expect_rates(heavy, 2000, 1, 0, true);
    expect_rates(two, 2000, 1, 0, true);
    expect_rates(middle, 2000, 8, 3, true);
    expect_rates(heavy, 1000, 8, 3, true);
    expect_rates(stuck, 2000, 8, 6, false);
    expect_rates(marks, 2000, 1, 0, true);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_there_never_has_a_wrong_value),
        cmocka_unit_test(tables_have_the_rates_that_are_stated),
    };
    if (argc > 1) tables = strtoull(argv[1], NULL, 10);
    if (argc > 2) operations = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("state_direct_rates", tests, NULL, NULL);
}
