/* keys.h - random keys, all different, each with a number.
 *
 * Key number i is a one-to-one mix of i. So no list of keys is kept: the number tells whether a key
 * was added. Keys are made outside of the timed parts.
 */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <stdint.h>

/* The finalizer of splitmix64: one to one. */
static inline uint64_t key_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* `base` is key_mix(seed), so that nearby seeds share no keys. */
static inline uint64_t key_number(uint64_t base, uint64_t i) {
    return key_mix(base + i * UINT64_C(0x9e3779b97f4a7c15));
}

/* A random number below `n`. `state` starts with any number and is updated. */
static inline uint64_t key_random_below(uint64_t *state, uint64_t n) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)(((unsigned __int128)key_mix(*state ^ 0x5bd1e995) * n) >> 64);
}

#endif
