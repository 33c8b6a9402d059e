/* size.h - the analysis of the direct Bloom filter of states.
 *
 * Names: m cells, k hashes, n keys at a time, L in a life, V values. A pair (key, value) is an
 * element of a counting filter, so n pairs hold their cells, and one that is not there seems to be
 * with f = P[all of its cells are held] (shared_size.h). Each of the V values is asked for.
 *
 *     false positive   exactly one seems to be there:     V f (1-f)^(V-1)
 *     unknown          of V - 1 others any seems to be:   1 - (1-f)^(V-1)
 *
 * Keys that go leave nothing behind, so it is the same under churn. But a move is a pair that goes
 * and one that comes, and may bring counters to where they stick: each of the L keys is taken to
 * have each of the V values once.
 *
 * Of tables that age, a key counts until its timeout is over. Without counters nothing is ever
 * taken out but by ageing: pairs that were left by a move count until then, which is not known
 * here; and without timers all L keys count as if they were there.
 */
#ifndef TAMIS_KINDS_STATE_DIRECT_SIZE_H
#define TAMIS_KINDS_STATE_DIRECT_SIZE_H

#include "need.h"
#include "theory/shared_size.h"

#define STATE_DIRECT_MAX_VALUES 16 /* every get asks for all */
#define STATE_DIRECT_MIN_COUNTER_BITS 2

/* Bits of the counter, or of the mark that a cell without counter is. */
unsigned tamis_state_direct_count_bits(const uint64_t *g);

unsigned tamis_state_direct_cell_bits(const uint64_t *g);

shared_law tamis_state_direct_forecast;

bool tamis_state_direct_choose(shared_need need, uint64_t *g);

/* The two rates of f. */
double tamis_state_direct_fpr(double f, double values);
double tamis_state_direct_unknown(double f, double values);

#endif
