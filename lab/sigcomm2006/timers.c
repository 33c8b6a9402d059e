/* timers.c - keys that are not dropped but time out: sections 3.3 and 3.4.
 *
 * The same number of keys is put in each tick, and they are not touched again. A sweep goes round
 * the table n times in a timeout T, n being 1, 3, 7 or 15 with 2 to 5 timer bits, and removes keys
 * that were not touched for T. So a key stays for T, and then until the next sweep, up to T / n
 * more. If keys were put at random times between sweeps, they would stay T (1 + 1 / 2n) on average.
 *
 * Fingerprints (3.4): the table holds more keys than that. A bucket that was just swept has fewer
 * keys than others, so new ones go there, and these stay longest. There is no formula for their
 * number: exact is a second table, in which buckets are lists of timers.
 *
 * Stateful Bloom filters without counters (3.3): "on an insertion, any non-zero cell becomes a DK".
 * With P keys in a tick and k of m cells each, a cell is empty if no key came to it for T + s, s
 * being the time since the sweep came by, from 0 to T / n:
 *
 *     e = mean over s of (1 - 1/m)^(k P (T + s)).
 *
 * A key is unknown if each of its cells was not empty when it came, or was hit by one of the r keys
 * that came after it: (1 - e (1 - 1/m)^(k r))^k, and that is averaged over r.
 */
#include "sigcomm2006.h"

#include <tamis/tamis.h>

#include <math.h>
#include <stdlib.h>

#define TIMEOUT 256u
#define TURNS 4u /* timeouts, until the table is as full as it gets */

/* ------------------------------------------------------------------ a table and its keys */

typedef struct timer_config {
    const char *kind, *geometry;
    uint64_t    per_tick, values;
    unsigned    timer_bits;
    unsigned    touched; /* keys that are touched once in a timeout, and must stay */
} timer_config;

typedef struct timer_outcome {
    double keys;     /* in the table, at the end */
    double unknown;  /* of those that came within the last timeout */
    double lost;     /* of these, and of those that were touched */
    double wrong;    /* of these, with another value */
    double too_late; /* of those that must have gone, and are there */
} timer_outcome;

typedef struct timer_trial {
    const timer_config *config;
    tamis_states       *states;
    uint64_t            start, next; /* of the keys */
    uint64_t           *ids;         /* in the order in which they came */
    uint64_t            n;
} timer_trial;

static unsigned sweeps_of(unsigned timer_bits) {
    return (1u << (timer_bits - 1)) - 1;
}

static tamis_states *timer_make(const timer_config *config, lab_random *random) {
    tamis_seed const  seed = { lab_random_next(random), lab_random_next(random) };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_states     *states;
    tamis_problem     problem;
    spec.capacity = spec.lifetime = config->per_tick * TIMEOUT / 2; /* fuller than it would plan */
    spec.values = config->values;
    spec.timeout = TIMEOUT;
    spec.timer_bits = config->timer_bits;
    spec.kind = config->kind;
    spec.geometry = config->geometry;
    spec.seed = &seed;
    if (tamis_states_create(&spec, &states, &problem) != TAMIS_OK) lab_die("%s", problem.text);
    return states;
}

static uint32_t value_of(const timer_trial *trial, uint64_t id) {
    return (uint32_t)(lab_mix(id) % trial->config->values);
}

/* Put the next key that is not a false positive. */
static void put_next(timer_trial *trial) {
    for (;;) {
        uint64_t const id = lab_mix(trial->start + ++trial->next * LAB_GOLDEN);
        uint32_t       value;
        if (tamis_states_get_id(trial->states, id, &value) != TAMIS_ERR_ABSENT) continue;
        if (tamis_states_put_id(trial->states, id, value_of(trial, id)) != TAMIS_OK)
            lab_die("a put was refused");
        trial->ids[trial->n++] = id;
        return;
    }
}

/* The first keys are touched, some in each tick, so that each is twice in a timeout. */
static void touch_some(timer_trial *trial, unsigned tick) {
    unsigned const every = TIMEOUT / 2;
    for (unsigned i = tick % every; i < trial->config->touched && i < trial->n; i += every)
        (void)!tamis_states_touch_id(trial->states, trial->ids[i]);
}

