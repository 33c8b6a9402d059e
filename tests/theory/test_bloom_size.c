/* test_bloom_size.c - theory/bloom_rate.h against exact distributions and exhaustive search.
 *
 * The oracle throws k x n times into m places, and keeps the whole distribution of the number of
 * marked ones, in long double: no expansion, no limit.
 */
#include "unit.h"

#include "theory/bloom_rate.h"

#define MAX_PLACES 4096
#define ROUNDING 1e-12 /* relative: what doubles lose on the way */

static const double rates[] = { 0.5, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12 };

/* ------------------------------------------------------------------ the oracle */

/* share[x] becomes the probability that `throws` random places among m are x different ones. */
static void occupancy(unsigned m, unsigned throws, long double share[MAX_PLACES + 1]) {
    memset(share, 0, (m + 1) * sizeof share[0]);
    share[0] = 1;
    for (unsigned t = 1; t <= throws; t++) {
        for (unsigned x = t < m ? t : m; x > 0; x--) {
            share[x] = share[x] * x / m + share[x - 1] * (m - x + 1) / m;
        }
        share[0] = 0;
    }
}

/* The mean of (x / m)^power over that distribution. */
static long double occupancy_mean(unsigned m, unsigned throws, unsigned power) {
    static long double share[MAX_PLACES + 1];
    long double        mean = 0;
    occupancy(m, throws, share);
    for (unsigned x = 0; x <= m; x++) mean += share[x] * powl((long double)x / m, power);
    return mean;
}

/* And keys whose 64-bit hashes are equal. */
static double oracle_fpr(unsigned m, unsigned k, unsigned n) {
    return (double)(occupancy_mean(m, k * n, k) + n / 18446744073709551616.0L);
}

/* ------------------------------------------------------------------ the rate */

static void bloom_fill_is_the_mean_share_of_marked_places(void **state) {
    (void)state;
    for (unsigned m = 2; m <= 1024; m *= 2) {
        for (unsigned n = 1; n <= 64; n *= 2) {
            for (unsigned k = 1; k <= 16; k += 5) {
                assert_near(tamis_bloom_fill(m, k, n), occupancy_mean(m, k * n, 1), ROUNDING);
            }
        }
    }
}

/* For a dozen keys and more, at the best k: to a per mille, as the header says. */
static void bloom_fpr_is_right_to_a_per_mille_from_a_dozen_keys(void **state) {
    (void)state;
    for (unsigned n = 12; n <= 96; n *= 2) {
        for (unsigned bits = 5; bits <= 40; bits += 5) {
            unsigned const k = tamis_bloom_best_k(n * bits, n);
            assert_near(tamis_bloom_fpr(n * bits, k, n), oracle_fpr(n * bits, k, n), 1e-3);
        }
    }
}

/* A cache line of places, the smallest body there is: few keys or many, any k. The rate that is
 * promised may be too large for a handful of keys, never too small. */
static void bloom_fpr_is_never_too_small_in_one_cache_line(void **state) {
    (void)state;
    for (unsigned n = 1; n <= 100; n += n < 10 ? 1 : 15) {
        for (unsigned k = 1; k <= 64; k += k < 16 ? 1 : 7) {
            double const truth = oracle_fpr(512, k, n);
            assert_true(tamis_bloom_fpr(512, k, n) >= truth * (1 - ROUNDING));
        }
    }
}

static void bloom_fpr_is_never_too_small_when_planned_for_few_keys(void **state) {
    (void)state;
    for (unsigned n = 1; n <= 24; n += n < 6 ? 1 : 6) {
        for (size_t i = 0; i < COUNT(rates); i++) {
            uint64_t places;
            unsigned k;
            assert_true(tamis_bloom_smallest(rates[i], n, &places, &k));
            assert_in_range(places, 2, MAX_PLACES);
            assert_true(oracle_fpr((unsigned)places, k, n) <= rates[i] * (1 + ROUNDING));
        }
    }
}

/* Within one unit of the last digit, since some authors round and some cut off. */
static void check_published(double fpr, double published, double digit) {
    if (fabs(fpr - published) <= digit) return;
    print_error("%.8g was published as %.8g\n", fpr, published);
    fail();
}

