/* sectors.h - where the counters of a table are: anywhere, or all counters of a key in one line.
 *
 * A table of counters has one of two layouts.
 *
 *   scattered   counters follow each other without gaps. Each hash of a key selects any of them, so
 *               that an operation on a key with k hashes touches up to k cache lines.
 *   blocked     F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom
 *               Filters", 2007: all counters of a key are in one block, here a cache line, so that
 *               an operation touches one line.
 *
 * A line of a blocked table is cut into one sector per hash. Hash i selects a counter of sector i,
 * so two hashes of a key never select the same counter. No counter crosses the end of a line: bits
 * that are left over are a gap of zeros.
 *
 *     a line, drawn with 13 counters and 3 hashes:
 *
 *     | c c c c | c c c c | c c c c c | 0 |
 *       sector 0  sector 1   sector 2   gap
 *
 * In both layouts a counter is identified by its first bit in the body.
 */
#ifndef TAMIS_CORE_SECTORS_H
#define TAMIS_CORE_SECTORS_H

#include "core/checked.h"
#include "core/field.h"
#include "core/hash.h"

#define SECTORS_LINE_BITS 512
#define SECTORS_MAX 64

static_assert(SECTORS_LINE_BITS == 8 * TAMIS_LINE_BYTES, "a block is a line");

typedef struct sectors {
    uint64_t counters;
    uint64_t lines;                  /* 0: scattered */
    uint16_t bits;                   /* of a counter */
    uint16_t per_line;               /* counters in a line */
    uint16_t first[SECTORS_MAX + 1]; /* the first counter of each sector in a line; then the end */
} sectors;

/* The first counter of sector i of n in a line; for i = n, the number of counters. Sectors differ
 * by at most one counter. */
TAMIS_INLINE uint64_t sectors_first(uint64_t per_line, uint64_t n, uint64_t i) {
    return i * per_line / n;
}

/* ------------------------------------------------------------------ the counters of a key */

/* The first bit of the line of a key. */
TAMIS_INLINE uint64_t sectors_line(const sectors *layout, uint64_t hash) {
    return fastrange(hash, layout->lines) * SECTORS_LINE_BITS;
}

/* Which counter of its line a key has in sector i. `chosen` is a random number for this sector;
 * what is left of it afterwards can make another choice. */
TAMIS_INLINE uint64_t sectors_pick(const sectors *layout, unsigned i, uint64_t *chosen) {
    uint64_t const first = layout->first[i], size = layout->first[i + 1] - first;
    return first + fastrange_next(chosen, size);
}

/* ------------------------------------------------------------------ all counters */

/* The first bit of counter i. */
TAMIS_INLINE uint64_t sectors_at(const sectors *layout, uint64_t i) {
    if (layout->lines == 0) return i * layout->bits;
    return i / layout->per_line * SECTORS_LINE_BITS + i % layout->per_line * layout->bits;
}

/* Are all bits zero that belong to no counter: the gaps of lines, and the end of the body? */
TAMIS_INLINE bool sectors_gaps_are_zero(const sectors *layout, const uint8_t *body,
                                        uint64_t body_bytes) {
    unsigned const used = (unsigned)layout->per_line * layout->bits;
    uint64_t const end =
        layout->lines != 0 ? layout->lines * SECTORS_LINE_BITS : layout->counters * layout->bits;
    for (uint64_t line = 0; line < layout->lines; line++) {
        uint64_t const at = line * SECTORS_LINE_BITS;
        if (!field_is_zero(body, at + used, at + SECTORS_LINE_BITS)) return false;
    }
    return field_rest_is_zero(body, end, body_bytes);
}

/* ------------------------------------------------------------------ making the layout */

/* Bytes of a body, with pad_bytes after the last counter. False if the counters of a blocked table
 * do not fill whole lines, if a line has fewer counters than sectors, or if the size overflows. */
TAMIS_INLINE bool sectors_body_bytes(uint64_t counters, uint64_t bits, uint64_t n, bool is_blocked,
                                     uint64_t pad_bytes, uint64_t *ret_bytes) {
    uint64_t const per_line = SECTORS_LINE_BITS / bits;
    if (!is_blocked) return checked_body_bytes(counters, bits, pad_bytes, ret_bytes);
    if (counters == 0 || counters % per_line != 0 || n > per_line) return false;
    return checked_body_bytes(counters / per_line, SECTORS_LINE_BITS, pad_bytes, ret_bytes);
}

/* For a geometry that has passed sectors_body_bytes(). */
static __attribute__((unused)) sectors sectors_make(uint64_t counters, uint64_t bits, uint64_t n,
                                                    bool is_blocked) {
    sectors layout = { .counters = counters,
                       .bits = (uint16_t)bits,
                       .per_line = (uint16_t)(SECTORS_LINE_BITS / bits) };
    TAMIS_ASSERT(n <= SECTORS_MAX);
    if (!is_blocked) return layout;
    layout.lines = counters / layout.per_line;
    for (uint64_t i = 0; i <= n; i++) {
        layout.first[i] = (uint16_t)sectors_first(layout.per_line, n, i);
    }
    return layout;
}

#endif
