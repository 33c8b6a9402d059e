/* pcapng.c - see pcapng.h. */
#include "pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_INTERFACE = 1, BLOCK_OLD_PACKET = 2, BLOCK_SIMPLE = 3, BLOCK_PACKET = 6 };

#define BLOCK_SECTION UINT32_C(0x0a0d0d0a)
#define ORDER_MAGIC UINT32_C(0x1a2b3c4d)
#define LARGEST_BLOCK ((size_t)512 * 1024) /* of packets and interfaces */
#define MOST_INTERFACES 65536 /* of a section: a small compressed file could have GiB of them */
#define NS_PER_SECOND UINT64_C(1000000000)

enum { OPTION_END = 0, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };

/* ------------------------------------------------------------------ numbers */

static uint32_t number32(const pcapng *file, const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return file->is_swapped ? __builtin_bswap32(value) : value;
}

static uint32_t number16(const pcapng *file, const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return file->is_swapped ? __builtin_bswap16(value) : value;
}

/* Convert a time from the units of an interface to nanoseconds. */
static uint64_t to_nanoseconds(const pcapng_interface *interface, uint64_t units) {
    unsigned const n = interface->resolution & 0x7f;
    uint64_t       power = 1;
    if ((interface->resolution & 0x80) != 0) {
        unsigned __int128 const scaled = (unsigned __int128)units * NS_PER_SECOND;
        return (uint64_t)(scaled >> (n < 64 ? n : 64)) + interface->offset_ns;
    }
    for (unsigned i = n < 9 ? n : 9; i < (n < 9 ? 9 : n) && i < 28; i++) power *= 10;
    return (n <= 9 ? units * power : units / power) + interface->offset_ns;
}

/* ------------------------------------------------------------------ interfaces */

static void read_interface_options(const pcapng *file, const uint8_t *at, const uint8_t *end,
                                   pcapng_interface *interface) {
    while (end - at >= 4) {
        uint32_t const code = number16(file, at), n = number16(file, at + 2);
        size_t const   padded = ((size_t)n + 3) / 4 * 4;
        if (code == OPTION_END || padded > (size_t)(end - at) - 4) return;
        if (code == OPTION_RESOLUTION && n >= 1) interface->resolution = at[4];
        if (code == OPTION_OFFSET && n >= 8) {
            uint64_t const low = number32(file, at + (file->is_swapped ? 8 : 4));
            uint64_t const high = number32(file, at + (file->is_swapped ? 4 : 8));
            interface->offset_ns = (high << 32 | low) * NS_PER_SECOND;
        }
        at += 4 + padded;
    }
}

/* `at` is after type and length, `end` before the second length. */
static bool read_interface(pcapng *file, const uint8_t *at, const uint8_t *end) {
    if (end - at < 8) {
        file->damage = "an interface without a link type";
        return false;
    }
    if (file->n_interfaces == MOST_INTERFACES) {
        file->damage = "more than 65536 interfaces";
        return false;
    }
    pcapng_interface interface = { .link_type = (int)number16(file, at),
                                   .snapshot_bytes = number32(file, at + 4),
                                   .resolution = 6 };
    read_interface_options(file, at + 8, end, &interface);
    bool const   is_power = (file->n_interfaces & (file->n_interfaces - 1)) == 0; /* no room left */
    size_t const room = file->n_interfaces == 0 ? 1 : 2 * file->n_interfaces;
    if (is_power) {
        pcapng_interface *const larger = realloc(file->interfaces, room * sizeof *larger);
        if (larger == NULL) {
            file->damage = "out of memory for its interfaces";
            return false;
        }
        file->interfaces = larger;
    }
    file->interfaces[file->n_interfaces++] = interface;
    return true;
}

/* ------------------------------------------------------------------ packets */

/* The fields of a packet block of any type. */
typedef struct packet_parts {
    uint32_t       interface;
    bool           has_time;
    uint64_t       units;
    uint32_t       captured, on_wire;
    const uint8_t *bytes;
} packet_parts;

/* False: the packet is longer than its block. */
static bool find_parts(const pcapng *file, uint32_t type, const uint8_t *at, const uint8_t *end,
                       packet_parts *ret_parts) {
    size_t const n = (size_t)(end - at);
    if (n < (type == BLOCK_SIMPLE ? 4u : 20u)) return false;
    if (type == BLOCK_SIMPLE) {
        uint32_t const on_wire = number32(file, at);
        uint32_t const limit = file->n_interfaces != 0 && file->interfaces[0].snapshot_bytes != 0
                                   ? file->interfaces[0].snapshot_bytes
                                   : UINT32_MAX;
        uint32_t const stored = on_wire < n - 4 ? on_wire : (uint32_t)(n - 4);
        *ret_parts = (packet_parts){ .captured = stored < limit ? stored : limit,
                                     .on_wire = on_wire,
                                     .bytes = at + 4 };
        return true;
    }
    *ret_parts = (packet_parts){
        .interface = type == BLOCK_PACKET ? number32(file, at) : number16(file, at),
        .has_time = true,
        .units = (uint64_t)number32(file, at + 4) << 32 | number32(file, at + 8),
        .captured = number32(file, at + 12),
        .on_wire = number32(file, at + 16),
        .bytes = at + 20,
    };
    return ret_parts->captured <= n - 20;
}

