/* bits.h - masks, popcount, rank and select inside one 64-bit word.
 *
 * Bit 0 is the least significant. One instruction each where the build has it (POPCNT, BMI2's PDEP,
 * NEON's CNT), otherwise word-parallel forms without branches, with the same results.
 */
#ifndef TAMIS_CORE_BITS_H
#define TAMIS_CORE_BITS_H

#include "core/base.h"
#include "core/le.h"

#if defined(TAMIS_GPU)
#define BITS_POPCNT
#define BITS_HALVES /* no PDEP, and a table in memory would cost more than a few popcounts */
#elif defined(TAMIS_NO_SIMD)
#elif defined(__x86_64__)
/* Builtins of gcc and clang, and not <immintrin.h>: that declares all of AVX-512, which takes gcc
 * 0.4 s for each file. core/vectors.h includes it, for those who need vectors. */
#ifdef __POPCNT__
#define BITS_POPCNT
#endif
#ifdef __BMI2__
#define BITS_PDEP
#endif
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include <arm_neon.h>
#define BITS_POPCNT /* any such processor has CNT */
#define BITS_NEON
#endif

#define BITS_BYTES UINT64_C(0x0101010101010101) /* times x < 256: x in every byte */

/* The n lowest bits set, 0 <= n <= 64. */
TAMIS_INLINE uint64_t bits_low(unsigned n) {
    TAMIS_ASSERT(n <= 64);
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The set bits of each byte, in that byte. */
TAMIS_INLINE uint64_t bits_per_byte(uint64_t word) {
#ifdef BITS_NEON
    return vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(word))), 0);
#else
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    return (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
#endif
}

TAMIS_INLINE unsigned bits_popcount(uint64_t word) {
#ifdef BITS_POPCNT
    return (unsigned)__builtin_popcountll(word);
#else
    return (unsigned)((bits_per_byte(word) * BITS_BYTES) >> 56);
#endif
}

/* The set bits of both words. NEON counts the bits of each byte and adds the bytes up, in a
 * register that has room for two words: five instructions for two counts, where one takes four. */
TAMIS_INLINE unsigned bits_in_both(uint64_t a, uint64_t b) {
#ifdef BITS_NEON
    return vaddvq_u8(vcntq_u8(vcombine_u8(vcreate_u8(a), vcreate_u8(b))));
#else
    return bits_popcount(a) + bits_popcount(b);
#endif
}

/* Has a fewer set bits than b? */
TAMIS_INLINE bool bits_are_fewer(uint64_t a, uint64_t b) {
#ifdef BITS_NEON
    return bits_in_both(a, ~b) < 64;
#else
    return bits_popcount(a) < bits_popcount(b);
#endif
}

