/* siphash.h - SipHash-2-4 of eight bytes, for sets whose ids are hashed by it.
 *
 * Paper: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012. The library
 * takes it from libsodium, which a kernel cannot call.
 */
#ifndef TAMIS_GPU_SIPHASH_H
#define TAMIS_GPU_SIPHASH_H

#include "core/base.h"

TAMIS_INLINE uint64_t sip_rotate(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

TAMIS_INLINE void sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = sip_rotate(v[1], 13) ^ v[0];
    v[3] = sip_rotate(v[3], 16) ^ v[2];
    v[0] = sip_rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = sip_rotate(v[1], 17) ^ v[2];
    v[3] = sip_rotate(v[3], 21) ^ v[0];
    v[2] = sip_rotate(v[2], 32);
}

/* The input is two words: the id, and a last one with the length, 8, in its top byte. */
TAMIS_INLINE uint64_t siphash_id(uint64_t key_low, uint64_t key_high, uint64_t id) {
    uint64_t const word[2] = { id, UINT64_C(8) << 56 };
    uint64_t       v[4] = { key_low ^ UINT64_C(0x736f6d6570736575),
                            key_high ^ UINT64_C(0x646f72616e646f6d),
                            key_low ^ UINT64_C(0x6c7967656e657261),
                            key_high ^ UINT64_C(0x7465646279746573) };
#pragma GCC unroll 2
    for (unsigned i = 0; i < 2; i++) {
        v[3] ^= word[i];
        sip_round(v);
        sip_round(v);
        v[0] ^= word[i];
    }
    v[2] ^= 0xff;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
