/* message.c - see message.h. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "progress.h"

static const char *speaker; /* the command that runs, or NULL */

void message_speak_for(const char *command) {
    speaker = command;
}

/* One write per message, so that the lines of several processes do not mix. */
static void say(const char *format, va_list arguments) {
    char text[1024];
    (void)vsnprintf(text, sizeof text, format, arguments);
    progress_hide();
    (void)fprintf(stderr, "tamis%s%s: %s\n", speaker ? " " : "", speaker ? speaker : "", text);
}

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void die(const char *format, ...) {
    output_flush(); /* answers that were found before the trouble are still answers */
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    exit(EXIT_TROUBLE);
}

void die_of_system(const char *what, int error) {
    die("%s: %s", what, strerror(error));
}
