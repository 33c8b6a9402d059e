/* test_memory_of_sets.c - every request for memory of every call on sets fails in turn.
 *
 * For each call and each set: the first request fails, then the second, and so on until the call
 * makes no more; once as a single failure, and once with no memory from then on. A call that says
 * TAMIS_ERR_MEMORY has changed nothing, byte for byte; one that adds many keys has added just those
 * that it counted. In any case the set is valid, has all its keys, nothing leaked, and the same
 * call succeeds when memory is back.
 */
#include "buffer.h"
#include "make.h"
#include "starve.h"
#include "temporary.h"

#include <fcntl.h>
#include <tamis/tamis.h>
#include <unistd.h>

/* ------------------------------------------------------------------ sets */

typedef struct sort {
    const char *name, *kind;
    uint64_t    capacity, grow_to, keys;
    unsigned    abilities;
    const char *geometry;
    uint32_t    parts;
    bool        is_shared, is_owned; /* is_owned: with an allocator of the caller's */
} sort;

#define MOST_KEYS 11000 /* twice as many as a set has at first */

#define REMOVE TAMIS_CAN_REMOVE
#define COUNT_TOO (TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT)

/* The number of keys decides whether a growing set is before, in, or after a step. */
static const sort sorts[] = {
    { "line", "line", 300, 0, 250, REMOVE, NULL, 0, false, false },
    { "line, counting", "line", 300, 0, 250, COUNT_TOO, NULL, 0, false, true },
    { "line, 64 KiB", "line", 60000, 0, 300, REMOVE, NULL, 0, false, false },
    { "bloom", "bloom", 300, 0, 250, 0, NULL, 0, false, false },
    { "bloom, huge pages", "bloom", 300, 0, 250, 0, "bits=40000000", 0, false, false },
    { "counting", "counting", 300, 0, 250, COUNT_TOO, NULL, 0, false, true },
    { "rank", "rank", 300, 0, 250, REMOVE, NULL, 0, false, true },
    { "rank, counting", "rank", 300, 0, 250, COUNT_TOO, NULL, 0, false, false },
    { "dlcbf", "dlcbf", 300, 0, 250, REMOVE, NULL, 0, false, true },
    { "ddlcbf", "ddlcbf", 300, 0, 250, REMOVE, "cells=8,remainder_bits=9,bucket_bytes=16", 0, false,
      true },
    { "dlbf", "dlbf", 300, 0, 250, 0, "tables=2", 0, false, true },
    { "vicbf", "vicbf", 300, 0, 250, REMOVE, NULL, 0, false, true },
    { "bhcbf", "bhcbf", 300, 0, 250, REMOVE, NULL, 0, false, true },
    { "mlcbf", "mlcbf", 300, 0, 250, REMOVE, NULL, 0, false, true },
    { "line, before a step", "line", 1500, 6000, 1350, REMOVE, NULL, 0, false, true },
    { "line, in a step", "line", 1500, 6000, 2000, REMOVE, NULL, 0, false, false },
    { "line, behind a step", "line", 1500, 6000, 3000, COUNT_TOO, NULL, 0, false, true },
    { "rank, before a step", "rank", 6000, 24000, 5500, REMOVE, NULL, 0, false, false },
    { "rank, in a step", "rank", 6000, 24000, 7000, REMOVE, NULL, 0, false, true },
    { "line, part", "line", 1000, 0, 300, REMOVE, NULL, 2, false, true },
    { "line, growing part", "line", 1500, 6000, 1350, REMOVE, NULL, 2, false, true },
    { "line, shared", "line", 300, 0, 250, REMOVE, NULL, 0, true, false },
    { "bloom, shared", "bloom", 300, 0, 250, 0, NULL, 0, true, true },
    { "counting, shared", "counting", 300, 0, 250, COUNT_TOO, NULL, 0, true, true },
    { "rank, shared", "rank", 300, 0, 250, REMOVE, NULL, 0, true, true },
    { "line, shared, before a step", "line", 1500, 6000, 1350, REMOVE, NULL, 0, true, true },
    { "line, shared, in a step", "line", 1500, 6000, 2000, REMOVE, NULL, 0, true, false },
    { "rank, shared, before a step", "rank", 6000, 24000, 5500, REMOVE, NULL, 0, true, true },
};

