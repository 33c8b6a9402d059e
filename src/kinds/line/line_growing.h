/* line_growing.h - how a table of lines becomes one of twice the lines.
 *
 * A line of the larger table has 62 chains, as every line, and its remainders are one bit shorter:
 * it has as many fingerprints as half a line had before. So the entries of a line go to two:
 *
 *     line b      chains 0 .. 30                           chains 31 .. 61
 *     becomes     line 2b, chain 2l + top bit              line 2b + 1, chain 2(l - 31) + top bit
 *
 * where l was the chain of an entry, and the top bit is that of its remainder. This is the print of
 * the entry read in other digits (lines_print_place), so it works between tables of any two sizes
 * that have the same number of prints, and in both directions.
 *
 * Worked example: line 5, chain 40, a remainder of 10 bits of which the byte is 0x85 and the other
 * two are 01. The top bit is 1, so it becomes chain 2 (40 - 31) + 1 = 19 of line 11. The remainder
 * has lost its top bit: its 9 bits are the byte 0x0a and one more bit, 1. Both are the print
 *
 *     (5 x 62 + 40) x 1024 + 0x85 x 4 + 1  =  (11 x 62 + 19) x 512 + 0x0a x 2 + 1  =  358933
 *
 * Room. If the attic is not smaller than before, everything finds room: what line b keeps is at
 * least kept by the two lines together, since each takes the first chains that fit, and these are
 * fewer. So their tails are together no longer than the tail of b; and two shelves hold at least
 * what one held.
 */
#ifndef TAMIS_KINDS_LINE_LINE_GROWING_H
#define TAMIS_KINDS_LINE_LINE_GROWING_H

#include "batches.h"
#include "line_split.h"
#include "size.h"

/* As many prints, in another number of lines: each doubling takes a bit from the remainder. A byte
 * of remainder must be left. Chains are always 62, so nothing else changes but the attic, which
 * depends on how many keys there will be. */
static bool line_scale(const uint64_t *g, int doublings, uint64_t *ret_fixed) {
    uint64_t const shrink = doublings < 0 ? UINT64_C(1) << -doublings : 1;
    int64_t const  bits = (int64_t)g[LINE_REMAINDER_BITS] - doublings;
    if (g[LINE_BUCKETS] % shrink != 0) return false;
    if (bits < LINE_BYTE_BITS || bits > LINE_MAX_REMAINDER_BITS) return false;
    memcpy(ret_fixed, g, LINE_FIELDS * sizeof *g);
    ret_fixed[LINE_BUCKETS] =
        doublings < 0 ? g[LINE_BUCKETS] / shrink : g[LINE_BUCKETS] << doublings;
    ret_fixed[LINE_REMAINDER_BITS] = (uint64_t)bits;
    ret_fixed[LINE_ATTIC] = NEED_FREE;
    return line_rest_bits(ret_fixed) <= LINE_MAX_REST_BITS;
}

/* The digits of a print, in a table of this shape. */
TAMIS_INLINE lines_place lines_print_place(const lines_shape *shape, uint64_t print) {
    unsigned const bits = (unsigned)shape->remainder_bits;
    uint64_t const chain = print >> bits;
    return (lines_place){ .bucket = chain / LINE_CHAINS,
                          .chain = (uint8_t)(chain % LINE_CHAINS),
                          .byte = (uint8_t)(print >> (bits - LINE_BYTE_BITS)),
                          .remainder = print & bits_low(bits - LINE_BYTE_BITS) };
}

/* ------------------------------------------------------------------ a whole bucket at once */

/* The entries that go to one bucket, in order, with keys and rests as they are in its table. */
typedef struct lines_load {
    uint64_t bucket;
    unsigned n;
    uint16_t key[LINES_MAX_ENTRIES];
    uint64_t rest[LINES_MAX_ENTRIES];
} lines_load;

