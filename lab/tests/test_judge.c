/* test_judge.c - one wrong row of each sort, to show that the judge rejects it. */
#undef NDEBUG
#include "allerton2006/ddlcbf.h"
#include "allerton2006/dlbf.h"
#include "frame/lab.h"
#include "frame/theory.h"
#include "icnp2008/rank.h"

#include "theory/tails.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ------------------------------------------------------------------ measured against exact */

static lab_verdict verdict_of(lab_row row) {
    return lab_judge(&row).verdict;
}

static lab_row row_off_by_sigmas(double sigmas) {
    return (lab_row){ .exact = 10,
                      .measured = { .value = 10 + 0.5 * sigmas, .trials = 9, .sigma_theory = 0.5 },
                      LAB_WITHIN_4_SIGMA };
}

static void judge_condemns_beyond_sigma(void **state) {
    (void)state;
    assert_int_equal(verdict_of(row_off_by_sigmas(3.9)), LAB_AGREES);
    assert_int_equal(verdict_of(row_off_by_sigmas(-3.9)), LAB_AGREES);
    assert_int_equal(verdict_of(row_off_by_sigmas(4.1)), LAB_OUT);
    assert_int_equal(verdict_of(row_off_by_sigmas(-4.1)), LAB_OUT);
}

static void judge_prefers_the_error_of_theory(void **state) {
    (void)state;
    lab_row row = row_off_by_sigmas(4.1);
    row.measured.sigma_trials = 100;
    assert_int_equal(verdict_of(row), LAB_OUT);
    assert_string_equal(lab_sigma_source(&row.measured), "theory");
    row.measured.sigma_theory = 0;
    assert_int_equal(verdict_of(row), LAB_AGREES);
    assert_string_equal(lab_sigma_source(&row.measured), "trials");
}

