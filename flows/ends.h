/* ends.h - both ends of the flows that are open now. Reports need them when there is no packet to
 * take them from: a flow times out, is evicted, or is still open at the end.
 *
 * The table stores no addresses. So the ends of a flow are remembered here, beside it: for a flow
 * log those of all flows, else those of half-open flows only, for the event `timeout`.
 *
 *     id -> chain of a hash -> flow: ends, last packet
 *     state -> list of flows, the one with the oldest last packet first
 *
 * A packet moves its flow to the end of a list, so flows that are silent for too long are at the
 * beginning. The number of places is fixed. If all are taken, a new flow takes the place of the
 * half-open one that has been silent for longest, or if there is none, of any flow.
 *
 * A silent flow is reported twice. First if it is half-open, when the timeout of its state has
 * passed: nobody has answered. Then when it is certain that the table has forgotten it, too: the
 * table keeps a silent flow for its timeout at least, and for a known time at most (table_gone()).
 */
#ifndef FLOWS_ENDS_H
#define FLOWS_ENDS_H

#include "tracker.h"

typedef struct ends_flow {
    flow_tuple flow;
    uint64_t   id;
    uint64_t   now_ns, time_ns; /* of the last packet: by the clock, and its timestamp */
    uint32_t   older, newer;    /* in its list */
    uint32_t   next;            /* in its chain */
    uint8_t    list;
    bool       is_client_high;
} ends_flow;

/* A state has two lists: of flows that were not reported, and of those that were. */
#define ENDS_LISTS (2 * MACHINE_STATES)

typedef struct flow_ends {
    const machine *m;
    bool           has_all; /* not only half-open flows */
    uint64_t       gone_ns[MACHINE_STATES];
    uint32_t       n_places, n_used; /* places from n_used on were never used */
    uint32_t       spare;            /* places that are free again, by `next` */
    uint32_t       n;                /* flows */
    uint64_t       n_displaced;      /* flows that lost their place to another one */
    ends_flow     *places;           /* NULL: nothing is remembered */
    uint32_t      *chains;
    uint32_t       oldest[ENDS_LISTS], newest[ENDS_LISTS];
} flow_ends;

#define ENDS_NONE UINT32_MAX

/* False: no memory. */
bool ends_init(flow_ends *ret_ends, const machine *m, bool has_all, uint32_t n_places);
void ends_fini(flow_ends *e);

/* This table follows the flows. There may be several: one for each core. */
void ends_add_table(flow_ends *e, const table *flows);

/* The flow with this id, or NULL. Valid until the next call of ends_see() or ends_remove(). */
ends_flow *ends_find(const flow_ends *e, uint64_t id);

/* A packet of flow `known`, or of one that is not remembered yet (NULL), which is in a state. */
void ends_see(flow_ends *e, ends_flow *known, const tracked *p, uint64_t id, unsigned state);

void ends_remove(flow_ends *e, ends_flow *flow);

static inline unsigned ends_state(const ends_flow *flow) {
    return flow->list / 2;
}

/* Time has passed. on_silent() is called for each flow as above; with is_gone, the table has
 * forgotten it, and so do we. */
typedef void ends_silent(void *context, const ends_flow *flow, bool is_gone);
void         ends_advance(flow_ends *e, uint64_t now_ns, ends_silent *on_silent, void *context);

/* The end: call on_left() for all flows, and remove them. With is_silent, the timeout of its state
 * has passed. */
typedef void ends_left(void *context, const ends_flow *flow, bool is_silent);
void         ends_take_all(flow_ends *e, uint64_t now_ns, ends_left *on_left, void *context);

uint64_t ends_bytes(const flow_ends *e);

#endif
