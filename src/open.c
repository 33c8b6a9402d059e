/* open.c - the one reader of files. docs/format.md is the specification.
 *
 * Reading trusts nothing: the header's checksum, then each field by itself, then the file's length
 * against the geometry's, before any memory is asked for. A body is never larger than the file
 * that holds it. Then every block's checksum, the total checksum, and the kind's own invariants.
 * There is no assert on anything that came from outside.
 */
#include "file.h"
#include "os.h"

#include <stdio.h>

/* ------------------------------------------------------------------ where from */

/* A file, or bytes in memory (a mapped file is that, too). */
typedef struct source {
    const os_file *file; /* NULL: memory */
    const uint8_t *bytes;
    bool           is_mapped; /* the bytes stay, and the body is used where it is */
    bool           is_states; /* the caller wants states, not a set */
    uint64_t       n;
    const char    *name; /* for messages, short enough for them */
    tamis_problem *problem;
} source;

static tamis_status source_read(const source *from, uint64_t offset, void *ret_bytes, size_t n) {
    if (offset > from->n || n > from->n - offset) {
        return tamis_problem_say(from->problem, TAMIS_ERR_TRUNCATED, "%s ends too early",
                                 from->name);
    }
    int error;
    if (n == 0) return TAMIS_OK;
    if (from->file == NULL)
        memcpy(ret_bytes, from->bytes + offset, n);
    else if (!tamis_os_read(from->file, offset, ret_bytes, n, &error)) {
        if (error != 0) return tamis_file_say_system(from->problem, "read", from->name, error);
        return tamis_problem_say(from->problem, TAMIS_ERR_TRUNCATED,
                                 "%s was shortened while it was read", from->name);
    }
    return TAMIS_OK;
}

/* "NAME: what", and the byte of the file where it is. */
static tamis_status say_at(const source *from, tamis_status status, uint64_t offset,
                           const char *what) {
    (void)tamis_problem_say(from->problem, status, "%s: %s (byte %llu)", from->name, what,
                            (unsigned long long)offset);
    if (from->problem != NULL) from->problem->offset = offset;
    return status;
}

/* ------------------------------------------------------------------ the header */

/* Is it ours, can we read it, and is it whole? */
static tamis_status header_read(const source *from, uint8_t *h) {
    size_t const known = (size_t)min_u64(from->n, HEADER_BYTES);
    tamis_status status = source_read(from, 0, h, known);
    if (status != TAMIS_OK) return status;
    if (known == 0) return say_at(from, TAMIS_ERR_TRUNCATED, 0, "the file is empty");
    if (memcmp(h, MAGIC, min_u64(known, sizeof MAGIC)) != 0) {
        return say_at(from, TAMIS_ERR_FOREIGN, 0, "not a tamis file");
    }
    if (known < HEADER_BYTES) return say_at(from, TAMIS_ERR_TRUNCATED, known, "the header is cut");
    if (le16_load(h + AT_MAJOR) > MAJOR) {
        return say_at(from, TAMIS_ERR_VERSION, AT_MAJOR, "written by a newer version of tamis");
    }
    if (le64_load(h + AT_CHECKSUM) != XXH3_64bits(h, AT_CHECKSUM)) {
        return say_at(from, TAMIS_ERR_CHECKSUM, AT_CHECKSUM, "the header is damaged");
    }
    return TAMIS_OK;
}

/* Are the bytes first..last-1 all zero? */
static bool is_zero(const uint8_t *bytes, size_t first, size_t last) {
    for (size_t at = first; at < last; at++) {
        if (bytes[at] != 0) return false;
    }
    return true;
}

