/* peaks.c - see peaks.h. */
#include "peaks.h"

#include "theory/fluid.h"

#include <math.h>
#include <stdbool.h>

#define STEP 0.05    /* of time */
#define STEPS 160    /* after which only the slowest part is left */
#define HEIGHT 30    /* loads that are told apart, well beyond those that buckets have */
#define NOTHING 1e-9 /* shares that do not matter */
#define NEVER 1e-16  /* and chances */

/* What is needed of a fluid limit: a third of it, so that two take less of the stack than one. */
typedef struct tails {
    unsigned tables;
    double   load;
    double   x[FLUID_MAX_TABLES][HEIGHT + 2];
} tails;

static __attribute__((noinline)) void tails_of(unsigned tables, double load, bool is_churned,
                                               tails *ret_tails) {
    fluid law;
    if (is_churned)
        tamis_fluid_churn(tables, load, INFINITY, &law);
    else
        tamis_fluid_fill(tables, load, FLUID_MANY, &law);
    *ret_tails = (tails){ .tables = tables, .load = load };
    for (unsigned i = 0; i < tables; i++) {
        for (unsigned j = 0; j < HEIGHT + 2; j++) ret_tails->x[i][j] = law.x[i][j];
    }
}

/* Buckets of one subtable that have at most m keys and never had more. With m = HEIGHT, all. */
typedef struct process {
    unsigned m;
    double   up[HEIGHT + 1], u[HEIGHT + 1];
} process;

/* The rates of a subtable, and its state after filling. */
static void process_start(const tails *churn, const tails *fill, unsigned i, unsigned m,
                          process *ret_of) {
    ret_of->m = m;
    for (unsigned k = 0; k <= m; k++) {
        double up = churn->tables * churn->load;
        for (unsigned l = 0; l < churn->tables; l++) {
            if (l != i) up *= churn->x[l][l < i ? k + 1 : k];
        }
        ret_of->up[k] = up;
        ret_of->u[k] = fill->x[i][k] - fill->x[i][k + 1];
    }
}

/* What comes down to u[k] of u[k + 1]. Buckets that become empty come from everywhere, and are told
 * apart from it, unless the process is all buckets. */
static double fall(const process *group, unsigned k) {
    bool const is_told = k == 0 && group->m < HEIGHT;
    return k == group->m || is_told ? 0 : k + 1;
}

static double inflow(const process *group, unsigned k) {
    double const below = k == 0 ? 0 : group->up[k - 1] * group->u[k - 1];
    double const above = k == group->m ? 0 : fall(group, k) * group->u[k + 1];
    return below + above - (group->up[k] + k) * group->u[k];
}

/* The matrix share - by A, where A u is the inflow: three diagonals, split once for all steps that
 * have the same. */
typedef struct matrix {
    double by;
    double down[HEIGHT + 1], factor[HEIGHT + 1], over[HEIGHT + 1];
} matrix;

static void matrix_make(const process *group, double share, double by, matrix *ret_matrix) {
    ret_matrix->by = by;
    for (unsigned k = 0; k <= group->m; k++) {
        double const down = k == 0 ? 0 : -by * group->up[k - 1];
        double const before = k == 0 ? 0 : down * ret_matrix->factor[k - 1];
        ret_matrix->down[k] = down;
        ret_matrix->over[k] = 1 / (share + by * (group->up[k] + k) - before);
        ret_matrix->factor[k] = -by * fall(group, k) * ret_matrix->over[k];
    }
}

/* Solve matrix x u = right, from the top down and back. */
static void solve(const process *group, const matrix *by, const double *right, double *ret_u) {
    double rest[HEIGHT + 1];
    for (unsigned k = 0; k <= group->m; k++) {
        rest[k] = (right[k] - (k == 0 ? 0 : by->down[k] * rest[k - 1])) * by->over[k];
    }
    ret_u[group->m] = rest[group->m];
    for (unsigned k = group->m; k-- > 0;) ret_u[k] = rest[k] - by->factor[k] * ret_u[k + 1];
}

/* A little time on, in which so many buckets become empty. The matrix is that of the last step. */
static void step(process *group, double time, double emptied, matrix *by) {
    double right[HEIGHT + 1];
    if (by->by != time / 2) matrix_make(group, 1, time / 2, by);
    for (unsigned k = 0; k <= group->m; k++) right[k] = group->u[k] + time / 2 * inflow(group, k);
    right[0] += emptied;
    solve(group, by, right, group->u);
}

