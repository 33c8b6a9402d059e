/* starve.c - see starve.h. */
#include "starve.h"

#include <errno.h>
#include <pthread.h>

static struct {
    size_t left; /* requests until one fails; 0: none does */
    bool   is_for_good, has_struck;
    size_t requests;
    size_t mapped; /* bytes */
    void  *blocks[4096];
    size_t n_blocks;
} book;

void starve(size_t n, bool is_for_good) {
    book.left = n;
    book.is_for_good = is_for_good;
    book.has_struck = false;
}

bool starve_end(void) {
    book.left = 0;
    return book.has_struck;
}

size_t starve_outstanding(void) {
    return book.mapped + book.n_blocks;
}

size_t starve_requests(void) {
    return book.requests;
}

/* Is it this request's turn to fail? */
static bool fails(void) {
    book.requests++;
    if (book.left == 0) return false;
    if (book.left > 1) {
        book.left--;
        return false;
    }
    book.has_struck = true;
    if (!book.is_for_good) book.left = 0;
    errno = ENOMEM;
    return true;
}

static void *note_block(void *block) {
    assert_true(book.n_blocks < COUNT(book.blocks));
    if (block != NULL) book.blocks[book.n_blocks++] = block;
    return block;
}

#define WRAP(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

WRAP(void *, aligned_alloc, (size_t alignment, size_t n)) {
    void *const block = fails() ? NULL : note_block(__real_aligned_alloc(alignment, n));
    if (block != NULL) memset(block, 0xee, n); /* nobody may rely on zeros */
    return block;
}

/* Blocks that the test itself allocated come here, too, and are not counted. */
WRAP(void, free, (void *block)) {
    for (size_t i = 0; block != NULL && i < book.n_blocks; i++) {
        if (book.blocks[i] != block) continue;
        book.blocks[i] = book.blocks[--book.n_blocks];
        break;
    }
    __real_free(block);
}

WRAP(char *, strdup, (const char *text)) {
    return fails() ? NULL : note_block(__real_strdup(text));
}

WRAP(char *, realpath, (const char *path, char *buffer)) {
    return fails() ? NULL : note_block(__real_realpath(path, buffer));
}

WRAP(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *how)) {
    return fails() ? ENOMEM : __real_pthread_mutex_init(mutex, how);
}

WRAP(void *, mmap64, (void *at, size_t n, int protection, int flags, int file, off_t offset)) {
    if (fails()) return MAP_FAILED;
    void *const memory = __real_mmap64(at, n, protection, flags, file, offset);
    if (memory != MAP_FAILED) book.mapped += n;
    return memory;
}

WRAP(int, munmap, (void *memory, size_t n)) {
    assert_true(n <= book.mapped);
    book.mapped -= n;
    return __real_munmap(memory, n);
}

/* ------------------------------------------------------------------ the caller's */

static void *own_alloc(void *context, size_t bytes, size_t alignment) {
    (void)context;
    return __wrap_aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void own_free(void *context, void *memory, size_t bytes) {
    (void)context;
    (void)bytes;
    __wrap_free(memory);
}

tamis_allocator starve_allocator(void) {
    return (tamis_allocator){ own_alloc, own_free, NULL };
}