/* The fields that do not depend on the kind. */
static tamis_status header_check(const source *from, const uint8_t *h) {
    if (le16_load(h + AT_MAJOR) != MAJOR) {
        return say_at(from, TAMIS_ERR_CORRUPT, AT_MAJOR, "there is no version 0");
    }
    uint32_t const required = le32_load(h + AT_REQUIRED);
    if ((required & ~(uint32_t)(NEEDS_STATES | NEEDS_GROWTH)) != 0) {
        return say_at(from, TAMIS_ERR_VERSION, AT_REQUIRED, "it needs a newer version of tamis");
    }
    if (from->is_states != ((required & NEEDS_STATES) != 0)) {
        return say_at(from, TAMIS_ERR_KIND, AT_REQUIRED,
                      from->is_states ? "it is a set: open it with tamis_open()"
                                      : "it holds states: open it with tamis_states_open()");
    }
    bool const     grows = (required & NEEDS_GROWTH) != 0;
    uint32_t const parts = le32_load(h + AT_PARTS);
    if (parts < 1 || parts > (grows ? FILE_MAX_PARTS : 1)) {
        return say_at(from, TAMIS_ERR_VERSION, AT_PARTS,
                      "this version reads sets of one part, or of two if they grow");
    }
    size_t const second = PART_FIELDS + PART_BYTES; /* of part 1, if there is one */
    bool const   is_reserved_zero =
        is_zero(h, 28, AT_SEED_LOW) && is_zero(h, grows ? AT_GROWTH_END : AT_STAGE, AT_PART) &&
        is_zero(h, PART_FIELDS + 4, PART_MOVED) && is_zero(h, second + 4, second + 8) &&
        is_zero(h, AT_PART + parts * PART_BYTES, AT_CHECKSUM) &&
        is_zero(h, PART_VALUES + PART_BYTES, PART_GEOMETRY + PART_BYTES);
    /* a set has nothing of what only states have, and the other way round */
    bool const is_other_zero = from->is_states
                                   ? is_zero(h, AT_REFUSED_REMOVES, AT_REFUSED_REMOVES + 8)
                                   : is_zero(h, AT_AGED, AT_CONFLICTS + 8) &&
                                         is_zero(h, AT_LATE, AT_LATE + 8) &&
                                         is_zero(h, PART_VALUES, PART_GEOMETRY);
    if (le16_load(h + AT_MINOR) <= MINOR && (!is_reserved_zero || !is_other_zero)) {
        return say_at(from, TAMIS_ERR_CORRUPT, 28, "reserved bytes of the header are not zero");
    }
    return TAMIS_OK;
}

/* The numbers of a life. */
static tamis_status header_check_life(const source *from, const uint8_t *h) {
    if (le64_load(h + AT_MORE_COPIES) >= UINT64_C(1) << 32) {
        return say_at(from, TAMIS_ERR_CORRUPT, AT_MORE_COPIES, "impossible number of copies");
    }
    if (le64_load(h + AT_REFUSED_ADDS) > KIND_MAX_COUNT ||
        le64_load(h + AT_REFUSED_REMOVES) > KIND_MAX_COUNT ||
        le64_load(h + AT_AGED) > KIND_MAX_COUNT || le64_load(h + AT_CONFLICTS) > KIND_MAX_COUNT) {
        return say_at(from, TAMIS_ERR_CORRUPT, AT_REFUSED_ADDS, "impossible counts");
    }
    return TAMIS_OK;
}

/* The numbers and the name of a part, whose fields are PART_... from p on. */
static tamis_status header_check_part(const source *from, const uint8_t *p, uint64_t at) {
    uint64_t const capacity = le64_load(p + PART_CAPACITY);
    if (capacity < 1 || capacity > HANDLE_MAX_CAPACITY || le64_load(p + PART_LIFETIME) < capacity) {
        return say_at(from, TAMIS_ERR_CORRUPT, at + PART_CAPACITY,
                      "impossible capacity or lifetime");
    }
    if (le64_load(p + PART_KEYS) > KIND_MAX_COUNT ||
        le64_load(p + PART_SATURATED) > KIND_MAX_COUNT ||
        le64_load(p + PART_MOVED) > KIND_MAX_COUNT) {
        return say_at(from, TAMIS_ERR_CORRUPT, at + PART_KEYS, "impossible counts");
    }
    size_t const name_bytes = strnlen((const char *)p + PART_KIND, PART_KIND_BYTES);
    if (name_bytes == 0 || name_bytes == PART_KIND_BYTES ||
        !is_zero(p, PART_KIND + name_bytes, PART_KIND + PART_KIND_BYTES)) {
        return say_at(from, TAMIS_ERR_CORRUPT, at + PART_KIND, "the name of the kind is not one");
    }
    return TAMIS_OK;
}

