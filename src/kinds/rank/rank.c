/* rank.c - rank-indexed hashing: chains without pointers, found by counting bits.
 *
 * Paper: N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom
 * Filters and Variants", ICNP 2008. Names below follow it: B buckets, L <= 64 chains in each, Z
 * cells, r bits of remainder, I0 the base index, IH the higher index, A the cells.
 *
 * Idea
 * ----
 * A hash is split into a bucket, a chain in it, and a remainder; only the remainder is stored. The
 * chains of a bucket need no pointers: their cells are packed level by level, and a bit for each
 * cell says whether its chain continues. So the position of a cell is a count of one bits
 * (chains.h).
 *
 *     hash -> [ bucket | chain | remainder ]
 *                  |       |         |
 *                  |       |         +-- stored in a cell of A (copies.h: with a counter, a value)
 *                  |       +------------ its rank in I0 is the position of its first cell
 *                  +-------------------- [ I0, L bits | pointer | IH, Z bits | A, Z cells ]
 *
 * Worked example, the first row of the paper's Table II: lambda = 0.64 keys for each chain, and r =
 * 6 bits. A key costs a bit of IH and r bits of remainder, and its share of I0 is 1 / lambda = 1.56
 * bits: 8.56 bits. The fpr is lambda / 2^r = 1%. Pointers, extensions and cells that stay empty
 * make the rest of the 10.5 bits that such a table takes (size.h).
 *
 * Buckets are not equally full. A full bucket continues in an extension of Z2 cells, and that in
 * one of Z3 cells, from two pools that all buckets share (size.h computes their sizes). When a pool
 * is exhausted, the add is refused. An extension is given back as soon as the bucket does not need
 * it.
 *
 * Why
 * ---
 * This is the smallest kind that can remove. A chain costs one bit where a hash table needs a
 * pointer, so chains can be short, and a fingerprint stores only the bits that do not follow from
 * its bucket and chain. Because of the extensions, room for the fullest buckets is shared by all of
 * them.
 *
 * Modes: how many copies of a fingerprint are distinguished (prints_plan.h chooses the mode).
 *   copies = 1           a set: a fingerprint is stored once, and there is no removal;
 *   copies = 2 to 8      a multiset: each copy is a cell, up to this many;
 *   counter_bits = C     a cell counts 1 to 2^C, then its chain gets a second, up to `copies`.
 * With copies x 2^C copies a fingerprint is saturated, and can no longer be removed.
 *
 * Layouts. Packed: no bit is wasted, and a bucket begins at any bit. Aligned: a bucket is one cache
 * line. A set that grows is packed: its buckets have fewer bits at each stage, so they could fill a
 * line at only one stage.
 *
 * Body: the buckets (I0, pointer to an extension or 0, IH, A), the extensions of level 2 (pointer,
 * IH, A), those of level 3 (IH, A), and a bit for each extension that is taken.
 *
 * Invariants (checked by rank_validate, whole.h)
 *   I1  the index bits of a bucket match its cells, and everything after the last cell is zero;
 *   I2  a bucket has an extension exactly when its cells need one, and each belongs to one bucket;
 *   I3  free extensions, and bits after the last part, are zero;
 *   I4  a fingerprint has at most `copies` cells, of which at most one is not full;
 *   I5  the counts of all cells sum up to `keys`, and `saturated` fingerprints have all copies;
 *   I6  in states, all values are below `values`;
 *   I7  in states, no timer is longer than that of a key which is touched now.
 */
#include "rank.h"
#include "chains_pools.h"
#include "core/checked.h"
#include "prints_plan.h"
#include "rank_growing.h"
#include "sharing.h"
#include "size.h"
#include "whole.h"

static_assert(RANK_COPIES == RANK_COUNTER_BITS + 1 && RANK_VALUE_BITS == RANK_COPIES + 1,
              "in the order of prints_plan()");
static_assert(RANK_MAX_CELLS <= CHAINS_MAX_CELLS && RANK_MAX_CELL_BITS <= FIELD_MAX_BITS, "limits");

/* ------------------------------------------------------------------ planning */

