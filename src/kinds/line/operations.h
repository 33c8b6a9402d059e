/* operations.h - adds, removals and counts of one key in a table of lines.
 *
 * Nearly all lookups and most updates need only their line: at capacity one line in six is cut, and
 * 1.7% of the keys are in tails (size.h). The functions here try that first, with few instructions.
 * The other keys, whose chain is in a tail or whose line is full, are handled by a general form
 * that is not inlined (docs/performance-experiments.md has the counts). Each function exists
 * twice: for any table, and for bare tables, which have no rests (lines.h). batches.h makes both
 * forms, and line.c says when each is used.
 *
 * Which function goes on when the line alone is not enough:
 *
 *                                any table            bare table
 *
 *     line_add_as()              only the line changes, and the byte before the slot is another
 *       line full, chain far     line_far_add()       line_far_add_bare()
 *         new, pushes a run        near_push_new()      near_push_new()
 *         all others               line_add_any()       line_join_bare(): near_far_insert(), and
 *                                                       line_add_any() if the shelf is full
 *       byte is there already    line_add_any()       counts the copies in the line, and goes on
 *     line_remove_as()           only the line changes
 *       chain far                line_far_remove()    line_far_remove_bare()
 *       line is cut              line_refill()        line_refill_bare()
 *
 * near.h and far.h have what these do to the line and its tail.
 */
#ifndef TAMIS_KINDS_LINE_OPERATIONS_H
#define TAMIS_KINDS_LINE_OPERATIONS_H

#include "line.h"
#include "near.h"

/* ------------------------------------------------------------------ a key at its place */

/* The general form, for keys that may be in a tail: look up all entries of a fingerprint, then
 * change them. Refused adds change nothing. */

/* Add a copy of a fingerprint: with counters, count one up if the fingerprint is there; else a new
 * entry. `entries` is kept only with counters: without, it is `keys` (kind_growing). */
static tamis_status line_add_at(tamis_table *table, const lines_place *place) {
    const line_shape *const shape = line_shape_of(table);
    lines_view const        lines = line_view(table);
    lines_found const       found = lines_look(lines, place);
    if (found.copies >= shape->most) return TAMIS_OK; /* stored once, or saturated */
    if (shape->lines.counter_bits != 0 && found.copies != 0) {
        lines_set_copies(lines, place, &found, found.copies + 1);
    } else if (!lines_new_entry(lines, place, &found,
                                rest_new(&shape->lines, place->remainder, 0))) {
        return TAMIS_ERR_FULL;
    }
    table->entries += shape->lines.counter_bits != 0 && found.copies == 0;
    table->keys++;
    table->saturated += found.copies + 1 == shape->most && shape->most > 1;
    return TAMIS_OK;
}

/* Code for full lines and for tails is not inlined, and gets the arguments that its caller has.
 * So the caller needs no stack frame: its last step is a jump to this code. Functions for ids count
 * their refusals (kind.h): is_id. */

static __attribute__((noinline)) tamis_status line_add_any(tamis_table *table, uint64_t hash,
                                                           bool is_id) {
    lines_place const  place = lines_find(line_view(table), hash);
    tamis_status const status = line_add_at(table, &place);
    table->refused_adds += is_id && status == TAMIS_ERR_FULL;
    return status;
}

/* The same for bare tables, if the shelf has room (near.h). The copies of a fingerprint are in the
 * line or on the shelf, never in both: so the sum of what both have is what one of them has. If the
 * shelf is full, some may be in the attic, which near_match() does not see. */
static __attribute__((noinline)) tamis_status line_join_bare(tamis_table *table, uint64_t hash,
                                                             bool is_id) {
    uint64_t const    most = line_shape_of(table)->most;
    lines_view const  lines = line_view_as(table, true);
    lines_place const place = lines_find(lines, hash);
    lines_here const  here = lines_look_here(lines, &place);
    near_tail const   tail = near_find_tail(lines, place.bucket);
    uint32_t const    there = near_match(&tail, lines_key(&place), LINES_KEY_MASK);
    unsigned const    copies = here.copies + bits_popcount(there);
    if (!near_has_room(&tail, 1)) return line_add_any(table, hash, is_id);
    if (copies >= most) return TAMIS_OK;
    if (!near_far_insert(lines, &place, here.index, &tail)) return line_add_any(table, hash, is_id);
    table->keys++;
    table->saturated += copies + 1 == most && most > 1;
    return TAMIS_OK;
}

