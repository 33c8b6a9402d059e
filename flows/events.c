/* events.c - see events.h. */
#include "events.h"

#include <arpa/inet.h>
#include <math.h>

#include "json.h"

void address_write(const uint8_t *address, uint8_t version, address_text ret_text) {
    if (inet_ntop(version == 4 ? AF_INET : AF_INET6, address, ret_text, sizeof(address_text)) ==
        NULL) {
        ret_text[0] = '\0';
    }
}

const char *protocol_name(uint8_t protocol) {
    switch (protocol) {
    case PROTOCOL_TCP: return "tcp";
    case PROTOCOL_UDP: return "udp";
    case PROTOCOL_ICMP: return "icmp";
    case PROTOCOL_ICMP6: return "icmp6";
    case 132: return "sctp";
    default: return NULL;
    }
}

static void write_protocol(uint8_t protocol) {
    const char *const name = protocol_name(protocol);
    if (name != NULL)
        json_text("protocol", name);
    else
        json_count("protocol", protocol);
}

static void write_end(const flow_tuple *flow, bool is_high, const char *name,
                      const char *port_name) {
    address_text text;
    address_write(flow->address[is_high], flow->version, text);
    json_text(name, text);
    json_count(port_name, flow->port[is_high]);
}

/* Which end opened the flow? If the machine does not keep that: which end sent the packet? */
static bool is_client_high(const machine *m, const tracked *p) {
    if (!m->has_direction) return p->p.is_from_high;
    if (p->step == TAMIS_STEP_SET) return (p->to & 1) != 0;
    return p->before == TAMIS_OK ? (p->value & 1) != 0 : p->p.is_from_high;
}

void events_flow(const machine *m, const tracked *p) {
    const machine_event *const event = &m->events[p->rule->event];
    bool const                 client = is_client_high(m, p);
    json_open(NULL, '{');
    json_text("event", event->is_anomaly ? "anomaly" : event->name);
    if (event->is_anomaly) json_text("what", event->name);
    json_seconds("time", p->time_ns);
    write_protocol(p->p.flow.protocol);
    write_end(&p->p.flow, client, "client", "client_port");
    write_end(&p->p.flow, !client, "server", "server_port");
    json_close('}');
}

void events_aged(const machine_state *state, uint64_t n, uint64_t time_ns) {
    json_open(NULL, '{');
    json_text("event", "aged");
    json_seconds("time", time_ns);
    json_text("state", state->shown);
    json_count("flows", n);
    json_close('}');
}

void events_scan(const scan_source *source, uint64_t time_ns) {
    address_text text;
    address_write(source->address, source->version, text);
    json_open(NULL, '{');
    json_text("event", "anomaly");
    json_text("what", "likely scan");
    json_seconds("time", time_ns);
    json_text("source", text);
    json_count("attempts", source->attempts);
    json_count("answered", source->answers);
    json_count("hosts", (uint64_t)llround(scans_hosts(source)));
    json_count("ports", (uint64_t)llround(scans_ports(source)));
    json_close('}');
}
