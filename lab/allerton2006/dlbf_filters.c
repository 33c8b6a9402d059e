/* dlbf_filters.c - sections II.A to II.C: loads, and the rates that follow.
 *
 * The measured values are those of a filter in its plainest form: each bucket an array of long
 * fingerprints, of which a lookup compares as many bits as the load allows. Fingerprints only ever
 * lose bits at their end, so this answers as the packed filter does.
 */
#include "dlbf.h"
#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

#define PAPER_TRIALS 1000
#define QUICK_TRIALS 160
#define QUERIES 100000

#define II_A "Allerton 2006, section II.A"
#define II_B "Allerton 2006, section II.B"
#define II_C "Allerton 2006, section II.C"

/* ------------------------------------------------------------------ one filter */

typedef struct dlbf_filling {
    const char          *name;
    const char          *place;
    unsigned             buckets; /* of each subtable */
    double               load;
    const bucket_layout *layout; /* of the queries */
} dlbf_filling;

/* 49152 keys, 4 per bucket, and 6.4. */
static const dlbf_filling fill64 = { "64", "Allerton 2006, Table I", 4096, 4, &dlbf_sorted64 };
static const dlbf_filling fill128 = { "128", "Allerton 2006, Table II", 2560, 6.4, &dlbf_two128 };

enum { RATE_PLAIN, RATE_SORTED, RATE_TWO78, RATE_GROUPED, RATE_SPENT, RATES };

typedef struct filling_outcome {
    double share[DLBF_MAX_LOAD + 1];
    double rate[RATES];
    double hits; /* of the queries */
} filling_outcome;

typedef struct dlbf_filter {
    dlbf_bins bins;
    uint64_t (*prints)[DLBF_MAX_LOAD];
} dlbf_filter;

/* The next key: a bucket of each subtable. */
static void choose(const dlbf_filter *filter, lab_random *random,
                   unsigned ret_buckets[DLBF_PAPER_TABLES]) {
    for (unsigned i = 0; i < DLBF_PAPER_TABLES; i++) {
        ret_buckets[i] =
            i * filter->bins.buckets + (unsigned)lab_random_below(random, filter->bins.buckets);
    }
}

/* Put the key into the least loaded bucket, the leftmost of several. */
static void add(dlbf_filter *to, lab_random *random) {
    unsigned       buckets[DLBF_PAPER_TABLES], best = 0;
    uint8_t *const loads = to->bins.loads;
    choose(to, random, buckets);
    for (unsigned i = 1; i < DLBF_PAPER_TABLES; i++) {
        if (loads[buckets[i]] < loads[buckets[best]]) best = i;
    }
    unsigned const bucket = buckets[best];
    if (loads[bucket] == DLBF_MAX_LOAD) lab_die("a bucket of %u keys", DLBF_MAX_LOAD);
    to->prints[bucket][loads[bucket]++] = lab_random_next(random);
}

static bool has(const dlbf_filter *filter, const bucket_layout *layout, unsigned bucket,
                uint64_t print) {
    unsigned const load = filter->bins.loads[bucket];
    for (unsigned k = 0; k < load; k++) {
        if ((filter->prints[bucket][k] ^ print) >> (64 - dlbf_length(layout, load)) == 0)
            return true;
    }
    return false;
}

static unsigned ask(const dlbf_filter *filter, const bucket_layout *layout, lab_random *random) {
    unsigned hits = 0;
    for (unsigned query = 0; query < QUERIES; query++) {
        unsigned buckets[DLBF_PAPER_TABLES];
        choose(filter, random, buckets);
        uint64_t const print = lab_random_next(random);
        bool           is_found = false;
        for (unsigned i = 0; i < DLBF_PAPER_TABLES; i++)
            is_found |= has(filter, layout, buckets[i], print);
        hits += is_found;
    }
    return hits;
}

