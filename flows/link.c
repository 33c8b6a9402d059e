/* link.c - see link.h.
 *
 * Idea: a link layer is a function that consumes its header. Then it either knows that IP follows,
 * or it calls the next layer: Ethernet -> VLAN tag -> PPPoE -> PPP -> IP. Each layer consumes at
 * least one byte and only tags may repeat, so every chain of layers is short.
 *
 * Each layer is small. The file is long because there are many.
 */
#include "link.h"

/* The most VLAN tags or MPLS labels in a packet. More than two or three are unusual. */
#define MAX_TAGS 8

enum {
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86dd,
    TYPE_VLAN = 0x8100,
    TYPE_QINQ = 0x88a8,
    TYPE_VLAN_OLD = 0x9100,
    TYPE_VLAN_OLDER = 0x9200,
    TYPE_MPLS = 0x8847,
    TYPE_MPLS_MULTICAST = 0x8848,
    TYPE_PPPOE = 0x8864,
};

#define SHORTEST_TYPE 0x0600 /* a smaller number is a length, and LLC follows */

/* ------------------------------------------------------------------ shared by several layers */

static packet_skip skip_bytes(cursor *rest, size_t n) {
    return cursor_take(rest, n) != NULL ? PACKET_TAKEN : PACKET_SHORT_LINK;
}

/* No link header: IPv4 or IPv6 follows at once. */
static packet_skip strip_nothing(cursor *rest) {
    if (cursor_left(rest) == 0) return PACKET_SHORT_LINK;
    unsigned const version = *rest->at >> 4;
    return version == 4 || version == 6 ? PACKET_TAKEN : PACKET_NOT_IP;
}

bool link_is_ip(const cursor *rest) {
    size_t const left = cursor_left(rest);
    if (left == 0) return false;
    bool const is_v4 = *rest->at >> 4 == 4 && (*rest->at & 0x0f) >= 5;
    return left >= 20 && is_v4 ? big16(rest->at + 2) == 0 || big16(rest->at + 2) >= 20
                               : left >= 40 && *rest->at >> 4 == 6;
}

static packet_skip strip_ethernet(cursor *rest);

packet_skip link_strip_inner_ethernet(cursor *rest) {
    packet_skip const skip = strip_ethernet(rest);
    if (skip != PACKET_TAKEN || link_is_ip(rest)) return skip;
    return cursor_left(rest) < 40 ? PACKET_SHORT_LINK : PACKET_NOT_IP;
}

/* A pseudowire: Ethernet behind the labels, with or without a control word before it, whose first
 * four bits are 0. Addresses may begin with these, too: so try both, and look for IP. */
static packet_skip strip_pseudowire(cursor *rest) {
    if (!cursor_deepen(rest)) return PACKET_BAD_LINK;
    if (cursor_left(rest) < 4) return PACKET_SHORT_LINK;
    if (*rest->at >> 4 == 0) {
        cursor inner = *rest;
        inner.at += 4;
        packet_skip const skip = link_strip_inner_ethernet(&inner);
        if (skip == PACKET_TAKEN) *rest = inner;
        if (skip == PACKET_TAKEN || skip == PACKET_SHORT_LINK) return skip;
    }
    return link_strip_inner_ethernet(rest);
}

/* The labels do not say what follows: IP, or a pseudowire. */
static packet_skip strip_mpls(cursor *rest) {
    for (unsigned i = 0; i < MAX_TAGS; i++) {
        const uint8_t *const label = cursor_take(rest, 4);
        if (label == NULL) return PACKET_SHORT_LINK;
        bool const is_last = (label[2] & 1) != 0;
        if (!is_last) continue;
        packet_skip const skip = strip_nothing(rest);
        return skip == PACKET_NOT_IP ? strip_pseudowire(rest) : skip;
    }
    return PACKET_BAD_LINK;
}

/* PPP: address and control may be left out, if both ends agreed to. So may the leading zero byte of
 * the protocol. The first byte of a protocol of two bytes is even, the last byte is odd. */
static packet_skip strip_ppp(cursor *rest) {
    if (cursor_left(rest) < 2) return PACKET_SHORT_LINK;
    if (rest->at[0] == 0xff && rest->at[1] == 0x03) rest->at += 2;
    const uint8_t *const first = cursor_take(rest, 1);
    if (first == NULL) return PACKET_SHORT_LINK;
    unsigned protocol = *first;
    if ((protocol & 1) == 0) {
        const uint8_t *const second = cursor_take(rest, 1);
        if (second == NULL) return PACKET_SHORT_LINK;
        protocol = protocol << 8 | *second;
    }
    if (protocol == 0x0281 || protocol == 0x0283) return strip_mpls(rest);
    return protocol == 0x0021 || protocol == 0x0057 ? PACKET_TAKEN : PACKET_NOT_IP;
}

