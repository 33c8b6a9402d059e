/* test_list.c - experiments with known verdicts, linked in place of list.c. check-lab runs them to
 * test how tamis-lab judges and prints rows, and that the number of threads does not matter. */
#include "frame/lab.h"

#include <stdlib.h>

static void toss(const void *given, lab_random *random, void *ret_outcome) {
    const unsigned *const rounds = given;
    uint64_t *const       outcome = ret_outcome;
    for (unsigned i = 0; i < *rounds; i++) *outcome = lab_random_next(random);
}

/* Uniform numbers; the row is wrong if `shift` is not 0. */
static void record_mean(lab_run *run, double shift, const char *published, const char *flaw) {
    unsigned const   rounds = 1000;
    lab_series const series = { .stream = "toss",
                                .n = 500,
                                .trial = toss,
                                .given = &rounds,
                                .outcome_bytes = sizeof(uint64_t) };
    uint64_t *const  outcomes = lab_trials(run, &series);
    lab_sample       sample = { 0 };
    for (uint64_t i = 0; i < series.n; i++) lab_sample_add(&sample, (double)outcomes[i] * 0x1p-64);
    free(outcomes);
    lab_record(run, &(lab_row){ .name = "mean",
                                .label = "mean of uniform numbers",
                                .published = published,
                                .exact = 0.5 + shift,
                                .measured = lab_sample_mean(&sample, 0),
                                LAB_WITHIN_4_SIGMA,
                                .flaw = flaw });
    lab_describe(run, &(lab_figure){ .name = "means", .title = "Means", .x = "x", .y = "mean" });
    lab_draw(run, &(lab_point){ "means", "expected", 0, 0.5 });
    lab_draw(run, &(lab_point){ "means", "expected", 2, 0.5 });
    lab_draw_measured(run, &(lab_point){ "means", "uniform", 1, sample.mean }, 0.01);
}

static void right(lab_run *run) {
    record_mean(run, 0, "0.5", NULL);
}

static void wrong(lab_run *run) {
    record_mean(run, 0.2, NULL, NULL);
}

static void misprinted(lab_run *run) {
    record_mean(run, 0, "0.6", "It says 0.6, \"by <error>\".");
}

#define PAPER .paper = "Nobody: \"On Nothing\"", .place = "Nowhere 2000, section 1"

static const lab_experiment known[] = {
    { .id = "test.right", .title = "a right row", PAPER, .run = right },
    { .id = "test.wrong", .title = "a wrong row", PAPER, .run = wrong },
    { .id = "test.misprinted", .title = "a wrong print", PAPER, .run = misprinted },
    { .id = NULL },
};

const lab_experiment *const lab_papers[] = { known, NULL };
