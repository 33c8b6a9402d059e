/* chains.h - a bucket of chains without pointers: cells found by counting bits.
 *
 * The chains of a bucket are cut into levels: the first cells of all chains, then all second cells,
 * ... packed one after the other, in the order of their chains. Bit l of the base index says
 * whether chain l has a first cell; the bit of the higher index beside each cell says whether its
 * chain has another. So the place of a cell is a rank: the number of ones before its chain's bit.
 *
 *     base     0 1 0 0 1 1 0 0          chains 1, 4, 5 have cells        level 1: 3 cells
 *     higher   0 1 1 | 0 1 | 0          of those 4 and 5 have more       level 2: 2 cells
 *     cells    a b c | d e | f          chain 4: b d   chain 5: c e f    level 3: 1 cell
 *
 * A new cell goes to the end of its chain; a cell is taken away by moving the last of its chain
 * into the hole. Either way one bit and one cell are shifted in or out, by whole words.
 *
 * A bucket that is full goes on in an extension, and that in another, each from a pool that all
 * buckets share. The higher index and the cells are then numbered through (parts.h).
 *
 * Cells are opaque here but for their lowest bits, the remainder. See copies.h for what follows.
 */
#ifndef TAMIS_KINDS_RANK_CHAINS_H
#define TAMIS_KINDS_RANK_CHAINS_H

#include "core/hash.h"
#include "parts.h"
#include "pool.h"

#define CHAINS_MAX_CELLS 256 /* of a bucket with its extensions */

/* How all buckets of a body look. Part 0 is the bucket, parts 1 and 2 are its extensions. In bits,
 * and all of one type, so that it can lie in a table's derived words. */
typedef struct chains_shape {
    uint64_t buckets, chains;
    uint64_t cell_bits, remainder_bits, counter_bits;
    uint64_t start[3], record[3];         /* the first record, and from one to the next */
    uint64_t index[3], cells[3];          /* where in a record the higher index and the cells are */
    uint64_t room[3];                     /* cells of a record */
    uint64_t pointer[2], pointer_bits[2]; /* to the next part: 0, or 1 + its number */
    uint64_t pool[3], used[3];            /* extensions there are, and where their bits begin */
} chains_shape;

/* A body and how it looks: what everything here works on. */
typedef struct chains {
    uint8_t            *body;
    const chains_shape *shape;
} chains;

/* Where a key belongs. */
typedef struct chains_place {
    uint64_t bucket, at; /* its number, and the bit of the body where it begins */
    unsigned chain;
    uint64_t remainder;
} chains_place;

TAMIS_INLINE uint64_t chains_bucket_at(const chains_shape *shape, uint64_t bucket) {
    return shape->start[0] + bucket * shape->record[0];
}

/* Bucket, chain and remainder are the digits of the hash, read as a fraction of 2^64. */
TAMIS_INLINE chains_place chains_find(const chains_shape *shape, uint64_t hash) {
    chains_place place;
    place.bucket = fastrange_next(&hash, shape->buckets);
    place.chain = (unsigned)fastrange_next(&hash, shape->chains);
    place.remainder = hash >> (64 - shape->remainder_bits);
    place.at = chains_bucket_at(shape, place.bucket);
    return place;
}

/* ------------------------------------------------------------------ a bucket */

/* The number of part 1 or 2 that the part before it, at `at`, points to, plus one; 0: none. */
TAMIS_INLINE uint64_t chains_pointer(chains of, uint64_t at, unsigned part) {
    return field_get(of.body, at + of.shape->pointer[part - 1],
                     (unsigned)of.shape->pointer_bits[part - 1]);
}

/* The bit where part 1 or 2 begins. If there is none, which only happens in a body that was never
 * checked, any bit that is surely inside: bucket 0. */
TAMIS_INLINE uint64_t chains_extension(chains of, uint64_t at, unsigned part) {
    uint64_t const which = chains_pointer(of, at, part);
    if (which == 0 || which > of.shape->pool[part]) return of.shape->start[0];
    return of.shape->start[part] + (which - 1) * of.shape->record[part];
}

