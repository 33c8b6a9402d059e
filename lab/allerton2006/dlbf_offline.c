/* dlbf_offline.c - sections II.D and II.E: keys that are placed again, and filters
 * that are not full.
 *
 * For II.D there is no theory: loads depend on the order of the keys. So `exact` is a simulation of
 * balls and bins. For the paper's figures we allow the sampling error of the trials that it
 * describes in II.B: 1000, with 100000 queries each.
 */
#include "dlbf.h"

#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ placing again */

#define BUCKETS 4096u /* of each of two subtables */
#define ROUNDS 10
#define FULL_TRIALS 1000
#define QUICK_TRIALS 20

typedef struct offline {
    const char          *name, *label, *published;
    unsigned             keys;
    bool                 ties_stay; /* a key stays where it is if the other bucket is no better */
    const bucket_layout *layout;
} offline;

/* A key has the left bucket and the right one, and is in one of them. */
typedef struct pair {
    uint16_t bucket[2];
    uint8_t  side;
} pair;

/* The emptier bucket. If both are equally full, it is the left one, or the one that the key was
 * in. */
static void place(pair *key, uint8_t loads[2][BUCKETS], bool ties_stay) {
    unsigned const left = loads[0][key->bucket[0]], right = loads[1][key->bucket[1]];
    if (left != right)
        key->side = left > right;
    else if (!ties_stay)
        key->side = 0;
    loads[key->side][key->bucket[key->side]]++;
}

static void offline_trial(const void *given, lab_random *random, void *ret_outcome) {
    const offline *const config = given;
    uint8_t              loads[2][BUCKETS] = { { 0 } };
    pair *const          keys = lab_allocate(config->keys, sizeof *keys);
    for (unsigned i = 0; i < config->keys; i++) {
        keys[i].bucket[0] = (uint16_t)lab_random_below(random, BUCKETS);
        keys[i].bucket[1] = (uint16_t)lab_random_below(random, BUCKETS);
        place(&keys[i], loads, false);
    }
    for (unsigned i = 0; i < ROUNDS * config->keys; i++) {
        pair *const key = &keys[i % config->keys];
        loads[key->side][key->bucket[key->side]]--;
        place(key, loads, config->ties_stay);
    }
    dlbf_bins const bins = { .tables = 2, .buckets = BUCKETS, .loads = loads[0] };
    *(double *)ret_outcome = dlbf_bins_rate(&bins, config->layout);
    free(keys);
}

static lab_sample sample_offline(const lab_run *run, const offline *config) {
    lab_series const series = { .stream = config->name,
                                .n = run->is_full ? FULL_TRIALS : QUICK_TRIALS,
                                .trial = offline_trial,
                                .given = config,
                                .outcome_bytes = sizeof(double) };
    double *const    outcomes = lab_trials(run, &series);
    lab_sample       sample = { 0 };
    for (uint64_t i = 0; i < series.n; i++) lab_sample_add(&sample, outcomes[i]);
    free(outcomes);
    return sample;
}

lab_sample dlbf_offline_rate(const lab_run *run, const bucket_layout *layout, unsigned keys) {
    offline const config = { .name = layout->name, .keys = keys, .layout = layout };
    return sample_offline(run, &config);
}

static void record_offline(lab_run *run, const offline *config) {
    lab_sample const sample = sample_offline(run, config);
    double const     of_print = theory_rate_sigma(sample.mean, 0, 1000, 100000);
    double const     of_mean = lab_sample_deviation(&sample) / sqrt((double)sample.n);
    lab_record(run, &(lab_row){ .name = config->name,
                                .label = config->label,
                                .published = config->published,
                                .published_sigma = hypot(of_print, of_mean),
                                .exact = sample.mean,
                                .rule = LAB_EQUAL,
                                .reason = "simulated: there is no formula",
                                .remark = lab_text(run, "%u trials; +- %.2g.", (unsigned)sample.n,
                                                   of_mean) });
}

void dlbf_offline_run(lab_run *run) {
    static const offline rows[] = {
        { "64.left", "64 bits, 32768 keys, ties go left", "0.00023894", 32768, false,
          &dlbf_sorted64 },
        { "64.stay", "the same, ties stay", NULL, 32768, true, &dlbf_sorted64 },
        { "128.left", "128 bits, 49152 keys, ties go left", "0.000004605", 49152, false,
          &dlbf_two128 },
        { "128.stay", "the same, ties stay", NULL, 49152, true, &dlbf_two128 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_offline(run, &rows[i]);
}
