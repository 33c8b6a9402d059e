/* size.h - the analysis of counters on several levels, counted up by variable increments.
 *
 * Names: n keys, k hashes, m counters in blocks, D the increments (core/increments.h); levels,
 * cells, area (levels.h).
 *
 * From the law of a counter and that of a block (ml_law.h) follow the fpr, including what closed
 * blocks no longer exclude, and the probability that anything ever sticks: in the filling, and over
 * a lifetime, in which each later add finds the table as the filling left it, and one of its hits
 * is the one that needs a cell too many, or reaches the top.
 */
#ifndef TAMIS_KINDS_MLCBF_SIZE_H
#define TAMIS_KINDS_MLCBF_SIZE_H

#include "levels.h"
#include "need.h"

/* The geometry. */
enum {
    ML_BLOCKS,
    ML_COUNTERS, /* of a block */
    ML_AREA,     /* bits of a block for cells above level 0 */
    ML_HASHES,
    ML_INCREMENTS, /* bit v: v is one of them */
    ML_PLAIN,      /* 1: counters are sums, as in the paper, and not their numbers */
    ML_BITS,       /* of level 0, 1, ...; 0 after the last */
    ML_FIELDS = ML_BITS + LEVELS_MAX
};

/* Sets of increments: the paper's best, its like with one more bit, its simplest, and that of the
 * plain counting filter. Of 1000 others the best one, {17, 19, 20, 25}, saved 1% more. */
#define ML_GENERAL UINT64_C(0xd100)          /* {8, 12, 14, 15} */
#define ML_GENERAL_WIDE UINT64_C(0xd1010000) /* {16, 24, 28, 30, 31} */
#define ML_D4 UINT64_C(0xf0)                 /* {4, 5, 6, 7} */
#define ML_ONE UINT64_C(2)                   /* {1} */

#define ML_MAX_HASHES 40
#define ML_MAX_COUNTERS 65536 /* of a block: its cells are shifted whenever one comes or goes */
#define ML_MAX_AREA 262144

#define ML_LINE_BITS 512   /* a block that is asked fast */
#define ML_BLOCK_BITS 8192 /* one that is small: a longer one needs less reserve, and more time */

static inline double ml_total(const uint64_t *g) {
    return (double)g[ML_BLOCKS] * (double)g[ML_COUNTERS];
}

/* What is to be known of a geometry with n keys. */
typedef struct ml_forecast {
    double fpr;
    double level[LEVELS_MAX]; /* P[a counter has a cell there] */
    double top;               /* P[a counter is at the top] */
    double closed;            /* P[a block is closed] */
    double ever;              /* P[any counter ever sticks], over the lifetime */
} ml_forecast;

void tamis_ml_forecast(const uint64_t *geometry, double n, double lifetime,
                       ml_forecast *ret_forecast);

typedef struct ml_need {
    double n, fpr, lifetime;
    double overflow; /* P[any counter ever sticks] that is put up with */
    bool   is_fast;  /* a block is a cache line */
} ml_need;

/* Fill in what is free, for the smallest table. False: it cannot be had. */
bool tamis_ml_choose(const ml_need *need, uint64_t *geometry);

#endif
