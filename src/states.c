/* states.c - the public functions of states: check the arguments, hash the key, call the kind.
 *
 * A table of states has the same handle as a set, and a kind that stores a value for each key. This
 * file has the operations on one key; states_door.h says where the others are.
 *
 * An operation on a key takes three hops (docs/trace.md follows them, for each kind). In a `line`:
 *
 *     tamis_states_move()    here              may the table change, does the value exist? hash
 *     line_move()            state_cells.h     find the key, once, and change what was found
 *     line_find_state()      kinds/line        which bits are where
 *
 * Two public functions, for a key and for an id, differ only in how the hash is made. A get checks
 * less than a change, since it works on every table: also on one that is read-only.
 */
#include "keys.h"
#include "states_door.h"

/* ------------------------------------------------------------------ checks */

/* The checks of every change of one key. A call without `from` passes TAMIS_ANY_VALUE, and a call
 * without `to` passes 0: both are always valid. */
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
