/* lines_list.h - all entries of a bucket of lines, in order: for what goes through whole tables.
 */
#ifndef TAMIS_KINDS_LINE_LINES_LIST_H
#define TAMIS_KINDS_LINE_LINES_LIST_H

#include "lines.h"

#define LINES_MAX_ENTRIES (RUNS_SLOTS + LINES_MAX_TAIL)

/* The entries of a bucket in order: the line, then its tail. */
typedef struct lines_list {
    unsigned n;
    uint16_t key[LINES_MAX_ENTRIES];
    uint64_t rest[LINES_MAX_ENTRIES];
} lines_list;

static __attribute__((unused)) void lines_gather(lines of, uint64_t bucket, lines_list *ret_list) {
    const uint8_t *const line = lines_at(of, bucket);
    shelves const        all = lines_shelves(of);
    runs const           index = runs_load(line);
    unsigned const       used = (unsigned)min_u64(runs_used(index), RUNS_SLOTS);
    uint64_t             chains = index.occ;
    tail_entry           entry;
    ret_list->n = 0;
    for (unsigned slot = 0; slot < used && chains != 0; slot++) {
        if (slot != 0 && (index.starts >> slot & 1) != 0) chains &= chains - 1;
        if (chains == 0) break; /* more runs than chains: not a line of ours */
        ret_list->key[ret_list->n] =
            (uint16_t)(bits_lowest(chains) << LINES_BYTE_BITS | line[RUNS_AT + slot]);
        ret_list->rest[ret_list->n++] = lines_rest(of, bucket, slot);
    }
    tail_cursor cursor = tail_begin(&all, bucket);
    while (ret_list->n < LINES_MAX_ENTRIES && tail_next(&all, &cursor, &entry)) {
        ret_list->key[ret_list->n] = (uint16_t)entry.key;
        ret_list->rest[ret_list->n++] = entry.rest;
    }
}

/* The chain of entry i; one that there is, whatever the bytes. */
TAMIS_INLINE unsigned lines_list_chain(const lines_list *list, unsigned i) {
    return (unsigned)min_u64(list->key[i] >> LINES_BYTE_BITS, RUNS_CHAINS - 1);
}

/* The fingerprint at entry i of a list: how many copies, and over how many entries. */
static __attribute__((unused)) unsigned
lines_list_copies(const lines_shape *s, const lines_list *list, unsigned i, unsigned *ret_entries) {
    unsigned n = 1, copies = rest_copies(s, list->rest[i]);
    while (i + n < list->n && list->key[i + n] == list->key[i] &&
           rest_remainder(s, list->rest[i + n]) == rest_remainder(s, list->rest[i])) {
        copies += rest_copies(s, list->rest[i + n++]);
    }
    *ret_entries = n;
    return copies;
}

static __attribute__((unused)) uint64_t lines_list_print(const lines_shape *s, uint64_t bucket,
                                                         const lines_list *list, unsigned i) {
    uint64_t const chain = bucket * RUNS_CHAINS + (list->key[i] >> LINES_BYTE_BITS);
    uint64_t const byte = list->key[i] & bits_low(LINES_BYTE_BITS);
    return chain << s->remainder_bits | byte << (s->remainder_bits - LINES_BYTE_BITS) |
           rest_remainder(s, list->rest[i]);
}

/* Where entry i of a bucket belongs. */
TAMIS_INLINE lines_place lines_list_place(const lines_shape *s, uint64_t bucket,
                                          const lines_list *list, unsigned i) {
    return (lines_place){ .bucket = bucket,
                          .remainder = rest_remainder(s, list->rest[i]),
                          .chain = (uint8_t)lines_list_chain(list, i),
                          .byte = (uint8_t)list->key[i] };
}

/* The value with entry i. */
TAMIS_INLINE uint64_t lines_list_field(const lines_shape *s, const lines_list *list, unsigned i) {
    return list->rest[i] >> s->counter_bits & bits_low((unsigned)s->value_bits);
}

/* ------------------------------------------------------------------ joining */

/* Entries of the tail that a bucket will have with `more` in it, where a fingerprint has at most
 * `most` copies. */
