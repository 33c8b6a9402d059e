/* rate.h - the false-positive rate of a table of pairs as it is, with all that has stuck in it.
 *
 * A stranger has k places, each an entry and a number, all of them equally likely. Those that meet
 * are one step, which an entry may not hold although it holds each by itself (meet.h).
 */
#ifndef TAMIS_KINDS_BHCBF_RATE_H
#define TAMIS_KINDS_BHCBF_RATE_H

#include "pairs.h"

double tamis_bh_rate(const pairs *of, const uint8_t *body, uint64_t entries, unsigned k);

#endif
