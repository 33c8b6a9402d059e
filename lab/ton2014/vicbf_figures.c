/* vicbf_figures.c - figures 4, 5 and 6 as curves, and the savings that the paper names.
 *
 * Figure 4 is the share of multisets of j numbers whose sum excludes a number that is not in it.
 * Figures 5 and 6 are rates over bits per key, of 1024 keys and with the best k. The paper prints
 * the rates of 30 and 50 bits, which have rows of their own; here the whole curves are compared
 * with filters, from 20 to 50 bits.
 */
#include "vicbf.h"

#include "core/increments.h"
#include "frame/sets.h"
#include "kinds/bhcbf/sums.h"
#include "theory/bloom_rate.h"

#include <math.h>

#define N VI_PAPER_KEYS
#define QUICK_FILTERS 50
#define FULL_FILTERS 2000
#define FIRST_BITS 20
#define LAST_BITS 50
#define STEP 5

/* ------------------------------------------------------------------ schemes */

typedef struct scheme {
    const char *name, *curve;
    unsigned    bits; /* of a counter, or of an entry */
    vi_config   config;
} scheme;

static const scheme figure_5[] = {
    { "cbf", "CBF", 4, { VI_CBF, N, { 0, 0, 4 } } },
    { "bh", "Bh-CBF, {1, 4, 13, 15}", 12, { VI_BH, N, { 0, 0, 4, 8, BH_PAPER, 3, 0, 0 } } },
    { "improved", "improved Bh-CBF", 12, { VI_BH, N, { 0, 0, 4, 8, BH_PAPER, 3, 1, 0 } } },
    { "d4", "VI-CBF, {4, 5, 6, 7}", 7, { VI_VI, N, { 0, 0, 0, 7, VI_D(4), 0 } } },
    { "general", "VI-CBF, {8, 12, 14, 15}", 8, { VI_VI, N, { 0, 0, 0, 8, VI_GENERAL, 0 } } },
};

static const scheme figure_6[] = {
    { "d2", "L = 2", 6, { VI_VI, N, { 0, 0, 0, 6, VI_D(2), 0 } } },
    { "d4", "L = 4", 7, { VI_VI, N, { 0, 0, 0, 7, VI_D(4), 0 } } },
    { "d8", "L = 8", 8, { VI_VI, N, { 0, 0, 0, 8, VI_D(8), 0 } } },
    { "d16", "L = 16", 9, { VI_VI, N, { 0, 0, 0, 9, VI_D(16), 0 } } },
};

/* A filter with this many bits per key, and the best k. */
static vi_config with_bits(const scheme *s, unsigned per_key) {
    vi_config config = s->config;
    config.g[0] = (uint64_t)N * per_key / s->bits;
    config.g[1] = vi_best_k(config);
    return config;
}

/* ------------------------------------------------------------------ curves */

static void draw_theory(lab_run *run, const char *figure, const scheme *s) {
    for (unsigned bits = FIRST_BITS; bits <= LAST_BITS; bits++) {
        vi_config const config = with_bits(s, bits);
        lab_draw(run, &(lab_point){ figure, s->curve, bits, vi_plain_rate(&config) });
    }
}

static void measure(lab_run *run, const char *figure, const scheme *s, unsigned bits) {
    uint64_t const     n = run->is_full ? FULL_FILTERS : QUICK_FILTERS;
    vi_config const    config = with_bits(s, bits);
    const char *const  name = lab_text(run, "%s.%s.%u", figure, s->name, bits);
    vi_samples const   samples = vi_take_samples(run, name, &config, n);
    lab_measured const mean = lab_sample_mean(&samples.own, 0);
    lab_record(run, &(lab_row){ .name = name,
                                .label = lab_text(run, "%.24s, %u bits, k = %u", s->curve, bits,
                                                  (unsigned)config.g[1]),
                                .exact = vi_rate(&config),
                                .measured = mean,
                                LAB_WITHIN_4_SIGMA,
                                .remark = lab_text(run, "By the formula for large tables: %.4g.",
                                                   vi_plain_rate(&config)) });
    lab_draw_measured(run, &(lab_point){ figure, s->curve, bits, mean.value }, mean.sigma_trials);
}

