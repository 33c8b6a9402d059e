/* bloom_compressed.c - Bloom filters that are sent compressed: by their entropy, and by a coder.
 *
 * Paper: M. Mitzenmacher, "Compressed Bloom Filters", IEEE/ACM Transactions on Networking 10(5),
 * 2002, which ICNP 2008 compares itself with. A Bloom filter that is larger than it need be, with
 * fewer hashes, has fewer ones, and takes fewer bits when it is sent: in the limit log2(1/fpr) for
 * each key. In memory such a filter may take hundreds of bits per key.
 *
 * The filters are real ones of the library, and what is sent are the bytes of an arithmetic coder
 * (coder.h), which are decoded again.
 */
#include "baselines.h"

#include "coder.h"
#include "core/field.h"
#include "frame/sets.h"
#include "frame/theory.h"
#include "handle.h"
#include "theory/bloom_rate.h"

#include <math.h>
#include <stdlib.h>

#define MOST_BITS 4e6 /* of a filter */
#define MOST_KEYS 20000

/* ------------------------------------------------------------------ theory */

/* Bits per key before and after, if k hashes make the rate. k need not be whole. */
typedef struct compressed {
    double before, after, share; /* share: of marked places */
} compressed;

static double entropy(double share) {
    return -(share * log2(share) + (1 - share) * log2(1 - share));
}

static compressed compress(double fpr, double k) {
    double const share = pow(fpr, 1 / k), before = -k / log1p(-share);
    return (compressed){ before, before * entropy(share), share };
}

/* What is sent besides the entropy: the number of ones, and the unused part of the last byte. */
#define ONES_BITS 32
#define END_BITS 4 /* on average, of 8 */

/* ------------------------------------------------------------------ one filter */

typedef struct filter_config {
    double   fpr;
    unsigned k;
    uint64_t keys, bits;
} filter_config;

typedef struct filter_outcome {
    double own_rate, coded; /* coded: bits of all that is sent */
    double wrong;           /* bits that were not decoded correctly */
} filter_outcome;

static filter_config config_of(double fpr, unsigned k) {
    double const before = compress(fpr, k).before;
    double const keys = floor(fmin(MOST_KEYS, MOST_BITS / before));
    return (filter_config){ fpr, k, (uint64_t)keys, (uint64_t)ceil(keys * before) };
}

/* The number of ones is sent first, in 32 bits. */
static double code(const uint8_t *body, uint64_t bits, double *ret_wrong) {
    uint8_t *const bytes = lab_allocate((size_t)bits / 8 + 4096, 1);
    uint64_t       ones = 0;
    for (uint64_t i = 0; i < bits; i++) ones += field_get_bit(body, i);
    double const share = (double)ones / (double)bits;
    coder        to = coder_start(bytes, share);
    for (uint64_t i = 0; i < bits; i++) coder_put(&to, field_get_bit(body, i));
    size_t const n = coder_end(&to);
    coder        from = coder_open(bytes, share);
    for (uint64_t i = 0; i < bits; i++) *ret_wrong += coder_get(&from) != field_get_bit(body, i);
    free(bytes);
    return ONES_BITS + 8 * (double)n;
}

static void filter_trial(const void *given, lab_random *random, void *ret_outcome) {
    const filter_config *const config = given;
    filter_outcome *const      outcome = ret_outcome;
    tamis_spec                 spec = TAMIS_SPEC_INIT;
    tamis_info                 info;
    char                       geometry[64];
    (void)snprintf(geometry, sizeof geometry, "bits=%llu,hashes=%u",
                   (unsigned long long)config->bits, config->k);
    spec.capacity = config->keys;
    spec.kind = "bloom";
    spec.geometry = geometry;
    tamis_set *const set = sets_make(&spec, random);
    key_source const keys = keys_of(random);
    sets_fill(set, &keys, 0, config->keys);
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a set cannot be inspected");
    outcome->own_rate = info.current_fpr;
    outcome->coded = code(set->table.body, config->bits, &outcome->wrong);
    tamis_free(set);
}

typedef struct filter_samples {
    lab_sample own, coded; /* coded: per key */
    double     wrong;
} filter_samples;

static filter_samples run_filters(const lab_run *run, const char *stream,
                                  const filter_config *config) {
    lab_series const      series = { .stream = stream,
                                     .n = run->is_full ? 100 : 8,
                                     .trial = filter_trial,
                                     .given = config,
                                     .outcome_bytes = sizeof(filter_outcome) };
    filter_outcome *const outcomes = lab_trials(run, &series);
    filter_samples        samples = { .wrong = 0 };
    for (uint64_t i = 0; i < series.n; i++) {
        lab_sample_add(&samples.own, outcomes[i].own_rate);
        lab_sample_add(&samples.coded, outcomes[i].coded / (double)config->keys);
        samples.wrong += outcomes[i].wrong;
    }
    free(outcomes);
    return samples;
}

