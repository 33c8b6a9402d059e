/* size.h - how large a table with variable increments must be.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014. Table I is such a choice: the smallest tables
 * for 2000 keys and a rate of 0.1%.
 *
 * Idea. Everything that is left free is tried: the set of increments, the width of a counter, the
 * number of hashes. For each of them the fewest counters that meet the rate are found by bisection,
 * and the table with the fewest bits wins.
 *
 * Why a search: the paper's best k holds for D_L in the limit of large tables. With counters that
 * may stick, and in blocked tables, there is no formula, but the analysis is fast enough to ask it
 * some hundred times.
 *
 * Counts. A counter of b bits has room for (2^b - 2) / v hits that add v. So counts of up to 255
 * need 12 bits with {8, 12, 14, 15}, and larger counts need smaller increments. With {1}, 12 bits
 * count to VI_MAX_COUNT.
 *
 * Example: 12 bits hold up to 4094, since 4095 stands for "stuck". That is 272 hits that add 15, of
 * which 6 are for other keys (VI_OTHERS): so counts of up to 266 are exact.
 *
 * Invariants
 *   - a field that the user fixed is never changed;
 *   - a table of free size meets the rate;
 *   - counters of a free width stick with a probability of at most 1e-3 in the planned lifetime.
 */
#ifndef TAMIS_KINDS_VICBF_SIZE_H
#define TAMIS_KINDS_VICBF_SIZE_H

#include "analysis.h"

#define VI_MAX_COUNT ((UINT64_C(1) << VI_MAX_BITS) - 2 - VI_OTHERS)

/* Fill in the free fields, for the smallest table. If the number of counters is fixed, the lowest
 * possible rate is chosen, whatever it is. If no table with the fixed fields counts as far as
 * requested, or VI_MAX_COUNT is less, a table that counts less is chosen. False: there is no
 * table. */
bool tamis_vi_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
