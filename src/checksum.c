/* checksum.c - see checksum.h. */
#include "checksum.h"

#include "core/base.h"
#include "core/le.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(sizeof(XXH3_state_t) <= CHECKSUM_STATE_BYTES, "a state has room");
static_assert(alignof(XXH3_state_t) <= alignof(checksum_total), "and is aligned");

uint64_t tamis_checksum(const void *bytes, size_t n) {
    return XXH3_64bits(bytes, n);
}

/* XXH3 fails only without a state or without bytes. */

void tamis_checksum_begin(checksum_total *total) {
    (void)XXH3_128bits_reset((XXH3_state_t *)(void *)total->state);
}

void tamis_checksum_add(checksum_total *total, const void *bytes, size_t n) {
    (void)XXH3_128bits_update((XXH3_state_t *)(void *)total->state, bytes, n);
}

void tamis_checksum_end(const checksum_total *total, uint8_t *ret_bytes) {
    XXH128_hash_t const sum = XXH3_128bits_digest((const XXH3_state_t *)(const void *)total->state);
    le64_store(ret_bytes, sum.low64);
    le64_store(ret_bytes + 8, sum.high64);
}
