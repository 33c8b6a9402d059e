/* stream.h - the stream that tamis_send() writes. docs/format.md is the specification.
 *
 * Paper: the trimmed form of rank-indexed hashing (N. Hua et al., ICNP 2008, section V, Table V):
 * 1/lambda + r + 1 bits per key, for chains of lambda keys on average and remainders of r bits.
 *
 * Idea
 * ----
 * All that a kind with fingerprints stores about a key is a number below F, its print. So a set is
 * a sorted list of prints, whatever its kind and geometry. A stream is that list without the empty
 * places of the table. The list is divided into chains by the upper part of the prints: for each
 * chain, a one and r bits for each of its prints, then a zero.
 *
 *     prints 3, 5 and 17, in chains of 8 (r = 3):
 *
 *         1 011  1 101  0   0   1 001  0
 *         chain 0           1   chain 2
 *
 * That is one bit per key, one bit per chain, and the remainders: the size in the paper, without
 * buckets. r is chosen to make the list shortest, and may differ from that of the table. If copies
 * are sent, they follow each remainder in Elias' gamma code: one bit for a single copy.
 *
 * A stream:   | header | checksum of the header | payload: the list | checksum of all |
 *
 * send.c writes it, receive.c reads it; stream.c writes and reads the header.
 */
#ifndef TAMIS_STREAM_H
#define TAMIS_STREAM_H

#include "core/field.h"
#include "part.h"

#define STREAM_TOTAL_BYTES 16 /* the checksum of all */
#define STREAM_MAX_REMAINDER_BITS 56
#define STREAM_MANY_COPIES 65536 /* how "saturated" is written */
#define STREAM_KIND_BYTES 16

/* Offsets of the fields in the header; after them come the geometry and the checksum. */
enum {
    STREAM_AT_MAJOR = 8,
    STREAM_AT_MINOR = 10,
    STREAM_AT_FLAGS = 12, /* STREAM_HAS_... */
    STREAM_AT_HASH = 16,
    STREAM_AT_REMAINDER_BITS = 20,
    STREAM_AT_SEED_LOW = 24,
    STREAM_AT_SEED_HIGH = 32,
    STREAM_AT_PRINTS = 40,
    STREAM_AT_LISTED = 48,
    STREAM_AT_PAYLOAD_BYTES = 56,
    STREAM_AT_CAPACITY = 64,
    STREAM_AT_LIFETIME = 72,
    STREAM_AT_KIND = 80,
    STREAM_AT_FIELDS = 96,
    STREAM_AT_MORE_COPIES = 100,
    STREAM_AT_GEOMETRY = 104
};

/* For a set that grows, after the geometry. */
enum { STREAM_STAGE = 0, STREAM_STAGES = 4, STREAM_OVERFLOW = 8, STREAM_GROWTH_BYTES = 16 };

/* For a part of a set, after that. */
enum { STREAM_PART_INDEX = 0, STREAM_PART_COUNT = 4, STREAM_PART_BYTES = 8 };

#define STREAM_MAX_HEADER_BYTES \
    (STREAM_AT_GEOMETRY + 8 * TAMIS_MAX_FIELDS + STREAM_GROWTH_BYTES + STREAM_PART_BYTES + 8)

/* Flags in STREAM_AT_FLAGS. A reader that does not know one of them refuses the stream. */
enum { STREAM_HAS_COPIES = TAMIS_SEND_COPIES, STREAM_HAS_GROWTH = 2, STREAM_HAS_PART = 4 };

/* The contents of a stream's header. */
typedef struct stream {
    bool             has_copies;
    bool             grows;         /* then the next, as in grow.h */
    unsigned         stage, stages; /* the geometry is that of `stage` */
    double           overflow;
    tamis_part_place part; /* 0 and 0: of a whole set */
    tamis_hash       hash;
    tamis_seed       seed;
    uint64_t         prints; /* F */
    uint64_t         listed; /* different prints in the list */
    unsigned         remainder_bits;
    uint64_t         payload_bytes;
    tamis_workload   work; /* that the sender was planned for */
    char             kind[STREAM_KIND_BYTES];
    unsigned         n_fields;
    uint64_t         geometry[TAMIS_MAX_FIELDS];
} stream;

/* Chains that F prints make with this many bits of remainder. */
TAMIS_INLINE uint64_t stream_chains(uint64_t prints, unsigned remainder_bits) {
    return ((prints - 1) >> remainder_bits) + 1;
}

/* The header with its checksum, for these flags. */
TAMIS_INLINE size_t stream_header_bytes(unsigned n_fields, uint32_t flags) {
    TAMIS_ASSERT(n_fields <= TAMIS_MAX_FIELDS);
    return STREAM_AT_GEOMETRY + 8 * (size_t)n_fields +
           ((flags & STREAM_HAS_GROWTH) != 0 ? STREAM_GROWTH_BYTES : 0) +
           ((flags & STREAM_HAS_PART) != 0 ? STREAM_PART_BYTES : 0) + 8;
}

TAMIS_INLINE uint32_t stream_flags(const stream *sent) {
    return (sent->has_copies ? STREAM_HAS_COPIES : 0u) | (sent->grows ? STREAM_HAS_GROWTH : 0u) |
           (sent->part.parts != 0 ? STREAM_HAS_PART : 0u);
}

/* Can sets of this kind be sent? The prints must be all that it stores about its keys. */
TAMIS_INLINE bool stream_takes_kind(const tamis_kind *kind) {
    return kind->each != NULL && !kind->keeps_more_than_prints;
}

/* stream.c: write a header of stream_header_bytes(). */
void tamis_stream_write_header(const stream *sent, uint8_t *ret_header);

/* stream.c: read the header of a stream of n bytes, and check all that can be checked without
 * reading the list: every field, and both checksums. */
tamis_status tamis_stream_read_header(const uint8_t *bytes, size_t n, stream *ret_stream,
                                      tamis_problem *problem);

/* stream.c: write the problem "the stream ... (byte N)". Returns `status`. */
tamis_status tamis_stream_say(tamis_problem *problem, tamis_status status, uint64_t offset,
                              const char *text);

#endif
