/* events.h - print events of flows as JSON, one object per line, as they happen. */
#ifndef FLOWS_EVENTS_H
#define FLOWS_EVENTS_H

#include "ends.h"
#include "floods.h"
#include "scans.h"
#include "top.h"
#include "tracker.h"

#define EVENTS_ROWS 10 /* of a list of hosts */

typedef char address_text[48];

void address_write(const uint8_t *address, uint8_t version, address_text ret_text);

/* "tcp", "udp", ...; NULL: no name known. */
const char *protocol_name(uint8_t protocol);

/* The rule that applied to a packet has an event. */
void events_flow(const machine *m, const tracked *p);

/* n flows in a state have timed out. */
void events_aged(const machine_state *state, uint64_t n, uint64_t time_ns);

/* The table is full: "evicting", or, if nothing can be forgotten, "refusing". */
void events_full(bool is_refused, uint64_t n_flows, uint64_t time_ns);

/* A source has become a likely scan, or tries a dead service again and again. */
void events_scan(const scans *s, uint16_t source, uint64_t time_ns);

/* A flood of flows that nobody answers has begun. */
void events_flood(const flood *found, uint64_t time_ns);

/* Nobody has answered an attempt in time. */
void events_timeout(const ends_flow *attempt, uint64_t time_ns);

/* The first hosts of all lists, one event for each list. */
void events_top(const top *t, uint64_t time_ns);

/* The fields of a source with scans, of a flood, and of the rows of a list: for events, intervals
 * and the summary. */
void events_write_scan(const scans *s, uint16_t source, scan_verdict verdict, scan_span span);
void events_write_flood(const flood *found, uint64_t n_flows);
void events_write_rows(const top *t, top_role role, top_measure measure);

#endif
