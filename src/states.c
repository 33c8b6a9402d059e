/* states.c - the front door of states: check the arguments, hash the key, call the kind.
 *
 * A table of states is the same handle as a set, with a kind that keeps a value for each key. What
 * sets and states have in common (memory, copies, files) is in make.c, save.c and open.c. Here are
 * the operations on keys, and time.
 *
 * An operation on a key takes three hops (docs/trace.md follows them):
 *
 *     tamis_states_move()   here       may the table change, is there such a value? hash the key
 *     state_bloom_move()    the kind   find the key, once, and change what was found
 *     shared_read()         core/      which bits are where
 */
#include "core/memory.h"
#include "keys.h"

/* ------------------------------------------------------------------ checks */

/* May the table change at all? TAMIS_OK, _ARGUMENT or what the handle says: see change_status. */
static tamis_status states_check(const tamis_states *states) {
    return states != NULL ? states->set.change_status : TAMIS_ERR_ARGUMENT;
}

static bool states_is_value(const tamis_states *states, uint64_t value) {
    return value < states->set.table.values;
}

static bool states_is_expected(const tamis_states *states, uint64_t value) {
    return value == TAMIS_ANY_VALUE || states_is_value(states, value);
}

/* What every change of one key checks. A call without `from` passes TAMIS_ANY_VALUE, one without
 * `to` passes 0: both are always right. */
TAMIS_INLINE tamis_status states_check_values(const tamis_states *states, uint64_t from,
                                              uint64_t to) {
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    return states_is_value(states, to) && states_is_expected(states, from) ? TAMIS_OK
                                                                           : TAMIS_ERR_ARGUMENT;
}

/* The same, and the hash of a key given as bytes. */
TAMIS_INLINE tamis_status states_check_key(const tamis_states *states, const void *key,
                                           size_t key_bytes, uint64_t from, uint64_t to,
                                           uint64_t *ret_hash) {
    tamis_status const status = states_check_values(states, from, to);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    *ret_hash = keyhash_bytes(&states->set.hasher, key, key_bytes);
    return TAMIS_OK;
}

/* The same for a key given as an id. */
TAMIS_INLINE tamis_status states_check_id(const tamis_states *states, uint64_t id, uint64_t from,
                                          uint64_t to, uint64_t *ret_hash) {
    tamis_status const status = states_check_values(states, from, to);
    if (status == TAMIS_OK) *ret_hash = keyhash_id(&states->set.hasher, id);
    return status;
}

/* Count the refusals that tamis_states_info reports, and pass the status on. */
TAMIS_INLINE tamis_status states_note(tamis_states *states, tamis_status status) {
    states->set.refused_adds += status == TAMIS_ERR_FULL;
    states->set.conflicts += status == TAMIS_ERR_CONFLICT;
    return status;
}

/* The operations of the table's kind. */
TAMIS_INLINE const kind_states *states_kind(const tamis_states *states) {
    return states->set.kind->states;
}

/* ------------------------------------------------------------------ one key */

tamis_status tamis_states_put(tamis_states *states, const void *key, size_t key_bytes,
                              uint32_t value) {
    uint64_t           hash;
    tamis_status const status =
        states_check_key(states, key, key_bytes, TAMIS_ANY_VALUE, value, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->put(&states->set.table, hash, value));
}

tamis_status tamis_states_put_id(tamis_states *states, uint64_t id, uint32_t value) {
    uint64_t           hash;
    tamis_status const status = states_check_id(states, id, TAMIS_ANY_VALUE, value, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->put(&states->set.table, hash, value));
}

tamis_status tamis_states_move(tamis_states *states, const void *key, size_t key_bytes,
                               uint64_t from, uint32_t to) {
    uint64_t           hash;
    tamis_status const status = states_check_key(states, key, key_bytes, from, to, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->move(&states->set.table, hash, from, to));
}

tamis_status tamis_states_move_id(tamis_states *states, uint64_t id, uint64_t from, uint32_t to) {
    uint64_t           hash;
    tamis_status const status = states_check_id(states, id, from, to, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->move(&states->set.table, hash, from, to));
}

