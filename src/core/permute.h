/* permute.h - permutations of the numbers below N, each by one multiplication: x -> a x mod N.
 *
 * The d-left kinds keep a fingerprint in one of d subtables. Which bucket of subtable i it belongs
 * to, and what remains to be stored there, are the high and the low part of P_i(fingerprint):
 *
 *     P_i(f) = a_i f mod N,    N = B x 2^r,    bucket = P_i(f) / 2^r,    remainder = P_i(f) % 2^r
 *
 * With a_i prime to N this is a permutation, for any B; N = 2^q is the case of the paper (Bonomi et
 * al., "An Improved Construction for Counting Bloom Filters", ESA 2006, section 3.3). So what is
 * stored in a bucket of subtable i can only have come from one fingerprint, and P_i can be undone.
 *
 * The bucket must be the high part: it depends on all of f. The low part depends on the low part of
 * f alone, and as buckets that would send the same groups of fingerprints to the same buckets
 * everywhere. For the same reason the ratios of the a_i must look random; 1, 3, 5, 7 are useless.
 *
 * As a_i is odd, the remainder is 0 in all subtables or in none: a kind that leaves out the
 * fingerprints whose low part is 0 can take 0 for an empty cell.
 */
#ifndef TAMIS_CORE_PERMUTE_H
#define TAMIS_CORE_PERMUTE_H

#include "core/hash.h"

#define PERMUTE_MAX (UINT64_C(1) << 62) /* numbers in all */

/* x -> factor x mod n. With factor 2^64 / n at hand, a second product tells how often n is in the
 * first, or one time less (V. Shoup's trick). */
typedef struct multiplier {
    uint64_t factor, quotient;
} multiplier;

TAMIS_INLINE uint64_t multiplier_apply(multiplier by, uint64_t n, uint64_t x) {
    uint64_t const rest = by.factor * x - fastrange(x, by.quotient) * n;
    return rest >= n ? rest - n : rest;
}

typedef struct permutation {
    multiplier there, back;
} permutation;

/* ------------------------------------------------------------------ making them */

static __attribute__((unused)) uint64_t permute_gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t const rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The x with a x = 1 mod n, of an a that is prime to it. Euclid's algorithm, backwards. */
static __attribute__((unused)) uint64_t permute_inverse(uint64_t a, uint64_t n) {
    uint64_t rest = n, next_rest = a % n;
    int64_t  x = 0, next_x = 1; /* x a = rest mod n, and so the next */
    while (next_rest > 1) {
        uint64_t const times = rest / next_rest, rest_then = rest % next_rest;
        int64_t const  x_then = x - (int64_t)times * next_x;
        rest = next_rest;
        next_rest = rest_then;
        x = next_x;
        next_x = x_then;
    }
    return n == 1 ? 0 : next_x < 0 ? (uint64_t)(next_x + (int64_t)n) : (uint64_t)next_x;
}

/* factor x 2^64 / n, rounded down: by long division, since this is done once per table. */
static __attribute__((unused)) multiplier multiplier_make(uint64_t factor, uint64_t n) {
    multiplier make = { factor, 0 };
    uint64_t   rest = factor;
    for (unsigned i = 0; i < 64; i++) {
        rest <<= 1;
        make.quotient = make.quotient << 1 | (rest >= n);
        if (rest >= n) rest -= n;
    }
    return make;
}

/* P_i of the numbers below n, 1 <= n <= PERMUTE_MAX: its factor is the next number prime to n from
 * a random one on. None is the identity: fingerprints that come in their order (receive.c) would
 * fill the buckets of that subtable one after the other, and the others unevenly. */
static __attribute__((unused)) permutation permutation_make(uint64_t n, unsigned i) {
    uint64_t factor = fastrange(mix64((i + 1) * HASH_GOLDEN), n);
    while (permute_gcd(factor, n) != 1) factor = (factor + 1) % n;
    return (permutation){ multiplier_make(factor, n),
                          multiplier_make(permute_inverse(factor, n), n) };
}

#endif
