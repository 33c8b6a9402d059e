/* states.c - the operations on values of `state_print`.
 *
 * state_print.c explains the table. A unit of the sweep is a bucket, and the side table is one more
 * unit.
 *
 * Each operation searches its key once: in the side table, if that is not empty, then in the
 * buckets. The cell that was found is then changed in place.
 *
 *     look-up                              put          move          touch     drop
 *     ---------------------------------------------------------------------------------------
 *     absent                               insert       refused       refused   refused
 *     one cell, with a value               refresh      new value     refresh   cell removed
 *     two cells, or a cell without value   side table   both blurred  refresh   refused
 *
 * The last row happens only without permutations (permuted=0). To blur a cell means to mark its
 * value as unknown: one of the two keys has moved, and the table cannot know which cell is its own.
 *
 * Example of the last row: key X has the print 7 and the buckets 10 and 20, and was put into 10
 * with the value 1. Key Y has the print 7, too, and the buckets 20 and 30, and was put into 20 with
 * the value 2. Now X has two cells that match. A get says "don't know". If X moves, either cell may
 * be its own: both lose their value. Y then has one cell, without a value. A touch of X refreshes
 * both cells, so that neither key times out too early.
 */
#include "size.h"
#include "state_print.h"

/* ------------------------------------------------------------------ looking */

/* Where a key is. */
typedef struct print_found {
    state_cell   cell;     /* of a key that is there: its field */
    bool         is_aside; /* it is in the side table */
    unsigned     aside;    /* its number there */
    tagged_found seen;     /* of a key that is not: what its buckets have */
} print_found;

/* Is the key in the side table? While that is empty, which is nearly always, that is one look at
 * its count. */
TAMIS_INLINE bool state_print_find_aside(const tamis_table *table, uint64_t hash,
                                         print_found *ret_found) {
    side const     list = state_print_side(table);
    unsigned const count = side_count(list);
    if (__builtin_expect(count == 0, 1)) return false;
    ret_found->aside = side_find(list, hash);
    if (ret_found->aside == count) return false;
    ret_found->cell =
        (state_cell){ side_field_at(list, ret_found->aside), state_print_shape(table)->side_unit };
    return true;
}

/* What one field says: TAMIS_OK; or _UNKNOWN, which is stored as the value after the last one,
 * where prints are apart. */
TAMIS_INLINE tamis_status state_print_field_status(const tamis_table *table, uint64_t bit) {
    return state_print_value(table, bit) == table->values ? TAMIS_ERR_UNKNOWN : TAMIS_OK;
}

/* The cells that match in the buckets. If two match, it is not known which is the key's. */
TAMIS_INLINE tamis_status state_print_seen_status(const tamis_table *table, print_found *found) {
    const tagged_found *const seen = &found->seen;
    if (seen->matches == 0) return TAMIS_ERR_ABSENT;
    if (seen->matches > 1) return TAMIS_ERR_UNKNOWN;
    found->cell.unit = seen->bucket;
    found->cell.bit = tagged_field_at(state_print_cells(table), seen->bucket, seen->cell);
    return state_print_field_status(table, found->cell.bit);
}

/* Look for a key, and for room if it is not there. TAMIS_OK, _ABSENT or _UNKNOWN. It is called and
 * not inlined: it counts the cells of d buckets, and has many callers. */
static __attribute__((noinline)) tamis_status
state_print_look(const tamis_table *table, uint64_t hash, print_found *ret_found) {
    tagged const cells = state_print_cells(table);
    ret_found->is_aside = state_print_find_aside(table, hash, ret_found);
    if (ret_found->is_aside) return state_print_field_status(table, ret_found->cell.bit);
    ret_found->seen = tagged_look_for(cells, tagged_key_of(cells, hash));
    return state_print_seen_status(table, ret_found);
}

/* The same for calls that want no room. Permuted, only prints are compared and no cells counted. */
TAMIS_INLINE tamis_status state_print_find(const tamis_table *table, uint64_t hash,
                                           print_found *ret_found) {
    tagged const cells = state_print_cells(table);
    if (!state_print_shape(table)->is_permuted) return state_print_look(table, hash, ret_found);
    ret_found->is_aside = state_print_find_aside(table, hash, ret_found);
    if (ret_found->is_aside) return TAMIS_OK;
    tagged_found *const seen = &ret_found->seen;
    if (!tagged_find(cells, tagged_key_of(cells, hash), &seen->bucket, &seen->cell))
        return TAMIS_ERR_ABSENT;
    ret_found->cell =
        (state_cell){ tagged_field_at(cells, seen->bucket, seen->cell), seen->bucket };
    return TAMIS_OK;
}

