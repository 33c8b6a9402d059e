/* fluid_steps.h - one step of the equation of fluid.h, and what its steps and its users share.
 *
 * fluid.c alone uses this: it fills tables in such steps, and corrects the load under churn with
 * them. The kinds and the sizes see only fluid.h.
 */
#ifndef TAMIS_THEORY_FLUID_STEPS_H
#define TAMIS_THEORY_FLUID_STEPS_H

#include "core/bits.h"
#include "theory/fluid.h"

#include <math.h>

#define FLUID_NOTHING 1e-305 /* smaller numbers have lost their digits */
#define FLUID_FAINT 1e-50 /* smaller tails are not followed upward: no plan needs such a chance */

/* The levels that change in a step: all buckets have those below, and none reaches those above. */
typedef struct fluid_span {
    unsigned first, last;
} fluid_span;

/* Fill by `step` more keys per bucket. Runge and Kutta's method of the fourth order: its error
 * falls with the fourth power of the step. */
void tamis_fluid_runge_kutta(fluid *law, double step);

/* The same by Euler's method, which uses the slope at the beginning for the whole step. `step` may
 * be negative. */
void tamis_fluid_euler(fluid *law, fluid_span over, double step);

/* The levels that a step changes now. Levels that are as good as full are set to 1. */
fluid_span tamis_fluid_changing(fluid *law);

/* The highest level that is worth following: tails more than 24 keys above the mean are nothing. */
TAMIS_INLINE unsigned fluid_highest_level(double load) {
    return (unsigned)fmin(FLUID_MAX_HEIGHT, ceil(load) + 24);
}

/* prod k>i x(k, j-1) for each i, the last factor of p(i, j) in fluid.h; below[k] is x(k, j-1). */
TAMIS_INLINE void fluid_products_right(unsigned tables, const double *below, double *ret_right) {
    double product = 1;
    for (unsigned i = tables; i-- > 0;) {
        ret_right[i] = product;
        product *= below[i];
    }
}

/* Split an x(i, j) of a finite table into chance times share ("Finite tables" in fluid.h).
 *
 * The caller goes upward through all levels, from left to right in each. `chance` is the
 * probability of all rare events that it has met so far, 1 at the start. If x is at least one
 * bucket given these events, its share is x / chance. If it is less, that there is such a bucket is
 * one more rare event: the chance becomes smaller, and the share is that of one bucket. */
TAMIS_INLINE double fluid_split_share(double x, double least, double *chance) {
    if (x >= least * *chance && *chance > FLUID_NOTHING) return *chance < 1 ? x / *chance : x;
    *chance = x / least;
    return least;
}

#endif
