/* packet.h - parse captured bytes into what a flow tracker needs.
 *
 * A pure function: it takes the bytes of one packet and returns a small struct, or the reason why
 * the packet is skipped. It never reads beyond the captured bytes, whatever lengths they claim.
 *
 *     link.c      Ethernet and thirty other link layers, VLAN tags, MPLS and pseudowires, PPPoE
 *     tunnel.c    GRE, ERSPAN, VXLAN, Geneve, GTP-U, L2TP, EtherIP
 *     packet.c    IPv4, IPv6 with extension headers, IP in IP, TCP, UDP, ICMP
 *
 * Both directions of a flow have the same tuple: the lower end, by address and then port, comes
 * first. A bit tells which end sent the packet.
 */
#ifndef FLOWS_PACKET_H
#define FLOWS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a packet is skipped. "Cut": the capture ends within the headers, because of a small snapshot
 * length. "Short": the packet itself ends there, so it is malformed. */
typedef enum packet_skip {
    PACKET_TAKEN = 0,
    PACKET_NOT_IP,            /* ARP, LLDP, spanning tree, ... */
    PACKET_FRAGMENT,          /* not the first fragment of a datagram, so without ports */
    PACKET_CUT,               /* the headers are longer than the captured bytes */
    PACKET_SHORT_LINK,        /* the packet ends within the link header */
    PACKET_SHORT_IP,          /* ... within the IP header or an extension header */
    PACKET_SHORT_TRANSPORT,   /* ... within the TCP, UDP or ICMP header */
    PACKET_BAD_LINK,          /* too many tags, or a header length that is too small */
    PACKET_BAD_IP,            /* impossible version, header length or total length */
    PACKET_BAD_EXTENSIONS,    /* too many IPv6 extension headers */
    PACKET_BAD_TRANSPORT,     /* impossible header length or datagram length */
    PACKET_UNKNOWN_LINK_TYPE, /* a link layer that is not supported */
    N_PACKET_SKIPS
} packet_skip;

/* For people: "headers cut off by the snapshot length". For programs: "cut". */
const char *packet_skip_text(packet_skip skip);
const char *packet_skip_name(packet_skip skip);

#define PROTOCOL_ICMP 1
#define PROTOCOL_IPV4 4
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_IPV6 41
#define PROTOCOL_ICMP6 58

enum {
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_PSH = 8,
    TCP_ACK = 16,
    TCP_URG = 32,
    TCP_ECE = 64,
    TCP_CWR = 128
};

/* It has no padding, because its bytes are hashed. */
typedef struct flow_tuple {
    uint8_t  address[2][16]; /* IPv4: 4 bytes, then zeros */
    uint16_t port[2];        /* 0 if the protocol has no ports */
    uint8_t  protocol;
    uint8_t  version; /* 4 or 6 */
    uint16_t extra;   /* ICMP echo: the identifier. What the machine adds to the key, as a DNS id.
                         Else 0 */
} flow_tuple;

typedef struct packet {
    flow_tuple flow;
    bool       is_from_high;  /* sent by end 1 of the tuple */
    bool       is_fragment;   /* the first fragment of several */
    bool       is_quoted;     /* by an ICMP error: see packet_quoted() */
    uint8_t    flags;         /* TCP_...; 0 for others */
    uint8_t    type;          /* of ICMP; 0 for others */
    uint32_t   payload_bytes; /* after the transport header, as the packet says, but never more
                                 than there were on the wire */

    /* The captured bytes from the transport header on, and where the payload begins in them. They
     * lie in the buffer that was parsed, so they are valid only until the next packet is read. */
    const uint8_t *transport;
    uint32_t       transport_bytes, payload_at;
} packet;

/* Byte i of the payload, or -1 if it was not captured. */
static inline int packet_byte(const packet *p, uint32_t i) {
    uint64_t const at = (uint64_t)p->payload_at + i;
    return i < p->payload_bytes && at < p->transport_bytes ? p->transport[at] : -1;
}

/* `captured` of the packet's `wire_bytes` bytes are given. `link_type` is a DLT_ or LINKTYPE_
 * number of libpcap. *ret_packet is valid only if PACKET_TAKEN is returned. */
packet_skip packet_parse(const uint8_t *bytes, size_t captured, size_t wire_bytes, int link_type,
                         packet *ret_packet);

/* If a packet is an ICMP error (unreachable, time exceeded, parameter problem), find the flow of
 * the packet that it quotes: one that did not arrive. *ret_quoted then counts as sent by the end
 * that it did not reach. Must be called while the packet's bytes are valid. */
bool packet_quoted(const packet *p, packet *ret_quoted);

#endif
