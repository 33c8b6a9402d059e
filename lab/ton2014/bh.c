/* bh.c - Bh sequences one by one, entries of fewer bits, and bounds that are proved.
 *
 * What the library takes from laws of sums is computed here from all multisets of numbers.
 */
#include "vicbf.h"

#include <math.h>

#define N VI_PAPER_KEYS
#define L 4     /* numbers of a sequence */
#define MOST 15 /* of them in an entry, and the largest */
#define SUMS 256

/* ------------------------------------------------------------------ multisets */

typedef struct sequence {
    unsigned value[L];
} sequence;

typedef void of_multiset(const unsigned times[L], unsigned sum, void *context);

/* All multisets of j numbers. */
static void for_multisets(const sequence *of, unsigned j, of_multiset *visit, void *context) {
    const unsigned *const v = of->value;
    for (unsigned a = 0; a <= j; a++) {
        for (unsigned b = 0; a + b <= j; b++) {
            for (unsigned c = 0; a + b + c <= j; c++) {
                unsigned const times[L] = { a, b, c, j - a - b - c };
                visit(times, a * v[0] + b * v[1] + c * v[2] + times[3] * v[3], context);
            }
        }
    }
}

/* How many multisets have each sum. */
typedef struct sum_counts {
    unsigned of[SUMS];
} sum_counts;

static void count_sum(const unsigned times[L], unsigned sum, void *context) {
    (void)times;
    ((sum_counts *)context)->of[sum]++;
}

static bool is_b3(const sequence *of) {
    sum_counts counts = { { 0 } };
    for_multisets(of, 3, count_sum, &counts);
    for (unsigned sum = 0; sum < SUMS; sum++) {
        if (counts.of[sum] > 1) return false;
    }
    return true;
}

/* B3 sequences of four numbers up to 15 that begin with 1. */
static unsigned count_sequences(void) {
    unsigned found = 0;
    for (unsigned a = 2; a <= MOST; a++) {
        for (unsigned b = a + 1; b <= MOST; b++) {
            for (unsigned c = b + 1; c <= MOST; c++) {
                found += is_b3(&(sequence){ { 1, a, b, c } });
            }
        }
    }
    return found;
}

/* ------------------------------------------------------------------ detection */

typedef struct detection {
    const sequence *of;
    sum_counts      fewer; /* sums of one number less */
    unsigned        j;
    double          sum;
} detection;

/* The chance of a multiset, of those without number i, if its sum excludes i. */
static void add_detected(const unsigned times[L], unsigned sum, void *context) {
    detection *const d = context;
    double           ways = lgamma(d->j + 1.0);
    for (unsigned i = 0; i < L; i++) ways -= lgamma(times[i] + 1.0);
    for (unsigned i = 0; i < L; i++) {
        unsigned const v = d->of->value[i];
        if (times[i] != 0 || (sum >= v && d->fewer.of[sum - v] != 0)) continue;
        d->sum += exp(ways - d->j * log(L - 1.0)) / L;
    }
}

/* f_D(j) of the paper. */
static double detected(const sequence *of, unsigned j) {
    detection d = { .of = of, .j = j };
    for_multisets(of, j - 1, count_sum, &d.fewer);
    for_multisets(of, j, add_detected, &d);
    return d.sum;
}

static void record_detection(lab_run *run) {
    static const sequence example = { { 1, 4, 8, 13 } };
    uint64_t const        g[BH_FIELDS] = { 2560, 5, 4, 8, BH_EXAMPLE, 3, 1, 0 };
    pairs const           shape = tamis_bh_pairs(g);
    bh_profile            profile;
    tamis_bh_profile(&shape, &profile);
    for (unsigned j = 1; j <= MOST; j++) {
        vi_record_computed(run, lab_text(run, "detected.%u", j),
                           lab_text(run, "f_D(%u), D = {1, 4, 8, 13}", j),
                           j <= 3   ? "1"
                           : j == 4 ? "0.87"
                                    : NULL,
                           detected(&example, j), profile.excludes[j] / pow(.75, j));
    }
}

/* ------------------------------------------------------------------ the 48 */

#define SEQUENCES 48

static double improved_rate(uint64_t mask, unsigned k) {
    vi_config const of = { VI_BH, N, { 2560, k, 4, 8, mask, 3, 1, 0 } };
    return vi_plain_rate(&of);
}

/* How many are better than theorem 1, how many are the best; and is the paper's one of these? */
typedef struct of_sequences {
    unsigned better, best;
    double   least, greatest, papers;
} of_sequences;

static of_sequences rate_sequences(unsigned k) {
    uint64_t     masks[SEQUENCES];
    double       rate[SEQUENCES];
    double const basic = vi_theorem_1(2560, k, N, 3, L);
    size_t const n = tamis_bh_search(3, L, MOST, masks, SEQUENCES);
    of_sequences ret = { .least = 1, .papers = improved_rate(BH_PAPER, k) };
    for (size_t i = 0; i < n && i < SEQUENCES; i++) {
        rate[i] = improved_rate(masks[i], k);
        ret.better += rate[i] < basic;
        ret.least = fmin(ret.least, rate[i]);
        ret.greatest = fmax(ret.greatest, rate[i]);
    }
    for (size_t i = 0; i < n && i < SEQUENCES; i++) ret.best += rate[i] < ret.least * (1 + 1e-9);
    return ret;
}