/* The geometry of a part. Its body may be no larger than the file. */
static tamis_status header_geometry(const source *from, const uint8_t *p, uint64_t at,
                                    const tamis_kind *kind, uint64_t *ret_geometry) {
    uint64_t bytes;
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) {
        ret_geometry[i] = le64_load(p + PART_GEOMETRY + 8 * i);
    }
    unsigned const n_fields = file_fields(kind, ret_geometry);
    if (le32_load(p + PART_FIELDS) != n_fields ||
        !is_zero(p, PART_GEOMETRY + 8 * n_fields, PART_END) ||
        !kind->body_bytes(ret_geometry, &bytes) || bytes != le64_load(p + PART_BODY_BYTES)) {
        return say_at(from, TAMIS_ERR_CORRUPT, at + PART_GEOMETRY, "the geometry is impossible");
    }
    return bytes <= from->n ? TAMIS_OK
                            : say_at(from, TAMIS_ERR_TRUNCATED, from->n, "the file is cut");
}

/* The length of the file against what its parts say. No body is larger than the file, so nothing
 * wraps. */
static tamis_status header_check_length(const source *from, const uint8_t *h) {
    uint64_t bytes = tamis_file_bytes(le64_load(h + PART_BODY_BYTES));
    if (le32_load(h + AT_PARTS) == 2) {
        uint64_t const second = le64_load(h + PART_BODY_BYTES + PART_BYTES);
        bytes += second + 8 * file_blocks(second);
    }
    if (bytes > from->n) return say_at(from, TAMIS_ERR_TRUNCATED, from->n, "the file is cut");
    if (bytes < from->n) {
        return say_at(from, TAMIS_ERR_CORRUPT, bytes, "more bytes than belong");
    }
    return TAMIS_OK;
}

/* The kind, and its geometry. */
static tamis_status header_kind(const source *from, const uint8_t *h, const char *isa,
                                const tamis_kind **ret_kind, uint64_t *ret_geometry) {
    const char *const name = (const char *)h + PART_KIND;
    tamis_status      status = tamis_kind_find(name, isa, ret_kind);
    bool const        is_able = status != TAMIS_OK ||
                         (from->is_states ? (*ret_kind)->states != NULL : (*ret_kind)->has != NULL);
    if (!is_able) status = TAMIS_ERR_KIND;
    if (status == TAMIS_ERR_KIND) return say_at(from, status, PART_KIND, "of a kind unknown here");
    if (status != TAMIS_OK) return say_at(from, status, 0, "no such instruction set here");
    return header_geometry(from, h, 0, *ret_kind, ret_geometry);
}

/* The fields that only states have, for a handle that has its geometry. */
static tamis_status header_states(const source *from, const uint8_t *h, tamis_set *set) {
    tamis_table *const table = &set->table;
    table->aged = le64_load(h + AT_AGED);
    set->conflicts = le64_load(h + AT_CONFLICTS);
    table->values = le64_load(h + PART_VALUES);
    table->sweep = (sweep){ .units = set->kind->states->units(table->geometry),
                            .timeout = le64_load(h + PART_TIMEOUT),
                            .timer_bits = le64_load(h + PART_TIMER_BITS),
                            .lives = le64_load(h + PART_LIVES),
                            .done = le64_load(h + PART_DONE),
                            .due = le64_load(h + PART_DUE),
                            .rest = le64_load(h + PART_REST),
                            .late = le64_load(h + AT_LATE) };
    if (!sweep_is_whole(&table->sweep)) {
        return say_at(from, TAMIS_ERR_CORRUPT, PART_TIMEOUT, "impossible timeouts");
    }
    bool const is_possible = table->values >= 2 && table->values <= KIND_MAX_VALUES &&
                             set->kind->states->holds_values(table->geometry, table->values,
                                                             (unsigned)table->sweep.timer_bits);
    return is_possible ? TAMIS_OK
                       : say_at(from, TAMIS_ERR_CORRUPT, PART_VALUES, "impossible values");
}