/* First how copies are told apart, then the layout, then the sizes: each step reads what the ones
 * before have filled in. Aligned buckets are faster; packed ones are smaller, and can grow. */
static tamis_status rank_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[RANK_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!prints_plan(need, RANK_MAX_COPIES, &g[RANK_COUNTER_BITS])) return TAMIS_ERR_CANNOT;
    if (g[RANK_ALIGNED] == NEED_FREE) g[RANK_ALIGNED] = need_is_fast(need) && !need->grows;
    if (!tamis_rank_choose(need, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, sizeof g);
    return TAMIS_OK;
}

static bool rank_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    rank_layout layout;
    if (!tamis_rank_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.end, 1, FIELD_PAD_BYTES, ret_bytes);
}

static unsigned rank_lacks(const uint64_t *g) {
    /* A fingerprint that is stored once may stand for several keys, so nothing can be removed.
     * Merging would have to decide between two values of a key. */
    bool const is_once = g[RANK_COPIES] == 1 && g[RANK_COUNTER_BITS] == 0;
    return (is_once ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0) |
           (g[RANK_VALUE_BITS] != 0 ? TAMIS_CAN_MERGE : 0);
}

/* Copies of a fingerprint that saturate it. */
static uint64_t rank_most(const uint64_t *g) {
    return g[RANK_COPIES] << g[RANK_COUNTER_BITS];
}

static void rank_predict(const uint64_t *g, const tamis_workload *work,
                         tamis_forecast *ret_forecast) {
    double const n = (double)work->capacity;
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_rank_fpr(g, n),
        .overflow = tamis_rank_overflow(g, work),
        .saturation = prints_saturation(tamis_rank_prints(g), rank_most(g), work),
    };
    tamis_rank_lines(g, n, &ret_forecast->lines_present, &ret_forecast->lines_absent,
                     &ret_forecast->lines_add);
}

/* The highest count that can be told from "saturated". */
static uint64_t rank_count_to(const uint64_t *g) {
    return rank_most(g) - 1;
}

/* The layout of size.h, whose levels 1 to 3 are the parts 0 to 2 of chains.h:
 *
 *                       part 0    part 1    part 2
 *     base index        yes
 *     pointer           yes       yes                 to the next part
 *     index and cells   yes       yes       yes
 *     from a pool                 yes       yes       with a bitmap of those in use
 */
static chains_shape rank_chains(const uint64_t *g, const rank_layout *layout) {
    chains_shape shape = { .buckets = g[RANK_BUCKETS],
                           .chains = g[RANK_CHAINS],
                           .cell_bits = rank_cell_bits(g),
                           .remainder_bits = g[RANK_REMAINDER_BITS],
                           .counter_bits = g[RANK_COUNTER_BITS] };
    for (unsigned part = 0; part < 3; part++) {
        uint64_t const head = part == 0 ? shape.chains : 0;
        uint64_t const bits = part < 2 ? rank_pointer_bits(g[RANK_EXTENSIONS2 + part]) : 0;
        shape.start[part] = layout->start[part + 1];
        shape.record[part] = layout->record[part + 1];
        shape.room[part] = g[RANK_CELLS + part];
        shape.index[part] = head + bits;
        shape.cells[part] = shape.index[part] + shape.room[part];
        if (part < 2) shape.pointer[part] = head;
        if (part < 2) shape.pointer_bits[part] = bits;
        if (part > 0) shape.pool[part] = g[RANK_EXTENSIONS2 + part - 1];
        if (part > 0) shape.used[part] = layout->used[part + 1];
    }
    return shape;
}

static void rank_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    rank_layout           layout;
    if (!tamis_rank_layout(g, &layout)) return; /* it will get no body either */
    rank_shape const shape = { .chains = rank_chains(g, &layout),
                               .value_bits = g[RANK_VALUE_BITS],
                               .most = rank_most(g) };
    memcpy(table->derived, &shape, sizeof shape);
}

/* ------------------------------------------------------------------ one key */

static STRIPE_READER bool rank_has(const tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return chains_hold(rank_view(table), &place);
}

/* `copies_follow` walks the chain once and brings back all that the next steps need: how many
 * copies there are, where the cell is that can count one more, and where the chain ends. */
