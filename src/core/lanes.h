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

/* ------------------------------------------------------------------ vectors of 32 bytes */

/* lanes_32 is half a cache line: one register of AVX2, or two of SSE4.1 or NEON. If there are no
 * vectors, LANES_VECTORS is not defined, and callers use words.
 *
 *     lanes_load, lanes_store   at any address
 *     lanes_all                 the same byte everywhere; it is below 256
 *     lanes_is_equal            0xff where both have the same byte, otherwise 0
 *     lanes_up_to               0xff where the first is not larger, unsigned. On x86: where it
 *                               equals the smaller of both
 *     lanes_is_above            0xff where the first is larger; for bytes below 128
 *     lanes_pick                the byte of `then` where `choice` is 0xff, of `other` where it is 0
 *     lanes_move_down           byte i becomes byte i + n; the last n become 0. n is 1 or 2
 *     lanes_mask                bit i: byte i is 0xff; all are 0xff or 0 */

#if defined(__x86_64__) && !defined(TAMIS_NO_SIMD)
/* Each byte, four times. On x86 a byte that is in an ordinary register takes two instructions to be
 * in all bytes of a vector, both on the one unit that shuffles; a vector of equal words is loaded
 * by one instruction, on another unit. With 100 k keys lookups of `line` are 1.03 times as fast by
 * this kilobyte, single adds 1.08 times; with 8 M keys single adds and removals 1.25 times. */
#define LANES_WORD(b) (b) * UINT32_C(0x01010101)
#define LANES_WORDS_4(b) LANES_WORD(b), LANES_WORD(b + 1), LANES_WORD(b + 2), LANES_WORD(b + 3)
#define LANES_WORDS_16(b) \
    LANES_WORDS_4(b), LANES_WORDS_4(b + 4), LANES_WORDS_4(b + 8), LANES_WORDS_4(b + 12)
#define LANES_WORDS_64(b) \
    LANES_WORDS_16(b), LANES_WORDS_16(b + 16), LANES_WORDS_16(b + 32), LANES_WORDS_16(b + 48)
static const uint32_t lanes_words[256]
    __attribute__((unused, aligned(64))) = { LANES_WORDS_64(0), LANES_WORDS_64(64),
                                             LANES_WORDS_64(128), LANES_WORDS_64(192) };
#endif

#if defined(TAMIS_NO_SIMD)

#elif defined(__AVX2__)

#include <immintrin.h>

#define LANES_VECTORS
#define LANES_X86
typedef __m256i lanes_32;