/* The second table of a set that is in a step: twice the buckets, and as many prints. */
static tamis_status header_next(const source *from, const uint8_t *h, tamis_set *set) {
    const uint8_t *const p = h + PART_BYTES;
    tamis_table *const   next = &set->growth->next;
    uint64_t             expected[TAMIS_MAX_FIELDS], geometry[TAMIS_MAX_FIELDS];
    tamis_status         status = header_check_part(from, p, PART_BYTES);
    if (status == TAMIS_OK) status = header_geometry(from, p, PART_BYTES, set->kind, geometry);
    if (status != TAMIS_OK) return status;
    bool is_next = memcmp(h + PART_KIND, p + PART_KIND, PART_KIND_BYTES) == 0 &&
                   le64_load(p + PART_CAPACITY) == 2 * set->capacity &&
                   le64_load(p + PART_LIFETIME) == 2 * set->lifetime &&
                   set->kind->growing->scale(set->table.geometry, 1, expected);
    for (unsigned i = 0; is_next && i < tamis_kind_n_fields(set->kind); i++)
        is_next = expected[i] == NEED_FREE || expected[i] == geometry[i];
    if (!is_next) {
        return say_at(from, TAMIS_ERR_CORRUPT, PART_BYTES + PART_GEOMETRY,
                      "the two parts do not belong together");
    }
    tamis_grow_prepare(set, geometry, next);
    next->keys = le64_load(p + PART_KEYS);
    next->saturated = le64_load(p + PART_SATURATED);
    next->moved = le64_load(p + PART_MOVED);
    tamis_grow_follow_sweep(set);
    return TAMIS_OK;
}

/* The fields that only sets have that grow. */
static tamis_status header_growth(const source *from, const uint8_t *h, tamis_set *set) {
    uint32_t const stage = le32_load(h + AT_STAGE), stages = le32_load(h + AT_STAGES);
    uint32_t const parts = le32_load(h + AT_PARTS);
    uint64_t const moved = le64_load(h + AT_BUCKETS_MOVED);
    tamis_choice   choice = tamis_choice_like(set);
    choice.stage = stage;
    choice.stages = stages;
    choice.overflow = le_double_load(h + AT_OVERFLOW);
    bool const is_possible =
        tamis_grow_is_possible(&choice) && stage + (parts - 1) <= stages &&
        (parts == 1 ? moved == 0
                    : moved < set->table.geometry[0] && moved % set->kind->growing->group == 0);
    if (!is_possible) return say_at(from, TAMIS_ERR_CORRUPT, AT_STAGE, "it cannot grow like that");
    if (tamis_grow_init(set, stage, stages, choice.overflow) != TAMIS_OK)
        return tamis_problem_say_memory(from->problem, from->name, sizeof *set->growth);
    set->growth->moved = moved;
    return parts == 2 ? header_next(from, h, set) : TAMIS_OK;
}

/* A handle without a body, from a header that has passed all checks. */
static tamis_status header_to_handle(const source *from, const uint8_t *h,
                                     const tamis_open_options *options, tamis_set **ret_set) {
    const tamis_kind *kind;
    uint64_t          geometry[TAMIS_MAX_FIELDS];
    tamis_hash const  hash = (tamis_hash)le32_load(h + AT_HASH);
    tamis_status      status = header_check(from, h);
    if (status == TAMIS_OK) status = header_check_life(from, h);
    if (status == TAMIS_OK) status = header_check_part(from, h, 0);
    if (status == TAMIS_OK) status = header_kind(from, h, options->isa, &kind, geometry);
    if (status != TAMIS_OK) return status;
    if (!keyhash_is_built(hash)) {
        return say_at(from, TAMIS_ERR_NOT_BUILT, AT_HASH, "its hash is not built in");
    }
    tamis_set *const set = tamis_handle_new(kind, geometry, &options->allocator);
    if (set == NULL) return tamis_problem_say_memory(from->problem, from->name, sizeof *set);
    tamis_seed const seed = { le64_load(h + AT_SEED_LOW), le64_load(h + AT_SEED_HIGH) };
    keyhash const    hasher = keyhash_make(hash, seed);
    tamis_handle_set_hash(set, &hasher);
    set->table.refused_adds = le64_load(h + AT_REFUSED_ADDS);
    set->table.refused_removes = le64_load(h + AT_REFUSED_REMOVES);
    set->capacity = le64_load(h + PART_CAPACITY);
    set->copies = le64_load(h + AT_MORE_COPIES) + 1;
    set->lifetime = le64_load(h + PART_LIFETIME);
    set->table.keys = le64_load(h + PART_KEYS);
    set->table.saturated = le64_load(h + PART_SATURATED);
    set->table.moved = le64_load(h + PART_MOVED);
    if (from->is_states) status = header_states(from, h, set);
    if (status == TAMIS_OK && (le32_load(h + AT_REQUIRED) & NEEDS_GROWTH) != 0)
        status = header_growth(from, h, set);
    if (status == TAMIS_OK) status = header_check_length(from, h);
    if (status != TAMIS_OK)
        tamis_free(set);
    else
        *ret_set = set;
    return status;
}

