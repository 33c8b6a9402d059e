/* set_batch.c - the public functions of sets for many keys.
 *
 * This is hop 1 of every batch. It is split into chunks of up to TAMIS_CHUNK keys: the next chunk
 * is hashed, the kind prefetches the memory that it will need, and then the kind works on the
 * present chunk. So loading memory and working overlap. Keys come as bytes, as ids or as hashes;
 * every function is written once, for a `keys_from` (keys.h).
 */
#include "set_door.h"

#include "core/bits.h"
#include "core/checked.h"
#include "core/le.h"
#include "core/memory.h"
#include "grow.h"
#include "keys.h"
#include "part.h"
#include "share.h"

/* ------------------------------------------------------------------ chunks */

/* Call the kind's chunk functions, or handle one key after the other if it has none. */

static unsigned chunk_add(tamis_set *set, const uint64_t *hash, unsigned n) {
    if (set->calls->add_chunk != NULL) return set->calls->add_chunk(&set->table, hash, n);
    unsigned added = 0;
    while (added < n && set->calls->add(&set->table, hash[added]) == TAMIS_OK) added++;
    return added;
}

static uint64_t chunk_has(const tamis_set *set, const uint64_t *hash, unsigned n) {
    if (set->calls->has_chunk != NULL) return set->calls->has_chunk(&set->table, hash, n);
    uint64_t found = 0;
    for (unsigned i = 0; i < n; i++) found |= (uint64_t)set->calls->has(&set->table, hash[i]) << i;
    return found;
}

static uint64_t chunk_remove(tamis_set *set, const uint64_t *hash, unsigned n,
                             uint64_t *ret_saturated) {
    if (set->calls->remove_chunk != NULL) {
        return set->calls->remove_chunk(&set->table, hash, n, ret_saturated);
    }
    uint64_t removed = 0, saturated = 0;
    for (unsigned i = 0; i < n; i++) {
        tamis_status const status = set->calls->remove(&set->table, hash[i]);
        removed |= (uint64_t)(status == TAMIS_OK) << i;
        saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << i;
    }
    *ret_saturated = saturated;
    return removed;
}

static void chunk_count(const tamis_set *set, const uint64_t *hash, unsigned n,
                        uint64_t *ret_counts) {
    if (set->calls->count_chunk != NULL) {
        set->calls->count_chunk(&set->table, hash, n, ret_counts);
        return;
    }
    for (unsigned i = 0; i < n; i++) ret_counts[i] = set->calls->count(&set->table, hash[i]);
}

/* Turn eight bits at a time into eight bools. One product copies the eight bits into each byte of a
 * word, and byte i keeps bit i of its copy. Then 0x7f is added to each byte: one that is not 0
 * carries into its top bit, which becomes the bool. For bits 00000101:
 *
 *     copies   00000101  00000101  00000101  ...
 *     kept     00000001  00000000  00000100  ...
 *     + 0x7f   10000000  01111111  10000011  ...        bools 1 0 1 ... */
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

/* Why a chunk was not added completely. `hash` is the hash of the first key that was not added. */
static tamis_status refusal_of(const tamis_set *set, uint64_t hash) {
    if (set->part != NULL && !part_owns(set->part, hash)) return TAMIS_ERR_PART;
    if (set->shared != NULL) return tamis_share_refusal(set);
    return set->growth == NULL ? TAMIS_ERR_FULL : set->growth->refusal;
}

/* In order, up to the first key that is refused: so *ret_added says which one that is. */
static tamis_status add_keys(tamis_set *set, const keys_from *from, size_t *ret_added) {
    tamis_status status = set_check_change(set);
    if (status == TAMIS_OK && !keys_are_given(from)) status = TAMIS_ERR_ARGUMENT;
    if (ret_added != NULL) *ret_added = 0;
    if (status != TAMIS_OK) return status;
    size_t    added = 0;
    key_batch batch;
    batch_begin(&batch, set, from, BATCH_UPDATE);
    for (; batch.n != 0 && status == TAMIS_OK; batch_next(&batch)) {
        unsigned const taken = chunk_add(set, batch.hash, batch.n);
        added += taken;
        if (taken != batch.n) status = refusal_of(set, batch.hash[taken]);
    }
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    if (ret_added != NULL) *ret_added = added;
    return status;
}

