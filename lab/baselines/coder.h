/* coder.h - an arithmetic coder for bits that are independent and all have one probability.
 *
 * A number between 0 and 1 stands for all bits: each cuts the interval in two parts, as large as
 * the bit is likely, and keeps one. `low` is where the interval begins, `range` how long it is,
 * both in units of the last byte that is not written yet; when the interval is short enough that
 * its first byte is known, that byte is written. A carry may still run into bytes that were
 * written.
 *
 * The range is never shorter than 2^24, so a part is rounded by less than 2^-24 of it: that costs
 * nothing that could be measured. The last byte is spent in part, by 4 bits on average.
 */
#ifndef TAMIS_LAB_CODER_H
#define TAMIS_LAB_CODER_H

#include <stddef.h>
#include <stdint.h>

#define CODER_TOP (UINT32_C(1) << 24)

typedef struct coder {
    uint8_t *bytes; /* zeros, with room for all that may come and four more */
    size_t   n;
    uint32_t low, range;
    uint32_t share; /* of ones, as a fraction of 2^32 */
} coder;

static inline coder coder_start(uint8_t *bytes, double share) {
    double const scaled = share * 0x1p32;
    uint32_t     fraction = scaled < 1 ? 1 : scaled > 0xfffffffe ? 0xfffffffe : (uint32_t)scaled;
    return (coder){ bytes, 0, 0, UINT32_MAX, fraction };
}

/* The part of the range that a one has: at least 1, and not all. */
static inline uint32_t coder_part(const coder *state) {
    uint32_t const part = (uint32_t)((uint64_t)state->range * state->share >> 32);
    return part != 0 ? part : 1;
}

/* ------------------------------------------------------------------ writing */

static inline void coder_carry(coder *to) {
    for (size_t i = to->n; i-- > 0 && ++to->bytes[i] == 0;) {
    }
}

static inline void coder_shift(coder *to) {
    to->bytes[to->n++] = (uint8_t)(to->low >> 24);
    to->low <<= 8;
    to->range <<= 8;
}

static inline void coder_put(coder *to, unsigned bit) {
    uint32_t const part = coder_part(to), before = to->low;
    if (bit != 0) {
        to->range = part;
    } else {
        to->low += part;
        to->range -= part;
        if (to->low < before) coder_carry(to);
    }
    while (to->range < CODER_TOP) coder_shift(to);
}

/* One byte is enough: of the numbers in the interval, the one whose other bytes are 0. They are not
 * written, but are there when it is read. Returns how many bytes there are. */
static inline size_t coder_end(coder *to) {
    uint32_t const before = to->low;
    to->low += CODER_TOP - 1;
    if (to->low < before) coder_carry(to);
    to->bytes[to->n++] = (uint8_t)(to->low >> 24);
    return to->n;
}

/* ------------------------------------------------------------------ reading */

/* The same steps; `low` is what was read, less where the interval begins. */
static inline coder coder_open(uint8_t *bytes, double share) {
    coder from = coder_start(bytes, share);
    while (from.n < 4) from.low = from.low << 8 | bytes[from.n++];
    return from;
}

static inline unsigned coder_get(coder *from) {
    uint32_t const part = coder_part(from);
    unsigned const bit = from->low < part;
    if (bit != 0) {
        from->range = part;
    } else {
        from->low -= part;
        from->range -= part;
    }
    while (from->range < CODER_TOP) {
        from->low = from->low << 8 | from->bytes[from->n++];
        from->range <<= 8;
    }
    return bit;
}

#endif
