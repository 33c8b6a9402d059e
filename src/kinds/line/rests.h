/* rests.h - the rests of a line, or of a shelf, as a row of fields.
 *
 * A row is a part of an array of bits, so it begins and ends anywhere in a byte. It is worked on
 * through a window of whole words that holds all of it:
 *
 *     byte  0        8        16
 *           +--------+--------+
 *           |...rrrrrrrrrrrr..|      r: the row;  . : rests of other lines, which stay
 *           +--------+--------+
 *               ^first     ^end
 *
 * Rests of one bit need a window of one word, those of two bits a window of two words, and shelves
 * with such rests one word. Then opening and closing a gap takes a few shifts of the whole window,
 * without a loop. Longer rows are moved word by word (core/shift.h); their windows begin at a word
 * of the array, so that no more cache lines are touched than must be.
 *
 * A window lies within the words of its group (lines.h), so threads that change different groups
 * never write to the same word.
 *
 * What the functions with `open` and `close` in their names do to a row, for one rest of two bits:
 *
 *     before    |..aabbccdd00....|      4 rests in use; the caller knows where the row ends
 *     open      |..aabb??ccdd....|      before rest 2; the new rest is written over ??
 *     close     |..aaccdd0000....|      rest 1; a zero comes in after the last one
 *
 * Free rests are zero, so a window may be moved up to the end of its row, whatever is in use. The
 * last rest of a row that is opened is free, and its zeros fall out.
 */
#ifndef TAMIS_KINDS_LINE_RESTS_H
#define TAMIS_KINDS_LINE_RESTS_H

#include "core/field.h"
#include "core/shift.h"

#define RESTS_SHORT_WORDS 2

typedef struct rests_row {
    uint8_t *window;
    unsigned words;      /* up to RESTS_SHORT_WORDS, or more than that */
    unsigned bits;       /* of a rest */
    unsigned first, end; /* of the row: the bit of its first rest, and the bit after its last one */
} rests_row;

/* The words of a window that begins at the first byte of its row: there, the row begins at bit 7 at
 * most. For the 50 slots of a line, rests of 1 bit take (7 + 50 + 63) / 64 = 1 word, those of 2
 * bits 2 words, and those of 3 bits 3. */
TAMIS_INLINE unsigned rests_window_words(unsigned slots, unsigned bits) {
    return (7 + slots * bits + 63) / 64;
}

/* ------------------------------------------------------------------ one rest, anywhere */

/* A rest of 0 bits has no place, and no cache line is touched for it. */
TAMIS_INLINE uint64_t rest_get(const uint8_t *body, uint64_t at, unsigned bits) {
    return bits == 0 ? 0 : field_get(body, at, bits);
}

TAMIS_INLINE void rest_set(uint8_t *body, uint64_t at, unsigned bits, uint64_t rest) {
    if (bits != 0) field_set(body, at, bits, rest);
}

/* ------------------------------------------------------------------ rests that stay in place */

/* n neighbouring rests are read and written as one number, of FIELD_MAX_BITS bits at most. */
TAMIS_INLINE uint64_t rests_get(const rests_row *row, unsigned slot, unsigned n) {
    return field_get(row->window, row->first + slot * row->bits, n * row->bits);
}

TAMIS_INLINE void rests_set(const rests_row *row, unsigned slot, unsigned n, uint64_t rests) {
    field_set(row->window, row->first + slot * row->bits, n * row->bits, rests);
}

/* Write n rests, one after the other, from bit `at` of a body on. Their bits are zero before. */
static __attribute__((unused)) void rests_fill(uint8_t *body, uint64_t at, unsigned bits,
                                               const uint64_t *rest, unsigned n) {
    uint8_t *word = body + at / 64 * 8;
    uint64_t filled = 0;
    unsigned used = at % 64;
    for (unsigned i = 0; i < n; i++) {
        filled |= rest[i] << used;
        used += bits;
        if (used < 64) continue;
        le64_store(word, le64_load(word) | filled);
        word += 8;
        used -= 64;
        filled = used == 0 ? 0 : rest[i] >> (bits - used);
    }
    if (used != 0) le64_store(word, le64_load(word) | filled);
}

/* ------------------------------------------------------------------ rests that move */

/* Windows of one word and of two: `above` is the part of the row from bit `from` on. It is replaced
 * by itself, moved. It is cut out of a word by shifts: up, so that what is after the row falls out;
 * down, so that what is before `from` does; and back to its place. */

