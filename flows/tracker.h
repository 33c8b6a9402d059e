/* tracker.h - packets in, the states of flows moved on, what happened out.
 *
 * Packets are gathered, up to TRACKER_BATCH of them, and go through the table together, so that its
 * memory accesses overlap. All packets of a batch belong to the same tick of the clock: however
 * rare the packets are, no flow is taken for older than it is.
 */
#ifndef FLOWS_TRACKER_H
#define FLOWS_TRACKER_H

#include "clock.h"
#include "table.h"

#define TRACKER_BATCH 128

/* A packet of the batch, and what becomes of it. */
typedef struct tracked {
    packet              p;
    uint64_t            time_ns; /* its own stamp */
    uint64_t            now_ns;  /* the clock's time */
    uint32_t            answers; /* machine_answers() */
    tamis_status        before;  /* what the table knew: TAMIS_OK, _ABSENT or _UNKNOWN */
    uint32_t            value;   /* and the value, if it was TAMIS_OK */
    const machine_rule *rule;    /* that applies; or NULL */
    tamis_step          step;
    uint32_t            to; /* the value that it goes to, if the step is TAMIS_STEP_SET */
} tracked;

typedef struct tracker_counts {
    uint64_t packets; /* that the machine looks at */
    uint64_t flows;   /* that were opened */
    uint64_t refused; /* flows for which the table had no room */
    uint64_t unknown; /* packets whose flow's state the table did not know */
    uint64_t unruled; /* packets of no flow, which no rule takes */
    uint64_t now[MACHINE_STATES];
    uint64_t peak; /* most flows at one time */
    uint64_t aged[MACHINE_STATES];
    uint64_t events[MACHINE_EVENTS];
} tracker_counts;

/* Who wants to know. Both may be NULL. */
typedef struct tracker_hooks {
    void *context;
    /* A batch went through: `after` tells for each packet how its step went. */
    void (*on_batch)(void *context, const tracked *batch, const uint64_t *ids,
                     const tamis_status *after, size_t n, uint32_t tick);
    /* Flows in a state were silent for too long. */
    void (*on_aged)(void *context, unsigned state, uint64_t n);
} tracker_hooks;

typedef struct tracker {
    const machine *m;
    table         *flows;
    uint64_t       seed; /* of the ids */
    uint64_t       tick_ns;
    uint64_t       tick;    /* the one of the batch */
    uint64_t       next_ns; /* when the next one begins */
    tracker_hooks  hooks;
    tracker_counts counts;
    size_t         n;
    tracked        batch[TRACKER_BATCH];
} tracker;

/* How long a tick is: the shortest timeout has at least 64, unless it is below 64 ms. */
uint64_t tracker_tick_ns(const machine *m);

/* `flows` was made with tracker_timeouts(). */
void tracker_init(tracker *ret_tracker, const machine *m, table *flows, uint64_t seed);

/* The timeouts of all values, in ticks. */
void tracker_timeouts(const machine *m, table_spec *spec);

/* The id of a flow. */
uint64_t tracker_id(const tracker *t, const flow_tuple *flow);

/* Where to put the next packet, which comes at that time of the clock. */
packet *tracker_room(tracker *t, uint64_t now_ns);

/* It is there, and it is for this machine. `time_ns` is its own stamp. */
void tracker_add(tracker *t, uint64_t time_ns, uint64_t now_ns);

/* Take what was gathered through the table; and let time pass. */
void tracker_flush(tracker *t);
void tracker_advance(tracker *t, uint64_t now_ns); /* never back */

/* Is there an event to tell? Not of a flow that found no room: it would come again with each of its
 * packets. */
static inline bool tracker_is_event(const tracked *p, tamis_status after) {
    return p->rule != NULL && p->rule->event >= 0 &&
           (p->step != TAMIS_STEP_SET || after == TAMIS_OK);
}

/* What the machine says: fills rule, step and `to`. */
tamis_step tracker_decide(const machine *m, tracked *p, tamis_status status, uint32_t value);

#endif