/* The bits 0..i-1 of a word, 0 <= i < 64. */
TAMIS_INLINE uint64_t bits_below(uint64_t word, unsigned i) {
    TAMIS_ASSERT(i < 64);
#ifdef BITS_PDEP
    return __builtin_ia32_bzhi_di(word, i);
#else
    return word & ((UINT64_C(1) << i) - 1);
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

#if defined(BITS_HALVES)
/* bits_nth() by halving: is the bit in the lower half of what is left, or beyond it? */
TAMIS_INLINE uint64_t bits_nth_by_bytes(uint64_t word, unsigned rank) {
    unsigned at = 0;
#pragma GCC unroll 6
    for (unsigned half = 32; half != 0; half /= 2) {
        unsigned const below = bits_popcount(word >> at & bits_low(half));
        bool const     is_beyond = rank >= below;
        rank -= is_beyond ? below : 0;
        at += is_beyond ? half : 0;
    }
    return rank == 0 ? word & UINT64_C(1) << at : 0;
}
#elif !defined(BITS_PDEP)
/* For every value of a byte: its set bits from the highest down, each as a mask in a byte of its
 * own. 10001010 gives 0x80, 0x08, 0x02, 0, ... The compiler computes the table: BITS_8 adds the
 * highest bit or leaves it out, BITS_7 does the same with the next bit, and so on; `s` is where the
 * next mask goes. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BITS_AT(s) (56 - (s))
#else
#define BITS_AT(s) (s)
#endif
#define BITS_1(r, s) r, (r) | UINT64_C(0x01) << BITS_AT(s)
#define BITS_2(r, s) BITS_1(r, s), BITS_1((r) | UINT64_C(0x02) << BITS_AT(s), (s) + 8)
#define BITS_3(r, s) BITS_2(r, s), BITS_2((r) | UINT64_C(0x04) << BITS_AT(s), (s) + 8)
#define BITS_4(r, s) BITS_3(r, s), BITS_3((r) | UINT64_C(0x08) << BITS_AT(s), (s) + 8)
#define BITS_5(r, s) BITS_4(r, s), BITS_4((r) | UINT64_C(0x10) << BITS_AT(s), (s) + 8)
#define BITS_6(r, s) BITS_5(r, s), BITS_5((r) | UINT64_C(0x20) << BITS_AT(s), (s) + 8)
#define BITS_7(r, s) BITS_6(r, s), BITS_6((r) | UINT64_C(0x40) << BITS_AT(s), (s) + 8)
#define BITS_8(r, s) BITS_7(r, s), BITS_7((r) | UINT64_C(0x80) << BITS_AT(s), (s) + 8)

static const uint64_t bits_from_top[256] __attribute__((unused)) = { BITS_8(UINT64_C(0), 0) };

/* bits_nth() without PDEP.
 *
 * Which byte has our bit? (bits of each byte) x BITS_BYTES has, in byte k, the number of set bits
 * in bytes 0 to k. With the rank subtracted from every byte before the multiplication, byte k of
 * `excess` is 0x7f + (set bits in bytes 0 to k) - rank. So the first byte that is 0x80 or more is
 * the one.
 *
 * Which bit of that byte? Its lower bits say how many set bits of the byte are above ours, and the
 * table has the rest.
 *
 * If there is no such bit: byte 7 of `excess` gets 0x40 more, so that the search always ends. Byte
 * 7 of the word is 0 then (see bits_nth), and so is the result. */
#define BITS_EXCESS (0x7f * BITS_BYTES + (UINT64_C(0x40) << 56))

TAMIS_INLINE uint64_t bits_nth_by_bytes(uint64_t word, unsigned rank) {
    uint64_t const excess = (bits_per_byte(word) - rank) * BITS_BYTES + BITS_EXCESS;
    unsigned const shift = bits_lowest(excess & 0x80 * BITS_BYTES) - 7;
    const void *byte = &bits_from_top[word >> shift & 0xff];
    return (uint64_t)((const uint8_t *)byte)[excess >> shift & 7] << shift;
}
#endif

/* The set bit with exactly `rank` set bits below it, as a mask; 0 if there is none. If there may be
 * none, the word must be below 2^56. rank < 64. */
TAMIS_INLINE uint64_t bits_nth(uint64_t word, unsigned rank) {
    TAMIS_ASSERT(rank < 64 && (word >> 56 == 0 || rank < bits_popcount(word)));
#ifdef BITS_PDEP
    return __builtin_ia32_pdep_di(UINT64_C(1) << rank, word);
#else
    return bits_nth_by_bytes(word, rank);
#endif
}

/* The place of the set bit that has exactly `rank` set bits below it; 64 if there is none. */
TAMIS_INLINE unsigned bits_select(uint64_t word, unsigned rank) {
    if (rank >= bits_popcount(word)) return 64;
    return bits_lowest(bits_nth(word, rank));
}

/* The set bits that have `rank` and `rank` + 1 set bits below them, as masks; 0 if there is none,
 * with the same conditions as bits_nth(). */
typedef struct bits_pair {
    uint64_t first, second;
} bits_pair;

TAMIS_INLINE bits_pair bits_two(uint64_t word, unsigned rank) {
    TAMIS_ASSERT(rank < 63 && (word >> 56 == 0 || rank + 1 < bits_popcount(word)));
#ifdef BITS_PDEP
    uint64_t const two = __builtin_ia32_pdep_di(UINT64_C(3) << rank, word);
    return (bits_pair){ two & -two, two & (two - 1) };
#else
    uint64_t const first = bits_nth_by_bytes(word, rank), above = word & -(first << 1);
    return (bits_pair){ first, above & -above };
#endif
}

/* The same if is_wanted is 1. If it is 0, both are 0. */
TAMIS_INLINE bits_pair bits_two_if(uint64_t word, unsigned rank, uint64_t is_wanted) {
#ifdef BITS_PDEP
    uint64_t const two = __builtin_ia32_pdep_di((is_wanted * 3) << rank, word);
    return (bits_pair){ two & -two, two & (two - 1) };
#else
    return bits_two(word & -is_wanted, rank);
#endif
}

#ifdef BITS_PDEP
/* The bits of a word where the mask has ones, next to each other from bit 0 on. */
TAMIS_INLINE uint64_t bits_take(uint64_t word, uint64_t mask) {
    return __builtin_ia32_pext_di(word, mask);
}

/* The other way: the lowest bits of a word, in turn, at the ones of the mask. */
TAMIS_INLINE uint64_t bits_put(uint64_t word, uint64_t mask) {
    return __builtin_ia32_pdep_di(word, mask);
}
#endif

/* Set bits in a whole body; `bytes` is a multiple of 8. */
TAMIS_INLINE uint64_t bits_popcount_bytes(const uint8_t *from, uint64_t bytes) {
    TAMIS_ASSERT(bytes % 8 == 0);
    uint64_t total = 0;
    for (uint64_t at = 0; at < bytes; at += 8) total += bits_popcount(le64_load(from + at));
    return total;
}

#endif
