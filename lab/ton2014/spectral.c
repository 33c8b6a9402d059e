/* spectral.c - table I: the spectral Bloom filter, with fixed counters and all bits.
 *
 * Paper: S. Cohen, Y. Matias, "Spectral Bloom Filters", SIGMOD 2003, which is [10] of ToN 2014. Its
 * counters have as many bits as they need, and an index finds them: 8.12 KB and 4 KB in table I,
 * as reference [7] has it. Here counters have a fixed number of bits, as `counting` with minimal
 * increase has them; it increments only the smallest counters of a key, so that few bits are
 * enough.
 */
#include "count_error.h"
#include "vicbf.h"

#include "frame/sets.h"
#include "theory/bloom_rate.h"

#include <math.h>
#include <stdlib.h>

#define N VI_TABLE_KEYS
#define QUICK_FILTERS 200
#define FULL_FILTERS 5000

/* ------------------------------------------------------------------ filters */

typedef struct spectral_config {
    uint64_t g[CBF_FIELDS];
    bool     is_merged; /* of two halves */
} spectral_config;

typedef struct spectral_outcome {
    double own, too_high, too_low, is_stuck;
} spectral_outcome;

static tamis_set *make_set(const spectral_config *config, lab_random *random) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       geometry[128];
    (void)snprintf(geometry, sizeof geometry,
                   "counters=%u,hashes=%u,counter_bits=%u,blocked=%u,minimal=%u",
                   (unsigned)config->g[0], (unsigned)config->g[1], (unsigned)config->g[2],
                   (unsigned)config->g[3], (unsigned)config->g[4]);
    spec.capacity = N;
    spec.kind = "counting";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

/* Put the other half of the keys into a set of their own, and merge it into the first. */
static void merge_rest(tamis_set *set, const key_source *keys) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_set *rest = NULL;
    spec.like = set;
    if (tamis_create(&spec, &rest, NULL) != TAMIS_OK) lab_die("no set like another");
    sets_fill(rest, keys, N / 2, N / 2);
    if (tamis_merge(set, rest) != TAMIS_OK) lab_die("two halves cannot merge");
    tamis_free(rest);
}

/* Each key was added once. */
static void count_keys(const tamis_set *set, const key_source *keys, spectral_outcome *outcome) {
    for (uint64_t i = 0; i < N; i++) {
        uint64_t count = 0;
        uint8_t  key[KEY_BYTES];
        key_write(keys, i, key);
        if (tamis_count(set, key, KEY_BYTES, &count) != TAMIS_OK) lab_die("no count");
        outcome->too_high += count > 1;
        outcome->too_low += count < 1;
    }
}

static void spectral_trial(const void *given, lab_random *random, void *ret_outcome) {
    const spectral_config *const config = given;
    spectral_outcome *const      outcome = ret_outcome;
    tamis_set *const             set = make_set(config, random);
    key_source const             keys = keys_of(random);
    tamis_info                   info;
    sets_fill(set, &keys, 0, config->is_merged ? N / 2 : N);
    if (config->is_merged) merge_rest(set, &keys);
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a filter cannot be inspected");
    outcome->own = info.current_fpr;
    outcome->is_stuck = info.facts.saturated != 0;
    count_keys(set, &keys, outcome);
    tamis_free(set);
}

typedef struct spectral_samples {
    lab_sample own, too_high, stuck;
} spectral_samples;

static spectral_samples take_samples(const lab_run *run, const char *stream,
                                     const spectral_config *config) {
    uint64_t const          n = run->is_full ? FULL_FILTERS : QUICK_FILTERS;
    lab_series const        series = { .stream = stream,
                                       .n = n,
                                       .trial = spectral_trial,
                                       .given = config,
                                       .outcome_bytes = sizeof(spectral_outcome) };
    spectral_outcome *const outcomes = lab_trials(run, &series);
    spectral_samples        samples = { .own = { 0 } };
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&samples.own, outcomes[i].own);
        lab_sample_add(&samples.too_high, outcomes[i].too_high / N);
        lab_sample_add(&samples.stuck, outcomes[i].is_stuck);
        if (outcomes[i].too_low != 0) lab_die("a key counts 0");
    }
    free(outcomes);
    return samples;
}

