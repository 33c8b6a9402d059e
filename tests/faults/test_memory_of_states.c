/* test_memory_of_states.c - every request for memory of every call on states fails in turn.
 *
 * As test_memory_of_sets.c, for tables of states: one request fails, or all from then on. A call
 * that says TAMIS_ERR_MEMORY has changed nothing, byte for byte; a batch returns a status for each
 * key. In any case the table is valid, every key has its value, nothing leaked, and the same call
 * succeeds when memory is back.
 */
#include "buffer.h"
#include "make.h"
#include "starve.h"
#include "temporary.h"

#include <fcntl.h>
#include <unistd.h>

#define VALUES 5
#define TIMEOUT 100

typedef struct sort {
    const char *name, *kind;
    uint64_t    capacity, grow_to, keys;
    const char *geometry;
    bool        is_shared, is_owned; /* is_owned: with an allocator of the caller's */
} sort;

static const sort sorts[] = {
    { "line", "line", 300, 0, 150, NULL, false, true },
    { "rank", "rank", 300, 0, 150, NULL, false, false },
    { "rank, 64 KiB", "rank", 60000, 0, 150, NULL, false, false },
    { "state_print", "state_print", 300, 0, 150, NULL, false, true },
    { "state_bloom", "state_bloom", 300, 0, 150, NULL, false, true },
    { "state_direct", "state_direct", 300, 0, 150, "counter_bits=4", false, false },
    { "line, before a step", "line", 1500, 6000, 1350, NULL, false, true },
    { "line, in a step", "line", 1500, 6000, 2000, NULL, false, false },
    { "rank, before a step", "rank", 6000, 24000, 5500, NULL, false, true },
    { "line, shared", "line", 300, 0, 150, NULL, true, false },
    { "rank, shared", "rank", 300, 0, 150, NULL, true, true },
    { "line, shared, before a step", "line", 1500, 6000, 1350, NULL, true, true },
    { "line, shared, in a step", "line", 1500, 6000, 2000, NULL, true, false },
};

typedef struct world {
    const sort        *sort;
    tamis_open_options options;
    buffer             file;
    temporary          saved;
    tamis_states      *states, *other; /* made anew for every call */
    uint64_t           refused;        /* the first key that found no memory */
} world;

/* The value of key i. The first sort->keys keys are in the table, and the next sort->keys are
 * not. */
static uint32_t value_of(uint64_t i) {
    return (uint32_t)(i % VALUES);
}

static tamis_states_spec spec_of(const world *w) {
    static tamis_seed const seed = { 1, 2 };
    tamis_states_spec       spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = w->sort->capacity;
    spec.grow_to = w->sort->grow_to;
    spec.values = VALUES;
    spec.timeout = TIMEOUT;
    spec.fpr = 1e-6;
    spec.unknown = 1e-3;
    spec.overflow = 1e-6;
    spec.kind = w->sort->kind;
    spec.geometry = w->sort->geometry;
    spec.seed = &seed;
    spec.shared = w->sort->is_shared;
    spec.allocator = w->options.allocator;
    return spec;
}

static void world_make(world *w, const sort *which) {
    *w = (world){ .sort = which, .options = TAMIS_OPEN_OPTIONS_INIT };
    if (which->is_owned) w->options.allocator = starve_allocator();
    tamis_states_spec spec = spec_of(w);
    tamis_states     *made = make_states_from(&spec);
    for (uint64_t i = 0; i < which->keys; i++)
        assert_int_equal(tamis_states_put_id(made, i, value_of(i)), TAMIS_OK);
    w->saved = temporary_file();
    w->file = buffer_of_states(made);
    assert_int_equal(tamis_states_save(made, w->saved.path, NULL), TAMIS_OK);
    tamis_states_free(made);
    w->options.shared = which->is_shared;
}

static void world_end(world *w) {
    temporary_remove(&w->saved);
    free(w->file.bytes);
}

static tamis_status read_into(const world *w, tamis_states **ret_states) {
    return tamis_states_read(w->file.bytes, w->file.n, &w->options, ret_states, NULL);
}

static void world_begin(world *w) {
    assert_int_equal(read_into(w, &w->states), TAMIS_OK);
    assert_int_equal(read_into(w, &w->other), TAMIS_OK);
}

static void world_clean(world *w) {
    tamis_states_free(w->states);
    tamis_states_free(w->other);
    w->states = w->other = NULL;
}

/* ------------------------------------------------------------------ calls */