/* The same for a key that is to have a certain value. _CONFLICT: it has another one. */
TAMIS_INLINE tamis_status state_print_expect(const tamis_table *table, uint64_t hash, uint64_t from,
                                             print_found *ret_found) {
    tamis_status const status = state_print_find(table, hash, ret_found);
    if (status != TAMIS_OK || from == TAMIS_ANY_VALUE) return status;
    return state_print_value(table, ret_found->cell.bit) == from ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

/* ------------------------------------------------------------------ changing */

/* A new cell in a bucket that has `used` of them. */
static void state_print_add(tamis_table *table, dleft_place place, unsigned used, uint64_t field) {
    tagged_add(state_print_cells(table), place, used, field);
    table->keys++;
}

/* A new key in the side table, by its whole hash. _FULL: there is no room in it, either. */
static tamis_status state_print_add_aside(tamis_table *table, uint64_t hash, uint64_t field) {
    if (!side_add(state_print_side(table), hash, field)) return TAMIS_ERR_FULL;
    table->keys++;
    return TAMIS_OK;
}

/* Take a key away that was found. */
static void state_print_take(tamis_table *table, const print_found *found) {
    if (found->is_aside)
        side_take(state_print_side(table), found->aside);
    else
        tagged_take(state_print_cells(table), found->seen.bucket, found->seen.cell);
    table->keys--;
}

/* Put a key into the least loaded of its buckets, or into the side table: if all are full, or if a
 * cell matches. (Such a cell is another key's: this key was in the side table, and goes back.) */
static tamis_status state_print_insert(tamis_table *table, uint64_t hash, const tagged_found *seen,
                                       uint32_t value) {
    const print_shape *const shape = state_print_shape(table);
    /* The timer of a key starts with its unit: the sweep passes the side table at another time than
     * the buckets. */
    bool const     is_aside = seen->matches != 0 || seen->load == shape->cells.cells.n;
    uint64_t const unit = is_aside ? shape->side_unit : seen->least.bucket;
    uint64_t const field = state_fresh(table, shape->bits, unit, value);
    if (__builtin_expect(is_aside, 0)) return state_print_add_aside(table, hash, field);
    state_print_add(table, seen->least, seen->load, field);
    return TAMIS_OK;
}

/* Give another value to a key that was found: in its place or, with `reinserts`, in the bucket that
 * is least loaded once it is taken out. There is room: the key was in one of its buckets, or in the
 * side table, and goes back there if need be. */
static tamis_status state_print_change(tamis_table *table, uint64_t hash, const print_found *found,
                                       uint32_t to) {
    const print_shape *const shape = state_print_shape(table);
    tagged const             cells = state_print_cells(table);
    if (!shape->is_reinserted) {
        state_write(table, shape->bits, &found->cell, to);
        return TAMIS_OK;
    }
    state_print_take(table, found);
    tagged_found const seen = tagged_look(cells, tagged_key_of(cells, hash));
    return state_print_insert(table, hash, &seen, to);
}

/* Refresh a field; is_moved: its value is unknown from now on. "Don't know" is stored as the value
 * after the last one. */
static void state_print_refresh(tamis_table *table, const state_cell *cell, bool is_moved) {
    uint64_t const value = is_moved ? table->values : state_print_value(table, cell->bit);
    state_write(table, state_print_shape(table)->bits, cell, value);
}

/* A key with an unknown value was touched or moved; this happens only if prints are not permuted.
 * All cells that may be its own are refreshed, and lose their value if it moves. */
static void state_print_blur(tamis_table *table, uint64_t hash, const print_found *found,
                             bool is_moved) {
    tagged const     cells = state_print_cells(table);
    tagged_key const key = tagged_key_of(cells, hash);
    if (found->is_aside) {
        state_print_refresh(table, &found->cell, is_moved);
        return;
    }
    for (unsigned i = 0; i < cells.shape->places.tables; i++) {
        tagged_found seen = TAGGED_NOTHING;
        tagged_look_in(cells, tagged_place_in(cells, key, i), &seen);
        if (seen.matches == 0) continue;
        state_cell const cell = { tagged_field_at(cells, seen.bucket, seen.cell), seen.bucket };
        state_print_refresh(table, &cell, is_moved);
    }
}

/* Put a key whose value is not known: from now on it is known, in the side table. */
static tamis_status state_print_put_aside(tamis_table *table, uint64_t hash,
                                          const print_found *found, uint32_t value) {
    const print_shape *const shape = state_print_shape(table);
    uint64_t const           field = state_fresh(table, shape->bits, shape->side_unit, value);
    if (!found->is_aside) return state_print_add_aside(table, hash, field);
    field_set(table->body, found->cell.bit, shape->bits, field);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ keys */

/* A key that is there with the same value is refreshed; one with another value is refused: it may
 * be another key with the same print. */
static tamis_status state_print_put(tamis_table *table, uint64_t hash, uint32_t value) {
    print_found        found;
    tamis_status const status = state_print_look(table, hash, &found);
    if (status == TAMIS_ERR_ABSENT) return state_print_insert(table, hash, &found.seen, value);
    if (status == TAMIS_ERR_UNKNOWN) return state_print_put_aside(table, hash, &found, value);
    if (state_print_value(table, found.cell.bit) != value) return TAMIS_ERR_CONFLICT;
    state_print_refresh(table, &found.cell, false);
    return TAMIS_OK;
}

/* Reads only: a look-up never refreshes a timer. */
static tamis_status state_print_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    print_found        found;
    tamis_status const status = state_print_find(table, hash, &found);
    if (status == TAMIS_OK) *ret_value = (uint32_t)state_print_value(table, found.cell.bit);
    return status;
}

/* The paper's modification. An unknown key cannot be moved: all cells that may be its own lose
 * their value, so that none is ever wrong. */
static tamis_status state_print_move(tamis_table *table, uint64_t hash, uint64_t from,
                                     uint32_t to) {
    print_found        found;
    tamis_status const status = state_print_expect(table, hash, from, &found);
    if (status == TAMIS_OK) return state_print_change(table, hash, &found, to);
    if (status == TAMIS_ERR_UNKNOWN) state_print_blur(table, hash, &found, true);
    return status;
}

/* The key was touched: its timer starts again. If its value is unknown, this is done for all cells
 * that may be its own. */
static tamis_status state_print_touch(tamis_table *table, uint64_t hash) {
    print_found        found;
    tamis_status const status = state_print_find(table, hash, &found);
    if (status == TAMIS_OK) state_print_refresh(table, &found.cell, false);
    if (status == TAMIS_ERR_UNKNOWN) state_print_blur(table, hash, &found, false);
    return status;
}

/* An unknown key stays: to take a cell that may be another key's would lose that one. */
static tamis_status state_print_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    print_found        found;
    tamis_status const status = state_print_expect(table, hash, from, &found);
    if (status == TAMIS_OK) state_print_take(table, &found);
    return status;
}

