/* test_cbf_size.c - the analysis of counting filters, mainly of blocked ones, compared with sums
 * that are written out and with every smaller choice. */
#include "unit.h"

#include "needs.h"

#include "theory/blocked.h"
#include "theory/bloom_rate.h"
#include "ton2014/count_error.h"

#define FREE NEED_FREE

/* ------------------------------------------------------------------ rates */

static double binomial(double n, double p, double j) {
    return exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + j * log(p) +
               (n - j) * log1p(-p));
}

/* The mean over the keys of a line of the product over its sectors, term by term. */
static double blocked_rate(const uint64_t *g, double n) {
    uint64_t const per_line = 512 / g[CBF_COUNTER_BITS], k = g[CBF_HASHES];
    double const   lines = (double)(g[CBF_COUNTERS] / per_line);
    double         rate = 0;
    for (double j = 0; j <= n; j++) {
        double pass = 1;
        for (uint64_t i = 0; i < k; i++) {
            double const size = (double)((i + 1) * per_line / k - i * per_line / k);
            pass *= 1 - pow(1 - 1 / size, j);
        }
        rate += (lines > 1 ? binomial(n, 1 / lines, j) : j == n) * pass;
    }
    return rate;
}

static void cbf_rate_of_lines_is_the_sum_over_their_keys(void **state) {
    (void)state;
    static const uint64_t rows[][CBF_FIELDS] = {
        { 128, 7, 4, 1 }, { 1280, 5, 4, 1 },   { 9 * 170, 9, 3, 1 },    { 40 * 102, 4, 5, 1 },
        { 146, 1, 7, 1 }, { 3200, 32, 16, 1 }, { 256 * 256, 64, 2, 1 }, { 128 * 1000, 11, 4, 1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (double n = 1; n < 3000; n = ceil(n * 2.3)) {
            assert_near(tamis_cbf_fpr(rows[i], n), blocked_rate(rows[i], n) + n / 0x1p64, 1e-7);
        }
    }
}

static void cbf_rate_of_counters_anywhere_is_a_bloom_filters(void **state) {
    (void)state;
    uint64_t const g[CBF_FIELDS] = { 9600, 7, 4, 0 };
    assert_near(tamis_cbf_fpr(g, 1000), tamis_bloom_fpr(9600, 7, 1000), 0);
}

/* One line, in which each sector has one counter: every key marks all counters. */
static void cbf_sectors_of_one_counter_are_always_marked(void **state) {
    (void)state;
    uint64_t const g[CBF_FIELDS] = { 32, 32, 16, 1 };
    assert_near(tamis_cbf_fpr(g, 1), 1, 1e-15);
    assert_near(tamis_cbf_fpr(g, 100), 1, 1e-15);
}

/* ------------------------------------------------------------------ saturation */

static double saturation(const uint64_t *g, double n, double lifetime) {
    tamis_workload const work = work_of(n, lifetime);
    return tamis_cbf_saturation(g, &work);
}

/* The chance that a counter of a sector gets at least `top` of n keys, written out. */
static double tail(double n, double p, double top) {
    double sum = 0;
    for (double j = top; j <= n; j++) sum += binomial(n, p, j);
    return sum;
}

static void cbf_saturation_of_the_filling_is_the_tail_of_each_counter(void **state) {
    (void)state;
    static const uint64_t rows[][CBF_FIELDS] = {
        { 170 * 60, 9, 3, 1 },
        { 256 * 30, 5, 2, 1 },
        { 128 * 50, 7, 4, 1 },
        { 6400, 7, 3, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t *const g = rows[i];
        double const          n = 300, top = pow(2, (double)g[CBF_COUNTER_BITS]) - 1;
        uint64_t const        per_line = 512 / g[CBF_COUNTER_BITS], k = g[CBF_HASHES];
        double                stuck = 0, lines = (double)(g[CBF_COUNTERS] / per_line);
        for (uint64_t j = 0; j < k && g[CBF_BLOCKED] != 0; j++) {
            double const places = lines * (double)((j + 1) * per_line / k - j * per_line / k);
            stuck += places * tail(n, 1 / places, top);
        }
        if (g[CBF_BLOCKED] == 0) {
            stuck = (double)g[CBF_COUNTERS] * tail(n * (double)k, 1 / (double)g[CBF_COUNTERS], top);
        }
        assert_near(saturation(g, n, n), -expm1(-stuck), 1e-6);
        assert_true(saturation(g, n, 10 * n) > saturation(g, n, n));
    }
}

/* With one hash, minimal increase is plain counting, and counters are Poisson. */
static void cbf_minimal_increase_of_one_hash_is_poisson(void **state) {
    (void)state;
    for (double n = 1000; n <= 9000; n += 2000) {
        uint64_t const g[CBF_FIELDS] = { 100000, 1, 3, 0, 1 };
        double const   u = n / 100000;
        double         term = exp(-u), tail = 0;
        for (double v = 1; v < 40; v++) {
            term *= u / v;
            tail += v >= 7 ? term : 0;
        }
        assert_near(saturation(g, n, n), -expm1(-100000 * tail), .01);
    }
}

/* With minimal increase fewer answers are wrong and fewer counters stick, also if keys are
 * repeated. */
static void cbf_minimal_increase_is_better_than_none(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t const plain[CBF_FIELDS] = { 12800, 7, 2, i, 0 };
        uint64_t const minimal[CBF_FIELDS] = { 12800, 7, 2, i, 1 };
        assert_near(tamis_cbf_fpr(plain, 1000), tamis_cbf_fpr(minimal, 1000), 0);
        double const error = count_error(plain, 1000);
        assert_true(count_error(minimal, 1000) < error / 3);
        assert_true(saturation(plain, 1000, 1000) > .99);
        assert_true(saturation(minimal, 1000, 1000) < 1e-3);
        assert_near(saturation(minimal, 1000, 9000), saturation(minimal, 1000, 1000), 0);
    }
}

/* Every hit of a key with c copies adds c: as if the maximum were c times lower. */
static void cbf_saturation_of_copies_is_that_of_a_lower_maximum(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 4; i++) { /* blocked and minimal, or not */
        bool const     is_minimal = i >= 2;
        uint64_t const k = is_minimal ? 2 : 5;
        uint64_t const wide[CBF_FIELDS] = { 21760, k, 3, i % 2, is_minimal }; /* up to 7 */
        uint64_t const low[CBF_FIELDS] = { 21760, k, 2, i % 2, is_minimal };  /* up to 3 */
        tamis_workload work = is_minimal ? work_of(1000, 1000) : work_of(100, 100);
        double const   once = tamis_cbf_saturation(wide, &work);
        work.copies = 2;
        double const twice = tamis_cbf_saturation(wide, &work); /* 4 hits */
        work.copies = 1;
        assert_true(once < twice && twice < tamis_cbf_saturation(low, &work));
        work.copies = 7;
        assert_true(tamis_cbf_saturation(wide, &work) > .999999); /* each hit */
    }
}

