/* states.c - the values that `rank` keeps with its keys.
 *
 * What a bucket is, is said in rank.c; what put, get, move, touch and drop mean, in state_cells.h.
 * A fingerprint has one cell then, and its value is the top of that. A unit of the sweep is a
 * bucket.
 */
#include "rank.h"
#include "size.h"

/* ------------------------------------------------------------------ keys */

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

/* ------------------------------------------------------------------ whole buckets */

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

const kind_states KIND_STATES(rank) = {
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
