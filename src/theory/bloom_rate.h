/* bloom_rate.h - the analysis of a Bloom filter, shared by the kinds that ask k places of m.
 *
 * After n keys have marked k places each, a place is marked with probability
 *     p = 1 - (1 - 1/m)^(kn),
 * and an absent key is taken for present with probability E[X^k], where X is the share of marked
 * places. The textbook's p^k is a little too small, because X scatters. X is nearly normal, and the
 * k-th moment of a normal X with the exact variance is right to a per mille from a dozen keys on in
 * the sizes that are planned; for fewer keys it errs on the safe side, by up to 17% for one key.
 * To this comes n / 2^64: keys whose 64-bit hashes are equal.
 */
#ifndef TAMIS_THEORY_BLOOM_RATE_H
#define TAMIS_THEORY_BLOOM_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Share of places marked after n keys. */
double tamis_bloom_fill(double places, double k, double n);

double tamis_bloom_fpr(double places, unsigned k, double n);

/* The k that makes the fpr smallest for m places and n keys. */
unsigned tamis_bloom_best_k(double places, double n);

/* The fewest places that meet the fpr with k, or 0 if none below 2^53 do. */
uint64_t tamis_bloom_places(double fpr, unsigned k, double n);

/* The fewest places that meet the fpr, and the k for it. False: not to be had. */
bool tamis_bloom_smallest(double fpr, double n, uint64_t *ret_places, unsigned *ret_k);

#define BLOOM_MAX_K 64
#define BLOOM_FREE UINT64_MAX

/* The same with places or k or both fixed, where they are not BLOOM_FREE. With both fixed, or fpr 0
 * and the places fixed, the rate is what it is. */
bool tamis_bloom_choose(double fpr, double n, uint64_t *places, uint64_t *k);

/* Lines of 64 bytes that a lookup touches on average, in a body of so many: a present key asks all
 * k places, an absent one until the first unmarked. */
double tamis_bloom_lines_present(double lines, unsigned k);
double tamis_bloom_lines_absent(double lines, unsigned k, double fill);

#endif
