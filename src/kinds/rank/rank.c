/* rank.c - rank-indexed hashing: chains without pointers, found by counting bits.
 *
 * Paper: N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom
 * Filters and Variants", ICNP 2008. Names below: B buckets, L <= 64 chains in each, Z cells, r bits
 * of remainder, I0 the base index, IH the higher index, A the cells.
 *
 * Idea
 * ----
 * A hash is a bucket, a chain in it, and a remainder; only the remainder is stored. The chains of a
 * bucket need no pointers: their cells are packed level by level, and a bit beside each says
 * whether its chain goes on, so the place of a cell is a count of ones. chains.h shows how,
 * and copies.h how a cell counts.
 *
 * Buckets fill unevenly. One that is full goes on in an extension of Z2 cells, and that in one of
 * Z3, from two pools shared by all (size.h has their sizes). When a pool has none left
 * the add is refused. An extension goes back as soon as the bucket can do without.
 *
 * Modes: how many copies of a fingerprint are told apart.
 *   copies = 1           a set: a fingerprint is stored once, and there is no removal;
 *   counter_bits = 0     a multiset, when removal is asked for: each copy is a cell, up to 8;
 *   counter_bits = C     when counting is: a cell counts 1 to 2^C, then its chain gets a second.
 * With copies x 2^C of them a fingerprint is saturated, and stays.
 *
 * Layouts. Packed: no bit lost, a bucket begins anywhere. Aligned: a bucket is one cache line.
 *
 * Body: the buckets (I0, pointer to an extension or 0, IH, A), the extensions of level 2 (pointer,
 * IH, A), those of level 3 (IH, A), and a bit for each extension that is taken.
 *
 * Invariants (checked by rank_validate)
 *   I1  the levels of a bucket add up, and nothing is marked or stored behind them;
 *   I2  a bucket has an extension just when its cells need one, and each is taken by one bucket;
 *   I3  what is not taken is zero;
 *   I4  of one fingerprint there are at most `copies` cells, of which one may not be full;
 *   I5  the counts of all cells sum up to `keys`, and `saturated` fingerprints have all copies;
 *   I6  of states, all values are among those that there are.
 */
#include "rank.h"
#include "chains_pools.h"
#include "core/checked.h"
#include "prints_plan.h"
#include "size.h"

static_assert(RANK_COPIES == RANK_COUNTER_BITS + 1 && RANK_VALUE_BITS == RANK_COPIES + 1,
              "as prints_plan() has them");
static_assert(RANK_FREE == KIND_FREE && RANK_FIELDS <= TAMIS_MAX_FIELDS, "one mark, enough room");
static_assert(RANK_MAX_CELLS <= CHAINS_MAX_CELLS && RANK_MAX_CELL_BITS <= FIELD_MAX_BITS, "limits");

/* ------------------------------------------------------------------ planning */

static tamis_status rank_plan(const tamis_need *need, uint64_t *ret_geometry) {
    prints_mode const counting = { .counter_bits = 2, .copies = 4 };
    uint64_t          g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!prints_plan(need, counting, &g[RANK_COUNTER_BITS])) return TAMIS_ERR_CANNOT;
    if (g[RANK_ALIGNED] == KIND_FREE) g[RANK_ALIGNED] = need->prefer == TAMIS_PREFER_FAST;
    if (g[RANK_COPIES] < 1 || g[RANK_COPIES] > RANK_MAX_COPIES) return TAMIS_ERR_CANNOT;
    rank_need const want = { .n = (double)need->capacity,
                             .fpr = need->fpr,
                             .lifetime = (double)need->lifetime,
                             .overflow = need->overflow,
                             .prints = need->prints };
    if (!tamis_rank_choose(&want, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, RANK_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool rank_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    rank_layout layout;
    if (!tamis_rank_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.end, 1, FIELD_PAD_BYTES, ret_bytes);
}

static unsigned rank_lacks(const uint64_t *geometry) {
    unsigned const once = geometry[RANK_COPIES] == 1 ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    return once | (geometry[RANK_VALUE_BITS] != 0 ? TAMIS_CAN_MERGE : 0);
}

static void rank_predict(const uint64_t *geometry, uint64_t capacity, uint64_t lifetime,
                         tamis_forecast *ret_forecast) {
    double const   n = (double)capacity, cells = n + (double)(geometry[RANK_COPIES] - 1);
    double const   t = (double)lifetime;
    uint64_t const most = geometry[RANK_COPIES] << geometry[RANK_COUNTER_BITS];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_rank_fpr(geometry, n),
        .overflow = tamis_rank_overflow(geometry, cells, t),
        .saturation = tamis_prints_saturation(tamis_rank_prints(geometry), most, n, t),
    };
    tamis_rank_lines(geometry, n, &ret_forecast->lines_present, &ret_forecast->lines_absent,
                     &ret_forecast->lines_add);
}

