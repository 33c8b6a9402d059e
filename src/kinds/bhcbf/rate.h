/* rate.h - the false-positive rate of a table of pairs as it is now, saturated entries included.
 *
 * A stranger (a key that was never added) has k places, each a random entry and a random number of
 * the sequence. Places that fall on the same entry are one step, which the entry may not hold
 * although it holds each place by itself (theory/meet.h).
 */
#ifndef TAMIS_KINDS_BHCBF_RATE_H
#define TAMIS_KINDS_BHCBF_RATE_H

#include "pairs.h"

/* ret_used: entries that are not empty, marked ones included. */
double tamis_bh_rate(const pairs *layout, const uint8_t *body, uint64_t entries, unsigned k,
                     uint64_t *ret_used);

#endif
