/* open.c - read files. docs/format.md is the specification.
 *
 * Reading trusts nothing. It checks the header's checksum, then each field, then the length of the
 * file against the geometry, before it allocates any memory. A body is never larger than its file.
 * Then it checks the checksum of every block, the total checksum, and the kind's own invariants.
 * There is no assert on anything that comes from outside. open_header.c reads the header.
 */
#include "open.h"
#include "share.h"

#include <stdio.h>

/* ------------------------------------------------------------------ the source */

tamis_status tamis_source_read(const source *from, uint64_t offset, void *ret_bytes, size_t n) {
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

tamis_status tamis_source_say(const source *from, tamis_status status, uint64_t offset,
                              const char *fault) {
    (void)tamis_problem_say(from->problem, status, "%s: %s (byte %llu)", from->name, fault,
                            (unsigned long long)offset);
    if (from->problem != NULL) from->problem->offset = offset;
    return status;
}

/* ------------------------------------------------------------------ the body */

#define GROUP 512 /* block checksums read at a time */

/* A body that is being read: where it is in the file, and where its checksums are. */
typedef struct incoming {
    const source      *from;
    const tamis_table *table;
    uint64_t           at, checksums_at;
    bool               is_trusted;
} incoming;

/* Take the blocks first..first+n-1: read each, unless the file is mapped, and compare its
 * checksum. */
static tamis_status body_take_group(const incoming *body, uint64_t first, unsigned n,
                                    const uint8_t *checksums) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const at = (first + i) * BLOCK_BYTES;
        size_t const   bytes = file_block_bytes(body->table->body_bytes, first + i);
        if (!body->from->is_mapped) {
            tamis_status const status =
                tamis_source_read(body->from, body->at + at, body->table->body + at, bytes);
            if (status != TAMIS_OK) return status;
        }
        uint64_t const stated = le64_load(checksums + 8 * i);
        if (!body->is_trusted && tamis_checksum(body->table->body + at, bytes) != stated) {
            return tamis_source_say(body->from, TAMIS_ERR_CHECKSUM, body->at + at,
                                    "a block is damaged");
        }
    }
    return TAMIS_OK;
}

/* Take all blocks of a body. Their checksums are part of the total checksum. They are read in
 * groups, since those of a large body are too many for the stack. */
