/* dlcbf_permuted.c - section 3.3: which permutations work, and which fail.
 *
 * The paper multiplies by odd numbers and takes the bucket from the high bits. It calls low bits
 * "less effective". They fail: bucket i is a_i f mod 2^11, so the 2^11 values of the low bits of f
 * make 2^11 groups of four buckets each, and no key of a group has any other bucket. That is not
 * d-left hashing, but one hash into 2^11 buckets of 32 cells.
 *
 * A table without keys, counters or remainders is enough here: fingerprints are random numbers, and
 * a bucket is only its load.
 */
#include "dlcbf.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define RANGE_BITS 25
#define BUCKET_BITS 11
#define GROUP_CELLS (DLCBF_PAPER_TABLES * DLCBF_PAPER_CELLS)
#define QUICK_TRIALS 24
#define FULL_TRIALS 1000 /* the paper gives no number */

typedef struct permuted {
    const char *name;
    bool        is_low;   /* the bucket is taken from the low bits */
    bool        is_small; /* the factors are 1, 3, 5, 7 */
} permuted;

typedef struct permuted_outcome {
    double refused; /* keys of the filling that found all buckets full */
    double groups;  /* groups of fingerprints with the same low bits that had such keys */
    double steps;   /* until the first key was refused; 0: it was in the filling, or never */
} permuted_outcome;

/* ------------------------------------------------------------------ one table */

#define NOWHERE UINT32_MAX

typedef struct permuted_table {
    const permuted *config;
    lab_random     *random;
    uint64_t        factors[DLCBF_PAPER_TABLES];
    uint8_t         loads[DLCBF_ALL_BUCKETS];
    uint32_t        live[DLCBF_PAPER_KEYS]; /* the buckets of the keys, or NOWHERE */
} permuted_table;

static uint32_t bucket_in(const permuted_table *table, unsigned i, uint32_t print) {
    uint32_t const product = (uint32_t)(table->factors[i] * print);
    uint32_t const shift = table->config->is_low ? 0 : RANGE_BITS - BUCKET_BITS;
    return i * DLCBF_PAPER_BUCKETS + (product >> shift) % DLCBF_PAPER_BUCKETS;
}

/* Put it into the least loaded bucket, the leftmost of several; NOWHERE if all are full. */
static uint32_t place(permuted_table *table, uint32_t print) {
    uint32_t best = bucket_in(table, 0, print);
    for (unsigned i = 1; i < DLCBF_PAPER_TABLES; i++) {
        uint32_t const bucket = bucket_in(table, i, print);
        if (table->loads[bucket] < table->loads[best]) best = bucket;
    }
    if (table->loads[best] == DLCBF_PAPER_CELLS) return NOWHERE;
    table->loads[best]++;
    return best;
}

static uint32_t draw(permuted_table *table) {
    return (uint32_t)lab_random_below(table->random, UINT64_C(1) << RANGE_BITS);
}

static void fill(permuted_table *table, permuted_outcome *outcome) {
    bool is_over[DLCBF_PAPER_BUCKETS] = { false };
    for (unsigned key = 0; key < DLCBF_PAPER_KEYS; key++) {
        uint32_t const print = draw(table), group = print % DLCBF_PAPER_BUCKETS;
        table->live[key] = place(table, print);
        if (table->live[key] != NOWHERE) continue;
        outcome->refused++;
        outcome->groups += !is_over[group];
        is_over[group] = true;
    }
}

/* Steps until a key is refused, or 0 if none is. */
static double steps_until_refused(permuted_table *table) {
    for (uint64_t step = 1; step <= DLCBF_PAPER_STEPS; step++) {
        uint32_t *const slot = &table->live[lab_random_below(table->random, DLCBF_PAPER_KEYS)];
        table->loads[*slot]--;
        *slot = place(table, draw(table));
        if (*slot == NOWHERE) return (double)step;
    }
    return 0;
}

static void permuted_trial(const void *given, lab_random *random, void *ret_outcome) {
    permuted_table *const   table = lab_allocate(1, sizeof *table);
    permuted_outcome *const outcome = ret_outcome;
    table->config = given;
    table->random = random;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        table->factors[i] = table->config->is_small ? 2 * i + 1 : lab_random_next(random) | 1;
    }
    fill(table, outcome);
    if (outcome->refused == 0) outcome->steps = steps_until_refused(table);
    free(table);
}

