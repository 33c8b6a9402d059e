/* size.h - the sizes of d-left filters whose fingerprints get shorter as buckets fill up.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section II. Names: n keys; d subtables of B buckets, `cells` the highest load, s(a) the
 * sorted bits of a load (codes.h).
 *
 * A block is one bucket, or a group of four neighbours. It has a code for each of its buckets, and
 * data bits D, which its t cells share: with the first s(a) bits of each told by the code,
 *
 *     L = (D + sum of a s(a)) / t, rounded down
 *
 * bits of each fingerprint are known. Alone, a bucket has L = D / a + s(a) as in the paper. In a
 * group, what is left over is one bit more for all cells of the first buckets, as many as it is
 * enough for. (The paper's own rule, D / t + s(a) for each bucket, cannot be kept: when a bucket
 * comes to a load that is sorted and D / t stays, its cells would have to become longer.)
 *
 * L never grows as keys come, if the bits that a load saves never rise by more than the smallest
 * L from one load to the next; other sortings are not possible.
 *
 * A key that is not in the set meets the cells of d buckets: with Q(i, a) from theory/fluid.h,
 *
 *     fpr = sum over i, a of  Q(i, a) a 2^-L(a)
 *
 * and in groups the same over the loads of four buckets. Keys find no place when all their buckets
 * have the highest load: as many as, without a highest, would have made buckets higher than that.
 */
#ifndef TAMIS_KINDS_DLBF_SIZE_H
#define TAMIS_KINDS_DLBF_SIZE_H

#include "need.h"
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

typedef struct dlbf_forecast {
    double fpr, overflow;
    double lines; /* that a lookup of a present key touches; of an absent one, it is d */
} dlbf_forecast;

/* Of a geometry that is possible, after n keys. */
dlbf_forecast tamis_dlbf_forecast(const uint64_t *geometry, double n);

/* How many keys were added until so many were stored, at this fpr now: keys that matched when they
 * came are not. An estimate. */
double tamis_dlbf_added(const uint64_t *geometry, double stored, double fpr);

/* Fill in the fields that are not fixed, for the smallest table. False: no table does it. */
bool tamis_dlbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
