/* bloom.c - the Bloom filter that the papers compare themselves with.
 *
 * The same rate is measured in two ways. The filter's own rate follows from its contents: (share of
 * marked places)^k. It has no sampling error, and differs only from filter to filter; this tests
 * the analysis of the filling. Queries for absent keys add sampling error; they test the hashing,
 * too.
 */
#include "frame/lab.h"
#include "frame/sets.h"
#include "frame/theory.h"
#include "theory/bloom_rate.h"

#include <math.h>
#include <stdlib.h>

#define KEYS 49152 /* as in the simulations of the papers */
#define QUERIES (UINT64_C(1) << 20)

#define QUICK_FILTERS 48
#define FULL_FILTERS 1000 /* the papers calculate these rates: they give no number of trials */

typedef struct bloom_config {
    const char *name, *place, *published;
    uint64_t    keys, bits;
    unsigned    k;
    uint64_t    queries;
} bloom_config;

typedef struct bloom_outcome {
    double   own_rate; /* from the contents */
    uint64_t hits;
} bloom_outcome;

/* ------------------------------------------------------------------ one filter */

static double own_rate(const tamis_set *set) {
    tamis_info info;
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a filter cannot be inspected");
    return info.current_fpr;
}

static void bloom_trial(const void *given, lab_random *random, void *ret_outcome) {
    const bloom_config  *config = given;
    bloom_outcome *const outcome = ret_outcome;
    char                 geometry[64];
    tamis_spec           spec = TAMIS_SPEC_INIT;
    (void)snprintf(geometry, sizeof geometry, "bits=%llu,hashes=%u",
                   (unsigned long long)config->bits, config->k);
    spec.capacity = config->keys;
    spec.kind = "bloom";
    spec.geometry = geometry;
    tamis_set *const set = sets_make(&spec, random);
    key_source const keys = keys_of(random);
    sets_fill(set, &keys, 0, config->keys);
    outcome->own_rate = own_rate(set);
    outcome->hits = sets_count(set, &keys, config->keys, config->queries);
    tamis_free(set);
}

/* ------------------------------------------------------------------ many filters */

typedef struct bloom_samples {
    lab_sample own, asked;
} bloom_samples;

static bloom_samples bloom_run(const lab_run *run, const bloom_config *config, uint64_t filters) {
    lab_series const     series = { .stream = config->name,
                                    .n = filters,
                                    .trial = bloom_trial,
                                    .given = config,
                                    .outcome_bytes = sizeof(bloom_outcome) };
    bloom_outcome *const outcomes = lab_trials(run, &series);
    bloom_samples        samples = { { 0 }, { 0 } };
    for (uint64_t i = 0; i < filters; i++) {
        lab_sample_add(&samples.own, outcomes[i].own_rate);
        if (config->queries == 0) continue;
        lab_sample_add(&samples.asked, (double)outcomes[i].hits / (double)config->queries);
    }
    free(outcomes);
    return samples;
}

static places places_of(const bloom_config *config) {
    return (places){ .m = (double)config->bits, .n = (double)config->keys, .k = config->k };
}

/* ------------------------------------------------------------------ rows */

static void record_asked(lab_run *run, const bloom_config *config, const lab_sample *asked) {
    places const table = places_of(config);
    double const exact = tamis_bloom_fpr(table.m, table.k, table.n);
    double const sigma = theory_rate_sigma(exact, theory_bloom_deviation(&table), (double)asked->n,
                                           (double)config->queries);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.asked", config->name),
                                .label = "false positives among absent keys",
                                .place = config->place,
                                .published = config->published,
                                .exact = exact,
                                .measured = lab_sample_mean(asked, sigma),
                                LAB_WITHIN_4_SIGMA });
}

