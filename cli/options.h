/* options.h - the command line: one table of options, of which each command takes some. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <tamis/tamis.h>

/* In the order in which --help lists them. */
typedef enum option_id {
    OPTION_CAPACITY,
    OPTION_GROW_TO,
    OPTION_FPR,
    OPTION_MEMORY,
    OPTION_VALUES,
    OPTION_UNKNOWN,
    OPTION_TIMEOUT,
    OPTION_REMOVE,
    OPTION_COUNT,
    OPTION_COUNT_TO,
    OPTION_COPIES,
    OPTION_MERGE,
    OPTION_FAST,
    OPTION_SMALL,
    OPTION_KIND,
    OPTION_GEOMETRY,
    OPTION_LIFETIME,
    OPTION_OVERFLOW,
    OPTION_LIKE,
    OPTION_SET,
    OPTION_SEED,
    OPTION_HASH,
    OPTION_CLUSTER,
    OPTION_SHARDS,
    OPTION_WAIT,
    OPTION_WINDOWS,
    OPTION_JOURNAL,
    OPTION_USER,
    OPTION_PASSWORD_FILE,
    OPTION_TLS,
    OPTION_CA_FILE,
    OPTION_CERT_FILE,
    OPTION_KEY_FILE,
    OPTION_TLS_NAME,
    OPTION_NULL,
    OPTION_COUNTS,
    OPTION_INVERT,
    OPTION_COUNT_LINES,
    OPTION_JSON,
    OPTION_CODE,
    OPTION_NO_COPIES,
    OPTION_FORCE,
    OPTION_TRUST,
    OPTION_READ,
    OPTION_THREADS,
    OPTION_DISCARD,
    OPTION_QUIET,
    OPTION_SILENT,
    OPTION_HELP,
    N_OPTIONS
} option_id;

#define MAX_SHARDS 4096
#define DEFAULT_SHARDS 64
#define MAX_WINDOWS 16
#define DEFAULT_WINDOWS 3

#define OPTION_BIT(id) (UINT64_C(1) << OPTION_##id)

/* The options that describe a set, a table of states, abilities, and how keys are hashed. */
#define OPTIONS_OF_SPEC                                                                  \
    (OPTION_BIT(CAPACITY) | OPTION_BIT(GROW_TO) | OPTION_BIT(FPR) | OPTION_BIT(REMOVE) | \
     OPTION_BIT(COUNT) | OPTION_BIT(MERGE) | OPTION_BIT(COUNT_TO) | OPTION_BIT(COPIES) | \
     OPTION_BIT(FAST) | OPTION_BIT(SMALL) | OPTION_BIT(KIND) | OPTION_BIT(GEOMETRY) |    \
     OPTION_BIT(LIFETIME) | OPTION_BIT(OVERFLOW))
#define OPTIONS_OF_STATES (OPTION_BIT(VALUES) | OPTION_BIT(UNKNOWN) | OPTION_BIT(TIMEOUT))
#define OPTIONS_OF_ABILITY                                                                \
    (OPTION_BIT(REMOVE) | OPTION_BIT(COUNT) | OPTION_BIT(COUNT_TO) | OPTION_BIT(COPIES) | \
     OPTION_BIT(MERGE))
#define OPTIONS_OF_HASHING (OPTION_BIT(SEED) | OPTION_BIT(HASH))

typedef struct command command;

/* What the command line asks for. */
typedef struct options {
    const command *command;
    uint64_t       given;      /* OPTION_BIT(...) of every option that was given */
    tamis_spec     spec;       /* its seed points to `seed` if one was given */
    bool           is_counted; /* -n auto */
    uint64_t       values;     /* --values: the number of values of a table of states */
    double         unknown;    /* --unknown; 0: the same rate as -e */
    uint64_t       timeout;    /* --timeout, in ticks; 0: keys do not age */
    const char    *like;       /* --like: a path */
    const char    *set;        /* --set: a path */
    tamis_seed     seed;
    char           separator;
    unsigned       threads;       /* --threads; 1 if the command does not take it */
    const char    *cluster;       /* --cluster: HOST:PORT */
    unsigned       shards;        /* --shards; 0: not given */
    unsigned       replicas;      /* --wait: that must have a change before it counts; 1 */
    unsigned       windows;       /* --windows: on their way at one time */
    const char    *journal;       /* --journal: a path */
    const char    *user;          /* --user */
    const char    *password_file; /* --password-file: a path */
    const char    *ca_file, *cert_file, *key_file; /* --cacert, --cert, --key: paths */
    const char    *tls_name;                       /* --tls-name */
    char *const   *operands;
    size_t         n_operands;
} options;

struct command {
    const char *name;
    const char *operands; /* as in "FILE [KEYS...] ", with a blank after each */
    const char *summary;  /* one line */
    const char *text;     /* the rest of its help page */
    const char *examples;
    uint64_t    options; /* OPTION_BIT(...) of every option that it takes */
    size_t      min_operands, max_operands;
    size_t      set_operands; /* this many operands, the first ones, are files of sets or states */
    int (*run)(const options *asked);
};

static inline bool is_given(const options *asked, uint64_t bits) {
    return (asked->given & bits) != 0;
}

/* Read the words after the command's name. Any error ends the program. */
void options_read(const command *chosen, int argc, char **argv, options *ret_options);

/* Print the page of --help. */
void options_help(const command *chosen);

#endif
