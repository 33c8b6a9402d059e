/* shape.h - from the geometry of a table to what its functions work with.
 *
 * line_layout says where the parts of a body begin. A shape has that and what else follows from the
 * geometry alone, so that no operation computes it again. It depends on nothing but the geometry
 * and is never stored. The GPU library uses this file, too.
 */
#ifndef TAMIS_KINDS_LINE_SHAPE_H
#define TAMIS_KINDS_LINE_SHAPE_H

#include "lines.h"
#include "size.h"

/* Copies of a fingerprint that saturate it: entries, and what each of them counts. One of both is 1
 * (layout.c). */
TAMIS_INLINE uint64_t line_most(const uint64_t *g) {
    return g[LINE_COPIES] << g[LINE_COUNTER_BITS];
}

TAMIS_INLINE lines_shape line_make_shape(const uint64_t *g, const line_layout *layout) {
    uint64_t const row_bits = LINE_SLOTS * line_rest_bits(g); /* the rests of a line */
    return (lines_shape){ .buckets = g[LINE_BUCKETS],
                          .remainder_bits = g[LINE_REMAINDER_BITS],
                          .counter_bits = g[LINE_COUNTER_BITS],
                          .value_bits = g[LINE_VALUE_BITS],
                          .rest_bits = line_rest_bits(g),
                          .shelves = layout->shelves,
                          .words = layout->words,
                          .count = layout->count,
                          .slot_rests = layout->slot_rests,
                          .shelf_rests = layout->shelf_rests,
                          .word_rests = layout->word_rests,
                          .slot_pad = layout->slot_pad,
                          .shelf_stride = layout->shelf_stride,
                          .row_bits = row_bits,
                          .row_words = rests_window_words(LINE_SLOTS, (unsigned)line_rest_bits(g)),
                          .group_bytes = (SHELF_BUCKETS * row_bits + layout->slot_pad) / 8,
                          .homes = line_attic_homes(g[LINE_ATTIC]),
                          .room = g[LINE_ATTIC],
                          .word_bits = 8 * line_word_bytes(g[LINE_BUCKETS]),
                          .end = layout->end };
}

#endif