static void run_curve(lab_run *run, const char *figure, const scheme *s) {
    draw_theory(run, figure, s);
    for (unsigned bits = FIRST_BITS; bits <= LAST_BITS; bits += STEP) measure(run, figure, s, bits);
}

/* Is each curve below the one before it, at every point? */
static void record_order(lab_run *run) {
    double most = 0;
    for (unsigned bits = FIRST_BITS; bits <= LAST_BITS; bits++) {
        for (unsigned i = 1; i < sizeof figure_5 / sizeof figure_5[0]; i++) {
            vi_config const a = with_bits(&figure_5[i - 1], bits),
                            b = with_bits(&figure_5[i], bits);
            most = fmax(most, vi_plain_rate(&b) / vi_plain_rate(&a));
        }
    }
    lab_record(run,
               &(lab_row){ .name = "figure5.order",
                           .label = "largest ratio of a curve to the next",
                           .exact = 1,
                           .measured = lab_computed(most),
                           .rule = LAB_AT_MOST,
                           .reason = "the paper says that each is better than the one before it" });
}

/* ------------------------------------------------------------------ figure 4 */

/* The values for each j have rows in bhcbf.sequences; here the curve is drawn. */
static void draw_detection(lab_run *run) {
    uint64_t const g[BH_FIELDS] = { 2560, 5, 4, 8, BH_EXAMPLE, 3, 1, 0 };
    pairs const    shape = tamis_bh_pairs(g);
    bh_profile     profile;
    tamis_bh_profile(&shape, &profile);
    for (unsigned j = 0; j <= 15; j++) {
        double const detected = profile.excludes[j] / pow(.75, j);
        lab_draw(run, &(lab_point){ "figure4", "improved", j, detected });
        lab_draw(run, &(lab_point){ "figure4", "basic", j, j <= 3 ? 1 : 0 });
    }
}

static void describe(lab_run *run) {
    lab_describe(run, &(lab_figure){ .name = "figure4",
                                     .title = "Figure 4: f_D(j), D = {1, 4, 8, 13}",
                                     .x = "keys in an entry",
                                     .y = "share of absent numbers that are detected" });
    lab_figure five = { .name = "figure5",
                        .title = "Figure 5: 1024 keys, and the best k",
                        .x = "bits per key",
                        .y = "false-positive rate",
                        .is_log_y = true,
                        .remark = "Lines are theory as in the paper, points are filters." };
    lab_figure six = five;
    six.name = "figure6";
    six.title = "Figure 6: D = {L, ..., 2L - 1}";
    lab_describe(run, &five);
    lab_describe(run, &six);
}

void vi_figures_run(lab_run *run) {
    describe(run);
    draw_detection(run);
    for (unsigned i = 0; i < sizeof figure_5 / sizeof figure_5[0]; i++) {
        run_curve(run, "figure5", &figure_5[i]);
    }
    record_order(run);
    for (unsigned i = 0; i < sizeof figure_6 / sizeof figure_6[0]; i++) {
        run_curve(run, "figure6", &figure_6[i]);
    }
}

/* ------------------------------------------------------------------ savings */

/* 1 - a/b of two printed sizes. */
static void record_saved(lab_run *run, const char *name, const char *label, const char *published,
                         double a, double b) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = "ToN 2014, section VIII.B",
                                .published = published,
                                .exact = 1 - a / b,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic, from the paper's own sizes" });
}

static void record_saved_sizes(lab_run *run) {
    double const cbf = 14.1; /* as printed */
    record_saved(run, "saved.d4", "VI-CBF of D4 against CBF", "0.222", 10.97, cbf);
    record_saved(run, "saved.general", "VI-CBF of general D against CBF", "0.340", 9.31, cbf);
    record_saved(run, "saved.levels", "D4 on levels against VI-CBF", "0.40", 6.60, 10.97);
    record_saved(run, "saved.levels.cbf", "D4 on levels against CBF", "0.53", 6.60, cbf);
}

