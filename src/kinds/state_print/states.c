/* states.c - the values that `state_print` keeps with its prints.
 *
 * What the table is, is said in state_print.c; what put, get, move, touch and drop mean, in
 * state_cells.h. A unit of the sweep is a bucket, and the side table is one more.
 */
#include "size.h"
#include "state_print.h"

/* ------------------------------------------------------------------ one key */

static tamis_status print_find(const tamis_table *table, uint64_t hash, state_cell *ret_cell) {
    const print_shape *const s = shape_of(table);
    tagged const             of = cells_of(table);
    side const               aside = side_of(table);
    unsigned const           count = side_count(aside);
    unsigned const           at = __builtin_expect(count != 0, 0) ? side_find(aside, hash) : 0;
    if (at < count) {
        *ret_cell = (state_cell){ side_field_at(aside, at), s->side_unit };
    } else if (s->is_permuted) {
        unsigned cell;
        if (!tagged_find(of, tagged_key_of(of, hash), &ret_cell->unit, &cell))
            return TAMIS_ERR_ABSENT;
        ret_cell->bit = tagged_field_at(of, ret_cell->unit, cell);
        return TAMIS_OK;
    } else {
        tagged_found const found = tagged_look(of, tagged_key_of(of, hash));
        if (found.matches == 0) return TAMIS_ERR_ABSENT;
        if (found.matches > 1) return TAMIS_ERR_UNKNOWN;
        *ret_cell = (state_cell){ tagged_field_at(of, found.bucket, found.cell), found.bucket };
    }
    return print_value(table, ret_cell->bit) == table->values ? TAMIS_ERR_UNKNOWN : TAMIS_OK;
}

static void print_add(tamis_table *table, dleft_place place, unsigned used, uint64_t field) {
    tagged_add(cells_of(table), place, used, field);
    table->keys++;
}

static void print_take(tamis_table *table, uint64_t bucket, unsigned cell) {
    tagged_take(cells_of(table), bucket, cell);
    table->keys--;
}

static tamis_status print_add_aside(tamis_table *table, uint64_t hash, uint64_t field) {
    if (!side_add(side_of(table), hash, field)) return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

static void print_take_aside(tamis_table *table, unsigned i) {
    side_take(side_of(table), i);
    table->keys--;
}

/* A match is another key's; this one was in the side table, and must go there again. */
static tamis_status print_insert(tamis_table *table, uint64_t hash, uint32_t value) {
    const print_shape *const s = shape_of(table);
    tagged const             of = cells_of(table);
    tagged_found const       found = tagged_look(of, tagged_key_of(of, hash));
    bool const               is_aside = found.matches != 0 || found.load == s->cells.cells.n;
    uint64_t const           unit = is_aside ? s->side_unit : found.least.bucket;
    uint64_t const           field = state_fresh(table, s->bits, unit, value);
    if (__builtin_expect(is_aside, 0)) return print_add_aside(table, hash, field);
    print_add(table, found.least, found.load, field);
    return TAMIS_OK;
}

static void print_erase(tamis_table *table, uint64_t hash) {
    unsigned const at = side_find(side_of(table), hash);
    if (at < side_count(side_of(table))) {
        print_take_aside(table, at);
        return;
    }
    tagged const       of = cells_of(table);
    tagged_found const found = tagged_look(of, tagged_key_of(of, hash));
    print_take(table, found.bucket, found.cell);
}

static void print_blur_one(tamis_table *table, const state_cell *cell, bool is_moved) {
    uint64_t const value = is_moved ? table->values : print_value(table, cell->bit);
    state_write(table, shape_of(table)->bits, cell, value);
}

/* Only where not permuted. */
static void print_blur(tamis_table *table, uint64_t hash, bool is_moved) {
    tagged const   of = cells_of(table);
    side const     aside = side_of(table);
    unsigned const at = side_find(aside, hash);
    if (at < side_count(aside)) {
        state_cell const cell = { side_field_at(aside, at), shape_of(table)->side_unit };
        print_blur_one(table, &cell, is_moved);
        return;
    }
    for (unsigned i = 0; i < of.shape->places.tables; i++) {
        tagged_found found = TAGGED_NOTHING;
        tagged_look_in(of, tagged_place_in(of, tagged_key_of(of, hash), i), &found);
        if (found.matches == 0) continue;
        state_cell const cell = { tagged_field_at(of, found.bucket, found.cell), found.bucket };
        print_blur_one(table, &cell, is_moved);
    }
}

static const state_cells print_cells = { print_find, print_insert, print_erase, print_blur };

/* ------------------------------------------------------------------ states */

/* A key that is unknown is known from now on, aside. */
static tamis_status print_put_unknown(tamis_table *table, uint64_t hash, uint32_t value) {
    const print_shape *const s = shape_of(table);
    side const               aside = side_of(table);
    unsigned const           at = side_find(aside, hash);
    uint64_t const           field = state_fresh(table, s->bits, s->side_unit, value);
    if (at == side_count(aside)) return print_add_aside(table, hash, field);
    field_set(table->body, side_field_at(aside, at), s->bits, field);
    return TAMIS_OK;
}

static tamis_status print_put(tamis_table *table, uint64_t hash, uint32_t value) {
    const print_shape *const s = shape_of(table);
    state_cell               cell;
    if (!s->is_permuted && print_find(table, hash, &cell) == TAMIS_ERR_UNKNOWN)
        return print_put_unknown(table, hash, value);
    return state_cells_put(&print_cells, table, s->bits, hash, value);
}

static tamis_status print_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    return state_cells_get(&print_cells, table, shape_of(table)->bits, hash, ret_value);
}

