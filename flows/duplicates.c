/* duplicates.c - see duplicates.h. */
#include "duplicates.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t make_signature(const packet *p, uint64_t seed) {
    size_t const n = p->transport_bytes < DUPLICATES_BYTES ? p->transport_bytes : DUPLICATES_BYTES;
    uint64_t const ends = XXH3_64bits_withSeed(&p->flow, sizeof p->flow, seed + p->is_from_high);
    return XXH3_64bits_withSeed(p->transport, n, ends ^ p->payload_bytes);
}

bool duplicates_see(duplicates *d, const packet *p, uint64_t seed, uint64_t time_ns,
                    uint64_t within_ns) {
    uint64_t const signature = make_signature(p, seed);
    size_t const   i = signature % DUPLICATES_PLACES;
    uint64_t const then = d->places[i].time_ns;
    uint64_t const apart = time_ns > then ? time_ns - then : then - time_ns;
    if (d->places[i].signature == signature && apart <= within_ns) return true;
    d->places[i].signature = signature;
    d->places[i].time_ns = time_ns;
    return false;
}
