/* kinds.c - the filters of Allerton 2006, made by the library.
 *
 * The kinds dlbf and ddlcbf in the paper's sizes, compared with the fluid limit (theory/fluid.h)
 * and the lab's own tables. A filter's own rate follows from its contents and has no sampling
 * error; queries test the hashing, too. A kind that is not in the build has no rows.
 */
#include "ddlcbf.h"
#include "dlbf.h"
#include "frame/sets.h"
#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

#define QUERIES 1000000u

typedef struct kind_outcome {
    double own_rate;        /* from the contents */
    double hits;            /* of the queries */
    double lost, unremoved; /* of keys that were there */
} kind_outcome;

static double own_rate(const tamis_set *set) {
    tamis_info info;
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a set cannot be inspected");
    return info.current_fpr;
}

static kind_outcome *run_kind(const lab_run *run, const char *stream, lab_trial *trial,
                              const void *given, uint64_t n) {
    lab_series const series = { .stream = stream,
                                .n = n,
                                .trial = trial,
                                .given = given,
                                .outcome_bytes = sizeof(kind_outcome) };
    return lab_trials(run, &series);
}

/* ------------------------------------------------------------------ rows */

typedef struct kind_row {
    const char *name, *label, *place, *published, *flaw, *remark;
    unsigned    printed_trials; /* of the authors, with 100000 queries each */
    double      exact, sigma;   /* sigma: the error of exact, if exact is measured, too */
} kind_row;

static void record_own(lab_run *run, const kind_row *row, const kind_outcome *outcomes,
                       uint64_t n) {
    lab_sample own = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&own, outcomes[i].own_rate);
    double const sigma = lab_sample_deviation(&own) / sqrt((double)n);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.contents", row->name),
                                .label = row->label,
                                .place = row->place,
                                .exact = row->exact,
                                .measured = lab_sample_mean(&own, hypot(sigma, row->sigma)),
                                LAB_WITHIN_4_SIGMA,
                                .remark = row->remark });
}

static void record_asked(lab_run *run, const kind_row *row, const kind_outcome *outcomes,
                         uint64_t n) {
    lab_sample asked = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&asked, outcomes[i].hits / QUERIES);
    double const sigma = theory_rate_sigma(row->exact, 0, (double)n, QUERIES);
    double const printed =
        row->published != NULL ? theory_rate_sigma(row->exact, 0, row->printed_trials, 1e5) : 0;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.asked", row->name),
                                .label = "false positives among absent keys",
                                .place = row->place,
                                .published = row->published,
                                .published_sigma = printed,
                                .exact = row->exact,
                                .measured = lab_sample_mean(&asked, hypot(sigma, row->sigma)),
                                LAB_WITHIN_4_SIGMA,
                                .flaw = row->flaw });
}

static void record_lost(lab_run *run, const kind_row *row, const kind_outcome *outcomes,
                        uint64_t n) {
    double lost = 0;
    for (uint64_t i = 0; i < n; i++) lost += outcomes[i].lost + outcomes[i].unremoved;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.lost", row->name),
                                .label = "keys lost, or removals refused",
                                .place = row->place,
                                .measured = { .value = lost, .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = "a law: never a false negative" });
}

static void record_kind(lab_run *run, const kind_row *row, kind_outcome *outcomes, uint64_t n) {
    record_own(run, row, outcomes, n);
    record_asked(run, row, outcomes, n);
    record_lost(run, row, outcomes, n);
    free(outcomes);
}

/* ------------------------------------------------------------------ d-left Bloom filters */

/* The library's field `sorting`: two bits for each load. */
static uint64_t sorting_of(const bucket_layout *layout, unsigned most) {
    uint64_t sorting = 0;
    for (unsigned a = 1; a <= most; a++) {
        sorting |= (uint64_t)dlbf_sorted_bits(layout, a) << (2 * a);
    }
    return sorting;
}