static void look(const dlbf_filter *filter, const dlbf_filling *given, filling_outcome *outcome) {
    unsigned const       all = DLBF_PAPER_TABLES * given->buckets;
    bool const           is_small = given->layout->bits == 60;
    const bucket_layout *plain = is_small ? &dlbf_plain64 : &dlbf_one128;
    for (unsigned i = 0; i < all; i++) outcome->share[filter->bins.loads[i]] += 1.0 / all;
    outcome->rate[RATE_PLAIN] = dlbf_bins_rate(&filter->bins, plain);
    outcome->rate[RATE_SORTED] = dlbf_bins_rate(&filter->bins, given->layout);
    outcome->rate[RATE_TWO78] = dlbf_bins_rate(&filter->bins, &dlbf_two128_78);
    outcome->rate[RATE_GROUPED] = dlbf_bins_group_rate(&filter->bins, given->layout, DLBF_EQUAL);
    outcome->rate[RATE_SPENT] = dlbf_bins_group_rate(&filter->bins, given->layout, DLBF_SPENT);
}

static void filling_trial(const void *given, lab_random *random, void *ret_outcome) {
    const dlbf_filling *const config = given;
    filling_outcome *const    outcome = ret_outcome;
    unsigned const            all = DLBF_PAPER_TABLES * config->buckets;
    dlbf_filter filter = { .bins = { DLBF_PAPER_TABLES, config->buckets, lab_allocate(all, 1) },
                           .prints = lab_allocate(all, sizeof *filter.prints) };
    for (unsigned key = 0; key < DLBF_PAPER_KEYS; key++) add(&filter, random);
    look(&filter, config, outcome);
    outcome->hits = ask(&filter, config->layout, random);
    free(filter.prints);
    free(filter.bins.loads);
}

static filling_outcome *run_filling(const lab_run *run, const dlbf_filling *given, uint64_t n) {
    lab_series const series = { .stream = given->name,
                                .n = n,
                                .trial = filling_trial,
                                .given = given,
                                .outcome_bytes = sizeof(filling_outcome) };
    return lab_trials(run, &series);
}

static uint64_t trials_of(const lab_run *run) {
    return run->is_full ? PAPER_TRIALS : QUICK_TRIALS;
}

/* ------------------------------------------------------------------ Tables I and II */

typedef struct load_row {
    const char *published, *flaw;
} load_row;

/* Loads that are too rare to be measured are not judged. */
static void record_load(lab_run *run, const dlbf_filling *filling, unsigned load,
                        const load_row *row, const filling_outcome *outcomes) {
    uint64_t const n = trials_of(run);
    lab_sample     sample = { 0 };
    fluid          law;
    dlbf_law(filling->load, &law);
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, outcomes[i].share[load]);
    double const exact = dlbf_share(&law, load),
                 all = DLBF_PAPER_TABLES * filling->buckets * (double)n;
    lab_measured measured = lab_sample_mean(&sample, exact < 0.01 ? sqrt(exact / all) : 0);
    if (exact * all < 20) measured.trials = 0;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.load.%u", filling->name, load),
                                .label = lab_text(run, "share of buckets with %u keys", load),
                                .place = filling->place,
                                .published = row->published,
                                .exact = exact,
                                .measured = measured,
                                LAB_WITHIN_4_SIGMA,
                                .flaw = row->flaw });
}

static void record_loads(lab_run *run, const dlbf_filling *filling, const load_row *rows,
                         unsigned n_rows) {
    filling_outcome *const outcomes = run_filling(run, filling, trials_of(run));
    for (unsigned load = 0; load < n_rows; load++) {
        record_load(run, filling, load, &rows[load], outcomes);
    }
    free(outcomes);
}

/* The mean load that follows from the printed shares. */
static void record_caption(lab_run *run, const load_row *rows, unsigned n_rows) {
    double mean = 0;
    for (unsigned load = 0; load < n_rows; load++)
        mean += load * strtod(rows[load].published, NULL);
    lab_record(run, &(lab_row){ .name = "128.caption",
                                .label = "keys per bucket, from the table itself",
                                .place = fill128.place,
                                .published = "4",
                                .exact = mean,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic with the printed shares",
                                .flaw = "The caption has n/4 buckets; for a load of 6.4, which it "
                                        "also has, they are n/6.4." });
}

