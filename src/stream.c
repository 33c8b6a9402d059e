/* stream.c - write and read the header of a stream. See stream.h.
 *
 * Reading trusts nothing. If a header passes, its list fits into the bytes of the stream, so no
 * field can make a reader allocate without limit. (The table for the list may be large, though: the
 * stream of an empty set for many keys is small.)
 */
#include "stream.h"

#include "checksum.h"
#include "core/le.h"

#define STREAM_MAJOR 1
#define STREAM_MINOR 0
#define STREAM_MAGIC "\x89tamsnd\n" /* 8 bytes, and a zero that is not sent */
#define STREAM_MAGIC_BYTES 8

/* ------------------------------------------------------------------ writing */

void tamis_stream_write_header(const stream *sent, uint8_t *ret_header) {
    uint8_t *const h = ret_header;
    size_t const   checksum_at = stream_header_bytes(sent->n_fields, stream_flags(sent)) - 8;
    uint8_t *const growth = h + STREAM_AT_GEOMETRY + 8 * (size_t)sent->n_fields;
    memset(h, 0, checksum_at);
    memcpy(h, STREAM_MAGIC, STREAM_MAGIC_BYTES);
    le16_store(h + STREAM_AT_MAJOR, STREAM_MAJOR);
    le16_store(h + STREAM_AT_MINOR, STREAM_MINOR);
    le32_store(h + STREAM_AT_FLAGS, stream_flags(sent));
    le32_store(h + STREAM_AT_HASH, (uint32_t)sent->hash);
    le32_store(h + STREAM_AT_REMAINDER_BITS, sent->remainder_bits);
    le64_store(h + STREAM_AT_SEED_LOW, sent->seed.low);
    le64_store(h + STREAM_AT_SEED_HIGH, sent->seed.high);
    le64_store(h + STREAM_AT_PRINTS, sent->prints);
    le64_store(h + STREAM_AT_LISTED, sent->listed);
    le64_store(h + STREAM_AT_PAYLOAD_BYTES, sent->payload_bytes);
    le64_store(h + STREAM_AT_CAPACITY, sent->work.capacity);
    le64_store(h + STREAM_AT_LIFETIME, sent->work.lifetime);
    memcpy(h + STREAM_AT_KIND, sent->kind, STREAM_KIND_BYTES);
    le32_store(h + STREAM_AT_FIELDS, sent->n_fields);
    le32_store(h + STREAM_AT_MORE_COPIES, (uint32_t)(sent->work.copies - 1));
    for (unsigned i = 0; i < sent->n_fields; i++) {
        le64_store(h + STREAM_AT_GEOMETRY + 8 * i, sent->geometry[i]);
    }
    if (sent->grows) {
        le32_store(growth + STREAM_STAGE, sent->stage);
        le32_store(growth + STREAM_STAGES, sent->stages);
        le_double_store(growth + STREAM_OVERFLOW, sent->overflow);
    }
    if (sent->part.parts != 0) {
        le32_store(h + checksum_at - STREAM_PART_BYTES + STREAM_PART_INDEX, sent->part.part);
        le32_store(h + checksum_at - STREAM_PART_BYTES + STREAM_PART_COUNT, sent->part.parts);
    }
    le64_store(h + checksum_at, tamis_checksum(h, checksum_at));
}

/* ------------------------------------------------------------------ reading */

tamis_status tamis_stream_say(tamis_problem *problem, tamis_status status, uint64_t offset,
                              const char *text) {
    (void)tamis_problem_say(problem, status, "the stream %s (byte %llu)", text,
                            (unsigned long long)offset);
    if (problem != NULL) problem->offset = offset;
    return status;
}

/* The fields of a header whose checksum is correct: as they are, whether they are possible or not
 * (stream_is_possible). Growth and part come after the geometry, if there are any. */
