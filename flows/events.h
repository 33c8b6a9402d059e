/* events.h - print events of flows as JSON, one object per line, as they happen. */
#ifndef FLOWS_EVENTS_H
#define FLOWS_EVENTS_H

#include "scans.h"
#include "tracker.h"

typedef char address_text[48];

void address_write(const uint8_t *address, uint8_t version, address_text ret_text);

/* "tcp", "udp", ...; NULL: no name known. */
const char *protocol_name(uint8_t protocol);

/* The rule that applied to a packet has an event. */
void events_flow(const machine *m, const tracked *p);

/* n flows in a state have timed out. */
void events_aged(const machine_state *state, uint64_t n, uint64_t time_ns);

/* A source has become a likely scan. */
void events_scan(const scan_source *source, uint64_t time_ns);

#endif