void dlbf_loads_run(lab_run *run) {
    static const load_row in64[] = { { "2.3e-05", NULL }, { "6.0e-04", "It rounds to 5.9e-04." },
                                     { "1.1e-02", NULL }, { "1.5e-01", NULL },
                                     { "6.6e-01", NULL }, { "1.8e-01", NULL },
                                     { "2.3e-05", NULL }, { "5.6e-31", NULL } };
    static const load_row in128[] = { { "1.7e-08", NULL }, { "5.6e-07", NULL }, { "1.2e-05", NULL },
                                      { "2.1e-04", NULL }, { "3.5e-03", NULL }, { "5.6e-02", NULL },
                                      { "4.8e-01", NULL }, { "4.5e-01", NULL }, { "6.2e-03", NULL },
                                      { "4.8e-15", NULL } };
    fluid                 law;
    record_loads(run, &fill64, in64, sizeof in64 / sizeof in64[0]);
    dlbf_law(4, &law);
    lab_record(run, &(lab_row){ .name = "64.overflow",
                                .label = "share of buckets with more than 6",
                                .place = II_A,
                                .published = "<1e-30",
                                .exact = tamis_fluid_share(&law, 7),
                                .rule = LAB_EQUAL,
                                .reason = "fluid limit" });
    record_loads(run, &fill128, in128, sizeof in128 / sizeof in128[0]);
    record_caption(run, in128, sizeof in128 / sizeof in128[0]);
}

/* ------------------------------------------------------------------ rates */

typedef struct rate_row {
    const char          *name, *label, *place, *published, *flaw, *remark;
    const dlbf_filling  *filling;
    const bucket_layout *layout;
    unsigned             rate; /* RATE_.. */
} rate_row;

static double exact_rate(const rate_row *row) {
    fluid law;
    dlbf_law(row->filling->load, &law);
    if (row->rate < RATE_GROUPED) return dlbf_rate(row->layout, &law);
    return dlbf_group_rate(row->layout, &law, row->rate == RATE_SPENT ? DLBF_SPENT : DLBF_EQUAL);
}

static void record_rate(lab_run *run, const rate_row *row, const filling_outcome *outcomes) {
    uint64_t const n = trials_of(run);
    lab_sample     sample = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, outcomes[i].rate[row->rate]);
    lab_record(run, &(lab_row){ .name = row->name,
                                .label = row->label,
                                .place = row->place,
                                .published = row->published,
                                .exact = exact_rate(row),
                                .measured = lab_sample_mean(&sample, 0),
                                LAB_WITHIN_4_SIGMA,
                                .flaw = row->flaw,
                                .remark = row->remark });
}

/* The rate of real queries. It is a little smaller, because equal fingerprints in a bucket count
 * once. */
static void record_asked(lab_run *run, const dlbf_filling *filling, const char *published,
                         const filling_outcome *outcomes) {
    uint64_t const n = trials_of(run);
    fluid          law;
    lab_sample     sample = { 0 };
    dlbf_law(filling->load, &law);
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, outcomes[i].hits / QUERIES);
    double const rate = dlbf_rate(filling->layout, &law);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.asked", filling->name),
                           .label = "false positives of 100000 queries each",
                           .place = II_B,
                           .published = published,
                           .published_sigma = theory_rate_sigma(rate, 0, PAPER_TRIALS, QUERIES),
                           .exact = rate,
                           .measured = lab_sample_mean(
                               &sample, theory_rate_sigma(rate, 0, (double)n, QUERIES)),
                           LAB_WITHIN_4_SIGMA });
}

