/* bare.h - full and cut lines of bare tables (tables without rests), as long as their shelf has
 * room.
 *
 * lines.h has the general form of these functions, for entries with rests and for tails that
 * continue in the attic. It took two fifths of the time when keys are added to and removed from a
 * full table. Nearly always, less is enough. In a bare table an entry of a tail is only its 16-bit
 * key. As long as the shelf is not full, the attic has no entries of its lines. And runs move only
 * between the end of a line and the front of its tail, since both are in the order of chains:
 *
 *         line                           tail, on the shelf
 *     +---+---+---+---+---+          +---+---+---
 *     | 3 | 8 | 9 | 17| 17|   <--->  | 20| 20| 31 ...         numbers are chains
 *     +---+---+---+---+---+          +---+---+---
 *                  the last run      the first run
 *
 * So an update changes two cache lines, at places that need no search. If this simple case does not
 * apply, the functions here return false and have changed nothing; the caller then uses the general
 * form.
 */
#ifndef TAMIS_KINDS_LINE_BARE_H
#define TAMIS_KINDS_LINE_BARE_H

#include "lines.h"

/* The tail of a bucket that is completely on its shelf. */
typedef struct bare_tail {
    uint8_t   *shelf;
    uint64_t   ones; /* as in shelf.h */
    shelf_part part; /* those of the bucket */
} bare_tail;

TAMIS_INLINE bare_tail bare_find_tail(lines_view lines, uint64_t bucket) {
    uint8_t *const shelf =
        lines.body + lines.shape->shelves + bucket / SHELF_BUCKETS * TAMIS_LINE_BYTES;
    uint64_t const ones = shelf_ones(shelf);
    return (bare_tail){ shelf, ones, shelf_find(ones, bucket) };
}

/* Is there room for n more entries, and is the attic not needed before or after? */
TAMIS_INLINE bool bare_has_room(const bare_tail *tail, unsigned n) {
    return shelf_used(tail->ones) + n <= SHELF_KEYS && shelf_used(tail->ones) < SHELF_KEYS;
}

/* Write the ones with n more for the bucket, before its zero. */
TAMIS_INLINE void bare_more_ones(const bare_tail *tail, unsigned n) {
    uint64_t const below = bits_below(tail->ones, tail->part.end), above = tail->ones ^ below;
    le64_store(tail->shelf, below | bits_low(n) << tail->part.end | above << n);
}

TAMIS_INLINE void bare_put_key(const bare_tail *tail, unsigned at, unsigned key) {
    slots_open(tail->shelf, SHELF_AT, 2, at);
    le16_store(tail->shelf + SHELF_AT + 2 * at, (uint16_t)key);
}

TAMIS_INLINE uint32_t bare_match(const bare_tail *tail, unsigned key, unsigned mask) {
    return shelf_match(tail->shelf, tail->part, key, mask);
}

/* ------------------------------------------------------------------ adds */

/* The last run of a line. */
typedef struct bare_last {
    unsigned chain, first, n; /* its chain; its first slot; its slots */
    uint64_t starts;          /* those of the line without it: its start is the end then */
} bare_last;

/* The line must have a run. */
TAMIS_INLINE bare_last bare_find_last(runs index) {
    unsigned const used = runs_used(index);
    uint64_t const starts = index.starts ^ UINT64_C(1) << used;
    unsigned const first = 63 - (unsigned)__builtin_clzll(starts);
    unsigned const chain = bits_select(index.occ, runs_here(index) - 1) % 64;
    return (bare_last){ chain, first, used - first, starts };
}

/* Move the last run of a line to the front of its tail. The caller writes ones and index. */
TAMIS_INLINE void bare_cut_last(uint8_t *line, const bare_tail *tail, const bare_last *last) {
    for (unsigned i = 0; i < last->n; i++) {
        uint8_t *const byte = line + RUNS_AT + last->first + i;
        bare_put_key(tail, tail->part.first + i, last->chain << LINES_BYTE_BITS | *byte);
        *byte = 0;
    }
}

/* As lines_far_insert(). */
TAMIS_INLINE bool bare_far_insert(lines_view lines, const lines_place *place, runs index,
                                  const bare_tail *tail) {
    uint8_t *const line = lines_at(lines, place->bucket);
    unsigned const key = lines_key(place);
    if (runs_here(index) == 0) return false;
    bare_last const last = bare_find_last(index);
    lines_way const way = lines_way_of(index, place->chain, last.chain);
    unsigned const  moved = (way == LINES_FOLLOWS ? 0 : last.n) + (way != LINES_PUSHES);
    if (!bare_has_room(tail, moved)) return false;
    bare_more_ones(tail, moved);
    if (way == LINES_FOLLOWS) {
        bare_put_key(tail, tail->part.first + shelf_below(tail->shelf, tail->part, key), key);
        runs_store(line, (runs){ index.occ | UINT64_C(1) << place->chain, index.starts });
        return true;
    }
    run const mine = runs_find(index, place->chain);
    uint64_t  not_after = runs_up_to(line, place->byte) & run_mask_here(mine);
    bare_cut_last(line, tail, &last);
    index.starts = last.starts;
    if (way == LINES_PUSHES) {
        lines_insert(lines, place, mine, index, 0);
        return true;
    }
    bare_put_key(tail, tail->part.first + bits_popcount(not_after), key);
    runs_store(line, index);
    return true;
}

/* ------------------------------------------------------------------ removals */

/* Remove n keys of the bucket from the shelf, from `at` on, and the last of its ones. */
TAMIS_INLINE void bare_take_keys(bare_tail *tail, unsigned at, unsigned n) {
    uint64_t const below = bits_below(tail->ones, tail->part.end), above = tail->ones ^ below;
    for (unsigned i = 0; i < n; i++) slots_close(tail->shelf, SHELF_AT, 2, at);
    tail->part.n -= n;
    tail->part.end -= n;
    tail->ones = bits_below(below, tail->part.end) | above >> n;
    le64_store(tail->shelf, tail->ones);
}

/* As lines_pull_back(): the first runs of the tail come back, as long as they fit as a whole. */
TAMIS_INLINE bool bare_pull_back(lines_view lines, uint64_t bucket) {
    uint8_t *const line = lines_at(lines, bucket);
    runs           index = runs_load(line);
    bare_tail      tail = bare_find_tail(lines, bucket);
    if (!bare_has_room(&tail, 0)) return false;
    const uint8_t *const first = tail.shelf + SHELF_AT + 2 * tail.part.first;
    unsigned             used = runs_used(index);
    while (tail.part.n != 0 && used < RUNS_SLOTS) {
        unsigned const n = bits_popcount(bare_match(&tail, le16_load(first), LINES_CHAIN_MASK));
        if (n > RUNS_SLOTS - used) break;
        for (unsigned i = 0; i < n; i++) line[RUNS_AT + used + i] = first[2 * i];
        bare_take_keys(&tail, tail.part.first, n);
        used += n;
        index.starts |= UINT64_C(1) << used;
        runs_store(line, index);
    }
    return true;
}

#endif