static tamis_status rank_add_at(tamis_table *table, const chains_place *place) {
    uint64_t const     most = rank_shape_of(table)->most;
    copies_trail const trail = copies_follow(rank_view(table), place);
    if (trail.copies >= most) return TAMIS_OK; /* stored once, or saturated */
    if (!copies_up(rank_view(table), place, &trail)) return TAMIS_ERR_FULL;
    if (rank_has_counters(table))
        table->entries += copies_need_cell(&rank_shape_of(table)->chains, &trail);
    table->keys++;
    table->saturated += trail.copies + 1 == most && most > 1;
    return TAMIS_OK;
}

static tamis_status rank_add(tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return rank_add_at(table, &place);
}

/* As rank_add(), for a fingerprint that has no cell yet; one that has is not touched. A new cell
 * counts one copy: the fields above the remainder are 0. */
static tamis_status rank_add_new(tamis_table *table, uint64_t hash, bool *ret_is_new) {
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(rank_view(table), &place);
    *ret_is_new = trail.cells == 0;
    if (trail.cells != 0) return TAMIS_OK;
    if (!chains_append(rank_view(table), &place, &trail.end, place.remainder))
        return TAMIS_ERR_FULL;
    table->entries += rank_has_counters(table);
    table->keys++;
    return TAMIS_OK;
}

/* By I4 at most one cell of a fingerprint is not full: the copy is taken from that one. A cell
 * whose last copy goes is closed, and the last cell of its chain moves into the hole. */
static tamis_status rank_remove_copy(tamis_table *table, uint64_t hash, bool *ret_is_last) {
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(rank_view(table), &place);
    if (trail.cells == 0) return TAMIS_ERR_ABSENT;
    if (trail.copies >= rank_shape_of(table)->most) return TAMIS_ERR_SATURATED;
    copies_down(rank_view(table), &place, &trail);
    if (rank_has_counters(table)) table->entries -= trail.match_copies == 1;
    table->keys--;
    *ret_is_last = trail.copies == 1;
    return TAMIS_OK;
}

static tamis_status rank_remove(tamis_table *table, uint64_t hash) {
    bool is_last;
    return rank_remove_copy(table, hash, &is_last);
}

static STRIPE_READER uint64_t rank_count(const tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    unsigned const     copies = copies_follow(rank_view(table), &place).copies;
    return copies >= rank_shape_of(table)->most ? TAMIS_COUNT_MANY : copies;
}

/* ------------------------------------------------------------------ many copies of one key */

/* Add copies of a fingerprint, up to those that saturate it. False: there is no room for all of
 * them, and some may have been added. */
static bool rank_add_copies_at(tamis_table *table, const chains_place *place, uint64_t copies) {
    const rank_shape *const shape = rank_shape_of(table);
    copies_trail const      had = copies_follow(rank_view(table), place);
    uint64_t const          more = min_u64(copies, sub_or_0(shape->most, had.copies));
    if (!copies_add(rank_view(table), place, (unsigned)more)) return false;
    if (rank_has_counters(table))
        table->entries += copies_cells(&shape->chains, had.copies + more) - had.cells;
    table->keys += more;
    table->saturated += more != 0 && had.copies + more == shape->most && shape->most > 1;
    return true;
}

/* Check for room before the first cell is added, so that a refused add changes nothing. */
static tamis_status rank_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    chains_view const  chains = rank_view(table);
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(chains, &place);
    uint64_t const     most = rank_shape_of(table)->most;
    uint64_t const     more = min_u64(copies, sub_or_0(most, trail.copies));
    unsigned const     cells = copies_cells(chains.shape, trail.copies + more) - trail.cells;
    if (!chains_have_room(chains, place.at, cells)) return TAMIS_ERR_FULL;
    return rank_add_copies_at(table, &place, more) ? TAMIS_OK : TAMIS_ERR_FULL;
}