/* What a call works on. All sets of a sort come from the same bytes: planning takes long. */
typedef struct world {
    const sort        *sort;
    tamis_open_options options;
    buffer             file, stream; /* of the set */
    uint64_t          *ids, n;       /* keys of it */
    temporary          saved;
    tamis_set         *set, *other; /* made anew for every call */
    size_t             added;       /* of the ids from n on, by calls that add */
} world;

static tamis_spec spec_of(const world *w) {
    static tamis_seed const seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = w->sort->capacity;
    spec.grow_to = w->sort->grow_to;
    spec.fpr = w->sort->geometry != NULL ? 0 : 0.01;
    spec.overflow = 1e-6;
    spec.kind = w->sort->kind;
    spec.geometry = w->sort->geometry;
    spec.abilities = w->sort->abilities;
    spec.seed = &seed;
    spec.parts = w->sort->parts;
    spec.shared = w->sort->is_shared;
    spec.allocator = w->options.allocator;
    return spec;
}

static void world_make(world *w, const sort *which) {
    *w = (world){ .sort = which, .options = TAMIS_OPEN_OPTIONS_INIT };
    if (which->is_owned) w->options.allocator = starve_allocator();
    tamis_spec spec = spec_of(w);
    w->set = make_set_from(&spec);
    w->n = which->keys;
    w->ids = malloc(2 * w->n * sizeof *w->ids);
    assert_non_null(w->ids);
    for (uint64_t i = 0, id = 0; i < 2 * w->n; i++, id++) id = w->ids[i] = next_own_id(w->set, id);
    for (uint64_t i = 0; i < w->n; i++) assert_int_equal(tamis_add_id(w->set, w->ids[i]), TAMIS_OK);
    w->file = buffer_of(w->set);
    if (tamis_send(w->set, 0, buffer_write, &w->stream) != TAMIS_OK) w->stream.n = 0;
    w->saved = temporary_file();
    assert_int_equal(tamis_save(w->set, w->saved.path, NULL), TAMIS_OK);
    tamis_free(w->set);
    w->set = NULL;
    w->options.shared = which->is_shared;
}

static void world_end(world *w) {
    temporary_remove(&w->saved);
    free(w->ids);
    free(w->file.bytes);
    free(w->stream.bytes);
}

static void world_begin(world *w) {
    assert_int_equal(tamis_read(w->file.bytes, w->file.n, &w->options, &w->set, NULL), TAMIS_OK);
    assert_int_equal(tamis_read(w->file.bytes, w->file.n, &w->options, &w->other, NULL), TAMIS_OK);
    w->added = 0;
}

static void world_clean(world *w) {
    tamis_free(w->set);
    tamis_free(w->other);
    w->set = w->other = NULL;
}

/* ------------------------------------------------------------------ calls */

/* Adding many keys. The world has as many new ones as old ones, which takes a set that grows
 * through one step at least. *ret_done: how many were taken. */
typedef tamis_status add_many(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done);

static tamis_status add_singly(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add_id(set, ids[*ret_done]);
    return status;
}

static tamis_status add_new(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    bool         is_new;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add_new_id(set, ids[*ret_done], &is_new);
    return status;
}

static tamis_status add_new_batch(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    return tamis_add_new_id_batch(set, ids, n, NULL, ret_done);
}

static tamis_status add_hashes(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add_hash(set, tamis_hash_id(set, ids[*ret_done]));
    return status;
}

static tamis_status add_new_hashes(tamis_set *set, const uint64_t *ids, size_t n,
                                   size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    bool         is_new;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add_new_hash(set, tamis_hash_id(set, ids[*ret_done]), &is_new);
    return status;
}

/* The same keys as hashes, for batches. */
static const uint64_t *hashes_of(const tamis_set *set, const uint64_t *ids, size_t n) {
    static uint64_t hashes[MOST_KEYS];
    assert_true(n <= MOST_KEYS);
    for (size_t i = 0; i < n; i++) hashes[i] = tamis_hash_id(set, ids[i]);
    return hashes;
}

