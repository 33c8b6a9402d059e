/* chains.h - a bucket of chains without pointers: cells are found by counting bits.
 *
 * The chains of a bucket are stored level by level: the first cells of all chains, then all second
 * cells, and so on, packed in the order of their chains. Bit l of the base index (I0 in the paper)
 * says whether chain l has a first cell. The higher index (IH) has one bit per cell, which says
 * whether the chain of that cell has another cell. So the position of a cell is a rank: the number
 * of one bits before its chain's bit.
 *
 *     base     0 1 0 0 1 1 0 0          chains 1, 4, 5 have cells        level 1: 3 cells
 *     higher   0 1 1 | 0 1 | 0          of those 4 and 5 have more       level 2: 2 cells
 *     cells    a b c | d e | f          chain 4: b d   chain 5: c e f    level 3: 1 cell
 *
 * A new cell goes to the end of its chain. A cell is removed by moving the last cell of its chain
 * into the hole. In both cases one bit and one cell are shifted in or out, by whole words.
 *
 * Worked example, with the bucket above:
 *
 *     find     chain 5 is marked, with 2 ones before it in the base: its first cell is c. Its bit
 *              of level 1 is a one, with one other before it: its next cell is number 1 of level 2,
 *              e. That bit of level 2 is a one, with none before it: f. The bit of f is 0: the end.
 *     append   g to chain 1. Its only cell is a, and level 2 has no cells of chains before it, so g
 *              is put before d, with a 0 in the higher index; and the bit of a becomes 1:
 *                  higher   1 1 1 | 0 0 1 | 0        cells   a b c | g d e | f
 *     remove   c from chain 5. The last cell of the chain, f, takes its place. Then the bit of e,
 *              which announced f, becomes 0, and both arrays close where f was:
 *                  higher   0 1 1 | 0 0              cells   a b f | d e
 *
 * A bucket that is full continues in an extension, and that in another, each from a pool that all
 * buckets share. The higher index and the cells are then numbered continuously (parts.h).
 *
 *     part 0, the bucket    [ base | pointer to part 1 | higher index | cells ]
 *     part 1                       [ pointer to part 2 | higher index | cells ]
 *     part 2                                           [ higher index | cells ]
 *
 * This file knows only the lowest bits of a cell, the remainder; copies.h defines the others. After
 * TAMIS_OPEN_TRUST the body has not been checked: whatever its bits are, no function here reads or
 * writes outside of it. Lookups in shared sets rely on that, too: they may read a bucket while it
 * is being changed, and then discard the answer. So a value that bounds a position is loaded only
 * once.
 */
#ifndef TAMIS_KINDS_RANK_CHAINS_H
#define TAMIS_KINDS_RANK_CHAINS_H

#include "core/hash.h"
#include "core/stripes.h"
#include "parts.h"
#include "pool.h"

#define CHAINS_MAX_CELLS 256 /* of a bucket with its extensions */

/* The layout of all buckets of a body, in bits. Part 0 is the bucket, parts 1 and 2 are its
 * extensions. All members are of one type, so that the struct can lie in a table's derived words.
 */
typedef struct chains_shape {
    uint64_t buckets, chains;
    uint64_t cell_bits, remainder_bits, counter_bits;
    uint64_t start[3], record[3];         /* the first record, and from one to the next */
    uint64_t index[3], cells[3];          /* where in a record the higher index and the cells are */
    uint64_t room[3];                     /* cells of a record */
    uint64_t pointer[2], pointer_bits[2]; /* to the next part: 0, or 1 + its number */
    uint64_t pool[3], used[3];            /* extensions there are, and where their bitmap begins */
} chains_shape;

/* A body and its layout: what all functions here work on. `at` is always the bit of the body where
 * a bucket, or another part, begins. */
typedef struct chains_view {
    uint8_t            *body;
    const chains_shape *shape;
} chains_view;

/* Where a key belongs. */
typedef struct chains_place {
    uint64_t bucket, at; /* its number, and the bit of the body where it begins */
    unsigned chain;
    uint64_t remainder;
} chains_place;

TAMIS_INLINE uint64_t chains_bucket_at(const chains_shape *shape, uint64_t bucket) {
    return shape->start[0] + bucket * shape->record[0];
}

