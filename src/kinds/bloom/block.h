/* block.h - the k marks of a key in one cache line.
 *
 * A line of 512 bits is cut into k sectors of s = 512 / k bits; k is a power of two, 1 to 64. A key
 * marks one bit in each sector:
 *
 *     +--------+--------+--------+--------+--------+--------+--------+--------+
 *     | word 0 | word 1 | word 2 | word 3 | word 4 | word 5 | word 6 | word 7 |    k = 8: s = 64
 *     +-----1--+1-------+-----1--+-1------+---1----+-------1+--1-----+----1---+
 *
 * Which bit it is takes b = log2(s) bits of a random number, so one number is enough for eight
 * sectors: sector i has its bits from r = remix(hash, i / 8), the even ones from the low half of r,
 * the odd ones from the high half:
 *
 *     bit  63      56     50     44     38     32     24     18     12     6      0
 *          | unused |  7   |  5   |  3   |  1   | unused |  6   |  4   |  2   |  0   |
 *
 * These are independent numbers, none of them is used twice, and no two marks of a key meet. So the
 * rate is exactly the one of theory/blocked.h.
 *
 * Other k: with k = 16 a sector is half a word and takes 5 bits of r, with k = 4 two words and 7
 * bits. From 8 sectors on, four numbers of up to 6 bits are needed of each half of r, and fewer
 * sectors need one or two: so a half is always enough.
 *
 * Why both halves in turns: with k = 16 the vectors have lanes of 32 bits. All of r in every 64
 * bits of a vector is the low half in the even lanes and the high half in the odd ones, and one
 * shift of each lane gives the numbers of eight sectors.
 *
 * Why a bit in each word, and not k bits anywhere in the line: that would be smaller by 0.7% at a
 * rate of 1%, but each bit would have to be brought to its word. So the words of a vector are
 * shifted each by its own amount: the marks of a key are two vectors, made by six instructions,
 * and VPTEST compares each with its half of the line. Why powers of two: no division, and the same
 * vector for every hash. At 1% it takes 1.5% more bits than the best k (6), at 0.1% 0.6% (9).
 */
#ifndef TAMIS_KINDS_BLOOM_BLOCK_H
#define TAMIS_KINDS_BLOOM_BLOCK_H

#include "core/bits.h"
#include "core/hash.h"
#include "core/le.h"

#define BLOCK_BITS 512
#define BLOCK_MAX_K 64
#define BLOCK_SECTORS 8 /* that one random number is enough for */

static_assert(BLOCK_BITS == 8 * TAMIS_LINE_BYTES, "a block is a line");

/* ------------------------------------------------------------------ any k, any processor */

/* The bit of the line that a key has in sector i, by the random number of that sector. With k = 8,
 * sector 3 begins at bit 192 of the line, and its number is bits 38 to 43 of r: an odd sector, so
 * in the high half, and the second one there. */
TAMIS_INLINE unsigned block_bit(uint64_t random, unsigned i, unsigned k) {
    unsigned const size = BLOCK_BITS / k, wide = bits_lowest(size);
    unsigned const from = i % 2 * 32 + i % BLOCK_SECTORS / 2 * wide;
    return i * size + (unsigned)(random >> from & (size - 1));
}

/* Without branches: half of the bits of a line are marked, so a branch would be mispredicted. */
TAMIS_INLINE bool block_holds_each(const uint8_t *line, uint64_t hash, unsigned k) {
    uint64_t all = 1, random = 0;
#pragma GCC unroll 16
    for (unsigned i = 0; i < k; i++) {
        if (i % BLOCK_SECTORS == 0) random = remix(hash, i / BLOCK_SECTORS);
        unsigned const bit = block_bit(random, i, k);
        all &= le64_load(line + bit / 64 * 8) >> bit % 64;
    }
    return all & 1;
}