static tamis_status add_hash_batch(tamis_set *set, const uint64_t *ids, size_t n,
                                   size_t *ret_done) {
    return tamis_add_hash_batch(set, hashes_of(set, ids, n), n, ret_done);
}

static tamis_status add_new_hash_batch(tamis_set *set, const uint64_t *ids, size_t n,
                                       size_t *ret_done) {
    return tamis_add_new_hash_batch(set, hashes_of(set, ids, n), n, NULL, ret_done);
}

/* Keys of bytes: those of the ids. They are other keys, and a part of a set refuses most of
 * them. */
static const tamis_key *keys_of(const uint64_t *ids, size_t n) {
    static tamis_key keys[MOST_KEYS];
    assert_true(n <= MOST_KEYS);
    for (size_t i = 0; i < n; i++) keys[i] = (tamis_key){ &ids[i], sizeof ids[i] };
    return keys;
}

static tamis_status add_bytes(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add(set, &ids[*ret_done], sizeof *ids);
    return status;
}

static tamis_status add_new_bytes(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    tamis_status status = TAMIS_OK;
    bool         is_new;
    for (*ret_done = 0; *ret_done < n && status == TAMIS_OK; *ret_done += status == TAMIS_OK)
        status = tamis_add_new(set, &ids[*ret_done], sizeof *ids, &is_new);
    return status;
}

static tamis_status add_key_batch(tamis_set *set, const uint64_t *ids, size_t n, size_t *ret_done) {
    return tamis_add_batch(set, keys_of(ids, n), n, ret_done);
}

static tamis_status add_new_key_batch(tamis_set *set, const uint64_t *ids, size_t n,
                                      size_t *ret_done) {
    return tamis_add_new_batch(set, keys_of(ids, n), n, NULL, ret_done);
}

static tamis_status add_keys_balanced(tamis_set *set, const uint64_t *ids, size_t n,
                                      size_t *ret_done) {
    return tamis_add_balanced(set, keys_of(ids, n), n, ret_done);
}

static tamis_status add_copies_of_one(world *w) {
    return tamis_add_copies_id(w->set, w->ids[w->n], 5);
}

static tamis_status add_copies_of_bytes(world *w) {
    return tamis_add_copies(w->set, &w->ids[w->n], sizeof *w->ids, 5);
}

static tamis_status remove_all(world *w) {
    return tamis_remove_id_batch(w->set, w->ids, (size_t)w->n, NULL, NULL);
}

/* A fifth of the keys by each of the other calls. Removals need no memory: they never say that it
 * is missing, even when a set is in a step. */
static tamis_status remove_otherwise(world *w) {
    tamis_set *const set = w->other;
    size_t const     n = (size_t)w->n / 5;
    bool             is_last;
    for (size_t i = 0; i < n; i++) {
        uint64_t const     hash = tamis_hash_id(set, w->ids[n + i]);
        tamis_status const statuses[] = {
            tamis_remove_id(set, w->ids[i]), tamis_remove_hash(set, hash),
            tamis_remove_copy_hash(set, tamis_hash_id(set, w->ids[2 * n + i]), &is_last),
            tamis_remove(set, &w->ids[i], sizeof *w->ids), /* most of them are absent */
        };
        for (size_t k = 0; k < COUNT(statuses); k++)
            if (statuses[k] == TAMIS_ERR_MEMORY) fail_msg("a removal needs memory");
    }
    tamis_status const hashed =
        tamis_remove_hash_batch(set, hashes_of(set, w->ids + 3 * n, n), n, NULL, NULL);
    tamis_status const keyed = tamis_remove_batch(set, keys_of(w->ids, n), n, NULL, NULL);
    assert_int_equal(hashed, keyed);
    return hashed;
}

