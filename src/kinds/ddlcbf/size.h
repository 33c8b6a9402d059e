/* size.h - the sizes of d-left counting filters with dynamic bit reassignment.
 *
 * Names: n keys; d subtables of B buckets each; c cells at most in a bucket; at least r bits of
 * remainder and C of counter in a cell. There are B 2^r fingerprints (b, r); what is known of a key
 * beyond that is z.
 *
 * Paper: Bonomi et al., Allerton 2006, section III.
 *
 * A stranger is taken for present if a cell in one of its buckets is a prefix of its string, so the
 * rate is the sum of 2^-length of all cells, by the buckets of a subtable. Lengths follow from the
 * most keys a bucket ever had (peaks.h), and so from the lifetime: the rate that is stated is
 * that at its end. Buckets with two lengths have no such law, nor have tables of a few buckets: a
 * small table is followed in place of it, without keys. It is good to a few per cent.
 *
 * A key finds no place when all its d buckets have c cells, as in dlcbf_size.h.
 */
#ifndef TAMIS_KINDS_DDLCBF_SIZE_H
#define TAMIS_KINDS_DDLCBF_SIZE_H

#include "need.h"
#include "prefixes.h"
#include "theory/print_law.h"

/* The geometry. */
enum {
    DDLCBF_TABLES,
    DDLCBF_BUCKETS, /* of each */
    DDLCBF_CELLS,   /* that a bucket can have */
    DDLCBF_REMAINDER_BITS,
    DDLCBF_COUNTER_BITS,
    DDLCBF_LENGTHS, /* of the remainders in a bucket: 1, their first bit not stored; or 2 */
    DDLCBF_BUCKET_BYTES,
    DDLCBF_FIELDS
};

#define DDLCBF_MIN_TABLES 2
#define DDLCBF_MAX_TABLES 8
#define DDLCBF_COPIES 4 /* cells that may match one key, before one of them sticks */

/* Copies that one cell can count. */
static inline uint64_t ddlcbf_full(const uint64_t *g) {
    return (UINT64_C(1) << g[DDLCBF_COUNTER_BITS]) - 1;
}

/* Copies with which a key sticks. */
static inline uint64_t ddlcbf_most(const uint64_t *g) {
    return DDLCBF_COPIES * ((UINT64_C(1) << g[DDLCBF_COUNTER_BITS]) - 1) + 1;
}

/* The layout of a bucket. False for a geometry that is impossible. */
bool tamis_ddlcbf_cells(const uint64_t *geometry, prefixes_shape *ret_cells);

/* False for a geometry that is impossible, or too large. */
bool tamis_ddlcbf_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* At the end of a lifetime. */
double tamis_ddlcbf_fpr(const uint64_t *geometry, double n, double lifetime);

/* P[some add of a lifetime finds all its buckets full]. */
double tamis_ddlcbf_overflow(const uint64_t *geometry, double n, double lifetime);

/* Cache lines that a lookup of a present and of an absent key, and an add touch on average. */
void tamis_ddlcbf_touches(const uint64_t *geometry, double n, double *ret_present,
                          double *ret_absent, double *ret_add);

/* Fill in the fields that are not fixed, for the smallest table. False: no table does it. */
bool tamis_ddlcbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
