/* watch.h - what is learned from packets after they went through the table: likely scans, events,
 * and new flows over time.
 *
 *     tracker -> watch_batch() -> scans, events, timeline
 */
#ifndef FLOWS_WATCH_H
#define FLOWS_WATCH_H

#include "scans.h"
#include "timeline.h"
#include "tracker.h"

typedef struct watch {
    const machine *m;
    timeline      *line;
    bool           is_json; /* print events */
    scans          scans;
} watch;

void watch_init(watch *ret_watch, const machine *m, timeline *line, uint64_t seed, bool is_json);

/* A batch went through the table; the arguments are those of the tracker's on_batch hook. */
void watch_batch(watch *w, const tracked *batch, const tamis_status *after, size_t n);

/* n flows in a state have timed out. */
void watch_aged(watch *w, unsigned state, uint64_t n, uint64_t time_ns);

#endif
