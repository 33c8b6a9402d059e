/* codes.h - the few bits of a bucket that tell how many cells it has, and how many of them begin
 * with each value of their first bits.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, section II.B (semi-sorting).
 *
 * The cells of a bucket are in order. If its code tells how many begin with 0, the first bit of
 * none needs to be stored; if it tells how many begin with 00, 01, 10 and 11, the first two. Which
 * loads are told so is the `sorting`: s(a) sorted bits, 0 to 2, at bits 2 a and 2 a + 1 of one
 * number. A load of a cells then has as many codes as they can be split into 2^s parts:
 *
 *     s = 0:  1          s = 1:  a + 1          s = 2:  (a + 1) (a + 2) (a + 3) / 6
 *
 * Code 0 is load 0; then come the codes of load 1, and so on. A split is the number of cells up to
 * the end of each part, b0 <= b1 <= b2 <= a, and within its load it has the number
 *
 *     s = 1:  b0         s = 2:  b0 + b1 (b1 + 1) / 2 + b2 (b2 + 1) (b2 + 2) / 6
 *
 * which goes through 0, 1, 2, ... as (b2, b1, b0) go through all that there are. So codes are
 * computed, and a table of splits for all codes of a sorting is made from that.
 */
#ifndef TAMIS_KINDS_DLBF_CODES_H
#define TAMIS_KINDS_DLBF_CODES_H

#include "core/base.h"

#define CODES_MAX_LOAD 15
#define CODES_MAX_SORTED 2
#define CODES_MAX_BITS 8

/* ------------------------------------------------------------------ how many there are */

/* s(load) of a sorting. */
TAMIS_INLINE unsigned codes_sorted(uint64_t sorting, unsigned load) {
    return (unsigned)(sorting >> (2 * load)) & 3;
}

TAMIS_INLINE unsigned codes_of_load(unsigned load, unsigned sorted) {
    if (sorted == 0) return 1;
    return sorted == 1 ? load + 1 : (load + 1) * (load + 2) * (load + 3) / 6;
}

/* Of all loads up to the highest. */
TAMIS_INLINE unsigned codes_count(unsigned highest, uint64_t sorting) {
    unsigned n = 0;
    for (unsigned a = 0; a <= highest; a++) n += codes_of_load(a, codes_sorted(sorting, a));
    return n;
}

/* The bits that a number below n takes. */
TAMIS_INLINE unsigned codes_bits(uint64_t n) {
    unsigned bits = 0;
    while (bits < 64 && n > UINT64_C(1) << bits) bits++;
    return bits;
}

/* ------------------------------------------------------------------ splits */

/* Four numbers of 4 bits: b0, b1, b2, a. The ends of parts that there are not are a, too. */
typedef uint16_t codes_split;

TAMIS_INLINE unsigned split_load(codes_split split) {
    return split >> 12;
}

/* The cells of a part are those from its first up to its end. */
TAMIS_INLINE unsigned split_first(codes_split split, unsigned part) {
    return (unsigned)split << 4 >> (4 * part) & 15;
}

TAMIS_INLINE unsigned split_end(codes_split split, unsigned part) {
    return (unsigned)split >> (4 * part) & 15;
}

/* One cell more in a part: it counts for the end of that one and of all behind it. */
TAMIS_INLINE codes_split split_with(codes_split split, unsigned part) {
    return (codes_split)(split + (0x1111u << (4 * part)));
}

/* Its number among those of its load. */
TAMIS_INLINE unsigned split_number(codes_split split, unsigned sorted) {
    unsigned const b0 = split & 15, b1 = split >> 4 & 15, b2 = split >> 8 & 15;
    if (sorted == 0) return 0;
    return sorted == 1 ? b0 : b0 + b1 * (b1 + 1) / 2 + b2 * (b2 + 1) * (b2 + 2) / 6;
}

/* ------------------------------------------------------------------ a sorting worked out */

typedef struct codes {
    unsigned    n, bits; /* how many there are, and what one takes */
    uint8_t     sorted[CODES_MAX_LOAD + 1];
    uint16_t    first[CODES_MAX_LOAD + 1];  /* code of a load */
    codes_split split[1 << CODES_MAX_BITS]; /* of a code; that of a number which is none: empty */
} codes;

TAMIS_INLINE unsigned codes_code(const codes *of, codes_split split) {
    unsigned const load = split_load(split);
    return of->first[load] + split_number(split, of->sorted[load]);
}

/* The splits of one load: all ends that are free go through all their values. */
static __attribute__((unused)) void codes_fill_load(codes *of, unsigned load) {
    unsigned const sorted = of->sorted[load], low = sorted == 2 ? 0 : load;
    for (unsigned b2 = low; b2 <= load; b2++) {
        for (unsigned b1 = low; b1 <= b2; b1++) {
            for (unsigned b0 = sorted == 0 ? load : 0; b0 <= b1; b0++) {
                codes_split const split = (codes_split)(b0 | b1 << 4 | b2 << 8 | load << 12);
                of->split[codes_code(of, split)] = split;
            }
        }
    }
}

/* Of a sorting with at most 2^CODES_MAX_BITS codes. */
static __attribute__((unused)) void codes_make(unsigned highest, uint64_t sorting, codes *ret) {
    *ret = (codes){ .n = codes_count(highest, sorting) };
    TAMIS_ASSERT(highest <= CODES_MAX_LOAD && ret->n <= 1u << CODES_MAX_BITS);
    ret->bits = codes_bits(ret->n);
    unsigned n = 0;
    for (unsigned a = 0; a <= highest; a++) {
        ret->sorted[a] = (uint8_t)codes_sorted(sorting, a);
        ret->first[a] = (uint16_t)n;
        n += codes_of_load(a, ret->sorted[a]);
        codes_fill_load(ret, a);
    }
}

#endif