/* Bucket, chain and remainder are the digits of the hash, read as a fraction of 2^64: the whole
 * part of hash x B is the bucket, of what is left x L the chain, of what is left x 2^r the
 * remainder. For 1000 buckets of 60 chains, remainders of 6 bits and the hash 0x9e3779b97f4a7c15,
 * which is 0.6180339887 x 2^64:
 *
 *     0.6180339887 x 1000 = 618.0339887        bucket 618
 *     0.0339887    x   60 =   2.0393           chain 2
 *     0.0393       x   64 =   2.517            remainder 2 */
TAMIS_INLINE chains_place chains_find(const chains_shape *shape, uint64_t hash) {
    chains_place place;
    place.bucket = fastrange_next(&hash, shape->buckets);
    place.chain = (unsigned)fastrange_next(&hash, shape->chains);
    place.remainder = hash >> (64 - shape->remainder_bits);
    place.at = chains_bucket_at(shape, place.bucket);
    return place;
}

/* ------------------------------------------------------------------ a bucket */

TAMIS_INLINE unsigned chains_room(const chains_shape *shape) {
    return (unsigned)(shape->room[0] + shape->room[1] + shape->room[2]);
}

/* The pointer to part 1 or 2 in the part before it, which is at `at`: 0, or 1 + its number. */
TAMIS_INLINE uint64_t chains_pointer(chains_view chains, uint64_t at, unsigned part) {
    return field_get(chains.body, at + chains.shape->pointer[part - 1],
                     (unsigned)chains.shape->pointer_bits[part - 1]);
}

/* The bit where part 1 or 2 begins. A missing pointer, which occurs only in a body that was not
 * checked, leads to bucket 0, so that the bit is inside the body. */
TAMIS_INLINE uint64_t chains_extension(chains_view chains, uint64_t at, unsigned part) {
    uint64_t const which = chains_pointer(chains, at, part);
    if (which == 0 || which > chains.shape->pool[part]) return chains.shape->start[0];
    return chains.shape->start[part] + (which - 1) * chains.shape->record[part];
}

/* The bit where cell i is, when it is in an extension. With 40 cells in a bucket, cell 45 is cell 5
 * of part 1. */
static __attribute__((noinline, unused)) STRIPE_READER uint64_t chains_far_cell(chains_view chains,
                                                                                uint64_t    at,
                                                                                unsigned    i) {
    const chains_shape *const shape = chains.shape;
    unsigned                  part = 0;
    for (; part < 2 && i >= shape->room[part] && shape->pool[part + 1] != 0; part++) {
        i -= (unsigned)shape->room[part];
        at = chains_extension(chains, at, part + 1);
    }
    i = (unsigned)min_u64(i, shape->room[part] - 1); /* whatever the bits are */
    return at + shape->cells[part] + i * shape->cell_bits;
}

/* The bit where cell i of the bucket is. */
TAMIS_INLINE uint64_t chains_cell(chains_view chains, uint64_t at, unsigned i) {
    if (i >= chains.shape->room[0]) return chains_far_cell(chains, at, i);
    return at + chains.shape->cells[0] + i * chains.shape->cell_bits;
}

/* n <= 64 bits of the higher index from bit `first` on, when some may be in an extension: with 40
 * cells in a bucket, of the bits 36 to 45 4 are in part 0 and 6 in part 1. */
static __attribute__((noinline, unused)) STRIPE_READER uint64_t chains_far_index(chains_view chains,
                                                                                 uint64_t    at,
                                                                                 unsigned    first,
                                                                                 unsigned    n) {
    const chains_shape *const shape = chains.shape;
    uint64_t                  bits = 0;
    unsigned                  begin = 0, got = 0; /* the first bit of the part; bits so far */
    for (unsigned part = 0; part < 3 && got < n; part++) {
        if (part != 0 && chains_pointer(chains, at, part) == 0) break;
        if (part != 0) at = chains_extension(chains, at, part);
        unsigned const end = begin + (unsigned)shape->room[part], next = first + got;
        unsigned const here = next < end ? (unsigned)min_u64(end - next, n - got) : 0;
        uint64_t const where = at + shape->index[part] + (next - begin);
        if (here != 0) bits |= field_get_wide(chains.body, where, here) << got;
        got += here;
        begin = end;
    }
    return bits;
}

/* n <= 64 bits of the higher index from bit `first` on: those of a level, which has as many cells
 * as chains at most. */
TAMIS_INLINE uint64_t chains_index(chains_view chains, uint64_t at, unsigned first, unsigned n) {
    if (first + n > chains.shape->room[0]) return chains_far_index(chains, at, first, n);
    return field_get_wide(chains.body, at + chains.shape->index[0] + first, n);
}