/* How many times lower a rate is than that of a CBF with as many bits. */
static void record_factor(lab_run *run, unsigned bits, const char *published) {
    vi_config const    cbf = with_bits(&figure_5[0], bits), vi = with_bits(&figure_5[4], bits);
    uint64_t const     n = run->is_full ? FULL_FILTERS : QUICK_FILTERS;
    vi_samples const   a = vi_take_samples(run, lab_text(run, "factor.cbf.%u", bits), &cbf, n);
    vi_samples const   b = vi_take_samples(run, lab_text(run, "factor.vi.%u", bits), &vi, n);
    lab_measured const of_a = lab_sample_mean(&a.own, 0), of_b = lab_sample_mean(&b.own, 0);
    double const       factor = of_a.value / of_b.value;
    lab_measured       ratio = { .value = factor, .trials = n };
    ratio.sigma_trials =
        factor * hypot(of_a.sigma_trials / of_a.value, of_b.sigma_trials / of_b.value);
    lab_record(run, &(lab_row){ .name = lab_text(run, "factor.%u", bits),
                                .label = lab_text(run, "times better than a CBF, %u bits", bits),
                                .place = "ToN 2014, section VIII.A",
                                .published = published,
                                .exact = vi_rate(&cbf) / vi_rate(&vi),
                                .measured = ratio,
                                LAB_WITHIN_4_SIGMA,
                                .remark = published == NULL
                                              ? "The paper says \"over an order of magnitude\"."
                                              : NULL });
}

/* Computed with counters of 7 bits, of which few stick, and compared with the printed ratios. The
 * printed rates come from one or two filters; their ratio at 30 bits is larger than the true
 * one. */
static void record_own_factor(lab_run *run, unsigned bits, double printed) {
    static const scheme narrow = { .bits = 7,
                                   .config = { VI_VI, N, { 0, 0, 0, 7, VI_GENERAL, 0 } } };
    vi_config const     cbf = with_bits(&figure_5[0], bits), own = with_bits(&narrow, bits);
    uint64_t const      n = run->is_full ? FULL_FILTERS : QUICK_FILTERS;
    vi_samples const    samples = vi_take_samples(run, lab_text(run, "own.%u", bits), &own, n);
    double const        ratio = lab_sample_mean(&samples.own, 0).value / vi_rate(&cbf);
    lab_record(
        run, &(lab_row){
                 .name = lab_text(run, "factor.%u.own", bits),
                 .label = lab_text(run, "rate by CBF's, 7-bit counters, %u bits", bits),
                 .place = "ToN 2014, section VIII.A",
                 .exact = 1 / printed,
                 .measured = lab_computed(ratio),
                 .rule = LAB_AT_MOST,
                 .reason = "the ratio of the two printed rates",
                 .remark = lab_text(run, "k = %u; in %.1f%% of the filters a counter sticks.",
                                    (unsigned)own.g[1], 100 * tamis_vi_saturation(own.g, N, N)) });
}

/* ------------------------------------------------------------------ tables of sums */

static void record_least_table(lab_run *run, const char *name, const char *label, double bits,
                               const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = "ToN 2014, section VIII.B, table I",
                                .exact = bits,
                                .rule = LAB_EQUAL,
                                .reason = "counted",
                                .remark = remark });
}

/* Bits that a table of sums needs: for row j, one for each sum that j numbers can have; for the
 * semigroup, one for each number up to the largest gap. */
static void record_least_tables(lab_run *run) {
    sums const       of_pairs = sums_make(BH_PAPER, 5);
    increments const general = increments_make(VI_GENERAL);
    unsigned         beyond = 64 * INCREMENTS_WORDS;
    double const last = of_pairs.value[of_pairs.n - 1], from_zero = last * (1 + 2 + 3 + 4 + 5) + 6;
    while (beyond != 0 && increments_make_up(&general, beyond - 1)) beyond--;
    record_least_table(run, "table.improved", "table of improved Bh-CBF, bits needed",
                       (double)sums_row(&of_pairs, 6),
                       lab_text(run, "For up to 6 keys; %.0f if all rows begin at 0.", from_zero));
    record_least_table(run, "table.general", "table of general D, bits needed", beyond,
                       lab_text(run, "%u is the largest number that is not a sum.", beyond - 1));
}

/* ------------------------------------------------------------------ all of it */

void vi_savings_run(lab_run *run) {
    record_saved_sizes(run);
    record_least_tables(run);
    if (!sets_have("vicbf") || !sets_have("counting")) return;
    record_factor(run, 30, "7");
    record_factor(run, 50, NULL);
    record_own_factor(run, 30, .02803 / .00383);
    record_own_factor(run, 50, .00258 / .00011);
}
