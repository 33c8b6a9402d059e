/* sequences.h - sequences whose sums tell which numbers they are made of.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * definitions 1 and 2. In a Bh sequence all sums of h numbers are different, and then those of
 * fewer numbers are, too. In a B-tilde-h sequence all sums of up to h numbers are different from
 * each other and from all sums of more numbers.
 *
 * A sequence is given as a mask: bit v is set if v, 1 to 63, is in it.
 */
#ifndef TAMIS_KINDS_BHCBF_SEQUENCES_H
#define TAMIS_KINDS_BHCBF_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCES_MAX_H 32

#define SEQUENCE_1(a) (UINT64_C(1) << (a))
#define SEQUENCE_2(a, b) (SEQUENCE_1(a) | SEQUENCE_1(b))
#define SEQUENCE_4(a, b, c, d) (SEQUENCE_2(a, b) | SEQUENCE_2(c, d))

/* False for a mask that is no sequence, and for h not 1 to SEQUENCES_MAX_H. */
bool tamis_is_bh(uint64_t mask, unsigned h);
bool tamis_is_bh_tilde(uint64_t mask, unsigned h);

/* Find all Bh sequences of l numbers from 1 to `bound` that begin with 1, in the order of their
 * numbers. (To add 1 to all numbers of a sequence adds h to all sums, so that nothing changes.)
 * Returns how many there are; the first `max` are written. */
size_t tamis_bh_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max);

/* The same for B-tilde-h sequences, which may begin with any number: here that matters. */
size_t tamis_bh_tilde_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks,
                             size_t max);

#endif
