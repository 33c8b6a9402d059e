/* test_tails.c - theory/tails.h against sums of exact terms.
 *
 * The oracle multiplies a term out factor by factor in long double, whose exponent reaches down to
 * 1e-4932, and adds the terms up one by one: no logarithms, no shortcuts. Values for large numbers,
 * where it would take too long, were computed with 40 digits.
 */
#include "unit.h"

#include "theory/tails.h"

/* What tails.h promises: digits that hold down to 1e-300. Twelve of them. */
#define DIGITS 1e-12
#define SMALLEST 1e-300L

/* ------------------------------------------------------------------ the oracle */

typedef struct law {
    long double n, p; /* n < 0: Poisson with mean p */
} law;

static long double law_mean(const law *distribution) {
    return distribution->n < 0 ? distribution->p : distribution->n * distribution->p;
}

/* P[X = k], factor by factor. */
static long double law_term(const law *distribution, unsigned k) {
    if (distribution->n >= 0 && k > distribution->n) return 0;
    long double term = distribution->n < 0 ? expl(-distribution->p)
                                           : expl((distribution->n - k) * log1pl(-distribution->p));
    for (unsigned i = 0; i < k; i++) {
        term *= distribution->n < 0 ? distribution->p / (i + 1)
                                    : (distribution->n - i) / (i + 1) * distribution->p;
    }
    return term;
}

/* P[X >= k], added from the far end of the tail back to k, so that small terms are added first. */
static long double law_tail(const law *distribution, unsigned k) {
    unsigned top = k;
    while (top < law_mean(distribution) ||
           law_term(distribution, top) > law_term(distribution, k) * 1e-22L)
        top++;
    long double sum = 0;
    for (unsigned i = top + 1; i-- > k;) sum += law_term(distribution, i);
    return sum;
}

static double term_of(const law *distribution, unsigned k) {
    if (distribution->n < 0) return exp(tamis_poisson_log((double)distribution->p, k));
    return exp(tamis_binomial_log((double)distribution->n, (double)distribution->p, k));
}

static double tail_of(const law *distribution, unsigned k) {
    if (distribution->n < 0) return tamis_poisson_tail((double)distribution->p, k);
    return tamis_binomial_tail((double)distribution->n, (double)distribution->p, k);
}

/* Doubles, so that the oracle and the library start from the same p. */
static const double poisson_means[] = { 1e-3, 0.5, 0.6931, 1, 3.7, 15, 16, 56, 200 };
static const double binomial_n[] = { 1, 2, 3, 15, 16, 17, 60, 300 };
static const double binomial_p[] = { 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9 };

/* ------------------------------------------------------------------ against the oracle */

static void check_law(const law *distribution, unsigned last) {
    for (unsigned k = 0; k <= last; k++) {
        long double const term = law_term(distribution, k);
        if (term < SMALLEST) continue;
        assert_near(term_of(distribution, k), term, DIGITS);
        assert_near(tail_of(distribution, k), law_tail(distribution, k), DIGITS);
    }
}

static void poisson_terms_and_tails_hold_twelve_digits_down_to_1e_300(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(poisson_means); i++) {
        law const distribution = { -1, poisson_means[i] };
        check_law(&distribution, 500);
    }
}

static void binomial_terms_and_tails_hold_twelve_digits_down_to_1e_300(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(binomial_n); i++) {
        for (size_t j = 0; j < COUNT(binomial_p); j++) {
            law const distribution = { binomial_n[i], binomial_p[j] };
            check_law(&distribution, (unsigned)binomial_n[i]);
        }
    }
}

/* Buckets and counters: very many keys, very small shares, a mean of a few. */
static void binomial_tails_hold_their_digits_when_n_is_huge(void **state) {
    (void)state;
    static const double sizes[] = { 1e6, 1e9, 1e12, 1099511627776.0, 1e15 };
    static const double means[] = { 0.01, 0.6931, 6, 56 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t j = 0; j < COUNT(means); j++) {
            law const distribution = { sizes[i], means[j] / sizes[i] };
            check_law(&distribution, 400);
        }
    }
}

/* ------------------------------------------------------------------ known values */

static void poisson_tails_are_the_published_ones(void **state) {
    (void)state;
    assert_near(tamis_poisson_tail(56, 65), 0.12911470003484105594, DIGITS);
    assert_near(tamis_poisson_tail(56, 75), 0.0088178871430479648318, DIGITS);
    assert_near(tamis_poisson_tail(56, 128), 1.2787379719514181033e-16, DIGITS);
    assert_near(tamis_poisson_tail(0.5, 20), 2.4354654299253143159e-25, DIGITS);
    assert_near(tamis_poisson_tail(10, 100), 5.3985897281395814888e-63, DIGITS);
    assert_near(tamis_poisson_tail(24, 200), 5.9906716060952831739e-110, DIGITS);
    assert_near(tamis_poisson_tail(1000, 1300), 6.8870866654301652273e-20, DIGITS);
}

