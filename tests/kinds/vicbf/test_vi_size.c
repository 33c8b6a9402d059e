/* test_vi_size.c - the analysis of variable increments: against the paper, against all ways to add
 * them, one by one, and against filters that are filled. */
#include "needs.h"
#include "overload.h"
#include "subject.h"
#include "table.h"

#include "core/increments.h"
#include "kinds/vicbf/size.h"
#include "theory/tails.h"

#define N 1024.0 /* keys, in all of section VIII but table I */
#define ONE UINT64_C(2)

static vi_profile profile_of(uint64_t mask, unsigned bits) {
    vi_profile profile;
    tamis_vi_profile(mask, bits, &profile);
    return profile;
}

/* Choose for n keys. g has the fields that are fixed, and gets the choice. */
static bool choose(double n, double fpr, double lifetime, bool is_fast, uint64_t *g) {
    tamis_need need = need_of(n, fpr, lifetime, g, VI_FIELDS);
    need.prefer = is_fast ? TAMIS_PREFER_FAST : TAMIS_PREFER_SMALL;
    return tamis_vi_choose(&need, g);
}

/* ------------------------------------------------------------------ the paper */

typedef struct row {
    uint64_t g[VI_FIELDS];
    double   fpr; /* to as many digits as are stated */
} row;

/* Published numbers, as recomputed. */
static const row rows[] = {
    { { 4388, 5, 0, 7, VI_D(4), 0 }, .00825 },  { { 3840, 6, 0, 8, VI_GENERAL, 0 }, .00398 },
    { { 7314, 8, 0, 7, VI_D(4), 0 }, .00033 },  { { 6400, 10, 0, 8, VI_GENERAL, 0 }, .00010 },
    { { 5120, 5, 0, 6, VI_D(2), 0 }, .01390 },  { { 3840, 4, 0, 8, VI_D(8), 0 }, .00838 },
    { { 3413, 4, 0, 9, VI_D(16), 0 }, .01102 }, { { 7680, 5, 0, 4, ONE, 0 }, .02728 },
    { { 12800, 9, 0, 4, ONE, 0 }, .00247 },
};

/* As the paper has it: (1 - p)^k. */
static double paper_fpr(const uint64_t *g, double n) {
    vi_profile const profile = profile_of(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS]);
    double const     k = (double)g[VI_HASHES];
    return pow(1 - tamis_vi_excludes(&profile, (double)g[VI_COUNTERS], n * k), k);
}

/* The correction for small tables changes these rates little. */
static void vi_numbers_are_those_of_the_paper(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double const fpr = paper_fpr(rows[i].g, N);
        if (fabs(fpr - rows[i].fpr) > 1e-5 / 2 + 1e-9) {
            fail_msg("row %zu: %.7f, not %.5f", i, fpr, rows[i].fpr);
        }
        assert_near(tamis_vi_fpr(rows[i].g, N), fpr, .02);
    }
}

/* Theorem 2: with D_L, a counter without keys excludes every absent key, and one with three keys or
 * more excludes none. */
static void vi_with_d_l_is_theorem_2(void **state) {
    (void)state;
    for (unsigned l = 1; l <= 16; l++) {
        vi_profile const profile = profile_of(VI_D(l), 12);
        double const     size = l, two = (size * size - 1) / (6 * size * size);
        assert_near(profile.excludes[0], 1, 0);
        assert_near(profile.excludes[1] + 1 / size, 1, 1e-14);
        assert_near(profile.excludes[2] + 1, two + 1, 1e-14);
        for (unsigned j = 3; j <= profile.top; j++) assert_near(profile.excludes[j] + 1, 1, 1e-14);
        double const m = 3000, hits = 5 * N, none = exp(hits * log1p(-1 / m));
        double const once = none * hits / (m - 1), twice = once * (hits - 1) / 2 / (m - 1);
        double const p = none + once * (1 - 1 / size) + twice * two;
        assert_near(tamis_vi_excludes(&profile, m, hits), p, 1e-12);
    }
}

static void vi_with_only_one_is_a_bloom_filter(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 12; k++) {
        uint64_t const g[] = { 9001, k, 0, 4, ONE, 0 };
        double const   empty = exp(N * k * log1p(-1 / 9001.0));
        assert_near(paper_fpr(g, N), pow(1 - empty, k), 1e-12);
    }
}

