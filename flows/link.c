/* link.c - see link.h.
 *
 * Idea: a link layer is a function that consumes its header and either knows that IP follows, or
 * calls the next layer: Ethernet -> VLAN tag -> PPPoE -> PPP -> IP. Each consumes something, and
 * only the tags may repeat, so a chain of layers ends soon.
 *
 * All of them are small; what makes the file long is that there are many.
 */
#include "link.h"

/* Tags and labels: nobody stacks more. */
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

#define SHORTEST_TYPE 0x0600 /* below, the field of Ethernet is a length, and LLC follows */

/* ------------------------------------------------------------------ what they share */

static packet_skip skip_bytes(cursor *from, size_t n) {
    return cursor_take(from, n) != NULL ? PACKET_TAKEN : PACKET_SHORT_LINK;
}

/* IP of either version, with nothing before it. */
static packet_skip strip_nothing(cursor *from) {
    if (cursor_left(from) == 0) return PACKET_SHORT_LINK;
    unsigned const version = *from->at >> 4;
    return version == 4 || version == 6 ? PACKET_TAKEN : PACKET_NOT_IP;
}

static packet_skip strip_mpls(cursor *from) {
    for (unsigned i = 0; i < MAX_TAGS; i++) {
        const uint8_t *const label = cursor_take(from, 4);
        if (label == NULL) return PACKET_SHORT_LINK;
        bool const is_last = (label[2] & 1) != 0;
        if (is_last) return strip_nothing(from);
    }
    return PACKET_BAD_LINK;
}

/* PPP leaves out what both ends agreed to leave out: address and control, and a leading zero of the
 * protocol, whose first byte is even otherwise. */
static packet_skip strip_ppp(cursor *from) {
    if (cursor_left(from) < 2) return PACKET_SHORT_LINK;
    if (from->at[0] == 0xff && from->at[1] == 0x03) from->at += 2;
    const uint8_t *const first = cursor_take(from, 1);
    if (first == NULL) return PACKET_SHORT_LINK;
    unsigned protocol = *first;
    if ((protocol & 1) == 0) {
        const uint8_t *const second = cursor_take(from, 1);
        if (second == NULL) return PACKET_SHORT_LINK;
        protocol = protocol << 8 | *second;
    }
    if (protocol == 0x0281 || protocol == 0x0283) return strip_mpls(from);
    return protocol == 0x0021 || protocol == 0x0057 ? PACKET_TAKEN : PACKET_NOT_IP;
}

static packet_skip strip_pppoe(cursor *from) {
    const uint8_t *const header = cursor_take(from, 6);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_session = header[1] == 0;
    return is_session ? strip_ppp(from) : PACKET_NOT_IP;
}

/* What an Ethernet type announces. */
static packet_skip strip_type(cursor *from, unsigned type) {
    for (unsigned i = 0; i <= MAX_TAGS; i++) {
        switch (type) {
        case TYPE_IPV4:
        case TYPE_IPV6: return PACKET_TAKEN;
        case TYPE_MPLS:
        case TYPE_MPLS_MULTICAST: return strip_mpls(from);
        case TYPE_PPPOE: return strip_pppoe(from);
        case TYPE_VLAN:
        case TYPE_QINQ:
        case TYPE_VLAN_OLD:
        case TYPE_VLAN_OLDER: {
            const uint8_t *const tag = cursor_take(from, 4);
            if (tag == NULL) return PACKET_SHORT_LINK;
            type = big16(tag + 2);
            break;
        }
        default: return PACKET_NOT_IP;
        }
    }
    return PACKET_BAD_LINK;
}

/* IEEE 802.2: SNAP, or nothing for us. */
static packet_skip strip_llc(cursor *from) {
    const uint8_t *const header = cursor_take(from, 3);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_snap = header[0] == 0xaa && header[1] == 0xaa && header[2] == 0x03;
    if (!is_snap) return PACKET_NOT_IP;
    const uint8_t *const rest = cursor_take(from, 5);
    return rest != NULL ? strip_type(from, big16(rest + 3)) : PACKET_SHORT_LINK;
}

static packet_skip strip_ethernet(cursor *from) {
    const uint8_t *const header = cursor_take(from, 14);
    if (header == NULL) return PACKET_SHORT_LINK;
    unsigned const type = big16(header + 12);
    return type < SHORTEST_TYPE ? strip_llc(from) : strip_type(from, type);
}

/* The address families of IPv6 on the systems that write such files: Linux, NetBSD and OpenBSD,
 * FreeBSD, macOS, Windows. */
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

