/* sums.h - which sums of exactly j numbers of a sequence there are.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections II, IV and VI. Bit A[j][s] says that s is a sum of j numbers of the sequence, any of
 * them any number of times.
 *
 * Sums of j numbers are from j v_1 to j v_l, so that row j has j (v_l - v_1) + 1 bits, and rows
 * follow each other without a gap. A lookup among up to 6 keys needs the sums of up to 5 numbers:
 * for {1, 4, 13, 15} they are 216 bits, where a square table has 540.
 *
 *      j = 0   1
 *          1   1  0  0  1  0  0  0  0  0  0  0  0  1  0  1
 *          2   1  0  0  1  0  0  1  0  0  0  0  0  1  0  1  1  0  1  0 ...
 *              ^ j v_1
 *
 * The table ends where its words do. Of more numbers only the least and the largest sum are known.
 *
 * A sequence is a mask: bit v is set if v is in it.
 */
#ifndef TAMIS_KINDS_BHCBF_SUMS_H
#define TAMIS_KINDS_BHCBF_SUMS_H

#include "core/bits.h"

#define SUMS_MAX 63 /* the largest number of a sequence */
#define SUMS_WORDS 36

typedef struct sums {
    uint64_t bit[SUMS_WORDS];
    uint8_t  value[SUMS_MAX]; /* in order */
    uint8_t  n;
    uint8_t  least, width; /* v_1, v_l - v_1 */
    uint8_t  rows;
} sums;

/* Where row j begins. */
TAMIS_INLINE uint64_t sums_row(const sums *of, uint64_t j) {
    return of->width * (j * (j - 1) / 2) + j;
}

/* Can s be a sum of exactly j numbers? */
TAMIS_INLINE bool sums_may_be(const sums *of, uint64_t j, uint64_t s) {
    uint64_t const above = s - j * of->least; /* a sum too small is huge */
    if (above > j * of->width) return false;
    if (j >= of->rows) return true;
    uint64_t const at = sums_row(of, j) + above;
    return (of->bit[at / 64] >> (at % 64) & 1) != 0;
}

/* ------------------------------------------------------------------ making them */

/* Row j + 1: a number more than row j. */
static __attribute__((unused)) void sums_make_row(sums *of, unsigned j) {
    uint64_t const next = sums_row(of, j + 1);
    for (uint64_t above = 0; above <= (uint64_t)j * of->width; above++) {
        uint64_t const at = sums_row(of, j) + above;
        if ((of->bit[at / 64] >> (at % 64) & 1) == 0) continue;
        for (unsigned i = 0; i < of->n; i++) {
            uint64_t const to = next + above + of->value[i] - of->least;
            of->bit[to / 64] |= UINT64_C(1) << (to % 64);
        }
    }
}

/* Numbers from 1 to SUMS_MAX, at least two. */
static __attribute__((unused)) bool sums_are_possible(uint64_t mask) {
    return (mask & 1) == 0 && bits_popcount(mask) >= 2;
}

/* All rows that there is room for, but not more than `most`. */
static __attribute__((unused)) sums sums_make(uint64_t mask, unsigned most) {
    sums make = { .bit = { 1 }, .rows = 1 };
    TAMIS_ASSERT(sums_are_possible(mask));
    for (; mask != 0; mask &= mask - 1) make.value[make.n++] = (uint8_t)bits_lowest(mask);
    make.least = make.value[0];
    make.width = (uint8_t)(make.value[make.n - 1] - make.least);
    while (make.rows < most && sums_row(&make, make.rows + 1u) <= 64 * SUMS_WORDS) {
        sums_make_row(&make, make.rows - 1u);
        make.rows++;
    }
    return make;
}

#endif
