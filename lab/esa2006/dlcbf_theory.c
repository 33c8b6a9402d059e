/* dlcbf_theory.c - loads and overflows of d-left tables in which keys are added and removed. */
#include "dlcbf.h"

#include <math.h>

double dlcbf_paper_prints(void) {
    return DLCBF_PAPER_BUCKETS * (ldexp(1, DLCBF_PAPER_BITS) - 1);
}

double dlcbf_different(double keys) {
    double const prints = dlcbf_paper_prints();
    return -prints * expm1(keys * log1p(-1 / prints));
}

void dlcbf_law(double keys, fluid *ret_law) {
    tamis_fluid_churn(DLCBF_PAPER_TABLES, dlcbf_different(keys) / DLCBF_ALL_BUCKETS, INFINITY,
                      ret_law);
}

/* ------------------------------------------------------------------ the way to the limit
 *
 * A table that was just filled has far smaller tails than one in which keys have been removed and
 * added for some time. So a trial has 2 to 3% fewer overflows than the limit. Therefore the
 * equations of theory/fluid.h are solved over time. Their limit is the same as the library's, which
 * is computed in another way.
 */

#define TOP 12             /* larger loads do not occur */
#define STEPS_PER_LIFE 400 /* of the method, while each key is replaced once on average */

/* The slope per lifetime of a key: keys that are added, and keys that are removed. */
static double slope(const fluid *at, unsigned i, unsigned j) {
    double comes = at->tables * at->load * (at->x[i][j - 1] - at->x[i][j]);
    for (unsigned k = 0; k < i; k++) comes *= at->x[k][j];
    for (unsigned k = i + 1; k < at->tables; k++) comes *= at->x[k][j - 1];
    return comes - j * (at->x[i][j] - at->x[i][j + 1]);
}

/* to = from + step x the slope at `at`. */
static void move_on(const fluid *from, const fluid *at, double step, fluid *to) {
    fluid moved = *from;
    for (unsigned i = 0; i < at->tables; i++) {
        for (unsigned j = 1; j <= TOP; j++) moved.x[i][j] += step * slope(at, i, j);
    }
    *to = moved;
}

/* A step removes a key before it adds one, so the new key meets one key less. If its fingerprint is
 * there already, it needs no cell. Both together make 0.5% fewer overflows. */
double dlcbf_overflows(double keys) {
    double const lives = (double)DLCBF_PAPER_STEPS / keys, parts = ceil(lives * STEPS_PER_LIFE);
    double const cells = dlcbf_different(keys - 1), is_new = 1 - cells / dlcbf_paper_prints();
    double       chances = 0;
    fluid        law, middle;
    tamis_fluid_fill(DLCBF_PAPER_TABLES, cells / DLCBF_ALL_BUCKETS, INFINITY, &law);
    for (double part = 0; part < parts; part++) {
        move_on(&law, &law, lives / parts / 2, &middle);
        chances += tamis_fluid_all(&middle, DLCBF_PAPER_CELLS);
        move_on(&law, &middle, lives / parts, &law);
    }
    return chances / parts * is_new * (double)DLCBF_PAPER_STEPS;
}
