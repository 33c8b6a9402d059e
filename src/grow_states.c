/* grow_states.c - operations on states in a table that grows.
 *
 * As in grow_calls.c for sets, the functions of states*.c call these with the handle's table. They
 * choose the table that the key is in, and do a part of the step.
 *
 * Timers. The sweep of the handle's table is the real one. In a step, `next` has the same sweep
 * with twice the units, so that moving a key does not change how many passes it is owed. A unit
 * whose keys have moved is swept in `next`, as the two units that it became.
 */
#include "grow.h"

static const kind_states *kind_of(const tamis_table *table) {
    return grow_handle(table)->kind->states;
}

/* The table that a key is in. */
static tamis_table *table_of(const tamis_table *table, uint64_t hash) {
    tamis_set *const set = grow_handle(table);
    return hash < set->growth->boundary ? &set->growth->next : &set->table;
}

/* An operation that may add a key has returned `status`. True: it was refused, and there is room
 * now. Otherwise *ret_status is the result for the caller. */
static bool shall_retry(tamis_set *set, tamis_status status, tamis_status *ret_status) {
    *ret_status = status;
    if (__builtin_expect(status != TAMIS_ERR_FULL, 1)) {
        tamis_grow_pay(set, 1);
        return false;
    }
    set->growth->refusal = *ret_status = tamis_grow_make_room(set);
    return *ret_status == TAMIS_OK;
}

/* ------------------------------------------------------------------ one key */

static tamis_status grow_put(tamis_table *table, uint64_t hash, uint32_t value) {
    tamis_status status;
    while (shall_retry(grow_handle(table), kind_of(table)->put(table_of(table, hash), hash, value),
                       &status)) {
    }
    return status;
}

static tamis_status grow_set(tamis_table *table, uint64_t hash, uint32_t value) {
    tamis_status status;
    while (shall_retry(grow_handle(table), kind_of(table)->set(table_of(table, hash), hash, value),
                       &status)) {
    }
    return status;
}

static tamis_status grow_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    return kind_of(table)->get(table_of(table, hash), hash, ret_value);
}

static tamis_status grow_move(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to) {
    return kind_of(table)->move(table_of(table, hash), hash, from, to);
}

static tamis_status grow_touch(tamis_table *table, uint64_t hash) {
    return kind_of(table)->touch(table_of(table, hash), hash);
}

static tamis_status grow_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    tamis_status const status = kind_of(table)->drop(table_of(table, hash), hash, from);
    tamis_grow_pay(grow_handle(table), 1);
    return status;
}

/* ------------------------------------------------------------------ state machines */

tamis_step tamis_grow_remember(void *context, size_t i, tamis_status was, uint32_t value,
                               uint32_t *ret_to) {
    grow_note *const note = context;
    if (note->is_decided && was == note->was && value == note->value) {
        *ret_to = note->to;
        return note->decided;
    }
    note->is_decided = true;
    note->was = was;
    note->value = value;
    note->decided = note->asked->decide(note->asked->context, i, was, value, ret_to);
    note->to = *ret_to;
    return note->decided;
}

/* A step of the state machine is refused only if it has to put a new key. */
static tamis_status grow_step(tamis_table *table, uint64_t hash, const kind_stepper *stepper,
                              tamis_status *ret_was, uint32_t *ret_value) {
    grow_note          note = { .asked = stepper };
    kind_stepper const noting = { tamis_grow_remember, &note, stepper->i };
    tamis_status const status =
        kind_of(table)->step(table_of(table, hash), hash, &noting, ret_was, ret_value);
    if (status == TAMIS_ERR_FULL && note.decided == TAMIS_STEP_SET)
        return grow_put(table, hash, note.to);
    tamis_grow_pay(grow_handle(table), 1);
    return status;
}

/* ------------------------------------------------------------------ time */

static void grow_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {
    tamis_set *const         set = grow_handle(table);
    const kind_states *const kind = set->kind->states;
    if (unit >= set->growth->moved) {
        kind->sweep(table, unit, aged);
        return;
    }
    kind->sweep(&set->growth->next, 2 * unit, aged);
    kind->sweep(&set->growth->next, 2 * unit + 1, aged);
}

/* ------------------------------------------------------------------ all keys */

static uint64_t grow_keys(const tamis_table *table) {
    const tamis_table *tables[2];
    uint64_t           sum = 0;
    for (unsigned n = grow_tables(grow_handle(table), tables); n-- != 0;) sum += tables[n]->keys;
    return sum;
}

static void grow_tally(const tamis_table *table, uint64_t *counts) {
    const tamis_table *tables[2];
    for (unsigned n = grow_tables(grow_handle(table), tables); n-- != 0;)
        kind_of(table)->tally(tables[n], counts);
}

const kind_states tamis_grow_states = {
    .put = grow_put,
    .get = grow_get,
    .move = grow_move,
    .set = grow_set,
    .touch = grow_touch,
    .drop = grow_drop,
    .sweep = grow_sweep,
    .step = grow_step,
    .keys = grow_keys,
    .tally = grow_tally,
};
