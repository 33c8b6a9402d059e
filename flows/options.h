/* options.h - the command line of tamis-flows(1). */
#ifndef FLOWS_OPTIONS_H
#define FLOWS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/tamis.h>

typedef struct options {
    const char  *machine;   /* the name of a built-in machine, or of a file */
    const char  *interface; /* NULL: read capture files */
    char *const *captures;
    size_t       n_captures;
    const char  *filter;
    uint64_t     flows, memory; /* exactly one of the two is not 0 */
    double       fpr;
    const char  *kind;
    bool         has_seed;
    tamis_seed   seed;
    uint64_t     max_packets; /* 0: all */
    bool         is_exact, is_checked, is_json, is_quiet;
} options;

/* Read the arguments after the command. `machine` is the machine that the command names, or NULL if
 * the first operand names it. An error ends the program with a message. */
void options_read(int argc, char **argv, const char *machine, options *ret_options);

void options_help(void);

#endif
