/* packet.c - see packet.h.
 *
 * Idea: a cursor over the captured bytes goes down the layers, and every read is checked by it. The
 * length on the wire is counted beside it, so that sizes are right in a capture with a small
 * snapshot length.
 *
 * Lengths in headers are not trusted: the IP length can only shorten the rest (Ethernet pads short
 * frames), never lengthen it. A length of 0 comes from network cards that split packets themselves,
 * and means the whole rest.
 */
#include "packet.h"

#include <assert.h>
#include <string.h>

#include "tunnel.h"

#define MAX_EXTENSIONS 16

static_assert(sizeof(flow_tuple) == 40, "padding would be hashed");

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
    [PACKET_UNKNOWN_LINK_TYPE] = { "unknown_link_type", "unsupported link type" },
};

const char *packet_skip_text(packet_skip skip) {
    return skips[skip].text;
}

const char *packet_skip_name(packet_skip skip) {
    return skips[skip].name;
}

/* ------------------------------------------------------------------ state of the parser */

typedef struct parse {
    cursor         rest;
    const uint8_t *begin;
    size_t         wire_bytes; /* from `begin` to the end of the packet, captured or not */
    const uint8_t *source;     /* addresses, within the captured bytes */
    const uint8_t *destination;
    uint8_t        version, protocol;
    uint16_t       from_port, to_port;
} parse;

static const uint8_t *parse_take(parse *p, size_t n) {
    return cursor_take(&p->rest, n);
}

/* Bytes on the wire after those that were consumed. Never negative: no more is captured than was on
 * the wire. */
static size_t on_wire(const parse *p) {
    return p->wire_bytes - (size_t)(p->rest.at - p->begin);
}

/* A header says that the packet ends after n more bytes. The rest is padding. */
static void end_after(parse *p, size_t n) {
    if (n < on_wire(p)) p->wire_bytes -= on_wire(p) - n;
    if (n < cursor_left(&p->rest)) p->rest.end = p->rest.at + n;
}

/* ------------------------------------------------------------------ TCP, UDP, ICMP */

static void take_ports(parse *p, const uint8_t *header) {
    p->from_port = big16(header);
    p->to_port = big16(header + 2);
}

/* The first 14 bytes are enough, so the others may be cut off by the capture. But the packet on the
 * wire must have a whole header. */
static packet_skip parse_tcp(parse *p, packet *out) {
    size_t const         left = on_wire(p);
    const uint8_t *const header = parse_take(p, 14);
    if (header == NULL || left < 20) return PACKET_SHORT_TRANSPORT;
    size_t const header_bytes = (size_t)(header[12] >> 4) * 4;
    if (header_bytes < 20 || header_bytes > left) return PACKET_BAD_TRANSPORT;
    take_ports(p, header);
    out->flags = header[13];
    out->payload_at = (uint32_t)header_bytes;
    out->payload_bytes = (uint32_t)(left - header_bytes);
    return PACKET_TAKEN;
}

static packet_skip parse_udp(parse *p, packet *out) {
    const uint8_t *const header = parse_take(p, 8);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    size_t const length = big16(header + 4);
    if (length != 0 && length < 8) return PACKET_BAD_TRANSPORT;
    take_ports(p, header);
    size_t const left = on_wire(p), announced = length != 0 ? length - 8 : left;
    out->payload_bytes = (uint32_t)(announced < left ? announced : left);
    return PACKET_TAKEN;
}

/* An echo request and its reply are one flow: they share an identifier. It is not a port: a ping of
 * one host with many identifiers is no scan of ports. */
static packet_skip parse_icmp(parse *p, packet *out) {
    const uint8_t *const header = parse_take(p, 4);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    uint8_t const type = out->type = header[0];
    bool const    is_echo = p->version == 4 ? type == 0 || type == 8 : type == 128 || type == 129;
    if (is_echo) {
        const uint8_t *const rest = parse_take(p, 4);
        if (rest == NULL) return PACKET_SHORT_TRANSPORT;
        out->flow.extra = big16(rest);
    }
    out->payload_bytes = (uint32_t)on_wire(p);
    return PACKET_TAKEN;
}

/* SCTP, DCCP and UDP-Lite have their ports in the same place as UDP. */
static packet_skip parse_with_ports(parse *p, packet *out) {
    const uint8_t *const header = parse_take(p, 4);
    if (header == NULL) return PACKET_SHORT_TRANSPORT;
    take_ports(p, header);
    out->payload_bytes = (uint32_t)on_wire(p);
    return PACKET_TAKEN;
}

