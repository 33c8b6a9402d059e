/* kinds.h - all kinds compared with each other: figures that no paper has.
 *
 * Every kind of the library takes part, new ones without a change here. The exact value is what a
 * kind states, and the measured value what its sets do. So these rows check the planner.
 */
#ifndef TAMIS_LAB_KINDS_H
#define TAMIS_LAB_KINDS_H

#include "frame/lab.h"

#include <tamis/tamis.h>

/* The job for a kind. */
typedef struct kinds_job {
    uint64_t capacity;
    double   fpr;
    unsigned abilities; /* if is_lenient: those of them that the kind has */
    bool     is_lenient;
    uint64_t lifetime; /* 0: the library's default */
} kinds_job;

/* The smallest set of a kind for a job; false: it cannot do it. */
bool kinds_plan(const char *kind, const kinds_job *job, tamis_plan *ret_plan);

/* A spec for a set of a plan's kind and geometry, written to `geometry`. */
#define KINDS_GEOMETRY_BYTES 512
tamis_spec kinds_spec(const tamis_plan *plan, char geometry[KINDS_GEOMETRY_BYTES]);

/* "bloom", or "bloom (no removal)" if it cannot do all of the job. */
const char *kinds_label(lab_run *run, const tamis_plan *plan, const kinds_job *job);

/* A set's own false-positive rate, from its contents. */
double kinds_own_rate(const tamis_set *set);

/* How many kinds there are. */
size_t kinds_count(void);

/* ------------------------------------------------------------------ experiments */

void kinds_sizes(lab_run *run);
void kinds_filling(lab_run *run);
void kinds_churn(lab_run *run);
void kinds_overflow(lab_run *run);
void kinds_saturation(lab_run *run);

#endif
