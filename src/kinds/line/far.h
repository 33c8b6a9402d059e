/* far.h - entries that their line has no room for, and all entries of one fingerprint.
 *
 * This is the general form, for any tail: on the shelf, in the attic, or both. It keeps the rule of
 * lines.h: the line has the first chains, as many complete ones as fit, and the tail has the
 * others. near.h has a shorter form for the most common cases.
 */
#ifndef TAMIS_KINDS_LINE_FAR_H
#define TAMIS_KINDS_LINE_FAR_H

#include "lines.h"

/* ------------------------------------------------------------------ lines that are full */

/* Prefetch the shelf of a line that is cut or full: an update is likely to need it. For other
 * lines, the line itself is prefetched, which is in the cache already, so that no branch is needed.
 * (gcc makes one all the same. With masks instead, churn at full load is 1.05 times as fast, but
 * filling is 0.95 times as fast.) */
TAMIS_INLINE void lines_fetch_tail(lines_view lines, uint64_t bucket) {
    uint8_t *const   line = lines_at(lines, bucket);
    runs const       index = runs_load(line);
    shelf_view const shelves = lines_shelves(lines);
    bool const       is_needed = runs_are_cut(index) || runs_are_full(index);
    prefetch_to_write(is_needed ? shelf_line(&shelves, bucket) : line);
}

/* Move the whole last run of a line to the tail. There must be room. Its chain stays marked as
 * occupied: that, with fewer runs than marked chains, is how a lookup sees that it is elsewhere. */
static __attribute__((unused)) void lines_cut_last(lines_view lines, uint64_t bucket) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   line = lines_at(lines, bucket);
    runs             index = runs_load(line);
    runs_last const  last = runs_find_last(index);
    for (unsigned slot = last.first; slot < last.first + last.n; slot++) {
        tail_add(&shelves, bucket, last.chain << LINE_BYTE_BITS | line[RUNS_AT + slot],
                 lines_rest(lines, bucket, slot));
        line[RUNS_AT + slot] = 0;
        rest_set(lines.body, lines_rest_at(lines, bucket, slot), shelves.attic.rest_bits, 0);
    }
    index.starts = last.starts;
    runs_store(line, index);
}

/* Bring the first runs of the tail back into the line, as long as they fit as a whole. They come
 * after all runs of the line, since the tail has the later chains, so no slot moves. When a run is
 * back, the bit of the new end is one more start: runs and marked chains are counted by that. */
static __attribute__((noinline, unused)) void
lines_pull_back(uint8_t *body, const lines_shape *shape, uint64_t bucket) {
    lines_view const lines = { body, shape, false };
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   line = lines_at(lines, bucket);
    runs             index = runs_load(line);
    tail_entry       entry;
    while (runs_are_cut(index) && tail_first(&shelves, bucket, &entry)) {
        unsigned const used = runs_used(index), room = LINE_SLOTS - used;
        unsigned const n = tail_count(&shelves, bucket, entry.key, LINES_CHAIN_MASK);
        if (n == 0 || n > room) return; /* 0: the attic is not sorted, since it was not checked */
        for (unsigned i = 0; i < n && tail_first(&shelves, bucket, &entry); i++) {
            line[RUNS_AT + used + i] = (uint8_t)entry.key;
            rest_set(lines.body, lines_rest_at(lines, bucket, used + i), shelves.attic.rest_bits,
                     entry.rest);
            tail_remove(&shelves, bucket, &entry);
        }
        index.starts |= UINT64_C(1) << (used + n);
        runs_store(line, index);
    }
}

/* What happens to an entry for which the line has no free slot. In a line that had 5 slots, with
 * the numbers of the chains for its entries:
 *
 *     line 3 8 9 17 17    tail 20 20 31
 *
 *     add 8     PUSHES     line 3 8 8 9 .       tail 17 17 20 20 31      2 entries move to the tail
 *     add 17    JOINS      line 3 8 9 . .       tail 17 17 17 20 20 31   2 entries and the new one
 *     add 18    FOLLOWS    line 3 8 9 17 17     tail 18 20 20 31         the new one
 *
 * Each time the line keeps the first chains that fit as a whole: the next one has more entries than
 * the line has free slots. */
typedef enum lines_way {
    LINES_PUSHES, /* it goes into the line, and the last run, a later chain, moves to the tail */
    LINES_JOINS,  /* it belongs to the last run, and that does not fit any more: both to the tail */
    LINES_FOLLOWS /* its chain comes after all runs of the line: it alone goes to the tail */
} lines_way;

TAMIS_INLINE lines_way lines_way_of(runs index, unsigned chain, unsigned last_chain) {
    run const mine = runs_find(index, chain);
    if (!run_is_here(mine)) return LINES_FOLLOWS;
    if (chain < last_chain) return LINES_PUSHES;
    return chain == last_chain && mine.is_occupied ? LINES_JOINS : LINES_FOLLOWS;
}

/* Add an entry to a line that has no free slot, or to a chain that is in the tail. False, and
 * nothing has changed: the tail has no room for the entries that would move there. */