/* ------------------------------------------------------------------ the body */

#define GROUP 512 /* block checksums read at a time */

/* A body on its way in: where it is in the file, and where its checksums are. */
typedef struct incoming {
    const source      *from;
    const tamis_table *table;
    uint64_t           at, checksums_at;
    bool               is_trusted;
} incoming;

/* Blocks first..first+n-1: read each, unless it is mapped, and compare it with its checksum. */
static tamis_status body_take_group(const incoming *body, uint64_t first, unsigned n,
                                    const uint8_t *checksums) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const at = (first + i) * BLOCK_BYTES;
        size_t const   bytes = file_block_bytes(body->table->body_bytes, first + i);
        if (!body->from->is_mapped) {
            tamis_status const status =
                source_read(body->from, body->at + at, body->table->body + at, bytes);
            if (status != TAMIS_OK) return status;
        }
        uint64_t const stated = le64_load(checksums + 8 * i);
        if (!body->is_trusted && XXH3_64bits(body->table->body + at, bytes) != stated) {
            return say_at(body->from, TAMIS_ERR_CHECKSUM, body->at + at, "a block is damaged");
        }
    }
    return TAMIS_OK;
}

/* All blocks of a body. Their checksums go into the total. */
static tamis_status body_take_one(const incoming *body, XXH3_state_t *total) {
    uint64_t const blocks = file_blocks(body->table->body_bytes);
    uint8_t        checksums[8 * GROUP];
    for (uint64_t first = 0; first < blocks; first += GROUP) {
        unsigned const n = (unsigned)min_u64(blocks - first, GROUP);
        uint64_t const at = body->checksums_at + 8 * first;
        tamis_status   status = source_read(body->from, at, checksums, 8 * n);
        if (status != TAMIS_OK) return status;
        (void)XXH3_128bits_update(total, checksums, 8 * n);
        status = body_take_group(body, first, n, checksums);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* All bodies, then the total. */
static tamis_status body_take(tamis_set *set, const source *from, const uint8_t *header,
                              bool is_trusted) {
    const tamis_table *tables[FILE_MAX_PARTS];
    unsigned const     parts = file_tables(set, tables);
    uint64_t           at = HEADER_BYTES, total_at = HEADER_BYTES;
    uint8_t            stated[TOTAL_BYTES], total[TOTAL_BYTES];
    XXH3_state_t       state;
    (void)XXH3_128bits_reset(&state);
    (void)XXH3_128bits_update(&state, header, HEADER_BYTES);
    for (unsigned i = 0; i < parts; i++) total_at += tables[i]->body_bytes;
    for (unsigned i = 0; i < parts; i++) {
        incoming const     body = { from, tables[i], at, total_at, is_trusted };
        tamis_status const status = body_take_one(&body, &state);
        if (status != TAMIS_OK) return status;
        at += tables[i]->body_bytes;
        total_at += 8 * file_blocks(tables[i]->body_bytes);
    }
    tamis_status const status = source_read(from, total_at, stated, sizeof stated);
    if (status != TAMIS_OK) return status;
    file_store_total(XXH3_128bits_digest(&state), total);
    if (memcmp(stated, total, sizeof total) != 0) {
        return say_at(from, TAMIS_ERR_CHECKSUM, total_at, "the total checksum is wrong");
    }
    return TAMIS_OK;
}

/* The memory of a body: its place in the mapping, from byte `at` of the file on, or new. */
static tamis_status body_place_one(tamis_set *set, const source *from, tamis_table *table,
                                   uint64_t at) {
    if (from->is_mapped) {
        /* casts const away: check_change() in set.c refuses every change of a mapped set */
        table->body = (uint8_t *)(uintptr_t)(from->bytes + at);
        return set->kind->body_bytes(table->geometry, &table->body_bytes) ? TAMIS_OK
                                                                          : TAMIS_ERR_LIMIT;
    }
    tamis_status const status = tamis_table_get_body(set, table);
    uint64_t           bytes = 0;
    if (status == TAMIS_OK) return status;
    (void)set->kind->body_bytes(table->geometry, &bytes);
    if (status == TAMIS_ERR_MEMORY)
        return tamis_problem_say_memory(from->problem, from->name, bytes);
    return tamis_problem_say(from->problem, status, "%s is too large to address", from->name);
}

static tamis_status body_place(tamis_set *set, const source *from, const uint8_t *h) {
    tamis_status status = body_place_one(set, from, &set->table, HEADER_BYTES);
    if (status != TAMIS_OK || le32_load(h + AT_PARTS) == 1) return status;
    return body_place_one(set, from, &set->growth->next, HEADER_BYTES + set->table.body_bytes);
}

/* Functions and counts of a set that grows, now that its bodies are there. The body of a mapped set
 * is not read, and its counts are not needed. */
static void growth_take(tamis_set *set, const source *from) {
    if (set->growth == NULL) return;
    if (!from->is_mapped) {
        set->kind->growing->recount(&set->table);
        if (grow_is_moving(set)) set->kind->growing->recount(&set->growth->next);
    }
    if (grow_is_moving(set)) tamis_grow_resume(set, set->growth->moved);
}

/* The body, and all that can be checked of it. */
static tamis_status body_check(tamis_set *set, const source *from, const uint8_t *header,
                               bool is_trusted) {
    if (is_trusted && from->is_mapped) return TAMIS_OK; /* nothing to fetch, nothing to check */
    tamis_status const status = body_take(set, from, header, is_trusted);
    if (status != TAMIS_OK || is_trusted) return status;
    const char *why = NULL;
    if (tamis_validate(set, &why)) return TAMIS_OK;
    return say_at(from, TAMIS_ERR_CORRUPT, HEADER_BYTES, why);
}

/* From a source to a set that has passed every check. */
static tamis_status set_take(const source *from, const tamis_open_options *options,
                             tamis_set **ret_set) {
    uint8_t      header[HEADER_BYTES];
    tamis_set   *set = NULL;
    tamis_status status = header_read(from, header);
    if (status == TAMIS_OK) status = header_to_handle(from, header, options, &set);
    if (status == TAMIS_OK) status = body_place(set, from, header);
    if (status == TAMIS_OK) {
        status = body_check(set, from, header, (options->flags & TAMIS_OPEN_TRUST) != 0);
    }
    if (status == TAMIS_OK) {
        growth_take(set, from);
        *ret_set = set;
        return status;
    }
    if (set != NULL && from->is_mapped) { /* bodies are not the handle's to free */
        set->table.body = NULL;
        if (set->growth != NULL) set->growth->next.body = NULL;
    }
    tamis_free(set);
    return status;
}

/* ------------------------------------------------------------------ the doors */

static tamis_status options_check(const tamis_open_options *options,
                                  tamis_open_options *ret_options, tamis_problem *problem) {
    tamis_open_options today = TAMIS_OPEN_OPTIONS_INIT;
    if (options != NULL && !tamis_copy_sized(&today, sizeof today, options)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "start options from TAMIS_OPEN_OPTIONS_INIT");
    }
    if ((today.flags & ~(unsigned)(TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST)) != 0 ||
        !allocator_is_whole(&today.allocator)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown flag, or half an allocator");
    }
    *ret_options = today;
    return TAMIS_OK;
}

tamis_status tamis_file_read(const void *bytes, size_t n, const tamis_open_options *options,
                             bool is_states, tamis_set **ret_set, tamis_problem *problem) {
    tamis_open_options checked;
    tamis_status const status = options_check(options, &checked, problem);
    if (status != TAMIS_OK) return status;
    if ((bytes == NULL && n != 0) || ret_set == NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "no bytes, or nowhere to read to");
    }
    source const from = {
        .bytes = bytes, .n = n, .is_states = is_states, .name = "input", .problem = problem
    };
    return set_take(&from, &checked, ret_set);
}

