/* words.h - copies of memory that other threads may write or read at the same time.
 *
 * Whole words of 64 bits, each loaded or stored at once. A copy as a whole may still be torn: half
 * of it old and half new. core/stripes.h tells such copies from whole ones, and needs an order for
 * that, so loads acquire and stores release. On x86-64 both are ordinary moves.
 */
#ifndef TAMIS_CORE_WORDS_H
#define TAMIS_CORE_WORDS_H

#include "core/base.h"

#define WORD_BYTES 8
#define LINE_WORDS (TAMIS_LINE_BYTES / WORD_BYTES)

/* Read n words that others may be writing. */
TAMIS_INLINE void words_read(void *to, const void *from, uint64_t n) {
    uint64_t *const       copy = to;
    const uint64_t *const words = from;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < n; i++) copy[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
}

/* Write n words that others may be reading. */
TAMIS_INLINE void words_write(void *to, const void *from, uint64_t n) {
    uint64_t *const       words = to;
    const uint64_t *const copy = from;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < n; i++) __atomic_store_n(&words[i], copy[i], __ATOMIC_RELEASE);
}

TAMIS_INLINE void words_clear(void *to, uint64_t n) {
    uint64_t *const words = to;
    for (uint64_t i = 0; i < n; i++) __atomic_store_n(&words[i], 0, __ATOMIC_RELEASE);
}

#endif