/* One key after the other, since an earlier key can decide whether a later one is new. The memory
 * of the chunk is in the cache already, so this costs no more than a batch of lookups and a batch
 * of adds. */
static tamis_status add_new_keys(tamis_set *set, const keys_from *from, bool *ret_is_new,
                                 size_t *ret_done) {
    tamis_status status = set_check_change(set);
    if (status == TAMIS_OK && !keys_are_given(from)) status = TAMIS_ERR_ARGUMENT;
    if (ret_done != NULL) *ret_done = 0;
    if (status != TAMIS_OK) return status;
    size_t    done = 0;
    key_batch batch;
    for (batch_begin(&batch, set, from, BATCH_UPDATE); batch.n != 0; batch_next(&batch)) {
        unsigned i = 0;
        bool     is_new;
        for (; i < batch.n && status == TAMIS_OK; i++) {
            status = set_add_if_new(set, batch.hash[i], &is_new);
            if (status != TAMIS_OK) break;
            if (ret_is_new != NULL) ret_is_new[batch.at + i] = is_new;
        }
        done += i;
        if (status != TAMIS_OK) break;
    }
    if (ret_done != NULL) *ret_done = done;
    return status;
}

/* All hashes of a batch, and after them the scratch memory that the kind needs. */
static tamis_status balance_all(tamis_set *set, const keys_from *from, size_t *ret_added) {
    uint64_t   hash_bytes = 0, bytes = 0;
    bool const is_possible =
        checked_mul(from->n, sizeof(uint64_t), &hash_bytes) &&
        checked_add(hash_bytes, set->kind->calls.balance_bytes(&set->table, from->n), &bytes) &&
        bytes <= SIZE_MAX;
    uint8_t *const memory = is_possible ? memory_get(&set->allocator, (size_t)bytes) : NULL;
    if (memory == NULL) return TAMIS_ERR_MEMORY;
    uint64_t *const hash = (uint64_t *)(void *)memory;
    for (size_t at = 0; at < from->n; at += TAMIS_CHUNK) {
        (void)chunk_hash(set, from, at, TAMIS_CHUNK, hash + at);
    }
    *ret_added =
        (size_t)set->kind->calls.add_balanced(&set->table, hash, from->n, memory + hash_bytes);
    memory_give(&set->allocator, memory, (size_t)bytes);
    return *ret_added == from->n ? TAMIS_OK : TAMIS_ERR_FULL;
}

/* Where nothing can be balanced, since the kind cannot or a part or threads stand between, keys are
 * added one after the other. */
static tamis_status balance_keys(tamis_set *set, const keys_from *from, size_t *ret_added) {
    tamis_status status = set_check_change(set);
    if (status != TAMIS_OK || set->kind->calls.add_balanced == NULL || set->shared != NULL ||
        set->part != NULL)
        return add_keys(set, from, ret_added);
    if (!keys_are_given(from)) status = TAMIS_ERR_ARGUMENT;
    size_t added = 0;
    if (status == TAMIS_OK && from->n != 0) status = balance_all(set, from, &added);
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    if (ret_added != NULL) *ret_added = added;
    return status;
}

/* A key of bytes that is not valid (NULL with a length) is not in the set: chunk_valid() has a bit
 * for each key that may be asked for. */
static size_t has_keys(const tamis_set *set, const keys_from *from, bool *ret_has) {
    bool const is_given = from->keys != NULL || from->ids != NULL || from->hashes != NULL;
    TAMIS_ASSERT(set != NULL && (is_given || from->n == 0));
    if (set == NULL || !is_given) {
        if (ret_has != NULL && from->n != 0) memset(ret_has, 0, from->n * sizeof *ret_has);
        return 0;
    }
    size_t    found = 0;
    key_batch batch;
    for (batch_begin(&batch, set, from, BATCH_ASK); batch.n != 0; batch_next(&batch)) {
        uint64_t mask = batch.is_rolling ? set->calls->has_rolling(&set->table, batch.hash, batch.n,
                                                                   batch.hash_next, batch.n_next)
                                         : chunk_has(set, batch.hash, batch.n);
        mask &= chunk_valid(from, batch.at, batch.n);
        if (ret_has != NULL) mask_to_bools(mask, batch.n, ret_has + batch.at);
        found += bits_popcount(mask);
    }
    return found;
}