static stream stream_decode(const uint8_t *h) {
    stream found = {
        .has_copies = (le32_load(h + STREAM_AT_FLAGS) & STREAM_HAS_COPIES) != 0,
        .grows = (le32_load(h + STREAM_AT_FLAGS) & STREAM_HAS_GROWTH) != 0,
        .hash = (tamis_hash)le32_load(h + STREAM_AT_HASH),
        .seed = { le64_load(h + STREAM_AT_SEED_LOW), le64_load(h + STREAM_AT_SEED_HIGH) },
        .prints = le64_load(h + STREAM_AT_PRINTS),
        .listed = le64_load(h + STREAM_AT_LISTED),
        .remainder_bits = le32_load(h + STREAM_AT_REMAINDER_BITS),
        .payload_bytes = le64_load(h + STREAM_AT_PAYLOAD_BYTES),
        .work = { .capacity = le64_load(h + STREAM_AT_CAPACITY),
                  .copies = (uint64_t)le32_load(h + STREAM_AT_MORE_COPIES) + 1,
                  .lifetime = le64_load(h + STREAM_AT_LIFETIME) },
        .n_fields = le32_load(h + STREAM_AT_FIELDS),
    };
    memcpy(found.kind, h + STREAM_AT_KIND, STREAM_KIND_BYTES);
    for (unsigned i = 0; i < found.n_fields; i++) {
        found.geometry[i] = le64_load(h + STREAM_AT_GEOMETRY + 8 * i);
    }
    uint32_t const       flags = le32_load(h + STREAM_AT_FLAGS);
    const uint8_t *const part =
        h + stream_header_bytes(found.n_fields, flags) - 8 - STREAM_PART_BYTES;
    if ((flags & STREAM_HAS_PART) != 0) {
        found.part.part = le32_load(part + STREAM_PART_INDEX);
        found.part.parts = le32_load(part + STREAM_PART_COUNT);
    }
    if (!found.grows) return found;
    const uint8_t *const growth = h + STREAM_AT_GEOMETRY + 8 * (size_t)found.n_fields;
    found.stage = le32_load(growth + STREAM_STAGE);
    found.stages = le32_load(growth + STREAM_STAGES);
    found.overflow = le_double_load(growth + STREAM_OVERFLOW);
    return found;
}

/* A name, then zeros up to the end. */
static bool is_name(const char *kind) {
    if (kind[0] == '\0' || kind[STREAM_KIND_BYTES - 1] != '\0') return false;
    for (size_t i = 1; i < STREAM_KIND_BYTES; i++) {
        if (kind[i - 1] == '\0' && kind[i] != '\0') return false;
    }
    return true;
}

/* Are these numbers possible? Each listed print and each chain takes at least one bit: so neither
 * number can be larger than the stream, and a reader may loop over both. */
static bool stream_is_possible(const stream *found) {
    uint64_t const bits = found->payload_bytes * 8; /* no overflow: the bytes are there */
    if (found->prints == 0 || found->remainder_bits > STREAM_MAX_REMAINDER_BITS) return false;
    if (found->work.capacity < 1 || found->work.capacity > HANDLE_MAX_CAPACITY) return false;
    if (found->work.lifetime < found->work.capacity || !is_name(found->kind)) return false;
    if (!part_is_possible(found->part) || !part_holds(found->part, found->prints)) return false;
    return found->listed <= bits && stream_chains(found->prints, found->remainder_bits) <= bits;
}

/* Is this a stream of a version that can be read, with a complete header? Where the checksum is
 * depends on the number of fields and on the flags: these two are read before it was compared. The
 * fields are bounded for that, and unknown flags change nothing in the length. */