tamis_status tamis_read(const void *bytes, size_t n, const tamis_open_options *options,
                        tamis_set **ret_set, tamis_problem *reterr_problem) {
    return tamis_file_read(bytes, n, options, false, ret_set, reterr_problem);
}

/* The set owns the mapping once it is a set. */
static tamis_status open_mapped(const os_file *file, source *from,
                                const tamis_open_options *options, tamis_set **ret_set) {
    if (from->n == 0) return say_at(from, TAMIS_ERR_TRUNCATED, 0, "the file is empty");
    int                  error;
    const uint8_t *const mapping = tamis_os_map(file, &error);
    if (mapping == NULL) return tamis_file_say_system(from->problem, "map", from->name, error);
    from->file = NULL;
    from->bytes = mapping;
    from->is_mapped = true;
    tamis_status const status = set_take(from, options, ret_set);
    void *const        whole = (void *)(uintptr_t)mapping;
    if (status == TAMIS_OK) {
        (*ret_set)->mapping = whole;
        (*ret_set)->mapping_bytes = (size_t)from->n;
        (*ret_set)->change_locks = HANDLE_MAPPED;
    } else {
        tamis_os_unmap(whole, (size_t)from->n);
    }
    return status;
}

/* Read or map an open file. */
static tamis_status file_take(const os_file *file, const char *name,
                              const tamis_open_options *options, bool is_states,
                              tamis_set **ret_set, tamis_problem *problem) {
    source from = {
        .file = file, .n = file->bytes, .is_states = is_states, .name = name, .problem = problem
    };
    return (options->flags & TAMIS_OPEN_MAP) != 0 ? open_mapped(file, &from, options, ret_set)
                                                  : set_take(&from, options, ret_set);
}

