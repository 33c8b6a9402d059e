/* contestant.h - one thing that is measured: a kind of tamis, a peer, or bare memory.
 *
 * All contestants get the same 64-bit keys through the same calls. A call handles `n` keys in a
 * loop of its own, so that only the contestant's own function runs in the inner loop. A call that a
 * contestant does not have is NULL, and its column stays empty.
 */
#ifndef BENCH_CONTESTANT_H
#define BENCH_CONTESTANT_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KEY_BYTES sizeof(uint64_t)
#define LINE_BYTES 64

/* Handle keys[0..n). Returns for how many the answer was yes: added, found, removed. */
typedef size_t bench_call(void *table, const uint64_t *keys, size_t n);

typedef enum bench_mode {
    MODE_SINGLE, /* one library call per key, any n */
    MODE_BATCH,  /* one library call for all keys, n at most options->batch */
    N_MODES
} bench_mode;

typedef enum bench_operation {
    CALL_ADD,
    CALL_HAS,
    CALL_REMOVE,
    CALL_CHURN, /* n pairs: remove keys[i], add keys[n + i]. Single calls only: churn in batches is
                   made of the two above */
    N_CALLS
} bench_operation;

typedef struct bench_ops {
    bench_call *call[N_MODES][N_CALLS];
    void (*clear)(void *table); /* empty the table, and touch all its pages */
    void (*free)(void *table);
} bench_ops;

typedef struct contestant {
    const bench_entry *entry; /* NULL for a ceiling */

    char        name[64];  /* in the report */
    const char *isa;       /* instruction set, or NULL */
    const char *group;     /* "ceiling", "tamis" or "peer" */
    char        note[120]; /* printed below the report, or "" */

    bench_ops ops;
    void     *table; /* NULL: it does not take part; the note says why */
    uint64_t  bytes; /* of the table alone */
    double    lines; /* cache lines that a lookup touches, roughly; for warming up */
} contestant;

#define MAX_CONTESTANTS 96
#define MAX_CEILINGS 4

/* The ceilings come first. */
typedef struct bench_lineup {
    contestant rows[MAX_CONTESTANTS + MAX_CEILINGS];
    size_t     n;
    size_t     n_ceilings;
} bench_lineup;

/* Add a row, without a table yet. NULL: no room. */
contestant *lineup_enter(bench_lineup *lineup, const bench_entry *entry);

/* Mark the contestant as not taking part. Its note says why. */
void contestant_exclude(contestant *entrant, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void lineup_free(bench_lineup *lineup);

/* Each adds the rows of an entry of its type, for n keys. */
typedef void bench_enter(bench_lineup *lineup, const bench_options *options,
                         const bench_entry *entry, uint64_t n);
bench_enter  enter_tamis, enter_states, enter_libbloom, enter_dpdk, enter_outside;

/* Put ceilings in front: one as large as the largest contestant, and one for each halving of the
 * size down to the smallest. */
void enter_ceilings(bench_lineup *lineup, const bench_options *options);

/* Contestants from outside: the names, i = 0, 1, ...; NULL after the last. */
const char *outside_key(size_t i);
bool        outside_has_key(const char *name);

/* False: one of them cannot be used; `out` says why. */
bool outside_check(FILE *out);

/* DPDK keeps its memory until this call. */
void dpdk_shutdown(void);

#endif
