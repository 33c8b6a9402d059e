/* size.h - the analysis of the direct Bloom filter of states.
 *
 * Names: m cells, k hashes, n keys at a time, L in a life, V values. A pair (key, value) is an
 * element of a counting filter, so n pairs occupy their cells, and an absent pair seems to be
 * present with f = P[all of its cells are in use] (theory/overlaid_size.h). A lookup tests each of
 * the V values.
 *
 *     false positive   exactly one pair seems present:         V f (1-f)^(V-1)
 *     unknown          any of V - 1 other pairs seems present: 1 - (1-f)^(V-1)
 *
 * Keys that stay. If the value of a key is unknown, a drop with TAMIS_ANY_VALUE is refused, and
 * without timers the key stays for ever. If u(N) is the share of unknown keys among N, then after a
 * life of L puts there are at most
 *
 *     N = n + (L - n) u(N)
 *
 * keys, and the rates are stated for that number. If every drop names the value of its key, no key
 * stays, and the table is better than stated. The price for a million keys of 8 values: at 1% the
 * table is a seventh larger than without keys that stay, at 0.1% a hundredth.
 *
 * A move removes one pair and adds another, and may make counters stick: the analysis assumes that
 * each of the L keys has each of the V values once.
 *
 * With timers, a key counts until the sweep has emptied its cells. But the stated rates hold only
 * if keys are dropped. Keys that time out instead leave their counts in cells that other keys keep
 * alive, and a pair that moves away from such a cell leaves it in use. How often that happens
 * depends on how often keys move, which is not known here. So tables with timers are planned only
 * if the user fixes `counter_bits`. Measured for 20,000 keys of 8 values that all time out, in a
 * table for the 60,000 that are then there, where 4.5% unknown and an fpr of 5% are stated: with 0,
 * 1 and 4 moves in the life of a key, 2.7%, 5.6% and 17.8% are unknown, and the fpr is 1.8%, 3.3%
 * and 12.1%.
 *
 * With timers, moves and drops must name the value, too. A key whose drop was refused times out in
 * the same way, and while other keys keep its cells alive, it makes more keys unknown, whose drops
 * are refused in turn. In the same table, crowded, with each key there for half a timeout, 11% are
 * unknown after 4 turnovers and all of them after 16; with named values 4%, which is less than
 * stated (tests/laws/test_states_crowded.c).
 *
 * Without counters, pairs disappear only when they time out: pairs that a move has left count until
 * then, and without timers all L keys count as if they were present.
 */
#ifndef TAMIS_KINDS_STATE_DIRECT_SIZE_H
#define TAMIS_KINDS_STATE_DIRECT_SIZE_H

#include "need.h"
#include "theory/overlaid_size.h"

#define STATE_DIRECT_MAX_VALUES 16 /* every get tests all of them */
#define STATE_DIRECT_MIN_COUNTER_BITS 2

/* Bits of the counter, or of the mark that a cell without counter is. */
unsigned tamis_state_direct_count_bits(const uint64_t *g);

unsigned tamis_state_direct_cell_bits(const uint64_t *g);

/* N: how many keys there are in the end, at most. */
double tamis_state_direct_keys(const uint64_t *g, double n, double lifetime);

overlaid_law tamis_state_direct_forecast;

/* Fill in what is free of the geometry. False: it cannot be had. */
bool tamis_state_direct_choose(const tamis_need *need, uint64_t *g);

/* The two rates of f. */
double tamis_state_direct_fpr(double f, double values);
double tamis_state_direct_unknown(double f, double values);

#endif
