/* copies.h - how many copies of a fingerprint a bucket of chains holds (chains.h).
 *
 * A cell is:
 *
 *     low bit                                          high bit
 *     +------------------+---------------------+---------+
 *     | remainder        | copies less 1       | value   |
 *     +------------------+---------------------+---------+
 *       remainder_bits     counter_bits (C)      value_bits
 *
 * The index says which cells there are, so no value is lost to "empty", and a cell stands for 1 to
 * 2^C copies. A fingerprint with more takes a second cell in its chain, and so on; at most one of
 * its cells is not full. Two consequences: k copies take ceil(k / 2^C) cells; and keys that have at
 * most 2^C copies each never take more cells than there are keys, even where their fingerprints
 * collide.
 *
 * Worked example: C = 2, so that a cell counts to 4, and `copies` = 8 cells, so that 32 copies
 * saturate a fingerprint. One that was added 6 times has two cells in its chain, of 4 and 2 copies,
 * whose counter fields are 3 and 1. One removal leaves 4 and 1, the next one deletes the
 * second cell, and from then on the first one is counted down.
 */
#ifndef TAMIS_KINDS_RANK_COPIES_H
#define TAMIS_KINDS_RANK_COPIES_H

#include "chains.h"

TAMIS_INLINE unsigned copies_get(chains_view chains, uint64_t cell) {
    return 1 + (unsigned)field_get(chains.body, cell + chains.shape->remainder_bits,
                                   (unsigned)chains.shape->counter_bits);
}

TAMIS_INLINE void copies_set(chains_view chains, uint64_t cell, unsigned copies) {
    field_set(chains.body, cell + chains.shape->remainder_bits,
              (unsigned)chains.shape->counter_bits, copies - 1);
}

/* Cells that this many copies take: copies / 2^C, rounded up. */
TAMIS_INLINE unsigned copies_cells(const chains_shape *shape, uint64_t copies) {
    return (unsigned)((copies + bits_low((unsigned)shape->counter_bits)) >> shape->counter_bits);
}

/* ------------------------------------------------------------------ one fingerprint */

/* The result of following a chain to its end: where the end is, and which cells of a fingerprint
 * there are. */
typedef struct copies_trail {
    chains_end end;
    unsigned   cells, copies; /* cells with the remainder, and copies that they stand for */
    unsigned   match;         /* one of those cells: the one that is not full, if there is one */
    unsigned   match_copies;
} copies_trail;

/* One walk down the chain gives everything that add, remove and count need: how many copies there
 * are, which cell to change, and where a cell would be appended or removed. The whole chain is read
 * even if the remainder is found early, since its end is needed. */
TAMIS_INLINE copies_trail copies_follow(chains_view chains, const chains_place *place) {
    uint64_t const base = chains_base(chains, place->at);
    chains_step    step = chains_first(base, place->chain);
    copies_trail   trail = { .end.next = step.rank };
    if (((base >> place->chain) & 1) == 0) return trail;
    do {
        unsigned const i = chains_at_step(&step);
        uint64_t const cell = chains_cell(chains, place->at, i);
        trail.end.before = trail.end.last;
        trail.end.last = i;
        trail.end.length++;
        if (chains_remainder(chains, cell) != place->remainder) continue;
        unsigned const copies = copies_get(chains, cell);
        bool const     is_emptier = trail.cells == 0 || copies < trail.match_copies;
        if (is_emptier) trail.match = i;
        if (is_emptier) trail.match_copies = copies;
        trail.cells++;
        trail.copies += copies;
    } while (chains_next(chains, place->at, &step));
    /* The last step has gone to where the next cell of the chain would be. */
    trail.end.next = chains_at_step(&step);
    return trail;
}

/* Does one copy more take another cell? Yes, if there is none, or if the emptiest one is full: has
 * 2^C copies. */
TAMIS_INLINE bool copies_need_cell(const chains_shape *shape, const copies_trail *trail) {
    return trail->cells == 0 || trail->match_copies >> shape->counter_bits != 0;
}

/* One copy more. False, and nothing has changed: it takes another cell, and there is no room. */
TAMIS_INLINE bool copies_up(chains_view chains, const chains_place *place,
                            const copies_trail *trail) {
    if (copies_need_cell(chains.shape, trail))
        return chains_append(chains, place, &trail->end, place->remainder);
    copies_set(chains, chains_cell(chains, place->at, trail->match), trail->match_copies + 1);
    return true;
}

