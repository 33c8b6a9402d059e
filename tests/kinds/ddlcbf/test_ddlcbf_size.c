/* test_ddlcbf_size.c - what kinds/ddlcbf (analysis.h, peaks.h, size.h) states, compared with tables
 * that are filled and churned.
 *
 * usage: test_ddlcbf_size [TABLES]     how many tables go through each life
 */
#include "survey.h"
#include "table.h"

#include "kinds/ddlcbf/peaks.h"
#include "kinds/ddlcbf/size.h"
#include "theory/fluid.h"

static unsigned tables = 1;

/* ------------------------------------------------------------------ layout */

static bool is_possible(uint64_t d, uint64_t b, uint64_t c, uint64_t r, uint64_t counter,
                        uint64_t lengths, uint64_t bytes) {
    uint64_t const g[DDLCBF_FIELDS] = { d, b, c, r, counter, lengths, bytes };
    uint64_t       all = 0;
    bool const     is_possible = tamis_ddlcbf_bytes(g, &all);
    assert_true(!is_possible || all == d * b * bytes);
    return is_possible;
}

static void fields_out_of_their_ranges_are_impossible(void **state) {
    (void)state;
    assert_true(is_possible(4, 2048, 8, 14, 1, 1, 16));
    assert_true(is_possible(4, 2048, 8, 14, 1, 2, 17));
    assert_true(is_possible(2, 1, 1, 4, 4, 1, 8) && is_possible(8, 1, 16, 20, 1, 2, 64));
    assert_false(is_possible(1, 2048, 8, 14, 1, 1, 16) || is_possible(9, 2048, 8, 14, 1, 1, 16));
    assert_false(is_possible(4, 0, 8, 14, 1, 1, 16));
    assert_false(is_possible(4, 2048, 0, 14, 1, 1, 16) || is_possible(4, 9, 17, 4, 1, 1, 64));
    assert_false(is_possible(4, 2048, 8, 3, 1, 1, 16) || is_possible(4, 9, 1, 41, 1, 1, 64));
    assert_false(is_possible(4, 2048, 8, 14, 0, 1, 16) || is_possible(4, 9, 8, 4, 5, 1, 64));
    assert_false(is_possible(4, 2048, 8, 14, 1, 0, 16) || is_possible(4, 2048, 8, 14, 1, 3, 16));
    assert_false(is_possible(4, 2048, 1, 4, 1, 1, 7) || is_possible(4, 2048, 8, 14, 1, 1, 65));
    assert_false(is_possible(4, 2048, 8, 16, 1, 1, 16)); /* 8 cells of 16 bits are too many */
    assert_false(is_possible(4, 2048, 8, 14, 1, 2, 16)); /* and without the first bit, of 14 */
    assert_false(is_possible(4, UINT64_MAX, 8, 14, 1, 1, 16));
    assert_false(is_possible(4, UINT64_C(1) << 60, 8, 14, 1, 1, 16));
}

/* ------------------------------------------------------------------ lives */

typedef struct life {
    uint64_t geometry[DDLCBF_FIELDS];
    uint64_t n, steps;
    double   tolerance; /* a few sigma of so small tables, and what the law leaves out */
} life;

static const life lives[] = {
    { { 4, 1024, 8, 14, 1, 1, 16 }, 24576, 0, 0.02 },
    { { 4, 1024, 8, 14, 1, 1, 16 }, 24576, 12288, 0.06 }, /* the law is churn's from the start */
    { { 4, 1024, 8, 14, 1, 1, 16 }, 24576, 98304, 0.05 },
    { { 4, 1024, 8, 14, 1, 1, 16 }, 24576, 520000, 0.04 }, /* the paper's */
    { { 3, 900, 11, 10, 1, 1, 15 }, 22000, 200000, 0.04 },
    { { 4, 400, 15, 12, 2, 1, 27 }, 18500, 300000, 0.04 },
    { { 4, 573, 15, 9, 2, 1, 20 }, 30000, 0, 0.02 }, /* counting: one key in ten has no cell */
    { { 4, 573, 15, 9, 2, 1, 20 }, 30000, 450000, 0.04 },
    { { 4, 573, 15, 7, 2, 1, 17 }, 30000, 450000, 0.04 },  /* one in five: 28% off before */
    { { 2, 3000, 8, 14, 1, 1, 16 }, 18000, 120000, 0.10 }, /* so rare that it varies much */
    { { 4, 1024, 8, 14, 1, 2, 17 }, 24576, 0, 0.02 },
    { { 4, 1024, 8, 14, 1, 2, 17 }, 24576, 200000, 0.05 },
    { { 3, 700, 15, 12, 1, 2, 31 }, 26000, 260000, 0.06 },
};

/* Remove all copies of a key. Keys with more copies than cells can count stay: sets of high rates
 * have a few. */
