/* contestant.h - one thing that is measured: a kind of tamis, a peer, or the bare memory.
 *
 * Everybody sees the same 64-bit keys through the same calls. A call works through `n` keys by
 * itself, so that its inner loop holds the contestant's own function and nothing of the bench.
 * A call that a contestant cannot do is NULL, and its column stays empty.
 */
#ifndef BENCH_CONTESTANT_H
#define BENCH_CONTESTANT_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES sizeof(uint64_t)
#define LINE_BYTES 64

/* Do it to keys[0..n). Returns how many times the answer was yes: added, found, removed. */
typedef size_t bench_call(void *table, const uint64_t *keys, size_t n);

typedef enum bench_mode {
    MODE_SINGLE, /* one library call per key, any n */
    MODE_BATCH,  /* one library call for all, n at most options->batch */
    N_MODES
} bench_mode;

typedef enum bench_what {
    CALL_ADD,
    CALL_HAS,
    CALL_REMOVE,
    CALL_CHURN, /* n pairs: remove keys[i], add keys[n + i]. Single only; batches are put together
                   from the other two */
    N_CALLS
} bench_what;

typedef struct bench_ops {
    bench_call *call[N_MODES][N_CALLS];
    void (*clear)(void *table); /* empty it, and touch all its pages */
    void (*free)(void *table);
} bench_ops;

typedef struct contestant {
    const bench_entry *entry; /* NULL for a ceiling */

    char        name[64];  /* what the table shows */
    const char *isa;       /* instruction set, or NULL */
    const char *group;     /* "ceiling", "tamis" or "peer" */
    char        note[120]; /* what a reader should know about it, or "" */

    bench_ops ops;
    void     *table; /* NULL: it does not take part, and the note says why */
    uint64_t  bytes; /* of the table itself */
    double    lines; /* cache lines that a lookup touches, about: how fast it warms up */
} contestant;

#define MAX_CONTESTANTS 96
#define MAX_CEILINGS 4

/* The ceilings come first. */
typedef struct bench_lineup {
    contestant rows[MAX_CONTESTANTS + MAX_CEILINGS];
    size_t     n;
    size_t     n_ceilings;
} bench_lineup;

/* A new row, without a table yet; NULL when there is no room. */
contestant *lineup_enter(bench_lineup *lineup, const bench_entry *entry);

/* Say in the note why the row has no table. */
void contestant_sit_out(contestant *who, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void lineup_free(bench_lineup *lineup);

/* Each adds the rows of an entry of its own, for n keys. */
typedef void bench_enter(bench_lineup *lineup, const bench_options *options,
                         const bench_entry *entry, uint64_t n);
bench_enter  enter_tamis, enter_states, enter_libbloom, enter_dpdk;

/* Puts ceilings in front: as large as the largest contestant, and one for each halving down to the
 * smallest. */
void enter_ceilings(bench_lineup *lineup, const bench_options *options);

/* DPDK keeps its memory until the end of the process. */
void leave_dpdk(void);

#endif