static tamis_set *make_dlbf(const dlbf_kind_config *config, lab_random *random) {
    unsigned const cells = config->layout->bits == 60 ? 6 : 10;
    tamis_spec     spec = TAMIS_SPEC_INIT;
    char           geometry[128];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,bucket_bits=%u,cells=%u,sorting=%llu,group=%u",
                   config->tables, config->buckets, config->layout->bits / 15 * 16, cells,
                   (unsigned long long)sorting_of(config->layout, cells), config->group);
    spec.capacity = config->keys / 2; /* some are fuller than the planner allows */
    spec.kind = "dlbf";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

/* Add keys until this many cells are in use. Keys that are already found are skipped, since they
 * take no cell, and the law counts cells. With two subtables, one filter in fifty has a full
 * bucket; another key takes the place of a refused one. Returns how many keys were tried. */
static uint64_t fill_cells(tamis_set *set, const key_source *keys, uint64_t cells) {
    uint64_t tried = 0;
    for (uint64_t used = 0; used < cells; tried++) {
        uint8_t key[KEY_BYTES];
        key_write(keys, tried, key);
        bool const is_new = !tamis_has(set, key, KEY_BYTES);
        used += is_new && tamis_add(set, key, KEY_BYTES) == TAMIS_OK;
    }
    return tried;
}

static void dlbf_trial(const void *given, lab_random *random, void *ret_outcome) {
    const dlbf_kind_config *const config = given;
    kind_outcome *const           outcome = ret_outcome;
    tamis_set *const              set = make_dlbf(config, random);
    key_source const              keys = keys_of(random);
    uint64_t const                tried = fill_cells(set, &keys, config->keys);
    outcome->own_rate = own_rate(set);
    outcome->lost = (double)(tried - sets_count(set, &keys, 0, tried));
    outcome->hits = (double)sets_count(set, &keys, tried, QUERIES);
    tamis_free(set);
}

static void own_rate_trial(const void *given, lab_random *random, void *ret_outcome) {
    const dlbf_kind_config *const config = given;
    kind_outcome *const           outcome = ret_outcome;
    tamis_set *const              set = make_dlbf(config, random);
    key_source const              keys = keys_of(random);
    (void)fill_cells(set, &keys, config->keys);
    outcome->own_rate = own_rate(set);
    tamis_free(set);
}

lab_sample dlbf_kind_own_rate(const lab_run *run, const char *stream,
                              const dlbf_kind_config *config, uint64_t n) {
    kind_outcome *const outcomes = run_kind(run, stream, own_rate_trial, config, n);
    lab_sample          own = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&own, outcomes[i].own_rate);
    free(outcomes);
    return own;
}

/* The paper's rule for groups cannot be kept as keys come: a cell would have to become longer when
 * its bucket comes to a load that is sorted. */
static void record_dlbf(lab_run *run, const dlbf_kind_config *config, kind_row row) {
    uint64_t const n = run->is_full ? 1000 : 8;
    fluid          law;
    dlbf_law((double)config->keys / (config->tables * config->buckets), &law);
    row.exact = config->group == 1 ? dlbf_own_rate(config->layout, &law)
                                   : dlbf_group_own_rate(config->layout, &law, DLBF_LIBRARY);
    record_kind(run, &row, run_kind(run, row.name, dlbf_trial, config, n), n);
}

void dlbf_kind_run(lab_run *run) {
    static const char shared[] = "The bits that sorting saves are shared too, unlike in the paper.";
    static const dlbf_kind_config configs[] = {
        { DLBF_PAPER_TABLES, 4096, 1, DLBF_PAPER_KEYS, &dlbf_sorted64 },
        { DLBF_PAPER_TABLES, 2560, 1, DLBF_PAPER_KEYS, &dlbf_two128 },
        { DLBF_PAPER_TABLES, 4096, DLBF_PAPER_GROUP, DLBF_PAPER_KEYS, &dlbf_sorted64 },
        { DLBF_PAPER_TABLES, 2560, DLBF_PAPER_GROUP, DLBF_PAPER_KEYS, &dlbf_two128 },
    };
    static const kind_row rows[] = {
        { .name = "64",
          .label = "64 bits, 4 and 5 semi-sorted",
          .published = "0.00044988",
          .printed_trials = 1000 },
        { .name = "128", .label = "128 bits, 6 and 7 by two" },
        { .name = "64.grouped", .label = "64 bits, groups of four buckets", .remark = shared },
        { .name = "128.grouped", .label = "128 bits, groups of four buckets", .remark = shared },
    };
    if (!sets_have("dlbf")) return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        record_dlbf(run, &configs[i], rows[i]);
    }
}

