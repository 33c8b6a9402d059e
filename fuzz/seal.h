/* seal.h - correct the checksums of a file whose contents were changed, as docs/format.md says.
 *
 * A changed file would never pass the checksums. An attacker can compute them, so the fuzzer does,
 * too.
 */
#ifndef TAMIS_FUZZ_SEAL_H
#define TAMIS_FUZZ_SEAL_H

#include "core/le.h"

#include <xxhash.h>

#define SEAL_HEADER 4096
#define SEAL_BLOCK 65536

static inline size_t seal_blocks(size_t body) {
    return (body + SEAL_BLOCK - 1) / SEAL_BLOCK;
}

static inline void seal_body(const uint8_t *body, size_t bytes, uint8_t *checksums) {
    for (size_t at = 0; at < bytes; at += SEAL_BLOCK, checksums += 8) {
        size_t const left = bytes - at;
        le64_store(checksums, XXH3_64bits(body + at, left < SEAL_BLOCK ? left : SEAL_BLOCK));
    }
}

/* The first of two bodies has the length that the header says, if the file is long enough. */
static inline void seal_file(uint8_t *file, size_t n) {
    if (n < SEAL_HEADER + 16) return;
    size_t const   rest = n - SEAL_HEADER - 16;
    uint64_t const stated = le64_load(file + 128 + 16);
    bool const     is_double = le32_load(file + 24) == 2 && stated < rest;
    size_t const   first = is_double ? (size_t)stated : 0, first_blocks = seal_blocks(first);
    if (first + 8 * first_blocks > rest) return;
    size_t const   left = rest - first - 8 * first_blocks;
    size_t const   blocks = (left + SEAL_BLOCK + 7) / (SEAL_BLOCK + 8);
    size_t const   last = left > 8 * blocks ? left - 8 * blocks : 0;
    uint8_t *const bodies = file + SEAL_HEADER, *const table = bodies + first + last;
    le64_store(file + 4088, XXH3_64bits(file, 4088));
    seal_body(bodies, first, table);
    seal_body(bodies + first, last, table + 8 * first_blocks);
    XXH3_state_t *const state = XXH3_createState();
    if (state == NULL) return;
    (void)XXH3_128bits_reset(state);
    (void)XXH3_128bits_update(state, file, SEAL_HEADER);
    (void)XXH3_128bits_update(state, table, rest - first - last);
    XXH128_hash_t const total = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    le64_store(file + n - 16, total.low64);
    le64_store(file + n - 8, total.high64);
}

#endif
