/* state_bloom.c - the stateful Bloom filter: "don't know", and never a wrong value.
 *
 * SIGCOMM 2006, section 3.3. The paper gives formulas for insertions only and prints no numbers. So
 * three configurations were chosen: values equally common, one that most keys have, and a table so
 * full that much is unknown. Each formula is compared with tables. The formulas also consider
 * places of a key that coincide, which matters by less than a standard error.
 *
 * The paper leaves open what happens when keys are added and removed. Cells that say "don't know"
 * remain so, and the formulas no longer hold. The library's plan has a formula for that.
 */
#include "mix.h"
#include "sigcomm2006.h"

#include "frame/sets.h"
#include "kinds/state_bloom/size.h"

#include <math.h>
#include <stdlib.h>

#define KEYS 2000
#define QUERIES 20000
#define MAX_VALUES 4
#define QUICK_TABLES 100
#define FULL_TABLES 5000
#define TURNOVERS 16 /* keys over a life, for each that is there at a time */
#define ALL_DIFFER (UINT64_C(1) << 20)

/* Tables of m cells and k hashes; share[i] of the keys have value i, or any of `values`. */
typedef struct sbf_config {
    const char *name, *label;
    uint64_t    cells;
    unsigned    k;
    uint64_t    values;
    double      share[MAX_VALUES]; /* 0: any value is as likely as any other */
    unsigned    counter_bits;
    unsigned    turnovers, moves; /* moves for each key that comes */
    bool        is_printed;       /* compare it with the paper's approximation, too */
} sbf_config;

typedef struct sbf_outcome {
    double unknown[MAX_VALUES], all_unknown; /* of keys that are there: by value, and all */
    double absent_unknown, absent_value[MAX_VALUES];
    double wrong, lost;
} sbf_outcome;

/* ------------------------------------------------------------------ one table */

typedef struct sbf_trial {
    const sbf_config *config;
    tamis_states     *states;
    lab_random       *random;
    key_source        keys;
    uint64_t          next;
    uint64_t          id[KEYS];
    uint32_t          value[KEYS];
} sbf_trial;

static tamis_states *make_table(const sbf_config *config, lab_random *random) {
    tamis_seed const  seed = { lab_random_next(random), lab_random_next(random) };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_problem     problem;
    tamis_states     *states = NULL;
    char              geometry[80];
    (void)snprintf(geometry, sizeof geometry, "cells=%llu,hashes=%u,counter_bits=%u",
                   (unsigned long long)config->cells, config->k, config->counter_bits);
    spec.capacity = KEYS;
    spec.lifetime = (uint64_t)KEYS * config->turnovers;
    spec.values = config->values;
    spec.kind = "state_bloom";
    spec.geometry = geometry;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) lab_die("%s", problem.text);
    return states;
}

/* While the table is filled, the number i of a key determines its value, in the shares of the
 * mix. */
static uint32_t value_of(const sbf_config *config, uint64_t i) {
    double   part = config->share[0] * KEYS;
    uint32_t value = 0;
    while (value + 1 < config->values && (double)i >= part) part += config->share[++value] * KEYS;
    return value;
}

static uint32_t any_value(sbf_trial *trial) {
    if (trial->config->share[0] > 0)
        return value_of(trial->config, lab_random_below(trial->random, KEYS));
    return (uint32_t)lab_random_below(trial->random, trial->config->values);
}

static void put(sbf_trial *trial, uint64_t i, uint32_t value) {
    uint8_t key[KEY_BYTES];
    trial->id[i] = trial->next++;
    trial->value[i] = value;
    key_write(&trial->keys, trial->id[i], key);
    if (tamis_states_put(trial->states, key, KEY_BYTES, value) != TAMIS_OK)
        lab_die("a put was refused");
}

static void replace_one(sbf_trial *trial) {
    uint64_t const i = lab_random_below(trial->random, KEYS);
    uint8_t        key[KEY_BYTES];
    key_write(&trial->keys, trial->id[i], key);
    if (tamis_states_drop(trial->states, key, KEY_BYTES, TAMIS_ANY_VALUE) != TAMIS_OK)
        lab_die("a drop was refused");
    put(trial, i, any_value(trial));
}

static void move_one(sbf_trial *trial) {
    uint64_t const i = lab_random_below(trial->random, KEYS);
    uint32_t const to = any_value(trial);
    uint8_t        key[KEY_BYTES];
    key_write(&trial->keys, trial->id[i], key);
    tamis_status const status =
        tamis_states_move(trial->states, key, KEY_BYTES, trial->value[i], to);
    if (status != TAMIS_OK && status != TAMIS_ERR_UNKNOWN) lab_die("a move was refused");
    trial->value[i] = to;
}

