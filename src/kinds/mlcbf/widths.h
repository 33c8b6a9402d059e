/* widths.h - how many bits each level should have.
 *
 * Paper: section V of "The Variable-Increment Counting Bloom Filter" takes (4, 3, 3, 3) for D4,
 * without saying why. Here the widths are the best there are, for the distribution of the counters
 * (law.h).
 *
 * Idea. A level of w bits costs w bits for each counter that reaches it, and takes such a counter
 * 2^w - 1 further. So the cheapest widths for the rest of the way, from a number x on, do not
 * depend on how x was reached: dynamic programming, from the last level back to the first.
 */
#ifndef TAMIS_KINDS_MLCBF_WIDTHS_H
#define TAMIS_KINDS_MLCBF_WIDTHS_H

#include "law.h"

/* Numbers that the levels together may reach. */
#define WIDTHS_MAX 512

/* The widths of the levels of counters with this law, into ret_bits, 0 after the last. `enough`: a
 * counter may reach the top with at most this chance. `dearer`: how much a bit above level 0 costs,
 * where one on level 0 costs 1. False: there are none. */
bool tamis_ml_widths(const ml_model *model, const ml_law *law, double enough, double dearer,
                     uint64_t ret_bits[LEVELS_MAX]);

#endif
