/* le.h - little-endian loads and stores at any address.
 *
 * A body has the same bytes on every machine, so it is never read through a pointer to an integer.
 * On a little-endian machine each of these is one instruction.
 */
#ifndef TAMIS_CORE_LE_H
#define TAMIS_CORE_LE_H

#include "core/base.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LE_SWAP(bits, value) __builtin_bswap##bits(value)
#else
#define LE_SWAP(bits, value) (value)
#endif

/* Tests define it, to see which bytes of a body are read. */
#ifndef TAMIS_TOUCH
#define TAMIS_TOUCH(address, bytes) ((void)0)
#endif

TAMIS_INLINE uint16_t le16_load(const void *from) {
    uint16_t value;
    TAMIS_TOUCH(from, sizeof value);
    memcpy(&value, from, sizeof value);
    return LE_SWAP(16, value);
}

TAMIS_INLINE uint32_t le32_load(const void *from) {
    uint32_t value;
    TAMIS_TOUCH(from, sizeof value);
    memcpy(&value, from, sizeof value);
    return LE_SWAP(32, value);
}

#if defined(TAMIS_GPU)
/* A GPU cannot load from an address that is not aligned: the compiler would load byte by byte. Two
 * aligned words have all eight bytes; the second is not read if the first has them all. */
TAMIS_INLINE uint64_t le64_load(const void *from) {
    uintptr_t const       at = (uintptr_t)from;
    const uint64_t *const words = (const uint64_t *)(at & ~(uintptr_t)7);
    unsigned const        shift = (unsigned)(at & 7) * 8;
    uint64_t const        low = words[0] >> shift;
    return shift == 0 ? low : low | words[1] << (64 - shift);
}
#else
TAMIS_INLINE uint64_t le64_load(const void *from) {
    uint64_t value;
    TAMIS_TOUCH(from, sizeof value);
    memcpy(&value, from, sizeof value);
    return LE_SWAP(64, value);
}
#endif

TAMIS_INLINE void le16_store(void *to, uint16_t value) {
    value = LE_SWAP(16, value);
    memcpy(to, &value, sizeof value);
}

TAMIS_INLINE void le32_store(void *to, uint32_t value) {
    value = LE_SWAP(32, value);
    memcpy(to, &value, sizeof value);
}

TAMIS_INLINE void le64_store(void *to, uint64_t value) {
    value = LE_SWAP(64, value);
    memcpy(to, &value, sizeof value);
}

/* Numbers with a fraction are IEEE 754 binary64: their bits, as a number. */
TAMIS_INLINE double le_double_load(const void *from) {
    uint64_t const bits = le64_load(from);
    double         value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TAMIS_INLINE void le_double_store(void *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    le64_store(to, bits);
}

#endif
