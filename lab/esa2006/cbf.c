/* cbf.c - the counting Bloom filter that the d-left construction is compared with.
 *
 * ESA 2006, section 5.1: 49152 keys, 13.5 counters of 4 bits per key, 9 hashes. A trial fills the
 * filter and then takes 2^20 steps; in each, a random key of the set is removed and a new one is
 * added. The authors made 10000 trials. The quick mode makes the same trial, only fewer times.
 *
 * The API does not show the largest counter. So the trial reads the counters of every key that it
 * adds from the body, and keeps the highest value that each counter ever had.
 */
#include "core/packed.h"
#include "core/probes.h"
#include "frame/lab.h"
#include "frame/sets.h"
#include "frame/theory.h"
#include "handle.h"
#include "keybytes.h"
#include "ranges.h"
#include "theory/bloom_rate.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define KEYS 49152u
#define COUNTERS 663552u /* 13.5 x KEYS */
#define HASHES 9
#define COUNTER_BITS 4
#define STEPS (UINT64_C(1) << 20)
#define DLCBF_BITS 1048576.0 /* what the paper compares with: 2^20 */

#define PAPER_TRIALS 10000
#define QUICK_TRIALS 32
#define STUCK_TRIALS 2 /* repeated with counters of 3 bits */

#define FEW_QUERIES 10000 /* as the paper says */
#define MORE_QUERIES 100000
#define QUERIES 1000000 /* FEW_QUERIES and MORE_QUERIES are the first of these */

#define LOW_LEVEL 7 /* counters below this are not watched */
#define LEVELS 16

static const places CBF = { .m = COUNTERS, .n = KEYS, .k = HASHES };

typedef struct cbf_outcome {
    uint64_t hits_filled;                       /* of QUERIES, before the steps */
    uint64_t hits_few, hits_more, hits_churned; /* after them */
    uint64_t reached[LEVELS];                   /* counters that ever held this value or more */
    uint64_t rises[LEVELS]; /* how often a step raised a counter to this value */
    uint64_t stuck;         /* counters that the library reports saturated */
    uint64_t refused;       /* removals of keys that were there */
    uint64_t lost;          /* keys that should be there, and are not */
} cbf_outcome;

/* ------------------------------------------------------------------ one trial */

typedef struct cbf_trial {
    tamis_set   *set;
    lab_random  *random;
    key_source   keys;
    uint32_t    *live; /* numbers of the keys in the set */
    uint32_t     next; /* the first number not used */
    uint8_t     *peak; /* the highest value of each counter, if LOW_LEVEL or more */
    cbf_outcome *outcome;
} cbf_trial;

static tamis_spec cbf_spec(unsigned counter_bits, char geometry[64]) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    (void)snprintf(geometry, 64, "counters=%u,hashes=%u,counter_bits=%u", COUNTERS, HASHES,
                   counter_bits);
    spec.capacity = KEYS;
    spec.lifetime = KEYS + STEPS;
    spec.kind = "counting";
    spec.geometry = geometry;
    return spec;
}

static uint64_t counter_at(const tamis_set *set, uint64_t place) {
    return packed_get(set->table.body, place, (unsigned)set->table.geometry[2]);
}

static void note_peak(cbf_trial *trial, uint64_t place, uint64_t value) {
    if (value > trial->peak[place]) trial->peak[place] = (uint8_t)value;
}

/* Filling only counts up, so its highest values are those at its end. */
static void watch_filling(cbf_trial *trial) {
    for (uint64_t place = 0; place < COUNTERS; place++) {
        uint64_t const value = counter_at(trial->set, place);
        if (value >= LOW_LEVEL) note_peak(trial, place, value);
    }
}

static void watch_added(cbf_trial *trial, const uint8_t key[KEY_BYTES]) {
    uint64_t const hash = keyhash_bytes(&trial->set->hasher, key, KEY_BYTES);
    for (unsigned i = 0; i < HASHES; i++) {
        uint64_t const place = probes_place(hash, i, COUNTERS);
        uint64_t const value = counter_at(trial->set, place);
        if (value < LOW_LEVEL) continue;
        note_peak(trial, place, value);
        trial->outcome->rises[value]++;
    }
}

static void replace_one(cbf_trial *trial) {
    uint32_t *const slot = &trial->live[lab_random_below(trial->random, KEYS)];
    uint8_t         key[KEY_BYTES];
    key_write(&trial->keys, *slot, key);
    trial->outcome->refused += tamis_remove(trial->set, key, KEY_BYTES) != TAMIS_OK;
    *slot = trial->next++;
    key_write(&trial->keys, *slot, key);
    if (tamis_add(trial->set, key, KEY_BYTES) != TAMIS_OK) lab_die("an add was refused");
    watch_added(trial, key);
}

