/* transfer.h - the stream that a set is sent as: what transfer.c writes and receive.c reads.
 * docs/format.md is the specification.
 */
#ifndef TAMIS_TRANSFER_H
#define TAMIS_TRANSFER_H

#include "core/field.h"
#include "handle.h"

#define STREAM_MAJOR 1
#define STREAM_MINOR 0
#define STREAM_MAGIC "\x89tamsnd\n" /* 8 bytes, and a zero that is not sent */
#define STREAM_MAGIC_BYTES 8
#define STREAM_TOTAL_BYTES 16 /* the checksum of all */
#define STREAM_MAX_REMAINDER_BITS 56
#define STREAM_MANY_COPIES 65536 /* how "saturated" is written */

/* Offsets in the header. */
enum {
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_FLAGS = 12, /* TAMIS_SEND_... */
    AT_HASH = 16,
    AT_REMAINDER_BITS = 20,
    AT_SEED_LOW = 24,
    AT_SEED_HIGH = 32,
    AT_PRINTS = 40,
    AT_LISTED = 48,
    AT_PAYLOAD_BYTES = 56,
    AT_CAPACITY = 64,
    AT_LIFETIME = 72,
    AT_KIND = 80,
    KIND_BYTES = 16,
    AT_FIELDS = 96,
    AT_GEOMETRY = 104
};

/* What a stream says of itself. */
typedef struct stream {
    bool       has_copies;
    tamis_hash hash;
    tamis_seed seed;
    uint64_t   prints; /* F */
    uint64_t   listed; /* different prints that follow */
    unsigned   remainder_bits;
    uint64_t   payload_bytes;
    uint64_t   capacity, lifetime;
    char       kind[KIND_BYTES];
    unsigned   n_fields;
    uint64_t   geometry[TAMIS_MAX_FIELDS];
} stream;

/* Chains that F prints make with so many bits of remainder. */
TAMIS_INLINE uint64_t stream_chains(uint64_t prints, unsigned remainder_bits) {
    return ((prints - 1) >> remainder_bits) + 1;
}

/* Header with its checksum. */
TAMIS_INLINE size_t stream_header_bytes(unsigned n_fields) {
    TAMIS_ASSERT(n_fields <= TAMIS_MAX_FIELDS);
    return AT_GEOMETRY + 8 * (size_t)n_fields + 8;
}

#endif