/* A new fingerprint in a full line, for a chain before its last one: what most adds to full lines
 * are. False: it may be something else, and nothing has changed. */
TAMIS_INLINE bool line_push_new(tamis_table *table, uint64_t hash, bool is_bare) {
    lines_view const  lines = line_view_as(table, is_bare);
    lines_place const place = lines_find(lines, hash);
    if (!near_push_new(lines, &place, rest_new(lines.shape, place.remainder, 0))) return false;
    if (lines_counter_bits(lines) != 0) table->entries++;
    table->keys++;
    return true;
}

static __attribute__((noinline)) tamis_status line_far_add_bare(tamis_table *table, uint64_t hash,
                                                                bool is_id) {
    return line_push_new(table, hash, true) ? TAMIS_OK : line_join_bare(table, hash, is_id);
}

static __attribute__((noinline)) tamis_status line_far_add(tamis_table *table, uint64_t hash,
                                                           bool is_id) {
    return line_push_new(table, hash, false) ? TAMIS_OK : line_add_any(table, hash, is_id);
}

/* Remove a copy of a fingerprint, wherever it is: one less in its counter, or an entry. */
static tamis_status line_remove_at(tamis_table *table, const lines_place *place) {
    const line_shape *const shape = line_shape_of(table);
    lines_view const        lines = line_view(table);
    lines_found const       found = lines_look(lines, place);
    if (found.copies == 0) return TAMIS_ERR_ABSENT;
    if (found.copies >= shape->most) return TAMIS_ERR_SATURATED;
    if (shape->lines.counter_bits != 0 && found.copies > 1)
        lines_set_copies(lines, place, &found, found.copies - 1);
    else
        lines_take(lines, place, &found);
    table->entries -= shape->lines.counter_bits != 0 && found.copies == 1;
    table->keys--;
    return TAMIS_OK;
}

/* A removal from a tail, in any table. */
static __attribute__((noinline)) tamis_status line_far_remove(tamis_table *table, uint64_t hash,
                                                              bool is_id) {
    lines_place const  place = lines_find(line_view(table), hash);
    tamis_status const status = line_remove_at(table, &place);
    table->refused_removes += is_id && status == TAMIS_ERR_ABSENT;
    return status;
}

/* The same in a bare table whose shelf is not full: no entry of this bucket is in the attic, and an
 * entry is a key of the shelf, without a rest. So all copies are counted by one comparison. */
static __attribute__((noinline)) tamis_status line_far_remove_bare(tamis_table *table,
                                                                   uint64_t hash, bool is_id) {
    lines_view const  lines = line_view_as(table, true);
    lines_place const place = lines_find(lines, hash);
    uint8_t *const    line = lines_at(lines, place.bucket);
    runs              index = runs_load(line);
    near_tail         tail = near_find_tail(lines, place.bucket);
    if (!near_has_room(&tail, 0)) return line_far_remove(table, hash, is_id);
    uint32_t const same = near_match(&tail, lines_key(&place), LINES_KEY_MASK);
    uint32_t const chain = near_match(&tail, lines_key(&place), LINES_CHAIN_MASK);
    if (same == 0) {
        table->refused_removes += is_id;
        return TAMIS_ERR_ABSENT;
    }
    if (bits_popcount(same) >= line_shape_of(table)->most) return TAMIS_ERR_SATURATED;
    near_take_keys(&tail, bits_lowest(same), 1);
    /* One bit in `chain`: the key that goes was the only one of its chain, which is empty now. */
    index.occ &= ~((uint64_t)((chain & (chain - 1)) == 0) << place.chain);
    runs_store(line, index);
    table->keys--;
    (void)near_pull_back(lines, place.bucket); /* never false: the shelf is not full */
    return TAMIS_OK;
}

