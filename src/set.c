/* set.c - the front door: check, hash, call the kind.
 *
 * Hop 1 of every operation on keys. Single calls hash and go straight to the kind. Batches go in
 * chunks of TAMIS_CHUNK keys: hash the chunk after this one, let the kind ask for the first memory
 * that it needs, then let it work on this one as a whole. So the memory is never idle between
 * chunks. Keys given as bytes and keys given as 64-bit values differ only in how a chunk is hashed,
 * and every batch is written once, over a `keys_from`.
 */
#include "core/bits.h"
#include "core/checked.h"
#include "core/le.h"
#include "core/memory.h"
#include "keys.h"

/* ------------------------------------------------------------------ one hash */

static tamis_status check_change(const tamis_set *set) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    return set->mapping != NULL ? TAMIS_ERR_READ_ONLY : TAMIS_OK;
}

static tamis_status check_ability(const tamis_set *set, unsigned ability) {
    return (set->abilities & ability) != 0 ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

static tamis_status check_remove(const tamis_set *set) {
    tamis_status const status = check_change(set);
    return status == TAMIS_OK ? check_ability(set, TAMIS_CAN_REMOVE) : status;
}

static tamis_status check_count(const tamis_set *set, const uint64_t *ret_count) {
    if (set == NULL || ret_count == NULL) return TAMIS_ERR_ARGUMENT;
    return check_ability(set, TAMIS_CAN_COUNT);
}

static tamis_status add_one(tamis_set *set, uint64_t hash) {
    tamis_status const status = set->kind->add(&set->table, hash);
    set->refused_adds += status == TAMIS_ERR_FULL;
    return status;
}

static tamis_status remove_one(tamis_set *set, uint64_t hash) {
    tamis_status const status = set->kind->remove(&set->table, hash);
    set->refused_removes += status == TAMIS_ERR_ABSENT;
    return status;
}

/* ------------------------------------------------------------------ single calls */

tamis_status tamis_add(tamis_set *set, const void *key, size_t key_bytes) {
    tamis_status const status = check_change(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return add_one(set, keyhash_bytes(&set->hasher, key, key_bytes));
}

bool tamis_has(const tamis_set *set, const void *key, size_t key_bytes) {
    if (set == NULL || !is_key(key, key_bytes)) return false;
    return set->kind->has(&set->table, keyhash_bytes(&set->hasher, key, key_bytes));
}

tamis_status tamis_remove(tamis_set *set, const void *key, size_t key_bytes) {
    tamis_status const status = check_remove(set);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    return remove_one(set, keyhash_bytes(&set->hasher, key, key_bytes));
}

tamis_status tamis_count(const tamis_set *set, const void *key, size_t key_bytes,
                         uint64_t *ret_count) {
    tamis_status const status = check_count(set, ret_count);
    if (status != TAMIS_OK) return status;
    if (!is_key(key, key_bytes)) return TAMIS_ERR_ARGUMENT;
    *ret_count = set->kind->count(&set->table, keyhash_bytes(&set->hasher, key, key_bytes));
    return TAMIS_OK;
}

tamis_status tamis_add_id(tamis_set *set, uint64_t hash) {
    tamis_status const status = check_change(set);
    return status == TAMIS_OK ? add_one(set, keyhash_id(&set->hasher, hash)) : status;
}

bool tamis_has_id(const tamis_set *set, uint64_t hash) {
    return set != NULL && set->kind->has(&set->table, keyhash_id(&set->hasher, hash));
}

tamis_status tamis_remove_id(tamis_set *set, uint64_t hash) {
    tamis_status const status = check_remove(set);
    return status == TAMIS_OK ? remove_one(set, keyhash_id(&set->hasher, hash)) : status;
}

tamis_status tamis_count_id(const tamis_set *set, uint64_t hash, uint64_t *ret_count) {
    tamis_status const status = check_count(set, ret_count);
    if (status != TAMIS_OK) return status;
    *ret_count = set->kind->count(&set->table, keyhash_id(&set->hasher, hash));
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ chunks */

/* The kind's chunk functions, or one by one where it has none. */

static unsigned chunk_add(tamis_set *set, const uint64_t *hash, unsigned n) {
    if (set->kind->add_chunk != NULL) return set->kind->add_chunk(&set->table, hash, n);
    unsigned added = 0;
    while (added < n && set->kind->add(&set->table, hash[added]) == TAMIS_OK) added++;
    return added;
}

static uint64_t chunk_has(const tamis_set *set, const uint64_t *hash, unsigned n) {
    if (set->kind->has_chunk != NULL) return set->kind->has_chunk(&set->table, hash, n);
    uint64_t found = 0;
    for (unsigned i = 0; i < n; i++) found |= (uint64_t)set->kind->has(&set->table, hash[i]) << i;
    return found;
}

static uint64_t chunk_remove(tamis_set *set, const uint64_t *hash, unsigned n) {
    if (set->kind->remove_chunk != NULL) return set->kind->remove_chunk(&set->table, hash, n);
    uint64_t removed = 0;
    for (unsigned i = 0; i < n; i++) {
        removed |= (uint64_t)(set->kind->remove(&set->table, hash[i]) == TAMIS_OK) << i;
    }
    return removed;
}

static void chunk_count(const tamis_set *set, const uint64_t *hash, unsigned n,
                        uint64_t *ret_counts) {
    if (set->kind->count_chunk != NULL) {
        set->kind->count_chunk(&set->table, hash, n, ret_counts);
        return;
    }
    for (unsigned i = 0; i < n; i++) ret_counts[i] = set->kind->count(&set->table, hash[i]);
}

/* Bit i: keys[at + i] is a key. */
static uint64_t chunk_keys(const keys_from *from, size_t at, unsigned n) {
    if (from->ids != NULL) return bits_low(n);
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++) {
        mask |= (uint64_t)is_key(from->keys[at + i].data, from->keys[at + i].bytes) << i;
    }
    return mask;
}

/* Eight bits become eight bools at a time: each byte of a copy keeps its own bit, and what is not 0
 * carries into the top bit of its byte. */
static_assert(sizeof(bool) == 1, "eight at a time");

static void mask_to_bools(uint64_t mask, unsigned n, bool *ret) {
    uint64_t const ones = UINT64_C(0x0101010101010101), own = UINT64_C(0x8040201008040201);
    unsigned       i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t const bits = (mask >> i & 0xff) * ones & own;
        le64_store((uint8_t *)ret + i, (bits + 0x7f * ones) >> 7 & ones);
    }
    for (; i < n; i++) ret[i] = (mask >> i) & 1;
}

/* ------------------------------------------------------------------ batches */

static tamis_status add_keys(tamis_set *set, const keys_from *from, size_t *ret_added) {
    tamis_status status = check_change(set);
    if (status == TAMIS_OK && !is_batch(from)) status = TAMIS_ERR_ARGUMENT;
    if (ret_added != NULL) *ret_added = 0;
    if (status != TAMIS_OK) return status;
    size_t    added = 0;
    key_batch of;
    for (batch_begin(&of, set, from, true); of.n != 0 && status == TAMIS_OK; batch_next(&of)) {
        unsigned const taken = chunk_add(set, of.hash, of.n);
        added += taken;
        if (taken != of.n) status = TAMIS_ERR_FULL;
    }
    set->refused_adds += status == TAMIS_ERR_FULL;
    if (ret_added != NULL) *ret_added = added;
    return status;
}

/* All hashes of a batch, and behind them what the kind wants for balancing. */
static tamis_status balance_all(tamis_set *set, const keys_from *from, size_t *ret_added) {
    uint64_t   hash_bytes, bytes;
    bool const is_possible =
        checked_mul(from->n, sizeof(uint64_t), &hash_bytes) &&
        checked_add(hash_bytes, set->kind->balance_bytes(&set->table, from->n), &bytes) &&
        bytes <= SIZE_MAX;
    uint8_t *const memory = is_possible ? memory_get(&set->allocator, (size_t)bytes) : NULL;
    if (memory == NULL) return TAMIS_ERR_MEMORY;
    uint64_t *const hash = (uint64_t *)(void *)memory;
    for (size_t at = 0; at < from->n; at += TAMIS_CHUNK) {
        (void)chunk_hash(&set->hasher, from, at, TAMIS_CHUNK, hash + at);
    }
    *ret_added = (size_t)set->kind->add_balanced(&set->table, hash, from->n, memory + hash_bytes);
    memory_give(&set->allocator, memory, (size_t)bytes);
    return *ret_added == from->n ? TAMIS_OK : TAMIS_ERR_FULL;
}

static tamis_status balance_keys(tamis_set *set, const keys_from *from, size_t *ret_added) {
    tamis_status status = check_change(set);
    if (status != TAMIS_OK || set->kind->add_balanced == NULL)
        return add_keys(set, from, ret_added);
    if (!is_batch(from)) status = TAMIS_ERR_ARGUMENT;
    size_t added = 0;
    if (status == TAMIS_OK && from->n != 0) status = balance_all(set, from, &added);
    set->refused_adds += status == TAMIS_ERR_FULL;
    if (ret_added != NULL) *ret_added = added;
    return status;
}

/* May one of the chunk be no key? Nearly never; so the careful look is only taken then. */
static bool is_any_null(const keys_from *from, size_t at, unsigned n) {
    bool is_any = false;
    for (unsigned i = 0; i < n; i++) is_any |= from->keys[at + i].data == NULL;
    return is_any;
}

static size_t has_keys(const tamis_set *set, const keys_from *from, bool *ret_has) {
    if (set == NULL || (from->keys == NULL && from->ids == NULL)) {
        if (ret_has != NULL && from->n != 0) memset(ret_has, 0, from->n * sizeof *ret_has);
        return 0;
    }
    size_t    found = 0;
    key_batch of;
    for (batch_begin(&of, set, from, false); of.n != 0; batch_next(&of)) {
        uint64_t mask = chunk_has(set, of.hash, of.n);
        if (from->ids == NULL && is_any_null(from, of.at, of.n))
            mask &= chunk_keys(from, of.at, of.n);
        if (ret_has != NULL) mask_to_bools(mask, of.n, ret_has + of.at);
        found += bits_popcount(mask);
    }
    return found;
}

static tamis_status remove_keys(tamis_set *set, const keys_from *from, bool *ret_removed,
                                size_t *ret_n_removed) {
    tamis_status const status = check_remove(set);
    if (status != TAMIS_OK) return status;
    if (!is_batch(from)) return TAMIS_ERR_ARGUMENT;
    size_t    removed = 0;
    key_batch of;
    for (batch_begin(&of, set, from, true); of.n != 0; batch_next(&of)) {
        uint64_t const mask = chunk_remove(set, of.hash, of.n);
        if (ret_removed != NULL) mask_to_bools(mask, of.n, ret_removed + of.at);
        removed += bits_popcount(mask);
    }
    set->refused_removes += from->n - removed;
    if (ret_n_removed != NULL) *ret_n_removed = removed;
    return TAMIS_OK;
}

static tamis_status count_keys(const tamis_set *set, const keys_from *from, uint64_t *ret_counts) {
    tamis_status const status = check_count(set, ret_counts);
    if (status != TAMIS_OK) return status;
    if (!is_batch(from)) return TAMIS_ERR_ARGUMENT;
    key_batch of;
    for (batch_begin(&of, set, from, false); of.n != 0; batch_next(&of)) {
        chunk_count(set, of.hash, of.n, ret_counts + of.at);
    }
    return TAMIS_OK;
}

tamis_status tamis_add_batch(tamis_set *set, const tamis_key *keys, size_t n, size_t *ret_added) {
    return add_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_added);
}