/* Answers cannot say that memory is missing, so they must not need any. */
static void expect_answers(const tamis_set *set, const uint64_t *ids, size_t n) {
    const uint64_t *const  hashes = hashes_of(set, ids, n);
    const tamis_key *const keys = keys_of(ids, n);
    assert_int_equal(tamis_has_id_batch(set, ids, n, NULL), n);
    assert_int_equal(tamis_has_hash_batch(set, hashes, n, NULL), n);
    (void)tamis_has_batch(set, keys, n, NULL);
    for (size_t i = 0; i < n; i++) {
        assert_true(tamis_has_id(set, ids[i]) && tamis_has_hash(set, hashes[i]));
        (void)tamis_has(set, &ids[i], sizeof ids[i]);
        assert_true(tamis_part_of_hash(hashes[i], 4) < 4);
        assert_true(tamis_part_of_key(set, &ids[i], sizeof ids[i], 4) < 4);
        assert_int_equal(tamis_hash_key(set, &ids[i], 8), tamis_hash_key(set, keys[i].data, 8));
        tamis_fetch_id(set, ids[i]);
        tamis_fetch_hash(set, hashes[i]);
        tamis_fetch(set, &ids[i], sizeof ids[i]);
    }
}

static void expect_counts(const tamis_set *set, const uint64_t *ids, size_t n) {
    static uint64_t    counts[MOST_KEYS];
    uint64_t           count;
    tamis_status const usual = tamis_count_id(set, ids[0], &count);
    assert_true(usual == TAMIS_OK || usual == TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_count(set, &ids[0], sizeof ids[0], &count), usual);
    assert_int_equal(tamis_count_hash(set, tamis_hash_id(set, ids[0]), &count), usual);
    assert_int_equal(tamis_count_id_batch(set, ids, n, counts), usual);
    assert_int_equal(tamis_count_batch(set, keys_of(ids, n), n, counts), usual);
    assert_int_equal(tamis_count_hash_batch(set, hashes_of(set, ids, n), n, counts), usual);
}

/* What a build can do. */
static void expect_names(const tamis_set *set) {
    tamis_field_range fields[TAMIS_MAX_FIELDS];
    tamis_facts       facts;
    size_t            n;
    uint64_t          value;
    assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    assert_int_equal(tamis_kind_fields(facts.kind, fields, &n), TAMIS_OK);
    assert_int_equal(tamis_get_field(set, fields[0].name, &value), TAMIS_OK);
    assert_non_null(tamis_kind_name(0));
    assert_non_null(tamis_isa_name(0));
    assert_non_null(tamis_status_text(TAMIS_ERR_MEMORY));
    assert_true(tamis_version() != NULL && tamis_version_number() != 0);
}

static tamis_status look(world *w) {
    tamis_info info;
    expect_answers(w->set, w->ids, (size_t)w->n);
    expect_counts(w->set, w->ids, (size_t)w->n);
    expect_names(w->set);
    return tamis_validate(w->set, NULL) ? tamis_inspect(w->set, &info) : TAMIS_ERR_CORRUPT;
}

static tamis_status clear(world *w) {
    return tamis_clear(w->other);
}

static tamis_status done_with(tamis_status status, tamis_set **made) {
    if (status != TAMIS_OK) assert_null(*made);
    tamis_free(*made);
    return status;
}

static tamis_status create(world *w) {
    tamis_set       *made = NULL;
    tamis_spec const spec = spec_of(w);
    return done_with(tamis_create(&spec, &made, NULL), &made);
}

static tamis_status create_like(world *w) {
    tamis_set *made = NULL;
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.like = w->set;
    spec.allocator = w->options.allocator;
    spec.shared = w->sort->is_shared;
    return done_with(tamis_create(&spec, &made, NULL), &made);
}

static tamis_status copy(world *w) {
    tamis_set *made = NULL;
    return done_with(tamis_copy(w->set, &made), &made);
}

static tamis_status convert(world *w) {
    tamis_set *made = NULL;
    return done_with(tamis_convert(w->set, "bloom", &made), &made);
}

static tamis_status resize_up(world *w) {
    return tamis_resize(w->set, w->sort->grow_to, NULL);
}

static tamis_status resize_down(world *w) {
    return tamis_resize(w->set, w->sort->capacity, NULL);
}

