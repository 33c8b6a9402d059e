/* dlcbf_overflow.c - section 5.2: more keys than fit, and the failsafe. */
#include "dlcbf.h"
#include "frame/theory.h"

#include <math.h>
#include <stdlib.h>

#define KEYS_65 53248u         /* 6.5 x 8192 */
#define KEYS_65_PRINTED 53428u /* as the paper prints them */
#define KEYS_675 55296u        /* 6.75 x 8192 */

#define QUICK_TRIALS 24
#define QUICK_PRINTED_TRIALS 12
#define QUICK_FAILSAFE_TRIALS 12

/* ------------------------------------------------------------------ 6.5 keys per bucket */

/* P[some add of a trial is refused]. */
static double trial_overflows(double keys) {
    return -expm1(-dlcbf_overflows(keys));
}

static void record_keys(lab_run *run) {
    fluid law;
    tamis_fluid_churn(DLCBF_PAPER_TABLES, 6.5, INFINITY, &law);
    double const over = tamis_fluid_share(&law, 9);
    lab_record(run, &(lab_row){ .name = "keys",
                                .label = "keys for 6.5 in each of 8192 buckets",
                                .published = "53428",
                                .exact = 6.5 * DLCBF_ALL_BUCKETS,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic",
                                .flaw = "Two digits are exchanged. The results below are those of "
                                        "53248 keys." });
    lab_record(run, &(lab_row){ .name = "fluid.9",
                                .label = "share of buckets over 8, fluid limit",
                                .published = "2.205e-08",
                                .exact = over,
                                .rule = LAB_EQUAL,
                                .reason = "the fixed point of the equations" });
    lab_record(run, &(lab_row){ .name = "estimate",
                                .label = "this share times 2^20, in per cent",
                                .published = ">2",
                                .exact = 100 * over * (double)DLCBF_PAPER_STEPS,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
}

typedef struct overflow_row {
    const char *name, *label, *flaw;
    uint32_t    keys;
    unsigned    quick_trials;
} overflow_row;

/* One row for what the authors counted in 10000 trials, and one for the trials made here. */
static void record_trials(lab_run *run, const overflow_row *row) {
    dlcbf_config const   config = { .keys = row->keys };
    uint64_t const       n = run->is_full ? DLCBF_PAPER_TRIALS : row->quick_trials;
    dlcbf_outcome *const outcomes = dlcbf_trials(run, row->name, &config, n);
    double const         exact = trial_overflows(row->keys), of_all = DLCBF_PAPER_TRIALS * exact;
    uint64_t             seen = 0;
    for (uint64_t i = 0; i < n; i++) seen += outcomes[i].refused != 0;
    free(outcomes);
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.trials", row->name),
                                .label = row->label,
                                .published = "254",
                                .published_sigma = sqrt(of_all),
                                .exact = of_all,
                                .rule = LAB_EQUAL,
                                .reason = "the number of rare events is Poisson",
                                .flaw = row->flaw });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.seen", row->name),
                                .label = lab_text(run, "the same, of %u trials", (unsigned)n),
                                .exact = (double)n * exact,
                                .measured = { .value = (double)seen, .trials = n },
                                .rule = LAB_COUNT,
                                .tolerance = 1e-4,
                                .reason = "the number of rare events is Poisson" });
}

/* ------------------------------------------------------------------ 6.75, with moves */

static void record_moves(lab_run *run, const dlcbf_outcome *outcomes, uint64_t n) {
    lab_sample   moves = { 0 };
    uint64_t     refused = 0;
    double const exact = dlcbf_overflows(KEYS_675);
    for (uint64_t i = 0; i < n; i++) {
        lab_sample_add(&moves, (double)(outcomes[i].moved + outcomes[i].refused));
        refused += outcomes[i].refused;
    }
    lab_record(run, &(lab_row){ .name = "failsafe.moves",
                                .label = "moves of a cell, per trial",
                                .exact = exact,
                                .measured = lab_sample_mean(&moves, sqrt(exact / (double)n)),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = "failsafe.refused",
                                .label = "adds refused although cells may move",
                                .published = "0",
                                .measured = { .value = (double)refused, .trials = n },
                                .rule = LAB_EQUAL,
                                .reason = "for a refusal, all 8 keys of a bucket have 3 full ones "
                                          "each" });
}

/* The number of moves of a trial is Poisson. */
static void record_move_range(lab_run *run, bool is_high, const char *published, const char *flaw) {
    double const  steps = (double)DLCBF_PAPER_STEPS, rate = dlcbf_overflows(KEYS_675) / steps;
    extreme const law = is_high ? theory_highest(steps, rate, DLCBF_PAPER_TRIALS)
                                : theory_lowest(steps, rate, DLCBF_PAPER_TRIALS);
    lab_record(run, &(lab_row){ .name = is_high ? "failsafe.most" : "failsafe.least",
                                .label = is_high ? "most moves in one of 10000 trials"
                                                 : "fewest moves in one of 10000 trials",
                                .published = published,
                                .published_sigma = law.deviation,
                                .exact = law.mean,
                                .rule = LAB_EQUAL,
                                .reason = "extremes of a Poisson count",
                                .flaw = flaw });
}

static void record_failsafe(lab_run *run) {
    dlcbf_config const   config = { .keys = KEYS_675, .moves = 1 };
    uint64_t const       n = run->is_full ? DLCBF_PAPER_TRIALS : QUICK_FAILSAFE_TRIALS;
    dlcbf_outcome *const outcomes = dlcbf_trials(run, "failsafe", &config, n);
    lab_record(run, &(lab_row){ .name = "failsafe.keys",
                                .label = "keys for 6.75 in each of 8192 buckets",
                                .published = "55296",
                                .exact = 6.75 * DLCBF_ALL_BUCKETS,
                                .rule = LAB_EQUAL,
                                .reason = "arithmetic" });
    record_moves(run, outcomes, n);
    record_move_range(run, false, "40",
                      "The text says 40 to 100, which are round numbers: the fewest moves of 10000 "
                      "trials are some 30.");
    record_move_range(run, true, "100", NULL);
    free(outcomes);
}

/* ------------------------------------------------------------------ all of it */

void dlcbf_overflow(lab_run *run) {
    static const overflow_row rows[] = {
        { "53248", "of 10000 trials overflow, 53248 keys", NULL, KEYS_65, QUICK_TRIALS },
        { "53428", "of 10000 trials overflow, 53428 keys",
          "So many keys would overflow more than twice as often.", KEYS_65_PRINTED,
          QUICK_PRINTED_TRIALS },
    };
    record_keys(run);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) record_trials(run, &rows[i]);
    record_failsafe(run);
}
