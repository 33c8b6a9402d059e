/* pcapng.h - the newer capture format: a list of blocks, each with a type and a length.
 *
 *     block     type, length, contents ..., length again            padded to 4 bytes
 *     section   byte order; the list of interfaces starts again
 *     interface link type, resolution of timestamps (in options)
 *     packet    interface, time, captured length, length on the wire, bytes ...
 *
 * Blocks of other types are skipped. A capture of all interfaces has several link types and
 * snapshot lengths. libpcap refuses such files, so they are read here.
 */
#ifndef FLOWS_PCAPNG_H
#define FLOWS_PCAPNG_H

#include "capture.h"
#include "source.h"

typedef struct pcapng_interface {
    int link_type;
    uint8_t
        resolution; /* n: times are in units of 10^-n seconds, or 2^-n if the highest bit is set */
    uint64_t offset_ns; /* added to all times */
    uint32_t snapshot_bytes;
} pcapng_interface;

typedef struct pcapng {
    source           *input;
    bool              is_swapped;
    pcapng_interface *interfaces;
    size_t            n_interfaces;
    uint64_t          to_skip; /* bytes until the next block */
    uint64_t          n_packets, last_ns;
    const char       *damage; /* what is wrong with the file, or NULL */
} pcapng;

/* Begin to read if it is a pcapng file. Nothing is consumed. */
bool pcapng_begin(pcapng *ret_file, source *input);
void pcapng_end(pcapng *file);

/* Like classic_next() and classic_more(). */
bool           pcapng_next(pcapng *file, capture_packet *ret_packet);
capture_status pcapng_more(pcapng *file, capture_text reterr_text);

#endif
