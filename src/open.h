/* open.h - what the two halves of the reader share: open_header.c and open.c. */
#ifndef TAMIS_OPEN_H
#define TAMIS_OPEN_H

#include "file.h"
#include "os.h"

/* A file, or bytes in memory (a mapped file is that, too). */
typedef struct source {
    const os_file *file; /* NULL: memory */
    const uint8_t *bytes;
    bool           is_mapped; /* the bytes stay, and the body is used where it is */
    bool           is_states; /* the caller wants states, not a set */
    uint64_t       n;
    const char    *name; /* for messages, short enough for them */
    tamis_problem *problem;
} source;

/* open.c: n bytes of the file, from `offset` on: TAMIS_OK, _TRUNCATED, _IO. */
tamis_status tamis_source_read(const source *from, uint64_t offset, void *ret_bytes, size_t n);

/* open.c: "NAME: what", and the byte of the file where it is. Returns `status`. */
tamis_status tamis_source_say(const source *from, tamis_status status, uint64_t offset,
                              const char *fault);

/* open_header.c: the header's bytes, if they are ours, can be read, and are whole. */
tamis_status tamis_header_read(const source *from, uint8_t *ret_header);

/* open_header.c: a handle without a body, from a header that passes all checks. */
tamis_status tamis_header_to_handle(const source *from, const uint8_t *header,
                                    const tamis_open_options *options, tamis_set **ret_set);

#endif