TAMIS_INLINE lanes_32 lanes_load(const uint8_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

TAMIS_INLINE void lanes_store(uint8_t *to, lanes_32 all) {
    _mm256_storeu_si256((__m256i *)(void *)to, all);
}

TAMIS_INLINE lanes_32 lanes_all(unsigned byte) {
    return _mm256_set1_epi32((int)lanes_words[byte]);
}

TAMIS_INLINE lanes_32 lanes_is_equal(lanes_32 a, lanes_32 b) {
    return _mm256_cmpeq_epi8(a, b);
}

TAMIS_INLINE lanes_32 lanes_up_to(lanes_32 a, lanes_32 b) {
    return _mm256_cmpeq_epi8(a, _mm256_min_epu8(a, b));
}

TAMIS_INLINE lanes_32 lanes_is_above(lanes_32 a, lanes_32 b) {
    return _mm256_cmpgt_epi8(a, b);
}

TAMIS_INLINE lanes_32 lanes_pick(lanes_32 choice, lanes_32 then, lanes_32 other) {
    return _mm256_blendv_epi8(other, then, choice);
}

TAMIS_INLINE lanes_32 lanes_move_down(lanes_32 all, unsigned n) {
    __m256i const top = _mm256_permute2x128_si256(all, all, 0x81); /* its upper half, then 0 */
    return n == 1 ? _mm256_alignr_epi8(top, all, 1) : _mm256_alignr_epi8(top, all, 2);
}

TAMIS_INLINE uint32_t lanes_mask(lanes_32 all) {
    return (uint32_t)_mm256_movemask_epi8(all);
}

#elif defined(__SSE4_1__)

#include <smmintrin.h> /* and no more than that: core/bits.h says why */

#define LANES_VECTORS
#define LANES_X86
typedef struct lanes_32 {
    __m128i low, high;
} lanes_32;

TAMIS_INLINE lanes_32 lanes_load(const uint8_t *from) {
    return (lanes_32){ _mm_loadu_si128((const __m128i *)(const void *)from),
                       _mm_loadu_si128((const __m128i *)(const void *)(from + 16)) };
}

TAMIS_INLINE void lanes_store(uint8_t *to, lanes_32 all) {
    _mm_storeu_si128((__m128i *)(void *)to, all.low);
    _mm_storeu_si128((__m128i *)(void *)(to + 16), all.high);
}

TAMIS_INLINE lanes_32 lanes_all(unsigned byte) {
    __m128i const all = _mm_set1_epi32((int)lanes_words[byte]);
    return (lanes_32){ all, all };
}

TAMIS_INLINE lanes_32 lanes_is_equal(lanes_32 a, lanes_32 b) {
    return (lanes_32){ _mm_cmpeq_epi8(a.low, b.low), _mm_cmpeq_epi8(a.high, b.high) };
}

TAMIS_INLINE lanes_32 lanes_up_to(lanes_32 a, lanes_32 b) {
    return (lanes_32){ _mm_cmpeq_epi8(a.low, _mm_min_epu8(a.low, b.low)),
                       _mm_cmpeq_epi8(a.high, _mm_min_epu8(a.high, b.high)) };
}

TAMIS_INLINE lanes_32 lanes_is_above(lanes_32 a, lanes_32 b) {
    return (lanes_32){ _mm_cmpgt_epi8(a.low, b.low), _mm_cmpgt_epi8(a.high, b.high) };
}

TAMIS_INLINE lanes_32 lanes_pick(lanes_32 choice, lanes_32 then, lanes_32 other) {
    return (lanes_32){ _mm_blendv_epi8(other.low, then.low, choice.low),
                       _mm_blendv_epi8(other.high, then.high, choice.high) };
}

TAMIS_INLINE lanes_32 lanes_move_down(lanes_32 all, unsigned n) {
    return n == 1
               ? (lanes_32){ _mm_alignr_epi8(all.high, all.low, 1), _mm_srli_si128(all.high, 1) }
               : (lanes_32){ _mm_alignr_epi8(all.high, all.low, 2), _mm_srli_si128(all.high, 2) };
}

TAMIS_INLINE uint32_t lanes_mask(lanes_32 all) {
    return (uint32_t)_mm_movemask_epi8(all.low) | (uint32_t)_mm_movemask_epi8(all.high) << 16;
}

#elif defined(BITS_NEON)

#define LANES_VECTORS
#define LANES_NEON
typedef uint8x16x2_t lanes_32;

TAMIS_INLINE lanes_32 lanes_load(const uint8_t *from) {
    return (lanes_32){ { vld1q_u8(from), vld1q_u8(from + 16) } };
}

TAMIS_INLINE void lanes_store(uint8_t *to, lanes_32 all) {
    vst1q_u8(to, all.val[0]);
    vst1q_u8(to + 16, all.val[1]);
}

TAMIS_INLINE lanes_32 lanes_all(unsigned byte) {
    return (lanes_32){ { vdupq_n_u8((uint8_t)byte), vdupq_n_u8((uint8_t)byte) } };
}

TAMIS_INLINE lanes_32 lanes_is_equal(lanes_32 a, lanes_32 b) {
    return (lanes_32){ { vceqq_u8(a.val[0], b.val[0]), vceqq_u8(a.val[1], b.val[1]) } };
}

TAMIS_INLINE lanes_32 lanes_up_to(lanes_32 a, lanes_32 b) {
    return (lanes_32){ { vcleq_u8(a.val[0], b.val[0]), vcleq_u8(a.val[1], b.val[1]) } };
}

TAMIS_INLINE lanes_32 lanes_is_above(lanes_32 a, lanes_32 b) {
    return (lanes_32){ { vcgtq_u8(a.val[0], b.val[0]), vcgtq_u8(a.val[1], b.val[1]) } };
}

TAMIS_INLINE lanes_32 lanes_pick(lanes_32 choice, lanes_32 then, lanes_32 other) {
    return (lanes_32){ { vbslq_u8(choice.val[0], then.val[0], other.val[0]),
                         vbslq_u8(choice.val[1], then.val[1], other.val[1]) } };
}

TAMIS_INLINE lanes_32 lanes_move_down(lanes_32 all, unsigned n) {
    uint8x16_t const low = all.val[0], high = all.val[1], zero = vdupq_n_u8(0);
    return n == 1 ? (lanes_32){ { vextq_u8(low, high, 1), vextq_u8(high, zero, 1) } }
                  : (lanes_32){ { vextq_u8(low, high, 2), vextq_u8(high, zero, 2) } };
}

/* NEON has no movemask. Keep one bit of each byte, a different one in each of eight neighbours, and
 * add neighbours up three times. This function does the first addition. */
TAMIS_INLINE uint8x16_t lanes_mask_begin(lanes_32 all) {
    uint8x16_t const bits = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    return vpaddq_u8(vandq_u8(all.val[0], bits), vandq_u8(all.val[1], bits));
}

TAMIS_INLINE uint64_t lanes_mask_64(lanes_32 low, lanes_32 high) {
    uint8x16_t sums = vpaddq_u8(lanes_mask_begin(low), lanes_mask_begin(high));
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

TAMIS_INLINE uint32_t lanes_mask(lanes_32 all) {
    return (uint32_t)lanes_mask_64(all, all);
}

#endif

/* ------------------------------------------------------------------ a whole line */

/* lanes_64 is a cache line: one register of AVX-512, or four of NEON. LANES_LINE says that there is
 * such a type. With AVX-512 a comparison gives its mask at once, bit i for byte i: two instructions
 * instead of seven.
 *
 *     lanes_load_line    at any address
 *     lanes_store_from   the bytes of `then` from byte `at` on, those of `other` before it
 *     lanes_line_down    byte i becomes byte i + n; the last n become 0. n is 1 or 2
 *     lanes_line_up      byte i becomes byte i - n; the first n become any. n is 1 or 2 */
#if defined(__AVX512BW__) && !defined(TAMIS_NO_SIMD)
#define LANES_LINE
#define LANES_AVX512
typedef __m512i lanes_64;

TAMIS_INLINE lanes_64 lanes_load_line(const uint8_t *line) {
    return _mm512_loadu_si512(line);
}

TAMIS_INLINE void lanes_store_from(uint8_t *line, unsigned at, lanes_64 then, lanes_64 other) {
    _mm512_storeu_si512(line, _mm512_mask_mov_epi8(other, UINT64_MAX << at, then));
}

TAMIS_INLINE lanes_64 lanes_all_64(unsigned byte) {
    return _mm512_set1_epi32((int)lanes_words[byte]);
}

/* VPALIGNR moves bytes within each quarter of the register; the neighbour quarters are aligned for
 * it first. */
TAMIS_INLINE lanes_64 lanes_line_down(lanes_64 all, unsigned n) {
    lanes_64 const next = _mm512_alignr_epi64(_mm512_setzero_si512(), all, 2);
    return n == 1 ? _mm512_alignr_epi8(next, all, 1) : _mm512_alignr_epi8(next, all, 2);
}

TAMIS_INLINE lanes_64 lanes_line_up(lanes_64 all, unsigned n) {
    lanes_64 const last = _mm512_alignr_epi64(all, _mm512_setzero_si512(), 6);
    return n == 1 ? _mm512_alignr_epi8(all, last, 15) : _mm512_alignr_epi8(all, last, 14);
}

#elif defined(LANES_NEON)
#define LANES_LINE
typedef uint8x16x4_t lanes_64;

/* Not vld1q_u8_x4() and vst1q_u8_x4(), whose registers must be neighbours: after a choice that
 * takes four moves. */
TAMIS_INLINE lanes_64 lanes_load_line(const uint8_t *line) {
    return (lanes_64){ { vld1q_u8(line), vld1q_u8(line + 16), vld1q_u8(line + 32),
                         vld1q_u8(line + 48) } };
}

#define LANES_16(b) b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b

/* 64 bytes of 0, then 64 of 0xff. The mask of the bytes from `at` on is a window on them, for which
 * a processor adds and loads; to compare the number of each byte with `at` takes three instructions
 * more, and four to load the numbers. */
static const uint8_t lanes_window[2 * TAMIS_LINE_BYTES]
    __attribute__((unused, aligned(64))) = { LANES_16(0),    LANES_16(0),    LANES_16(0),
                                             LANES_16(0),    LANES_16(0xff), LANES_16(0xff),
                                             LANES_16(0xff), LANES_16(0xff) };

TAMIS_INLINE void lanes_store_from(uint8_t *line, unsigned at, lanes_64 then, lanes_64 other) {
    lanes_64 const is_then = vld1q_u8_x4(lanes_window + TAMIS_LINE_BYTES - at);
    for (unsigned i = 0; i < 4; i++) {
        vst1q_u8(line + 16 * i, vbslq_u8(is_then.val[i], then.val[i], other.val[i]));
    }
}

TAMIS_INLINE lanes_64 lanes_line_down(lanes_64 all, unsigned n) {
    uint8x16_t const a = all.val[0], b = all.val[1], c = all.val[2], d = all.val[3];
    uint8x16_t const zero = vdupq_n_u8(0);
    return n == 1 ? (lanes_64){ { vextq_u8(a, b, 1), vextq_u8(b, c, 1), vextq_u8(c, d, 1),
                                  vextq_u8(d, zero, 1) } }
                  : (lanes_64){ { vextq_u8(a, b, 2), vextq_u8(b, c, 2), vextq_u8(c, d, 2),
                                  vextq_u8(d, zero, 2) } };
}

TAMIS_INLINE lanes_64 lanes_line_up(lanes_64 all, unsigned n) {
    uint8x16_t const a = all.val[0], b = all.val[1], c = all.val[2], d = all.val[3];
    return n == 1 ? (lanes_64){ { vextq_u8(a, a, 15), vextq_u8(a, b, 15), vextq_u8(b, c, 15),
                                  vextq_u8(c, d, 15) } }
                  : (lanes_64){ { vextq_u8(a, a, 14), vextq_u8(a, b, 14), vextq_u8(b, c, 14),
                                  vextq_u8(c, d, 14) } };
}
#endif

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
    uint32_t byte = value;
    TAMIS_OPAQUE(byte); /* one that was shifted down would be shifted in a vector: one more */
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
    TAMIS_OPAQUE(marks); /* or a place is kept for what is seldom needed: two moves */
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
