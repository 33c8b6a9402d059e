/* options.h - what the command line asks for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "entries.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_SIZES 16
#define MAX_BATCH 1024

typedef struct bench_options {
    uint64_t    sizes[MAX_SIZES]; /* keys */
    size_t      n_sizes;
    double      fpr;
    size_t      batch; /* keys per batch call */
    unsigned    slices;
    unsigned    rounds; /* 0: by the number of keys */
    uint64_t    seed;
    uint64_t    ceiling_bytes; /* 0: as large as the largest tamis table */
    int         cpu;           /* -1: where the process happens to run */
    bool        is_hashed;     /* tamis gets 64-bit hashes instead of 8 key bytes */
    bool        is_every_isa;
    bool        is_removing; /* ask tamis for sets that can remove */
    bool        is_small_pages;
    const char *only;   /* what was said, or NULL: all */
    const char *ratios; /* whom to hold against the others, or NULL */
    const char *json;   /* a file, "-", or NULL */

    bench_entries entries; /* who takes part */
} bench_options;

typedef enum options_verdict { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG } options_verdict;

/* OPTIONS_DONE: --help was printed. OPTIONS_WRONG: stderr says what is wrong. */
options_verdict options_parse(bench_options *ret_options, int argc, char **argv);

uint64_t options_largest_size(const bench_options *options);

/* How often everything is repeated with n keys. */
unsigned options_rounds(const bench_options *options, uint64_t n);

#endif