/* A slot of a cut line became free: entries of the tail may come back. It gets the hash, so that
 * the caller can jump here with the arguments that it has. */
TAMIS_INLINE tamis_status line_refill_as(tamis_table *table, uint64_t hash, bool is_bare) {
    lines_view const lines = line_view_as(table, is_bare);
    uint64_t const   bucket = fastrange(hash, lines.shape->buckets);
    if (!near_pull_back(lines, bucket)) lines_pull_back(lines.body, lines.shape, bucket);
    return TAMIS_OK;
}

static __attribute__((noinline)) tamis_status line_refill(tamis_table *table, uint64_t hash) {
    return line_refill_as(table, hash, false);
}

static __attribute__((noinline)) tamis_status line_refill_bare(tamis_table *table, uint64_t hash) {
    return line_refill_as(table, hash, true);
}

/* Add one entry for each copy of a fingerprint that has no counter; there are 8 at most. If they do
 * not all fit, those that were added are removed again: the body depends only on the contents, so
 * it is as before. */
static tamis_status line_add_entries_at(tamis_table *table, const lines_place *place,
                                        uint64_t copies) {
    uint64_t const had = lines_look(line_view(table), place).copies;
    uint64_t const wanted = min_u64(copies, sub_or_0(line_shape_of(table)->most, had));
    for (uint64_t added = 0; added < wanted; added++) {
        if (line_add_at(table, place) == TAMIS_OK) continue;
        while (added-- != 0) (void)line_remove_at(table, place);
        return TAMIS_ERR_FULL;
    }
    return TAMIS_OK;
}

/* Add this many copies, or those that saturate the fingerprint: with a counter, in one step. A new
 * entry is stored with its count at once: rest_new() has a counter of 0, which is one copy. */
