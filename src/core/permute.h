/* permute.h - permutations of the numbers below N, each by one multiplication: x -> a x mod N.
 *
 * Paper: Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006, section
 * 3.3, for N = 2^q.
 *
 * The d-left kinds keep a fingerprint f in one of d subtables. P_i says which bucket of subtable i
 * it belongs to, and what remains to be stored there:
 *
 *     P_i(f) = a_i f mod N,   N = B 2^r      | bucket = P_i(f) / 2^r | remainder = P_i(f) % 2^r |
 *
 * With a_i prime to N this is a permutation, for any B. So what is stored in a bucket of subtable i
 * can have come from one fingerprint only, and P_i can be undone.
 *
 * The bucket must be the high part, since that depends on all of f. The low part depends on the low
 * part of f alone: taken as the bucket, it would send the same groups of fingerprints to the same
 * buckets in every subtable. For the same reason the ratios of the a_i must look random; factors
 * such as 1, 3, 5, 7 are useless.
 *
 * As a_i is odd, the remainder is 0 in all subtables or in none. So a kind that leaves out the
 * fingerprints whose low part is 0 can use 0 for an empty cell.
 */
#ifndef TAMIS_CORE_PERMUTE_H
#define TAMIS_CORE_PERMUTE_H

#include "core/hash.h"

#define PERMUTE_MAX (UINT64_C(1) << 62) /* the largest N */

/* x -> factor x mod n without a division (V. Shoup's trick): `quotient` is factor 2^64 / n, rounded
 * down. The high half of x times that is how often n goes into factor x, or one less. */
typedef struct multiplier {
    uint64_t factor, quotient;
} multiplier;

TAMIS_INLINE uint64_t multiplier_apply(multiplier m, uint64_t n, uint64_t x) {
    uint64_t const rest = m.factor * x - fastrange(x, m.quotient) * n;
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

/* The x with a x = 1 mod n, for an a that is prime to n: Euclid's extended algorithm. */
static __attribute__((unused)) uint64_t permute_inverse(uint64_t a, uint64_t n) {
    uint64_t rest = n, next_rest = a % n;
    int64_t  x = 0, next_x = 1; /* invariant: x a = rest mod n, for both pairs */
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

/* The quotient by long division, bit by bit: this is done once per table. */
static __attribute__((unused)) multiplier multiplier_make(uint64_t factor, uint64_t n) {
    multiplier m = { factor, 0 };
    uint64_t   rest = factor;
    for (unsigned i = 0; i < 64; i++) {
        rest <<= 1;
        m.quotient = m.quotient << 1 | (rest >= n);
        if (rest >= n) rest -= n;
    }
    return m;
}

/* P_i for the numbers below n, 1 <= n <= PERMUTE_MAX. Its factor is the first number from a random
 * one on that is prime to n. None is the identity: fingerprints that arrive sorted (receive.c)
 * would fill the buckets of that subtable one after the other, and the other subtables unevenly. */
static __attribute__((unused)) permutation permutation_make(uint64_t n, unsigned i) {
    uint64_t factor = fastrange(mix64((i + 1) * HASH_GOLDEN), n);
    while (permute_gcd(factor, n) != 1) factor = (factor + 1) % n;
    return (permutation){ multiplier_make(factor, n),
                          multiplier_make(permute_inverse(factor, n), n) };
}

#endif
