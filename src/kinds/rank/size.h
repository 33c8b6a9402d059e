/* size.h - the sizes of a rank-indexed table: its layout in bits, the probability that it
 * overflows, and the search for the smallest one.
 *
 * Paper: N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom
 * Filters and Variants", ICNP 2008, sections III-C, IV and V. Names below: n keys, B buckets, L
 * chains in each, lambda = n / BL, r bits of remainder, Z1 Z2 Z3 cells of a bucket and its two
 * extensions, J2 J3 extensions, W1 = Z1, W2 = Z1 + Z2, W3 = Z1 + Z2 + Z3.
 *
 * Overflow. The load X of a bucket is nearly Poisson(n/B). With O_i the number of buckets that need
 * an i-th part, Theorem 1 of the paper bounds
 *     P[O_i > J_i] <= 2 P[Binomial(B, P[X > W_(i-1)]) > J_i],    i = 2, 3,
 * and P[some X > W3] <= B P[Binomial(n, 1/B) > W3]. That is for a table that is filled once. When
 * keys are added and removed, each add may overflow: it overflows the pool if all J are taken and
 * it falls into a bucket that is just full, which for independent Poisson loads has probability
 *     P[X = W_(i-1)] P[Binomial(B - 1, P[X > W_(i-1)]) = J_i],
 * with the same factor 2; and the last level with probability P[Binomial(n - 1, 1/B) = W3]. The
 * overflow over a lifetime of T adds is the sum of the static terms and T - n times these.
 *
 * Worked example, the first row of the paper's Table II for n = 100000 keys: L = 60, lambda = 0.64
 * and r = 6 need B = 2605 buckets, with 38.4 keys each on average. Z1 = 45 cells, Z2 = 8 and Z3 =
 * 45; of the buckets 17.9% have a second level, J2 = 466, and 2.7% a third, J3 = 70.
 *
 *     level    bits of a record                                how many    bits for a key
 *     1        60 chains + pointer 9 + 45 cells x 7 = 384      2605        10.00
 *     2        pointer 7 + 8 cells x 7 = 63                    466         0.29
 *     3        45 cells x 7 = 315                              70          0.22
 *     a bit for each extension                                 536         0.01
 *
 * These are 10.52 bits for a key; the paper says 10.6.
 *
 * One key may be flooded: it takes f = `copies` - 1 cells more than the others, all in one bucket.
 * That bucket may need one extension more of each level, so the others have to do with J_i - 1; and
 * it overflows if more than W3 - f - 1 of the other keys fall into it.
 *
 * If every key takes c > 1 cells (planned copies without counters), a bucket of W cells has room
 * for W / c keys, rounded down; W is replaced by that everywhere.
 *
 * Deviation: the paper's Table II is for tables that are filled once, and its third row misses its
 * rate of 1e-4 (0.86 / 2^13 = 1.05e-4). Here the rate is met, and the lifetime is counted.
 *
 * How careful that is. Tables that were filled and churned overflowed 20 to 130 times more rarely
 * than the bounds say. An exact law would save, in bits per key: 0.05 to 0.1 with 10^4 keys, 0.03
 * to 0.05 with 10^5, 0.02 with 10^6, less with more. That is little, so we keep the simple bounds.
 */
#ifndef TAMIS_KINDS_RANK_SIZE_H
#define TAMIS_KINDS_RANK_SIZE_H

#include "need.h"
#include "theory/print_law.h"

#include <stdbool.h>
#include <stdint.h>

/* The geometry. */
enum {
    RANK_BUCKETS,
    RANK_CHAINS,
    RANK_REMAINDER_BITS,
    RANK_CELLS,
    RANK_CELLS2,
    RANK_CELLS3,
    RANK_EXTENSIONS2,
    RANK_EXTENSIONS3,
    RANK_COUNTER_BITS,
    RANK_COPIES, /* cells that one fingerprint may take; 1: a set without removal */
    RANK_VALUE_BITS,
    RANK_ALIGNED, /* 1: buckets begin and end at cache lines */
    RANK_FIELDS
};

