/* rank_growing.h - how a table of chains becomes one of twice the buckets.
 *
 * A bucket of the larger table has as many chains, and its remainders are one bit shorter: it has
 * as many fingerprints as half a bucket had before. So the cells of a bucket go to two:
 *
 *     bucket b    chain l, top bit t of the remainder
 *     becomes     chain 2l + t of 2L: the first L are those of bucket 2b, the others of 2b + 1
 *
 * This is the print of the cell read in other digits (rank_print_place), so it works between tables
 * of any two sizes that have the same number of prints, and in both directions. L may be odd: then
 * the chain in the middle is cut in two.
 *
 * Worked example, with L = 64: bucket 3, chain 40, and a remainder of 10 bits, 1000000001. It
 * becomes chain 2 x 40 + 1 = 81 of 128, and so chain 17 of bucket 7, with a remainder of 9 bits,
 * 000000001. The print is the same: (3 x 64 + 40) x 2^10 + 513 = (7 x 64 + 17) x 2^9 + 1 = 238081.
 *
 * What the stages have in common. At its capacity a bucket has the same load at every stage. So its
 * cells, and those of its extensions, are as many at every stage: those that are best for the last
 * one. Only the numbers of extensions, J2 and J3, are planned again (size.c), in microseconds. That
 * is room enough: with as many keys for each bucket, fewer buckets have a shorter tail. It costs 1%
 * to 10% of the smallest tables, which would have larger buckets, and less from 10^5 keys on.
 *
 * Room. If J2 and J3 are not smaller than before, everything finds room: a bucket of at most Z1
 * cells becomes two such; and of the two that come from a larger one, only one can need an
 * extension, unless they have 2 Z1 + 2 cells together, more than twice the mean. Keys that are not
 * chosen on purpose do not fill a bucket like that. If there is no room after all (keys that are
 * added in the course of a step may have taken it), carry says _FULL, and grow.c tries later, or
 * with a table four times as large.
 *
 * The body is not canonical: the order of cells in a chain, and which extension a bucket has,
 * depend on the history. A table that has grown holds the same cells as one that was made at that
 * size, and answers as it does, but its bytes differ.
 */
#ifndef TAMIS_KINDS_RANK_RANK_GROWING_H
#define TAMIS_KINDS_RANK_RANK_GROWING_H

#include "rank.h"
#include "rank_split.h"
#include "size.h"

/* Buckets that are moved together, with 80 to 130 keys each: 20 to 40 us. Eight records begin and
 * end at a byte, whatever bits a record has. */
#define RANK_GROUP 8

/* As many prints in another number of buckets: each doubling takes a bit from the remainder. A
 * table is made smaller only if its buckets can be divided evenly. */
static bool rank_scale(const uint64_t *g, int doublings, uint64_t *ret_fixed) {
    uint64_t const shrink = doublings < 0 ? UINT64_C(1) << -doublings : 1;
    int64_t const  bits = (int64_t)g[RANK_REMAINDER_BITS] - doublings;
    if (g[RANK_BUCKETS] % shrink != 0 || bits < 1 || bits > RANK_MAX_CELL_BITS) return false;
    memcpy(ret_fixed, g, RANK_FIELDS * sizeof *g);
    ret_fixed[RANK_BUCKETS] = /* it does not wrap: buckets x 2^remainder_bits is below 2^64 */
        doublings < 0 ? g[RANK_BUCKETS] / shrink : g[RANK_BUCKETS] << doublings;
    ret_fixed[RANK_REMAINDER_BITS] = (uint64_t)bits;
    ret_fixed[RANK_EXTENSIONS2] = NEED_FREE;
    ret_fixed[RANK_EXTENSIONS3] = NEED_FREE;
    return ret_fixed[RANK_BUCKETS] <= RANK_MAX_BUCKETS &&
           rank_cell_bits(ret_fixed) <= RANK_MAX_CELL_BITS;
}

/* ------------------------------------------------------------------ to another table */

