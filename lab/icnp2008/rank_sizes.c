/* rank_sizes.c - Tables I and II: how loads scatter, and tables of the printed sizes
 * filled with real keys.
 *
 * The number of buckets with more keys than cells is the number of extensions in use, which is read
 * from the body. For Table I, a table has the sizes of section III-C and room for all extensions;
 * it stores every copy, so that its loads are those of the keys. The tables of Table II are sets: a
 * fingerprint is stored once, and the loads are a little smaller.
 */
#include "core/bits.h"
#include "core/field.h"
#include "frame/sets.h"
#include "frame/theory.h"
#include "handle.h"
#include "kinds/rank/size.h"
#include "rank.h"
#include "theory/tails.h"

#include <math.h>
#include <stdlib.h>

#define QUERIES 1000000

/* ------------------------------------------------------------------ one table */

typedef struct fill_given {
    rank_table table;
    uint64_t   keys, queries;
    unsigned   copies;
} fill_given;

typedef struct fill_outcome {
    double   used[2]; /* extensions of level 2, 3 */
    double   empty;   /* share of the cells of all buckets, extensions left out */
    double   own_rate;
    uint64_t hits, lost;
} fill_outcome;

/* Cells in use in the bucket itself: go through the levels of its index as far as they are in the
 * bucket. If the levels continue in an extension, the bucket is full. */
static uint64_t bucket_load(const tamis_set *set, uint64_t at) {
    const uint64_t *const g = set->table.geometry;
    uint64_t const        index = at + g[RANK_CHAINS] + rank_pointer_bits(g[RANK_EXTENSIONS2]);
    unsigned size = bits_popcount(field_get_wide(set->table.body, at, (unsigned)g[RANK_CHAINS]));
    uint64_t load = 0;
    while (size != 0 && load + size <= g[RANK_CELLS]) {
        unsigned const more = bits_popcount(field_get_wide(set->table.body, index + load, size));
        load += size;
        size = more;
    }
    return size != 0 ? g[RANK_CELLS] : load;
}

static double empty_share(const tamis_set *set) {
    const uint64_t *const g = set->table.geometry;
    uint64_t              used = 0;
    rank_layout           layout;
    if (!tamis_rank_layout(g, &layout)) lab_die("a table without a layout");
    for (uint64_t i = 0; i < g[RANK_BUCKETS]; i++)
        used += bucket_load(set, layout.start[1] + i * layout.record[1]);
    return 1 - (double)used / (double)(g[RANK_BUCKETS] * g[RANK_CELLS]);
}

static void fill_trial(const void *given, lab_random *random, void *ret_outcome) {
    const fill_given   *config = given;
    fill_outcome *const outcome = ret_outcome;
    char                geometry[RANK_GEOMETRY_BYTES];
    tamis_spec const    spec = rank_spec(&config->table, 0, config->copies, config->keys, geometry);
    tamis_set *const    set = sets_make(&spec, random);
    key_source const    keys = keys_of(random);
    tamis_info          info;
    sets_fill(set, &keys, 0, config->keys);
    for (unsigned i = 0; i < 2; i++) outcome->used[i] = (double)rank_extensions_used(set, i + 2);
    outcome->empty = empty_share(set);
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a table cannot be inspected");
    outcome->own_rate = info.current_fpr;
    outcome->lost = config->keys - sets_count(set, &keys, 0, config->keys);
    outcome->hits = sets_count(set, &keys, config->keys, config->queries);
    tamis_free(set);
}

typedef struct fill_samples {
    lab_sample used[2], empty, own, asked;
    uint64_t   lost, tables;
    uint64_t   over_example; /* tables that need more than 130 extensions */
} fill_samples;

static fill_samples fill_run(const lab_run *run, const char *stream, const fill_given *given,
                             uint64_t tables) {
    lab_series const    series = { .stream = stream,
                                   .n = tables,
                                   .trial = fill_trial,
                                   .given = given,
                                   .outcome_bytes = sizeof(fill_outcome) };
    fill_outcome *const outcomes = lab_trials(run, &series);
    fill_samples        samples = { .tables = tables };
    for (uint64_t i = 0; i < tables; i++) {
        for (unsigned l = 0; l < 2; l++) lab_sample_add(&samples.used[l], outcomes[i].used[l]);
        lab_sample_add(&samples.empty, outcomes[i].empty);
        lab_sample_add(&samples.own, outcomes[i].own_rate);
        if (given->queries != 0)
            lab_sample_add(&samples.asked, (double)outcomes[i].hits / (double)given->queries);
        samples.lost += outcomes[i].lost;
        samples.over_example += outcomes[i].used[0] > 130;
    }
    free(outcomes);
    return samples;
}