/* A key that was looked for has the value `to` from now on, if it can be known. */
static tamis_status state_print_assign(tamis_table *table, uint64_t hash, tamis_status was,
                                       const print_found *found, uint32_t to) {
    if (was == TAMIS_ERR_ABSENT) return state_print_insert(table, hash, &found->seen, to);
    if (was == TAMIS_OK) return state_print_change(table, hash, found, to);
    state_print_blur(table, hash, found, true);
    return was;
}

/* Put, or move from any value. */
static tamis_status state_print_set(tamis_table *table, uint64_t hash, uint32_t value) {
    print_found        found;
    tamis_status const was = state_print_look(table, hash, &found);
    return state_print_assign(table, hash, was, &found, value);
}

/* The caller's machine sees what get would say, and decides; what was found is then changed without
 * another look. */
static tamis_status state_print_step(tamis_table *table, uint64_t hash, const kind_stepper *stepper,
                                     tamis_status *ret_was, uint32_t *ret_value) {
    print_found        found;
    uint32_t           to = 0;
    tamis_status const was = *ret_was = state_print_look(table, hash, &found);
    if (was == TAMIS_OK) *ret_value = (uint32_t)state_print_value(table, found.cell.bit);
    switch (kind_decide(table, stepper, was, *ret_value, &to)) {
    case TAMIS_STEP_LEAVE: return TAMIS_OK;
    case TAMIS_STEP_SET: return state_print_assign(table, hash, was, &found, to);
    case TAMIS_STEP_TOUCH:
        if (was == TAMIS_OK) state_print_refresh(table, &found.cell, false);
        if (was == TAMIS_ERR_UNKNOWN) state_print_blur(table, hash, &found, false);
        return was;
    case TAMIS_STEP_DROP:
        if (was == TAMIS_OK) state_print_take(table, &found);
        return was;
    }
    return TAMIS_ERR_ARGUMENT;
}

/* ------------------------------------------------------------------ time */

/* A unit for each bucket, and one for the side table if there is any. */
static uint64_t state_print_units(const uint64_t *g) {
    return g[STATE_PRINT_TABLES] * g[STATE_PRINT_BUCKETS] + (g[STATE_PRINT_SIDE] != 0);
}