/* The lowest and the highest count of hits in 1000 trials. */
static void record_range(lab_run *run, bool is_high, const char *published) {
    fluid law;
    dlbf_law(4, &law);
    double const  rate = dlbf_rate(&dlbf_sorted64, &law);
    extreme const bound = is_high ? theory_highest(QUERIES, rate, PAPER_TRIALS)
                                  : theory_lowest(QUERIES, rate, PAPER_TRIALS);
    lab_record(run, &(lab_row){ .name = is_high ? "64.most" : "64.least",
                                .label = is_high ? "most hits in one of 1000 trials"
                                                 : "fewest hits in one of 1000 trials",
                                .place = II_B,
                                .published = published,
                                .published_sigma = bound.deviation,
                                .exact = bound.mean,
                                .rule = LAB_EQUAL,
                                .reason = "extremes of a binomial count" });
}

/* The text has 49152 balls in 8192 bins: an average of 6, and not a multiple of 3. */
static void record_bins(lab_run *run) {
    fluid law;
    dlbf_law(DLBF_PAPER_KEYS / 8192.0, &law);
    lab_record(run, &(lab_row){ .name = "64.bins",
                                .label = "the same rate, in 8192 bins",
                                .place = II_B,
                                .published = "0.00044988",
                                .exact = dlbf_rate(&dlbf_sorted64, &law),
                                .rule = LAB_EQUAL,
                                .reason = "fluid limit",
                                .flaw = "49152 balls in 8192 bins are 6 in each. The rate is that "
                                        "of 12288 bins." });
}

static void record_small(lab_run *run) {
    static const rate_row rows[] = {
        { "64.plain", "64 bits, floor(60 / a)", II_A, "0.0008937...", NULL, NULL, &fill64,
          &dlbf_plain64, RATE_PLAIN },
        { "64.sorted", "64 bits, 4 and 5 semi-sorted", II_B, "0.0004477...", NULL, NULL, &fill64,
          &dlbf_sorted64, RATE_SORTED },
        { "64.grouped", "64 bits, groups of four buckets", II_C, "0.0003520...", NULL, NULL,
          &fill64, &dlbf_sorted64, RATE_GROUPED },
        { "64.spent", "the same, leftover bits used", II_C, NULL, NULL,
          "Leftover bits go to whole buckets, as in the paper's example; its figures leave that "
          "out.",
          &fill64, &dlbf_sorted64, RATE_SPENT },
    };
    filling_outcome *const outcomes = run_filling(run, &fill64, trials_of(run));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_rate(run, &rows[i], outcomes);
    record_asked(run, &fill64, "0.00044988", outcomes);
    record_range(run, false, "23");
    record_range(run, true, "75");
    record_bins(run);
    free(outcomes);
}

static void record_large(lab_run *run) {
    static const char little[] = "The limit is a little smaller. The difference is not explained.";
    static const rate_row rows[] = {
        { "128.one", "128 bits, all semi-sorted by one bit", II_B, "0.00004259...", little, NULL,
          &fill128, &dlbf_one128, RATE_PLAIN },
        { "128.two", "128 bits, 6 and 7 by two", II_B, "0.00002245...", little, NULL, &fill128,
          &dlbf_two128, RATE_SORTED },
        { "128.two.78", "128 bits, 7 and 8 by two: not better", II_B, NULL, NULL, NULL, &fill128,
          &dlbf_two128_78, RATE_TWO78 },
        { "128.grouped", "128 bits, groups of four buckets", II_C, "0.0002042...",
          "A zero is missing: 0.00002042.", NULL, &fill128, &dlbf_two128, RATE_GROUPED },
        { "128.spent", "the same, leftover bits used", II_C, NULL, NULL, NULL, &fill128,
          &dlbf_two128, RATE_SPENT },
    };
    filling_outcome *const outcomes = run_filling(run, &fill128, trials_of(run));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_rate(run, &rows[i], outcomes);
    record_asked(run, &fill128, NULL, outcomes);
    free(outcomes);
}

void dlbf_rates_run(lab_run *run) {
    record_small(run);
    record_large(run);
}
