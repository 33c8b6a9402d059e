/* random.h - repeatable randomness: SplitMix64, with a seed that depends on its use.
 *
 * Every trial has a generator of its own, made from the seed of the run, the experiment, the series
 * and the trial's number. So a trial sees the same randomness whether it runs alone, after others
 * or in parallel, and a new experiment does not change the old ones.
 */
#ifndef TAMIS_LAB_RANDOM_H
#define TAMIS_LAB_RANDOM_H

#include "core/hash.h"

typedef struct lab_random {
    uint64_t state;
} lab_random;

/* SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
 * The library has the same function. The lab has its own copy, so that a change of the library's
 * hashing does not change the lab's trials. */
#define LAB_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t lab_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t lab_random_next(lab_random *random) {
    random->state += LAB_GOLDEN;
    return lab_mix(random->state);
}

/* Uniform in [0, n); the bias is n / 2^64. */
static inline uint64_t lab_random_below(lab_random *random, uint64_t n) {
    return fastrange(lab_random_next(random), n);
}

/* FNV-1a, continued from `hash` over the letters and the final zero. */
static inline uint64_t lab_random_absorb(uint64_t hash, const char *text) {
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++ != '\0');
    return hash;
}

/* The generator of one trial. The state is mixed between its parts: sums of seed and trial would
 * make trial 1 of seed 1 the same as trial 0 of seed 2. */
static inline lab_random lab_random_of(uint64_t seed, const char *experiment, const char *stream,
                                       uint64_t trial) {
    uint64_t const names = lab_random_absorb(lab_random_absorb(seed, experiment), stream);
    return (lab_random){ lab_mix(lab_mix(lab_mix(names) ^ seed) + trial * LAB_GOLDEN) };
}

#endif