/* ------------------------------------------------------------------ rows */

/* The fewest counters of this many bits that meet the rate of table I. */
static spectral_config smallest(unsigned bits) {
    uint64_t places = 0;
    unsigned k = 0;
    if (!tamis_bloom_smallest(VI_TABLE_RATE, N, &places, &k)) lab_die("no filter at 0.1%%");
    return (spectral_config){ .g = { places, k, bits, 0, 1 } };
}

static void record_sizes(lab_run *run, unsigned bits, const char *published) {
    spectral_config const config = smallest(bits);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "size.%u", bits),
                           .label = lab_text(run, "spectral, counters of %u bits, KiB", bits),
                           .published = published,
                           .exact = (double)config.g[CBF_COUNTERS] * bits / VI_KIB,
                           .rule = LAB_EQUAL,
                           .reason = "arithmetic",
                           .flaw = published == NULL
                                       ? NULL
                                       : "Taken from its reference [7], for counters of as many "
                                         "bits as they need and an index that finds them.",
                           .remark = lab_text(run, "%u counters, k = %u; counts up to %u copies.",
                                              (unsigned)config.g[0], (unsigned)config.g[1],
                                              (1u << bits) - 2) });
}

static void record_filters(lab_run *run, unsigned bits) {
    spectral_config const  config = smallest(bits);
    spectral_samples const seen = take_samples(run, lab_text(run, "filters.%u", bits), &config);
    lab_record(run, &(lab_row){ .name = lab_text(run, "rate.%u", bits),
                                .label = lab_text(run, "the same, %u bits: rate", bits),
                                .published = "1e-3",
                                .published_sigma = lab_sample_deviation(&seen.own),
                                .exact = tamis_cbf_fpr(config.g, N),
                                .measured = lab_sample_mean(&seen.own, 0),
                                LAB_WITHIN_4_SIGMA });
    lab_record(
        run, &(lab_row){
                 .name = lab_text(run, "stuck.%u", bits),
                 .label = lab_text(run, "filters with a stuck counter, %u bits", bits),
                 .exact = fmax(1e-12, tamis_cbf_saturation(config.g, &(tamis_workload){ N, 1, N })),
                 .measured = lab_sample_mean(&seen.stuck, 0),
                 .rule = LAB_AT_MOST,
                 .reason = "too rare to be seen" });
}

/* Measured in a filter of 1%, where counts are wrong often enough. */
static void record_counts(lab_run *run) {
    static const spectral_config plain = { .g = { 19200, 7, 4, 0, 0 } };
    static const spectral_config minimal = { .g = { 19200, 7, 4, 0, 1 } };
    static const spectral_config merged = { .g = { 19200, 7, 4, 0, 1 }, .is_merged = true };
    spectral_samples const       a = take_samples(run, "counts.plain", &plain);
    spectral_samples const       b = take_samples(run, "counts.minimal", &minimal);
    spectral_samples const       c = take_samples(run, "counts.merged", &merged);
    lab_record(run, &(lab_row){ .name = "counts.plain",
                                .label = "1%, minimum selection: counts too high",
                                .exact = count_error(plain.g, N),
                                .measured = lab_sample_mean(&a.too_high, 0),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = "counts.minimal",
                                .label = "1%, minimal increase: counts too high",
                                .exact = count_error(minimal.g, N),
                                .measured = lab_sample_mean(&b.too_high, 0),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = "counts.merged",
                                .label = "the same, merged of two halves",
                                .exact = count_error(minimal.g, N / 2.0) +
                                         tamis_cbf_fpr(minimal.g, N / 2.0),
                                .measured = lab_sample_mean(&c.too_high, 0),
                                LAB_WITHIN_4_SIGMA,
                                .remark = "Fewer than in one set: within a half, counters stay at "
                                          "1; only the other half adds to them." });
}

void vi_spectral_run(lab_run *run) {
    if (!sets_have("counting")) return;
    record_sizes(run, 3, "12.12");
    record_sizes(run, 2, NULL);
    record_filters(run, 3);
    record_filters(run, 2);
    record_counts(run);
}