/* ------------------------------------------------------------------ Table I */

#define EXAMPLE_BUCKETS 1000
#define EXAMPLE_MEAN 56

/* Of just these 1000 buckets; Poisson loads, as printed, are for very many. */
static void record_load(lab_run *run, unsigned threshold, const char *published,
                        const lab_sample *used) {
    double const keys = EXAMPLE_BUCKETS * EXAMPLE_MEAN, poisson = EXAMPLE_MEAN;
    double const over = tamis_binomial_tail(keys, 1.0 / EXAMPLE_BUCKETS, threshold + 1);
    double const exactly = exp(tamis_poisson_log(poisson, threshold));
    double const deviation = rank_count_deviation(EXAMPLE_BUCKETS, EXAMPLE_MEAN, over, exactly);
    lab_measured measured = lab_sample_mean(used, deviation / sqrt((double)used->n));
    measured.value /= EXAMPLE_BUCKETS;
    measured.sigma_theory /= EXAMPLE_BUCKETS;
    measured.sigma_trials /= EXAMPLE_BUCKETS;
    lab_record(run, &(lab_row){ .name = lab_text(run, "load.%u", threshold),
                                .label = lab_text(run, "buckets with more than %u keys", threshold),
                                .published = published,
                                .exact = over,
                                .measured = measured,
                                LAB_WITHIN_4_SIGMA,
                                .remark = lab_text(run, "With infinitely many buckets: %.5g.",
                                                   tamis_poisson_tail(poisson, threshold + 1)) });
}

static void record_far_load(lab_run *run) {
    lab_record(run,
               &(lab_row){ .name = "load.128",
                           .label = "buckets with more than 128 keys",
                           .published = "8e-17",
                           .exact = tamis_poisson_tail(EXAMPLE_MEAN, 129),
                           .rule = LAB_EQUAL,
                           .reason = "arithmetic",
                           .flaw =
                               "Neither P[load > 128] nor P[load >= 128] has this value. The first "
                               "two thresholds are right.",
                           .remark = lab_text(run, "P[load >= 128] is %.3g.",
                                              tamis_poisson_tail(EXAMPLE_MEAN, 128)) });
}

/* There are 130 extensions, and 129 buckets need one on average. The number is nearly normal; its
 * variance is smaller than that of independent loads, because the sum of the loads is fixed. */
static void record_example(lab_run *run, const fill_samples *samples) {
    double const keys = EXAMPLE_BUCKETS * EXAMPLE_MEAN, tables = (double)samples->tables;
    double const over = tamis_binomial_tail(keys, 1.0 / EXAMPLE_BUCKETS, 65);
    double const exactly = exp(tamis_poisson_log(EXAMPLE_MEAN, 64));
    double const deviation = rank_count_deviation(EXAMPLE_BUCKETS, EXAMPLE_MEAN, over, exactly);
    double const fails = erfc((130.5 - EXAMPLE_BUCKETS * over) / deviation / sqrt(2)) / 2;
    lab_record(run, &(lab_row){ .name = "example.full",
                                .label = "tables that need more than J2 = 130",
                                .exact = fails,
                                .measured = { .value = (double)samples->over_example / tables,
                                              .trials = samples->tables,
                                              .sigma_theory = sqrt(fails * (1 - fails) / tables) },
                                LAB_WITHIN_4_SIGMA,
                                .remark = "The sizes of the example in the text, J2 = 0.13 B and "
                                          "J3 = 0.01 B, are means: two of five such "
                                          "tables overflow. Table II has room to spare." });
}

