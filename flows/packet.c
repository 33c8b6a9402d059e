/* packet.c - see packet.h.
 *
 * Idea: a cursor over the captured bytes goes down the layers, and every read asks it first. How
 * much there was on the wire is counted beside it: so sizes are right in a capture that was cut.
 *
 * Nothing here trusts a length: the IP length only ever makes the rest smaller (the frames of
 * Ethernet are padded), never larger. A length of 0 is what offloading network cards leave behind,
 * and means all that there is.
 */
#include "packet.h"

#include <assert.h>
#include <string.h>

#include "link.h"

#define MAX_EXTENSIONS 16
#define MAX_TUNNELS 4

static_assert(sizeof(flow_tuple) == 38, "no padding: its bytes are hashed");

/* ------------------------------------------------------------------ names */

static const struct {
    const char *name, *text;
} skips[N_PACKET_SKIPS] = {
    [PACKET_TAKEN] = { "taken", "taken" },
    [PACKET_NOT_IP] = { "not_ip", "not IP" },
    [PACKET_FRAGMENT] = { "fragment", "later fragments" },
    [PACKET_CUT] = { "cut", "headers cut off by the snapshot length" },
    [PACKET_SHORT_LINK] = { "short_link", "shorter than the link header" },
    [PACKET_SHORT_IP] = { "short_ip", "shorter than the IP header" },
    [PACKET_SHORT_TRANSPORT] = { "short_transport", "shorter than the TCP, UDP or ICMP header" },
    [PACKET_BAD_LINK] = { "bad_link", "malformed link header" },
    [PACKET_BAD_IP] = { "bad_ip", "malformed IP header" },
    [PACKET_BAD_EXTENSIONS] = { "bad_extensions", "too many IPv6 extension headers" },
    [PACKET_BAD_TRANSPORT] = { "bad_transport", "malformed TCP or UDP header" },
    [PACKET_UNKNOWN_LINK_TYPE] = { "unknown_link_type", "a link type that is not read" },
};

const char *packet_skip_text(packet_skip skip) {
    return skips[skip].text;
}

const char *packet_skip_name(packet_skip skip) {
    return skips[skip].name;
}

/* ------------------------------------------------------------------ on the way down */

typedef struct parse {
    cursor         rest;
    const uint8_t *begin;
    size_t         wire_bytes; /* from `begin` to the end of the packet, captured or not */
    const uint8_t *source;     /* addresses, in the captured bytes */
    const uint8_t *destination;
    uint8_t        version, protocol;
    uint16_t       from_port, to_port;
} parse;

static const uint8_t *take(parse *p, size_t n) {
    return cursor_take(&p->rest, n);
}

/* Bytes that there were on the wire behind those that are read. Never fewer than 0: nothing is
 * captured that was not there. */
static size_t on_wire(const parse *p) {
    return p->wire_bytes - (size_t)(p->rest.at - p->begin);
}

/* The packet says that it ends after n more bytes: what follows is padding. */
static void end_after(parse *p, size_t n) {
    if (n < on_wire(p)) p->wire_bytes -= on_wire(p) - n;
    if (n < cursor_left(&p->rest)) p->rest.end = p->rest.at + n;
}

/* ------------------------------------------------------------------ TCP, UDP, ICMP */

static void take_ports(parse *p, const uint8_t *header) {
    p->from_port = big16(header);
    p->to_port = big16(header + 2);
}

/* The first 14 bytes tell all that we want, so the others may be cut off; but not missing. */
static packet_skip parse_tcp(parse *p, packet *to) {
    size_t const         there = on_wire(p);
    const uint8_t *const header = take(p, 14);
    if (header == NULL || there < 20) return PACKET_SHORT_TRANSPORT;
    size_t const header_bytes = (size_t)(header[12] >> 4) * 4;
    if (header_bytes < 20 || header_bytes > there) return PACKET_BAD_TRANSPORT;
    take_ports(p, header);
    to->flags = header[13];
    to->payload_bytes = (uint32_t)(there - header_bytes);
    return PACKET_TAKEN;
}

