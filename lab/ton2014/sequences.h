/* sequences.h - searches for Bh sequences, and B-tilde-h sequences.
 *
 * Definitions 1 and 2 of the paper. In a Bh sequence all sums of h numbers are different; the
 * library has a function that checks this (tamis_is_bh), since its filters need it. In a
 * B-tilde-h sequence all sums of up to h numbers are different from each other and from all sums of
 * more numbers. A sequence is given as a mask: bit v is set if v, 1 to 63, is in it.
 */
#ifndef TAMIS_LAB_SEQUENCES_H
#define TAMIS_LAB_SEQUENCES_H

#include "kinds/bhcbf/sequences.h"

#include <stddef.h>

/* False for a mask that is not such a sequence, and if h is not 1 to SEQUENCES_MAX_H. */
bool is_bh_tilde(uint64_t mask, unsigned h);

/* Find all Bh sequences of l numbers from 1 to `bound` that begin with 1, in the order of their
 * numbers. (Adding 1 to all numbers of a sequence adds h to all sums, so that nothing changes.)
 * Returns how many there are; the first `max` are written. */
size_t bh_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max);

/* The same for B-tilde-h sequences, which may begin with any number: here that matters. */
size_t bh_tilde_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max);

#endif
