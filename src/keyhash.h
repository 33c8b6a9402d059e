/* keyhash.h - the hash of a set: which function, its seed, and what is made of the seed.
 *
 * hash 1  XXH3 (64 bits) with a secret of 192 bytes that is made from the set's 128-bit seed. A
 *         secret uses the whole seed, and costs nothing per key; xxHash's own 64-bit seed would
 *         use half of it, and would be expanded again for every long key.
 * hash 2  SipHash-2-4 with the seed as its key (libsodium), if it is in the build.
 *
 * keybytes.h reads the bytes of keys. It is apart because xxHash, which is inlined, takes the
 * compiler longer than most of our files do.
 *
 * 64-bit ids of the caller are mixed with the seed, so that different ids stay different; with hash
 * 2, their 8 bytes are hashed. The seed is mixed first. Without that, small ids xored with a small
 * seed would be the same ids in another order, since ids are often 0, 1, 2, ..., and so are seeds.
 */
#ifndef TAMIS_KEYHASH_H
#define TAMIS_KEYHASH_H

#include "core/hash.h"
#include "core/le.h"

#include <tamis/tamis.h>

#include "tamis_config.h"

#ifdef TAMIS_HAVE_SODIUM
#include <sodium/crypto_shorthash.h>
#endif

#define KEYHASH_SECRET_BYTES 192

typedef struct keyhash {
    tamis_hash hash;
    tamis_seed seed;
    id_mixer   ids; /* the seed's low half, mixed, and its high half */
    uint8_t    secret[KEYHASH_SECRET_BYTES];
} keyhash;

TAMIS_INLINE bool keyhash_is_built(tamis_hash hash) {
#ifdef TAMIS_HAVE_SODIUM
    return hash == TAMIS_HASH_XXH3 || hash == TAMIS_HASH_SIPHASH;
#else
    return hash == TAMIS_HASH_XXH3;
#endif
}

/* Word i of the secret: the seed's low half counted up and mixed, then mixed with the high half. */
TAMIS_INLINE keyhash keyhash_make(tamis_hash hash, tamis_seed seed) {
    keyhash make = { .hash = hash, .seed = seed, .ids = { mix64(seed.low), seed.high } };
    for (unsigned i = 0; i < KEYHASH_SECRET_BYTES / 8; i++) {
        le64_store(make.secret + 8 * i, mix64(mix64(seed.low + i * HASH_GOLDEN) ^ seed.high));
    }
    return make;
}

/* Does this keyhash use this hash and seed? */
TAMIS_INLINE bool keyhash_is(const keyhash *with, tamis_hash hash, tamis_seed seed) {
    return with->hash == hash && with->seed.low == seed.low && with->seed.high == seed.high;
}

TAMIS_INLINE bool keyhash_is_same(const keyhash *a, const keyhash *b) {
    return keyhash_is(a, b->hash, b->seed);
}

#ifdef TAMIS_HAVE_SODIUM
/* Not inlined: otherwise all callers would need a stack frame for its buffers, even with the other
 * hash. */
static __attribute__((noinline, unused)) uint64_t
keyhash_siphash(const keyhash *with, const void *key, size_t key_bytes) {
    uint8_t seed[16], out[8];
    le64_store(seed, with->seed.low);
    le64_store(seed + 8, with->seed.high);
    crypto_shorthash(out, key, key_bytes, seed);
    return le64_load(out);
}

static __attribute__((noinline, unused)) uint64_t keyhash_sip_id(const keyhash *with, uint64_t id) {
    uint8_t bytes[8];
    le64_store(bytes, id);
    return keyhash_siphash(with, bytes, sizeof bytes);
}
#endif

TAMIS_INLINE uint64_t keyhash_id(const keyhash *with, uint64_t id) {
#ifdef TAMIS_HAVE_SODIUM
    if (__builtin_expect(with->hash == TAMIS_HASH_SIPHASH, 0)) return keyhash_sip_id(with, id);
#endif
    return hash_id(&with->ids, id);
}

#endif
