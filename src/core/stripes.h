/* stripes.h - locks with a version. Readers take no lock, but check the version before and after.
 *
 *     bit  0        1          2                                  63
 *          +--------+----------+----------------------------------+
 *          | locked | changing | version                          |      the word of a stripe
 *          +--------+----------+----------------------------------+
 *
 * A change of a stripe with version 4, as numbers in that word:
 *
 *     16   free, version 4
 *     17   locked; what readers read is still valid
 *     19   locked and changing: readers discard what they read
 *     20   free, version 5
 *
 * A writer locks the stripe. Before it writes, it sets "changing"; at the end it unlocks the stripe
 * with a new version. A reader loads the word, reads the data, and loads the word again: if the
 * version is the same, and the stripe was not changing, the data is consistent. The lock alone does
 * not stop readers, so a stripe may be locked for long (while a set is copied).
 *
 * Why this is right: "changing" is stored before any word of data, and the reader's second load
 * comes after all its loads of data; stripe_fence() keeps both orders. So a reader that has read
 * one word of a writer sees at least that the stripe was changing. In terms of the C standard this
 * is a data race all the same, since data is read while it may be changing. In practice a compiler
 * may only load a word in parts or twice, which does no harm: such data is discarded.
 * ThreadSanitizer does not see this order, so functions that read like this are marked
 * STRIPE_READER, and it ignores them. It checks all others.
 */
#ifndef TAMIS_CORE_STRIPES_H
#define TAMIS_CORE_STRIPES_H

#include "core/base.h"

#include <sched.h>
#include <time.h>

#define STRIPE_LOCKED UINT64_C(1)
#define STRIPE_CHANGING UINT64_C(2)
#define STRIPE_VERSION UINT64_C(4) /* one version more */

#define STRIPE_READER __attribute__((no_sanitize("thread")))

/* Loads before it come before loads after it, and stores before stores. x86 does so by itself. */
TAMIS_INLINE void stripe_fence(void) {
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

/* ------------------------------------------------------------------ waiting */

TAMIS_INLINE void stripe_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Wait a little, longer each time: most locks are held for a tenth of a microsecond, but their
 * holder may have lost its core, or be saving the set. */
static __attribute__((noinline, unused)) void stripe_wait(unsigned *turns) {
    enum { PAUSES = 100, YIELDS = 200, SLEEP_NS = 50000 };
    if (*turns < PAUSES) {
        stripe_pause();
    } else if (*turns < YIELDS) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
        return;
    }
    ++*turns;
}

/* ------------------------------------------------------------------ writers */

/* *ret_before: what the word was. */
TAMIS_INLINE bool stripe_lock_from(uint64_t *word, uint64_t *ret_before) {
    *ret_before = __atomic_load_n(word, __ATOMIC_RELAXED);
    return (*ret_before & STRIPE_LOCKED) == 0 &&
           __atomic_compare_exchange_n(word, ret_before, *ret_before | STRIPE_LOCKED, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

TAMIS_INLINE bool stripe_try_lock(uint64_t *word) {
    uint64_t before;
    return stripe_lock_from(word, &before);
}

TAMIS_INLINE void stripe_lock(uint64_t *word) {
    unsigned turns = 0;
    while (__builtin_expect(!stripe_try_lock(word), 0)) stripe_wait(&turns);
}

/* From here on, up to the unlocking, readers discard what they read and try again. */
TAMIS_INLINE void stripe_begin_change(uint64_t *word) {
    uint64_t const now = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, now | STRIPE_CHANGING, __ATOMIC_RELAXED);
    stripe_fence();
}

TAMIS_INLINE void stripe_unlock(uint64_t *word) {
    uint64_t const now = __atomic_load_n(word, __ATOMIC_RELAXED);
    uint64_t const more = (now & STRIPE_CHANGING) != 0 ? STRIPE_VERSION : 0;
    __atomic_store_n(word, (now & ~(STRIPE_LOCKED | STRIPE_CHANGING)) + more, __ATOMIC_RELEASE);
}

/* The same for a holder that knows what the word was before its lock: nothing is loaded again. */
TAMIS_INLINE void stripe_begin_change_from(uint64_t *word, uint64_t before) {
    __atomic_store_n(word, before | STRIPE_LOCKED | STRIPE_CHANGING, __ATOMIC_RELAXED);
    stripe_fence();
}

TAMIS_INLINE void stripe_end_change_from(uint64_t *word, uint64_t before) {
    __atomic_store_n(word, before + STRIPE_VERSION, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ readers */

/* The word to compare with later. If the stripe is changing, this returns a word that the stripe
 * will never have again, so the data that is read will be discarded. */
TAMIS_INLINE uint64_t stripe_version(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) & ~STRIPE_CHANGING;
}

/* Is all that was read since then whole? It may have been locked or unlocked meanwhile: then the
 * words differ in the lowest bit. */
TAMIS_INLINE bool stripe_is_same(const uint64_t *word, uint64_t version) {
    stripe_fence();
    return (__atomic_load_n(word, __ATOMIC_RELAXED) ^ version) <= STRIPE_LOCKED;
}

#endif
