/* increments.h - variable increments: which keys a counter can hold.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, sections III and IV.
 *
 * A key does not add 1 to each of its counters, but a number v of a small set D; its hash says
 * which. A counter of value c can hold a key that adds v only if the rest, c - v, is again a sum of
 * numbers of D (any of them, any number of times; 0 is the empty sum). If it is not, the key was
 * certainly never added. The sums of numbers of D are the additive semigroup that D generates:
 *
 *     D = {8, 12, 14, 15}      sums: 0 8 12 14 15 16 20 22 23 24 26 27 28 29 30 31 32 34 35 ...
 *     c = 22, v = 8            22 - 8 = 14 is a sum: perhaps
 *     c = 22, v = 12           22 - 12 = 10 is not: certainly absent
 *
 * The sums are a table of bits. If the numbers of D have no common divisor, then every number from
 * the conductor of the semigroup on is a sum. The conductor is at most (v_1 - 1) (v_l - 1) for the
 * least and the largest number of D (Schur), here at most 29 x 30: so the table has all the gaps.
 *
 * D is given as a mask: bit v is set if v is in D. D = {1} is the plain counting filter; for the
 * paper's D_L = {L, ..., 2L-1} every number from L on is a sum.
 */
#ifndef TAMIS_CORE_INCREMENTS_H
#define TAMIS_CORE_INCREMENTS_H

#include "core/bits.h"
#include "core/hash.h"

#define INCREMENTS_MAX 31 /* the largest number that may be in D */
#define INCREMENTS_WORDS 14

static_assert((INCREMENTS_MAX - 1) * (INCREMENTS_MAX - 2) <= 64 * INCREMENTS_WORDS, "all gaps");

typedef struct increments {
    uint8_t  value[INCREMENTS_MAX];  /* the numbers of D, increasing */
    uint8_t  n;                      /* how many there are */
    uint64_t sums[INCREMENTS_WORDS]; /* bit s: s is a sum; every s beyond the table is one */
} increments;

/* Is c a sum of increments? 0 is. */
TAMIS_INLINE bool increments_make_up(const increments *d, uint64_t c) {
    return c >= 64 * INCREMENTS_WORDS || (d->sums[c / 64] >> (c % 64) & 1) != 0;
}

/* May a counter of value c hold a key that added v? */
TAMIS_INLINE bool increments_may_hold(const increments *d, uint64_t c, uint64_t v) {
    return c >= v && increments_make_up(d, c - v);
}

/* The largest number of copies of such a key that a counter of value c can hold. */
TAMIS_INLINE uint64_t increments_most(const increments *d, uint64_t c, uint64_t v) {
    uint64_t copies = c / v;
    while (copies != 0 && !increments_make_up(d, c - copies * v)) copies--;
    return copies;
}

/* The number of D that a hash selects. */
TAMIS_INLINE uint64_t increments_pick(const increments *d, uint64_t hash) {
    return d->value[fastrange(hash, d->n)];
}

/* ------------------------------------------------------------------ making them */

/* The greatest common divisor of all numbers of D, by Euclid's algorithm. */
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

/* Is the mask a set that can be used: numbers from 1 to INCREMENTS_MAX, coprime as a whole? */
static __attribute__((unused)) bool increments_are_possible(uint64_t mask) {
    return mask != 0 && (mask & 1) == 0 && mask >> INCREMENTS_MAX >> 1 == 0 &&
           increments_divisor(mask) == 1;
}

/* s is a sum if s - v is one for some v of D. In increasing order, so that s - v is known. */
static __attribute__((unused)) increments increments_make(uint64_t mask) {
    increments d = { .sums = { 1 } };
    for (unsigned v = 1; v <= INCREMENTS_MAX; v++) {
        if ((mask >> v & 1) != 0) d.value[d.n++] = (uint8_t)v;
    }
    for (uint64_t s = 1; s < 64 * INCREMENTS_WORDS; s++) {
        for (unsigned i = 0; i < d.n; i++) {
            if (s < d.value[i] || !increments_make_up(&d, s - d.value[i])) continue;
            d.sums[s / 64] |= UINT64_C(1) << (s % 64);
            break;
        }
    }
    return d;
}

/* The conductor: every number from here on is a sum. */
static __attribute__((unused)) uint64_t increments_conductor(const increments *d) {
    uint64_t c = 64 * INCREMENTS_WORDS;
    while (c != 0 && increments_make_up(d, c - 1)) c--;
    return c;
}

#endif