/* The digits of a print, in a table of this shape. */
TAMIS_INLINE chains_place rank_print_place(const chains_shape *shape, uint64_t print) {
    uint64_t const chain = print >> shape->remainder_bits, bucket = chain / shape->chains;
    return (chains_place){ .bucket = bucket,
                           .at = chains_bucket_at(shape, bucket),
                           .chain = (unsigned)(chain % shape->chains),
                           .remainder = print & bits_low((unsigned)shape->remainder_bits) };
}

/* What a cell of a bucket has above its remainder, as it is in a bucket of the other table: a
 * counter; or a value and a timer. */
TAMIS_INLINE uint64_t rank_carried(const tamis_table *from, uint64_t bucket, uint64_t upper,
                                   const tamis_table *to, uint64_t to_bucket) {
    const rank_shape *const shape = rank_shape_of(from);
    unsigned const          bits = (unsigned)shape->value_bits;
    if (bits == 0) return upper;
    unsigned const counter_bits = (unsigned)shape->chains.counter_bits;
    uint64_t const field =
        state_converted(to, to_bucket, from, bucket, bits, upper >> counter_bits, sweep_carried);
    return (upper & bits_low(counter_bits)) | field << counter_bits;
}

/* Add a cell of a bucket with its counter, its value and its timer: `upper` is what is above the
 * remainder. */
static bool rank_carry_cell(const tamis_table *from, uint64_t bucket, tamis_table *to,
                            uint64_t print, uint64_t upper) {
    const rank_shape *const shape = rank_shape_of(to);
    chains_place const      place = rank_print_place(&shape->chains, print);
    copies_trail const      trail = copies_follow(rank_view(to), &place);
    uint64_t const          carried = rank_carried(from, bucket, upper, to, place.bucket);
    uint64_t const          cell = place.remainder | carried << shape->chains.remainder_bits;
    uint64_t const          copies = 1 + (upper & bits_low((unsigned)shape->chains.counter_bits));
    if (!chains_append(rank_view(to), &place, &trail.end, cell)) return false;
    to->keys += copies;
    to->entries += rank_has_counters(to);
    to->saturated += shape->most > 1 && trail.copies + copies == shape->most;
    return true;
}

/* One by one: to any table, with anything in it. */
static tamis_status rank_carry_cells(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    chains_view const chains = rank_view(from);
    unsigned const    bits = (unsigned)chains.shape->remainder_bits;
    uint64_t const    at = chains_bucket_at(chains.shape, bucket), base = chains_base(chains, at);
    for (uint64_t left = base; left != 0; left &= left - 1) {
        unsigned const chain = bits_lowest(left);
        chains_step    step = chains_first(base, chain);
        do {
            uint64_t const cell =
                field_get(from->body, chains_cell(chains, at, chains_at_step(&step)),
                          (unsigned)chains.shape->cell_bits);
            uint64_t const print = rank_print(chains.shape, bucket, chain, cell & bits_low(bits));
            if (!rank_carry_cell(from, bucket, to, print, cell >> bits)) return TAMIS_ERR_FULL;
        } while (chains_next(chains, at, &step));
    }
    return TAMIS_OK;
}

/* Is it the common case: to twice the buckets, of which these two are empty, and no saturated print
 * to count? */
static bool rank_can_split(const tamis_table *from, uint64_t bucket, const tamis_table *to) {
    const chains_shape *const shape = &rank_shape_of(to)->chains;
    uint64_t const            at = chains_bucket_at(shape, 2 * bucket);
    return shape->buckets == 2 * from->geometry[RANK_BUCKETS] &&
           shape->chains == from->geometry[RANK_CHAINS] && from->saturated == 0 &&
           chains_base(rank_view(to), at) == 0 &&
           chains_base(rank_view(to), at + shape->record[0]) == 0;
}

/* The cells of a bucket in two halves. `twice` is the chain among 2L, as at the top of this file;
 * what is left of a cell closes up where the top bit of its remainder was. */
