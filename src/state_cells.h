/* state_cells.h - states for kinds that have one cell for one fingerprint.
 *
 * Such a kind can find the cell of a key, make one, and take it away; a field of the cell is its
 * state: the value in the low bits, the timer above it. What put, get, move, touch and drop mean is
 * said here, once for all of them. The functions are inlined into a kind with its own `state_cells`
 * in sight, so that no call is indirect.
 */
#ifndef TAMIS_STATE_CELLS_H
#define TAMIS_STATE_CELLS_H

#include "core/bits.h"
#include "core/field.h"
#include "kind.h"

/* Where a state is. */
typedef struct state_cell {
    uint64_t bit;  /* of the body */
    uint64_t unit; /* of the sweep */
} state_cell;

typedef struct state_cells {
    /* TAMIS_OK, _ABSENT; _UNKNOWN: there are several, or one that is known to be unknown. */
    tamis_status (*find)(const tamis_table *table, uint64_t hash, state_cell *ret_cell);

    /* Make a cell for a key that has none, with state_fresh() for a field. TAMIS_OK, _FULL. */
    tamis_status (*insert)(tamis_table *table, uint64_t hash, uint32_t value);

    /* Take the cell of a key away that has one. */
    void (*erase)(tamis_table *table, uint64_t hash);

    /* Refresh all cells of a key that is unknown, and if it is moved, note that nobody knows its
     * value. NULL in kinds where that does not happen. */
    void (*blur)(tamis_table *table, uint64_t hash, bool is_moved);
} state_cells;

/* Bits of the field: of the value, and with the timer. */
TAMIS_INLINE unsigned state_value_bits(const tamis_table *table, unsigned bits) {
    return bits - (unsigned)table->sweep.timer_bits;
}

/* What a cell in a unit gets when it is put or touched now. */
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

/* Is a field one that the sweep takes out when it comes by? */
TAMIS_INLINE bool state_is_over(const tamis_table *table, unsigned bits, uint64_t field) {
    return state_timer(table, bits, field) == 0;
}

/* The field after a pass of the sweep, if it is not over. */
TAMIS_INLINE uint64_t state_older(const tamis_table *table, unsigned bits, uint64_t field) {
    return field - (UINT64_C(1) << state_value_bits(table, bits));
}

TAMIS_INLINE void state_write(tamis_table *table, unsigned bits, const state_cell *cell,
                              uint64_t value) {
    field_set(table->body, cell->bit, bits, state_fresh(table, bits, cell->unit, value));
}

/* ------------------------------------------------------------------ merging */

/* A field of a unit in another table, as it is in a unit of this one. */
TAMIS_INLINE uint64_t state_brought(const tamis_table *into, uint64_t into_unit,
                                    const tamis_table *from, uint64_t from_unit, unsigned bits,
                                    uint64_t field) {
    uint64_t const value = state_value(from, bits, field);
    uint64_t const timer = sweep_taken_over(&into->sweep, into_unit, &from->sweep, from_unit,
                                            state_timer(from, bits, field), value);
    return value | timer << state_value_bits(into, bits);
}

/* The same for kinds that leave it in its unit. */
TAMIS_INLINE uint64_t state_taken_over(const tamis_table *into, const tamis_table *from,
                                       unsigned bits, uint64_t unit, uint64_t field) {
    return state_brought(into, unit, from, unit, bits, field);
}

