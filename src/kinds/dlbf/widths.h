/* widths.h - cells of one width that is known only when they are read, compared by whole words.
 *
 * core/match.h does this for widths that are constants. Here the pattern of a width comes from a
 * table, which the compiler works out: the division that makes it would take as long as the rest.
 */
#ifndef TAMIS_KINDS_DLBF_WIDTHS_H
#define TAMIS_KINDS_DLBF_WIDTHS_H

#include "core/field.h"

#define WIDTHS_MIN 2
#define WIDTHS_MAX 56 /* a word that begins inside a byte has no more for sure */

/* The lowest bit of each cell of w bits in 56. */
#define WIDTHS_BIT(w, i) ((i) < WIDTHS_MAX / (w) ? UINT64_C(1) << ((i) * (w) % 64) : 0)
#define WIDTHS_BITS_4(w, i) \
    (WIDTHS_BIT(w, i) | WIDTHS_BIT(w, i + 1) | WIDTHS_BIT(w, i + 2) | WIDTHS_BIT(w, i + 3))
#define WIDTHS_BITS(w)                                                                        \
    (WIDTHS_BITS_4(w, 0) | WIDTHS_BITS_4(w, 4) | WIDTHS_BITS_4(w, 8) | WIDTHS_BITS_4(w, 12) | \
     WIDTHS_BITS_4(w, 16) | WIDTHS_BITS_4(w, 20) | WIDTHS_BITS_4(w, 24))

typedef struct width {
    uint64_t ones;
    unsigned per_word;
} width;

#define WIDTHS_1(w) \
    { WIDTHS_BITS(w), WIDTHS_MAX / (w) }
#define WIDTHS_5(w) WIDTHS_1(w), WIDTHS_1(w + 1), WIDTHS_1(w + 2), WIDTHS_1(w + 3), WIDTHS_1(w + 4)

/* From WIDTHS_MIN on. */
static const width widths[] = { WIDTHS_5(2),  WIDTHS_5(7),  WIDTHS_5(12), WIDTHS_5(17),
                                WIDTHS_5(22), WIDTHS_5(27), WIDTHS_5(32), WIDTHS_5(37),
                                WIDTHS_5(42), WIDTHS_5(47), WIDTHS_5(52) };

static_assert(sizeof widths / sizeof widths[0] == WIDTHS_MAX + 1 - WIDTHS_MIN, "one for each");

/* Is one of the n cells of `bits` bits from bit `at` on this value? Most calls take one word, so
 * the first is looked at without asking whether there is one: of no cells none is found. They may
 * be behind the last, so it is then the first word of all. */
TAMIS_INLINE bool widths_have(const uint8_t *from, unsigned at, unsigned bits, unsigned n,
                              uint64_t value) {
    width const w = widths[bits - WIDTHS_MIN];
    uint64_t    found;
    at = n != 0 ? at : 0;
    for (;;) {
        unsigned const now = n < w.per_word ? n : w.per_word;
        uint64_t const all = bits_low(now * bits), tops = w.ones << (bits - 1) & all;
        uint64_t const differ = field_get(from, at, now * bits) ^ (w.ones * value & all);
        found = tops & ~(((differ & ~tops) + (tops - (w.ones & all))) | differ);
        n -= now;
        if (found != 0 || n == 0) break;
        at += now * bits;
    }
    return found != 0;
}

#endif
