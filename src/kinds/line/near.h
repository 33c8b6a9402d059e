/* near.h - full and cut lines whose tails are completely on their shelf.
 *
 * far.h has the general form of these functions, for tails that continue in the attic. Used alone,
 * it takes two fifths of the time when keys are added to and removed from a full table. Nearly
 * always, less is enough. As long as the shelf is not full, the attic has no entries of its lines.
 * And runs move only between the end of a line and the front of its tail, since both are in the
 * order of chains:
 *
 *         line                           tail, on the shelf
 *     +---+---+---+---+---+          +---+---+---
 *     | 3 | 8 | 9 | 17| 17|   <--->  | 20| 20| 31 ...         numbers are chains
 *     +---+---+---+---+---+          +---+---+---
 *                  the last run      the first run
 *
 * So an update changes two cache lines, at places that need no search. The rests of a run are next
 * to each other, too, in the line and on the shelf: they move as one number. If this simple case
 * does not apply, the functions here return false, and the caller uses the general form.
 *
 * Bare tables (lines.h) have no rests; in functions for them the compiler leaves out what is for
 * rests.
 */
#ifndef TAMIS_KINDS_LINE_NEAR_H
#define TAMIS_KINDS_LINE_NEAR_H

#include "far.h"

/* The tail of a bucket that is completely on its shelf. */
typedef struct near_tail {
    uint8_t   *shelf;
    uint64_t   ones; /* as in shelf.h */
    shelf_part part; /* those of the bucket */
} near_tail;

/* The shelf of a bucket, its ones, and which keys are the bucket's. That the tail does not go on in
 * the attic is for the caller to check, each in its own way. */
TAMIS_INLINE near_tail near_find_tail(lines_view lines, uint64_t bucket) {
    uint8_t *const shelf =
        lines.body + lines.shape->shelves + bucket / SHELF_BUCKETS * TAMIS_LINE_BYTES;
    uint64_t const ones = shelf_ones(shelf);
    return (near_tail){ shelf, ones, shelf_find(ones, bucket) };
}

/* Is there room for n more entries, and is the attic not needed before or after? A shelf that is
 * full may have entries in the attic, even if n is 0. */
TAMIS_INLINE bool near_has_room(const near_tail *tail, unsigned n) {
    return shelf_used(tail->ones) + n <= SHELF_KEYS && shelf_used(tail->ones) < SHELF_KEYS;
}

/* Write the ones with n more for the bucket, before its zero. With the shelf that is drawn in
 * shelf.h, 2 more for bucket 0, whose zero is bit 2:
 *
 *     before    1 1 | 0 0 1 0         below: the ones before bit 2; above: the others
 *     after     1 1 | 1 1 | 0 0 1 0   above has moved up by 2 */
TAMIS_INLINE void near_more_ones(const near_tail *tail, unsigned n) {
    uint64_t const below = bits_below(tail->ones, tail->part.end), above = tail->ones ^ below;
    le64_store(tail->shelf, below | bits_low(n) << tail->part.end | above << n);
}

/* Put a key at place `at` of the shelf; the later ones move up. */
TAMIS_INLINE void near_put_key(const near_tail *tail, unsigned at, unsigned key) {
    slots_open(tail->shelf, SHELF_AT, 2, at);
    le16_store(tail->shelf + SHELF_AT + 2 * at, (uint16_t)key);
}

TAMIS_INLINE uint32_t near_match(const near_tail *tail, unsigned key, unsigned mask) {
    return shelf_match(tail->shelf, tail->part, key, mask);
}

/* ------------------------------------------------------------------ adds */

/* Can the rests of n entries be moved as one number? */
TAMIS_INLINE bool near_rests_fit(lines_view lines, unsigned n) {
    return n * lines_rest_bits(lines) <= FIELD_MAX_BITS;
}

