/* levels.h - blocks of counters that take more bits only when they need them.
 *
 * Paper: D. Ficara, S. Giordano, G. Procissi, F. Vitucci, "MultiLayer Compressed Counting Bloom
 * Filters", INFOCOM 2008, for the levels. A counter is a field of bits[0] bits. One that is at its
 * maximum goes on in a cell of its own on the next level, and its value is the sum of both; a cell
 * at its maximum has one on the level after, and so on.
 *
 *     level 0      2  3  0  3  1  3  0      7 counters of 2 bits; 3 is the maximum
 *                     |     |     |
 *     level 1         0     3     1         cells of 2 bits, one for each that is full, in order
 *                           |
 *     level 2               4               so the counters are 2 3 0 10 1 4 0
 *
 * Whose cell is whose? Theirs is found by a perfect hash, which has to be built anew whenever a
 * counter becomes full. Here it is found by rank: cell r belongs to the counter that has r full
 * ones before it, as in rank-indexed hashing. A counter that becomes full opens a gap for its cell,
 * one that comes down closes it; both shift bits of one block, and nothing else has to be stored.
 *
 *     a block      [ counters of level 0 | cells of level 1, of level 2, ... , zeros | closed ]
 *                                         '------------ area, in bits --------------'
 *
 * Counters stick in two ways. One that is at the maximum of the last level stays there. And when
 * the area has no room for a cell, the block is closed for good: its cells are dropped, and every
 * counter that is full on level 0, now or later, is stuck.
 */
#ifndef TAMIS_KINDS_MLCBF_LEVELS_H
#define TAMIS_KINDS_MLCBF_LEVELS_H

#include "core/field.h"
#include "core/shift.h"

#define LEVELS_MAX 6
#define LEVELS_MAX_BITS 8
#define LEVELS_STUCK UINT64_MAX

typedef struct levels {
    uint32_t counters; /* of a block */
    uint32_t area;
    uint16_t base[LEVELS_MAX + 1]; /* a counter this large has a cell on that level */
    uint8_t  bits[LEVELS_MAX];
    uint8_t  depth;
} levels;

TAMIS_INLINE uint64_t levels_top(const levels *of) {
    return of->base[of->depth];
}

TAMIS_INLINE uint64_t levels_area_at(const levels *of, uint64_t block) {
    return block + (uint64_t)of->counters * of->bits[0];
}

TAMIS_INLINE uint64_t levels_closed_at(const levels *of, uint64_t block) {
    return levels_area_at(of, block) + of->area;
}

TAMIS_INLINE uint64_t levels_block_bits(const levels *of) {
    return levels_closed_at(of, 0) + 1;
}

TAMIS_INLINE bool levels_is_closed(const levels *of, const uint8_t *body, uint64_t block) {
    return field_get_bit(body, levels_closed_at(of, block));
}

/* Levels of so many bits, up to the first of 0 bits. */
static __attribute__((unused)) levels levels_make(uint64_t counters, uint64_t area,
                                                  const uint64_t bits[LEVELS_MAX]) {
    levels make = { .counters = (uint32_t)counters, .area = (uint32_t)area };
    while (make.depth < LEVELS_MAX && bits[make.depth] != 0) {
        unsigned const l = make.depth++;
        make.bits[l] = (uint8_t)bits[l];
        make.base[l + 1] = (uint16_t)(make.base[l] + bits_low(make.bits[l]));
    }
    return make;
}

/* ------------------------------------------------------------------ ranks */

/* The lowest bit of as many fields as 56 bits have room for, by their size. */
static const uint64_t levels_lowest[LEVELS_MAX_BITS + 1] = {
    0,
    UINT64_C(0xffffffffffffff),
    UINT64_C(0x55555555555555),
    UINT64_C(0x9249249249249),
    UINT64_C(0x11111111111111),
    UINT64_C(0x4210842108421),
    UINT64_C(0x1041041041041),
    UINT64_C(0x2040810204081),
    UINT64_C(0x1010101010101),
};
static const uint8_t levels_fields[LEVELS_MAX_BITS + 1] = { 0, 56, 28, 18, 14, 11, 9, 8, 7 };

