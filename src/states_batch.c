/* states_batch.c - many keys in one call: the operations of states.c, and state machines.
 *
 * Keys are handled in chunks, in order; the memory of the next chunk is prefetched (keys.h). The
 * kind is called for each key, as in states.c.
 */
#include "keys.h"
#include "states_door.h"

/* ------------------------------------------------------------------ what a batch has */

/* The keys of a batch. False: there are none, or they are given twice; or a newer caller has set a
 * field that this library does not know, and must not be ignored. */
static bool states_batch_keys(const tamis_states_batch *batch, keys_from *ret_keys) {
    if (batch == NULL || (batch->keys != NULL && batch->ids != NULL)) return false;
    if (batch->reserved[0] != NULL || batch->reserved[1] != NULL) return false;
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

/* Is every expected value a value of this table, or the wildcard? */
static bool states_batch_has_from(const tamis_states *states, const tamis_states_batch *batch) {
    for (size_t i = 0; batch->from != NULL && i < batch->n; i++) {
        if (!states_is_expected(states, batch->from[i])) return false;
    }
    return true;
}

/* The value that a batch expects key i to have. */
TAMIS_INLINE uint64_t states_batch_from(const tamis_states_batch *batch, size_t i) {
    return batch->from != NULL ? batch->from[i] : TAMIS_ANY_VALUE;
}

/* ------------------------------------------------------------------ memory ahead */

/* Prefetch memory that kinds use besides the place that `fetch` prefetched (a value in another
 * line). */
static void states_fetch_values(const tamis_set *set, const uint64_t *hash, unsigned n,
                                bool is_new) {
    if (n != 0 && set->states->fetch_values != NULL)
        set->states->fetch_values(&set->table, hash, n, is_new);
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

/* ------------------------------------------------------------------ changes */

/* An operation on key i of a batch: calls the kind. */
typedef tamis_status states_apply(tamis_states *states, uint64_t hash,
                                  const tamis_states_batch *batch, size_t i);

/* A batch operation, and which columns of the batch it uses beside the keys. */
typedef struct states_operation {
    states_apply *apply;
    bool          has_values, has_from;
    bool          is_new; /* most keys are not in the table yet: decides what is prefetched */
} states_operation;

/* All keys in order. The operation is a constant where this is inlined, so the kind's function is
 * the only one that is called indirectly. */
TAMIS_INLINE tamis_status states_change_all(tamis_states *states, const tamis_states_batch *batch,
                                            const states_operation *op, size_t *ret_n) {
    keys_from          keys;
    key_batch          cursor;
    size_t             n = 0;
    tamis_status const checked = states_check(states);
    if (checked != TAMIS_OK) return checked;
    if (!states_batch_keys(batch, &keys)) return TAMIS_ERR_ARGUMENT;
    if (op->has_values && !states_batch_has_values(states, batch)) return TAMIS_ERR_ARGUMENT;
    if (op->has_from && !states_batch_has_from(states, batch)) return TAMIS_ERR_ARGUMENT;
    for (batch_begin(&cursor, &states->set, &keys, BATCH_UPDATE); cursor.n != 0;
         batch_next(&cursor)) {
        for (unsigned i = 0; i < cursor.n; i++) {
            states_look_ahead(&cursor, i, op->is_new);
            size_t const       at = cursor.at + i;
            tamis_status const status =
                states_note(states, op->apply(states, cursor.hash[i], batch, at));
            if (batch->ret_statuses != NULL) batch->ret_statuses[at] = status;
            n += status == TAMIS_OK;
        }
    }
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}

static tamis_status states_apply_put(tamis_states *states, uint64_t hash,
                                     const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->put(&states->set.table, hash, batch->values[i]);
}

tamis_status tamis_states_put_batch(tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    static const states_operation put = { .apply = states_apply_put,
                                          .has_values = true,
                                          .is_new = true };
    return states_change_all(states, batch, &put, ret_n);
}

static tamis_status states_apply_move(tamis_states *states, uint64_t hash,
                                      const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->move(&states->set.table, hash, states_batch_from(batch, i),
                                     batch->values[i]);
}

tamis_status tamis_states_move_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    static const states_operation move = { .apply = states_apply_move,
                                           .has_values = true,
                                           .has_from = true };
    return states_change_all(states, batch, &move, ret_n);
}

static tamis_status states_apply_set(tamis_states *states, uint64_t hash,
                                     const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->set(&states->set.table, hash, batch->values[i]);
}

tamis_status tamis_states_set_batch(tamis_states *states, const tamis_states_batch *batch,
                                    size_t *ret_n) {
    static const states_operation set = { .apply = states_apply_set,
                                          .has_values = true,
                                          .is_new = true };
    return states_change_all(states, batch, &set, ret_n);
}

static tamis_status states_apply_touch(tamis_states *states, uint64_t hash,
                                       const tamis_states_batch *batch, size_t i) {
    (void)batch;
    (void)i;
    return states_kind(states)->touch(&states->set.table, hash);
}

tamis_status tamis_states_touch_batch(tamis_states *states, const tamis_states_batch *batch,
                                      size_t *ret_n) {
    static const states_operation touch = { .apply = states_apply_touch, .is_new = false };
    return states_change_all(states, batch, &touch, ret_n);
}

static tamis_status states_apply_drop(tamis_states *states, uint64_t hash,
                                      const tamis_states_batch *batch, size_t i) {
    return states_kind(states)->drop(&states->set.table, hash, states_batch_from(batch, i));
}

tamis_status tamis_states_drop_batch(tamis_states *states, const tamis_states_batch *batch,
                                     size_t *ret_n) {
    static const states_operation drop = { .apply = states_apply_drop, .has_from = true };
    return states_change_all(states, batch, &drop, ret_n);
}

/* ------------------------------------------------------------------ lookups */

/* A chunk of gets. Kinds with a get_chunk ask for the memory of values by themselves. */
static void states_get_chunk(const tamis_set *set, const uint64_t *hash, unsigned n,
                             uint32_t *ret_values, tamis_status *ret_statuses) {
    const kind_states *const kind = set->states;
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
    for (batch_begin(&cursor, &states->set, &keys, BATCH_READ); cursor.n != 0;
         batch_next(&cursor)) {
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

/* A kind has found the key when it asks the callback, and then changes what it found. So the
 * callback must not move anything: until the batch is done all changes by its thread are refused.
 */
static void states_begin_steps(const tamis_set *set) {
    if (set->shared != NULL)
        tamis_share_begin_steps(set);
    else
        handle_begin_callbacks(set);
}

static void states_end_steps(const tamis_set *set) {
    if (set->shared != NULL)
        tamis_share_end_steps(set);
    else
        handle_end_callbacks(set);
}

tamis_status tamis_states_step_batch(tamis_states *states, const tamis_states_batch *batch,
                                     tamis_stepper *step, void *context, size_t *ret_n) {
    keys_from          keys;
    tamis_status const checked = states_check(states);
    if (checked != TAMIS_OK) return checked;
    if (step == NULL || !states_batch_keys(batch, &keys)) return TAMIS_ERR_ARGUMENT;
    size_t    n = 0;
    key_batch cursor;
    states_begin_steps(&states->set);
    for (batch_begin(&cursor, &states->set, &keys, BATCH_UPDATE); cursor.n != 0;
         batch_next(&cursor)) {
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
    states_end_steps(&states->set);
    if (ret_n != NULL) *ret_n = n;
    return TAMIS_OK;
}
