/* line.h - what the two halves of `line` share: the set in line.c and the values in line_states.c.
 */
#ifndef TAMIS_KINDS_LINE_LINE_H
#define TAMIS_KINDS_LINE_LINE_H

#include "lines_list.h"
#include "state_cells.h"

/* The geometry worked out. */
typedef struct line_shape {
    lines_shape lines;
    uint64_t    most; /* copies that a fingerprint can have */
} line_shape;

static_assert(sizeof(line_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

TAMIS_INLINE const line_shape *shape_of(const tamis_table *table) {
    return (const line_shape *)(const void *)table->derived;
}

TAMIS_INLINE lines lines_of(const tamis_table *table) {
    return (lines){ table->body, &shape_of(table)->lines };
}

/* ------------------------------------------------------------------ values */

TAMIS_INLINE unsigned line_value_bits(const tamis_table *table) {
    return (unsigned)shape_of(table)->lines.value_bits;
}

/* Are all values of a bucket among those that there are? */
static __attribute__((unused)) bool line_values_are_whole(const tamis_table *table,
                                                          const lines_list  *list) {
    if (table->values == 0) return true;
    for (unsigned i = 0; i < list->n; i++) {
        uint64_t const field = lines_list_field(&shape_of(table)->lines, list, i);
        if (state_value(table, line_value_bits(table), field) >= table->values) return false;
    }
    return true;
}

extern const kind_states KIND_STATES(line);

#endif