/* Two fields of one key, both as of this table: the younger timer. _CONFLICT: other values. */
TAMIS_INLINE tamis_status state_join(tamis_table *into, unsigned bits, uint64_t bit,
                                     uint64_t field) {
    uint64_t const own = field_get(into->body, bit, bits);
    if (state_value(into, bits, own) != state_value(into, bits, field)) return TAMIS_ERR_CONFLICT;
    field_set(into->body, bit, bits, max_u64(own, field));
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the five */

TAMIS_INLINE tamis_status state_cells_get(const state_cells *of, const tamis_table *table,
                                          unsigned bits, uint64_t hash, uint32_t *ret_value) {
    state_cell         cell;
    tamis_status const status = of->find(table, hash, &cell);
    if (status != TAMIS_OK) return status;
    *ret_value = (uint32_t)state_value(table, bits, field_get(table->body, cell.bit, bits));
    return TAMIS_OK;
}

/* Find it, if it has the value that is expected. */
TAMIS_INLINE tamis_status state_cells_find(const state_cells *of, const tamis_table *table,
                                           unsigned bits, uint64_t hash, uint64_t from,
                                           state_cell *ret_cell) {
    tamis_status const status = of->find(table, hash, ret_cell);
    if (status != TAMIS_OK || from == TAMIS_ANY_VALUE) return status;
    uint64_t const field = field_get(table->body, ret_cell->bit, bits);
    return state_value(table, bits, field) == from ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

TAMIS_INLINE tamis_status state_cells_put(const state_cells *of, tamis_table *table, unsigned bits,
                                          uint64_t hash, uint32_t value) {
    state_cell         cell;
    tamis_status const status = state_cells_find(of, table, bits, hash, value, &cell);
    if (status == TAMIS_ERR_ABSENT) return of->insert(table, hash, value);
    if (status == TAMIS_OK) state_write(table, bits, &cell, value);
    if (status == TAMIS_ERR_UNKNOWN) of->blur(table, hash, false);
    return status;
}

TAMIS_INLINE tamis_status state_cells_move(const state_cells *of, tamis_table *table, unsigned bits,
                                           uint64_t hash, uint64_t from, uint32_t to) {
    state_cell         cell;
    tamis_status const status = state_cells_find(of, table, bits, hash, from, &cell);
    if (status == TAMIS_OK) state_write(table, bits, &cell, to);
    if (status == TAMIS_ERR_UNKNOWN) of->blur(table, hash, true);
    return status;
}

TAMIS_INLINE tamis_status state_cells_touch(const state_cells *of, tamis_table *table,
                                            unsigned bits, uint64_t hash) {
    state_cell         cell;
    tamis_status const status = of->find(table, hash, &cell);
    if (status == TAMIS_OK) {
        uint64_t const field = field_get(table->body, cell.bit, bits);
        state_write(table, bits, &cell, state_value(table, bits, field));
    }
    if (status == TAMIS_ERR_UNKNOWN) of->blur(table, hash, false);
    return status;
}

TAMIS_INLINE tamis_status state_cells_drop(const state_cells *of, tamis_table *table, unsigned bits,
                                           uint64_t hash, uint64_t from) {
    state_cell         cell;
    tamis_status const status = state_cells_find(of, table, bits, hash, from, &cell);
    if (status == TAMIS_OK) of->erase(table, hash);
    return status;
}

/* What a stepper has decided about a key that has a cell. A busy key stays as it is: its value and
 * its timer are those already. */
TAMIS_INLINE void state_cells_go_on(const state_cells *of, tamis_table *table, unsigned bits,
                                    uint64_t hash, const state_cell *cell, tamis_step decided,
                                    uint64_t was, uint32_t to) {
    uint64_t const value = decided == TAMIS_STEP_SET ? to : state_value(table, bits, was);
    uint64_t const field = state_fresh(table, bits, cell->unit, value);
    if (decided == TAMIS_STEP_DROP)
        of->erase(table, hash);
    else if (field != was)
        field_set(table->body, cell->bit, bits, field);
}

/* Get, decide and do, with one look for the cell. */
TAMIS_INLINE tamis_status state_cells_step(const state_cells *of, tamis_table *table, unsigned bits,
                                           uint64_t hash, const kind_stepper *by,
                                           tamis_status *ret_was, uint32_t *ret_value) {
    state_cell         cell;
    tamis_status const was = *ret_was = of->find(table, hash, &cell);
    uint64_t const     field = was == TAMIS_OK ? field_get(table->body, cell.bit, bits) : 0;
    uint32_t           to = 0;
    if (was == TAMIS_OK) *ret_value = (uint32_t)state_value(table, bits, field);
    tamis_step const decided = by->decide(by->context, by->i, was, *ret_value, &to);
    if (decided == TAMIS_STEP_LEAVE) return TAMIS_OK;
    if (decided > TAMIS_STEP_DROP) return TAMIS_ERR_ARGUMENT;
    if (decided == TAMIS_STEP_SET && to >= table->values) return TAMIS_ERR_ARGUMENT;
    if (was == TAMIS_ERR_ABSENT)
        return decided == TAMIS_STEP_SET ? of->insert(table, hash, to) : was;
    if (was == TAMIS_ERR_UNKNOWN) {
        if (decided != TAMIS_STEP_DROP) of->blur(table, hash, decided == TAMIS_STEP_SET);
        return was;
    }
    state_cells_go_on(of, table, bits, hash, &cell, decided, field, to);
    return TAMIS_OK;
}

#endif
