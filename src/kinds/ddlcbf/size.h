/* size.h - how large a d-left counting filter with dynamic bit reassignment must be.
 *
 * Paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", Allerton
 * 2006, section III.C: one such table, measured. It has no rule for others.
 *
 * Idea. Overflow decides how full buckets may be, and the rate how large they are: each is a
 * question of its own. For a number of subtables and cells, the largest load that overflow allows
 * is found first; then buckets get byte after byte until remainders are long enough.
 *
 * Why so few are tried. 11 and 15 cells are the numbers whose codes (one_length.h) leave little of
 * a power of two unused, and 3 or 4 subtables are best, as the paper says of section II, too.
 *
 * Invariants
 *   - a field that the user fixed is never changed;
 *   - a table with one length meets the rate by its levels; what the kind predicts in the end
 *     (analysis.h) is checked by the planner.
 */
#ifndef TAMIS_KINDS_DDLCBF_SIZE_H
#define TAMIS_KINDS_DDLCBF_SIZE_H

#include "analysis.h"

/* Fill in the free fields, for the smallest table. Without a rate, the free fields are those of the
 * paper. False: no table meets the need. */
bool tamis_ddlcbf_choose(const tamis_need *need, uint64_t *ret_geometry);

#endif
