/* memory.h - where handles and bodies live.
 *
 * A body is aligned to a cache line. From 64 KiB on it gets pages of its own, which the system
 * zeroes when they are touched. A large one is aligned to 2 MiB, and the kernel is asked to make
 * its pages huge: one translation then covers 512 times as much, and random access waits less for
 * translations. The caller's allocator, if there is one, gets every request.
 */
#ifndef TAMIS_CORE_MEMORY_H
#define TAMIS_CORE_MEMORY_H

#include "core/base.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <tamis/tamis.h>

#define MEMORY_HUGE_PAGE ((size_t)2 << 20)
#define MEMORY_PAGE ((size_t)65536)             /* a multiple of the page of any machine */
#define MEMORY_HUGE_FROM (2 * MEMORY_HUGE_PAGE) /* smaller bodies fit the ordinary caches anyway */

TAMIS_INLINE bool memory_is_huge(const tamis_allocator *allocator, size_t bytes) {
    return allocator->alloc == NULL && bytes >= MEMORY_HUGE_FROM;
}

TAMIS_INLINE bool memory_is_mapped(const tamis_allocator *allocator, size_t bytes) {
    return allocator->alloc == NULL && bytes >= MEMORY_PAGE;
}

TAMIS_INLINE size_t memory_whole_pages(size_t bytes) {
    return (bytes + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
}

/* Zero, aligned to huge pages, so that all but the last part can be on them: map one page too many
 * and give back both ends. */
TAMIS_INLINE void *memory_map_huge(size_t bytes) {
    if (bytes > SIZE_MAX - 2 * MEMORY_HUGE_PAGE) return NULL; /* no rounding below may wrap */
    size_t const   wanted = memory_whole_pages(bytes);
    uint8_t *const raw = mmap(NULL, wanted + MEMORY_HUGE_PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)raw == MAP_FAILED) return NULL;
    size_t const head = (MEMORY_HUGE_PAGE - (uintptr_t)raw % MEMORY_HUGE_PAGE) % MEMORY_HUGE_PAGE;
    size_t const tail = MEMORY_HUGE_PAGE - head;
    if (head != 0) munmap(raw, head);
    if (tail != 0) munmap(raw + head + wanted, tail);
    (void)madvise(raw + head, wanted, MADV_HUGEPAGE); /* if refused, it is only slower */
    return raw + head;
}

/* The same for a body that will not be on huge pages. */
TAMIS_INLINE void *memory_map_small(size_t bytes) {
    void *const memory = mmap(NULL, memory_whole_pages(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* ------------------------------------------------------------------ tables that grow */

/* A table that grows is filled and emptied a few kilobytes at a time, and no call should wait until
 * two megabytes are zeroed. So it starts on ordinary pages, which the system zeroes one by one when
 * they are first used, and asks for huge pages when it is full. */

TAMIS_INLINE void memory_avoid_huge_pages(const tamis_allocator *allocator, void *memory,
                                          size_t bytes) {
    if (memory != NULL && memory_is_huge(allocator, bytes))
        (void)madvise(memory, memory_whole_pages(bytes), MADV_NOHUGEPAGE);
}

TAMIS_INLINE void memory_use_huge_pages(const tamis_allocator *allocator, void *memory,
                                        size_t bytes) {
    if (memory_is_huge(allocator, bytes))
        (void)madvise(memory, memory_whole_pages(bytes), MADV_HUGEPAGE);
}

/* Give n bytes back that begin at byte `from`, both multiples of MEMORY_PAGE, if the memory came
 * from the system in pages. They read as zero from then on. */
TAMIS_INLINE void memory_give_part(const tamis_allocator *allocator, uint8_t *memory, size_t bytes,
                                   size_t from, size_t n) {
    if (memory_is_mapped(allocator, bytes)) (void)madvise(memory + from, n, MADV_DONTNEED);
}

/* ------------------------------------------------------------------ all memory */

/* Zeroed memory, or NULL. `flags` are TAMIS_ALLOCATOR_...: what is zero already is not touched. */
TAMIS_INLINE void *memory_get_flagged(const tamis_allocator *allocator, size_t bytes,
                                      unsigned flags) {
    TAMIS_ASSERT(bytes != 0);
    if (memory_is_huge(allocator, bytes)) return memory_map_huge(bytes);
    if (memory_is_mapped(allocator, bytes)) return memory_map_small(bytes);
    if (bytes > SIZE_MAX - TAMIS_LINE_BYTES) return NULL;
    size_t const lines = (bytes + TAMIS_LINE_BYTES - 1) & ~(size_t)(TAMIS_LINE_BYTES - 1);
    void *const  memory = allocator->alloc
                              ? allocator->alloc(allocator->context, bytes, TAMIS_LINE_BYTES)
                              : aligned_alloc(TAMIS_LINE_BYTES, lines);
    bool const   is_zero = allocator->alloc != NULL && (flags & TAMIS_ALLOCATOR_ZEROED) != 0;
    if (memory != NULL && !is_zero) memset(memory, 0, bytes);
    return memory;
}

TAMIS_INLINE void *memory_get(const tamis_allocator *allocator, size_t bytes) {
    return memory_get_flagged(allocator, bytes, 0);
}

TAMIS_INLINE void memory_give(const tamis_allocator *allocator, void *memory, size_t bytes) {
    if (memory == NULL) return;
    if (memory_is_mapped(allocator, bytes)) {
        munmap(memory, memory_whole_pages(bytes));
    } else if (allocator->free != NULL) {
        allocator->free(allocator->context, memory, bytes);
    } else {
        free(memory);
    }
}

#endif