/* 64 cells for 56 keys. */
static void record_cells(lab_run *run, const fill_samples *samples) {
    double const keys = EXAMPLE_BUCKETS * EXAMPLE_MEAN;
    double       in_bucket = 0; /* E[min(load, 64)] */
    for (unsigned j = 1; j <= 64; j++)
        in_bucket += tamis_binomial_tail(keys, 1.0 / EXAMPLE_BUCKETS, j);
    lab_record(run, &(lab_row){ .name = "cells",
                                .label = "cells of a bucket per key, 64/56",
                                .published = "1.14",
                                .exact = 64.0 / EXAMPLE_MEAN,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .remark =
                                    "Called the \"fraction of unused cells\", which it is not: see "
                                    "the next row." });
    lab_record(run, &(lab_row){ .name = "cells.empty",
                                .label = "share of these cells that is empty",
                                .published = "1.14",
                                .exact = 1 - in_bucket / 64,
                                .measured = lab_sample_mean(&samples->empty, 0),
                                LAB_WITHIN_4_SIGMA,
                                .flaw = "What is printed is the number of cells per key." });
}

void rank_loads(lab_run *run) {
    fill_given const   given = { .table = { .buckets = EXAMPLE_BUCKETS,
                                            .chains = 64,
                                            .cells = { 64, 10, 54 },
                                            .pool = { 400, 100 },
                                            .remainder_bits = 16 },
                                 .keys = EXAMPLE_BUCKETS * EXAMPLE_MEAN,
                                 .copies = RANK_MAX_COPIES };
    fill_samples const samples = fill_run(run, "example", &given, run->is_full ? 2000 : 40);
    record_load(run, 64, "0.13", &samples.used[0]);
    record_load(run, 74, "0.01", &samples.used[1]);
    record_far_load(run);
    record_example(run, &samples);
    record_cells(run, &samples);
}

/* ------------------------------------------------------------------ Table II: bits and overflow */

static void record_bits(lab_run *run, const rank_print *print) {
    rank_table const printed = rank_as_printed(print, 0), built = rank_as_built(print, 0);
    char             geometry[RANK_GEOMETRY_BYTES];
    tamis_spec const spec = rank_spec(&built, 0, 1, RANK_KEYS, geometry);
    tamis_plan const plan = rank_plan_of(&spec);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.paper", print->name),
                                .label = "bits per key, the paper's S / n",
                                .place = print->label,
                                .published = print->bits,
                                .exact = rank_paper_bits(&printed) / RANK_KEYS,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.body", print->name),
                                .label = "bits per key of the library's body",
                                .place = print->label,
                                .exact = rank_body_bits(&built) / RANK_KEYS,
                                .measured = lab_computed(plan.bits_per_key),
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic, in whole cache lines",
                                .remark = "Whole numbers of buckets and extensions; a pointer of "
                                          "ceil(log2(J + 1)) bits says \"none\" without a flag." });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.overflow", print->name),
                                .label = "P[overflow] in the filling, P_o",
                                .place = print->label,
                                .published = "<1e-10",
                                .exact = rank_filling_overflow(&built, RANK_KEYS),
                                .measured = lab_computed(plan.overflow),
                                .rule = LAB_EQUAL,
                                .reason = "the library computes the same sum",
                                .remark = "The bound of Theorem 1; see rank.overflow for what "
                                          "really happens." });
}

/* ------------------------------------------------------------------ Table II: filled */

static void record_rates(lab_run *run, const rank_print *print, const rank_table *built,
                         const fill_samples *samples) {
    double const prints = rank_fingerprints(built), rate = rank_table_rate(built, RANK_KEYS);
    double const deviation = RANK_KEYS / sqrt(2 * prints) / prints; /* pairs that collide */
    double const tables = (double)samples->tables;
    bool const   is_missed = rate > print->fpr;
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.contents", print->name),
                           .label = "fingerprints stored / possible",
                           .place = print->label,
                           .exact = rate,
                           .measured = lab_sample_mean(&samples->own, deviation / sqrt(tables)),
                           LAB_WITHIN_4_SIGMA });
    lab_record(
        run, &(lab_row){ .name = lab_text(run, "%s.fpr", print->name),
                         .label = "false positives among absent keys",
                         .place = print->label,
                         .published = print->target,
                         .exact = rate,
                         .measured = lab_sample_mean(
                             &samples->asked, theory_rate_sigma(rate, deviation, tables, QUERIES)),
                         LAB_WITHIN_4_SIGMA,
                         .flaw = is_missed ? "The table misses its target rate: lambda = "
                                             "0.86 needs r = 14, or r = 13 a lambda of 0.8192. "
                                             "Nothing that rounds to 0.86 is small enough."
                                           : NULL });
}

