/* analysis.h - what a table of counters on several levels does: its fpr, and how often anything in
 * it sticks.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, section V (ML-VI-HCBF). Names: n keys, k hashes,
 * m counters in blocks, D the increments (core/increments.h); levels, cells, area (levels.h).
 *
 * Idea. Section V has the rate of the same counters without levels: equation (5), (1 - p)^k. That
 * stays right as long as nothing sticks. From the laws of a counter and of a block (law.h) follows
 * what closed blocks no longer exclude, and how often anything sticks: while the table is filled,
 * and over a lifetime. Each later add finds the table as the filling left it, and one of its hits
 * may be the one that needs a cell too many, or reaches the top.
 *
 * Why it matters: the paper's level sizes for D4 overflow in a third of all filters
 * (lab/ton2014/levels.c). A cell without room is a lost key there.
 *
 * Invariants: pure functions; no frame larger than 16 KiB.
 */
#ifndef TAMIS_KINDS_MLCBF_ANALYSIS_H
#define TAMIS_KINDS_MLCBF_ANALYSIS_H

#include "law.h"

/* ------------------------------------------------------------------ the geometry */

enum {
    ML_BLOCKS,
    ML_COUNTERS,   /* of a block */
    ML_AREA,       /* bits of a block for cells above level 0 */
    ML_HASHES,     /* k */
    ML_INCREMENTS, /* D as a mask: bit v is set if v is in D */
    ML_PLAIN,      /* 1: counters are sums, as in the paper, and not their numbers (numbered.h) */
    ML_BITS,       /* of level 0, 1, ...; 0 after the last */
    ML_FIELDS = ML_BITS + LEVELS_MAX
};

#define ML_MAX_HASHES 40
#define ML_MAX_COUNTERS 65536 /* of a block: its cells are shifted whenever one comes or goes */
#define ML_MAX_AREA 262144

/* m: all counters of a table. */
static inline double ml_total(const uint64_t *g) {
    return (double)g[ML_BLOCKS] * (double)g[ML_COUNTERS];
}

static inline levels ml_levels(const uint64_t *g) {
    return levels_make(g[ML_COUNTERS], g[ML_AREA], g + ML_BITS);
}

/* The highest count that is exact in a full table, whichever increments a key has: this many
 * copies, and ML_OTHERS hits of other keys (law.h), are below the top of the levels. */
uint64_t tamis_ml_count_to(const uint64_t *geometry);

/* ------------------------------------------------------------------ a table of n keys */

/* Hits of a counter, on average: with more, all counters are taken to be at the top. */
#define ML_MAX_HITS 500

typedef struct ml_forecast {
    double fpr;
    double level[LEVELS_MAX]; /* P[a counter has a cell on this level] */
    double top;               /* P[a counter is at the top] */
    double closed;            /* P[a block is closed] */
    double ever;              /* P[any counter ever sticks], over the lifetime */
} ml_forecast;

/* With the model of its increments; and without, for a single question. */
void tamis_ml_forecast_by(const ml_model *model, const uint64_t *geometry, double n,
                          double lifetime, ml_forecast *ret_forecast);
void tamis_ml_forecast(const uint64_t *geometry, double n, double lifetime,
                       ml_forecast *ret_forecast);

/* What a table of this geometry goes through: see law.h. */
ml_life tamis_ml_life(const uint64_t *geometry, double n, double lifetime);

#endif
