/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (input->descriptor > STDIN_FILENO) (void)close(input->descriptor);
    *input = (source){ .descriptor = -1 };
}

bool source_more(source *input) {
    size_t const left = source_has(input);
    memmove(input->buffer, source_at(input), left);
    input->begin = 0;
    input->end = left;
    ssize_t const got = read(input->descriptor, input->buffer + left, BUFFER_BYTES - left);
    input->error = got < 0 ? errno : 0;
    if (got <= 0) return false;
    input->end += (size_t)got;
    input->read_bytes += (uint64_t)got;
    return true;
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
        errno = input->error;
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
