/* state_print.h - what the two halves of `state_print` share: the table in state_print.c and the
 * values in states.c.
 *
 *     body    | buckets of subtable 1 | ... | of subtable d | padding | side table |
 *     units   0                                             side_unit
 *
 * A field is a value and, above it, a timer (state_cells.h packs them). Fields are identified by
 * their first bit in the body, wherever they are: so most functions need not know whether a key is
 * in a bucket or in the side table.
 */
#ifndef TAMIS_KINDS_STATE_PRINT_STATE_PRINT_H
#define TAMIS_KINDS_STATE_PRINT_STATE_PRINT_H

#include "side.h"
#include "state_cells.h"
#include "tagged.h"
#include "theory/print_law.h"

/* The geometry worked out. */
typedef struct print_shape {
    tagged_shape cells;
    side_shape   side;
    uint64_t     side_unit; /* the side table is a unit of the sweep: the one after all buckets */
    uint64_t     end;       /* byte after all */
    unsigned     bits;      /* x: of a value and its timer */
    bool         is_permuted, is_reinserted;
} print_shape;

static_assert(sizeof(print_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* x. Without permutations there is one value more: "not known". */
TAMIS_INLINE unsigned state_print_value_bits(uint64_t values, unsigned timer_bits,
                                             uint64_t permuted) {
    return tamis_prints_value_bits(values + (permuted == 0), timer_bits);
}

TAMIS_INLINE const print_shape *state_print_shape(const tamis_table *table) {
    return (const print_shape *)(const void *)table->derived;
}

TAMIS_INLINE tagged state_print_cells(const tamis_table *table) {
    return (tagged){ table->body, &state_print_shape(table)->cells };
}

TAMIS_INLINE side state_print_side(const tamis_table *table) {
    return (side){ table->body, &state_print_shape(table)->side };
}

/* The field, value and timer, at a bit of the body; and the value alone. */
TAMIS_INLINE uint64_t state_print_field(const tamis_table *table, uint64_t bit) {
    return field_get(table->body, bit, state_print_shape(table)->bits);
}

TAMIS_INLINE uint64_t state_print_value(const tamis_table *table, uint64_t bit) {
    return state_value(table, state_print_shape(table)->bits, state_print_field(table, bit));
}

/* ------------------------------------------------------------------ all keys */

/* Every key: the cells of all buckets, then the side table. Starts from { 0 }. The keys that a
 * table has must not change during a walk. */
typedef struct print_walk {
    cells_walk at;
    unsigned   aside; /* how many keys of the side table were seen */
    state_cell cell;  /* the field of the key, and its unit */
} print_walk;

/* Go to the next key; false after the last. */
static __attribute__((unused)) bool state_print_next(const tamis_table *table, print_walk *walk) {
    tagged const cells = state_print_cells(table);
    side const   aside = state_print_side(table);
    if (cells_walk_on(&cells.shape->cells, cells.body, dleft_all(&cells.shape->places),
                      &walk->at)) {
        walk->cell.unit = walk->at.bucket;
        walk->cell.bit = tagged_field_at(cells, walk->at.bucket, walk->at.cell);
        return true;
    }
    if (walk->aside == side_count(aside)) return false;
    walk->cell.unit = state_print_shape(table)->side_unit;
    walk->cell.bit = side_field_at(aside, walk->aside++);
    return true;
}

extern const kind_states KIND_STATES(state_print);

#endif