static void ask_one(const timer_trial *trial, uint64_t id, timer_outcome *outcome) {
    uint32_t           value = 0;
    tamis_status const status = tamis_states_get_id(trial->states, id, &value);
    outcome->unknown += status == TAMIS_ERR_UNKNOWN;
    outcome->lost += status == TAMIS_ERR_ABSENT;
    outcome->wrong += status == TAMIS_OK && value != value_of(trial, id);
}

/* Keys of the last timeout and keys that were touched must be there; keys that were not touched for
 * two timeouts must not. */
static void ask_all(const timer_trial *trial, timer_outcome *outcome) {
    uint64_t const live = trial->config->per_tick * TIMEOUT;
    for (uint64_t i = trial->n - live; i < trial->n; i++) ask_one(trial, trial->ids[i], outcome);
    outcome->unknown /= (double)live;
    double const unknown = outcome->unknown;
    for (uint64_t i = 0; i < trial->config->touched; i++) ask_one(trial, trial->ids[i], outcome);
    outcome->unknown = unknown;
    for (uint64_t i = trial->config->touched; i + 2 * live + trial->config->per_tick < trial->n;
         i++) {
        uint32_t value;
        outcome->too_late +=
            tamis_states_get_id(trial->states, trial->ids[i], &value) != TAMIS_ERR_ABSENT;
    }
}

static void timer_trial_run(const void *given, lab_random *random, void *ret_outcome) {
    const timer_config *const config = given;
    timer_outcome *const      outcome = ret_outcome;
    uint64_t const            all = config->per_tick * TIMEOUT * TURNS;
    timer_trial               trial = { .config = config,
                                        .states = timer_make(config, random),
                                        .start = lab_random_next(random),
                                        .ids = lab_allocate(all, sizeof *trial.ids) };
    for (unsigned tick = 0; tick < TURNS * TIMEOUT; tick++) {
        for (uint64_t i = 0; i < config->per_tick; i++) put_next(&trial);
        touch_some(&trial, tick);
        if (tick + 1 == TURNS * TIMEOUT) break;
        if (tamis_states_tick(trial.states, 1, NULL, NULL) != TAMIS_OK) lab_die("no tick");
    }
    tamis_states_info info;
    if (tamis_states_inspect(trial.states, &info) != TAMIS_OK)
        lab_die("a table cannot be inspected");
    outcome->keys = (double)info.keys;
    ask_all(&trial, outcome);
    free(trial.ids);
    tamis_states_free(trial.states);
}

