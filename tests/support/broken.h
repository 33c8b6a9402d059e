/* broken.h - tables that are broken on purpose: validate() must name the invariant.
 *
 * All of it works for states, too: pass their `set`.
 */
#ifndef TAMIS_TESTS_BROKEN_H
#define TAMIS_TESTS_BROKEN_H

#include "subject.h"

/* A valid set of the subject's with the ids 0 to keys - 1. */
tamis_set *filled_set(const subject *variant, uint64_t keys);

/* A valid set of a kind that has counters, with the ids 0 to 99; no counter is stuck. */
tamis_set *unstuck_set(const char *kind, const char *geometry);

/* Validate says no, and its reason begins with the name of this invariant ("I3"). */
void expect_broken(const tamis_set *set, const char *invariant);

/* One bit of the body. */
void flip(tamis_set *set, uint64_t bit);

/* Flips a bit, expects the table to be broken, and flips it back. */
void expect_flip_broken(tamis_set *set, uint64_t bit, const char *invariant);

/* Flips each bit in turn: validate says no to every one, and yes in the end. */
void expect_all_flips_broken(tamis_set *set);

/* Any bytes in place of the body: in three rounds, each bit is set with a probability of 1/2, 1/4
 * and 1/8. */
void scramble(tamis_set *set, dice *chance, unsigned round);

#endif
