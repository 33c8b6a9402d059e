/* thresholds.c - section 3.3: a lookup returns a value only if t of the key's cells have it.
 *
 * The paper returns a value as soon as one cell of a key says it and all others say "don't know",
 * and remarks that another threshold did not prove especially effective. With insertions only, a
 * cell of a key with value i says "don't know" with
 *
 *     q = 1 - (1 - 1/m)^(k (n - n_i)),
 *
 * so a key that is there is unknown if fewer than t of k cells do not: a binomial tail. A cell says
 * i with a_i = (1 - q) (1 - (1 - 1/m)^(k n_i)), and "don't know" with u = 1 - (1 - 1/m)^(kn) - sum
 * a_i, so a stranger has value i with
 *
 *     sum over j >= t of  C(k, j) a_i^j u^(k - j).
 *
 * The library always takes t = 1, so the table is the lab's own: an array of what cells say.
 */
#include "sigcomm2006.h"

#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define KEYS 2000
#define VALUES 4 /* equally common */
#define QUERIES 20000
#define MAX_K 8
#define EMPTY 0
#define UNKNOWN (VALUES + 1)

typedef struct threshold_config {
    unsigned cells, k; /* cells per key */
} threshold_config;

typedef struct threshold_rates {
    double unknown[MAX_K + 1]; /* of keys that are there, by threshold */
    double stranger[MAX_K + 1];
} threshold_rates;

/* ------------------------------------------------------------------ theory */

static threshold_rates rates_of(const threshold_config *config) {
    double const    m = (double)config->cells * KEYS, k = config->k;
    double const    miss = log1p(-1 / m), own = KEYS / (double)VALUES;
    double const    missed_by_others = exp(k * (KEYS - own) * miss);
    double const    says = missed_by_others * -expm1(k * own * miss);
    double const    unsaid = -expm1(k * KEYS * miss) - VALUES * says;
    threshold_rates rates = { { 0 }, { 0 } };
    for (unsigned t = 1; t <= config->k; t++) {
        rates.unknown[t] = 1 - tamis_binomial_tail(k, missed_by_others, t);
        for (unsigned j = t; j <= config->k; j++) {
            double const ways = lgamma(k + 1) - lgamma(j + 1.0) - lgamma(k - j + 1);
            rates.stranger[t] += VALUES * exp(ways) * pow(says, j) * pow(unsaid, k - j);
        }
    }
    return rates;
}

/* ------------------------------------------------------------------ tables */

typedef struct threshold_table {
    unsigned m, k;
    uint8_t *cells;
} threshold_table;

static void insert(threshold_table *table, lab_random places, unsigned value) {
    for (unsigned i = 0; i < table->k; i++) {
        uint8_t *const cell = &table->cells[lab_random_below(&places, table->m)];
        *cell = *cell == EMPTY || *cell == value ? (uint8_t)value : UNKNOWN;
    }
}

/* How many cells say the one value that any of them says; -1: two values, or an empty cell. */
static int look_up(const threshold_table *table, lab_random places) {
    unsigned said = EMPTY;
    int      n = 0;
    for (unsigned i = 0; i < table->k; i++) {
        unsigned const code = table->cells[lab_random_below(&places, table->m)];
        if (code == EMPTY) return -1;
        if (code == UNKNOWN) continue;
        if (said != EMPTY && said != code) return -1;
        said = code;
        n++;
    }
    return n;
}

/* A key is the generator of its places. */
static void threshold_trial(const void *given, lab_random *random, void *ret_outcome) {
    const threshold_config *const config = given;
    threshold_rates *const        outcome = ret_outcome;
    lab_random *const             keys = lab_allocate(KEYS, sizeof *keys);
    threshold_table               table = { .m = config->cells * KEYS, .k = config->k };
    table.cells = lab_allocate(table.m, 1);
    for (unsigned i = 0; i < KEYS; i++) {
        keys[i].state = lab_random_next(random);
        insert(&table, keys[i], 1 + i % VALUES);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        int const n = look_up(&table, keys[i]);
        for (unsigned t = 1; t <= config->k; t++)
            outcome->unknown[t] += n < (int)t ? 1.0 / KEYS : 0;
    }
    for (unsigned i = 0; i < QUERIES; i++) {
        int const n = look_up(&table, (lab_random){ lab_random_next(random) });
        for (unsigned t = 1; t <= config->k; t++)
            outcome->stranger[t] += n >= (int)t ? 1.0 / QUERIES : 0;
    }
    free(table.cells);
    free(keys);
}

/* ------------------------------------------------------------------ rows */

static void record_rate(lab_run *run, const char *name, const char *label, double exact,
                        const lab_sample *sample) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .exact = exact,
                                .measured = lab_sample_mean(sample, 0),
                                LAB_WITHIN_4_SIGMA });
}

static void record_config(lab_run *run, const threshold_config *config, unsigned most) {
    uint64_t const         n = run->is_full ? 4000 : 100;
    threshold_rates const  exact = rates_of(config);
    const char *const      name = lab_text(run, "%u.k%u", config->cells, config->k);
    lab_series const       series = { .stream = name,
                                      .n = n,
                                      .trial = threshold_trial,
                                      .given = config,
                                      .outcome_bytes = sizeof(threshold_rates) };
    threshold_rates *const outcomes = lab_trials(run, &series);
    for (unsigned t = 1; t <= most; t++) {
        lab_sample unknown = { 0 }, stranger = { 0 };
        for (uint64_t i = 0; i < n; i++) {
            lab_sample_add(&unknown, outcomes[i].unknown[t]);
            lab_sample_add(&stranger, outcomes[i].stranger[t]);
        }
        record_rate(
            run, lab_text(run, "%s.t%u.unknown", name, t),
            lab_text(run, "unknown: %u cells per key, k = %u, t = %u", config->cells, config->k, t),
            exact.unknown[t], &unknown);
        record_rate(run, lab_text(run, "%s.t%u.stranger", name, t), "absent keys with a value",
                    exact.stranger[t], &stranger);
    }
    free(outcomes);
}

/* The smallest sum of both errors with this threshold, over all k. */
static double least_sum(unsigned cells, unsigned t, unsigned *ret_k) {
    double least = 2;
    for (unsigned k = t; k <= MAX_K; k++) {
        threshold_config const config = { cells, k };
        threshold_rates const  rates = rates_of(&config);
        double const           sum = rates.unknown[t] + rates.stranger[t];
        if (sum < least) *ret_k = k;
        least = fmin(least, sum);
    }
    return least;
}

/* Is a threshold of 1 with its best k better than 2 with its own? */
static void record_best(lab_run *run, unsigned cells) {
    unsigned     k1 = 0, k2 = 0;
    double const one = least_sum(cells, 1, &k1), two = least_sum(cells, 2, &k2);
    bool const   is_better = one <= two;
    lab_record(
        run, &(lab_row){ .name = lab_text(run, "best.%u", cells),
                         .label = lab_text(run, "least sum of both, %u cells, t = 2 and 1", cells),
                         .exact = two,
                         .measured = lab_computed(one),
                         .rule = LAB_AT_MOST,
                         .reason = "\"we have not found this especially effective\"",
                         .remark = lab_text(run, "k = %u and %u.%s", k2, k1,
                                            is_better ? "" : " It is effective here.") });
}

void sbf_thresholds_run(lab_run *run) {
    static const threshold_config configs[] = { { 5, 3 }, { 10, 4 } };
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        record_config(run, &configs[i], 3);
    }
    for (unsigned cells = 5; cells <= 20; cells *= 2) record_best(run, cells);
}
