/* sequences.h - sequences whose sums tell which numbers they are made of.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * definition 1. In a Bh sequence all sums of h numbers are different, and then those of fewer
 * numbers are, too.
 *
 * A sequence is given as a mask: bit v is set if v, 1 to 63, is in it.
 */
#ifndef TAMIS_KINDS_BHCBF_SEQUENCES_H
#define TAMIS_KINDS_BHCBF_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#define SEQUENCES_MAX_H 32

#define SEQUENCE_1(a) (UINT64_C(1) << (a))
#define SEQUENCE_2(a, b) (SEQUENCE_1(a) | SEQUENCE_1(b))
#define SEQUENCE_4(a, b, c, d) (SEQUENCE_2(a, b) | SEQUENCE_2(c, d))

/* False for a mask that is no sequence, and for h not 1 to SEQUENCES_MAX_H. */
bool tamis_is_bh(uint64_t mask, unsigned h);

#endif