/* Loads that sum up to the number of keys vary a little less than independent ones. So there are
 * mean / 2 x (P[load = W - 1] - P[load = W]) fewer buckets with more than W keys. */
static double expected_over(const rank_table *built, double cells) {
    double const over2 = rank_share_over(built, RANK_KEYS, cells - 2);
    double const over1 = rank_share_over(built, RANK_KEYS, cells - 1);
    double const over = rank_share_over(built, RANK_KEYS, cells);
    double const bend = (over2 - over1) - (over1 - over);
    return built->buckets * over - RANK_KEYS / built->buckets / 2 * bend;
}

static void record_used(lab_run *run, const rank_print *print, const rank_table *built,
                        const fill_samples *samples, unsigned level) {
    double const cells = built->cells[0] + (level == 3 ? built->cells[1] : 0);
    double const over = rank_share_over(built, RANK_KEYS, cells);
    double const exactly = rank_share_over(built, RANK_KEYS, cells - 1) - over;
    double const deviation =
        rank_count_deviation(built->buckets, RANK_KEYS / built->buckets, over, exactly);
    const lab_sample *const used = &samples->used[level - 2];
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.used%u", print->name, level),
                                .label = lab_text(run, "extensions of level %u in use, of %.0f",
                                                  level, built->pool[level - 2]),
                                .place = print->label,
                                .exact = expected_over(built, cells),
                                .measured = lab_sample_mean(
                                    used, deviation / sqrt((double)samples->tables)),
                                LAB_WITHIN_4_SIGMA });
}

static void record_filled(lab_run *run, const rank_print *print) {
    fill_given const given = {
        .table = rank_as_built(print, 0), .keys = RANK_KEYS, .queries = QUERIES, .copies = 1
    };
    fill_samples const samples = fill_run(run, print->name, &given, run->is_full ? 400 : 8);
    record_rates(run, print, &given.table, &samples);
    record_used(run, print, &given.table, &samples, 2);
    record_used(run, print, &given.table, &samples, 3);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.lost", print->name),
                                .label = "keys lost",
                                .place = print->label,
                                .exact = 0,
                                .measured = { (double)samples.lost, samples.tables, 0, 0 },
                                .rule = LAB_EQUAL,
                                .reason = "a law: never a false negative" });
}

/* ------------------------------------------------------------------ Table II: smaller ones */

static void record_smallest(lab_run *run, const rank_print *print) {
    rank_wish    wish = { .n = RANK_KEYS,
                          .fpr = print->fpr,
                          .lifetime = RANK_KEYS,
                          .overflow = RANK_OVERFLOW,
                          .copies = 1,
                          .is_paper = true };
    rank_table   best;
    double const paper = rank_smallest(&wish, &best);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.smallest", print->name),
                           .label = "smallest S / n that meets fpr and P_o",
                           .place = print->label,
                           .published = print->bits,
                           .exact = paper,
                           .rule = LAB_EQUAL,
                           .reason = "an exhaustive search",
                           .flaw = "Not the smallest: the same bounds allow a smaller table.",
                           .remark = lab_text(
                               run,
                               "lambda = %.3f, r = %.0f, L = %.0f, B = %.0f, Z = %.0f %.0f %.0f, "
                               "J = %.0f %.0f.",
                               RANK_KEYS / (best.buckets * best.chains), best.remainder_bits,
                               best.chains, best.buckets, best.cells[0], best.cells[1],
                               best.cells[2], best.pool[0], best.pool[1]) });
    wish.is_paper = false;
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.choice", print->name),
                           .label = "bits per key of the library's choice",
                           .place = print->label,
                           .exact = rank_smallest(&wish, NULL),
                           .measured = lab_computed(rank_library_choice(&wish, NULL).bits_per_key),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.002,
                           .reason = "the budget of overflow is shared out differently, and "
                                     "the body is in whole cache lines" });
}

void rank_sizes(lab_run *run) {
    for (unsigned i = 0; i < RANK_PRINTS; i++) {
        record_bits(run, &rank_prints[i]);
        record_filled(run, &rank_prints[i]);
        record_smallest(run, &rank_prints[i]);
    }
}