/* The payload begins where the header functions stop reading; TCP says where by itself. */
static packet_skip parse_header(parse *p, packet *out) {
    switch (p->protocol) {
    case PROTOCOL_TCP: return parse_tcp(p, out);
    case PROTOCOL_UDP: return parse_udp(p, out);
    case PROTOCOL_ICMP:
    case PROTOCOL_ICMP6: return parse_icmp(p, out);
    case 33:
    case 132:
    case 136: return parse_with_ports(p, out);
    default: out->payload_bytes = (uint32_t)on_wire(p); return PACKET_TAKEN;
    }
}

static packet_skip parse_transport(parse *p, packet *out) {
    const uint8_t *const begin = p->rest.at;
    packet_skip const    skip = parse_header(p, out);
    out->transport = begin;
    out->transport_bytes = (uint32_t)(p->rest.end - begin);
    if (p->protocol != PROTOCOL_TCP) out->payload_at = (uint32_t)(p->rest.at - begin);
    return skip;
}

/* ------------------------------------------------------------------ IP */

static packet_skip parse_ipv4(parse *p, packet *out) {
    size_t const         left = on_wire(p);
    const uint8_t *const header = parse_take(p, 20);
    if (header == NULL) return PACKET_SHORT_IP;
    size_t const header_bytes = (size_t)(header[0] & 0x0f) * 4, length = big16(header + 2);
    if (header_bytes < 20 || header_bytes > left) return PACKET_BAD_IP;
    if (length != 0 && length < header_bytes) return PACKET_BAD_IP;
    if (parse_take(p, header_bytes - 20) == NULL) return PACKET_SHORT_IP;
    if (length != 0) end_after(p, length - header_bytes);
    p->source = header + 12;
    p->destination = header + 16;
    p->version = 4;
    p->protocol = header[9];
    unsigned const fragment = big16(header + 6);
    if ((fragment & 0x1fff) != 0) return PACKET_FRAGMENT;
    out->is_fragment |= (fragment & 0x2000) != 0;
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

/* One extension header. p->protocol becomes the protocol that follows. */
static packet_skip parse_extension(parse *p, packet *out) {
    const uint8_t *const begin = parse_take(p, 8);
    if (begin == NULL) return PACKET_SHORT_IP;
    size_t const bytes = extension_bytes(p->protocol, begin);
    if (parse_take(p, bytes - 8) == NULL) return PACKET_SHORT_IP;
    if (p->protocol == 44) {
        unsigned const fragment = big16(begin + 2);
        if ((fragment & 0xfff8) != 0) return PACKET_FRAGMENT;
        out->is_fragment |= (fragment & 1) != 0;
    }
    p->protocol = begin[0];
    return PACKET_TAKEN;
}

static packet_skip parse_ipv6(parse *p, packet *out) {
    const uint8_t *const header = parse_take(p, 40);
    if (header == NULL) return PACKET_SHORT_IP;
    size_t const length = big16(header + 4);
    if (length != 0) end_after(p, length);
    p->source = header + 8;
    p->destination = header + 24;
    p->version = 6;
    p->protocol = header[6];
    for (unsigned i = 0; is_extension(p->protocol); i++) {
        if (i == MAX_EXTENSIONS) return PACKET_BAD_EXTENSIONS;
        packet_skip const skip = parse_extension(p, out);
        if (skip != PACKET_TAKEN) return skip;
    }
    return PACKET_TAKEN;
}

static inline packet_skip parse_outer_ip(parse *p, packet *out) {
    if (cursor_left(&p->rest) == 0) return PACKET_SHORT_IP;
    switch (*p->rest.at >> 4) {
    case 4: return parse_ipv4(p, out);
    case 6: return parse_ipv6(p, out);
    default: return PACKET_BAD_IP;
    }
}

/* The same for IP in a tunnel: not inlined, so that the path of other packets is short. */
static __attribute__((noinline)) packet_skip parse_ip(parse *p, packet *out) {
    return parse_outer_ip(p, out);
}

/* Is the packet longer than what was captured of it? */
static bool is_cut_off(const parse *p) {
    return on_wire(p) > cursor_left(&p->rest);
}

/* Can a tunnel begin here, other than IP in IP? */
static bool may_be_tunnel(const parse *p) {
    switch (p->protocol) {
    case PROTOCOL_UDP:
        return cursor_left(&p->rest) >= 8 &&
               tunnel_has_port(big16(p->rest.at), big16(p->rest.at + 2));
    case PROTOCOL_GRE:
    case PROTOCOL_ETHERIP:
    case PROTOCOL_L2TP:
    case PROTOCOL_MPLS: return true;
    default: return false;
    }
}

/* Consume the headers of a tunnel. False: there is none, and nothing is consumed. */
static bool enter_tunnel(parse *p) {
    if (p->protocol != PROTOCOL_UDP) return tunnel_enter(&p->rest, p->protocol);
    cursor inner = p->rest;
    inner.at += 8;
    if (!tunnel_enter_udp(&inner, big16(p->rest.at), big16(p->rest.at + 2))) return false;
    p->rest = inner;
    return true;
}

/* Look into a tunnel. If there is no right IP packet in what seemed to be one, *ret_is_outer is
 * set: the flow is the one outside. Of a packet that was cut off this is not known. */
static packet_skip parse_tunnel(parse *p, packet *out, bool *ret_is_outer) {
    parse const  outer = *p;
    packet const before = *out;
    packet_skip  skip = enter_tunnel(p) ? parse_ip(p, out) : PACKET_SHORT_IP;
    bool const   is_cut =
        skip == PACKET_SHORT_IP && is_cut_off(&outer) && p->rest.end == outer.rest.end;
    *ret_is_outer = skip != PACKET_TAKEN && skip != PACKET_FRAGMENT;
    if (!*ret_is_outer || is_cut) return skip;
    *p = outer;
    *out = before;
    return PACKET_TAKEN;
}

/* The outer IP header was parsed. The flow is the innermost one. */
static __attribute__((noinline)) packet_skip parse_tunnels(parse *p, packet *out) {
    packet_skip skip = PACKET_TAKEN;
    bool        is_outer = false;
    while (skip == PACKET_TAKEN && !is_outer) {
        bool const is_ip = p->protocol == PROTOCOL_IPV4 || p->protocol == PROTOCOL_IPV6;
        if (is_ip ? !cursor_deepen(&p->rest) : !may_be_tunnel(p)) break;
        skip = is_ip ? parse_ip(p, out) : parse_tunnel(p, out, &is_outer);
    }
    return skip;
}

/* ------------------------------------------------------------------ the tuple */

/* Put the lower end first. The bytes after an IPv4 address are zero already. IPv4 addresses are
 * compared as numbers, which is faster than memcmp(). */
static inline __attribute__((always_inline)) void sort_ends(const parse *p, packet *out) {
    bool const     is_v4 = p->version == 4;
    uint32_t const source4 = big32(p->source), destination4 = big32(p->destination);
    int const      order = is_v4 ? (source4 > destination4) - (source4 < destination4)
                                 : memcmp(p->source, p->destination, 16);
    bool const     is_from_high = order > 0 || (order == 0 && p->from_port > p->to_port);
    flow_tuple    *flow = &out->flow;
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
    out->is_from_high = is_from_high;
}

/* ------------------------------------------------------------------ all layers */

static packet_skip parse_layers(parse *p, int link_type, packet *out) {
    packet_skip skip = link_strip(&p->rest, link_type);
    if (skip != PACKET_TAKEN) return skip;
    skip = parse_outer_ip(p, out);
    if (skip == PACKET_TAKEN && p->protocol != PROTOCOL_TCP) skip = parse_tunnels(p, out);
    return skip == PACKET_TAKEN ? parse_transport(p, out) : skip;
}

/* ------------------------------------------------------------------ most packets */

#define ETHERNET 1 /* link type */
#define ETHERNET_BYTES 14

/* Most packets are TCP over IP without options, and their headers are captured. They need no
 * cursor: half of the instructions for all layers. False: this is another packet, or something is
 * wrong with it. What is found is the same in both ways (tested). `is_v4` is a constant in each
 * call. */
static inline __attribute__((always_inline)) bool
parse_plain(const uint8_t *ip, size_t captured, size_t wire_bytes, bool is_v4, packet *out) {
    size_t const         ip_bytes = is_v4 ? 20 : 40;
    const uint8_t *const tcp = ip + ip_bytes;
    if (captured < ip_bytes + 20) return false;
    if (is_v4 ? *ip != 0x45 || (big16(ip + 6) & 0x3fff) != 0 : *ip >> 4 != 6) return false;
    size_t const length = is_v4 ? big16(ip + 2) : ip_bytes + big16(ip + 4);
    size_t const header_bytes = (size_t)(tcp[12] >> 4) * 4;
    if (ip[is_v4 ? 9 : 6] != PROTOCOL_TCP || length > wire_bytes) return false;
    if (header_bytes < 20 || ip_bytes + header_bytes > length) return false;
    parse const  ends = { .source = ip + (is_v4 ? 12 : 8),
                          .destination = ip + (is_v4 ? 16 : 24),
                          .version = is_v4 ? 4 : 6,
                          .protocol = PROTOCOL_TCP,
                          .from_port = big16(tcp),
                          .to_port = big16(tcp + 2) };
    size_t const here = captured < length ? captured : length;
    *out = (packet){ .flags = tcp[13],
                     .payload_bytes = (uint32_t)(length - ip_bytes - header_bytes),
                     .transport = tcp,
                     .transport_bytes = (uint32_t)(here - ip_bytes),
                     .payload_at = (uint32_t)header_bytes };
    sort_ends(&ends, out);
    return true;
}

/* The type of the Ethernet frame, or of its tag, is before `at`. */
static inline __attribute__((always_inline)) bool
parse_plain_at(const uint8_t *bytes, size_t at, size_t captured, size_t wire_bytes, packet *out) {
    unsigned const type = big16(bytes + at - 2);
    if (type == 0x0800) return parse_plain(bytes + at, captured - at, wire_bytes - at, true, out);
    if (type == 0x86dd) return parse_plain(bytes + at, captured - at, wire_bytes - at, false, out);
    return false;
}

/* In Ethernet, without a tag or with one of IEEE 802.1Q. */
static bool parse_plain_ethernet(const uint8_t *bytes, size_t captured, size_t wire_bytes,
                                 packet *out) {
    size_t const tagged = ETHERNET_BYTES + 4;
    if (captured < tagged) return false;
    if (big16(bytes + 12) == 0x8100)
        return parse_plain_at(bytes, tagged, captured, wire_bytes, out);
    return parse_plain_at(bytes, ETHERNET_BYTES, captured, wire_bytes, out);
}

packet_skip packet_parse(const uint8_t *bytes, size_t captured, size_t wire_bytes, int link_type,
                         packet *ret_packet) {
    if (wire_bytes < captured) wire_bytes = captured;
    if (link_type == ETHERNET && parse_plain_ethernet(bytes, captured, wire_bytes, ret_packet))
        return PACKET_TAKEN;
    parse p = { .rest = { bytes, bytes + captured }, .begin = bytes, .wire_bytes = wire_bytes };
    *ret_packet = (packet){ 0 };
    packet_skip const skip = parse_layers(&p, link_type, ret_packet);
    if (skip == PACKET_TAKEN) {
        sort_ends(&p, ret_packet);
        return PACKET_TAKEN;
    }
    /* Where the capture cut the packet, it may have been complete. */
    bool const is_cut = captured < wire_bytes && p.rest.end == bytes + captured;
    bool const is_short =
        skip == PACKET_SHORT_LINK || skip == PACKET_SHORT_IP || skip == PACKET_SHORT_TRANSPORT;
    return is_short && is_cut ? PACKET_CUT : skip;
}

/* ------------------------------------------------------------------ quotes */

/* Not those that only say that a packet was too large. */
static bool is_icmp_error(const packet *p) {
    uint8_t const type = p->type;
    if (p->flow.protocol == PROTOCOL_ICMP) {
        bool const is_too_large = type == 3 && p->transport_bytes > 1 && p->transport[1] == 4;
        return (type == 3 && !is_too_large) || type == 11 || type == 12;
    }
    return p->flow.protocol == PROTOCOL_ICMP6 && (type == 1 || type == 3 || type == 4);
}

/* At least eight bytes after the IP header are quoted: the ports, but not the flags of TCP. */
bool packet_quoted(const packet *p, packet *ret_quoted) {
    if (!is_icmp_error(p) || p->transport_bytes <= 8) return false;
    const uint8_t *const begin = p->transport + 8, *const end = p->transport + p->transport_bytes;
    parse quote = { .rest = { .at = begin, .end = end },
                    .begin = begin,
                    .wire_bytes = (size_t)(end - begin) };
    *ret_quoted = (packet){ .is_quoted = true, .type = p->type };
    if (parse_ip(&quote, ret_quoted) != PACKET_TAKEN) return false;
    bool const has_ports = quote.protocol == PROTOCOL_TCP || quote.protocol == PROTOCOL_UDP;
    if (!has_ports || cursor_left(&quote.rest) < 4) return false;
    parse const answer = { .source = quote.destination,
                           .destination = quote.source,
                           .version = quote.version,
                           .protocol = quote.protocol,
                           .from_port = big16(quote.rest.at + 2),
                           .to_port = big16(quote.rest.at) };
    sort_ends(&answer, ret_quoted);
    return true;
}