/* ------------------------------------------------------------------ rows */

/* The entropy of a filter of whole bits, on average: it is curved, so it is a little less than that
 * of the mean share. */
static double size_mean(const filter_config *config) {
    places const table = { (double)config->bits, (double)config->keys, config->k };
    double const share = -expm1(table.k * table.n * log1p(-1 / table.m));
    double const deviation = theory_bloom_deviation(&table) / (table.k * pow(share, table.k - 1.0));
    double const curve = deviation * deviation / (2 * M_LN2 * share * (1 - share));
    return table.m / table.n * (entropy(share) - curve) + (ONES_BITS + END_BITS) / table.n;
}

/* The size varies with the share of marked places, and that as theory says: by the rate q^k, whose
 * deviation is known, d size / d rate = m H'(q) / (k q^(k - 1)). */
static double size_deviation(const filter_config *config, double share) {
    places const table = { (double)config->bits, (double)config->keys, config->k };
    double const slope = log2((1 - share) / share) * table.m / table.n;
    double const by_share =
        slope * theory_bloom_deviation(&table) / (table.k * pow(share, table.k - 1.0));
    return hypot(by_share, 8 / sqrt(12) / table.n); /* and by the last byte */
}

static void record_filter(lab_run *run, double fpr, unsigned k, filter_samples *all) {
    const char *const    name = lab_text(run, "%.0e.k%u", fpr, k);
    filter_config const  config = config_of(fpr, k);
    compressed const     exact = compress(fpr, k);
    places const         table = { (double)config.bits, (double)config.keys, k };
    filter_samples const samples = run_filters(run, name, &config);
    double const         root = sqrt((double)samples.own.n);
    lab_measured const   coded =
        lab_sample_mean(&samples.coded, size_deviation(&config, exact.share) / root);
    const char *const place = lab_text(run, "%g%%", 100 * fpr);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.coded", name),
                                .label = lab_text(run, "sent, k = %u: of %.4g bits per key", k,
                                                  exact.before),
                                .place = place,
                                .exact = size_mean(&config),
                                .measured = coded,
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.rate", name),
                                .label = "its false positives",
                                .place = place,
                                .exact = tamis_bloom_fpr(table.m, k, table.n),
                                .measured = lab_sample_mean(&samples.own,
                                                            theory_bloom_deviation(&table) / root),
                                LAB_WITHIN_4_SIGMA });
    lab_draw_measured(run,
                      &(lab_point){ "compressed", lab_text(run, "fpr %g%%", 100 * fpr),
                                    exact.before, coded.value },
                      coded.sigma_theory);
    all->wrong += samples.wrong;
}

/* From the smallest filter to one that is hundreds of times larger. */
static void draw(lab_run *run, double fpr) {
    double const best = log2(1 / fpr);
    for (double k = best; k > 0.999; k /= 1.03) {
        compressed const at = compress(fpr, k);
        if (at.before > 2000) break;
        lab_draw(run, &(lab_point){ "compressed", lab_text(run, "fpr %g%%", 100 * fpr), at.before,
                                    at.after });
    }
}

static void record_rate(lab_run *run, double fpr, filter_samples *all) {
    unsigned const best = (unsigned)round(log2(1 / fpr));
    unsigned const hashes[] = { best, best / 2, 3, 2 };
    draw(run, fpr);
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
        if (i != 0 && hashes[i] == hashes[i - 1]) continue;
        record_filter(run, fpr, hashes[i], all);
    }
    lab_record(run, &(lab_row){ .name = lab_text(run, "%.0e.limit", fpr),
                                .label = "entropy, the lower bound",
                                .place = lab_text(run, "%g%%", 100 * fpr),
                                .exact = log2(1 / fpr),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

void bloom_compressed(lab_run *run) {
    filter_samples all = { .wrong = 0 };
    lab_describe(run,
                 &(lab_figure){ .name = "compressed",
                                .title = "Compressed Bloom filters: smaller when they are sent, "
                                         "much larger before",
                                .x = "bits per key before",
                                .y = "bits per key sent",
                                .is_log_x = true,
                                .remark = "Lines are entropy, dots are bytes of an arithmetic "
                                          "coder." });
    for (unsigned i = 2; i <= 4; i++) record_rate(run, pow(10, -(double)i), &all);
    lab_record(run, &(lab_row){ .name = "wrong",
                                .label = "bits that differ after decoding",
                                .place = "all of them",
                                .measured = { .value = all.wrong, .trials = 1 },
                                .rule = LAB_EQUAL,
                                .reason = "the coder is lossless" });
}
