/* source.h - the bytes of a capture file or pipe, in one large buffer.
 *
 * Records are looked at where they lie in the buffer. Reading with read(2) into a buffer that stays
 * in the cache was as fast as mapping the file, works for pipes as well, and cannot be surprised by
 * a file that gets shorter.
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
    size_t   begin, end;  /* of the bytes in the buffer that are not consumed yet */
    uint64_t total_bytes; /* of a file; 0: nobody knows */
    uint64_t read_bytes;
    int      error; /* errno of the read that failed, or 0 */
} source;

/* False: errno says why. "-" is standard input. */
bool source_open(source *ret_source, const char *name);
void source_close(source *from);

static inline const uint8_t *source_at(const source *from) {
    return from->buffer + from->begin;
}

static inline size_t source_has(const source *from) {
    return from->end - from->begin;
}

static inline void source_consume(source *from, size_t n) {
    from->begin += n;
}

/* Read more, once; moves what is in the buffer to its beginning. False: there is no more (or an
 * error, or a signal came: source.error is EINTR then). */
bool source_more(source *from);

/* Until there are n bytes in the buffer. */
bool source_need(source *from, size_t n);

/* The rest as a stdio file, for libpcap. Closing it leaves the source open. NULL: no memory. */
FILE *source_stdio(source *from);

#endif