tamis_status tamis_file_open(const char *path, const tamis_open_options *options, bool is_states,
                             tamis_set **ret_set, tamis_problem *problem) {
    tamis_open_options checked;
    tamis_status       status = options_check(options, &checked, problem);
    if (status != TAMIS_OK) return status;
    if (path == NULL || ret_set == NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "the path or the result is NULL");
    }
    os_file         file;
    int             error;
    file_name const name = file_shorten(path);
    if (!tamis_os_open(path, &file, &error)) {
        return tamis_file_say_system(problem, "open", path, error);
    }
    status = file_take(&file, name.text, &checked, is_states, ret_set, problem);
    tamis_os_close(&file);
    return status;
}

tamis_status tamis_file_open_fd(int fd, const tamis_open_options *options, bool is_states,
                                tamis_set **ret_set, tamis_problem *problem) {
    tamis_open_options checked;
    tamis_status const status = options_check(options, &checked, problem);
    if (status != TAMIS_OK) return status;
    if (ret_set == NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "the result is NULL");
    }
    os_file file;
    int     error;
    char    name[32];
    (void)snprintf(name, sizeof name, "descriptor %d", fd);
    if (!tamis_os_use(fd, &file, &error)) {
        return tamis_file_say_system(problem, "read", name, error);
    }
    return file_take(&file, name, &checked, is_states, ret_set, problem);
}

tamis_status tamis_open(const char *path, const tamis_open_options *options, tamis_set **ret_set,
                        tamis_problem *reterr_problem) {
    return tamis_file_open(path, options, false, ret_set, reterr_problem);
}

tamis_status tamis_open_fd(int fd, const tamis_open_options *options, tamis_set **ret_set,
                           tamis_problem *reterr_problem) {
    return tamis_file_open_fd(fd, options, false, ret_set, reterr_problem);
}
