/* vacancy.h - which parts of a table have no keys, so that the sweep (sweep.h) can skip them.
 *
 * A sweep passes through the whole table several times per timeout, even if there are few keys: a
 * table for 100 million keys with a handful of them would be read from memory once a minute. So a
 * large table has a bit for each VACANCY_UNITS units:
 *
 *     0    none of them has a key: the sweep skips them
 *     1    some of them may have a key
 *
 * Adding a key sets the bit of its unit. The sweep clears it when it has passed the last of the
 * units and none of them has a key. The bits are kept in memory only. At first they are all 1, also
 * in a table from a file; the first pass clears them.
 */
#ifndef TAMIS_CORE_VACANCY_H
#define TAMIS_CORE_VACANCY_H

#include "core/bits.h"

#define VACANCY_UNITS 64                  /* for one bit */
#define VACANCY_WORD (64 * VACANCY_UNITS) /* units for a word of bits */
#define VACANCY_LEAST VACANCY_WORD        /* a table of fewer units is passed in no time */

TAMIS_INLINE uint64_t vacancy_words(uint64_t units) {
    return (units + VACANCY_WORD - 1) / VACANCY_WORD;
}

/* `used_parts` is NULL in tables without bits. */
TAMIS_INLINE void vacancy_mark_used(uint64_t *used_parts, uint64_t unit) {
    if (used_parts == NULL) return;
    uint64_t *const word = &used_parts[unit / VACANCY_WORD];
    uint64_t const  bit = UINT64_C(1) << unit / VACANCY_UNITS % 64;
    if ((*word & bit) == 0) *word |= bit;
}

/* Nothing is known any more: the body was replaced. */
TAMIS_INLINE void vacancy_mark_all_used(uint64_t *used_parts, uint64_t units) {
    if (used_parts != NULL)
        memset(used_parts, 0xff, (size_t)(vacancy_words(units) * sizeof *used_parts));
}

TAMIS_INLINE void vacancy_mark_empty(uint64_t *used_parts, uint64_t unit) {
    used_parts[unit / VACANCY_WORD] &= ~(UINT64_C(1) << unit / VACANCY_UNITS % 64);
}

/* The first unit from `unit` on that may have a key, or `limit` if there is none before it. */
TAMIS_INLINE uint64_t vacancy_skip(const uint64_t *used_parts, uint64_t unit, uint64_t limit) {
    while (unit < limit) {
        uint64_t const at = unit / VACANCY_UNITS % 64;
        uint64_t const later = used_parts[unit / VACANCY_WORD] >> at;
        if ((later & 1) != 0) return unit;
        uint64_t const blocks = later != 0 ? bits_lowest(later) : 64 - at;
        unit = (unit / VACANCY_UNITS + blocks) * VACANCY_UNITS;
    }
    return limit;
}

#endif