static packet_skip parse_udp(parse *p, packet *to) {
    const uint8_t *const header = take(p, 8);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    size_t const length = big16(header + 4);
    if (length != 0 && length < 8) return PACKET_BAD_TRANSPORT;
    take_ports(p, header);
    size_t const there = on_wire(p), announced = length != 0 ? length - 8 : there;
    to->payload_bytes = (uint32_t)(announced < there ? announced : there);
    return PACKET_TAKEN;
}

static bool is_echo(const parse *p, uint8_t type) {
    return p->version == 4 ? type == 0 || type == 8 : type == 128 || type == 129;
}

/* A question and its answer are one flow, by the identifier that they share. */
static packet_skip parse_icmp(parse *p, packet *to) {
    const uint8_t *const header = take(p, 4);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    to->type = header[0];
    if (is_echo(p, to->type)) {
        const uint8_t *const rest = take(p, 4);
        if (rest == NULL) return PACKET_SHORT_TRANSPORT;
        p->from_port = p->to_port = big16(rest);
    }
    to->payload_bytes = (uint32_t)on_wire(p);
    return PACKET_TAKEN;
}

/* SCTP, DCCP and UDP-Lite have their ports where UDP has them. */
static packet_skip parse_with_ports(parse *p, packet *to) {
    const uint8_t *const header = take(p, 4);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    take_ports(p, header);
    to->payload_bytes = (uint32_t)on_wire(p);
    return PACKET_TAKEN;
}

static packet_skip parse_transport(parse *p, packet *to) {
    switch (p->protocol) {
    case PROTOCOL_TCP: return parse_tcp(p, to);
    case PROTOCOL_UDP: return parse_udp(p, to);
    case PROTOCOL_ICMP:
    case PROTOCOL_ICMP6: return parse_icmp(p, to);
    case 33:
    case 132:
    case 136: return parse_with_ports(p, to);
    default: to->payload_bytes = (uint32_t)on_wire(p); return PACKET_TAKEN;
    }
}

/* ------------------------------------------------------------------ IP */

static packet_skip parse_ipv4(parse *p, packet *to) {
    size_t const         there = on_wire(p);
    const uint8_t *const header = take(p, 20);
    if (header == NULL) return PACKET_SHORT_IP;
    size_t const header_bytes = (size_t)(header[0] & 0x0f) * 4, length = big16(header + 2);
    if (header_bytes < 20 || header_bytes > there) return PACKET_BAD_IP;
    if (length != 0 && length < header_bytes) return PACKET_BAD_IP;
    if (take(p, header_bytes - 20) == NULL) return PACKET_SHORT_IP;
    if (length != 0) end_after(p, length - header_bytes);
    p->source = header + 12;
    p->destination = header + 16;
    p->version = 4;
    p->protocol = header[9];
    unsigned const fragment = big16(header + 6);
    if ((fragment & 0x1fff) != 0) return PACKET_FRAGMENT;
    to->is_fragment |= (fragment & 0x2000) != 0;
    return PACKET_TAKEN;
}

/* Hop-by-hop, routing, fragment, authentication, destination, mobility, HIP, shim6. */
static bool is_extension(uint8_t protocol) {
    return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 || protocol == 60 ||
           protocol == 135 || protocol == 139 || protocol == 140;
}

static size_t extension_bytes(uint8_t protocol, const uint8_t *begin) {
    if (protocol == 44) return 8;
    if (protocol == 51) return ((size_t)begin[1] + 2) * 4;
    return ((size_t)begin[1] + 1) * 8;
}

/* One extension header; p->protocol becomes what follows it. */
static packet_skip parse_extension(parse *p, packet *to) {
    const uint8_t *const begin = take(p, 8);
    if (begin == NULL) return PACKET_SHORT_IP;
    size_t const bytes = extension_bytes(p->protocol, begin);
    if (take(p, bytes - 8) == NULL) return PACKET_SHORT_IP;
    if (p->protocol == 44) {
        unsigned const fragment = big16(begin + 2);
        if ((fragment & 0xfff8) != 0) return PACKET_FRAGMENT;
        to->is_fragment |= (fragment & 1) != 0;
    }
    p->protocol = begin[0];
    return PACKET_TAKEN;
}

