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
 * whether its chain goes on, so the place of a cell is a count of ones. core/chains.h shows how,
 * and core/copies.h how a cell counts.
 *
 * Buckets fill unevenly. One that is full goes on in an extension of Z2 cells, and that in one of
 * Z3, from two pools shared by all (plan/rank_size.h has their sizes). When a pool has none left
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
#include "core/checked.h"
#include "core/copies.h"
#include "kind.h"
#include "plan/rank_size.h"
#include "state_cells.h"

static_assert(RANK_FREE == KIND_FREE && RANK_FIELDS <= TAMIS_MAX_FIELDS, "one mark, enough room");
static_assert(RANK_MAX_CELLS <= CHAINS_MAX_CELLS && RANK_MAX_CELL_BITS <= FIELD_MAX_BITS, "limits");

/* The geometry worked out. */
typedef struct rank_shape {
    chains_shape chains;
    uint64_t     value_bits;
    uint64_t     most; /* copies that a fingerprint can have */
} rank_shape;

static_assert(sizeof(rank_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

static tamis_status rank_plan(const tamis_need *need, uint64_t *ret_geometry) {
    prints_mode       fixed = { need->fixed[RANK_COUNTER_BITS], need->fixed[RANK_COPIES],
                                need->fixed[RANK_VALUE_BITS] };
    prints_mode const counting = { .counter_bits = 2, .copies = 4 };
    if (need->values != 0 && !tamis_prints_states(need->values, need->timer_bits, &fixed))
        return TAMIS_ERR_CANNOT;
    prints_mode const mode = tamis_prints_mode(fixed, (need->abilities & TAMIS_CAN_REMOVE) != 0,
                                               (need->abilities & TAMIS_CAN_COUNT) != 0, counting);
    uint64_t          g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    g[RANK_COUNTER_BITS] = mode.counter_bits;
    g[RANK_COPIES] = mode.copies;
    g[RANK_VALUE_BITS] = mode.value_bits;
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

TAMIS_INLINE const rank_shape *shape_of(const tamis_table *table) {
    return (const rank_shape *)(const void *)table->derived;
}

TAMIS_INLINE chains chains_of(const tamis_table *table) {
    return (chains){ table->body, &shape_of(table)->chains };
}

TAMIS_INLINE chains_place rank_find(const tamis_table *table, uint64_t hash) {
    return chains_find(&shape_of(table)->chains, hash);
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

/* ------------------------------------------------------------------ states */

/* A fingerprint has one cell then, and its value is the top of that. A unit is a bucket. */

TAMIS_INLINE unsigned rank_value_bits(const tamis_table *table) {
    return (unsigned)shape_of(table)->value_bits;
}

static uint64_t rank_value_at(const chains_shape *shape, uint64_t cell) {
    return cell + shape->remainder_bits + shape->counter_bits;
}

/* Where the value of a fingerprint is. TAMIS_OK, _ABSENT. */
TAMIS_INLINE tamis_status rank_find_value(const tamis_table *table, const chains_place *place,
                                          copies_trail *ret_trail, uint64_t *ret_bit) {
    chains const of = chains_of(table);
    *ret_trail = copies_follow(of, place);
    if (ret_trail->cells == 0) return TAMIS_ERR_ABSENT;
    *ret_bit = rank_value_at(of.shape, chains_cell(of, place->at, ret_trail->match));
    return TAMIS_OK;
}

static tamis_status rank_find_state(const tamis_table *table, uint64_t hash, state_cell *ret_cell) {
    chains_place const place = rank_find(table, hash);
    copies_trail       trail;
    ret_cell->unit = place.bucket;
    return rank_find_value(table, &place, &trail, &ret_cell->bit);
}

static tamis_status rank_new_state(tamis_table *table, const chains_place *place,
                                   const copies_trail *trail, uint64_t field) {
    chains const   of = chains_of(table);
    uint64_t const cell = place->remainder | field << rank_value_at(of.shape, 0);
    if (!chains_append(of, place, &trail->end, cell)) return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

static tamis_status rank_insert_state(tamis_table *table, uint64_t hash, uint32_t value) {
    chains_place const place = rank_find(table, hash);
    copies_trail const trail = copies_follow(chains_of(table), &place);
    uint64_t const     field = state_fresh(table, rank_value_bits(table), place.bucket, value);
    return rank_new_state(table, &place, &trail, field);
}

/* All copies of the key are gone, and its value. */
static void rank_erase_at(tamis_table *table, const chains_place *place) {
    uint64_t const most = shape_of(table)->most;
    copies_trail   trail = copies_follow(chains_of(table), place);
    table->keys -= trail.copies;
    table->saturated -= most > 1 && trail.copies >= most;
    for (; trail.cells != 0; trail = copies_follow(chains_of(table), place)) {
        chains_delete(chains_of(table), place, &trail.end, trail.match);
    }
}

static void rank_erase_state(tamis_table *table, uint64_t hash) {
    chains_place const place = rank_find(table, hash);
    rank_erase_at(table, &place);
}

static const state_cells rank_cells = { rank_find_state, rank_insert_state, rank_erase_state,
                                        NULL };

static tamis_status rank_put(tamis_table *table, uint64_t hash, uint32_t value) {
    return state_cells_put(&rank_cells, table, rank_value_bits(table), hash, value);
}

static tamis_status rank_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    return state_cells_get(&rank_cells, table, rank_value_bits(table), hash, ret_value);
}

static tamis_status rank_move(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    return state_cells_move(&rank_cells, table, rank_value_bits(table), hash, from, to);
}

static tamis_status rank_touch(tamis_table *table, uint64_t hash) {
    return state_cells_touch(&rank_cells, table, rank_value_bits(table), hash);
}

static tamis_status rank_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    return state_cells_drop(&rank_cells, table, rank_value_bits(table), hash, from);
}

static tamis_status rank_step(tamis_table *table, uint64_t hash, const kind_stepper *by,
                              tamis_status *ret_was, uint32_t *ret_value) {
    return state_cells_step(&rank_cells, table, rank_value_bits(table), hash, by, ret_was,
                            ret_value);
}

static uint64_t rank_units(const uint64_t *geometry) {
    return geometry[RANK_BUCKETS];
}

static bool rank_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[RANK_COPIES] == 1 && g[RANK_COUNTER_BITS] == 0 &&
           g[RANK_VALUE_BITS] == tamis_prints_value_bits(values, timer_bits);
}

/* The cells of a bucket, listed before they move. */
typedef struct rank_list {
    const tamis_table *table;
    unsigned           n;
    chains_place       place[CHAINS_MAX_CELLS];
    uint64_t           field[CHAINS_MAX_CELLS];
} rank_list;

static bool rank_list_one(void *context, const chains_place *place, const copies_entry *entry) {
    rank_list *const list = context;
    copies_trail     trail;
    uint64_t         bit;
    (void)entry;
    if (rank_find_value(list->table, place, &trail, &bit) != TAMIS_OK) return true;
    list->place[list->n] = *place;
    list->field[list->n++] = field_get(list->table->body, bit, rank_value_bits(list->table));
    return list->n < CHAINS_MAX_CELLS;
}

static void rank_list_bucket(const tamis_table *table, uint64_t bucket, rank_list *ret_list) {
    ret_list->table = table;
    ret_list->n = 0;
    (void)copies_each(chains_of(table), bucket, rank_list_one, ret_list);
}

/* Cell i of a bucket: the field of its state. */
TAMIS_INLINE uint64_t rank_field_at(const tamis_table *table, uint64_t at, unsigned i) {
    chains const of = chains_of(table);
    return rank_value_at(of.shape, chains_cell(of, at, i));
}

/* Count all timers of a bucket down that are not over. */
static void rank_age_all(tamis_table *table, uint64_t at, unsigned load) {
    unsigned const bits = rank_value_bits(table);
    for (unsigned i = 0; i < load; i++) {
        uint64_t const bit = rank_field_at(table, at, i);
        uint64_t const field = field_get(table->body, bit, bits);
        if (!state_is_over(table, bits, field))
            field_set(table->body, bit, bits, state_older(table, bits, field));
    }
}

static bool rank_is_any_over(const tamis_table *table, uint64_t at, unsigned load) {
    unsigned const bits = rank_value_bits(table);
    for (unsigned i = 0; i < load; i++) {
        uint64_t const field = field_get(table->body, rank_field_at(table, at, i), bits);
        if (state_is_over(table, bits, field)) return true;
    }
    return false;
}

/* The hand passes a bucket. Those that go are listed before the timers of the others are counted
 * down, since then they cannot be told apart, and taken out in the end, since that moves cells. */
static void rank_sweep(tamis_table *table, uint64_t bucket, uint64_t *aged) {
    unsigned const bits = rank_value_bits(table);
    uint64_t const at = chains_bucket_at(&shape_of(table)->chains, bucket);
    unsigned const load = chains_load(chains_of(table), at);
    rank_list      list;
    list.n = 0;
    if (rank_is_any_over(table, at, load)) rank_list_bucket(table, bucket, &list);
    rank_age_all(table, at, load);
    for (unsigned i = 0; i < list.n; i++) {
        if (!state_is_over(table, bits, list.field[i])) continue;
        rank_erase_at(table, &list.place[i]);
        table->aged++;
        if (aged != NULL) aged[state_value(table, bits, list.field[i])]++;
    }
}

static void rank_tally(const tamis_table *table, uint64_t *counts) {
    rank_list list;
    for (uint64_t bucket = 0; bucket < table->geometry[RANK_BUCKETS]; bucket++) {
        rank_list_bucket(table, bucket, &list);
        for (unsigned i = 0; i < list.n; i++) {
            uint64_t const value = state_value(table, rank_value_bits(table), list.field[i]);
            if (value < table->values) counts[value]++; /* always, in a table of ours */
        }
    }
}

static tamis_status rank_merge_state(tamis_table *into, const tamis_table *from,
                                     const chains_place *place, uint64_t field) {
    unsigned const bits = rank_value_bits(into);
    uint64_t const taken = state_taken_over(into, from, bits, place->bucket, field);
    copies_trail   trail;
    uint64_t       bit;
    return rank_find_value(into, place, &trail, &bit) == TAMIS_OK
               ? state_join(into, bits, bit, taken)
               : rank_new_state(into, place, &trail, taken);
}

static tamis_status rank_merge_states(tamis_table *into, const tamis_table *from) {
    rank_list list;
    for (uint64_t bucket = 0; bucket < from->geometry[RANK_BUCKETS]; bucket++) {
        rank_list_bucket(from, bucket, &list);
        for (unsigned i = 0; i < list.n; i++) {
            tamis_status const status = rank_merge_state(into, from, &list.place[i], list.field[i]);
            if (status != TAMIS_OK) return status;
        }
    }
    return TAMIS_OK;
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
    uint64_t          taken[3]; /* extensions: the sum of their mixed numbers */
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

static void rank_check_parts(rank_audit *audit, chains of, uint64_t at, unsigned load) {
    const chains_shape *const shape = of.shape;
    if (load <= shape->room[0]) return;
    audit->taken[1] += mix64(chains_pointer(of, at, 1));
    if (load <= shape->room[0] + shape->room[1]) return;
    audit->taken[2] += mix64(chains_pointer(of, chains_extension(of, at, 1), 2));
}

/* The buckets point to just those extensions that are marked as taken: the sums of their mixed
 * numbers are equal, which for two sets that differ has a chance of 2^-64. The others are zero. */
static bool rank_check_pool(const rank_audit *audit, const uint8_t *body, unsigned part) {
    const chains_shape *const shape = &audit->shape->chains;
    uint64_t                  left = audit->taken[part];
    for (uint64_t i = 0; i < shape->pool[part]; i++) {
        if (field_get_bit(body, shape->used[part] + i)) left -= mix64(i + 1);
    }
    return left == 0;
}

/* Nothing is in extensions that are free, nor between the last record of a level and the next. */
static bool rank_check_free(const chains_shape *shape, const uint8_t *body, unsigned part) {
    uint64_t const n = part == 0 ? shape->buckets : shape->pool[part];
    uint64_t const end = shape->start[part] + n * shape->record[part];
    for (uint64_t i = 0; i < shape->pool[part]; i++) {
        uint64_t const at = shape->start[part] + i * shape->record[part];
        bool const     is_taken = field_get_bit(body, shape->used[part] + i);
        if (!is_taken && !field_is_zero(body, at, at + shape->record[part])) return false;
    }
    return field_is_zero(body, end, part < 2 ? shape->start[part + 1] : shape->used[1]);
}

static bool rank_values_are_whole(const tamis_table *table, uint64_t bucket) {
    rank_list list;
    if (table->values == 0) return true;
    rank_list_bucket(table, bucket, &list);
    for (unsigned i = 0; i < list.n; i++) {
        if (state_value(table, rank_value_bits(table), list.field[i]) >= table->values)
            return false;
    }
    return true;
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
        rank_check_parts(&audit, of, at, load);
        TAMIS_REQUIRE(copies_each(of, b, rank_check, &audit), reterr_why,
                      "I4: a fingerprint in more cells than it needs");
        TAMIS_REQUIRE(rank_values_are_whole(table, b), reterr_why, "I6: a value that there is not");
    }
    TAMIS_REQUIRE(rank_check_pool(&audit, of.body, 1) && rank_check_pool(&audit, of.body, 2),
                  reterr_why, "I2: an extension that no bucket has, or two");
    for (unsigned part = 0; part < 3; part++) {
        TAMIS_REQUIRE(rank_check_free(of.shape, of.body, part), reterr_why,
                      "I3: a bit where nothing is");
    }
    (void)tamis_rank_layout(table->geometry, &layout);
    TAMIS_REQUIRE(field_rest_is_zero(of.body, layout.end, table->body_bytes), reterr_why,
                  "I3: a bit behind the last record");
    TAMIS_REQUIRE(audit.copies == table->keys && audit.saturated == table->saturated, reterr_why,
                  "I5: the cells do not sum up to the keys");
    return true;
}

static const kind_states rank_states = {
    .put = rank_put,
    .get = rank_get,
    .move = rank_move,
    .touch = rank_touch,
    .drop = rank_drop,
    .units = rank_units,
    .holds_values = rank_holds_values,
    .step = rank_step,
    .sweep = rank_sweep,
    .tally = rank_tally,
    .merge = rank_merge_states,
};

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
    .states = &rank_states,
    .current_fpr = rank_current_fpr,
    .validate = rank_validate,
    .empties_to_zero = true,
};
