/* size.h - the analysis of the stateful Bloom filter.
 *
 * Names: m cells, k hashes, n keys at a time, L in a life. Cells of keys that overlap say "don't
 * know" if the keys have different values, if one of them moves, and always if cells do not count.
 * What a plan states holds whatever the values are and however much they move: every overlap is
 * taken for "don't know".
 *
 * Unknown, of a key that is there. While it is there, a cell of its that says "don't know" goes on
 * to do so, since it cannot become empty. So the cell says so if it was held when the key came, by
 * any of n - 1 others, or was hit by any that came later. Keys come, n at a time, n in a mean life,
 * and live for an exponential time. Of those that are there after T = L/n - 1 mean lives, a key has
 * the age a with density e^-a, but with e^-T it is one of the first n, and as old as it can be:
 *
 *     q(a) = 1 - (1 - 1/m)^(k (n - 1 + n a))
 *     unknown = integral from 0 to T of e^-a q(a)^k da  +  e^-T q(T)^k
 *
 * With T = 0 nothing is ever dropped, and that is the paper's formula if all values differ.
 *
 * False positive, of a key that is not there. To have a value all of its cells must be held, and no
 * two of them may say different values. If all keys have the same value, the first is all that it
 * takes:
 *
 *     fpr = p^k,    p = 1 - (1 - 1/m)^(kn)
 *
 * That is what a plan states. No lower rate would hold for any values: a table of keys with one
 * value has exactly this one (half-open connections in a flood are such keys). With V values that
 * are equally common it is up to V^(k-1) times lower; the more cells say "don't know", the less so.
 * With 4 values, a quarter (k = 3, a full table) to a thirtieth (k = 5) was measured, as the
 * paper's formulas for a mix of values say (lab/sigcomm2006/mix.h). A plan does not know how common
 * values are. The fpr seldom decides the size: `unknown` takes many more cells.
 *
 * Tables that age. A key that ends in silence counts until the sweep has taken its cells: up to one
 * round of the hand after its timeout. In a table without counters that goes for a key that was
 * dropped, too. (Asked for in that time, such a key has a value more often than others that are not
 * there.) Without counters and timers a cell that says "don't know" does so for ever: all L keys
 * count as if they were there.
 */
#ifndef TAMIS_KINDS_STATE_BLOOM_SIZE_H
#define TAMIS_KINDS_STATE_BLOOM_SIZE_H

#include "need.h"
#include "theory/shared_size.h"

/* Bits of the field that says: empty, a value, or "don't know". */
unsigned tamis_state_bloom_code_bits(uint64_t values);

unsigned tamis_state_bloom_cell_bits(const uint64_t *g);

shared_law tamis_state_bloom_forecast;

/* Fill in what is free of the geometry. False: it cannot be had. */
bool tamis_state_bloom_choose(const tamis_need *need, uint64_t *g);

#endif