static packet_skip parse_ipv6(parse *p, packet *to) {
    const uint8_t *const header = take(p, 40);
    if (header == NULL) return PACKET_SHORT_IP;
    size_t const length = big16(header + 4);
    if (length != 0) end_after(p, length);
    p->source = header + 8;
    p->destination = header + 24;
    p->version = 6;
    p->protocol = header[6];
    for (unsigned i = 0; is_extension(p->protocol); i++) {
        if (i == MAX_EXTENSIONS) return PACKET_BAD_EXTENSIONS;
        packet_skip const skip = parse_extension(p, to);
        if (skip != PACKET_TAKEN) return skip;
    }
    return PACKET_TAKEN;
}

static packet_skip parse_ip(parse *p, packet *to) {
    if (cursor_left(&p->rest) == 0) return PACKET_SHORT_IP;
    switch (*p->rest.at >> 4) {
    case 4: return parse_ipv4(p, to);
    case 6: return parse_ipv6(p, to);
    default: return PACKET_BAD_IP;
    }
}

/* IP in IP, of either version: the flow is that of the innermost. */
static packet_skip parse_tunnels(parse *p, packet *to) {
    packet_skip skip = parse_ip(p, to);
    for (unsigned i = 0; i < MAX_TUNNELS && skip == PACKET_TAKEN; i++) {
        bool const is_tunnel = p->protocol == PROTOCOL_IPV4 || p->protocol == PROTOCOL_IPV6;
        if (!is_tunnel) break;
        skip = parse_ip(p, to);
    }
    return skip;
}

/* ------------------------------------------------------------------ the tuple */

/* Addresses as numbers, so that they can be compared at once. */
static int compare4(const uint8_t *a, const uint8_t *b) {
    uint32_t const x = big32(a), y = big32(b);
    return (x > y) - (x < y);
}

/* The lower end first. The bytes behind an IPv4 address are zero already. */
static void fold(const parse *p, packet *to) {
    bool const is_v4 = p->version == 4;
    int const  order =
        is_v4 ? compare4(p->source, p->destination) : memcmp(p->source, p->destination, 16);
    bool const  is_from_high = order > 0 || (order == 0 && p->from_port > p->to_port);
    flow_tuple *flow = &to->flow;
    if (is_v4) {
        memcpy(flow->address[is_from_high], p->source, 4);
        memcpy(flow->address[!is_from_high], p->destination, 4);
    } else {
        memcpy(flow->address[is_from_high], p->source, 16);
        memcpy(flow->address[!is_from_high], p->destination, 16);
    }
    flow->port[is_from_high] = p->from_port;
    flow->port[!is_from_high] = p->to_port;
    flow->protocol = p->protocol;
    flow->version = p->version;
    to->is_from_high = is_from_high;
}

/* ------------------------------------------------------------------ all together */

static packet_skip parse_layers(parse *p, int link_type, packet *to) {
    packet_skip skip = link_strip(&p->rest, link_type);
    if (skip != PACKET_TAKEN) return skip;
    skip = parse_tunnels(p, to);
    return skip == PACKET_TAKEN ? parse_transport(p, to) : skip;
}

static bool is_short(packet_skip skip) {
    return skip == PACKET_SHORT_LINK || skip == PACKET_SHORT_IP || skip == PACKET_SHORT_TRANSPORT;
}

packet_skip packet_parse(const uint8_t *bytes, size_t captured, size_t wire_bytes, int link_type,
                         packet *ret_packet) {
    if (wire_bytes < captured) wire_bytes = captured;
    parse p = { .rest = { bytes, bytes + captured }, .begin = bytes, .wire_bytes = wire_bytes };
    *ret_packet = (packet){ 0 };
    packet_skip const skip = parse_layers(&p, link_type, ret_packet);
    if (skip == PACKET_TAKEN) {
        fold(&p, ret_packet);
        return PACKET_TAKEN;
    }
    /* Would it have been complete? Where the capture ends, nobody can tell. */
    bool const is_cut = captured < wire_bytes && p.rest.end == bytes + captured;
    return is_short(skip) && is_cut ? PACKET_CUT : skip;
}