tamis_status tamis_states_set(tamis_states *states, const void *key, size_t key_bytes,
                              uint32_t value) {
    uint64_t           hash;
    tamis_status const status =
        states_check_key(states, key, key_bytes, TAMIS_ANY_VALUE, value, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->set(&states->set.table, hash, value));
}

tamis_status tamis_states_set_id(tamis_states *states, uint64_t id, uint32_t value) {
    uint64_t           hash;
    tamis_status const status = states_check_id(states, id, TAMIS_ANY_VALUE, value, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->set(&states->set.table, hash, value));
}

tamis_status tamis_states_touch(tamis_states *states, const void *key, size_t key_bytes) {
    uint64_t           hash;
    tamis_status const status = states_check_key(states, key, key_bytes, TAMIS_ANY_VALUE, 0, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->touch(&states->set.table, hash));
}

tamis_status tamis_states_touch_id(tamis_states *states, uint64_t id) {
    uint64_t           hash;
    tamis_status const status = states_check_id(states, id, TAMIS_ANY_VALUE, 0, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->touch(&states->set.table, hash));
}

tamis_status tamis_states_drop(tamis_states *states, const void *key, size_t key_bytes,
                               uint64_t from) {
    uint64_t           hash;
    tamis_status const status = states_check_key(states, key, key_bytes, from, 0, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->drop(&states->set.table, hash, from));
}

tamis_status tamis_states_drop_id(tamis_states *states, uint64_t id, uint64_t from) {
    uint64_t           hash;
    tamis_status const status = states_check_id(states, id, from, 0, &hash);
    if (status != TAMIS_OK) return status;
    return states_note(states, states_kind(states)->drop(&states->set.table, hash, from));
}

