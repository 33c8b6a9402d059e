/* lines_list.h - all entries of a bucket of lines, in order: for work on whole tables.
 *
 * An entry may be in the line, on the shelf or in the attic. A list has them all in one array, in
 * the order of (chain, byte, rest), so that surveys, merges, sweeps and checks need not know where
 * they are. It is made anew for each bucket, on the stack.
 */
#ifndef TAMIS_KINDS_LINE_LINES_LIST_H
#define TAMIS_KINDS_LINE_LINES_LIST_H

#include "far.h"

#define LINES_MAX_ENTRIES (LINE_SLOTS + LINE_MAX_TAIL)

/* The entries of a bucket: first those of the line, then its tail. */
typedef struct lines_list {
    unsigned n;
    uint16_t key[LINES_MAX_ENTRIES];  /* chain << 8 | byte */
    uint64_t rest[LINES_MAX_ENTRIES]; /* see lines.h */
    uint64_t at[LINES_MAX_ENTRIES];   /* bit of the body where the rest is */
} lines_list;

/* The run that a slot belongs to is counted by the starts up to it. An index that has more runs
 * than chains is not valid (its file was opened without being checked); the list stops there. No
 * branch depends on where runs begin, which a processor cannot predict. */
static __attribute__((unused)) void lines_list_line(lines_view lines, uint64_t bucket,
                                                    lines_list *list) {
    const uint8_t *const line = lines_at(lines, bucket);
    runs const           index = runs_load(line);
    unsigned const       used = (unsigned)min_u64(runs_used(index), LINE_SLOTS);
    unsigned const       bits = (unsigned)lines.shape->rest_bits;
    uint64_t const       starts = index.starts & ~UINT64_C(1); /* the first run begins anyway */
    uint64_t const       at = lines_rest_at(lines, bucket, 0);
    uint64_t             chains = index.occ; /* from the chain of this slot on */
    unsigned             slot = 0;
    for (; slot < used; slot++) {
        /* At a start, the lowest chain is done: x & (x - 1) takes it away. Elsewhere x & x is x. */
        chains &= chains - (starts >> slot & 1);
        if (chains == 0) break;
        list->key[slot] = (uint16_t)(bits_lowest(chains) << LINE_BYTE_BITS | line[RUNS_AT + slot]);
        list->at[slot] = at + (uint64_t)slot * bits;
        list->rest[slot] = rest_get(lines.body, list->at[slot], bits);
    }
    list->n = slot;
}

/* The tail follows the line in the order of entries, so the list is sorted by (chain, byte,
 * rest). */
static __attribute__((unused)) void lines_gather(lines_view lines, uint64_t bucket,
                                                 lines_list *ret_list) {
    shelf_view const shelves = lines_shelves(lines);
    tail_entry       entry;
    lines_list_line(lines, bucket, ret_list);
    tail_cursor cursor = tail_begin(&shelves, bucket);
    while (ret_list->n < LINES_MAX_ENTRIES && tail_next(&shelves, &cursor, &entry)) {
        unsigned const i = ret_list->n++;
        ret_list->key[i] = (uint16_t)entry.key;
        ret_list->rest[i] = entry.rest;
        ret_list->at[i] = tail_rest_at(&shelves, bucket, &entry);
    }
}

/* The chain of entry i. It is below LINE_CHAINS whatever the bytes, so that it can index arrays. */
TAMIS_INLINE unsigned lines_list_chain(const lines_list *list, unsigned i) {
    return (unsigned)min_u64(list->key[i] >> LINE_BYTE_BITS, LINE_CHAINS - 1);
}

/* Copies of the fingerprint at entry i. *ret_entries: how many entries from i on have it. Entries
 * are sorted, so those of a fingerprint follow each other; i must be the first of them. */
static __attribute__((unused)) unsigned lines_list_copies(const lines_shape *shape,
                                                          const lines_list *list, unsigned i,
                                                          unsigned *ret_entries) {
    unsigned n = 1, copies = rest_copies(shape, list->rest[i]);
    while (i + n < list->n && list->key[i + n] == list->key[i] &&
           rest_remainder(shape, list->rest[i + n]) == rest_remainder(shape, list->rest[i])) {
        copies += rest_copies(shape, list->rest[i + n++]);
    }
    *ret_entries = n;
    return copies;
}

/* The fingerprint of entry i as one number: bucket, chain and remainder are its digits. It is one
 * of the table whatever the bytes, so that it can be stored in another table. */
static __attribute__((unused)) uint64_t lines_list_print(const lines_shape *shape, uint64_t bucket,
                                                         const lines_list *list, unsigned i) {
    uint64_t const chain = bucket * LINE_CHAINS + lines_list_chain(list, i);
    uint64_t const byte = list->key[i] & bits_low(LINE_BYTE_BITS);
    return chain << shape->remainder_bits | byte << (shape->remainder_bits - LINE_BYTE_BITS) |
           rest_remainder(shape, list->rest[i]);
}

TAMIS_INLINE lines_place lines_list_place(const lines_shape *shape, uint64_t bucket,
                                          const lines_list *list, unsigned i) {
    return (lines_place){ .bucket = bucket,
                          .remainder = rest_remainder(shape, list->rest[i]),
                          .chain = (uint8_t)lines_list_chain(list, i),
                          .byte = (uint8_t)list->key[i] };
}

/* The value with entry i, and its timer. */
TAMIS_INLINE uint64_t lines_list_field(const lines_shape *shape, const lines_list *list,
                                       unsigned i) {
    return list->rest[i] >> shape->counter_bits & bits_low((unsigned)shape->value_bits);
}

