/* open.h - what open_header.c and open.c share. */
#ifndef TAMIS_OPEN_H
#define TAMIS_OPEN_H

#include "file.h"
#include "os.h"

/* The source of a set: a file, or bytes in memory (also used for a mapped file). */
typedef struct source {
    const os_file *file; /* NULL: memory */
    const uint8_t *bytes;
    bool           is_mapped; /* the bytes stay in memory, and the body is used in place */
    bool           is_states; /* the caller wants states, not a set */
    uint64_t       n;
    const char    *name; /* for messages, shortened */
    tamis_problem *problem;
} source;

/* open.c: read n bytes of the file from `offset` on: TAMIS_OK, _TRUNCATED, _IO. */
tamis_status tamis_source_read(const source *from, uint64_t offset, void *ret_bytes, size_t n);

/* open.c: write the problem "NAME: what (byte N)". Returns `status`. */
tamis_status tamis_source_say(const source *from, tamis_status status, uint64_t offset,
                              const char *fault);

/* open_header.c: read the header, and check that it is a complete tamis header that can be read. */
tamis_status tamis_header_read(const source *from, uint8_t *ret_header);

/* open_header.c: make a handle without a body from a header that passes all checks. */
tamis_status tamis_header_to_handle(const source *from, const uint8_t *header,
                                    const tamis_open_options *options, tamis_set **ret_set);

#endif
