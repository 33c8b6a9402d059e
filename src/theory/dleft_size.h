/* dleft_size.h - the sizes of d-left tables, whatever their cells hold beside a print.
 *
 * Paper: Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006, sections
 * 2.3 and 4.
 *
 * Names: n keys; d subtables of B buckets each, c cells in a bucket; r bits of print and x others
 * in a cell. Prints of 0 mark empty cells, so that an absent key matches one of n others with
 * probability n / (B (2^r - 1)).
 *
 * Idea. A key finds no place when all its d buckets are full. The fluid limit (fluid.h) says how
 * often that is for the next key, at capacity; a lifetime of T adds is at most T times worse. The
 * smallest table is found by a search over subtables, print bits and cells.
 *
 * Why churn counts. If keys are removed, the limit under churn decides: at load 4 of
 * 6 cells in 3 subtables, filling alone makes the chance 1e-30, and churn 1e-8. What a kind does
 * when all buckets are full (moves, a side table) makes it rarer still, and is not counted here.
 */
#ifndef TAMIS_THEORY_DLEFT_SIZE_H
#define TAMIS_THEORY_DLEFT_SIZE_H

#include "need.h"
#include "theory/fluid.h"

#include <stdbool.h>
#include <stdint.h>

/* The first fields of a geometry. */
enum {
    DLEFT_TABLES,
    DLEFT_BUCKETS, /* of each */
    DLEFT_CELLS,
    DLEFT_PRINT_BITS,
    DLEFT_OTHER_BITS,
    DLEFT_BUCKET_BYTES, /* at least what the cells take */
    DLEFT_FIELDS
};

#define DLEFT_MIN_TABLES 2
#define DLEFT_MAX_CELLS 64
#define DLEFT_MIN_PRINT_BITS 4
#define DLEFT_MAX_PRINT_BITS 48
#define DLEFT_MAX_OTHER_BITS 38
#define DLEFT_MAX_BUCKET_BYTES 512

static inline uint64_t dleft_cell_bits(const uint64_t *g) {
    return g[DLEFT_PRINT_BITS] + g[DLEFT_OTHER_BITS];
}

/* All buckets. False for a geometry out of its ranges, or too large. */
bool tamis_dleft_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* How many keys can be distinguished; of a geometry that is possible. */
uint64_t tamis_dleft_prints(const uint64_t *geometry);

/* P[some add of a lifetime finds all its buckets full]. */
double tamis_dleft_overflow(const uint64_t *geometry, bool is_churned, double n, double lifetime);

/* How full the buckets of a large table are. */
void tamis_dleft_law(const uint64_t *geometry, bool is_churned, double n, fluid *ret_law);

/* What differs between the kinds that store d-left tables. It takes the place of what the user's
 * need says of the same thing. */
typedef struct dleft_rules {
    double   keys;       /* that must find a cell: the capacity, and what a kind stores besides */
    double   fpr;        /* with this many keys; 0: only the fixed fields count */
    double   overflow;   /* the part of it that full buckets may take */
    bool     is_churned; /* keys are removed, too */
    uint64_t most_print_bits;
} dleft_rules;

/* Fill in the fields of the geometry that are NEED_FREE, for the smallest table; the other bits are
 * given. From the need come the lifetime, the number of prints and the preference. False: no table
 * does it. */
bool tamis_dleft_choose(const tamis_need *need, const dleft_rules *rules, uint64_t *geometry);

#endif
