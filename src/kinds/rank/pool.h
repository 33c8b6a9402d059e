/* pool.h - which of n records are taken: a bit for each.
 *
 * A free one is looked for from a wanted place on, by whole words and once around. A pool that is
 * planned to be at most three quarters full gives one in the first word or the second; only one
 * that is exhausted is searched all through.
 */
#ifndef TAMIS_KINDS_RANK_POOL_H
#define TAMIS_KINDS_RANK_POOL_H

#include "core/field.h"

#define POOL_NONE UINT64_MAX
#define POOL_WORD (FIELD_MAX_BITS - 1) /* bits looked at at once */

/* The first free record in from..to-1, or POOL_NONE; `at` is the bit of record 0. */
TAMIS_INLINE uint64_t pool_search(const uint8_t *body, uint64_t at, uint64_t from, uint64_t to) {
    for (; from < to; from += POOL_WORD) {
        unsigned const bits = (unsigned)min_u64(to - from, POOL_WORD);
        uint64_t const vacant = ~field_get(body, at + from, bits) & bits_low(bits);
        if (vacant != 0) return from + bits_lowest(vacant);
    }
    return POOL_NONE;
}

/* Take a record of n, from `wanted` on if possible; POOL_NONE when all are taken. */
TAMIS_INLINE uint64_t pool_take(uint8_t *body, uint64_t at, uint64_t n, uint64_t wanted) {
    uint64_t found = pool_search(body, at, wanted, n);
    if (found == POOL_NONE) found = pool_search(body, at, 0, min_u64(wanted, n));
    if (found != POOL_NONE) field_set_bit(body, at + found, true);
    return found;
}

TAMIS_INLINE void pool_give(uint8_t *body, uint64_t at, uint64_t record) {
    field_set_bit(body, at + record, false);
}

#endif
