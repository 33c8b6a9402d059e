/* levels.h - blocks of counters that take more bits only when they need them.
 *
 * Paper: D. Ficara, S. Giordano, G. Procissi, F. Vitucci, "MultiLayer Compressed Counting Bloom
 * Filters", INFOCOM 2008, for the levels.
 *
 * A counter is a field of bits[0] bits on level 0. If that field is full (all bits set), the
 * counter continues in a cell of its own on level 1, and its value is the sum of both. A full cell
 * continues on level 2, and so on.
 *
 *     level 0      2  3  0  3  1  3  0      7 counters of 2 bits; 3 is full
 *                     |     |     |
 *     level 1         0     3     1         cells of 2 bits, one for each full field, in order
 *                           |
 *     level 2               4               so the counters are 2 3 0 10 1 4 0
 *
 * Which cell belongs to which counter? In the paper a perfect hash says so, which has to be built
 * again whenever a counter becomes full. Here the rank says so: cell r of a level belongs to the
 * field that has r full fields before it on the level below. A counter that becomes full inserts
 * its cell, a counter that comes down deletes it. Both shift bits within one block, and nothing has
 * to be stored besides.
 *
 *     a block      | counters of level 0 | cells of level 1, 2, ... | zeros | closed |
 *                                        '------------ area ----------------'  1 bit
 *
 * Counters get stuck in two ways, and stay so:
 *   - a counter whose cell on the last level is full is at the top;
 *   - if the area has no room for a cell, the block is closed: all its cells are dropped, and every
 *     field that is full on level 0, now or later, is a stuck counter.
 */
#ifndef TAMIS_KINDS_MLCBF_LEVELS_H
#define TAMIS_KINDS_MLCBF_LEVELS_H

#include "core/field.h"
#include "core/shift.h"

#define LEVELS_MAX 6
#define LEVELS_MAX_BITS 8
#define LEVELS_STUCK UINT64_MAX /* the value of a stuck counter */

/* The layout of a block. Below, `block` is the first bit of a block in the body. */
typedef struct levels {
    uint32_t counters;             /* in a block */
    uint32_t area;                 /* bits for all cells above level 0 */
    uint16_t base[LEVELS_MAX + 1]; /* a counter of at least base[l] has a cell on level l */
    uint8_t  bits[LEVELS_MAX];     /* of a cell, on each level */
    uint8_t  depth;                /* how many levels there are */
} levels;

/* The value at which a counter is stuck: every level is full. With levels of 2, 3 and 3 bits that
 * is 3 + 7 + 7 = 17, and base[] is 0, 3, 10, 17. */
TAMIS_INLINE uint64_t levels_top(const levels *layout) {
    return layout->base[layout->depth];
}

TAMIS_INLINE uint64_t levels_area_at(const levels *layout, uint64_t block) {
    return block + (uint64_t)layout->counters * layout->bits[0];
}

TAMIS_INLINE uint64_t levels_closed_at(const levels *layout, uint64_t block) {
    return levels_area_at(layout, block) + layout->area;
}

TAMIS_INLINE uint64_t levels_block_bits(const levels *layout) {
    return levels_closed_at(layout, 0) + 1;
}

TAMIS_INLINE bool levels_is_closed(const levels *layout, const uint8_t *body, uint64_t block) {
    return field_get_bit(body, levels_closed_at(layout, block));
}

/* Levels of bits[0], bits[1], ... bits, up to the first that is 0. */
static __attribute__((unused)) levels levels_make(uint64_t counters, uint64_t area,
                                                  const uint64_t bits[LEVELS_MAX]) {
    levels layout = { .counters = (uint32_t)counters, .area = (uint32_t)area };
    while (layout.depth < LEVELS_MAX && bits[layout.depth] != 0) {
        unsigned const l = layout.depth++;
        layout.bits[l] = (uint8_t)bits[l];
        layout.base[l + 1] = (uint16_t)(layout.base[l] + bits_low(layout.bits[l]));
    }
    return layout;
}

/* ------------------------------------------------------------------ counting full fields
 *
 * A rank is the number of full fields before a field. Fields are read 56 bits at a time (a read at
 * any bit position delivers that many), and the fields of such a word are tested together: a field
 * is full if all its bits are set, so the bits are ANDed down into the lowest bit of the field. */

/* By the bits of a field: the lowest bits of all fields in 56 bits, and how many fields. 3 bits: 18
 * fields, whose lowest bits are the bits 0, 3, 6, ... 51. */
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

/* `bits` is a constant in each call below, so that all this becomes one short loop. With 2 bits and
 * the fields 3, 0, 3, 2, from the lowest bit on 11 00 11 01: the word ANDed with itself shifted
 * down by 1 has in the lowest bit of a field whether both bits are set: 1 0 1 0, and two fields are
 * full. */
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

/* How many of n fields, from bit `at` on, are full. */
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

/* ------------------------------------------------------------------ reading a counter */

TAMIS_INLINE bool levels_is_full(const uint8_t *body, uint64_t at, unsigned bits) {
    return field_get(body, at, bits) == bits_low(bits);
}