static bool is_there(const world *w, uint64_t i) {
    uint32_t value;
    return tamis_states_get_id(w->states, i, &value) == TAMIS_OK;
}

/* Put as many new keys as there are in the table, which takes a growing table through a step. */
static tamis_status put_singly(world *w) {
    tamis_status   status = TAMIS_OK;
    uint64_t const n = w->sort->keys;
    for (uint64_t i = n; i < 2 * n && status == TAMIS_OK; i++) {
        if (!is_there(w, i)) status = tamis_states_put_id(w->states, i, value_of(i));
        w->refused = i;
    }
    return status;
}

static tamis_status set_singly(world *w) {
    tamis_status   status = TAMIS_OK;
    uint64_t const n = w->sort->keys;
    for (uint64_t i = n; i < 2 * n && status == TAMIS_OK; i++) {
        if (!is_there(w, i)) status = tamis_states_set_id(w->states, i, value_of(i));
        w->refused = i;
    }
    return status;
}

/* The same with keys of bytes. */
static tamis_status put_bytes(world *w) {
    tamis_status   status = TAMIS_OK;
    uint64_t const n = w->sort->keys;
    for (uint64_t i = n; i < 2 * n && status == TAMIS_OK; i++)
        status = tamis_states_put(w->states, &i, sizeof i, value_of(i));
    return status;
}

static tamis_status set_bytes(world *w) {
    tamis_status   status = TAMIS_OK;
    uint64_t const n = w->sort->keys;
    for (uint64_t i = n; i < 2 * n && status == TAMIS_OK; i++)
        status = tamis_states_set(w->states, &i, sizeof i, value_of(i));
    return status;
}

/* All new keys in one batch, by `run`. Returns the status of the first key for which there was no
 * memory. */
static tamis_status
in_a_batch(world *w, tamis_status (*run)(tamis_states *, const tamis_states_batch *, size_t *)) {
    uint64_t     ids[5500];
    uint32_t     values[5500];
    tamis_status statuses[5500], status = TAMIS_OK;
    size_t       n = 0, done;
    for (uint64_t i = w->sort->keys; i < 2 * w->sort->keys; i++) {
        ids[n] = i;
        values[n] = value_of(i);
        n += !is_there(w, i);
    }
    tamis_states_batch const batch = {
        .ids = ids, .n = n, .values = values, .ret_statuses = statuses
    };
    assert_int_equal(run(w->states, &batch, &done), TAMIS_OK);
    for (size_t i = 0; i < n && status == TAMIS_OK; i++) {
        status = statuses[i];
        w->refused = ids[i];
    }
    return status;
}

static tamis_status put_batch(world *w) {
    return in_a_batch(w, tamis_states_put_batch);
}

static tamis_status set_batch(world *w) {
    return in_a_batch(w, tamis_states_set_batch);
}

static tamis_step always_set(void *context, size_t i, tamis_status status, uint32_t value,
                             uint32_t *ret_to) {
    (void)context;
    (void)status;
    (void)value;
    *ret_to = value_of(i);
    return TAMIS_STEP_SET;
}

static tamis_status run_steps(tamis_states *states, const tamis_states_batch *batch, size_t *ret) {
    return tamis_states_step_batch(states, batch, always_set, NULL, ret);
}

static tamis_status step_batch(world *w) {
    return in_a_batch(w, run_steps);
}

/* The calls that need no memory, so they never say that it is missing: on keys of bytes, which are
 * other keys than the ids, and in batches. */
static void expect_enough(tamis_status status) {
    if (status == TAMIS_ERR_MEMORY) fail_msg("a call that needs no memory says that it is missing");
}

static tamis_status change_bytes(world *w) {
    uint64_t const key = 1;
    uint32_t       value;
    expect_enough(tamis_states_get(w->other, &key, sizeof key, &value));
    expect_enough(tamis_states_touch(w->other, &key, sizeof key));
    expect_enough(tamis_states_move(w->other, &key, sizeof key, TAMIS_ANY_VALUE, 2));
    expect_enough(tamis_states_drop(w->other, &key, sizeof key, TAMIS_ANY_VALUE));
    return TAMIS_OK;
}