/* Table I: the fewest counters for 2000 keys at 0.1%, with 7 hashes. */
static void vi_sizes_are_those_of_table_1(void **state) {
    (void)state;
    static const uint64_t tables[][3] = { { VI_D(4), 7, 12331 }, { VI_GENERAL, 8, 9388 } };
    for (size_t i = 0; i < 2; i++) {
        uint64_t g[] = { NEED_FREE, NEED_FREE, 0, tables[i][1], tables[i][0], 0 };
        assert_true(choose(2000, 1e-3, 2000, false, g));
        assert_int_equal(g[VI_HASHES], 7);
        assert_in_range(g[VI_COUNTERS], tables[i][2] - 2, tables[i][2] + 2);
    }
    uint64_t five[] = { NEED_FREE, 5, 0, 7, VI_D(4), 0 }; /* the paper's own choice */
    assert_true(choose(2000, 1e-3, 2000, false, five));
    assert_in_range(five[VI_COUNTERS], 12842 - 2, 12842 + 2);
}

/* ------------------------------------------------------------------ all ways to add */

typedef struct tally {
    double excluded, stuck, ways;
} tally;

static void tally_all(const increments *d, uint64_t top, unsigned j, uint64_t sum, tally *to) {
    for (unsigned i = 0; j != 0 && i < d->n; i++) tally_all(d, top, j - 1, sum + d->value[i], to);
    if (j != 0) return;
    to->ways++;
    to->stuck += sum >= top;
    for (unsigned i = 0; i < d->n && sum < top; i++) {
        to->excluded += (double)!increments_may_hold(d, sum, d->value[i]) / d->n;
    }
}

static void vi_profile_is_that_of_all_ways_to_add(void **state) {
    (void)state;
    static const uint64_t sets[] = { VI_GENERAL, VI_D(4), VI_D(2), ONE, 0x26, 0xc0000000, 0x8102 };
    for (size_t i = 0; i < COUNT(sets) * 11; i++) {
        unsigned const   bits = 2 + (unsigned)i % 11;
        increments const d = increments_make(sets[i / 11]);
        vi_profile const profile = profile_of(sets[i / 11], bits);
        for (unsigned j = 0; j <= 6 && j <= profile.top; j++) {
            tally all = { 0, 0, 0 };
            tally_all(&d, (1u << bits) - 1, j, 0, &all);
            assert_near(profile.excludes[j] + 1, all.excluded / all.ways + 1, 1e-13);
            assert_near(profile.stuck[j] + 1, all.stuck / all.ways + 1, 1e-13);
        }
    }
}

/* ------------------------------------------------------------------ choice */

static void all_free(uint64_t *g) {
    for (unsigned i = 0; i < VI_FIELDS; i++) g[i] = NEED_FREE;
}

/* The chosen table meets the rate, its counters rarely stick, and it is not much larger than
 * needed: with a tenth fewer counters it would not meet the rate. */
static void check_choice(double n, double fpr, double lifetime, bool is_fast) {
    uint64_t g[VI_FIELDS], fewer[VI_FIELDS];
    all_free(g);
    assert_true(choose(n, fpr, lifetime, is_fast, g));
    assert_int_equal(g[VI_BLOCKED], is_fast);
    assert_true(tamis_vi_fpr(g, n) <= fpr * (1 + 1e-9));
    assert_true(tamis_vi_saturation(g, n, lifetime) <= 1e-3);
    if (n < 100) return;
    memcpy(fewer, g, sizeof fewer);
    fewer[VI_COUNTERS] -= fewer[VI_COUNTERS] / 10;
    assert_true(tamis_vi_fpr(fewer, n) > fpr);
}

static void vi_choose_keeps_what_was_asked(void **state) {
    (void)state;
    static const double ns[] = { 1, 30, 1000, 1e5, 1e8 }, fprs[] = { .3, .01, 1e-3, 1e-5 };
    for (unsigned i = 0; i < 5 * 4 * 2; i++) {
        double const n = ns[i % 5], fpr = fprs[i / 5 % 4];
        check_choice(n, fpr, n, i >= 20);
        if (i < 20) check_choice(n, fpr, 1000 * n, false);
    }
}

static void vi_choose_leaves_what_is_fixed(void **state) {
    (void)state;
    static const uint64_t some[] = { 64000, 7, 100, 8, VI_D(4), 1 };
    for (unsigned fixed = 0; fixed < 1u << VI_FIELDS; fixed++) {
        uint64_t g[VI_FIELDS];
        all_free(g);
        for (unsigned f = 0; f < VI_FIELDS; f++) {
            if ((fixed >> f & 1) != 0) g[f] = some[f];
        }
        assert_true(choose(2000, .01, 2000, false, g));
        for (unsigned f = 0; f < VI_FIELDS; f++) {
            if ((fixed >> f & 1) != 0) assert_int_equal(g[f], some[f]);
        }
        if (tamis_vi_fpr(g, 2000) > .01 * (1 + 1e-9)) fail_msg("fixed %x: the fpr", fixed);
    }
}

