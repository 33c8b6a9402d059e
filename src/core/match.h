/* match.h - which cells of a bucket hold this value? Answered as a bit mask, bit i for cell i.
 *
 * Callers decide what they want of it: != 0, the lowest, a popcount. No loop over cells: AVX2
 * compares 32 bytes at once; the portable form compares the cells of a 64-bit word at once.
 */
#ifndef TAMIS_CORE_MATCH_H
#define TAMIS_CORE_MATCH_H

#include "core/bits.h"
#include "core/le.h"

#if defined(__SSE2__) && !defined(TAMIS_NO_SIMD)
#include <immintrin.h>
#define MATCH_SSE2 /* any x86-64 has it */
#endif

/* The cells of `bits` bits in one word that equal `value`: the top bit of each matching cell, and
 * no other bit. Cells above the last whole one are ignored.
 *
 * A cell differs if any of its bits does. Adding 2^(bits-1) - 1 to the cell without its top bit
 * carries into the top bit just when the rest is not zero, and never out of the cell. */
TAMIS_INLINE uint64_t match_word(uint64_t word, uint64_t value, unsigned bits) {
    TAMIS_ASSERT(bits >= 1 && bits <= 64);
    unsigned const cells = 64 / bits;
    uint64_t const ones = bits_low(cells * bits) / bits_low(bits); /* bit 0 of every cell */
    uint64_t const tops = ones << (bits - 1);
    uint64_t const differ = word ^ (value * ones);
    uint64_t const rest = (differ & ~tops) + (tops - ones);
    return ~(rest | differ) & tops;
}

/* The bits at 0, 8, 16, ... pushed together. */
TAMIS_INLINE unsigned match_gather8(uint64_t spread) {
    return (unsigned)((spread * UINT64_C(0x0102040810204080)) >> 56);
}

/* Eight cells of 8 bits. */
TAMIS_INLINE unsigned match_8x8(const uint8_t *cells, uint8_t value) {
    return match_gather8(match_word(le64_load(cells), value, 8) >> 7);
}

#ifdef MATCH_SSE2
/* 16 cells of 8 bits: those that are equal; and those that are smaller: the least of both is not
 * the value. */
TAMIS_INLINE uint32_t match_8x16(const uint8_t *cells, uint8_t value) {
    __m128i const all = _mm_loadu_si128((const __m128i *)(const void *)cells);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8((char)value)));
}

TAMIS_INLINE uint32_t below_8x16(const uint8_t *cells, uint8_t value) {
    __m128i const all = _mm_loadu_si128((const __m128i *)(const void *)cells);
    __m128i const most = _mm_max_epu8(all, _mm_set1_epi8((char)value));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, most)) ^ 0xffff;
}
#endif

/* Eight cells of 8 bits: those that are smaller. Each byte without its top bit is compared by
 * subtraction, with a one above it to borrow from; then the top bits decide, if they differ. */
TAMIS_INLINE unsigned below_8x8(const uint8_t *cells, uint8_t value) {
    uint64_t const tops = UINT64_C(0x8080808080808080), x = le64_load(cells);
    uint64_t const y = value * (tops >> 7), not_below = (x | tops) - (y & ~tops);
    uint64_t const below = ((~x & y) | (~(x ^ y) & ~not_below)) & tops;
    return match_gather8(below >> 7);
}

/* 32 cells of 8 bits. */
TAMIS_INLINE uint32_t match_8x32(const uint8_t *cells, uint8_t value) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    __m256i const all = _mm256_loadu_si256((const __m256i *)(const void *)cells);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8((char)value)));
#elif defined(MATCH_SSE2)
    return match_8x16(cells, value) | match_8x16(cells + 16, value) << 16;
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 4; i++) mask |= (uint32_t)match_8x8(cells + 8 * i, value) << (8 * i);
    return mask;
#endif
}

/* Which of 32 cells of 8 bits are smaller than this value? */
TAMIS_INLINE uint32_t below_8x32(const uint8_t *cells, uint8_t value) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    __m256i const all = _mm256_loadu_si256((const __m256i *)(const void *)cells);
    __m256i const least = _mm256_min_epu8(all, _mm256_set1_epi8((char)value));
    __m256i const same = _mm256_cmpeq_epi8(all, _mm256_set1_epi8((char)value));
    return (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(same, _mm256_cmpeq_epi8(all, least)));
#elif defined(MATCH_SSE2)
    return below_8x16(cells, value) | below_8x16(cells + 16, value) << 16;
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 4; i++) mask |= (uint32_t)below_8x8(cells + 8 * i, value) << (8 * i);
    return mask;
#endif
}

#endif
