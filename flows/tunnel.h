/* tunnel.h - packets in packets: GRE, ERSPAN, VXLAN, Geneve, GTP-U, L2TP, EtherIP, MPLS.
 *
 * The flow of a packet is the innermost one. A tunnel over UDP is recognised by its port, and then
 * its header must be right and IP must follow: otherwise the packet counts for the flow outside.
 */
#ifndef FLOWS_TUNNEL_H
#define FLOWS_TUNNEL_H

#include "link.h"

/* IP protocols of tunnels, beside IPv4 and IPv6 in IP. */
#define PROTOCOL_GRE 47
#define PROTOCOL_ETHERIP 97
#define PROTOCOL_L2TP 115
#define PROTOCOL_MPLS 137

/* `rest` is at the header after that of IP. True: it is one of a tunnel, and was consumed with all
 * link headers in it; IP follows. False: nothing was consumed. */
bool tunnel_enter(cursor *rest, uint8_t protocol);

/* Can a datagram between these ports be one of a tunnel? */
static inline bool tunnel_has_port(uint16_t from, uint16_t to) {
    switch (to) {
    case 1701: /* L2TP */
    case 2152: /* GTP-U */
    case 4789: /* VXLAN */
    case 4790: /* VXLAN with a type */
    case 6081: /* Geneve */
    case 6635: /* MPLS */
    case 8472: /* VXLAN, as Linux began */ return true;
    default: return from == 1701;
    }
}

/* `rest` is after the UDP header. As tunnel_enter(). */
bool tunnel_enter_udp(cursor *rest, uint16_t from, uint16_t to);

#endif