/* Returns whether any mark is new. */
TAMIS_INLINE bool block_mark_each(uint8_t *line, uint64_t hash, unsigned k) {
    uint64_t is_new = 0, random = 0;
#pragma GCC unroll 16
    for (unsigned i = 0; i < k; i++) {
        if (i % BLOCK_SECTORS == 0) random = remix(hash, i / BLOCK_SECTORS);
        unsigned const bit = block_bit(random, i, k);
        uint8_t *const at = line + bit / 64 * 8;
        uint64_t const word = le64_load(at), mark = UINT64_C(1) << bit % 64;
        is_new |= ~word & mark;
        le64_store(at, word | mark);
    }
    return is_new != 0;
}

/* ------------------------------------------------------------------ 8 or 16 marks at once */

#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
#include <immintrin.h>

/* All marks of a key: a line that is zero except for them. */
typedef struct block_marks {
    __m256i low, high;
} block_marks;

/* A mark in each of four words of 64 bits, whose numbers begin at these bits of `random`: 1 <<
 * number, with a shift of its own for each word. */
TAMIS_INLINE __m256i block_mark_4x64(__m256i random, __m256i from) {
    __m256i const number =
        _mm256_and_si256(_mm256_srlv_epi64(random, from), _mm256_set1_epi64x(63));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), number);
}

/* A mark in each of eight words of 32 bits. They see the two halves of `random` in turns. */
TAMIS_INLINE __m256i block_mark_8x32(uint64_t random) {
    __m256i const from = _mm256_setr_epi32(0, 0, 5, 5, 10, 10, 15, 15);
    __m256i const number = _mm256_and_si256(
        _mm256_srlv_epi32(_mm256_set1_epi64x((long long)random), from), _mm256_set1_epi32(31));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), number);
}

/* k is 8 or 16. For 8, one r has the numbers of all eight words: those of the words 0 to 3 begin at
 * the bits 0, 32, 6 and 38, as drawn above. */
TAMIS_INLINE block_marks block_make_marks(uint64_t hash, unsigned k) {
    if (k == 16)
        return (block_marks){ block_mark_8x32(remix(hash, 0)), block_mark_8x32(remix(hash, 1)) };
    __m256i const random = _mm256_set1_epi64x((long long)remix(hash, 0));
    return (block_marks){ block_mark_4x64(random, _mm256_setr_epi64x(0, 32, 6, 38)),
                          block_mark_4x64(random, _mm256_setr_epi64x(12, 44, 18, 50)) };
}

/* VPTEST: is every bit of the marks set in the line? Both halves are tested, so that there is one
 * branch and not two. */
TAMIS_INLINE bool block_holds_marks(const uint8_t *line, block_marks marks) {
    const __m256i *const half = (const __m256i *)(const void *)line;
    return _mm256_testc_si256(_mm256_loadu_si256(half), marks.low) &
           _mm256_testc_si256(_mm256_loadu_si256(half + 1), marks.high);
}

/* Returns whether any mark is new: only then is the key counted (I2 of bloom.c). */
TAMIS_INLINE bool block_set_marks(uint8_t *line, block_marks marks) {
    bool const     is_new = !block_holds_marks(line, marks);
    __m256i *const half = (__m256i *)(void *)line;
    _mm256_storeu_si256(half, _mm256_or_si256(_mm256_loadu_si256(half), marks.low));
    _mm256_storeu_si256(half + 1, _mm256_or_si256(_mm256_loadu_si256(half + 1), marks.high));
    return is_new;
}
#endif

/* ------------------------------------------------------------------ a key */

/* Are all marks of the key there? Callers with a constant k of 8 or 16 get the vectors. */
TAMIS_INLINE bool block_holds(const uint8_t *line, uint64_t hash, unsigned k) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    if (k == 8 || k == 16) return block_holds_marks(line, block_make_marks(hash, k));
#endif
    return block_holds_each(line, hash, k);
}

/* Set all marks of the key. Returns whether any of them is new. */
TAMIS_INLINE bool block_mark(uint8_t *line, uint64_t hash, unsigned k) {
#if defined(__AVX2__) && !defined(TAMIS_NO_SIMD)
    if (k == 8 || k == 16) return block_set_marks(line, block_make_marks(hash, k));
#endif
    return block_mark_each(line, hash, k);
}

#endif
