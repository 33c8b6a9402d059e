/* separators.h - find the separators in the next 64 bytes.
 *
 * memchr(3) costs one call per line, which for short lines takes longer than hashing them. A mask
 * for 64 bytes takes four comparisons on every x86-64; on other processors, eight times a few
 * instructions on 8 bytes.
 */
#ifndef CLI_SEPARATORS_H
#define CLI_SEPARATORS_H

#include <stdint.h>
#include <string.h>

#define SEPARATORS_BLOCK 64

#if defined(__SSE2__)
#include <emmintrin.h>

/* Bit i: bytes[i] is the separator. */
static inline uint64_t separators_mask(const char *bytes, char separator) {
    __m128i const wanted = _mm_set1_epi8(separator);
    uint64_t      mask = 0;
    for (unsigned i = 0; i < SEPARATORS_BLOCK; i += 16) {
        __m128i const  part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        unsigned const equal = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted));
        mask |= (uint64_t)equal << i;
    }
    return mask;
}

#else

/* Load eight bytes as a number whose lowest byte is the first, on every machine. */
static inline uint64_t separators_load(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The xor makes every byte 0 that equals the separator. Only for a 0 does adding 0x7f to the low
 * seven bits leave the top bit 0. The product gathers the eight results in the top byte. */
static inline uint64_t separators_mask(const char *bytes, char separator) {
    uint64_t const ones = UINT64_C(0x0101010101010101), low = 0x7f * ones;
    uint64_t       mask = 0;
    for (unsigned i = 0; i < SEPARATORS_BLOCK; i += 8) {
        uint64_t const word = separators_load(bytes + i) ^ (unsigned char)separator * ones;
        uint64_t const equal = ~(((word & low) + low) | word | low) >> 7;
        mask |= (equal * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return mask;
}

#endif

#endif
