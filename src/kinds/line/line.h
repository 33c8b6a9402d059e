/* line.h - what the two halves of `line` share: the set in line.c and the states in states.c.
 *
 * A tamis_table knows nothing of lines. Its `derived` words are a line_shape, which line_prepare()
 * fills in once, when a table is made or opened; every operation begins by looking at its table
 * through that (line_view).
 */
#ifndef TAMIS_KINDS_LINE_LINE_H
#define TAMIS_KINDS_LINE_LINE_H

#include "lines_list.h"
#include "state_cells.h"

/* What line_prepare() works out of the geometry. */
typedef struct line_shape {
    lines_shape lines;
    /* Copies of a fingerprint that can be told apart: with so many it is saturated. 1: a set in
     * which a fingerprint is stored once, and nothing counts as saturated. */
    uint64_t most;
} line_shape;

static_assert(sizeof(line_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

TAMIS_INLINE const line_shape *line_shape_of(const tamis_table *table) {
    return (const line_shape *)(const void *)table->derived;
}

/* is_bare is true only in functions for tables without rests, and a constant there (lines.h). */
TAMIS_INLINE lines_view line_view_as(const tamis_table *table, bool is_bare) {
    return (lines_view){ table->body, &line_shape_of(table)->lines, is_bare };
}

/* For functions that work on any table: with rests or without. */
TAMIS_INLINE lines_view line_view(const tamis_table *table) {
    return line_view_as(table, false);
}

/* Bits of a state: of its value and its timer. */
TAMIS_INLINE unsigned line_state_bits(const tamis_table *table) {
    return (unsigned)line_shape_of(table)->lines.value_bits;
}

/* In states.c. */
extern const kind_states KIND_STATES(line);

#endif
