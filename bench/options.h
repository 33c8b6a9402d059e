/* options.h - the command line of tamis-bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "entries.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_SIZES 16
#define MAX_BATCH 1024
#define MAX_AHEAD 1024

typedef struct bench_options {
    uint64_t    sizes[MAX_SIZES]; /* keys */
    size_t      n_sizes;
    double      fpr;
    size_t      batch; /* keys per batch call */
    size_t      ahead; /* keys between a hint and its call */
    unsigned    slices;
    unsigned    rounds; /* 0: chosen by the number of keys */
    uint64_t    seed;
    uint64_t    ceiling_bytes; /* 0: chosen by the sizes of the contestants */
    int         cpu;           /* -1: the current one */
    bool        is_id;         /* tamis gets 64-bit ids instead of 8 key bytes */
    bool        is_every_isa;
    bool        is_removing; /* ask tamis for sets that can remove */
    bool        is_small_pages;
    const char *only;   /* the list as written; NULL: all */
    const char *ratios; /* the entry to compare with the others, or NULL */
    const char *json;   /* a file, "-", or NULL */

    bench_entries entries; /* what is measured */
} bench_options;

typedef enum options_verdict { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG } options_verdict;

/* OPTIONS_DONE: --help was printed. OPTIONS_WRONG: stderr says what is wrong. */
options_verdict options_parse(bench_options *ret_options, int argc, char **argv);

uint64_t options_largest_size(const bench_options *options);

/* How many rounds to run with n keys. */
unsigned options_rounds(const bench_options *options, uint64_t n);

#endif