static void judge_condemns_what_is_no_number(void **state) {
    (void)state;
    lab_row row = row_off_by_sigmas(0);
    row.measured.value = NAN;
    assert_int_equal(verdict_of(row), LAB_OUT);
    row = row_off_by_sigmas(0);
    row.exact = NAN;
    assert_int_equal(verdict_of(row), LAB_OUT);
    row.measured.trials = 0;
    assert_int_equal(verdict_of(row), LAB_OUT);
    row = row_off_by_sigmas(0.1);
    row.measured.sigma_theory = 0; /* a rule in standard errors, without any */
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static void judge_condemns_beyond_a_fraction(void **state) {
    (void)state;
    lab_row row = { .exact = -200, .rule = LAB_RELATIVE, .tolerance = 0.01 };
    row.measured = lab_computed(-201.9);
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.measured = lab_computed(-202.1);
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static void judge_condemns_what_is_not_equal(void **state) {
    (void)state;
    lab_row row = { .exact = 0.3, .measured = lab_computed(0.1 + 0.2), .rule = LAB_EQUAL };
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.measured = lab_computed(0.3000001);
    assert_int_equal(verdict_of(row), LAB_OUT);
    row = (lab_row){ .exact = 0, .measured = lab_computed(1), .rule = LAB_EQUAL };
    assert_int_equal(verdict_of(row), LAB_OUT);
}

/* P[Poisson(0.74) >= 5] is 1.1e-3, P[>= 8] is 1.2e-6, P[Poisson(20) = 0] is 2e-9. */
static void judge_condemns_unlikely_counts(void **state) {
    (void)state;
    lab_row row = { .exact = 0.74, .rule = LAB_COUNT, .tolerance = 1e-4 };
    row.measured = (lab_measured){ .value = 5, .trials = 1 };
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.measured.value = 8;
    assert_int_equal(verdict_of(row), LAB_OUT);
    row.measured.value = 0;
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.exact = 20;
    assert_int_equal(verdict_of(row), LAB_OUT);
}

/* ------------------------------------------------------------------ published against exact */

static void judge_condemns_beyond_a_bound(void **state) {
    (void)state;
    lab_row row = { .exact = 2, .measured = { .value = 1, .trials = 1 }, .rule = LAB_AT_MOST };
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.measured.value = 2;
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.measured.value = 2.000001;
    assert_int_equal(verdict_of(row), LAB_OUT);
    row.measured.value = NAN;
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static lab_verdict verdict_on_print(const char *published, double exact) {
    return verdict_of((lab_row){ .published = published, .exact = exact });
}

static void judge_reads_printed_digits(void **state) {
    (void)state;
    assert_int_equal(verdict_on_print("6.79e-17", 6.7851e-17), LAB_AGREES);
    assert_int_equal(verdict_on_print("6.79e-17", 6.7849e-17), LAB_OUT);
    assert_int_equal(verdict_on_print("2654208", 2654208), LAB_AGREES);
    assert_int_equal(verdict_on_print("2654208", 2654209), LAB_OUT);
    assert_int_equal(verdict_on_print(".8", 0.84), LAB_AGREES);
    assert_int_equal(verdict_on_print(".8", 0.86), LAB_OUT);
    assert_int_equal(verdict_on_print("-26.3", -26.34), LAB_AGREES);
    assert_int_equal(verdict_on_print("-26.3", -26.36), LAB_OUT);
}

static void judge_reads_digits_cut_off(void **state) {
    (void)state;
    assert_int_equal(verdict_on_print("0.00006713...", 0.000067139), LAB_AGREES);
    assert_int_equal(verdict_on_print("0.00006713...", 0.000067141), LAB_OUT);
    assert_int_equal(verdict_on_print("0.00006713...", 0.000067129), LAB_OUT);
}

static void judge_reads_just_over_and_just_under(void **state) {
    (void)state;
    assert_int_equal(verdict_on_print(">0.008", 0.00819), LAB_AGREES);
    assert_int_equal(verdict_on_print(">0.008", 0.00799), LAB_OUT);
    assert_int_equal(verdict_on_print(">0.008", 0.0091), LAB_OUT);
    assert_int_equal(verdict_on_print("<0.008", 0.0079), LAB_AGREES);
    assert_int_equal(verdict_on_print("<0.008", 0.0081), LAB_OUT);
}

static void judge_grants_authors_their_sampling_error(void **state) {
    (void)state;
    lab_row row = { .published = "16", .exact = 13.2, .published_sigma = 3.6 };
    assert_int_equal(verdict_of(row), LAB_AGREES);
    row.published_sigma = 0.5;
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static void judge_wants_a_flaw_explained(void **state) {
    (void)state;
    lab_row row = { .published = "5.62e-17", .exact = 1.886e-9, .flaw = "the exponent is 4" };
    assert_int_equal(verdict_of(row), LAB_PAPER_DIFFERS);
    assert_string_equal(lab_judge(&row).text, "computed; the paper's printed value is 5.62e-17, "
                                              "3.36e+07 times too small");
    row.flaw = NULL;
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static void judge_condemns_a_flaw_that_is_gone(void **state) {
    (void)state;
    lab_row const row = { .published = "1.9e-9", .exact = 1.886e-9, .flaw = "was wrong once" };
    assert_int_equal(verdict_of(row), LAB_OUT);
}

static void judge_does_not_let_a_flaw_excuse_us(void **state) {
    (void)state;
    lab_row row = row_off_by_sigmas(5);
    row.published = "12";
    row.flaw = "misprint";
    assert_int_equal(verdict_of(row), LAB_OUT);
    row.measured.value = 10;
    assert_int_equal(verdict_of(row), LAB_PAPER_DIFFERS);
    assert_string_equal(lab_judge(&row).text, "agrees; the paper's printed value is 12, "
                                              "20% too large");
}

/* ------------------------------------------------------------------ theory */

static void assert_near(double a, double b, double relative) {
    if (fabs(a - b) > relative * fabs(b)) fail_msg("%.17g is not %.17g", a, b);
}

/* One key with two places of two: they coincide or not, half and half. */
static void theory_bloom_rate_of_one_key(void **state) {
    (void)state;
    rate_law const law = theory_bloom_rate(&(places){ .m = 2, .n = 1, .k = 2 });
    assert_near(law.mean, 0.5 * 0.25 + 0.5 * 1, 1e-14);
    assert_near(law.deviation, 0.375, 1e-14);
}

static void theory_reaches_begins_with_the_filling(void **state) {
    (void)state;
    places const table = { .m = 100, .n = 50, .k = 3 };
    assert_near(theory_ever_reaches(&table, 5, 0), tamis_binomial_tail(150, 0.01, 5), 1e-12);
}

/* With one key and one hash a counter is hit at once, or by one of the new keys. */
static void theory_reaches_of_one_key(void **state) {
    (void)state;
    places const table = { .m = 10, .n = 1, .k = 1 };
    assert_near(theory_ever_reaches(&table, 1, 7), 1 - pow(0.9, 8), 1e-12);
}

/* With two keys, a counter holds 2 when the new key has the counter of the one that stayed: a
 * Markov chain on 0, 1, 2, computed by hand. */
static void theory_reaches_of_two_keys(void **state) {
    (void)state;
    places const table = { .m = 4, .n = 2, .k = 1 };
    double       zero = 9.0 / 16, one = 6.0 / 16, two = 1.0 / 16;
    for (unsigned step = 0; step < 13; step++) {
        double const stays = one / 2, falls = one / 2; /* who is removed? */
        two += stays / 4;
        one = stays * 3 / 4 + falls / 4 + zero / 4;
        zero = falls * 3 / 4 + zero * 3 / 4;
    }
    assert_near(theory_ever_reaches(&table, 2, 13), two, 1e-12);
}

static void theory_extremes_of_one_trial_are_the_trial(void **state) {
    (void)state;
    extreme const low = theory_lowest(1000, 0.02, 1), high = theory_highest(1000, 0.02, 1);
    assert_near(low.mean, 20, 1e-9);
    assert_near(high.mean, 20, 1e-9);
    assert_near(low.deviation, sqrt(19.6), 1e-6);
    assert_near(high.deviation, sqrt(19.6), 1e-6);
}

/* The better of two coins: 1/4, 1/2, 1/4. */
static void theory_extremes_of_two_coins(void **state) {
    (void)state;
    assert_near(theory_lowest(1, 0.5, 2).mean, 0.25, 1e-12);
    assert_near(theory_highest(1, 0.5, 2).mean, 0.75, 1e-12);
}

/* ------------------------------------------------------------------ randomness, statistics */

/* Two keys, two buckets of one cell: together half of the time. Then every second new key meets the
 * other one, so one is refused on average before one fits. */
static void theory_crowd_of_two(void **state) {
    (void)state;
    rank_crowd const crowd = { .buckets = 2, .keys = 2, .cells = 1, .extensions = 0 };
    assert_near(rank_crowd_filling(&crowd), 0.5, 1e-12);
    assert_near(rank_crowd_churning(&crowd), 1, 1e-12);
}

/* Three keys, two buckets of one cell: one bucket has two or more, always, and never both. */
static void theory_crowd_with_an_extension(void **state) {
    (void)state;
    rank_crowd const none = { .buckets = 2, .keys = 3, .cells = 1, .extensions = 0 };
    rank_crowd const one = { .buckets = 2, .keys = 3, .cells = 1, .extensions = 1 };
    assert_near(rank_crowd_filling(&none), 1, 1e-12);
    assert_true(fabs(rank_crowd_filling(&one)) < 1e-12);
}

/* A filter of half ones does not compress; one that compresses to little more than log2(1/fpr) is
 * very large. */
static void theory_uncompressed_ends_at_half_ones(void **state) {
    (void)state;
    double const ideal = bloom_ideal_bits(0.01);
    assert_near(bloom_uncompressed_bits(0.01, ideal), ideal, 1e-6);
    assert_true(bloom_uncompressed_bits(0.01, 7) > 1000);
}

/* The paper's own examples: 5, 4, 4, 3 cells have 15 bits each; of 5, 5, 4, 4 one bucket of five
 * gets 14, and the others 13. */
static void theory_group_lengths_are_the_papers(void **state) {
    (void)state;
    unsigned const even[] = { 5, 4, 4, 3 }, odd[] = { 5, 5, 4, 4 };
    unsigned       lengths[DLBF_PAPER_GROUP];
    dlbf_group_lengths(&dlbf_plain64, even, DLBF_EQUAL, lengths);
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) assert_int_equal(lengths[i], 15);
    dlbf_group_lengths(&dlbf_plain64, odd, DLBF_EQUAL, lengths);
    for (unsigned i = 0; i < DLBF_PAPER_GROUP; i++) assert_int_equal(lengths[i], 13);
    dlbf_group_lengths(&dlbf_plain64, odd, DLBF_SPENT, lengths);
    assert_int_equal(lengths[0] + lengths[1], 27);
    assert_int_equal(lengths[2] + lengths[3], 26);
}

/* A group of buckets of one load has the length of one bucket, if nothing is left. */
static void theory_groups_of_equal_loads_are_buckets(void **state) {
    (void)state;
    unsigned const loads[] = { 5, 5, 5, 5 };
    for (dlbf_sharing sharing = DLBF_EQUAL; sharing <= DLBF_LIBRARY; sharing++) {
        unsigned lengths[DLBF_PAPER_GROUP];
        dlbf_group_lengths(&dlbf_sorted64, loads, sharing, lengths);
        assert_int_equal(lengths[3], dlbf_length(&dlbf_sorted64, 5));
    }
}

/* Loads 0 and 1 with their zeros: empty, 0, 1. By two bits, four kinds of one cell. */
static void theory_codes_of_one_cell(void **state) {
    (void)state;
    assert_true(dlbf_codes(&dlbf_plain64, 1) == 2);
    assert_true(dlbf_codes(&dlbf_one128, 1) == 3);
    assert_true(dlbf_codes(&(bucket_layout){ .bits = 120, .two = { 1, 1 } }, 1) == 5);
}

/* Nothing is lost, and at the end the loads are those of the limit. */
static void theory_peaks_are_shares(void **state) {
    (void)state;
    ddlcbf_peaks peaks;
    fluid        law;
    double       all = 0, full = 0;
    ddlcbf_filled(false, &peaks);
    ddlcbf_churn((double)DLCBF_PAPER_STEPS, &peaks);
    for (unsigned most = 0; most <= DDLCBF_TOP; most++) {
        all += ddlcbf_peak_share(&peaks, most);
        full += peaks.share[0][8][most];
    }
    tamis_fluid_churn(DLCBF_PAPER_TABLES, 6, INFINITY, &law);
    assert_near(all, 1, 1e-9);
    assert_near(full, law.x[0][8], 0.02);
}

static void random_repeats_and_differs(void **state) {
    (void)state;
    lab_random     first = lab_random_of(1, "a", "b", 0), again = lab_random_of(1, "a", "b", 0);
    lab_random     others[] = { lab_random_of(2, "a", "b", 0), lab_random_of(1, "a", "b", 1),
                                lab_random_of(1, "ab", "", 0), lab_random_of(1, "a", "c", 0) };
    uint64_t const value = lab_random_next(&first);
    assert_true(value == lab_random_next(&again));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(value != lab_random_next(&others[i]));
    }
}

static void sample_has_mean_and_error(void **state) {
    (void)state;
    lab_sample sample = { 0 };
    for (unsigned i = 0; i < 4; i++) lab_sample_add(&sample, 1e9 + i);
    lab_measured const mean = lab_sample_mean(&sample, 0);
    assert_near(mean.value, 1e9 + 1.5, 1e-15);
    assert_near(mean.sigma_trials, sqrt(5.0 / 3) / 2, 1e-9);
    assert_int_equal(mean.trials, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_condemns_beyond_sigma),
        cmocka_unit_test(judge_prefers_the_error_of_theory),
        cmocka_unit_test(judge_condemns_what_is_no_number),
        cmocka_unit_test(judge_condemns_beyond_a_fraction),
        cmocka_unit_test(judge_condemns_what_is_not_equal),
        cmocka_unit_test(judge_condemns_unlikely_counts),
        cmocka_unit_test(judge_condemns_beyond_a_bound),
        cmocka_unit_test(judge_reads_printed_digits),
        cmocka_unit_test(judge_reads_digits_cut_off),
        cmocka_unit_test(judge_reads_just_over_and_just_under),
        cmocka_unit_test(judge_grants_authors_their_sampling_error),
        cmocka_unit_test(judge_wants_a_flaw_explained),
        cmocka_unit_test(judge_condemns_a_flaw_that_is_gone),
        cmocka_unit_test(judge_does_not_let_a_flaw_excuse_us),
        cmocka_unit_test(theory_bloom_rate_of_one_key),
        cmocka_unit_test(theory_reaches_begins_with_the_filling),
        cmocka_unit_test(theory_reaches_of_one_key),
        cmocka_unit_test(theory_reaches_of_two_keys),
        cmocka_unit_test(theory_extremes_of_one_trial_are_the_trial),
        cmocka_unit_test(theory_extremes_of_two_coins),
        cmocka_unit_test(theory_crowd_of_two),
        cmocka_unit_test(theory_crowd_with_an_extension),
        cmocka_unit_test(theory_uncompressed_ends_at_half_ones),
        cmocka_unit_test(theory_group_lengths_are_the_papers),
        cmocka_unit_test(theory_groups_of_equal_loads_are_buckets),
        cmocka_unit_test(theory_codes_of_one_cell),
        cmocka_unit_test(theory_peaks_are_shares),
        cmocka_unit_test(random_repeats_and_differs),
        cmocka_unit_test(sample_has_mean_and_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
