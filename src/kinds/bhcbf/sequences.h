/* sequences.h - sequences whose sums tell which numbers they are made of.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * definition 1. In a Bh sequence all sums of h numbers are different. Then all sums of fewer
 * numbers are different, too.
 *
 * Examples: {1, 2} is a Bh sequence for every h, since the sum says how many of the h numbers are
 * 2. {1, 2, 3} is none for h = 2: 1 + 3 = 2 + 2. {1, 2, 4} is one for h = 2, with the sums 2, 3, 4,
 * 5, 6 and 8, and not for h = 3: 1 + 1 + 4 = 2 + 2 + 2.
 *
 * A sequence is given as a mask: bit v is set if v, 1 to 63, is in it.
 */
#ifndef TAMIS_KINDS_BHCBF_SEQUENCES_H
#define TAMIS_KINDS_BHCBF_SEQUENCES_H

#include "core/bits.h"

#define SEQUENCES_MAX_H 32
#define SEQUENCES_MAX_VALUE 63
#define SEQUENCES_WORDS (SEQUENCES_MAX_VALUE * SEQUENCES_MAX_H / 64 + 1)

#define SEQUENCE_1(a) (UINT64_C(1) << (a))
#define SEQUENCE_2(a, b) (SEQUENCE_1(a) | SEQUENCE_1(b))
#define SEQUENCE_4(a, b, c, d) (SEQUENCE_2(a, b) | SEQUENCE_2(c, d))

/* Is it a Bh sequence? False for a mask that is no sequence, and for h not 1 to SEQUENCES_MAX_H. */
bool tamis_is_bh(uint64_t mask, unsigned h);

/* ------------------------------------------------------------------ for searches of sequences */

/* The numbers of a sequence, increasing. */
typedef struct sequence_numbers {
    unsigned value[SEQUENCES_MAX_VALUE], n;
} sequence_numbers;

/* A set of sums: bit s of the words. */
typedef struct sequence_sums {
    uint64_t bit[SEQUENCES_WORDS];
} sequence_sums;

/* Are mask and h within their ranges? */
static inline bool sequence_is_possible(uint64_t mask, unsigned h) {
    return mask != 0 && (mask & 1) == 0 && h >= 1 && h <= SEQUENCES_MAX_H;
}

sequence_numbers tamis_sequence_numbers(uint64_t mask);

/* Add to `all` every sum of h numbers of the sequence. False as soon as a sum was there before. */
bool tamis_sequence_add_sums(const sequence_numbers *list, unsigned h, sequence_sums *all);

#endif
