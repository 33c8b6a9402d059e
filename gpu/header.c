/* header.c - see header.h. */
#include "header.h"

#include "core/le.h"
#include "file_layout.h"
#include "kinds/bloom/size.h"
#include "kinds/line/shape.h"
#include "say.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

header_facts header_read(const uint8_t *header) {
    header_facts facts = { .is_states = (le32_load(header + AT_REQUIRED) & NEEDS_STATES) != 0,
                           .parts = le32_load(header + AT_PARTS),
                           .body_bytes = le64_load(header + PART_BODY_BYTES),
                           .capacity = le64_load(header + PART_CAPACITY),
                           .keys = le64_load(header + PART_KEYS),
                           .saturated = le64_load(header + PART_SATURATED),
                           .refused_adds = le64_load(header + AT_REFUSED_ADDS),
                           .refused_removes = le64_load(header + AT_REFUSED_REMOVES) };
    memcpy(facts.kind, header + AT_PART, sizeof facts.kind);
    facts.kind[sizeof facts.kind - 1] = 0;
    return facts;
}

static void make_hash(const uint8_t *header, gpu_table *table) {
    uint64_t const low = le64_load(header + AT_SEED_LOW), high = le64_load(header + AT_SEED_HIGH);
    table->ids = (id_mixer){ mix64(low), high };
    table->is_sip = le32_load(header + AT_HASH) == TAMIS_HASH_SIPHASH;
    table->sip_low = low;
    table->sip_high = high;
}

/* A part finds its keys by other bits of a hash than a whole set. Kernels know only whole sets, so
 * a lookup in a part would miss keys. */
static tamis_status check_required(const uint8_t *header, tamis_problem *problem) {
    uint32_t const required = le32_load(header + AT_REQUIRED);
    if ((required & NEEDS_PART) != 0)
        return say(problem, TAMIS_ERR_CANNOT,
                   "it is a part of a set; parts cannot be used on a GPU");
    if ((required & ~(uint32_t)(NEEDS_STATES | NEEDS_GROWTH)) != 0)
        return say(problem, TAMIS_ERR_CANNOT,
                   "its header has flags that this library does not know (0x%x)", required);
    return TAMIS_OK;
}

/* The set is made by libtamis, which may be newer than this library. What it can do more must not
 * be taken for what is known here: with another hash, lookups would miss keys. */
static tamis_status check_known(const uint8_t *header, const char *kind, tamis_problem *problem) {
    uint32_t const hash = le32_load(header + AT_HASH), fields = le32_load(header + PART_FIELDS);
    unsigned const most = strcmp(kind, "bloom") == 0  ? BLOOM_FIELDS
                          : strcmp(kind, "line") == 0 ? LINE_FIELDS
                                                      : TAMIS_MAX_FIELDS;
    if (hash != TAMIS_HASH_XXH3 && hash != TAMIS_HASH_SIPHASH)
        return say(problem, TAMIS_ERR_CANNOT, "its hash is not known to this library (%u)", hash);
    if (le16_load(header + AT_MAJOR) != MAJOR || fields > most)
        return say(problem, TAMIS_ERR_CANNOT, "it was made by a newer libtamis than libtamis-gpu");
    return TAMIS_OK;
}

tamis_status header_make_table(const uint8_t *header, gpu_table *ret_table,
                               tamis_problem *problem) {
    header_facts const facts = header_read(header);
    line_layout        layout;
    uint64_t           g[TAMIS_MAX_FIELDS];
    gpu_table          table = { .body_bytes = facts.body_bytes };
    tamis_status       status = check_required(header, problem);
    if (status == TAMIS_OK) status = check_known(header, facts.kind, problem);
    if (status != TAMIS_OK) return status;
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++)
        g[i] = le64_load(header + PART_GEOMETRY + 8 * i);
    make_hash(header, &table);
    if (strcmp(facts.kind, "bloom") == 0) {
        table.bits = g[BLOOM_BITS];
        table.hashes = g[BLOOM_HASHES];
        table.is_blocked = g[BLOOM_BLOCKED];
    } else if (strcmp(facts.kind, "line") == 0 && tamis_line_layout(g, &layout)) {
        table.lines = line_make_shape(g, &layout);
        table.most = line_most(g);
        if (facts.is_states)
            table.state_bits = g[LINE_VALUE_BITS] - le64_load(header + PART_TIMER_BITS);
    } else {
        return say(problem, TAMIS_ERR_CANNOT,
                   "sets of kind %s cannot be used on a GPU, only line and bloom", facts.kind);
    }
    *ret_table = table;
    return TAMIS_OK;
}

/* No reader accepts a higher count (docs/format.md). */
#define MAX_COUNT (UINT64_C(1) << 56)

void header_set_counts(uint8_t *header, const header_facts *facts) {
    le64_store(header + PART_KEYS, min_u64(facts->keys, MAX_COUNT));
    le64_store(header + PART_SATURATED, min_u64(facts->saturated, MAX_COUNT));
    le64_store(header + AT_REFUSED_ADDS, min_u64(facts->refused_adds, MAX_COUNT));
    le64_store(header + AT_REFUSED_REMOVES, min_u64(facts->refused_removes, MAX_COUNT));
    le64_store(header + AT_CHECKSUM, XXH3_64bits(header, AT_CHECKSUM));
}

uint64_t header_file_bytes(uint64_t body_bytes) {
    return HEADER_BYTES + body_bytes + 8 * file_blocks(body_bytes) + TOTAL_BYTES;
}

void header_finish_file(uint8_t *file, uint64_t body_bytes) {
    const uint8_t *const body = file + HEADER_BYTES;
    uint8_t *const       checksums = file + HEADER_BYTES + body_bytes;
    uint64_t const       n = file_blocks(body_bytes);
    XXH3_state_t         state;
    for (uint64_t i = 0; i < n; i++) {
        size_t const bytes = file_block_bytes(body_bytes, i);
        le64_store(checksums + 8 * i, XXH3_64bits(body + i * BLOCK_BYTES, bytes));
    }
    (void)XXH3_128bits_reset(&state);
    (void)XXH3_128bits_update(&state, file, HEADER_BYTES);
    (void)XXH3_128bits_update(&state, checksums, (size_t)(8 * n));
    XXH128_hash_t const total = XXH3_128bits_digest(&state);
    le64_store(checksums + 8 * n, total.low64);
    le64_store(checksums + 8 * n + 8, total.high64);
}
