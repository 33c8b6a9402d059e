/* by_hand.h - arithmetic of the oracles, as one would do it on paper.
 *
 * Bit by bit, digit by digit, without the tricks of src/core that it is compared with.
 */
#ifndef TAMIS_TESTS_BY_HAND_H
#define TAMIS_TESTS_BY_HAND_H

#include <stdbool.h>
#include <stdint.h>

/* ------------------------------------------------------------------ bits of a body */

/* Bit 0 is the lowest bit of byte 0, bit 8 the lowest of byte 1 (docs/format.md). */
static inline bool read_bit(const uint8_t *bytes, uint64_t at) {
    return (bytes[at / 8] >> (at % 8)) & 1;
}

static inline void write_bit(uint8_t *bytes, uint64_t at, bool value) {
    uint8_t const mask = (uint8_t)(1u << (at % 8));
    bytes[at / 8] = (uint8_t)(value ? bytes[at / 8] | mask : bytes[at / 8] & ~mask);
}

static inline void flip_bit(uint8_t *bytes, uint64_t at) {
    bytes[at / 8] ^= (uint8_t)(1u << (at % 8));
}

/* The n lowest bits of a number, lowest first. Returns where the next one begins. Byte by byte:
 * oracles write whole tables after every step. */
static inline uint64_t write_bits(uint8_t *bytes, uint64_t at, uint64_t n, uint64_t value) {
    for (uint64_t done = 0; done < n;) {
        uint64_t const bit = (at + done) % 8, left = n - done;
        uint64_t const part = left < 8 - bit ? left : 8 - bit, mask = ((1u << part) - 1) << bit;
        uint8_t *const byte = bytes + (at + done) / 8;
        *byte = (uint8_t)((*byte & ~mask) | (value >> done << bit & mask));
        done += part;
    }
    return at + n;
}

/* ------------------------------------------------------------------ products */

/* a b >> 64, in halves of 32 bits: what fastrange(a, b) has to be. */
static inline uint64_t high_half(uint64_t a, uint64_t b) {
    uint64_t const a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t const middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* The whole product in digits of base 2^16, as taught at school; returns the high half. */
static inline uint64_t multiply_digits(uint64_t a, uint64_t b, uint64_t *ret_low) {
    uint64_t digit[9] = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 4; j++) {
            digit[i + j] += ((a >> (16 * i)) & 0xffff) * ((b >> (16 * j)) & 0xffff);
            digit[i + j + 1] += digit[i + j] >> 16;
            digit[i + j] &= 0xffff;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        digit[i + 1] += digit[i] >> 16;
        digit[i] &= 0xffff;
    }
    *ret_low = digit[0] | digit[1] << 16 | digit[2] << 32 | digit[3] << 48;
    return digit[4] | digit[5] << 16 | digit[6] << 32 | digit[7] << 48;
}

/* a b % n, one bit after the other; n < 2^63. */
static inline uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t n) {
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
