/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Half a megabyte and more were equally fast; a record is at most a quarter of one. */
#define BUFFER_BYTES ((size_t)1 << 20)

static uint64_t file_bytes(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return (uint64_t)status.st_size;
}

bool source_open(source *ret_source, const char *name) {
    bool const is_standard = strcmp(name, "-") == 0;
    int const  descriptor = is_standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    *ret_source = (source){ .descriptor = descriptor, .total_bytes = file_bytes(descriptor) };
    ret_source->buffer = malloc(BUFFER_BYTES);
    if (ret_source->buffer != NULL) return true;
    source_close(ret_source);
    errno = ENOMEM;
    return false;
}

void source_close(source *from) {
    free(from->buffer);
    if (from->descriptor > STDIN_FILENO) (void)close(from->descriptor);
    *from = (source){ .descriptor = -1 };
}

bool source_more(source *from) {
    size_t const left = source_has(from);
    memmove(from->buffer, source_at(from), left);
    from->begin = 0;
    from->end = left;
    ssize_t const got = read(from->descriptor, from->buffer + left, BUFFER_BYTES - left);
    from->error = got < 0 ? errno : 0;
    if (got <= 0) return false;
    from->end += (size_t)got;
    from->read_bytes += (uint64_t)got;
    return true;
}

bool source_need(source *from, size_t n) {
    while (source_has(from) < n) {
        if (!source_more(from)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ for libpcap */

static ssize_t cookie_read(void *cookie, char *to, size_t n) {
    source *const from = cookie;
    if (source_has(from) == 0 && !source_more(from)) {
        errno = from->error;
        return from->error != 0 ? -1 : 0;
    }
    size_t const taken = n < source_has(from) ? n : source_has(from);
    memcpy(to, source_at(from), taken);
    source_consume(from, taken);
    return (ssize_t)taken;
}

FILE *source_stdio(source *from) {
    cookie_io_functions_t const functions = { .read = cookie_read };
    return fopencookie(from, "r", functions);
}