/* ------------------------------------------------------------------ merging */

/* The length of the tail that a bucket will have with the entries of `more` in it, where a
 * fingerprint has at most `most` copies. Only the sizes of chains matter: the line keeps the first
 * chains that fit, and everything else is the tail. */
static __attribute__((unused)) unsigned lines_joint_tail(lines_view into, uint64_t bucket,
                                                         const lines_list *more, uint64_t most) {
    const lines_shape *const shape = into.shape;
    unsigned                 size[LINE_CHAINS] = { 0 }, total = 0, kept = 0;
    lines_list               own;
    lines_gather(into, bucket, &own);
    for (unsigned i = 0; i < own.n; i++) size[lines_list_chain(&own, i)]++;
    for (unsigned i = 0, n; i < more->n; i += n) {
        lines_place const place = lines_list_place(shape, bucket, more, i);
        unsigned const    copies = lines_list_copies(shape, more, i, &n);
        unsigned const    had = lines_look(into, &place).copies;
        uint64_t const    sum = min_u64(had + copies, most);
        /* Without counters every copy is an entry; with them a fingerprint has one, whatever its
         * count. */
        size[place.chain] += shape->counter_bits == 0 ? (unsigned)sum - had : had == 0;
    }
    for (unsigned chain = 0; chain < LINE_CHAINS; chain++) total += size[chain];
    /* The line keeps whole chains, from the first on, as long as they fit: the rule of lines.h. */
    for (unsigned chain = 0; chain < LINE_CHAINS && kept + size[chain] <= LINE_SLOTS; chain++) {
        kept += size[chain];
    }
    return total - kept;
}

/* Is there room in `into` for all of another body of the same shape? What a body holds depends on
 * its contents only, so this is exact: the tails of the result, the shelves that they fill, and the
 * words that these send to the attic. No entry is moved for it. */
static __attribute__((unused)) bool lines_can_join(lines_view into, lines_view other,
                                                   uint64_t most) {
    const lines_shape *const shape = into.shape;
    uint64_t                 shelf = 0, sent = 0;
    lines_list               more;
    for (uint64_t bucket = 0; bucket < shape->buckets; bucket++) {
        lines_gather(other, bucket, &more);
        unsigned const tail = lines_joint_tail(into, bucket, &more, most);
        if (tail > LINE_MAX_TAIL) return false;
        shelf += tail;
        /* The last bucket of a shelf: what its 16 tails have beyond the places of the shelf goes to
         * the attic. */
        bool const is_end =
            bucket % SHELF_BUCKETS == SHELF_BUCKETS - 1 || bucket == shape->buckets - 1;
        if (!is_end) continue;
        sent += shelf > SHELF_KEYS ? shelf - SHELF_KEYS : 0;
        shelf = 0;
    }
    return sent <= shape->room;
}

/* ------------------------------------------------------------------ checking */

/* Is the line by itself valid: has it a chain for each run, and zeros in free slots and rests? */
static __attribute__((unused)) bool lines_index_is_whole(lines_view lines, uint64_t bucket) {
    const uint8_t *const line = lines_at(lines, bucket);
    runs const           index = runs_load(line);
    unsigned const       used = runs_used(index), bits = (unsigned)lines.shape->rest_bits;
    if (bits_popcount(index.occ) < runs_here(index)) return false;
    for (unsigned slot = used; slot < LINE_SLOTS; slot++) {
        if (line[RUNS_AT + slot] != 0) return false;
    }
    bool const     is_last = bucket + 1 == lines.shape->buckets;
    uint64_t const end = is_last ? lines.shape->shelf_rests : lines_rest_at(lines, bucket + 1, 0);
    return bits == 0 || field_is_zero(lines.body, lines_rest_at(lines, bucket, used), end);
}

/* Does entry i come behind the one before it, and begin a run just where the line has a start? */
TAMIS_INLINE bool lines_list_one_is_whole(runs index, const lines_list *list, unsigned i) {
    uint16_t const key = list->key[i], before = list->key[i - 1];
    bool const     is_new = key >> LINE_BYTE_BITS != before >> LINE_BYTE_BITS;
    if (key < before || (key == before && list->rest[i] < list->rest[i - 1])) return false;
    return i > runs_used(index) || (index.starts >> i & 1) == is_new;
}

/* Are the entries of a bucket in order, are just their chains marked as occupied, and is the line
 * cut where it must be: just before a chain that does not fit? */
static __attribute__((unused)) bool lines_list_is_whole(runs index, const lines_list *list) {
    unsigned const used = runs_used(index);
    uint64_t       seen = 0;
    unsigned       first_run = 0; /* entries of the first chain of the tail */
    for (unsigned i = 0; i < list->n; i++) {
        if (list->key[i] >> LINE_BYTE_BITS >= LINE_CHAINS) return false;
        if (i != 0 && !lines_list_one_is_whole(index, list, i)) return false;
        seen |= UINT64_C(1) << (list->key[i] >> LINE_BYTE_BITS);
    }
    while (used + first_run < list->n &&
           list->key[used + first_run] >> LINE_BYTE_BITS == list->key[used] >> LINE_BYTE_BITS) {
        first_run++;
    }
    /* What the line keeps and the first run of the tail together must be more than a line holds. */
    return seen == index.occ && list->n >= used &&
           (first_run == 0 || used + first_run > LINE_SLOTS);
}

#endif