static double sum_of(const process *group, const double *u) {
    double sum = 0;
    for (unsigned k = 0; k <= group->m; k++) sum += u[k];
    return sum;
}

static double keys_of(const process *group) {
    double keys = 0;
    for (unsigned k = 0; k <= group->m; k++) keys += k * group->u[k];
    return keys;
}

/* What is not there to stay goes on falling as it did in the last step. */
static void go_on(process *group, double before, double emptied, double time) {
    double right[HEIGHT + 1] = { emptied / STEP }, rest[HEIGHT + 1];
    matrix by;
    matrix_make(group, 0, 1, &by);
    solve(group, &by, right, rest);
    double const stays = sum_of(group, rest), excess = sum_of(group, group->u) - stays;
    if (!(excess > NOTHING) || !(before - stays > excess)) return;
    double const left = exp(log(excess / (before - stays)) * time / STEP);
    for (unsigned k = 0; k <= group->m; k++) group->u[k] = rest[k] + left * (group->u[k] - rest[k]);
}

/* The life of a subtable, in steps. */
typedef struct life {
    const tails *churn, *fill;
    unsigned     i, steps;
    double       turns, emptied[STEPS]; /* buckets that become empty in each step */
} life;

static double step_time(const life *subtable, unsigned at) {
    return fmin(STEP, subtable->turns - at * STEP);
}

/* Follow all buckets. Returns the keys that they have in the end. */
static double live(life *subtable) {
    process all;
    matrix  by = { .by = 0 };
    process_start(subtable->churn, subtable->fill, subtable->i, HEIGHT, &all);
    subtable->steps = (unsigned)fmin(STEPS, ceil(subtable->turns / STEP));
    for (unsigned at = 0; at < subtable->steps; at++) {
        double const time = step_time(subtable, at), before = all.u[1];
        step(&all, time, 0, &by);
        subtable->emptied[at] = time * (before + all.u[1]) / 2;
    }
    return keys_of(&all);
}

/* Do all buckets have had more than m, or none? Then there is nothing to follow. */
static bool is_passed(const life *subtable, unsigned m) {
    double const emptied =
        subtable->steps == 0 ? 0 : subtable->emptied[subtable->steps - 1] + subtable->emptied[0];
    return 1 - subtable->fill->x[subtable->i][m + 1] < NEVER && emptied < NEVER;
}

static bool is_beyond(const life *subtable, unsigned m) {
    double const now =
        fmax(subtable->fill->x[subtable->i][m + 1], subtable->churn->x[subtable->i][m + 1]);
    return now * (1 + subtable->turns * (m + 1)) < NEVER;
}

/* Keys per bucket in those that never had more than m. */
static double keys_up_to(const life *subtable, unsigned m, double all) {
    if (is_passed(subtable, m)) return 0;
    if (is_beyond(subtable, m)) return all;
    process some;
    matrix  by = { .by = 0 };
    double  before = 0, emptied = 0, then = subtable->turns - STEPS * STEP;
    process_start(subtable->churn, subtable->fill, subtable->i, m, &some);
    for (unsigned at = 0; at < subtable->steps; at++) {
        emptied = subtable->emptied[at];
        before = sum_of(&some, some.u);
        step(&some, step_time(subtable, at), emptied, &by);
    }
    if (then > 0) go_on(&some, before, emptied, then);
    return keys_of(&some);
}

void tamis_levels(unsigned tables, double load, double turns, unsigned last, levels *ret_levels) {
    tails fill, churn;
    tails_of(tables, load, false, &fill);
    if (turns > 0) tails_of(tables, load, true, &churn);
    *ret_levels = (levels){ .keys = { 0 } };
    for (unsigned i = 0; i < tables; i++) {
        life subtable = {
            .churn = turns > 0 ? &churn : &fill, .fill = &fill, .i = i, .turns = turns
        };
        double const all = live(&subtable);
        double       below = 0;
        for (unsigned m = 1; m < last; m++) {
            double const keys = fmin(all, fmax(below, keys_up_to(&subtable, m, all)));
            ret_levels->keys[m] += keys - below;
            below = keys;
        }
        ret_levels->keys[last] += all - below;
    }
}
