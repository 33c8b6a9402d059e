/* pending.h - attempts that wait for an answer, with both ends, so that a timeout can say who.
 *
 * The table stores no addresses. So each attempt (a flow that begins half-open) is also put into a
 * queue of fixed size. When it has waited for the timeout of half-open flows, the table is asked
 * whether it is half-open still: then nobody has answered, and its ends are reported. The table
 * keeps every flow for its timeout at least, so it knows.
 *
 * Under a flood, the queue is full: the oldest attempts leave it without a word, and are counted.
 */
#ifndef FLOWS_PENDING_H
#define FLOWS_PENDING_H

#include "tracker.h"

#define PENDING_PLACES 65536

typedef struct pending_attempt {
    flow_tuple flow;
    bool       is_client_high;
    uint64_t   id;
    uint64_t   now_ns;  /* of the attempt, by the clock, */
    uint64_t   time_ns; /* and its timestamp */
} pending_attempt;

typedef struct pending {
    const machine   *m;
    table           *flows;
    uint64_t         timeout_ns; /* the shortest one of half-open states; 0: there are none */
    uint64_t         first, n;
    pending_attempt *places; /* NULL: not used */
} pending;

/* False: no memory. */
bool pending_init(pending *ret_pending, const machine *m, table *flows);
void pending_fini(pending *q);

/* A packet has opened a half-open flow. */
void pending_put(pending *q, const tracked *p, uint64_t id);

/* Time has passed. Calls on_timeout() for every attempt that nobody has answered in time. */
typedef void pending_timeout(void *context, const pending_attempt *attempt);
void pending_advance(pending *q, uint64_t now_ns, pending_timeout *on_timeout, void *context);

#endif
