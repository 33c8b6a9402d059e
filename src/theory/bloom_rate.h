/* bloom_rate.h - the analysis of a Bloom filter, for all kinds that ask k of m places.
 *
 * After n keys have marked k random places each, a place is marked with probability
 *
 *     p = 1 - (1 - 1/m)^(kn),
 *
 * and an absent key passes with probability E[X^k], where X is the share of marked places. The
 * p^k of textbooks is a little too small, because X scatters from table to table. X is nearly
 * normal. The k-th moment of a normal X with the exact variance is right to a per mille from a
 * dozen keys on, in the sizes that are planned; for fewer keys it errs on the safe side, by up to
 * 17% for a single key. In addition there are n / 2^64: keys whose 64-bit hash is that of another
 * key.
 */
#ifndef TAMIS_THEORY_BLOOM_RATE_H
#define TAMIS_THEORY_BLOOM_RATE_H

#include "need.h"
#include <stdbool.h>
#include <stdint.h>

/* The share of places that are marked after n keys: p. */
double tamis_bloom_fill(double places, double k, double n);

double tamis_bloom_fpr(double places, unsigned k, double n);

/* How many different keys were added, estimated from the places that they have marked: the n for
 * which this many marked places are expected. If all are marked, a lower bound. */
double tamis_bloom_distinct(double places, double k, double marked);

/* The k that makes the fpr smallest for m places and n keys. */
unsigned tamis_bloom_best_k(double places, double n);

/* The fewest places that meet the fpr with k hashes; 0 if no number below 2^53 does. */
uint64_t tamis_bloom_places(double fpr, unsigned k, double n);

/* The fewest places that meet the fpr with any k, and this k. False: there are none. */
bool tamis_bloom_smallest(double fpr, double n, uint64_t *ret_places, unsigned *ret_k);

#define BLOOM_MAX_K 64

/* Fill in places and k, as far as they are NEED_FREE: the fewest places, or the best k for given
 * places. If both are fixed, or if the fpr is 0 and the places are fixed, any rate is accepted. */
bool tamis_bloom_choose(double fpr, double n, uint64_t *places, uint64_t *k);

/* Cache lines that a lookup touches on average, in a body of this many lines: a present key asks
 * all k places, an absent key asks until the first place that is not marked. */
double tamis_bloom_lines_present(double lines, unsigned k);
double tamis_bloom_lines_absent(double lines, unsigned k, double fill);

#endif
