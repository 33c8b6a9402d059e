/* dice.h - the random numbers of all tests: SplitMix64, repeatable from its seed.
 *
 * The generator is written out here although core/hash.h has the same mixer: a fault in that mixer
 * must not change the numbers that test it.
 */
#ifndef TAMIS_TESTS_DICE_H
#define TAMIS_TESTS_DICE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "by_hand.h"

typedef struct dice {
    uint64_t state; /* any number is a good seed */
} dice;

#define DICE_SEED UINT64_C(20060911)

/* The seed of dice_start(): fixed, or the environment variable TAMIS_TEST_SEED. */
static inline uint64_t dice_seed(void) {
    const char *const given = getenv("TAMIS_TEST_SEED");
    return given != NULL ? strtoull(given, NULL, 0) : DICE_SEED;
}

static inline dice dice_start(void) {
    return (dice){ dice_seed() };
}

static inline uint64_t dice_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* 64 random bits. */
static inline uint64_t dice_roll(dice *d) {
    return dice_mix(d->state += UINT64_C(0x9e3779b97f4a7c15));
}

/* A number in [0, n). */
static inline uint64_t dice_below(dice *d, uint64_t n) {
    return high_half(dice_roll(d), n);
}

/* A number where arithmetic breaks: few bits, nearly all bits, or next to a power of two. */
static inline uint64_t dice_edge(dice *d) {
    uint64_t const any = dice_roll(d), power = UINT64_C(1) << dice_below(d, 64);
    switch (dice_below(d, 6)) {
    case 0: return any;
    case 1: return any >> dice_below(d, 64);
    case 2: return power;
    case 3: return power - 1;
    case 4: return ~(power - 1);
    default: return power + 1;
    }
}

static inline void dice_fill(dice *d, void *to, size_t bytes) {
    uint8_t *const byte = to;
    for (size_t i = 0; i < bytes; i++) byte[i] = (uint8_t)dice_below(d, 256);
}

#endif
