/* hash.h - what is done with a 64-bit hash once there is one.
 *
 * mix64        a bijection that scatters: sequential numbers in, noise out
 * hash_id      the hash of a 64-bit id: mix64 with two numbers of the set
 * remix        the i-th of as many independent 64-bit values as a kind wants from one hash
 * fastrange    a hash into [0, n) for any n, by the high half of a product
 * fastrange_inverse  and back: a hash that falls there
 *
 * Why remixes and not double hashing (h1 + i x h2): the k positions of double hashing are a line
 * through the table, and two lines meet more often than two random k-sets do. It costs a few per
 * cent of fpr in a Bloom filter and 23% in the variable-increment kinds.
 */
#ifndef TAMIS_CORE_HASH_H
#define TAMIS_CORE_HASH_H

#include "core/base.h"

#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio, odd */
#define HASH_MASK UINT64_C(0xd1342543de82ef95)   /* any number with bits well spread */

/* The output function of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", OOPSLA 2014), with the constants of Stafford's variant 13. */
TAMIS_INLINE uint64_t mix64(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* What the ids of a set are mixed with. Both come from its seed (keyhash.h). */
typedef struct id_mixer {
    uint64_t mask, more;
} id_mixer;

TAMIS_INLINE uint64_t hash_id(const id_mixer *with, uint64_t id) {
    return mix64(id ^ with->mask) ^ with->more;
}

/* The same for n ids: four at a time, where the compiler may use AVX2. On aarch64, which multiplies
 * no 64-bit numbers in vectors, four share a loop and have loads and stores of two words: 9
 * instructions for an id instead of 12. */
TAMIS_INLINE void hash_ids(const id_mixer *with, const uint64_t *restrict ids, unsigned n,
                           uint64_t *restrict ret_hash) {
    id_mixer const mixer = *with;
#ifdef __aarch64__
    for (; n >= 4; n -= 4, ids += 4, ret_hash += 4) {
        uint64_t const a = hash_id(&mixer, ids[0]), b = hash_id(&mixer, ids[1]);
        uint64_t const c = hash_id(&mixer, ids[2]), d = hash_id(&mixer, ids[3]);
        ret_hash[0] = a;
        ret_hash[1] = b;
        ret_hash[2] = c;
        ret_hash[3] = d;
    }
#endif
    for (unsigned i = 0; i < n; i++) ret_hash[i] = hash_id(&mixer, ids[i]);
}

/* The 128-bit product of two 64-bit numbers, in two halves. */
TAMIS_INLINE uint64_t mul_wide(uint64_t a, uint64_t b, uint64_t *ret_low) {
#if defined(__x86_64__) && defined(__BMI2__) && defined(__GNUC__)
    /* What the next branch should become. But GCC 12 keeps a product of 128 bits in a pair of
     * neighbouring registers; of those that a function need not save there is one such pair, so
     * two products in a row cost a stack frame. */
    uint64_t high;
    __asm__("mulx %3, %0, %1" : "=r"(*ret_low), "=r"(high) : "d"(a), "rm"(b));
    return high;
#elif defined(__SIZEOF_INT128__)
    /* Two instructions of aarch64 are the product. For a constant, GCC 12 writes shifts and
     * subtractions of two words instead, which are five. */
    TAMIS_OPAQUE(b);
    __extension__ unsigned __int128 const product = (unsigned __int128)a * b;
    *ret_low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t const a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t const low = a0 * b0, mid1 = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (uint32_t)mid1;
    *ret_low = (mid2 << 32) | (uint32_t)low;
    return a1 * b1 + (mid1 >> 32) + (mid2 >> 32);
#endif
}

/* Value i of a stream that begins at `hash`: a counter times itself under a mask, the two halves of
 * the product folded. It is the output function of the wyrand generator (Wang Yi, 2019), a full
 * generator at one multiplication; mix64, at two, made lookups in cache 20% slower. The hash must
 * be well mixed already, as all that come through the front door are. */
TAMIS_INLINE uint64_t remix(uint64_t hash, unsigned i) {
    uint64_t const counter = hash + (i + UINT64_C(1)) * HASH_GOLDEN;
    uint64_t       low;
    uint64_t const high = mul_wide(counter, counter ^ HASH_MASK, &low);
    return high ^ low;
}

/* Uniform in [0, n), n >= 1: the hash read as a fraction of 2^64, times n. */
TAMIS_INLINE uint64_t fastrange(uint64_t hash, uint64_t n) {
    uint64_t low;
    return mul_wide(hash, n, &low);
}

/* The same, and what is left of the hash for the next choice: the low half of the product is the
 * place inside the chosen interval, again a fraction of 2^64. So (bucket, chain, remainder) come
 * out of one hash as the digits of one number, for any three ranges:
 *     fastrange_next(&h, A) * B + fastrange_next(&h, B) == fastrange(h0, A * B)
 */
TAMIS_INLINE uint64_t fastrange_next(uint64_t *hash, uint64_t n) {
    uint64_t       low;
    uint64_t const chosen = mul_wide(*hash, n, &low);
    *hash = low;
    return chosen;
}

/* The smallest hash whose fastrange into n is `place`: place x 2^64 / n, rounded up. place < n. */
TAMIS_INLINE uint64_t fastrange_inverse(uint64_t place, uint64_t n) {
#if defined(__SIZEOF_INT128__)
    __extension__ unsigned __int128 const wide = (unsigned __int128)place << 64;
    return (uint64_t)((wide + n - 1) / n);
#else
    uint64_t quotient = 0, rest = place; /* long division, bit by bit */
    for (unsigned i = 0; i < 64; i++) {
        bool const carry = rest >> 63;
        rest <<= 1;
        quotient <<= 1;
        if (carry || rest >= n) {
            rest -= n;
            quotient |= 1;
        }
    }
    return quotient + (rest != 0);
#endif
}

#endif
