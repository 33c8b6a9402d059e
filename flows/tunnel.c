/* tunnel.c - see tunnel.h. */
#include "tunnel.h"

#define LINK_ETHERNET 1
#define LINK_PPP 166
#define LINK_MPLS 219

enum {
    TYPE_ETHERNET = 0x6558, /* transparent Ethernet bridging */
    TYPE_ERSPAN = 0x88be,   /* types 1 and 2 */
    TYPE_ERSPAN_3 = 0x22eb,
    TYPE_PPP = 0x880b,
};

static bool has_link(cursor *rest, int link_type) {
    return link_strip_any(rest, link_type) == PACKET_TAKEN && link_is_ip(rest);
}

/* What an Ethernet type announces. */
static bool has_type(cursor *rest, unsigned type) {
    if (type == TYPE_ETHERNET) return has_link(rest, LINK_ETHERNET);
    return link_strip_type(rest, type) == PACKET_TAKEN && link_is_ip(rest);
}

/* ------------------------------------------------------------------ over IP */

/* Type 1 has no header of its own: Ethernet follows GRE without a sequence number. */
static bool has_erspan(cursor *rest, unsigned type, bool has_sequence) {
    const uint8_t *header;
    if (type == TYPE_ERSPAN && !has_sequence) return has_link(rest, LINK_ETHERNET);
    header = cursor_take(rest, type == TYPE_ERSPAN ? 8 : 12);
    if (header == NULL) return false;
    bool const has_more = type == TYPE_ERSPAN_3 && (header[11] & 1) != 0;
    if (has_more && cursor_take(rest, 8) == NULL) return false;
    return has_link(rest, LINK_ETHERNET);
}

/* RFC 2784 and 2890; version 1 is that of PPTP (RFC 2637). */
static bool has_gre(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 4);
    if (header == NULL) return false;
    unsigned const flags = big16(header), type = big16(header + 2), version = flags & 7;
    bool const     has_sequence = (flags & 0x1000) != 0;
    bool const     has_routing = (flags & 0x4000) != 0;
    size_t const   more = ((flags & 0x8000) != 0 ? 4u : 0) + ((flags & 0x2000) != 0 ? 4u : 0) +
                        (has_sequence ? 4u : 0) + (version == 1 && (flags & 0x0080) != 0 ? 4u : 0);
    if (version > 1 || has_routing || cursor_take(rest, more) == NULL) return false;
    if (version == 1 || type == TYPE_PPP) return type == TYPE_PPP && has_link(rest, LINK_PPP);
    if (type == TYPE_ERSPAN || type == TYPE_ERSPAN_3) return has_erspan(rest, type, has_sequence);
    return has_type(rest, type);
}

/* L2TP version 3: a session (0: control), then a cookie and a sublayer whose lengths only the two
 * ends know. Try those that are common; Ethernet with IP in it is not found by chance. Where the
 * bytes end before one of them is refuted, the next is not tried: it may be right, and the capture
 * be cut. */
static bool has_session(cursor *rest) {
    static const size_t  lengths[] = { 4, 0, 8, 12 };
    const uint8_t *const session = cursor_take(rest, 4);
    if (session == NULL || big32(session) == 0) return false;
    packet_skip skip = PACKET_NOT_IP;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] && skip != PACKET_SHORT_LINK; i++) {
        cursor inner = *rest;
        if (cursor_take(&inner, lengths[i]) == NULL) return false;
        skip = link_strip_inner_ethernet(&inner);
        if (skip != PACKET_TAKEN) continue;
        *rest = inner;
        return true;
    }
    return false;
}

static bool has_etherip(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 2);
    return header != NULL && header[0] >> 4 == 3 && has_link(rest, LINK_ETHERNET);
}

bool tunnel_enter(cursor *rest, uint8_t protocol) {
    cursor inner = *rest;
    bool   is_one = false;
    if (!cursor_deepen(&inner)) return false;
    switch (protocol) {
    case PROTOCOL_GRE: is_one = has_gre(&inner); break;
    case PROTOCOL_ETHERIP: is_one = has_etherip(&inner); break;
    case PROTOCOL_L2TP: is_one = has_session(&inner); break;
    case PROTOCOL_MPLS: is_one = has_link(&inner, LINK_MPLS); break;
    default: break;
    }
    if (is_one) *rest = inner;
    return is_one;
}

/* ------------------------------------------------------------------ over UDP */

/* RFC 7348. */
static bool has_vxlan(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    return header != NULL && (header[0] & 0x08) != 0 && has_link(rest, LINK_ETHERNET);
}

/* The same with the protocol that follows. */
static bool has_vxlan_type(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    if (header == NULL || (header[0] & 0x0c) != 0x0c) return false;
    switch (header[3]) {
    case 1:
    case 2: return link_is_ip(rest);
    case 3: return has_link(rest, LINK_ETHERNET);
    case 5: return has_link(rest, LINK_MPLS);
    default: return false;
    }
}

/* RFC 8926: options of up to 252 bytes. */
static bool has_geneve(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    if (header == NULL || header[0] >> 6 != 0) return false;
    if (cursor_take(rest, (size_t)(header[0] & 0x3f) * 4) == NULL) return false;
    return has_type(rest, big16(header + 2));
}

/* 3GPP TS 29.281: user data (message 255). Each extension header ends with the type of the next. */
static bool has_gtp(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    if (header == NULL || header[0] >> 4 != 3 || header[1] != 255) return false;
    if ((header[0] & 0x07) == 0) return link_is_ip(rest);
    const uint8_t *const more = cursor_take(rest, 4);
    if (more == NULL) return false;
    uint8_t next = (header[0] & 0x04) != 0 ? more[3] : 0;
    while (next != 0) {
        if (cursor_left(rest) == 0 || *rest->at == 0) return false;
        size_t const         n = (size_t)*rest->at * 4;
        const uint8_t *const extension = cursor_take(rest, n);
        if (extension == NULL) return false;
        next = extension[n - 1];
    }
    return link_is_ip(rest);
}

/* RFC 2661 (version 2: PPP) and 3931 (version 3). */
static bool has_l2tp(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 2);
    if (header == NULL) return false;
    unsigned const flags = big16(header);
    bool const     is_control = (flags & 0x8000) != 0, has_offset = (flags & 0x0200) != 0;
    if (is_control) return false;
    if ((flags & 0x0f) == 3) return cursor_take(rest, 2) != NULL && has_session(rest);
    size_t const numbers = 4 + ((flags & 0x4000) != 0 ? 2u : 0) + ((flags & 0x0800) != 0 ? 4u : 0);
    if ((flags & 0x0f) != 2 || cursor_take(rest, numbers) == NULL) return false;
    if (has_offset) {
        const uint8_t *const offset = cursor_take(rest, 2);
        if (offset == NULL || cursor_take(rest, big16(offset)) == NULL) return false;
    }
    return has_link(rest, LINK_PPP);
}

bool tunnel_enter_udp(cursor *rest, uint16_t from, uint16_t to) {
    cursor inner = *rest;
    bool   is_one = false;
    if (!cursor_deepen(&inner)) return false;
    switch (to) {
    case 2152: is_one = has_gtp(&inner); break;
    case 8472:
    case 4789: is_one = has_vxlan(&inner); break;
    case 4790: is_one = has_vxlan_type(&inner); break;
    case 6081: is_one = has_geneve(&inner); break;
    case 6635: is_one = has_link(&inner, LINK_MPLS); break;
    default: is_one = (to == 1701 || from == 1701) && has_l2tp(&inner); break;
    }
    if (is_one) *rest = inner;
    return is_one;
}
