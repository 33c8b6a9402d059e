/* peaks.c - see peaks.h.
 *
 * The steps, for each subtable i:
 *
 *     1. follow_all_buckets(): for the whole life, and note how many become empty in each step of
 *        time. Only empty buckets return to level 0 (peaks.h).
 *     2. find_keys_up_to(), for each level m: follow the buckets that never had more than m keys
 *        since they were empty. The buckets that became empty, from 1, flow into it.
 *     3. the keys at level m are up_to[m] - up_to[m - 1].
 */
#include "peaks.h"

#include "theory/fluid.h"
#include "theory/two.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define PEAKS_STEP 0.05     /* of time; in 1, all keys are replaced once */
#define PEAKS_LONG_STEP 0.2 /* after the short ones: what changes quickly has come to rest */
#define PEAKS_SHORT_STEPS 40
#define PEAKS_STEPS 70  /* of both, after which only the slowest part of a process still changes */
#define PEAKS_HEIGHT 30 /* the highest load that is distinguished; no bucket comes near it */
#define PEAKS_NOTHING 1e-9 /* shares of buckets that do not matter */
#define PEAKS_NEVER 1e-16  /* chances that do not matter */

/* ------------------------------------------------------------------ the loads of buckets */

/* The part of a fluid law that is needed: a third of it, so that two of them take less of the stack
 * than one fluid. */
typedef struct load_tails {
    unsigned tables;
    double   load;
    double   x[FLUID_MAX_TABLES][PEAKS_HEIGHT + 2];
} load_tails;

/* Not inlined: the fluid is on the stack only while this function runs. */
static __attribute__((noinline)) void load_tails_make(unsigned tables, double load, bool is_churned,
                                                      load_tails *ret_tails) {
    fluid law;
    tamis_fluid_law(tables, is_churned, load, is_churned ? INFINITY : FLUID_MANY, &law);
    *ret_tails = (load_tails){ .tables = tables, .load = load };
    for (unsigned i = 0; i < tables; i++) {
        for (unsigned j = 0; j < PEAKS_HEIGHT + 2; j++) ret_tails->x[i][j] = law.x[i][j];
    }
}

/* ------------------------------------------------------------------ the process */

/* A birth and death process: buckets of one subtable that never had more than m keys. With m =
 * PEAKS_HEIGHT, it has all buckets.
 *
 *          up[0]     up[1]          up[m-1]      up[m]
 *     [0] ----> [1] ----> ...  ----> [m] ----> (left for ever)
 *         <----     <----      <----
 *           1         2          m             keys that a bucket loses in a unit of time */
typedef struct process {
    unsigned m;
    double   up[PEAKS_HEIGHT + 1]; /* the rate at which a bucket with k keys gets one more */
    double
        u[PEAKS_HEIGHT + 1]; /* the share of the subtable's buckets that are here and have k keys */
} process;

/* The rates up(i, k) of peaks.h, and the shares as they are after filling. */
static void process_start(const load_tails *churn, const load_tails *fill, unsigned i, unsigned m,
                          process *ret_process) {
    ret_process->m = m;
    for (unsigned k = 0; k <= m; k++) {
        double up = churn->tables * churn->load;
        for (unsigned l = 0; l < churn->tables; l++) {
            if (l != i) up *= churn->x[l][l < i ? k + 1 : k];
        }
        ret_process->up[k] = up;
        ret_process->u[k] = fill->x[i][k] - fill->x[i][k + 1];
    }
}

/* The rate from k + 1 keys to k. Buckets that become empty come from all levels: the caller adds
 * them from outside (`emptied`), unless the process has all buckets. */
static double rate_down_to(const process *p, unsigned k) {
    bool const is_from_outside = k == 0 && p->m < PEAKS_HEIGHT;
    return k == p->m || is_from_outside ? 0 : k + 1;
}