/* Fields are exactly as wide as these values and timers need. */
static bool state_print_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[STATE_PRINT_VALUE_BITS] ==
           state_print_value_bits(values, timer_bits, g[STATE_PRINT_PERMUTED]);
}

/* The sweep visits a field: decrement its timer. True: it has timed out, and the caller takes the
 * key away. "Don't know", and a damaged value of a file that was not checked, have no counter in
 * `aged`. */
static bool state_print_ages(tamis_table *table, uint64_t bit, uint64_t *aged) {
    unsigned const bits = state_print_shape(table)->bits;
    uint64_t const field = state_print_field(table, bit);
    uint64_t const value = state_value(table, bits, field);
    if (!state_is_over(table, bits, field)) {
        field_set(table->body, bit, bits, state_older(table, bits, field));
        return false;
    }
    state_count_aged(table, value, aged);
    return true;
}

/* From the last cell to the first: the last one takes the place of one that goes, and it was
 * visited before. So no cell is passed over, and none is aged twice. */
static void state_print_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {
    tagged const cells = state_print_cells(table);
    side const   aside = state_print_side(table);
    if (unit == state_print_shape(table)->side_unit) {
        for (unsigned i = side_count(aside); i-- > 0;) {
            if (!state_print_ages(table, side_field_at(aside, i), aged)) continue;
            side_take(aside, i);
            table->keys--;
        }
        return;
    }
    for (unsigned i = tagged_used(cells, unit); i-- > 0;) {
        if (!state_print_ages(table, tagged_field_at(cells, unit, i), aged)) continue;
        tagged_take(cells, unit, i);
        table->keys--;
    }
}

/* ------------------------------------------------------------------ merging */

/* A field of another table as it is here: the same value, and a timer that ends at the same time. A
 * timer counts passes of the sweep, and both tables' sweeps may be anywhere (core/sweep.h). */
static uint64_t state_print_brought(const tamis_table *into, uint64_t into_unit,
                                    const tamis_table *from, uint64_t from_unit, uint64_t field) {
    return state_converted(into, into_unit, from, from_unit, state_print_shape(into)->bits, field,
                           sweep_taken_over);
}

/* Two fields of one key become one, with the younger timer: the one that has longer to go. Two
 * values become "don't know" where that can be stored; else _CONFLICT. A timer is in the bits above
 * its value, so these are compared. */
static tamis_status state_print_join(tamis_table *into, uint64_t bit, uint64_t field) {
    const print_shape *const shape = state_print_shape(into);
    unsigned const           shift = state_value_bits(into, shape->bits);
    tamis_status const       status = state_join(into, shape->bits, bit, field);
    if (status != TAMIS_ERR_CONFLICT || shape->is_permuted) return status;
    uint64_t const timer = max_u64(state_print_field(into, bit) >> shift, field >> shift);
    field_set(into->body, bit, shape->bits, into->values | timer << shift);
    return TAMIS_OK;
}

/* A key of the other's side table goes to the side table here, unless it may be in a cell. With two
 * cells that match, it is not known which is its own: then it stays apart. */
static tamis_status state_print_merge_aside(tamis_table *into, const tamis_table *from,
                                            unsigned i) {
    uint64_t const     hash = side_hash(state_print_side(from), i);
    uint64_t const     unit = state_print_shape(from)->side_unit;
    uint64_t const     field = state_print_field(from, side_field_at(state_print_side(from), i));
    tagged const       cells = state_print_cells(into);
    side const         aside = state_print_side(into);
    tagged_found const seen = tagged_look(cells, tagged_key_of(cells, hash));
    uint64_t const     brought = state_print_brought(into, unit, from, unit, field);
    unsigned const     at = side_find(aside, hash);
    if (at < side_count(aside)) return state_print_join(into, side_field_at(aside, at), brought);
    if (seen.matches != 1) return state_print_add_aside(into, hash, brought);
    return state_print_join(into, tagged_field_at(cells, seen.bucket, seen.cell),
                            state_print_brought(into, seen.bucket, from, unit, field));
}

/* A cell was merged that may belong to a key in the side table: then both are one key, unless the
 * other table had the key in its own side table, besides the cell. */
