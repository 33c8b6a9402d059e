/* chains_pools.h - checks the extensions of all buckets of chains: each belongs to one bucket.
 *
 * A bitmap says which extensions are taken (pool.h), and buckets say which ones they have. Both
 * must name the same, and none twice. A list of what buckets say would need memory, so two sums are
 * compared instead:
 *
 *     over all buckets           the sum of mix64(number) of their extensions
 *     over all bits of the map   the sum of mix64(number) of those that are taken
 *
 * Numbers begin with 1, as in pointers. An extension that two buckets have, or that is taken and
 * belongs to none, is more often in one of the sums than in the other. Sums are modulo 2^64.
 */
#ifndef TAMIS_KINDS_RANK_CHAINS_POOLS_H
#define TAMIS_KINDS_RANK_CHAINS_POOLS_H

#include "chains.h"

/* The extensions of parts 1 and 2 that buckets point to: the sums of their mixed numbers. */
typedef struct chains_taken {
    uint64_t sum[3];
} chains_taken;

/* Add those of a bucket that has this many cells. */
static __attribute__((unused)) void chains_note_taken(chains_view chains, uint64_t at,
                                                      unsigned load, chains_taken *taken) {
    const chains_shape *const shape = chains.shape;
    if (load <= shape->room[0]) return;
    taken->sum[1] += mix64(chains_pointer(chains, at, 1));
    if (load <= shape->room[0] + shape->room[1]) return;
    taken->sum[2] += mix64(chains_pointer(chains, chains_extension(chains, at, 1), 2));
}

/* Do the buckets point to just those extensions that are marked as taken? The sums are equal then;
 * for two collections that differ, that has a chance of 2^-64. */
static __attribute__((unused)) bool chains_pool_is_whole(chains_view         chains,
                                                         const chains_taken *taken, unsigned part) {
    uint64_t left = taken->sum[part];
    for (uint64_t i = 0; i < chains.shape->pool[part]; i++) {
        if (field_get_bit(chains.body, chains.shape->used[part] + i)) left -= mix64(i + 1);
    }
    return left == 0;
}

/* Are free extensions all zero, and the gap between the last record of a part and the next part? */
static __attribute__((unused)) bool chains_free_is_zero(chains_view chains, unsigned part) {
    const chains_shape *const shape = chains.shape;
    uint64_t const            n = part == 0 ? shape->buckets : shape->pool[part];
    uint64_t const            end = shape->start[part] + n * shape->record[part];
    for (uint64_t i = 0; i < shape->pool[part]; i++) {
        uint64_t const at = shape->start[part] + i * shape->record[part];
        bool const     is_taken = field_get_bit(chains.body, shape->used[part] + i);
        if (!is_taken && !field_is_zero(chains.body, at, at + shape->record[part])) return false;
    }
    return field_is_zero(chains.body, end, part < 2 ? shape->start[part + 1] : shape->used[1]);
}

#endif