/* Entries that the line keeps: the first chains that fit as a whole. */
static unsigned lines_kept(const lines_load *load) {
    unsigned kept = load->n;
    if (kept <= LINE_SLOTS) return kept;
    /* Go back from the first entry that has no slot to where its chain begins. */
    for (kept = LINE_SLOTS; kept != 0; kept--) {
        if ((load->key[kept] ^ load->key[kept - 1]) >> LINE_BYTE_BITS != 0) break;
    }
    return kept;
}

/* Fill an empty bucket in one pass, in which no entry moves another. False, and the bucket is still
 * empty: its tail finds no room. */
static bool lines_fill(lines_view lines, const lines_load *load) {
    shelf_view const shelves = lines_shelves(lines);
    uint8_t *const   line = lines_at(lines, load->bucket);
    unsigned const   kept = lines_kept(load), bits = lines_rest_bits(lines);
    unsigned const   beyond = load->n - kept;
    runs             index = { 0, UINT64_C(1) << kept };
    if (beyond > LINE_MAX_TAIL || !tail_has_room(&shelves, load->bucket, beyond)) return false;
    /* All chains are marked, those of the tail, too; a run begins where the chain changes.
     * LINE_CHAINS is no chain, so the first entry begins one. */
    for (unsigned i = 0, last = LINE_CHAINS; i < load->n; i++) {
        unsigned const chain = load->key[i] >> LINE_BYTE_BITS;
        index.occ |= UINT64_C(1) << chain;
        if (i < kept) index.starts |= (uint64_t)(chain != last) << i;
        last = chain;
    }
    for (unsigned i = 0; i < kept; i++) line[RUNS_AT + i] = (uint8_t)load->key[i];
    runs_store(line, index);
    if (bits != 0)
        rests_fill(lines.body, lines_rest_at(lines, load->bucket, 0), bits, load->rest, kept);
    for (unsigned i = kept; i < load->n; i++)
        tail_add(&shelves, load->bucket, load->key[i], load->rest[i]);
    return true;
}

/* Put the entries of a load into their bucket: at once if that is empty, or one by one. In a table
 * that becomes smaller several old buckets go to one, which is empty only for the first of them. */
static bool line_unload(lines_view to, const lines_load *load) {
    const lines_shape *const shape = to.shape;
    unsigned const           kept = (unsigned)(shape->counter_bits + shape->value_bits);
    if (load->n == 0) return true;
    if (runs_load(lines_at(to, load->bucket)).occ == 0) return lines_fill(to, load);
    for (unsigned i = 0; i < load->n; i++) {
        lines_place const place = { .bucket = load->bucket,
                                    .remainder = load->rest[i] >> kept,
                                    .chain = (uint8_t)(load->key[i] >> LINE_BYTE_BITS),
                                    .byte = (uint8_t)load->key[i] };
        lines_found const found = lines_look(to, &place);
        if (!lines_new_entry(to, &place, &found, load->rest[i])) return false;
    }
    return true;
}

/* Add the copies of a bucket to the counts of the table that they were carried to. */
static void line_count_carried(const line_shape *shape, const lines_list *list, tamis_table *to) {
    uint64_t copies = list->n;
    if (shape->lines.counter_bits != 0) {
        copies = 0;
        for (unsigned i = 0; i < list->n; i++) copies += rest_copies(&shape->lines, list->rest[i]);
        to->entries += list->n;
    }
    to->keys += copies;
    for (unsigned i = 0, n; shape->most > 1 && i < list->n; i += n)
        to->saturated += lines_list_copies(&shape->lines, list, i, &n) >= shape->most;
}

/* What an entry of a bucket has below its remainder, as it is in a bucket of the other table: a
 * counter; or a value and a timer. */
TAMIS_INLINE uint64_t line_carried(const tamis_table *from, uint64_t bucket, uint64_t kept,
                                   const tamis_table *to, uint64_t to_bucket) {
    const lines_shape *const shape = &line_shape_of(from)->lines;
    unsigned const           bits = (unsigned)shape->value_bits;
    if (bits == 0) return kept;
    uint64_t const counter = kept & bits_low((unsigned)shape->counter_bits);
    uint64_t const field = kept >> shape->counter_bits;
    uint64_t const state = state_converted(to, to_bucket, from, bucket, bits, field, sweep_carried);
    return counter | state << shape->counter_bits;
}