/* `bits` is a constant in each call below, so that all this is one short loop. */
TAMIS_INLINE uint64_t levels_count(const uint8_t *body, uint64_t at, uint64_t n, unsigned bits) {
    uint64_t const lowest = levels_lowest[bits], fields = levels_fields[bits];
    uint64_t       found = 0;
    for (; n >= fields; n -= fields, at += fields * bits) {
        uint64_t const word = le64_load(body + at / 8) >> (at % 8);
        uint64_t       full = word & lowest;
        for (unsigned j = 1; j < bits; j++) full &= word >> j;
        found += bits_popcount(full);
    }
    uint64_t const rest = field_get(body, at, (unsigned)n * bits);
    uint64_t       full = rest & lowest;
    for (unsigned j = 1; j < bits; j++) full &= rest >> j;
    return found + bits_popcount(full);
}

/* How many of n fields have all their bits set. */
static __attribute__((unused)) uint64_t levels_full(const uint8_t *body, uint64_t at, uint64_t n,
                                                    unsigned bits) {
    switch (bits) {
    case 1: return levels_count(body, at, n, 1);
    case 2: return levels_count(body, at, n, 2);
    case 3: return levels_count(body, at, n, 3);
    case 4: return levels_count(body, at, n, 4);
    case 5: return levels_count(body, at, n, 5);
    case 6: return levels_count(body, at, n, 6);
    case 7: return levels_count(body, at, n, 7);
    default: return levels_count(body, at, n, 8);
    }
}

/* ------------------------------------------------------------------ one counter */

TAMIS_INLINE bool levels_is_full(const uint8_t *body, uint64_t at, unsigned bits) {
    return field_get(body, at, bits) == bits_low(bits);
}

/* The counter, or LEVELS_STUCK. Looks no further than it has to: the cells of a level are counted
 * only if the level after the next is asked, since it begins behind them. */
TAMIS_INLINE uint64_t levels_get(const levels *of, const uint8_t *body, uint64_t block,
                                 uint64_t i) {
    uint64_t first = block, n = of->counters, value = 0;
    for (unsigned l = 0;; l++) {
        unsigned const bits = of->bits[l];
        uint64_t const here = first + i * bits, cell = field_get(body, here, bits);
        value += cell;
        if (cell != bits_low(bits)) return value;
        if (l + 1 == of->depth || (l == 0 && levels_is_closed(of, body, block))) break;
        uint64_t const rank = levels_full(body, first, i, bits);
        first += n * bits;
        if (l + 2 < of->depth &&
            levels_is_full(body, first + rank * of->bits[l + 1], of->bits[l + 1])) {
            n = rank + levels_full(body, here, n - i, bits);
        }
        i = rank;
    }
    return LEVELS_STUCK;
}

/* Where the counter has its cells, or would have them, and where all cells end. */
typedef struct levels_path {
    uint64_t at[LEVELS_MAX];
    uint64_t end;
    uint64_t tops; /* cells of the last level that are full */
} levels_path;

TAMIS_INLINE levels_path levels_find(const levels *of, const uint8_t *body, uint64_t block,
                                     uint64_t i) {
    levels_path path = { .end = block };
    uint64_t    n = of->counters;
    for (unsigned l = 0; l < of->depth; l++) {
        unsigned const bits = of->bits[l];
        uint64_t const first = path.end, here = first + i * bits;
        path.at[l] = here;
        path.end = first + n * bits;
        uint64_t const rank = levels_full(body, first, i, bits);
        n = rank + levels_full(body, here, n - i, bits);
        i = rank;
    }
    path.tops = n;
    return path;
}

/* Give up all cells: what is full on level 0 is stuck from now on. How many more than before? */
TAMIS_INLINE uint64_t levels_close(const levels *of, uint8_t *body, uint64_t block) {
    uint64_t const from = levels_area_at(of, block), to = levels_closed_at(of, block);
    uint64_t const tops = levels_find(of, body, block, 0).tops;
    for (uint64_t at = from; at < to; at += FIELD_MAX_BITS - 1) {
        field_set(body, at, (unsigned)min_u64(to - at, FIELD_MAX_BITS - 1), 0);
    }
    field_set_bit(body, to, true);
    return levels_full(body, block, of->counters, of->bits[0]) - tops;
}

