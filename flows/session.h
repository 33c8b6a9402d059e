/* session.h - everything that one run of tamis-flows needs, and the path of a packet through it:
 *
 *     capture -> clock -> packet_parse() -> tracker (machine, table) -> watch, check
 *                                       \-> timeline, counts of skipped packets
 */
#ifndef FLOWS_SESSION_H
#define FLOWS_SESSION_H

#include "capture.h"
#include "check.h"
#include "options.h"
#include "watch.h"

typedef struct session {
    const options *asked;
    machine        m;
    table_spec     spec;
    table         *flows;
    tracker        tracker;
    bool           has_check;
    check          check;
    watch          watch;
    timeline       line;
    flow_clock     clock;

    uint64_t packets, bytes; /* of all packets, with their length on the wire */
    uint64_t skipped[N_PACKET_SKIPS];
    uint64_t others;            /* IP packets that the machine does not handle */
    int      unknown_link_type; /* the last one */
    uint64_t dropped;           /* by the kernel */

    uint64_t shown_packets; /* `packets` when the progress line was last printed, and */
    double   shown_seconds; /* the time then, since this capture was opened */

    size_t n_captures; /* opened so far */
    double seconds;    /* spent reading them */
    bool   is_broken;  /* a capture was cut off or damaged, or could not be opened */
} session;

/* Make the machine and the table, or end the program. */
void session_begin(session *ret_session, const options *asked);

/* Read one capture to its end. If it cannot be opened, print why; the others are still read. */
void session_read(session *s, const char *name);

/* After the last capture: finish ageing and checking, so that the report is complete. */
void session_finish(session *s);

/* Free everything. */
void session_end(session *s);

#endif
