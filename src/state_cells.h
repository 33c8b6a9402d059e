/* state_cells.h - states for kinds with one cell per fingerprint (line, rank). In such a kind no
 * value is unknown: a fingerprint has a cell with a value, or no cell.
 *
 * Such a kind can find the cell of a key, insert one, and erase it. A field of the cell is the
 * state of the key:
 *
 *     low bit                                high bit
 *     +----------------------+--------------------+
 *     | value                | timer              |      `bits` bits; no timer without a timeout
 *     +----------------------+--------------------+
 *
 * This file has put, get, move, touch and drop, once for all of these kinds. It also has the
 * operations on whole units of the sweep (a unit is a bucket), for kinds whose cells stay in their
 * unit: ageing, counting, merging. The functions are inlined into a kind with its own constant
 * `state_cells`, so that no call is indirect.
 *
 * After TAMIS_OPEN_TRUST the body has not been checked. A damaged value may then be larger than any
 * value of the table, so it is compared with table->values before it is used as an index.
 */
#ifndef TAMIS_STATE_CELLS_H
#define TAMIS_STATE_CELLS_H

#include "core/bits.h"
#include "core/field.h"
#include "core/stripes.h"
#include "kind.h"
#include "theory/print_law.h"

/* The position of a state. */
typedef struct state_cell {
    uint64_t bit;  /* of the body, where its field begins */
    uint64_t unit; /* of the sweep */
} state_cell;

typedef struct state_cells {
    /* TAMIS_OK, _ABSENT. If it is short, mark it noinline: where it is inlined, GCC 12 warns that
     * state_cells_step() may read the cell of an absent key. (It does not; a cell that is set to 0
     * first takes 6 instructions more for each step.) */
    tamis_status (*find)(const tamis_table *table, uint64_t hash, state_cell *ret_cell);

    /* Make a cell for a key that has none, with state_fresh() as its field. TAMIS_OK, _FULL. */
    tamis_status (*insert)(tamis_table *table, uint64_t hash, uint32_t value);

    /* Remove the cell of a key that has one. */
    void (*erase)(tamis_table *table, uint64_t hash);
} state_cells;

/* ------------------------------------------------------------------ a field */

/* Bits of the value in a field of `bits` bits. */
TAMIS_INLINE unsigned state_value_bits(const tamis_table *table, unsigned bits) {
    return bits - (unsigned)table->sweep.timer_bits;
}

/* The field of a cell that is put, moved or touched now. */
TAMIS_INLINE uint64_t state_fresh(const tamis_table *table, unsigned bits, uint64_t unit,
                                  uint64_t value) {
    return value | sweep_fresh(&table->sweep, unit, value) << state_value_bits(table, bits);
}

TAMIS_INLINE uint64_t state_value(const tamis_table *table, unsigned bits, uint64_t field) {
    return field & bits_low(state_value_bits(table, bits));
}

TAMIS_INLINE uint64_t state_timer(const tamis_table *table, unsigned bits, uint64_t field) {
    return field >> state_value_bits(table, bits);
}

/* Will the next pass of the sweep remove the cell? */
TAMIS_INLINE bool state_is_over(const tamis_table *table, unsigned bits, uint64_t field) {
    return state_timer(table, bits, field) == 0;
}

/* The field after a pass of the sweep, if the cell stays. */
TAMIS_INLINE uint64_t state_older(const tamis_table *table, unsigned bits, uint64_t field) {
    return field - (UINT64_C(1) << state_value_bits(table, bits));
}

/* For validate: no timer is longer than that of a cell that is touched now. Timers and the passes
 * that a unit is owed are decremented together, so this always holds. */
TAMIS_INLINE bool state_timer_is_possible(const tamis_table *table, unsigned bits, uint64_t unit,
                                          uint64_t field) {
    uint64_t const value = state_value(table, bits, field);
    return state_timer(table, bits, field) <= sweep_fresh(&table->sweep, unit, value);
}

TAMIS_INLINE void state_write(tamis_table *table, unsigned bits, const state_cell *cell,
                              uint64_t value) {
    field_set(table->body, cell->bit, bits, state_fresh(table, bits, cell->unit, value));
}

