/* lanes.h - capture from interfaces until a signal comes, on one core or several.
 *
 *     interface -> ring -> lane: clock, parser, tracker, table  \
 *                                                               -> scans, events (one at a time)
 *     interface -> ring -> lane: clock, parser, tracker, table  /
 *
 * A lane is a session with a clock, a table and counters of its own. What is learned from packets
 * of many flows, as likely scans, is kept once, behind a lock that is taken for 128 packets at a
 * time. A report adds up the lanes.
 */
#ifndef FLOWS_LANES_H
#define FLOWS_LANES_H

#include "upkeep.h"

/* Capture until capture_stop() or until -c says so. Then s has the sums of all lanes. If the
 * interfaces cannot be opened, says why; s->n_captures stays 0. */
void lanes_capture(session *s, upkeep *u);

#endif
