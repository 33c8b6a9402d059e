/* coder.h - an arithmetic coder for bits that are independent and all have one probability.
 *
 * One number between 0 and 1 represents all bits. Each bit divides the interval into two parts, in
 * proportion to the probabilities of 1 and 0, and keeps one of them. `low` is the beginning of the
 * interval and `range` its length, both in units of the next byte to write. When the interval is so
 * short that its first byte is known, that byte is written. A carry may still change bytes that
 * were written.
 *
 * The range is never shorter than 2^24, so a part is rounded by less than 2^-24 of it: this cost is
 * too small to measure. Of the last byte, 4 bits are unused on average.
 */
#ifndef TAMIS_LAB_CODER_H
#define TAMIS_LAB_CODER_H

#include <stddef.h>
#include <stdint.h>

#define CODER_TOP (UINT32_C(1) << 24)

typedef struct coder {
    uint8_t *bytes; /* all zero; with room for the output and four bytes more */
    size_t   n;
    uint32_t low, range;
    uint32_t share; /* of ones, as a fraction of 2^32 */
} coder;

static inline coder coder_start(uint8_t *bytes, double share) {
    double const scaled = share * 0x1p32;
    uint32_t     fraction = scaled < 1 ? 1 : scaled > 0xfffffffe ? 0xfffffffe : (uint32_t)scaled;
    return (coder){ bytes, 0, 0, UINT32_MAX, fraction };
}

/* The part of the range for a one: at least 1, and less than all. */
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

/* Decode with the same steps; `low` is the number that was read, minus the beginning of the
 * interval. */
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
