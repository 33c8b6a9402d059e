/* pair.h - a set of the core, and the same set on the (emulated) GPU. */
#ifndef TAMIS_TESTS_GPU_PAIR_H
#define TAMIS_TESTS_GPU_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tamis/gpu.h>

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

/* Keys in the memory of the GPU, which the emulator has here. */
tamis_gpu_keys pair_keys(const uint64_t *ids, size_t n, unsigned flags);

/* Are the answers to n ids the same: has, and count if it can? */
void pair_ask(const pair *both, const uint64_t *ids, size_t n);

/* Numbers that look random, the same in each run. */
uint64_t pair_random(uint64_t *state);

#endif
