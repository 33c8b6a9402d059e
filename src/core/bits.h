/* bits.h - masks, popcount, rank and select inside one 64-bit word.
 *
 * Bit 0 is the least significant. One instruction each where the build has it (POPCNT, BMI2's
 * PDEP), otherwise the classic word-parallel forms, with the same results.
 */
#ifndef TAMIS_CORE_BITS_H
#define TAMIS_CORE_BITS_H

#include "core/base.h"
#include "core/le.h"

#if defined(__BMI2__) && !defined(TAMIS_NO_SIMD)
#include <immintrin.h>
#endif

/* The n lowest bits set, 0 <= n <= 64. */
TAMIS_INLINE uint64_t bits_low(unsigned n) {
    TAMIS_ASSERT(n <= 64);
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

TAMIS_INLINE unsigned bits_popcount(uint64_t word) {
#if defined(__POPCNT__) && !defined(TAMIS_NO_SIMD)
    return (unsigned)__builtin_popcountll(word);
#else
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)((word * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

/* How many of the bits 0..i-1 are set, 0 <= i <= 64. */
TAMIS_INLINE unsigned bits_rank(uint64_t word, unsigned i) {
    return bits_popcount(word & bits_low(i));
}

/* The place of the lowest set bit. The word must not be 0. */
TAMIS_INLINE unsigned bits_lowest(uint64_t word) {
    TAMIS_ASSERT(word != 0);
    return (unsigned)__builtin_ctzll(word);
}

/* The place of the set bit that has exactly `rank` set bits below it; 64 if there is none. */
TAMIS_INLINE unsigned bits_select(uint64_t word, unsigned rank) {
    if (rank >= bits_popcount(word)) return 64;
#if defined(__BMI2__) && !defined(TAMIS_NO_SIMD)
    return bits_lowest(_pdep_u64(UINT64_C(1) << rank, word));
#else
    /* Halve the window: is the bit we look for in the lower half of it? */
    unsigned place = 0;
    for (unsigned half = 32; half != 0; half /= 2) {
        unsigned const below = bits_popcount((word >> place) & bits_low(half));
        if (rank >= below) {
            rank -= below;
            place += half;
        }
    }
    return place;
#endif
}

/* A mask of the two set bits that have `rank` and `rank` + 1 set bits below them; of fewer than two
 * if there are no more. */
TAMIS_INLINE uint64_t bits_two(uint64_t word, unsigned rank) {
#if defined(__BMI2__) && !defined(TAMIS_NO_SIMD)
    return _pdep_u64(UINT64_C(3) << rank, word);
#else
    unsigned const first = bits_select(word, rank);
    if (first == 64) return 0;
    uint64_t const above = word & ~bits_low(first + 1);
    return UINT64_C(1) << first | (above & -above);
#endif
}

/* Set bits in a whole body; `bytes` is a multiple of 8. */
TAMIS_INLINE uint64_t bits_popcount_bytes(const uint8_t *from, uint64_t bytes) {
    TAMIS_ASSERT(bytes % 8 == 0);
    uint64_t total = 0;
    for (uint64_t at = 0; at < bytes; at += 8) total += bits_popcount(le64_load(from + at));
    return total;
}

#endif
