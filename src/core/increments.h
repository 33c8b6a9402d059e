/* increments.h - the numbers by which keys count counters up, and what a counter tells of them.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections III and IV. A key adds one of the numbers of a set D to each of its counters, which one
 * its hash says. A counter of value c can hold a key that added v only if c - v is a sum of numbers
 * of D itself, of any number of them: 0, or one of the semigroup that D generates. Otherwise the
 * key was certainly never added.
 *
 * D is a mask: bit v is set if v is in it. The semigroup is a table of bits. From its conductor on
 * it holds every number, if D has no common divisor, and the table need not reach further: two
 * numbers below 32 without one have a conductor of at most 30 x 29.
 *
 * D = {1} is the plain counting filter; D = {L, ..., 2L-1} has everything from L on.
 */
#ifndef TAMIS_CORE_INCREMENTS_H
#define TAMIS_CORE_INCREMENTS_H

#include "core/bits.h"
#include "core/hash.h"

#define INCREMENTS_MAX 31 /* the largest of them */
#define INCREMENTS_WORDS 14

static_assert((INCREMENTS_MAX - 1) * (INCREMENTS_MAX - 2) <= 64 * INCREMENTS_WORDS, "all gaps");

typedef struct increments {
    uint8_t  value[INCREMENTS_MAX]; /* in order */
    uint8_t  n;
    uint64_t sums[INCREMENTS_WORDS]; /* bit s: s is a sum of them; all beyond are */
} increments;

/* Is c a sum of increments, of any number of them, or 0? */
TAMIS_INLINE bool increments_make_up(const increments *of, uint64_t c) {
    return c >= 64 * INCREMENTS_WORDS || (of->sums[c / 64] >> (c % 64) & 1) != 0;
}

/* May a counter of value c hold a key that added v? */
TAMIS_INLINE bool increments_may_hold(const increments *of, uint64_t c, uint64_t v) {
    return c >= v && increments_make_up(of, c - v);
}

/* How often at most it can hold such a key. */
TAMIS_INLINE uint64_t increments_most(const increments *of, uint64_t c, uint64_t v) {
    uint64_t times = c / v;
    while (times != 0 && !increments_make_up(of, c - times * v)) times--;
    return times;
}

/* The one that a hash chooses. */
TAMIS_INLINE uint64_t increments_pick(const increments *of, uint64_t hash) {
    return of->value[fastrange(hash, of->n)];
}

/* ------------------------------------------------------------------ making them */

static __attribute__((unused)) unsigned increments_divisor(uint64_t mask) {
    unsigned divisor = 0;
    for (unsigned v = 1; v <= INCREMENTS_MAX; v++) {
        unsigned a = v, b = divisor;
        if ((mask >> v & 1) == 0) continue;
        while (b != 0) {
            unsigned const rest = a % b;
            a = b;
            b = rest;
        }
        divisor = a;
    }
    return divisor;
}

/* Numbers from 1 to INCREMENTS_MAX, without a common divisor. */
static __attribute__((unused)) bool increments_are_possible(uint64_t mask) {
    return mask != 0 && (mask & 1) == 0 && mask >> INCREMENTS_MAX >> 1 == 0 &&
           increments_divisor(mask) == 1;
}

/* s is a sum if it is 0, or an increment more than one. */
static __attribute__((unused)) increments increments_make(uint64_t mask) {
    increments make = { .sums = { 1 } };
    for (unsigned v = 1; v <= INCREMENTS_MAX; v++) {
        if ((mask >> v & 1) != 0) make.value[make.n++] = (uint8_t)v;
    }
    for (uint64_t s = 1; s < 64 * INCREMENTS_WORDS; s++) {
        for (unsigned i = 0; i < make.n; i++) {
            if (s < make.value[i] || !increments_make_up(&make, s - make.value[i])) continue;
            make.sums[s / 64] |= UINT64_C(1) << (s % 64);
            break;
        }
    }
    return make;
}

#endif