static tamis_status state_print_absorb(tamis_table *into, const tamis_table *from,
                                       dleft_place place, const state_cell *cell) {
    tagged const   cells = state_print_cells(into);
    side const     aside = state_print_side(into);
    uint64_t const unit = state_print_shape(into)->side_unit;
    unsigned const subtable = (unsigned)(place.bucket / cells.shape->places.buckets);
    tamis_status   status = TAMIS_OK;
    for (unsigned i = side_count(aside); i-- > 0 && status == TAMIS_OK;) {
        uint64_t const    hash = side_hash(aside, i);
        dleft_place const own = tagged_place_in(cells, tagged_key_of(cells, hash), subtable);
        if (own.bucket != place.bucket || own.print != place.print) continue;
        if (side_has(state_print_side(from), hash)) continue;
        uint64_t const field = state_print_field(into, side_field_at(aside, i));
        status = state_print_join(into, cell->bit,
                                  state_print_brought(into, cell->unit, into, unit, field));
        side_take(aside, i);
        into->keys--;
    }
    return status;
}

/* Permuted, a fingerprint can go to any of its buckets: it is known from the print and the
 * bucket. Apart, the other buckets of the key are not known, so a print stays in the bucket that
 * it is in. */
static tamis_status state_print_merge_cell(tamis_table *into, const tamis_table *from,
                                           dleft_place place, uint64_t field) {
    const print_shape *const shape = state_print_shape(into);
    tagged const             cells = state_print_cells(into);
    tagged_found             seen = TAGGED_NOTHING;
    if (shape->is_permuted) {
        uint64_t const fingerprint = dleft_fingerprint_of(&cells.shape->places, place);
        seen = tagged_look(cells, (tagged_key){ 0, fingerprint });
    } else {
        tagged_look_in(cells, place, &seen);
    }
    bool const is_new = seen.matches == 0;
    if (is_new && seen.load == shape->cells.cells.n) return TAMIS_ERR_FULL;
    uint64_t const   unit = is_new ? seen.least.bucket : seen.bucket;
    uint64_t const   brought = state_print_brought(into, unit, from, place.bucket, field);
    state_cell const cell = { tagged_field_at(cells, unit, is_new ? seen.load : seen.cell), unit };
    if (is_new) state_print_add(into, seen.least, seen.load, brought);
    tamis_status const status = is_new ? TAMIS_OK : state_print_join(into, cell.bit, brought);
    return status == TAMIS_OK ? state_print_absorb(into, from, place, &cell) : status;
}

/* The side table of `from` first, then its cells. A key can be in a cell of one table and in the
 * side table of the other, where prints are apart: the key of the side table then joins the cell,
 * whichever of the two comes first (merge_aside and absorb).
 *
 *     in `from`     in `into`     becomes
 *     side          side          one entry of the side table
 *     side          one cell      that cell, with both values joined
 *     side          nothing       an entry of the side table
 *     cell          same print    that cell, with both values joined
 *     cell          side          the cell, and the entry of the side table goes
 *     cell          nothing       a new cell, or _FULL */
static tamis_status state_print_merge(tamis_table *into, const tamis_table *from) {
    tagged const cells = state_print_cells(from);
    cells_walk   walk = { .cell = 0 };
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; i < side_count(state_print_side(from)) && status == TAMIS_OK; i++) {
        status = state_print_merge_aside(into, from, i);
    }
    while (status == TAMIS_OK &&
           cells_walk_on(&cells.shape->cells, cells.body, dleft_all(&cells.shape->places), &walk)) {
        dleft_place const place = { walk.bucket, walk.found };
        uint64_t const    field =
            state_print_field(from, tagged_field_at(cells, walk.bucket, walk.cell));
        status = state_print_merge_cell(into, from, place, field);
    }
    return status;
}

/* ------------------------------------------------------------------ counting */

/* How many keys have each value. A key that is unknown has no value, and is in no counter. */
static void state_print_tally(const tamis_table *table, uint64_t *counts) {
    print_walk walk = { .aside = 0 };
    while (state_print_next(table, &walk)) {
        uint64_t const value = state_print_value(table, walk.cell.bit);
        if (value < table->values) counts[value]++;
    }
}

/* "Don't know" is the value behind the last one (I5), so it is found as any other. */
static void state_print_census(const tamis_table *table, kind_census *ret_census) {
    print_walk walk = { .aside = 0 };
    *ret_census = (kind_census){ .side_keys = side_count(state_print_side(table)),
                                 .side_room = state_print_shape(table)->side.room };
    while (state_print_next(table, &walk)) {
        ret_census->unknown_cells += state_print_value(table, walk.cell.bit) == table->values;
    }
}

const kind_states KIND_STATES(state_print) = {
    .put = state_print_put,
    .get = state_print_get,
    .move = state_print_move,
    .set = state_print_set,
    .touch = state_print_touch,
    .drop = state_print_drop,
    .step = state_print_step,
    .units = state_print_units,
    .holds_values = state_print_holds_values,
    .sweep = state_print_sweep,
    .tally = state_print_tally,
    .census = state_print_census,
    .merge = state_print_merge,
};