static void remove_copies(const tamis_kind *kind, tamis_table *table, uint64_t key,
                          uint64_t copies) {
    for (uint64_t i = 0; i < copies; i++) {
        tamis_status const status = kind->calls.remove(table, key);
        assert_true(status == TAMIS_OK || (copies > 1 && status == TAMIS_ERR_SATURATED));
    }
}

/* Fill a table with keys of so many copies, then replace random keys one after the other. Counts
 * the refused keys. */
static double rate_after_copies(const life *lived, uint64_t copies, dice *random,
                                uint64_t *ret_refused) {
    const tamis_kind *kind = find_kind("ddlcbf", NULL);
    tamis_table       table = table_make(kind, lived->geometry);
    uint64_t *const   keys = calloc(lived->n, sizeof *keys);
    assert_non_null(keys);
    *ret_refused = 0;
    for (uint64_t i = 0; i < lived->n + lived->steps; i++) {
        uint64_t const at = i < lived->n ? i : dice_below(random, lived->n);
        if (i >= lived->n) remove_copies(kind, &table, keys[at], copies);
        for (;; ++*ret_refused) {
            keys[at] = dice_roll(random);
            if (kind->calls.add(&table, keys[at]) == TAMIS_OK) break;
        }
        for (uint64_t k = 1; k < copies; k++) {
            assert_int_equal(kind->calls.add(&table, keys[at]), TAMIS_OK);
        }
    }
    double const rate = survey_fpr(kind, &table);
    free(keys);
    free(table.body);
    return rate;
}

static double rate_after(const life *lived, dice *random, uint64_t *ret_refused) {
    return rate_after_copies(lived, 1, random, ret_refused);
}

static void rates_are_as_stated_at_the_end_of_a_life(void **state) {
    const life *const lived = *state;
    dice              random = dice_start();
    uint64_t          refused;
    double            sum = 0;
    for (unsigned i = 0; i < tables; i++) sum += rate_after(lived, &random, &refused);
    double const stated =
        tamis_ddlcbf_fpr(lived->geometry, (double)lived->n, (double)(lived->n + lived->steps));
    print_message("# %.4g, stated %.4g\n", sum / tables, stated);
    assert_near(sum / tables, stated, lived->tolerance);
}

/* Adds are refused so rarely that this does not change the loads. */
static void adds_are_refused_as_often_as_stated(void **state) {
    (void)state;
    life const lived = { { 3, 1000, 4, 12, 1, 1, 9 }, 7500, 400000, 0 };
    dice       random = dice_start();
    fluid      law;
    uint64_t   refused;
    (void)rate_after(&lived, &random, &refused);
    tamis_fluid_churn(3, 2.5, INFINITY, &law);
    double const stated = 400000 * tamis_fluid_all(&law, 4);
    print_message("# %llu refused, stated %.1f\n", (unsigned long long)refused, stated);
    assert_true(fabs((double)refused - stated) < 0.05 * stated + 4 * sqrt(stated));
    double const less = tamis_ddlcbf_overflow(lived.geometry, 6000, 6001);
    tamis_fluid_churn(3, 2, INFINITY, &law);
    assert_near(less, 6001 * tamis_fluid_all(&law, 4), 1e-9);
}

static void overflow_has_its_limits(void **state) {
    (void)state;
    uint64_t const g[DDLCBF_FIELDS] = { 3, 300, 4, 12, 1, 1, 9 };
    assert_true(tamis_ddlcbf_overflow(g, 4, 1e9) == 0);
    assert_true(tamis_ddlcbf_overflow(g, 3601, 3601) == 1);
    assert_true(tamis_ddlcbf_overflow(g, 2000, 2000) < tamis_ddlcbf_overflow(g, 2000, 4000));
}

/* ------------------------------------------------------------------ levels */

static void levels_after_filling_are_the_loads(void **state) {
    (void)state;
    peak_levels law;
    fluid       fill;
    tamis_peak_levels(3, 5, 0, 16, &law);
    tamis_fluid_fill(3, 5, INFINITY, &fill);
    for (unsigned m = 1; m < 16; m++) {
        double const keys = 3 * m * (tamis_fluid_share(&fill, m) - tamis_fluid_share(&fill, m + 1));
        assert_true(fabs(law.keys[m] - keys) < 1e-5); /* of 15, in larger steps */
    }
}

/* The law keeps the number of keys, and levels only rise if buckets are never empty. */
static void levels_hold_all_keys_and_rise(void **state) {
    (void)state;
    double last = 0;
    for (double turns = 0.25; turns < 1e7; turns *= 3) {
        peak_levels law;
        double      sum = 0, mean = 0;
        tamis_peak_levels(4, 6, turns, 12, &law);
        for (unsigned m = 1; m <= 12; m++) sum += law.keys[m];
        for (unsigned m = 1; m <= 12; m++) mean += m * law.keys[m] / sum;
        assert_near(sum, 24, 5e-3); /* the fluid after filling is not quite that of churn */
        assert_true(mean >= last);
        last = mean;
    }
    assert_true(last > 7.4 && last < 7.6); /* the right subtables never see 8 */
}

