/* size.h - how large a table of counters on several levels must be.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, section V. Table I has the paper's own level
 * sizes, for 2000 keys and a rate of 0.1%.
 *
 * Idea. Four choices, one after the other, for each set of increments D and each number of hashes:
 *
 *   counters   the fewest that meet the rate, if each has all the bits it wants;
 *   widths     of the levels: those that cost a counter the fewest bits on average;
 *   blocks     of about ML_BLOCK_BITS bits, or of one cache line if speed is preferred;
 *   area       of a block: the least that is too small rarely enough.
 *
 * Why one after the other: what sticks is so rare that it does not change the rate, so counters do
 * not depend on levels; and the best widths hardly depend on how counters are grouped. The result
 * is checked with the whole analysis before it is taken.
 *
 * Counts. The levels must reach beyond the copies that are to be counted: that costs nothing, since
 * only counters of such keys have cells there. These cells take of the reserve that a block has for
 * chance. One such key after the other, 3000 of them with 255 copies each, closed no block of a
 * full table; many of them at once may, and counts are then too high, never too low. Increments are
 * small where counts are large: with {1}, levels are planned to count to ML_MAX_COUNT.
 *
 * Invariants
 *   - a field that the user fixed is never changed;
 *   - a table of free size meets the rate;
 *   - where the area is free, anything sticks with at most the accepted probability of overflow,
 *     and in no case more often than 1e-3: beyond that, the rate would suffer.
 */
#ifndef TAMIS_KINDS_MLCBF_SIZE_H
#define TAMIS_KINDS_MLCBF_SIZE_H

#include "analysis.h"
#include "need.h"
#include "widths.h"

/* Sets of increments: the paper's best, a similar one with one more bit, the paper's simplest, and
 * that of the plain counting filter. Of 1000 others the best, {17, 19, 20, 25}, saved 1% more. */
#define ML_GENERAL UINT64_C(0xd100)          /* {8, 12, 14, 15} */
#define ML_GENERAL_WIDE UINT64_C(0xd1010000) /* {16, 24, 28, 30, 31} */
#define ML_D4 UINT64_C(0xf0)                 /* {4, 5, 6, 7} */
#define ML_ONE UINT64_C(2)                   /* {1} */

#define ML_LINE_BITS 512   /* a block, if speed is preferred */
#define ML_BLOCK_BITS 8192 /* and if size is: a longer one needs less reserve, and more time */

#define ML_MAX_COUNT (WIDTHS_MAX - 2 - ML_OTHERS)

/* Fill in the free fields, for the smallest table. If the number of counters is fixed, the lowest
 * possible rate is chosen, whatever it is. If no table with the fixed fields counts as far as
 * requested, or ML_MAX_COUNT is less, a table that counts less is chosen. False: there is no
 * table. */
bool tamis_ml_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