TAMIS_INLINE uint64_t chains_base(chains_view chains, uint64_t at) {
    return field_get_wide(chains.body, at, (unsigned)chains.shape->chains);
}

/* Ones of the higher index in part `part`, which is at `at`. */
TAMIS_INLINE unsigned chains_ones(chains_view chains, uint64_t at, unsigned part) {
    uint64_t first = at + chains.shape->index[part], left = chains.shape->room[part];
    unsigned ones = 0;
    for (; left > 64; left -= 64, first += 64)
        ones += bits_popcount(field_get_wide(chains.body, first, 64));
    return ones + bits_popcount(field_get_wide(chains.body, first, (unsigned)left));
}

/* Cells in use: one for each one bit of the base and of the higher index. Each one bit of a part
 * stands for a cell of the next level, so there is another part exactly if these do not fit. */
TAMIS_INLINE unsigned chains_load(chains_view chains, uint64_t at) {
    const chains_shape *const shape = chains.shape;
    unsigned load = bits_popcount(chains_base(chains, at)) + chains_ones(chains, at, 0);
    unsigned room = (unsigned)shape->room[0];
    for (unsigned part = 1; part < 3 && load > room && shape->pool[part] != 0; part++) {
        at = chains_extension(chains, at, part);
        load += chains_ones(chains, at, part);
        room += (unsigned)shape->room[part];
    }
    return load;
}

/* ------------------------------------------------------------------ a chain */

/* The position in a walk down a chain: cell `rank` of the `size` cells of a level, which begins at
 * cell `start`. */
typedef struct chains_step {
    unsigned start, size, rank;
} chains_step;

TAMIS_INLINE chains_step chains_first(uint64_t base, unsigned chain) {
    return (chains_step){ 0, bits_popcount(base), bits_rank(base, chain) };
}

TAMIS_INLINE unsigned chains_at_step(const chains_step *step) {
    return step->start + step->rank;
}

/* Go down to the next level, to the place of the chain's next cell. Is there such a cell? If there
 * is none, the step is where one would be appended: that is what copies_follow() needs. The
 * comparison with CHAINS_MAX_CELLS ends the walk in a body whose index is not valid. */
TAMIS_INLINE bool chains_next(chains_view chains, uint64_t at, chains_step *step) {
    uint64_t const level = chains_index(chains, at, step->start, step->size);
    bool const     has_next = (level >> step->rank) & 1;
    *step = (chains_step){ step->start + step->size, bits_popcount(level),
                           bits_rank(level, step->rank) };
    return has_next && step->start + step->size <= CHAINS_MAX_CELLS;
}

TAMIS_INLINE uint64_t chains_remainder(chains_view chains, uint64_t cell) {
    return field_get(chains.body, cell, (unsigned)chains.shape->remainder_bits);
}

/* Is there a cell with the remainder in the chain? */
TAMIS_INLINE bool chains_hold(chains_view chains, const chains_place *place) {
    uint64_t const base = chains_base(chains, place->at);
    if (((base >> place->chain) & 1) == 0) return false;
    chains_step step = chains_first(base, place->chain);
    do {
        uint64_t const cell = chains_cell(chains, place->at, chains_at_step(&step));
        if (chains_remainder(chains, cell) == place->remainder) return true;
    } while (chains_next(chains, place->at, &step));
    return false;
}

/* ------------------------------------------------------------------ extensions: take and free */

/* The pieces of the higher index, or of the cells, of a bucket with `load` cells: those of all
 * parts that such a bucket has (parts.h). */
TAMIS_INLINE parts_list chains_parts(chains_view chains, uint64_t at, unsigned load,
                                     bool is_index) {
    const chains_shape *const shape = chains.shape;
    const uint64_t *const     offset = is_index ? shape->index : shape->cells;
    parts_list                parts = { .bits = is_index ? 1 : (unsigned)shape->cell_bits };
    unsigned                  first = 0;
    for (unsigned part = 0; part < 3 && (part == 0 || load > first); part++) {
        if (part != 0) at = chains_extension(chains, at, part);
        parts.at[part] = at + offset[part];
        parts.room[part] = (unsigned)shape->room[part];
        first += parts.room[part];
    }
    return parts;
}

/* The part that begins with cell `load`: 1 or 2, or 0 if none does. With 40 cells in a bucket and
 * 12 in an extension, part 1 begins with cell 40, and part 2 with cell 52. */
TAMIS_INLINE unsigned chains_border(const chains_shape *shape, unsigned load) {
    if (shape->pool[1] != 0 && load == shape->room[0]) return 1;
    return shape->pool[2] != 0 && load == shape->room[0] + shape->room[1] ? 2 : 0;
}

