/* analysis.h - what is known of a dlbf before it is made: its layout, rate, overflow and lines.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section II. Names: n keys; d subtables of B buckets; a the load of a bucket, `cells` the
 * highest load; s(a) the sorted bits of a load (codes.h).
 *
 * Layout. A block is one bucket, or a group of four neighbours (section II.C). It has a code for
 * each of its buckets, and data bits D, which its t cells share. The code tells the first s(a) bits
 * of each cell (section II.B), so
 *
 *     L = (D + sum of a s(a)) / t, rounded down
 *
 * bits of each fingerprint are known. Alone, a bucket has L = D / a + s(a), as in the paper. In a
 * group, the bits that are left over are one bit more for all cells of the first buckets, as many
 * buckets as they are enough for.
 *
 * Worked example: buckets of 64 bits with the paper's code of 4 bits (codes.h), so D = 60. With 3
 * cells L is 20; with 4 it is 15 + 1 = 16, with 5 it is 12 + 1, with 6 it is 10. A group of four
 * has D = 240. With the loads 4, 3, 5 and 4 it has 16 cells, whose codes save 4 + 0 + 5 + 4 = 13
 * bits: L = 253 / 16 = 15, and 13 bits are left over: the 12 cells of the first three buckets take
 * one each and have 16, and the last 4 cells have 15.
 *
 * Why not the paper's own rule for groups, D / t + s(a) for each bucket: it cannot be kept. When a
 * bucket comes to a load that is sorted and D / t stays, its cells would have to become longer,
 * and nothing knows the bits that are missing.
 *
 * L never grows as keys are added if, from one load to the next, the bits a s(a) that a load saves
 * rise by no more than the smallest L. Other sortings are not possible. In the example they rise by
 * 4 from load 3 to 4, and by 1 from 4 to 5; the smallest L is 10.
 *
 * Rate. A key that is not in the set meets the cells of d buckets. Q(i, a) is the share of the
 * buckets of subtable i with load a, from theory/fluid.h. Equation (1) of the paper is
 *
 *     fpr = sum over i, a of  Q(i, a) a 2^-L(a)
 *
 * and in groups the same over the loads of four buckets.
 *
 * Overflow. Keys find no place when all their buckets have the highest load: as many keys as,
 * without a highest load, would have made buckets higher than that.
 */
#ifndef TAMIS_KINDS_DLBF_ANALYSIS_H
#define TAMIS_KINDS_DLBF_ANALYSIS_H

#include "need.h"
#include "theory/fluid.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The geometry. */
enum {
    DLBF_TABLES,
    DLBF_BUCKETS, /* of each */
    DLBF_BUCKET_BITS,
    DLBF_CELLS,
    DLBF_SORTING,
    DLBF_GROUP,
    DLBF_FIELDS
};

#define DLBF_MIN_TABLES 2
#define DLBF_MAX_TABLES 4
#define DLBF_MAX_GROUP 4
#define DLBF_MAX_BUCKETS (UINT64_C(1) << 50)
#define DLBF_MAX_CELLS 15
#define DLBF_MIN_LENGTH 4 /* of a fingerprint */
#define DLBF_MAX_LENGTH 56
#define DLBF_FEW 1000 /* keys for which the fluid limit is too far away */

/* ------------------------------------------------------------------ layout */

typedef struct dlbf_layout {
    unsigned code_bits;         /* of a bucket */
    unsigned data_bits;         /* of a block */
    unsigned shortest, longest; /* bits of a fingerprint */
    unsigned block_bytes;
    uint64_t blocks; /* of all subtables */
} dlbf_layout;

/* False for a geometry that is not possible. */
bool tamis_dlbf_layout(const uint64_t *geometry, dlbf_layout *ret_layout);

/* How long the fingerprints in the buckets of a block are, by their loads. */
void tamis_dlbf_lengths(const uint64_t *geometry, const dlbf_layout *layout, const unsigned *load,
                        unsigned *ret_length);

/* Can a sorting be kept with this many data bits in a bucket: does L never grow when keys are
 * added? */
bool tamis_dlbf_lengths_never_grow(unsigned cells, uint64_t sorting, unsigned data_bits);

/* ------------------------------------------------------------------ prediction */

typedef struct dlbf_forecast {
    double fpr, overflow;
    double lines; /* that a lookup of a present key touches; of an absent one, it is d */
} dlbf_forecast;

/* For a valid geometry, after n keys. */
dlbf_forecast tamis_dlbf_forecast(const uint64_t *geometry, double n);

/* How many keys were added until this many were stored, at this fpr now: keys that matched when
 * they came are not stored. An estimate. */
double tamis_dlbf_added(const uint64_t *geometry, double stored, double fpr);

/* ------------------------------------------------------------------ its parts, for the search */

/* Keys per bucket. */
static inline double dlbf_load(const uint64_t *g, double n) {
    return n / ((double)g[DLBF_TABLES] * (double)g[DLBF_BUCKETS]);
}

/* How full the buckets are after n keys, if they have no highest load. */
void tamis_dlbf_law(const uint64_t *geometry, double n, fluid *ret_law);

/* Q(i, a): the share of the buckets of subtable i with a load. Those that would have more than the
 * highest have the highest. */
static inline double dlbf_share_with(const uint64_t *g, const fluid *law, unsigned i,
                                     unsigned load) {
    return law->x[i][load] - (load == g[DLBF_CELLS] ? 0 : law->x[i][load + 1]);
}

/* `chance` times P[an absent key matches one of `load` cells with fingerprints of a length]: the
 * sum of their chances, less the pairs that match both. */
static inline double dlbf_match(double chance, unsigned load, unsigned length) {
    double const a = load, p = 1 / (double)(UINT64_C(1) << length); /* a length is at most 56 */
    return chance * a * p * (1 - (a - 1) * p / 2);
}

/* Equation (1). INFINITY for a geometry that is not possible. */
double tamis_dlbf_fpr_by(const uint64_t *geometry, const fluid *law);

/* P[any of n keys is refused] if this many cells are the highest load. */
double tamis_dlbf_overflow_by(const uint64_t *geometry, const fluid *law, unsigned cells, double n);

#endif