/* 49152 keys, 9 hashes, 13.5 places per key: one counter among the 663552. */
static void binomial_tails_of_a_counter_are_the_known_ones(void **state) {
    (void)state;
    double const n = 49152.0 * 9, p = 1.0 / 663552;
    assert_near(tamis_binomial_tail(n, p, 1), 0.48658313888113383305, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 4), 0.0048581321123123795014, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 8), 5.3622939285212976241e-7, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 15), 9.3528363951124021011e-16, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 16), 3.8870191989932462054e-17, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 32), 4.6107278039290142265e-42, DIGITS);
    assert_near(tamis_binomial_tail(n, p, 64), 2.1865085954360750364e-101, DIGITS);
}

/* A huge mean is known only to one part in 2^53. So the tail is known to about that, times the
 * distance of k from the mean. */
static void tails_of_huge_means_hold_nine_digits(void **state) {
    (void)state;
    assert_near(tamis_binomial_tail(1e6, 0.5, 500000), 0.50039894218066587504, DIGITS);
    assert_near(tamis_binomial_tail(1e6, 0.5, 505000), 7.6907775219536759468e-24, 1e-9);
    assert_near(tamis_binomial_tail(1e9, 0.25, 250100000), 1.4111657469056450875e-13, 1e-9);
    assert_near(tamis_binomial_tail(1e12, 0.5, 500002500000), 2.8665305858755819039e-7, 1e-9);
    assert_near(tamis_binomial_tail(1e15, 1e-3, 1000005000000), 2.829617599924634774e-7, 1e-9);
    assert_near(tamis_poisson_tail(1e6, 1010000), 9.0392063980996577188e-24, 1e-9);
}

/* ------------------------------------------------------------------ what must agree */

/* A fair coin is as likely at n/2 or more as at n/2 or less, so that P[>= n/2] is half of all and
 * half of the middle term. The middle term is 1/sqrt(pi n/2), less one part in 4n. */
static void binomial_of_a_fair_coin_is_symmetric(void **state) {
    (void)state;
    for (double n = 1e4; n <= 1e12; n *= 100) {
        double const middle = exp(tamis_binomial_log(n, 0.5, n / 2));
        assert_near(middle, (1 - 1 / (4 * n)) / sqrt(acos(-1) * n / 2), 1e-9);
        assert_near(tamis_binomial_tail(n, 0.5, n / 2), 0.5 + middle / 2, 1e-9);
    }
}

/* Above the mean the term is no small part of the tail, so that the digits survive subtracting. */
static void check_steps(const law *distribution, unsigned last) {
    for (unsigned k = (unsigned)law_mean(distribution) + 1; k <= last; k++) {
        double const step = tail_of(distribution, k) - tail_of(distribution, k + 1),
                     term = term_of(distribution, k);
        if (term < 1e-290) break;
        assert_near(step, term, DIGITS);
    }
}

static void tails_differ_by_the_term_between_them(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(poisson_means); i++) {
        law const distribution = { -1, poisson_means[i] };
        check_steps(&distribution, 500);
    }
    for (size_t i = 0; i < COUNT(binomial_n); i++) {
        for (size_t j = 0; j < COUNT(binomial_p); j++) {
            law const distribution = { binomial_n[i], binomial_p[j] };
            check_steps(&distribution, (unsigned)binomial_n[i]);
        }
    }
}

static void terms_sum_up_to_one(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(poisson_means); i++) {
        law const distribution = { -1, poisson_means[i] };
        double    sum = 0;
        for (unsigned k = 0; k <= 700; k++) sum += term_of(&distribution, k);
        assert_near(sum, 1, DIGITS);
    }
    for (size_t i = 0; i < COUNT(binomial_n); i++) {
        for (size_t j = 0; j < COUNT(binomial_p); j++) {
            law const distribution = { binomial_n[i], binomial_p[j] };
            double    sum = 0;
            for (unsigned k = 0; k <= binomial_n[i]; k++) sum += term_of(&distribution, k);
            assert_near(sum, 1, DIGITS);
        }
    }
}