static tamis_status merge(world *w) {
    return tamis_merge(w->set, w->other);
}

static tamis_status subtract(world *w) {
    return tamis_subtract(w->other, w->set);
}

static tamis_status split_and_join(world *w) {
    tamis_set   *first = NULL, *second = NULL, *joined = NULL;
    tamis_status status = tamis_split(w->set, &first, &second, NULL);
    if (status == TAMIS_OK) status = tamis_join(first, second, &joined, NULL);
    tamis_free(first);
    tamis_free(second);
    return done_with(status, &joined);
}

static tamis_status refresh(world *w) {
    return tamis_refresh(w->set, w->other);
}

static tamis_status save(world *w) {
    return tamis_save(w->set, w->saved.path, NULL);
}

static tamis_status save_to_a_new_name(world *w) {
    char path[60];
    (void)snprintf(path, sizeof path, "%s.new", w->saved.path);
    tamis_status const status = tamis_save(w->set, path, NULL);
    assert_int_equal(unlink(path) == 0, status == TAMIS_OK);
    return status;
}

static bool ignore_bytes(void *context, const void *bytes, size_t n) {
    *(size_t *)context += n;
    (void)bytes;
    return true;
}

static tamis_status write_all(world *w) {
    size_t n = 0;
    return tamis_write(w->set, ignore_bytes, &n);
}

static tamis_status send_all(world *w) {
    size_t n = 0;
    return tamis_send(w->set, 0, ignore_bytes, &n);
}

static tamis_status receive(world *w) {
    tamis_set *made = NULL;
    tamis_spec spec = TAMIS_SPEC_INIT;
    if (w->stream.n == 0) return TAMIS_ERR_CANNOT;
    spec.allocator = w->options.allocator;
    spec.shared = w->sort->is_shared;
    return done_with(tamis_receive(w->stream.bytes, w->stream.n, &spec, &made, NULL), &made);
}

/* A set of its own kind, like another one, or for twice the keys. */
static tamis_status receive_like(world *w) {
    tamis_set *made = NULL;
    tamis_spec spec = TAMIS_SPEC_INIT;
    if (w->stream.n == 0) return TAMIS_ERR_CANNOT;
    spec.like = w->set;
    spec.allocator = w->options.allocator;
    spec.shared = w->sort->is_shared;
    return done_with(tamis_receive(w->stream.bytes, w->stream.n, &spec, &made, NULL), &made);
}

static tamis_status receive_larger(world *w) {
    tamis_set *made = NULL;
    tamis_spec spec = TAMIS_SPEC_INIT;
    if (w->stream.n == 0) return TAMIS_ERR_CANNOT;
    spec.capacity = 2 * w->sort->capacity;
    spec.allocator = w->options.allocator;
    return done_with(tamis_receive(w->stream.bytes, w->stream.n, &spec, &made, NULL), &made);
}

static tamis_status open_copied(world *w) {
    tamis_set *made = NULL;
    return done_with(tamis_open(w->saved.path, &w->options, &made, NULL), &made);
}

