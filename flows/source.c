/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unpack.h"

/* All sizes from 512 KiB on were equally fast. A record has at most 256 KiB. */
#define BUFFER_BYTES ((size_t)1 << 20)

static uint64_t regular_file_bytes(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return (uint64_t)status.st_size;
}

bool source_open(source *ret_source, const char *name) {
    bool const is_standard = strcmp(name, "-") == 0;
    int const  descriptor = is_standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    *ret_source =
        (source){ .descriptor = descriptor, .total_bytes = regular_file_bytes(descriptor) };
    ret_source->buffer = malloc(BUFFER_BYTES);
    if (ret_source->buffer != NULL) return true;
    source_close(ret_source);
    errno = ENOMEM;
    return false;
}

void source_close(source *input) {
    free(input->buffer);
    free(input->packed);
    unpack_free(input->unpack);
    if (input->descriptor > STDIN_FILENO) (void)close(input->descriptor);
    *input = (source){ .descriptor = -1 };
}

/* Call read() once. Returns how many bytes there were; 0: none, or an error. */
static size_t read_some(source *input, uint8_t *to, size_t room) {
    ssize_t const got = read(input->descriptor, to, room);
    input->error = got < 0 ? errno : 0;
    input->read_bytes += got > 0 ? (uint64_t)got : 0;
    return got > 0 ? (size_t)got : 0;
}

/* ------------------------------------------------------------------ compressed files */

/* Not values of errno. */
enum { ERROR_DAMAGED = -1, ERROR_CUT_OFF = -2 };

const char *source_error_text(const source *input) {
    switch (input->error) {
    case ERROR_DAMAGED: return "the compressed data are damaged, or need too much memory";
    case ERROR_CUT_OFF: return "the compressed data are cut off";
    default: return strerror(input->error);
    }
}

uint64_t source_used_bytes(const source *input) {
    return input->unpack != NULL ? input->read_bytes : input->read_bytes - source_has(input);
}

/* The bytes in the buffer are the first of the compressed ones. */
bool source_unpack(source *input, const char **ret_format, const char **reterr_why) {
    (void)source_need(input, 6);
    *ret_format = unpack_detect(source_at(input), source_has(input));
    if (*ret_format == NULL) return true;
    input->unpack = unpack_new(*ret_format, reterr_why);
    if (input->unpack == NULL) return false;
    input->packed = input->buffer;
    input->packed_begin = input->begin;
    input->packed_end = input->end;
    input->begin = input->end = 0;
    input->buffer = malloc(BUFFER_BYTES);
    if (input->buffer == NULL) *reterr_why = "out of memory";
    return input->buffer != NULL;
}

/* Decompress some bytes. 0: the end, or an error. */
static size_t unpack_some(source *input, uint8_t *to, size_t room) {
    for (;;) {
        bool has_more = input->packed_begin != input->packed_end;
        if (!has_more) {
            input->packed_begin = 0;
            input->packed_end = read_some(input, input->packed, BUFFER_BYTES);
            if (input->error != 0) return 0;
            has_more = input->packed_end != 0;
        }
        unpack_in  in = { input->packed + input->packed_begin, input->packed + input->packed_end };
        size_t     n;
        bool const is_right = unpack_step(input->unpack, &in, to, room, &n);
        input->packed_begin = (size_t)(in.at - input->packed);
        if (!is_right) input->error = ERROR_DAMAGED;
        if (!is_right || n != 0) return n;
        if (has_more) continue;
        if (!unpack_is_complete(input->unpack)) input->error = ERROR_CUT_OFF;
        return 0;
    }
}

/* ------------------------------------------------------------------ the buffer */

bool source_more(source *input) {
    size_t const left = source_has(input), room = BUFFER_BYTES - left;
    memmove(input->buffer, source_at(input), left);
    input->begin = 0;
    input->end = left;
    size_t const got = input->unpack != NULL ? unpack_some(input, input->buffer + left, room)
                                             : read_some(input, input->buffer + left, room);
    input->end += got;
    return got != 0;
}

bool source_need(source *input, size_t n) {
    while (source_has(input) < n) {
        if (!source_more(input)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ for libpcap */

static ssize_t read_for_stdio(void *cookie, char *buffer, size_t n) {
    source *const input = cookie;
    if (source_has(input) == 0 && !source_more(input)) {
        errno = input->error > 0 ? input->error : EIO;
        return input->error != 0 ? -1 : 0;
    }
    size_t const taken = n < source_has(input) ? n : source_has(input);
    memcpy(buffer, source_at(input), taken);
    source_consume(input, taken);
    return (ssize_t)taken;
}

FILE *source_stdio(source *input) {
    cookie_io_functions_t const functions = { .read = read_for_stdio };
    return fopencookie(input, "r", functions);
}