/* du[k] / dt. From m keys, buckets leave upward at the rate up[m], and do not come back. */
static double inflow(const process *p, unsigned k) {
    double const below = k == 0 ? 0 : p->up[k - 1] * p->u[k - 1];
    double const above = k == p->m ? 0 : rate_down_to(p, k) * p->u[k + 1];
    return below + above - (p->up[k] + k) * p->u[k];
}

/* Sum of all u[k]: the share of the buckets of a subtable. */
static double bucket_share(const process *p, const double *u) {
    double sum = 0;
    for (unsigned k = 0; k <= p->m; k++) sum += u[k];
    return sum;
}

/* Keys per bucket of the subtable that are in buckets of this process. */
static double keys_in(const process *p) {
    double keys = 0;
    for (unsigned k = 0; k <= p->m; k++) keys += k * p->u[k];
    return keys;
}

/* ------------------------------------------------------------------ a step of time */

/* The matrix `share - time A`, where A u is the inflow. It has three diagonals; its decomposition
 * (that of Thomas) is kept, since most steps have the same length. */
typedef struct matrix {
    double time;
    double below[PEAKS_HEIGHT + 1];   /* the diagonal below the main one */
    double above[PEAKS_HEIGHT + 1];   /* the one above it, divided by the pivots */
    double inverse[PEAKS_HEIGHT + 1]; /* 1 / pivot */
} matrix;

/* Row k has the entries -time up[k-1], share + time (up[k] + k), and -time times the rate down from
 * k + 1. Elimination takes from each row what the row before has left of the entry below the
 * diagonal. */
static void matrix_make(const process *p, double share, double time, matrix *ret_matrix) {
    ret_matrix->time = time;
    for (unsigned k = 0; k <= p->m; k++) {
        double const below = k == 0 ? 0 : -time * p->up[k - 1];
        double const taken = k == 0 ? 0 : below * ret_matrix->above[k - 1];
        ret_matrix->below[k] = below;
        ret_matrix->inverse[k] = 1 / (share + time * (p->up[k] + k) - taken);
        ret_matrix->above[k] = -time * rate_down_to(p, k) * ret_matrix->inverse[k];
    }
}

/* Solve matrix x u = right: eliminate from 0 to m, then substitute back. */
static void matrix_solve(const process *p, const matrix *made, const double *right, double *ret_u) {
    double rest[PEAKS_HEIGHT + 1];
    for (unsigned k = 0; k <= p->m; k++) {
        rest[k] = (right[k] - (k == 0 ? 0 : made->below[k] * rest[k - 1])) * made->inverse[k];
    }
    ret_u[p->m] = rest[p->m];
    for (unsigned k = p->m; k-- > 0;) ret_u[k] = rest[k] - made->above[k] * ret_u[k + 1];
}

/* One step of Crank and Nicolson's method, (1 - t/2 A) u' = (1 + t/2 A) u, in which a share of
 * `emptied` buckets comes in at 0 keys. `made` is kept from step to step. */
static void process_step(process *p, double time, double emptied, matrix *made) {
    double right[PEAKS_HEIGHT + 1];
    if (made->time != time / 2) matrix_make(p, 1, time / 2, made);
    for (unsigned k = 0; k <= p->m; k++) right[k] = p->u[k] + time / 2 * inflow(p, k);
    right[0] += emptied;
    matrix_solve(p, made, right, p->u);
}

/* The rest of a life, after PEAKS_STEPS. As much of u as buckets that become empty keep up stays
 * for ever: -A u = emptied / PEAKS_LONG_STEP. What is there beyond that falls as it did in the last
 * step: only the slowest part is left; `before` is the share of buckets before that step. */
