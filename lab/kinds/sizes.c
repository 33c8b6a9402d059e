/* sizes.c - bits per key of every kind against the false-positive rate, and the floor.
 *
 * A set of n keys out of many more needs at least log2(1/fpr) bits per key: a table that says yes
 * to a share fpr of all keys can represent at most a share fpr^n of all sets of n keys.
 */
#include "kinds.h"

#include "frame/sets.h"

#include <math.h>
#include <string.h>

#define KEYS 100000
#define PER_DECADE 3
#define POINTS (6 * PER_DECADE + 1)
#define FLOOR "information-theoretic floor"

static double rate_of(unsigned point) {
    return pow(10, -1 - (double)point / PER_DECADE);
}

/* ------------------------------------------------------------------ curves */

static void draw_floor(lab_run *run, const char *figure) {
    for (unsigned point = 0; point < POINTS; point++) {
        lab_draw(run, &(lab_point){ figure, FLOOR, rate_of(point), -log2(rate_of(point)) });
    }
}

static void draw_kind(lab_run *run, const char *figure, const char *kind, kinds_job job) {
    for (unsigned point = 0; point < POINTS; point++) {
        tamis_plan plan;
        job.fpr = rate_of(point);
        if (!kinds_plan(kind, &job, &plan)) continue;
        lab_draw(run,
                 &(lab_point){ figure, kinds_label(run, &plan, &job), job.fpr, plan.bits_per_key });
    }
}

static void draw(lab_run *run, const char *figure, const char *title, const kinds_job *job,
                 const char *remark) {
    lab_describe(run, &(lab_figure){ .name = figure,
                                     .title = title,
                                     .x = "false-positive rate",
                                     .y = "bits per key",
                                     .is_log_x = true,
                                     .is_log_y = true,
                                     .remark = remark });
    for (size_t i = 0; i < kinds_count(); i++) draw_kind(run, figure, tamis_kind_name(i), *job);
    draw_floor(run, figure);
}

/* ------------------------------------------------------------------ rows */

/* The real size of a set with that plan. */
static double real_bits(const tamis_plan *plan) {
    char             geometry[KINDS_GEOMETRY_BYTES];
    tamis_spec       spec = kinds_spec(plan, geometry);
    lab_random       random = { 0 };
    tamis_set *const set = sets_make(&spec, &random);
    tamis_info       info;
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a set cannot be inspected");
    tamis_free(set);
    return 8 * (double)info.plan.body_bytes / (double)plan->capacity;
}

static void record_size(lab_run *run, const char *kind, const kinds_job *job) {
    tamis_plan plan;
    if (!kinds_plan(kind, job, &plan)) return;
    lab_record(run,
               &(lab_row){ .name = lab_text(run, "%s.%.0e", kind, job->fpr),
                           .label = lab_text(run, "%s: bits per key", kinds_label(run, &plan, job)),
                           .place = lab_text(run, "%g%%, 100000 keys", 100 * job->fpr),
                           .exact = plan.bits_per_key,
                           .measured = lab_computed(real_bits(&plan)),
                           .rule = LAB_EQUAL,
                           .reason = "the plan counts every bit of the body",
                           .remark = lab_text(run, "%.2f times the floor; stated %.3g.",
                                              plan.bits_per_key / -log2(job->fpr), plan.fpr) });
}

void kinds_sizes(lab_run *run) {
    kinds_job       job = { .capacity = KEYS, .abilities = TAMIS_CAN_REMOVE, .is_lenient = true };
    kinds_job const filled = { .capacity = KEYS };
    draw(run, "all", "All kinds: what a key takes", &job,
         "Sets of 100000 keys that can remove, in a life of 16 adds for each; two kinds cannot.");
    draw(run, "filled", "The same without removal", &filled,
         "Sets that are filled once, and never changed.");
    for (int power = 2; power <= 6; power += 2) {
        job.fpr = pow(10, -power);
        for (size_t i = 0; i < kinds_count(); i++) record_size(run, tamis_kind_name(i), &job);
    }
}