static uint64_t rank_prints(const uint64_t *geometry) {
    return tamis_rank_prints(geometry);
}

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
                               .most = g[RANK_COPIES] << g[RANK_COUNTER_BITS] };
    memcpy(table->derived, &shape, sizeof shape);
}

/* ------------------------------------------------------------------ keys, by their places */

static tamis_status rank_add_at(tamis_table *table, const chains_place *place) {
    uint64_t const     most = shape_of(table)->most;
    copies_trail const trail = copies_follow(chains_of(table), place);
    if (trail.copies >= most) return TAMIS_OK; /* stored once, or saturated */
    if (!copies_up(chains_of(table), place, &trail)) return TAMIS_ERR_FULL;
    table->keys++;
    table->saturated += trail.copies + 1 == most && most > 1;
    return TAMIS_OK;
}

static bool rank_remove_at(tamis_table *table, const chains_place *place) {
    copies_trail const trail = copies_follow(chains_of(table), place);
    if (trail.cells == 0) return false;
    if (trail.copies >= shape_of(table)->most) return true; /* saturated: it stays */
    copies_down(chains_of(table), place, &trail);
    table->keys--;
    return true;
}

static uint64_t rank_count_at(const tamis_table *table, const chains_place *place) {
    unsigned const copies = copies_follow(chains_of(table), place).copies;
    return copies >= shape_of(table)->most ? TAMIS_COUNT_MANY : copies;
}

/* ------------------------------------------------------------------ keys, by their hash */

static bool rank_has(const tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return chains_hold(chains_of(table), &place);
}

static tamis_status rank_add(tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return rank_add_at(table, &place);
}

static tamis_status rank_remove(tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return rank_remove_at(table, &place) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static uint64_t rank_count(const tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    return rank_count_at(table, &place);
}

/* Keys in a chunk: their memory is asked for while the chunk before is worked on. With twice as
 * many, a core asks for more than it can wait for, and all is a third slower. */
#define CHUNK 16

/* Ask for the buckets of the keys: for lookups their index, for updates all of them. */
static void rank_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    uint64_t const bytes = is_update ? shape_of(table)->chains.record[0] / 8 : 1;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *const first = table->body + rank_find(table, hash[i]).at / 8;
        for (uint64_t byte = 0; byte < bytes; byte += TAMIS_LINE_BYTES) {
            prefetch_to_read(first + byte);
        }
    }
}

/* Where the keys of a chunk belong. */
TAMIS_INLINE void rank_find_all(const tamis_table *table, const uint64_t *hash, unsigned n,
                                chains_place *ret_place) {
    for (unsigned i = 0; i < n; i++) ret_place[i] = rank_find(table, hash[i]);
}

/* The index has come: ask for the line of the first cell, if it is another one. */
TAMIS_INLINE void rank_fetch_cells(const tamis_table *table, const chains_place *place,
                                   unsigned n) {
    if (table->geometry[RANK_ALIGNED] != 0) return;
    chains const of = chains_of(table);
    for (unsigned i = 0; i < n; i++) {
        unsigned const rank = bits_rank(chains_base(of, place[i].at), place[i].chain);
        prefetch_to_read(table->body + chains_cell(of, place[i].at, rank) / 8);
    }
}

