/* law.h - the laws of counters on several levels, and of the blocks that they share.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, section V, and D. Ficara, S. Giordano, G.
 * Procissi, F. Vitucci, "MultiLayer Compressed Counting Bloom Filters", INFOCOM 2008. Neither
 * computes how often a level is too small. Names: n keys, m counters, k hashes, D the increments;
 * levels, cells, area as in levels.h.
 *
 * Idea, in three steps:
 *
 *   counter   It is hit Binomial(nk, 1/m) times (equation (2) of the paper), and each hit adds a
 *             random number of D. Each chance of such a sum follows from the chances below it:
 *             H. H. Panjer, "Recursive Evaluation of a Family of Compound Distributions", ASTIN
 *             Bulletin 12, 1981. One pass, for any number of hits.
 *   levels    From it: how many counters reach each level, what those exclude, and what one more
 *             hit does to them.
 *   block     Its cells take the sum of what its counters take. If counters were independent, the
 *             distribution of that sum is the power of a polynomial, f(z)^counters, where f has a
 *             term for each level. Its coefficients, too, follow from those below them.
 *
 * Example of a block: level 0 of 2 bits, and cells of 3 bits that one of ten counters has. Then
 * f(z) = 0.9 + 0.1 z^3, and for two counters f(z)^2 = 0.81 + 0.18 z^3 + 0.01 z^6: no cell, one of 3
 * bits, or two.
 *
 * Why independence is good enough: hits of one counter are no hits of another, so the truth is a
 * little better than the law, and much better only if there are but a few blocks. A test holds the
 * law against filled tables.
 *
 * Invariants: every function here is pure. A model depends on D alone and a law on D, m and the
 * number of hits; a search makes each of them once. No frame is larger than 16 KiB.
 */
#ifndef TAMIS_KINDS_MLCBF_LAW_H
#define TAMIS_KINDS_MLCBF_LAW_H

#include "levels.h"
#include "numbered.h"

/* ------------------------------------------------------------------ a counter */

/* Other hits that a counter has room for, beside the copies of the key that is counted. In a full
 * table nearly all counters of a key are shared. One of them with no more other hits than that is
 * enough, and at a rate of 0.1% fewer than one key in 10^8 have none. */
#define ML_OTHERS 6

/* Sums that are distinguished. A larger counter excludes no key, whatever D is. */
#define ML_MAX_SUM 1024

/* The distribution of the sum that a counter holds. */
typedef struct ml_law {
    double   chance[ML_MAX_SUM];
    double   beyond; /* of all sums from ML_MAX_SUM on */
    unsigned end;    /* from here on, chances are negligible */
} ml_law;

void tamis_ml_law(const numbered *map, double counters, double hits, ml_law *ret_law);

/* Only as far as a rate depends on it, in a third of the time: not for how often counters stick. */
void tamis_ml_short_law(const numbered *map, double counters, double hits, ml_law *ret_law);

/* A set of increments, and what a counter of each value excludes. */
typedef struct ml_model {
    numbered map;                  /* between the sum of a counter and what it stores */
    uint8_t  excluded[ML_MAX_SUM]; /* increments that it excludes, of |D| */
    uint16_t after[ML_MAX_SUM];    /* the same after one more hit, summed over all |D| of them */
    uint16_t both[ML_MAX_SUM];     /* ordered pairs of increments that it may hold, of |D|^2 */
} ml_model;

void tamis_ml_model(uint64_t mask, bool is_plain, ml_model *ret_model);

/* What a counter does on average, if it has all the bits that it wants. */
typedef struct ml_counter {
    double excludes; /* p of the paper: P[it excludes an absent key] */
    double both;     /* P[it may hold two random increments at once] */
    double after;    /* P[it excludes an absent key after one more hit] */
} ml_counter;

ml_counter tamis_ml_counter(const ml_model *model, const ml_law *law);