static __attribute__((noinline, unused)) bool
lines_far_insert(lines_view lines, const lines_place *place, uint64_t rest) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   line = lines_at(lines, place->bucket);
    runs             index = runs_load(line);
    bool const       has_runs = runs_here(index) != 0; /* not if they are all in the tail */
    runs_last const  last = has_runs ? runs_find_last(index) : (runs_last){ .n = 0 };
    lines_way const  way = lines_way_of(index, place->chain, last.chain);
    unsigned const   moved = (way == LINES_FOLLOWS ? 0 : last.n) + (way != LINES_PUSHES);
    if (tail_count(&shelves, place->bucket, 0, 0) + moved > LINE_MAX_TAIL ||
        !tail_has_room(&shelves, place->bucket, moved))
        return false;

    if (way != LINES_FOLLOWS) lines_cut_last(lines, place->bucket);
    index = runs_load(line);
    if (way == LINES_PUSHES) {
        lines_insert(lines, place, runs_find(index, place->chain), index, rest);
    } else {
        tail_add(&shelves, place->bucket, lines_key(place), rest);
        index.occ |= UINT64_C(1) << place->chain;
        runs_store(line, index);
    }
    return true;
}

/* ------------------------------------------------------------------ one fingerprint */

/* The entries of a fingerprint in the whole table. All of them are in one place, the line or the
 * tail, since a chain is never cut in two. */
typedef struct lines_found {
    unsigned   copies;
    lines_here here;   /* what its line has */
    bool       is_far; /* its chain is in the tail: */
    tail_entry entry;  /* its first entry there, if copies is not 0 */
} lines_found;

/* Look in the line first. Its index says whether the chain is there, in the tail, or empty; only
 * then is the tail searched. */
TAMIS_INLINE lines_found lines_look(lines_view lines, const lines_place *place) {
    lines_found found = { .here = lines_look_here(lines, place) };
    found.copies = found.here.copies;
    found.is_far = run_is_far(found.here.mine);
    if (__builtin_expect(found.is_far, 0)) {
        tail_entry entry; /* not found.entry itself, since its address would force it into memory */
        /* lines_far_find() counts entries: without counters, these are the copies. */
        if (lines_far_find(lines, place, &entry, &found.copies)) found.entry = entry;
        if (found.copies != 0 && lines_counter_bits(lines) != 0)
            found.copies = rest_copies(lines.shape, entry.rest);
    }
    return found;
}

/* Where in the body, in bits, the rest of a fingerprint is. The fingerprint was found before. */
TAMIS_INLINE uint64_t lines_found_rest(lines_view lines, const lines_place *place,
                                       const lines_found *found) {
    if (!found->is_far) return lines_rest_at(lines, place->bucket, bits_lowest(found->here.slots));
    shelf_view const shelves = lines_shelves(lines);
    return tail_rest_at(&shelves, place->bucket, &found->entry);
}

/* Store another number of copies in the counter of a fingerprint that was found. */
TAMIS_INLINE void lines_set_copies(lines_view lines, const lines_place *place,
                                   const lines_found *found, unsigned copies) {
    field_set(lines.body, lines_found_rest(lines, place, found),
              (unsigned)lines.shape->counter_bits, copies - 1);
}

/* Add an entry for a fingerprint that was looked up. False, and nothing has changed: there is no
 * room. */
TAMIS_INLINE bool lines_new_entry(lines_view lines, const lines_place *place,
                                  const lines_found *found, uint64_t rest) {
    bool const has_slot =
        run_is_here(found->here.mine) && runs_used(found->here.index) < LINE_SLOTS;
    if (__builtin_expect(!has_slot, 0)) return lines_far_insert(lines, place, rest);
    lines_insert(lines, place, found->here.mine, found->here.index, rest);
    return true;
}

/* Remove an entry of the tail. If it was the last of its chain, the chain is empty now. The tail
 * may now begin with a run that fits into its line, even if the line has not changed: the first run
 * of the tail has become shorter, or is gone. */
static __attribute__((noinline, unused)) void
lines_far_take(lines_view lines, const lines_place *place, tail_entry gone) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   line = lines_at(lines, place->bucket);
    runs             index = runs_load(line);
    tail_remove(&shelves, place->bucket, &gone);
    if (tail_count(&shelves, place->bucket, lines_key(place), LINES_CHAIN_MASK) == 0)
        index.occ &= ~(UINT64_C(1) << place->chain);
    runs_store(line, index);
    lines_pull_back(lines.body, lines.shape, place->bucket);
}

/* Remove one entry of a fingerprint. The fingerprint was found before. */
TAMIS_INLINE void lines_take(lines_view lines, const lines_place *place, const lines_found *found) {
    if (__builtin_expect(found->is_far, 0)) {
        lines_far_take(lines, place, found->entry);
        return;
    }
    runs const index = lines_delete(lines, place->bucket, place->chain, found->here.mine,
                                    found->here.index, bits_lowest(found->here.slots));
    if (__builtin_expect(runs_are_cut(index), 0))
        lines_pull_back(lines.body, lines.shape, place->bucket);
}

#endif
