/* source.h - the bytes of a capture file or pipe, in one large buffer.
 *
 * Records are parsed in place. Reading with read(2) into a buffer that stays in the cache was as
 * fast as mapping the file. It works for pipes as well, and is safe if the file gets shorter.
 */
#ifndef FLOWS_SOURCE_H
#define FLOWS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct source {
    int      descriptor;
    uint8_t *buffer;
    size_t   begin, end;  /* the bytes in the buffer that are not consumed yet */
    uint64_t total_bytes; /* of a file; 0: unknown */
    uint64_t read_bytes;
    int      error; /* errno of the read that failed, or 0 */

    /* of a compressed file */
    struct unpack *unpack; /* NULL: it is not */
    uint8_t       *packed; /* bytes of the file that are not decompressed yet, */
    size_t         packed_begin, packed_end;
} source;

/* False: errno says why. "-" is standard input. */
bool source_open(source *ret_source, const char *name);
void source_close(source *input);

static inline const uint8_t *source_at(const source *input) {
    return input->buffer + input->begin;
}

static inline size_t source_has(const source *input) {
    return input->end - input->begin;
}

static inline void source_consume(source *input, size_t n) {
    input->begin += n;
}

/* If the file is compressed, decompress it from now on. False: it is, and it cannot be read;
 * *ret_format and *reterr_why say what it is, and why. */
bool source_unpack(source *input, const char **ret_format, const char **reterr_why);

/* What `error` means. */
const char *source_error_text(const source *input);

/* Bytes of the file that were used. */
uint64_t source_used_bytes(const source *input);

/* Call read() once. Moves the bytes in the buffer to its beginning. False: end of file, or an error
 * (in `error`; EINTR if a signal interrupted). */
bool source_more(source *input);

/* Read until there are n bytes in the buffer. False: there are fewer. */
bool source_need(source *input, size_t n);

/* The remaining bytes as a stdio file, for libpcap. Closing it leaves the source open. NULL: no
 * memory. */
FILE *source_stdio(source *input);

#endif
