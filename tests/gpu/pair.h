/* pair.h - a set of the library, and the same set on the GPU, which is emulated or real. */
#ifndef TAMIS_TESTS_GPU_PAIR_H
#define TAMIS_TESTS_GPU_PAIR_H

#include "dice.h"
#include "there.h"

typedef struct pair {
    tamis_gpu     *gpu;
    tamis_set     *here;
    tamis_gpu_set *there;
} pair;

/* A spec of a kind, and a geometry unless that is NULL. The seed is always the same. */
tamis_spec pair_spec(const char *kind, const char *geometry, uint64_t capacity);

/* Make both, empty. The one on the GPU is made there. */
pair pair_make(const tamis_spec *spec);
void pair_free(pair *both);

/* Put a copy of `here` in the place of `there`. */
void pair_upload(pair *both);

/* Is the file of `there` the file of `here`, byte for byte, with all its counts? */
void pair_compare(const pair *both);

/* The same without the header: the body alone, and its checksums. */
void pair_compare_body(const pair *both);

/* Keys for calls of `there`. With TAMIS_GPU_HOST they stay here. */
tamis_gpu_keys pair_keys(const pair *both, const uint64_t *ids, size_t n, unsigned flags);

/* Are the answers to n ids the same: has, and count if it can? */
void pair_ask(const pair *both, const uint64_t *ids, size_t n);

/* Add to both. If the set here refuses one key, the one on the GPU must refuse all: false. */
bool pair_add(pair *both, const uint64_t *ids, size_t n, unsigned flags);
void pair_remove(pair *both, const uint64_t *ids, size_t n, unsigned flags);

/* Rounds of adds and removals of ids from a pool, most of them once and some often, with all bytes
 * compared after each. */
#define PAIR_MOST 20000
void pair_history(const char *geometry, size_t pool, unsigned rounds);

#endif
