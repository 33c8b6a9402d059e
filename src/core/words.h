/* words.h - copies of memory that other threads may be writing.
 *
 * Whole words of 64 bits, each loaded at once. A copy as a whole may still be torn: half
 * of it old and half new. core/stripes.h tells such copies from whole ones.
 */
#ifndef TAMIS_CORE_WORDS_H
#define TAMIS_CORE_WORDS_H

#include "core/stripes.h"

#define WORD_BYTES 8
#define LINE_WORDS (TAMIS_LINE_BYTES / WORD_BYTES)

/* With ThreadSanitizer it is a function of its own: inlined, it would be checked as a part of its
 * caller. */
#if defined(__SANITIZE_THREAD__)
#define WORDS_READER static __attribute__((noinline, unused)) STRIPE_READER
#else
#define WORDS_READER TAMIS_INLINE
#endif

/* Read n words that others may be writing. */
WORDS_READER void words_read(void *to, const void *from, uint64_t n) {
    uint64_t *const       copy = to;
    const uint64_t *const words = from;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < n; i++) copy[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

#endif
