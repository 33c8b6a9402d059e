/* max_codes.h - three small numbers in one: the most a bucket ever held, what it holds, and how
 * many of those begin with 0.
 *
 * All triples (level, cells, zeros) with zeros <= cells <= level, one after the other:
 *
 *     level 0: (0 0 0)   level 1: (1 0 0) (1 1 0) (1 1 1)   level 2: (2 0 0) (2 1 0) ...
 *
 * There are (L+1)(L+2)(L+3)/6 of them for levels up to L, so levels up to 8 take 165 of the 256
 * codes of a byte, where three numbers of their own would take 12 bits. Within a level the code is
 * that of a pair, zeros <= cells. What a code stands for is read from a table, which the
 * preprocessor makes; the other way is a sum.
 */
#ifndef TAMIS_KINDS_DDLCBF_MAX_CODES_H
#define TAMIS_KINDS_DDLCBF_MAX_CODES_H

#include "core/base.h"

#define MAX_CODES_LEVELS 17

typedef struct max_code {
    unsigned level, cells, zeros;
} max_code;

/* Pairs with fewer than so many cells, and triples of lower levels than this: triangular and
 * tetrahedral numbers. */
TAMIS_INLINE unsigned max_codes_pairs(unsigned cells) {
    return cells * (cells + 1) / 2;
}

TAMIS_INLINE unsigned max_codes_below(unsigned level) {
    return level * (level + 1) * (level + 2) / 6;
}

TAMIS_INLINE unsigned max_codes_pair(unsigned cells, unsigned zeros) {
    return max_codes_pairs(cells) + zeros;
}

TAMIS_INLINE unsigned max_codes_of(max_code of) {
    return max_codes_below(of.level) + max_codes_pair(of.cells, of.zeros);
}

/* ------------------------------------------------------------------ the table */

/* clang-format off */
#define MC_ONE(l, c, z) (l) << 10 | (c) << 5 | (z)
#define MC_Z0(l, c) MC_ONE(l, c, 0)
#define MC_Z1(l, c) MC_Z0(l, c), MC_ONE(l, c, 1)
#define MC_Z2(l, c) MC_Z1(l, c), MC_ONE(l, c, 2)
#define MC_Z3(l, c) MC_Z2(l, c), MC_ONE(l, c, 3)
#define MC_Z4(l, c) MC_Z3(l, c), MC_ONE(l, c, 4)
#define MC_Z5(l, c) MC_Z4(l, c), MC_ONE(l, c, 5)
#define MC_Z6(l, c) MC_Z5(l, c), MC_ONE(l, c, 6)
#define MC_Z7(l, c) MC_Z6(l, c), MC_ONE(l, c, 7)
#define MC_Z8(l, c) MC_Z7(l, c), MC_ONE(l, c, 8)
#define MC_Z9(l, c) MC_Z8(l, c), MC_ONE(l, c, 9)
#define MC_Z10(l, c) MC_Z9(l, c), MC_ONE(l, c, 10)
#define MC_Z11(l, c) MC_Z10(l, c), MC_ONE(l, c, 11)
#define MC_Z12(l, c) MC_Z11(l, c), MC_ONE(l, c, 12)
#define MC_Z13(l, c) MC_Z12(l, c), MC_ONE(l, c, 13)
#define MC_Z14(l, c) MC_Z13(l, c), MC_ONE(l, c, 14)
#define MC_Z15(l, c) MC_Z14(l, c), MC_ONE(l, c, 15)
#define MC_Z16(l, c) MC_Z15(l, c), MC_ONE(l, c, 16)
#define MC_Z17(l, c) MC_Z16(l, c), MC_ONE(l, c, 17)
#define MC_C0(l) MC_Z0(l, 0)
#define MC_C1(l) MC_C0(l), MC_Z1(l, 1)
#define MC_C2(l) MC_C1(l), MC_Z2(l, 2)
#define MC_C3(l) MC_C2(l), MC_Z3(l, 3)
#define MC_C4(l) MC_C3(l), MC_Z4(l, 4)
#define MC_C5(l) MC_C4(l), MC_Z5(l, 5)
#define MC_C6(l) MC_C5(l), MC_Z6(l, 6)
#define MC_C7(l) MC_C6(l), MC_Z7(l, 7)
#define MC_C8(l) MC_C7(l), MC_Z8(l, 8)
#define MC_C9(l) MC_C8(l), MC_Z9(l, 9)
#define MC_C10(l) MC_C9(l), MC_Z10(l, 10)
#define MC_C11(l) MC_C10(l), MC_Z11(l, 11)
#define MC_C12(l) MC_C11(l), MC_Z12(l, 12)
#define MC_C13(l) MC_C12(l), MC_Z13(l, 13)
#define MC_C14(l) MC_C13(l), MC_Z14(l, 14)
#define MC_C15(l) MC_C14(l), MC_Z15(l, 15)
#define MC_C16(l) MC_C15(l), MC_Z16(l, 16)
#define MC_C17(l) MC_C16(l), MC_Z17(l, 17)

static const uint16_t max_codes_table[] __attribute__((unused)) = {
    MC_C0(0), MC_C1(1), MC_C2(2), MC_C3(3), MC_C4(4), MC_C5(5), MC_C6(6), MC_C7(7), MC_C8(8),
    MC_C9(9), MC_C10(10), MC_C11(11), MC_C12(12), MC_C13(13), MC_C14(14), MC_C15(15),
    MC_C16(16), MC_C17(17),
};
/* clang-format on */

static_assert(sizeof max_codes_table / sizeof max_codes_table[0] ==
                  (MAX_CODES_LEVELS + 1) * (MAX_CODES_LEVELS + 2) * (MAX_CODES_LEVELS + 3) / 6,
              "every triple has its code");

/* Of a code that there is. */
TAMIS_INLINE max_code max_codes_get(unsigned code) {
    unsigned const entry = max_codes_table[code];
    return (max_code){ entry >> 10, entry >> 5 & 31, entry & 31 };
}

/* The same for a pair: the last level has them all. */
TAMIS_INLINE max_code max_codes_get_pair(unsigned pair) {
    return max_codes_get(max_codes_below(MAX_CODES_LEVELS) + pair);
}

#endif