static __attribute__((unused)) unsigned lines_joint_tail(lines into, uint64_t bucket,
                                                         const lines_list *more, uint64_t most) {
    const lines_shape *const s = into.shape;
    unsigned                 size[RUNS_CHAINS] = { 0 }, total = 0, kept = 0;
    lines_list               own;
    lines_gather(into, bucket, &own);
    for (unsigned i = 0; i < own.n; i++) size[lines_list_chain(&own, i)]++;
    for (unsigned i = 0, n; i < more->n; i += n) {
        lines_place const place = lines_list_place(s, bucket, more, i);
        unsigned const    copies = lines_list_copies(s, more, i, &n);
        unsigned const    had = lines_look(into, &place).copies;
        uint64_t const    sum = min_u64(had + copies, most);
        size[place.chain] += s->counter_bits == 0 ? (unsigned)sum - had : had == 0;
    }
    for (unsigned chain = 0; chain < RUNS_CHAINS; chain++) total += size[chain];
    for (unsigned chain = 0; chain < RUNS_CHAINS && kept + size[chain] <= RUNS_SLOTS; chain++) {
        kept += size[chain];
    }
    return total - kept;
}

/* Would all of `from` find room in a table of the same shape? */
static __attribute__((unused)) bool lines_can_join(lines into, lines from, uint64_t most) {
    const lines_shape *const s = into.shape;
    uint64_t                 shelf = 0, sent = 0;
    lines_list               more;
    for (uint64_t bucket = 0; bucket < s->buckets; bucket++) {
        lines_gather(from, bucket, &more);
        unsigned const tail = lines_joint_tail(into, bucket, &more, most);
        if (tail > LINES_MAX_TAIL) return false;
        shelf += tail;
        bool const is_end = bucket % SHELF_BUCKETS == SHELF_BUCKETS - 1 || bucket == s->buckets - 1;
        if (!is_end) continue;
        sent += shelf > SHELF_KEYS ? shelf - SHELF_KEYS : 0;
        shelf = 0;
    }
    return sent <= s->room;
}

/* ------------------------------------------------------------------ checking */

/* Is the line by itself one of ours? */
static __attribute__((unused)) bool lines_index_is_whole(lines of, uint64_t bucket) {
    const uint8_t *const line = lines_at(of, bucket);
    runs const           index = runs_load(line);
    unsigned const       used = runs_used(index), bits = (unsigned)of.shape->rest_bits;
    if (bits_popcount(index.occ) < runs_here(index)) return false;
    for (unsigned slot = used; slot < RUNS_SLOTS; slot++) {
        if (line[RUNS_AT + slot] != 0) return false;
    }
    return bits == 0 || field_is_zero(of.body, lines_rest_at(of, bucket, used),
                                      lines_rest_at(of, bucket, RUNS_SLOTS));
}

/* Does entry i of a bucket stand behind the one before it, and begin a run just where the line has
 * a start? */
TAMIS_INLINE bool lines_list_one_is_whole(runs index, const lines_list *list, unsigned i) {
    uint16_t const key = list->key[i], before = list->key[i - 1];
    bool const     is_new = key >> LINES_BYTE_BITS != before >> LINES_BYTE_BITS;
    if (key < before || (key == before && list->rest[i] < list->rest[i - 1])) return false;
    return i > runs_used(index) || (index.starts >> i & 1) == is_new;
}

/* The entries of a bucket: in order, of the chains that are marked, cut where they must be. */
static __attribute__((unused)) bool lines_list_is_whole(runs index, const lines_list *list) {
    unsigned const used = runs_used(index);
    uint64_t       seen = 0;
    unsigned       first_run = 0; /* entries of the first chain of the tail */
    for (unsigned i = 0; i < list->n; i++) {
        if (list->key[i] >> LINES_BYTE_BITS >= RUNS_CHAINS) return false;
        if (i != 0 && !lines_list_one_is_whole(index, list, i)) return false;
        seen |= UINT64_C(1) << (list->key[i] >> LINES_BYTE_BITS);
    }
    while (used + first_run < list->n &&
           list->key[used + first_run] >> LINES_BYTE_BITS == list->key[used] >> LINES_BYTE_BITS) {
        first_run++;
    }
    return seen == index.occ && list->n >= used &&
           (first_run == 0 || used + first_run > RUNS_SLOTS);
}

#endif