tamis_status tamis_add_balanced(tamis_set *set, const tamis_key *keys, size_t n,
                                size_t *ret_added) {
    return balance_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_added);
}

size_t tamis_has_batch(const tamis_set *set, const tamis_key *keys, size_t n, bool *ret_has) {
    return has_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_has);
}

tamis_status tamis_remove_batch(tamis_set *set, const tamis_key *keys, size_t n, bool *ret_removed,
                                size_t *ret_n_removed) {
    return remove_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_removed, ret_n_removed);
}

tamis_status tamis_count_batch(const tamis_set *set, const tamis_key *keys, size_t n,
                               uint64_t *ret_counts) {
    return count_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_counts);
}

tamis_status tamis_add_id_batch(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_added) {
    return add_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_added);
}

tamis_status tamis_add_id_balanced(tamis_set *set, const uint64_t *ids, size_t n,
                                   size_t *ret_added) {
    return balance_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_added);
}

size_t tamis_has_id_batch(const tamis_set *set, const uint64_t *ids, size_t n, bool *ret_has) {
    return has_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_has);
}

tamis_status tamis_remove_id_batch(tamis_set *set, const uint64_t *ids, size_t n, bool *ret_removed,
                                   size_t *ret_n_removed) {
    return remove_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_removed, ret_n_removed);
}

tamis_status tamis_count_id_batch(const tamis_set *set, const uint64_t *ids, size_t n,
                                  uint64_t *ret_counts) {
    return count_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_counts);
}
