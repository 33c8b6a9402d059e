/* options.h - the command line of tamis-flows(1). */
#ifndef FLOWS_OPTIONS_H
#define FLOWS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/tamis.h>

typedef struct options {
    const char  *machine;   /* a name that came along, or a file */
    const char  *interface; /* NULL: captures are files */
    char *const *captures;
    size_t       n_captures;
    const char  *filter;
    uint64_t     flows, memory; /* one of the two is not 0 */
    double       fpr;
    const char  *kind;
    bool         has_seed;
    tamis_seed   seed;
    uint64_t     max_packets; /* 0: all */
    bool         is_exact, is_checked, is_json, is_quiet;
} options;

/* Read the command line behind the command. `machine` is what the command stands for, or NULL if
 * the first operand names it. Whatever is wrong ends the program. */
void options_read(int argc, char **argv, const char *machine, options *ret_options);

void options_help(void);

#endif
