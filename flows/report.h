/* report.h - the report at the end of a session, for people (report.c) and programs (summary.c). */
#ifndef FLOWS_REPORT_H
#define FLOWS_REPORT_H

#include "session.h"

void report_print(const session *s);
void summary_print(const session *s);

/* A part of the report: scans, and the lists of busy hosts (report_hosts.c). */
void report_print_hosts(const session *s);

/* For both: */

typedef struct report_state { /* all states that are shown under one name */
    const char *name;
    uint64_t    now, aged;
    bool        is_half_open;
} report_state;

/* Sum up the states by shown name. Returns how many names there are, at most MACHINE_STATES. */
unsigned report_states(const session *s, report_state *ret_states);

uint64_t report_flows_now(const session *s);
double   report_duration(const session *s); /* of the capture, in seconds */

/* Bits of the table per flow of its capacity. For an exact table: per flow at its peak. */
double report_bits_per_flow(const table_info *info);

#endif
