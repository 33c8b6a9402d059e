/* test_dlbf_size.c - what kinds/dlbf (analysis.h, sorting.h, size.h) states, compared with the
 * numbers of the paper and with tables that are really filled.
 *
 * usage: test_dlbf_size [TABLES]     how many tables are filled for each check
 */
#include "subject.h"
#include "survey.h"
#include "table.h"

#include "kinds/dlbf/codes.h"
#include "kinds/dlbf/size.h"
#include "theory/fluid.h"

static unsigned n_tables = 12;

/* Of the paper: 64 bits with one sorted bit at loads 4 and 5; 128 bits with one everywhere, and
 * with two at 6 and 7. */
#define NARROW 1280
#define WIDE_ONE 1398100
#define WIDE 1418580

/* ------------------------------------------------------------------ tables that live */

static tamis_set *made(const subject *wanted, uint64_t i) {
    return make_set(wanted, dice_seed() + i);
}

static size_t fill(tamis_set *set, uint64_t n, bool is_balanced) {
    uint64_t *const ids = malloc(n * sizeof ids[0]);
    size_t          added = 0;
    assert_non_null(ids);
    for (uint64_t i = 0; i < n; i++) ids[i] = i;
    tamis_status const status = is_balanced ? tamis_add_id_balanced(set, ids, n, &added)
                                            : tamis_add_id_batch(set, ids, n, &added);
    assert_int_equal(status, added == n ? TAMIS_OK : TAMIS_ERR_FULL);
    free(ids);
    return added;
}

static subject fixed(uint64_t tables, uint64_t buckets, uint64_t bits, uint64_t cells,
                     uint64_t sorting, uint64_t group, uint64_t n) {
    uint64_t const g[DLBF_FIELDS] = { tables, buckets, bits, cells, sorting, group };
    return (subject){ .kind = "dlbf",
                      .geometry = geometry_text(find_kind("dlbf", NULL), g),
                      .capacity = n,
                      .overflow = 1 - 1e-9 };
}

/* The rates that full tables state. */
static series rates_of(const subject *spec, bool is_balanced) {
    series rates = { 0, 0, 0 };
    for (unsigned i = 0; i < n_tables; i++) {
        tamis_set *const set = made(spec, i);
        assert_int_equal(fill(set, spec->capacity, is_balanced), spec->capacity);
        assert_true(tamis_validate(set, NULL));
        series_add(&rates, survey_fpr(set->kind, &set->table));
        tamis_free(set);
    }
    return rates;
}

static double mean_rate(const subject *spec, bool is_balanced) {
    series const stated = rates_of(spec, is_balanced);
    return series_mean(&stated);
}

/* ------------------------------------------------------------------ Tables I and II */

static const double table1[] = { 2.3e-5, 5.9e-4, 1.1e-2, .15, .66, .18, 2.3e-5, 5.6e-31 };
static const double table2[] = { 1.7e-8, 5.6e-7, 1.2e-5, 2.1e-4, 3.5e-3,
                                 5.6e-2, .48,    .45,    6.2e-3, 4.8e-15 };

/* To the two digits that are printed; but load 1 of table I is 5.90e-4, and 6.0e-4 there. */
static void loads_are_those_of_tables_1_and_2(void **state) {
    (void)state;
    fluid law;
    tamis_fluid_fill(3, 4, INFINITY, &law);
    for (unsigned a = 0; a <= 7; a++) {
        assert_near(tamis_fluid_share(&law, a) - tamis_fluid_share(&law, a + 1), table1[a], 0.045);
    }
    tamis_fluid_fill(3, 6.4, INFINITY, &law);
    for (unsigned a = 0; a <= 9; a++) {
        assert_near(tamis_fluid_share(&law, a) - tamis_fluid_share(&law, a + 1), table2[a], 0.045);
    }
}

/* The buckets of each load, from the codes in the body. */
static void count_loads(const tamis_set *set, uint64_t *counts) {
    const uint64_t *const g = set->table.geometry;
    codes                 all;
    codes_make((unsigned)g[DLBF_CELLS], g[DLBF_SORTING], &all);
    for (uint64_t bucket = 0; bucket < g[DLBF_TABLES] * g[DLBF_BUCKETS]; bucket++) {
        uint64_t const at = bucket * g[DLBF_BUCKET_BITS] / 8;
        counts[split_load(all.split[set->table.body[at] & ((1u << all.bits) - 1)])]++;
    }
}