/* The rests of near_push(). The run that leaves is the last of its line, so its rests are the last
 * of the row: they are read, written to the shelf, and zeroed. Then the row has room for the new
 * one. */
TAMIS_INLINE void near_push_rests(lines_view lines, uint64_t bucket, const near_tail *tail,
                                  const runs_last *last, unsigned slot, uint64_t rest) {
    if (lines_rest_bits(lines) == 0) return;
    shelf_view const shelves = lines_shelves(lines);
    rests_row const  here = lines_row(lines, bucket), there = shelf_row(&shelves, bucket);
    uint64_t const   moved = rests_get(&here, last->first, last->n);
    rests_insert(&there, tail->part.first, last->n, shelf_used(tail->ones), moved);
    rests_set(&here, last->first, last->n, 0);
    rests_insert(&here, slot, 1, last->first, rest);
}

/* Keys that can be put on a shelf in one step. slots_open_some() loads a half of the shelf from as
 * many bytes further down as it moves: below the first key there are eight, the ones of the shelf,
 * so four keys of two bytes. */
#define NEAR_MOST_AT_ONCE (SHELF_AT / 2)

/* Make room for `moved` keys on a shelf that is too full: its last keys go to the attic. They
 * belong to later buckets, since this is done only if the tail and the new keys end before the
 * shelf does; so no entry of this tail is in the attic. False, and nothing has changed: the tail
 * does not end there, or the attic has no room. */
static __attribute__((noinline)) bool near_make_room(lines_view lines, uint64_t bucket,
                                                     near_tail *tail, unsigned moved) {
    shelf_view const shelves = lines_shelves(lines);
    unsigned const   excess = shelf_used(tail->ones) + moved - SHELF_KEYS;
    if (tail->part.first + tail->part.n + moved > SHELF_KEYS ||
        !attic_has_room(&shelves.attic, excess))
        return false;
    for (unsigned i = 0; i < excess; i++) shelf_evict(&shelves, bucket);
    tail->ones = shelf_ones(tail->shelf);
    return true;
}

/* Add an entry to a full line, for a chain before the last one: the last run moves to the front of
 * the tail, and the entry goes to `slot`. This is what most adds to full lines are, so it is
 * written without a detour: nothing is looked for twice, and nothing is loaded again that was just
 * stored in other pieces, since a processor waits for that.
 *
 *     line     | ... b b c c | d d d |      50 slots; d is the last run, and n = 3
 *     shelf    | others before | tail of this bucket | others after | free |
 *
 *     1   room for n keys on the shelf; if need be, its last ones go to the attic
 *     2   n more ones in its index
 *     3   the rests: those of d go to the shelf and are zeroed here, then one is opened at the slot
 *     4   n places are opened at the front of the tail, and d is written there
 *     5   the slot is opened: everything after it moves up, d by one place; its last byte falls
 *         out of the line, and the other n - 1 are zeroed
 *     6   the index of the line */
TAMIS_INLINE bool near_push(lines_view lines, const lines_place *place, run mine, runs index,
                            const runs_last *last, unsigned slot, uint64_t rest) {
    uint8_t *const line = lines_at(lines, place->bucket);
    near_tail      tail = near_find_tail(lines, place->bucket);
    unsigned const n = last->n, at = SHELF_AT + 2 * tail.part.first;
    if (n > NEAR_MOST_AT_ONCE || !near_rests_fit(lines, n)) return false;
    if (shelf_used(tail.ones) + n > SHELF_KEYS && !near_make_room(lines, place->bucket, &tail, n))
        return false;
    near_more_ones(&tail, n);
    near_push_rests(lines, place->bucket, &tail, last, slot, rest);
    slots_open_some(tail.shelf, SHELF_AT, at, 2 * n);
    for (unsigned i = 0; i < n; i++) {
        unsigned const key = last->chain << LINE_BYTE_BITS | line[RUNS_AT + last->first + i];
        le16_store(tail.shelf + at + 2 * i, (uint16_t)key);
        TAMIS_SHORT_LOOP;
    }
    runs_open_slot(line, slot, place->byte); /* the last slot, which moved, is lost */
    for (unsigned i = 1; i < n; i++) {
        line[RUNS_AT + last->first + i] = 0;
        TAMIS_SHORT_LOOP;
    }
    /* last->starts is the index as if the last run had never been there. */
    index.starts = runs_grown(last->starts, mine.start, mine.is_occupied);
    index.occ |= UINT64_C(1) << place->chain;
    runs_store(line, index);
    return true;
}