/* `at` is the bucket, also for the pointer to part 2, which is in part 1. */
TAMIS_INLINE void chains_set_pointer(chains_view chains, uint64_t at, unsigned part,
                                     uint64_t value) {
    if (part == 2) at = chains_extension(chains, at, 1);
    field_set(chains.body, at + chains.shape->pointer[part - 1],
              (unsigned)chains.shape->pointer_bits[part - 1], value);
}

/* Make room for one more cell after `load` others. False: there is no room. The search for a free
 * extension starts where this bucket's extension would be if every bucket had one: at bucket / B of
 * the pool. So the extensions in use are spread over the pool as their buckets are over the table,
 * and a free one is near. */
TAMIS_INLINE bool chains_make_room(chains_view chains, const chains_place *place, unsigned load) {
    const chains_shape *const shape = chains.shape;
    if (load >= chains_room(shape)) return false;
    unsigned const part = chains_border(shape, load);
    if (part == 0) return true;
    uint64_t const n = shape->pool[part];
    uint64_t const wanted = fastrange(place->bucket * (UINT64_MAX / shape->buckets), n);
    uint64_t const taken = pool_take(chains.body, shape->used[part], n, wanted);
    if (taken == POOL_NONE) return false;
    chains_set_pointer(chains, place->at, part, taken + 1);
    return true;
}

/* Is there room for this many more cells in a bucket, with the extensions that they need? */
static __attribute__((unused)) bool chains_have_room(chains_view chains, uint64_t at,
                                                     unsigned more) {
    const chains_shape *const shape = chains.shape;
    unsigned const            load = chains_load(chains, at);
    if (more > chains_room(shape) || load > chains_room(shape) - more) return false;
    for (unsigned next = load; next < load + more; next++) {
        unsigned const part = chains_border(shape, next);
        if (part != 0 && !pool_has_one(chains.body, shape->used[part], shape->pool[part]))
            return false;
    }
    return true;
}

/* Give back the extension that begins with cell `load`, which is the first that is not used. */
TAMIS_INLINE void chains_give_room(chains_view chains, uint64_t at, unsigned load) {
    unsigned const part = chains_border(chains.shape, load);
    if (part == 0) return;
    uint64_t const before = part == 2 ? chains_extension(chains, at, 1) : at;
    uint64_t const which = chains_pointer(chains, before, part);
    if (which == 0 || which > chains.shape->pool[part]) return; /* a body that was not checked */
    pool_give(chains.body, chains.shape->used[part], which - 1);
    chains_set_pointer(chains, at, part, 0);
}

/* ------------------------------------------------------------------ adding and removing cells */

/* The end of a chain, in numbers of cells. */
typedef struct chains_end {
    unsigned length;       /* cells of the chain */
    unsigned last, before; /* the last of them, and the one before it */
    unsigned next;         /* where one more would go */
} chains_end;

/* Append a cell where part of the bucket is, or will be, in an extension. The pointer is written
 * first, since the pieces are found by it; if there is no room, nothing was written. */
static __attribute__((noinline, unused)) bool chains_far_append(chains_view         chains,
                                                                const chains_place *place,
                                                                const chains_end   *end,
                                                                uint64_t cell, unsigned load) {
    /* As chains_append(), with lists of pieces in place of plain bit numbers. */
    if (!chains_make_room(chains, place, load)) return false;
    parts_list const index = chains_parts(chains, place->at, load + 1, true);
    parts_list const cells = chains_parts(chains, place->at, load + 1, false);
    parts_open(chains.body, &index, end->next, load, 0);
    parts_open(chains.body, &cells, end->next, load, cell);
    field_set_bit(chains.body,
                  end->length == 0 ? place->at + place->chain : parts_at(&index, end->last), true);
    return true;
}

/* Append a cell to a chain, whose end the caller has found (copies_follow). False, and nothing has
 * changed: there is no room. */