static void bloom_fpr_is_the_published_one(void **state) {
    (void)state;
    double const n = 1e7;
    check_published(tamis_bloom_fpr(10 * n, 7, n), .00819, 1e-5);
    check_published(tamis_bloom_fpr(16 * n, 11, n), .0004587, 1e-7);
    check_published(tamis_bloom_fpr(20 * n, 14, n), .00006713, 1e-8);
    check_published(tamis_bloom_fpr(13.5 * 49152, 9, 49152), .001529, 1e-6);
}

static void bloom_fpr_is_a_probability_everywhere(void **state) {
    (void)state;
    for (double places = 0; places <= 0x1p60; places = places < 4 ? places + 1 : places * 3.7) {
        for (unsigned k = 1; k <= BLOOM_MAX_K; k += 3) {
            for (double n = 1; n <= 0x1p40; n *= 5.3) {
                double const fpr = tamis_bloom_fpr(places, k, n);
                assert_true(fpr >= 0 && fpr <= 1); /* false for NaN */
            }
        }
    }
}

static void bloom_fpr_falls_with_places_and_rises_with_keys(void **state) {
    (void)state;
    for (unsigned k = 1; k <= BLOOM_MAX_K; k += 3) {
        for (unsigned n = 1; n <= 40; n++) {
            for (unsigned places = 2; places <= 300; places++) {
                double const fpr = tamis_bloom_fpr(places, k, n);
                assert_true(tamis_bloom_fpr(places + 1, k, n) <= fpr * (1 + ROUNDING));
                assert_true(tamis_bloom_fpr(places, k, n + 1) >= fpr * (1 - ROUNDING));
            }
        }
    }
}

/* ------------------------------------------------------------------ the best k */

static double best_fpr(double places, double n) {
    double best = 1;
    for (unsigned k = 1; k <= BLOOM_MAX_K; k++) best = fmin(best, tamis_bloom_fpr(places, k, n));
    return best;
}

static void check_best_k(double places, double n) {
    unsigned const k = tamis_bloom_best_k(places, n);
    assert_in_range(k, 1, BLOOM_MAX_K);
    assert_true(tamis_bloom_fpr(places, k, n) == best_fpr(places, n));
}

static void bloom_best_k_is_the_best_of_all_k(void **state) {
    (void)state;
    for (unsigned places = 2; places <= 600; places++) {
        for (unsigned n = 1; n <= 30; n++) check_best_k(places, n);
    }
    for (double n = 100; n <= 1e12; n *= 10) {
        for (double bits = 0.25; bits <= 128; bits *= 1.5) check_best_k(floor(bits * n), n);
    }
}

/* ------------------------------------------------------------------ the fewest places */

#define LIMIT 0x1p53 /* as many places as are searched */

/* One place fewer does not meet the rate. 0 means that even LIMIT places do not. */
static void check_places(double fpr, unsigned k, double n) {
    uint64_t const places = tamis_bloom_places(fpr, k, n);
    if (places == 0) {
        assert_true(tamis_bloom_fpr(LIMIT, k, n) > fpr);
        return;
    }
    assert_true(tamis_bloom_fpr((double)places, k, n) <= fpr);
    assert_true(tamis_bloom_fpr((double)(places - 1), k, n) > fpr);
}

static void bloom_places_are_the_fewest_that_meet_the_rate(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rates); i++) {
        for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
            for (double n = 1; n <= 1e4; n = floor(n * 2.3 + 0.5)) check_places(rates[i], k, n);
        }
    }
}

/* The largest set that a spec can ask for. Beyond 2^53 a double does not tell neighbours apart, and
 * a search by doubles must not go on there for ever. */
static void bloom_places_are_the_fewest_for_2_to_40_keys(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rates); i++) {
        for (unsigned k = 1; k <= BLOOM_MAX_K; k++) check_places(rates[i], k, 0x1p40);
    }
}

/* Equal hashes take n / 2^64 of the rate. Where that leaves little, the places must make up for it:
 * however many more than usual that takes. */
