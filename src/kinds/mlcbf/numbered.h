/* numbered.h - store the number of a sum instead of the sum itself.
 *
 * A counter with increments D (core/increments.h) only ever holds a sum of numbers of D. So it need
 * not store the sum c: its rank x among all sums, in increasing order, says the same in fewer bits.
 * For D = {8, 12, 14, 15}:
 *
 *     x   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15 ...
 *     c   0   8  12  14  15  16  20  22  23  24  26  27  28  29  30  31 ...
 *
 * Four bits reach as far as five did. Beyond the last gap every number is a sum, and x is c less
 * the number of gaps: this D has 17 of them, the last is 33, and c = 100 is number 83. "Plain"
 * counters, as in the paper, store the sum itself.
 */
#ifndef TAMIS_KINDS_MLCBF_NUMBERED_H
#define TAMIS_KINDS_MLCBF_NUMBERED_H

#include "core/increments.h"

#define NUMBERED_NEAR 32 /* sums of the lowest numbers, in a table */
#define NUMBERED_LISTED (UINT64_C(64) * INCREMENTS_WORDS) /* sums below are bits of d.sums */

typedef struct numbered {
    increments d;
    uint16_t   below[INCREMENTS_WORDS]; /* how many sums are below the first of each word */
    uint16_t   near[NUMBERED_NEAR];     /* the sum of each of the lowest numbers */
    uint16_t   gaps;                    /* how many numbers are not sums */
    bool       is_plain;
} numbered;

/* The number x of a sum c: how many sums are below it. For c = 22 above, the bits 0, 8, 12, 14, 15,
 * 16 and 20 of d.sums[0] are set below bit 22: x = 7. */
TAMIS_INLINE uint64_t numbered_number(const numbered *map, uint64_t c) {
    if (map->is_plain) return c;
    if (c >= NUMBERED_LISTED) return c - map->gaps;
    return map->below[c / 64] + bits_rank(map->d.sums[c / 64], c % 64);
}

/* The sum c of a number x that is not plain: find its word, then its bit. */
TAMIS_INLINE uint64_t numbered_search(const numbered *map, uint64_t x) {
    unsigned word = 0;
    if (x >= NUMBERED_LISTED - map->gaps) return x + map->gaps;
    while (word + 1 < INCREMENTS_WORDS && map->below[word + 1] <= x) word++;
    return word * UINT64_C(64) + bits_select(map->d.sums[word], (unsigned)(x - map->below[word]));
}

/* The sum c of a number x. Nearly all counters are small, so the table answers. */
TAMIS_INLINE uint64_t numbered_value(const numbered *map, uint64_t x) {
    if (x < NUMBERED_NEAR) return map->near[x];
    return map->is_plain ? x : numbered_search(map, x);
}

/* below[] first, since numbered_search() goes by it to fill in near[]. */
static __attribute__((unused)) numbered numbered_make(uint64_t mask, bool is_plain) {
    numbered map = { .d = increments_make(mask), .is_plain = is_plain };
    unsigned n = 0;
    for (unsigned word = 0; word < INCREMENTS_WORDS; word++) {
        map.below[word] = (uint16_t)n;
        n += bits_popcount(map.d.sums[word]);
    }
    map.gaps = (uint16_t)(NUMBERED_LISTED - n);
    for (unsigned x = 0; x < NUMBERED_NEAR; x++) {
        map.near[x] = (uint16_t)(is_plain ? x : numbered_search(&map, x));
    }
    return map;
}

#endif