/* Bits of cells that a counter of this value has above level 0. */
TAMIS_INLINE uint64_t levels_cost(const levels *of, uint64_t value) {
    uint64_t bits = 0;
    for (unsigned l = 1; l < of->depth && value >= of->base[l]; l++) bits += of->bits[l];
    return bits;
}

/* Level by level: a cell is set anew, or a gap is opened for it, or it is closed. What is above the
 * gap has moved by so much when its level's turn comes. */
TAMIS_INLINE void levels_move(const levels *of, uint8_t *body, levels_path path, uint64_t from,
                              uint64_t to) {
    uint64_t moved = 0; /* modulo 2^64: down is negative */
    for (unsigned l = 0; l < of->depth && max_u64(from, to) >= of->base[l]; l++) {
        unsigned const bits = of->bits[l];
        uint64_t const at = path.at[l] + moved;
        if (to < of->base[l]) {
            shift_close(body, at, path.end + moved, bits);
            moved -= bits;
            continue;
        }
        if (from < of->base[l]) {
            shift_open(body, at, path.end + moved, bits);
            moved += bits;
        }
        field_set(body, at, bits, min_u64(to - of->base[l], bits_low(bits)));
    }
}

/* Change a counter that is not stuck from one value to another, at most levels_top(). Returns how
 * many counters are stuck that were not. */
TAMIS_INLINE uint64_t levels_set(const levels *of, uint8_t *body, uint64_t block, uint64_t i,
                                 uint64_t from, uint64_t to) {
    uint64_t const full = of->base[1], at = block + i * of->bits[0];
    TAMIS_ASSERT(i < of->counters && to <= levels_top(of));
    if (max_u64(from, to) < full) {
        field_set(body, at, of->bits[0], to);
        return 0;
    }
    uint64_t newly = 0;
    if (!levels_is_closed(of, body, block)) {
        levels_path const path = levels_find(of, body, block, i);
        uint64_t const    before = levels_cost(of, from), after = levels_cost(of, to);
        if (after <= before || path.end + after - before <= levels_closed_at(of, block)) {
            levels_move(of, body, path, from, to);
            return to == levels_top(of);
        }
        newly = levels_close(of, body, block);
    }
    newly += from < full; /* else it was full, and is counted already */
    field_set(body, at, of->bits[0], full);
    return newly;
}

/* ------------------------------------------------------------------ all counters */

/* From the first to the last. A block of unknown bits must have passed levels_fit. */
typedef struct levels_walk {
    uint64_t at[LEVELS_MAX];
    uint64_t end;
    bool     is_closed;
} levels_walk;

TAMIS_INLINE levels_walk levels_begin(const levels *of, const uint8_t *body, uint64_t block) {
    levels_walk walk = { .is_closed = levels_is_closed(of, body, block) };
    if (!walk.is_closed) {
        levels_path const path = levels_find(of, body, block, 0);
        memcpy(walk.at, path.at, sizeof walk.at);
        walk.end = path.end;
    }
    walk.at[0] = block;
    if (walk.is_closed) walk.end = levels_area_at(of, block);
    return walk;
}

/* The next counter, or LEVELS_STUCK. */
TAMIS_INLINE uint64_t levels_next(const levels *of, const uint8_t *body, levels_walk *walk) {
    uint64_t value = 0;
    for (unsigned l = 0; l < of->depth; l++) {
        uint64_t const cell = field_get(body, walk->at[l], of->bits[l]);
        walk->at[l] += of->bits[l];
        value += cell;
        if (cell != bits_low(of->bits[l])) return value;
        if (walk->is_closed) break;
    }
    return LEVELS_STUCK;
}

/* Are the cells of an open block inside its area, whatever its bits are? */
TAMIS_INLINE bool levels_fit(const levels *of, const uint8_t *body, uint64_t block) {
    uint64_t       first = block, n = of->counters;
    uint64_t const end = levels_closed_at(of, block);
    for (unsigned l = 0; l < of->depth; l++) {
        if (n * of->bits[l] > end - first) return false;
        if (l + 1 == of->depth) break;
        uint64_t const full = levels_full(body, first, n, of->bits[l]);
        first += n * of->bits[l];
        n = full;
    }
    return true;
}

#endif
