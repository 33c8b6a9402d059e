/* sets.h - real sets, filled with real keys.
 *
 * Keys are eight bytes each and numbered: key i of a trial is a bijection of i, so that different
 * numbers are different keys, and a key of a number not yet used is certainly absent.
 */
#ifndef TAMIS_LAB_SETS_H
#define TAMIS_LAB_SETS_H

#include "random.h"

#include "core/le.h"

#include <tamis/tamis.h>

#include <stdbool.h>

/* Make a set with a seed from this trial. Does not return on failure. */
tamis_set *sets_make(const tamis_spec *spec, lab_random *random);

/* Is there such a kind? */
bool sets_have(const char *kind);

/* The keys of a trial. */
typedef struct key_source {
    uint64_t start;
} key_source;

#define KEY_BYTES 8

static inline key_source keys_of(lab_random *random) {
    return (key_source){ lab_random_next(random) };
}

static inline void key_write(const key_source *keys, uint64_t i, uint8_t ret_key[KEY_BYTES]) {
    le64_store(ret_key, lab_mix(keys->start + (i + 1) * LAB_GOLDEN));
}

/* Add the keys first, first + 1, ...; none may be refused. */
void sets_fill(tamis_set *set, const key_source *keys, uint64_t first, uint64_t n);

/* How many of these keys the set says it has. */
uint64_t sets_count(const tamis_set *set, const key_source *keys, uint64_t first, uint64_t n);

#endif