static void ask_present(const sbf_trial *trial, sbf_outcome *outcome) {
    double keys[MAX_VALUES] = { 0 };
    for (uint64_t i = 0; i < KEYS; i++) {
        uint8_t  key[KEY_BYTES];
        uint32_t value = 0;
        key_write(&trial->keys, trial->id[i], key);
        tamis_status const status = tamis_states_get(trial->states, key, KEY_BYTES, &value);
        bool const         is_unknown = status == TAMIS_ERR_UNKNOWN;
        outcome->all_unknown += is_unknown / (double)KEYS;
        outcome->lost += status == TAMIS_ERR_ABSENT;
        outcome->wrong += status == TAMIS_OK && value != trial->value[i];
        if (trial->value[i] >= MAX_VALUES) continue;
        outcome->unknown[trial->value[i]] += is_unknown;
        keys[trial->value[i]]++;
    }
    for (unsigned v = 0; v < MAX_VALUES; v++) outcome->unknown[v] /= fmax(keys[v], 1);
}

static void ask_absent(const sbf_trial *trial, sbf_outcome *outcome) {
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint8_t  key[KEY_BYTES];
        uint32_t value = 0;
        key_write(&trial->keys, trial->next + i, key);
        tamis_status const status = tamis_states_get(trial->states, key, KEY_BYTES, &value);
        outcome->absent_unknown += (status == TAMIS_ERR_UNKNOWN) / (double)QUERIES;
        if (value < MAX_VALUES)
            outcome->absent_value[value] += (status == TAMIS_OK) / (double)QUERIES;
    }
}

static void sbf_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    const sbf_config *const config = given;
    sbf_trial *const        trial = lab_allocate(1, sizeof *trial);
    *trial =
        (sbf_trial){ .config = config, .states = make_table(config, random), .random = random };
    trial->keys = keys_of(random);
    for (uint64_t i = 0; i < KEYS; i++)
        put(trial, i, config->share[0] > 0 ? value_of(config, i) : any_value(trial));
    for (uint64_t i = 0; i < (uint64_t)KEYS * (config->turnovers - 1); i++) {
        replace_one(trial);
        for (unsigned j = 0; j < config->moves; j++) move_one(trial);
    }
    ask_present(trial, ret_outcome);
    ask_absent(trial, ret_outcome);
    tamis_states_free(trial->states);
    free(trial);
}

/* ------------------------------------------------------------------ many tables */

typedef struct sbf_samples {
    lab_sample unknown[MAX_VALUES], all_unknown, absent_unknown, absent_value[MAX_VALUES];
    double     wrong, lost;
} sbf_samples;

static sbf_samples take_samples(const lab_run *run, const sbf_config *config) {
    uint64_t const     n = run->is_full ? FULL_TABLES : QUICK_TABLES;
    lab_series const   series = { .stream = config->name,
                                  .n = n,
                                  .trial = sbf_trial_run,
                                  .given = config,
                                  .outcome_bytes = sizeof(sbf_outcome) };
    sbf_outcome *const outcomes = lab_trials(run, &series);
    sbf_samples        samples = { .wrong = 0 };
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&samples.all_unknown, outcomes[i].all_unknown);
        lab_sample_add(&samples.absent_unknown, outcomes[i].absent_unknown);
        for (unsigned v = 0; v < MAX_VALUES; v++) {
            lab_sample_add(&samples.unknown[v], outcomes[i].unknown[v]);
            lab_sample_add(&samples.absent_value[v], outcomes[i].absent_value[v]);
        }
        samples.wrong += outcomes[i].wrong;
        samples.lost += outcomes[i].lost;
    }
    free(outcomes);
    return samples;
}

/* ------------------------------------------------------------------ rows */

static void record_rate(lab_run *run, const sbf_config *config, const char *name, const char *label,
                        double exact, const lab_sample *sample) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s", config->name, name),
                                .label = label,
                                .place = config->label,
                                .exact = exact,
                                .measured = lab_sample_mean(sample, 0),
                                LAB_WITHIN_4_SIGMA });
}

static void record_never(lab_run *run, const sbf_config *config, const sbf_samples *samples) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.wrong", config->name),
                                .label = "wrong values and lost keys",
                                .place = config->label,
                                .exact = 0,
                                .measured = { .value = samples->wrong + samples->lost,
                                              .trials = samples->all_unknown.n },
                                .rule = LAB_EQUAL,
                                .reason = "section 3.3: never, if the system is well-behaved" });
}

/* The text prints 1 - e^(-k (n - n_i)) for the share of cells, without a division by m. */
static void record_print(lab_run *run, const sbf_config *config, double exact) {
    double const others = KEYS * (1 - config->share[0]), k = config->k;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.printed", config->name),
                                .label = "value 0, by the approximation as printed",
                                .place = config->label,
                                .published = lab_text(run, "%.3f", pow(-expm1(-k * others), k)),
                                .exact = exact,
                                .flaw = "The exponent lacks a division by m." });
}

