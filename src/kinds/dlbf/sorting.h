/* sorting.h - which loads of a dlbf are sorted, and by how many bits.
 *
 * Paper: Bonomi et al., Allerton 2006, section II.B: with 4 bits for a code, the loads 4 and 5 have
 * a sorted bit; with 8 bits, all loads have one, and 6 and 7 have two.
 *
 * Idea. A code of this many bits has room for this many states of a bucket, and each sorted bit of
 * a load takes some of them. The bits are given out one by one, each to the load where a code is
 * worth most, until there is no room left. All numbers of code bits are tried.
 *
 * Why greedy: the sorted bits of 15 loads have 3^15 combinations. For the loads of the paper this
 * finds its sorting, or a better one (test_dlbf_size.c).
 */
#ifndef TAMIS_KINDS_DLBF_SORTING_H
#define TAMIS_KINDS_DLBF_SORTING_H

#include "analysis.h"

/* Choose the sorting of a geometry whose other fields are given. Returns its fpr, or INFINITY: no
 * sorting is possible. */
double tamis_dlbf_sort(uint64_t *geometry, const fluid *law);

#endif