static tamis_status change_batch(world *w) {
    uint64_t     ids[64];
    uint32_t     values[64], found[64];
    tamis_status statuses[64];
    for (unsigned i = 0; i < 64; i++) {
        ids[i] = i;
        values[i] = 1;
    }
    tamis_states_batch const batch = {
        .ids = ids, .n = 64, .values = values, .ret_statuses = statuses, .ret_values = found
    };
    tamis_status status = tamis_states_get_batch(w->other, &batch, NULL);
    for (unsigned i = 0; i < 64; i++) expect_enough(statuses[i]);
    if (status == TAMIS_OK) status = tamis_states_touch_batch(w->other, &batch, NULL);
    for (unsigned i = 0; i < 64; i++) expect_enough(statuses[i]);
    if (status == TAMIS_OK) status = tamis_states_move_batch(w->other, &batch, NULL);
    for (unsigned i = 0; i < 64; i++) expect_enough(statuses[i]);
    if (status == TAMIS_OK) status = tamis_states_drop_batch(w->other, &batch, NULL);
    for (unsigned i = 0; i < 64; i++) expect_enough(statuses[i]);
    expect_enough(status);
    return status;
}

static tamis_status change_and_tick(world *w) {
    tamis_status status = tamis_states_touch_id(w->other, 1);
    if (status == TAMIS_OK)
        status = tamis_states_move_id(w->other, 1, TAMIS_ANY_VALUE, value_of(1));
    if (status == TAMIS_OK) status = tamis_states_drop_id(w->other, 1, value_of(1));
    return status == TAMIS_OK ? tamis_states_tick(w->other, 1, NULL, NULL) : status;
}

static tamis_status look(world *w) {
    tamis_states_info  info;
    tamis_states_facts facts;
    uint64_t           tally[VALUES];
    assert_int_equal(tamis_states_get_facts(w->states, &facts), TAMIS_OK);
    assert_non_null(tamis_states_kind_name(0));
    (void)!tamis_states_tally(w->states, tally);
    return tamis_states_inspect(w->states, &info);
}

static tamis_status clear(world *w) {
    return tamis_states_clear(w->other);
}

static tamis_status done_with(tamis_status status, tamis_states **made) {
    if (status != TAMIS_OK) assert_null(*made);
    tamis_states_free(*made);
    return status;
}

static tamis_status create(world *w) {
    tamis_states           *made = NULL;
    tamis_states_spec const spec = spec_of(w);
    return done_with(tamis_states_create(&spec, &made, NULL), &made);
}

static tamis_status create_like(world *w) {
    tamis_states     *made = NULL;
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.like = w->states;
    spec.allocator = w->options.allocator;
    spec.shared = w->sort->is_shared;
    return done_with(tamis_states_create(&spec, &made, NULL), &made);
}

static tamis_status copy(world *w) {
    tamis_states *made = NULL;
    return done_with(tamis_states_copy(w->states, &made), &made);
}

static tamis_status resize_up(world *w) {
    return tamis_states_resize(w->states, w->sort->grow_to, NULL);
}

static tamis_status resize_down(world *w) {
    return tamis_states_resize(w->states, w->sort->capacity, NULL);
}

static tamis_status plan(world *w) {
    tamis_plan        rows[40];
    size_t            n;
    uint64_t          least, most;
    tamis_states_spec spec = spec_of(w);
    tamis_status      status = tamis_states_plan_kinds(&spec, rows, 40, &n, NULL);
    spec.shared = false;
    if (status == TAMIS_OK) status = tamis_states_plan_stages(&spec, rows, 40, &n, NULL);
    if (status == TAMIS_OK) status = tamis_states_timeout(&spec, 1, &least, &most, NULL);
    return status;
}

static tamis_status merge(world *w) {
    return tamis_states_merge(w->states, w->other);
}

static tamis_status save(world *w) {
    return tamis_states_save(w->states, w->saved.path, NULL);
}

static bool ignore_bytes(void *context, const void *bytes, size_t n) {
    *(size_t *)context += n;
    (void)bytes;
    return true;
}

static tamis_status write_all(world *w) {
    size_t n = 0;
    return tamis_states_write(w->states, ignore_bytes, &n);
}

static tamis_status open_copied(world *w) {
    tamis_states *made = NULL;
    return done_with(tamis_states_open(w->saved.path, &w->options, &made, NULL), &made);
}

