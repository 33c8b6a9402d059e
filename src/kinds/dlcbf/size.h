/* size.h - the sizes of d-left counting filters.
 *
 * Paper: Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006, section 4.
 *
 * Names: n keys; d subtables of B buckets each, c cells in a bucket; r bits of remainder and C of
 * counter in a cell. There are B (2^r - 1) fingerprints, since remainders of 0 are left out.
 *
 * Idea. Sizes, rates and overflow are those of all d-left tables (theory/dleft_size.h). This kind
 * says how many keys must find a cell, how many bits a counter has, and whether keys are removed.
 *
 * Example, by the paper's own numbers: 24 x 2^-r is its bound of the rate for d = 4 and buckets of
 * 8 cells at a load of 6 (an absent key is compared with 24 cells), and 4 (r + 2) / 3 the bits for
 * a key: r + 2 bits for a cell, of which three quarters are used. For r = 14 these are 0.146% and
 * 21.3 bits.
 *
 * Why moves are not counted: when all buckets of a key are full, another key may be moved out of
 * the way. That makes overflow rarer than is stated, which is the safe side.
 */
#ifndef TAMIS_KINDS_DLCBF_SIZE_H
#define TAMIS_KINDS_DLCBF_SIZE_H

#include "need.h"
#include "theory/dleft_size.h"
#include "theory/print_law.h"

#include <assert.h>

/* The geometry. */
enum {
    DLCBF_TABLES,
    DLCBF_BUCKETS, /* of each */
    DLCBF_CELLS,
    DLCBF_REMAINDER_BITS,
    DLCBF_COUNTER_BITS,
    DLCBF_BUCKET_BYTES, /* at least what the cells take */
    DLCBF_MOVES,        /* 1: when all buckets of a key are full, another key may be moved */
    DLCBF_FIELDS
};

static_assert((int)DLCBF_REMAINDER_BITS == (int)DLEFT_PRINT_BITS &&
                  (int)DLCBF_COUNTER_BITS == (int)DLEFT_OTHER_BITS &&
                  (int)DLCBF_MOVES == (int)DLEFT_FIELDS,
              "it begins as all d-left tables do");

#define DLCBF_MAX_REMAINDER_BITS 32
#define DLCBF_MAX_COUNTER_BITS 4
#define DLCBF_COPIES 4 /* cells that a fingerprint may take, if it has counters */

/* Copies that one cell can have. */
static inline uint64_t dlcbf_full(const uint64_t *g) {
    return UINT64_C(1) << g[DLCBF_COUNTER_BITS];
}

/* Copies that a fingerprint can have. Without counters it is stored once. */
static inline uint64_t dlcbf_most(const uint64_t *g) {
    return g[DLCBF_COUNTER_BITS] == 0 ? 1 : (uint64_t)DLCBF_COPIES << g[DLCBF_COUNTER_BITS];
}

/* False for a geometry out of its ranges, or too large. */
bool tamis_dlcbf_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* How many fingerprints there are; of a geometry that is possible. */
uint64_t tamis_dlcbf_prints(const uint64_t *geometry);

/* P[some add of a lifetime finds all its buckets full], without moves. */
double tamis_dlcbf_overflow(const uint64_t *geometry, double n, double lifetime);

/* Cache lines that a lookup of a present and of an absent key, and an add touch on average. */
void tamis_dlcbf_touches(const uint64_t *geometry, double n, double *ret_present,
                         double *ret_absent, double *ret_add);

/* Fill in the fields that are not fixed, for the smallest table. False: no table does it. */
bool tamis_dlcbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
