/* watch.h - what is learned from packets after they went through the table.
 *
 *     tracker -> watch_batch() -> scans    sources that try many targets, or a dead one
 *                                 floods   targets of many flows that nobody answers
 *                                 top      the hosts with the most flows, refusals, bytes, ...
 *                                 ends     both ends of open flows: for attempts that nobody
 *                                          answers, and for
 *                                 log      a line for each flow that ends
 *                                 events, as JSON; new flows over time
 */
#ifndef FLOWS_WATCH_H
#define FLOWS_WATCH_H

#include "ends.h"
#include "floods.h"
#include "flow_log.h"
#include "scans.h"
#include "timeline.h"
#include "top.h"

typedef struct watch {
    const machine *m;
    timeline      *line;
    bool           is_json; /* print events */
    uint64_t       seed;    /* of the lists of hosts */
    uint64_t       time_ns; /* the timestamp of the last packet */
    uint64_t       now_ns;  /* the latest time of any lane's clock */
    uint64_t       n_flows; /* opened */
    scans          scans;
    floods         floods;
    top            top;
    top           *recent; /* of this interval; NULL: there are none */
    flow_ends      ends;
    flow_log       log;
} watch;

typedef struct watch_spec {
    bool                 is_json;
    bool                 has_intervals;
    uint64_t             seed;
    const flow_log_spec *log;
} watch_spec;

/* An error ends the program. */
void watch_init(watch *ret_watch, const machine *m, timeline *line, const watch_spec *spec);
void watch_fini(watch *w);

/* A lane follows its flows in this table. */
void watch_add_table(watch *w, const table *flows);

/* A batch of a lane went through its table. The arguments are those of the hook on_batch. */
void watch_batch(watch *w, const tracked *batch, const uint64_t *ids, const tamis_status *after,
                 size_t n);

/* Time passes. */
void watch_time(watch *w, uint64_t now_ns);

/* A new interval begins. */
void watch_begin_interval(watch *w);

/* A flow was forgotten to make room. Only called if watch_has_ends(). */
void watch_evicted(watch *w, uint64_t id);

static inline bool watch_has_ends(const watch *w) {
    return w->ends.places != NULL;
}

/* n flows in a state have timed out. */
void watch_aged(watch *w, unsigned state, uint64_t n, uint64_t time_ns);

/* The table is full; with is_refused, a flow was refused. */
void watch_full(watch *w, bool is_refused, uint64_t n_flows, uint64_t time_ns);

/* Flows that are over and have no line in the log, because their ends were forgotten. */
uint64_t watch_unlogged(const watch *w);

/* After the last packet. With goes_on, another run will continue with the flows that are open. */
void watch_finish(watch *w, uint64_t now_ns, bool goes_on);

#endif
