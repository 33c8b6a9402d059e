/* checked.h - size arithmetic that cannot wrap.
 *
 * Every size that depends on a spec or a file is computed with these. They return false, and leave
 * the result alone, when the true value does not fit in 64 bits.
 */
#ifndef TAMIS_CORE_CHECKED_H
#define TAMIS_CORE_CHECKED_H

#include "core/base.h"

TAMIS_INLINE bool checked_add(uint64_t a, uint64_t b, uint64_t *ret_sum) {
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *ret_sum = sum;
    return true;
}

TAMIS_INLINE bool checked_mul(uint64_t a, uint64_t b, uint64_t *ret_product) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *ret_product = product;
    return true;
}

/* The next multiple of `step`, a power of two. */
TAMIS_INLINE bool checked_round_up(uint64_t a, uint64_t step, uint64_t *ret_rounded) {
    TAMIS_ASSERT(step != 0 && (step & (step - 1)) == 0);
    uint64_t sum;
    if (!checked_add(a, step - 1, &sum)) return false;
    *ret_rounded = sum & ~(step - 1);
    return true;
}

/* Bytes for `count` fields of `bits` bits, and `pad_bytes` after them, in whole cache lines: the
 * size of a body. */
TAMIS_INLINE bool checked_body_bytes(uint64_t count, uint64_t bits, uint64_t pad_bytes,
                                     uint64_t *ret_bytes) {
    uint64_t total;
    if (!checked_mul(count, bits, &total)) return false;
    if (!checked_round_up(total, 8, &total)) return false;
    if (!checked_add(total / 8, pad_bytes, &total)) return false;
    return checked_round_up(total, TAMIS_LINE_BYTES, ret_bytes);
}

/* As many fields as fit into the cache lines that `count` of them need: what would otherwise be
 * left over of the last line is used. */
TAMIS_INLINE uint64_t checked_fill_lines(uint64_t count, uint64_t bits, uint64_t pad_bytes) {
    uint64_t bytes;
    if (!checked_body_bytes(count, bits, pad_bytes, &bytes)) return count;
    return (bytes - pad_bytes) * 8 / bits;
}

#endif
