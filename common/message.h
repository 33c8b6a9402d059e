/* message.h - messages on standard error, one line each. */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <stddef.h>

#define MESSAGE_FORMAT(at) __attribute__((format(printf, at, at + 1)))

/* The exit codes; the manual page documents them. */
enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,       /* no line selected, some keys absent, no kind can do it, overloaded */
    EXIT_TROUBLE = 2,    /* an error; nothing was changed */
    EXIT_PIPE = 128 + 13 /* the reader of the output has ended: as if ended by SIGPIPE */
};

/* Set the name at the beginning of every message; "tamis" by default. */
void message_program(const char *name);

/* Add the name of the command to it: "tamis COMMAND". */
void message_command(const char *command);

/* Print what is wrong, and end the program with EXIT_TROUBLE. */
_Noreturn void die(const char *format, ...) MESSAGE_FORMAT(1);

/* Print a message and go on. */
void warn(const char *format, ...) MESSAGE_FORMAT(1);

/* Spell out the control bytes of a text, so that it is one line and moves no cursor; cut it to n
 * bytes. warn() and die() do this to their messages. */
void text_escape(const char *text, char *ret_text, size_t n);

#endif