static tamis_status print_move(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    const print_shape *const s = shape_of(table);
    state_cell               cell;
    if (!s->is_reinserted ||
        state_cells_find(&print_cells, table, s->bits, hash, from, &cell) != TAMIS_OK)
        return state_cells_move(&print_cells, table, s->bits, hash, from, to);
    print_erase(table, hash);
    return print_insert(table, hash, to); /* there is room: it was somewhere */
}

static tamis_status print_touch(tamis_table *table, uint64_t hash) {
    return state_cells_touch(&print_cells, table, shape_of(table)->bits, hash);
}

static tamis_status print_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    return state_cells_drop(&print_cells, table, shape_of(table)->bits, hash, from);
}

/* ------------------------------------------------------------------ time */

static uint64_t print_units(const uint64_t *g) {
    return g[STATE_PRINT_TABLES] * g[STATE_PRINT_BUCKETS] + (g[STATE_PRINT_SIDE] != 0);
}

static bool print_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[STATE_PRINT_VALUE_BITS] ==
           print_value_bits(values, timer_bits, g[STATE_PRINT_PERMUTED]);
}

/* The hand passes a field. Is its time over? */
static bool print_ages(tamis_table *table, uint64_t bit, uint64_t *aged) {
    unsigned const bits = shape_of(table)->bits;
    uint64_t const field = print_field(table, bit), value = state_value(table, bits, field);
    if (!state_is_over(table, bits, field)) {
        field_set(table->body, bit, bits, state_older(table, bits, field));
        return false;
    }
    table->aged++;
    if (aged != NULL && value < table->values) aged[value]++;
    return true;
}

/* From the last one on: it is the last that takes the place of one that goes. */
static void print_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {
    tagged const of = cells_of(table);
    side const   aside = side_of(table);
    if (unit == shape_of(table)->side_unit) {
        for (unsigned i = side_count(aside); i-- > 0;) {
            if (print_ages(table, side_field_at(aside, i), aged)) print_take_aside(table, i);
        }
        return;
    }
    for (unsigned i = tagged_used(of, unit); i-- > 0;) {
        if (print_ages(table, tagged_field_at(of, unit, i), aged)) print_take(table, unit, i);
    }
}

/* ------------------------------------------------------------------ merging */

static uint64_t print_brought(const tamis_table *into, uint64_t into_unit, const tamis_table *from,
                              uint64_t from_unit, uint64_t field) {
    return state_brought(into, into_unit, from, from_unit, shape_of(into)->bits, field);
}

/* Where "don't know" can be stored, that is what two values become. */
static tamis_status print_join(tamis_table *into, uint64_t bit, uint64_t field) {
    const print_shape *const s = shape_of(into);
    unsigned const           shift = state_value_bits(into, s->bits);
    tamis_status const       status = state_join(into, s->bits, bit, field);
    if (status != TAMIS_ERR_CONFLICT || s->is_permuted) return status;
    uint64_t const timer = max_u64(print_field(into, bit) >> shift, field >> shift);
    field_set(into->body, bit, s->bits, into->values | timer << shift);
    return TAMIS_OK;
}