/* This many copies more, a cell at a time. False: there is no room for all of them, and some may
 * have been added. */
static __attribute__((unused)) bool copies_add(chains_view chains, const chains_place *place,
                                               unsigned copies) {
    unsigned const full = 1u << chains.shape->counter_bits;
    while (copies != 0) {
        copies_trail const trail = copies_follow(chains, place);
        bool const         is_new = trail.cells == 0 || trail.match_copies == full;
        unsigned const     had = is_new ? 0 : trail.match_copies;
        unsigned const     now = (unsigned)min_u64((uint64_t)had + copies, full);
        uint64_t const     counter = (uint64_t)(now - 1) << chains.shape->remainder_bits;
        if (is_new && !chains_append(chains, place, &trail.end, place->remainder | counter))
            return false;
        if (!is_new) copies_set(chains, chains_cell(chains, place->at, trail.match), now);
        copies -= now - had;
    }
    return true;
}

/* One copy less of a fingerprint that has some. */
TAMIS_INLINE void copies_down(chains_view chains, const chains_place *place,
                              const copies_trail *trail) {
    /* `match` is the cell that is not full, if there is one. So afterwards, too, there is only one
     * (I4). */
    if (trail->match_copies == 1)
        chains_delete(chains, place, &trail->end, trail->match);
    else
        copies_set(chains, chains_cell(chains, place->at, trail->match), trail->match_copies - 1);
}

/* This many copies less of a fingerprint that has them, a cell at a time. */
static __attribute__((unused)) void copies_take(chains_view chains, const chains_place *place,
                                                uint64_t copies) {
    while (copies != 0) {
        copies_trail const trail = copies_follow(chains, place);
        unsigned const     n = (unsigned)min_u64(copies, trail.match_copies);
        if (n == trail.match_copies)
            chains_delete(chains, place, &trail.end, trail.match);
        else
            copies_set(chains, chains_cell(chains, place->at, trail.match), trail.match_copies - n);
        copies -= n;
    }
}

/* ------------------------------------------------------------------ all of a bucket */

/* A fingerprint of a bucket, and its cells and copies. */
typedef struct copies_entry {
    uint64_t remainder;
    unsigned copies, cells;
} copies_entry;

/* Add one cell to a list in increasing order of remainders. Returns the new length. */
TAMIS_INLINE unsigned copies_list(copies_entry *list, unsigned n, uint64_t remainder,
                                  unsigned copies) {
    /* By insertion: a chain has a cell or two as a rule. */
    unsigned at = n;
    while (at != 0 && list[at - 1].remainder > remainder) at--;
    if (at != 0 && list[at - 1].remainder == remainder) {
        list[at - 1].copies += copies;
        list[at - 1].cells++;
        return n;
    }
    memmove(list + at + 1, list + at, (n - at) * sizeof *list);
    list[at] = (copies_entry){ remainder, copies, 1 };
    return n + 1;
}

/* Returns false to stop. */
typedef bool copies_visit(void *context, const chains_place *place, const copies_entry *entry);

/* Visit every fingerprint of a bucket once, in increasing order: chains come in order, and the
 * cells of a chain are sorted first, since cells of a fingerprint need not be next to each
 * other. */
static __attribute__((unused)) bool copies_each(chains_view chains, uint64_t bucket,
                                                copies_visit *visit, void *context) {
    chains_place   place = { .bucket = bucket, .at = chains_bucket_at(chains.shape, bucket) };
    uint64_t const base = chains_base(chains, place.at);
    copies_entry   list[CHAINS_MAX_CELLS + 1];
    for (uint64_t left = base; left != 0; left &= left - 1) {
        place.chain = bits_lowest(left);
        chains_step step = chains_first(base, place.chain);
        unsigned    n = 0;
        do {
            uint64_t const cell = chains_cell(chains, place.at, chains_at_step(&step));
            n = copies_list(list, n, chains_remainder(chains, cell), copies_get(chains, cell));
        } while (chains_next(chains, place.at, &step));
        for (unsigned i = 0; i < n; i++) {
            place.remainder = list[i].remainder;
            if (!visit(context, &place, &list[i])) return false;
        }
    }
    return true;
}

#endif
