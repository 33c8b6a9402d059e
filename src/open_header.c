/* open_header.c - check the header of a file: every field alone, then fields against each other,
 * and the length of the file against its parts, before any memory is allocated.
 *
 * Nothing is trusted, but the order of the checks lets each rely on those before it:
 *
 *     1  magic, version, checksum of the header    these bytes are what somebody wrote
 *     2  flags, number of parts, unused bytes      this version understands all that is in them
 *     3  numbers and name of part 0                in their ranges: sums and products do not wrap
 *     4  kind and geometry                         body_bytes() says what the header says
 *     5  what states, parts and growth add         with a handle, whose geometry is possible now
 *     6  length of the file                        the bodies are there
 *
 * A checksum protects from damage, and not from a file that was made to do harm. So after 1 all
 * fields are checked as if somebody had chosen each of them.
 *
 * In functions for either part, p is `header + i x PART_BYTES` (file_layout.h), and `at` is
 * i x PART_BYTES, for the offset in a message.
 */
#include "open.h"
#include "part.h"

tamis_status tamis_header_read(const source *from, uint8_t *h) {
    size_t const known = (size_t)min_u64(from->n, HEADER_BYTES);
    tamis_status status = tamis_source_read(from, 0, h, known);
    if (status != TAMIS_OK) return status;
    if (known == 0) return tamis_source_say(from, TAMIS_ERR_TRUNCATED, 0, "the file is empty");
    if (memcmp(h, MAGIC, (size_t)min_u64(known, sizeof MAGIC)) != 0) {
        return tamis_source_say(from, TAMIS_ERR_FOREIGN, 0, "not a tamis file");
    }
    if (known < HEADER_BYTES)
        return tamis_source_say(from, TAMIS_ERR_TRUNCATED, known,
                                "the file ends within its header");
    if (le16_load(h + AT_MAJOR) > MAJOR) {
        return tamis_source_say(from, TAMIS_ERR_VERSION, AT_MAJOR,
                                "written by a newer version of tamis");
    }
    if (le64_load(h + AT_CHECKSUM) != tamis_checksum(h, AT_CHECKSUM)) {
        return tamis_source_say(from, TAMIS_ERR_CHECKSUM, AT_CHECKSUM, "the header is damaged");
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

/* Fields that this version does not use must be zero: a later version may use them, and a file that
 * has something there says more than this version would tell. Which fields are used depends on the
 * flags. In the order of the lines: after the parts, the growth, the place of a part, between the
 * fields of part 0 and of part 1, the parts that are not there, and the states in part 1. */
static bool is_unused_zero(const source *from, const uint8_t *h) {
    uint32_t const required = le32_load(h + AT_REQUIRED), parts = le32_load(h + AT_PARTS);
    bool const     grows = (required & NEEDS_GROWTH) != 0;
    bool const     is_part = (required & NEEDS_PART) != 0;
    size_t const   second = PART_FIELDS + PART_BYTES; /* of part 1, if there is one */
    bool const     is_reserved_zero = is_zero(h, 28, AT_SEED_LOW) &&
                                  is_zero(h, grows ? AT_GROWTH_END : AT_STAGE, AT_GROWTH_END) &&
                                  is_zero(h, is_part ? AT_PART : AT_PART_INDEX, AT_PART) &&
                                  is_zero(h, PART_FIELDS + 4, PART_MOVED) &&
                                  is_zero(h, second + 4, second + 8) &&
                                  is_zero(h, AT_PART + parts * PART_BYTES, AT_CHECKSUM) &&
                                  is_zero(h, PART_VALUES + PART_BYTES, PART_GEOMETRY + PART_BYTES);
    /* sets must not have fields of states, and the reverse */
    bool const is_other_zero = from->is_states
                                   ? is_zero(h, AT_REFUSED_REMOVES, AT_REFUSED_REMOVES + 8)
                                   : is_zero(h, AT_AGED, AT_CONFLICTS + 8) &&
                                         is_zero(h, AT_LATE, AT_LATE + 8) &&
                                         is_zero(h, PART_VALUES, PART_GEOMETRY);
    return is_reserved_zero && is_other_zero;
}

/* The fields that do not depend on the kind. */
static tamis_status header_check(const source *from, const uint8_t *h) {
    if (le16_load(h + AT_MAJOR) != MAJOR) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, AT_MAJOR, "there is no version 0");
    }
    uint32_t const required = le32_load(h + AT_REQUIRED), parts = le32_load(h + AT_PARTS);
    if ((required & ~(uint32_t)(NEEDS_STATES | NEEDS_GROWTH | NEEDS_PART)) != 0) {
        return tamis_source_say(from, TAMIS_ERR_VERSION, AT_REQUIRED,
                                "it needs a newer version of tamis");
    }
    if (from->is_states != ((required & NEEDS_STATES) != 0)) {
        return tamis_source_say(from, TAMIS_ERR_KIND, AT_REQUIRED,
                                from->is_states
                                    ? "it is a set: open it with tamis_open()"
                                    : "it holds states: open it with tamis_states_open()");
    }
    if (parts < 1 || parts > ((required & NEEDS_GROWTH) != 0 ? FILE_MAX_PARTS : 1)) {
        return tamis_source_say(from, TAMIS_ERR_VERSION, AT_PARTS,
                                "this version reads sets of one part, or of two if they grow");
    }
    if (le16_load(h + AT_MINOR) <= MINOR && !is_unused_zero(from, h)) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, 28,
                                "reserved bytes of the header are not zero");
    }
    return TAMIS_OK;
}

