/* pairs.h - an entry of two counters: of keys, and of what they added.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections II and VI. c1 counts the keys that meet in an entry, c2 sums up the numbers that they
 * added, each one of a sequence (sums.h). Centred, c3 = c2 - c c1 is stored in place of c2, where c
 * is the mean of the sequence: it stays near 0, and fewer bits will do.
 *
 *      | c1: count_bits | c2 or c3: sum_bits |      c2 is 0 .. 2^b - 1
 *       low                                         c3 is -(2^(b-1) - 1) .. 2^(b-1), mod 2^b
 *
 * Why an entry sticks as a whole: without c1 nobody knows what c2 is a sum of, and without c2 a
 * removal cannot be taken back. So one mark is enough, all bits set, and every other pair of values
 * is to be had. c3 leaves its range on either side, and by a removal too (a small number goes and
 * c3 rises): then it may well come back, but the pair no longer knows. It stays marked.
 */
#ifndef TAMIS_KINDS_BHCBF_PAIRS_H
#define TAMIS_KINDS_BHCBF_PAIRS_H

#include "core/hash.h"
#include "sums.h"

typedef struct pairs {
    sums     sums;
    uint8_t  count_bits, sum_bits;
    uint8_t  centre; /* c, or 0 */
    uint8_t  reach;  /* a lookup makes nothing of the sum of more keys than that */
    int32_t  low;    /* the least c2 or c3 */
    uint64_t share;  /* 2^64 / l, rounded up: to divide by l */
} pairs;

#define PAIRS_MAX_ENTRIES (UINT64_C(1) << 52) /* so that x share, the high half, is x / l */

/* What a key adds to an entry: all of its places that meet there together. */
typedef struct pairs_step {
    uint64_t entry;
    uint32_t times, sum;
} pairs_step;

typedef struct pair {
    uint64_t count, sum; /* c1, c2 */
} pair;

TAMIS_INLINE unsigned pairs_bits(const pairs *of) {
    return of->count_bits + of->sum_bits;
}

TAMIS_INLINE uint64_t pairs_mark(const pairs *of) {
    return bits_low(pairs_bits(of));
}

/* The field of a pair; the mark if it does not fit. */
TAMIS_INLINE uint64_t pairs_pack(const pairs *of, pair p) {
    uint64_t const shifted = p.sum - of->centre * p.count;
    uint64_t const above = shifted - (uint64_t)(int64_t)of->low; /* what is too small is huge */
    if (p.count > bits_low(of->count_bits) || above > bits_low(of->sum_bits)) {
        return pairs_mark(of);
    }
    return p.count | (shifted & bits_low(of->sum_bits)) << of->count_bits;
}

/* The pair of a field that is not marked. */
TAMIS_INLINE pair pairs_unpack(const pairs *of, uint64_t field) {
    uint64_t const low = (uint64_t)(int64_t)of->low;
    uint64_t const count = field & bits_low(of->count_bits);
    uint64_t const shifted = (((field >> of->count_bits) - low) & bits_low(of->sum_bits)) + low;
    return (pair){ count, shifted + of->centre * count };
}

/* Can it be without so many keys, and what they added? */
TAMIS_INLINE bool pairs_can_lose(const pairs *of, pair p, uint64_t times, uint64_t sum) {
    return p.count >= times && sums_may_be(&of->sums, p.count - times, p.sum - sum);
}

/* Does a lookup take them to be there? */
TAMIS_INLINE bool pairs_may_hold(const pairs *of, pair p, uint64_t times, uint64_t sum) {
    return p.count >= times && (p.count > of->reach || pairs_can_lose(of, p, times, sum));
}

/* How often at most a step can have been taken. */
TAMIS_INLINE uint64_t pairs_most(const pairs *of, pair p, const pairs_step *step) {
    uint64_t n = p.count / step->times;
    while (n != 0 && !pairs_can_lose(of, p, n * step->times, n * step->sum)) n--;
    return n;
}

/* ------------------------------------------------------------------ places */

/* A place is an entry and a number of the sequence, counted through: there are l x entries. */
TAMIS_INLINE uint64_t pairs_entry(const pairs *of, uint64_t place) {
    uint64_t low;
    return mul_wide(place, of->share, &low);
}

TAMIS_INLINE uint32_t pairs_added(const pairs *of, uint64_t place) {
    return of->sums.value[place - pairs_entry(of, place) * of->sums.n];
}

/* The steps of a key, from its k places; returns how many. */
TAMIS_INLINE unsigned pairs_steps(const pairs *of, const uint64_t *place, unsigned k,
                                  pairs_step *ret_steps) {
    uint64_t seen = 0; /* entries, modulo 64: most keys need look no further */
    unsigned n = 0;
    for (unsigned i = 0; i < k; i++) {
        uint64_t const entry = pairs_entry(of, place[i]), bit = UINT64_C(1) << (entry % 64);
        unsigned       at = (seen & bit) != 0 ? 0 : n;
        while (at < n && ret_steps[at].entry != entry) at++;
        if (at == n) ret_steps[n++] = (pairs_step){ .entry = entry };
        ret_steps[at].times++;
        ret_steps[at].sum += pairs_added(of, place[i]);
        seen |= bit;
    }
    return n;
}

/* ------------------------------------------------------------------ making them */

/* The mean of a sequence, rounded. */
static __attribute__((unused)) uint8_t pairs_centre(const sums *of) {
    unsigned sum = 0;
    for (unsigned i = 0; i < of->n; i++) sum += of->value[i];
    return (uint8_t)((2 * sum + of->n) / (2u * of->n));
}

static __attribute__((unused)) pairs
pairs_make(uint64_t mask, unsigned count_bits, unsigned sum_bits, unsigned reach, bool is_centred) {
    pairs make = { .sums = sums_make(mask, 1u << count_bits),
                   .count_bits = (uint8_t)count_bits,
                   .sum_bits = (uint8_t)sum_bits,
                   .reach = (uint8_t)reach };
    make.share = UINT64_MAX / make.sums.n + 1;
    if (is_centred) {
        make.centre = pairs_centre(&make.sums);
        make.low = 1 - (1 << (sum_bits - 1));
    }
    return make;
}

#endif
