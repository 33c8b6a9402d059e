/* session.h - everything that one run of tamis-flows needs, and the way of a packet through it:
 *
 *     capture -> clock -> packet_parse() -> tracker (machine, table) -> scans, events, check
 *                                       \-> timeline, counts of what was passed over
 */
#ifndef FLOWS_SESSION_H
#define FLOWS_SESSION_H

#include "capture.h"
#include "check.h"
#include "options.h"
#include "scans.h"
#include "timeline.h"

typedef struct session {
    const options *asked;
    machine        m;
    table_spec     spec;
    table         *flows;
    tracker        tracker;
    bool           has_check;
    check          check;
    scans          scans;
    timeline       line;
    flow_clock     clock;

    uint64_t packets, bytes; /* that came, as they were on the wire */
    uint64_t skipped[N_PACKET_SKIPS];
    uint64_t others;            /* packets of IP that are none of the machine's business */
    int      unknown_link_type; /* the last one that was not read */
    uint64_t dropped;           /* by the kernel */

    uint64_t shown_packets; /* in the line on the terminal, at its time in this capture */
    double   shown_seconds;

    size_t n_captures; /* that could be opened */
    double seconds;    /* that it took */
    bool   is_broken;  /* a capture was cut, damaged, or not there */
} session;

/* Make the machine and the table, or end the program. */
void session_begin(session *ret_session, const options *asked);

/* Read one capture to its end. One that cannot be opened is told, and the others count. */
void session_read(session *s, const char *name);

/* Nothing more comes. */
void session_finish(session *s);
void session_end(session *s);

#endif