static timer_outcome *run_timers(const lab_run *run, const char *stream, const timer_config *config,
                                 uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = timer_trial_run,
                                .given = config,
                                .outcome_bytes = sizeof(timer_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ fingerprints */

#define FCF_PER_TICK 128
#define FCF_TOUCHED 200
#define FCF_BUCKETS 4096u
#define FCF_BITS 40 /* of a print: none looks like another */

/* The second table stores for each key how many passes of the sweep are left until it is
 * removed. */
#define FCF_TABLES 3
#define FCF_ALL (FCF_TABLES * FCF_BUCKETS)
#define FCF_CELLS 16 /* room enough: no bucket is ever full */

typedef struct aged_table {
    unsigned sweeps;
    uint8_t  load[FCF_ALL];
    uint8_t  left[FCF_ALL][FCF_CELLS];
} aged_table;

static void aged_put(aged_table *table, lab_random *random) {
    unsigned best = (unsigned)lab_random_below(random, FCF_BUCKETS);
    for (unsigned i = 1; i < FCF_TABLES; i++) {
        unsigned const bucket = i * FCF_BUCKETS + (unsigned)lab_random_below(random, FCF_BUCKETS);
        if (table->load[bucket] < table->load[best]) best = bucket;
    }
    if (table->load[best] == FCF_CELLS) lab_die("a bucket of %u keys", FCF_CELLS);
    table->left[best][table->load[best]++] = (uint8_t)table->sweeps;
}

static void aged_pass(aged_table *table, unsigned bucket) {
    unsigned kept = 0;
    for (unsigned i = 0; i < table->load[bucket]; i++) {
        uint8_t const left = table->left[bucket][i];
        if (left != 0) table->left[bucket][kept++] = left - 1;
    }
    table->load[bucket] = (uint8_t)kept;
}

static void aged_trial(const void *given, lab_random *random, void *ret_outcome) {
    aged_table *const table = lab_allocate(1, sizeof *table);
    uint64_t          passed = 0, keys = 0;
    table->sweeps = *(const unsigned *)given;
    for (uint64_t tick = 1; tick <= TURNS * TIMEOUT; tick++) {
        for (unsigned i = 0; i < FCF_PER_TICK; i++) aged_put(table, random);
        if (tick == TURNS * TIMEOUT) break;
        for (; passed < tick * FCF_ALL * table->sweeps / TIMEOUT; passed++)
            aged_pass(table, (unsigned)(passed % FCF_ALL));
    }
    for (unsigned bucket = 0; bucket < FCF_ALL; bucket++) keys += table->load[bucket];
    *(double *)ret_outcome = (double)keys;
    free(table);
}

static lab_sample run_aged(const lab_run *run, const char *name, unsigned sweeps, uint64_t n) {
    lab_series const series = { .stream = name,
                                .n = n,
                                .trial = aged_trial,
                                .given = &sweeps,
                                .outcome_bytes = sizeof(double) };
    double *const    keys = lab_trials(run, &series);
    lab_sample       sample = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, keys[i]);
    free(keys);
    return sample;
}

/* Keys that are touched are few, and take the places of others evenly. */
static void record_kept(lab_run *run, const char *name, unsigned sweeps,
                        const timer_outcome *outcomes, uint64_t n) {
    double const     arrivals = (double)FCF_PER_TICK * TIMEOUT;
    lab_sample const exact = run_aged(run, lab_text(run, "%s.lab", name), sweeps, n);
    lab_sample       keys = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&keys, outcomes[i].keys - FCF_TOUCHED);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.keys", name),
                           .label = lab_text(run, "silent keys in the table, n = %u", sweeps),
                           .exact = exact.mean,
                           .measured = lab_sample_mean(&keys, 0),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.004,
                           .reason = "one tick of 256 in a timeout",
                           .remark = lab_text(run,
                                              "Exact is the lab's own table. Evenly spread, they "
                                              "would be %.0f.",
                                              arrivals * (1 + 0.5 / sweeps)) });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.most", name),
                                .label = lab_text(run, "their bound, n = %u", sweeps),
                                .exact = arrivals * (1 + 1.0 / sweeps),
                                .measured = { .value = keys.mean, .trials = n },
                                .rule = LAB_AT_MOST,
                                .reason = "each goes within T (1 + 1 / n)" });
}

static const char heard[] = "a law: a key that is put or touched within its timeout stays";

static void record_zero(lab_run *run, const char *name, const char *label, const char *reason,
                        double seen, uint64_t n) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .exact = 0,
                                .measured = { .value = seen, .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = reason });
}

void fcf_timers_run(lab_run *run) {
    static const unsigned bits[] = { 2, 3, 5 };
    uint64_t const        n = run->is_full ? 100 : 4;
    for (unsigned i = 0; i < 3; i++) {
        timer_config const   config = { .kind = "state_print",
                                        .geometry =
                                            lab_text(run,
                                                     "tables=3,buckets=%u,cells=8,print_bits=%u,"
                                                       "permuted=1,reinserts=0,side=0",
                                                     FCF_BUCKETS, FCF_BITS),
                                        .per_tick = FCF_PER_TICK,
                                        .values = 8,
                                        .timer_bits = bits[i],
                                        .touched = FCF_TOUCHED };
        const char *const    name = lab_text(run, "%u", bits[i]);
        timer_outcome *const outcomes = run_timers(run, name, &config, n);
        double               lost = 0, late = 0;
        for (uint64_t j = 0; j < n; j++) {
            lost += outcomes[j].lost + outcomes[j].wrong;
            late += outcomes[j].too_late;
        }
        record_kept(run, name, sweeps_of(bits[i]), outcomes, n);
        record_zero(run, lab_text(run, "%s.gone", name), "keys found after two silent timeouts",
                    "a law: a silent key goes", late, n);
        record_zero(run, lab_text(run, "%s.lost", name), "keys lost that were put or touched",
                    heard, lost, n);
        free(outcomes);
    }
}

