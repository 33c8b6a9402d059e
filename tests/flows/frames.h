/* frames.h - build packets byte by byte, and write them to capture files. For make_capture.c and
 * the tests. */
#ifndef TESTS_FRAMES_H
#define TESTS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

/* One end of a conversation. */
typedef struct frame_end {
    uint8_t  address[16]; /* IPv4: the first four */
    uint16_t port;
} frame_end;

/* How the packets of a conversation are built. */
typedef struct frame_style {
    uint8_t  version;        /* of IP: 4 or 6 */
    unsigned n_tags;         /* VLAN tags, 0 to 2 */
    bool     has_options;    /* IPv4: options; IPv6: hop-by-hop and destination headers */
    bool     has_timestamps; /* TCP: options of 12 bytes */
    uint32_t sequence;       /* TCP: sequence number of the SYN */
} frame_style;

#define FRAME_BYTES 2048

typedef struct frame {
    uint8_t bytes[FRAME_BYTES];
    size_t  n;
} frame;

/* Ethernet, tags, IP, a transport header, and `payload` bytes. */
void frame_tcp(frame *ret_frame, const frame_style *style, const frame_end *from,
               const frame_end *to, unsigned flags, size_t payload);
void frame_udp(frame *ret_frame, const frame_style *style, const frame_end *from,
               const frame_end *to, size_t payload);
void frame_echo(frame *ret_frame, const frame_style *style, const frame_end *from,
                const frame_end *to, bool is_reply);

/* The first or the second fragment of a UDP datagram of `payload` bytes. */
void frame_fragment(frame *ret_frame, const frame_style *style, const frame_end *from,
                    const frame_end *to, size_t payload, bool is_second);
void frame_arp(frame *ret_frame);

/* ------------------------------------------------------------------ files */

typedef enum frame_format { FORMAT_MICRO, FORMAT_NANO, FORMAT_SWAPPED, FORMAT_NG } frame_format;

typedef struct frame_writer frame_writer;

/* NULL: errno says why. "-" is standard output. */
frame_writer *writer_open(const char *name, frame_format format, size_t snapshot, int link_type);
void          writer_put(frame_writer *writer, const frame *f, uint64_t time_ns);
uint64_t      writer_packets(const frame_writer *writer);
bool          writer_close(frame_writer *writer); /* false: something could not be written */

#endif