static tamis_status remove_keys(tamis_set *set, const keys_from *from, bool *ret_removed,
                                tamis_removal *ret_removal) {
    tamis_status const status = set_check_remove(set);
    if (status != TAMIS_OK) return status;
    if (!keys_are_given(from)) return TAMIS_ERR_ARGUMENT;
    tamis_removal removal = { 0, 0, 0 };
    key_batch     batch;
    for (batch_begin(&batch, set, from, BATCH_UPDATE); batch.n != 0; batch_next(&batch)) {
        uint64_t       saturated;
        uint64_t const mask = chunk_remove(set, batch.hash, batch.n, &saturated);
        if (ret_removed != NULL) mask_to_bools(mask, batch.n, ret_removed + batch.at);
        removal.removed += bits_popcount(mask);
        removal.saturated += bits_popcount(saturated);
    }
    removal.absent = from->n - removal.removed - removal.saturated;
    handle_note(set, 0, removal.absent, 0);
    if (ret_removal != NULL) *ret_removal = removal;
    return TAMIS_OK;
}

static tamis_status count_keys(const tamis_set *set, const keys_from *from, uint64_t *ret_counts) {
    tamis_status const status = set_check_count(set, ret_counts);
    if (status != TAMIS_OK) return status;
    if (!keys_are_given(from)) return TAMIS_ERR_ARGUMENT;
    key_batch batch;
    for (batch_begin(&batch, set, from, BATCH_READ); batch.n != 0; batch_next(&batch)) {
        chunk_count(set, batch.hash, batch.n, ret_counts + batch.at);
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

tamis_status tamis_add_new_batch(tamis_set *set, const tamis_key *keys, size_t n, bool *ret_is_new,
                                 size_t *ret_done) {
    return add_new_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_is_new, ret_done);
}

size_t tamis_has_batch(const tamis_set *set, const tamis_key *keys, size_t n, bool *ret_has) {
    return has_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_has);
}

tamis_status tamis_remove_batch(tamis_set *set, const tamis_key *keys, size_t n, bool *ret_removed,
                                tamis_removal *ret_removal) {
    return remove_keys(set, &(keys_from){ .keys = keys, .n = n }, ret_removed, ret_removal);
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

tamis_status tamis_add_new_id_batch(tamis_set *set, const uint64_t *ids, size_t n, bool *ret_is_new,
                                    size_t *ret_done) {
    return add_new_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_is_new, ret_done);
}

size_t tamis_has_id_batch(const tamis_set *set, const uint64_t *ids, size_t n, bool *ret_has) {
    return has_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_has);
}

tamis_status tamis_remove_id_batch(tamis_set *set, const uint64_t *ids, size_t n, bool *ret_removed,
                                   tamis_removal *ret_removal) {
    return remove_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_removed, ret_removal);
}

tamis_status tamis_count_id_batch(const tamis_set *set, const uint64_t *ids, size_t n,
                                  uint64_t *ret_counts) {
    return count_keys(set, &(keys_from){ .ids = ids, .n = n }, ret_counts);
}

tamis_status tamis_add_hash_batch(tamis_set *set, const uint64_t *hashes, size_t n,
                                  size_t *ret_added) {
    return add_keys(set, &(keys_from){ .hashes = hashes, .n = n }, ret_added);
}

tamis_status tamis_add_new_hash_batch(tamis_set *set, const uint64_t *hashes, size_t n,
                                      bool *ret_is_new, size_t *ret_done) {
    return add_new_keys(set, &(keys_from){ .hashes = hashes, .n = n }, ret_is_new, ret_done);
}

size_t tamis_has_hash_batch(const tamis_set *set, const uint64_t *hashes, size_t n, bool *ret_has) {
    return has_keys(set, &(keys_from){ .hashes = hashes, .n = n }, ret_has);
}

tamis_status tamis_remove_hash_batch(tamis_set *set, const uint64_t *hashes, size_t n,
                                     bool *ret_removed, tamis_removal *ret_removal) {
    return remove_keys(set, &(keys_from){ .hashes = hashes, .n = n }, ret_removed, ret_removal);
}

tamis_status tamis_count_hash_batch(const tamis_set *set, const uint64_t *hashes, size_t n,
                                    uint64_t *ret_counts) {
    return count_keys(set, &(keys_from){ .hashes = hashes, .n = n }, ret_counts);
}
