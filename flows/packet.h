/* packet.h - from captured bytes to what a tracker of flows wants to know.
 *
 * A pure function: the bytes of one packet in, a small struct out, or the reason why the packet is
 * passed over. It never reads beyond the bytes that were captured, whatever they say of themselves.
 *
 *     link.c      Ethernet and thirty other link layers, VLAN tags, MPLS, PPPoE: where IP begins
 *     packet.c    IPv4, IPv6 with extension headers, IP in IP, TCP, UDP, ICMP
 *
 * The two directions of a flow have the same tuple: the lower end, by address and then port, comes
 * first. Which end has sent the packet is kept in a bit.
 */
#ifndef FLOWS_PACKET_H
#define FLOWS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a packet is passed over. "Cut": its capture ends within the headers, for a small snapshot
 * length. "Short": the packet itself does, so somebody has built or damaged it. */
typedef enum packet_skip {
    PACKET_TAKEN = 0,
    PACKET_NOT_IP,            /* ARP, LLDP, spanning tree, ... */
    PACKET_FRAGMENT,          /* not the first fragment of its datagram: it has no ports */
    PACKET_CUT,               /* headers end behind the captured bytes */
    PACKET_SHORT_LINK,        /* the packet ends within the link header */
    PACKET_SHORT_IP,          /* ... within the IP header, or an extension header */
    PACKET_SHORT_TRANSPORT,   /* ... within the TCP, UDP or ICMP header */
    PACKET_BAD_LINK,          /* a link header that cannot be: too many tags, a length too small */
    PACKET_BAD_IP,            /* version, header length or total length cannot be */
    PACKET_BAD_EXTENSIONS,    /* more IPv6 extension headers than anybody sends */
    PACKET_BAD_TRANSPORT,     /* header length or datagram length cannot be */
    PACKET_UNKNOWN_LINK_TYPE, /* a link layer that we do not read */
    N_PACKET_SKIPS
} packet_skip;

/* For people, as in "headers cut off by the snapshot length"; and for programs, as in "cut". */
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

/* Without padding: its bytes are hashed. */
typedef struct flow_tuple {
    uint8_t  address[2][16]; /* IPv4: 4 bytes, and zeros behind them */
    uint16_t port[2];        /* ICMP echo: the identifier, twice. Other protocols: 0 */
    uint8_t  protocol;
    uint8_t  version; /* 4 or 6 */
} flow_tuple;

typedef struct packet {
    flow_tuple flow;
    bool       is_from_high;  /* sent by end 1 of the tuple */
    bool       is_fragment;   /* the first fragment of several */
    uint8_t    flags;         /* TCP_...; 0 for others */
    uint8_t    type;          /* of ICMP; 0 for others */
    uint32_t   payload_bytes; /* behind the transport header, by the packet's own word, but never
                                 more than there were on the wire */
} packet;

/* `captured` bytes are there, of the `wire_bytes` that the packet had. `link_type` is a DLT_ or
 * LINKTYPE_ number of libpcap. What *ret_packet holds has a meaning only when it is taken. */
packet_skip packet_parse(const uint8_t *bytes, size_t captured, size_t wire_bytes, int link_type,
                         packet *ret_packet);

#endif
