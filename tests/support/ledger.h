/* ledger.h - an allocator that records all allocations, and fails on request.
 *
 * It fills new memory with nonzero bytes, so that no code can rely on zeros. Only the public API is
 * needed.
 */
#ifndef TAMIS_TESTS_LEDGER_H
#define TAMIS_TESTS_LEDGER_H

#include "unit.h"

#include <tamis/tamis.h>

#define LEDGER_LIMIT ((size_t)1 << 28) /* no test needs more in one request */

typedef struct ledger {
    size_t fail_at;           /* the request that fails, counted from 1; 0: none */
    bool   is_empty;          /* every request fails */
    bool   has_failed;        /* the request `fail_at` was made */
    size_t blocks, bytes;     /* handed out now */
    size_t peak;              /* the most bytes wanted at a time, refused ones included */
    size_t requests, returns; /* in all */
    struct {
        void  *memory;
        size_t bytes, alignment;
    } last, returned; /* the last request, and the last block that came back */
} ledger;

static inline void *ledger_alloc(void *context, size_t bytes, size_t alignment) {
    ledger *const book = context;
    assert_true(alignment <= (size_t)2 << 20 && (alignment & (alignment - 1)) == 0);
    book->requests++;
    book->last.memory = NULL;
    book->last.bytes = bytes;
    book->last.alignment = alignment;
    if (book->bytes + bytes > book->peak) book->peak = book->bytes + bytes;
    if (book->requests == book->fail_at) book->has_failed = true;
    if (book->is_empty || book->requests == book->fail_at || bytes > LEDGER_LIMIT) return NULL;
    book->last.memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    assert_non_null(book->last.memory);
    memset(book->last.memory, 0xee, bytes);
    book->blocks++;
    book->bytes += bytes;
    return book->last.memory;
}

static inline void ledger_free(void *context, void *memory, size_t bytes) {
    ledger *const book = context;
    assert_true(book->blocks > 0 && book->bytes >= bytes);
    book->returns++;
    book->returned.memory = memory;
    book->returned.bytes = bytes;
    book->blocks--;
    book->bytes -= bytes;
    free(memory);
}

static inline tamis_allocator ledger_allocator(ledger *book) {
    return (tamis_allocator){ ledger_alloc, ledger_free, book };
}

#endif
