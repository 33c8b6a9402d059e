/* options.h - the command line of tamis-flows(1). */
#ifndef FLOWS_OPTIONS_H
#define FLOWS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/tamis.h>

#include "log_spec.h"

#define OPTIONS_INTERFACES 16

typedef struct options {
    const char  *machine;   /* the name of a built-in machine, or of a file */
    const char  *interface; /* the first one; NULL: read capture files */
    const char  *interfaces[OPTIONS_INTERFACES];
    size_t       n_interfaces;
    uint64_t     buffer; /* bytes of all rings of interfaces */
    unsigned     cores;  /* that read from interfaces */
    const char  *user;   /* to become once interfaces are open, or NULL */
    char *const *captures;
    size_t       n_captures;
    const char  *filter;
    uint64_t     flows, memory; /* exactly one of the two is not 0 */
    double       fpr;
    const char  *kind;
    bool         has_seed;
    tamis_seed   seed;
    uint64_t     max_packets; /* 0: all */
    bool         has_duplicates;
    uint64_t     duplicate_ns; /* instead of what the machine says */
    bool         is_exact, is_checked, is_json, is_csv, is_quiet;
    bool         fails_on_drops; /* with the exit code */

    const char   *output; /* the file for results; NULL: standard output */
    uint64_t      rotate; /* begin a new file at so many bytes; 0: never */
    unsigned      keep;   /* old files */
    uint64_t      interval_ns;
    const char   *metrics, *state; /* files, or NULL */
    flow_log_spec log;             /* path NULL: none */
} options;

/* Read the arguments after the command. `machine` is the machine that the command names, or NULL if
 * the first operand names it. An error ends the program with a message. */
void options_read(int argc, char **argv, const char *machine, options *ret_options);

void options_help(void);

#endif
