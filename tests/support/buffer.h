/* buffer.h - bytes that grow: the other end of tamis_write() and tamis_send(). */
#ifndef TAMIS_TESTS_BUFFER_H
#define TAMIS_TESTS_BUFFER_H

#include "unit.h"

typedef struct buffer {
    uint8_t *bytes; /* for free() */
    size_t   n;
} buffer;

/* A tamis_writer whose context is a buffer. */
static inline bool buffer_write(void *context, const void *bytes, size_t n) {
    buffer *const to = context;
    to->bytes = realloc(to->bytes, to->n + n + 1);
    assert_non_null(to->bytes);
    if (n != 0) memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
    return true;
}

/* The contents of a file. */
static inline buffer buffer_read(const char *path) {
    char        part[4096];
    buffer      all = { NULL, 0 };
    FILE *const file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot open %s", path);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) != 0;) (void)buffer_write(&all, part, n);
    assert_int_equal(fclose(file), 0);
    return all;
}

#endif