static void follow_slowest(process *p, double before, double emptied, double time) {
    double right[PEAKS_HEIGHT + 1] = { emptied / PEAKS_LONG_STEP }, kept[PEAKS_HEIGHT + 1];
    matrix made;
    matrix_make(p, 0, 1, &made);
    matrix_solve(p, &made, right, kept);
    double const stays = bucket_share(p, kept), excess = bucket_share(p, p->u) - stays;
    if (!(excess > PEAKS_NOTHING) || !(before - stays > excess)) return;
    double const left = exp(log(excess / (before - stays)) * time / PEAKS_LONG_STEP);
    for (unsigned k = 0; k <= p->m; k++) p->u[k] = kept[k] + left * (p->u[k] - kept[k]);
}

/* ------------------------------------------------------------------ the life of a subtable */

typedef struct life {
    const load_tails *churn, *fill;
    unsigned          i, steps;  /* which subtable, and how many steps are followed */
    double            turns;     /* the time */
    double emptied[PEAKS_STEPS]; /* the share of buckets that become empty in each step */
} life;

/* When a step begins. */
static double step_begin(unsigned at) {
    return at <= PEAKS_SHORT_STEPS
               ? at * PEAKS_STEP
               : PEAKS_SHORT_STEPS * PEAKS_STEP + (at - PEAKS_SHORT_STEPS) * PEAKS_LONG_STEP;
}

/* How long it is. The last step may be shorter. */
static double step_time(const life *subtable, unsigned at) {
    return fmin(at < PEAKS_SHORT_STEPS ? PEAKS_STEP : PEAKS_LONG_STEP,
                subtable->turns - step_begin(at));
}

/* As many steps as a life has, PEAKS_STEPS at most. */
static unsigned step_count(double turns) {
    double const later = ceil((turns - PEAKS_SHORT_STEPS * PEAKS_STEP) / PEAKS_LONG_STEP);
    return (unsigned)fmin(PEAKS_STEPS,
                          later > 0 ? PEAKS_SHORT_STEPS + later : ceil(turns / PEAKS_STEP));
}

/* Follow all buckets, and fill in `emptied`: buckets with one key lose it at the rate 1. Returns
 * the keys per bucket in the end. */
static double follow_all_buckets(life *subtable) {
    process all;
    matrix  made = { .time = 0 };
    process_start(subtable->churn, subtable->fill, subtable->i, PEAKS_HEIGHT, &all);
    subtable->steps = step_count(subtable->turns);
    for (unsigned at = 0; at < subtable->steps; at++) {
        double const time = step_time(subtable, at), before = all.u[1];
        process_step(&all, time, 0, &made);
        /* By the trapezoidal rule, as exact as the step itself. */
        subtable->emptied[at] = time * (before + all.u[1]) / 2;
    }
    return keys_in(&all);
}

/* Have all buckets had more than m keys since the filling, and none becomes empty? Then no key is
 * in a bucket that never had more. */
static bool is_passed_by_all(const life *subtable, unsigned m) {
    double const emptied =
        subtable->steps == 0 ? 0 : subtable->emptied[subtable->steps - 1] + subtable->emptied[0];
    return 1 - subtable->fill->x[subtable->i][m + 1] < PEAKS_NEVER && emptied < PEAKS_NEVER;
}

/* Does no bucket ever have more than m keys? Buckets reach and leave m + 1 at the rate m + 1. */
static bool is_passed_by_none(const life *subtable, unsigned m) {
    double const now =
        fmax(subtable->fill->x[subtable->i][m + 1], subtable->churn->x[subtable->i][m + 1]);
    return now * (1 + subtable->turns * (m + 1)) < PEAKS_NEVER;
}

/* ------------------------------------------------------------------ several levels at once
 *
 * A step of one process is a chain of operations, each of which waits for the one before. So BUNDLE
 * processes, of the levels m, m + 1, ..., take their steps together: the processor works on all of
 * them at a time. They have the same rates, and so the same decomposition: that of a process with
 * fewer keys is the first part of that with more. */

#define BUNDLE 4

/* A number of each process. */
typedef two bundle_row[BUNDLE / 2];

