/* checksum.h - the checksums of files and streams: XXH3, without a seed or a secret, in 64 bits for
 * a header or a block and in 128 bits for all of a file (docs/format.md).
 *
 * Only checksum.c includes xxHash for this: its loops are inlined, and were compiled again in every
 * file that writes or reads a checksum. A call for a block of 64 KiB costs nothing.
 */
#ifndef TAMIS_CHECKSUM_H
#define TAMIS_CHECKSUM_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_STATE_BYTES 576 /* of an XXH3_state_t, which wants to stand in whole lines */

/* The total of bytes that come piece by piece. */
typedef struct checksum_total {
    alignas(64) uint64_t state[CHECKSUM_STATE_BYTES / 8]; /* words: tcc ignores alignas */
} checksum_total;

uint64_t tamis_checksum(const void *bytes, size_t n);

void tamis_checksum_begin(checksum_total *total);
void tamis_checksum_add(checksum_total *total, const void *bytes, size_t n);
/* 16 bytes: the low half and the high half, little-endian. */
void tamis_checksum_end(const checksum_total *total, uint8_t *ret_bytes);

#endif
