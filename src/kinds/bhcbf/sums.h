/* sums.h - which sums of exactly j numbers of a sequence exist.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections II, IV and VI. Bit A[j][s] says that s is a sum of exactly j numbers of the sequence,
 * where a number may be used several times.
 *
 * Sums of j numbers lie between j v_1 and j v_l (v_1 the least number, v_l the largest). So row j
 * has j (v_l - v_1) + 1 bits, and rows follow each other without gaps. A lookup among up to 6 keys
 * needs the sums of up to 5 numbers: for {1, 4, 13, 15} that is 216 bits, where the paper's table
 * with rows of equal length has 540.
 *
 *      j = 0   1
 *          1   1  0  0  1  0  0  0  0  0  0  0  0  1  0  1
 *          2   1  0  0  1  0  0  1  0  0  0  0  0  1  0  1  1  0  1  0 ...
 *              ^ the sum j v_1
 *
 * The table ends after SUMS_WORDS words. Of sums of more numbers, only the least and the largest
 * are known: every sum between them is taken for possible.
 *
 * A sequence is given as a mask: bit v is set if v is in it.
 */
#ifndef TAMIS_KINDS_BHCBF_SUMS_H
#define TAMIS_KINDS_BHCBF_SUMS_H

#include "core/bits.h"

#define SUMS_MAX 63 /* the largest number of a sequence */
#define SUMS_WORDS 36

typedef struct sums {
    uint64_t bit[SUMS_WORDS];
    uint8_t  value[SUMS_MAX]; /* the numbers of the sequence, increasing */
    uint8_t  n;               /* l, how many there are */
    uint8_t  least, width;    /* v_1 and v_l - v_1 */
    uint8_t  rows;            /* rows 0 to rows - 1 are in the table */
} sums;

/* The first bit of row j: rows 0 to j - 1 have width (0 + 1 + ... + (j - 1)) + j bits. */
TAMIS_INLINE uint64_t sums_row(const sums *table, uint64_t j) {
    return table->width * (j * (j - 1) / 2) + j;
}

/* Can s be a sum of exactly j numbers? */
TAMIS_INLINE bool sums_may_be(const sums *table, uint64_t j, uint64_t s) {
    uint64_t const above = s - j * table->least; /* wraps to a huge number if s is too small */
    if (above > j * table->width) return false;
    if (j >= table->rows) return true;
    uint64_t const at = sums_row(table, j) + above;
    return (table->bit[at / 64] >> (at % 64) & 1) != 0;
}

/* ------------------------------------------------------------------ making the table */

/* 64 bits of the table, from bit `at` on; fewer at the end of it, with zeros above them. */
static __attribute__((unused)) uint64_t sums_word(const sums *table, uint64_t at) {
    uint64_t const low = table->bit[at / 64] >> (at % 64);
    bool const     is_split = at % 64 != 0 && at / 64 + 1 < SUMS_WORDS;
    return is_split ? low | table->bit[at / 64 + 1] << (64 - at % 64) : low;
}

/* Row j + 1 from row j: each of its sums and one number more. 64 sums at a time: for each number v,
 * the row is ORed into the next one, v - v_1 bits further on. With {1, 4, 13, 15}, row 2 is row 1
 * (bits 0, 3, 12 and 14) at the distances 0, 3, 12 and 14: bits 0 3 12 14, 3 6 15 17, 12 15 24 26
 * and 14 17 26 28. */
static __attribute__((unused)) void sums_make_row(sums *table, unsigned j) {
    uint64_t const from = sums_row(table, j), next = sums_row(table, j + 1), n = next - from;
    for (uint64_t above = 0; above < n; above += 64) {
        uint64_t const left = n - above;
        uint64_t const word =
            sums_word(table, from + above) & (left < 64 ? bits_low((unsigned)left) : UINT64_MAX);
        for (unsigned i = 0; i < table->n; i++) {
            uint64_t const to = next + above + table->value[i] - table->least;
            table->bit[to / 64] |= word << (to % 64);
            if (to % 64 != 0 && to / 64 + 1 < SUMS_WORDS)
                table->bit[to / 64 + 1] |= word >> (64 - to % 64);
        }
    }
}

/* Is the mask a sequence of at least two numbers from 1 to SUMS_MAX? */
static __attribute__((unused)) bool sums_are_possible(uint64_t mask) {
    return (mask & 1) == 0 && bits_popcount(mask) >= 2;
}

/* All rows for which there is room, but at most max_rows. */
static __attribute__((unused)) sums sums_make(uint64_t mask, unsigned max_rows) {
    sums table = { .bit = { 1 }, .rows = 1 };
    TAMIS_ASSERT(sums_are_possible(mask));
    for (; mask != 0; mask &= mask - 1) table.value[table.n++] = (uint8_t)bits_lowest(mask);
    table.least = table.value[0];
    table.width = (uint8_t)(table.value[table.n - 1] - table.least);
    while (table.rows < max_rows && sums_row(&table, table.rows + 1u) <= 64 * SUMS_WORDS) {
        sums_make_row(&table, table.rows - 1u);
        table.rows++;
    }
    return table;
}

#endif
