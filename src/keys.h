/* keys.h - the keys of a batch, in chunks. The memory for the next chunk is prefetched.
 *
 * Keys can be given as bytes, as 64-bit ids, or as hashes that were computed before. They differ
 * only in how a chunk is hashed. set_batch.c and states_batch.c have one function per batch
 * operation, which takes a `keys_from`.
 */
#ifndef TAMIS_KEYS_H
#define TAMIS_KEYS_H

#include "handle.h"
#include "keybytes.h"

TAMIS_INLINE bool is_key(const void *key, size_t key_bytes) {
    return __builtin_expect(key != NULL, 1) || key_bytes == 0;
}

/* The keys of a batch: one of the three is given. */
typedef struct keys_from {
    const tamis_key *keys;
    const uint64_t  *ids;
    const uint64_t  *hashes;
    size_t           n;
} keys_from;

static inline bool keys_are_given(const keys_from *from) {
    if (from->n == 0) return true;
    if (from->keys == NULL) return from->ids != NULL || from->hashes != NULL;
    for (size_t i = 0; i < from->n; i++) {
        if (!is_key(from->keys[i].data, from->keys[i].bytes)) return false;
    }
    return true;
}

/* Hash the chunk that begins at `at`; returns how many keys it has. An entry that is not a key gets
 * an arbitrary hash; only has_keys() allows such entries. */
static inline unsigned chunk_hash(const tamis_set *set, const keys_from *from, size_t at,
                                  unsigned most, uint64_t *hash) {
    unsigned const n = (unsigned)min_u64(from->n - at, most);
    if (from->ids != NULL) {
        if (n != 0) set->hash_ids(&set->table, from->ids + at, n, hash);
        return n;
    }
    if (from->hashes != NULL) {
        if (n != 0) memcpy(hash, from->hashes + at, n * sizeof *hash);
        return n;
    }
    for (unsigned i = 0; i < n; i++) {
        const tamis_key *const key = &from->keys[at + i];
        bool const             is_given = is_key(key->data, key->bytes);
        hash[i] = is_given ? keyhash_bytes(&set->hasher, key->data, key->bytes) : 0;
    }
    return n;
}

/* Bit i of the result says whether entry i of the chunk is a key. Entries without an address are
 * rare, so each entry is checked only if there is one; empty keys may have no address. */
static inline uint64_t chunk_valid(const keys_from *from, size_t at, unsigned n) {
    bool     is_any_null = false;
    uint64_t mask = 0;
    if (from->keys == NULL) return UINT64_MAX;
    for (unsigned i = 0; i < n; i++) is_any_null |= from->keys[at + i].data == NULL;
    if (!is_any_null) return UINT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        mask |= (uint64_t)is_key(from->keys[at + i].data, from->keys[at + i].bytes) << i;
    }
    return mask;
}

/* What is done with the keys of a batch: it decides how their memory is prefetched. */
typedef enum batch_use { BATCH_ASK, BATCH_READ, BATCH_UPDATE } batch_use;

/* A batch in progress. While the kind works on a chunk, the memory of the next chunk is prefetched.
 * If that memory contains pointers to more memory (kind.h, fetch_more), the batch is two chunks
 * ahead: it prefetches the first memory of one chunk and the second memory of the other. Kinds with
 * has_rolling prefetch the next chunk themselves when it is asked whether keys are in the set
 * (BATCH_ASK). */
typedef struct key_batch {
    const tamis_set *set;
    const keys_from *from;
    bool             is_update;
    bool             is_rolling;      /* has_rolling prefetches all chunks but the first */
    bool             is_deep;         /* two chunks are ahead */
    size_t           at;              /* the first key of this chunk */
    unsigned         n;               /* keys in it; 0: no more */
    unsigned         n_next, n_after; /* keys in the next two chunks */
    uint64_t        *hash, *hash_next, *hash_after;
    uint64_t         buffer[3][TAMIS_CHUNK];
} key_batch;

/* Hash the chunk after those in progress, and prefetch its memory. */
static inline void batch_look_ahead(key_batch *batch) {
    const kind_calls *const  calls = batch->set->calls;
    const tamis_table *const table = &batch->set->table;
    unsigned const  most = batch->is_update ? batch->set->update_chunk : batch->set->ask_chunk;
    size_t const    at = batch->at + batch->n + (batch->is_deep ? batch->n_next : 0);
    uint64_t *const hash = batch->is_deep ? batch->hash_after : batch->hash_next;
    unsigned const  n = chunk_hash(batch->set, batch->from, at, most, hash);
    bool const      is_first = batch->n == 0;
    if (calls->fetch != NULL && (is_first || !batch->is_rolling))
        calls->fetch(table, hash, n, batch->is_update);
    if (!batch->is_deep) {
        batch->n_next = n;
        return;
    }
    if (batch->n_next != 0) calls->fetch_more(table, batch->hash_next, batch->n_next);
    batch->n_after = n;
}

/* The next chunk becomes this one. */
static inline void batch_advance(key_batch *batch) {
    uint64_t *const done = batch->hash;
    batch->at += batch->n;
    batch->n = batch->n_next;
    batch->hash = batch->hash_next;
    batch->hash_next = batch->is_deep ? batch->hash_after : done;
    batch->hash_after = batch->is_deep ? done : batch->hash_after;
    batch->n_next = batch->n_after;
}

static inline void batch_next(key_batch *batch) {
    batch_advance(batch);
    if (batch->n != 0) batch_look_ahead(batch);
}

static inline void batch_begin(key_batch *batch, const tamis_set *set, const keys_from *from,
                               batch_use use) {
    batch->set = set;
    batch->from = from;
    batch->is_update = use == BATCH_UPDATE;
    batch->is_rolling = use == BATCH_ASK && set->calls->has_rolling != NULL;
    batch->is_deep =
        use != BATCH_UPDATE && set->calls->fetch_more != NULL && set->table.values == 0;
    batch->at = batch->n = batch->n_next = batch->n_after = 0;
    batch->hash = batch->buffer[0];
    batch->hash_next = batch->buffer[1];
    batch->hash_after = batch->buffer[2];
    batch_look_ahead(batch);
    if (batch->is_deep) {
        batch_advance(batch);
        batch_look_ahead(batch);
    }
    batch_next(batch);
}

#endif