static void record_own(lab_run *run, const bloom_config *config, const lab_sample *own) {
    places const table = places_of(config);
    double const sigma = theory_bloom_deviation(&table) / sqrt((double)own->n);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.contents", config->name),
                                .label = "(share of marked places)^k",
                                .place = config->place,
                                .exact = tamis_bloom_fpr(table.m, table.k, table.n),
                                .measured = lab_sample_mean(own, sigma),
                                LAB_WITHIN_4_SIGMA });
}

/* The standard deviation of a sample of N has the standard error sd / sqrt(2 (N - 1)). */
static void record_spread(lab_run *run, const bloom_config *config, const lab_sample *own) {
    places const       table = places_of(config);
    double const       exact = theory_bloom_deviation(&table);
    lab_measured const measured = { .value = lab_sample_deviation(own),
                                    .trials = own->n,
                                    .sigma_theory = exact / sqrt(2 * ((double)own->n - 1)) };
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.spread", config->name),
                                .label = "how much that differs between filters",
                                .place = config->place,
                                .exact = exact,
                                .measured = measured,
                                LAB_WITHIN_4_SIGMA });
}

static void run_config(lab_run *run, const bloom_config *config) {
    uint64_t const      filters = run->is_full ? FULL_FILTERS : QUICK_FILTERS;
    bloom_samples const samples = bloom_run(run, config, filters);
    record_asked(run, config, &samples.asked);
    record_own(run, config, &samples.own);
    record_spread(run, config, &samples.own);
}

/* A dozen keys: the share of marked places varies so much that the k-th power of its mean is not
 * the mean of its k-th power. Here the second term of the formula matters. */
static void run_dozen(lab_run *run) {
    bloom_config const  dozen = { .name = "dozen",
                                  .place = "beyond the papers: 12 keys in 120 bits, k = 7",
                                  .keys = 12,
                                  .bits = 120,
                                  .k = 7 };
    places const        table = places_of(&dozen);
    rate_law const      law = theory_bloom_rate(&table);
    uint64_t const      filters = run->is_full ? 1000000 : 50000;
    bloom_samples const samples = bloom_run(run, &dozen, filters);
    double const        textbook = pow(tamis_bloom_fill(table.m, table.k, table.n), table.k);
    lab_record(run, &(lab_row){ .name = "dozen.contents",
                                .label = "(share of marked places)^k",
                                .place = dozen.place,
                                .exact = law.mean,
                                .measured = lab_sample_mean(&samples.own,
                                                            law.deviation / sqrt((double)filters)),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run,
               &(lab_row){ .name = "dozen.formula",
                           .label = "the library's formula",
                           .place = dozen.place,
                           .exact = law.mean,
                           .measured = lab_computed(tamis_bloom_fpr(table.m, table.k, table.n)),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.001,
                           .reason = "theory/bloom_rate.h promises 0.1% for 12 keys",
                           .remark = lab_text(run, "The textbook's p^k is %.3g: %.1f%% off.",
                                              textbook, 100 * fabs(textbook / law.mean - 1)) });
}

static void bloom_fpr(lab_run *run) {
    static const bloom_config configs[] = {
        { "10bits", "ESA 2006, section 2.1: 10 bits per key, k = 7", ">0.008", KEYS, 10 * KEYS, 7,
          QUERIES },
        { "16bits", "Allerton 2006, section II.A: 16 bits per key, k = 11", "0.0004587...", KEYS,
          16 * KEYS, 11, QUERIES },
        { "20bits", "Allerton 2006, section II.B: 20 bits per key, k = 14", "0.00006713...", KEYS,
          20 * KEYS, 14, QUERIES },
    };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) run_config(run, &configs[i]);
    run_dozen(run);
}

const lab_experiment lab_bloom[] = {
    { .id = "bloom.fpr",
      .title = "false positives of the Bloom filters in the papers' comparisons",
      .paper = "Bloom: \"Space/Time Trade-offs in Hash Coding with Allowable Errors\"",
      .place = "ESA 2006, section 2.1, and Allerton 2006, section II",
      .run = bloom_fpr },
    { .id = NULL },
};
