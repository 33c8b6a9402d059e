/* session.h - everything that one run of tamis-flows needs, and the path of a packet through it:
 *
 *     capture -> clock -> packet_parse() -> tracker (machine, table) -> watch, check
 *                                       \-> timeline, counts of skipped packets
 */
#ifndef FLOWS_SESSION_H
#define FLOWS_SESSION_H

#include <pthread.h>

#include "capture.h"
#include "check.h"
#include "options.h"
#include "watch.h"

struct upkeep;

typedef struct session {
    const options *asked;
    machine        m;
    table_spec     spec;
    table         *flows;
    tracker        tracker;
    bool           has_check;
    check          check;
    watch          watch;
    flow_log_spec  log;
    timeline       line;
    flow_clock     clock;

    uint64_t packets, bytes; /* of all packets, with their length on the wire */
    uint64_t skipped[N_PACKET_SKIPS];
    uint64_t others;            /* IP packets that the machine does not handle */
    int      unknown_link_type; /* the last one */
    uint64_t dropped;           /* live: by the kernel or the network card */

    struct session *main; /* this one; of the session of a lane (lanes.c): the one for all lanes */
    pthread_mutex_t lock; /* of the main one: held while a lane reports packets to it */

    struct upkeep *upkeep; /* of captures from files, and */
    uint64_t due_ns; /* the time of the clock when it has something to do; UINT64_MAX: never */

    bool     has_loaded; /* --state: flows of an earlier run, for which no time has passed yet */
    uint64_t saved_ns;   /* the time of the last packet of that run */

    uint64_t shown_packets; /* `packets` when the progress line was last printed, and */
    double   shown_seconds; /* the time then, since this capture was opened */

    size_t n_captures; /* opened so far */
    double seconds;    /* spent reading them */
    bool   is_broken;  /* a capture could not be read to its end, or a file not be written */
} session;

/* Make the machine and the table, or end the program. */
void session_begin(session *ret_session, const options *asked, struct upkeep *upkeep);

/* Begin the session of one of n lanes: it has a table of its own, with its share of the room. */
void session_begin_lane(session *ret_lane, session *main, unsigned n);

/* --state: packets begin at this time since 1970. The flows that were loaded are so much older. */
void session_resume(session *s, uint64_t now_ns);

/* Read one capture to its end. If it cannot be opened, print why; the others are still read. */
void session_read(session *s, const char *name);

/* A packet arrives, of any capture. A capture_sink; `context` is a session. */
void session_on_packet(void *context, const capture_packet *raw);

/* How many packets to read next; 0: as many as were asked for have come. */
size_t session_packets_to_read(const session *s);

/* Show the progress line if it is due. `bytes` of the input were read so far. */
void session_show_progress(session *s, uint64_t bytes);

/* After the last capture: finish ageing and checking, so that the report is complete. */
void session_finish(session *s);

/* The time of the last packet, for a run that continues this one. */
static inline uint64_t session_time(const session *s) {
    return s->clock.is_begun ? s->clock.latest_ns : s->saved_ns;
}

/* Free everything. */
void session_end(session *s);

#endif