/* The value of counter i, or LEVELS_STUCK. It looks no further than it has to: where a level begins
 * depends on the number of cells on the level before, so the cells of a level are counted only if
 * the level after the next one is needed. A body that was not checked may have cells that would
 * reach beyond the area: a counter with such a cell is taken for stuck.
 *
 * Counter 3 of the drawing: its field, 3, is full, with one full field before it. So it goes on in
 * cell 1 of level 1, which begins after the 7 fields of level 0. That cell, 3, is full, with none
 * before it: it goes on in cell 0 of level 2, which begins after the 3 cells of level 1. There is
 * 4: 3 + 3 + 4 = 10. */
TAMIS_INLINE uint64_t levels_get(const levels *layout, const uint8_t *body, uint64_t block,
                                 uint64_t i) {
    uint64_t first = block, n = layout->counters, value = 0; /* n cells on this level, from first */
    uint64_t const end = levels_closed_at(layout, block);
    for (unsigned l = 0;; l++) {
        unsigned const bits = layout->bits[l];
        uint64_t const here = first + i * bits, cell = field_get(body, here, bits);
        value += cell;
        if (cell != bits_low(bits)) return value;
        if (l + 1 == layout->depth || (l == 0 && levels_is_closed(layout, body, block))) break;
        /* The counter continues in cell number `rank` of the next level, which begins after the n
         * cells of this one. The number of cells of that level is needed only to find the level
         * after it. */
        uint64_t const rank = levels_full(body, first, i, bits);
        unsigned const next = layout->bits[l + 1];
        first += n * bits;
        if (first + (rank + 1) * next > end) break;
        if (l + 2 < layout->depth) {
            if (levels_is_full(body, first + rank * next, next))
                n = rank + levels_full(body, here, n - i, bits);
        }
        i = rank;
    }
    return LEVELS_STUCK;
}

#define LEVELS_BROKEN UINT64_MAX

/* Where the cells of a counter are, or would be inserted, on every level. On a level that the
 * counter does not reach, that is after the cells of all counters before it. */
typedef struct levels_path {
    uint64_t at[LEVELS_MAX];
    uint64_t end;  /* where all cells of the block end; LEVELS_BROKEN: beyond its area */
    uint64_t tops; /* how many cells of the last level are full */
} levels_path;

/* Level by level: the rank of the counter among the full fields before it is its place on the next
 * level, whether it has a cell there or not; and all full fields of a level are the number of cells
 * of the next. Nothing behind the area is read: cells that would reach beyond it are only in a body
 * that was not checked. */
TAMIS_INLINE levels_path levels_find(const levels *layout, const uint8_t *body, uint64_t block,
                                     uint64_t i) {
    levels_path    path = { .end = block };
    uint64_t const end = levels_closed_at(layout, block);
    uint64_t       n = layout->counters;
    for (unsigned l = 0; l < layout->depth; l++) {
        unsigned const bits = layout->bits[l];
        uint64_t const first = path.end, here = first + i * bits;
        if (n * bits > end - first) return (levels_path){ .end = LEVELS_BROKEN };
        path.at[l] = here;
        path.end = first + n * bits;
        uint64_t const rank = levels_full(body, first, i, bits);
        n = rank + levels_full(body, here, n - i, bits);
        i = rank;
    }
    path.tops = n;
    return path;
}

/* ------------------------------------------------------------------ changing a counter */

/* Close a block: drop all cells. Returns how many counters are stuck now that were not before: the
 * full ones on level 0, less those that were at the top. */
static __attribute__((noinline, unused)) uint64_t levels_close(const levels *layout, uint8_t *body,
                                                               uint64_t block) {
    uint64_t const first = levels_area_at(layout, block), end = levels_closed_at(layout, block);
    uint64_t const tops = levels_find(layout, body, block, 0).tops;
    for (uint64_t at = first; at < end; at += FIELD_MAX_BITS - 1) {
        field_set(body, at, (unsigned)min_u64(end - at, FIELD_MAX_BITS - 1), 0);
    }
    field_set_bit(body, end, true);
    return levels_full(body, block, layout->counters, layout->bits[0]) - tops;
}

/* Bits of all cells that a counter of this value has above level 0. With levels of 2, 3 and 3 bits:
 * none up to a value of 2, 3 bits from 3 on, 6 from 10 on. */
TAMIS_INLINE uint64_t levels_cost(const levels *layout, uint64_t value) {
    uint64_t bits = 0;
    for (unsigned l = 1; l < layout->depth && value >= layout->base[l]; l++) {
        bits += layout->bits[l];
    }
    return bits;
}

/* Change a counter from one value to another, level by level: its cell is rewritten, or inserted,
 * or deleted. An insertion or deletion moves everything after it, so cells of later levels are
 * found that much further on. In the block that is drawn above, the first counter goes from 2 to 4:
 *
 *     level 0    2  3  0  3  1  3  0      becomes    3  3  0  3  1  3  0
 *     level 1    0  3  1                  becomes    1  0  3  1
 *     level 2    4                        stays, and begins one cell further on */
