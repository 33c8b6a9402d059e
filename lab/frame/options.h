/* options.h - the command line of tamis-lab. */
#ifndef TAMIS_LAB_OPTIONS_H
#define TAMIS_LAB_OPTIONS_H

#include "lab.h"

#define OPTIONS_MAX_OUTPUTS 8

/* Results in one format, and where they go. */
typedef struct output {
    const lab_format *format;
    const char       *path; /* NULL: stdout */
    FILE             *to;
} output;

typedef struct options {
    bool         is_full;
    uint64_t     seed, jobs;
    const char  *keep;                         /* the folder where trials are kept; NULL: nowhere */
    output       outputs[OPTIONS_MAX_OUTPUTS]; /* the first is that of stdout */
    size_t       n_outputs;
    const char **ids; /* as given, or "all" */
    size_t       n_ids;
} options;

/* Parse the arguments after "run", which end with NULL. Returns false after a mistake, which was
 * printed. Call options_free() in either case. */
bool options_read(options *given, int n, char **arguments);
void options_free(options *given);

/* Print a mistake. Returns false. */
bool options_complain(const char *problem, const char *argument);

#endif
