/* classic.h - the classic capture format: a header, then records of a header and bytes each.
 *
 *     header   magic, version, 2 x 0, snapshot length, link type      24 bytes
 *     record   seconds, fraction, captured, on the wire, bytes ...    16 bytes and more
 *
 * All numbers in the byte order of the machine that wrote it, which the magic number tells, as it
 * tells whether fractions are micro- or nanoseconds.
 */
#ifndef FLOWS_CLASSIC_H
#define FLOWS_CLASSIC_H

#include "capture.h"
#include "source.h"

/* What libpcap takes for damage, too. */
#define CLASSIC_MAX_CAPTURED 262144

typedef struct classic {
    source  *from;
    bool     is_swapped, is_nano;
    uint32_t snapshot_bytes;
    int      link_type;
    uint64_t n_packets;
} classic;

/* Is it one? Then its header is consumed. Nothing is, if it is not. */
bool classic_begin(classic *ret_file, source *from);

/* The next record, if it is complete in the buffer: its bytes stay there until the next call. */
bool classic_next(classic *file, capture_packet *ret_packet);

/* There was no next record: read on. CAPTURE_MORE: try again. */
capture_status classic_more(classic *file, capture_text reterr_text);

#endif
