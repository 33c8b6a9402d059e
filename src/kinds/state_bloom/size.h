/* size.h - the analysis of the stateful Bloom filter.
 *
 * Names: m cells, k hashes, n keys at a time, L in a life. A cell that several keys share says
 * "don't know" if the keys have different values, if one of them moves, and always if cells have no
 * counters. The stated rates hold for any values and any number of moves: every shared cell is
 * treated as "don't know".
 *
 * Unknown, for a key in the table. As long as the key is in the table, a cell of it that says
 * "don't know" cannot become empty, so it continues to say so. So a cell says "don't know" if it
 * was in use when the key was put, by any of n - 1 others, or was hit by any key that was put
 * later. Keys are put at a rate of n per mean life, there are n at a time, and they live for an
 * exponential time. Of the keys that are in the table after T = L/n - 1 mean lives, a key has the
 * age a with density e^-a; but with probability e^-T it is one of the first n, and as old as
 * possible:
 *
 *     q(a) = 1 - (1 - 1/m)^(k (n - 1 + n a))
 *     unknown = integral from 0 to T of e^-a q(a)^k da  +  e^-T q(T)^k
 *
 * With T = 0 nothing is ever dropped, and this is the paper's formula for keys with different
 * values.
 *
 * False positive, for an absent key. It has a value if all of its cells are in use, and no two of
 * them have different values. If all keys have the same value, the first condition is enough:
 *
 *     fpr = p^k,    p = 1 - (1 - 1/m)^(kn)
 *
 * This is the stated rate. No lower rate would hold for all values: a table whose keys all have one
 * value has exactly this rate (half-open connections in a flood are such keys). With V values that
 * are equally common it is up to V^(k-1) times lower; less so if many cells say "don't know". With
 * 4 values, a quarter (k = 3, a full table) to a thirtieth (k = 5) was measured, as the paper's
 * formulas for a mix of values say (lab/sigcomm2006/mix.h). A plan does not know how common values
 * are. The fpr seldom decides the size: `unknown` needs many more cells.
 *
 * Tables with timers. A key that times out counts until the sweep has emptied its cells: up to one
 * pass of the sweep after its timeout. In a table without counters this is also true for a key that
 * was dropped. (If it is looked up in that time, it has a value more often than other absent keys.)
 * Without counters and timers a "don't know" cell stays so for ever: all L keys count as if they
 * were present.
 */
#ifndef TAMIS_KINDS_STATE_BLOOM_SIZE_H
#define TAMIS_KINDS_STATE_BLOOM_SIZE_H

#include "need.h"
#include "theory/overlaid_size.h"

/* Bits of the field that says: empty, a value, or "don't know". */
unsigned tamis_state_bloom_code_bits(uint64_t values);

unsigned tamis_state_bloom_cell_bits(const uint64_t *g);

overlaid_law tamis_state_bloom_forecast;

/* Fill in what is free of the geometry. False: it cannot be had. */
bool tamis_state_bloom_choose(const tamis_need *need, uint64_t *g);

#endif