/* Cell i when it is in an extension. */
static __attribute__((noinline, unused)) uint64_t chains_far_cell(chains of, uint64_t at,
                                                                  unsigned i) {
    unsigned part = 0;
    for (; part < 2 && i >= of.shape->room[part] && of.shape->pool[part + 1] != 0; part++) {
        i -= (unsigned)of.shape->room[part];
        at = chains_extension(of, at, part + 1);
    }
    i = (unsigned)min_u64(i, of.shape->room[part] - 1);
    return at + of.shape->cells[part] + i * of.shape->cell_bits;
}

/* The bit where cell i of the bucket at `at` is. */
TAMIS_INLINE uint64_t chains_cell(chains of, uint64_t at, unsigned i) {
    if (i >= of.shape->room[0]) return chains_far_cell(of, at, i);
    return at + of.shape->cells[0] + i * of.shape->cell_bits;
}

/* n <= 64 bits of the higher index from `from` on, when some may be in an extension. */
static __attribute__((noinline, unused)) uint64_t chains_far_index(chains of, uint64_t at,
                                                                   unsigned from, unsigned n) {
    uint64_t bits = 0;
    unsigned first = 0, got = 0;
    for (unsigned part = 0; part < 3 && got < n; part++) {
        if (part != 0 && chains_pointer(of, at, part) == 0) break;
        if (part != 0) at = chains_extension(of, at, part);
        unsigned const end = first + (unsigned)of.shape->room[part], next = from + got;
        unsigned const here = next < end ? (unsigned)min_u64(end - next, n - got) : 0;
        uint64_t const where = at + of.shape->index[part] + (next - first);
        if (here != 0) bits |= field_get_wide(of.body, where, here) << got;
        got += here;
        first = end;
    }
    return bits;
}

TAMIS_INLINE uint64_t chains_index(chains of, uint64_t at, unsigned from, unsigned n) {
    if (from + n > of.shape->room[0]) return chains_far_index(of, at, from, n);
    return field_get_wide(of.body, at + of.shape->index[0] + from, n);
}

TAMIS_INLINE uint64_t chains_base(chains of, uint64_t at) {
    return field_get_wide(of.body, at, (unsigned)of.shape->chains);
}

TAMIS_INLINE unsigned chains_room(const chains_shape *shape) {
    return (unsigned)(shape->room[0] + shape->room[1] + shape->room[2]);
}

/* Ones of the higher index in part `part`, which is at `at`. */
TAMIS_INLINE unsigned chains_ones(chains of, uint64_t at, unsigned part) {
    uint64_t from = at + of.shape->index[part], left = of.shape->room[part];
    unsigned ones = 0;
    for (; left > 64; left -= 64, from += 64)
        ones += bits_popcount(field_get_wide(of.body, from, 64));
    return ones + bits_popcount(field_get_wide(of.body, from, (unsigned)left));
}

/* Cells in use: one for each one of the base and of the higher index. Those of a part announce the
 * cells that follow it, so a part that announces none is the last. */
TAMIS_INLINE unsigned chains_load(chains of, uint64_t at) {
    unsigned load = bits_popcount(chains_base(of, at)) + chains_ones(of, at, 0);
    unsigned room = (unsigned)of.shape->room[0];
    for (unsigned part = 1; part < 3 && load > room && of.shape->pool[part] != 0; part++) {
        at = chains_extension(of, at, part);
        load += chains_ones(of, at, part);
        room += (unsigned)of.shape->room[part];
    }
    return load;
}

/* ------------------------------------------------------------------ a chain */

/* A cell on the way down a chain: the `rank`-th of the `size` cells of a level. */
typedef struct chains_step {
    unsigned start, size, rank;
} chains_step;

TAMIS_INLINE chains_step chains_first(uint64_t base, unsigned chain) {
    return (chains_step){ 0, bits_popcount(base), bits_rank(base, chain) };
}

TAMIS_INLINE unsigned chains_at_step(const chains_step *step) {
    return step->start + step->rank;
}

/* Go on to the level below, to the place of the chain's next cell. Is there such a cell? */
TAMIS_INLINE bool chains_next(chains of, uint64_t at, chains_step *step) {
    uint64_t const level = chains_index(of, at, step->start, step->size);
    bool const     has_next = (level >> step->rank) & 1;
    *step = (chains_step){ step->start + step->size, bits_popcount(level),
                           bits_rank(level, step->rank) };
    return has_next && step->start + step->size <= CHAINS_MAX_CELLS; /* whatever the bytes */
}

