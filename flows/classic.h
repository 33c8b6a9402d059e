/* classic.h - the classic capture format (pcap): a file header, then one record per packet.
 *
 *     header   magic, version, 2 x 0, snapshot length, link type      24 bytes
 *     record   seconds, fraction, captured, on the wire, bytes ...    16 bytes and more
 *
 * All numbers are in the byte order of the machine that wrote the file. The magic number tells the
 * byte order, and whether fractions are microseconds or nanoseconds.
 */
#ifndef FLOWS_CLASSIC_H
#define FLOWS_CLASSIC_H

#include "capture.h"
#include "source.h"

/* A longer record counts as damage, as it does for libpcap. */
#define CLASSIC_MAX_CAPTURED 262144

typedef struct classic {
    source  *input;
    bool     is_swapped, is_nano;
    uint32_t snapshot_bytes;
    int      link_type;
    uint64_t n_packets;
} classic;

/* Begin to read if it is a classic capture: its header is consumed. Otherwise nothing is. */
bool classic_begin(classic *ret_file, source *input);

/* Get the next packet if its record is complete in the buffer. Its bytes stay there until the next
 * call. */
bool classic_next(classic *file, capture_packet *ret_packet);

/* Read more bytes after classic_next() said no. CAPTURE_MORE: call it again. */
capture_status classic_more(classic *file, capture_text reterr_text);

#endif
