/* vectors.h - registers of bytes, one interface for all instruction sets that have them.
 *
 * The kinds and core/lanes.h are written with the two types below, lanes_32 and lanes_64, and never
 * with the names of instructions. Each instruction set has its own functions, with equal results.
 * Without vectors neither type exists, and callers work on words of 64 bits.
 */
#ifndef TAMIS_CORE_VECTORS_H
#define TAMIS_CORE_VECTORS_H

#include "core/bits.h"

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
 *     lanes_move_down           byte i + n moves to byte i; the last n become 0. n is 1 or 2
 *     lanes_mask                bit i: byte i is 0xff; all are 0xff or 0 */

#if defined(__x86_64__) && !defined(TAMIS_NO_SIMD)
/* Each byte, four times. On x86 a byte that is in an ordinary register takes two instructions to be
 * in all bytes of a vector, both on the one unit that shuffles; a vector of equal words is loaded
 * by one instruction, on another unit. With this table of 1 KiB and 100 k keys, lookups of `line`
 * are 1.03 times as fast, single adds 1.08 times; with 8 M keys single adds and removals 1.25
 * times. */
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
 *     lanes_line_down    byte i + n moves to byte i; the last n become 0. n is 1 or 2
 *     lanes_line_up      byte i - n moves to byte i; the first n are undefined. n is 1 or 2 */
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

#endif
