/* law.h - the laws of counters on several levels, and of the blocks that they share.
 *
 * A counter is hit Binomial(nk, 1/m) times, and each hit adds a number of D. The law of such a sum
 * follows from the sums below it (Panjer, 1981), in one pass and for any number of hits. From it
 * comes what a counter excludes, and how many cells it has above level 0.
 *
 * The cells of a block take the sum of what its counters take, independently of each other: a power
 * of one polynomial, whose coefficients again follow from those below them. (They are not quite
 * independent, since hits that are here are not there. That makes the truth a little better, and
 * much better if there are but a few blocks.)
 */
#ifndef TAMIS_KINDS_MLCBF_LAW_H
#define TAMIS_KINDS_MLCBF_LAW_H

#include "levels.h"
#include "numbered.h"

/* Counters whose law is followed; all that are larger are one, and exclude nobody. */
#define ML_MAX_SUM 1024
#define ML_MAX_COST 64 /* more bits than the cells of one counter have */

static_assert(LEVELS_MAX * LEVELS_MAX_BITS < ML_MAX_COST, "the cells of a counter");

/* ------------------------------------------------------------------ a counter */

typedef struct ml_law {
    double   chance[ML_MAX_SUM]; /* of each sum */
    double   beyond;
    unsigned end; /* from here on, nothing */
} ml_law;

void tamis_ml_law(const numbered *of, double counters, double hits, ml_law *ret_law);

/* A set of increments, and the share of them that a counter of each value excludes, now and after
 * one more hit. */
typedef struct ml_model {
    numbered of;
    uint8_t  excluded[ML_MAX_SUM]; /* of |D| increments */
    uint16_t after[ML_MAX_SUM];    /* the same after one more hit, summed over all increments */
    uint16_t both[ML_MAX_SUM];     /* of |D| x |D| pairs of increments, how many it holds at once */
} ml_model;

void tamis_ml_model(uint64_t mask, bool is_plain, ml_model *ret_model);

/* What a counter is on average, with all the bits it wants. */
typedef struct ml_counter {
    double excludes, both; /* the share of increments that it excludes, of pairs that it holds */
    double after;          /* the share that it excludes after one more hit */
} ml_counter;

ml_counter tamis_ml_counter(const ml_model *of, const ml_law *law);

/* The fpr of n keys with k hashes, if a counter lets an absent key pass with this chance. */
double tamis_ml_rate(const ml_counter *is, double passes, double m, double k, double n);

/* ------------------------------------------------------------------ levels */

/* What counters are on levels: how many have their last cell on each, what these exclude, and what
 * one more hit does to them. */
typedef struct ml_heights {
    double   last[LEVELS_MAX], excludes[LEVELS_MAX];
    double   climbs[LEVELS_MAX][LEVELS_MAX];
    double   top, reaches; /* at the top; brought there by one hit */
    unsigned cost[LEVELS_MAX];
    unsigned depth;
} ml_heights;

void tamis_ml_heights(const ml_model *of, const levels *l, const ml_law *law,
                      ml_heights *ret_heights);

/* Bits of cells that a counter has: on average, and how far from it. */
double tamis_ml_mean_cost(const ml_heights *is);
double tamis_ml_cost_deviation(const ml_heights *is);

/* ------------------------------------------------------------------ blocks */

/* The bits of cells in a block: P[more than its area], and P[so many less than it]. */
typedef struct ml_cells {
    double over;
    double under[ML_MAX_COST];
} ml_cells;

/* Those of n counters. */
void tamis_ml_cells(const ml_heights *is, double n, double area, ml_cells *ret_cells);

/* P[the cells of the others leave room for `paid`, and not for `cost`]. */
double tamis_ml_between(const ml_cells *others, unsigned paid, unsigned cost);

typedef struct ml_life {
    double blocks, counters, hits_later;
} ml_life;

/* P[the cells of all counters of a block are more than its area], from those of all but one. */
double tamis_ml_closed(const ml_heights *is, const ml_cells *others);

/* Expected events of sticking: in the filling, and with each later hit. Also tells of the cells
 * that the other counters of a block have. */
double tamis_ml_sticks(const ml_heights *is, const ml_life *of, double area, ml_cells *ret_others);

#endif