static tamis_status rank_remove_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    const rank_shape *const shape = rank_shape_of(table);
    chains_place const      place = rank_find(table, hash);
    copies_trail const      had = copies_follow(rank_view(table), &place);
    if (had.copies >= shape->most) return TAMIS_ERR_SATURATED;
    if (had.copies < copies) return TAMIS_ERR_ABSENT;
    copies_take(rank_view(table), &place, copies);
    if (rank_has_counters(table))
        table->entries -= had.cells - copies_cells(&shape->chains, had.copies - copies);
    table->keys -= copies;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ batches */

/* Keys in a chunk. The buckets of the next chunk are prefetched while this one is worked on. With
 * twice as many, a core has more cache misses under way than it can track, and all is a third
 * slower. */
#define RANK_CHUNK 16

/* Prefetch the buckets of the keys: their index for lookups, all of them for updates. */
static void rank_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    uint64_t const bytes = is_update ? rank_shape_of(table)->chains.record[0] / 8 : 1;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *const first = table->body + rank_find(table, hash[i]).at / 8;
        for (uint64_t byte = 0; byte < bytes; byte += TAMIS_LINE_BYTES) {
            prefetch_to_read(first + byte);
        }
    }
}

/* The indexes of these keys have arrived: prefetch the first cell of each chain, unless it is in
 * the line of the index anyway. */
static void rank_fetch_cells(const tamis_table *table, const uint64_t *hash, unsigned n) {
    chains_view const chains = rank_view(table);
    if (table->geometry[RANK_ALIGNED] != 0) return;
    for (unsigned i = 0; i < n; i++) {
        chains_place const place = rank_find(table, hash[i]);
        unsigned const     rank = bits_rank(chains_base(chains, place.at), place.chain);
        prefetch_to_read(table->body + chains_cell(chains, place.at, rank) / 8);
    }
}

static STRIPE_READER uint64_t rank_has_chunk(const tamis_table *table, const uint64_t *hash,
                                             unsigned n) {
    uint64_t found = 0;
    for (unsigned i = 0; i < n; i++) found |= (uint64_t)rank_has(table, hash[i]) << i;
    return found;
}

static void rank_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                             uint64_t *ret_counts) {
    for (unsigned i = 0; i < n; i++) ret_counts[i] = rank_count(table, hash[i]);
}

/* ------------------------------------------------------------------ fingerprints */

/* From copies_each(), which knows buckets, to a visitor that knows fingerprints. */
typedef struct rank_visit {
    const rank_shape *shape;
    kind_visit       *visit;
    void             *context;
} rank_visit;

/* A bucket is visited chain by chain, but within a chain in the order of its cells; copies_each()
 * sorts the remainders, so prints come in increasing order, as kind.h asks. */
static bool rank_visit_one(void *context, const chains_place *place, const copies_entry *entry) {
    const rank_visit *const job = context;
    uint64_t const          print =
        rank_print(&job->shape->chains, place->bucket, place->chain, entry->remainder);
    bool const is_many = job->shape->most > 1 && entry->copies >= job->shape->most;
    return job->visit(job->context, print, is_many ? TAMIS_COUNT_MANY : entry->copies);
}

