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

TAMIS_INLINE void shift_set_word(uint8_t *bits, uint64_t word, uint64_t value) {
    le64_store(bits + word * 8, value);
}

/* The bits of `inside` come from a, the others from b. */
TAMIS_INLINE uint64_t shift_blend(uint64_t inside, uint64_t a, uint64_t b) {
    return (a & inside) | (b & ~inside);
}

/* The bits of word `word` that are below bit `to` of the string; all of them, or none, if it is not
 * in that word. */
TAMIS_INLINE uint64_t shift_below(uint64_t word, uint64_t to) {
    return to >= word * 64 + 64 ? UINT64_MAX : bits_low((unsigned)(to - word * 64));
}

/* Move the bits from..to-1 up by w, 1 <= w <= 63, over the w bits above them; zero the gap. From
 * the top down, so that each word is read before it is written; only the first word and the last
 * hold bits that stay. */
TAMIS_INLINE void shift_open(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    TAMIS_ASSERT(from <= to && w >= 1 && w <= 63);
    uint64_t const first = from / 64, last = (to + w - 1) / 64, stays = bits_low(from % 64);
    uint64_t       above = shift_word(bits, last), kept = ~shift_below(last, to + w);
    for (uint64_t word = last; word > first; word--) {
        uint64_t       below = shift_word(bits, word - 1);
        uint64_t const moved = word - 1 == first ? below & ~stays : below;
        shift_set_word(bits, word, shift_blend(kept, above, above << w | moved >> (64 - w)));
        above = below;
        kept = 0;
    }
    kept |= stays;
    shift_set_word(bits, first, shift_blend(kept, above, (above & ~stays) << w));
}

/* Move the bits from+w..to-1 down by w, over the w bits below them; zero what they leave. */
TAMIS_INLINE void shift_close(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    TAMIS_ASSERT(w >= 1 && w <= 63 && from + w <= to);
    uint64_t const first = from / 64, last = (to - 1) / 64, moves = shift_below(last, to);
    uint64_t       below = shift_word(bits, first), kept = bits_low(from % 64);
    for (uint64_t word = first; word < last; word++) {
        uint64_t const above = shift_word(bits, word + 1);
        uint64_t const moved = word + 1 == last ? above & moves : above;
        shift_set_word(bits, word, shift_blend(kept, below, below >> w | moved << (64 - w)));
        below = above;
        kept = 0;
    }
    kept |= ~moves;
    shift_set_word(bits, last, shift_blend(kept, below, (below & moves) >> w));
}

#endif
