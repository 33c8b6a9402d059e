/* rates.c - what every kind states of its false positives, held against sets of it: while
 * they are filled, and as keys come and go.
 *
 * Measured is a set's own rate, which follows from its contents and has no sampling error of its
 * own; and at the end, asked keys, which test the hashing too.
 */
#include "kinds.h"

#include "frame/sets.h"
#include "frame/theory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define KEYS 10000
#define RATE 0.001
#define QUERIES 500000u
#define PARTS 12 /* tenths of the capacity */
#define FULL_PART 10

/* Adds for each key, in all: filled, and then on. A life is 16, as the library has it. */
static const unsigned ages[] = { 1, 2, 3, 5, 8, 16, 32, 64 };
#define AGES (sizeof ages / sizeof ages[0])
#define LIFE 5 /* of them */

/* ------------------------------------------------------------------ one set */

typedef struct life_config {
    tamis_plan plan;
    bool       is_churned;
} life_config;

typedef struct life_outcome {
    double own[PARTS + 1];      /* after each part, or at each age */
    double hits, lost, refused; /* at the end of its life; refused: within capacity */
} life_outcome;

static_assert(AGES <= PARTS + 1, "one place for each");

typedef struct life {
    tamis_set  *set;
    lab_random *random;
    key_source  keys;
    uint64_t   *live, n_live, next;
} life;

/* A key that is refused is not there, and is not missed. */
static void add(life *of, life_outcome *outcome) {
    uint8_t key[KEY_BYTES];
    key_write(&of->keys, of->next, key);
    bool const is_added = tamis_add(of->set, key, KEY_BYTES) == TAMIS_OK;
    outcome->refused += !is_added && of->n_live < KEYS;
    if (is_added) of->live[of->n_live++] = of->next;
    of->next++;
}

static void replace(life *of, life_outcome *outcome) {
    uint64_t const at = lab_random_below(of->random, of->n_live);
    uint8_t        key[KEY_BYTES];
    key_write(&of->keys, of->live[at], key);
    if (tamis_remove(of->set, key, KEY_BYTES) != TAMIS_OK) outcome->lost++;
    of->live[at] = of->live[--of->n_live];
    add(of, outcome);
}

static void ask(const life *of, life_outcome *outcome) {
    outcome->hits = (double)sets_count(of->set, &of->keys, of->next + KEYS, QUERIES);
    for (uint64_t i = 0; i < of->n_live; i++) {
        uint8_t key[KEY_BYTES];
        key_write(&of->keys, of->live[i], key);
        outcome->lost += !tamis_has(of->set, key, KEY_BYTES);
    }
}

/* Beyond capacity it goes on as long as there is room. */
static void fill(life *of, life_outcome *outcome) {
    for (unsigned part = 1; part <= PARTS; part++) {
        while (of->next < part * KEYS / FULL_PART) add(of, outcome);
        outcome->own[part] = of->n_live == of->next ? kinds_own_rate(of->set) : NAN;
        if (part == FULL_PART) ask(of, outcome);
    }
}

static void churn(life *of, life_outcome *outcome) {
    while (of->next < KEYS) add(of, outcome);
    for (unsigned i = 0; i < AGES; i++) {
        while (of->next < (uint64_t)ages[i] * KEYS) replace(of, outcome);
        outcome->own[i] = kinds_own_rate(of->set);
        if (i == LIFE) ask(of, outcome);
    }
}

static void life_trial(const void *given, lab_random *random, void *ret_outcome) {
    const life_config *const config = given;
    char                     geometry[KINDS_GEOMETRY_BYTES];
    tamis_spec const         spec = kinds_spec(&config->plan, geometry);
    tamis_set *const         set = sets_make(&spec, random);
    life                     of = { .set = set, .random = random, .keys = keys_of(random) };
    of.live = lab_allocate(PARTS * KEYS / FULL_PART, sizeof *of.live);
    (config->is_churned ? churn : fill)(&of, ret_outcome);
    free(of.live);
    tamis_free(set);
}

/* ------------------------------------------------------------------ many of them */

typedef struct life_samples {
    lab_sample own[PARTS + 1], asked;
    double     lost, refused;
    uint64_t   n;
} life_samples;

