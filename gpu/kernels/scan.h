/* scan.h - prefix sums, and prefix maxima, of arrays of any length, in place.
 *
 * Three launches: scan_totals adds up the items of each block; scan_apply, with one block, computes
 * the prefixes of these totals; scan_apply computes the prefixes within each block, beginning with
 * its total. A thread has `each` neighbouring items.
 *
 * The prefix of an item covers the items before it; an inclusive one covers the item itself, too.
 * The prefixes of totals are never inclusive.
 */
#ifndef TAMIS_GPU_SCAN_H
#define TAMIS_GPU_SCAN_H

#include "shim.h"
#include "table.h"

TAMIS_INLINE uint64_t scan_load(const gpu_scan *scan, uint64_t i) {
    if (i >= scan->n) return 0;
    return scan->is_wide ? ((const uint64_t *)scan->items)[i] : ((const uint32_t *)scan->items)[i];
}

TAMIS_INLINE void scan_store(const gpu_scan *scan, uint64_t i, uint64_t value) {
    if (i >= scan->n) return;
    if (scan->is_wide)
        ((uint64_t *)scan->items)[i] = value;
    else
        ((uint32_t *)scan->items)[i] = (uint32_t)value;
}

TAMIS_INLINE uint64_t scan_join(const gpu_scan *scan, uint64_t a, uint64_t b) {
    return scan->is_max ? max_u64(a, b) : a + b;
}

/* The total of this thread's items. */
TAMIS_INLINE uint64_t scan_own(const gpu_scan *scan, uint64_t first) {
    uint64_t total = 0;
    for (uint64_t i = 0; i < scan->each; i++)
        total = scan_join(scan, total, scan_load(scan, first + i));
    return total;
}

/* The totals of the threads before this one; *ret_all: of the whole block. */
TAMIS_INLINE uint64_t scan_block(const gpu_scan *scan, uint64_t mine, uint64_t *ret_all) {
    uint64_t *const totals = gpu_shared();
    unsigned const  thread = gpu_thread();
    totals[thread] = mine;
    gpu_block_sync();
    for (unsigned step = 1; step < gpu_threads(); step *= 2) {
        uint64_t const before = thread >= step ? totals[thread - step] : 0;
        gpu_block_sync();
        totals[thread] = scan_join(scan, totals[thread], before);
        gpu_block_sync();
    }
    *ret_all = totals[gpu_threads() - 1];
    return thread == 0 ? 0 : totals[thread - 1];
}

TAMIS_INLINE uint64_t scan_first(const gpu_scan *scan) {
    return ((uint64_t)gpu_block() * gpu_threads() + gpu_thread()) * scan->each;
}

TAMIS_INLINE void scan_make_totals(const gpu_scan *scan) {
    uint64_t all;
    (void)scan_block(scan, scan_own(scan, scan_first(scan)), &all);
    if (gpu_thread() == 0) scan->totals[gpu_block()] = all;
}

TAMIS_INLINE void scan_make_prefixes(const gpu_scan *scan) {
    uint64_t const first = scan_first(scan);
    uint64_t       all, sum = scan_block(scan, scan_own(scan, first), &all);
    if (scan->totals != NULL) sum = scan_join(scan, sum, scan->totals[gpu_block()]);
    for (uint64_t i = first; i < first + scan->each; i++) {
        uint64_t const before = sum;
        sum = scan_join(scan, sum, scan_load(scan, i));
        scan_store(scan, i, scan->is_inclusive ? sum : before);
    }
}

#endif
