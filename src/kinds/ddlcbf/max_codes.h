/* max_codes.h - three small numbers in one code: the most cells that a bucket ever had (its level),
 * the cells it has now, and how many of those begin with 0.
 *
 * The codes number all triples (level, cells, zeros) with zeros <= cells <= level:
 *
 *     code     0       1       2       3       4       5       6       7   ...
 *     triple (0 0 0) (1 0 0) (1 1 0) (1 1 1) (2 0 0) (2 1 0) (2 1 1) (2 2 0) ...
 *             level 0 |------ level 1 -------|-- level 2 ...
 *
 * Levels up to L have (L+1)(L+2)(L+3)/6 triples. So levels up to 8 take 165 of the 256 codes of a
 * byte, where three numbers of their own would take 12 bits.
 *
 * Within a level, pairs (cells, zeros) are numbered in the same way: pair 0 is (0 0), then (1 0),
 * (1 1), (2 0), ... So a code is the number of triples with a lower level, plus its pair:
 *
 *     code = level (level+1) (level+2) / 6  +  cells (cells+1) / 2  +  zeros
 *
 * For (2 1 1) that is 2 x 3 x 4 / 6 + 1 + 1 = 6, as above. The way back goes through two small
 * tables: the level of a code, and the cells of a pair.
 */
#ifndef TAMIS_KINDS_DDLCBF_MAX_CODES_H
#define TAMIS_KINDS_DDLCBF_MAX_CODES_H

#include "core/base.h"

#define MAX_CODES_LEVELS 17 /* the highest level that the tables know */

typedef struct max_code {
    unsigned level, cells, zeros;
} max_code;

/* Pairs with fewer cells, and triples with a lower level: triangular and tetrahedral numbers. */
#define MAX_CODES_PAIRS(cells) ((cells) * ((cells) + 1) / 2)
#define MAX_CODES_BELOW(level) ((level) * ((level) + 1) * ((level) + 2) / 6)
#define MAX_CODES_ALL MAX_CODES_BELOW(MAX_CODES_LEVELS + 1)

TAMIS_INLINE unsigned max_codes_pair(unsigned cells, unsigned zeros) {
    return MAX_CODES_PAIRS(cells) + zeros;
}

TAMIS_INLINE unsigned max_codes_code(max_code triple) {
    return MAX_CODES_BELOW(triple.level) + max_codes_pair(triple.cells, triple.zeros);
}

/* ------------------------------------------------------------------ the way back */

/* A run of entries that are the same: GCC and Clang take "[first ... last] = value". */
#define MAX_CODES_LEVEL(l) \
    [MAX_CODES_BELOW(l)... MAX_CODES_BELOW((l) + 1) - 1] = (l) << 11 | MAX_CODES_BELOW(l)
#define MAX_CODES_CELLS(c) \
    [MAX_CODES_PAIRS(c)... MAX_CODES_PAIRS((c) + 1) - 1] = (c) << 8 | MAX_CODES_PAIRS(c)

/* By code: its level, and below it, in 11 bits, the first code of that level. */
static const uint16_t max_codes_levels[MAX_CODES_ALL] __attribute__((unused)) = {
    MAX_CODES_LEVEL(0),  MAX_CODES_LEVEL(1),  MAX_CODES_LEVEL(2),  MAX_CODES_LEVEL(3),
    MAX_CODES_LEVEL(4),  MAX_CODES_LEVEL(5),  MAX_CODES_LEVEL(6),  MAX_CODES_LEVEL(7),
    MAX_CODES_LEVEL(8),  MAX_CODES_LEVEL(9),  MAX_CODES_LEVEL(10), MAX_CODES_LEVEL(11),
    MAX_CODES_LEVEL(12), MAX_CODES_LEVEL(13), MAX_CODES_LEVEL(14), MAX_CODES_LEVEL(15),
    MAX_CODES_LEVEL(16), MAX_CODES_LEVEL(17),
};

/* By pair: its cells, and below them, in 8 bits, the first pair with this many. */
static const uint16_t max_codes_cells[MAX_CODES_PAIRS(MAX_CODES_LEVELS + 1)]
    __attribute__((unused)) = {
        MAX_CODES_CELLS(0),  MAX_CODES_CELLS(1),  MAX_CODES_CELLS(2),  MAX_CODES_CELLS(3),
        MAX_CODES_CELLS(4),  MAX_CODES_CELLS(5),  MAX_CODES_CELLS(6),  MAX_CODES_CELLS(7),
        MAX_CODES_CELLS(8),  MAX_CODES_CELLS(9),  MAX_CODES_CELLS(10), MAX_CODES_CELLS(11),
        MAX_CODES_CELLS(12), MAX_CODES_CELLS(13), MAX_CODES_CELLS(14), MAX_CODES_CELLS(15),
        MAX_CODES_CELLS(16), MAX_CODES_CELLS(17),
    };

static_assert(MAX_CODES_ALL <= 1 << 11 && MAX_CODES_PAIRS(MAX_CODES_LEVELS) < 1 << 8,
              "the entries have room for both numbers");

/* The cells and zeros of a valid pair. It says nothing of the level, which is 0 in the result. */
TAMIS_INLINE max_code max_codes_get_pair(unsigned pair) {
    unsigned const entry = max_codes_cells[pair];
    return (max_code){ 0, entry >> 8, pair - (entry & 255) };
}

/* The triple of a valid code. */
TAMIS_INLINE max_code max_codes_get(unsigned code) {
    unsigned const entry = max_codes_levels[code];
    max_code       triple = max_codes_get_pair(code - (entry & 2047));
    triple.level = entry >> 11;
    return triple;
}

#endif