/* ------------------------------------------------------------------ choice */

/* Fill in the fields of a geometry that are NEED_FREE. */
static bool choose(double n, double fpr, double turnovers, uint64_t *geometry) {
    tamis_need need = { .work = { (uint64_t)n, 1, (uint64_t)(n * turnovers) },
                        .fpr = fpr,
                        .overflow = 1e-10 };
    memcpy(need.fixed, geometry, DDLCBF_FIELDS * sizeof geometry[0]);
    return tamis_ddlcbf_choose(&need, geometry);
}

static void choices_keep_what_was_asked(void **state) {
    (void)state;
    static const double ns[] = { 1, 10, 300, 5000, 1e6, 1e9 }, rates[] = { 0.3, 0.01, 1e-3, 1e-5 };
    for (size_t i = 0; i < COUNT(ns) * COUNT(rates) * 2; i++) {
        double const n = ns[i % COUNT(ns)], turnovers = i % 2 == 0 ? 1 : 16;
        double const fpr = rates[i / COUNT(ns) % COUNT(rates)];
        uint64_t     g[DDLCBF_FIELDS];
        for (unsigned k = 0; k < DDLCBF_FIELDS; k++) g[k] = NEED_FREE;
        assert_true(choose(n, fpr, turnovers, g));
        assert_true(tamis_ddlcbf_fpr(g, n, n * turnovers) <= fpr);
        assert_true(tamis_ddlcbf_overflow(g, n, n * turnovers) <= 1e-10);
    }
}

/* At 7%, one key in 13 matches the cell of another when it comes. Where a cell cannot hold the
 * copies of both, the rate was half as high again as stated. Counters go up to 15 copies: enough
 * for two keys with 7 copies, and not for two with 8. */
static void rates_of_keys_with_copies_are_as_stated(void **state) {
    (void)state;
    static const uint64_t copies[] = { 2, 4, 7, 8, 15 };
    for (size_t i = 0; i < COUNT(copies); i++) {
        tamis_need need = { .work = { 5000, copies[i], 40000 },
                            .fpr = 0.07,
                            .overflow = 1e-10,
                            .abilities = TAMIS_CAN_REMOVE };
        life       lived = { .n = need.work.capacity };
        dice       random = dice_start();
        uint64_t   refused;
        for (unsigned k = 0; k < TAMIS_MAX_FIELDS; k++) need.fixed[k] = NEED_FREE;
        assert_true(tamis_ddlcbf_choose(&need, lived.geometry));
        lived.steps = need.work.lifetime - lived.n;
        double const rate = rate_after_copies(&lived, copies[i], &random, &refused);
        double const stated = tamis_ddlcbf_fpr(lived.geometry, 5000, 40000);
        print_message("# %llu copies: %.4g, stated %.4g\n", (unsigned long long)copies[i], rate,
                      stated);
        assert_true(stated <= need.fpr && rate <= need.fpr);
        assert_near(rate, stated, 0.06);
    }
}

static void choices_keep_what_is_fixed(void **state) {
    (void)state;
    uint64_t const fixed[DDLCBF_FIELDS] = { 2, 500, 10, 9, 3, 2, 33 };
    for (unsigned i = 0; i < DDLCBF_FIELDS; i++) {
        uint64_t g[DDLCBF_FIELDS];
        for (unsigned k = 0; k < DDLCBF_FIELDS; k++) g[k] = NEED_FREE;
        g[i] = fixed[i];
        assert_true(choose(3000, 0.01, 16, g));
        assert_int_equal(g[i], fixed[i]);
    }
    uint64_t g[DDLCBF_FIELDS];
    memcpy(g, fixed, sizeof g);
    assert_true(choose(3000, 0, 16, g));
    assert_memory_equal(g, fixed, sizeof g);
    g[DDLCBF_TABLES] = 1;
    assert_false(choose(3000, 0, 16, g));
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[COUNT(lives) + 8] = {
        cmocka_unit_test(fields_out_of_their_ranges_are_impossible),
        cmocka_unit_test(adds_are_refused_as_often_as_stated),
        cmocka_unit_test(overflow_has_its_limits),
        cmocka_unit_test(levels_after_filling_are_the_loads),
        cmocka_unit_test(levels_hold_all_keys_and_rise),
        cmocka_unit_test(choices_keep_what_was_asked),
        cmocka_unit_test(choices_keep_what_is_fixed),
        cmocka_unit_test(rates_of_keys_with_copies_are_as_stated),
    };
    if (argc > 1) tables = (unsigned)strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < COUNT(lives); i++) {
        static life copy[COUNT(lives)];
        copy[i] = lives[i];
        tests[8 + i] =
            (struct CMUnitTest){ "rates_are_as_stated_at_the_end_of_a_life",
                                 rates_are_as_stated_at_the_end_of_a_life, NULL, NULL, &copy[i] };
    }
    return unit_run("ddlcbf_size", tests, COUNT(tests));
}
