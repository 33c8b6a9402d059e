/* size.h - the sizes of a table of cache lines: its layout, what it promises, and the search for
 * the smallest one.
 *
 * Names: n keys in B lines, m = n / B on average; 62 chains and 50 slots in a line; shelves of 28
 * for 16 lines each; r bits of remainder, of which 8 are in the line (runs.h, shelf.h). law.h has
 * the probability of overflow.
 *
 * The fpr is n / F with F = B x 62 x 2^r fingerprints. The mean load m is a choice: fuller lines
 * waste fewer slots, and send more keys to the attic.
 */
#ifndef TAMIS_KINDS_LINE_SIZE_H
#define TAMIS_KINDS_LINE_SIZE_H

#include "law.h"
#include "need.h"
#include "theory/print_law.h"

#include <stdbool.h>
#include <stdint.h>

/* The geometry. */
enum {
    LINE_BUCKETS,
    LINE_REMAINDER_BITS,
    LINE_COUNTER_BITS,
    LINE_COPIES, /* entries that one fingerprint may take */
    LINE_VALUE_BITS,
    LINE_ATTIC, /* words that the attic may hold */
    LINE_FIELDS
};

#define LINE_MAX_REMAINDER_BITS 40
#define LINE_MAX_BUCKETS (UINT64_C(1) << 44)
#define LINE_MAX_ATTIC (UINT64_C(1) << 44)
#define LINE_MAX_COUNTER_BITS 24
#define LINE_MAX_COPIES 8
#define LINE_MAX_VALUE_BITS 37 /* of a value, and a timer */
#define LINE_MAX_REST_BITS 56

/* Mean loads of a line. The smallest table is searched between the first and the last. One that
 * shall be fast is not as full, since a line that is cut costs time; with rests, which cost time
 * anyway, it is a little fuller. What the law says of some loads (tamis_line_shares):
 *
 *     mean load     lines that are cut     keys on shelves     keys in the attic
 *     36            1.1%                   0.1%                none
 *     40            5.3%                   0.5%                2 in 10^6
 *     44            16%                    1.7%                0.05%
 *     46            25%                    2.5%                0.3%
 *     48            35%                    3.2%                1.1%
 *
 * Most keys of a line that is cut are still in it: only its last chains are not. */
#define LINE_MIN_LOAD 24.0
#define LINE_GOOD_LOAD 36.0 /* below it, a longer remainder is better than more lines */
#define LINE_FAST_LOAD 44.0
#define LINE_FAST_LOAD_RESTS 46.0
#define LINE_MAX_LOAD 48.0

/* ------------------------------------------------------------------ layout */

/* Bits beside each slot. */
static inline uint64_t line_rest_bits(const uint64_t *g) {
    return g[LINE_REMAINDER_BITS] - LINE_BYTE_BITS + g[LINE_COUNTER_BITS] + g[LINE_VALUE_BITS];
}

/* Places of the attic that are homes: five for four words, so that runs of words stay short. As
 * many as it has room for follow. */
static inline uint64_t line_attic_homes(uint64_t room) {
    return room + room / 4 + 1;
}

/* Bytes of a word: a number of up to `buckets`, and 14 bits. */
static inline uint64_t line_word_bytes(uint64_t buckets) {
    return (64 - (uint64_t)__builtin_clzll(buckets) + ATTIC_OWN_BITS + 7) / 8;
}

/* Where the parts of a body begin. The lines are first. */
typedef struct line_layout {
    uint64_t shelves, words, count;               /* in bytes */
    uint64_t slot_rests, shelf_rests, word_rests; /* in bits */
    uint64_t slot_pad;     /* bits after the slot rests of 16 lines, up to a word */
    uint64_t shelf_stride; /* bits from the rests of a shelf to those of the next, in whole words */
    uint64_t end;
} line_layout;

/* False for a geometry out of its ranges, or too large. */
bool tamis_line_layout(const uint64_t *geometry, line_layout *ret_layout);

/* ------------------------------------------------------------------ prediction */

/* How many fingerprints there are, B x L x 2^r; 0 if that is 2^64 or more. */
uint64_t tamis_line_prints(const uint64_t *geometry);

static inline double tamis_line_fpr(const uint64_t *geometry, double n) {
    return tamis_prints_fpr(tamis_line_prints(geometry), n);
}

/* P[an add within capacity is ever refused]. */
double tamis_line_overflow(const uint64_t *geometry, const tamis_workload *work);

/* Cache lines that a lookup of a present and of an absent key, and an add touch on average. */
void tamis_line_touches(const uint64_t *geometry, double n, double *ret_present, double *ret_absent,
                        double *ret_add);

/* ------------------------------------------------------------------ choice */

/* Fill in the fields of the geometry that are NEED_FREE: the smallest table that meets the need.
 * Counter bits, copies and value bits are chosen already. False: there is none. */
bool tamis_line_choose(const tamis_need *need, uint64_t *geometry);

#endif
