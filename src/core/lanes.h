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
 * value * ones is a word with the value in every lane. So word ^ value * ones has 0 in exactly
 * those lanes that hold the value, and what remains is to find the lanes that are 0. Clear the top
 * bit of each lane and add 2^(width-1) - 1 to it: the sum reaches the top bit if any lower bit was
 * set, and it never leaves the lane. One addition tests all lanes of a word.
 *
 * Results are masks. For words, the top bit of each lane is the result; for arrays of bytes, bit i
 * of the mask is the result for byte i. Callers test != 0, or take the lowest bit, or count.
 *
 * Bytes are compared by vectors where there are some (AVX-512, AVX2, SSE4.1, NEON), with the same
 * results.
 */
#ifndef TAMIS_CORE_LANES_H
#define TAMIS_CORE_LANES_H

#include "core/bits.h"
#include "core/le.h"
#include "core/vectors.h"

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

/* Lanes whose width is known only at run time. A row of fields may begin at any bit of a byte, so a
 * word that is loaded from that byte has 57 bits of the row or more: only LANES_BITS are used. The
 * tables are computed by the compiler; a division at run time would take as long as the rest of a
 * comparison. */
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

/* Collect the bits 0, 8, 16, ... 56 of a word in its lowest byte. */
TAMIS_INLINE unsigned lanes_gather8(uint64_t spread) {
    return (unsigned)((spread * UINT64_C(0x0102040810204080)) >> 56);
}

/* Which of 8 bytes have this value? */
TAMIS_INLINE unsigned lanes_equal_8x8(const uint8_t *bytes, uint8_t value) {
    return lanes_gather8(lanes_equal(le64_load(bytes), value, LANES_BYTES, 8) >> 7);
}

/* Which of 8 bytes are at most this value? The lower 7 bits of each byte are compared by a
 * subtraction; a one in the top bit keeps the borrow inside the byte. If the top bits differ, they
 * decide instead. */
TAMIS_INLINE unsigned lanes_up_to_8x8(const uint8_t *bytes, uint8_t value) {
    uint64_t const tops = LANES_BYTES << 7, x = le64_load(bytes);
    uint64_t const y = value * LANES_BYTES, not_above = (y | tops) - (x & ~tops);
    uint64_t const up_to = ((~x & y) | (~(x ^ y) & not_above)) & tops;
    return lanes_gather8(up_to >> 7);
}

/* ------------------------------------------------------------------ 32 bytes, or 16 numbers */

/* Which of 32 bytes have this value? */
TAMIS_INLINE uint32_t lanes_equal_8x32(const uint8_t *bytes, uint8_t value) {
#ifdef LANES_VECTORS
    return lanes_mask(lanes_is_equal(lanes_load(bytes), lanes_all(value)));
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 32; i += 8) mask |= (uint32_t)lanes_equal_8x8(bytes + i, value) << i;
    return mask;
#endif
}

/* Which of 32 bytes are at most this value? */
TAMIS_INLINE uint32_t lanes_up_to_8x32(const uint8_t *bytes, uint8_t value) {
#ifdef LANES_VECTORS
    return lanes_mask(lanes_up_to(lanes_load(bytes), lanes_all(value)));
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 32; i += 8) mask |= (uint32_t)lanes_up_to_8x8(bytes + i, value) << i;
    return mask;
#endif
}

/* The same for the bytes of a cache line from `first` on, which is at most 32: bit i is byte
 * `first` + i. On x86 each register has its own mask; two halves that overlap need one shift less.
 * On NEON one mask of all registers takes fewer instructions than two masks. */
TAMIS_INLINE uint64_t lanes_equal_line(const uint8_t *line, unsigned first, uint8_t value) {
#if defined(LANES_AVX512)
    return _mm512_cmpeq_epi8_mask(lanes_load_line(line), lanes_all_64(value)) >> first;
#elif defined(LANES_NEON)
    lanes_32 const want = lanes_all(value), low = lanes_load(line), high = lanes_load(line + 32);
    return lanes_mask_64(lanes_is_equal(low, want), lanes_is_equal(high, want)) >> first;
#else
    uint64_t const low = lanes_equal_8x32(line + first, value);
    return low | (uint64_t)lanes_equal_8x32(line + 32, value) << (32 - first);
#endif
}

TAMIS_INLINE uint64_t lanes_up_to_line(const uint8_t *line, unsigned first, uint8_t value) {
#if defined(LANES_AVX512)
    return _mm512_cmple_epu8_mask(lanes_load_line(line), lanes_all_64(value)) >> first;
#elif defined(LANES_NEON)
    lanes_32 const want = lanes_all(value), low = lanes_load(line), high = lanes_load(line + 32);
    return lanes_mask_64(lanes_up_to(low, want), lanes_up_to(high, want)) >> first;
#else
    uint64_t const low = lanes_up_to_8x32(line + first, value);
    return low | (uint64_t)lanes_up_to_8x32(line + 32, value) << (32 - first);
#endif
}

/* ------------------------------------------------------------------ marks of a line */

