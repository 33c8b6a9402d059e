/* pairs.h - an entry of two counters: how many keys, and the sum of what they added.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections II and VI. c1 counts the keys that hit an entry. c2 is the sum of the numbers that they
 * added, each a number of a sequence (sums.h). Centred entries store c3 = c2 - c c1 instead of c2,
 * where c is the mean of the sequence: c3 stays near 0, so that fewer bits will do.
 *
 *      | c1: count_bits | c2 or c3: sum_bits |      c2 is 0 .. 2^b - 1
 *       low bits                   high bits        c3 is -(2^(b-1) - 1) .. 2^(b-1), modulo 2^b
 *
 * Worked example: D = {1, 4, 13, 15}, whose mean 8.25 makes c = 8; c1 of 4 bits, c3 of 5 bits, so
 * -15 to 16.
 *
 *     keys that added     c1    c2    c3 = c2 - 8 c1    stored: c3 mod 32, c1
 *     1, 13               2     14    -2                30, 2
 *     1                   1     1     -7                25, 1
 *     15, 15              2     30    14                14, 2
 *     15, 15, 15          3     45    21: too large     31, 15: marked
 *
 * Saturation: if c1 or c2 leaves its range, the whole entry is marked, with all bits set. Without
 * c1 nobody knows what c2 is a sum of, and without c2 no key can be removed, so one mark for both
 * is enough, and all other pairs of values remain usable. c3 can leave its range on either side,
 * and by a removal, too: when a small number is removed, c3 rises. A later operation might bring
 * the true value back into the range, but the entry no longer knows it: it stays marked.
 */
#ifndef TAMIS_KINDS_BHCBF_PAIRS_H
#define TAMIS_KINDS_BHCBF_PAIRS_H

#include "core/hash.h"
#include "sums.h"

/* The layout of all entries. */
typedef struct pairs {
    sums     sums;
    uint8_t  count_bits, sum_bits;
    uint8_t  centre; /* c, or 0 if entries are not centred */
    uint8_t  reach;  /* with more keys than that, a lookup ignores c2 */
    int32_t  low;    /* the least c2 or c3 */
    uint64_t share;  /* 2^64 / l, rounded up: to divide by l */
} pairs;

/* Place numbers stay below 2^58: then the high half of place x share is exactly place / l. The
 * share is too large by less than 1, so the product by less than 2^58, and the quotient by less
 * than 2^-6 = 1/64. From place / l to the next whole number it is at least 1/l, which is more: l is
 * at most 63. */
#define PAIRS_MAX_ENTRIES (UINT64_C(1) << 52)

/* The content of an entry. */
typedef struct pair {
    uint64_t count, sum; /* c1, c2 */
} pair;

/* What one copy of a key adds to one entry: all its places that fall on this entry together. */
typedef struct pairs_step {
    uint64_t entry;
    uint32_t times, sum; /* added to c1 and c2 */
} pairs_step;

/* ------------------------------------------------------------------ one entry */

TAMIS_INLINE unsigned pairs_bits(const pairs *layout) {
    return layout->count_bits + layout->sum_bits;
}

TAMIS_INLINE uint64_t pairs_mark(const pairs *layout) {
    return bits_low(pairs_bits(layout));
}

/* The field that stores a pair; the mark if a counter is out of its range. `above` is c2 or c3
 * counted from its least value, so one comparison tests both ends. A c3 that is stored modulo 2^b
 * is unpacked in the same way. The one pair that fits and looks like the mark, all bits set, is
 * taken for marked. */
TAMIS_INLINE uint64_t pairs_pack(const pairs *layout, pair p) {
    uint64_t const shifted = p.sum - layout->centre * p.count;
    uint64_t const above = shifted - (uint64_t)(int64_t)layout->low; /* wraps if below the range */
    if (p.count > bits_low(layout->count_bits) || above > bits_low(layout->sum_bits)) {
        return pairs_mark(layout);
    }
    return p.count | (shifted & bits_low(layout->sum_bits)) << layout->count_bits;
}

