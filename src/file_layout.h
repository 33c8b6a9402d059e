/* file_layout.h - where things are in a file. For those who read or write its bytes: the library,
 * and that of the GPU. docs/format.md is the specification.
 *
 *     file      | header | body | body of part 1 | 8 bytes for each 64 KiB of a body | total |
 *               0        4096     (if there is one)
 *
 *     header    | version, hash, seed, counts | growth | place | part 0 | part 1 | 0 | checksum |
 *               0                             88       120     128      384      640 4088
 *
 * A part has what belongs to one table: its kind, sizes, counts and geometry. A set has one, and a
 * set in a step of growing two. The word has another meaning, too: a set that was divided into
 * several files is "a part of a set" (part.h), and the place says which one.
 */
#ifndef TAMIS_FILE_LAYOUT_H
#define TAMIS_FILE_LAYOUT_H

#include "core/base.h"

#define HEADER_BYTES 4096
#define BLOCK_BYTES 65536
#define TOTAL_BYTES 16 /* the total checksum */
#define MAJOR 1
#define MINOR 0

/* Offsets in the header. PART_... are those of part 0; a field of part 1 comes PART_BYTES later. So
 * functions for either part get the address `header + i x PART_BYTES`, and add PART_... to it. */
enum {
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_REQUIRED = 12,
    AT_HASH = 20,
    AT_PARTS = 24,
    AT_SEED_LOW = 32,
    AT_SEED_HIGH = 40,
    AT_REFUSED_ADDS = 48,
    AT_REFUSED_REMOVES = 56,
    AT_AGED = 64, /* states only; so is the next */
    AT_CONFLICTS = 72,
    AT_MORE_COPIES = 80, /* copies of every key that are planned for, minus one: usually 0 */
    AT_STAGE = 88,       /* from here on, sets that grow only */
    AT_STAGES = 92,
    AT_OVERFLOW = 96,
    AT_BUCKETS_MOVED = 104,
    AT_LATE = 112, /* states only */
    AT_GROWTH_END = 120,
    AT_PART_INDEX = 120, /* of a part of a set (part.c) only; and so is the next */
    AT_PART_COUNT = 124,
    AT_PART = 128,
    AT_CHECKSUM = HEADER_BYTES - 8,

    PART_KIND = AT_PART,
    PART_KIND_BYTES = 16,
    PART_BODY_BYTES = AT_PART + 16,
    PART_CAPACITY = AT_PART + 24,
    PART_LIFETIME = AT_PART + 32,
    PART_KEYS = AT_PART + 40,
    PART_SATURATED = AT_PART + 48,
    PART_FIELDS = AT_PART + 56,
    PART_MOVED = AT_PART + 64,
    PART_VALUES = AT_PART + 72, /* from here on, states only */
    PART_TIMEOUT = AT_PART + 80,
    PART_TIMER_BITS = AT_PART + 88,
    PART_LIVES = AT_PART + 96,
    PART_DONE = AT_PART + 104,
    PART_DUE = AT_PART + 112,
    PART_REST = AT_PART + 120,
    PART_GEOMETRY = AT_PART + 128,
    PART_END = AT_PART + 256,
    PART_BYTES = 256
};

#define FILE_MAX_PARTS 2

/* Flags in AT_REQUIRED. A reader that does not know one of them refuses the file. */
enum { NEEDS_STATES = 1, NEEDS_GROWTH = 2, NEEDS_PART = 4 };

TAMIS_INLINE uint64_t file_blocks(uint64_t body_bytes) {
    return body_bytes / BLOCK_BYTES + (body_bytes % BLOCK_BYTES != 0);
}

/* Bytes of block i. */
TAMIS_INLINE size_t file_block_bytes(uint64_t body_bytes, uint64_t i) {
    return (size_t)min_u64(body_bytes - i * BLOCK_BYTES, BLOCK_BYTES);
}

#endif
