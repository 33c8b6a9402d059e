/* overload.h - sets of kinds that refuse keys, at their limits: flooded, and overfilled. */
#ifndef TAMIS_TESTS_OVERLOAD_H
#define TAMIS_TESTS_OVERLOAD_H

#include "subject.h"

/* An empty set and a key that is added a million times, before all others and after: no key is
 * refused or lost, and if the set can remove, only the flooded key is saturated. Frees the
 * set. */
void check_flood(tamis_set *set);

/* An empty set that is filled to half as much again as its capacity: only then it refuses, without
 * a byte changed, and at least so often. All that it took is there; removed again, every byte is
 * 0. Frees the set. */
void check_exhaustion(tamis_set *set, uint64_t least_refused);

#endif
