/* packed.h - arrays of k-bit fields, 1 <= k <= 56, without gaps.
 *
 * Field i has the bits i*k to i*k+k-1 of the body, counted from the lowest bit of its first byte.
 * field.h says how a field is read, and why an array needs PACKED_PAD_BYTES after it.
 */
#ifndef TAMIS_CORE_PACKED_H
#define TAMIS_CORE_PACKED_H

#include "core/field.h"

#define PACKED_MAX_BITS 56
#define PACKED_PAD_BYTES 8

TAMIS_INLINE field_at packed_find(uint64_t i, unsigned bits) {
    TAMIS_ASSERT(bits >= 1 && bits <= PACKED_MAX_BITS);
    return field_find(i * bits, bits);
}

TAMIS_INLINE uint64_t packed_get(const uint8_t *array, uint64_t i, unsigned bits) {
    return field_get(array, i * bits, bits);
}

TAMIS_INLINE void packed_set(uint8_t *array, uint64_t i, unsigned bits, uint64_t value) {
    field_set(array, i * bits, bits, value);
}

#endif
