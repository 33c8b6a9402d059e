/* analysis.h - what is known of a ddlcbf before it is made: its layout, rate, overflow and lines.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section III.
 *
 * Names: n keys; d subtables of B buckets each; c cells at most in a bucket; at least r bits of
 * remainder and C of counter in a cell. There are B 2^r fingerprints (b, r); what is known of a key
 * beyond that is z.
 *
 * Idea. An absent key is a false positive if a cell in one of its buckets is a prefix of
 * its string (r, z). So the rate is the sum of 2^-length over all cells, divided by the buckets of
 * a subtable: equation (1) of section II.A, with the lengths of this kind. A length follows from
 * the most keys that the bucket ever had (peaks.h), and so from the lifetime. The rate that is
 * stated is the one at the end of the lifetime.
 *
 * Why a simulation, too. Buckets with two lengths have no such law, nor have tables of a few
 * buckets. A small table is followed in place of it, without keys (outlines.h). That is good to a
 * few per cent.
 *
 * A key finds no place when all its d buckets have c cells, as in theory/dleft_size.h.
 */
#ifndef TAMIS_KINDS_DDLCBF_ANALYSIS_H
#define TAMIS_KINDS_DDLCBF_ANALYSIS_H

#include "need.h"
#include "peaks.h"
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
    return DDLCBF_COPIES * ddlcbf_full(g) + 1;
}

/* Keys per bucket. */
static inline double ddlcbf_load(const uint64_t *g, double n) {
    return n / ((double)g[DDLCBF_TABLES] * (double)g[DDLCBF_BUCKETS]);
}

/* How often all keys are replaced after the filling. */
static inline double ddlcbf_turns(double n, double lifetime) {
    return lifetime > n ? lifetime / n - 1 : 0;
}

/* ------------------------------------------------------------------ layout */

/* The layout of a bucket. False for a geometry that is impossible. */
bool tamis_ddlcbf_cells(const uint64_t *geometry, prefixes_shape *ret_cells);

/* All buckets. False for a geometry that is impossible, or too large. */
bool tamis_ddlcbf_bytes(const uint64_t *geometry, uint64_t *ret_bytes);

/* ------------------------------------------------------------------ prediction */

/* The rate at the end of a lifetime. */
double tamis_ddlcbf_fpr(const uint64_t *geometry, double n, double lifetime);

/* P[some add of a lifetime finds all its buckets full]. */
double tamis_ddlcbf_overflow(const uint64_t *geometry, double n, double lifetime);

/* Cache lines that a lookup of a present and of an absent key, and an add touch on average. */
void tamis_ddlcbf_touches(const uint64_t *geometry, double n, double *ret_present,
                          double *ret_absent, double *ret_add);

/* The levels of n keys at a load, from the subtables and cells of a geometry. */
void tamis_ddlcbf_levels(const uint64_t *geometry, double load, double n, double turns,
                         peak_levels *ret_levels);

/* The rate that they give with the lengths of a bucket. */
double tamis_ddlcbf_rate_by_levels(const peak_levels *law, const prefixes_shape *cells);

#endif