/* To a table of any size. The entries come in the order of prints, so those of one bucket come
 * together. False: there is no room. */
static bool line_carry_far(const tamis_table *from, uint64_t bucket, const lines_list *list,
                           const tamis_table *to) {
    const lines_shape *const shape = &line_shape_of(from)->lines;
    lines_view const         target = line_view(to);
    unsigned const           kept = (unsigned)(shape->counter_bits + shape->value_bits);
    lines_load               load = { .bucket = UINT64_MAX };
    for (unsigned i = 0; i < list->n; i++) {
        lines_place const place =
            lines_print_place(target.shape, lines_list_print(shape, bucket, list, i));
        if (place.bucket != load.bucket) {
            if (!line_unload(target, &load)) return false;
            load.bucket = place.bucket;
            load.n = 0;
        }
        load.key[load.n] = (uint16_t)lines_key(&place);
        uint64_t const lower = list->rest[i] & bits_low(kept);
        load.rest[load.n++] =
            place.remainder << kept | line_carried(from, bucket, lower, to, place.bucket);
    }
    return line_unload(target, &load);
}

/* To one of twice the lines, entry by entry: for lines that line_split.h cannot take. There is no
 * division for each entry: the top bit of the remainder in the rest becomes the lowest bit of the
 * key. Then the byte is one bit further, and the chain is 2l + top bit. From chain 62 on they go to
 * the second line. */
static bool line_carry_twice(const lines_shape *shape, uint64_t bucket, const lines_list *list,
                             lines_view target) {
    unsigned const top = (unsigned)shape->rest_bits - 1, second = LINE_CHAINS << LINE_BYTE_BITS;
    lines_load     load;
    unsigned       i = 0;
    for (unsigned half = 0; half < 2; half++) {
        load.bucket = 2 * bucket + half;
        load.n = 0;
        for (; i < list->n; i++) {
            unsigned const key = (unsigned)list->key[i] << 1 | (list->rest[i] >> top & 1);
            if (half == 0 && key >= second) break;
            /* A larger one, or one below 0, is only in a body that was not checked. */
            load.key[load.n] = (uint16_t)min_u64(key - half * second, LINES_LAST_KEY);
            load.rest[load.n++] = list->rest[i] & bits_low(top);
        }
        if (!line_unload(target, &load)) return false;
    }
    return true;
}

/* Three ways, the fastest that applies: a line without a tail becomes two empty lines by masks
 * (line_split.h); to a table of twice the lines, entry by entry; to a table of any size, by
 * prints. */
static tamis_status line_carry(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    const line_shape *const shape = line_shape_of(from);
    lines_view const        target = line_view(to);
    bool const              is_twice = target.shape->buckets == 2 * shape->lines.buckets;
    bool const is_plain = shape->lines.counter_bits == 0 && shape->lines.value_bits == 0;
    unsigned   n;
    lines_list list;
    if (is_twice && is_plain && lines_split(line_view(from), bucket, shape->most, target, &n)) {
        to->keys += n;
        return TAMIS_OK;
    }
    lines_gather(line_view(from), bucket, &list);
    bool const has_room = is_twice ? line_carry_twice(&shape->lines, bucket, &list, target)
                                   : line_carry_far(from, bucket, &list, to);
    if (!has_room) return TAMIS_ERR_FULL;
    line_count_carried(shape, &list, to);
    return TAMIS_OK;
}

/* Take the words of a bucket out of the attic: one by one, since others may come back to the places
 * that become free. */
static void line_empty_attic(tamis_table *table, uint64_t bucket) {
    shelf_view const shelves = lines_shelves(line_view(table));
    uint64_t         place;
    if (!tail_find(&shelves, bucket).may_go_on) return;
    while (tail_words(&shelves, bucket, 0, 0, &place) != 0) attic_take(&shelves.attic, place);
}