static void bloom_places_are_found_where_equal_hashes_take_most_of_the_rate(void **state) {
    (void)state;
    double const n = 1.8e7; /* n / 2^64 = 0.976e-12 */
    for (unsigned k = 2; k <= BLOOM_MAX_K; k++) {
        uint64_t const places = tamis_bloom_places(1e-12, k, n);
        assert_true(places != 0);
        assert_true(tamis_bloom_fpr((double)places, k, n) <= 1e-12);
    }
    assert_int_equal(tamis_bloom_places(1e-12, 30, 1.9e7), 0); /* 1.03e-12: nothing helps */
}

/* Search all k and all sizes upwards; the first that does is the smallest. */
static uint64_t search_smallest(double fpr, double n) {
    for (uint64_t places = 2;; places++) {
        if (best_fpr((double)places, n) <= fpr) return places;
    }
}

/* Where several k need the same places, the one that touches the fewest is taken. */
static void bloom_smallest_is_the_smallest_of_all(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rates); i++) {
        for (unsigned n = 1; n <= 12; n++) {
            uint64_t places;
            unsigned k;
            assert_true(tamis_bloom_smallest(rates[i], n, &places, &k));
            assert_int_equal(places, search_smallest(rates[i], n));
            assert_true(tamis_bloom_fpr((double)places, k, n) <= rates[i]);
            for (unsigned fewer = 1; fewer < k; fewer++) {
                assert_true(tamis_bloom_fpr((double)places, fewer, n) > rates[i]);
            }
        }
    }
}

/* With hashes of 64 bits some rates cannot be reached by any size. The function says so, and writes
 * nothing. */
static void bloom_smallest_says_what_is_not_to_be_had(void **state) {
    (void)state;
    uint64_t places = 77;
    unsigned k = 7;
    assert_false(tamis_bloom_smallest(1e-12, 0x1p40, &places, &k));
    assert_int_equal(places, 77);
    assert_int_equal(k, 7);
    assert_true(tamis_bloom_smallest(1e-6, 0x1p40, &places, &k));
    assert_true(tamis_bloom_fpr((double)places, k, 0x1p40) <= 1e-6);
}

/* ------------------------------------------------------------------ with fields fixed */

static void bloom_choose_fills_in_what_is_free(void **state) {
    (void)state;
    uint64_t places = NEED_FREE, k = NEED_FREE, fewest;
    unsigned best;
    assert_true(tamis_bloom_smallest(1e-3, 1000, &fewest, &best));
    assert_true(tamis_bloom_choose(1e-3, 1000, &places, &k));
    assert_int_equal(places, fewest);
    assert_int_equal(k, best);

    places = NEED_FREE, k = 4;
    assert_true(tamis_bloom_choose(1e-3, 1000, &places, &k));
    assert_int_equal(k, 4);
    assert_int_equal(places, tamis_bloom_places(1e-3, 4, 1000));

    places = 16000, k = NEED_FREE;
    assert_true(tamis_bloom_choose(1e-3, 1000, &places, &k));
    assert_int_equal(places, 16000);
    assert_int_equal(k, tamis_bloom_best_k(16000, 1000));
}

/* With both fixed the rate follows; the planner compares it with what was asked for. */
static void bloom_choose_leaves_fixed_fields_alone(void **state) {
    (void)state;
    for (double fpr = 0; fpr < 0.1; fpr += 0.04) {
        uint64_t places = 100, k = 3;
        assert_true(tamis_bloom_choose(fpr, 1e6, &places, &k));
        assert_int_equal(places, 100);
        assert_int_equal(k, 3);
    }
}

static void check_no_choice(double fpr, double n, uint64_t places, uint64_t k) {
    assert_false(tamis_bloom_choose(fpr, n, &places, &k));
}

static void bloom_choose_refuses_what_cannot_be(void **state) {
    (void)state;
    check_no_choice(0, 1000, NEED_FREE, NEED_FREE); /* nothing says how large */
    check_no_choice(0, 1000, NEED_FREE, 7);
    check_no_choice((double)NAN, 1000, NEED_FREE, 7);
    check_no_choice(1e-3, 1000, NEED_FREE, 0);
    check_no_choice(1e-3, 1000, NEED_FREE, BLOOM_MAX_K + 1);
    check_no_choice(1e-3, 1000, 16000, 0);
    check_no_choice(1e-3, 1000, 16000, BLOOM_MAX_K + 1);
    check_no_choice(1e-3, 1000, 16000, UINT64_MAX - 1);
    check_no_choice(1e-12, 0x1p40, NEED_FREE, NEED_FREE);
    check_no_choice(1e-12, 0x1p40, NEED_FREE, 40);
}