typedef struct bundle {
    process    last;                /* the one with the most keys: its rates are those of all */
    bundle_row u[PEAKS_HEIGHT + 2]; /* 0 where a process has fewer keys, and above the last */
    bundle_row before;              /* the share of buckets before the last step */
} bundle;

/* Each process begins with the shares after filling, up to its own m; above that it has none. */
static void bundle_start(const life *subtable, unsigned m, bundle *ret_bundle) {
    process_start(subtable->churn, subtable->fill, subtable->i, m + BUNDLE - 1, &ret_bundle->last);
    for (unsigned k = 0; k <= m + BUNDLE; k++) {
        double const u = k < m + BUNDLE ? ret_bundle->last.u[k] : 0;
        for (unsigned l = 0; l < BUNDLE; l += 2)
            ret_bundle->u[k][l / 2] = two_make(k <= m + l ? u : 0, k <= m + l + 1 ? u : 0);
    }
}

/* 0 in the processes before `from`; half h of a row. */
static two processes_from(two x, unsigned from, unsigned h) {
    return two_make(2 * h >= from ? two_get(x, 0) : 0, 2 * h + 1 >= from ? two_get(x, 1) : 0);
}

/* What process_step() does, as sums of products: of the shares with k, k - 1 and k + 1 keys, and of
 * what the elimination has made of k - 1. Two equal numbers each, for two processes. */
typedef struct bundle_matrix {
    double time; /* half of a step */
    two    own[PEAKS_HEIGHT + 1], under[PEAKS_HEIGHT + 1], over[PEAKS_HEIGHT + 1],
        below[PEAKS_HEIGHT + 1];
    two    above[PEAKS_HEIGHT + 1];
    double first; /* 1 / the first pivot */
} bundle_matrix;

/* From matrix_make(): (1 + t/2 A) u on the right side has the factors own, under and over, each
 * divided by the pivot as the elimination does; below and above are what the elimination itself
 * needs. */
static __attribute__((noinline)) void bundle_matrix_make(const process *p, double half,
                                                         bundle_matrix *ret_matrix) {
    matrix made;
    matrix_make(p, 1, half, &made);
    ret_matrix->time = half;
    ret_matrix->first = made.inverse[0];
    for (unsigned k = 0; k <= p->m; k++) {
        double const inverse = made.inverse[k];
        double const under = k == 0 ? 0 : half * p->up[k - 1];
        double const over = k == p->m ? 0 : half * rate_down_to(p, k);
        ret_matrix->own[k] = two_same((1 - half * (p->up[k] + k)) * inverse);
        ret_matrix->under[k] = two_same(under * inverse);
        ret_matrix->over[k] = two_same(over * inverse);
        ret_matrix->below[k] = two_same(made.below[k] * inverse);
        ret_matrix->above[k] = two_same(made.above[k]);
    }
}

/* The share with k keys after a step, before the elimination goes back down; half h of a row. */
TAMIS_INLINE two bundle_next(const bundle *all, const bundle_matrix *made, unsigned k, unsigned h,
                             two under, two below) {
    two const own = two_multiply(made->own[k], all->u[k][h]);
    two const with_under = two_add(own, two_multiply(made->under[k], under));
    two const with_over = two_add(with_under, two_multiply(made->over[k], all->u[k + 1][h]));
    return two_subtract(with_over, two_multiply(made->below[k], below));
}

