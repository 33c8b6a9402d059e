/* state_print.h - what the two halves of `state_print` share: the table in state_print.c and the
 * values in state_print_states.c. */
#ifndef TAMIS_KINDS_STATE_PRINT_STATE_PRINT_H
#define TAMIS_KINDS_STATE_PRINT_STATE_PRINT_H

#include "side.h"
#include "tagged.h"
#include "theory/print_law.h"
#include "state_cells.h"

/* The geometry worked out. */
typedef struct print_shape {
    tagged_shape cells;
    side_shape   side;
    uint64_t     side_unit; /* of the sweep: the one behind the buckets */
    uint64_t     end;       /* byte behind all */
    unsigned     bits;      /* x */
    bool         is_permuted, is_reinserted;
} print_shape;

static_assert(sizeof(print_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* Where not permuted, there is one value more: that it is not known. */
TAMIS_INLINE unsigned print_value_bits(uint64_t values, unsigned timer_bits, uint64_t permuted) {
    return tamis_prints_value_bits(values + (permuted == 0), timer_bits);
}

TAMIS_INLINE const print_shape *shape_of(const tamis_table *table) {
    return (const print_shape *)(const void *)table->derived;
}

TAMIS_INLINE tagged cells_of(const tamis_table *table) {
    return (tagged){ table->body, &shape_of(table)->cells };
}

TAMIS_INLINE side side_of(const tamis_table *table) {
    return (side){ table->body, &shape_of(table)->side };
}

TAMIS_INLINE uint64_t print_field(const tamis_table *table, uint64_t bit) {
    return field_get(table->body, bit, shape_of(table)->bits);
}

TAMIS_INLINE uint64_t print_value(const tamis_table *table, uint64_t bit) {
    return state_value(table, shape_of(table)->bits, print_field(table, bit));
}

/* ------------------------------------------------------------------ all keys */

/* Every key: the cells, then the side table. */
typedef struct print_walk {
    cells_walk at;
    unsigned   aside; /* how many of the side table were seen */
    uint64_t   bit;   /* of the field */
} print_walk;

static __attribute__((unused)) bool print_next(const tamis_table *table, print_walk *walk) {
    tagged const of = cells_of(table);
    if (cells_walk_on(&of.shape->cells, of.body, dleft_all(&of.shape->places), &walk->at)) {
        walk->bit = tagged_field_at(of, walk->at.bucket, walk->at.cell);
        return true;
    }
    if (walk->aside == side_count(side_of(table))) return false;
    walk->bit = side_field_at(side_of(table), walk->aside++);
    return true;
}

extern const kind_states KIND_STATES(state_print);

#endif
