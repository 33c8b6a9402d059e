/* bh.c - Bh sequences one by one, and entries of fewer bits.
 *
 * The library computes with distributions of sums; here the same is computed from all multisets of
 * numbers.
 */
#include "vicbf.h"

#include <math.h>
#include <string.h>

#define N VI_PAPER_KEYS
#define L 4     /* numbers of a sequence */
#define MOST 15 /* most numbers in an entry, and the largest number */
#define SUMS 256

/* ------------------------------------------------------------------ multisets */

typedef struct sequence {
    unsigned value[L];
} sequence;

typedef void of_multiset(const unsigned times[L], unsigned sum, void *context);

/* Visit all multisets of j numbers. */
static void for_multisets(const sequence *numbers, unsigned j, of_multiset *visit, void *context) {
    const unsigned *const v = numbers->value;
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
    unsigned times[SUMS];
} sum_counts;

static void count_sum(const unsigned times[L], unsigned sum, void *context) {
    (void)times;
    ((sum_counts *)context)->times[sum]++;
}

static bool is_b3(const sequence *numbers) {
    sum_counts counts = { { 0 } };
    for_multisets(numbers, 3, count_sum, &counts);
    for (unsigned sum = 0; sum < SUMS; sum++) {
        if (counts.times[sum] > 1) return false;
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

/* How many different contents an entry can have: pairs of a count and a sum. */
double vi_count_entries(void) {
    static const sequence example = { { 1, 4, 8, 13 } };
    unsigned              found = 0;
    for (unsigned j = 0; j <= 3; j++) {
        sum_counts counts = { { 0 } };
        for_multisets(&example, j, count_sum, &counts);
        for (unsigned sum = 0; sum < SUMS; sum++) found += counts.times[sum] != 0;
    }
    return found;
}

/* ------------------------------------------------------------------ detection */

typedef struct detection {
    const sequence *numbers;
    sum_counts      fewer; /* sums of one number less */
    unsigned        j;
    double          sum;
} detection;

/* The probability of a multiset among those without number i, if its sum excludes i; else 0. */
static void add_detected(const unsigned times[L], unsigned sum, void *context) {
    detection *const d = context;
    double           ways = lgamma(d->j + 1.0);
    for (unsigned i = 0; i < L; i++) ways -= lgamma(times[i] + 1.0);
    for (unsigned i = 0; i < L; i++) {
        unsigned const v = d->numbers->value[i];
        if (times[i] != 0 || (sum >= v && d->fewer.times[sum - v] != 0)) continue;
        d->sum += exp(ways - d->j * log(L - 1.0)) / L;
    }
}

/* f_D(j) of the paper. */
static double detected(const sequence *numbers, unsigned j) {
    detection d = { .numbers = numbers, .j = j };
    for_multisets(numbers, j - 1, count_sum, &d.fewer);
    for_multisets(numbers, j, add_detected, &d);
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
    vi_config const config = { VI_BH, N, { 2560, k, 4, 8, mask, 3, 1, 0 } };
    return vi_plain_rate(&config);
}

/* How many sequences are better than theorem 1, how many tie for the best, and is the paper's
 * sequence one of the best? */
typedef struct of_sequences {
    unsigned better, best;
    double   least, greatest, papers;
} of_sequences;

static of_sequences rate_sequences(unsigned k) {
    uint64_t     masks[SEQUENCES];
    double       rate[SEQUENCES];
    double const basic = vi_theorem_1(2560, k, N, 3, L);
    size_t const n = bh_search(3, L, MOST, masks, SEQUENCES);
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
    of_sequences const found = rate_sequences(k);
    vi_record_computed(run, lab_text(run, "better.k%u", k),
                       lab_text(run, "of these better than theorem 1, k = %u", k),
                       k == 5 ? "48" : NULL, SEQUENCES, found.better);
    vi_record_computed(run, lab_text(run, "least.k%u", k),
                       lab_text(run, "least rate, and of {1, 4, 13, 15}, k = %u", k), NULL,
                       found.least, found.papers);
    lab_record(
        run, &(lab_row){ .name = lab_text(run, "ties.k%u", k),
                         .label = lab_text(run, "sequences with that rate, k = %u", k),
                         .exact = 2,
                         .measured = lab_computed(found.best),
                         .rule = LAB_EQUAL,
                         .reason = "a sequence and its mirror image exclude the same",
                         .remark = lab_text(run, "The worst sequence has %.5f.", found.greatest) });
}

/* The largest h of the last sequence of table II. */
static void record_thirteen(lab_run *run) {
    unsigned h = 1;
    while (tamis_is_bh(SEQUENCE_2(1, 2) | SEQUENCE_1(15), h + 1)) h++;
    lab_record(run, &(lab_row){ .name = "thirteen",
                                .label = "largest h of {1, 2, 15}",
                                .place = "ToN 2014, section VIII.D, table II",
                                .published = "12",
                                .exact = h,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = "It is a B13 sequence as well." });
}

/* ------------------------------------------------------------------ the largest l
 *
 * How many numbers up to 15 a Bh sequence can have: by trying each next number, as long as all sums
 * of h numbers differ. By definition 1; the library looks at differences of sums instead.
 */

#define MOST_SUM 512 /* above 15 x 14 */

/* Are all sums of j numbers different? ways[s] counts multisets of sum s, by number of numbers. */
static bool sums_differ(const unsigned *values, unsigned n, unsigned h) {
    static unsigned ways[MOST + 1][MOST_SUM];
    memset(ways, 0, sizeof ways);
    ways[0][0] = 1;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 1; j <= h; j++) {
            for (unsigned s = values[i]; s < MOST_SUM; s++)
                ways[j][s] += ways[j - 1][s - values[i]];
        }
    }
    for (unsigned s = 0; s < MOST_SUM; s++) {
        if (ways[h][s] > 1) return false;
    }
    return true;
}

