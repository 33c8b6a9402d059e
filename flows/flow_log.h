/* flow_log.h - a line for each flow that ends: who, when, how long, how much, and how it ended.
 *
 * What a line says comes from three places:
 *
 *   exact      the ends, the state and the time of the end: from the packet that ends the flow. If
 *              no packet does, from what is remembered of its last packet (ends.h)
 *   bucketed   the beginning, bytes and packets of both directions: from two more tables of states
 *              (records.h), 64 bits of values for each flow
 *
 * Only so many ends are remembered. A flow that lost its place there and is silent from then on has
 * no line. How many there are is counted.
 */
#ifndef FLOWS_FLOW_LOG_H
#define FLOWS_FLOW_LOG_H

#include <stdio.h>
#include <time.h>

#include "log_spec.h"
#include "records.h"
#include "tracker.h"

typedef struct flow_log {
    bool                 is_open;
    const flow_log_spec *spec;
    const machine       *m;
    uint64_t             tick_ns, tick;
    FILE                *file;       /* NULL: standard output, through output.h */
    uint64_t             n_bytes;    /* in the file */
    bool                 has_failed; /* lines were lost, */
    time_t               warned;     /* and when this was last reported */
    records              records;
    uint64_t             n_ends; /* flows that had a line, or would have had without a filter */
} flow_log;

/* Without a path in the spec, nothing is logged. An error ends the program. */
void flow_log_open(flow_log *ret_log, const machine *m, const flow_log_spec *spec);
void flow_log_close(flow_log *log);

/* Write what is still in memory. An error is reported, once in a minute, and has_failed is set. */
void flow_log_flush(flow_log *log);

/* Close the file and open it again by its name, after it was moved. */
void flow_log_reopen(flow_log *log);

/* A flow is over, or the capture is. */
typedef struct log_end {
    const flow_tuple *flow;
    bool              is_client_high;
    unsigned          state;
    log_cause         cause;
    uint64_t          now_ns, time_ns; /* of its last packet: by the clock, and its timestamp */
    const record     *known;
} log_end;

void flow_log_write(flow_log *log, const log_end *end);

/* Time passes. */
void flow_log_time(flow_log *log, uint64_t now_ns);

#endif