/* ------------------------------------------------------------------ keys that come together */

/* Add all keys at once, so that the library can place them several times (II.D). */
static void balanced_trial(const void *given, lab_random *random, void *ret_outcome) {
    const dlbf_kind_config *const config = given;
    kind_outcome *const           outcome = ret_outcome;
    tamis_set *const              set = make_dlbf(config, random);
    key_source const              keys = keys_of(random);
    uint8_t(*const bytes)[KEY_BYTES] = lab_allocate(config->keys, KEY_BYTES);
    tamis_key *const batch = lab_allocate(config->keys, sizeof *batch);
    for (uint64_t i = 0; i < config->keys; i++) {
        key_write(&keys, i, bytes[i]);
        batch[i] = (tamis_key){ bytes[i], KEY_BYTES };
    }
    if (tamis_add_balanced(set, batch, config->keys, NULL) != TAMIS_OK) lab_die("an add failed");
    outcome->own_rate = own_rate(set);
    outcome->lost = (double)(config->keys - sets_count(set, &keys, 0, config->keys));
    outcome->hits = (double)sets_count(set, &keys, config->keys, QUERIES);
    free(batch);
    free(bytes);
    tamis_free(set);
}

static void record_balanced(lab_run *run, const dlbf_kind_config *config, kind_row row) {
    uint64_t const   n = run->is_full ? 1000 : 8;
    lab_sample const lab = dlbf_offline_rate(run, config->layout, (unsigned)config->keys);
    row.exact = lab.mean;
    row.sigma = lab_sample_deviation(&lab) / sqrt((double)lab.n);
    row.remark = "Exact is the lab's own table.";
    row.printed_trials = 1000;
    record_kind(run, &row, run_kind(run, row.name, balanced_trial, config, n), n);
}

void dlbf_balanced_run(lab_run *run) {
    static const dlbf_kind_config configs[] = { { 2, 4096, 1, 32768, &dlbf_sorted64 },
                                                { 2, 4096, 1, 49152, &dlbf_two128 } };
    /* clang-format off */
    static const kind_row rows[] = {
        { .name = "64", .label = "64 bits, 32768 keys at once", .published = "0.00023894" },
        { .name = "128", .label = "128 bits, 49152 keys at once", .published = "0.000004605" },
    };
    /* clang-format on */
    if (!sets_have("dlbf")) return;
    record_balanced(run, &configs[0], rows[0]);
    record_balanced(run, &configs[1], rows[1]);
}

/* ------------------------------------------------------------------ the counting variant */

static tamis_set *make_ddlcbf(unsigned lengths, lab_random *random) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    char       geometry[128];
    (void)snprintf(geometry, sizeof geometry,
                   "tables=%u,buckets=%u,cells=%u,remainder_bits=%u,counter_bits=1,lengths=%u,"
                   "bucket_bytes=%u",
                   DLCBF_PAPER_TABLES, DLCBF_PAPER_BUCKETS, DLCBF_PAPER_CELLS, DLCBF_PAPER_BITS,
                   lengths, 15 + lengths); /* 120 bits for cells, and a code of 8 or 16 */
    spec.capacity = DLCBF_PAPER_KEYS;
    spec.lifetime = DLCBF_PAPER_KEYS + DLCBF_PAPER_STEPS;
    spec.kind = "ddlcbf";
    spec.geometry = geometry;
    return sets_make(&spec, random);
}

