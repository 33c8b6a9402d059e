/* capture.h - packets from capture files, pipes and interfaces.
 *
 * Files are read here (classic.c, pcapng.c): the formats are simple, and libpcap, which copies
 * every packet through stdio, took three times as long. What is odd about files is left to libpcap,
 * as are interfaces and filter expressions.
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
    CAPTURE_IDLE,    /* live: no packet came for a while */
    CAPTURE_END,     /* that was all */
    CAPTURE_STOPPED, /* capture_stop() was called */
    CAPTURE_BROKEN,  /* cut, damaged or lost: capture_problem() says how */
} capture_status;

typedef char capture_text[300];

/* Open a file, or "-" for standard input; or an interface. `filter` is an expression of
 * pcap-filter(7), or NULL. NULL: *reterr_text says what is wrong. */
capture *capture_open_file(const char *name, const char *filter, capture_text reterr_text);
capture *capture_open_interface(const char *name, const char *filter, capture_text reterr_text);
void     capture_close(capture *from);

/* Give up to `max` packets to the sink. Fewer come when more would have to be waited for. */
capture_status capture_read(capture *from, size_t max, capture_sink *sink, void *context);

const char *capture_problem(const capture *from);

/* Bytes of the file in all (0: nobody knows), and so far. */
uint64_t capture_total_bytes(const capture *from);
uint64_t capture_read_bytes(const capture *from);

/* Live: packets that the kernel had no room for. */
uint64_t capture_dropped(const capture *from);

/* Make every capture_read() end soon. May be called from a signal handler. */
void capture_stop(void);

#endif
