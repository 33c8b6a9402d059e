/* field.h - a field of a few bits at any bit of a body.
 *
 * Bit i of a body is bit i % 8 of byte i / 8. A field inside one aligned 64-bit word is read by
 * that word, so that reading a field never touches a cache line that the field is not in. One that
 * straddles two words is read by the unaligned word at its first byte: it begins at most 7 bits
 * into it, and 7 + 57 is 64. That word may reach beyond the field, so a body that is read to its
 * last bit needs FIELD_PAD_BYTES behind it.
 */
#ifndef TAMIS_CORE_FIELD_H
#define TAMIS_CORE_FIELD_H

#include "core/bits.h"
#include "core/le.h"

#define FIELD_MAX_BITS 57
#define FIELD_PAD_BYTES 9

/* The word that holds a field whole: where it begins, and how far up in it the field is. */
typedef struct field_at {
    uint64_t byte;
    unsigned shift;
} field_at;

TAMIS_INLINE field_at field_find(uint64_t at, unsigned bits) {
    TAMIS_ASSERT(bits <= FIELD_MAX_BITS);
    field_at found = { at / 64 * 8, at % 64 };
    if (found.shift + bits > 64) found = (field_at){ at / 8, at % 8 };
    return found;
}

TAMIS_INLINE uint64_t field_get(const uint8_t *body, uint64_t at, unsigned bits) {
    field_at const found = field_find(at, bits);
    return (le64_load(body + found.byte) >> found.shift) & bits_low(bits);
}

TAMIS_INLINE void field_set(uint8_t *body, uint64_t at, unsigned bits, uint64_t value) {
    TAMIS_ASSERT(value <= bits_low(bits));
    field_at const found = field_find(at, bits);
    uint64_t const others = le64_load(body + found.byte) & ~(bits_low(bits) << found.shift);
    le64_store(body + found.byte, others | value << found.shift);
}

/* Up to 64 bits: the ninth byte has what the word at the first byte misses. */
TAMIS_INLINE uint64_t field_get_wide(const uint8_t *body, uint64_t at, unsigned bits) {
    unsigned const shift = at % 8;
    uint64_t const above = (uint64_t)body[at / 8 + 8] << 1 << (63 - shift); /* none if shift is 0 */
    return (le64_load(body + at / 8) >> shift | above) & bits_low(bits);
}

TAMIS_INLINE bool field_get_bit(const uint8_t *body, uint64_t at) {
    return (body[at / 8] >> (at % 8)) & 1;
}

TAMIS_INLINE void field_set_bit(uint8_t *body, uint64_t at, bool value) {
    unsigned const bit = 1u << (at % 8);
    body[at / 8] = (uint8_t)(value ? body[at / 8] | bit : body[at / 8] & ~bit);
}

/* Are the bits from..to-1 all zero? By whole words. */
TAMIS_INLINE bool field_is_zero(const uint8_t *body, uint64_t from, uint64_t to) {
    for (; from < to; from += FIELD_MAX_BITS - 1) {
        unsigned const bits = (unsigned)min_u64(to - from, FIELD_MAX_BITS - 1);
        if (field_get(body, from, bits) != 0) return false;
    }
    return true;
}

/* Are all bits zero from `from` to the end of a body of so many bytes, a few lines on? */
TAMIS_INLINE bool field_rest_is_zero(const uint8_t *body, uint64_t from, uint64_t body_bytes) {
    for (; from % 8 != 0; from++) {
        if (field_get_bit(body, from)) return false;
    }
    for (uint64_t byte = from / 8; byte < body_bytes; byte++) {
        if (body[byte] != 0) return false;
    }
    return true;
}

#endif
