/* bloom.h - Bloom filters, scattered and blocked.
 */
#ifndef TAMIS_GPU_BLOOM_H
#define TAMIS_GPU_BLOOM_H

#include "core/probes.h"
#include "kinds/bloom/block.h"
#include "lookup.h"

TAMIS_INLINE uint64_t *bloom_word(const gpu_table *table, uint64_t place) {
    return (uint64_t *)(table->body + place / 64 * 8);
}

TAMIS_INLINE bool bloom_has(const gpu_table *table, uint64_t hash) {
    for (unsigned i = 0; i < table->hashes; i++) {
        uint64_t const place = probes_place(hash, i, table->bits);
        if ((*bloom_word(table, place) >> place % 64 & 1) == 0) return false;
    }
    return true;
}

TAMIS_INLINE uint8_t *bloom_line(const gpu_table *table, uint64_t hash) {
    uint64_t const byte = fastrange(hash, table->body_bytes);
    return table->body + (byte & ~(uint64_t)(TAMIS_LINE_BYTES - 1));
}

/* Load 16 bytes at a time, and only those that have a bit of the key. A lookup of an absent key
 * often ends after the first load. */
TAMIS_INLINE bool bloom_has_blocked(const gpu_table *table, uint64_t hash) {
    const uint8_t *const line = bloom_line(table, hash);
    unsigned const       k = (unsigned)table->hashes;
    uint64_t             random = 0;
    gpu_pair             pair = { 0, 0 };
    unsigned             loaded = 4; /* none of the four words */
    for (unsigned i = 0; i < k; i++) {
        if (i % BLOCK_SECTORS == 0) random = remix(hash, i / BLOCK_SECTORS);
        unsigned const bit = block_bit(random, i, k);
        if (bit / 128 != loaded) {
            loaded = bit / 128;
            pair = gpu_load_pair(line + 16 * loaded);
        }
        if (((bit % 128 < 64 ? pair.low : pair.high) >> bit % 64 & 1) == 0) return false;
    }
    return true;
}

TAMIS_INLINE void bloom_ask(const gpu_ask *ask, bool is_blocked) {
    for (uint64_t i = gpu_first(); i < ask->keys.n; i += gpu_step()) {
        uint64_t const hash = gpu_hash(&ask->table, ask->keys.data[i], ask->keys.are_hashes);
        ask->ret_has[i] =
            is_blocked ? bloom_has_blocked(&ask->table, hash) : bloom_has(&ask->table, hash);
    }
}

/* Set the bits of a key. Returns whether any of them is new. */
TAMIS_INLINE bool bloom_mark_key(const gpu_table *table, uint64_t hash) {
    uint64_t       random = 0;
    bool           is_new = false;
    unsigned const k = (unsigned)table->hashes;
    for (unsigned i = 0; i < k; i++) {
        if (i % BLOCK_SECTORS == 0) random = remix(hash, i / BLOCK_SECTORS);
        uint64_t const place =
            table->is_blocked
                ? (uint64_t)(bloom_line(table, hash) - table->body) * 8 + block_bit(random, i, k)
                : probes_place(hash, i, table->bits);
        uint64_t const  mark = UINT64_C(1) << place % 64;
        uint64_t *const word = bloom_word(table, place);
        /* In a full filter most bits are set, and reading is cheaper than an atomic operation. */
        if ((*word & mark) == 0) is_new |= (gpu_or64(word, mark) & mark) == 0;
    }
    return is_new;
}

#endif