/* Check the statistics of the set's life. */
static tamis_status header_check_life(const source *from, const uint8_t *h) {
    if (le64_load(h + AT_MORE_COPIES) >= UINT64_C(1) << 32) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, AT_MORE_COPIES,
                                "the number of copies is invalid");
    }
    if (le64_load(h + AT_REFUSED_ADDS) > KIND_MAX_COUNT ||
        le64_load(h + AT_REFUSED_REMOVES) > KIND_MAX_COUNT ||
        le64_load(h + AT_AGED) > KIND_MAX_COUNT || le64_load(h + AT_CONFLICTS) > KIND_MAX_COUNT) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, AT_REFUSED_ADDS, "the counts are invalid");
    }
    return TAMIS_OK;
}

/* Check the numbers and the name of a part, whose fields are PART_... bytes from p on. */
static tamis_status header_check_part(const source *from, const uint8_t *p, uint64_t at) {
    uint64_t const capacity = le64_load(p + PART_CAPACITY);
    if (capacity < 1 || capacity > HANDLE_MAX_CAPACITY || le64_load(p + PART_LIFETIME) < capacity) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, at + PART_CAPACITY,
                                "the capacity or lifetime is invalid");
    }
    if (le64_load(p + PART_KEYS) > KIND_MAX_COUNT ||
        le64_load(p + PART_SATURATED) > KIND_MAX_COUNT ||
        le64_load(p + PART_MOVED) > KIND_MAX_COUNT) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, at + PART_KEYS, "the counts are invalid");
    }
    size_t const name_bytes = strnlen((const char *)p + PART_KIND, PART_KIND_BYTES);
    if (name_bytes == 0 || name_bytes == PART_KIND_BYTES ||
        !is_zero(p, PART_KIND + name_bytes, PART_KIND + PART_KIND_BYTES)) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, at + PART_KIND,
                                "the name of the kind is invalid");
    }
    return TAMIS_OK;
}

/* Check the geometry of a part. Its body must not be larger than the file. */
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
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, at + PART_GEOMETRY,
                                "the geometry is invalid");
    }
    return bytes <= from->n
               ? TAMIS_OK
               : tamis_source_say(from, TAMIS_ERR_TRUNCATED, from->n, "the file ends too early");
}

/* Compare the length of the file with its parts. No body is larger than the file, so nothing
 * overflows. */
static tamis_status header_check_length(const source *from, const uint8_t *h) {
    uint64_t bytes = tamis_file_bytes(le64_load(h + PART_BODY_BYTES));
    if (le32_load(h + AT_PARTS) == 2) {
        uint64_t const second = le64_load(h + PART_BODY_BYTES + PART_BYTES);
        bytes += second + 8 * file_blocks(second);
    }
    if (bytes > from->n)
        return tamis_source_say(from, TAMIS_ERR_TRUNCATED, from->n, "the file ends too early");
    if (bytes < from->n) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, bytes, "longer than its header says");
    }
    return TAMIS_OK;
}

/* The kind, and its geometry. A file of states must name a kind that can have states, and a file of
 * a set one that can be a set. */
static tamis_status header_kind(const source *from, const uint8_t *h, const char *isa,
                                const tamis_kind **ret_kind, uint64_t *ret_geometry) {
    const char *const name = (const char *)h + PART_KIND;
    tamis_status      status = tamis_kind_find(name, isa, ret_kind);
    bool              is_able = true;
    if (status == TAMIS_OK && from->is_states) is_able = (*ret_kind)->states != NULL;
    if (status == TAMIS_OK && !from->is_states) is_able = (*ret_kind)->calls.has != NULL;
    if (!is_able) status = TAMIS_ERR_KIND;
    if (status == TAMIS_ERR_KIND)
        return tamis_source_say(from, status, PART_KIND, "its kind is not in this build");
    if (status != TAMIS_OK)
        return tamis_source_say(from, status, 0,
                                "no such instruction set in this build or processor");
    return header_geometry(from, h, 0, *ret_kind, ret_geometry);
}