static void check_loads(const subject *spec, const double *share, unsigned loads) {
    uint64_t counts[16] = { 0 };
    double   buckets = 0;
    for (unsigned i = 0; i < n_tables; i++) {
        tamis_set *const set = made(spec, i);
        assert_int_equal(fill(set, spec->capacity, false), spec->capacity);
        count_loads(set, counts);
        tamis_free(set);
    }
    for (unsigned a = 0; a < 16; a++) buckets += (double)counts[a];
    for (unsigned a = 0; a < loads; a++) {
        double const expected = share[a] * buckets;
        double const slack = 0.05 * expected + 5 * sqrt(expected) + 1;
        if (fabs((double)counts[a] - expected) > slack)
            fail_msg("%llu of load %u, not %g", (unsigned long long)counts[a], a, expected);
    }
}

static void live_tables_have_those_loads(void **state) {
    (void)state;
    subject spec = fixed(3, 4096, 64, 6, NARROW, 1, 49152);
    check_loads(&spec, table1, 8);
    spec = fixed(3, 2560, 128, 10, WIDE, 1, 49152);
    check_loads(&spec, table2, 10);
}

/* ------------------------------------------------------------------ rates */

typedef struct published {
    uint64_t bits, cells, sorting, group;
    double   load, fpr, within; /* within: of the forecast and of live tables */
} published;

static const published rates[] = {
    { 64, 6, 0, 1, 4, .0008937, .005 },             /* II.A */
    { 64, 6, NARROW, 1, 4, .0004477, .005 },        /* II.B */
    { 128, 10, WIDE_ONE, 1, 6.4, 4.2575e-5, .005 }, /* */
    { 128, 10, WIDE, 1, 6.4, 2.2430e-5, .005 },     /* */
    { 64, 6, NARROW, 4, 4, .0003202, .005 },        /* II.C: 0.0003520 there */
    { 128, 10, WIDE, 4, 6.4, 1.6422e-5, .005 },     /* 0.00002042 there */
};

static void rates_are_those_of_the_paper_or_better(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rates); i++) {
        const published *const row = &rates[i];
        uint64_t const         buckets = 16384;
        uint64_t const         n = (uint64_t)(row->load * 3 * (double)buckets);
        subject const  spec = fixed(3, buckets, row->bits, row->cells, row->sorting, row->group, n);
        uint64_t const g[] = { 3, buckets, row->bits, row->cells, row->sorting, row->group };
        assert_near(tamis_dlbf_forecast(g, (double)n).fpr, row->fpr, row->within);
        assert_near(mean_rate(&spec, false), row->fpr, 0.015);
    }
    assert_true(rates[4].fpr < .0003520 && rates[5].fpr < .00002042);
}

/* II.D: two subtables of 4096 buckets; all keys are known in advance; ties go to the left. */
static void balanced_rates_are_those_of_the_paper(void **state) {
    (void)state;
    subject spec = fixed(2, 4096, 64, 6, NARROW, 1, 32768);
    assert_near(mean_rate(&spec, true), .00023894, 0.03);
    spec = fixed(2, 4096, 128, 10, WIDE, 1, 49152);
    assert_near(mean_rate(&spec, true), .000004605, 0.03);
}

static double bits_for(double fpr, tamis_preference prefer) {
    uint64_t   g[DLBF_FIELDS];
    tamis_need need = {
        .work = { 1000000, 1, 1000000 }, .fpr = fpr, .overflow = 1e-10, .prefer = prefer
    };
    for (unsigned i = 0; i < DLBF_FIELDS; i++) need.fixed[i] = NEED_FREE;
    assert_true(tamis_dlbf_choose(&need, g));
    return (double)(g[DLBF_TABLES] * g[DLBF_BUCKETS] * g[DLBF_BUCKET_BITS]) / 1e6;
}

