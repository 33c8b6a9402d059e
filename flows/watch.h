/* watch.h - what is learned from packets after they went through the table.
 *
 *     tracker -> watch_batch() -> scans    sources that try many targets, or a dead one
 *                                 top      the hosts with the most flows, refusals, bytes, ...
 *                                 pending  attempts that nobody answers, with both ends
 *                                 log      a line for each flow that ends
 *                                 events, as JSON; new flows over time
 */
#ifndef FLOWS_WATCH_H
#define FLOWS_WATCH_H

#include "flow_log.h"
#include "pending.h"
#include "scans.h"
#include "timeline.h"
#include "top.h"

typedef struct watch {
    const machine *m;
    timeline      *line;
    bool           is_json;    /* print events */
    uint64_t       timeouts;   /* attempts that nobody answered in time, if they are watched */
    uint64_t       time_ns;    /* the timestamp of the last packet */
    uint64_t       now_ns;     /* the latest time of any lane's clock */
    uint64_t       n_flows;    /* opened */
    uint64_t       timeout_ns; /* of attempts */
    scans          scans;
    top            top;
    flow_log       log;
} watch;

typedef struct watch_spec {
    bool                 is_json;
    uint64_t             seed;
    const flow_log_spec *log;
} watch_spec;

/* An error ends the program. */
void watch_init(watch *ret_watch, const machine *m, timeline *line, const watch_spec *spec);
void watch_fini(watch *w);

/* Are attempts remembered, so that a timeout says who? */
bool watch_needs_pending(bool is_json, const char *log_path);

/* A batch of a lane went through its table; the arguments are those of the tracker's on_batch hook.
 * Each lane remembers its own attempts. */
void watch_batch(watch *w, pending *attempts, const tracked *batch, const uint64_t *ids,
                 const tamis_status *after, size_t n);

/* Time passes: called before flows are removed that have timed out. */
void watch_time(watch *w, pending *attempts, uint64_t now_ns);

/* n flows in a state have timed out. */
void watch_aged(watch *w, unsigned state, uint64_t n, uint64_t time_ns);

/* The table is full; with is_refused, a flow was refused. */
void watch_full(watch *w, bool is_refused, uint64_t n_flows, uint64_t time_ns);

/* After the last packet. */
void watch_finish(watch *w, uint64_t now_ns);

#endif
