/* dlcbf_larger.c - sections 4 and 5.1: fewer, larger buckets.
 *
 * With 6 keys in 8 cells a key takes 4/3 of a cell. The paper says that larger buckets can be
 * filled more tightly, so that this factor comes near to 1, at the price of a larger constant and
 * of more cells that a lookup looks at. It gives no numbers. Here a bucket of c cells gets as many
 * keys as make an add fail as rarely as with 6 keys in 8 cells. A remainder of r bits then gives
 * the rate 4 load 2^-r, so a key takes
 *
 *     c / load  (r + 2)  =  c / load  log2(1 / f)  +  c / load (log2(4 load) + 2)   bits.
 */
#include "dlcbf.h"
#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

#define BUCKETS 1024u
#define BITS 20 /* of a remainder: so long that hardly any keys share a fingerprint */
#define QUICK_TRIALS 2
#define FULL_TRIALS 40
#define CHANCE 2e-5 /* P[an add fails] in the tables that are made too full */
#define SECTION_4 "ESA 2006, section 4"

/* P[the next key finds all its buckets full], while keys are added and removed. */
static double chance_full(double load, unsigned cells) {
    fluid law;
    tamis_fluid_churn(DLCBF_PAPER_TABLES, load, INFINITY, &law);
    return tamis_fluid_all(&law, cells);
}

/* The load at which chance_full() is `chance`, by bisection. */
static double load_for(double chance, unsigned cells) {
    double low = 0.5 * cells, high = cells;
    while (high - low > 1e-9 * high) {
        double const middle = (low + high) / 2;
        if (chance_full(middle, cells) < chance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double constant_of(double load, unsigned cells) {
    return cells / load * (log2(DLCBF_PAPER_TABLES * load) + 2);
}

/* ------------------------------------------------------------------ by arithmetic */

static void record_calculated(lab_run *run, const char *name, const char *label,
                              const char *published, double exact, const char *remark) {
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = SECTION_4,
                                .published = published,
                                .exact = exact,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic, at a load from the fluid limit",
                                .remark = remark });
}

/* The library has a faster search for this load, which stops at most 0.2% below it. */
static void record_load(lab_run *run, unsigned cells, double load, double chance) {
    double const found = tamis_fluid_churn_load(DLCBF_PAPER_TABLES, cells, chance, 1e15, cells);
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%u.load", cells),
                           .label = lab_text(run, "keys per bucket of %u cells, as safe", cells),
                           .place = SECTION_4,
                           .published = cells == DLCBF_PAPER_CELLS ? "6" : NULL,
                           .exact = load,
                           .measured = lab_computed(found),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.002,
                           .reason = "measured is the library's search, which stops within "
                                     "0.2%" });
}

static void record_sizes(lab_run *run, unsigned cells, double load) {
    bool const   is_paper = cells == DLCBF_PAPER_CELLS;
    double const more = constant_of(load, cells) - constant_of(6, DLCBF_PAPER_CELLS);
    double const saved = DLCBF_PAPER_CELLS / 6.0 - cells / load;
    record_calculated(run, lab_text(run, "%u.factor", cells),
                      lab_text(run, "cells per key, %u in a bucket", cells),
                      is_paper ? "1.333" : NULL, cells / load, is_paper ? "Printed as 4/3." : NULL);
    record_calculated(run, lab_text(run, "%u.constant", cells),
                      lab_text(run, "constant term, %u in a bucket", cells), NULL,
                      constant_of(load, cells),
                      is_paper ? "Printed as (20 + 4 log2 3) / 3."
                               : "Larger than with 8 cells, as the paper says.");
    if (is_paper) return;
    record_calculated(run, lab_text(run, "%u.pays", cells),
                      lab_text(run, "rate below which %u cells save bits", cells), NULL,
                      exp2(-more / saved), NULL);
}

/* ------------------------------------------------------------------ by real tables */

static double churn_prints(void) {
    return BUCKETS * (ldexp(1, BITS) - 1);
}

/* How many keys make this load of cells: keys with equal fingerprints share a cell. */
static uint64_t keys_for(double load) {
    double const cells = load * DLCBF_PAPER_TABLES * BUCKETS, prints = churn_prints();
    return (uint64_t)round(log1p(-cells / prints) / log1p(-1 / prints));
}

static dlcbf_churn_outcome *run_table(const lab_run *run, const char *stream, dlcbf_shape shape,
                                      double load, uint64_t n) {
    shape.buckets = BUCKETS;
    shape.bits = BITS;
    shape.keys = keys_for(load);
    return dlcbf_churn_trials(run, stream, &shape, n);
}

