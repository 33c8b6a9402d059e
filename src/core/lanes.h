/* lanes.h - compare many small fields with one value at once.
 *
 * A word of 64 bits is cut into lanes of `width` bits each, the first in the lowest bits:
 *
 *      63     56 55      42 41      28 27      14 13       0
 *     | no lane | lane 3    | lane 2    | lane 1    | lane 0 |      width 14
 *                ^         ^
 *                |         ones: the lowest bit of every lane
 *                tops: the top bit of every lane
 *
 * word ^ value * ones is 0 in just those lanes that hold the value. To tell lanes that are 0 from
 * the others, add 2^(width-1) - 1 to each lane without its top bit: the sum carries into the top
 * bit just when the rest of the lane is not 0, and never out of the lane. So one addition answers
 * for all lanes of the word.
 *
 * Answers are masks. For words they have the top bits of lanes; for arrays of bytes, bit i is
 * byte i. Callers decide what they want of it: != 0, the lowest, a popcount.
 *
 * Bytes are compared by vectors where there are some (AVX2, SSE2), with the same results.
 */
#ifndef TAMIS_CORE_LANES_H
#define TAMIS_CORE_LANES_H

#include "core/bits.h"
#include "core/le.h"

#if defined(__SSE2__) && !defined(TAMIS_NO_SIMD)
#include <immintrin.h>
#define LANES_SSE2 /* any x86-64 has it */
#endif

/* ------------------------------------------------------------------ lanes of a word */

/* The top bit of each lane says whether the lane is not 0; all other bits are noise. */
TAMIS_INLINE uint64_t lanes_carry(uint64_t word, uint64_t ones, unsigned width) {
    uint64_t const tops = ones << (width - 1);
    return ((word & ~tops) + (tops - ones)) | word;
}

/* The top bits of the lanes that are not 0, and of those that hold this value. */
TAMIS_INLINE uint64_t lanes_nonzero(uint64_t word, uint64_t ones, unsigned width) {
    return lanes_carry(word, ones, width) & ones << (width - 1);
}

TAMIS_INLINE uint64_t lanes_equal(uint64_t word, uint64_t value, uint64_t ones, unsigned width) {
    return ~lanes_carry(word ^ value * ones, ones, width) & ones << (width - 1);
}

/* Lanes of a width that is known only when they are read. LANES_BITS bits of a word are used: a
 * word that is loaded from the byte in which a field begins has so many bits of it for sure,
 * whatever bit of the byte it begins at. The compiler makes the table; the division would take as
 * long as the rest of a comparison. */
#define LANES_BITS 57

#define LANES_ONES(w) ((UINT64_C(1) << (LANES_BITS / (w) * (w))) - 1) / ((UINT64_C(1) << (w)) - 1)
#define LANES_PER_WORD(w) LANES_BITS / (w)
#define LANES_4(f, w) f(w), f((w) + 1), f((w) + 2), f((w) + 3)
#define LANES_ALL(f)                                                                       \
    0, f(1), LANES_4(f, 2), LANES_4(f, 6), LANES_4(f, 10), LANES_4(f, 14), LANES_4(f, 18), \
        LANES_4(f, 22), LANES_4(f, 26), LANES_4(f, 30), LANES_4(f, 34), LANES_4(f, 38),    \
        LANES_4(f, 42), LANES_4(f, 46), LANES_4(f, 50), LANES_4(f, 54)

/* By width, from 1 on: the lowest bit of each lane, and how many lanes there are. */
static const uint64_t lanes_ones[LANES_BITS + 1]
    __attribute__((unused)) = { LANES_ALL(LANES_ONES) };
static const uint8_t lanes_per_word[LANES_BITS + 1]
    __attribute__((unused)) = { LANES_ALL(LANES_PER_WORD) };

/* ------------------------------------------------------------------ arrays of bytes */

#define LANES_BYTES UINT64_C(0x0101010101010101) /* `ones` of eight bytes */

/* The bits at 0, 8, 16, ... of a word pushed together. */
TAMIS_INLINE unsigned lanes_gather8(uint64_t spread) {
    return (unsigned)((spread * UINT64_C(0x0102040810204080)) >> 56);
}

/* Which of 8 bytes have this value? */
TAMIS_INLINE unsigned lanes_equal_8x8(const uint8_t *bytes, uint8_t value) {
    return lanes_gather8(lanes_equal(le64_load(bytes), value, LANES_BYTES, 8) >> 7);
}

/* Which of 8 bytes are this value or smaller? Each byte without its top bit is compared by
 * subtraction, with a one above it to borrow from; then the top bits decide, if they differ. */
TAMIS_INLINE unsigned lanes_up_to_8x8(const uint8_t *bytes, uint8_t value) {
    uint64_t const tops = LANES_BYTES << 7, x = le64_load(bytes);
    uint64_t const y = value * LANES_BYTES, not_above = (y | tops) - (x & ~tops);
    uint64_t const up_to = ((~x & y) | (~(x ^ y) & not_above)) & tops;
    return lanes_gather8(up_to >> 7);
}

#ifdef LANES_SSE2
/* The same for 16 bytes. A byte is not larger if the smaller of both is the byte itself. */
TAMIS_INLINE uint32_t lanes_equal_8x16(const uint8_t *bytes, uint8_t value) {
    __m128i const all = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8((char)value)));
}

TAMIS_INLINE uint32_t lanes_up_to_8x16(const uint8_t *bytes, uint8_t value) {
    __m128i const all = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i const smaller = _mm_min_epu8(all, _mm_set1_epi8((char)value));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, smaller));
}
#endif

/* Which of 32 bytes have this value? */
TAMIS_INLINE uint32_t lanes_equal_8x32(const uint8_t *bytes, uint8_t value) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    __m256i const all = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_set1_epi8((char)value)));
#elif defined(LANES_SSE2)
    return lanes_equal_8x16(bytes, value) | lanes_equal_8x16(bytes + 16, value) << 16;
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 32; i += 8) mask |= (uint32_t)lanes_equal_8x8(bytes + i, value) << i;
    return mask;
#endif
}

/* Which of 32 bytes are this value or smaller? */
TAMIS_INLINE uint32_t lanes_up_to_8x32(const uint8_t *bytes, uint8_t value) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    __m256i const all = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i const smaller = _mm256_min_epu8(all, _mm256_set1_epi8((char)value));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, smaller));
#elif defined(LANES_SSE2)
    return lanes_up_to_8x16(bytes, value) | lanes_up_to_8x16(bytes + 16, value) << 16;
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 32; i += 8) mask |= (uint32_t)lanes_up_to_8x8(bytes + i, value) << i;
    return mask;
#endif
}

/* Which of 16 little-endian numbers of 16 bits are this value in the bits of `mask`? */
TAMIS_INLINE uint32_t lanes_equal_16x16(const uint8_t *bytes, uint16_t value, uint16_t mask) {
#ifdef LANES_SSE2
    __m128i const want = _mm_set1_epi16((short)(value & mask)), bits = _mm_set1_epi16((short)mask);
    __m128i const low = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i const high = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16));
    __m128i const low_is = _mm_cmpeq_epi16(_mm_and_si128(low, bits), want);
    __m128i const high_is = _mm_cmpeq_epi16(_mm_and_si128(high, bits), want);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low_is, high_is));
#else
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++) {
        found |= (uint32_t)(((le16_load(bytes + 2 * i) ^ value) & mask) == 0) << i;
    }
    return found;
#endif
}

#endif
