/* check.h - an exact table beside the small one, and how often the two disagree.
 *
 * Idea: every packet is taken through the same machine a second time, with an exact table. What the
 * two tables knew before the packet is compared. Each goes on with its own: a mistake of the small
 * table is counted again with every packet of the flow until it ends.
 *
 * Time is the one thing that the small table is free to choose: it promises to keep a flow for its
 * timeout, and to forget it before two have passed (or later, while its sweep is behind). In
 * between both answers are right, and the exact table goes by what the small one says.
 */
#ifndef FLOWS_CHECK_H
#define FLOWS_CHECK_H

#include "exact.h"
#include "tracker.h"

typedef enum check_result {
    CHECK_SAME,
    CHECK_UNKNOWN, /* the small table said "don't know", and the flow was there */
    CHECK_MISSED,  /* it knew nothing of a flow that was there */
    CHECK_GHOST,   /* it had a state for a flow that was not there */
    CHECK_WRONG,   /* it had another state */
    N_CHECK_RESULTS
} check_result;

const char *check_result_name(check_result result);
const char *check_result_text(check_result result);

typedef struct check {
    const machine *m;
    table         *small;
    exact          flows;
    uint64_t       asked[TABLE_VALUES]; /* timeouts, in ticks */
    uint32_t       now;                 /* tick */
    uint64_t       swept;
    uint64_t       packets[N_CHECK_RESULTS]; /* of all packets */
    uint64_t       ends[N_CHECK_RESULTS];    /* of the flows that are there at the end */
    uint64_t       n_either;                 /* packets where only the time was in question */
    bool           is_out_of_memory;
} check;

/* `spec` is what the small table was made from. False: no memory. */
bool check_init(check *ret_check, const machine *m, table *small, const table_spec *spec);
void check_fini(check *c);

/* A batch of the tracker, as its hook gets it. */
void check_batch(check *c, const tracked *batch, const uint64_t *ids, size_t n, uint32_t tick);

/* Ask the small table for every flow of the exact one. */
void check_finish(check *c, uint32_t tick);

#endif