static void record_share(lab_run *run, const dlcbf_shape *shape, double load, unsigned level,
                         const dlcbf_churn_outcome *outcomes, uint64_t n) {
    double const all = DLCBF_PAPER_TABLES * BUCKETS;
    lab_sample   sample = { 0 };
    fluid        law;
    tamis_fluid_churn(DLCBF_PAPER_TABLES, load, INFINITY, &law);
    for (uint64_t i = 0; i < n; i++)
        lab_sample_add(&sample, (double)outcomes[i].buckets[level] / all);
    double const exact = tamis_fluid_share(&law, level);
    /* D-left buckets scatter less than independent ones, so this is safe. */
    double const sigma = sqrt(exact * (1 - exact) / all / (double)n);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%u.share.%u", shape->cells, level),
                                .label = lab_text(run, "share with %u of %u cells in use", level,
                                                  shape->cells),
                                .place = SECTION_4,
                                .exact = exact,
                                .measured = lab_sample_mean(&sample, sigma),
                                LAB_WITHIN_4_SIGMA });
}

static void record_rate(lab_run *run, const dlcbf_shape *shape, double load,
                        const dlcbf_churn_outcome *outcomes, uint64_t n) {
    double const prints = churn_prints(), keys = (double)keys_for(load);
    double const rate = -expm1(keys * log1p(-1 / prints)), queries = (double)shape->queries;
    double       hits = 0;
    for (uint64_t i = 0; i < n; i++) hits += (double)outcomes[i].hits;
    lab_record(run, &(lab_row){ .name = lab_text(run, "%u.fpr", shape->cells),
                                .label = lab_text(run, "false positives, r = %u", BITS),
                                .place = SECTION_4,
                                .exact = rate,
                                .measured = { .value = hits / queries / (double)n,
                                              .trials = n,
                                              .sigma_theory =
                                                  theory_rate_sigma(rate, 0, (double)n, queries) },
                                LAB_WITHIN_4_SIGMA,
                                .remark = "4 load 2^-r: a lookup meets more keys in larger "
                                          "buckets." });
}

static void record_bits(lab_run *run, const dlcbf_shape *shape, double load,
                        const dlcbf_churn_outcome *outcomes) {
    lab_record(
        run,
        &(lab_row){ .name = lab_text(run, "%u.bits", shape->cells),
                    .label = lab_text(run, "bits per key, %u cells, r = %u", shape->cells, BITS),
                    .place = SECTION_4,
                    .exact = shape->cells / load * (BITS + 2),
                    .measured = lab_computed((double)outcomes[0].bits / (double)keys_for(load)),
                    .rule = LAB_RELATIVE,
                    .tolerance = 1e-4,
                    .reason = "keys that share a fingerprint, one in 10000" });
}

static void record_refused(lab_run *run, const char *name, const char *label, double expected,
                           const dlcbf_churn_outcome *outcomes, uint64_t n) {
    uint64_t refused = 0;
    for (uint64_t i = 0; i < n; i++) refused += outcomes[i].refused;
    lab_record(run, &(lab_row){ .name = name,
                                .label = label,
                                .place = SECTION_4,
                                .exact = expected,
                                .measured = { .value = (double)refused, .trials = n },
                                .rule = LAB_COUNT,
                                .tolerance = 1e-4,
                                .reason = "the number of rare events is Poisson" });
}

/* A table as safe as the paper's: its loads, rate and size. */
static void run_safe(lab_run *run, unsigned cells, double load) {
    dlcbf_shape const          shape = { .cells = cells, .steps = 1u << 16, .queries = 1000000 };
    uint64_t const             n = run->is_full ? FULL_TRIALS : QUICK_TRIALS;
    dlcbf_churn_outcome *const outcomes =
        run_table(run, lab_text(run, "safe.%u", cells), shape, load, n);
    for (unsigned level = (unsigned)load; level <= (unsigned)load + 2 && level <= cells; level++)
        record_share(run, &shape, load, level, outcomes, n);
    record_rate(run, &shape, load, outcomes, n);
    record_bits(run, &shape, load, outcomes);
    record_refused(run, lab_text(run, "%u.refused", cells), "adds refused at that load",
                   (double)(n * shape.steps) * chance_full(load, cells), outcomes, n);
    free(outcomes);
}

/* A table that is too full, so that there are refused adds to count. */
static void run_full(lab_run *run, unsigned cells) {
    double const               load = load_for(CHANCE, cells);
    dlcbf_shape const          shape = { .cells = cells, .steps = 1u << 19 };
    uint64_t const             n = run->is_full ? FULL_TRIALS : QUICK_TRIALS;
    dlcbf_churn_outcome *const outcomes =
        run_table(run, lab_text(run, "full.%u", cells), shape, load, n);
    record_refused(run, lab_text(run, "%u.overflow", cells),
                   lab_text(run, "adds refused, %.2f keys in %u cells", load, cells),
                   (double)(n * shape.steps) * CHANCE, outcomes, n);
    free(outcomes);
}

void dlcbf_larger(lab_run *run) {
    double const chance = chance_full(6, DLCBF_PAPER_CELLS);
    for (unsigned cells = DLCBF_PAPER_CELLS; cells <= 32; cells *= 2) {
        double const load = load_for(chance, cells);
        record_load(run, cells, load, chance);
        record_sizes(run, cells, load);
        if (cells == DLCBF_PAPER_CELLS) continue;
        run_safe(run, cells, load);
        run_full(run, cells);
    }
}