TAMIS_INLINE void levels_move(const levels *layout, uint8_t *body, levels_path path,
                              uint64_t old_value, uint64_t new_value) {
    uint64_t moved = 0; /* modulo 2^64: a deletion makes it negative */
    for (unsigned l = 0; l < layout->depth && max_u64(old_value, new_value) >= layout->base[l];
         l++) {
        unsigned const bits = layout->bits[l];
        uint64_t const at = path.at[l] + moved;
        if (new_value < layout->base[l]) { /* it came down below this level */
            shift_close(body, at, path.end + moved, bits);
            moved -= bits;
            continue;
        }
        if (old_value < layout->base[l]) { /* it has come up to this level */
            shift_open(body, at, path.end + moved, bits);
            moved += bits;
        }
        field_set(body, at, bits, min_u64(new_value - layout->base[l], bits_low(bits)));
    }
}

/* levels_set() of a counter that has cells above level 0, before or after. */
static __attribute__((noinline, unused)) uint64_t levels_set_far(const levels *layout,
                                                                 uint8_t *body, uint64_t block,
                                                                 uint64_t i, uint64_t old_value,
                                                                 uint64_t new_value) {
    uint64_t const full = layout->base[1];
    uint64_t       newly = 0;
    if (!levels_is_closed(layout, body, block)) {
        levels_path const path = levels_find(layout, body, block, i);
        uint64_t const    before = levels_cost(layout, old_value);
        uint64_t const    after = levels_cost(layout, new_value);
        bool const        is_room =
            after <= before || path.end + after - before <= levels_closed_at(layout, block);
        if (path.end != LEVELS_BROKEN && is_room) {
            levels_move(layout, body, path, old_value, new_value);
            return new_value == levels_top(layout);
        }
        newly = levels_close(layout, body, block);
    }
    /* The block is closed: the counter is full on level 0, and so stuck. If it was full there
     * before, levels_close() has counted it. */
    newly += old_value < full;
    field_set(body, block + i * layout->bits[0], layout->bits[0], full);
    return newly;
}

/* Change counter i, which is not stuck, from old_value to new_value <= levels_top(). Closes the
 * block if it has no room. Returns how many counters are stuck now that were not before. */
TAMIS_INLINE uint64_t levels_set(const levels *layout, uint8_t *body, uint64_t block, uint64_t i,
                                 uint64_t old_value, uint64_t new_value) {
    TAMIS_ASSERT(i < layout->counters && new_value <= levels_top(layout));
    if (max_u64(old_value, new_value) >= layout->base[1])
        return levels_set_far(layout, body, block, i, old_value, new_value);
    field_set(body, block + i * layout->bits[0], layout->bits[0], new_value); /* the usual case */
    return 0;
}

/* ------------------------------------------------------------------ all counters of a block */

/* A walk over all counters, from the first to the last: the next cell on each level. The bits of a
 * block that come from a file must have passed levels_fit() first. */
typedef struct levels_walk {
    uint64_t at[LEVELS_MAX];
    uint64_t end; /* where all cells end */
    bool     is_closed;
} levels_walk;

/* Each level begins where the path of counter 0 is on it. A closed block has level 0 only, and one
 * whose cells reach beyond its area is taken for closed. */
static __attribute__((noinline, unused)) levels_walk
levels_begin(const levels *layout, const uint8_t *body, uint64_t block) {
    levels_walk walk = { .is_closed = levels_is_closed(layout, body, block) };
    if (!walk.is_closed) {
        levels_path const path = levels_find(layout, body, block, 0);
        memcpy(walk.at, path.at, sizeof walk.at);
        walk.end = path.end;
        walk.is_closed = path.end == LEVELS_BROKEN;
    }
    walk.at[0] = block;
    if (walk.is_closed) walk.end = levels_area_at(layout, block);
    return walk;
}

/* The next counter, or LEVELS_STUCK. */
TAMIS_INLINE uint64_t levels_next(const levels *layout, const uint8_t *body, levels_walk *walk) {
    uint64_t value = 0;
    for (unsigned l = 0; l < layout->depth; l++) {
        uint64_t const cell = field_get(body, walk->at[l], layout->bits[l]);
        walk->at[l] += layout->bits[l];
        value += cell;
        if (cell != bits_low(layout->bits[l])) return value;
        if (walk->is_closed) break;
    }
    return LEVELS_STUCK;
}

/* Do the cells of an open block end inside its area? Level by level: the full fields of one are the
 * cells of the next. Nothing behind the area is read. Safe on any bits. */
TAMIS_INLINE bool levels_fit(const levels *layout, const uint8_t *body, uint64_t block) {
    uint64_t       first = block, n = layout->counters;
    uint64_t const end = levels_closed_at(layout, block);
    for (unsigned l = 0; l < layout->depth; l++) {
        if (n * layout->bits[l] > end - first) return false;
        if (l + 1 == layout->depth) break;
        uint64_t const full = levels_full(body, first, n, layout->bits[l]);
        first += n * layout->bits[l];
        n = full;
    }
    return true;
}

#endif
