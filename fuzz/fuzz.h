/* fuzz.h - for all fuzz targets: a check that also works in release builds, and a buffer for
 * files. */
#ifndef TAMIS_FUZZ_H
#define TAMIS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void must(bool condition) {
    if (!condition) abort();
}

#define BUFFER_BYTES 65536

typedef struct buffer {
    uint8_t bytes[BUFFER_BYTES];
    size_t  n;
} buffer;

/* A tamis_writer that appends to a buffer. */
static inline bool take(void *context, const void *bytes, size_t n) {
    buffer *const to = context;
    must(n <= sizeof to->bytes - to->n);
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    return true;
}

#endif
