/* base.h - the few compiler-specific words that everything else is written in. */
#ifndef TAMIS_CORE_BASE_H
#define TAMIS_CORE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions of core/ are compiled once per instruction set, inside the kind that uses them. They
 * must be inlined or private: one shared copy built with AVX2 would crash an older machine. */
#define TAMIS_INLINE static inline __attribute__((always_inline, unused))

/* For what our own code got wrong, never for what came from outside. */
#define TAMIS_ASSERT(condition) assert(condition)

#define TAMIS_LINE_BYTES 64

/* In the body of a loop that runs once or twice: keeps the compiler from making vectors of it, with
 * a dozen instructions before the first step. */
#define TAMIS_SHORT_LOOP __asm__ volatile("" : : : "memory")

/* On aarch64: the compiler must not know how this number or address was made. Where it does, GCC 12
 * replaces a short form by a longer one; the comments at its uses say which. */
#if defined(__aarch64__)
#define TAMIS_OPAQUE(x) __asm__("" : "+r"(x))
#else
#define TAMIS_OPAQUE(x) (void)(x)
#endif

TAMIS_INLINE void prefetch_to_read(const void *address) {
    __builtin_prefetch(address, 0, 3);
}

TAMIS_INLINE void prefetch_to_write(const void *address) {
    __builtin_prefetch(address, 1, 3);
}

/* The same, and no other core keeps a copy: for what many threads write. Processors that do not
 * know the instruction do nothing. */
TAMIS_INLINE void prefetch_to_own(const void *address) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

TAMIS_INLINE uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

TAMIS_INLINE uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* a - b, but not below 0. */
TAMIS_INLINE uint64_t sub_or_0(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

#endif
