/* save.c - write files. docs/format.md is the specification.
 *
 * The bytes of a file depend only on the set: there is no date in it, and unused bytes are zero.
 * The checksums of blocks are computed while the blocks are written, so the body is read once. The
 * file at a path is replaced only when the new one is completely on the disk (os.c).
 */
#include "core/memory.h"
#include "file.h"
#include "os.h"
#include "part.h"
#include "share.h"

uint64_t tamis_file_bytes(uint64_t body_bytes) {
    return HEADER_BYTES + body_bytes + 8 * file_blocks(body_bytes) + TOTAL_BYTES;
}

/* The number of blocks of all parts. */
static uint64_t all_blocks(const tamis_set *set) {
    const tamis_table *tables[FILE_MAX_PARTS];
    uint64_t           blocks = 0;
    for (unsigned n = file_tables(set, tables); n-- != 0;)
        blocks += file_blocks(tables[n]->body_bytes);
    return blocks;
}

/* A header begins as zeros, and each function below writes the fields of its subject. Fields that
 * not every file has come with a flag: a reader that does not know it refuses the file, and does
 * not take the fields for reserved ones. */
static void header_require(uint8_t *h, uint32_t flag) {
    le32_store(h + AT_REQUIRED, le32_load(h + AT_REQUIRED) | flag);
}

/* A count stops at the highest that a reader accepts. Only a file that somebody made has such
 * counts; but then a table that goes on counting must not become a file that is refused. */
static void header_count(uint8_t *field, uint64_t count) {
    le64_store(field, min_u64(count, KIND_MAX_COUNT));
}

/* The fields that only states have. Those of the sweep are in part 0, also in a step of growing:
 * there is one sweep, and `next` follows it (grow_states.c). */
static void header_encode_states(const tamis_set *set, uint8_t *h) {
    const tamis_table *table = &set->table;
    header_require(h, NEEDS_STATES);
    header_count(h + AT_AGED, tamis_sum_tables(set).aged);
    header_count(h + AT_CONFLICTS, set->conflicts);
    le64_store(h + PART_VALUES, table->values);
    le64_store(h + PART_TIMEOUT, table->sweep.timeout);
    le64_store(h + PART_TIMER_BITS, table->sweep.timer_bits);
    le64_store(h + PART_LIVES, table->sweep.lives);
    le64_store(h + PART_DONE, table->sweep.done);
    le64_store(h + PART_DUE, table->sweep.due);
    le64_store(h + PART_REST, table->sweep.rest);
    le64_store(h + AT_LATE, table->sweep.late); /* 0 in a table that has not grown */
}

/* The stage, and what later stages are planned with. How far a step has come says which table a key
 * is in: a file that is saved in the middle of a step is opened there, and goes on. */
static void header_encode_growth(const tamis_set *set, uint8_t *h) {
    const struct growth *const growth = set->growth;
    header_require(h, NEEDS_GROWTH);
    le32_store(h + AT_STAGE, growth->stage);
    le32_store(h + AT_STAGES, growth->stages);
    le_double_store(h + AT_OVERFLOW, growth->overflow);
    le64_store(h + AT_BUCKETS_MOVED, growth->moved);
}

/* Which part of a divided set this is. */
static void header_encode_part_of(const tamis_set *set, uint8_t *h) {
    header_require(h, NEEDS_PART);
    le32_store(h + AT_PART_INDEX, set->part->place.part);
    le32_store(h + AT_PART_COUNT, set->part->place.parts);
}

/* Write part i, whose table has 2^i times the capacity of the set. */
static void header_encode_part(const tamis_set *set, const tamis_table *table, unsigned i,
                               uint8_t *h) {
    uint8_t *const p = h + (size_t)i * PART_BYTES;
    memcpy(p + PART_KIND, set->kind->name, strlen(set->kind->name));
    le64_store(p + PART_BODY_BYTES, table->body_bytes);
    le64_store(p + PART_CAPACITY, set->capacity << i);
    le64_store(p + PART_LIFETIME, set->lifetime << i);
    header_count(p + PART_KEYS, table->keys);
    header_count(p + PART_SATURATED, table->saturated);
    header_count(p + PART_MOVED, table->moved);
    le32_store(p + PART_FIELDS, file_fields(set->kind, table->geometry));
    for (unsigned field = 0; field < TAMIS_MAX_FIELDS; field++) {
        le64_store(p + PART_GEOMETRY + 8 * field, table->geometry[field]);
    }
}

/* The whole header. Nothing in it depends on the time, the machine or the memory of the set. The
 * copies are written less one, so that a set for one copy of each key has the same bytes as files
 * from before there was that field. */
