/* options.h - the command line: one table of options, of which each command takes some. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <tamis/tamis.h>

/* In the order in which --help lists them. */
typedef enum option_id {
    OPTION_CAPACITY,
    OPTION_FPR,
    OPTION_MEMORY,
    OPTION_VALUES,
    OPTION_UNKNOWN,
    OPTION_TIMEOUT,
    OPTION_REMOVE,
    OPTION_COUNT,
    OPTION_MERGE,
    OPTION_FAST,
    OPTION_SMALL,
    OPTION_KIND,
    OPTION_GEOMETRY,
    OPTION_LIFETIME,
    OPTION_OVERFLOW,
    OPTION_LIKE,
    OPTION_SEED,
    OPTION_HASH,
    OPTION_NULL,
    OPTION_INVERT,
    OPTION_COUNT_LINES,
    OPTION_JSON,
    OPTION_CODE,
    OPTION_NO_COPIES,
    OPTION_FORCE,
    OPTION_TRUST,
    OPTION_QUIET,
    OPTION_SILENT,
    OPTION_HELP,
    N_OPTIONS
} option_id;

#define OPTION_BIT(id) (UINT32_C(1) << OPTION_##id)

/* What a spec takes, and what reading keys takes. */
#define OPTIONS_OF_SPEC                                                                \
    (OPTION_BIT(CAPACITY) | OPTION_BIT(FPR) | OPTION_BIT(REMOVE) | OPTION_BIT(COUNT) | \
     OPTION_BIT(MERGE) | OPTION_BIT(FAST) | OPTION_BIT(SMALL) | OPTION_BIT(KIND) |     \
     OPTION_BIT(GEOMETRY) | OPTION_BIT(LIFETIME) | OPTION_BIT(OVERFLOW))
#define OPTIONS_OF_STATES (OPTION_BIT(VALUES) | OPTION_BIT(UNKNOWN) | OPTION_BIT(TIMEOUT))
#define OPTIONS_OF_ABILITY (OPTION_BIT(REMOVE) | OPTION_BIT(COUNT) | OPTION_BIT(MERGE))
#define OPTIONS_OF_HASHING (OPTION_BIT(SEED) | OPTION_BIT(HASH))

typedef struct command command;

/* What was asked for. */
typedef struct options {
    const command *of;
    uint32_t       given;      /* OPTION_BIT(...) of all that were */
    tamis_spec     spec;       /* seed points to `seed` when one was given */
    bool           is_counted; /* -n auto */
    uint64_t       memory;     /* --memory */
    uint64_t       values;     /* of a table of states */
    double         unknown;    /* how often it may not know; 0: as often as it may be wrong */
    uint64_t       timeout;    /* in ticks; 0: nothing ages */
    const char    *like;       /* a path */
    tamis_seed     seed;
    char           separator;
    char *const   *operands;
    size_t         n_operands;
} options;

struct command {
    const char *name;
    const char *operands; /* as in "FILE [KEYS...] ", with a blank after each */
    const char *summary;  /* one line */
    const char *text;     /* what there is to know */
    const char *examples;
    uint32_t    options; /* OPTION_BIT(...) of those it takes */
    size_t      min_operands, max_operands;
    size_t      set_operands; /* the first operands are sets: how many */
    int (*run)(const options *asked);
};

static inline bool is_given(const options *asked, uint32_t bits) {
    return (asked->given & bits) != 0;
}

/* Read the command line behind the command's name. Whatever is wrong ends the program. */
void options_read(const command *of, int argc, char **argv, options *ret_options);

/* The page that --help prints. */
void options_help(const command *of);

#endif
