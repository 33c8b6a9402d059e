/* shift.h - open and close a gap in a string of bits, by whole words.
 *
 * A string of bits is a body seen as little-endian 64-bit words; the caller's memory covers every
 * word that the range touches. Rank-indexed kinds keep their fields packed in order, so adding one
 * is opening a gap of one field and removing one is closing it.
 *
 *     shift_open(bits, from, to, w)     ....[abcdef]ww...   ->   ....00[abcdef]...
 *     shift_close(bits, from, to, w)    ....ww[abcdef]...   ->   ....[abcdef]00...
 *                                          ^from     ^to
 */
#ifndef TAMIS_CORE_SHIFT_H
#define TAMIS_CORE_SHIFT_H

#include "core/bits.h"
#include "core/le.h"

TAMIS_INLINE uint64_t shift_word(const uint8_t *bits, uint64_t word) {
    return le64_load(bits + word * 8);
}

/* Store `value`, but only the bits of `mask`. */
TAMIS_INLINE void shift_put(uint8_t *bits, uint64_t word, uint64_t value, uint64_t mask) {
    le64_store(bits + word * 8, (value & mask) | (shift_word(bits, word) & ~mask));
}

/* The bits from..to-1 as a mask over word number `word`. */
TAMIS_INLINE uint64_t shift_mask(uint64_t word, uint64_t from, uint64_t to) {
    uint64_t const start = word * 64;
    unsigned const low = from > start ? (unsigned)min_u64(from - start, 64) : 0;
    unsigned const high = to > start ? (unsigned)min_u64(to - start, 64) : 0;
    return bits_low(high) & ~bits_low(low);
}

/* Move the bits from..to-1 up by w, 1 <= w <= 63, over the w bits above them; zero the gap. */
TAMIS_INLINE void shift_open(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    TAMIS_ASSERT(from <= to && w >= 1 && w <= 63);
    uint64_t const first = from / 64, end = to + w;
    for (uint64_t word = (end - 1) / 64;; word--) {
        uint64_t const here = shift_word(bits, word) & shift_mask(word, from, to);
        uint64_t const below =
            word > first ? shift_word(bits, word - 1) & shift_mask(word - 1, from, to) : 0;
        shift_put(bits, word, (here << w) | (below >> (64 - w)), shift_mask(word, from, end));
        if (word == first) return;
    }
}

/* Move the bits from+w..to-1 down by w, over the w bits below them; zero what they leave. */
TAMIS_INLINE void shift_close(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    TAMIS_ASSERT(w >= 1 && w <= 63 && from + w <= to);
    uint64_t const last = (to - 1) / 64;
    for (uint64_t word = from / 64; word <= last; word++) {
        uint64_t const here = shift_word(bits, word) & shift_mask(word, from + w, to);
        uint64_t const above =
            word < last ? shift_word(bits, word + 1) & shift_mask(word + 1, from + w, to) : 0;
        shift_put(bits, word, (here >> w) | (above << (64 - w)), shift_mask(word, from, to));
    }
}

#endif
