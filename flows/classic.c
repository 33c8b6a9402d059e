/* classic.c - see classic.h. */
#include "classic.h"

#include <errno.h>
#include <string.h>

#define HEADER_BYTES 24
#define RECORD_BYTES 16
#define MAGIC_MICRO UINT32_C(0xa1b2c3d4)
#define MAGIC_NANO UINT32_C(0xa1b23c4d)

static uint32_t number_at(const classic *file, const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return file->is_swapped ? __builtin_bswap32(value) : value;
}

/* Version 2.4, which is all that anybody writes; libpcap knows the others. */
bool classic_begin(classic *ret_file, source *from) {
    if (!source_need(from, HEADER_BYTES)) return false;
    const uint8_t *const header = source_at(from);
    classic              file = { .from = from };
    uint32_t             magic = number_at(&file, header);
    file.is_swapped =
        magic == __builtin_bswap32(MAGIC_MICRO) || magic == __builtin_bswap32(MAGIC_NANO);
    magic = number_at(&file, header);
    file.is_nano = magic == MAGIC_NANO;
    if (magic != MAGIC_MICRO && magic != MAGIC_NANO) return false;
    uint32_t const version = number_at(&file, header + 4); /* two halves, in either order */
    if (version != (2 << 16 | 4) && version != (4 << 16 | 2)) return false;
    file.snapshot_bytes = number_at(&file, header + 16);
    file.link_type = (int)(number_at(&file, header + 20) & 0x03ffffff); /* above: checksum length */
    source_consume(from, HEADER_BYTES);
    *ret_file = file;
    return true;
}

/* The record at the beginning of the buffer, as far as its header tells; 0: it is not complete. */
static size_t record_bytes(const classic *file) {
    if (source_has(file->from) < RECORD_BYTES) return 0;
    uint32_t const captured = number_at(file, source_at(file->from) + 8);
    if (captured > CLASSIC_MAX_CAPTURED) return 0;
    return RECORD_BYTES + (size_t)captured;
}

bool classic_next(classic *file, capture_packet *ret_packet) {
    size_t const n = record_bytes(file);
    if (n == 0 || n > source_has(file->from)) return false;
    const uint8_t *const record = source_at(file->from);
    uint64_t const       seconds = number_at(file, record), fraction = number_at(file, record + 4);
    ret_packet->bytes = record + RECORD_BYTES;
    ret_packet->captured = n - RECORD_BYTES;
    ret_packet->on_wire = number_at(file, record + 12);
    ret_packet->time_ns = seconds * 1000000000 + fraction * (file->is_nano ? 1 : 1000);
    ret_packet->link_type = file->link_type;
    source_consume(file->from, n);
    file->n_packets++;
    return true;
}

/* The end, or a cut within a record? */
static capture_status end_of(const classic *file, capture_text reterr_text) {
    size_t const left = source_has(file->from), n = record_bytes(file);
    if (file->from->error == EINTR) return CAPTURE_MORE; /* whoever stops us is asked next */
    if (file->from->error != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "cannot read on after packet %llu: %s",
                       (unsigned long long)file->n_packets, strerror(file->from->error));
        return CAPTURE_BROKEN;
    }
    if (left == 0) return CAPTURE_END;
    (void)snprintf(reterr_text, sizeof(capture_text),
                   "cut off in packet %llu: %zu of %zu bytes are there; all before it was read",
                   (unsigned long long)file->n_packets + 1, left, n != 0 ? n : RECORD_BYTES);
    return CAPTURE_BROKEN;
}

capture_status classic_more(classic *file, capture_text reterr_text) {
    bool const has_header = source_has(file->from) >= RECORD_BYTES;
    if (has_header && record_bytes(file) == 0) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "damaged: packet %llu says that it has %u bytes; all before it was read",
                       (unsigned long long)file->n_packets + 1,
                       number_at(file, source_at(file->from) + 8));
        return CAPTURE_BROKEN;
    }
    return source_more(file->from) ? CAPTURE_MORE : end_of(file, reterr_text);
}