/* This number of counters meets the rate with 8 bits, but not with fewer. */
static void vi_choose_keeps_the_fpr_in_a_fixed_size(void **state) {
    (void)state;
    uint64_t g[VI_FIELDS];
    all_free(g);
    g[VI_COUNTERS] = 9500;
    assert_true(choose(2000, 1e-3, 2000, false, g));
    assert_int_equal(g[VI_COUNTERS], 9500);
    if (tamis_vi_fpr(g, 2000) > 1e-3)
        fail_msg("%g with %d bits", tamis_vi_fpr(g, 2000), (int)g[VI_COUNTER_BITS]);
}

static void vi_choose_takes_the_best_k_in_a_fixed_size(void **state) {
    (void)state;
    static const uint64_t best[][4] = { { 4388, 7, VI_D(4), 5 },
                                        { 3840, 8, VI_GENERAL, 6 },
                                        { 7314, 7, VI_D(4), 8 },
                                        { 6400, 8, VI_GENERAL, 10 } };
    for (size_t i = 0; i < COUNT(best); i++) {
        uint64_t g[] = { best[i][0], NEED_FREE, 0, best[i][1], best[i][2], 0 };
        assert_true(choose(N, 0, N, false, g));
        assert_int_equal(g[VI_HASHES], best[i][3]);
    }
}

static void vi_choose_refuses_what_cannot_be(void **state) {
    (void)state;
    uint64_t g[VI_FIELDS];
    all_free(g);
    assert_false(choose(1000, 0, 1000, false, g)); /* nothing says how large */
    for (unsigned i = 0; i < 5; i++) {
        static const uint64_t wrong[][2] = { { VI_HASHES, VI_MAX_HASHES + 1 },
                                             { VI_HASHES, 0 },
                                             { VI_COUNTER_BITS, VI_MAX_BITS + 1 },
                                             { VI_COUNTER_BITS, VI_MIN_BITS - 1 },
                                             { VI_INCREMENTS, 0x14 } };
        all_free(g);
        g[wrong[i][0]] = wrong[i][1];
        assert_false(choose(1000, .01, 1000, false, g));
    }
    all_free(g);
    assert_false(choose(0x1p40, 1e-12, 0x1p40, false, g));
}

/* ------------------------------------------------------------------ many filters */

#define FILTERS 50
#define STRANGERS 10000
static unsigned small_filters = 1000; /* of each geometry: an argument of the program */

static subject vicbf_of(const uint64_t *g, double n, double lifetime) {
    return (subject){ .kind = "vicbf",
                      .capacity = (uint64_t)n,
                      .lifetime = (uint64_t)lifetime,
                      .geometry = geometry_text(find_kind("vicbf", NULL), g) };
}

static tamis_set *make_vicbf(const uint64_t *g, double n, double lifetime, uint64_t seed) {
    subject const variant = vicbf_of(g, n, lifetime);
    return make_set(&variant, seed);
}

typedef struct means {
    double fpr, hits;
} means;

static means fill_many(const uint64_t *g) {
    means sum = { 0, 0 };
    for (uint64_t seed = 0; seed < FILTERS; seed++) {
        tamis_set *const set = make_vicbf(g, N, N, seed);
        add_ids(set, 0, N);
        sum.hits += (double)count_ids(set, 1000000, STRANGERS);
        sum.fpr += inspect(set).current_fpr / FILTERS;
        tamis_free(set);
    }
    return sum;
}

/* The mean of 50 filters is within 3% of the prediction, and the share of absent keys that are
 * found is the one that the filters state. */
static void check_filters(const uint64_t *g) {
    means const  mean = fill_many(g);
    double const expected = mean.fpr * FILTERS * STRANGERS, predicted = tamis_vi_fpr(g, N);
    if (fabs(mean.fpr / predicted - 1) > .03)
        fail_msg("%d counters, more=%d, blocked=%d: %.6f is predicted, and is %.6f", (int)g[0],
                 (int)g[2], (int)g[5], predicted, mean.fpr);
    if (fabs(mean.hits - expected) > 5 * sqrt(expected))
        fail_msg("%d counters, more=%d, blocked=%d: %.0f strangers, not %.1f", (int)g[0], (int)g[2],
                 (int)g[5], mean.hits, expected);
}

