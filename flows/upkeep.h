/* upkeep.h - what a long run needs beside packets: signals, output files, intervals, metrics.
 *
 *     SIGUSR1     print a report of everything until now
 *     SIGHUP      open the output file and the flow log again, for programs like logrotate(8)
 *     --rotate    begin a new one when it is large
 *     --interval  report what happened in each interval (intervals.c)
 *     --metrics   write counters for Prometheus (metrics.c)
 *
 * A signal sets a flag. The flags and the time are looked at between packets, so a report is never
 * made in the middle of one.
 */
#ifndef FLOWS_UPKEEP_H
#define FLOWS_UPKEEP_H

#include "intervals.h"

typedef struct upkeep {
    const options *asked;
    intervals      intervals;
    bool           is_begun;
    uint64_t       metrics_ns;     /* when to write them next; UINT64_MAX: at the end only */
    uint64_t       written_before; /* output_written() minus the size of the output file */
    flow_log      *log;
    bool           has_table;
    table_info     table; /* of the table of flows; to get it takes time, and most of it stays */
} upkeep;

/* From a signal handler. */
void upkeep_signal(int number);

/* Open the output file, or end the program. Before anything is printed. */
void upkeep_open_output(upkeep *u, const options *asked);

/* Packets begin to arrive, at this time since 1970. Live, this time is that of the system's clock;
 * otherwise it is that of the capture. */
void upkeep_begin(upkeep *u, const session *s, uint64_t now_ns);

/* Is there something to do? Called often. If so, do it. now_ns 0: only what a signal asks for, and
 * rotation. */
bool upkeep_is_due(const upkeep *u, uint64_t now_ns);
void upkeep_do(upkeep *u, session *s, uint64_t now_ns);

/* Print a report, as text or as JSON. */
void upkeep_report(const session *s);

/* After the last packet, and after the table has aged: the last interval, the last metrics. */
void upkeep_end(upkeep *u, session *s);

#endif