static life_samples run_lives(const lab_run *run, const life_config *config) {
    lab_series const    series = { .stream = config->plan.kind,
                                   .n = run->is_full ? 100 : 6,
                                   .trial = life_trial,
                                   .given = config,
                                   .outcome_bytes = sizeof(life_outcome) };
    life_outcome *const outcomes = lab_trials(run, &series);
    life_samples        samples = { .n = series.n };
    for (uint64_t i = 0; i < series.n; i++) {
        for (unsigned k = 0; k <= PARTS; k++) {
            lab_sample_add(&samples.own[k], outcomes[i].own[k]);
        }
        lab_sample_add(&samples.asked, outcomes[i].hits / QUERIES);
        samples.lost += outcomes[i].lost;
        samples.refused += outcomes[i].refused;
    }
    free(outcomes);
    return samples;
}

/* ------------------------------------------------------------------ rows and curves */

/* `at`: when the kind's statement is for, at capacity and at the end of a life. */
static void record_life(lab_run *run, const tamis_plan *plan, const life_samples *samples,
                        unsigned at) {
    const lab_sample *const own = &samples->own[at];
    double const            sigma =
        theory_rate_sigma(own->mean, lab_sample_deviation(own), (double)samples->n, QUERIES);
    lab_record(
        run, &(lab_row){ .name = lab_text(run, "%s.own", plan->kind),
                         .what = lab_text(run, "%s: its own rate, and the stated one", plan->kind),
                         .exact = plan->fpr,
                         .measured = lab_sample_mean(own, 0),
                         .rule = LAB_RELATIVE,
                         .tolerance = 0.03,
                         .reason = "a mean of all filters, and where there is no exact law "
                                   "good to 3%; those of a few filters scatter by 0.5%" });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.asked", plan->kind),
                                .what = lab_text(run, "%s: asked, and its own rate", plan->kind),
                                .exact = own->mean,
                                .measured = lab_sample_mean(&samples->asked, sigma),
                                LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.lost", plan->kind),
                                .what = lab_text(run, "%s: keys lost, adds refused", plan->kind),
                                .measured = { .value = samples->lost + samples->refused,
                                              .trials = samples->n },
                                .rule = LAB_EQUAL,
                                .reason = "never a false negative; refused once in 10^10 lives" });
}

/* A few sets scatter so little that a dot is all that is seen of it; but a dot needs an error. */
static void draw_own(lab_run *run, const char *figure, const char *curve, double x,
                     const lab_sample *own) {
    double const error = lab_sample_mean(own, 0).sigma_trials;
    if (isnan(own->mean) || own->mean <= 0) return;
    lab_draw_measured(run, &(lab_point){ figure, curve, x, own->mean },
                      fmax(error, 1e-6 * own->mean));
}

void kinds_filling(lab_run *run) {
    kinds_job const job = { .capacity = KEYS, .fpr = RATE };
    lab_describe(run, &(lab_figure){ .name = "filling",
                                     .title = "False positives while sets for 0.1% fill up",
                                     .x = "keys, of those that it is made for",
                                     .y = "false-positive rate",
                                     .is_log_y = true,
                                     .remark = "Beyond 1 only kinds that still have room." });
    for (size_t i = 0; i < kinds_count(); i++) {
        life_config config = { .is_churned = false };
        if (!kinds_plan(tamis_kind_name(i), &job, &config.plan)) continue;
        life_samples const samples = run_lives(run, &config);
        record_life(run, &config.plan, &samples, FULL_PART);
        for (unsigned part = 1; part <= PARTS; part++) {
            draw_own(run, "filling", config.plan.kind, (double)part / FULL_PART,
                     &samples.own[part]);
        }
    }
}

void kinds_churn(lab_run *run) {
    kinds_job const job = { .capacity = KEYS, .fpr = RATE, .abilities = TAMIS_CAN_REMOVE };
    lab_describe(run,
                 &(lab_figure){ .name = "churn",
                                .title = "False positives of sets for 0.1% as keys come and go",
                                .x = "adds for each key, in all",
                                .y = "false-positive rate",
                                .is_log_x = true,
                                .remark = "The sets are planned for 16 adds for each key." });
    for (size_t i = 0; i < kinds_count(); i++) {
        life_config config = { .is_churned = true };
        if (!kinds_plan(tamis_kind_name(i), &job, &config.plan)) continue;
        life_samples const samples = run_lives(run, &config);
        record_life(run, &config.plan, &samples, LIFE);
        for (unsigned age = 0; age < AGES; age++) {
            draw_own(run, "churn", config.plan.kind, ages[age], &samples.own[age]);
        }
    }
}