static uint64_t rank_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    chains_place place[TAMIS_CHUNK];
    uint64_t     found = 0;
    rank_find_all(table, hash, n, place);
    rank_fetch_cells(table, place, n);
    for (unsigned i = 0; i < n; i++)
        found |= (uint64_t)chains_hold(chains_of(table), &place[i]) << i;
    return found;
}

static void rank_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                             uint64_t *ret_counts) {
    chains_place place[TAMIS_CHUNK];
    rank_find_all(table, hash, n, place);
    rank_fetch_cells(table, place, n);
    for (unsigned i = 0; i < n; i++) ret_counts[i] = rank_count_at(table, &place[i]);
}

/* ------------------------------------------------------------------ fingerprints */

typedef struct rank_outward {
    const rank_shape *shape;
    kind_visit       *visit;
    void             *context;
} rank_outward;

static bool rank_show(void *context, const chains_place *place, const copies_entry *entry) {
    const rank_outward *const to = context;
    const chains_shape *const shape = &to->shape->chains;
    uint64_t const            chain = place->bucket * shape->chains + place->chain;
    uint64_t const            print = chain << shape->remainder_bits | entry->remainder;
    bool const                is_many = to->shape->most > 1 && entry->copies >= to->shape->most;
    return to->visit(to->context, print, is_many ? TAMIS_COUNT_MANY : entry->copies);
}

