/* flow_log.h - a line for each flow that ends: who, when, how long, how much, and how it ended.
 *
 * What a line says comes from two places:
 *
 *   exact      the ends, the time of the end, and how it ended: from the packet that ends the flow
 *   bucketed   the beginning, bytes and packets of both directions: from two more tables of states
 *              (records.h), 64 bits of values for each flow
 *
 * A flow that times out has no packet that ends it. The tables store no addresses, so it has no
 * line, except for attempts that nobody answers: these are remembered for a while (pending.h).
 */
#ifndef FLOWS_FLOW_LOG_H
#define FLOWS_FLOW_LOG_H

#include <stdio.h>

#include "log_spec.h"
#include "pending.h"
#include "records.h"
#include "tracker.h"

typedef struct flow_log {
    bool                 is_open;
    const flow_log_spec *spec;
    const machine       *m;
    uint64_t             tick_ns, tick;
    FILE                *file; /* NULL: standard output, through output.h */
    records              records;
    uint64_t             n_lines;
} flow_log;

/* Without a path in the spec, nothing is logged. An error ends the program. */
void flow_log_open(flow_log *ret_log, const machine *m, const flow_log_spec *spec);
void flow_log_close(flow_log *log);

/* Close the file and open it again by its name, after it was moved. */
void flow_log_reopen(flow_log *log);

void flow_log_batch(flow_log *log, const tracked *batch, const uint64_t *ids,
                    const tamis_status *after, size_t n);

/* Time passes. */
void flow_log_time(flow_log *log, uint64_t now_ns);

/* An attempt was not answered. */
void flow_log_timeout(flow_log *log, const pending_attempt *attempt, uint64_t time_ns);

#endif