static void rank_split(chains_view chains, uint64_t bucket, split_half *ret_halves) {
    unsigned const bits = (unsigned)chains.shape->remainder_bits,
                   l = (unsigned)chains.shape->chains;
    uint64_t const at = chains_bucket_at(chains.shape, bucket), base = chains_base(chains, at);
    split_begin(&ret_halves[0]);
    split_begin(&ret_halves[1]);
    for (uint64_t left = base; left != 0; left &= left - 1) {
        chains_step step = chains_first(base, bits_lowest(left));
        do {
            uint64_t const cell =
                field_get(chains.body, chains_cell(chains, at, chains_at_step(&step)),
                          (unsigned)chains.shape->cell_bits);
            unsigned const twice = 2 * bits_lowest(left) + (cell >> (bits - 1) & 1);
            uint64_t const shorter = (cell & bits_low(bits - 1)) | cell >> bits << (bits - 1);
            split_add(&ret_halves[twice >= l], twice >= l ? twice - l : twice, shorter);
        } while (chains_next(chains, at, &step));
    }
}

/* Count the cells that have come. */
static void rank_count_half(tamis_table *to, const split_half *half) {
    const chains_shape *const shape = &rank_shape_of(to)->chains;
    uint64_t const            counter = bits_low((unsigned)shape->counter_bits);
    to->keys += half->n;
    if (counter == 0) return;
    to->entries += half->n;
    for (unsigned i = 0; i < half->n; i++)
        to->keys += half->cell[i] >> shape->remainder_bits & counter;
}

/* The prints of a bucket are cut in the middle: the lower half is bucket 2b of a table with twice
 * as many, the upper half 2b + 1. In the usual case the halves are written as a whole
 * (rank_split.h). */
static tamis_status rank_carry(const tamis_table *from, uint64_t bucket, tamis_table *to) {
    split_half halves[2];
    if (!rank_can_split(from, bucket, to)) return rank_carry_cells(from, bucket, to);
    rank_split(rank_view(from), bucket, halves);
    for (unsigned i = 0; i < 2; i++) {
        if (!split_write(rank_view(to), 2 * bucket + i, &halves[i])) return TAMIS_ERR_FULL;
        rank_count_half(to, &halves[i]);
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ out of this one */

/* Empty a bucket and its extensions, and give these back. The pointer to the next part is read
 * before the part that has it is cleared. They are shared by all buckets, so their memory is not
 * that of the group: it goes to the system when the step ends. */
static void rank_empty(chains_view chains, uint64_t at) {
    const chains_shape *const shape = chains.shape;
    for (unsigned part = 0;; part++) {
        uint64_t const which = part < 2 ? chains_pointer(chains, at, part + 1) : 0;
        uint64_t const next = part < 2 ? chains_extension(chains, at, part + 1) : 0;
        field_clear(chains.body, at, at + shape->record[part]);
        if (which == 0 || which > shape->pool[part + 1]) return;
        pool_give(chains.body, shape->used[part + 1], which - 1);
        at = next;
    }
}

static void rank_wipe(tamis_table *table, uint64_t first, uint64_t n) {
    chains_view const chains = rank_view(table);
    for (uint64_t bucket = first; bucket < first + n; bucket++)
        rank_empty(chains, chains_bucket_at(chains.shape, bucket));
}

/* The bytes of the records before this bucket. Extensions do not belong to a fixed bucket, so they
 * are not included. */
static unsigned rank_spans(const tamis_table *table, uint64_t bucket, kind_span *ret_spans) {
    ret_spans[0] = (kind_span){ 0, chains_bucket_at(&rank_shape_of(table)->chains, bucket) / 8 };
    return 1;
}

/* ------------------------------------------------------------------ cells in use */

/* How many cells are in use: grow.c compares that with the capacity, to begin a step in time. */
static uint64_t rank_entries_now(const tamis_table *table) {
    return rank_has_counters(table) ? table->entries : table->keys;
}

/* Files do not store `entries`. Without counters it is `keys`, and nothing need be counted. */
static void rank_recount(tamis_table *table) {
    const chains_shape *const shape = &rank_shape_of(table)->chains;
    table->entries = 0;
    for (uint64_t bucket = 0; bucket < shape->buckets && rank_has_counters(table); bucket++)
        table->entries += chains_load(rank_view(table), chains_bucket_at(shape, bucket));
}

static const kind_growing rank_growing = {
    .group = RANK_GROUP,
    .scale = rank_scale,
    .carry = rank_carry,
    .wipe = rank_wipe,
    .entries = rank_entries_now,
    .recount = rank_recount,
    .spans = rank_spans,
};

#endif
