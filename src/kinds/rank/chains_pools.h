/* chains_pools.h - the extensions of all buckets of chains: does each belong to one of them?
 */
#ifndef TAMIS_KINDS_RANK_CHAINS_POOLS_H
#define TAMIS_KINDS_RANK_CHAINS_POOLS_H

#include "chains.h"

/* Extensions that buckets point to, for each level the sum of their mixed numbers. */
typedef struct chains_taken {
    uint64_t sum[3];
} chains_taken;

/* Note those of a bucket that has so many cells. */
static __attribute__((unused)) void chains_note_taken(chains of, uint64_t at, unsigned load,
                                                      chains_taken *taken) {
    const chains_shape *const shape = of.shape;
    if (load <= shape->room[0]) return;
    taken->sum[1] += mix64(chains_pointer(of, at, 1));
    if (load <= shape->room[0] + shape->room[1]) return;
    taken->sum[2] += mix64(chains_pointer(of, chains_extension(of, at, 1), 2));
}

/* The buckets point to just those extensions that are marked as taken: the sums of their mixed
 * numbers are equal, which for two sets that differ has a chance of 2^-64. */
static __attribute__((unused)) bool chains_pool_is_whole(chains of, const chains_taken *taken,
                                                         unsigned part) {
    uint64_t left = taken->sum[part];
    for (uint64_t i = 0; i < of.shape->pool[part]; i++) {
        if (field_get_bit(of.body, of.shape->used[part] + i)) left -= mix64(i + 1);
    }
    return left == 0;
}

/* Nothing is in extensions that are free, nor between the last record of a level and the next. */
static __attribute__((unused)) bool chains_free_is_zero(chains of, unsigned part) {
    const chains_shape *const shape = of.shape;
    uint64_t const            n = part == 0 ? shape->buckets : shape->pool[part];
    uint64_t const            end = shape->start[part] + n * shape->record[part];
    for (uint64_t i = 0; i < shape->pool[part]; i++) {
        uint64_t const at = shape->start[part] + i * shape->record[part];
        bool const     is_taken = field_get_bit(of.body, shape->used[part] + i);
        if (!is_taken && !field_is_zero(of.body, at, at + shape->record[part])) return false;
    }
    return field_is_zero(of.body, end, part < 2 ? shape->start[part + 1] : shape->used[1]);
}

#endif