/* Which bytes of a cache line have this value, with a bit (a mark) for each: the mark of a higher
 * byte is not always the higher one. Callers go from mark to mark, from the highest on.
 *
 * NEON has no movemask, and its shortest way to 64 bits has another order. The comparison gives
 * four registers of 0x00 and 0xff. Each goes into the bits of the next one, one bit further down
 * (SRI); so the upper half of byte j has a bit of each register. It is copied to the lower half,
 * and SHRN keeps the upper half of one byte and the lower half of the next:
 *
 *      byte j of the last register:   d c b a a a a a     a: byte j of the line, b: byte 16 + j,
 *      after the copy:                d c b a d c b a     c: byte 32 + j, d: byte 48 + j
 *                                     `-----'
 *                                     bits 4j + 3 to 4j of the marks
 *
 * These are 6 instructions; the order of the bytes (lanes_mask_64) takes 9 and a constant. */
TAMIS_INLINE uint64_t lanes_mark_line(const uint8_t *line, uint8_t value) {
#if defined(LANES_NEON)
    /* The byte is often the top of a number of 64 bits. GCC 12 would shift that down in a vector
     * register (fmov, ushr, dup) instead of in its own (lsr, dup). */
    uint32_t byte = value;
    TAMIS_OPAQUE(byte);
    uint8x16_t const   want = vdupq_n_u8((uint8_t)byte);
    uint8x16x4_t const all = vld1q_u8_x4(line);
    uint8x16_t         marks = vceqq_u8(all.val[0], want);
    marks = vsriq_n_u8(vceqq_u8(all.val[1], want), marks, 1);
    marks = vsriq_n_u8(vceqq_u8(all.val[2], want), marks, 1);
    marks = vsriq_n_u8(vceqq_u8(all.val[3], want), marks, 1);
    marks = vsriq_n_u8(marks, marks, 4);
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(marks), 4)), 0);
#else
    return lanes_equal_line(line, 0, value);
#endif
}

/* How many bytes of the line are after the byte of the highest mark? For NEON, with c marks above
 * the highest: c = 4 (15 - j) + (3 - k) for byte 16 k + j, so the number is 16 (3 - k) + (15 - j).
 * That is c, a number of 6 bits, rotated down by 2. */
TAMIS_INLINE unsigned lanes_after_mark(uint64_t marks) {
    unsigned const above = (unsigned)__builtin_clzll(marks);
#if defined(LANES_NEON)
    return (above | above << 6) >> 2 & 63;
#else
    return above;
#endif
}

/* All marks but the highest. */
TAMIS_INLINE uint64_t lanes_other_marks(uint64_t marks) {
    return marks ^ (UINT64_C(1) << 63) >> __builtin_clzll(marks);
}

/* ------------------------------------------------------------------ numbers of 16 bits */

/* Which of 16 little-endian numbers of 16 bits agree with this value in the bits of `mask`? */
TAMIS_INLINE uint32_t lanes_equal_16x16(const uint8_t *bytes, uint16_t value, uint16_t mask) {
#if defined(LANES_X86)
    __m128i const want = _mm_set1_epi16((short)(value & mask)), bits = _mm_set1_epi16((short)mask);
    __m128i const low = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i const high = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16));
    __m128i const low_is = _mm_cmpeq_epi16(_mm_and_si128(low, bits), want);
    __m128i const high_is = _mm_cmpeq_epi16(_mm_and_si128(high, bits), want);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low_is, high_is));
#elif defined(LANES_NEON)
    uint16x8_t const want = vdupq_n_u16(value & mask), bits = vdupq_n_u16(mask);
    lanes_32 const   all = lanes_load(bytes);
    uint16x8_t const low_is = vceqq_u16(vandq_u16(vreinterpretq_u16_u8(all.val[0]), bits), want);
    uint16x8_t const high_is = vceqq_u16(vandq_u16(vreinterpretq_u16_u8(all.val[1]), bits), want);
    uint8x16_t const equal = vuzp1q_u8(vreinterpretq_u8_u16(low_is), vreinterpretq_u8_u16(high_is));
    return lanes_mask((lanes_32){ { equal, vdupq_n_u8(0) } });
#else
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++) {
        found |= (uint32_t)(((le16_load(bytes + 2 * i) ^ value) & mask) == 0) << i;
    }
    return found;
#endif
}

/* Which of 16 little-endian numbers are below this value? All are below 2^15. */
TAMIS_INLINE uint32_t lanes_below_16x16(const uint8_t *bytes, uint16_t value) {
#if defined(LANES_X86)
    __m128i const limit = _mm_set1_epi16((short)value);
    __m128i const low = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i const high = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16));
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_cmpgt_epi16(limit, low), _mm_cmpgt_epi16(limit, high)));
#elif defined(LANES_NEON)
    uint16x8_t const limit = vdupq_n_u16(value);
    lanes_32 const   all = lanes_load(bytes);
    uint16x8_t const low_is = vcltq_u16(vreinterpretq_u16_u8(all.val[0]), limit);
    uint16x8_t const high_is = vcltq_u16(vreinterpretq_u16_u8(all.val[1]), limit);
    uint8x16_t const below = vuzp1q_u8(vreinterpretq_u8_u16(low_is), vreinterpretq_u8_u16(high_is));
    return lanes_mask((lanes_32){ { below, vdupq_n_u8(0) } });
#else
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++) found |= (uint32_t)(le16_load(bytes + 2 * i) < value) << i;
    return found;
#endif
}

#endif