/* Loopback: a family in the byte order of whoever captured. */
static packet_skip strip_loopback(cursor *from) {
    const uint8_t *const header = cursor_take(from, 4);
    if (header == NULL) return PACKET_SHORT_LINK;
    uint32_t const family = big32(header);
    return strip_family(family > 0xffff ? __builtin_bswap32(family) : family);
}

/* ------------------------------------------------------------------ a header, then one of those */

static packet_skip strip_sll(cursor *from) {
    const uint8_t *const header = cursor_take(from, 16);
    return header != NULL ? strip_type(from, big16(header + 14)) : PACKET_SHORT_LINK;
}

static packet_skip strip_sll2(cursor *from) {
    const uint8_t *const header = cursor_take(from, 20);
    return header != NULL ? strip_type(from, big16(header)) : PACKET_SHORT_LINK;
}

/* InfiniBand: two addresses of 20 bytes. */
static packet_skip strip_infiniband(cursor *from) {
    const uint8_t *const header = cursor_take(from, 44);
    return header != NULL ? strip_type(from, big16(header + 40)) : PACKET_SHORT_LINK;
}

static packet_skip strip_cisco_hdlc(cursor *from) {
    const uint8_t *const header = cursor_take(from, 4);
    return header != NULL ? strip_type(from, big16(header + 2)) : PACKET_SHORT_LINK;
}

/* Serial lines that speak Cisco's protocol are captured as PPP, too. */
static packet_skip strip_serial(cursor *from) {
    bool const is_cisco = cursor_left(from) != 0 && (*from->at & 0x7f) == 0x0f;
    return is_cisco ? strip_cisco_hdlc(from) : strip_ppp(from);
}

static packet_skip strip_ppp_direction(cursor *from) {
    packet_skip const skip = skip_bytes(from, 1);
    return skip == PACKET_TAKEN ? strip_ppp(from) : skip;
}

static packet_skip strip_fddi(cursor *from) {
    packet_skip const skip = skip_bytes(from, 13);
    return skip == PACKET_TAKEN ? strip_llc(from) : skip;
}

static packet_skip strip_fibre_channel(cursor *from) {
    packet_skip const skip = skip_bytes(from, 16);
    return skip == PACKET_TAKEN ? strip_llc(from) : skip;
}

/* The first bit of the source address says that a route follows, which tells its own length. */
static packet_skip strip_token_ring(cursor *from) {
    const uint8_t *const header = cursor_take(from, 14);
    if (header == NULL) return PACKET_SHORT_LINK;
    if ((header[8] & 0x80) != 0) {
        if (cursor_left(from) < 2) return PACKET_SHORT_LINK;
        packet_skip const skip = skip_bytes(from, *from->at & 0x1f);
        if (skip != PACKET_TAKEN) return skip;
    }
    return strip_llc(from);
}

/* RFC 2427: an address of 2 to 4 bytes (the last one is odd), control, and what follows. */
static packet_skip strip_frame_relay(cursor *from) {
    const uint8_t *byte;
    unsigned       n = 0;
    do {
        byte = cursor_take(from, 1);
        if (byte == NULL) return PACKET_SHORT_LINK;
    } while ((*byte & 1) == 0 && ++n < 4);
    const uint8_t *header = cursor_take(from, 2);
    if (header == NULL) return PACKET_SHORT_LINK;
    if (header[0] != 0x03) return PACKET_NOT_IP;
    const uint8_t *const layer_at =
        header[1] == 0 ? cursor_take(from, 1) : header + 1; /* padding */
    if (layer_at == NULL) return PACKET_SHORT_LINK;
    uint8_t const layer = *layer_at;
    if (layer == 0xcc || layer == 0x8e) return PACKET_TAKEN;
    if (layer != 0x80) return PACKET_NOT_IP;
    header = cursor_take(from, 5); /* SNAP */
    return header != NULL ? strip_type(from, big16(header + 3)) : PACKET_SHORT_LINK;
}

static packet_skip strip_pflog(cursor *from) {
    const uint8_t *const header = cursor_take(from, 2);
    if (header == NULL) return PACKET_SHORT_LINK;
    size_t const header_bytes = ((size_t)header[0] + 3) / 4 * 4;
    if (header_bytes < 4) return PACKET_BAD_LINK;
    packet_skip const skip = skip_bytes(from, header_bytes - 2);
    return skip == PACKET_TAKEN ? strip_family(header[1]) : skip;
}

static packet_skip strip_enc(cursor *from) {
    packet_skip const skip = skip_bytes(from, 12);
    return skip == PACKET_TAKEN ? strip_nothing(from) : skip;
}

static packet_skip strip_netanalyzer(cursor *from) {
    packet_skip const skip = skip_bytes(from, 4);
    return skip == PACKET_TAKEN ? strip_ethernet(from) : skip;
}

