/* share_states.c - operations on states in a shared table.
 *
 * As in share_calls.c for sets, the functions of states*.c call these with the handle's table. They
 * make a window for the key and let the kind work on it.
 *
 * Time. The sweep of the handle's table is the real one. Only tamis_states_tick() changes it, one
 * thread at a time. Other threads need it for the timer of a key that they touch: they read a copy,
 * one for each table of a step. A unit is swept, and the sweep advances past it, while the stripe
 * of the unit is locked. So a touch of a key of that unit happens before both or after both, and
 * its timer is right.
 */
#include "grow.h"
#include "share.h"

/* ------------------------------------------------------------------ operations on a window */

typedef struct state_call {
    const kind_states  *kind;
    uint64_t            from;
    uint32_t            to;
    const kind_stepper *stepper;
    tamis_status        status, was;
    uint32_t            value;
} state_call;

static tamis_status do_put(tamis_table *table, uint64_t hash, void *arguments) {
    const state_call *const call = arguments;
    return call->kind->put(table, hash, call->to);
}

static tamis_status do_set(tamis_table *table, uint64_t hash, void *arguments) {
    const state_call *const call = arguments;
    return call->kind->set(table, hash, call->to);
}

static tamis_status do_move(tamis_table *table, uint64_t hash, void *arguments) {
    const state_call *const call = arguments;
    return call->kind->move(table, hash, call->from, call->to);
}

static tamis_status do_touch(tamis_table *table, uint64_t hash, void *arguments) {
    const state_call *const call = arguments;
    return call->kind->touch(table, hash);
}

static tamis_status do_drop(tamis_table *table, uint64_t hash, void *arguments) {
    const state_call *const call = arguments;
    return call->kind->drop(table, hash, call->from);
}

static tamis_status do_step(tamis_table *table, uint64_t hash, void *arguments) {
    state_call *const call = arguments;
    return call->kind->step(table, hash, call->stepper, &call->was, &call->value);
}

static uint64_t ask_value(const tamis_table *table, uint64_t hash, void *arguments) {
    state_call *const call = arguments;
    call->status = call->kind->get(table, hash, &call->value);
    return 0;
}

/* ------------------------------------------------------------------ one key */

/* `more`: entries that may come. */
static tamis_status change_once(tamis_set *set, uint64_t hash, unsigned more,
                                share_operation *operation, state_call *call) {
    share_window window;
    window.side = NULL;
    call->kind = set->kind->states;
    unsigned const     mine = tamis_share_enter(set);
    tamis_status const status =
        share_change(share_of(set), set->kind->sharing, &window, hash, more, operation, call);
    tamis_share_leave(set, mine);
    if (set->growth != NULL) tamis_share_pay(set, hash);
    return status;
}

/* An operation that may add a key: if there is no room, make room. */
static tamis_status change_or_grow(tamis_set *set, uint64_t hash, share_operation *operation,
                                   state_call *call) {
    for (;;) {
        uint64_t const seen = __atomic_load_n(&set->shared->share.views, __ATOMIC_ACQUIRE);
        tamis_status   status = change_once(set, hash, 1, operation, call);
        if (status != TAMIS_ERR_FULL || set->growth == NULL) return status;
        status = tamis_share_make_room(set, seen);
        if (status != TAMIS_OK) return status;
    }
}

static tamis_status share_states_put(tamis_table *table, uint64_t hash, uint32_t value) {
    state_call call = { .to = value };
    return change_or_grow(share_set_of_table(table), hash, do_put, &call);
}

static tamis_status share_states_set_value(tamis_table *table, uint64_t hash, uint32_t value) {
    state_call call = { .to = value };
    return change_or_grow(share_set_of_table(table), hash, do_set, &call);
}

static tamis_status share_states_move(tamis_table *table, uint64_t hash, uint64_t from,
                                      uint32_t to) {
    state_call call = { .from = from, .to = to };
    return change_once(share_set_of_table(table), hash, 0, do_move, &call);
}

static tamis_status share_states_touch(tamis_table *table, uint64_t hash) {
    state_call call = { .from = 0 };
    return change_once(share_set_of_table(table), hash, 0, do_touch, &call);
}

static tamis_status share_states_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    state_call call = { .from = from };
    return change_once(share_set_of_table(table), hash, 0, do_drop, &call);
}

static tamis_status share_states_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    const tamis_set *const set = set_of_table(table);
    state_call             call = { .kind = set->kind->states };
    unsigned const         mine = tamis_share_enter(set);
    (void)share_ask(share_of(set), set->kind->sharing, hash, ask_value, &call);
    tamis_share_leave(set, mine);
    if (call.status == TAMIS_OK) *ret_value = call.value;
    return call.status;
}

/* While room is made for a new key, another thread may put the same key. So the whole step is tried
 * again, and the machine is asked again only if it would see another state than before. */