static void tails_fall_with_k_and_rise_with_the_mean(void **state) {
    (void)state;
    for (unsigned k = 1; k <= 200; k++) {
        double const mean = 0.37 * k;
        assert_true(tamis_poisson_tail(20, k + 1) < tamis_poisson_tail(20, k));
        assert_true(tamis_poisson_tail(mean, 40) < tamis_poisson_tail(mean + 0.37, 40));
        assert_true(tamis_binomial_tail(1e6, 2e-5, k + 1) < tamis_binomial_tail(1e6, 2e-5, k));
        assert_true(tamis_binomial_tail(1e6, mean / 1e6, 40) <
                    tamis_binomial_tail(1e6, (mean + 0.37) / 1e6, 40));
    }
}

/* ------------------------------------------------------------------ edges */

static void poisson_of_nothing_is_nothing(void **state) {
    (void)state;
    assert_true(tamis_poisson_log(0, 0) == 0);
    assert_true(tamis_poisson_log(0, 1) == -INFINITY);
    assert_true(tamis_poisson_log(7, 0) == -7);
    assert_true(tamis_poisson_tail(0, 0) == 1);
    assert_true(tamis_poisson_tail(0, 1) == 0);
    assert_true(tamis_poisson_tail(7, 0) == 1);
    assert_true(tamis_poisson_tail(7, -3) == 1);
    assert_near(tamis_poisson_tail(7, 1), -expm1(-7), DIGITS);
}

static void binomial_terms_are_right_at_the_edges(void **state) {
    (void)state;
    assert_true(tamis_binomial_log(5, 0.5, -1) == -INFINITY);
    assert_true(tamis_binomial_log(5, 0.5, 6) == -INFINITY);
    assert_true(tamis_binomial_log(5, 0, 0) == 0);
    assert_true(tamis_binomial_log(5, 0, 1) == -INFINITY);
    assert_true(tamis_binomial_log(5, 1, 5) == 0);
    assert_true(tamis_binomial_log(5, 1, 4) == -INFINITY);
    assert_true(tamis_binomial_log(0, 0.5, 0) == 0);
    assert_near(tamis_binomial_log(5, 0.5, 0), 5 * log(0.5), DIGITS);
    assert_near(tamis_binomial_log(5, 0.5, 5), 5 * log(0.5), DIGITS);
}

static void binomial_tails_are_right_at_the_edges(void **state) {
    (void)state;
    assert_true(tamis_binomial_tail(5, 0.5, 0) == 1);
    assert_true(tamis_binomial_tail(5, 0.5, -1) == 1);
    assert_true(tamis_binomial_tail(5, 0.5, 6) == 0);
    assert_true(tamis_binomial_tail(5, 0, 1) == 0);
    assert_true(tamis_binomial_tail(5, 1, 5) == 1);
    assert_true(tamis_binomial_tail(5, 1, 6) == 0);
    assert_true(tamis_binomial_tail(0, 0.5, 1) == 0);
    assert_near(tamis_binomial_tail(5, 0.5, 5), pow(0.5, 5), DIGITS);
}

/* Less than a double can hold is 0, not noise and not NaN. */
static void tails_below_the_smallest_double_are_zero(void **state) {
    (void)state;
    assert_true(tamis_poisson_tail(1, 1e6) == 0);
    assert_true(tamis_poisson_tail(1e-300, 5) == 0);
    assert_true(tamis_binomial_tail(1e15, 1e-15, 1e9) == 0);
    assert_true(tamis_binomial_tail(1e9, 1e-300, 3) == 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_terms_and_tails_hold_twelve_digits_down_to_1e_300),
        cmocka_unit_test(binomial_terms_and_tails_hold_twelve_digits_down_to_1e_300),
        cmocka_unit_test(binomial_tails_hold_their_digits_when_n_is_huge),
        cmocka_unit_test(poisson_tails_are_the_published_ones),
        cmocka_unit_test(binomial_tails_of_a_counter_are_the_known_ones),
        cmocka_unit_test(tails_of_huge_means_hold_nine_digits),
        cmocka_unit_test(binomial_of_a_fair_coin_is_symmetric),
        cmocka_unit_test(tails_differ_by_the_term_between_them),
        cmocka_unit_test(terms_sum_up_to_one),
        cmocka_unit_test(tails_fall_with_k_and_rise_with_the_mean),
        cmocka_unit_test(poisson_of_nothing_is_nothing),
        cmocka_unit_test(binomial_terms_are_right_at_the_edges),
        cmocka_unit_test(binomial_tails_are_right_at_the_edges),
        cmocka_unit_test(tails_below_the_smallest_double_are_zero),
    };
    return unit_run("tails", tests, COUNT(tests));
}