static void header_encode(const tamis_set *set, uint8_t *h) {
    const tamis_table *tables[FILE_MAX_PARTS];
    unsigned const     parts = file_tables(set, tables);
    memset(h, 0, HEADER_BYTES);
    memcpy(h, MAGIC, sizeof MAGIC);
    le16_store(h + AT_MAJOR, MAJOR);
    le16_store(h + AT_MINOR, MINOR);
    le32_store(h + AT_HASH, (uint32_t)set->hasher.hash);
    le32_store(h + AT_PARTS, parts);
    le64_store(h + AT_SEED_LOW, set->hasher.seed.low);
    le64_store(h + AT_SEED_HIGH, set->hasher.seed.high);
    header_count(h + AT_REFUSED_ADDS, set->table.refused_adds);
    header_count(h + AT_REFUSED_REMOVES, set->table.refused_removes);
    le64_store(h + AT_MORE_COPIES, set->copies - 1);
    for (unsigned i = 0; i < parts; i++) header_encode_part(set, tables[i], i, h);
    if (set->growth != NULL) header_encode_growth(set, h);
    if (set->table.values != 0) header_encode_states(set, h);
    if (set->part != NULL) header_encode_part_of(set, h);
    le64_store(h + AT_CHECKSUM, tamis_checksum(h, AT_CHECKSUM));
}

/* Write a body, block by block. Returns where the next checksum goes, or NULL: the writer
 * stopped. */
static uint8_t *write_body(const tamis_table *table, uint8_t *checksums, tamis_writer *writer,
                           void *context) {
    uint64_t const blocks = file_blocks(table->body_bytes);
    for (uint64_t i = 0; i < blocks; i++) {
        const uint8_t *const block = table->body + i * BLOCK_BYTES;
        size_t const         n = file_block_bytes(table->body_bytes, i);
        le64_store(checksums + 8 * i, tamis_checksum(block, n));
        if (!writer(context, block, n)) return NULL;
    }
    return checksums + 8 * blocks;
}

/* Write header, bodies, block checksums and total checksum. `checksums` has room for all of them.
 * The total checksum is that of the header and of the checksums of blocks: it covers every byte of
 * the file, and the bodies are read only once, for their blocks. */
static bool write_all(const tamis_set *set, uint8_t *checksums, tamis_writer *writer,
                      void *context) {
    uint8_t            header[HEADER_BYTES], total[TOTAL_BYTES], *end = checksums;
    const tamis_table *tables[FILE_MAX_PARTS];
    unsigned const     parts = file_tables(set, tables);
    header_encode(set, header);
    if (!writer(context, header, sizeof header)) return false;
    for (unsigned i = 0; i < parts; i++) {
        end = write_body(tables[i], end, writer, context);
        if (end == NULL) return false;
    }
    size_t const   bytes = (size_t)(end - checksums);
    checksum_total sum;
    tamis_checksum_begin(&sum);
    tamis_checksum_add(&sum, header, sizeof header);
    tamis_checksum_add(&sum, checksums, bytes);
    tamis_checksum_end(&sum, total);
    return writer(context, checksums, bytes) && writer(context, total, sizeof total);
}

tamis_status tamis_write(const tamis_set *set, tamis_writer *writer, void *context) {
    if (set == NULL || writer == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_set *const read = tamis_share_begin_read(set);
    size_t const           bytes = (size_t)(8 * all_blocks(read));
    uint8_t *const         checksums = memory_get(&set->allocator, bytes);
    bool                   is_written = false;
    if (checksums != NULL) {
        /* If the writer changed the set, the file would be a mixture of both. */
        handle_begin_callbacks(read);
        is_written = write_all(read, checksums, writer, context);
        handle_end_callbacks(read);
        memory_give(&set->allocator, checksums, bytes);
    }
    tamis_share_end_read(set, read);
    return checksums == NULL ? TAMIS_ERR_MEMORY : is_written ? TAMIS_OK : TAMIS_ERR_IO;
}

/* The context of a tamis_writer that writes to a file. */
typedef struct save_context {
    os_save save;
    int     error;
} save_context;

static bool save_writer(void *context, const void *bytes, size_t n) {
    save_context *const to = context;
    return tamis_os_save_write(&to->save, bytes, n, &to->error);
}

tamis_status tamis_file_say_system(tamis_problem *problem, const char *action, const char *path,
                                   int error) {
    tamis_status const status = tamis_os_is_no_space(error)    ? TAMIS_ERR_SPACE
                                : tamis_os_is_no_memory(error) ? TAMIS_ERR_MEMORY
                                                               : TAMIS_ERR_IO;
    char               reason[80];
    tamis_os_text(error, reason, sizeof reason);
    (void)tamis_problem_say(problem, status, "cannot %s %s: %s", action, file_shorten(path).text,
                            reason);
    if (problem != NULL) problem->os_error = error;
    return status;
}

tamis_status tamis_save(const tamis_set *set, const char *path, tamis_problem *reterr_problem) {
    if (set == NULL || path == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "set or path is NULL");
    }
    save_context to = { .error = 0 };
    if (!tamis_os_save_begin(path, &to.save, &to.error)) {
        return tamis_file_say_system(reterr_problem, "save to", path, to.error);
    }
    tamis_status const status = tamis_write(set, save_writer, &to);
    if (status != TAMIS_OK) tamis_os_save_abandon(&to.save);
    if (status == TAMIS_ERR_MEMORY) {
        return tamis_problem_say_memory(reterr_problem, "saving, for checksums,",
                                        8 * all_blocks(set));
    }
    if (status != TAMIS_OK || !tamis_os_save_commit(&to.save, &to.error)) {
        const char *const action = to.save.is_replaced ? "make sure of the new" : "save to";
        return tamis_file_say_system(reterr_problem, action, path, to.error);
    }
    return TAMIS_OK;
}