static tamis_status line_add_copies_at(tamis_table *table, const lines_place *place,
                                       uint64_t copies) {
    const line_shape *const shape = line_shape_of(table);
    lines_view const        lines = line_view(table);
    if (shape->lines.counter_bits == 0) return line_add_entries_at(table, place, copies);
    lines_found const found = lines_look(lines, place);
    uint64_t const    room = sub_or_0(shape->most, found.copies); /* 0: it is saturated */
    unsigned const    sum = found.copies + (unsigned)min_u64(copies, room);
    if (found.copies != 0) {
        lines_set_copies(lines, place, &found, sum);
    } else if (!lines_new_entry(lines, place, &found,
                                rest_new(&shape->lines, place->remainder, 0) | (sum - 1))) {
        return TAMIS_ERR_FULL;
    }
    table->entries += found.copies == 0;
    table->keys += sum - found.copies;
    table->saturated += sum == shape->most && found.copies != sum;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ one key */

/* is_bare and is_id are constants of the function that inlines these: are its tables bare, and is
 * it for ids, so that it counts its refusals? */

/* Entries of a run are in the order of their bytes. So if the byte before the slot of the new entry
 * is another, its fingerprint is not there yet, and no further check is needed. If it is the same,
 * it may be a copy; or, if the slot is the first of its run, a byte of another chain or of the
 * index, and the same by chance: then the count below, or the general form, finds no copy. In a
 * bare table copies are counted at once: entries of the run with the same byte are copies. */
TAMIS_INLINE tamis_status line_add_as(tamis_table *table, uint64_t hash, bool is_bare, bool is_id) {
    lines_view const  lines = line_view_as(table, is_bare);
    lines_place const place = lines_find(lines, hash);
    uint8_t *const    line = lines_at(lines, place.bucket);
    runs const        index = runs_load(line);
    run const         mine = runs_find(index, place.chain);
    if (__builtin_expect(!run_is_here(mine) || runs_are_full(index), 0))
        return is_bare ? line_far_add_bare(table, hash, is_id) : line_far_add(table, hash, is_id);
    unsigned const slot = lines_slot_after(line, &place, mine);
    if (__builtin_expect(line[RUNS_AT + slot - 1] == place.byte, 0)) {
        if (!is_bare) return line_add_any(table, hash, is_id);
        uint64_t const most = line_shape_of(table)->most;
        unsigned const copies = bits_popcount(runs_match(line, place.byte) & run_mask_here(mine));
        if (copies >= most) return TAMIS_OK; /* stored once, or saturated */
        table->saturated += copies + 1 == most && most > 1;
    }
    lines_insert_at(lines, &place, mine, index, slot, rest_new(lines.shape, place.remainder, 0));
    if (lines_counter_bits(lines) != 0) table->entries++;
    table->keys++;
    return TAMIS_OK;
}

/* In a line that is cut, a slot that becomes free may call entries back from the tail. A chain that
 * is empty has a start and an end of 0, so its mask is 0, too: it needs no test of its own. */
TAMIS_INLINE tamis_status line_remove_as(tamis_table *table, uint64_t hash, bool is_bare,
                                         bool is_id) {
    lines_view const  lines = line_view_as(table, is_bare);
    lines_place const place = lines_find(lines, hash);
    const uint8_t    *line = lines_at(lines, place.bucket);
    runs const        index = runs_load(line);
    run const         mine = runs_find_occupied(index, place.chain);
    if (__builtin_expect(run_is_far(mine), 0))
        return is_bare ? line_far_remove_bare(table, hash, is_id)
                       : line_far_remove(table, hash, is_id);
    uint64_t const matches = runs_match(line, place.byte) & (mine.end - mine.start);
    uint64_t const slots = lines_with_rest(lines, &place, matches);
    unsigned const copies = lines_copies(lines, &place, slots);
    if (slots == 0) {
        table->refused_removes += is_id;
        return TAMIS_ERR_ABSENT;
    }
    if (copies >= line_shape_of(table)->most) return TAMIS_ERR_SATURATED;
    table->keys--;
    if (lines_counter_bits(lines) != 0 && copies > 1) {
        lines_count_here(lines, &place, slots, copies - 1);
        return TAMIS_OK;
    }
    if (lines_counter_bits(lines) != 0) table->entries--;
    runs const now =
        lines_delete(lines, place.bucket, place.chain, mine, index, bits_lowest(slots));
    if (__builtin_expect(!runs_are_cut(now), 1)) return TAMIS_OK;
    return is_bare ? line_refill_bare(table, hash) : line_refill(table, hash);
}

/* The maximum stands for "so many, or more": a saturated fingerprint has lost count. */
static uint64_t line_count(const tamis_table *table, uint64_t hash) {
    lines_place const place = lines_find(line_view(table), hash);
    unsigned const    copies = lines_look(line_view(table), &place).copies;
    return copies >= line_shape_of(table)->most ? TAMIS_COUNT_MANY : copies;
}

static tamis_status line_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    lines_place const place = lines_find(line_view(table), hash);
    return line_add_copies_at(table, &place, copies);
}

/* With a counter, in one step; without one there are 8 entries at most. */
static tamis_status line_remove_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    const line_shape *const shape = line_shape_of(table);
    lines_view const        lines = line_view(table);
    lines_place const       place = lines_find(lines, hash);
    lines_found const       found = lines_look(lines, &place);
    if (found.copies >= shape->most) return TAMIS_ERR_SATURATED;
    if (found.copies < copies) return TAMIS_ERR_ABSENT;
    if (shape->lines.counter_bits != 0 && found.copies > copies) {
        lines_set_copies(lines, &place, &found, found.copies - (unsigned)copies);
        table->keys -= copies;
        return TAMIS_OK;
    }
    if (shape->lines.counter_bits != 0 && copies > 1) {
        lines_set_copies(lines, &place, &found, 1);
        table->keys -= copies - 1;
        copies = 1;
    }
    for (; copies != 0; copies--) (void)line_remove_at(table, &place);
    return TAMIS_OK;
}

#endif
