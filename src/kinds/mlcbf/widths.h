/* widths.h - how many bits each level should have.
 *
 * Paper: section V of "The Variable-Increment Counting Bloom Filter" takes (4, 3, 3, 3) for D4,
 * without saying why. Here the widths are the best there are, for the distribution of the counters
 * (law.h).
 *
 * Idea. A level of w bits costs w bits for each counter that reaches it, and takes such a counter
 * 2^w - 1 further. So the cheapest widths for the rest of the way, from a number x on, do not
 * depend on how x was reached: dynamic programming, from the last level back to the first. With
 * P(x) the chance that a counter stores x or more, and W the number of levels left,
 *
 *     cost(W, x) = min over w of  w P(x) + cost(W - 1, x + 2^w - 1),      0 from the top on
 *
 * Example: if one counter in ten reaches 3, levels of 2 and 3 bits cost 2 + 0.3 bits and reach 10;
 * one level of 4 bits costs 4 and reaches 15.
 */
#ifndef TAMIS_KINDS_MLCBF_WIDTHS_H
#define TAMIS_KINDS_MLCBF_WIDTHS_H

#include "law.h"

/* Numbers that the levels together may reach. */
#define WIDTHS_MAX 512

typedef struct widths_rules {
    double   max_top;  /* a counter may reach the top with at most this chance */
    double   dearer;   /* what a bit above level 0 costs, where one on level 0 costs 1 */
    uint64_t count_to; /* copies of any key that a counter must hold below the top */
} widths_rules;

/* Can levels reach so far that counters with these increments count to count_to? */
bool tamis_ml_can_count(const ml_model *model, uint64_t count_to);

/* The widths of the levels of counters with this law, into ret_bits, 0 after the last. False: there
 * are none, or counts so high are beyond WIDTHS_MAX. */
bool tamis_ml_widths(const ml_model *model, const ml_law *law, const widths_rules *rules,
                     uint64_t ret_bits[LEVELS_MAX]);

#endif
