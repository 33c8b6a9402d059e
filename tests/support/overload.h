/* overload.h - sets of kinds that refuse keys, at their limits: flooded, and overfilled. */
#ifndef TAMIS_TESTS_OVERLOAD_H
#define TAMIS_TESTS_OVERLOAD_H

#include "subject.h"

/* Into an empty set, one key is added a million times, before all other keys and after them: no key
 * is refused or lost, and if the set can remove, only the flooded key is saturated. Frees the
 * set. */
void check_flood(tamis_set *set);

/* An empty set is filled to 1.5 times its capacity. It refuses keys only beyond the capacity, at
 * least so often, and a refusal changes no byte. All keys that it took are found, and after they
 * are removed every byte is 0. Frees the set. */
void check_exhaustion(tamis_set *set, uint64_t least_refused);

/* `sets` sets live as `lived` says: filled to the capacity, then the oldest key is replaced by a
 * new one until the lifetime is over. The share of them in which anything is saturated is between
 * `low` and `high` times the stated probability, within four sigma. */
void check_saturation(const subject *lived, uint64_t sets, double low, double high);

#endif