static void vi_filters_are_as_predicted(void **state) {
    (void)state;
    static const uint64_t scattered[][VI_FIELDS] = {
        { 4388, 5, 0, 7, VI_D(4), 0 },      { 3840, 6, 0, 8, VI_GENERAL, 0 },
        { 3840, 5, 128, 8, VI_GENERAL, 0 }, { 4000, 3, 250, 7, VI_D(4), 0 },
        { 3413, 4, 0, 9, VI_D(16), 0 },     { 4000, 4, 0, 5, VI_D(4), 0 }, /* many stick */
    };
    for (size_t i = 0; i < COUNT(scattered); i++) check_filters(scattered[i]);
}

static void vi_blocked_filters_are_as_predicted(void **state) {
    (void)state;
    static const uint64_t blocked[][VI_FIELDS] = {
        { 4380, 5, 0, 7, VI_D(4), 1 },      { 3840, 6, 0, 8, VI_GENERAL, 1 },
        { 3840, 5, 128, 8, VI_GENERAL, 1 }, { 4380, 3, 20, 7, VI_D(4), 1 },
        { 4380, 3, 250, 7, VI_D(4), 1 },    { 3416, 4, 0, 9, VI_D(16), 1 },
        { 4080, 4, 0, 5, VI_D(4), 1 },      { 3840, 1, 40, 8, VI_GENERAL, 1 },
    };
    for (size_t i = 0; i < COUNT(blocked); i++) check_filters(blocked[i]);
}

/* Tables that are so small that a key often has the same counter twice: the mean of many is within
 * 1% of what is predicted, and four sigma. */
static void vi_small_filters_are_as_predicted(void **state) {
    (void)state;
    static const struct {
        uint64_t g[VI_FIELDS];
        double   n;
    } tables[] = {
        { { 400, 4, 0, 6, 6, 0 }, 80 },          { { 400, 4, 0, 8, VI_GENERAL, 0 }, 80 },
        { { 400, 5, 0, 7, VI_D(4), 0 }, 70 },    { { 400, 6, 0, 4, ONE, 0 }, 40 },
        { { 300, 3, 128, 6, 6, 0 }, 60 },        { { 100, 4, 0, 6, 6, 0 }, 20 },
        { { 100, 4, 0, 8, VI_GENERAL, 0 }, 20 }, { { 40, 6, 0, 8, VI_GENERAL, 0 }, 6 },
    };
    for (size_t i = 0; i < COUNT(tables); i++) {
        series rates = { 0, 0, 0 };
        double hits = 0;
        for (uint64_t seed = 0; seed < small_filters; seed++) {
            tamis_set *const set = make_vicbf(tables[i].g, tables[i].n, tables[i].n, seed);
            add_ids(set, 0, (uint64_t)tables[i].n);
            hits += (double)count_ids(set, 1000000, 1000);
            series_add(&rates, inspect(set).current_fpr);
            tamis_free(set);
        }
        double const mean = series_mean(&rates), sigma = series_error(&rates, 0);
        double const predicted = tamis_vi_fpr(tables[i].g, tables[i].n);
        if (fabs(mean - predicted) > .01 * mean + 4 * sigma)
            fail_msg("table %zu: %.6f +- %.6f, predicted %.6f", i, mean, sigma, predicted);
        double const expected = 1000 * rates.sum;
        if (fabs(hits - expected) > 5 * sqrt(expected))
            fail_msg("table %zu: %.0f strangers, not %.1f", i, hits, expected);
    }
}

/* ------------------------------------------------------------------ many lives */

#define SETS 500

typedef struct life {
    uint64_t g[VI_FIELDS];
    double   n, lifetime;
} life;

/* The statement may be a sixth too high, since a counter that falls and rises again is counted
 * twice. */
static void vi_counters_stick_as_often_as_stated(void **state) {
    (void)state;
    static const life lives[] = {
        { { 1500, 5, 0, 5, VI_D(4), 0 }, 180, 180 },
        { { 1500, 5, 0, 5, VI_D(4), 0 }, 100, 1000 },
        { { 1500, 3, 128, 6, VI_GENERAL, 0 }, 150, 600 },
        { { 1530, 5, 0, 5, VI_D(4), 1 }, 150, 150 },
        { { 1530, 5, 0, 5, VI_D(4), 1 }, 80, 800 },
        { { 1530, 4, 250, 5, VI_D(4), 1 }, 80, 800 },
        { { 1536, 4, 0, 2, ONE, 0 }, 50, 50 },
    };
    for (size_t i = 0; i < COUNT(lives); i++) {
        const life *const lived = &lives[i];
        subject const     variant = vicbf_of(lived->g, lived->n, lived->lifetime);
        check_saturation(&variant, SETS, 1 / 1.2, 1);
    }
}

