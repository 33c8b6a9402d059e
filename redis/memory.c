/* memory.c - accounts and buffers. */
#include "memory.h"

#include "settings.h"

#include <string.h>
#include <sys/mman.h>

memory_account *account_open(void) {
    memory_account *const one = redis_TryAlloc(sizeof *one);
    if (one == NULL) return NULL;
    *one = (memory_account){ .used = redis_MallocSize(one),
                             .limit = (uint64_t)settings.max_key_bytes };
    return one;
}

void account_close(memory_account *account) {
    redis_Free(account);
}

#define PAGE_BYTES ((uintptr_t)65536) /* a multiple of the page of any machine */

/* Zero bytes. Whole pages are given back to the system, which has zero pages for them when they are
 * touched; the server's allocator gets its memory from private anonymous mappings, where that is
 * allowed, and does the same itself. */
static void clear(char *memory, size_t bytes) {
    uintptr_t const begin = (uintptr_t)memory, end = begin + bytes;
    uintptr_t const first = (begin + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    uintptr_t const last = end & ~(PAGE_BYTES - 1);
    if (last < first + 4 * PAGE_BYTES ||
        madvise(memory + (first - begin), last - first, MADV_DONTNEED) != 0) {
        memset(memory, 0, bytes);
        return;
    }
    memset(memory, 0, first - begin);
    memset(memory + (last - begin), 0, end - last);
}

/* The server's allocator aligns to a word at least, and takes no alignment. What it gave is noted
 * in the word before the memory: both together take no more than `alignment` bytes, so that a body
 * of whole cache lines stays a number of whole lines, as the allocator's sizes are. */
static void *account_alloc(void *context, size_t bytes, size_t alignment) {
    memory_account *const one = context;
    if (one->limit != 0 && (bytes > one->limit || one->used > one->limit - bytes)) return NULL;
    char *raw;
    if (alignment < sizeof raw) alignment = sizeof raw;
    if (bytes > SIZE_MAX - alignment) return NULL;
    raw = redis_TryAlloc(bytes + alignment);
    if (raw == NULL) return NULL;
    uintptr_t const first = (uintptr_t)raw + sizeof raw;
    uintptr_t const aligned = (first + alignment - 1) & ~(uintptr_t)(alignment - 1);
    char *const     memory = raw + (aligned - (uintptr_t)raw);
    memcpy(memory - sizeof raw, &raw, sizeof raw);
    clear(memory, bytes);
    one->used += redis_MallocSize(raw);
    return memory;
}

static void account_free(void *context, void *memory, size_t bytes) {
    memory_account *const one = context;
    char                 *raw;
    (void)bytes;
    memcpy(&raw, (char *)memory - sizeof raw, sizeof raw);
    one->used -= redis_MallocSize(raw);
    redis_Free(raw);
}

tamis_allocator account_allocator(memory_account *account) {
    return (tamis_allocator){ account_alloc, account_free, account };
}

/* Room doubles, so a long series of pieces is copied once or twice in all. It is never more than
 * twice what has really arrived. */
bool buffer_reserve(byte_buffer *buffer, size_t n) {
    if (n <= buffer->room - buffer->n) return true;
    if (n > SIZE_MAX / 2 - buffer->n) return false;
    size_t const wanted = buffer->n + n;
    size_t const room = wanted < 2 * buffer->room ? 2 * buffer->room : wanted;
    char *const  bytes = redis_TryAlloc(room);
    if (bytes == NULL) return false;
    if (buffer->n != 0) memcpy(bytes, buffer->bytes, buffer->n);
    if (buffer->bytes != NULL) redis_Free(buffer->bytes);
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
}

bool buffer_append(byte_buffer *buffer, const void *bytes, size_t n) {
    if (!buffer_reserve(buffer, n)) return false;
    if (n != 0) memcpy(buffer->bytes + buffer->n, bytes, n);
    buffer->n += n;
    return true;
}

void buffer_free(byte_buffer *buffer) {
    if (buffer->bytes != NULL) redis_Free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->n = buffer->room = 0;
}

bool buffer_write(void *context, const void *bytes, size_t n) {
    return buffer_append(context, bytes, n);
}
