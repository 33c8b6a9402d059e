/* buffer.h - bytes that grow: the other end of tamis_write() and tamis_send(). Only the public API
 * is needed. */
#ifndef TAMIS_TESTS_BUFFER_H
#define TAMIS_TESTS_BUFFER_H

#include "unit.h"

#include <tamis/tamis.h>

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

/* ------------------------------------------------------------------ files and streams */

/* The file of a set or of a table of states, and the stream of a set. */
static inline buffer buffer_of(const tamis_set *set) {
    buffer file = { NULL, 0 };
    assert_int_equal(tamis_write(set, buffer_write, &file), TAMIS_OK);
    return file;
}

static inline buffer buffer_of_states(const tamis_states *states) {
    buffer file = { NULL, 0 };
    assert_int_equal(tamis_states_write(states, buffer_write, &file), TAMIS_OK);
    return file;
}

static inline buffer buffer_sent(const tamis_set *set, unsigned flags) {
    buffer stream = { NULL, 0 };
    assert_int_equal(tamis_send(set, flags, buffer_write, &stream), TAMIS_OK);
    return stream;
}

/* The set that arrives, which must be valid. */
static inline tamis_set *buffer_receive(const buffer *stream, const tamis_spec *spec) {
    tamis_problem      problem = { 0 };
    tamis_set         *set = NULL;
    const char        *why = NULL;
    tamis_status const status = tamis_receive(stream->bytes, stream->n, spec, &set, &problem);
    if (status != TAMIS_OK) fail_msg("%d: %s", status, problem.text);
    if (!tamis_validate(set, &why)) fail_msg("%s", why);
    return set;
}

static inline void buffer_expect_equal(const buffer *a, const buffer *b) {
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->bytes, b->bytes, a->n);
}

#endif
