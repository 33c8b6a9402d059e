/* dlcbf.h - declarations for the experiments on d-left counting filters.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "An Improved Construction
 * for Counting Bloom Filters", ESA 2006. Its table: 4 subtables of 2048 buckets with 8 cells, 14
 * bits of remainder and 2 of counter. Its trial: fill, then 2^20 steps in each of which a random
 * key is removed and a new one is added.
 */
#ifndef TAMIS_LAB_DLCBF_ESA2006_H
#define TAMIS_LAB_DLCBF_ESA2006_H

#include "frame/lab.h"
#include "theory/fluid.h"

#define DLCBF_PAPER_TABLES 4
#define DLCBF_PAPER_BUCKETS 2048u /* of each subtable */
#define DLCBF_PAPER_CELLS 8
#define DLCBF_PAPER_BITS 14 /* of a remainder */
#define DLCBF_PAPER_KEYS 49152u
#define DLCBF_PAPER_STEPS (UINT64_C(1) << 20)
#define DLCBF_PAPER_TRIALS 10000
#define DLCBF_PAPER_RANGE 33554432.0 /* B R = 2^25 */

#define DLCBF_ALL_BUCKETS (DLCBF_PAPER_TABLES * DLCBF_PAPER_BUCKETS)

/* ------------------------------------------------------------------ theory */

/* The library leaves out remainders of 0: B (R - 1) fingerprints. */
double dlcbf_paper_prints(void);

/* How many different fingerprints n keys have: equal ones share a cell. */
double dlcbf_different(double keys);

/* The distribution of loads under churn. A load is a number of cells, not of keys. */
void dlcbf_law(double keys, fluid *ret_law);

/* How many of a trial's adds find all their buckets full, on average: from the filling on. */
double dlcbf_overflows(double keys);

/* ------------------------------------------------------------------ one trial with a real table */

#define DLCBF_FEW_QUERIES 10000u /* as the paper says */
#define DLCBF_MORE_QUERIES 100000u
#define DLCBF_QUERIES 1000000u /* the few and the more are the first of these */
#define DLCBF_LEVELS 8
#define DLCBF_LOOK_EVERY 256 /* steps; a bucket that is full stays full for about 6144 */

typedef struct dlcbf_config {
    uint32_t keys;
    unsigned moves;
    bool     is_watched; /* measure false positives, and count copies in every step */
} dlcbf_config;

typedef struct dlcbf_outcome {
    uint64_t refused;                        /* adds that found all buckets full */
    uint64_t moved;                          /* cells that were moved */
    uint64_t buckets[DLCBF_PAPER_CELLS + 1]; /* with at least this many cells used, at the end */
    uint64_t last_full;                      /* times that the last subtable had a full bucket */
    uint64_t rises[DLCBF_LEVELS];            /* adds that gave a fingerprint this many copies */
    uint64_t hits_few, hits_more, hits;      /* of the queries */
    uint64_t unremoved, lost;                /* of keys that were there */
} dlcbf_outcome;

dlcbf_outcome *dlcbf_trials(const lab_run *run, const char *stream, const dlcbf_config *config,
                            uint64_t n);

/* ------------------------------------------------------------------ other geometries */

#define DLCBF_WARM_UP 8 /* lives of a key, until the loads have their limit */
#define DLCBF_MAX_CELLS 32

typedef struct dlcbf_shape {
    unsigned buckets, cells, bits; /* of each of 4 subtables; of a bucket; of a remainder */
    unsigned moves;
    uint64_t keys, steps;
    uint64_t queries; /* at the end, for absent keys */
} dlcbf_shape;

typedef struct dlcbf_churn_outcome {
    uint64_t adds, refused;                /* after the warm-up */
    uint64_t buckets[DLCBF_MAX_CELLS + 1]; /* with at least this many cells used, at the end */
    uint64_t hits;                         /* of the queries */
    uint64_t bits;                         /* of all buckets */
} dlcbf_churn_outcome;

dlcbf_churn_outcome *dlcbf_churn_trials(const lab_run *run, const char *stream,
                                        const dlcbf_shape *shape, uint64_t n);

/* ------------------------------------------------------------------ experiments */

void dlcbf_esa2006(lab_run *run);
void dlcbf_overflow(lab_run *run);
void dlcbf_permuted(lab_run *run);
void dlcbf_compared(lab_run *run);
void dlcbf_larger(lab_run *run);
void dlcbf_moves(lab_run *run);

#endif
