/* codes.h - the few bits of a bucket that say how many cells it has, and how many of them begin
 * with each value of their first bits.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, section II.B (semi-sorting).
 *
 * The cells of a bucket are sorted. If its code says how many of them begin with 0, the first bit
 * of no cell needs to be stored; if it says how many begin with 00, 01, 10 and 11, the first two
 * need not be. s(a), 0 to 2, is the number of bits that the code of a bucket with a cells says.
 * The `sorting` has all of them, s(a) at bits 2a and 2a + 1:
 *
 *     sorting   | ... | s(3) | s(2) | s(1) | s(0) = 0 |        2 bits each
 *
 * A bucket with a cells has as many codes as there are ways to split them into 2^s parts:
 *
 *     s = 0:  1          s = 1:  a + 1          s = 2:  (a + 1) (a + 2) (a + 3) / 6
 *
 * Code 0 is the empty bucket; then come the codes of one cell, those of two, and so on. A split is
 * given by the number of cells up to the end of each part, b0 <= b1 <= b2 <= a. Among the splits of
 * its load it has the number
 *
 *     s = 1:  b0         s = 2:  b0 + b1 (b1 + 1) / 2 + b2 (b2 + 1) (b2 + 2) / 6
 *
 * which takes the values 0, 1, 2, ... in this order of (b2, b1, b0), without gaps. So a code is
 * computed from a split; the way back is a table.
 *
 * Worked example: the paper's code of 4 bits, for loads of 0 to 6, with one sorted bit at the loads
 * 4 and 5. The loads 0 to 3 and 6 have one code each, load 4 has 5 and load 5 has 6: 16 codes. They
 * are
 *
 *     code   0 1 2 3   4 .. 8     9 .. 14    15
 *     load   0 1 2 3   4          5          6
 *     b0     -         0 .. 4     0 .. 5     -
 *
 * Cells 0010.. 0111.. 1000.. 1101.. have b0 = 2, so the code 6, and are stored without their first
 * bits.
 */
#ifndef TAMIS_KINDS_DLBF_CODES_H
#define TAMIS_KINDS_DLBF_CODES_H

#include "core/base.h"

#define CODES_MAX_LOAD 15
#define CODES_MAX_SORTED 2
#define CODES_MAX_BITS 8

/* ------------------------------------------------------------------ how many codes there are */

/* s(load). */
TAMIS_INLINE unsigned codes_sorted(uint64_t sorting, unsigned load) {
    return (unsigned)(sorting >> (2 * load)) & 3;
}

TAMIS_INLINE unsigned codes_of_load(unsigned load, unsigned sorted) {
    if (sorted == 0) return 1;
    return sorted == 1 ? load + 1 : (load + 1) * (load + 2) * (load + 3) / 6;
}

/* Codes of all loads up to the highest. */
TAMIS_INLINE unsigned codes_count(unsigned highest, uint64_t sorting) {
    unsigned n = 0;
    for (unsigned a = 0; a <= highest; a++) n += codes_of_load(a, codes_sorted(sorting, a));
    return n;
}

/* Bits of a number below n. */
TAMIS_INLINE unsigned codes_bits(uint64_t n) {
    unsigned bits = 0;
    while (bits < 64 && n > UINT64_C(1) << bits) bits++;
    return bits;
}

/* ------------------------------------------------------------------ splits */

/* Four numbers of 4 bits: | a | b2 | b1 | b0 |. The ends of parts that do not exist are a, too. */
typedef uint16_t codes_split;

TAMIS_INLINE unsigned split_load(codes_split split) {
    return split >> 12;
}

/* A part has the cells from its first one up to its end (exclusive). */
TAMIS_INLINE unsigned split_first(codes_split split, unsigned part) {
    return (unsigned)split << 4 >> (4 * part) & 15;
}

TAMIS_INLINE unsigned split_end(codes_split split, unsigned part) {
    return (unsigned)split >> (4 * part) & 15;
}

/* One cell more in a part: the ends of that part and of all after it rise by one. */
TAMIS_INLINE codes_split split_with(codes_split split, unsigned part) {
    return (codes_split)(split + (0x1111u << (4 * part)));
}

/* The number of a split among those of its load. */
TAMIS_INLINE unsigned codes_split_number(codes_split split, unsigned sorted) {
    unsigned const b0 = split & 15, b1 = split >> 4 & 15, b2 = split >> 8 & 15;
    if (sorted == 0) return 0;
    return sorted == 1 ? b0 : b0 + b1 * (b1 + 1) / 2 + b2 * (b2 + 1) * (b2 + 2) / 6;
}

/* ------------------------------------------------------------------ all codes of a sorting */

typedef struct codes {
    unsigned    n, bits;                    /* how many there are, and how wide one is */
    uint8_t     sorted[CODES_MAX_LOAD + 1]; /* s(a) */
    uint16_t    first[CODES_MAX_LOAD + 1];  /* the first code of a load */
    codes_split split[1 << CODES_MAX_BITS]; /* by code; a number that is no code has no cells */
} codes;

TAMIS_INLINE unsigned codes_code(const codes *all, codes_split split) {
    unsigned const load = split_load(split);
    return all->first[load] + codes_split_number(split, all->sorted[load]);
}

/* All splits of one load: the ends that are free take all their values. With one sorted bit, b0 is
 * free, and b1 and b2 are the load; with none, all three are. */
static __attribute__((unused)) void codes_fill_load(codes *all, unsigned load) {
    unsigned const sorted = all->sorted[load], low = sorted == 2 ? 0 : load;
    for (unsigned b2 = low; b2 <= load; b2++) {
        for (unsigned b1 = low; b1 <= b2; b1++) {
            for (unsigned b0 = sorted == 0 ? load : 0; b0 <= b1; b0++) {
                codes_split const split = (codes_split)(b0 | b1 << 4 | b2 << 8 | load << 12);
                all->split[codes_code(all, split)] = split;
            }
        }
    }
}

/* For a sorting with at most 2^CODES_MAX_BITS codes. */
static __attribute__((unused)) void codes_make(unsigned highest, uint64_t sorting,
                                               codes *ret_codes) {
    *ret_codes = (codes){ .n = codes_count(highest, sorting) };
    TAMIS_ASSERT(highest <= CODES_MAX_LOAD && ret_codes->n <= 1u << CODES_MAX_BITS);
    ret_codes->bits = codes_bits(ret_codes->n);
    unsigned n = 0;
    for (unsigned a = 0; a <= highest; a++) {
        ret_codes->sorted[a] = (uint8_t)codes_sorted(sorting, a);
        ret_codes->first[a] = (uint16_t)n;
        n += codes_of_load(a, ret_codes->sorted[a]);
        codes_fill_load(ret_codes, a);
    }
}

#endif