/* The pair in a field that is not marked. */
TAMIS_INLINE pair pairs_unpack(const pairs *layout, uint64_t field) {
    uint64_t const low = (uint64_t)(int64_t)layout->low, mask = bits_low(layout->sum_bits);
    uint64_t const count = field & bits_low(layout->count_bits);
    uint64_t const shifted = (((field >> layout->count_bits) - low) & mask) + low;
    return (pair){ count, shifted + layout->centre * count };
}

/* Can `times` keys with this sum have been added to the entry? If they are taken away, as many
 * other keys as are left must make up the rest. */
TAMIS_INLINE bool pairs_can_lose(const pairs *layout, pair p, uint64_t times, uint64_t sum) {
    return p.count >= times && sums_may_be(&layout->sums, p.count - times, p.sum - sum);
}

/* Does a lookup treat them as present? With more than `reach` keys it looks at c1 alone. */
TAMIS_INLINE bool pairs_may_hold(const pairs *layout, pair p, uint64_t times, uint64_t sum) {
    return p.count >= times && (p.count > layout->reach || pairs_can_lose(layout, p, times, sum));
}

/* The largest number of copies of this step that the entry can hold. */
TAMIS_INLINE uint64_t pairs_most(const pairs *layout, pair p, const pairs_step *step) {
    uint64_t n = p.count / step->times;
    while (n != 0 && !pairs_can_lose(layout, p, n * step->times, n * step->sum)) n--;
    return n;
}

/* ------------------------------------------------------------------ the places of a key
 *
 * A place is an entry and a number of the sequence, as one number: entry x l + index. So one random
 * choice among l x entries selects both. */

TAMIS_INLINE uint64_t pairs_entry(const pairs *layout, uint64_t place) {
    uint64_t low;
    return mul_wide(place, layout->share, &low);
}

/* The number that the key adds there: place mod l is its index in the sequence. */
TAMIS_INLINE uint32_t pairs_added(const pairs *layout, uint64_t place) {
    return layout->sums.value[place - pairs_entry(layout, place) * layout->sums.n];
}

/* Join the k places of a key into steps, one for each entry. Returns how many. */
TAMIS_INLINE unsigned pairs_steps(const pairs *layout, const uint64_t *place, unsigned k,
                                  pairs_step *ret_steps) {
    uint64_t seen = 0; /* entries modulo 64: a new one need not be searched for */
    unsigned n = 0;
    for (unsigned i = 0; i < k; i++) {
        uint64_t const entry = pairs_entry(layout, place[i]), bit = UINT64_C(1) << (entry % 64);
        unsigned       at = (seen & bit) != 0 ? 0 : n;
        while (at < n && ret_steps[at].entry != entry) at++;
        if (at == n) ret_steps[n++] = (pairs_step){ .entry = entry };
        ret_steps[at].times++;
        ret_steps[at].sum += pairs_added(layout, place[i]);
        seen |= bit;
    }
    return n;
}

/* ------------------------------------------------------------------ making the layout */

/* The mean of a sequence, rounded. */
static __attribute__((unused)) uint8_t pairs_centre(const sums *table) {
    unsigned sum = 0;
    for (unsigned i = 0; i < table->n; i++) sum += table->value[i];
    return (uint8_t)((2 * sum + table->n) / (2u * table->n));
}

/* A table of sums has no use for more keys than c1 counts, so that limits its rows. */
static __attribute__((unused)) pairs
pairs_make(uint64_t mask, unsigned count_bits, unsigned sum_bits, unsigned reach, bool is_centred) {
    pairs layout = { .sums = sums_make(mask, 1u << count_bits),
                     .count_bits = (uint8_t)count_bits,
                     .sum_bits = (uint8_t)sum_bits,
                     .reach = (uint8_t)reach };
    layout.share = UINT64_MAX / layout.sums.n + 1;
    if (is_centred) {
        layout.centre = pairs_centre(&layout.sums);
        layout.low = 1 - (1 << (sum_bits - 1));
    }
    return layout;
}

#endif