TAMIS_INLINE void rests_open_word(const rests_row *row, unsigned from, unsigned gap,
                                  uint64_t rests) {
    uint64_t const word = le64_load(row->window);
    uint64_t const above = word << (64 - row->end) >> (64 - row->end + from) << from;
    le64_store(row->window, (word ^ above) | above << gap | rests << from);
}

TAMIS_INLINE void rests_close_word(const rests_row *row, unsigned from, unsigned gap) {
    uint64_t const word = le64_load(row->window);
    uint64_t const above = word << (64 - row->end) >> (64 - row->end + from) << from;
    le64_store(row->window, (word ^ above) | above >> gap >> from << from);
}

/* The two words of a longer window. A row ends in the second one. */
typedef struct rests_pair {
    uint64_t low, high;
} rests_pair;

/* All ones if bit `from` is in the second word, else 0. A branch on that would often be
 * mispredicted. */
TAMIS_INLINE uint64_t rests_if_high(unsigned from) {
    return 0 - (uint64_t)(from / 64);
}

/* The part of the row from bit `from` on, in words that are 0 elsewhere:
 *
 *                low word                  high word
 *     from < 64  from bit `from` on        all of it, up to the end of the row
 *     from >= 64 nothing                   from bit `from` - 64 on, up to the end of the row */
TAMIS_INLINE rests_pair rests_above(const rests_row *row, rests_pair words, unsigned from) {
    uint64_t const behind = UINT64_MAX << from % 64, if_high = rests_if_high(from);
    return (rests_pair){ words.low & behind & ~if_high,
                         words.high & (behind | ~if_high) & (UINT64_MAX >> (128 - row->end)) };
}

TAMIS_INLINE rests_pair rests_load_pair(const rests_row *row) {
    return (rests_pair){ le64_load(row->window), le64_load(row->window + 8) };
}

/* `above` moves up by the gap through both words: what leaves the low word comes into the high one.
 * The new rests begin in the word where `from` is, and may end in the next one. */
TAMIS_INLINE void rests_open_pair(const rests_row *row, unsigned from, unsigned gap,
                                  uint64_t rests) {
    rests_pair const words = rests_load_pair(row), above = rests_above(row, words, from);
    /* The new rests begin in the word of `from`; what they have beyond its end is in the other one.
     * Two shifts, since one by 64 has no meaning in C: from % 64 may be 0. */
    uint64_t const first = rests << from % 64, rest = rests >> 1 >> (63 - from % 64);
    uint64_t const if_high = rests_if_high(from);
    le64_store(row->window, (words.low ^ above.low) | above.low << gap | (first & ~if_high));
    le64_store(row->window + 8, (words.high ^ above.high) | above.high << gap |
                                    above.low >> (64 - gap) | (first & if_high) |
                                    (rest & ~if_high));
}

/* `above` moves down by the gap: what leaves the high word comes into the low one. Its first rests,
 * which are removed, would come to bits below `from`: they are cut off. */
TAMIS_INLINE void rests_close_pair(const rests_row *row, unsigned from, unsigned gap) {
    rests_pair const words = rests_load_pair(row), above = rests_above(row, words, from);
    rests_pair const down = { above.low >> gap | above.high << (64 - gap), above.high >> gap };
    rests_pair const moved = rests_above(row, down, from); /* without what was in the gap */
    le64_store(row->window, (words.low ^ above.low) | moved.low);
    le64_store(row->window + 8, (words.high ^ above.high) | moved.high);
}

/* Put n rests before rest `slot` of a row that has `used` of them, and room for n more. Those after
 * it move up. */
TAMIS_INLINE void rests_insert(const rests_row *row, unsigned slot, unsigned n, unsigned used,
                               uint64_t rests) {
    unsigned const from = row->first + slot * row->bits, gap = n * row->bits;
    if (row->words == 1) {
        rests_open_word(row, from, gap, rests);
    } else if (row->words == 2) {
        rests_open_pair(row, from, gap, rests);
    } else {
        shift_open(row->window, from, row->first + used * row->bits, gap);
        field_set(row->window, from, gap, rests);
    }
}

/* Remove n rests of a row that has `used` of them, from rest `slot` on. Those after it move down.
 */
TAMIS_INLINE void rests_remove(const rests_row *row, unsigned slot, unsigned n, unsigned used) {
    unsigned const from = row->first + slot * row->bits, gap = n * row->bits;
    if (row->words == 1)
        rests_close_word(row, from, gap);
    else if (row->words == 2)
        rests_close_pair(row, from, gap);
    else
        shift_close(row->window, from, row->first + used * row->bits, gap);
}

#endif
