/* sectors.h - counters of a key: anywhere in a table, or all in one cache line.
 *
 * F. Putze, P. Sanders and J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007: a
 * key that has all its places in one block costs one access to memory. Here a block is a cache
 * line, and it is cut into a sector for each hash of a key, so that no two of them meet:
 *
 *      | c c c c | c c c c | c c c c c | 0      hashes = 3, per_line = 13, and a gap
 *        hash 0    hash 1    hash 2
 *
 * Counters do not reach over the end of a line, so a line that its counters do not fill has a gap
 * of zeros. A counter is known by its first bit in the body.
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
    uint64_t lines;                  /* 0: counters of a key are anywhere */
    uint16_t bits;                   /* of a counter */
    uint16_t per_line;               /* counters */
    uint16_t first[SECTORS_MAX + 1]; /* of a line: the first counter for each hash */
} sectors;

/* The first counter of sector i of n in a line; for i = n, how many there are. */
TAMIS_INLINE uint64_t sectors_first(uint64_t per_line, uint64_t n, uint64_t i) {
    return i * per_line / n;
}

/* ------------------------------------------------------------------ where a key counts */

/* The first bit of the line of a key. */
TAMIS_INLINE uint64_t sectors_line(const sectors *of, uint64_t hash) {
    return fastrange(hash, of->lines) * SECTORS_LINE_BITS;
}

/* Which counter of its line hash i has, chosen by a number of its own. What is left of that can
 * choose more. */
TAMIS_INLINE uint64_t sectors_pick(const sectors *of, unsigned i, uint64_t *chosen) {
    uint64_t const first = of->first[i], size = of->first[i + 1] - first;
    return first + fastrange_next(chosen, size);
}

/* ------------------------------------------------------------------ all counters */

/* The first bit of counter i. */
TAMIS_INLINE uint64_t sectors_at(const sectors *of, uint64_t i) {
    if (of->lines == 0) return i * of->bits;
    return i / of->per_line * SECTORS_LINE_BITS + i % of->per_line * of->bits;
}

/* Are the bits between the counters and behind them zero? */
TAMIS_INLINE bool sectors_gaps_are_zero(const sectors *of, const uint8_t *body,
                                        uint64_t body_bytes) {
    unsigned const used = (unsigned)of->per_line * of->bits;
    uint64_t const end = of->lines != 0 ? of->lines * SECTORS_LINE_BITS : of->counters * of->bits;
    for (uint64_t line = 0; line < of->lines; line++) {
        uint64_t const at = line * SECTORS_LINE_BITS;
        if (!field_is_zero(body, at + used, at + SECTORS_LINE_BITS)) return false;
    }
    return field_rest_is_zero(body, end, body_bytes);
}

/* ------------------------------------------------------------------ making them */

/* Bytes of a body with a pad behind it. False: not as many counters as lines hold, or fewer in a
 * line than there are sectors, or too many to address. */
TAMIS_INLINE bool sectors_body_bytes(uint64_t counters, uint64_t bits, uint64_t n, bool is_blocked,
                                     uint64_t pad_bytes, uint64_t *ret_bytes) {
    uint64_t const per_line = SECTORS_LINE_BITS / bits;
    if (!is_blocked) return checked_body_bytes(counters, bits, pad_bytes, ret_bytes);
    if (counters == 0 || counters % per_line != 0 || n > per_line) return false;
    return checked_body_bytes(counters / per_line, SECTORS_LINE_BITS, pad_bytes, ret_bytes);
}

/* Of a geometry that has a body. */
static __attribute__((unused)) sectors sectors_make(uint64_t counters, uint64_t bits, uint64_t n,
                                                    bool is_blocked) {
    sectors make = { .counters = counters,
                     .bits = (uint16_t)bits,
                     .per_line = (uint16_t)(SECTORS_LINE_BITS / bits) };
    TAMIS_ASSERT(n <= SECTORS_MAX);
    if (!is_blocked) return make;
    make.lines = counters / make.per_line;
    for (uint64_t i = 0; i <= n; i++) {
        make.first[i] = (uint16_t)sectors_first(make.per_line, n, i);
    }
    return make;
}

#endif