static unsigned longest_from(unsigned *values, unsigned n, unsigned h) {
    unsigned longest = n;
    for (unsigned next = values[n - 1] + 1; next <= MOST; next++) {
        values[n] = next;
        if (!sums_differ(values, n + 1, h)) continue;
        unsigned const found = longest_from(values, n + 1, h);
        if (found > longest) longest = found;
    }
    return longest;
}

/* All sequences begin with 1: adding the same value to every number changes nothing. */
static unsigned longest_by_trying(unsigned h) {
    unsigned values[MOST + 1] = { 1 };
    return longest_from(values, 1, h);
}

static unsigned longest_in_library(unsigned h) {
    unsigned l = 1;
    uint64_t mask;
    while (l < MOST && bh_search(h, l + 1, MOST, &mask, 1) != 0) l++;
    return l;
}

static void record_longest(lab_run *run) {
    static const struct {
        unsigned    h;
        const char *published;
    } rows[] = { { 1, "15" }, { 2, "5" }, { 3, "4" }, { 4, NULL }, { 12, "3" }, { 14, NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned const h = rows[i].h;
        vi_record_computed(run, lab_text(run, "longest.%u", h),
                           lab_text(run, "largest l of a B%u sequence up to 15", h),
                           rows[i].published, longest_by_trying(h), longest_in_library(h));
    }
}

void vi_sequences_run(lab_run *run) {
    double const basic = vi_theorem_1(2560, 5, N, 3, L);
    uint64_t     masks[SEQUENCES];
    vi_record_computed(run, "count", "B3 sequences of 4 numbers up to 15", "48", count_sequences(),
                       (double)bh_search(3, L, MOST, masks, SEQUENCES));
    record_best(run, 5);
    record_best(run, 6);
    lab_record(run, &(lab_row){ .name = "saved",
                                .label = "lower than theorem 1, k = 5",
                                .published = "0.36",
                                .exact = 1 - improved_rate(BH_PAPER, 5) / basic,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = lab_text(run, "With k = 6 it is %.3f.",
                                                   1 - improved_rate(BH_PAPER, 6) / basic) });
    record_detection(run);
    record_thirteen(run);
    record_longest(run);
}

/* ------------------------------------------------------------------ bits */

/* The same number of entries with enough bits. The difference is the cost of overflow. */
static void record_ideal(lab_run *run) {
    vi_config const wide = { VI_BH, N, { 3840, 5, 6, 10, BH_PAPER, 3, 1, 0 } };
    lab_record(run, &(lab_row){ .name = "3+5.ideal",
                                .label = "3 + 5 bits, if no entry overflowed",
                                .exact = vi_rate(&wide),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

void vi_bits_run(lab_run *run) {
    static const char maybe[] = "An entry that overflowed answers \"maybe\" from then on.";
    static const char any[] =
        "An entry that ever left its range counts as overflowed, as in the paper.";
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