/* One more cell has aged. `aged` has a counter for each value, or is NULL. */
TAMIS_INLINE void state_count_aged(tamis_table *table, uint64_t value, uint64_t *aged) {
    table->aged++;
    if (aged != NULL && value < table->values) aged[value]++;
}

/* ------------------------------------------------------------------ merging */

/* How the timer of a unit there becomes that of a unit here; see state_converted(). */
typedef uint64_t state_timer_rule(const sweep *here, uint64_t here_unit, const sweep *there,
                                  uint64_t there_unit, uint64_t timer, uint64_t value);

/* A field of another table, converted to this one. Its timer depends on where both sweeps are. The
 * rule is sweep_taken_over() for two tables that are merged, and sweep_carried() for a table of
 * another stage, whose sweep goes on in this one (grow.c). */
TAMIS_INLINE uint64_t state_converted(const tamis_table *to, uint64_t to_unit,
                                      const tamis_table *from, uint64_t from_unit, unsigned bits,
                                      uint64_t field, state_timer_rule *rule) {
    uint64_t const value = state_value(from, bits, field);
    uint64_t const timer =
        rule(&to->sweep, to_unit, &from->sweep, from_unit, state_timer(from, bits, field), value);
    return value | timer << state_value_bits(to, bits);
}

/* Two fields of one key, both converted to this table: keep the longer timer. _CONFLICT: the values
 * differ. */
