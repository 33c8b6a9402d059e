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

/* Version 2.4 only, which is what all programs write. libpcap reads older ones. */
bool classic_begin(classic *ret_file, source *input) {
    if (!source_need(input, HEADER_BYTES)) return false;
    const uint8_t *const header = source_at(input);
    classic              file = { .input = input };
    uint32_t             magic = number_at(&file, header);
    file.is_swapped =
        magic == __builtin_bswap32(MAGIC_MICRO) || magic == __builtin_bswap32(MAGIC_NANO);
    magic = number_at(&file, header);
    file.is_nano = magic == MAGIC_NANO;
    if (magic != MAGIC_MICRO && magic != MAGIC_NANO) return false;
    uint32_t const version =
        number_at(&file, header + 4); /* major and minor, in either byte order */
    if (version != (2 << 16 | 4) && version != (4 << 16 | 2)) return false;
    file.snapshot_bytes = number_at(&file, header + 16);
    file.link_type =
        (int)(number_at(&file, header + 20) & 0x03ffffff); /* the upper bits: checksum length */
    source_consume(input, HEADER_BYTES);
    *ret_file = file;
    return true;
}

/* The length of the next record, from its header. 0: the header is not complete, or invalid. */
static size_t record_bytes(const classic *file) {
    if (source_has(file->input) < RECORD_BYTES) return 0;
    uint32_t const captured = number_at(file, source_at(file->input) + 8);
    if (captured > CLASSIC_MAX_CAPTURED) return 0;
    return RECORD_BYTES + (size_t)captured;
}

bool classic_next(classic *file, capture_packet *ret_packet) {
    size_t const n = record_bytes(file);
    if (n == 0 || n > source_has(file->input)) return false;
    const uint8_t *const record = source_at(file->input);
    uint64_t const       seconds = number_at(file, record), fraction = number_at(file, record + 4);
    ret_packet->bytes = record + RECORD_BYTES;
    ret_packet->captured = n - RECORD_BYTES;
    ret_packet->on_wire = number_at(file, record + 12);
    ret_packet->time_ns = seconds * 1000000000 + fraction * (file->is_nano ? 1 : 1000);
    ret_packet->link_type = file->link_type;
    source_consume(file->input, n);
    file->n_packets++;
    return true;
}

/* No more bytes: did the file end after a record or within one? */
static capture_status classic_end(const classic *file, capture_text reterr_text) {
    size_t const left = source_has(file->input), n = record_bytes(file);
    if (file->input->error == EINTR) return CAPTURE_MORE; /* the caller checks for a stop */
    if (file->input->error != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "reading failed after packet %llu: %s",
                       (unsigned long long)file->n_packets, source_error_text(file->input));
        return CAPTURE_BROKEN;
    }
    if (left == 0) return CAPTURE_END;
    (void)snprintf(reterr_text, sizeof(capture_text),
                   "cut off in packet %llu: it has %zu of %zu bytes; everything before was read",
                   (unsigned long long)file->n_packets + 1, left, n != 0 ? n : RECORD_BYTES);
    return CAPTURE_BROKEN;
}

capture_status classic_more(classic *file, capture_text reterr_text) {
    bool const has_header = source_has(file->input) >= RECORD_BYTES;
    if (has_header && record_bytes(file) == 0) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "damaged: packet %llu claims to have %u bytes; everything before was read",
                       (unsigned long long)file->n_packets + 1,
                       number_at(file, source_at(file->input) + 8));
        return CAPTURE_BROKEN;
    }
    return source_more(file->input) ? CAPTURE_MORE : classic_end(file, reterr_text);
}