/* ------------------------------------------------------------------ stateful Bloom filters */

#define SBF_PER_TICK 8
#define SBF_K 4
#define SBF_CELLS (20 * SBF_PER_TICK * TIMEOUT)

/* (1 - 1/m)^(k keys), the probability that this many keys miss a cell. */
static double missed_by(double keys) {
    return exp(SBF_K * keys * log1p(-1.0 / SBF_CELLS));
}

/* The mean over s of f(P[a cell is empty]), by the midpoints of 1000 parts. */
static double mean_over_sweep(unsigned sweeps, double (*function)(double empty)) {
    double sum = 0;
    for (double part = 0.5; part < 1000; part++)
        sum += function(missed_by(SBF_PER_TICK * TIMEOUT * (1 + part / 1000 / sweeps))) / 1000;
    return sum;
}

static double itself(double empty) {
    return empty;
}

/* A cell says a value if one key alone came to it since it was empty. */
static double one_alone(double empty) {
    return empty * (1 - empty);
}

/* Keys that are false positives are not put: all of their cells say "don't know", or one has a
 * value. If they were put, their value would be unknown. */
static double unknown_share(unsigned sweeps) {
    double const empty = mean_over_sweep(sweeps, itself);
    double const value = mean_over_sweep(sweeps, one_alone), unsaid = 1 - empty - value;
    double const taken = pow(unsaid, SBF_K) + SBF_K * value * pow(unsaid, SBF_K - 1);
    double const live = SBF_PER_TICK * (double)TIMEOUT;
    double       sum = 0;
    for (double later = 0; later < live; later++)
        sum += pow(1 - empty * missed_by(later), SBF_K) / live;
    return (sum - taken) / (1 - taken);
}

void sbf_timers_run(lab_run *run) {
    static const unsigned bits[] = { 2, 5 };
    uint64_t const        n = run->is_full ? 3000 : 80;
    double const          live = SBF_PER_TICK * (double)TIMEOUT;
    for (unsigned i = 0; i < 2; i++) {
        timer_config const config = {
            .kind = "state_bloom",
            .geometry = lab_text(run, "cells=%u,hashes=%u,counter_bits=0", SBF_CELLS, SBF_K),
            .per_tick = SBF_PER_TICK,
            .values = UINT64_C(1) << 20, /* so that two keys hardly ever have the same */
            .timer_bits = bits[i]
        };
        const char *const    name = lab_text(run, "%u", bits[i]);
        timer_outcome *const outcomes = run_timers(run, name, &config, n);
        lab_sample           unknown = { 0 };
        double               lost = 0;
        for (uint64_t j = 0; j < n; j++) {
            lab_sample_add(&unknown, outcomes[j].unknown);
            lost += outcomes[j].lost + outcomes[j].wrong;
        }
        free(outcomes);
        lab_record(run,
                   &(lab_row){ .name = lab_text(run, "%s.unknown", name),
                               .label = lab_text(run, "unknown keys, n = %u", sweeps_of(bits[i])),
                               .exact = unknown_share(sweeps_of(bits[i])),
                               .measured = lab_sample_mean(&unknown, 0),
                               LAB_WITHIN_4_SIGMA,
                               .remark = lab_text(run,
                                                  "The paper's formula, for insertions only, has "
                                                  "%.2g.",
                                                  pow(1 - missed_by(live - 1), SBF_K)) });
        record_zero(run, lab_text(run, "%s.lost", name), "lost keys and wrong values", heard, lost,
                    n);
    }
}
