/* services.h - ports of well-known services, for guesses which end of a flow is the server.
 *
 * Not every port that somebody has registered: only 64 that are often seen. So the port of a client
 * is one of them by chance in one of a thousand cases.
 */
#ifndef FLOWS_SERVICES_H
#define FLOWS_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#define SERVICES 64 /* a power of two */

/* In order: FTP to SMTP, DNS, DHCP, TFTP, HTTP, Kerberos; POP3, portmapper, NNTP, NTP, Windows,
 * IMAP, SNMP, BGP, LDAP; HTTPS, Windows, mail, IKE, syslog, printers, RTSP, mail, IPP; LDAPS, DNS
 * over TLS, rsync, IMAPS, POP3S, OpenVPN, SQL Server, Oracle, L2TP; RADIUS, MQTT, NFS, proxies,
 * iSCSI, MySQL, remote desktop, STUN; IPsec, SIP, XMPP, multicast DNS, PostgreSQL, AMQP, VNC,
 * Redis, HTTP; Kafka, Elasticsearch, memcached. */
static const uint16_t service_ports[SERVICES] = {
    20,   21,   22,   23,   25,   53,   67,   69,   80,   88,   110,  111,  119,  123,  135,  137,
    138,  139,  143,  161,  162,  179,  389,  443,  445,  465,  500,  514,  515,  554,  587,  631,
    636,  853,  873,  993,  995,  1194, 1433, 1521, 1701, 1812, 1813, 1883, 2049, 3128, 3260, 3306,
    3389, 3478, 4500, 5060, 5061, 5222, 5353, 5432, 5672, 5900, 6379, 8080, 8443, 9092, 9200, 11211,
};

/* A search by halves without a branch: the ports of a flood are random. */
static inline bool service_is_known(uint16_t port) {
    const uint16_t *at = service_ports;
    for (unsigned half = SERVICES / 2; half != 0; half /= 2) at += at[half] <= port ? half : 0;
    return *at == port;
}

#endif