/* A step of all processes, in which a share of `emptied` buckets comes in at 0 keys. */
static void bundle_step(bundle *all, double emptied, const bundle_matrix *made) {
    unsigned const last = all->last.m, first = last + 1 - BUNDLE;
    two const      from_outside = two_same(emptied * made->first);
    bundle_row     under, below, sum;
    for (unsigned h = 0; h < BUNDLE / 2; h++) under[h] = below[h] = sum[h] = two_same(0);
    for (unsigned k = 0; k <= last; k++) {
        for (unsigned h = 0; h < BUNDLE / 2; h++) {
            two const u = all->u[k][h];
            two const next = bundle_next(all, made, k, h, under[h], below[h]);
            below[h] = k == 0 ? two_add(next, from_outside) : next;
            if (k > first) below[h] = processes_from(below[h], k - first, h);
            sum[h] = two_add(sum[h], u);
            under[h] = u;
            all->u[k][h] = below[h]; /* eliminated; the shares follow below */
        }
    }
    for (unsigned k = last; k-- > 0;) {
        for (unsigned h = 0; h < BUNDLE / 2; h++) {
            two const above = two_multiply(made->above[k], all->u[k + 1][h]);
            all->u[k][h] = two_subtract(all->u[k][h], above);
        }
    }
    for (unsigned h = 0; h < BUNDLE / 2; h++) all->before[h] = sum[h];
}

/* Follow them for the whole life, and fill in the keys per bucket that are in buckets which never
 * had more than m, m + 1, ... */
static __attribute__((noinline)) void bundle_follow(const life *subtable, unsigned m,
                                                    double *ret_keys) {
    bundle_matrix made = { .time = 0 };
    double        emptied = 0, rest = subtable->turns - step_begin(PEAKS_STEPS);
    bundle        all;
    bundle_start(subtable, m, &all);
    for (unsigned at = 0; at < subtable->steps; at++) {
        double const half = step_time(subtable, at) / 2;
        if (made.time != half) bundle_matrix_make(&all.last, half, &made);
        emptied = subtable->emptied[at];
        bundle_step(&all, emptied, &made);
    }
    for (unsigned l = 0; l < BUNDLE; l++) {
        process some = all.last;
        some.m = m + l;
        for (unsigned k = 0; k <= some.m; k++) some.u[k] = two_get(all.u[k][l / 2], l % 2);
        if (rest > 0) follow_slowest(&some, two_get(all.before[l / 2], l % 2), emptied, rest);
        ret_keys[l] = keys_in(&some);
    }
}

/* Keys per bucket that are in buckets which never had more than m keys, for all m up to `last`;
 * `all` is the keys of all buckets. If the answer is none or all, nothing is computed. */
static void find_keys_up_to(const life *subtable, unsigned last, double all, double *ret_keys) {
    double   keys[BUNDLE];
    unsigned followed = 0; /* the first m that is not followed yet */
    for (unsigned m = 1; m <= last; m++) {
        if (is_passed_by_all(subtable, m)) {
            ret_keys[m] = 0;
        } else if (is_passed_by_none(subtable, m)) {
            ret_keys[m] = all;
        } else {
            if (m >= followed) {
                bundle_follow(subtable, m, keys);
                followed = m + BUNDLE;
            }
            ret_keys[m] = keys[BUNDLE - (followed - m)];
        }
    }
}

/* Add up the levels of all subtables. If no keys are replaced, churn is ignored. */
void tamis_peak_levels(unsigned tables, double load, double turns, unsigned last,
                       peak_levels *ret_levels) {
    load_tails fill, churn;
    load_tails_make(tables, load, false, &fill);
    if (turns > 0) load_tails_make(tables, load, true, &churn);
    *ret_levels = (peak_levels){ .keys = { 0 } };
    for (unsigned i = 0; i < tables; i++) {
        life subtable = {
            .churn = turns > 0 ? &churn : &fill, .fill = &fill, .i = i, .turns = turns
        };
        double const all = follow_all_buckets(&subtable);
        double       up_to[PEAKS_HEIGHT], below = 0;
        find_keys_up_to(&subtable, last - 1, all, up_to);
        for (unsigned m = 1; m < last; m++) {
            double const keys = fmin(all, fmax(below, up_to[m]));
            ret_levels->keys[m] += keys - below;
            below = keys;
        }
        ret_levels->keys[last] += all - below;
    }
}