/* ------------------------------------------------------------------ choice */

static bool choose(double fpr, double n, uint64_t *g) {
    tamis_need const need = need_of(n, fpr, n, g, CBF_FIELDS);
    return tamis_cbf_choose(&need, g);
}

/* No number of hashes meets the rate with one line less, and none has a lower rate with these
 * lines. */
static void cbf_choice_is_the_smallest(void **state) {
    (void)state;
    static const double rates[] = { .3, .05, .01, .001, 1e-5 };
    static const double keys[] = { 1, 10, 1000, 1e6 };
    for (size_t i = 0; i < COUNT(rates) * COUNT(keys); i++) {
        for (uint64_t bits = 2; bits <= 16; bits += 3) {
            double const   fpr = rates[i / COUNT(keys)], n = keys[i % COUNT(keys)];
            uint64_t const per_line = 512 / bits;
            uint64_t       g[CBF_FIELDS] = { FREE, FREE, bits, 1 }, bytes;
            assert_true(choose(fpr, n, g));
            assert_true(tamis_cbf_body_bytes(g, &bytes));
            assert_int_equal(bytes, g[CBF_COUNTERS] / per_line * 64);
            double const rate = tamis_cbf_fpr(g, n);
            assert_true(rate <= fpr);
            for (uint64_t k = 1; k <= per_line && k <= 64; k++) {
                uint64_t other[CBF_FIELDS] = { g[CBF_COUNTERS], k, bits, 1 };
                assert_true(tamis_cbf_fpr(other, n) >= rate);
                other[CBF_COUNTERS] -= per_line;
                assert_true(other[CBF_COUNTERS] == 0 || tamis_cbf_fpr(other, n) > fpr);
            }
        }
    }
}