static packet_skip strip_pppoe(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 6);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_session = header[1] == 0;
    return is_session ? strip_ppp(rest) : PACKET_NOT_IP;
}

/* The header that an Ethernet type announces. */
static packet_skip strip_type(cursor *rest, unsigned type) {
    for (unsigned i = 0; i <= MAX_TAGS; i++) {
        switch (type) {
        case TYPE_IPV4:
        case TYPE_IPV6: return PACKET_TAKEN;
        case TYPE_MPLS:
        case TYPE_MPLS_MULTICAST: return strip_mpls(rest);
        case TYPE_PPPOE: return strip_pppoe(rest);
        case TYPE_VLAN:
        case TYPE_QINQ:
        case TYPE_VLAN_OLD:
        case TYPE_VLAN_OLDER: {
            const uint8_t *const tag = cursor_take(rest, 4);
            if (tag == NULL) return PACKET_SHORT_LINK;
            type = big16(tag + 2);
            break;
        }
        default: return PACKET_NOT_IP;
        }
    }
    return PACKET_BAD_LINK;
}

/* IEEE 802.2 (LLC): IP is found only behind a SNAP header. */
static packet_skip strip_llc(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 3);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_snap = header[0] == 0xaa && header[1] == 0xaa && header[2] == 0x03;
    if (!is_snap) return PACKET_NOT_IP;
    const uint8_t *const snap = cursor_take(rest, 5);
    return snap != NULL ? strip_type(rest, big16(snap + 3)) : PACKET_SHORT_LINK;
}

packet_skip link_strip_type(cursor *rest, unsigned type) {
    return strip_type(rest, type);
}

static packet_skip strip_ethernet(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 14);
    if (header == NULL) return PACKET_SHORT_LINK;
    unsigned const type = big16(header + 12);
    return type < SHORTEST_TYPE ? strip_llc(rest) : strip_type(rest, type);
}

/* Address families: 2 is IPv4 everywhere. IPv6 is 10 on Linux, 24 on NetBSD and OpenBSD, 28 on
 * FreeBSD, 30 on macOS, 23 on Windows. */
static packet_skip strip_family(uint32_t family) {
    switch (family) {
    case 2:
    case 10:
    case 23:
    case 24:
    case 28:
    case 30: return PACKET_TAKEN;
    default: return PACKET_NOT_IP;
    }
}

/* Loopback: an address family, in the byte order of the machine that captured. */
static packet_skip strip_loopback(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 4);
    if (header == NULL) return PACKET_SHORT_LINK;
    uint32_t const family = big32(header);
    return strip_family(family > 0xffff ? __builtin_bswap32(family) : family);
}

/* ------------------------------------------------------------------ headers of fixed length */

static packet_skip strip_sll(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 16);
    return header != NULL ? strip_type(rest, big16(header + 14)) : PACKET_SHORT_LINK;
}

static packet_skip strip_sll2(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 20);
    return header != NULL ? strip_type(rest, big16(header)) : PACKET_SHORT_LINK;
}

/* InfiniBand: two addresses of 20 bytes. */
static packet_skip strip_infiniband(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 44);
    return header != NULL ? strip_type(rest, big16(header + 40)) : PACKET_SHORT_LINK;
}

static packet_skip strip_cisco_hdlc(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 4);
    return header != NULL ? strip_type(rest, big16(header + 2)) : PACKET_SHORT_LINK;
}

/* Serial lines with Cisco HDLC are captured with the link types of PPP, too. */
static packet_skip strip_serial(cursor *rest) {
    bool const is_cisco = cursor_left(rest) != 0 && (*rest->at & 0x7f) == 0x0f;
    return is_cisco ? strip_cisco_hdlc(rest) : strip_ppp(rest);
}

static packet_skip strip_ppp_direction(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 1);
    return skip == PACKET_TAKEN ? strip_ppp(rest) : skip;
}

static packet_skip strip_fddi(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 13);
    return skip == PACKET_TAKEN ? strip_llc(rest) : skip;
}

static packet_skip strip_fibre_channel(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 16);
    return skip == PACKET_TAKEN ? strip_llc(rest) : skip;
}

/* If the first bit of the source address is set, a routing field follows. It begins with its own
 * length. */