static void record_best(lab_run *run, unsigned k) {
    of_sequences const of = rate_sequences(k);
    vi_record_computed(run, lab_text(run, "better.k%u", k),
                       lab_text(run, "of them better than theorem 1, k = %u", k),
                       k == 5 ? "48" : NULL, SEQUENCES, of.better);
    vi_record_computed(run, lab_text(run, "least.k%u", k),
                       lab_text(run, "least rate, and of {1, 4, 13, 15}, k = %u", k), NULL,
                       of.least, of.papers);
    lab_record(run, &(lab_row){ .name = lab_text(run, "ties.k%u", k),
                                .what = lab_text(run, "sequences with that rate, k = %u", k),
                                .exact = 2,
                                .measured = lab_computed(of.best),
                                .rule = LAB_EQUAL,
                                .reason = "a sequence and its mirror tell the same",
                                .remark = lab_text(run, "The worst has %.5f.", of.greatest) });
}

/* The largest h of the last sequence of table II. */
static void record_thirteen(lab_run *run) {
    unsigned h = 1;
    while (tamis_is_bh(SEQUENCE_2(1, 2) | SEQUENCE_1(15), h + 1)) h++;
    lab_record(run, &(lab_row){ .name = "thirteen",
                                .what = "largest h of {1, 2, 15}",
                                .place = "ToN 2014, section VIII.D, table II",
                                .published = "12",
                                .exact = h,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = "It is a B13 sequence as well." });
}

void vi_sequences_run(lab_run *run) {
    double const basic = vi_theorem_1(2560, 5, N, 3, L);
    uint64_t     masks[SEQUENCES];
    vi_record_computed(run, "count", "B3 sequences of 4 numbers up to 15", "48", count_sequences(),
                       (double)tamis_bh_search(3, L, MOST, masks, SEQUENCES));
    record_best(run, 5);
    record_best(run, 6);
    lab_record(run, &(lab_row){ .name = "saved",
                                .what = "lower than theorem 1, k = 5",
                                .published = "0.36",
                                .exact = 1 - improved_rate(BH_PAPER, 5) / basic,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = lab_text(run, "With k = 6 it is %.3f.",
                                                   1 - improved_rate(BH_PAPER, 6) / basic) });
    record_detection(run);
    record_thirteen(run);
}

/* ------------------------------------------------------------------ bits */