static void fill(cbf_trial *trial) {
    sets_fill(trial->set, &trial->keys, 0, KEYS);
    while (trial->next < KEYS) {
        trial->live[trial->next] = trial->next;
        trial->next++;
    }
    watch_filling(trial);
}

/* Keys with numbers beyond all steps were never added. */
static void ask_filled(cbf_trial *trial) {
    uint64_t const first = KEYS + STEPS;
    trial->outcome->hits_filled = sets_count(trial->set, &trial->keys, first, QUERIES);
}

static void ask_churned(cbf_trial *trial) {
    cbf_outcome *const outcome = trial->outcome;
    uint64_t const     first = KEYS + STEPS + QUERIES;
    outcome->hits_few = sets_count(trial->set, &trial->keys, first, FEW_QUERIES);
    outcome->hits_more =
        outcome->hits_few +
        sets_count(trial->set, &trial->keys, first + FEW_QUERIES, MORE_QUERIES - FEW_QUERIES);
    outcome->hits_churned =
        outcome->hits_more +
        sets_count(trial->set, &trial->keys, first + MORE_QUERIES, QUERIES - MORE_QUERIES);
}

static void take_stock(cbf_trial *trial) {
    cbf_outcome *const outcome = trial->outcome;
    for (uint64_t place = 0; place < COUNTERS; place++) {
        for (unsigned level = LOW_LEVEL; level <= trial->peak[place]; level++) {
            outcome->reached[level]++;
        }
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        uint8_t key[KEY_BYTES];
        key_write(&trial->keys, trial->live[i], key);
        outcome->lost += !tamis_has(trial->set, key, KEY_BYTES);
    }
    tamis_info info;
    if (tamis_inspect(trial->set, &info) != TAMIS_OK) lab_die("a filter cannot be inspected");
    outcome->stuck = info.facts.saturated;
}

static void cbf_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    char             geometry[64];
    tamis_spec const spec = cbf_spec(*(const unsigned *)given, geometry);
    tamis_set *const set = sets_make(&spec, random);
    cbf_trial        trial = { .set = set,
                               .random = random,
                               .keys = keys_of(random),
                               .live = lab_allocate(KEYS, sizeof *trial.live),
                               .peak = lab_allocate(COUNTERS, sizeof *trial.peak),
                               .outcome = ret_outcome };
    fill(&trial);
    ask_filled(&trial);
    for (uint64_t i = 0; i < STEPS; i++) replace_one(&trial);
    ask_churned(&trial);
    take_stock(&trial);
    free(trial.peak);
    free(trial.live);
    tamis_free(set);
}

