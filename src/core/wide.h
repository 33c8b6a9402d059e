/* wide.h - 128 bits in two words: a bucket that is taken apart and put together in registers.
 */
#ifndef TAMIS_CORE_WIDE_H
#define TAMIS_CORE_WIDE_H

#include "core/bits.h"
#include "core/le.h"

typedef struct wide {
    uint64_t low, high;
} wide;

TAMIS_INLINE wide wide_load(const uint8_t *from) {
    return (wide){ le64_load(from), le64_load(from + 8) };
}

TAMIS_INLINE void wide_store(uint8_t *to, wide value) {
    le64_store(to, value.low);
    le64_store(to + 8, value.high);
}

/* By 0 to 127 places. Each word is moved in two steps, since 64 at once is not defined. */
TAMIS_INLINE wide wide_up(wide of, unsigned by) {
    if (by >= 64) return (wide){ 0, of.low << (by - 64) };
    return (wide){ of.low << by, of.high << by | of.low >> 1 >> (63 - by) };
}

TAMIS_INLINE wide wide_down(wide of, unsigned by) {
    if (by >= 64) return (wide){ of.high >> (by - 64), 0 };
    return (wide){ of.low >> by | of.high << 1 << (63 - by), of.high >> by };
}

/* The n lowest bits, 0 to 128. */
TAMIS_INLINE wide wide_low(unsigned n) {
    if (n > 64) return (wide){ UINT64_MAX, bits_low(n - 64) };
    return (wide){ bits_low(n), 0 };
}

TAMIS_INLINE wide wide_and(wide a, wide b) {
    return (wide){ a.low & b.low, a.high & b.high };
}

TAMIS_INLINE wide wide_or(wide a, wide b) {
    return (wide){ a.low | b.low, a.high | b.high };
}

TAMIS_INLINE wide wide_without(wide a, wide b) {
    return (wide){ a.low & ~b.low, a.high & ~b.high };
}

/* A field of up to 64 bits. */
TAMIS_INLINE uint64_t wide_get(wide of, unsigned at, unsigned bits) {
    return wide_down(of, at).low & bits_low(bits);
}

TAMIS_INLINE wide wide_set(wide of, unsigned at, unsigned bits, uint64_t value) {
    wide const others = wide_without(of, wide_up(wide_low(bits), at));
    return wide_or(others, wide_up((wide){ value, 0 }, at));
}

#endif