static tamis_status share_states_step(tamis_table *table, uint64_t hash,
                                      const kind_stepper *stepper, tamis_status *ret_was,
                                      uint32_t *ret_value) {
    grow_note          note = { .asked = stepper };
    kind_stepper const noting = { tamis_grow_remember, &note, stepper->i };
    state_call         call = { .stepper = &noting };
    tamis_status const status = change_or_grow(share_set_of_table(table), hash, do_step, &call);
    *ret_was = call.was;
    *ret_value = call.value;
    return status;
}

/* ------------------------------------------------------------------ time */

void tamis_share_show_sweep(tamis_set *set) {
    sharing *const share = share_of(set);
    bool const     has_next = grow_is_moving(set);
    if (set->table.values == 0) return;
    stripe_lock(&share->hand);
    stripe_begin_change(&share->hand);
    share->sweeps[0] = set->table.sweep;
    share->sweeps[1] = has_next ? set->growth->next.sweep : set->table.sweep;
    stripe_unlock(&share->hand);
}

/* Sweep a unit of one of the tables, whose stripe is locked. */
static void sweep_unit(tamis_set *set, const share_place *place, uint64_t unit, uint64_t *aged) {
    const kind_sharing *const how = set->kind->sharing;
    sharing *const            share = share_of(set);
    uint64_t *const           word = &share->stripes[place->stripe].word;
    uint64_t const            hash = fastrange_inverse(unit, place->side->geometry[0]);
    share_window              window;
    share_window_begin(&window, place->side, how->derived_words);
    share_load_sweep(share, place->which, &window.table.sweep);
    share_counts_begin(&window.table);
    bool const needs_attic = how->needs_attic != NULL && how->needs_attic(place->side, hash, 0);
    if (needs_attic) stripe_lock(&share->attic);
    stripe_begin_change(word);
    set->kind->states->sweep(&window.table, unit, aged);
    if (needs_attic) stripe_unlock(&share->attic);
    share_count(share, place, &window.table);
}

/* Sweep the next unit, and advance. A unit that has moved is two units now. */
static void sweep_next(tamis_set *set, uint64_t *aged) {
    sweep *const      hand = &set->table.sweep;
    uint64_t const    unit = hand->done;
    share_place const place =
        share_lock(share_of(set), fastrange_inverse(unit, set->table.geometry[0]));
    if (place.which == 0) {
        sweep_unit(set, &place, unit, aged);
    } else {
        sweep_unit(set, &place, 2 * unit, aged);
        sweep_unit(set, &place, 2 * unit + 1, aged);
    }
    sweep_step(hand);
    tamis_grow_follow_sweep(set);
    tamis_share_show_sweep(set);
    stripe_unlock(&share_of(set)->stripes[place.stripe].word);
}

/* The end of a step replaces the handle's table, so even what stays the same is read in here. */
static uint64_t tick_alone(tamis_set *set, uint64_t ticks, uint64_t *aged) {
    sweep *const   hand = &set->table.sweep;
    unsigned const mine = tamis_share_enter(set);
    sweep_advance(hand, ticks);
    tamis_grow_follow_sweep(set);
    tamis_share_show_sweep(set);
    for (uint64_t most = sweep_units_of_a_call(hand); most != 0 && hand->done != hand->due; most--)
        sweep_next(set, aged);
    tamis_share_leave(set, mine);
    return hand->due - hand->done;
}

tamis_status tamis_share_tick(tamis_set *set, uint64_t ticks, uint64_t *aged,
                              uint64_t *ret_backlog) {
    (void)pthread_mutex_lock(&set->shared->whole);
    bool const     has_timeout = set->table.sweep.timeout != 0;
    uint64_t const backlog = has_timeout ? tick_alone(set, ticks, aged) : 0;
    (void)pthread_mutex_unlock(&set->shared->whole);
    if (!has_timeout) return TAMIS_ERR_CANNOT;
    if (ret_backlog != NULL) *ret_backlog = backlog;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ all keys */

static uint64_t share_states_keys(const tamis_table *table) {
    const tamis_set *const set = set_of_table(table);
    tamis_share_hold(set);
    uint64_t const keys = tamis_sum_tables(set).keys;
    tamis_share_release(set);
    return keys;
}

static void share_states_tally(const tamis_table *table, uint64_t *counts) {
    const tamis_set *const set = set_of_table(table);
    const tamis_table     *tables[2];
    tamis_share_hold(set);
    for (unsigned n = grow_tables(set, tables); n-- != 0;)
        set->kind->states->tally(tables[n], counts);
    tamis_share_release(set);
}

const kind_states tamis_shared_states = {
    .put = share_states_put,
    .get = share_states_get,
    .move = share_states_move,
    .set = share_states_set_value,
    .touch = share_states_touch,
    .drop = share_states_drop,
    .step = share_states_step,
    .keys = share_states_keys,
    .tally = share_states_tally,
};