/* As many entries with all the bits they want: what overflowing costs. */
static void record_ideal(lab_run *run) {
    vi_config const wide = { VI_BH, N, { 3840, 5, 6, 10, BH_PAPER, 3, 1, 0 } };
    lab_record(run, &(lab_row){ .name = "3+5.ideal",
                                .what = "3 + 5 bits, if no entry overflowed",
                                .exact = vi_rate(&wide),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

void vi_bits_run(lab_run *run) {
    static const char        maybe[] = "An entry that overflowed answers maybe, for good.";
    static const char        any[] = "Outside of the range at any time counts, as the paper says.";
    static const vi_rate_row rows[] = {
        { "4+6",
          "4 + 6 bits, k = 5",
          NULL,
          "0.00475",
          "0.00234",
          maybe,
          { VI_BH, N, { 3072, 5, 4, 6, BH_PAPER, 3, 1, 0 } } },
        { "3+5",
          "3 + 5 bits, k = 5",
          NULL,
          "0.00262",
          "0.05726",
          maybe,
          { VI_BH, N, { 3840, 5, 3, 5, BH_PAPER, 3, 1, 0 } } },
        { "centred",
          "4 + 6 bits, centred, k = 5",
          NULL,
          "0.00473",
          "0.00049",
          any,
          { VI_BH, N, { 3072, 5, 4, 6, BH_PAPER, 3, 1, 1 } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) vi_record_rates(run, &rows[i]);
    record_ideal(run);
}

/* ------------------------------------------------------------------ theorem 3 */

/* The paper's lower bound of p, with r = 1/2 and L = 4. */
static double bound_p0(double m0) {
    double const r = .5, log2 = log(2), x = log2 * (log2 - 1 / m0) / (2 * r * r);
    return pow(1 - 1 / (m0 * r), m0 * log2) * (1 + .75 * log2 / r + 15.0 / 96 * x);
}

static double first_above_half(void) {
    double m0 = 3;
    while (bound_p0(m0) <= .5) m0++;
    return m0;
}

/* (e n k / (j m))^j, with n k / m = ln 2 / r. */
static double bound_of(double j, double r) {
    return pow(exp(1) * log(2) / (j * r), j);
}

static void record_bound(lab_run *run, const char *name, const char *what, const char *place,
                         double bound) {
    lab_record(run, &(lab_row){ .name = name,
                                .what = what,
                                .place = place,
                                .exact = bound_of(16, 1),
                                .measured = lab_computed(bound),
                                .rule = LAB_AT_MOST,
                                .reason = "it is said to be lower than that of a CBF" });
}

/* Theorem 3, (i) and (ii): m counters of 4 bits, or half as many of 8 bits with D4, and the same k,
 * the best of the former: the rates of as many keys. */
static double ratio_of(double m, double n) {
    double const   k = fmax(1, round(m / n * log(2)));
    uint64_t const g[VI_FIELDS] = { (uint64_t)(m / 2), (uint64_t)k, 0, 8, VI_D(4), 0 };
    vi_config      vi = { VI_VI, (uint64_t)n, { 0 } }, cbf = { VI_CBF, (uint64_t)n, { 0 } };
    for (unsigned i = 0; i < VI_FIELDS; i++) vi.g[i] = g[i];
    cbf.g[0] = (uint64_t)m;
    cbf.g[1] = (uint64_t)k;
    return vi_plain_rate(&vi) / vi_plain_rate(&cbf);
}

static void record_ratios(lab_run *run) {
    double most = 0;
    for (double m = 20; m < 1e5; m = 2 * floor(m * .6)) {
        for (double n = 2; n <= m / 2; n = ceil(n * 1.3)) most = fmax(most, ratio_of(m, n));
    }
    lab_record(run,
               &(lab_row){ .name = "ratio",
                           .what = "largest ratio of rates, m from 20 on",
                           .exact = 1,
                           .measured = lab_computed(most),
                           .rule = LAB_AT_MOST,
                           .reason = "theorem 3 (i): always lower than that of a CBF",
                           .remark = lab_text(run, "20, 50 and 100 bits per key: %.2g, %.2g, %.2g.",
                                              ratio_of(5000, 1000), ratio_of(12500, 1000),
                                              ratio_of(25000, 1000)) });
}

static void record_overflow(lab_run *run) {
    double const   r = 4.0 / 7, seven = r * (.25 * bound_of(19, r) + bound_of(20, r));
    uint64_t const g[VI_FIELDS] = { 4388, 5, 0, 7, VI_D(4), 0 };
    record_bound(run, "overflow.8bit", "8 bits, r = 1/2: bound, over m", NULL,
                 .5 * pow(exp(1) * log(2) / 16, 37));
    record_bound(run, "overflow.7bit", "7 bits, r = 4/7: bound, over m", "ToN 2014, section VIII.C",
                 seven);
    lab_record(run, &(lab_row){ .name = "overflow.library",
                                .what = "7680 of the 7-bit bound, and the law",
                                .place = "ToN 2014, section VIII.C",
                                .exact = 7680 * seven,
                                .measured = lab_computed(tamis_vi_saturation(g, N, N)),
                                .rule = LAB_AT_MOST,
                                .reason = "a bound",
                                .remark = "The library's counters stick at 127 already." });
}

/* What an entry can be: pairs of a count and a sum. */
static double count_entries(void) {
    static const sequence example = { { 1, 4, 8, 13 } };
    unsigned              found = 0;
    for (unsigned j = 0; j <= 3; j++) {
        sum_counts counts = { { 0 } };
        for_multisets(&example, j, count_sum, &counts);
        for (unsigned sum = 0; sum < SUMS; sum++) found += counts.of[sum] != 0;
    }
    return found;
}

/* What a counter of one and of two keys excludes, in theorem 2 and by the law of sums. */
static void record_theorem_2(lab_run *run) {
    static const unsigned lengths[] = { 2, 4, 8, 16 };
    for (unsigned i = 0; i < 4; i++) {
        double const l = lengths[i];
        vi_profile   profile;
        tamis_vi_profile(VI_D(lengths[i]), 9, &profile);
        vi_record_computed(run, lab_text(run, "one.d%u", lengths[i]),
                           lab_text(run, "excluded by one key, D%u", lengths[i]), NULL, (l - 1) / l,
                           profile.excludes[1]);
        vi_record_computed(run, lab_text(run, "two.d%u", lengths[i]),
                           lab_text(run, "excluded by two keys, D%u", lengths[i]), NULL,
                           (l - 1) * (l + 1) / (6 * l * l), profile.excludes[2]);
    }
}

void vi_theorems_run(lab_run *run) {
    record_theorem_2(run);
    lab_record(run, &(lab_row){ .name = "cbf",
                                .what = "a CBF counter reaches 16: bound",
                                .published = "1.37e-15",
                                .exact = bound_of(16, 1),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = "p0.20",
                                .what = "p0 with m0 = 20",
                                .published = ">0.5",
                                .exact = bound_p0(20),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = lab_text(run, "Above 0.5 from m0 = %g on; limit %.4f.",
                                                   first_above_half(), bound_p0(1e9)) });
    record_ratios(run);
    record_overflow(run);
    vi_record_computed(run, "multisets", "multisets of up to 3 of 4 numbers", "35", 7 * 6 * 5 / 6,
                       count_entries());
    vi_record_computed(run, "multisets.bits", "bits for one of them", "6", ceil(log2(35)),
                       ceil(log2(count_entries())));
}