static void cbf_choice_keeps_what_is_fixed(void **state) {
    (void)state;
    uint64_t hashes[CBF_FIELDS] = { FREE, 3, FREE, 1, 0 };
    uint64_t size[CBF_FIELDS] = { 1280, FREE, 4, 1, 0 };
    uint64_t odd[CBF_FIELDS] = { 1281, FREE, 4, 1, 0 }, many[CBF_FIELDS] = { FREE, 33, 16, 1, 0 };
    uint64_t wrong[CBF_FIELDS] = { FREE, FREE, FREE, 2, 0 };
    uint64_t worse[CBF_FIELDS] = { FREE, FREE, FREE, 0, 2 };
    uint64_t nothing[CBF_FIELDS] = { 0, FREE, 4, 1, 0 };
    uint64_t unsized[CBF_FIELDS] = { FREE, FREE, 4, 1, 0 }; /* neither a size nor a rate */
    uint64_t huge[CBF_FIELDS] = { FREE, 1, 4, 1, 0 };       /* more lines than there may be */
    uint64_t whole[CBF_FIELDS] = { 1280, FREE, FREE, 1, 0 };
    uint64_t never[CBF_FIELDS] = { 1281, FREE, FREE, 1, 0 }; /* no width fills whole lines */
    uint64_t anywhere[CBF_FIELDS] = { FREE, FREE, FREE, FREE, FREE };
    assert_true(choose(.01, 1000, hashes));
    assert_int_equal(hashes[CBF_HASHES], 3);
    assert_int_equal(hashes[CBF_COUNTER_BITS], CBF_USUAL_BITS);
    assert_true(choose(0, 100, size));
    assert_int_equal(size[CBF_COUNTERS], 1280);
    assert_false(choose(.01, 1000, odd));
    assert_false(choose(.01, 1000, many));
    assert_false(choose(.01, 1000, wrong));
    assert_false(choose(.01, 1000, worse));
    assert_false(choose(.01, 1000, nothing));
    assert_false(choose(0, 1000, unsized));
    assert_false(choose(1e-12, 0x1p40, huge));
    assert_true(choose(0, 100, whole));
    assert_int_equal(whole[CBF_COUNTER_BITS], 4);
    assert_false(choose(0, 100, never));
    assert_true(choose(.01, 1000, anywhere));
    assert_int_equal(anywhere[CBF_BLOCKED], 0);
    assert_int_equal(anywhere[CBF_MINIMAL], 0);
}

/* Counters are wide enough for the counts, and do not stick when every key has all its copies. */
static void cbf_bits_are_enough_for_counts_and_copies(void **state) {
    (void)state;
    static const struct {
        uint64_t count_to, copies, bits;
    } rows[] = { { 0, 1, 4 },    { 14, 1, 4 },     { 15, 1, 5 },  { 254, 1, 8 },
                 { 255, 1, 9 },  { 0, 2, 5 },      { 2, 2, 5 },   { 0, 16, 8 },
                 { 255, 16, 9 }, { 65534, 1, 16 }, { 0, 300, 13 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tamis_need need = need_of(1000, .01, 1000, NULL, 0);
        uint64_t   g[CBF_FIELDS];
        need.count_to = rows[i].count_to;
        need.work.copies = rows[i].copies;
        assert_true(tamis_cbf_choose(&need, g));
        assert_int_equal(g[CBF_COUNTER_BITS], rows[i].bits);
        assert_true(tamis_cbf_count_to(g) >= rows[i].count_to);
        assert_true(tamis_cbf_saturation(g, &need.work) < 1e-9);
    }
    tamis_need need = need_of(1000, .01, 1000, NULL, 0);
    uint64_t   g[CBF_FIELDS];
    need.count_to = 65535;
    assert_false(tamis_cbf_choose(&need, g));
    need.count_to = 0;
    need.work.copies = 5000;
    assert_false(tamis_cbf_choose(&need, g));
    need.work.copies = 3;
    need.fixed[CBF_COUNTER_BITS] = 2; /* a count of 3 is "stuck" there */
    assert_false(tamis_cbf_choose(&need, g));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cbf_rate_of_lines_is_the_sum_over_their_keys),
        cmocka_unit_test(cbf_rate_of_counters_anywhere_is_a_bloom_filters),
        cmocka_unit_test(cbf_sectors_of_one_counter_are_always_marked),
        cmocka_unit_test(cbf_saturation_of_the_filling_is_the_tail_of_each_counter),
        cmocka_unit_test(cbf_minimal_increase_of_one_hash_is_poisson),
        cmocka_unit_test(cbf_minimal_increase_is_better_than_none),
        cmocka_unit_test(cbf_saturation_of_copies_is_that_of_a_lower_maximum),
        cmocka_unit_test(cbf_bits_are_enough_for_counts_and_copies),
        cmocka_unit_test(cbf_choice_is_the_smallest),
        cmocka_unit_test(cbf_choice_keeps_what_is_fixed),
    };
    return unit_run("cbf_size", tests, COUNT(tests));
}
