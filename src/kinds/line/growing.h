/* growing.h - how a table of lines becomes one of twice the lines.
 *
 * A line of the larger table has 62 chains, as every line, and its remainders are one bit shorter:
 * it has as many fingerprints as half a line had before. So the entries of a line go to two:
 *
 *     line b      chains 0 .. 30                           chains 31 .. 61
 *     becomes     line 2b, chain 2l + top bit              line 2b + 1, chain 2(l - 31) + top bit
 *
 * where l was the chain of an entry, and the top bit is that of its remainder. This is the print of
 * the entry read in other digits (lines_print_place), so it works between tables of any two sizes
 * that have as many prints, and in both directions.
 *
 * Room. If the attic is not smaller than before, everything finds room: what line b keeps is at
 * least kept by the two lines together, since each takes the first chains that fit, and these are
 * fewer. So their tails are together no longer than the tail of b; and two shelves hold at least
 * what one held.
 */
#ifndef TAMIS_KINDS_LINE_GROWING_H
#define TAMIS_KINDS_LINE_GROWING_H

#include "line.h"
#include "size.h"

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
    return (lines_place){ .bucket = chain / RUNS_CHAINS,
                          .chain = (uint8_t)(chain % RUNS_CHAINS),
                          .byte = (uint8_t)(print >> (bits - LINES_BYTE_BITS)),
                          .remainder = print & bits_low(bits - LINES_BYTE_BITS) };
}

/* Add an entry as it is: with its counter, its value and its timer, which are the lower bits of a
 * rest. */
static bool line_carry_entry(lines_view to, uint64_t print, uint64_t rest) {
    unsigned const    kept = (unsigned)(to.shape->counter_bits + to.shape->value_bits);
    lines_place const place = lines_print_place(to.shape, print);
    lines_found const found = lines_look(to, &place);
    return lines_new_entry(to, &place, &found, place.remainder << kept | (rest & bits_low(kept)));
}

static tamis_status line_carry(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    const line_shape *const shape = line_shape_of(from);
    lines_list              list;
    lines_gather(line_view(from), bucket, &list);
    for (unsigned i = 0, n; i < list.n; i += n) {
        unsigned const copies = lines_list_copies(&shape->lines, &list, i, &n);
        uint64_t const print = lines_list_print(&shape->lines, bucket, &list, i);
        for (unsigned j = i; j < i + n; j++) {
            if (!line_carry_entry(line_view(to), print, list.rest[j])) return TAMIS_ERR_FULL;
        }
        to->keys += copies;
        if (shape->lines.counter_bits != 0) to->entries += n;
        to->saturated += shape->most > 1 && copies >= shape->most;
    }
    return TAMIS_OK;
}

/* Take the counts of a bucket out of the table's, and its words out of the attic. */
static void line_discount(tamis_table *table, uint64_t bucket) {
    const line_shape *const shape = line_shape_of(table);
    shelf_view const        shelves = lines_shelves(line_view(table));
    lines_list              list;
    uint64_t                place;
    lines_gather(line_view(table), bucket, &list);
    for (unsigned i = 0, n; i < list.n; i += n) {
        unsigned const copies = lines_list_copies(&shape->lines, &list, i, &n);
        table->keys -= copies;
        if (shape->lines.counter_bits != 0) table->entries -= n;
        table->saturated -= shape->most > 1 && copies >= shape->most;
    }
    if (!tail_find(&shelves, bucket).may_go_on) return;
    while (tail_words(&shelves, bucket, 0, 0, &place) != 0) attic_take(&shelves.attic, place);
}

/* The bytes of lines, shelves and their rests that belong to buckets before this one. */
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

static void line_wipe(tamis_table *table, uint64_t first, uint64_t n) {
    kind_span before[KIND_MAX_SPANS], after[KIND_MAX_SPANS];
    for (uint64_t bucket = first; bucket < first + n; bucket++) line_discount(table, bucket);
    unsigned const spans = line_spans(table, first, before);
    (void)line_spans(table, first + n, after);
    for (unsigned i = 0; i < spans; i++) {
        memset(table->body + before[i].end, 0, (size_t)(after[i].end - before[i].end));
    }
}

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

static const kind_growing line_growing = {
    .group = SHELF_BUCKETS,
    .scale = line_scale,
    .carry = line_carry,
    .wipe = line_wipe,
    .entries = line_entries_now,
    .recount = line_recount,
    .spans = line_spans,
};

#endif
