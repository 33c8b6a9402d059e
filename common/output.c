/* output.c - see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

#define BUFFER_BYTES ((size_t)1 << 16) /* as much as a pipe holds; more was not faster */

static char     buffer[BUFFER_BYTES];
static size_t   filled;
static uint64_t written;

void output_begin(void) {
    for (int place = 0; place < 3; place++) {
        if (fcntl(place, F_GETFD) >= 0) continue;
        int const taken = open("/dev/null", place == 0 ? O_WRONLY : O_RDONLY);
        (void)taken;
    }
}

static _Noreturn void output_fail(int error) {
    filled = 0; /* or exit would try to write it again */
    if (error == EPIPE) exit(EXIT_PIPE);
    die("cannot write the output: %s%s", strerror(error),
        error == ENOSPC ? "; make room and try again" : "");
}

static void write_all(const char *at, size_t n) {
    if (n != 0 && isatty(STDOUT_FILENO)) progress_stop();
    while (n != 0) {
        ssize_t const put = write(STDOUT_FILENO, at, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) output_fail(errno);
        written += (uint64_t)put;
        at += put;
        n -= (size_t)put;
    }
}

void output_flush(void) {
    size_t const n = filled;
    filled = 0;
    write_all(buffer, n);
}

uint64_t output_written(void) {
    return written;
}

void output_bytes(const void *bytes, size_t n) {
    if (n > BUFFER_BYTES - filled) output_flush();
    if (n >= BUFFER_BYTES) {
        write_all(bytes, n); /* a long run of lines is written without a copy */
        return;
    }
    memcpy(buffer + filled, bytes, n);
    filled += n;
}

void output_string(const char *text) {
    output_bytes(text, strlen(text));
}

void output_number(uint64_t value) {
    char  digits[20];
    char *at = digits + sizeof digits;
    do *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    output_bytes(at, (size_t)(digits + sizeof digits - at));
}

void output_text(const char *format, ...) {
    char    text[4096];
    va_list arguments;
    va_start(arguments, format);
    int const n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0) return;
    output_bytes(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

bool output_is_colourful(void) {
    const char *const no_color = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    if (no_color != NULL && *no_color != '\0') return false;
    return isatty(STDOUT_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