static bool rank_each(const tamis_table *table, kind_visit *visit, void *context) {
    rank_outward   to = { shape_of(table), visit, context };
    uint64_t const buckets = table->geometry[RANK_BUCKETS];
    for (uint64_t b = 0; b < buckets; b++) {
        if (!copies_each(chains_of(table), b, rank_show, &to)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ merging */

typedef struct rank_joint {
    tamis_table *into;
    unsigned     cells; /* that the bucket of `into` would have */
} rank_joint;

static bool rank_try(void *context, const chains_place *place, const copies_entry *entry) {
    rank_joint *const       joint = context;
    const rank_shape *const shape = shape_of(joint->into);
    copies_trail const      trail = copies_follow(chains_of(joint->into), place);
    uint64_t const          sum = min_u64(trail.copies + entry->copies, shape->most);
    joint->cells += copies_cells(&shape->chains, sum) - trail.cells;
    return true;
}

static bool rank_join(void *context, const chains_place *place, const copies_entry *entry) {
    rank_joint *const joint = context;
    tamis_status      status = TAMIS_OK;
    for (unsigned i = 0; i < entry->copies; i++) status |= rank_add_at(joint->into, place);
    TAMIS_ASSERT(status == TAMIS_OK); /* there is room, see below */
    return status == TAMIS_OK;
}

/* Would all of `from` find room? Buckets only grow on the way, so what fits in the end fits. */
static bool rank_has_room(tamis_table *into, const tamis_table *from) {
    const chains_shape *const shape = &shape_of(into)->chains;
    uint64_t                  needed[3] = { 0 };
    for (uint64_t b = 0; b < shape->buckets; b++) {
        rank_joint joint = { into, chains_load(chains_of(into), chains_bucket_at(shape, b)) };
        copies_each(chains_of(from), b, rank_try, &joint);
        if (joint.cells > chains_room(shape)) return false;
        needed[1] += joint.cells > shape->room[0];
        needed[2] += joint.cells > shape->room[0] + shape->room[1];
    }
    return needed[1] <= shape->pool[1] && needed[2] <= shape->pool[2];
}

static tamis_status rank_merge(tamis_table *into, const tamis_table *from) {
    if (!rank_has_room(into, from)) return TAMIS_ERR_FULL;
    rank_joint     joint = { .into = into };
    uint64_t const buckets = into->geometry[RANK_BUCKETS];
    for (uint64_t b = 0; b < buckets; b++) copies_each(chains_of(from), b, rank_join, &joint);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ whole tables */

/* A key is taken for present if its fingerprint is stored. One that takes several cells is counted
 * for each, which errs on the safe side. */
static double rank_current_fpr(const tamis_table *table) {
    const chains_shape *const shape = &shape_of(table)->chains;
    uint64_t                  cells = 0;
    for (uint64_t b = 0; b < shape->buckets; b++) {
        cells += chains_load(chains_of(table), chains_bucket_at(shape, b));
    }
    return (double)cells / (double)tamis_rank_prints(table->geometry);
}

/* What the buckets hold, summed up. */
typedef struct rank_audit {
    const rank_shape *shape;
    uint64_t          copies, saturated;
    chains_taken      taken;
} rank_audit;

static bool rank_check(void *context, const chains_place *place, const copies_entry *entry) {
    (void)place;
    rank_audit *const audit = context;
    uint64_t const    most = audit->shape->most;
    audit->copies += entry->copies;
    audit->saturated += most > 1 && entry->copies == most;
    return entry->copies <= most &&
           entry->cells == copies_cells(&audit->shape->chains, entry->copies);
}

static bool rank_validate(const tamis_table *table, const char **reterr_why) {
    chains const of = chains_of(table);
    rank_audit   audit = { .shape = shape_of(table) };
    rank_layout  layout = { .end = 0 };
    for (uint64_t b = 0; b < of.shape->buckets; b++) {
        uint64_t const at = chains_bucket_at(of.shape, b);
        unsigned       load;
        TAMIS_REQUIRE(chains_are_whole(of, at, &load), reterr_why,
                      "I1: the levels of a bucket do not add up");
        chains_note_taken(of, at, load, &audit.taken);
        TAMIS_REQUIRE(copies_each(of, b, rank_check, &audit), reterr_why,
                      "I4: a fingerprint in more cells than it needs");
        TAMIS_REQUIRE(rank_values_are_whole(table, at, load), reterr_why,
                      "I6: a value that there is not");
    }
    TAMIS_REQUIRE(chains_pool_is_whole(of, &audit.taken, 1) &&
                      chains_pool_is_whole(of, &audit.taken, 2),
                  reterr_why, "I2: an extension that no bucket has, or two");
    for (unsigned part = 0; part < 3; part++) {
        TAMIS_REQUIRE(chains_free_is_zero(of, part), reterr_why, "I3: a bit where nothing is");
    }
    (void)tamis_rank_layout(table->geometry, &layout);
    TAMIS_REQUIRE(field_rest_is_zero(of.body, layout.end, table->body_bytes), reterr_why,
                  "I3: a bit behind the last record");
    TAMIS_REQUIRE(audit.copies == table->keys && audit.saturated == table->saturated, reterr_why,
                  "I5: the cells do not sum up to the keys");
    return true;
}

KIND_EXPORT(rank) = {
    .name = "rank",
    .summary = "rank-indexed hashing: the smallest that can remove",
    .isa = KIND_ISA,
    .field_names = { "buckets", "chains", "remainder_bits", "cells", "cells2", "cells3",
                     "extensions2", "extensions3", "counter_bits", "copies", "value_bits",
                     "aligned", NULL },
    .plan = rank_plan,
    .body_bytes = rank_body_bytes,
    .predict = rank_predict,
    .lacks = rank_lacks,
    .prepare = rank_prepare,
    .has = rank_has,
    .add = rank_add,
    .remove = rank_remove,
    .count = rank_count,
    .has_chunk = rank_has_chunk,
    .count_chunk = rank_count_chunk,
    .fetch = rank_fetch,
    .chunk = CHUNK,
    .merge = rank_merge,
    .prints = rank_prints,
    .each = rank_each,
    .states = &KIND_STATES(rank),
    .current_fpr = rank_current_fpr,
    .validate = rank_validate,
    .empties_to_zero = true,
};
