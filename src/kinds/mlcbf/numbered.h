/* numbered.h - the sums of increments, numbered: what a counter can be, and nothing else.
 *
 * A counter that keys count up by the numbers of a set D (increments.h) only ever holds 0 or a sum
 * of them. Its number x says which, in increasing order: for D = {8, 12, 14, 15}
 *
 *     x   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15 ...
 *     c   0   8  12  14  15  16  20  22  23  24  26  27  28  29  30  31 ...
 *
 * so that four bits reach as far as five did. Beyond the last gap numbers are sums less a constant.
 * Plain counters are their own numbers, as in the paper.
 */
#ifndef TAMIS_KINDS_MLCBF_NUMBERED_H
#define TAMIS_KINDS_MLCBF_NUMBERED_H

#include "core/increments.h"

#define NUMBERED_NEAR 32 /* numbers whose sums stand in a table */
#define NUMBERED_LISTED (UINT64_C(64) * INCREMENTS_WORDS)

typedef struct numbered {
    increments d;
    uint16_t   below[INCREMENTS_WORDS]; /* sums below that word of d.sums */
    uint16_t   near[NUMBERED_NEAR];
    uint16_t   gaps; /* numbers that are not sums */
    bool       is_plain;
} numbered;

/* The number of a sum. */
TAMIS_INLINE uint64_t numbered_number(const numbered *of, uint64_t c) {
    if (of->is_plain) return c;
    if (c >= NUMBERED_LISTED) return c - of->gaps;
    return of->below[c / 64] + bits_rank(of->d.sums[c / 64], c % 64);
}

TAMIS_INLINE uint64_t numbered_search(const numbered *of, uint64_t x) {
    unsigned word = 0;
    if (x >= NUMBERED_LISTED - of->gaps) return x + of->gaps;
    while (word + 1 < INCREMENTS_WORDS && of->below[word + 1] <= x) word++;
    return word * UINT64_C(64) + bits_select(of->d.sums[word], (unsigned)(x - of->below[word]));
}

/* The sum of a number. */
TAMIS_INLINE uint64_t numbered_value(const numbered *of, uint64_t x) {
    if (x < NUMBERED_NEAR) return of->near[x];
    return of->is_plain ? x : numbered_search(of, x);
}

static __attribute__((unused)) numbered numbered_make(uint64_t mask, bool is_plain) {
    numbered make = { .d = increments_make(mask), .is_plain = is_plain };
    unsigned n = 0;
    for (unsigned word = 0; word < INCREMENTS_WORDS; word++) {
        make.below[word] = (uint16_t)n;
        n += bits_popcount(make.d.sums[word]);
    }
    make.gaps = (uint16_t)(NUMBERED_LISTED - n);
    for (unsigned x = 0; x < NUMBERED_NEAR; x++) {
        make.near[x] = (uint16_t)(is_plain ? x : numbered_search(&make, x));
    }
    return make;
}

#endif
