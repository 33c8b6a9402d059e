/* pcapng.h - the newer capture format: blocks, each with its type and length.
 *
 *     block     type, length, contents ..., length again            all padded to 4 bytes
 *     section   tells the byte order; interfaces start again
 *     interface link type, resolution of times (options)
 *     packet    interface, time, captured, on the wire, bytes ...
 *
 * Blocks of other types are passed over. libpcap refuses files with interfaces of different link
 * types or snapshot lengths, which is what a capture of all interfaces is; so they are read here.
 */
#ifndef FLOWS_PCAPNG_H
#define FLOWS_PCAPNG_H

#include "capture.h"
#include "source.h"

typedef struct pcapng_interface {
    int      link_type;
    uint8_t  resolution; /* times are in units of 10^-n seconds or, with the highest bit, 2^-n */
    uint64_t offset_ns;  /* to be added to all times */
    uint32_t snapshot_bytes;
} pcapng_interface;

typedef struct pcapng {
    source           *from;
    bool              is_swapped;
    pcapng_interface *interfaces;
    size_t            n_interfaces;
    uint64_t          to_skip; /* bytes of a block that nobody wants to see */
    uint64_t          n_packets, last_ns;
    const char       *damage; /* what is wrong with it, or NULL */
} pcapng;

/* Is it one? Nothing is consumed. */
bool pcapng_begin(pcapng *ret_file, source *from);
void pcapng_end(pcapng *file);

/* As classic_next() and classic_more(). */
bool           pcapng_next(pcapng *file, capture_packet *ret_packet);
capture_status pcapng_more(pcapng *file, capture_text reterr_text);

#endif