/* A key of the other's side table stays one, unless it may be in a cell here. */
static tamis_status print_merge_aside(tamis_table *into, const tamis_table *from, unsigned i) {
    uint64_t const     hash = side_hash(side_of(from), i), unit = shape_of(from)->side_unit;
    uint64_t const     field = print_field(from, side_field_at(side_of(from), i));
    tagged const       of = cells_of(into);
    side const         aside = side_of(into);
    tagged_found const found = tagged_look(of, tagged_key_of(of, hash));
    uint64_t const     taken = print_brought(into, unit, from, unit, field);
    unsigned const     at = side_find(aside, hash);
    if (at < side_count(aside)) return print_join(into, side_field_at(aside, at), taken);
    if (found.matches != 1) return print_add_aside(into, hash, taken);
    return print_join(into, tagged_field_at(of, found.bucket, found.cell),
                      print_brought(into, found.bucket, from, unit, field));
}

/* A cell has come that may be the one of a key in the side table: then the two are one key. Not so
 * if the other table had the key in its own side table, beside the cell. */
static tamis_status print_absorb(tamis_table *into, const tamis_table *from, dleft_place place,
                                 const state_cell *cell) {
    tagged const   of = cells_of(into);
    side const     aside = side_of(into);
    uint64_t const unit = shape_of(into)->side_unit;
    unsigned const subtable = (unsigned)(place.bucket / of.shape->places.buckets);
    tamis_status   status = TAMIS_OK;
    for (unsigned i = side_count(aside); i-- > 0 && status == TAMIS_OK;) {
        uint64_t const    hash = side_hash(aside, i);
        dleft_place const own = tagged_place_in(of, tagged_key_of(of, hash), subtable);
        if (own.bucket != place.bucket || own.print != place.print) continue;
        if (side_has(side_of(from), hash)) continue;
        uint64_t const field = print_field(into, side_field_at(aside, i));
        status = print_join(into, cell->bit, print_brought(into, cell->unit, into, unit, field));
        print_take_aside(into, i);
    }
    return status;
}

/* Permuted, a fingerprint can go to any of its buckets; otherwise a print stays where it is. */
static tamis_status print_merge_cell(tamis_table *into, const tamis_table *from, dleft_place place,
                                     uint64_t field) {
    const print_shape *const s = shape_of(into);
    tagged const             of = cells_of(into);
    tagged_found             found = TAGGED_NOTHING;
    if (s->is_permuted)
        found = tagged_look(of, (tagged_key){ 0, dleft_fingerprint_of(&of.shape->places, place) });
    else
        tagged_look_in(of, place, &found);
    bool const is_new = found.matches == 0;
    if (is_new && found.load == s->cells.cells.n) return TAMIS_ERR_FULL;
    uint64_t const   unit = is_new ? found.least.bucket : found.bucket;
    uint64_t const   taken = print_brought(into, unit, from, place.bucket, field);
    state_cell const cell = { tagged_field_at(of, unit, is_new ? found.load : found.cell), unit };
    if (is_new) print_add(into, found.least, found.load, taken);
    tamis_status const status = is_new ? TAMIS_OK : print_join(into, cell.bit, taken);
    return status == TAMIS_OK ? print_absorb(into, from, place, &cell) : status;
}

static tamis_status print_merge(tamis_table *into, const tamis_table *from) {
    tagged const of = cells_of(from);
    cells_walk   walk = { .cell = 0 };
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; i < side_count(side_of(from)) && status == TAMIS_OK; i++) {
        status = print_merge_aside(into, from, i);
    }
    while (status == TAMIS_OK &&
           cells_walk_on(&of.shape->cells, of.body, dleft_all(&of.shape->places), &walk)) {
        dleft_place const place = { walk.bucket, walk.found };
        status = print_merge_cell(into, from, place,
                                  print_field(from, tagged_field_at(of, walk.bucket, walk.cell)));
    }
    return status;
}

/* ------------------------------------------------------------------ counting */

static void print_tally(const tamis_table *table, uint64_t *counts) {
    print_walk walk = { .bit = 0 };
    while (print_next(table, &walk)) {
        uint64_t const value = print_value(table, walk.bit);
        if (value < table->values) counts[value]++;
    }
}

static void print_census(const tamis_table *table, kind_census *ret_census) {
    print_walk walk = { .bit = 0 };
    *ret_census = (kind_census){ .side_keys = side_count(side_of(table)),
                                 .side_room = shape_of(table)->side.room };
    while (print_next(table, &walk)) {
        ret_census->unknown_cells += print_value(table, walk.bit) == table->values;
    }
}

const kind_states KIND_STATES(state_print) = {
    .put = print_put,
    .get = print_get,
    .move = print_move,
    .touch = print_touch,
    .drop = print_drop,
    .units = print_units,
    .holds_values = print_holds_values,
    .sweep = print_sweep,
    .tally = print_tally,
    .census = print_census,
    .merge = print_merge,
};