/* Most adds to a line without a free slot are to a full one, for a chain before its last one, and
 * of a fingerprint that is not there yet: then the byte before its slot is another, as in
 * line_add_as(). False, and nothing has changed: it may be something else. */
TAMIS_INLINE bool near_push_new(lines_view lines, const lines_place *place, uint64_t rest) {
    uint8_t *const line = lines_at(lines, place->bucket);
    runs const     index = runs_load(line);
    run const      mine = runs_find(index, place->chain);
    if (!runs_are_full(index) || !run_is_here(mine)) return false;
    runs_last const last = runs_find_last(index);
    unsigned const  slot = lines_slot_after(line, place, mine);
    if (place->chain >= last.chain || line[RUNS_AT + slot - 1] == place->byte) return false;
    return near_push(lines, place, mine, index, &last, slot, rest);
}

/* Move the last run of a line to the front of its tail. The caller writes ones and index. */
TAMIS_INLINE void near_cut_last(uint8_t *line, const near_tail *tail, const runs_last *last) {
    for (unsigned i = 0; i < last->n; i++) {
        uint8_t *const byte = line + RUNS_AT + last->first + i;
        near_put_key(tail, tail->part.first + i, last->chain << LINE_BYTE_BITS | *byte);
        *byte = 0;
    }
}

/* As lines_far_insert(), in bare tables, with the three ways of lines_way (far.h). False, and
 * nothing has changed: the line has no run, or the shelf would be full. */
TAMIS_INLINE bool near_far_insert(lines_view lines, const lines_place *place, runs index,
                                  const near_tail *tail) {
    uint8_t *const line = lines_at(lines, place->bucket);
    unsigned const key = lines_key(place);
    if (runs_here(index) == 0) return false;
    runs_last const last = runs_find_last(index);
    lines_way const way = lines_way_of(index, place->chain, last.chain);
    unsigned const  moved = (way == LINES_FOLLOWS ? 0 : last.n) + (way != LINES_PUSHES);
    if (!near_has_room(tail, moved)) return false;
    near_more_ones(tail, moved);
    if (way == LINES_FOLLOWS) {
        near_put_key(tail, tail->part.first + shelf_below(tail->shelf, tail->part, key), key);
        runs_store(line, (runs){ index.occ | UINT64_C(1) << place->chain, index.starts });
        return true;
    }
    /* Where the entry belongs in its run is looked up before the run moves. */
    run const mine = runs_find(index, place->chain);
    uint64_t  not_after = runs_up_to(line, place->byte) & run_mask_here(mine);
    near_cut_last(line, tail, &last);
    index.starts = last.starts;
    if (way == LINES_PUSHES) {
        lines_insert(lines, place, mine, index, 0);
        return true;
    }
    near_put_key(tail, tail->part.first + bits_popcount(not_after), key);
    runs_store(line, index);
    return true;
}

/* ------------------------------------------------------------------ removals */

/* Remove n keys of the bucket from the shelf, from `at` on, and the last n of its ones: those just
 * below its zero. What is above moves down by n. The reverse of near_more_ones(). */