static void sixteen_bits_per_key_reach_the_promised_rates(void **state) {
    (void)state;
    assert_true(bits_for(.00045, TAMIS_PREFER_FAST) <= 16);
    assert_true(bits_for(.00036, TAMIS_PREFER_SMALL) <= 16);
    assert_true(bits_for(.000023, TAMIS_PREFER_FAST) <= 20);
}

/* ------------------------------------------------------------------ forecasts */

/* For various needs: the forecast meets the need, and tables meet the forecast. */
static void live_tables_err_as_forecast(void **state) {
    (void)state;
    static const double   fprs[] = { 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-8 };
    static const uint64_t keys[] = { 2000, 30000 };
    for (size_t i = 0; i < COUNT(fprs) * COUNT(keys) * 2; i++) {
        subject spec = { .kind = "dlbf" };
        spec.fpr = fprs[i % COUNT(fprs)];
        spec.capacity = keys[i / COUNT(fprs) % 2];
        spec.prefer = i / COUNT(fprs) / 2 ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
        tamis_set *const set = made(&spec, 0);
        double const     told = tamis_dlbf_forecast(set->table.geometry, (double)spec.capacity).fpr;
        tamis_free(set);
        assert_true(told <= spec.fpr);
        series const stated = rates_of(&spec, false);
        double const rate = series_mean(&stated), sigma = series_error(&stated, 0);
        if (fabs(rate - told) > (0.015 + 0.05 / sqrt(n_tables)) * told + 4 * sigma)
            fail_msg("fpr %g of %g keys: %g, not %g", spec.fpr, (double)spec.capacity, rate, told);
    }
}

/* The share of small tables that refuse a key before all are added. */
static double refusals(const subject *spec, unsigned n) {
    unsigned full = 0;
    for (unsigned i = 0; i < n; i++) {
        tamis_set *const set = made(spec, i);
        full += fill(set, spec->capacity, false) != spec->capacity;
        tamis_free(set);
    }
    return (double)full / n;
}

static void live_tables_overflow_as_forecast(void **state) {
    (void)state;
    static const uint64_t tight[][4] = { /* tables, buckets, cells, keys */
                                         { 3, 1024, 5, 12400 },
                                         { 2, 2048, 6, 17700 }
    };
    for (size_t i = 0; i < COUNT(tight); i++) {
        subject const  spec = fixed(tight[i][0], tight[i][1], 64, tight[i][2], 0, 1, tight[i][3]);
        uint64_t const g[] = { tight[i][0], tight[i][1], 64, tight[i][2], 0, 1 };
        double const   told = tamis_dlbf_forecast(g, (double)tight[i][3]).overflow;
        unsigned const n = 25 * n_tables;
        assert_true(told > 0.05 && told < 0.6);
        assert_true(fabs(refusals(&spec, n) - told) < 0.15 * told + 4 * sqrt(told / n));
    }
}

/* Small tables overflow less often than forecast. */
static void small_tables_overflow_less_than_forecast(void **state) {
    (void)state;
    static const uint64_t tight[][4] = {
        { 2, 8, 6, 60 }, { 2, 4, 6, 30 }, { 2, 8, 5, 44 }, { 3, 16, 5, 180 }, { 3, 64, 5, 740 }
    };
    for (size_t i = 0; i < COUNT(tight); i++) {
        subject const  spec = fixed(tight[i][0], tight[i][1], 64, tight[i][2], 0, 1, tight[i][3]);
        uint64_t const g[] = { tight[i][0], tight[i][1], 64, tight[i][2], 0, 1 };
        double const   told = tamis_dlbf_forecast(g, (double)tight[i][3]).overflow;
        unsigned const n = 100 * n_tables;
        assert_true(refusals(&spec, n) <= told + 4 * sqrt(told / n) + 1e-3);
    }
}

/* ------------------------------------------------------------------ lengths */

static bool random_geometry(dice *random, uint64_t *g, dlbf_layout *ret_layout) {
    g[DLBF_TABLES] = 2 + dice_below(random, 3);
    g[DLBF_GROUP] = dice_below(random, 2) == 0 ? 1 : 4;
    g[DLBF_BUCKETS] = 4 * (1 + dice_below(random, 1u << dice_below(random, 31)));
    g[DLBF_BUCKET_BITS] = 64u << dice_below(random, 2);
    g[DLBF_CELLS] = 1 + dice_below(random, 15);
    g[DLBF_SORTING] = 0;
    for (unsigned a = 1; a <= g[DLBF_CELLS]; a++) {
        g[DLBF_SORTING] |= dice_below(random, dice_below(random, 3) + 1) << (2 * a);
    }
    return tamis_dlbf_layout(g, ret_layout);
}

