/* stripes.h - locks that readers do not take: each has a version, and who reads looks at it twice.
 *
 *     bit  0        1          2                                  63
 *          +--------+----------+----------------------------------+
 *          | locked | changing | version                          |      the word of a stripe
 *          +--------+----------+----------------------------------+
 *
 * A writer locks the stripe and works on a copy. While it puts the copy back, the stripe is
 * changing; then it has another version, and is free. A reader notes the word, copies what it needs
 * and looks again: if the version is the same, and the stripe was not changing, the copy is whole.
 * A lock alone does not stop readers, so a stripe may be locked for long (while a set is saved).
 *
 * Why this is right without fences: data is stored with release and loaded with acquire
 * (core/words.h). A reader whose copy has one word of a writer sees in its second look all that the
 * writer had done before that word: at least "changing".
 */
#ifndef TAMIS_CORE_STRIPES_H
#define TAMIS_CORE_STRIPES_H

#include "core/base.h"

#include <sched.h>
#include <time.h>

#define STRIPE_LOCKED UINT64_C(1)
#define STRIPE_CHANGING UINT64_C(2)
#define STRIPE_VERSION UINT64_C(4) /* one version more */

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

TAMIS_INLINE bool stripe_try_lock(uint64_t *word) {
    uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    return (now & STRIPE_LOCKED) == 0 &&
           __atomic_compare_exchange_n(word, &now, now | STRIPE_LOCKED, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

TAMIS_INLINE void stripe_lock(uint64_t *word) {
    unsigned turns = 0;
    while (__builtin_expect(!stripe_try_lock(word), 0)) stripe_wait(&turns);
}

/* From here on readers wait. */
TAMIS_INLINE void stripe_begin_change(uint64_t *word) {
    uint64_t const now = __atomic_load_n(word, __ATOMIC_RELAXED);
    __atomic_store_n(word, now | STRIPE_CHANGING, __ATOMIC_RELAXED);
}

TAMIS_INLINE void stripe_unlock(uint64_t *word) {
    uint64_t const now = __atomic_load_n(word, __ATOMIC_RELAXED);
    uint64_t const more = (now & STRIPE_CHANGING) != 0 ? STRIPE_VERSION : 0;
    __atomic_store_n(word, (now & ~(STRIPE_LOCKED | STRIPE_CHANGING)) + more, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ readers */

/* The word to compare with later. It may be changing: then the copy will not be whole. */
TAMIS_INLINE uint64_t stripe_version(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Is all that was read since then whole? It may have been locked or unlocked meanwhile. */
TAMIS_INLINE bool stripe_is_same(const uint64_t *word, uint64_t version) {
    uint64_t const now = __atomic_load_n(word, __ATOMIC_RELAXED);
    return (((now ^ version) | (version & STRIPE_CHANGING)) & ~STRIPE_LOCKED) == 0;
}

#endif