TAMIS_INLINE uint64_t chains_remainder(chains of, uint64_t cell) {
    return field_get(of.body, cell, (unsigned)of.shape->remainder_bits);
}

/* Is there a cell with the remainder in the chain? */
TAMIS_INLINE bool chains_hold(chains of, const chains_place *place) {
    uint64_t const base = chains_base(of, place->at);
    if (((base >> place->chain) & 1) == 0) return false;
    chains_step step = chains_first(base, place->chain);
    do {
        uint64_t const cell = chains_cell(of, place->at, chains_at_step(&step));
        if (chains_remainder(of, cell) == place->remainder) return true;
    } while (chains_next(of, place->at, &step));
    return false;
}

/* ------------------------------------------------------------------ cells come and go */

/* The end of a chain. */
typedef struct chains_end {
    unsigned length;       /* cells of the chain */
    unsigned last, before; /* the last of them, and the one before it */
    unsigned next;         /* where one more would go */
} chains_end;

/* The pieces of the higher index, or of the cells, of a bucket with `load` cells. */
TAMIS_INLINE parts chains_parts(chains of, uint64_t at, unsigned load, bool is_index) {
    const uint64_t *const offset = is_index ? of.shape->index : of.shape->cells;
    parts                 all = { .bits = is_index ? 1 : (unsigned)of.shape->cell_bits };
    unsigned              first = 0;
    for (unsigned part = 0; part < 3 && (part == 0 || load > first); part++) {
        if (part != 0) at = chains_extension(of, at, part);
        all.at[part] = at + offset[part];
        all.room[part] = (unsigned)of.shape->room[part];
        first += all.room[part];
    }
    return all;
}

/* The extension that begins with cell `load`; 0: none does. */
TAMIS_INLINE unsigned chains_border(const chains_shape *shape, unsigned load) {
    if (shape->pool[1] != 0 && load == shape->room[0]) return 1;
    return shape->pool[2] != 0 && load == shape->room[0] + shape->room[1] ? 2 : 0;
}

TAMIS_INLINE void chains_set_pointer(chains of, uint64_t at, unsigned part, uint64_t value) {
    if (part == 2) at = chains_extension(of, at, 1);
    field_set(of.body, at + of.shape->pointer[part - 1], (unsigned)of.shape->pointer_bits[part - 1],
              value);
}

/* Room for one more cell behind `load` others: false if there is none. A free extension is looked
 * for near where this bucket's would be if every bucket had one. */
TAMIS_INLINE bool chains_make_room(chains of, const chains_place *place, unsigned load) {
    if (load >= chains_room(of.shape)) return false;
    unsigned const part = chains_border(of.shape, load);
    if (part == 0) return true;
    uint64_t const n = of.shape->pool[part];
    uint64_t const wanted = fastrange(place->bucket * (UINT64_MAX / of.shape->buckets), n);
    uint64_t const taken = pool_take(of.body, of.shape->used[part], n, wanted);
    if (taken == POOL_NONE) return false;
    chains_set_pointer(of, place->at, part, taken + 1);
    return true;
}

/* Give back the extension that begins with cell `load`, the first that is not in use. */
TAMIS_INLINE void chains_give_room(chains of, uint64_t at, unsigned load) {
    unsigned const part = chains_border(of.shape, load);
    if (part == 0) return;
    uint64_t const before = part == 2 ? chains_extension(of, at, 1) : at;
    uint64_t const which = chains_pointer(of, before, part);
    if (which == 0 || which > of.shape->pool[part]) return; /* never checked, and not to be */
    pool_give(of.body, of.shape->used[part], which - 1);
    chains_set_pointer(of, at, part, 0);
}

/* A new cell where part of the bucket is, or will be, in an extension. */
static __attribute__((noinline, unused)) bool chains_far_append(chains              of,
                                                                const chains_place *place,
                                                                const chains_end   *end,
                                                                uint64_t cell, unsigned load) {
    if (!chains_make_room(of, place, load)) return false;
    parts const index = chains_parts(of, place->at, load + 1, true);
    parts const cells = chains_parts(of, place->at, load + 1, false);
    parts_open(of.body, &index, end->next, load, 0);
    parts_open(of.body, &cells, end->next, load, cell);
    field_set_bit(of.body,
                  end->length == 0 ? place->at + place->chain : parts_at(&index, end->last), true);
    return true;
}

