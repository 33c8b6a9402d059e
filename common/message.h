/* message.h - what a tool says to people: one line each, on stderr. */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <stddef.h>

#define MESSAGE_FORMAT(at) __attribute__((format(printf, at, at + 1)))

/* The exit codes; the manual page documents them. */
enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,       /* no line selected, some keys absent, no kind can do it, overloaded */
    EXIT_TROUBLE = 2,    /* nothing was changed */
    EXIT_PIPE = 128 + 13 /* nobody reads the output any more: as if SIGPIPE had come */
};

/* The name before every message: "tamis", until somebody else speaks. */
void message_program(const char *name);

/* It becomes "tamis COMMAND". */
void message_speak_for(const char *command);

/* Say what is wrong and end with EXIT_TROUBLE. */
_Noreturn void die(const char *format, ...) MESSAGE_FORMAT(1);

/* Something to know that is no reason to stop. */
void warn(const char *format, ...) MESSAGE_FORMAT(1);

/* The text with its control bytes spelt out, so that it is one line and moves no cursor; cut to n
 * bytes. Messages are made so by themselves. */
void text_escape(const char *text, char *ret_text, size_t n);

#endif