static tamis_status check_start(const uint8_t *bytes, size_t n, tamis_problem *problem) {
    if (n == 0) return tamis_stream_say(problem, TAMIS_ERR_TRUNCATED, 0, "is empty");
    if (memcmp(bytes, STREAM_MAGIC, (size_t)min_u64(n, STREAM_MAGIC_BYTES)) != 0) {
        return tamis_stream_say(problem, TAMIS_ERR_FOREIGN, 0, "is not a tamis stream");
    }
    if (n < STREAM_AT_GEOMETRY) {
        return tamis_stream_say(problem, TAMIS_ERR_TRUNCATED, n, "ends in its header");
    }
    if (le16_load(bytes + STREAM_AT_MAJOR) > STREAM_MAJOR) {
        return tamis_stream_say(problem, TAMIS_ERR_VERSION, STREAM_AT_MAJOR,
                                "is from a newer version of tamis");
    }
    uint32_t const n_fields = le32_load(bytes + STREAM_AT_FIELDS);
    if (n_fields > TAMIS_MAX_FIELDS) {
        return tamis_stream_say(problem, TAMIS_ERR_CHECKSUM, STREAM_AT_FIELDS,
                                "has a damaged header");
    }
    uint32_t const flags = le32_load(bytes + STREAM_AT_FLAGS);
    size_t const   head = stream_header_bytes(n_fields, flags);
    if (n < head) return tamis_stream_say(problem, TAMIS_ERR_TRUNCATED, n, "ends in its header");
    if (le64_load(bytes + head - 8) != tamis_checksum(bytes, head - 8)) {
        return tamis_stream_say(problem, TAMIS_ERR_CHECKSUM, head - 8, "has a damaged header");
    }
    if ((flags & ~(uint32_t)(STREAM_HAS_COPIES | STREAM_HAS_GROWTH | STREAM_HAS_PART)) != 0) {
        return tamis_stream_say(problem, TAMIS_ERR_VERSION, STREAM_AT_FLAGS,
                                "needs a newer version of tamis");
    }
    return TAMIS_OK;
}

/* Does the stream end where the header says, and is the total checksum correct? */
static tamis_status check_total(const uint8_t *bytes, size_t n, const stream *found,
                                tamis_problem *problem) {
    uint64_t const end =
        stream_header_bytes(found->n_fields, stream_flags(found)) + found->payload_bytes;
    checksum_total sum;
    uint8_t        total[STREAM_TOTAL_BYTES];
    if (end + STREAM_TOTAL_BYTES < n) {
        return tamis_stream_say(problem, TAMIS_ERR_CORRUPT, end + STREAM_TOTAL_BYTES,
                                "has more bytes than its header says");
    }
    tamis_checksum_begin(&sum);
    tamis_checksum_add(&sum, bytes, (size_t)end);
    tamis_checksum_end(&sum, total);
    if (memcmp(bytes + end, total, sizeof total) != 0) {
        return tamis_stream_say(problem, TAMIS_ERR_CHECKSUM, end, "is damaged");
    }
    return TAMIS_OK;
}

tamis_status tamis_stream_read_header(const uint8_t *bytes, size_t n, stream *ret_stream,
                                      tamis_problem *problem) {
    tamis_status const status = check_start(bytes, n, problem);
    if (status != TAMIS_OK) return status;
    stream const found = stream_decode(bytes);
    size_t const others = stream_header_bytes(found.n_fields, le32_load(bytes + STREAM_AT_FLAGS)) +
                          STREAM_TOTAL_BYTES;
    if (!keyhash_is_built(found.hash)) {
        return tamis_stream_say(problem, TAMIS_ERR_NOT_BUILT, STREAM_AT_HASH,
                                "uses a hash function that is not in this build");
    }
    if (n < others || found.payload_bytes > n - others) {
        return tamis_stream_say(problem, TAMIS_ERR_TRUNCATED, n, "ends too early");
    }
    if (!stream_is_possible(&found) || stream_flags(&found) != le32_load(bytes + STREAM_AT_FLAGS)) {
        return tamis_stream_say(problem, TAMIS_ERR_CORRUPT, 0, "has an invalid header");
    }
    *ret_stream = found;
    return check_total(bytes, n, &found, problem);
}
