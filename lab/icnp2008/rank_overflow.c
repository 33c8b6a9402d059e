/* rank_overflow.c - Theorem 1 and its extension to a lifetime, compared with real overflows.
 *
 * A probability of 1e-10 cannot be measured. So the tables here have 16 buckets and far too few
 * extensions, and their exact law can be computed (rank_theory.c). There are three numbers for each
 * table: how often a real table refuses a key, how often it should, and the bound by which the
 * library sizes its tables. The bound must not be too low. If it is too high, tables are larger
 * than necessary.
 */
#include "frame/sets.h"
#include "kinds/rank/size.h"
#include "rank.h"

#include <math.h>
#include <stdlib.h>

#define BUCKETS 16
#define KEYS 896 /* 56 each, as in Table I */
#define CELLS 64
#define STEPS 6000
#define SETTLING (4 * KEYS) /* steps before anything is counted */

/* ------------------------------------------------------------------ one table */

static tamis_set *make(const rank_crowd *crowd, lab_random *random) {
    bool const       has_pool = crowd->extensions != 0;
    rank_table const table = { .buckets = crowd->buckets,
                               .chains = 64,
                               .cells = { crowd->cells, has_pool ? 64 : 0, 0 },
                               .pool = { crowd->extensions, 0 },
                               .remainder_bits = 24 };
    char             geometry[RANK_GEOMETRY_BYTES];
    tamis_spec const spec = rank_spec(&table, 0, RANK_MAX_COPIES, crowd->keys, geometry);
    return sets_make(&spec, random);
}

static bool add(tamis_set *set, const key_source *keys, uint64_t i) {
    uint8_t key[KEY_BYTES];
    key_write(keys, i, key);
    tamis_status const status = tamis_add(set, key, KEY_BYTES);
    if (status != TAMIS_OK && status != TAMIS_ERR_FULL) lab_die("an add failed");
    return status == TAMIS_OK;
}

/* Did the filling fail? */
static void filling_trial(const void *given, lab_random *random, void *ret_outcome) {
    const rank_crowd *crowd = given;
    tamis_set *const  set = make(crowd, random);
    key_source const  keys = keys_of(random);
    unsigned          i = 0;
    while (i < crowd->keys && add(set, &keys, i)) i++;
    *(double *)ret_outcome = i < crowd->keys;
    tamis_free(set);
}

typedef struct crowd_churn {
    tamis_set *set;
    key_source keys;
    uint64_t   next, refused;
} crowd_churn;

/* Try keys until one fits; returns its number. */
static uint64_t add_one(crowd_churn *churn) {
    while (!add(churn->set, &churn->keys, churn->next++)) churn->refused++;
    return churn->next - 1;
}

static void replace_one(crowd_churn *churn, uint64_t *slot) {
    uint8_t key[KEY_BYTES];
    key_write(&churn->keys, *slot, key);
    if (tamis_remove(churn->set, key, KEY_BYTES) != TAMIS_OK) lab_die("a removal was refused");
    *slot = add_one(churn);
}

/* Refused adds per removed key. */
static void churning_trial(const void *given, lab_random *random, void *ret_outcome) {
    const rank_crowd *crowd = given;
    crowd_churn       churn = { .set = make(crowd, random), .keys = keys_of(random) };
    uint64_t *const   live = lab_allocate(crowd->keys, sizeof *live);
    for (unsigned i = 0; i < crowd->keys; i++) live[i] = add_one(&churn);
    for (unsigned i = 0; i < SETTLING; i++) {
        replace_one(&churn, &live[lab_random_below(random, crowd->keys)]);
    }
    churn.refused = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        replace_one(&churn, &live[lab_random_below(random, crowd->keys)]);
    }
    *(double *)ret_outcome = (double)churn.refused / STEPS;
    free(live);
    tamis_free(churn.set);
}

/* ------------------------------------------------------------------ rows */

typedef struct overflow_row {
    const char *name, *label;
    rank_crowd  crowd;
} overflow_row;

static lab_sample measure(const lab_run *run, const overflow_row *row, lab_trial *trial,
                          uint64_t n) {
    lab_series const series = { .stream = row->name,
                                .n = n,
                                .trial = trial,
                                .given = &row->crowd,
                                .outcome_bytes = sizeof(double) };
    double *const    outcomes = lab_trials(run, &series);
    lab_sample       sample = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&sample, outcomes[i]);
    free(outcomes);
    return sample;
}

/* The library's bound, for a filling and this many adds after it. */
static double bound(const rank_crowd *crowd, double adds) {
    double const buckets = crowd->buckets, keys = crowd->keys, cells = crowd->cells;
    double const j = crowd->extensions, lifetime = keys + adds;
    if (crowd->extensions == 0) return tamis_rank_bucket_overflow(buckets, keys, lifetime, cells);
    return tamis_rank_pool_overflow(buckets, keys, lifetime, cells, j);
}

/* Record how often it happens, and check that the bound is not lower. */
static void record(lab_run *run, const overflow_row *row, const char *part, double exact,
                   lab_measured measured) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s", row->name, part),
                                .label = row->label,
                                .place = part,
                                .exact = exact,
                                .measured = measured,
                                LAB_WITHIN_4_SIGMA });
}

static void record_bound(lab_run *run, const overflow_row *row, const char *part, double bounded,
                         double exact) {
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.%s.bound", row->name, part),
                                .label = "bound that the library states",
                                .place = part,
                                .exact = bounded,
                                .measured = lab_computed(exact),
                                .rule = LAB_AT_MOST,
                                .reason = "a bound; the measured column has the exact law",
                                .remark = lab_text(run, "%.2f times the exact probability.",
                                                   bounded / exact) });
}

static void record_filling(lab_run *run, const overflow_row *row) {
    double const     exact = rank_crowd_filling(&row->crowd);
    lab_sample const sample = measure(run, row, filling_trial, run->is_full ? 200000 : 3000);
    double const     sigma = sqrt(exact * (1 - exact) / (double)sample.n);
    record(run, row, "filling", exact, lab_sample_mean(&sample, sigma));
    record_bound(run, row, "filling", bound(&row->crowd, 0), exact);
}

/* While all extensions are in use, many adds in a row are refused. So there is no simple theory of
 * the scatter, and it is measured. The bound holds for all tables, the exact law for tables that
 * could be filled. */
static void record_churning(lab_run *run, const overflow_row *row) {
    double const     exact = rank_crowd_churning(&row->crowd);
    lab_sample const sample = measure(run, row, churning_trial, run->is_full ? 10000 : 80);
    double const     one = bound(&row->crowd, 1) - bound(&row->crowd, 0);
    record(run, row, "churning", exact, lab_sample_mean(&sample, 0));
    record_bound(run, row, "churning", one, exact * (1 - rank_crowd_filling(&row->crowd)));
}

void rank_overflow(lab_run *run) {
    static const overflow_row rows[] = {
        { "pool.3", "refused: 3 extensions for 16 buckets", { BUCKETS, KEYS, CELLS, 3 } },
        { "pool.4", "refused: 4 extensions for 16 buckets", { BUCKETS, KEYS, CELLS, 4 } },
        { "cells.78", "refused: 78 cells and no extension", { BUCKETS, KEYS, 78, 0 } },
    };
    size_t const n = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < n; i++) record_filling(run, &rows[i]);
    for (size_t i = 0; i < n; i++) record_churning(run, &rows[i]);
}