/* Cells fit into their block, are long enough, and do not get longer when keys are added. */
static void check_growth(dice *random, const uint64_t *g, const dlbf_layout *layout) {
    unsigned       load[4] = { 0 }, before[4] = { 64, 64, 64, 64 }, total = 0;
    unsigned const group = (unsigned)g[DLBF_GROUP];
    while (total < group * g[DLBF_CELLS]) {
        unsigned const at = (unsigned)dice_below(random, group);
        unsigned       length[4], bits = 0;
        if (load[at] == g[DLBF_CELLS]) continue;
        load[at]++;
        total++;
        tamis_dlbf_lengths(g, layout, load, length);
        for (unsigned i = 0; i < group; i++) {
            unsigned const sorted = codes_sorted(g[DLBF_SORTING], load[i]);
            assert_true(length[i] <= before[i] && length[i] <= layout->longest);
            assert_true(length[i] >= layout->shortest && length[i] >= sorted + 2);
            bits += load[i] * (length[i] - sorted);
            before[i] = length[i];
        }
        assert_true(bits <= layout->data_bits);
        bool const is_used = bits + total > layout->data_bits || length[0] == layout->longest;
        assert_true(is_used || group > 1);
    }
}

static void fingerprints_never_get_longer(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned possible = 0;
    for (unsigned round = 0; round < 40000; round++) {
        uint64_t    g[DLBF_FIELDS];
        dlbf_layout layout;
        if (!random_geometry(&random, g, &layout)) continue;
        possible++;
        for (unsigned i = 0; i < 3; i++) check_growth(&random, g, &layout);
    }
    assert_true(possible > 2000);
}

/* All bits of the body belong to buckets, except for less than a cache line at the end. */
static void sizes_count_every_bit(void **state) {
    (void)state;
    subject const    spec = fixed(3, 4100, 128, 10, WIDE, 4, 70000);
    tamis_set *const set = made(&spec, 0);
    assert_int_equal(set->table.body_bytes, (3 * 4100 * 16 + 63) / 64 * 64);
    tamis_free(set);
}

static void geometries_out_of_range_are_refused(void **state) {
    (void)state;
    uint64_t const        good[] = { 3, 4096, 64, 6, NARROW, 4 };
    static const uint64_t bad[][2] = { { DLBF_TABLES, 1 },
                                       { DLBF_TABLES, 5 },
                                       { DLBF_BUCKETS, 0 },
                                       { DLBF_BUCKETS, 4097 },
                                       { DLBF_BUCKETS, UINT64_C(1) << 60 },
                                       { DLBF_BUCKET_BITS, 0 },
                                       { DLBF_BUCKET_BITS, 96 },
                                       { DLBF_CELLS, 0 },
                                       { DLBF_CELLS, 16 },
                                       { DLBF_CELLS, 4 } /* sorting of load 5 */,
                                       { DLBF_SORTING, 1 },
                                       { DLBF_SORTING, 3 << 4 },
                                       { DLBF_SORTING, UINT64_MAX },
                                       { DLBF_GROUP, 0 },
                                       { DLBF_GROUP, 2 },
                                       { DLBF_GROUP, 8 },
                                       { DLBF_CELLS, UINT64_MAX } };
    dlbf_layout           layout;
    assert_true(tamis_dlbf_layout(good, &layout));
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint64_t g[DLBF_FIELDS];
        memcpy(g, good, sizeof g);
        g[bad[i][0]] = bad[i][1];
        assert_false(tamis_dlbf_layout(g, &layout));
    }
}

/* ------------------------------------------------------------------ sorting */

/* II.E: with room for twice the keys, other loads are the most common ones, and these are
 * sorted. */
