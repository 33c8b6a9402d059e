/* kinds.c - what the experiments on all kinds share, and their list. See kinds.h. */
#include "kinds.h"

#include <string.h>

static bool plan_with(const char *kind, const kinds_job *job, unsigned abilities,
                      tamis_plan *ret_plan) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    size_t     n_rows;
    spec.kind = kind;
    spec.capacity = job->capacity;
    spec.fpr = job->fpr;
    spec.abilities = abilities;
    spec.lifetime = job->lifetime;
    spec.prefer = TAMIS_PREFER_SMALL;
    return tamis_plan_kinds(&spec, ret_plan, 1, &n_rows, NULL) == TAMIS_OK &&
           ret_plan->status == TAMIS_OK;
}

bool kinds_plan(const char *kind, const kinds_job *job, tamis_plan *ret_plan) {
    return plan_with(kind, job, job->abilities, ret_plan) ||
           (job->is_lenient && plan_with(kind, job, 0, ret_plan));
}

tamis_spec kinds_spec(const tamis_plan *plan, char geometry[KINDS_GEOMETRY_BYTES]) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    size_t     at = 0;
    for (unsigned i = 0; i < plan->n_fields && at < KINDS_GEOMETRY_BYTES; i++) {
        at += (size_t)snprintf(geometry + at, KINDS_GEOMETRY_BYTES - at, "%s%s=%llu",
                               i != 0 ? "," : "", plan->fields[i].name,
                               (unsigned long long)plan->fields[i].value);
    }
    if (at >= KINDS_GEOMETRY_BYTES) lab_die("a geometry of %zu letters is too long", at);
    spec.kind = plan->kind;
    spec.geometry = geometry;
    spec.capacity = plan->capacity;
    spec.lifetime = plan->lifetime;
    return spec;
}

const char *kinds_label(lab_run *run, const tamis_plan *plan, const kinds_job *job) {
    bool const can_remove = (plan->abilities & TAMIS_CAN_REMOVE) != 0;
    bool const is_asked = (job->abilities & TAMIS_CAN_REMOVE) != 0;
    return lab_text(run, is_asked && !can_remove ? "%s (no removal)" : "%s", plan->kind);
}

double kinds_own_rate(const tamis_set *set) {
    tamis_info info;
    if (tamis_inspect(set, &info) != TAMIS_OK) lab_die("a set cannot be inspected");
    return info.current_fpr;
}

size_t kinds_count(void) {
    size_t n = 0;
    while (tamis_kind_name(n) != NULL) n++;
    return n;
}

/* ------------------------------------------------------------------ experiments */

#define NO_PAPER .paper = "Beyond the papers", .place = "all kinds of the library"

const lab_experiment lab_kinds[] = {
    { .id = "kinds.sizes",
      .title = "bits per key of all kinds, 10^-1 to 10^-7",
      NO_PAPER,
      .run = kinds_sizes },
    { .id = "kinds.filling",
      .title = "false positives while sets fill up",
      NO_PAPER,
      .run = kinds_filling },
    { .id = "kinds.churn",
      .title = "false positives as keys are added and removed",
      NO_PAPER,
      .run = kinds_churn },
    { .id = "kinds.overflow",
      .title = "refused adds, beyond capacity",
      NO_PAPER,
      .run = kinds_overflow },
    { .id = "kinds.saturation",
      .title = "entries that saturate, beyond capacity",
      NO_PAPER,
      .run = kinds_saturation },
    { .id = NULL },
};
