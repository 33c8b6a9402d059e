/* check.h - compare the small table with an exact one: how often do the two disagree?
 *
 * Idea: pass every packet through the same machine a second time, with an exact table, and compare
 * what the two tables knew before the packet. Each table then continues with its own state. So a
 * mistake of the small table is counted again with every packet of the flow until the flow ends.
 *
 * Timeouts are the one point where both may be right: the small table promises to keep a flow for
 * its timeout and to forget it before two timeouts have passed (later while its sweep is behind).
 * In between, the exact table follows the small one.
 */
#ifndef FLOWS_CHECK_H
#define FLOWS_CHECK_H

#include "exact.h"
#include "tracker.h"

typedef enum check_result {
    CHECK_SAME,
    CHECK_UNKNOWN, /* the small table said "don't know" about a flow that exists */
    CHECK_MISSED,  /* it did not know a flow that exists */
    CHECK_GHOST,   /* it had a state for a flow that does not exist */
    CHECK_WRONG,   /* it had the wrong state */
    N_CHECK_RESULTS
} check_result;

const char *check_result_name(check_result result);
const char *check_result_text(check_result result);

typedef struct check {
    const machine *m;
    table         *small;
    exact          flows;
    uint64_t       asked[TABLE_VALUES]; /* the requested timeouts, in ticks */
    uint32_t       now;                 /* tick */
    uint64_t       swept;
    uint64_t       packets[N_CHECK_RESULTS]; /* results, one per packet */
    uint64_t       ends[N_CHECK_RESULTS];    /* results, one per flow that exists at the end */
    uint64_t       n_either; /* packets between one and two timeouts: both answers are right */
    bool           is_out_of_memory;
} check;

/* `spec` is the one that the small table was made from. False: no memory. */
bool check_init(check *ret_check, const machine *m, table *small, const table_spec *spec);
void check_fini(check *c);

/* Check a batch of packets; the arguments are those of the tracker's on_batch hook. */
void check_batch(check *c, const tracked *batch, const uint64_t *ids, size_t n, uint32_t tick);

/* At the end: ask the small table about every flow in the exact one. */
void check_finish(check *c, uint32_t tick);

#endif
