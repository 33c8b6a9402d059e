/* pool.h - which of n records are taken: a bitmap.
 *
 * A free record is searched from a wanted place on, by whole words and once around. A pool that is
 * planned to be at most three quarters full has one in the first word or the second; only a pool
 * that is exhausted is searched all through.
 */
#ifndef TAMIS_KINDS_RANK_POOL_H
#define TAMIS_KINDS_RANK_POOL_H

#include "core/field.h"

/* This file does not record who has a record: the bucket or extension that points to it does
 * (chains.h). */
#define POOL_NONE UINT64_MAX
#define POOL_WORD (FIELD_MAX_BITS - 1) /* bits that are read at once */

/* The first free record in first..end-1, or POOL_NONE. `at` is the bit of record 0. The bits of a
 * word are inverted, so that the lowest one is the first free record. */
TAMIS_INLINE uint64_t pool_search(const uint8_t *body, uint64_t at, uint64_t first, uint64_t end) {
    for (; first < end; first += POOL_WORD) {
        unsigned const bits = (unsigned)min_u64(end - first, POOL_WORD);
        uint64_t const vacant = ~field_get(body, at + first, bits) & bits_low(bits);
        if (vacant != 0) return first + bits_lowest(vacant);
    }
    return POOL_NONE;
}

/* Take one of n records, the first that is free from `wanted` on; POOL_NONE: all are taken. */
TAMIS_INLINE uint64_t pool_take(uint8_t *body, uint64_t at, uint64_t n, uint64_t wanted) {
    uint64_t found = pool_search(body, at, wanted, n);
    if (found == POOL_NONE) found = pool_search(body, at, 0, min_u64(wanted, n));
    if (found != POOL_NONE) field_set_bit(body, at + found, true);
    return found;
}

/* Is any of n records free? */
TAMIS_INLINE bool pool_has_one(const uint8_t *body, uint64_t at, uint64_t n) {
    return pool_search(body, at, 0, n) != POOL_NONE;
}

/* The caller has emptied the record: a free one is all zero (I3 in rank.c). */
TAMIS_INLINE void pool_give(uint8_t *body, uint64_t at, uint64_t record) {
    field_set_bit(body, at + record, false);
}

#endif