static tamis_status open_descriptor(world *w) {
    tamis_states *made = NULL;
    int const     file = open(w->saved.path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    tamis_status const status = tamis_states_open_fd(file, &w->options, &made, NULL);
    assert_int_equal(close(file), 0);
    return done_with(status, &made);
}

static tamis_status open_mapped(world *w) {
    tamis_states      *made = NULL;
    tamis_open_options options = w->options;
    options.flags = TAMIS_OPEN_MAP;
    return done_with(tamis_states_open(w->saved.path, &options, &made, NULL), &made);
}

static tamis_status read_back(world *w) {
    tamis_states *made = NULL;
    return done_with(read_into(w, &made), &made);
}

/* ------------------------------------------------------------------ each request in turn */

typedef struct call {
    const char *name;
    tamis_status (*run)(world *w);
    bool is_series; /* of calls, so some of it may be done when memory runs out */
} call;

static const call calls[] = {
    { "put", put_singly, true },
    { "set", set_singly, true },
    { "put bytes", put_bytes, true },
    { "set bytes", set_bytes, true },
    { "put_batch", put_batch, true },
    { "set_batch", set_batch, true },
    { "step_batch", step_batch, true },
    { "touch, move, drop, tick", change_and_tick, false },
    { "get, touch, move, drop of bytes", change_bytes, false },
    { "get, touch, move, drop batches", change_batch, false },
    { "look", look, false },
    { "clear", clear, false },
    { "create", create, false },
    { "create like", create_like, false },
    { "copy", copy, false },
    { "resize up", resize_up, false },
    { "resize down", resize_down, false },
    { "plan", plan, false },
    { "merge", merge, false },
    { "save", save, false },
    { "write", write_all, false },
    { "open", open_copied, false },
    { "open_fd", open_descriptor, false },
    { "open mapped", open_mapped, false },
    { "read", read_back, false },
};

static void expect_same_bytes(const tamis_states *states, const buffer *before, const char *where) {
    buffer const now = buffer_of_states(states);
    if (now.n != before->n || memcmp(now.bytes, before->bytes, now.n) != 0)
        fail_msg("%s: the table has changed", where);
    free(now.bytes);
}

/* Every key that was in the table has its value; any table may answer "don't know". */
static void expect_values(const world *w, const char *where) {
    const char *why = NULL;
    if (!tamis_states_validate(w->states, &why)) fail_msg("%s: %s", where, why);
    for (uint64_t i = 0; i < w->sort->keys; i++) {
        uint32_t           value = 0;
        tamis_status const status = tamis_states_get_id(w->states, i, &value);
        if (status == TAMIS_OK ? value != value_of(i) : status != TAMIS_ERR_UNKNOWN)
            fail_msg("%s: key %llu: status %d, value %u", where, (unsigned long long)i, status,
                     value);
    }
}

static size_t n_refusals;

/* The key that was refused is refused again as long as there is no memory, and changes nothing. */
static void expect_refusals_change_nothing(world *w, const char *where) {
    buffer const now = buffer_of_states(w->states);
    starve(1, true);
    tamis_status const status = tamis_states_put_id(w->states, w->refused, value_of(w->refused));
    (void)starve_end();
    if (status == TAMIS_ERR_MEMORY) {
        expect_same_bytes(w->states, &now, where);
        n_refusals++;
    }
    free(now.bytes);
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
    tamis_status const status = tried->run(w);
    bool const         has_struck = starve_end();
    if (status != usual && !(has_struck && status == TAMIS_ERR_MEMORY))
        fail_msg("%s: status %d", where, status);
    if (status == TAMIS_ERR_MEMORY && !tried->is_series) {
        if (starve_outstanding() != before && !w->sort->is_shared)
            fail_msg("%s: memory leaks", where);
        expect_same_bytes(w->states, &w->file, where);
        expect_same_bytes(w->other, &w->file, where);
    }
    if (status == TAMIS_ERR_MEMORY && tried->is_series) expect_refusals_change_nothing(w, where);
    expect_values(w, where);
    if (status == TAMIS_ERR_MEMORY && tried->run(w) != usual)
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
        /* planning a growing table takes long, and does not depend on its moment */
        bool const is_plan = calls[c].run == create || calls[c].run == plan;
        if (is_plan && w.sort->grow_to != 0 && w.sort->is_shared) continue;
        world_begin(&w);
        tamis_status const usual = calls[c].run(&w);
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

static void requests_were_made(void **state) {
    (void)state;
    print_message("# %zu requests failed; %zu refused keys again\n", n_struck, n_refusals);
    assert_true(n_struck > 300 && n_refusals > 10);
}

int main(void) {
    struct CMUnitTest tests[COUNT(sorts) + 1];
    for (size_t i = 0; i < COUNT(sorts); i++)
        tests[i] = unit_named(sorts[i].name, every_request_may_fail, &sorts[i]);
    tests[COUNT(sorts)] = (struct CMUnitTest)cmocka_unit_test(requests_were_made);
    return unit_run("memory_of_states", tests, COUNT(tests));
}
