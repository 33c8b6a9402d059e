/* report.h - the end of a session, for people (report.c) and for programs (summary.c). */
#ifndef FLOWS_REPORT_H
#define FLOWS_REPORT_H

#include "session.h"

#define REPORT_SCANS 10 /* at most so many sources are listed */

void report_print(const session *s);
void summary_print(const session *s);

/* What both of them want to know. */

typedef struct report_state { /* states that are shown under one name */
    const char *name;
    uint64_t    now, aged;
    bool        is_half_open;
} report_state;

/* Returns how many there are, at most MACHINE_STATES. */
unsigned report_states(const session *s, report_state *ret_states);

uint64_t report_flows_now(const session *s);
double   report_duration(const session *s); /* of the capture, in seconds */

/* Bits of the table for each flow that it is made for (of an exact one: each that it held). */
double report_bits_per_flow(const table_info *info);

#endif