static cbf_outcome *run_trials(const lab_run *run, unsigned counter_bits, uint64_t n) {
    lab_series const series = { .stream = "churn",
                                .n = n,
                                .trial = cbf_trial_run,
                                .given = &counter_bits,
                                .outcome_bytes = sizeof(cbf_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ rows: size */

/* What the library plans for the filter, without making it. */
static tamis_plan cbf_plan(void) {
    char               geometry[64];
    tamis_spec const   spec = cbf_spec(COUNTER_BITS, geometry);
    tamis_plan         plan;
    size_t             n_rows;
    tamis_status const status = tamis_plan_kinds(&spec, &plan, 1, &n_rows, NULL);
    if (status != TAMIS_OK || plan.status != TAMIS_OK) lab_die("there is no plan");
    return plan;
}

static void record_size(lab_run *run) {
    tamis_plan const plan = cbf_plan();
    double const     bits = 13.5 * KEYS * COUNTER_BITS;
    double const     lines = ceil((bits + 8 * PACKED_PAD_BYTES) / (8 * TAMIS_LINE_BYTES));
    lab_record(run, &(lab_row){ .name = "size.counters",
                                .label = "counters, 13.5 for each key",
                                .published = "663552",
                                .exact = 13.5 * KEYS,
                                .measured = lab_computed((double)plan.fields[0].value),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = "size.bits",
                                .label = "bits of all counters",
                                .published = "2654208",
                                .exact = bits,
                                .measured = lab_computed(
                                    (double)(plan.fields[0].value * plan.fields[2].value)),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = "size.body",
                                .label = "bits of the body, in whole cache lines",
                                .exact = lines * 8 * TAMIS_LINE_BYTES,
                                .measured = lab_computed(8 * (double)plan.body_bytes),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = "size.ratio",
                                .label = "times the d-left filter's bits",
                                .published = ">2.5",
                                .exact = bits / DLCBF_BITS,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

/* ------------------------------------------------------------------ rows: false positives */

static double cbf_rate(void) {
    return tamis_bloom_fpr(CBF.m, CBF.k, CBF.n);
}

static void record_rates(lab_run *run, const cbf_outcome *outcomes, uint64_t n) {
    lab_sample filled = { 0 }, churned = { 0 };
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&filled, (double)outcomes[i].hits_filled / QUERIES);
        lab_sample_add(&churned, (double)outcomes[i].hits_churned / QUERIES);
    }
    double const rate = cbf_rate(), deviation = theory_bloom_deviation(&CBF);
    double const sigma = theory_rate_sigma(rate, deviation, (double)n, QUERIES);
    lab_record(run, &(lab_row){ .name = "fpr.filled",
                                .label = "false positives, filled",
                                .exact = rate,
                                .measured = lab_sample_mean(&filled, sigma),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = "fpr.churned",
                                .label = "false positives, after 2^20 steps",
                                .published = "<0.001529",
                                .published_sigma =
                                    theory_rate_sigma(rate, deviation, PAPER_TRIALS, FEW_QUERIES),
                                .exact = rate,
                                .measured = lab_sample_mean(&churned, sigma),
                                LAB_WITHIN_4_SIGMA });
}

static void record_losses(lab_run *run, const cbf_outcome *outcomes, uint64_t n) {
    uint64_t refused = 0, lost = 0;
    for (uint64_t i = 0; i < n; i++) {
        refused += outcomes[i].refused;
        lost += outcomes[i].lost;
    }
    lab_record(run, &(lab_row){ .name = "removals.refused",
                                .label = "refused removals of keys that were there",
                                .exact = 0,
                                .measured = { .value = (double)refused, .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = "a law: a key that was added can be removed" });
    lab_record(run, &(lab_row){ .name = "keys.lost",
                                .label = "keys lost after 2^20 steps",
                                .exact = 0,
                                .measured = { .value = (double)lost, .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = "a law: never a false negative" });
}

/* ------------------------------------------------------------------ rows: the range of the rates
 *
 * The paper's lowest and highest rate of 10000 trials. The filters' own rates differ by 0.6%, the
 * sampling error of a trial is 8% and more: so a trial is taken as a binomial count.
 */

static double rate_in(const cbf_outcome *outcome, unsigned queries) {
    uint64_t const hits = queries == FEW_QUERIES ? outcome->hits_few : outcome->hits_more;
    return (double)hits / queries;
}

static double find_extreme(const cbf_outcome *outcomes, uint64_t n, const range_row *row) {
    double lowest = 1, highest = 0;
    for (uint64_t i = 0; i < n; i++) {
        lowest = fmin(lowest, rate_in(&outcomes[i], row->queries));
        highest = fmax(highest, rate_in(&outcomes[i], row->queries));
    }
    return row->is_high ? highest : lowest;
}

static void record_ranges(lab_run *run, const cbf_outcome *outcomes, uint64_t n) {
    static const char flaw[] =
        "With the paper's 10000 queries per trial the rates spread more widely. "
        "The printed range fits 100000 queries, below.";
    static const range_row rows[] = {
        { "range.low.1e4", "lowest of 10000 trials, 10^4 queries", "0.00108", flaw, FEW_QUERIES,
          false },
        { "range.high.1e4", "highest of 10000 trials, 10^4 queries", "0.00205", flaw, FEW_QUERIES,
          true },
        { "range.low.1e5", "lowest of 10000 trials, 10^5 queries", "0.00108", NULL, MORE_QUERIES,
          false },
        { "range.high.1e5", "highest of 10000 trials, 10^5 queries", "0.00205", NULL, MORE_QUERIES,
          true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double const found = find_extreme(outcomes, n, &rows[i]);
        record_range(run, &rows[i], cbf_rate(), found, n, PAPER_TRIALS);
    }
}

/* ------------------------------------------------------------------ rows: high counters */

/* Counters are nearly independent and rarely reach a level: their number is nearly Poisson. */
static void record_reached(lab_run *run, const cbf_outcome *outcomes, uint64_t n, unsigned level) {
    double const exact = COUNTERS * theory_ever_reaches(&CBF, level, STEPS);
    lab_sample   reached = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&reached, (double)outcomes[i].reached[level]);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "reached.%u", level),
                           .label = lab_text(run, "counters that ever reached %u, a trial", level),
                           .exact = exact,
                           .measured = lab_sample_mean(&reached, sqrt(exact / (double)n)),
                           LAB_WITHIN_4_SIGMA });
}

/* A counter may fall and rise again several times, so there is no simple theory of the scatter. */
static void record_rises(lab_run *run, const cbf_outcome *outcomes, uint64_t n, unsigned level) {
    lab_sample rises = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&rises, (double)outcomes[i].rises[level]);
    lab_record(run, &(lab_row){ .name = lab_text(run, "rises.%u", level),
                                .label = lab_text(run, "rises of a counter to %u, a trial", level),
                                .exact = theory_rises(&CBF, level, STEPS),
                                .measured = lab_sample_mean(&rises, 0),
                                LAB_WITHIN_4_SIGMA });
}

static uint64_t trials_that_reached(const cbf_outcome *outcomes, uint64_t n, unsigned level) {
    uint64_t trials = 0;
    for (uint64_t i = 0; i < n; i++) trials += outcomes[i].reached[level] != 0;
    return trials;
}

/* Only in 10000 trials: fewer give too few events. */
static void record_maximum(lab_run *run, const cbf_outcome *outcomes, uint64_t n, unsigned level,
                           const char *published) {
    double const       one = theory_ever_reaches(&CBF, level, STEPS);
    double const       exact = -PAPER_TRIALS * expm1(COUNTERS * log1p(-one));
    double const       rises = PAPER_TRIALS * theory_rises(&CBF, level, STEPS);
    lab_measured const measured = { .value = (double)trials_that_reached(outcomes, n, level),
                                    .trials = n == PAPER_TRIALS ? n : 0 };
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "trials.%u", level),
                           .label = lab_text(run, "of 10000 trials reach a counter of %u", level),
                           .published = published,
                           .published_sigma = sqrt(exact),
                           .exact = exact,
                           .measured = measured,
                           .rule = LAB_COUNT,
                           .tolerance = 1e-4,
                           .reason = "the number of rare events is Poisson",
                           .remark = lab_text(run,
                                              "The plain estimate, every rise to %u "
                                              "counted, is %#.3g.",
                                              level, rises) });
}

