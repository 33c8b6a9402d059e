/* size.h - the analysis of the direct Bloom filter of states.
 *
 * Names: m cells, k hashes, n keys at a time, L in a life, V values. A pair (key, value) is an
 * element of a counting filter, so n pairs hold their cells, and one that is not there seems to be
 * with f = P[all of its cells are held] (theory/shared_size.h). Each of the V values is asked for.
 *
 *     false positive   exactly one seems to be there:     V f (1-f)^(V-1)
 *     unknown          of V - 1 others any seems to be:   1 - (1-f)^(V-1)
 *
 * Keys that stay. A key that is unknown when it is dropped with TAMIS_ANY_VALUE is refused, and
 * stays for ever if nothing ages. With u(N) the share of unknown keys among N, in a life of L puts
 * there are at most
 *
 *     N = n + (L - n) u(N)
 *
 * keys in the end, and the rates are stated for these. Where every drop names the value of its key
 * nobody stays, and the table is better than stated. What it costs for a million keys of 8 values:
 * at 1% the table is a seventh larger than without keys that stay, at 0.1% a hundredth.
 *
 * A move is a pair that goes and one that comes, and may bring counters to where they stick: each
 * of the L keys is taken to have each of the V values once.
 *
 * With timers a key counts until the sweep has taken its cells, and then nobody stays. But what is
 * stated holds only if keys end by a drop. The counts of keys that end in silence stay in cells
 * which other keys keep alive, and a pair that moves away from such a cell leaves it in use. How
 * often that is depends on how often keys move, which is not known here. So a plan takes no table
 * with timers unless `counter_bits` is fixed: who does that says that he knows. Measured for 20,000
 * keys of 8 values, all of which end in silence, in a table for the 60,000 that are then there,
 * where 4.5% unknown and an fpr of 5% are stated: with 0, 1 and 4 moves in the life of a key, 2.7%,
 * 5.6% and 17.8% are unknown, and the fpr is 1.8%, 3.3% and 12.1%.
 *
 * Without counters nothing is ever taken out but by ageing: pairs that were left by a move count
 * until then, and without timers all L keys count as if they were there.
 */
#ifndef TAMIS_KINDS_STATE_DIRECT_SIZE_H
#define TAMIS_KINDS_STATE_DIRECT_SIZE_H

#include "need.h"
#include "theory/shared_size.h"

#define STATE_DIRECT_MAX_VALUES 16 /* every get tests all of them */
#define STATE_DIRECT_MIN_COUNTER_BITS 2

/* Bits of the counter, or of the mark that a cell without counter is. */
unsigned tamis_state_direct_count_bits(const uint64_t *g);

unsigned tamis_state_direct_cell_bits(const uint64_t *g);

/* N: how many keys there are in the end, at most. */
double tamis_state_direct_keys(const uint64_t *g, double n, double lifetime);

shared_law tamis_state_direct_forecast;

/* Fill in what is free of the geometry. False: it cannot be had. */
bool tamis_state_direct_choose(const tamis_need *need, uint64_t *g);

/* The two rates of f. */
double tamis_state_direct_fpr(double f, double values);
double tamis_state_direct_unknown(double f, double values);

#endif