tamis_status tamis_states_get(const tamis_states *states, const void *key, size_t key_bytes,
                              uint32_t *ret_value) {
    if (states == NULL || ret_value == NULL || !is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    uint64_t const hash = keyhash_bytes(&states->set.hasher, key, key_bytes);
    return states_kind(states)->get(&states->set.table, hash, ret_value);
}

tamis_status tamis_states_get_id(const tamis_states *states, uint64_t id, uint32_t *ret_value) {
    if (states == NULL || ret_value == NULL) return TAMIS_ERR_ARGUMENT;
    uint64_t const hash = keyhash_id(&states->set.hasher, id);
    return states_kind(states)->get(&states->set.table, hash, ret_value);
}

/* ------------------------------------------------------------------ batches */

/* The keys of a batch. False: there are none, or they are given twice. */
static bool states_batch_keys(const tamis_states_batch *batch, keys_from *ret_keys) {
    if (batch == NULL || (batch->keys != NULL && batch->ids != NULL)) return false;
    *ret_keys = (keys_from){ .keys = batch->keys, .ids = batch->ids, .n = batch->n };
    return keys_are_given(ret_keys);
}

/* Is every value to put or move to a value of this table? */
static bool states_batch_has_values(const tamis_states *states, const tamis_states_batch *batch) {
    if (batch->n != 0 && batch->values == NULL) return false;
    for (size_t i = 0; i < batch->n; i++) {
        if (!states_is_value(states, batch->values[i])) return false;
    }
    return true;
}

/* Is every value to expect a value of this table, or any? */
static bool states_batch_has_from(const tamis_states *states, const tamis_states_batch *batch) {
    for (size_t i = 0; batch->from != NULL && i < batch->n; i++) {
        if (!states_is_expected(states, batch->from[i])) return false;
    }
    return true;
}

/* What kinds keep beside the place that `fetch` asked for (a value in another line). */
static void states_fetch_values(const tamis_set *set, const uint64_t *hash, unsigned n,
                                bool is_new) {
    if (n != 0 && set->kind->states->fetch_values != NULL)
        set->kind->states->fetch_values(&set->table, hash, n, is_new);
}

/* Before key i of a chunk. The memory that the next chunk's hashes name was asked for when this
 * chunk began; when three quarters of the chunk are done it has come, and there is time left to
 * fetch what it points to. The first chunk of a batch has to wait for its own. */
TAMIS_INLINE void states_look_ahead(const key_batch *cursor, unsigned i, bool is_new) {
    if (cursor->at == 0 && i == 0)
        states_fetch_values(cursor->set, cursor->hash, cursor->n, is_new);
    if (i == cursor->n * 3 / 4)
        states_fetch_values(cursor->set, cursor->hash_next, cursor->n_next, is_new);
}

/* One operation of a batch, on key i. */
typedef tamis_status states_apply(tamis_states *states, uint64_t hash,
                                  const tamis_states_batch *batch, size_t i);

/* All keys in order. `apply` is known where this is inlined, so the kind is the only one that is
 * called indirectly. is_new: most keys are not in the table yet. */
TAMIS_INLINE void states_change_all(tamis_states *states, const keys_from *keys,
                                    const tamis_states_batch *batch, states_apply *apply,
                                    bool is_new, size_t *ret_n) {
    size_t    n = 0;
    key_batch cursor;
    for (batch_begin(&cursor, &states->set, keys, true); cursor.n != 0; batch_next(&cursor)) {
        for (unsigned i = 0; i < cursor.n; i++) {
            states_look_ahead(&cursor, i, is_new);
            size_t const       at = cursor.at + i;
            tamis_status const status =
                states_note(states, apply(states, cursor.hash[i], batch, at));
            if (batch->ret_statuses != NULL) batch->ret_statuses[at] = status;
            n += status == TAMIS_OK;
        }
    }
    if (ret_n != NULL) *ret_n = n;
}

/* The value that a batch expects key i to have. */
TAMIS_INLINE uint64_t states_batch_from(const tamis_states_batch *batch, size_t i) {
    return batch->from != NULL ? batch->from[i] : TAMIS_ANY_VALUE;
}

TAMIS_INLINE tamis_status states_apply_put(tamis_states *states, uint64_t hash,
                                           const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->put(&states->set.table, hash, batch->values[i]);
}

TAMIS_INLINE tamis_status states_apply_move(tamis_states *states, uint64_t hash,
                                            const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->move(&states->set.table, hash, states_batch_from(batch, i),
                                     batch->values[i]);
}

TAMIS_INLINE tamis_status states_apply_set(tamis_states *states, uint64_t hash,
                                           const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->set(&states->set.table, hash, batch->values[i]);
}

TAMIS_INLINE tamis_status states_apply_touch(tamis_states *states, uint64_t hash,
                                             const tamis_states_batch *batch, size_t i) {
    (void)batch;
    (void)i;
    return states_kind(states)->touch(&states->set.table, hash);
}

TAMIS_INLINE tamis_status states_apply_drop(tamis_states *states, uint64_t hash,
                                            const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->drop(&states->set.table, hash, states_batch_from(batch, i));
}

tamis_status tamis_states_put_batch(tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    keys_from          keys;
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    if (!states_batch_keys(batch, &keys) || !states_batch_has_values(states, batch))
        return TAMIS_ERR_ARGUMENT;
    states_change_all(states, &keys, batch, states_apply_put, true, ret_n);
    return TAMIS_OK;
}

tamis_status tamis_states_move_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    keys_from          keys;
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    if (!states_batch_keys(batch, &keys) || !states_batch_has_values(states, batch) ||
        !states_batch_has_from(states, batch))
        return TAMIS_ERR_ARGUMENT;
    states_change_all(states, &keys, batch, states_apply_move, false, ret_n);
    return TAMIS_OK;
}

tamis_status tamis_states_set_batch(tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    keys_from          keys;
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    if (!states_batch_keys(batch, &keys) || !states_batch_has_values(states, batch))
        return TAMIS_ERR_ARGUMENT;
    states_change_all(states, &keys, batch, states_apply_set, true, ret_n);
    return TAMIS_OK;
}

tamis_status tamis_states_touch_batch(tamis_states *states, const tamis_states_batch *batch,
                                      size_t *ret_n) {
    keys_from          keys;
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    if (!states_batch_keys(batch, &keys)) return TAMIS_ERR_ARGUMENT;
    states_change_all(states, &keys, batch, states_apply_touch, false, ret_n);
    return TAMIS_OK;
}

