/* capture.h - packets from capture files and pipes. live.h has those of interfaces.
 *
 * The two common file formats are read by our own code (classic.c, pcapng.c). They are simple, and
 * libpcap, which copies every packet through stdio, took three times as long. libpcap reads unusual
 * formats, and compiles filter expressions.
 */
#ifndef FLOWS_CAPTURE_H
#define FLOWS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct capture capture;

typedef struct capture_packet {
    const uint8_t *bytes; /* valid until the sink returns */
    size_t         captured, on_wire;
    uint64_t       time_ns; /* since 1970 */
    int            link_type;
} capture_packet;

typedef void capture_sink(void *context, const capture_packet *p);

typedef enum capture_status {
    CAPTURE_MORE,    /* there may be more */
    CAPTURE_IDLE,    /* live: no packet arrived for a while */
    CAPTURE_END,     /* no more packets */
    CAPTURE_STOPPED, /* capture_stop() was called */
    CAPTURE_BROKEN,  /* cut off, damaged or lost: capture_problem() says how */
} capture_status;

typedef char capture_text[300];

/* Open a file; "-" is standard input. `filter` is an expression of pcap-filter(7), or NULL. Returns
 * NULL on failure; reterr_text says why. */
capture *capture_open_file(const char *name, const char *filter, capture_text reterr_text);
void     capture_close(capture *input);

/* Give up to `max` packets to the sink. Does not wait for more once there is one. */
capture_status capture_read(capture *input, size_t max, capture_sink *sink, void *context);

const char *capture_problem(const capture *input);

/* Size of the file in bytes (0: unknown), and bytes read so far. */
uint64_t capture_total_bytes(const capture *input);
uint64_t capture_read_bytes(const capture *input);

/* Make every capture_read() return soon. May be called from a signal handler. */
void capture_stop(void);
bool capture_is_stopped(void);

#endif