TAMIS_INLINE void near_take_keys(near_tail *tail, unsigned at, unsigned n) {
    uint64_t const below = bits_below(tail->ones, tail->part.end), above = tail->ones ^ below;
    for (unsigned i = 0; i < n; i++) slots_close(tail->shelf, SHELF_AT, 2, at);
    tail->part.n -= n;
    tail->part.end -= n;
    tail->ones = bits_below(below, tail->part.end) | above >> n;
    le64_store(tail->shelf, tail->ones);
}

/* The shelf was full before n keys left it: the first entries of its buckets in the attic, if there
 * are any, take their places. */
static __attribute__((noinline)) void near_recall(lines_view lines, uint64_t bucket, unsigned n) {
    shelf_view const shelves = lines_shelves(lines);
    for (unsigned i = 0; i < n; i++) shelf_recall(&shelves, bucket);
}

/* The length of the first run of a tail that is not empty: how many keys have the chain of the
 * first one. All of them are on the shelf, as the caller knows. */
TAMIS_INLINE unsigned near_first_run(const near_tail *tail) {
    unsigned const key = le16_load(tail->shelf + SHELF_AT + 2 * tail->part.first);
    return bits_popcount(near_match(tail, key, LINES_CHAIN_MASK));
}

/* The rests of near_take_run(). */
TAMIS_INLINE void near_take_rests(lines_view lines, uint64_t bucket, unsigned used,
                                  const near_tail *tail, unsigned n) {
    if (lines_rest_bits(lines) == 0) return;
    shelf_view const shelves = lines_shelves(lines);
    rests_row const  here = lines_row(lines, bucket), there = shelf_row(&shelves, bucket);
    rests_set(&here, used, n, rests_get(&there, tail->part.first, n));
    rests_remove(&there, tail->part.first, n, shelf_used(tail->ones));
}

/* Move the first n entries of a tail to the end of its line, which has `used` slots in use and room
 * for n more. The caller writes the starts. */
TAMIS_INLINE void near_take_run(lines_view lines, uint64_t bucket, unsigned used, near_tail *tail,
                                unsigned n) {
    uint8_t *const       line = lines_at(lines, bucket);
    const uint8_t *const first = tail->shelf + SHELF_AT + 2 * tail->part.first;
    near_take_rests(lines, bucket, used, tail, n);
    for (unsigned i = 0; i < n; i++) {
        line[RUNS_AT + used + i] = first[2 * i];
        TAMIS_SHORT_LOOP; /* n is 1 or 2 */
    }
    near_take_keys(tail, tail->part.first, n);
}

/* As lines_pull_back(): the first runs of the tail come back, as long as they fit as a whole.
 * False: the tail may go on in the attic, or the next run has too many rests to move at once. The
 * general form must go on.
 *
 * Of the index only the starts are read and written: the caller has just stored it as two words
 * that overlap, and a processor waits long to load bytes of both. */
TAMIS_INLINE bool near_pull_back(lines_view lines, uint64_t bucket) {
    uint8_t *const line = lines_at(lines, bucket);
    near_tail      tail = near_find_tail(lines, bucket);
    uint64_t       starts = runs_load_starts(line);
    unsigned const had = runs_used((runs){ 0, starts });
    bool const     was_full = shelf_used(tail.ones) == SHELF_KEYS;
    unsigned       used = had;
    bool           is_done = true;
    if (tail.part.first + tail.part.n == SHELF_KEYS) return false;
    /* By the test above, the keys of this bucket are not the last ones of a full shelf: so none of
     * them is in the attic. */
    while (tail.part.n != 0 && used < LINE_SLOTS) {
        unsigned const n = near_first_run(&tail);
        is_done = near_rests_fit(lines, n);
        if (used + n > LINE_SLOTS || !is_done) break;
        near_take_run(lines, bucket, used, &tail, n);
        used += n;
        starts |= UINT64_C(1) << used;
    }
    if (used == had) return is_done;
    runs_store_starts(line, starts);
    if (__builtin_expect(was_full, 0)) near_recall(lines, bucket, used - had);
    return is_done;
}

#endif