static void underloaded_filters_are_sorted_at_their_own_loads(void **state) {
    (void)state;
    subject const paper = fixed(3, 4096, 64, 6, NARROW, 1, 24576);
    subject const own = { .kind = "dlbf",
                          .capacity = 24576,
                          .geometry = "tables=3,buckets=4096,bucket_bits=64,cells=6,group=1" };
    double const  with_papers = mean_rate(&paper, false);
    assert_true(mean_rate(&own, false) < 0.55 * with_papers);
}

/* For the loads of the paper the plan finds a sorting that is as good as the paper's, or better. */
static void the_plan_sorts_as_well_as_the_paper(void **state) {
    (void)state;
    static const published paper[] = { { 64, 6, NARROW, 1, 4, 0, 0 },
                                       { 128, 10, WIDE, 1, 6.4, 0, 0 },
                                       { 64, 6, NARROW, 4, 4, 0, 0 },
                                       { 128, 10, WIDE, 4, 6.4, 0, 0 } };
    for (size_t i = 0; i < COUNT(paper); i++) {
        const published *const row = &paper[i];
        uint64_t theirs[] = { 3, 4096, row->bits, row->cells, row->sorting, row->group }, ours[6];
        uint64_t const n = (uint64_t)(3 * 4096 * row->load);
        tamis_need     need = { .work = { n, 1, n }, .overflow = 0.999 };
        memcpy(need.fixed, theirs, sizeof theirs);
        need.fixed[DLBF_SORTING] = NEED_FREE;
        assert_true(tamis_dlbf_choose(&need, ours));
        double const fpr = tamis_dlbf_forecast(ours, (double)n).fpr;
        assert_true(fpr <= 1.0001 * tamis_dlbf_forecast(theirs, (double)n).fpr);
    }
}

/* Few keys in few buckets: 4000 tables are good to half a per cent, and the forecast to one. The
 * fluid limit is 7% to 20% too low here. */
static void tables_of_few_keys_err_as_forecast(void **state) {
    (void)state;
    static const struct {
        uint64_t g[DLBF_FIELDS], n;
    } few[] = {
        { { 3, 2, 64, 8, 92840, 1 }, 29 },
        { { 3, 7, 64, 8, 92840, 1 }, 100 },
        { { 3, 4, 128, 10, WIDE, 4 }, 75 },
    };
    const tamis_kind *const kind = find_kind("dlbf", NULL);
    dice                    random = dice_start();
    for (size_t i = 0; i < COUNT(few); i++) {
        double      sum = 0;
        tamis_table table = table_make(kind, few[i].g);
        for (unsigned life = 0; life < 4000; life++) {
            memset(table.body, 0, table.body_bytes);
            table.keys = 0;
            for (uint64_t key = 0; key < few[i].n; key++) {
                (void)!kind->calls.add(&table,
                                       dice_roll(&random)); /* one in a thousand lives is full */
            }
            sum += survey_fpr(kind, &table);
        }
        double const told = tamis_dlbf_forecast(few[i].g, (double)few[i].n).fpr;
        print_message("# %.6f, stated %.6f\n", sum / 4000, told);
        assert_near(sum / 4000, told, 0.03);
        free(table.body);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) n_tables = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_tables_1_and_2),
        cmocka_unit_test(live_tables_have_those_loads),
        cmocka_unit_test(rates_are_those_of_the_paper_or_better),
        cmocka_unit_test(balanced_rates_are_those_of_the_paper),
        cmocka_unit_test(sixteen_bits_per_key_reach_the_promised_rates),
        cmocka_unit_test(live_tables_err_as_forecast),
        cmocka_unit_test(live_tables_overflow_as_forecast),
        cmocka_unit_test(small_tables_overflow_less_than_forecast),
        cmocka_unit_test(fingerprints_never_get_longer),
        cmocka_unit_test(sizes_count_every_bit),
        cmocka_unit_test(geometries_out_of_range_are_refused),
        cmocka_unit_test(underloaded_filters_are_sorted_at_their_own_loads),
        cmocka_unit_test(the_plan_sorts_as_well_as_the_paper),
        cmocka_unit_test(tables_of_few_keys_err_as_forecast),
    };
    return unit_run("dlbf_size", tests, COUNT(tests));
}