/* A new cell at the end of a chain. False: there is no room, and nothing has changed. */
TAMIS_INLINE bool chains_append(chains of, const chains_place *place, const chains_end *end,
                                uint64_t cell) {
    unsigned const load = chains_load(of, place->at), bits = (unsigned)of.shape->cell_bits;
    uint64_t const index = place->at + of.shape->index[0], cells = place->at + of.shape->cells[0];
    if (load >= of.shape->room[0]) return chains_far_append(of, place, end, cell, load);
    shift_open(of.body, index + end->next, index + load, 1);
    shift_open(of.body, cells + end->next * bits, cells + load * bits, bits);
    field_set(of.body, cells + end->next * bits, bits, cell);
    field_set_bit(of.body, end->length == 0 ? place->at + place->chain : index + end->last, true);
    return true;
}

/* Take a cell away where part of the bucket is in an extension. */
static __attribute__((noinline, unused)) void chains_far_delete(chains              of,
                                                                const chains_place *place,
                                                                const chains_end   *end,
                                                                unsigned hole, unsigned load) {
    if (load > chains_room(of.shape)) return; /* never checked, and not to be */
    parts const index = chains_parts(of, place->at, load, true);
    parts const cells = chains_parts(of, place->at, load, false);
    field_set(of.body, parts_at(&cells, hole), cells.bits,
              field_get(of.body, parts_at(&cells, end->last), cells.bits));
    field_set_bit(of.body,
                  end->length == 1 ? place->at + place->chain : parts_at(&index, end->before),
                  false);
    parts_close(of.body, &index, end->last, load);
    parts_close(of.body, &cells, end->last, load);
    chains_give_room(of, place->at, load - 1);
}

/* Take cell `hole` of a chain away: the last of the chain takes its place. */
TAMIS_INLINE void chains_delete(chains of, const chains_place *place, const chains_end *end,
                                unsigned hole) {
    unsigned const load = chains_load(of, place->at), bits = (unsigned)of.shape->cell_bits;
    uint64_t const index = place->at + of.shape->index[0], cells = place->at + of.shape->cells[0];
    if (load > of.shape->room[0]) {
        chains_far_delete(of, place, end, hole, load);
        return;
    }
    field_set(of.body, cells + hole * bits, bits,
              field_get(of.body, cells + end->last * bits, bits));
    field_set_bit(of.body, end->length == 1 ? place->at + place->chain : index + end->before,
                  false);
    shift_close(of.body, index + end->last, index + load, 1);
    shift_close(of.body, cells + end->last * bits, cells + load * bits, bits);
}

/* ------------------------------------------------------------------ checking */

/* Do the levels of the bucket add up, within the parts that it has, and is nothing marked or stored
 * behind them? Safe on any bytes; *ret_load is the cells in use. */
static __attribute__((unused)) bool chains_are_whole(chains of, uint64_t at, unsigned *ret_load) {
    unsigned const room = chains_room(of.shape);
    unsigned       load = 0, size = bits_popcount(chains_base(of, at));
    while (size != 0 && load + size <= room) {
        unsigned const below = bits_popcount(chains_index(of, at, load, size));
        load += size;
        size = below;
    }
    *ret_load = load;
    if (size != 0) return false;
    for (unsigned part = 0, first = 0; part < 3; first += (unsigned)of.shape->room[part++]) {
        bool const is_needed = part == 0 || (load > first && of.shape->pool[part] != 0);
        if (part != 0 && of.shape->pool[part] != 0) {
            uint64_t const which = chains_pointer(of, at, part);
            if (which > of.shape->pool[part] || (which != 0) != is_needed) return false;
        }
        if (!is_needed) return load <= first;
        if (part != 0) at = chains_extension(of, at, part);
        unsigned const used = (unsigned)min_u64(load - first, of.shape->room[part]);
        uint64_t const cells = at + of.shape->cells[part], index = at + of.shape->index[part];
        if (!field_is_zero(of.body, index + used, cells)) return false;
        if (!field_is_zero(of.body, cells + used * of.shape->cell_bits,
                           at + of.shape->record[part]))
            return false;
    }
    return true;
}

#endif
