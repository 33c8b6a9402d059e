/* memory.h - the memory of one key, from the server's allocator, counted and limited.
 *
 * Every byte of a value comes from here, so MEMORY USAGE is exact, maxmemory sees all of it, and no
 * size that a client gives can make the server abort: an allocation beyond the limit, or one that
 * the system refuses, is an ordinary failure.
 */
#ifndef TAMIS_REDIS_MEMORY_H
#define TAMIS_REDIS_MEMORY_H

#include "abi.h"

#include <stdatomic.h>
#include <tamis/tamis.h>

/* It has an address of its own, which never changes, since sets keep it in their allocator. */
typedef struct memory_account {
    _Atomic uint64_t used;  /* a thread may make a copy of a set, from the same account */
    uint64_t         limit; /* 0: none */
} memory_account;

/* NULL: no memory. */
memory_account *account_open(void);

/* When everything that came from it is free. */
void account_close(memory_account *account);

/* What it gives is zero: pages are cleared by the system when they are touched, so a large body
 * costs no time at once. */
tamis_allocator account_allocator(memory_account *account);
#define ACCOUNT_FLAGS TAMIS_ALLOCATOR_ZEROED

/* Bytes that grow, for values on their way in. */
typedef struct byte_buffer {
    char  *bytes;
    size_t n, room;
} byte_buffer;

/* Room for n more bytes. False: no memory, and the buffer is as it was. */
bool buffer_reserve(byte_buffer *buffer, size_t n);
bool buffer_append(byte_buffer *buffer, const void *bytes, size_t n);
void buffer_free(byte_buffer *buffer);

/* A tamis_writer whose context is a buffer. */
bool buffer_write(void *context, const void *bytes, size_t n);

#endif