tamis_status tamis_states_drop_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    keys_from          keys;
    tamis_status const status = states_check(states);
    if (status != TAMIS_OK) return status;
    if (!states_batch_keys(batch, &keys) || !states_batch_has_from(states, batch))
        return TAMIS_ERR_ARGUMENT;
    states_change_all(states, &keys, batch, states_apply_drop, false, ret_n);
    return TAMIS_OK;
}

/* A chunk of gets. Kinds with a get_chunk ask for the memory of values by themselves. */
static void states_get_chunk(const tamis_set *set, const uint64_t *hash, unsigned n,
                             uint32_t *ret_values, tamis_status *ret_statuses) {
    const kind_states *const kind = set->kind->states;
    if (kind->get_chunk != NULL) {
        kind->get_chunk(&set->table, hash, n, ret_values, ret_statuses);
        return;
    }
    states_fetch_values(set, hash, n, false);
    for (unsigned i = 0; i < n; i++) {
        ret_statuses[i] = kind->get(&set->table, hash[i], &ret_values[i]);
    }
}

tamis_status tamis_states_get_batch(const tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    keys_from keys;
    if (states == NULL || !states_batch_keys(batch, &keys)) return TAMIS_ERR_ARGUMENT;
    size_t       n = 0;
    key_batch    cursor;
    uint32_t     values[TAMIS_CHUNK];
    tamis_status statuses[TAMIS_CHUNK];
    for (batch_begin(&cursor, &states->set, &keys, false); cursor.n != 0; batch_next(&cursor)) {
        states_get_chunk(&states->set, cursor.hash, cursor.n, values, statuses);
        for (unsigned i = 0; i < cursor.n; i++) {
            bool const is_known = statuses[i] == TAMIS_OK; /* else there is no value to pass on */
            if (is_known && batch->ret_values != NULL) batch->ret_values[cursor.at + i] = values[i];
            n += is_known;
        }
        if (batch->ret_statuses != NULL)
            memcpy(batch->ret_statuses + cursor.at, statuses, cursor.n * sizeof statuses[0]);
    }
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ machines */

tamis_status tamis_states_step_batch(tamis_states *states, const tamis_states_batch *batch,
                                     tamis_stepper *step, void *context, size_t *ret_n) {
    keys_from          keys;
    tamis_status const checked = states_check(states);
    if (checked != TAMIS_OK) return checked;
    if (step == NULL || !states_batch_keys(batch, &keys)) return TAMIS_ERR_ARGUMENT;
    size_t    n = 0;
    key_batch cursor;
    /* A kind has found the key when it asks the callback, and then changes what it found. So the
     * callback must not move anything: until the batch is done all changes are refused. */
    states->set.change_status = TAMIS_ERR_REENTRY;
    for (batch_begin(&cursor, &states->set, &keys, true); cursor.n != 0; batch_next(&cursor)) {
        for (unsigned i = 0; i < cursor.n; i++) {
            states_look_ahead(&cursor, i, true);
            kind_stepper const stepper = { step, context, cursor.at + i };
            uint32_t           value = 0;
            tamis_status       was;
            tamis_status const status =
                states_note(states, states_kind(states)->step(&states->set.table, cursor.hash[i],
                                                              &stepper, &was, &value));
            if (batch->ret_statuses != NULL) batch->ret_statuses[stepper.i] = status;
            if (batch->ret_values != NULL && was == TAMIS_OK) batch->ret_values[stepper.i] = value;
            n += status == TAMIS_OK;
        }
    }
    states->set.change_status = TAMIS_OK;
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ time */

#define TICK_UNITS 1024 /* a call may do this much in any case, in units of the sweep */

tamis_status tamis_states_tick(tamis_states *states, uint64_t ticks, uint64_t *aged,
                               uint64_t *ret_backlog) {
    tamis_status const checked = states_check(states);
    if (checked != TAMIS_OK) return checked;
    tamis_table *const table = &states->set.table;
    sweep *const       hand = &table->sweep;
    if (hand->timeout == 0) return TAMIS_ERR_CANNOT;
    sweep_advance(hand, ticks);
    /* A call does at most twice the work that falls due in a tick. So a caller who calls once in a
     * tick keeps up, and works off what he owes. */
    uint64_t const one_tick = hand->units * sweep_most(hand) / hand->timeout + 1;
    uint64_t       left = max_u64(2 * one_tick, TICK_UNITS);
    for (; left != 0 && hand->done != hand->due; left--) {
        states_kind(states)->sweep(table, hand->done, aged);
        sweep_step(hand);
    }
    if (ret_backlog != NULL) *ret_backlog = hand->due - hand->done;
    return TAMIS_OK;
}

/* A timer starts at `passes`, and its key goes at the pass after that: later than passes / most of
 * a timeout, and not later than (passes + 1) / most. */
tamis_status tamis_states_timeout(const tamis_states_spec *spec, uint64_t value,
                                  uint64_t *ret_least, uint64_t *ret_most,
                                  tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    const tamis_set *const like = request.like;
    const sweep *const     hand = like != NULL ? &like->table.sweep : &request.sweep;
    if (value >= (like != NULL ? like->table.values : request.need.values))
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "there is no such value");
    if (hand->timeout == 0)
        return tamis_problem_say(reterr_problem, TAMIS_ERR_CANNOT, "there is no timeout");
    uint64_t const passes = sweep_life(hand, value), most = sweep_most(hand);
    if (ret_least != NULL) *ret_least = passes * hand->timeout / most;
    if (ret_most != NULL) *ret_most = ((passes + 1) * hand->timeout + most - 1) / most;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ whole tables */

tamis_status tamis_states_tally(const tamis_states *states, uint64_t *ret_counts) {
    if (states == NULL || ret_counts == NULL) return TAMIS_ERR_ARGUMENT;
    if (states_kind(states)->tally == NULL) return TAMIS_ERR_CANNOT;
    memset(ret_counts, 0, (size_t)states->set.table.values * sizeof ret_counts[0]);
    states_kind(states)->tally(&states->set.table, ret_counts);
    return TAMIS_OK;
}

tamis_status tamis_states_merge(tamis_states *into, const tamis_states *from) {
    if (from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    tamis_status const checked = states_check(into);
    if (checked != TAMIS_OK) return checked;
    if (!tamis_is_alike(&into->set, &from->set)) return TAMIS_ERR_MISMATCH;
    if (states_kind(into)->merge == NULL) return TAMIS_ERR_CANNOT;
    return tamis_merge_or_restore(&into->set, &from->set, states_kind(into)->merge);
}

/* How many keys there are; an estimate where keys share cells and age. */
static uint64_t states_keys(const tamis_states *states) {
    const kind_states *const kind = states_kind(states);
    return kind->keys != NULL ? kind->keys(&states->set.table) : states->set.table.keys;
}

tamis_status tamis_states_get_facts(const tamis_states *states, tamis_states_facts *ret_facts) {
    tamis_facts as_set;
    if (states == NULL || ret_facts == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_table *const table = &states->set.table;
    tamis_status const       status = tamis_get_facts(&states->set, &as_set);
    if (status != TAMIS_OK) return status;
    *ret_facts = (tamis_states_facts){ .kind = as_set.kind,
                                       .isa = as_set.isa,
                                       .hash = as_set.hash,
                                       .seed = as_set.seed,
                                       .is_mapped = as_set.is_mapped,
                                       .is_huge = as_set.is_huge,
                                       .capacity = as_set.capacity,
                                       .lifetime = as_set.lifetime,
                                       .values = table->values,
                                       .timeout = table->sweep.timeout,
                                       .timer_bits = (unsigned)table->sweep.timer_bits,
                                       .keys = states_keys(states),
                                       .saturated = as_set.saturated,
                                       .moved = as_set.moved,
                                       .aged = table->aged,
                                       .backlog = table->sweep.due - table->sweep.done,
                                       .refused = as_set.refused_adds,
                                       .conflicts = states->set.conflicts,
                                       .body_bytes = as_set.body_bytes,
                                       .memory_bytes = as_set.memory_bytes };
    return TAMIS_OK;
}

tamis_status tamis_states_inspect(const tamis_states *states, tamis_states_info *ret_info) {
    tamis_info         as_set;
    tamis_states_facts facts;
    kind_census        census = { 0, 0, 0 };
    if (ret_info == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status status = tamis_states_get_facts(states, &facts);
    if (status == TAMIS_OK) status = tamis_inspect(&states->set, &as_set);
    if (status != TAMIS_OK) return status;
    if (states_kind(states)->census != NULL)
        states_kind(states)->census(&states->set.table, &census);
    *ret_info = (tamis_states_info){ .plan = as_set.plan,
                                     .isa = facts.isa,
                                     .hash = facts.hash,
                                     .seed = facts.seed,
                                     .is_mapped = facts.is_mapped,
                                     .is_huge = facts.is_huge,
                                     .values = facts.values,
                                     .timeout = facts.timeout,
                                     .timer_bits = facts.timer_bits,
                                     .keys = facts.keys,
                                     .current_fpr = as_set.current_fpr,
                                     .unknown_cells = census.unknown_cells,
                                     .side_keys = census.side_keys,
                                     .side_room = census.side_room,
                                     .saturated = facts.saturated,
                                     .moved = facts.moved,
                                     .aged = facts.aged,
                                     .backlog = facts.backlog,
                                     .refused = facts.refused,
                                     .conflicts = facts.conflicts,
                                     .memory_bytes = facts.memory_bytes };
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the same as for sets */

/* One handle has two names in the header, so that the compiler tells sets from states. Functions of
 * sets serve both; what they make is handed over under the other name. */
static_assert(sizeof(tamis_states) == sizeof(tamis_set) && offsetof(tamis_states, set) == 0,
              "one handle, two names");

static const tamis_set *states_as_set(const tamis_states *states) {
    return states != NULL ? &states->set : NULL;
}

static tamis_status states_hand_over(tamis_status status, tamis_set *set,
                                     tamis_states **ret_states) {
    if (status == TAMIS_OK) *ret_states = (tamis_states *)(void *)set;
    return status;
}

/* In a callback of its own batch, the table is still needed: it stays. */
void tamis_states_free(tamis_states *states) {
    if (states != NULL && states->set.change_status != TAMIS_ERR_REENTRY) tamis_free(&states->set);
}

bool tamis_states_validate(const tamis_states *states, const char **reterr_why) {
    return tamis_validate(states_as_set(states), reterr_why);
}

tamis_status tamis_states_clear(tamis_states *states) {
    tamis_status const checked = states_check(states);
    return checked == TAMIS_OK ? tamis_clear(&states->set) : checked;
}

tamis_status tamis_states_create(const tamis_states_spec *spec, tamis_states **ret_states,
                                 tamis_problem *reterr_problem) {
    tamis_request request;
    tamis_set    *set = NULL;
    tamis_status  status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_states == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "ret_states is NULL");
    }
    status = tamis_make_requested(&request, &set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_copy(const tamis_states *states, tamis_states **ret_copy) {
    tamis_set *copy = NULL;
    if (ret_copy == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = tamis_copy(states_as_set(states), &copy);
    return states_hand_over(status, copy, ret_copy);
}

tamis_status tamis_states_save(const tamis_states *states, const char *path,
                               tamis_problem *reterr_problem) {
    return tamis_save(states_as_set(states), path, reterr_problem);
}

tamis_status tamis_states_write(const tamis_states *states, tamis_writer *writer, void *context) {
    return tamis_write(states_as_set(states), writer, context);
}

tamis_status tamis_states_open(const char *path, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_open(path, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_open_fd(int fd, const tamis_open_options *options,
                                  tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_open_fd(fd, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}

tamis_status tamis_states_read(const void *bytes, size_t n, const tamis_open_options *options,
                               tamis_states **ret_states, tamis_problem *reterr_problem) {
    tamis_set         *set = NULL;
    tamis_set        **ret_set = ret_states != NULL ? &set : NULL;
    tamis_status const status = tamis_file_read(bytes, n, options, true, ret_set, reterr_problem);
    return states_hand_over(status, set, ret_states);
}