static bool read_packet_block(pcapng *file, uint32_t type, const uint8_t *at, const uint8_t *end,
                              capture_packet *ret_packet) {
    packet_parts parts;
    if (!find_parts(file, type, at, end, &parts)) {
        file->damage = "a packet is longer than its block";
        return false;
    }
    if (parts.interface >= file->n_interfaces) {
        file->damage = "a packet from an interface that was not described";
        return false;
    }
    const pcapng_interface *const interface = &file->interfaces[parts.interface];
    if (parts.has_time) file->last_ns = to_nanoseconds(interface, parts.units);
    *ret_packet = (capture_packet){ .bytes = parts.bytes,
                                    .captured = parts.captured,
                                    .on_wire = parts.on_wire,
                                    .time_ns = file->last_ns,
                                    .link_type = interface->link_type };
    file->n_packets++;
    return true;
}

/* ------------------------------------------------------------------ blocks */

/* The byte order of a section is stored after its length, so it is read first. */
static bool begin_section(pcapng *file, const uint8_t *block) {
    uint32_t magic;
    memcpy(&magic, block + 8, sizeof magic);
    if (magic != ORDER_MAGIC && magic != __builtin_bswap32(ORDER_MAGIC)) {
        file->damage = "a section without its magic number";
        return false;
    }
    file->is_swapped = magic != ORDER_MAGIC;
    file->n_interfaces = 0;
    bool const is_known = number16(file, block + 12) == 1;
    if (!is_known) file->damage = "a section of an unknown version";
    return is_known;
}

static bool is_packet_block(uint32_t type) {
    return type == BLOCK_PACKET || type == BLOCK_SIMPLE || type == BLOCK_OLD_PACKET;
}

/* The length of the next block. 0: its header is not complete, or invalid. */
static size_t block_bytes(pcapng *file) {
    const uint8_t *const at = source_at(file->input);
    uint32_t             type;
    if (source_has(file->input) < 12) return 0;
    memcpy(&type, at, sizeof type);
    if (type == BLOCK_SECTION && source_has(file->input) < 16) return 0;
    if (type == BLOCK_SECTION && !begin_section(file, at)) return 0;
    size_t const n = number32(file, at + 4);
    if (n < 12 || n % 4 != 0) file->damage = "a block has an impossible length";
    type = number32(file, at);
    if (n > LARGEST_BLOCK && (is_packet_block(type) || type == BLOCK_INTERFACE))
        file->damage = "a block is too large";
    return file->damage == NULL ? n : 0;
}

/* Consume bytes until the next block. False: some of them are not in the buffer yet. */
static bool skip_to_next_block(pcapng *file) {
    size_t const n =
        source_has(file->input) < file->to_skip ? source_has(file->input) : (size_t)file->to_skip;
    source_consume(file->input, n);
    file->to_skip -= n;
    return file->to_skip == 0;
}

bool pcapng_next(pcapng *file, capture_packet *ret_packet) {
    while (file->damage == NULL && skip_to_next_block(file)) {
        size_t const         n = block_bytes(file);
        const uint8_t *const at = source_at(file->input);
        uint32_t const       type = n != 0 ? number32(file, at) : 0;
        bool const           is_wanted = is_packet_block(type) || type == BLOCK_INTERFACE;
        if (n == 0 || (is_wanted && n > source_has(file->input))) return false;
        const uint8_t *const begin = at + 8, *const end = at + n - 4;
        file->to_skip = n; /* consumed by the next call: the packet's bytes stay until then */
        if (is_packet_block(type)) return read_packet_block(file, type, begin, end, ret_packet);
        if (type == BLOCK_INTERFACE && !read_interface(file, begin, end)) return false;
    }
    return false;
}

/* ------------------------------------------------------------------ the file */

bool pcapng_begin(pcapng *ret_file, source *input) {
    uint32_t magic[3];
    if (!source_need(input, sizeof magic)) return false;
    memcpy(magic, source_at(input), sizeof magic);
    bool const is_one = magic[0] == BLOCK_SECTION &&
                        (magic[2] == ORDER_MAGIC || magic[2] == __builtin_bswap32(ORDER_MAGIC));
    if (is_one) *ret_file = (pcapng){ .input = input };
    return is_one;
}

void pcapng_end(pcapng *file) {
    free(file->interfaces);
    file->interfaces = NULL;
}

capture_status pcapng_more(pcapng *file, capture_text reterr_text) {
    unsigned long long const n = file->n_packets;
    if (file->damage != NULL) {
        (void)snprintf(reterr_text, sizeof(capture_text),
                       "damaged after packet %llu: %s; everything before was read", n,
                       file->damage);
        return CAPTURE_BROKEN;
    }
    if (source_more(file->input) || file->input->error == EINTR) return CAPTURE_MORE;
    if (file->input->error != 0) {
        (void)snprintf(reterr_text, sizeof(capture_text), "reading failed after packet %llu: %s", n,
                       source_error_text(file->input));
        return CAPTURE_BROKEN;
    }
    if (source_has(file->input) == 0 && file->to_skip == 0) return CAPTURE_END;
    (void)snprintf(reterr_text, sizeof(capture_text),
                   "cut off after packet %llu, within a block; everything before was read", n);
    return CAPTURE_BROKEN;
}