static tamis_status body_take_one(const incoming *body, checksum_total *total) {
    uint64_t const blocks = file_blocks(body->table->body_bytes);
    uint8_t        checksums[8 * GROUP];
    for (uint64_t first = 0; first < blocks; first += GROUP) {
        unsigned const n = (unsigned)min_u64(blocks - first, GROUP);
        uint64_t const at = body->checksums_at + 8 * first;
        tamis_status   status = tamis_source_read(body->from, at, checksums, 8 * n);
        if (status != TAMIS_OK) return status;
        tamis_checksum_add(total, checksums, 8 * n);
        status = body_take_group(body, first, n, checksums);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* Take all bodies, then check the total checksum: that of the header and of the checksums of all
 * blocks. With `is_trusted` the blocks are not summed up, which takes most of the time; a damaged
 * header or trailer is still noticed. */
static tamis_status body_take(tamis_set *set, const source *from, const uint8_t *header,
                              bool is_trusted) {
    const tamis_table *tables[FILE_MAX_PARTS];
    unsigned const     parts = file_tables(set, tables);
    uint64_t           at = HEADER_BYTES, total_at = HEADER_BYTES;
    uint8_t            stated[TOTAL_BYTES], total[TOTAL_BYTES];
    checksum_total     sum;
    tamis_checksum_begin(&sum);
    tamis_checksum_add(&sum, header, HEADER_BYTES);
    for (unsigned i = 0; i < parts; i++) total_at += tables[i]->body_bytes;
    for (unsigned i = 0; i < parts; i++) {
        incoming const     body = { from, tables[i], at, total_at, is_trusted };
        tamis_status const status = body_take_one(&body, &sum);
        if (status != TAMIS_OK) return status;
        at += tables[i]->body_bytes;
        total_at += 8 * file_blocks(tables[i]->body_bytes);
    }
    tamis_status const status = tamis_source_read(from, total_at, stated, sizeof stated);
    if (status != TAMIS_OK) return status;
    tamis_checksum_end(&sum, total);
    if (memcmp(stated, total, sizeof total) != 0) {
        return tamis_source_say(from, TAMIS_ERR_CHECKSUM, total_at, "the total checksum is wrong");
    }
    return TAMIS_OK;
}

/* The memory of a body: its place in the mapping, at byte `at` of the file, or new memory. */
static tamis_status body_place_one(tamis_set *set, const source *from, tamis_table *table,
                                   uint64_t at) {
    if (from->is_mapped) {
        /* Casts const away: every change of a mapped set is refused (HANDLE_MAPPED). */
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
    return tamis_problem_say(from->problem, status, "%s is too large: %llu bytes", from->name,
                             (unsigned long long)bytes);
}

static tamis_status body_place(tamis_set *set, const source *from, const uint8_t *h) {
    tamis_status status = body_place_one(set, from, &set->table, HEADER_BYTES);
    if (status != TAMIS_OK || le32_load(h + AT_PARTS) == 1) return status;
    return body_place_one(set, from, &set->growth->next, HEADER_BYTES + set->table.body_bytes);
}

/* Set up the functions and counts of a set that grows, now that its bodies are in place. The body
 * of a mapped set is not read, since its counts are not needed. */
static void growth_take(tamis_set *set, const source *from) {
    if (set->growth == NULL) return;
    if (!from->is_mapped) {
        set->kind->growing->recount(&set->table);
        if (grow_is_moving(set)) set->kind->growing->recount(&set->growth->next);
    }
    if (grow_is_moving(set)) tamis_grow_resume(set, set->growth->moved);
}

static tamis_status share_take(tamis_set *set, const source *from) {
    tamis_status const status = tamis_share_init(set);
    if (status == TAMIS_OK) return status;
    return tamis_source_say(from, status, 0,
                            status == TAMIS_ERR_CANNOT ? "threads cannot share sets of this kind"
                                                       : "not enough memory to share it");
}

/* Take the body, and check everything about it. */
static tamis_status body_check(tamis_set *set, const source *from, const uint8_t *header,
                               bool is_trusted) {
    if (is_trusted && from->is_mapped) return TAMIS_OK; /* nothing to read, nothing to check */
    tamis_status const status = body_take(set, from, header, is_trusted);
    if (status != TAMIS_OK || is_trusted) return status;
    const char *why = NULL;
    if (tamis_validate(set, &why)) return TAMIS_OK;
    return tamis_source_say(from, TAMIS_ERR_CORRUPT, HEADER_BYTES, why);
}

/* Make a set from a source. It has passed every check. */
static tamis_status set_take(const source *from, const tamis_open_options *options,
                             tamis_set **ret_set) {
    uint8_t      header[HEADER_BYTES];
    tamis_set   *set = NULL;
    tamis_status status = tamis_header_read(from, header);
    if (status == TAMIS_OK) status = tamis_header_to_handle(from, header, options, &set);
    if (status == TAMIS_OK) status = body_place(set, from, header);
    if (status == TAMIS_OK) {
        status = body_check(set, from, header, (options->flags & TAMIS_OPEN_TRUST) != 0);
    }
    if (status == TAMIS_OK) {
        growth_take(set, from);
        if (options->shared && !from->is_mapped) status = share_take(set, from);
    }
    if (status == TAMIS_OK) {
        *ret_set = set;
        return status;
    }
    if (set != NULL && from->is_mapped) { /* the handle does not own the bodies */
        set->table.body = NULL;
        if (set->growth != NULL) set->growth->next.body = NULL;
    }
    tamis_free(set);
    return status;
}

/* ------------------------------------------------------------------ the public functions */

static tamis_status options_check(const tamis_open_options *options,
                                  tamis_open_options *ret_options, tamis_problem *problem) {
    tamis_open_options today = TAMIS_OPEN_OPTIONS_INIT;
    if (options != NULL) {
        tamis_status const status =
            tamis_copy_sized(&today, sizeof today, options, "TAMIS_OPEN_OPTIONS_INIT", problem);
        if (status != TAMIS_OK) return status;
    }
    if ((today.flags & ~(unsigned)(TAMIS_OPEN_MAP | TAMIS_OPEN_TRUST)) != 0 ||
        !allocator_is_whole(&today.allocator, today.allocator_flags)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "unknown flag, or an allocator without alloc or free");
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
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "bytes or result is NULL");
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

/* If this succeeds, the set owns the mapping. */
static tamis_status open_mapped(const os_file *file, source *from,
                                const tamis_open_options *options, tamis_set **ret_set) {
    if (from->n == 0) return tamis_source_say(from, TAMIS_ERR_TRUNCATED, 0, "the file is empty");
    int                  error = 0;
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
