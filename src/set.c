/* set.c - the public functions of sets for one key: check the arguments, hash the key, call the
 * kind.
 *
 * This is hop 1 of every operation on one key, whether it comes as bytes, as an id or as a hash.
 * The four shortest calls, for one id, are in one_id.c; those for many keys are in set_batch.c.
 */
#include "set_door.h"

#include "keys.h"

/* ------------------------------------------------------------------ one hash */

uint64_t tamis_hash_key(const tamis_set *set, const void *key, size_t key_bytes) {
    bool const is_given = set != NULL && is_key(key, key_bytes);
    TAMIS_ASSERT(is_given);
    return is_given ? keyhash_bytes(&set->hasher, key, key_bytes) : 0;
}

uint64_t tamis_hash_id(const tamis_set *set, uint64_t id) {
    TAMIS_ASSERT(set != NULL);
    return set != NULL ? keyhash_id(&set->hasher, id) : 0;
}

static tamis_status add_one(tamis_set *set, uint64_t hash) {
    tamis_status const status = set->calls->add(&set->table, hash);
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    return status;
}

static tamis_status remove_one(tamis_set *set, uint64_t hash) {
    tamis_status const status = set->calls->remove(&set->table, hash);
    handle_note(set, 0, status == TAMIS_ERR_ABSENT, 0);
    return status;
}

/* If the kind has no remove_copy, the key is removed and then looked up. It may still be found: as
 * a false positive, or since there are more copies of it. */
static tamis_status remove_copy(tamis_set *set, uint64_t hash, bool *ret_is_last) {
    bool const         has_call = set->calls->remove_copy != NULL;
    tamis_status const status = has_call ? set->calls->remove_copy(&set->table, hash, ret_is_last)
                                         : set->calls->remove(&set->table, hash);
    handle_note(set, 0, status == TAMIS_ERR_ABSENT, 0);
    if (status == TAMIS_OK && !has_call) *ret_is_last = !set->calls->has(&set->table, hash);
    return status;
}

/* Kinds without add_copies add the copies one by one. If there is no room for all, those that were
 * added are removed again. */
tamis_status tamis_table_add_copies(const kind_calls *calls, tamis_table *table, uint64_t hash,
                                    uint64_t copies) {
    uint64_t added = 0;
    if (calls->add_copies != NULL && copies != 0) return calls->add_copies(table, hash, copies);
    /* So many copies saturate any key. Without the bound, a body that was not checked could keep
     * this loop going, with a fingerprint that counts down when it is added. */
    copies = min_u64(copies, KIND_MOST_COPIES);
    while (added < copies) {
        tamis_status const status = calls->add(table, hash);
        if (status != TAMIS_OK) {
            for (; added != 0; added--) (void)calls->remove(table, hash);
            return status;
        }
        added++;
        /* If a set cannot count copies, adding a key again changes nothing. Adding a saturated key
         * changes nothing, either. */
        if (added < copies &&
            (calls->count == NULL || calls->count(table, hash) == TAMIS_COUNT_MANY))
            break;
    }
    return TAMIS_OK;
}

static tamis_status add_some(tamis_set *set, uint64_t hash, uint64_t copies) {
    tamis_status const status = tamis_table_add_copies(set->calls, &set->table, hash, copies);
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    return status;
}

/* ------------------------------------------------------------------ prefetching */

void tamis_fetch_hash(const tamis_set *set, uint64_t hash) {
    TAMIS_ASSERT(set != NULL);
    if (set != NULL && set->calls->fetch != NULL) set->calls->fetch(&set->table, &hash, 1, false);
}

void tamis_fetch(const tamis_set *set, const void *key, size_t key_bytes) {
    bool const is_given = set != NULL && is_key(key, key_bytes);
    TAMIS_ASSERT(is_given);
    if (is_given) tamis_fetch_hash(set, keyhash_bytes(&set->hasher, key, key_bytes));
}

/* ------------------------------------------------------------------ keys given as bytes */

