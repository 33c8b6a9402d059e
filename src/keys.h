/* keys.h - the keys of a batch, chunk by chunk, with the memory for the next one on its way.
 *
 * Keys given as bytes and keys given as 64-bit values differ only in how a chunk is hashed; both
 * front doors (set.c, states.c) write every batch once, over a `keys_from`.
 */
#ifndef TAMIS_KEYS_H
#define TAMIS_KEYS_H

#include "handle.h"

TAMIS_INLINE bool is_key(const void *key, size_t key_bytes) {
    return key != NULL || key_bytes == 0;
}

/* The keys of a batch: one of the two. */
typedef struct keys_from {
    const tamis_key *keys;
    const uint64_t  *ids;
    size_t           n;
} keys_from;

static inline bool is_batch(const keys_from *from) {
    if (from->n == 0) return true;
    if (from->keys == NULL) return from->ids != NULL;
    for (size_t i = 0; i < from->n; i++) {
        if (!is_key(from->keys[i].data, from->keys[i].bytes)) return false;
    }
    return true;
}

/* Hash the chunk that begins at `at`; returns how many keys it has. What is not a key gets any
 * hash; only has_keys lets it come this far. */
static inline unsigned chunk_hash(const keyhash *hasher, const keys_from *from, size_t at,
                                  unsigned most, uint64_t *hash) {
    unsigned const n = (unsigned)min_u64(from->n - at, most);
    for (unsigned i = 0; from->ids != NULL && i < n; i++) {
        hash[i] = keyhash_id(hasher, from->ids[at + i]);
    }
    for (unsigned i = 0; from->ids == NULL && i < n; i++) {
        const tamis_key *const key = &from->keys[at + i];
        hash[i] = is_key(key->data, key->bytes) ? keyhash_bytes(hasher, key->data, key->bytes) : 0;
    }
    return n;
}

/* A batch on its way: while the kind works on a chunk, the memory for the next one comes. */
typedef struct key_batch {
    const tamis_set *set;
    const keys_from *from;
    bool             is_update;
    size_t           at;     /* the first key of this chunk */
    unsigned         n;      /* keys in it; 0: no more */
    unsigned         n_next; /* and in the one behind it */
    uint64_t        *hash, *hash_next;
    uint64_t         buffer[2][TAMIS_CHUNK];
} key_batch;

/* Hash the chunk behind this one, and ask for its memory. */
static inline void batch_look_ahead(key_batch *of) {
    const tamis_kind *const kind = of->set->kind;
    unsigned const          most = kind->chunk != 0 ? kind->chunk : TAMIS_CHUNK;
    of->n_next = chunk_hash(&of->set->hasher, of->from, of->at + of->n, most, of->hash_next);
    if (kind->fetch != NULL) kind->fetch(&of->set->table, of->hash_next, of->n_next, of->is_update);
}

static inline void batch_next(key_batch *of) {
    uint64_t *const done = of->hash;
    of->at += of->n;
    of->n = of->n_next;
    of->hash = of->hash_next;
    of->hash_next = done;
    if (of->n != 0) batch_look_ahead(of);
}

static inline void batch_begin(key_batch *of, const tamis_set *set, const keys_from *from,
                               bool is_update) {
    of->set = set;
    of->from = from;
    of->is_update = is_update;
    of->at = of->n = 0;
    of->hash = of->buffer[0];
    of->hash_next = of->buffer[1];
    batch_look_ahead(of);
    batch_next(of);
}

#endif