static void run_mix(lab_run *run, const sbf_config *config) {
    double            n[MAX_VALUES];
    sbf_mix const     mix = { (double)config->cells, config->k, (unsigned)config->values, n };
    sbf_samples const samples = take_samples(run, config);
    for (unsigned v = 0; v < config->values; v++) n[v] = config->share[v] * KEYS;
    for (unsigned v = 0; v < config->values; v++) {
        record_rate(run, config, lab_text(run, "unknown%u", v),
                    lab_text(run, "keys of value %u that are unknown", v), sbf_mix_unknown(&mix, v),
                    &samples.unknown[v]);
    }
    if (config->is_printed) record_print(run, config, sbf_mix_unknown(&mix, 0));
    record_rate(run, config, "absent.unknown", "absent keys that are unknown",
                sbf_mix_absent_unknown(&mix), &samples.absent_unknown);
    for (unsigned v = 0; v < config->values; v++) {
        record_rate(run, config, lab_text(run, "absent.value%u", v),
                    lab_text(run, "absent keys that have value %u", v),
                    sbf_mix_absent_value(&mix, v), &samples.absent_value[v]);
    }
    record_never(run, config, &samples);
}

void sbf_insertions_run(lab_run *run) {
    static const sbf_config configs[] = {
        { .name = "equal",
          .label = "4 values, equally common; 5 cells per key, k = 3",
          .cells = 5 * KEYS,
          .k = 3,
          .values = 4,
          .share = { 0.25, 0.25, 0.25, 0.25 },
          .counter_bits = 4,
          .turnovers = 1,
          .is_printed = true },
        { .name = "most",
          .label = "3 values of 70, 20 and 10%; 5 cells per key, k = 4",
          .cells = 5 * KEYS,
          .k = 4,
          .values = 3,
          .share = { 0.7, 0.2, 0.1 },
          .counter_bits = 4,
          .turnovers = 1 },
        { .name = "full",
          .label = "2 values, equally common; 2 cells per key, k = 2",
          .cells = 2 * KEYS,
          .k = 2,
          .values = 2,
          .share = { 0.5, 0.5 },
          .counter_bits = 5,
          .turnovers = 1 },
    };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) run_mix(run, &configs[i]);
}

/* ------------------------------------------------------------------ churn */

static double stated(const sbf_config *config, double turnovers) {
    uint64_t const    g[OVERLAID_FIELDS] = { config->cells, config->k, config->values,
                                             config->counter_bits, 0 };
    overlaid_forecast told;
    tamis_state_bloom_forecast(g, KEYS, KEYS * turnovers, &told);
    return told.unknown;
}

/* The paper's formula, for insertions only. */
static double formula(const sbf_config *config) {
    double        sum = 0, n[MAX_VALUES];
    sbf_mix const mix = { (double)config->cells, config->k, (unsigned)config->values, n };
    for (unsigned v = 0; v < config->values; v++) n[v] = config->share[v] * KEYS;
    for (unsigned v = 0; v < config->values; v++)
        sum += config->share[v] * sbf_mix_unknown(&mix, v);
    return sum;
}

/* A bound where keys that share a cell may have the same value, and the rate where none do. */
static void run_churn(lab_run *run, const sbf_config *config) {
    sbf_samples const samples = take_samples(run, config);
    bool const        is_rate = config->values == ALL_DIFFER || config->counter_bits == 0;
    double const      before = config->share[0] > 0 ? formula(config) : stated(config, 1);
    lab_row           row = { .name = lab_text(run, "%s.unknown", config->name),
                              .label = "keys that are unknown",
                              .place = config->label,
                              .exact = stated(config, config->turnovers),
                              .measured = lab_sample_mean(&samples.all_unknown, 0),
                              LAB_WITHIN_4_SIGMA };
    row.remark = lab_text(run, "The paper's formula, for insertions only, says %.3g.", before);
    if (!is_rate) {
        row.rule = LAB_AT_MOST;
        row.reason = "the bound counts every overlap as unknown, even of equal values";
    }
    lab_record(run, &row);
    record_never(run, config, &samples);
}

void sbf_churn_run(lab_run *run) {
    static const sbf_config configs[] = {
        { .name = "differ",
          .label = "all values differ; 20 cells per key, k = 4, 16 turnovers",
          .cells = 20 * KEYS,
          .k = 4,
          .values = ALL_DIFFER,
          .counter_bits = 4,
          .turnovers = TURNOVERS },
        { .name = "equal",
          .label = "4 equal values; 5 cells per key, k = 3, 16 turnovers",
          .cells = 5 * KEYS,
          .k = 3,
          .values = 4,
          .share = { 0.25, 0.25, 0.25, 0.25 },
          .counter_bits = 5,
          .turnovers = TURNOVERS },
        { .name = "moving",
          .label = "the same, and for each key that comes one moves",
          .cells = 5 * KEYS,
          .k = 3,
          .values = 4,
          .share = { 0.25, 0.25, 0.25, 0.25 },
          .counter_bits = 5,
          .turnovers = TURNOVERS,
          .moves = 1 },
        { .name = "uncounted",
          .label = "no counters, insertions only: any overlap is unknown",
          .cells = 5 * KEYS,
          .k = 3,
          .values = 4,
          .share = { 0.25, 0.25, 0.25, 0.25 },
          .counter_bits = 0,
          .turnovers = 1 },
    };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) run_churn(run, &configs[i]);
}