/* The bytes of lines, shelves and their rests that belong to buckets before this one. `bucket` is a
 * multiple of the group, or the number of all buckets, where each part ends where the next begins.
 * The attic belongs to no bucket. */
static unsigned line_spans(const tamis_table *table, uint64_t bucket, kind_span *ret_spans) {
    const lines_shape *const shape = &line_shape_of(table)->lines;
    lines_view const         lines = line_view(table);
    shelf_view const         shelves = lines_shelves(lines);
    bool const               is_all = bucket == shape->buckets;
    uint64_t const           shelf =
        is_all ? shape->words - shape->shelves : bucket / SHELF_BUCKETS * TAMIS_LINE_BYTES;
    uint64_t const slots = is_all ? shape->shelf_rests : lines_rest_at(lines, bucket, 0);
    uint64_t const on_shelf = is_all ? shape->word_rests : shelf_rest_at(&shelves, bucket, 0);
    ret_spans[0] = (kind_span){ 0, bucket * TAMIS_LINE_BYTES };
    ret_spans[1] = (kind_span){ shape->shelves, shape->shelves + shelf };
    ret_spans[2] = (kind_span){ shape->slot_rests / 8, slots / 8 };
    ret_spans[3] = (kind_span){ shape->shelf_rests / 8, on_shelf / 8 };
    return 4;
}

/* The attic first: the words of these buckets are found by way of their shelves. Then all their
 * bytes are zeroed: what the spans before `first + n` have more than those before `first`. */
static void line_wipe(tamis_table *table, uint64_t first, uint64_t n) {
    kind_span before[KIND_MAX_SPANS], after[KIND_MAX_SPANS];
    for (uint64_t bucket = first; bucket < first + n; bucket++) line_empty_attic(table, bucket);
    unsigned const spans = line_spans(table, first, before);
    (void)line_spans(table, first + n, after);
    for (unsigned i = 0; i < spans; i++) {
        memset(table->body + before[i].end, 0, (size_t)(after[i].end - before[i].end));
    }
}

/* Files do not store `entries`. Without counters it is `keys`, and is not kept. */
static uint64_t line_entries_now(const tamis_table *table) {
    return table->geometry[LINE_COUNTER_BITS] == 0 ? table->keys : table->entries;
}

static void line_recount(tamis_table *table) {
    const lines_shape *const shape = &line_shape_of(table)->lines;
    lines_list               list;
    table->entries = 0;
    for (uint64_t bucket = 0; bucket < shape->buckets && shape->counter_bits != 0; bucket++) {
        lines_gather(line_view(table), bucket, &list);
        table->entries += list.n;
    }
}

/* ------------------------------------------------------------------ memory of both tables */

TAMIS_INLINE line_sides line_two_sides(const kind_sides *sides) {
    return (line_sides){ { line_view(sides->table), line_view(sides->next) }, sides->boundary };
}

/* As line_fetch(), where each key may be in either table of a step. */
static void line_fetch_sides(const kind_sides *both, const uint64_t *hash, unsigned n,
                             bool is_update) {
    line_sides const sides = line_two_sides(both);
    bool const       has_values = both->table->values != 0;
    for (unsigned i = 0; i < n; i++) {
        lines_view const lines = line_side(&sides, hash[i]);
        uint64_t const   bucket = fastrange(hash[i], lines.shape->buckets);
        if (is_update)
            prefetch_to_write(lines_at(lines, bucket));
        else
            prefetch_to_read(lines_at(lines, bucket));
        if (is_update && !has_values && lines.shape->rest_bits != 0)
            lines_fetch_rests(lines, bucket);
    }
}

static const kind_growing line_growing = {
    .group = SHELF_BUCKETS,
    .scale = line_scale,
    .carry = line_carry,
    .wipe = line_wipe,
    .entries = line_entries_now,
    .recount = line_recount,
    .spans = line_spans,
    .fetch = line_fetch_sides,
};

#endif