#define RANK_MAX_CHAINS 64 /* the base index is one word */
#define RANK_MAX_CELLS 256 /* of a bucket with its extensions */
#define RANK_MAX_CELL_BITS 56
#define RANK_MAX_BUCKETS (UINT64_C(1) << 48)
#define RANK_MAX_COUNTER_BITS 24
#define RANK_MAX_COPIES 8
#define RANK_MAX_VALUE_BITS 37 /* of a value, and a timer */

/* ------------------------------------------------------------------ layout */

/* Bits of a pointer to one of `n` extensions, or to none: a number from 0 to n. 15 extensions take
 * 4 bits, 16 take 5. */
static inline unsigned rank_pointer_bits(uint64_t n) {
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

static inline unsigned rank_cell_bits(const uint64_t *geometry) {
    return (unsigned)(geometry[RANK_REMAINDER_BITS] + geometry[RANK_COUNTER_BITS] +
                      geometry[RANK_VALUE_BITS]);
}

/* A record in whole cache lines, or in an even part of one: 300 bits become 512, 200 become 256,
 * 600 become 1024. So no record of up to a line lies in two lines. */
static inline uint64_t rank_align(uint64_t bits) {
    if (bits >= 512) return (bits + 511) / 512 * 512;
    return bits <= 1 ? bits : UINT64_C(1) << (64 - __builtin_clzll(bits - 1));
}

/* Bits of a bucket (level 1) or an extension (2, 3): the base index of a bucket, the pointer to the
 * next level, and for each cell its bit of the higher index and the cell. */
static inline uint64_t rank_record_bits(const uint64_t *geometry, unsigned level) {
    unsigned const cell = 1 + rank_cell_bits(geometry);
    uint64_t       bits = geometry[RANK_CELLS + level - 1] * cell;
    if (level == 1) bits += geometry[RANK_CHAINS];
    if (level < 3) bits += rank_pointer_bits(geometry[RANK_EXTENSIONS2 + level - 1]);
    return geometry[RANK_ALIGNED] != 0 ? rank_align(bits) : bits;
}

/* Where the parts of the body begin, in bits. */
typedef struct rank_layout {
    uint64_t record[4]; /* bits of a record of level 1, 2, 3 */
    uint64_t start[4];  /* of the records of level 1, 2, 3 */
    uint64_t used[4];   /* of the bitmap of used extensions of level 2, 3 */
    uint64_t end;
} rank_layout;

/* False for a geometry out of its ranges, or too large. */
bool tamis_rank_layout(const uint64_t *geometry, rank_layout *ret_layout);

/* ------------------------------------------------------------------ prediction */

/* How many fingerprints there are to tell keys apart, B x L x 2^r; 0 if that is 2^64 or more. */
uint64_t tamis_rank_prints(const uint64_t *geometry);

/* A lookup says yes if the print of the key is stored: P[it is that of one of n keys]. */
static inline double tamis_rank_fpr(const uint64_t *geometry, double n) {
    return tamis_prints_fpr(tamis_rank_prints(geometry), n);
}

/* P[O > J]: that more than `extensions` of the buckets have more than `cells` keys, in the filling
 * or later in a lifetime. Also for the lab. */
double tamis_rank_pool_overflow(double buckets, double n, double lifetime, double cells,
                                double extensions);

/* P[any bucket has more than `cells` keys], ever. */
double tamis_rank_bucket_overflow(double buckets, double n, double lifetime, double cells);

/* P[an add within capacity is ever refused]. One key may have all the cells it can. */
double tamis_rank_overflow(const uint64_t *geometry, const tamis_workload *work);

/* Cache lines that a lookup of a present and of an absent key, and an add touch on average
 * (touched.c). */
void tamis_rank_lines(const uint64_t *geometry, double n, double *ret_present, double *ret_absent,
                      double *ret_add);

/* ------------------------------------------------------------------ choice */

/* Fill in the fields of the geometry that are NEED_FREE: the smallest table that meets the need.
 * Counter bits, copies, value bits and alignment are chosen already. False: there is none. */
bool tamis_rank_choose(const tamis_need *need, uint64_t *geometry);

#endif
