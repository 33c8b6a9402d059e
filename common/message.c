/* message.c - see message.h. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "progress.h"

#define MESSAGE_BYTES 6000 /* a path (at most 4096 bytes) and some words */

static const char *program = "tamis";
static const char *command; /* that runs, or NULL */

void message_program(const char *name) {
    program = name;
}

void message_command(const char *name) {
    command = name;
}

void text_escape(const char *text, char *ret_text, size_t n) {
    size_t at = 0;
    for (; *text != '\0' && at + 5 <= n; text++) {
        unsigned char const byte = (unsigned char)*text;
        if (byte == '\n')
            at += (size_t)snprintf(ret_text + at, n - at, "\\n");
        else if (byte < ' ' || byte == 0x7f)
            at += (size_t)snprintf(ret_text + at, n - at, "\\x%02x", byte);
        else
            ret_text[at++] = *text;
    }
    ret_text[at] = '\0';
}

/* A message is one line, whatever the names of files contain, and one call of fprintf(), so that
 * the lines of several processes do not mix. */
static void say(const char *format, va_list arguments) {
    char text[MESSAGE_BYTES], line[MESSAGE_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    text_escape(text, line, sizeof line);
    progress_hide();
    (void)fprintf(stderr, "%s%s%s: %s\n", program, command ? " " : "", command ? command : "",
                  line);
}

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void die(const char *format, ...) {
    output_flush(); /* answers that were found before the error are still right */
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    exit(EXIT_TROUBLE);
}
