/* rank.h - what the two halves of `rank` share: the set in rank.c and the values in rank_states.c.
 */
#ifndef TAMIS_KINDS_RANK_RANK_H
#define TAMIS_KINDS_RANK_RANK_H

#include "copies.h"
#include "state_cells.h"

/* The geometry worked out. */
typedef struct rank_shape {
    chains_shape chains;
    uint64_t     value_bits;
    uint64_t     most; /* copies that a fingerprint can have */
} rank_shape;

static_assert(sizeof(rank_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

TAMIS_INLINE const rank_shape *shape_of(const tamis_table *table) {
    return (const rank_shape *)(const void *)table->derived;
}

TAMIS_INLINE chains chains_of(const tamis_table *table) {
    return (chains){ table->body, &shape_of(table)->chains };
}

TAMIS_INLINE chains_place rank_find(const tamis_table *table, uint64_t hash) {
    return chains_find(&shape_of(table)->chains, hash);
}

/* ------------------------------------------------------------------ values */

TAMIS_INLINE unsigned rank_value_bits(const tamis_table *table) {
    return (unsigned)shape_of(table)->value_bits;
}

/* The field of the value in a cell that begins at a bit. */
TAMIS_INLINE uint64_t rank_value_at(const chains_shape *shape, uint64_t cell) {
    return cell + shape->remainder_bits + shape->counter_bits;
}

/* Cell i of a bucket: the field of its state. */
TAMIS_INLINE uint64_t rank_field_at(const tamis_table *table, uint64_t at, unsigned i) {
    chains const of = chains_of(table);
    return rank_value_at(of.shape, chains_cell(of, at, i));
}

/* Are all values of a bucket among those that there are? */
static __attribute__((unused)) bool rank_values_are_whole(const tamis_table *table, uint64_t at,
                                                          unsigned load) {
    unsigned const bits = rank_value_bits(table);
    if (table->values == 0) return true;
    for (unsigned i = 0; i < load; i++) {
        uint64_t const field = field_get(table->body, rank_field_at(table, at, i), bits);
        if (state_value(table, bits, field) >= table->values) return false;
    }
    return true;
}

extern const kind_states KIND_STATES(rank);

#endif
