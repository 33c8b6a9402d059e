/* size.h - how large a d-left filter with dynamic bit reassignment must be.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section II: buckets of 64 bits at a load of 4, of 128 bits at 6.4, with 3 subtables.
 *
 * Idea. The fuller the buckets, the smaller the table and the higher the rate. So for each size of
 * a bucket the largest load that meets the rate is found by bisection. At each load that is tried,
 * overflow decides the highest load of a bucket, and that decides which loads are sorted
 * (sorting.h).
 *
 * Why a search: L is rounded down, and the codes are whole numbers, so no formula gives the load.
 *
 * Invariants
 *   - a field that the user fixed is never changed;
 *   - a table of free size meets the rate and the overflow by the analysis of its own buckets.
 */
#ifndef TAMIS_KINDS_DLBF_SIZE_H
#define TAMIS_KINDS_DLBF_SIZE_H

#include "analysis.h"

/* Fill in the fields that are not fixed, for the smallest table. Without a rate, the load is the
 * paper's. False: no table does it. */
bool tamis_dlbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
