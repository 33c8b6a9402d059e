/* rank.h - what the two halves of `rank` share: the set in rank.c and the states in states.c.
 *
 * The functions of chains.h and copies.h know a body and its layout, and not a tamis_table. Here is
 * what leads from the one to the other.
 */
#ifndef TAMIS_KINDS_RANK_RANK_H
#define TAMIS_KINDS_RANK_RANK_H

#include "copies.h"
#include "state_cells.h"

/* What rank_prepare() computes from the geometry. */
typedef struct rank_shape {
    chains_shape chains;
    uint64_t     value_bits;
    /* Copies of a fingerprint that can be distinguished: with so many it is saturated. 1: a set in
     * which a fingerprint is stored once, and nothing counts as saturated. */
    uint64_t most;
} rank_shape;

static_assert(sizeof(rank_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* `derived` is an array of words that the front door keeps in the handle, beside the body;
 * rank_prepare() fills it. */
TAMIS_INLINE const rank_shape *rank_shape_of(const tamis_table *table) {
    return (const rank_shape *)(const void *)table->derived;
}

TAMIS_INLINE chains_view rank_view(const tamis_table *table) {
    return (chains_view){ table->body, &rank_shape_of(table)->chains };
}

TAMIS_INLINE chains_place rank_find(const tamis_table *table, uint64_t hash) {
    return chains_find(&rank_shape_of(table)->chains, hash);
}

/* Do cells have counters? Then table->entries is the number of cells in use. Without counters it is
 * not kept, since there is a cell for each of table->keys. */
TAMIS_INLINE bool rank_has_counters(const tamis_table *table) {
    return rank_shape_of(table)->chains.counter_bits != 0;
}

/* The fingerprint at a place as one number: bucket, chain and remainder are its digits. It is
 * fastrange(hash, B L 2^r), as for all kinds with fingerprints (kind.h). */
TAMIS_INLINE uint64_t rank_print(const chains_shape *shape, uint64_t bucket, unsigned chain,
                                 uint64_t remainder) {
    return (bucket * shape->chains + chain) << shape->remainder_bits | remainder;
}

/* Bits of a state: of its value and its timer. */
TAMIS_INLINE unsigned rank_state_bits(const tamis_table *table) {
    return (unsigned)rank_shape_of(table)->value_bits;
}

/* The bit where the state in a cell begins. */
TAMIS_INLINE uint64_t rank_state_at(const chains_shape *shape, uint64_t cell) {
    return cell + shape->remainder_bits + shape->counter_bits;
}

/* In states.c. */
extern const kind_states KIND_STATES(rank);

#endif