tamis_status tamis_add(tamis_set *set, const void *key, size_t key_bytes) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return add_one(set, keyhash_bytes(&set->hasher, key, key_bytes));
}

tamis_status tamis_add_copies(tamis_set *set, const void *key, size_t key_bytes, uint64_t copies) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return add_some(set, keyhash_bytes(&set->hasher, key, key_bytes), copies);
}

tamis_status tamis_add_new(tamis_set *set, const void *key, size_t key_bytes, bool *ret_is_new) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes) || ret_is_new == NULL) return TAMIS_ERR_ARGUMENT;
    return set_add_if_new(set, keyhash_bytes(&set->hasher, key, key_bytes), ret_is_new);
}

bool tamis_has(const tamis_set *set, const void *key, size_t key_bytes) {
    TAMIS_ASSERT(set != NULL && is_key(key, key_bytes));
    if (set == NULL || !is_key(key, key_bytes)) return false;
    uint64_t const hash = keyhash_bytes(&set->hasher, key, key_bytes);
    return set->calls->has(&set->table, hash);
}

tamis_status tamis_remove(tamis_set *set, const void *key, size_t key_bytes) {
    tamis_status const status = set_check_remove(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return remove_one(set, keyhash_bytes(&set->hasher, key, key_bytes));
}

tamis_status tamis_count(const tamis_set *set, const void *key, size_t key_bytes,
                         uint64_t *ret_count) {
    tamis_status const status = set_check_count(set, ret_count);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    *ret_count = set->calls->count(&set->table, keyhash_bytes(&set->hasher, key, key_bytes));
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ hashes, and ids */

tamis_status tamis_add_hash(tamis_set *set, uint64_t hash) {
    tamis_status const status = set_check_change(set);
    return status == TAMIS_OK ? add_one(set, hash) : status;
}

bool tamis_has_hash(const tamis_set *set, uint64_t hash) {
    TAMIS_ASSERT(set != NULL);
    return set != NULL && set->calls->has(&set->table, hash);
}

tamis_status tamis_remove_hash(tamis_set *set, uint64_t hash) {
    tamis_status const status = set_check_remove(set);
    return status == TAMIS_OK ? remove_one(set, hash) : status;
}

tamis_status tamis_remove_copy_hash(tamis_set *set, uint64_t hash, bool *ret_is_last) {
    tamis_status const status = set_check_remove(set);
    if (status != TAMIS_OK) return status;
    if (ret_is_last == NULL) return TAMIS_ERR_ARGUMENT;
    return remove_copy(set, hash, ret_is_last);
}

tamis_status tamis_count_hash(const tamis_set *set, uint64_t hash, uint64_t *ret_count) {
    tamis_status const status = set_check_count(set, ret_count);
    if (status == TAMIS_OK) *ret_count = set->calls->count(&set->table, hash);
    return status;
}

tamis_status tamis_add_copies_id(tamis_set *set, uint64_t id, uint64_t copies) {
    tamis_status const status = set_check_change(set);
    return status == TAMIS_OK ? add_some(set, keyhash_id(&set->hasher, id), copies) : status;
}

tamis_status tamis_add_new_id(tamis_set *set, uint64_t id, bool *ret_is_new) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    if (ret_is_new == NULL) return TAMIS_ERR_ARGUMENT;
    return set_add_if_new(set, keyhash_id(&set->hasher, id), ret_is_new);
}

tamis_status tamis_add_new_hash(tamis_set *set, uint64_t hash, bool *ret_is_new) {
    tamis_status const status = set_check_change(set);
    if (status != TAMIS_OK) return status;
    if (ret_is_new == NULL) return TAMIS_ERR_ARGUMENT;
    return set_add_if_new(set, hash, ret_is_new);
}

tamis_status tamis_count_id(const tamis_set *set, uint64_t id, uint64_t *ret_count) {
    tamis_status const status = set_check_count(set, ret_count);
    if (status == TAMIS_OK) {
        *ret_count = set->calls->count(&set->table, keyhash_id(&set->hasher, id));
    }
    return status;
}
