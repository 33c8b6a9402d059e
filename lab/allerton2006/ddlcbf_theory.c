/* ddlcbf_theory.c - equations for the highest load that a bucket ever had. */
#include "ddlcbf.h"

#include <math.h>
#include <string.h>

#define STEPS_PER_LIFE 400 /* of the method, while each key is replaced once on average */

typedef double share_table[DDLCBF_TOP + 1][DDLCBF_TOP + 1];

/* Keys with the same (b, r) and 3 bits more share a cell of 17 bits. Few do. */
static double load(void) {
    double const cells = ldexp(DLCBF_PAPER_RANGE, 3);
    return -cells * expm1(DLCBF_PAPER_KEYS * log1p(-1 / cells)) / DLCBF_ALL_BUCKETS;
}

/* ------------------------------------------------------------------ the equations */

/* x[i][j]: the share of subtable i with at least j. */
static void tails_of(const ddlcbf_peaks *at, double ret_x[DLCBF_PAPER_TABLES][DDLCBF_TOP + 2]) {
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        ret_x[i][DDLCBF_TOP + 1] = 0;
        for (unsigned j = DDLCBF_TOP + 1; j-- > 0;) {
            ret_x[i][j] = ret_x[i][j + 1];
            for (unsigned most = j; most <= DDLCBF_TOP; most++)
                ret_x[i][j] += at->share[i][j][most];
        }
    }
}

/* How fast a bucket of subtable i that has j gets one more, in lives of a key. */
static double arrivals(double x[DLCBF_PAPER_TABLES][DDLCBF_TOP + 2], unsigned i, unsigned j) {
    double rate = DLCBF_PAPER_TABLES * load();
    for (unsigned k = 0; k < i; k++) rate *= x[k][j + 1];
    for (unsigned k = i + 1; k < DLCBF_PAPER_TABLES; k++) rate *= x[k][j];
    return rate;
}

/* The share of new keys that have the (b, r) of a key in the table; and how many such keys arrive
 * during the life of a cell. */
#define TWINS (DLCBF_PAPER_KEYS / DLCBF_PAPER_RANGE)

/* How fast j cells get a key with the same (b, r) but other bits after it: that key needs a cell
 * of its own. */
static double forced(unsigned j, unsigned length) {
    return j * TWINS * (1 - ldexp(1, (int)DDLCBF_LEAST - (int)length));
}

/* One bucket: how often it leaves each state, and for which state. In a full bucket with a forced
 * add, two cells become one when they are cut shorter. */
static void flow(share_table *slope, double share, unsigned j, unsigned most, double up) {
    unsigned const most_then = most > j ? most : j + 1;
    unsigned const then = j < DLCBF_PAPER_CELLS ? j + 1 : j;
    (*slope)[j][most] -= (up + j) * share;
    (*slope)[then][most_then] += up * share;
    if (j > 0) (*slope)[j - 1][most] += j * share;
}

static void slope_of(const ddlcbf_peaks *at, ddlcbf_peaks *ret_slope) {
    double   x[DLCBF_PAPER_TABLES][DDLCBF_TOP + 2];
    unsigned lengths[DDLCBF_TOP + 1];
    tails_of(at, x);
    ddlcbf_lengths(lengths);
    memset(ret_slope->share, 0, sizeof ret_slope->share);
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        for (unsigned j = 0; j <= DLCBF_PAPER_CELLS; j++) {
            double const free = arrivals(x, i, j) * (at->is_forced ? 1 - TWINS : 1);
            for (unsigned most = j; most < DDLCBF_TOP; most++) {
                double const extra = at->is_forced ? forced(j, lengths[most]) : 0;
                flow(&ret_slope->share[i], at->share[i][j][most], j, most, free + extra);
            }
        }
    }
}

static void move_on(const ddlcbf_peaks *from, double step, const ddlcbf_peaks *slope,
                    ddlcbf_peaks *to) {
    const double *const source = &from->share[0][0][0], *const slopes = &slope->share[0][0][0];
    double *const target = &to->share[0][0][0];
    size_t const  n = sizeof from->share / sizeof *source;
    for (size_t i = 0; i < n; i++) target[i] = source[i] + step * slopes[i];
}

/* The midpoint method. */
static void advance(ddlcbf_peaks *at, double step) {
    ddlcbf_peaks slope = *at, middle = *at;
    slope_of(at, &slope);
    move_on(at, step / 2, &slope, &middle);
    slope_of(&middle, &slope);
    move_on(at, step, &slope, at);
}

void ddlcbf_filled(bool is_forced, ddlcbf_peaks *ret_peaks) {
    fluid filled;
    tamis_fluid_fill(DLCBF_PAPER_TABLES, load(), INFINITY, &filled);
    *ret_peaks = (ddlcbf_peaks){ .is_forced = is_forced };
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        for (unsigned j = 0; j <= DDLCBF_TOP; j++) {
            ret_peaks->share[i][j][j] = filled.x[i][j] - filled.x[i][j + 1];
        }
    }
}

void ddlcbf_churn(double steps, ddlcbf_peaks *peaks) {
    double const lives = steps / DLCBF_PAPER_KEYS, parts = ceil(lives * STEPS_PER_LIFE);
    for (double part = 0; part < parts; part++) advance(peaks, lives / parts);
}

/* ------------------------------------------------------------------ asking */

double ddlcbf_peak_share(const ddlcbf_peaks *peaks, unsigned most) {
    double share = 0;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        for (unsigned j = 0; j <= most; j++) share += peaks->share[i][j][most];
    }
    return share / DLCBF_PAPER_TABLES;
}

double ddlcbf_rate(const ddlcbf_peaks *peaks, const unsigned lengths[DDLCBF_TOP + 1]) {
    double rate = 0;
    for (unsigned i = 0; i < DLCBF_PAPER_TABLES; i++) {
        for (unsigned j = 1; j <= DDLCBF_TOP; j++) {
            for (unsigned most = j; most <= DDLCBF_TOP; most++) {
                rate += peaks->share[i][j][most] * j * ldexp(1, -(int)lengths[most]);
            }
        }
    }
    return rate;
}

void ddlcbf_lengths(unsigned ret_lengths[DDLCBF_TOP + 1]) {
    ret_lengths[0] = DDLCBF_MOST;
    for (unsigned most = 1; most <= DDLCBF_TOP; most++) {
        unsigned const length = DDLCBF_ROOM / most - 1 + 1;
        ret_lengths[most] = length < DDLCBF_LEAST ? DDLCBF_LEAST : length;
        if (length > DDLCBF_MOST) ret_lengths[most] = DDLCBF_MOST;
    }
}
