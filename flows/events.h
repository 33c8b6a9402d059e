/* events.h - what happens to flows, as JSON: one object per line, as it happens. */
#ifndef FLOWS_EVENTS_H
#define FLOWS_EVENTS_H

#include "scans.h"
#include "tracker.h"

typedef char address_text[48];

void address_write(const uint8_t *address, uint8_t version, address_text ret_text);

/* "tcp", "udp", ...; NULL where we have no name. */
const char *protocol_name(uint8_t protocol);

/* A rule with an event applied to a packet. */
void events_flow(const machine *m, const tracked *p);

/* Flows in a state were silent for too long. */
void events_aged(const machine_state *state, uint64_t n, uint64_t time_ns);

/* A source has become a likely scan. */
void events_scan(const scan_source *source, uint64_t time_ns);

#endif