/* The fields that only states have, for a handle that has its geometry. The sweep is checked before
 * anything is computed from it: it divides by its timeout, and by its units. */
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
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, PART_TIMEOUT, "the timeouts are invalid");
    }
    bool const is_possible = table->values >= 2 && table->values <= KIND_MAX_VALUES &&
                             set->kind->states->holds_values(table->geometry, table->values,
                                                             (unsigned)table->sweep.timer_bits);
    return is_possible ? TAMIS_OK
                       : tamis_source_say(from, TAMIS_ERR_CORRUPT, PART_VALUES,
                                          "the number of values is invalid");
}

/* The fields that only parts of a set have. */
static tamis_status header_part_of(const source *from, const uint8_t *h, tamis_set *set) {
    tamis_part_place const place = { le32_load(h + AT_PART_INDEX), le32_load(h + AT_PART_COUNT) };
    if (from->is_states || place.parts == 0 || !part_is_possible(place) ||
        !tamis_part_fits(set->kind, set->table.geometry, place)) {
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, AT_PART_INDEX,
                                "the part numbers are invalid");
    }
    if (tamis_part_init(set, place) != TAMIS_OK)
        return tamis_problem_say_memory(from->problem, from->name, sizeof *set->part);
    return TAMIS_OK;
}

/* The second table of a set in a step of growing: twice the buckets, and the same number of
 * prints. */
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
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, PART_BYTES + PART_GEOMETRY,
                                "the two parts do not belong together");
    }
    tamis_grow_prepare(set, geometry, next);
    next->keys = le64_load(p + PART_KEYS);
    next->saturated = le64_load(p + PART_SATURATED);
    next->moved = le64_load(p + PART_MOVED);
    tamis_grow_follow_sweep(set);
    return TAMIS_OK;
}

/* The fields that only growing sets have. In a step, the buckets that have moved are whole groups,
 * and not all of them: then the step would be over, and the set would have one part. */
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
    if (!is_possible)
        return tamis_source_say(from, TAMIS_ERR_CORRUPT, AT_STAGE,
                                "the fields about growth are invalid");
    if (tamis_grow_init(set, stage, stages, choice.overflow) != TAMIS_OK)
        return tamis_problem_say_memory(from->problem, from->name, sizeof *set->growth);
    set->growth->moved = moved;
    return parts == 2 ? header_next(from, h, set) : TAMIS_OK;
}

/* The numbers of a set, which were checked. States do not count refused removals, and cannot save
 * them; a newer version may have something else there (is_unused_zero). */
static void header_numbers(const source *from, const uint8_t *h, tamis_set *set) {
    set->table.refused_adds = le64_load(h + AT_REFUSED_ADDS);
    if (!from->is_states) set->table.refused_removes = le64_load(h + AT_REFUSED_REMOVES);
    set->capacity = le64_load(h + PART_CAPACITY);
    set->copies = le64_load(h + AT_MORE_COPIES) + 1;
    set->lifetime = le64_load(h + PART_LIFETIME);
    set->table.keys = le64_load(h + PART_KEYS);
    set->table.saturated = le64_load(h + PART_SATURATED);
    set->table.moved = le64_load(h + PART_MOVED);
}

/* From step 2 on. If a check fails after the handle was made, tamis_free() takes it, whatever it
 * has by then. */
tamis_status tamis_header_to_handle(const source *from, const uint8_t *h,
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
        return tamis_source_say(from, TAMIS_ERR_NOT_BUILT, AT_HASH, "its hash is not built in");
    }
    tamis_set *const set = tamis_handle_new(kind, geometry, &options->allocator);
    if (set == NULL) return tamis_problem_say_memory(from->problem, from->name, sizeof *set);
    set->allocator_flags = options->allocator_flags;
    set->max_bytes = options->max_bytes;
    tamis_seed const seed = { le64_load(h + AT_SEED_LOW), le64_load(h + AT_SEED_HIGH) };
    keyhash const    hasher = keyhash_make(hash, seed);
    tamis_handle_set_hash(set, &hasher);
    header_numbers(from, h, set);
    if (from->is_states) status = header_states(from, h, set);
    if (status == TAMIS_OK && (le32_load(h + AT_REQUIRED) & NEEDS_PART) != 0)
        status = header_part_of(from, h, set);
    if (status == TAMIS_OK && (le32_load(h + AT_REQUIRED) & NEEDS_GROWTH) != 0)
        status = header_growth(from, h, set);
    if (status == TAMIS_OK) status = header_check_length(from, h);
    if (status != TAMIS_OK)
        tamis_free(set);
    else
        *ret_set = set;
    return status;
}
