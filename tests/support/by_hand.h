/* by_hand.h - arithmetic of the oracles: products too long for a word, in halves or bit by bit. */
#ifndef TAMIS_TESTS_BY_HAND_H
#define TAMIS_TESTS_BY_HAND_H

#include <stdbool.h>
#include <stdint.h>

/* a b >> 64: what fastrange is. */
static inline uint64_t high_half(uint64_t a, uint64_t b) {
    uint64_t const a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t const middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* a b % n, one bit after the other; n < 2^63. */
static inline uint64_t times_mod(uint64_t a, uint64_t b, uint64_t n) {
    uint64_t sum = 0;
    for (; a != 0; a >>= 1, b = b * 2 % n) {
        if (a % 2 != 0) sum = (sum + b) % n;
    }
    return sum;
}

static inline bool have_common_factor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t const rest = a % b;
        a = b;
        b = rest;
    }
    return a != 1;
}

#endif
