/* rates.c - the false-positive rate that every kind states, compared with its sets: while they are
 * filled, and as keys are added and removed.
 *
 * The measured value is a set's own rate, which follows from its contents and has no sampling
 * error. At the end, queries test the hashing, too.
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

/* Adds for each key in total, the filling included. A life is 16, the library's default. */
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

typedef struct kinds_life {
    tamis_set  *set;
    lab_random *random;
    key_source  keys;
    uint64_t   *live, n_live, next;
} kinds_life;

/* A key that is refused is not in the set, so its absence is not an error. */
static void add(kinds_life *life, life_outcome *outcome) {
    uint8_t key[KEY_BYTES];
    key_write(&life->keys, life->next, key);
    bool const is_added = tamis_add(life->set, key, KEY_BYTES) == TAMIS_OK;
    outcome->refused += !is_added && life->n_live < KEYS;
    if (is_added) life->live[life->n_live++] = life->next;
    life->next++;
}

static void replace(kinds_life *life, life_outcome *outcome) {
    uint64_t const at = lab_random_below(life->random, life->n_live);
    uint8_t        key[KEY_BYTES];
    key_write(&life->keys, life->live[at], key);
    if (tamis_remove(life->set, key, KEY_BYTES) != TAMIS_OK) outcome->lost++;
    life->live[at] = life->live[--life->n_live];
    add(life, outcome);
}

static void ask(const kinds_life *life, life_outcome *outcome) {
    outcome->hits = (double)sets_count(life->set, &life->keys, life->next + KEYS, QUERIES);
    for (uint64_t i = 0; i < life->n_live; i++) {
        uint8_t key[KEY_BYTES];
        key_write(&life->keys, life->live[i], key);
        outcome->lost += !tamis_has(life->set, key, KEY_BYTES);
    }
}

/* Beyond the capacity, keys are added as long as there is room. */
static void fill(kinds_life *life, life_outcome *outcome) {
    for (unsigned part = 1; part <= PARTS; part++) {
        while (life->next < part * KEYS / FULL_PART) add(life, outcome);
        outcome->own[part] = life->n_live == life->next ? kinds_own_rate(life->set) : NAN;
        if (part == FULL_PART) ask(life, outcome);
    }
}

static void churn(kinds_life *life, life_outcome *outcome) {
    while (life->next < KEYS) add(life, outcome);
    for (unsigned i = 0; i < AGES; i++) {
        while (life->next < (uint64_t)ages[i] * KEYS) replace(life, outcome);
        outcome->own[i] = kinds_own_rate(life->set);
        if (i == LIFE) ask(life, outcome);
    }
}

static void life_trial(const void *given, lab_random *random, void *ret_outcome) {
    const life_config *const config = given;
    char                     geometry[KINDS_GEOMETRY_BYTES];
    tamis_spec const         spec = kinds_spec(&config->plan, geometry);
    tamis_set *const         set = sets_make(&spec, random);
    kinds_life               life = { .set = set, .random = random, .keys = keys_of(random) };
    life.live = lab_allocate(PARTS * KEYS / FULL_PART, sizeof *life.live);
    (config->is_churned ? churn : fill)(&life, ret_outcome);
    free(life.live);
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
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.own", plan->kind),
                           .label = lab_text(run, "%s: own rate against stated rate", plan->kind),
                           .exact = plan->fpr,
                           .measured = lab_sample_mean(own, 0),
                           .rule = LAB_RELATIVE,
                           .tolerance = 0.03,
                           .reason = "a mean of all filters, and where there is no exact law "
                                     "good to 3%; those of a few filters scatter by 0.5%" });
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.asked", plan->kind),
                           .label = lab_text(run, "%s: measured rate against own rate", plan->kind),
                           .exact = own->mean,
                           .measured = lab_sample_mean(&samples->asked, sigma),
                           LAB_WITHIN_4_SIGMA });
    lab_record(run, &(lab_row){ .name = lab_text(run, "%s.lost", plan->kind),
                                .label = lab_text(run, "%s: keys lost, adds refused", plan->kind),
                                .measured = { .value = samples->lost + samples->refused,
                                              .trials = samples->n },
                                .rule = LAB_EQUAL,
                                .reason = "never a false negative; refused once in 10^10 lives" });
}

/* Some sets scatter so little that only a dot would be visible; but a measured point needs an
 * error. */
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
    lab_describe(run, &(lab_figure){ .name = "churn",
                                     .title = "False positives of sets for 0.1% under churn",
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