/* With the preamble that other captures leave out. */
static packet_skip strip_preamble(cursor *from) {
    packet_skip const skip = skip_bytes(from, 8);
    return skip == PACKET_TAKEN ? strip_ethernet(from) : skip;
}

static packet_skip strip_netanalyzer_transparent(cursor *from) {
    packet_skip const skip = skip_bytes(from, 4);
    return skip == PACKET_TAKEN ? strip_preamble(from) : skip;
}

/* ------------------------------------------------------------------ headers of many lengths */

static uint32_t little16(const uint8_t *at) {
    return (uint32_t)at[1] << 8 | at[0];
}

static uint32_t little32(const uint8_t *at) {
    return little16(at + 2) << 16 | little16(at);
}

/* A header of `header_bytes`, of which `begun` were taken already. */
static packet_skip skip_rest(cursor *from, size_t header_bytes, size_t begun) {
    if (header_bytes < begun) return PACKET_BAD_LINK;
    return skip_bytes(from, header_bytes - begun);
}

/* Wireless: only frames with data that is not encrypted have IP inside. */
static packet_skip strip_wireless(cursor *from) {
    const uint8_t *const header = cursor_take(from, 24);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const is_data = (header[0] & 0x0c) == 0x08 && (header[0] & 0x40) == 0;
    bool const is_protected = (header[1] & 0x40) != 0;
    if (!is_data || is_protected) return PACKET_NOT_IP;
    bool const   has_four_addresses = (header[1] & 0x03) == 0x03;
    bool const   has_quality = (header[0] & 0x80) != 0;
    bool const   has_control = has_quality && (header[1] & 0x80) != 0;
    size_t const more =
        (has_four_addresses ? 6u : 0) + (has_quality ? 2u : 0) + (has_control ? 4u : 0);
    packet_skip const skip = skip_bytes(from, more);
    return skip == PACKET_TAKEN ? strip_llc(from) : skip;
}

static packet_skip strip_radiotap(cursor *from) {
    const uint8_t *const header = cursor_take(from, 4);
    if (header == NULL) return PACKET_SHORT_LINK;
    packet_skip const skip = skip_rest(from, little16(header + 2), 4);
    return skip == PACKET_TAKEN ? strip_wireless(from) : skip;
}

/* 144 bytes, or the newer form, which has a magic number and tells its length. */
static packet_skip strip_prism(cursor *from) {
    const uint8_t *const header = cursor_take(from, 8);
    if (header == NULL) return PACKET_SHORT_LINK;
    bool const        is_newer = (big32(header) & 0xfffff000) == 0x80211000;
    packet_skip const skip = skip_rest(from, is_newer ? big32(header + 4) : 144, 8);
    return skip == PACKET_TAKEN ? strip_wireless(from) : skip;
}

/* Netfilter's log: attributes, of which one is the packet. */
static packet_skip strip_nflog(cursor *from) {
    packet_skip const skip = skip_bytes(from, 4);
    if (skip != PACKET_TAKEN) return skip;
    for (;;) {
        const uint8_t *const attribute = cursor_take(from, 4);
        if (attribute == NULL) return PACKET_SHORT_LINK;
        if ((little16(attribute + 2) & 0x7fff) == 9) return strip_nothing(from);
        size_t const rounded = (little16(attribute) + 3) / 4 * 4;
        if (rounded < 4) return PACKET_BAD_LINK;
        if (cursor_take(from, rounded - 4) == NULL) return PACKET_SHORT_LINK;
    }
}

/* ------------------------------------------------------------------ the table */

typedef struct link_layer {
    int type;
    packet_skip (*strip)(cursor *from);
} link_layer;

/* Numbers of LINKTYPE_, and those of DLT_ where Linux has others. */
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

/* PPI wraps another type, which its header names. */
static packet_skip strip_ppi(cursor *from) {
    const uint8_t *const header = cursor_take(from, 8);
    if (header == NULL) return PACKET_SHORT_LINK;
    uint32_t const    inner = little32(header + 4);
    packet_skip const skip = skip_rest(from, little16(header + 2), 8);
    if (skip != PACKET_TAKEN) return skip;
    for (size_t i = 0; i < N_LAYERS; i++) {
        if ((uint32_t)layers[i].type == inner) return layers[i].strip(from);
    }
    return PACKET_UNKNOWN_LINK_TYPE;
}

packet_skip link_strip_any(cursor *from, int link_type) {
    if (link_type == 192) return strip_ppi(from);
    for (size_t i = 0; i < N_LAYERS; i++) {
        if (layers[i].type == link_type) return layers[i].strip(from);
    }
    return PACKET_UNKNOWN_LINK_TYPE;
}