/* ------------------------------------------------------------------ cache lines */

/* Different lines that `asked` random places are on, on average. */
static double oracle_lines(unsigned lines, unsigned asked) {
    return (double)(occupancy_mean(lines, asked, 1) * lines);
}

/* An absent key asks one place more with probability `fill`, and no more than k. */
static double oracle_lines_absent(unsigned lines, unsigned k, double fill) {
    double sum = 0, reached = 1;
    for (unsigned asked = 1; asked < k; asked++) {
        sum += reached * (1 - fill) * oracle_lines(lines, asked);
        reached *= fill;
    }
    return sum + reached * oracle_lines(lines, k);
}

static void bloom_lines_present_is_the_mean_number_of_lines(void **state) {
    (void)state;
    for (unsigned lines = 1; lines <= 1024; lines *= 2) {
        for (unsigned k = 1; k <= BLOOM_MAX_K; k++) {
            assert_near(tamis_bloom_lines_present(lines, k), oracle_lines(lines, k), 1e-9);
        }
    }
}

static void bloom_lines_absent_is_the_mean_number_of_lines(void **state) {
    (void)state;
    for (unsigned lines = 1; lines <= 64; lines *= 2) {
        for (unsigned k = 1; k <= BLOOM_MAX_K; k += 7) {
            for (double fill = 0; fill <= 1; fill += 0.125) {
                assert_near(tamis_bloom_lines_absent(lines, k, fill),
                            oracle_lines_absent(lines, k, fill), 1e-9);
            }
        }
    }
}

/* In a huge table no two places share a line. Less than a line is a line. */
static void bloom_lines_are_right_at_the_edges(void **state) {
    (void)state;
    assert_near(tamis_bloom_lines_present(1e15, 64), 64, 1e-9);
    assert_near(tamis_bloom_lines_absent(1e15, 64, 0.5), 2, 1e-9);
    assert_near(tamis_bloom_lines_absent(1e15, 64, 1), 64, 1e-9);
    assert_near(tamis_bloom_lines_absent(1e15, 64, 0), 1, 1e-9);
    assert_near(tamis_bloom_lines_present(0.004, 64), 1, 1e-9);
    assert_near(tamis_bloom_lines_absent(0.004, 64, 0.9), 1, 1e-9);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bloom_fill_is_the_mean_share_of_marked_places),
        cmocka_unit_test(bloom_fpr_is_right_to_a_per_mille_from_a_dozen_keys),
        cmocka_unit_test(bloom_fpr_is_never_too_small_in_one_cache_line),
        cmocka_unit_test(bloom_fpr_is_never_too_small_when_planned_for_few_keys),
        cmocka_unit_test(bloom_fpr_is_the_published_one),
        cmocka_unit_test(bloom_fpr_is_a_probability_everywhere),
        cmocka_unit_test(bloom_fpr_falls_with_places_and_rises_with_keys),
        cmocka_unit_test(bloom_best_k_is_the_best_of_all_k),
        cmocka_unit_test(bloom_places_are_the_fewest_that_meet_the_rate),
        cmocka_unit_test(bloom_places_are_the_fewest_for_2_to_40_keys),
        cmocka_unit_test(bloom_places_are_found_where_equal_hashes_take_most_of_the_rate),
        cmocka_unit_test(bloom_smallest_is_the_smallest_of_all),
        cmocka_unit_test(bloom_smallest_says_what_is_not_to_be_had),
        cmocka_unit_test(bloom_choose_fills_in_what_is_free),
        cmocka_unit_test(bloom_choose_leaves_fixed_fields_alone),
        cmocka_unit_test(bloom_choose_refuses_what_cannot_be),
        cmocka_unit_test(bloom_lines_present_is_the_mean_number_of_lines),
        cmocka_unit_test(bloom_lines_absent_is_the_mean_number_of_lines),
        cmocka_unit_test(bloom_lines_are_right_at_the_edges),
    };
    return unit_run("bloom_size", tests, COUNT(tests));
}
