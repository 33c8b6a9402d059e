/* keybytes.h - how the bytes of a key become 64 bits. They are read here and nowhere else.
 *
 * keyhash.h says which hash functions there are. Only the files that take keys from callers include
 * this: set.c, set_batch.c and those of states.
 */
#ifndef TAMIS_KEYBYTES_H
#define TAMIS_KEYBYTES_H

#include "keyhash.h"

#define XXH_INLINE_ALL /* a call per key would cost as much as hashing a short one */
#include <xxhash.h>

TAMIS_INLINE uint64_t keyhash_bytes(const keyhash *with, const void *key, size_t key_bytes) {
#ifdef TAMIS_HAVE_SODIUM
    if (__builtin_expect(with->hash == TAMIS_HASH_SIPHASH, 0))
        return keyhash_siphash(with, key, key_bytes);
#endif
    return XXH3_64bits_withSecret(key, key_bytes, with->secret, KEYHASH_SECRET_BYTES);
}

#endif