TAMIS_INLINE bool chains_append(chains_view chains, const chains_place *place,
                                const chains_end *end, uint64_t cell) {
    unsigned const load = chains_load(chains, place->at), bits = (unsigned)chains.shape->cell_bits;
    uint64_t const index = place->at + chains.shape->index[0];
    uint64_t const cells = place->at + chains.shape->cells[0];
    /* Almost always the bucket has room: then all is in one record, and two shifts are enough.
     * First the gap in both arrays, at the place where the next cell of this chain belongs; then
     * the bit that announces it. That bit is in the base index for the first cell of a chain, else
     * beside the cell before. */
    if (load >= chains.shape->room[0]) return chains_far_append(chains, place, end, cell, load);
    shift_open(chains.body, index + end->next, index + load, 1);
    shift_open(chains.body, cells + end->next * bits, cells + load * bits, bits);
    field_set(chains.body, cells + end->next * bits, bits, cell);
    field_set_bit(chains.body, end->length == 0 ? place->at + place->chain : index + end->last,
                  true);
    return true;
}

/* Remove a cell where part of the bucket is in an extension. */
static __attribute__((noinline, unused)) void chains_far_delete(chains_view         chains,
                                                                const chains_place *place,
                                                                const chains_end   *end,
                                                                unsigned hole, unsigned load) {
    if (load > chains_room(chains.shape)) return; /* a body that was not checked */
    parts_list const index = chains_parts(chains, place->at, load, true);
    parts_list const cells = chains_parts(chains, place->at, load, false);
    field_set(chains.body, parts_at(&cells, hole), cells.bits,
              field_get(chains.body, parts_at(&cells, end->last), cells.bits));
    field_set_bit(chains.body,
                  end->length == 1 ? place->at + place->chain : parts_at(&index, end->before),
                  false);
    parts_close(chains.body, &index, end->last, load);
    parts_close(chains.body, &cells, end->last, load);
    chains_give_room(chains, place->at, load - 1);
}

/* Remove cell `hole` of a chain: the last cell of the chain takes its place. */
TAMIS_INLINE void chains_delete(chains_view chains, const chains_place *place,
                                const chains_end *end, unsigned hole) {
    unsigned const load = chains_load(chains, place->at), bits = (unsigned)chains.shape->cell_bits;
    uint64_t const index = place->at + chains.shape->index[0];
    uint64_t const cells = place->at + chains.shape->cells[0];
    if (load > chains.shape->room[0]) {
        chains_far_delete(chains, place, end, hole, load);
        return;
    }
    /* Chains have no order, so the last cell may fill the hole. Then the bit that announced the
     * last cell is cleared, and both arrays close up where it was. */
    field_set(chains.body, cells + hole * bits, bits,
              field_get(chains.body, cells + end->last * bits, bits));
    field_set_bit(chains.body, end->length == 1 ? place->at + place->chain : index + end->before,
                  false);
    shift_close(chains.body, index + end->last, index + load, 1);
    shift_close(chains.body, cells + end->last * bits, cells + load * bits, bits);
}

/* ------------------------------------------------------------------ checking */

/* Cells in use, summed up level by level. False: they are more than there is room for. */
TAMIS_INLINE bool chains_levels_fit(chains_view chains, uint64_t at, unsigned *ret_load) {
    /* The ones of a level are the cells of the next one: follow that until a level is empty. */
    unsigned const room = chains_room(chains.shape);
    unsigned       load = 0, size = bits_popcount(chains_base(chains, at));
    while (size != 0 && load + size <= room) {
        unsigned const below = bits_popcount(chains_index(chains, at, load, size));
        load += size;
        size = below;
    }
    *ret_load = load;
    return size == 0;
}

/* Does the bucket have exactly the parts that its cells need, and is everything zero after the last
 * cell? Safe on any bytes. *ret_load: the cells in use. */
static __attribute__((unused)) bool chains_are_whole(chains_view chains, uint64_t at,
                                                     unsigned *ret_load) {
    const chains_shape *const shape = chains.shape;
    if (!chains_levels_fit(chains, at, ret_load)) return false;
    unsigned const load = *ret_load;
    for (unsigned part = 0, first = 0; part < 3; first += (unsigned)shape->room[part++]) {
        bool const is_needed = part == 0 || (load > first && shape->pool[part] != 0);
        if (part != 0 && shape->pool[part] != 0) {
            uint64_t const which = chains_pointer(chains, at, part);
            if (which > shape->pool[part] || (which != 0) != is_needed) return false;
        }
        if (!is_needed) return load <= first;
        if (part != 0) at = chains_extension(chains, at, part);
        unsigned const used = (unsigned)min_u64(load - first, shape->room[part]);
        uint64_t const cells = at + shape->cells[part], index = at + shape->index[part];
        if (!field_is_zero(chains.body, index + used, cells)) return false;
        if (!field_is_zero(chains.body, cells + used * shape->cell_bits, at + shape->record[part]))
            return false;
    }
    return true;
}

#endif