TAMIS_INLINE tamis_status state_join(tamis_table *into, unsigned bits, uint64_t bit,
                                     uint64_t field) {
    uint64_t const own = field_get(into->body, bit, bits);
    if (state_value(into, bits, own) != state_value(into, bits, field)) return TAMIS_ERR_CONFLICT;
    field_set(into->body, bit, bits, max_u64(own, field));
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ one key */

TAMIS_INLINE tamis_status state_cells_get(const state_cells *cells, const tamis_table *table,
                                          unsigned bits, uint64_t hash, uint32_t *ret_value) {
    state_cell         cell;
    tamis_status const status = cells->find(table, hash, &cell);
    if (status != TAMIS_OK) return status;
    *ret_value = (uint32_t)state_value(table, bits, field_get(table->body, cell.bit, bits));
    return TAMIS_OK;
}

/* Find the cell of a key. _CONFLICT: its value is not `expected`. */
TAMIS_INLINE tamis_status state_cells_find(const state_cells *cells, const tamis_table *table,
                                           unsigned bits, uint64_t hash, uint64_t expected,
                                           state_cell *ret_cell) {
    tamis_status const status = cells->find(table, hash, ret_cell);
    if (status != TAMIS_OK || expected == TAMIS_ANY_VALUE) return status;
    uint64_t const field = field_get(table->body, ret_cell->bit, bits);
    return state_value(table, bits, field) == expected ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

/* A new key is searched twice, by find() and by insert(). Passing the result of find() to insert()
 * was tried and dropped: puts of new keys became 0 to 15% faster in rank and no faster in line, but
 * puts of existing keys became slower: up to 25% in line, up to 15% in rank. */
TAMIS_INLINE tamis_status state_cells_put(const state_cells *cells, tamis_table *table,
                                          unsigned bits, uint64_t hash, uint32_t value) {
    state_cell         cell;
    tamis_status const status = state_cells_find(cells, table, bits, hash, value, &cell);
    if (status == TAMIS_ERR_ABSENT) return cells->insert(table, hash, value);
    if (status == TAMIS_OK) state_write(table, bits, &cell, value);
    return status;
}

TAMIS_INLINE tamis_status state_cells_move(const state_cells *cells, tamis_table *table,
                                           unsigned bits, uint64_t hash, uint64_t from,
                                           uint32_t to) {
    state_cell         cell;
    tamis_status const status = state_cells_find(cells, table, bits, hash, from, &cell);
    if (status == TAMIS_OK) state_write(table, bits, &cell, to);
    return status;
}

/* Put the key, or move it from any value. */
TAMIS_INLINE tamis_status state_cells_set(const state_cells *cells, tamis_table *table,
                                          unsigned bits, uint64_t hash, uint32_t value) {
    state_cell         cell;
    tamis_status const status = cells->find(table, hash, &cell);
    if (status == TAMIS_ERR_ABSENT) return cells->insert(table, hash, value);
    if (status == TAMIS_OK) state_write(table, bits, &cell, value);
    return status;
}

TAMIS_INLINE tamis_status state_cells_touch(const state_cells *cells, tamis_table *table,
                                            unsigned bits, uint64_t hash) {
    state_cell         cell;
    tamis_status const status = cells->find(table, hash, &cell);
    if (status == TAMIS_OK) {
        uint64_t const field = field_get(table->body, cell.bit, bits);
        state_write(table, bits, &cell, state_value(table, bits, field));
    }
    return status;
}

TAMIS_INLINE tamis_status state_cells_drop(const state_cells *cells, tamis_table *table,
                                           unsigned bits, uint64_t hash, uint64_t from) {
    state_cell         cell;
    tamis_status const status = state_cells_find(cells, table, bits, hash, from, &cell);
    if (status == TAMIS_OK) cells->erase(table, hash);
    return status;
}

/* Do what a stepper has decided for a key that has a cell, whose field was `was`. If nothing
 * changes, nothing is written: a key that is stepped often already has its value and timer. */
TAMIS_INLINE void state_cells_obey(const state_cells *cells, tamis_table *table, unsigned bits,
                                   uint64_t hash, const state_cell *cell, tamis_step decided,
                                   uint64_t was, uint32_t to) {
    uint64_t const value = decided == TAMIS_STEP_SET ? to : state_value(table, bits, was);
    uint64_t const field = state_fresh(table, bits, cell->unit, value);
    if (decided == TAMIS_STEP_DROP)
        cells->erase(table, hash);
    else if (field != was)
        field_set(table->body, cell->bit, bits, field);
}

/* Get the value, call the state machine, and do what it decides, with one search for the cell. */
TAMIS_INLINE tamis_status state_cells_step(const state_cells *cells, tamis_table *table,
                                           unsigned bits, uint64_t hash,
                                           const kind_stepper *stepper, tamis_status *ret_was,
                                           uint32_t *ret_value) {
    state_cell         cell;
    tamis_status const was = *ret_was = cells->find(table, hash, &cell);
    uint64_t const     field = was == TAMIS_OK ? field_get(table->body, cell.bit, bits) : 0;
    uint32_t           to = 0;
    if (was == TAMIS_OK) *ret_value = (uint32_t)state_value(table, bits, field);
    tamis_step const decided = stepper->decide(stepper->context, stepper->i, was, *ret_value, &to);
    if (decided == TAMIS_STEP_LEAVE) return TAMIS_OK;
    if (decided > TAMIS_STEP_DROP) return TAMIS_ERR_ARGUMENT;
    if (decided == TAMIS_STEP_SET && to >= table->values) return TAMIS_ERR_ARGUMENT;
    if (was != TAMIS_OK) return decided == TAMIS_STEP_SET ? cells->insert(table, hash, to) : was;
    state_cells_obey(cells, table, bits, hash, &cell, decided, field, to);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ whole units */

#define STATE_LIST_MAX 256 /* states in a unit */

/* The states of a unit. */
typedef struct state_list {
    unsigned n;
    uint64_t bit[STATE_LIST_MAX];   /* where their fields begin */
    uint64_t print[STATE_LIST_MAX]; /* their fingerprints, if requested */
} state_list;

/* For kinds whose cells stay in their unit, which is the bucket fastrange(hash, units): functions
 * in addition to state_cells. */
typedef struct state_units {
    void (*list)(const tamis_table *table, uint64_t unit, bool has_prints, state_list *ret_list);
    uint64_t (*prints)(const uint64_t *geometry); /* as in tamis_kind */

    /* As in state_cells, with the field. */
    tamis_status (*insert)(tamis_table *table, uint64_t hash, uint64_t field);
} state_units;

/* Decrement the timers of a listed unit. The prints and values of cells that time out are moved to
 * the front of the list (a value replaces the bit); returns how many. */
TAMIS_INLINE unsigned state_units_age(tamis_table *table, unsigned bits, state_list *list) {
    unsigned over = 0;
    for (unsigned i = 0; i < list->n; i++) {
        uint64_t const field = field_get(table->body, list->bit[i], bits);
        if (state_is_over(table, bits, field)) {
            list->print[over] = list->print[i];
            list->bit[over++] = state_value(table, bits, field);
        } else {
            field_set(table->body, list->bit[i], bits, state_older(table, bits, field));
        }
    }
    return over;
}

/* The sweep visits a unit. Cells that time out are removed last, since that moves other cells.
 * Prints are listed only if a cell times out, since in some kinds that takes time. */
TAMIS_INLINE void state_units_sweep(const state_units *units, const state_cells *cells,
                                    tamis_table *table, unsigned bits, uint64_t unit,
                                    uint64_t *aged) {
    uint64_t const prints = units->prints(table->geometry);
    bool           is_any_over = false;
    state_list     list;
    units->list(table, unit, false, &list);
    for (unsigned i = 0; i < list.n; i++) {
        is_any_over |= state_is_over(table, bits, field_get(table->body, list.bit[i], bits));
    }
    if (is_any_over) units->list(table, unit, true, &list);
    unsigned const over = state_units_age(table, bits, &list);
    for (unsigned i = 0; i < over; i++) {
        cells->erase(table, fastrange_inverse(list.print[i], prints));
        state_count_aged(table, list.bit[i], aged);
    }
}

/* Count the keys of each value. */
TAMIS_INLINE void state_units_tally(const state_units *units, const tamis_table *table,
                                    unsigned bits, uint64_t *counts) {
    state_list list;
    for (uint64_t unit = 0; unit < table->sweep.units; unit++) {
        units->list(table, unit, false, &list);
        for (unsigned i = 0; i < list.n; i++) {
            uint64_t const field = field_get(table->body, list.bit[i], bits);
            uint64_t const value = state_value(table, bits, field);
            if (value < table->values) counts[value]++; /* always so in a table that was checked */
        }
    }
}

/* Add all states of `from` to a table of the same geometry. */
TAMIS_INLINE tamis_status state_units_merge(const state_units *units, const state_cells *cells,
                                            tamis_table *into, const tamis_table *from,
                                            unsigned bits) {
    uint64_t const prints = units->prints(into->geometry);
    state_list     list;
    for (uint64_t unit = 0; unit < from->sweep.units; unit++) {
        units->list(from, unit, true, &list);
        for (unsigned i = 0; i < list.n; i++) {
            uint64_t const field = field_get(from->body, list.bit[i], bits);
            uint64_t const brought =
                state_converted(into, unit, from, unit, bits, field, sweep_taken_over);
            uint64_t const hash = fastrange_inverse(list.print[i], prints);
            state_cell     cell;
            tamis_status   status = cells->find(into, hash, &cell);
            status = status == TAMIS_OK ? state_join(into, bits, cell.bit, brought)
                                        : units->insert(into, hash, brought);
            vacancy_mark_used(into->used_parts, unit);
            if (status != TAMIS_OK) return status;
        }
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the functions of a kind */

/* Defines what such a kind needs for its kind_states: KIND_put(), KIND_move() and so on, and the
 * list of them, STATE_UNITS_MEMBERS(). Each function is one call of a function above, which is
 * inlined, so a breakpoint on rank_move() stops in the rules of state_cells_move().
 *
 * The kind has defined before:
 *     KIND_state_bits(table)                            bits of a field
 *     KIND_find_state(), KIND_insert_field(), KIND_erase_state(), KIND_list_states()
 *     tamis_KIND_prints()                               as in tamis_kind
 *     PREFIX_BUCKETS, _COPIES, _COUNTER_BITS, _VALUE_BITS   fields of its geometry */
#define STATE_UNITS_DEFINE(kind, PREFIX)                                                          \
    static tamis_status kind##_insert_state(tamis_table *table, uint64_t hash, uint32_t value) {  \
        uint64_t const unit = fastrange(hash, table->sweep.units);                                \
        vacancy_mark_used(table->used_parts, unit);                                               \
        return kind##_insert_field(table, hash,                                                   \
                                   state_fresh(table, kind##_state_bits(table), unit, value));    \
    }                                                                                             \
    static const state_cells kind##_cells = { .find = kind##_find_state,                          \
                                              .insert = kind##_insert_state,                      \
                                              .erase = kind##_erase_state };                      \
    static const state_units kind##_units = { .list = kind##_list_states,                         \
                                              .prints = tamis_##kind##_prints,                    \
                                              .insert = kind##_insert_field };                    \
    static tamis_status      kind##_put(tamis_table *table, uint64_t hash, uint32_t value) {      \
             return state_cells_put(&kind##_cells, table, kind##_state_bits(table), hash, value); \
    }                                                                                             \
    static STRIPE_READER tamis_status kind##_get(const tamis_table *table, uint64_t hash,         \
                                                 uint32_t *ret_value) {                           \
        return state_cells_get(&kind##_cells, table, kind##_state_bits(table), hash, ret_value);  \
    }                                                                                             \
    static tamis_status kind##_move(tamis_table *table, uint64_t hash, uint64_t from,             \
                                    uint32_t to) {                                                \
        return state_cells_move(&kind##_cells, table, kind##_state_bits(table), hash, from, to);  \
    }                                                                                             \
    static tamis_status kind##_set(tamis_table *table, uint64_t hash, uint32_t value) {           \
        return state_cells_set(&kind##_cells, table, kind##_state_bits(table), hash, value);      \
    }                                                                                             \
    static tamis_status kind##_touch(tamis_table *table, uint64_t hash) {                         \
        return state_cells_touch(&kind##_cells, table, kind##_state_bits(table), hash);           \
    }                                                                                             \
    static tamis_status kind##_drop(tamis_table *table, uint64_t hash, uint64_t from) {           \
        return state_cells_drop(&kind##_cells, table, kind##_state_bits(table), hash, from);      \
    }                                                                                             \
    static tamis_status kind##_step(tamis_table *table, uint64_t hash,                            \
                                    const kind_stepper *stepper, tamis_status *ret_was,           \
                                    uint32_t *ret_value) {                                        \
        return state_cells_step(&kind##_cells, table, kind##_state_bits(table), hash, stepper,    \
                                ret_was, ret_value);                                              \
    }                                                                                             \
    static void kind##_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {                 \
        state_units_sweep(&kind##_units, &kind##_cells, table, kind##_state_bits(table), unit,    \
                          aged);                                                                  \
    }                                                                                             \
    static bool kind##_is_vacant(const tamis_table *table, uint64_t unit) {                       \
        state_list list;                                                                          \
        kind##_list_states(table, unit, false, &list);                                            \
        return list.n == 0;                                                                       \
    }                                                                                             \
    static void kind##_tally(const tamis_table *table, uint64_t *counts) {                        \
        state_units_tally(&kind##_units, table, kind##_state_bits(table), counts);                \
    }                                                                                             \
    static tamis_status kind##_merge_states(tamis_table *into, const tamis_table *from) {         \
        return state_units_merge(&kind##_units, &kind##_cells, into, from,                        \
                                 kind##_state_bits(into));                                        \
    }                                                                                             \
    static uint64_t kind##_units_of(const uint64_t *geometry) {                                   \
        return geometry[PREFIX##_BUCKETS];                                                        \
    }                                                                                             \
    static bool kind##_holds_values(const uint64_t *geometry, uint64_t values,                    \
                                    unsigned timer_bits) {                                        \
        return geometry[PREFIX##_COPIES] == 1 && geometry[PREFIX##_COUNTER_BITS] == 0 &&          \
               geometry[PREFIX##_VALUE_BITS] == tamis_prints_value_bits(values, timer_bits);      \
    }

/* Those functions as members of a kind_states. */
#define STATE_UNITS_MEMBERS(kind)                                                              \
    .put = kind##_put, .get = kind##_get, .move = kind##_move, .set = kind##_set,              \
    .touch = kind##_touch, .drop = kind##_drop, .step = kind##_step, .units = kind##_units_of, \
    .holds_values = kind##_holds_values, .sweep = kind##_sweep, .tally = kind##_tally,         \
    .is_vacant = kind##_is_vacant, .merge = kind##_merge_states

#endif
