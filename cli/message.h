/* message.h - what the tool says to people: one line each, on stderr. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#define MESSAGE_FORMAT(at) __attribute__((format(printf, at, at + 1)))

/* The exit codes; the manual page documents them. */
enum {
    EXIT_DONE = 0,
    EXIT_NONE = 1,       /* no line selected, some keys absent, no kind can do it */
    EXIT_TROUBLE = 2,    /* nothing was changed */
    EXIT_PIPE = 128 + 13 /* nobody reads the output any more: as if SIGPIPE had come */
};

/* The name before every message becomes "tamis COMMAND". */
void message_speak_for(const char *command);

/* Say what is wrong and end with EXIT_TROUBLE. */
_Noreturn void die(const char *format, ...) MESSAGE_FORMAT(1);

/* The same for the system's trouble with something: "WHAT: No such file or directory". */
_Noreturn void die_of_system(const char *what, int error);

/* Something to know that is no reason to stop. */
void warn(const char *format, ...) MESSAGE_FORMAT(1);

#endif
