/* field.h - a field of a few bits that begins at any bit of a body.
 *
 * Bit i of a body is bit i % 8 of byte i / 8, so a field is in little-endian order:
 *
 *     byte      0         1         2                    field of 9 bits at bit 5:
 *     bits   7 ... 0   7 ... 0   7 ... 0                 bits 5 to 7 of byte 0 are its low bits,
 *            fff.....  ..ffffff  ........                bits 0 to 5 of byte 1 its high bits
 *
 * A field inside one aligned word of 64 bits is read by that word, so that reading a field never
 * touches a cache line that the field is not in. A field that straddles two words is read by the
 * unaligned word at its first byte: it begins at most 7 bits into that word, and 7 + 57 is 64. Such
 * a word may reach beyond the field, so a body that is read to its last bit needs FIELD_PAD_BYTES
 * after it.
 */
#ifndef TAMIS_CORE_FIELD_H
#define TAMIS_CORE_FIELD_H

#include "core/bits.h"
#include "core/le.h"

#define FIELD_MAX_BITS 57
#define FIELD_PAD_BYTES 9

/* A word that has the whole field: its first byte, and how far up in it the field begins. A bit may
 * be before the body, as a negative number: a window (sharing.h) reaches parts of its table so. */
typedef struct field_at {
    uint64_t byte;
    unsigned shift;
} field_at;

TAMIS_INLINE field_at field_find(uint64_t bit, unsigned bits) {
    TAMIS_ASSERT(bits <= FIELD_MAX_BITS);
    field_at found = { (uint64_t)((int64_t)bit >> 6) * 8, bit % 64 };
    if (found.shift + bits > 64) found = (field_at){ (uint64_t)((int64_t)bit >> 3), bit % 8 };
    return found;
}

TAMIS_INLINE uint64_t field_get(const uint8_t *body, uint64_t bit, unsigned bits) {
    field_at const found = field_find(bit, bits);
    return (le64_load(body + (int64_t)found.byte) >> found.shift) & bits_low(bits);
}

TAMIS_INLINE void field_set(uint8_t *body, uint64_t bit, unsigned bits, uint64_t value) {
    TAMIS_ASSERT(value <= bits_low(bits));
    field_at const found = field_find(bit, bits);
    uint64_t const others =
        le64_load(body + (int64_t)found.byte) & ~(bits_low(bits) << found.shift);
    le64_store(body + (int64_t)found.byte, others | value << found.shift);
}

/* Up to 64 bits: the ninth byte has what the word at the first byte does not reach. */
TAMIS_INLINE uint64_t field_get_wide(const uint8_t *body, uint64_t bit, unsigned bits) {
    unsigned const shift = bit % 8;
    uint64_t const above = (uint64_t)body[bit / 8 + 8] << 1 << (63 - shift); /* 0 if shift is 0 */
    return (le64_load(body + bit / 8) >> shift | above) & bits_low(bits);
}

TAMIS_INLINE bool field_get_bit(const uint8_t *body, uint64_t bit) {
    return (body[bit / 8] >> (bit % 8)) & 1;
}

TAMIS_INLINE void field_set_bit(uint8_t *body, uint64_t bit, bool value) {
    unsigned const mask = 1u << (bit % 8);
    body[bit / 8] = (uint8_t)(value ? body[bit / 8] | mask : body[bit / 8] & ~mask);
}

/* Are the bits first..end-1 all zero? Looked at by whole words. */
TAMIS_INLINE bool field_is_zero(const uint8_t *body, uint64_t first, uint64_t end) {
    for (; first < end; first += FIELD_MAX_BITS - 1) {
        unsigned const bits = (unsigned)min_u64(end - first, FIELD_MAX_BITS - 1);
        if (field_get(body, first, bits) != 0) return false;
    }
    return true;
}

/* Make the bits first..end-1 zero. */
TAMIS_INLINE void field_clear(uint8_t *body, uint64_t first, uint64_t end) {
    for (; first < end; first += FIELD_MAX_BITS - 1)
        field_set(body, first, (unsigned)min_u64(end - first, FIELD_MAX_BITS - 1), 0);
}

/* Are all bits zero from `first` to the end of a body? For a rest of a few cache lines. */
TAMIS_INLINE bool field_rest_is_zero(const uint8_t *body, uint64_t first, uint64_t body_bytes) {
    for (; first % 8 != 0; first++) {
        if (field_get_bit(body, first)) return false;
    }
    for (uint64_t byte = first / 8; byte < body_bytes; byte++) {
        if (body[byte] != 0) return false;
    }
    return true;
}

#endif