static tamis_status open_descriptor(world *w) {
    tamis_set *made = NULL;
    int const  file = open(w->saved.path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    tamis_status const status = tamis_open_fd(file, &w->options, &made, NULL);
    assert_int_equal(close(file), 0);
    return done_with(status, &made);
}

static tamis_status open_mapped(world *w) {
    tamis_set         *made = NULL;
    tamis_open_options options = w->options;
    options.flags = TAMIS_OPEN_MAP;
    return done_with(tamis_open(w->saved.path, &options, &made, NULL), &made);
}

static tamis_status read_back(world *w) {
    tamis_set *made = NULL;
    return done_with(tamis_read(w->file.bytes, w->file.n, &w->options, &made, NULL), &made);
}

static tamis_status plan(world *w) {
    tamis_plan   rows[40];
    size_t       n;
    tamis_spec   spec = spec_of(w);
    tamis_status status = tamis_plan_kinds(&spec, rows, 40, &n, NULL);
    spec.shared = false;
    if (status == TAMIS_OK) status = tamis_plan_stages(&spec, rows, 40, &n, NULL);
    return status;
}

/* Planning does not depend on whether a set is in a step, and planning a growing set takes long. */
static bool is_planned_before(const sort *which) {
    return strstr(which->name, "n a step") != NULL || strstr(which->name, "behind") != NULL ||
           (which->grow_to != 0 && which->is_shared);
}

/* ------------------------------------------------------------------ each request in turn */

typedef struct call {
    const char *name;
    tamis_status (*run)(world *w);
    add_many *add; /* in place of run */
} call;

static const call calls[] = {
    { "add", NULL, add_singly },
    { "add_new", NULL, add_new },
    { "add_copies", add_copies_of_one, NULL },
    { "add_batch", NULL, tamis_add_id_batch },
    { "add_new_batch", NULL, add_new_batch },
    { "add_balanced", NULL, tamis_add_id_balanced },
    { "add_hash", NULL, add_hashes },
    { "add_new_hash", NULL, add_new_hashes },
    { "add_hash_batch", NULL, add_hash_batch },
    { "add_new_hash_batch", NULL, add_new_hash_batch },
    { "add bytes", NULL, add_bytes },
    { "add_new bytes", NULL, add_new_bytes },
    { "add_batch of bytes", NULL, add_key_batch },
    { "add_new_batch of bytes", NULL, add_new_key_batch },
    { "add_balanced of bytes", NULL, add_keys_balanced },
    { "add_copies of bytes", add_copies_of_bytes, NULL },
    { "remove_batch", remove_all, NULL },
    { "remove otherwise", remove_otherwise, NULL },
    { "look", look, NULL },
    { "clear", clear, NULL },
    { "create", create, NULL },
    { "create like", create_like, NULL },
    { "copy", copy, NULL },
    { "convert", convert, NULL },
    { "resize up", resize_up, NULL },
    { "resize down", resize_down, NULL },
    { "merge", merge, NULL },
    { "subtract", subtract, NULL },
    { "split and join", split_and_join, NULL },
    { "refresh", refresh, NULL },
    { "save", save, NULL },
    { "save to a new name", save_to_a_new_name, NULL },
    { "write", write_all, NULL },
    { "send", send_all, NULL },
    { "receive", receive, NULL },
    { "receive like", receive_like, NULL },
    { "receive larger", receive_larger, NULL },
    { "open", open_copied, NULL },
    { "open_fd", open_descriptor, NULL },
    { "open mapped", open_mapped, NULL },
    { "read", read_back, NULL },
    { "plan", plan, NULL },
};

static void expect_same_bytes(const tamis_set *set, const buffer *before, const char *where) {
    buffer const now = buffer_of(set);
    if (now.n != before->n || memcmp(now.bytes, before->bytes, now.n) != 0)
        fail_msg("%s: the set has changed", where);
    free(now.bytes);
}

static void expect_keys(const world *w, const tamis_set *set, const char *where) {
    const char *why = NULL;
    if (!tamis_validate(set, &why)) fail_msg("%s: %s", where, why);
    for (uint64_t i = 0; i < w->n; i++) {
        if (!tamis_has_id(set, w->ids[i]))
            fail_msg("%s: key %llu is lost", where, (unsigned long long)i);
    }
}

/* Calls that add many keys go on after the keys that were added. */
static tamis_status run_call(world *w, const call *tried) {
    size_t done = 0;
    if (tried->add == NULL) return tried->run(w);
    tamis_status const status =
        tried->add(w->set, w->ids + w->n + w->added, (size_t)w->n - w->added, &done);
    w->added += done;
    return status;
}

static size_t n_twins, n_refusals;

/* The set is equal to one that got only the keys that were added, and had enough memory. */
static void expect_twin(world *w, const call *tried, const char *where) {
    size_t done = 0;
    assert_int_equal(tried->add(w->other, w->ids + w->n, w->added, &done), TAMIS_OK);
    assert_int_equal(done, w->added);
    buffer const now = buffer_of(w->other);
    expect_same_bytes(w->set, &now, where);
    free(now.bytes);
    n_twins++;
}

/* The add that was refused is refused again as long as there is no memory, and changes nothing. */
static void expect_refusals_change_nothing(world *w, const call *tried, const char *where) {
    buffer const now = buffer_of(w->set);
    size_t const added = w->added;
    starve(1, true);
    tamis_status const status = run_call(w, tried);
    (void)starve_end();
    if (status == TAMIS_ERR_MEMORY && w->added == added) {
        expect_same_bytes(w->set, &now, where);
        n_refusals++;
    }
    free(now.bytes);
}

static void expect_unchanged(world *w, size_t outstanding, const char *where) {
    /* a shared set keeps the memory that it got, for the next try */
    if (starve_outstanding() != outstanding && !w->sort->is_shared)
        fail_msg("%s: memory leaks", where);
    expect_same_bytes(w->set, &w->file, where);
    expect_same_bytes(w->other, &w->file, where);
}

/* Run one call whose n-th request fails. False: it made fewer requests. */
static bool run_starved(world *w, const call *tried, size_t n, bool is_for_good,
                        tamis_status usual) {
    char where[100];
    (void)snprintf(where, sizeof where, "%s, %s, request %zu%s", w->sort->name, tried->name, n,
                   is_for_good ? " and all later ones" : "");
    world_begin(w);
    size_t const before = starve_outstanding();
    starve(n, is_for_good);
    tamis_status const status = run_call(w, tried);
    bool const         has_struck = starve_end();
    if (status != usual && !(has_struck && status == TAMIS_ERR_MEMORY))
        fail_msg("%s: status %d", where, status);
    if (status == TAMIS_ERR_MEMORY && tried->add == NULL) expect_unchanged(w, before, where);
    /* An add may succeed without memory that it asked for. So after more than one failure the other
     * set may have begun its step earlier. */
    if (status == TAMIS_ERR_MEMORY && tried->add != NULL && !is_for_good)
        expect_twin(w, tried, where);
    if (status == TAMIS_ERR_MEMORY && tried->add != NULL)
        expect_refusals_change_nothing(w, tried, where);
    bool const is_changed = tried->run == remove_all && status == TAMIS_OK;
    if (!is_changed) expect_keys(w, w->set, where);
    if (status == TAMIS_ERR_MEMORY && run_call(w, tried) != usual)
        fail_msg("%s: it fails with memory, too", where);
    world_clean(w);
    return has_struck;
}

static size_t n_struck;

static void every_request_may_fail(void **state) {
    world        w;
    size_t const before = starve_outstanding();
    world_make(&w, *state);
    for (size_t c = 0; c < COUNT(calls); c++) {
        bool const is_plan = calls[c].run == create || calls[c].run == plan;
        if (is_plan && is_planned_before(*state)) continue;
        world_begin(&w);
        tamis_status const usual = run_call(&w, &calls[c]);
        assert_int_not_equal(usual, TAMIS_ERR_MEMORY);
        world_clean(&w);
        for (unsigned is_for_good = 0; is_for_good < 2; is_for_good++) {
            size_t n = 1;
            while (run_starved(&w, &calls[c], n, is_for_good != 0, usual)) n++;
            n_struck += n - 1;
        }
    }
    world_end(&w);
    assert_int_equal(starve_outstanding(), before);
}

/* The cases above are useful only if requests were made. */
static void requests_were_made(void **state) {
    (void)state;
    print_message(
        "# %zu requests failed; %zu sets that grew beside a twin, %zu refused adds again\n",
        n_struck, n_twins, n_refusals);
    assert_true(n_struck > 1000 && n_twins > 0 && n_refusals > 20);
}

int main(void) {
    struct CMUnitTest tests[COUNT(sorts) + 1];
    for (size_t i = 0; i < COUNT(sorts); i++)
        tests[i] = unit_named(sorts[i].name, every_request_may_fail, &sorts[i]);
    tests[COUNT(sorts)] = (struct CMUnitTest)cmocka_unit_test(requests_were_made);
    return unit_run("memory_of_sets", tests, COUNT(tests));
}