static packet_skip strip_token_ring(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 14);
    if (header == NULL) return PACKET_SHORT_LINK;
    if ((header[8] & 0x80) != 0) {
        if (cursor_left(rest) < 2) return PACKET_SHORT_LINK;
        packet_skip const skip = skip_bytes(rest, *rest->at & 0x1f);
        if (skip != PACKET_TAKEN) return skip;
    }
    return strip_llc(rest);
}

/* RFC 2427: an address of 2 to 4 bytes (the last one is odd), control, and the next layer. */
static packet_skip strip_frame_relay(cursor *rest) {
    const uint8_t *byte;
    unsigned       n = 0;
    do {
        byte = cursor_take(rest, 1);
        if (byte == NULL) return PACKET_SHORT_LINK;
    } while ((*byte & 1) == 0 && ++n < 4);
    const uint8_t *header = cursor_take(rest, 2);
    if (header == NULL) return PACKET_SHORT_LINK;
    if (header[0] != 0x03) return PACKET_NOT_IP;
    const uint8_t *const layer_at =
        header[1] == 0 ? cursor_take(rest, 1) : header + 1; /* padding */
    if (layer_at == NULL) return PACKET_SHORT_LINK;
    uint8_t const layer = *layer_at;
    if (layer == 0xcc || layer == 0x8e) return PACKET_TAKEN;
    if (layer != 0x80) return PACKET_NOT_IP;
    header = cursor_take(rest, 5); /* SNAP */
    return header != NULL ? strip_type(rest, big16(header + 3)) : PACKET_SHORT_LINK;
}

static packet_skip strip_pflog(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 2);
    if (header == NULL) return PACKET_SHORT_LINK;
    size_t const header_bytes = ((size_t)header[0] + 3) / 4 * 4;
    if (header_bytes < 4) return PACKET_BAD_LINK;
    packet_skip const skip = skip_bytes(rest, header_bytes - 2);
    return skip == PACKET_TAKEN ? strip_family(header[1]) : skip;
}

static packet_skip strip_enc(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 12);
    return skip == PACKET_TAKEN ? strip_nothing(rest) : skip;
}

static packet_skip strip_netanalyzer(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 4);
    return skip == PACKET_TAKEN ? strip_ethernet(rest) : skip;
}

/* Ethernet with its preamble, which other captures leave out. */
static packet_skip strip_preamble(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 8);
    return skip == PACKET_TAKEN ? strip_ethernet(rest) : skip;
}

static packet_skip strip_netanalyzer_transparent(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 4);
    return skip == PACKET_TAKEN ? strip_preamble(rest) : skip;
}

/* ------------------------------------------------------------------ headers of variable length */

static uint32_t little16(const uint8_t *at) {
    return (uint32_t)at[1] << 8 | at[0];
}

/* Consume the end of a header of `header_bytes`, of which `consumed` were consumed already. */
static packet_skip skip_rest(cursor *rest, size_t header_bytes, size_t consumed) {
    if (header_bytes < consumed) return PACKET_BAD_LINK;
    return skip_bytes(rest, header_bytes - consumed);
}

/* IEEE 802.11: IP is found only in data frames that are not encrypted. */
static packet_skip strip_wireless(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 24);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_data = (header[0] & 0x0c) == 0x08 && (header[0] & 0x40) == 0;
    bool const is_protected = (header[1] & 0x40) != 0;
    if (!is_data || is_protected) return PACKET_NOT_IP;
    bool const   has_four_addresses = (header[1] & 0x03) == 0x03;
    bool const   has_quality = (header[0] & 0x80) != 0;
    bool const   has_control = has_quality && (header[1] & 0x80) != 0;
    size_t const more =
        (has_four_addresses ? 6u : 0) + (has_quality ? 2u : 0) + (has_control ? 4u : 0);
    packet_skip const skip = skip_bytes(rest, more);
    return skip == PACKET_TAKEN ? strip_llc(rest) : skip;
}

static packet_skip strip_radiotap(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 4);
    if (header == NULL) return PACKET_SHORT_LINK;
    packet_skip const skip = skip_rest(rest, little16(header + 2), 4);
    return skip == PACKET_TAKEN ? strip_wireless(rest) : skip;
}

/* The older form has 144 bytes. The newer one has a magic number and tells its length. */
static packet_skip strip_prism(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const        is_newer = (big32(header) & 0xfffff000) == 0x80211000;
    packet_skip const skip = skip_rest(rest, is_newer ? big32(header + 4) : 144, 8);
    return skip == PACKET_TAKEN ? strip_wireless(rest) : skip;
}