/* With 3 bits the library's own count of stuck counters is the number that ever reached 7. */
static void record_stuck(lab_run *run, const cbf_outcome *outcomes) {
    cbf_outcome *const narrow = run_trials(run, 3, STUCK_TRIALS);
    uint64_t           stuck = 0, reached = 0;
    for (uint64_t i = 0; i < STUCK_TRIALS; i++) {
        stuck += narrow[i].stuck;
        reached += outcomes[i].reached[7];
    }
    free(narrow);
    lab_record(
        run,
        &(lab_row){ .name = "stuck.3bits",
                    .label = "3-bit counters stuck at 7, same keys",
                    .exact = (double)reached,
                    .measured = { .value = (double)stuck, .trials = STUCK_TRIALS },
                    .rule = LAB_EQUAL,
                    .reason = "a law: a counter sticks when it reaches its maximum, and only then",
                    .remark = "Exact here are the 4-bit counters that were seen to "
                              "reach 7 in the same trials." });
}

/* ------------------------------------------------------------------ rows: overflow */

static void record_sixteen(lab_run *run) {
    double const one = exp(tamis_poisson_log(log(2), 16));
    double const trial = COUNTERS * theory_ever_reaches(&CBF, 16, STEPS);
    lab_record(run, &(lab_row){ .name = "counter.16",
                                .label = "P[a counter is hit 16 times], load ln 2",
                                .published = "6.79e-17",
                                .exact = one,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark = lab_text(run,
                                                   "This is one counter at one moment. Any of the "
                                                   "%u: %.2g. Any, in all of a trial, at this "
                                                   "filter's load of 2/3: %.2g.",
                                                   COUNTERS, COUNTERS * one, trial) });
}

/* The library's own forecast: a counter of 4 bits sticks when it reaches 15. */
static void record_saturation(lab_run *run) {
    lab_record(run, &(lab_row){ .name = "saturation.15",
                                .label = "P[a counter sticks in a trial], forecast",
                                .exact = COUNTERS * theory_ever_reaches(&CBF, 15, STEPS),
                                .measured = lab_computed(cbf_plan().saturation),
                                .rule = LAB_RELATIVE,
                                .tolerance = 0.1,
                                .reason = "the library counts every rise to 15, also the second "
                                          "one of a counter that fell in between" });
}

/* ------------------------------------------------------------------ all of it */

static void cbf_esa2006(lab_run *run) {
    uint64_t const     n = run->is_full ? PAPER_TRIALS : QUICK_TRIALS;
    cbf_outcome *const outcomes = run_trials(run, COUNTER_BITS, n);
    record_size(run);
    record_rates(run, outcomes, n);
    record_ranges(run, outcomes, n);
    record_losses(run, outcomes, n);
    for (unsigned level = LOW_LEVEL; level <= 9; level++) record_reached(run, outcomes, n, level);
    record_stuck(run, outcomes);
    record_rises(run, outcomes, n, 9);
    record_maximum(run, outcomes, n, 12, "16");
    record_maximum(run, outcomes, n, 13, "1");
    record_sixteen(run);
    record_saturation(run);
    free(outcomes);
}

const lab_experiment lab_cbf_esa2006[] = {
    { .id = "cbf.esa2006",
      .title = "the counting Bloom filter of the comparison: 49152 keys, 13.5 counters each, k = 9",
      .paper = "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: \"An Improved Construction for "
               "Counting Bloom Filters\"",
      .place = "ESA 2006, section 5.1",
      .run = cbf_esa2006 },
    { .id = NULL },
};