/* With one increment a counter sticks after a fixed number of hits: the tail of the binomial. */
static void vi_saturation_of_one_increment_is_the_tail(void **state) {
    (void)state;
    for (uint64_t bits = 2; bits <= 9; bits++) {
        for (double load = .2; load < 1.3; load += .1) {
            uint64_t const g[] = { 500, 4, 0, bits, ONE, 0 },
                           lines[] = { 512 / bits * 8, 4, 0, bits, ONE, 1 };
            double const top = pow(2, (double)bits) - 1, n = ceil(load * top * 500 / 4);
            double const stuck = 500 * tamis_binomial_tail(4 * n, 1 / 500., top);
            double       in_lines = 0;
            for (uint64_t i = 0; i < 4; i++) {
                double const places = 8 * (double)(vi_sector(lines, i + 1) - vi_sector(lines, i));
                in_lines += places * tamis_binomial_tail(n, 1 / places, top);
            }
            assert_near(tamis_vi_saturation(g, n, n) + 1e-30, -expm1(-stuck) + 1e-30, 1e-6);
            assert_near(tamis_vi_saturation(lines, n, n) + 1e-30, -expm1(-in_lines) + 1e-30, 1e-6);
        }
    }
}

/* With far too many keys all counters stick, and saturation is certain. */
static void vi_saturation_of_too_many_is_sure(void **state) {
    (void)state;
    static const uint64_t tables[][VI_FIELDS] = { { 300, 5, 0, 8, VI_GENERAL, 0 },
                                                  { 320, 5, 0, 8, VI_GENERAL, 1 },
                                                  { 300, 40, 0, 10, ONE, 0 },
                                                  { 30, 40, 0, 12, ONE, 0 } };
    for (size_t i = 0; i < COUNT(tables); i++) {
        for (double n = 12000; n < 1e7; n *= 5) {
            double const stuck = tamis_vi_saturation(tables[i], n, n);
            if (stuck < .999) fail_msg("table %zu, %g keys: %g", i, n, stuck);
        }
    }
}

/* The paper's 4388 counters do not fill whole lines. They are scattered, unless the user asks for
 * lines. */
static void vi_choose_scatters_what_fills_no_lines(void **state) {
    (void)state;
    uint64_t g[VI_FIELDS] = { 4388, NEED_FREE, NEED_FREE, 7, NEED_FREE, NEED_FREE };
    assert_true(choose(1024, .02, 1024, true, g));
    assert_int_equal(g[VI_COUNTERS], 4388);
    assert_int_equal(g[VI_BLOCKED], 0);
    uint64_t lines[VI_FIELDS] = { 4388, NEED_FREE, NEED_FREE, 7, NEED_FREE, 1 };
    assert_false(choose(1024, .02, 1024, true, lines));
    uint64_t whole[VI_FIELDS] = { 512 / 7 * 60, NEED_FREE, NEED_FREE,
                                  NEED_FREE,    NEED_FREE, NEED_FREE };
    assert_true(choose(1024, .02, 1024, true, whole));
    assert_int_equal(whole[VI_BLOCKED], 1);
    assert_int_equal(whole[VI_COUNTERS] % vi_per_line(whole), 0);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(vi_numbers_are_those_of_the_paper),
        cmocka_unit_test(vi_with_d_l_is_theorem_2),
        cmocka_unit_test(vi_with_only_one_is_a_bloom_filter),
        cmocka_unit_test(vi_sizes_are_those_of_table_1),
        cmocka_unit_test(vi_profile_is_that_of_all_ways_to_add),
        cmocka_unit_test(vi_choose_keeps_what_was_asked),
        cmocka_unit_test(vi_choose_leaves_what_is_fixed),
        cmocka_unit_test(vi_choose_keeps_the_fpr_in_a_fixed_size),
        cmocka_unit_test(vi_choose_takes_the_best_k_in_a_fixed_size),
        cmocka_unit_test(vi_choose_refuses_what_cannot_be),
        cmocka_unit_test(vi_choose_scatters_what_fills_no_lines),
        cmocka_unit_test(vi_filters_are_as_predicted),
        cmocka_unit_test(vi_blocked_filters_are_as_predicted),
        cmocka_unit_test(vi_small_filters_are_as_predicted),
        cmocka_unit_test(vi_counters_stick_as_often_as_stated),
        cmocka_unit_test(vi_saturation_of_one_increment_is_the_tail),
        cmocka_unit_test(vi_saturation_of_too_many_is_sure),
    };
    if (argc > 1) small_filters = (unsigned)strtoul(argv[1], NULL, 10);
    return unit_run("vi_size", tests, COUNT(tests));
}
