/* kernels.c - all kernels. This file is compiled twice: to PTX, which the library contains as text,
 * and for the host, for tests.
 */
#include "kernels.h"
#include "attic.h"
#include "bloom.h"
#include "lookup.h"
#include "scan.h"

/* ------------------------------------------------------------------ lookups */

GPU_KERNEL k_line_has_bare(gpu_ask ask) {
    gpu_ask_lines(&ask, GPU_HAS, true);
}

GPU_KERNEL k_line_has(gpu_ask ask) {
    gpu_ask_lines(&ask, GPU_HAS, false);
}

GPU_KERNEL k_line_count(gpu_ask ask) {
    gpu_ask_lines(&ask, GPU_COUNT, false);
}

GPU_KERNEL k_line_get(gpu_ask ask) {
    gpu_ask_lines(&ask, GPU_GET, false);
}

GPU_KERNEL k_bloom_has(gpu_ask ask) {
    bloom_ask(&ask, false);
}

GPU_KERNEL k_bloom_has_blocked(gpu_ask ask) {
    bloom_ask(&ask, true);
}

/* ------------------------------------------------------------------ changes */

GPU_KERNEL k_bloom_add(gpu_change change) {
    for (uint64_t i = gpu_first(); i < change.keys.n; i += gpu_step()) {
        uint64_t const hash = gpu_hash(&change.table, change.keys.data[i], change.keys.are_hashes);
        if (bloom_mark_key(&change.table, hash)) (void)gpu_add64(&change.tally->added, 1);
    }
}

TAMIS_INLINE uint64_t group_of(const gpu_change *change, uint64_t hash) {
    return fastrange(hash, change->table.lines.buckets) / SHELF_BUCKETS;
}

TAMIS_INLINE void group_keys(const gpu_change *change, bool is_counting) {
    for (uint64_t i = gpu_first(); i < change->keys.n; i += gpu_step()) {
        uint64_t const hash =
            gpu_hash(&change->table, change->keys.data[i], change->keys.are_hashes);
        uint32_t const to = gpu_add32(&change->ends[group_of(change, hash)], 1);
        if (!is_counting) change->hashes[to] = hash;
    }
}

GPU_KERNEL k_group_count(gpu_change change) {
    group_keys(&change, true);
}

GPU_KERNEL k_group_scatter(gpu_change change) {
    group_keys(&change, false);
}

/* Add the numbers of all threads of the warp to a total. For one group, their sum is below 2^32. */
TAMIS_INLINE void group_count_one(uint64_t *total, uint64_t mine) {
    uint32_t all;
    if (gpu_ballot(mine != 0) == 0) return;
    (void)gpu_warp_sum((uint32_t)mine, &all);
    if (gpu_lane() == 0 && all != 0) (void)gpu_add64(total, all);
}

TAMIS_INLINE void group_count_up(gpu_tally *total, const gpu_tally *mine) {
    group_count_one(&total->added, mine->added);
    group_count_one(&total->removed, mine->removed);
    group_count_one(&total->absent, mine->absent);
    group_count_one(&total->stuck, mine->stuck);
    group_count_one(&total->saturated, mine->saturated);
}

/* A group does not fit: list it for a launch with more room. In that launch, refuse it. */
TAMIS_INLINE void group_give_up(const gpu_change *change, uint64_t number) {
    if (gpu_lane() != 0) return;
    if (change->is_last_try)
        change->tally->is_refused = 1;
    else
        change->large[gpu_add64(&change->tally->large, 1)] = (uint32_t)number;
}

/* The number of copies of a fingerprint that has `had` copies, after `n` copies are added or
 * removed. */
TAMIS_INLINE unsigned group_copies(const gpu_change *change, unsigned had, unsigned n,
                                   gpu_tally *tally) {
    uint64_t const most = change->table.most;
    if (!change->is_removal) {
        uint64_t const sum = min_u64((uint64_t)had + n, max_u64(most, had));
        tally->added += sum - had;
        tally->saturated += most > 1 && sum == most && sum != had;
        return (unsigned)sum;
    }
    if (had >= most) { /* it stays; n is 0 if nothing is removed */
        tally->stuck += n;
        return had;
    }
    unsigned const gone = n < had ? n : had;
    tally->removed += gone;
    tally->absent += n - gone;
    return had - gone;
}

#define GROUP_SUFFIX _bare
#define GROUP_ENTRY uint32_t
#define GROUP_ITEM uint8_t
#define GROUP_IS_BARE true
#include "group.h"

#define GROUP_SUFFIX _full
#define GROUP_ENTRY uint64_t
#define GROUP_ITEM uint64_t
#define GROUP_IS_BARE false
#include "group.h"

GPU_KERNEL k_line_merge_bare(gpu_change change) {
    change_groups_bare(&change);
}

GPU_KERNEL k_line_merge(gpu_change change) {
    change_groups_full(&change);
}

/* ------------------------------------------------------------------ the attic */

GPU_KERNEL k_attic_keep(gpu_change change) {
    attic_keep_words(&change);
}

GPU_KERNEL k_attic_count(gpu_attic job) {
    attic_group(&job, true);
}

GPU_KERNEL k_attic_scatter(gpu_attic job) {
    attic_group(&job, false);
}

GPU_KERNEL k_attic_order(gpu_attic job) {
    attic_sort_homes(&job);
}

GPU_KERNEL k_attic_distances(gpu_attic job) {
    attic_find_distances(&job);
}

GPU_KERNEL k_attic_write(gpu_attic job) {
    attic_write_words(&job);
}

/* ------------------------------------------------------------------ arrays */

GPU_KERNEL k_scan_totals(gpu_scan scan) {
    scan_make_totals(&scan);
}

GPU_KERNEL k_scan_apply(gpu_scan scan) {
    scan_make_prefixes(&scan);
}

/* ------------------------------------------------------------------ measuring */

/* For comparison with lookups: load as many random lines as they would, all 64 bytes, and do
 * nothing else. */
GPU_KERNEL k_random_lines(gpu_lines job) {
    uint64_t sum = 0;
    for (uint64_t i = gpu_first(); i < job.n; i += gpu_step()) {
        const uint8_t *const line = job.memory + fastrange(mix64(i ^ job.seed), job.lines) * 64;
        gpu_pair const       low = gpu_load_pair(line), high = gpu_load_pair(line + 32);
        sum += low.low ^ high.low;
    }
    if (sum == 1) *job.ret_sum = sum; /* so that the compiler does not remove the loads */
}