/* Netfilter's log: a list of attributes, of which one (type 9) is the packet. */
static packet_skip strip_nflog(cursor *rest) {
    packet_skip const skip = skip_bytes(rest, 4);
    if (skip != PACKET_TAKEN) return skip;
    for (;;) {
        const uint8_t *const attribute = cursor_take(rest, 4);
        if (attribute == NULL) return PACKET_SHORT_LINK;
        if ((little16(attribute + 2) & 0x7fff) == 9) return strip_nothing(rest);
        size_t const rounded = (little16(attribute) + 3) / 4 * 4;
        if (rounded < 4) return PACKET_BAD_LINK;
        if (cursor_take(rest, rounded - 4) == NULL) return PACKET_SHORT_LINK;
    }
}

/* ------------------------------------------------------------------ all link types */

typedef struct link_layer {
    int type;
    packet_skip (*strip)(cursor *rest);
} link_layer;

/* LINKTYPE_ numbers, and DLT_ numbers where they differ. */
static const link_layer layers[] = {
    { 0, strip_loopback },        /* NULL */
    { 1, strip_ethernet },        /* EN10MB */
    { 6, strip_token_ring },      /* IEEE802 */
    { 9, strip_serial },          /* PPP */
    { 10, strip_fddi },           /* FDDI */
    { 11, strip_llc },            /* ATM_RFC1483 */
    { 12, strip_nothing },        /* RAW, as DLT_ on Linux */
    { 14, strip_nothing },        /* RAW, as DLT_ on OpenBSD */
    { 19, strip_llc },            /* ATM_CLIP */
    { 50, strip_serial },         /* PPP_HDLC */
    { 51, strip_pppoe },          /* PPP_ETHER */
    { 100, strip_llc },           /* ATM_RFC1483 */
    { 101, strip_nothing },       /* RAW */
    { 104, strip_cisco_hdlc },    /* C_HDLC */
    { 105, strip_wireless },      /* IEEE802_11 */
    { 106, strip_llc },           /* ATM_CLIP */
    { 107, strip_frame_relay },   /* FRELAY */
    { 108, strip_loopback },      /* LOOP */
    { 109, strip_enc },           /* ENC */
    { 113, strip_sll },           /* LINUX_SLL */
    { 117, strip_pflog },         /* PFLOG */
    { 119, strip_prism },         /* IEEE802_11_PRISM */
    { 122, strip_fibre_channel }, /* IP_OVER_FC */
    { 127, strip_radiotap },      /* IEEE802_11_RADIOTAP */
    { 163, strip_prism },         /* IEEE802_11_AVS */
    { 166, strip_ppp },           /* PPP_PPPD */
    { 204, strip_ppp_direction }, /* PPP_WITH_DIR */
    { 219, strip_mpls },          /* MPLS */
    { 228, strip_nothing },       /* IPV4 */
    { 229, strip_nothing },       /* IPV6 */
    { 239, strip_nflog },         /* NFLOG */
    { 240, strip_netanalyzer },   /* NETANALYZER */
    { 241, strip_netanalyzer_transparent },
    { 242, strip_infiniband }, /* IPOIB */
    { 274, strip_preamble },   /* ETHERNET_MPACKET */
    { 276, strip_sll2 },       /* LINUX_SLL2 */
};

#define N_LAYERS (sizeof layers / sizeof layers[0])

int link_type_at(size_t i) {
    return i < N_LAYERS ? layers[i].type : -1;
}

/* PPI wraps another link type, which its header names. */
static packet_skip strip_ppi(cursor *rest) {
    const uint8_t *const header = cursor_take(rest, 8);
    if (header == NULL) return PACKET_SHORT_LINK;
    uint32_t const    inner = little16(header + 6) << 16 | little16(header + 4);
    packet_skip const skip = skip_rest(rest, little16(header + 2), 8);
    if (skip != PACKET_TAKEN) return skip;
    for (size_t i = 0; i < N_LAYERS; i++) {
        if ((uint32_t)layers[i].type == inner) return layers[i].strip(rest);
    }
    return PACKET_UNKNOWN_LINK_TYPE;
}

packet_skip link_strip_any(cursor *rest, int link_type) {
    if (link_type == 192) return strip_ppi(rest);
    for (size_t i = 0; i < N_LAYERS; i++) {
        if (layers[i].type == link_type) return layers[i].strip(rest);
    }
    return PACKET_UNKNOWN_LINK_TYPE;
}
