/* tracker.h - takes packets through the machine and the table, and counts what happens.
 *
 * Up to TRACKER_BATCH packets are collected and go through the table together, so that its memory
 * accesses overlap. All packets of a batch belong to the same tick of the clock. So the table never
 * believes that a flow is older than it is, even if packets are rare.
 */
#ifndef FLOWS_TRACKER_H
#define FLOWS_TRACKER_H

#include "clock.h"
#include "duplicates.h"
#include "room.h"
#include "table.h"

#define TRACKER_BATCH 128
#define TRACKER_TELL_NS UINT64_C(60000000000)

/* A packet of the batch, and what the machine decides about it. */
typedef struct tracked {
    packet              p;
    uint64_t            time_ns; /* its own timestamp */
    uint32_t            bytes;   /* on the wire */
    uint64_t            now_ns;  /* the time of the clock */
    uint32_t            answers; /* machine_answers() */
    tamis_status        before;  /* of the flow in the table: TAMIS_OK, _ABSENT or _UNKNOWN */
    uint32_t            value;   /* of the flow, if `before` is TAMIS_OK */
    const machine_rule *rule;    /* that applies, or NULL */
    tamis_step          step;
    uint32_t            to;             /* the new value, if the step is TAMIS_STEP_SET */
    bool                is_client_high; /* after the step; the sender, where nothing asks */
} tracked;

typedef struct tracker_counts {
    uint64_t packets;     /* that the machine handles */
    uint64_t flows;       /* opened */
    uint64_t no_room;     /* flows for which the table had no room */
    uint64_t evicted;     /* flows that were forgotten to make room */
    uint64_t queue_bytes; /* of the queue of flows that may go */
    uint64_t unknown;     /* packets whose flow's state the table did not know */
    uint64_t unruled;     /* packets without a flow that no rule applies to */
    uint64_t duplicates;  /* copies of packets, which were not taken */
    uint64_t n_now;       /* flows in the table, and in each state */
    uint64_t now[MACHINE_STATES];
    uint64_t peak; /* the most flows at one time */
    uint64_t aged[MACHINE_STATES];
    uint64_t events[MACHINE_EVENTS];
} tracker_counts;

/* Callbacks. Each may be NULL. */
typedef struct tracker_hooks {
    void *context;
    /* A batch went through the table. after[i] is the result of the step of packet i. */
    void (*on_batch)(void *context, const tracked *batch, const uint64_t *ids,
                     const tamis_status *after, size_t n, uint32_t tick);
    /* n flows in a state have timed out. */
    void (*on_aged)(void *context, unsigned state, uint64_t n);
    /* Time passes, now_ns is reached after `ticks` more ticks. Called before flows time out. */
    void (*on_time)(void *context, uint64_t now_ns, uint64_t ticks);
    /* The table is full: from now on, flows are forgotten to make room. Or, with is_refused, a new
     * flow was refused. It is told once, and again if there was room since, but not within
     * TRACKER_TELL_NS. */
    void (*on_full)(void *context, bool is_refused);
    /* A flow was forgotten to make room. */
    room_evicted_hook *on_evicted;
} tracker_hooks;

typedef struct tracker {
    const machine *m;
    table         *flows;
    uint64_t       seed; /* of the hash that makes ids */
    uint64_t       tick_ns;
    uint64_t       tick;    /* of the batch */
    uint64_t       next_ns; /* when the next tick begins */
    tracker_hooks  hooks;
    tracker_counts counts;
    bool           is_simple; /* the answers for a packet depend on its flags alone */
    room           room;
    bool           is_told_full, is_told_refused; /* hooks.on_full was called */
    uint64_t       told_ns;                       /* when that was */
    duplicates     recent;                        /* packets, if the machine asks for copies */
    size_t         n;
    tracked        batch[TRACKER_BATCH];
} tracker;

/* The length of a tick. The shortest timeout has 64 ticks, or fewer if it is below 64 ms. */
uint64_t tracker_tick_ns(const machine *m);

/* `flows` is a table made from a spec that tracker_timeouts() filled in. */
void tracker_init(tracker *ret_tracker, const machine *m, table *flows, uint64_t seed);

void tracker_fini(tracker *t);

/* Set n_values and the timeouts of all values, in ticks. */
void tracker_timeouts(const machine *m, table_spec *spec);

/* The id of a flow: a hash of its tuple, or of the part of it that the machine names. */
uint64_t tracker_id(const tracker *t, const flow_tuple *flow);

/* Take the collected packets through the table. tracker_advance() also lets time pass. */
void tracker_flush(tracker *t);
void tracker_advance(tracker *t, uint64_t now_ns); /* time never goes back */

/* After tracker_init() with a table that has flows of an earlier run: count them. Then, before the
 * first packet: they have been silent for so long. */
void tracker_count_loaded(tracker *t);
void tracker_resume(tracker *t, uint64_t silent_ns);

/* Where to parse the next packet into, which arrives at time now_ns. */
static inline packet *tracker_room(tracker *t, uint64_t now_ns) {
    if (now_ns >= t->next_ns) tracker_advance(t, now_ns);
    return &t->batch[t->n].p;
}

/* The packet in tracker_room() has its answers: it is taken. */
static inline void tracker_take(tracker *t, uint64_t time_ns, uint64_t now_ns, uint32_t bytes,
                                uint32_t answers) {
    tracked *const added = &t->batch[t->n];
    added->time_ns = time_ns;
    added->now_ns = now_ns;
    added->bytes = bytes;
    added->answers = answers;
    if (++t->n == TRACKER_BATCH) tracker_flush(t);
}

void tracker_add_slowly(tracker *t, uint64_t time_ns, uint64_t now_ns, uint32_t bytes);

/* Add the packet that was parsed into tracker_room(), and had `bytes` on the wire. `time_ns` is its
 * own timestamp. */
static inline void tracker_add(tracker *t, uint64_t time_ns, uint64_t now_ns, uint32_t bytes) {
    if (t->is_simple)
        tracker_take(t, time_ns, now_ns, bytes, machine_flag_answers(t->m, &t->batch[t->n].p));
    else
        tracker_add_slowly(t, time_ns, now_ns, bytes);
}

/* Has this packet opened a flow? */
static inline bool tracker_is_opening(const tracked *p, tamis_status after) {
    return p->step == TAMIS_STEP_SET && after == TAMIS_OK &&
           (p->before == TAMIS_ERR_ABSENT || p->rule->opens);
}

/* Does this packet end its flow? */
static inline bool tracker_is_end(const machine *m, const tracked *p, tamis_status after) {
    if (p->rule == NULL || after != TAMIS_OK) return false;
    if (p->step == TAMIS_STEP_DROP) return true;
    if (p->step != TAMIS_STEP_SET || !m->states[p->rule->go].is_ended) return false;
    return p->before == TAMIS_ERR_ABSENT || p->rule->opens ||
           !m->states[machine_state_of(m, p->value)].is_ended;
}

/* Does this packet cause an event? Not if the table had no room for its flow: the event would be
 * repeated with each packet. */
static inline bool tracker_is_event(const tracked *p, tamis_status after) {
    return p->rule != NULL && p->rule->event >= 0 &&
           (p->step != TAMIS_STEP_SET || after == TAMIS_OK);
}

/* Let the machine decide about a packet: sets all fields from `before` on. */
tamis_step tracker_decide(const machine *m, tracked *p, tamis_status status, uint32_t value);

#endif
