/* churn.h - a set and an exact multiset, whose answers are compared.
 *
 * A history of random adds, removals, lookups and counts, single and in batches, in which only
 * added keys are removed. Its load goes up and down between empty and well beyond capacity, so the
 * moments of overflow and saturation are part of it, and now and then a key is flooded.
 */
#ifndef TAMIS_TESTS_CHURN_H
#define TAMIS_TESTS_CHURN_H

#include "subject.h"

typedef struct churn {
    tamis_set *set;
    uint32_t  *truth; /* copies of each key, keys being 0..universe-1 */
    size_t     universe;
    size_t     distinct; /* keys with at least one copy */
    uint64_t   copies;
    size_t     goal; /* distinct keys that the history is heading for */
    unsigned   abilities;
    dice       chance;
    uint64_t   operations; /* done so far */
    uint64_t   refused;    /* adds that returned _FULL */
} churn;

/* False: not enough memory. The caller keeps the ownership of the set. */
bool churn_begin(churn *c, tamis_set *set, uint64_t seed);
void churn_end(churn *c);

/* At least n more operations. NULL, or what is wrong. */
const char *churn_run(churn *c, uint64_t n);

/* Every key that is in the multiset is in the set, and the set is valid. */
const char *churn_check_all(const churn *c);

/* Remove every copy. NULL, or what is wrong. */
const char *churn_empty(churn *c);

#endif
