/* events.c - see events.h. */
#include "events.h"

#include <arpa/inet.h>
#include <string.h>

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

static bool has_ports(const flow_tuple *flow) {
    return flow->protocol != PROTOCOL_ICMP && flow->protocol != PROTOCOL_ICMP6;
}

static void write_end(const flow_tuple *flow, bool is_high, const char *name,
                      const char *port_name) {
    address_text text;
    address_write(flow->address[is_high], flow->version, text);
    json_text(name, text);
    if (has_ports(flow)) json_count(port_name, flow->port[is_high]);
}

/* ICMP has no ports. The identifier tells the pings of two hosts apart. */
static void write_identifier(const flow_tuple *flow) {
    if (!has_ports(flow)) json_count("id", flow->extra);
}

/* Both ends. If the machine does not know which is the client, the sender is `from`. */
static void write_ends(const machine *m, const tracked *p) {
    bool const is_opening = p->before == TAMIS_ERR_ABSENT || p->rule->opens;
    bool const is_known = !m->is_plain || is_opening;
    bool const first = is_known ? p->is_client_high : p->p.is_from_high;
    write_end(&p->p.flow, first, is_known ? "client" : "from",
              is_known ? "client_port" : "from_port");
    write_end(&p->p.flow, !first, is_known ? "server" : "to", is_known ? "server_port" : "to_port");
    write_identifier(&p->p.flow);
    if (p->rule->is_guess) json_bool("is_guess", true);
}

void events_flow(const machine *m, const tracked *p) {
    const machine_event *const event = &m->events[p->rule->event];
    json_open(NULL, '{');
    json_text("event", event->is_anomaly ? "anomaly" : event->name);
    if (event->is_anomaly) json_text("what", event->name);
    json_seconds("time", p->time_ns);
    write_protocol(p->p.flow.protocol);
    write_ends(m, p);
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

void events_full(bool is_refused, uint64_t n_flows, uint64_t time_ns) {
    json_open(NULL, '{');
    json_text("event", "full");
    json_seconds("time", time_ns);
    json_text("action", is_refused ? "refusing" : "evicting");
    json_count("flows_now", n_flows);
    json_close('}');
}

static void write_address(const char *name, const uint8_t *address, uint8_t version) {
    address_text text;
    address_write(address, version, text);
    json_text(name, text);
}

/* Of retries, a target is named: there are few. */
void events_write_scan(const scans *s, uint16_t i, scan_verdict verdict, scan_span span) {
    const scan_source *const source = &s->sources[i];
    scan_figures const       known = scans_figures(source, span);
    write_address("source", s->list.hosts[i].address, s->list.hosts[i].version);
    if (verdict == SCAN_RETRIES) {
        write_address("target", source->target.address, source->target.version);
        if (source->target.port != 0) json_count("target_port", source->target.port);
    }
    json_count("attempts", known.attempts);
    json_count("answered", known.answers);
    json_count("hosts", known.hosts);
    json_count("ports", known.ports);
}

static void open_anomaly(const char *title, uint64_t time_ns) {
    json_open(NULL, '{');
    json_text("event", "anomaly");
    json_text("what", title);
    json_seconds("time", time_ns);
}

void events_scan(const scans *s, uint16_t source, uint64_t time_ns) {
    scan_verdict const verdict = s->sources[source].latest;
    open_anomaly(verdict == SCAN_LIKELY ? "likely scan" : "retries of a dead service", time_ns);
    events_write_scan(s, source, verdict, SCAN_WINDOW);
    json_close('}');
}

void events_write_flood(const flood *found, uint64_t n_flows) {
    json_text("kind", flood_kind_name(found->kind));
    write_address("target", found->target.address, found->target.version);
    if (found->target.port != 0) json_count("target_port", found->target.port);
    if (found->source.version != 0)
        write_address("source", found->source.address, found->source.version);
    json_count("flows", n_flows);
}

void events_flood(const flood *found, uint64_t time_ns) {
    open_anomaly("flood", time_ns);
    events_write_flood(found, found->in_window);
    json_close('}');
}

void events_timeout(const ends_flow *attempt, uint64_t time_ns) {
    json_open(NULL, '{');
    json_text("event", "timeout");
    json_seconds("time", time_ns);
    write_protocol(attempt->flow.protocol);
    write_end(&attempt->flow, attempt->is_client_high, "client", "client_port");
    write_end(&attempt->flow, !attempt->is_client_high, "server", "server_port");
    write_identifier(&attempt->flow);
    json_close('}');
}

void events_write_rows(const top *t, top_role role, top_measure measure) {
    top_row      rows[EVENTS_ROWS];
    size_t const n = top_rows(t, role, measure, rows, EVENTS_ROWS);
    for (size_t i = 0; i < n; i++) {
        json_open(NULL, '{');
        write_address("address", rows[i].host.address, rows[i].host.version);
        if (rows[i].host.port != 0) json_count("service_port", rows[i].host.port);
        json_count("count", rows[i].count);
        json_close('}');
    }
}

void events_top(const top *t, uint64_t time_ns) {
    for (unsigned i = 0; i < N_TOP_ROLES * N_TOP_MEASURES; i++) {
        top_role const    role = (top_role)(i / N_TOP_MEASURES);
        top_measure const measure = (top_measure)(i % N_TOP_MEASURES);
        top_row           first;
        if (top_rows(t, role, measure, &first, 1) == 0) continue;
        json_open(NULL, '{');
        json_text("event", "top");
        json_seconds("time", time_ns);
        json_text("role", top_role_name(role));
        json_text("by", top_measure_name(measure));
        json_open("hosts", '[');
        events_write_rows(t, role, measure);
        json_close(']');
        json_close('}');
    }
}
