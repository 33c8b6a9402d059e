/* life.h - random operations on a table of states, compared with an exact record.
 *
 * The record has every key with its true state and the time of its last refresh. Each operation is
 * done to the table and to the record. The answers of the table are checked against the laws of
 * <tamis/states.h>: which answers are possible depends on whether the kind stores fingerprints, or
 * cells that keys share, and on whether keys time out.
 */
#ifndef TAMIS_TESTS_LIFE_H
#define TAMIS_TESTS_LIFE_H

#include "subject.h"

/* Every kind of states on every instruction set that runs here, in all variants; the caller frees.
 */
subject *states_subjects(uint64_t operations, size_t *ret_n);

tamis_states *states_subject_make(const subject *variant, uint64_t seed);

/* A key of the account. */
typedef struct person {
    bool     is_there;
    bool     is_blurred; /* touched while the sweep was late; of shared cells, after it had aged */
    uint32_t value;
    uint64_t heard; /* when it was put, moved or touched */
} person;

/* How many lookups there were, and their answers. */
typedef struct answers {
    uint64_t present, right, wrong, unknown, lost; /* of keys that are there */
    uint64_t absent, false_values, false_unknown;  /* of keys that are not */
} answers;

typedef struct life {
    const subject *variant;
    tamis_states  *states;
    dice           chance;
    uint64_t       population, there;
    person        *people;
    bool           is_behaved; /* callers keep the rules of states.h */
    uint64_t       now, backlog;
    uint64_t       refused; /* puts that found no room */
    uint64_t       clashes; /* puts that met another key's fingerprint */
    answers        answers;
} life;

/* False: no memory, or no table. */
bool life_begin(life *l, const subject *variant, uint64_t population, uint64_t seed);
void life_end(life *l);

/* Key i of the account, as the table knows it. */
uint64_t life_key(const life *l, uint64_t i);

/* One operation on key i. NULL, or the law that is broken. */
const char *life_put(life *l, uint64_t i, uint32_t value);
const char *life_move(life *l, uint64_t i, uint32_t to);
const char *life_touch(life *l, uint64_t i);
const char *life_drop(life *l, uint64_t i);
const char *life_get(life *l, uint64_t i);
const char *life_tick(life *l, uint64_t ticks);

/* n random operations; keys are added and removed around a level of `share` of the capacity. */
const char *life_run(life *l, uint64_t n, double share);

/* Look up all keys, and compare the whole table with the account. */
const char *life_census(life *l);

#endif
