/* size.h - how large a table of pairs of counters must be.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014. Table I is such a choice: the smallest tables
 * for 2000 keys and a rate of 0.1%.
 *
 * Idea. First the number of hashes: for each k, the fewest entries that meet the rate if no entry
 * ever stuck. Then the bits: the fewest bits of c1 and c2 or c3 with which entries rarely stick.
 * The two questions are nearly independent, since rare marks hardly change the rate; so they are
 * asked one after the other, and the size is settled at the end with the bits that were chosen.
 *
 * Why c3 is preferred: it needs 1 to 3 bits less than c2 and is never far from the best.
 *
 * Counts need wider entries: c1 must count so far, and c2 or c3 must hold as many copies of any
 * number of the sequence. c1 has at most 6 bits, so no table counts further than BH_MAX_COUNT_TO.
 *
 * Invariants
 *   - a field that the user fixed is never changed;
 *   - a table of free size meets the rate;
 *   - if c1 and c2 are both free, entries stick with at most the probability that is accepted.
 */
#ifndef TAMIS_KINDS_BHCBF_SIZE_H
#define TAMIS_KINDS_BHCBF_SIZE_H

#include "analysis.h"

#define BH_MAX_COUNT_TO (BH_MAX_COUNT - BH_OTHERS)

/* Fill in the fields that are not fixed, for the smallest table in which the probability that any
 * entry ever sticks is at most max_stuck. If the number of entries is fixed, the lowest rate there
 * is will do. If no table with the fixed fields counts as far as asked, or BH_MAX_COUNT_TO is less
 * than that, one that counts less is chosen. False: there is no table. */
bool tamis_bh_choose(const tamis_need *need, double max_stuck, uint64_t *ret_geometry);

#endif