/* The fpr of n keys with k hashes in m counters, each of which an absent key passes with the chance
 * `pass`: equation (5) of the paper, corrected for small tables (theory/meet.h). */
double tamis_ml_rate(const ml_counter *counter, double pass, double m, double k, double n);

/* ------------------------------------------------------------------ levels */

/* How high counters reach. */
typedef struct ml_heights {
    double   last[LEVELS_MAX];               /* P[the last cell of a counter is on this level] */
    double   excludes[LEVELS_MAX];           /* P[that, and it excludes an absent key] */
    double   climbs[LEVELS_MAX][LEVELS_MAX]; /* P[one hit takes it from this level to that one] */
    double   top;                            /* P[a counter is at the top] */
    double   reaches;                        /* P[one hit brings it there] */
    unsigned cost[LEVELS_MAX]; /* bits of its cells above level 0, by its last level */
    unsigned depth;            /* levels */
} ml_heights;

void tamis_ml_heights(const ml_model *model, const levels *layout, const ml_law *law,
                      ml_heights *ret_heights);

/* Bits of cells above level 0 that a counter has: the mean and the standard deviation. */
double tamis_ml_mean_cost(const ml_heights *heights);
double tamis_ml_cost_deviation(const ml_heights *heights);

/* ------------------------------------------------------------------ blocks */

#define ML_MAX_COST 64 /* more bits than the cells of one counter have */

static_assert(LEVELS_MAX * LEVELS_MAX_BITS < ML_MAX_COST, "the cells of a counter");

/* The bits that the cells of some counters take, beside the area of their block. */
typedef struct ml_cells {
    double over;               /* P[more than the area] */
    double under[ML_MAX_COST]; /* under[i]: P[exactly i bits less than the area] */
} ml_cells;

void tamis_ml_cells(const ml_heights *heights, double counters, double area, ml_cells *ret_cells);

#define ML_WINDOW 1024

/* The same for many areas at once: P[exactly so many bits] in a window, first to first + length -
 * 1, and P[more]. It takes one pass over all bits, as one area does. */
typedef struct ml_window {
    uint64_t first;
    unsigned length; /* up to ML_WINDOW */
    double   chance[ML_WINDOW];
    double   beyond;
} ml_window;

void tamis_ml_window(const ml_heights *heights, double counters, uint64_t first, unsigned length,
                     ml_window *ret_window);

/* The least area that the window has the cells of: with the ML_MAX_COST - 1 numbers of bits below
 * it, unless there are no fewer than 0.
 *
 *     first                 first + ML_MAX_COST - 1                 first + length - 1
 *     |<- under[] of the least area ->|<------- areas that are known ------->|   `beyond` */
static inline uint64_t ml_window_least(const ml_window *window) {
    return window->first == 0 ? 0 : window->first + ML_MAX_COST - 1;
}

/* The cells beside one of these areas. False: the window does not reach so far. */
bool tamis_ml_cells_in(const ml_window *window, double area, ml_cells *ret_cells);

/* P[the cells of the others leave room for `paid` bits, and not for `cost`]. */
double tamis_ml_between(const ml_cells *others, unsigned paid, unsigned cost);

/* P[the cells of all counters of a block are more than its area], from those of all but one. */
double tamis_ml_closed(const ml_heights *heights, const ml_cells *others);

/* What a table goes through. */
typedef struct ml_life {
    double blocks, counters; /* how many blocks, and counters in each of them */
    double hits_later;       /* hits after the table was filled */
} ml_life;

/* Expected events of sticking, from the cells of all counters of a block but one. */
double tamis_ml_sticks_by(const ml_heights *heights, const ml_life *life, const ml_cells *others);

/* Expected events of sticking, in the filling and with each later hit. ret_others: the cells of all
 * counters of a block but one. */
double tamis_ml_sticks(const ml_heights *heights, const ml_life *life, double area,
                       ml_cells *ret_others);

#endif
