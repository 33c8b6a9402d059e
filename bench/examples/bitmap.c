/* bitmap.c - an example of a contestant: a blocked Bloom filter, 64 bytes per block.
 *
 * A key sets up to 7 bits of one cache line. The table has 12 bits per key, for any requested rate.
 *
 *     make bench CONTESTANTS=bench/examples/bitmap.c
 */
#include "outside.h"

#include <stdlib.h>
#include <string.h>

#define BITS_PER_KEY 12
#define BLOCK_BITS 512
#define HASHES 7

typedef struct bitmap {
    uint64_t  n_blocks;
    uint64_t *words; /* 8 per block */
} bitmap;

/* The keys of the bench are random, but a filter must not rely on that: mix them, as any user has
 * to. This is the finalizer of MurmurHash3. */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static inline uint64_t *find_block(const bitmap *b, uint64_t hash) {
    return b->words + 8 * (uint64_t)(((unsigned __int128)hash * b->n_blocks) >> 64);
}

/* Bit i of a key: 9 bits of a product whose high half is independent of the block. */
static inline unsigned find_bit(uint64_t hash, unsigned i) {
    return (unsigned)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (i * 9)) % BLOCK_BITS;
}

static inline bool bitmap_add(bitmap *b, uint64_t key) {
    uint64_t const  hash = mix(key);
    uint64_t *const block = find_block(b, hash);
    for (unsigned i = 0; i < HASHES; i++) {
        unsigned const bit = find_bit(hash, i);
        block[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return true;
}

static inline bool bitmap_has(const bitmap *b, uint64_t key) {
    uint64_t const        hash = mix(key);
    const uint64_t *const block = find_block(b, hash);
    uint64_t              all = 1;
    for (unsigned i = 0; i < HASHES; i++) {
        unsigned const bit = find_bit(hash, i);
        all &= block[bit / 64] >> (bit % 64);
    }
    return all != 0;
}

static inline void bitmap_fetch(const bitmap *b, uint64_t key) {
    OUTSIDE_PREFETCH(find_block(b, mix(key)));
}

OUTSIDE_LOOPS(bitmap, bitmap, bitmap_add, bitmap_has)
OUTSIDE_FETCH_LOOPS(bitmap, bitmap, bitmap_add, bitmap_has, bitmap_fetch)

static uint64_t bitmap_bytes(const void *table) {
    return ((const bitmap *)table)->n_blocks * BLOCK_BITS / 8;
}

static void bitmap_clear(void *table) {
    memset(((bitmap *)table)->words, 0, bitmap_bytes(table));
}

static void bitmap_free(void *table) {
    free(((bitmap *)table)->words);
    free(table);
}

static void *bitmap_make(uint64_t n, double fpr) {
    (void)fpr;
    bitmap *const b = malloc(sizeof *b);
    if (b == NULL) return NULL;
    b->n_blocks = n * BITS_PER_KEY / BLOCK_BITS + 1;
    b->words = aligned_alloc(64, bitmap_bytes(b));
    if (b->words != NULL) {
        bitmap_clear(b);
        return b;
    }
    free(b);
    return NULL;
}

static const outside_contestant contestant = {
    OUTSIDE_HEAD,
    .name = "bitmap",
    .note = "an example: 12 bits per key, for any requested fpr",
    .make = bitmap_make,
    .free = bitmap_free,
    .clear = bitmap_clear,
    .bytes = bitmap_bytes,
    .lines = 1,
    .single = { bitmap_add_each, bitmap_has_each, NULL, NULL },
    .ahead = { bitmap_add_ahead, bitmap_has_ahead, NULL, NULL },
};
OUTSIDE_ENTER(contestant)