/* ------------------------------------------------------------------ rows */

typedef struct permuted_samples {
    lab_sample overflows, groups, steps;
} permuted_samples;

static permuted_samples measure(const lab_run *run, const permuted *config) {
    lab_series const        series = { .stream = config->name,
                                       .n = run->is_full ? FULL_TRIALS : QUICK_TRIALS,
                                       .trial = permuted_trial,
                                       .given = config,
                                       .outcome_bytes = sizeof(permuted_outcome) };
    permuted_outcome *const outcomes = lab_trials(run, &series);
    permuted_samples        samples = { { 0 }, { 0 }, { 0 } };
    for (uint64_t i = 0; i < series.n; i++) {
        bool const is_over = outcomes[i].refused != 0 || outcomes[i].steps != 0;
        lab_sample_add(&samples.overflows, is_over);
        lab_sample_add(&samples.groups, outcomes[i].groups);
        if (is_over) lab_sample_add(&samples.steps, outcomes[i].steps);
    }
    free(outcomes);
    return samples;
}

static void record_overflow(lab_run *run, const char *name, const char *label,
                            const permuted_samples *samples, double exact, const char *reason,
                            const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .exact = exact,
                                .measured = { .value = samples->overflows.mean,
                                              .trials = samples->overflows.n },
                                .rule = LAB_EQUAL,
                                .reason = reason,
                                .remark = remark });
}

/* Groups get binomial numbers of keys, and overflow beyond 32. */
static void record_groups(lab_run *run, const lab_sample *groups, double over) {
    double const exact = DLCBF_PAPER_BUCKETS * over;
    double const sigma = sqrt(exact * (1 - over) / (double)groups->n);
    lab_record(run, &(lab_row){ .name = "low.bits.groups",
                                .label = "groups of buckets that overflow, of 2048",
                                .exact = exact,
                                .measured = lab_sample_mean(groups, sigma),
                                LAB_WITHIN_4_SIGMA });
}

/* With random factors, as in the paper, and with the library's own in dlcbf.esa2006. */
static void record_high(lab_run *run) {
    permuted const         high = { .name = "high.bits" };
    permuted_samples const samples = measure(run, &high);
    double const           exact = (double)samples.overflows.n * dlcbf_overflows(DLCBF_PAPER_KEYS);
    lab_record(run, &(lab_row){
                        .name = "high.bits.overflow",
                        .label = "overflowing trials, buckets by high bits",
                        .exact = exact,
                        .measured = { .value = samples.overflows.mean * (double)samples.overflows.n,
                                      .trials = samples.overflows.n },
                        .rule = LAB_COUNT,
                        .tolerance = 1e-4,
                        .reason = "the number of rare events is Poisson" });
}

static void record_low(lab_run *run) {
    permuted const         low = { .name = "low.bits", .is_low = true };
    permuted_samples const samples = measure(run, &low);
    double const           over =
        tamis_binomial_tail(DLCBF_PAPER_KEYS, 1.0 / DLCBF_PAPER_BUCKETS, GROUP_CELLS + 1);
    record_overflow(run, "low.bits.overflow", "share that overflows, bucket by low bits", &samples,
                    -expm1(DLCBF_PAPER_BUCKETS * log1p(-over)),
                    "2048 groups, each with a binomial load", NULL);
    record_groups(run, &samples.groups, over);
}

/* There is no theory, so the row is not judged. Nearly all trials overflow; one in a hundred does
 * not. */
static void record_small(lab_run *run) {
    permuted const         small = { .name = "small.factors", .is_small = true };
    permuted_samples const samples = measure(run, &small);
    lab_record(run,
               &(lab_row){ .name = "small.factors.overflow",
                           .label = "share that overflows, factors 1, 3, 5, 7",
                           .exact = samples.overflows.mean,
                           .rule = LAB_EQUAL,
                           .reason = "simulated: there is no theory",
                           .remark = lab_text(run,
                                              "%u trials; those that overflow do it after "
                                              "%.0f steps on average.",
                                              (unsigned)samples.overflows.n, samples.steps.mean) });
}

void dlcbf_permuted(lab_run *run) {
    record_high(run);
    record_low(run);
    record_small(run);
}
