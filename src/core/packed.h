/* packed.h - arrays of k-bit fields, 1 <= k <= 56, without gaps.
 *
 * Field i is the bits i*k .. i*k+k-1 of the body, counted from the lowest bit of its first byte.
 * A field inside one aligned 64-bit word is read by that word, so that reading a field never
 * touches a cache line that the field is not in. One that straddles two words is read by the
 * unaligned word at its first byte: it begins at most 7 bits into it, and 7 + 56 is less than 64.
 * That word may reach beyond the last field, so an array needs PACKED_PAD_BYTES behind it.
 */
#ifndef TAMIS_CORE_PACKED_H
#define TAMIS_CORE_PACKED_H

#include "core/bits.h"
#include "core/le.h"

#define PACKED_MAX_BITS 56
#define PACKED_PAD_BYTES 8

/* The word that holds a field whole: where it begins, and how far up in it the field is. */
typedef struct packed_at {
    uint64_t byte;
    unsigned shift;
} packed_at;

TAMIS_INLINE packed_at packed_find(uint64_t i, unsigned bits) {
    TAMIS_ASSERT(bits >= 1 && bits <= PACKED_MAX_BITS);
    uint64_t const first_bit = i * bits;
    packed_at      at = { first_bit / 64 * 8, first_bit % 64 };
    if (at.shift + bits > 64) at = (packed_at){ first_bit / 8, first_bit % 8 };
    return at;
}

TAMIS_INLINE uint64_t packed_get(const uint8_t *array, uint64_t i, unsigned bits) {
    packed_at const at = packed_find(i, bits);
    return (le64_load(array + at.byte) >> at.shift) & bits_low(bits);
}

TAMIS_INLINE void packed_set(uint8_t *array, uint64_t i, unsigned bits, uint64_t value) {
    TAMIS_ASSERT(value <= bits_low(bits));
    packed_at const at = packed_find(i, bits);
    uint64_t const  others = le64_load(array + at.byte) & ~(bits_low(bits) << at.shift);
    le64_store(array + at.byte, others | (value << at.shift));
}

#endif