/* Remove one key, and add the next one. */
static void replace(tamis_set *set, const key_source *keys, uint64_t *slot, uint64_t next,
                    kind_outcome *outcome) {
    uint8_t key[KEY_BYTES];
    key_write(keys, *slot, key);
    outcome->unremoved += tamis_remove(set, key, KEY_BYTES) != TAMIS_OK;
    *slot = next;
    key_write(keys, next, key);
    if (tamis_add(set, key, KEY_BYTES) != TAMIS_OK) lab_die("an add was refused");
}

static void ddlcbf_kind_trial(const void *given, lab_random *random, void *ret_outcome) {
    kind_outcome *const outcome = ret_outcome;
    tamis_set *const    set = make_ddlcbf(((const ddlcbf_config *)given)->lengths, random);
    key_source const    keys = keys_of(random);
    uint64_t *const     live = lab_allocate(DLCBF_PAPER_KEYS, sizeof *live);
    sets_fill(set, &keys, 0, DLCBF_PAPER_KEYS);
    for (uint64_t i = 0; i < DLCBF_PAPER_KEYS; i++) live[i] = i;
    for (uint64_t i = 0; i < DLCBF_PAPER_STEPS; i++) {
        uint64_t *const slot = &live[lab_random_below(random, DLCBF_PAPER_KEYS)];
        replace(set, &keys, slot, DLCBF_PAPER_KEYS + i, outcome);
    }
    outcome->own_rate = own_rate(set);
    for (uint64_t i = 0; i < DLCBF_PAPER_KEYS; i++) {
        outcome->lost += sets_count(set, &keys, live[i], 1) == 0;
    }
    outcome->hits = (double)sets_count(set, &keys, 2 * DLCBF_PAPER_STEPS, QUERIES);
    free(live);
    tamis_free(set);
}

/* There is no formula for two lengths: the lab's own table is used instead. */
static void simulate_two(const lab_run *run, kind_row *row, uint64_t n) {
    ddlcbf_config const   config = { .lengths = 2, .is_forced = false };
    lab_series const      series = { .stream = "lab",
                                     .n = n,
                                     .trial = ddlcbf_trial,
                                     .given = &config,
                                     .outcome_bytes = sizeof(ddlcbf_outcome) };
    ddlcbf_outcome *const outcomes = lab_trials(run, &series);
    lab_sample            rate = { 0 };
    for (uint64_t i = 0; i < n; i++) lab_sample_add(&rate, outcomes[i].rate);
    free(outcomes);
    row->exact = rate.mean;
    row->sigma = lab_sample_deviation(&rate) / sqrt((double)n);
}

static double rate_of_one(void) {
    unsigned     lengths[DDLCBF_TOP + 1];
    ddlcbf_peaks law;
    ddlcbf_lengths(lengths);
    ddlcbf_filled(false, &law);
    ddlcbf_churn((double)DLCBF_PAPER_STEPS, &law);
    return ddlcbf_rate(&law, lengths);
}

void ddlcbf_kind_run(lab_run *run) {
    uint64_t const      n = run->is_full ? 50 : 5;
    ddlcbf_config const one = { .lengths = 1 }, two = { .lengths = 2 };
    kind_row            row = { .name = "one",
                                .label = "one length, semi-sorted",
                                .published = "0.0004729",
                                .printed_trials = 50,
                                .flaw = "As described, the filter is better; see ddlcbf.peaks.",
                                .remark = "Keys with the same (b, r) may be in different buckets.",
                                .exact = rate_of_one() };
    if (!sets_have("ddlcbf")) return;
    record_kind(run, &row, run_kind(run, "one", ddlcbf_kind_trial, &one, n), n);
    row = (kind_row){ .name = "two",
                      .label = "two lengths, not sorted",
                      .published = "0.0003111",
                      .printed_trials = 50,
                      .remark = "Exact is the lab's own table." };
    simulate_two(run, &row, n);
    record_kind(run, &row, run_kind(run, "two", ddlcbf_kind_trial, &two, n), n);
}