/* Bucket by bucket, in the order of prints. */
static bool rank_each(const tamis_table *table, kind_visit *visit, void *context) {
    rank_visit     job = { rank_shape_of(table), visit, context };
    uint64_t const buckets = table->geometry[RANK_BUCKETS];
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        if (!copies_each(rank_view(table), bucket, rank_visit_one, &job)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ merging */

typedef struct rank_joint {
    tamis_table *into;
    unsigned     cells; /* that the bucket of `into` would have */
} rank_joint;

/* Count the cells that a fingerprint adds to a bucket of `into`. */
static bool rank_join_cells(void *context, const chains_place *place, const copies_entry *entry) {
    rank_joint *const       joint = context;
    const rank_shape *const shape = rank_shape_of(joint->into);
    copies_trail const      trail = copies_follow(rank_view(joint->into), place);
    uint64_t const          sum = min_u64(trail.copies + entry->copies, shape->most);
    /* Copies beyond the maximum are dropped: that fingerprint is saturated. */
    joint->cells += copies_cells(&shape->chains, sum) - trail.cells;
    return true;
}

/* Is there room for all of `from`? Buckets only grow during a merge, so if there is room for the
 * result, there is room for every step. */
static bool rank_can_join(tamis_table *into, const tamis_table *from) {
    const chains_shape *const shape = &rank_shape_of(into)->chains;
    uint64_t                  needed[3] = { 0 };
    for (uint64_t bucket = 0; bucket < shape->buckets; bucket++) {
        uint64_t const at = chains_bucket_at(shape, bucket);
        rank_joint     joint = { into, chains_load(rank_view(into), at) };
        copies_each(rank_view(from), bucket, rank_join_cells, &joint);
        if (joint.cells > chains_room(shape)) return false;
        /* A bucket of the result that has more cells than its own space needs an extension; the
         * pool is counted as if `into` had none, since its extensions are among these. */
        needed[1] += joint.cells > shape->room[0];
        needed[2] += joint.cells > shape->room[0] + shape->room[1];
    }
    return needed[1] <= shape->pool[1] && needed[2] <= shape->pool[2];
}

/* There is room: rank_can_join() said so. Only in a damaged table that was trusted there may be
 * none, and then the fingerprint is left out. */
static bool rank_join_one(void *context, const chains_place *place, const copies_entry *entry) {
    return rank_add_copies_at(((rank_joint *)context)->into, place, entry->copies);
}

/* All or nothing: rank_can_join() has counted before the first cell is added. Both tables have the
 * same buckets and chains, so bucket i of `from` goes to bucket i of `into`. */
static tamis_status rank_merge(tamis_table *into, const tamis_table *from) {
    if (!rank_can_join(into, from)) return TAMIS_ERR_FULL;
    rank_joint     joint = { .into = into };
    uint64_t const buckets = into->geometry[RANK_BUCKETS];
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        copies_each(rank_view(from), bucket, rank_join_one, &joint);
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the kind */

/* Buckets are packed: neighbours have words in common, and all of them share two pools. So one
 * change runs at a time. Lookups do not wait: they are safe in a body that has not been checked
 * (chains.h), and so also in one that is being changed. */
SHARE_ONE_LOCK(rank);

KIND_EXPORT(rank) = {
    .name = "rank",
    .summary = "rank-indexed hashing: the smallest that can remove",
    .isa = KIND_ISA,
    .fields = { { "buckets", 1, RANK_MAX_BUCKETS },
                { "chains", 1, RANK_MAX_CHAINS },
                { "remainder_bits", 1, RANK_MAX_CELL_BITS },
                { "cells", 1, RANK_MAX_CELLS },
                { "cells2", 0, RANK_MAX_CELLS - 1 },
                { "cells3", 0, RANK_MAX_CELLS - 2 },
                { "extensions2", 0, RANK_MAX_BUCKETS },
                { "extensions3", 0, RANK_MAX_BUCKETS },
                { "counter_bits", 0, RANK_MAX_COUNTER_BITS },
                { "copies", 1, RANK_MAX_COPIES },
                { "value_bits", 0, RANK_MAX_VALUE_BITS },
                { "aligned", 0, 1 },
                { NULL, 0, 0 } },
    .plan = rank_plan,
    .body_bytes = rank_body_bytes,
    .predict = rank_predict,
    .count_to = rank_count_to,
    .most_count = (UINT64_C(1) << RANK_MAX_COUNTER_BITS) - 1,
    .lacks = rank_lacks,
    .prepare = rank_prepare,
    .calls = {
        .has = rank_has,
        .add = rank_add,
        .remove = rank_remove,
        .remove_copy = rank_remove_copy,
        .count = rank_count,
        .add_new = rank_add_new,
        .add_copies = rank_add_copies,
        .remove_copies = rank_remove_copies,
        .has_chunk = rank_has_chunk,
        .count_chunk = rank_count_chunk,
        .fetch = rank_fetch,
        .fetch_more = rank_fetch_cells,
        .chunk = RANK_CHUNK,
    },
    .merge = rank_merge,
    .prints = tamis_rank_prints,
    .each = rank_each,
    .growing = &rank_growing,
    .sharing = &rank_sharing,
    .states = &KIND_STATES(rank),
    .survey = rank_survey,
    .validate = rank_validate,
    .empties_to_zero = true,
};
