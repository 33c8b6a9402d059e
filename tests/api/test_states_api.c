/* test_states_api.c - the public functions of states: what is refused, with which status. */
#include "make.h"
#include "temporary.h"

#include <fcntl.h>
#include <unistd.h>

static tamis_states_spec usual(void) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = 1000;
    spec.values = 5;
    spec.fpr = 0.001;
    spec.timeout = 20;
    return spec;
}

static tamis_states *make(void) {
    tamis_states_spec const spec = usual();
    return make_states_from(&spec);
}

/* A spec is refused, and a text says why. */
static void refused(const tamis_states_spec *spec, tamis_status expected, const char *word) {
    tamis_states *states = NULL;
    tamis_problem problem = { 0 };
    tamis_plan    rows[8];
    size_t        n;
    assert_int_equal(tamis_states_create(spec, &states, &problem), expected);
    assert_null(states);
    assert_int_equal(problem.status, expected);
    if (strstr(problem.text, word) == NULL) fail_msg("'%s' is not in '%s'", word, problem.text);
    assert_int_equal(tamis_states_create(spec, &states, NULL), expected);
    if (expected == TAMIS_ERR_ARGUMENT && spec != NULL && spec->kind == NULL &&
        spec->geometry == NULL)
        assert_int_equal(tamis_states_plan_kinds(spec, rows, 8, &n, &problem), expected);
}

static void specs_that_make_no_sense_are_refused_with_words(void **state) {
    static const uint64_t long_times[5] = { 1, 2, 3, 4, 21 }, no_times[5] = { 1, 2, 0, 4, 5 };
    tamis_states_spec     spec;
    (void)state;
    refused(NULL, TAMIS_ERR_ARGUMENT, "TAMIS_STATES_SPEC_INIT");
#define REFUSE(field, value, status, word) \
    spec = usual();                        \
    spec.field = value;                    \
    refused(&spec, status, word)
    REFUSE(size, sizeof(size_t) - 1, TAMIS_ERR_ARGUMENT, "TAMIS_STATES_SPEC_INIT");
    REFUSE(size, SIZE_MAX, TAMIS_ERR_ARGUMENT, "TAMIS_STATES_SPEC_INIT");
    REFUSE(capacity, 0, TAMIS_ERR_ARGUMENT, "capacity");
    REFUSE(capacity, (UINT64_C(1) << 40) + 1, TAMIS_ERR_ARGUMENT, "capacity");
    REFUSE(values, 1, TAMIS_ERR_ARGUMENT, "values");
    REFUSE(values, (UINT64_C(1) << 32) + 1, TAMIS_ERR_ARGUMENT, "values");
    REFUSE(fpr, 0, TAMIS_ERR_ARGUMENT, "fpr");
    REFUSE(fpr, 0.6, TAMIS_ERR_ARGUMENT, "fpr");
    REFUSE(unknown, -1, TAMIS_ERR_ARGUMENT, "unknown");
    REFUSE(overflow, 1, TAMIS_ERR_ARGUMENT, "overflow");
    REFUSE(lifetime, 999, TAMIS_ERR_ARGUMENT, "lifetime");
    REFUSE(timeout, (UINT64_C(1) << 32) + 1, TAMIS_ERR_ARGUMENT, "timeout");
    REFUSE(timeouts, long_times, TAMIS_ERR_ARGUMENT, "value 4");
    REFUSE(timeouts, no_times, TAMIS_ERR_ARGUMENT, "value 2");
    REFUSE(timer_bits, 1, TAMIS_ERR_ARGUMENT, "timer_bits");
    REFUSE(timer_bits, 6, TAMIS_ERR_ARGUMENT, "timer_bits");
    REFUSE(prefer, (tamis_preference)7, TAMIS_ERR_ARGUMENT, "preference");
    REFUSE(hash, (tamis_hash)7, TAMIS_ERR_ARGUMENT, "hash");
    REFUSE(kind, "no such", TAMIS_ERR_KIND, "no such");
    REFUSE(kind, "bloom", TAMIS_ERR_KIND, "bloom");
    REFUSE(isa, "no such", TAMIS_ERR_NOT_BUILT, "no such");
#undef REFUSE
}

static void impossible_specs_are_refused_with_advice(void **state) {
    tamis_states_spec spec = usual();
    (void)state;
    spec.kind = "line";
    spec.geometry = "no=1";
    refused(&spec, TAMIS_ERR_ARGUMENT, "no=1");
    spec.geometry = "counter_bits=3";
    refused(&spec, TAMIS_ERR_CANNOT, "in that geometry");
    spec = usual();
    spec.kind = "state_direct";
    spec.values = 17;
    refused(&spec, TAMIS_ERR_CANNOT, "fewer values");
    spec = usual();
    spec.geometry = "counter_bits=3,print_bits=9";
    refused(&spec, TAMIS_ERR_ARGUMENT, "no kind has the geometry");
    spec.geometry = "print_bits=4";
    refused(&spec, TAMIS_ERR_CANNOT, "fewer keys");
}

static void nothing_crashes_on_null(void **state) {
    tamis_states *const states = make();
    uint32_t            value;
    (void)state;
    tamis_states_free(NULL);
    assert_int_equal(tamis_states_put(NULL, "a", 1, 0), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_put(states, NULL, 1, 0), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_put(states, NULL, 0, 0), TAMIS_OK); /* the empty key is a key */
    assert_int_equal(tamis_states_put(states, "a", 1, 5), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_move(states, "a", 1, 5, 0), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_drop(states, "a", 1, 5), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_get(states, "a", 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_get(NULL, "a", 1, &value), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_get_id(NULL, 1, &value), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_touch_id(NULL, 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_tick(NULL, 1, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_inspect(states, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_tally(states, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_merge(states, states), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_merge(states, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_copy(NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_clear(NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_save(NULL, "x", NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_open(NULL, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_read(NULL, 1, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_false(tamis_states_validate(NULL, NULL));
    tamis_states_free(states);
}

static void batches_that_say_too_little_are_refused(void **state) {
    tamis_states *const      states = make();
    tamis_states_batch const none = { 0 };
    uint64_t const           both[1] = { 1 };
    tamis_key const          key = { "a", 1 };
    tamis_states_batch const twice = { .keys = &key, .ids = both, .n = 1 };
    tamis_states_batch const unsaid = { .ids = both, .n = 1 };
    tamis_states_batch const newer = { .ids = both, .n = 1, .reserved = { NULL, &key } };
    size_t                   n;
    (void)state;
    assert_int_equal(tamis_states_put_batch(states, NULL, &n), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_put_batch(states, &none, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_batch(states, &twice, &n), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_put_batch(states, &unsaid, &n), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_touch_batch(states, &newer, &n), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_touch_batch(states, &unsaid, &n), TAMIS_OK);
    assert_int_equal(tamis_states_step_batch(states, &unsaid, NULL, NULL, &n), TAMIS_ERR_ARGUMENT);
    tamis_states_free(states);
}

static void every_kind_has_a_name_and_a_row(void **state) {
    tamis_states_spec spec = usual();
    tamis_plan        rows[16];
    size_t            n, n_kinds = 0, n_chosen = 0;
    (void)state;
    while (tamis_states_kind_name(n_kinds) != NULL) n_kinds++;
    assert_int_equal(tamis_states_plan_kinds(&spec, rows, 16, &n, NULL), TAMIS_OK);
    assert_int_equal(n, n_kinds);
    tamis_states *const states = make();
    tamis_states_info   info;
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(rows[i].kind, tamis_states_kind_name(i));
        n_chosen += rows[i].chosen;
        if (rows[i].status != TAMIS_OK) continue;
        assert_true(rows[i].fpr <= spec.fpr * 1.0001 && rows[i].unknown <= spec.fpr * 1.0001);
        assert_true(info.plan.body_bytes <= rows[i].body_bytes); /* the smallest is taken */
        if (rows[i].chosen) assert_string_equal(rows[i].kind, info.plan.kind);
    }
    assert_int_equal(n_chosen, 1);
    spec.like = states;
    assert_int_equal(tamis_states_plan_kinds(&spec, rows, 16, &n, NULL), TAMIS_OK);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].kind, info.plan.kind);
    tamis_states_free(states);
}

static void prefer_fast_takes_line(void **state) {
    tamis_states_spec spec = usual();
    tamis_states     *states = NULL;
    tamis_states_info info;
    (void)state;
    spec.prefer = TAMIS_PREFER_FAST;
    assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_string_equal(info.plan.kind, "line");
    tamis_states_free(states);
}

static void clearing_removes_all_keys_and_resets_time(void **state) {
    tamis_states *const states = make();
    tamis_states_info   info;
    (void)state;
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(tamis_states_put_id(states, i, 1), TAMIS_OK);
        assert_int_equal(tamis_states_put_id(states, i, 2), TAMIS_ERR_CONFLICT);
    }
    assert_int_equal(tamis_states_tick(states, 13, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_int_equal(info.conflicts, 500);
    assert_int_equal(tamis_states_clear(states), TAMIS_OK);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_int_equal(info.keys | info.conflicts | info.aged | info.backlog, 0);
    tamis_states_free(states);
}

/* One call does at most the work of two ticks, and returns how much is left. If it is called in
 * each tick, it is never late, in any kind. */
static void a_call_in_each_tick_keeps_up(void **state) {
    (void)state;
    for (size_t kind = 0; tamis_states_kind_name(kind) != NULL; kind++) {
        tamis_states_spec spec = usual();
        tamis_states     *states = NULL;
        uint64_t          all, left, before;
        uint32_t          value;
        spec.capacity = 200000;
        spec.kind = tamis_states_kind_name(kind);
        if (strcmp(spec.kind, "state_direct") == 0) spec.geometry = "counter_bits=4";
        assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
        assert_int_equal(tamis_states_put_id(states, 77, 1), TAMIS_OK);
        for (unsigned tick = 0; tick < 2 * spec.timeout; tick++) {
            assert_int_equal(tamis_states_tick(states, 1, NULL, &left), TAMIS_OK);
            assert_int_equal(left, 0);
        }
        assert_int_equal(tamis_states_get_id(states, 77, &value), TAMIS_ERR_ABSENT);
        /* Units without keys are skipped and are not counted as work. */
        for (uint64_t id = 1000; id < 100000; id++)
            assert_int_equal(tamis_states_put_id(states, id, 1), TAMIS_OK);
        assert_int_equal(tamis_states_tick(states, spec.timeout, NULL, &left), TAMIS_OK);
        assert_true(left > 0);
        for (all = left, before = left; left != 0; before = left) {
            assert_int_equal(tamis_states_tick(states, 0, NULL, &left), TAMIS_OK);
            bool const is_first = before == all; /* all keys are still there */
            assert_true(left < before && (!is_first || before - left <= all / 5 + 1024));
        }
        tamis_states_free(states);
    }
}

/* How the timeouts of a spec are rounded, before and after a table is made; and keys live that
 * long. */
static void timeouts_are_rounded_as_the_library_says(void **state) {
    static const uint64_t asked[4] = { 10, 33, 70, 41 };
    static const uint64_t least[4] = { 10, 40, 70, 50 }; /* 7 passes of 10 ticks */
    (void)state;
    tamis_states_spec spec = usual();
    uint64_t          a = 0, b = 0;
    spec.values = 4;
    spec.fpr = 1e-7;
    spec.timeout = 70;
    spec.timeouts = asked;
    tamis_states *states = NULL;
    assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
    tamis_states_spec like = TAMIS_STATES_SPEC_INIT;
    like.like = states;
    for (uint64_t value = 0; value < 4; value++) {
        assert_int_equal(tamis_states_put_id(states, value, (uint32_t)value), TAMIS_OK);
        assert_int_equal(tamis_states_timeout(&spec, value, &a, &b, NULL), TAMIS_OK);
        assert_true(a == least[value] && b == a + 10);
        assert_int_equal(tamis_states_timeout(&like, value, &a, &b, NULL), TAMIS_OK);
        assert_true(a == least[value] && b == a + 10);
    }
    for (uint64_t now = 1; now <= 80; now++) {
        assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
        for (uint64_t value = 0; value < 4; value++) {
            uint32_t           got;
            tamis_status const status = tamis_states_get_id(states, value, &got);
            if (now <= least[value]) assert_int_equal(status, TAMIS_OK);
            if (now >= least[value] + 10) assert_int_equal(status, TAMIS_ERR_ABSENT);
        }
    }
    assert_int_equal(tamis_states_timeout(&spec, 4, &a, &b, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_states_timeout(NULL, 0, &a, &b, NULL), TAMIS_ERR_ARGUMENT);
    spec.timeout = 0;
    spec.timeouts = NULL;
    assert_int_equal(tamis_states_timeout(&spec, 0, NULL, NULL, NULL), TAMIS_ERR_CANNOT);
    tamis_states_free(states);
}

/* Facts are equal to those of info, but the body is not read. The seed is fixed, since with few
 * seeds two of the keys have one fingerprint, and their values conflict. */
static void facts_are_those_of_info(void **state) {
    static const tamis_seed seed = { 1, 2 };
    (void)state;
    for (size_t kind = 0; tamis_states_kind_name(kind) != NULL; kind++) {
        tamis_states_spec  spec = usual();
        tamis_states      *states = NULL;
        tamis_states_facts facts;
        tamis_states_info  info;
        spec.kind = tamis_states_kind_name(kind);
        spec.seed = &seed;
        if (strcmp(spec.kind, "state_direct") == 0) spec.geometry = "counter_bits=4";
        assert_int_equal(tamis_states_create(&spec, &states, NULL), TAMIS_OK);
        for (uint64_t i = 0; i < 500; i++)
            assert_int_equal(tamis_states_set_id(states, i, (uint32_t)(i % 5)), TAMIS_OK);
        for (uint64_t i = 0; i < 50; i++)
            assert_int_equal(tamis_states_move_id(states, i, (i + 1) % 5, 0), TAMIS_ERR_CONFLICT);
        assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
        assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
        assert_string_equal(facts.kind, spec.kind);
        assert_true(facts.capacity == 1000 && facts.values == 5 && facts.timeout == 20);
        assert_true(facts.keys == info.keys && facts.keys >= 490 && facts.keys <= 510);
        assert_true(facts.conflicts == 50 && info.conflicts == 50);
        assert_true(facts.body_bytes == info.plan.body_bytes);
        assert_true(facts.memory_bytes == info.memory_bytes && facts.timer_bits == 2);
        tamis_states_free(states);
    }
    assert_int_equal(tamis_states_get_facts(NULL, NULL), TAMIS_ERR_ARGUMENT);
}

/* A file by its descriptor, read and mapped; the descriptor stays the caller's. */
static void a_file_can_be_opened_by_its_descriptor(void **state) {
    (void)state;
    temporary const     file = temporary_file();
    tamis_states *const states = make();
    assert_int_equal(tamis_states_set(states, "a", 1, 3), TAMIS_OK);
    assert_int_equal(tamis_states_save(states, file.path, NULL), TAMIS_OK);
    int const saved = open(file.path, O_RDONLY);
    assert_true(saved >= 0);
    for (unsigned i = 0; i < 2; i++) {
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        tamis_states      *opened = NULL;
        uint32_t           value = 0;
        options.flags = i == 0 ? 0 : TAMIS_OPEN_MAP;
        assert_int_equal(tamis_states_open_fd(saved, &options, &opened, NULL), TAMIS_OK);
        assert_int_equal(tamis_states_get(opened, "a", 1, &value), TAMIS_OK);
        assert_int_equal(value, 3);
        assert_int_equal(tamis_states_set(opened, "a", 1, 4),
                         i == 0 ? TAMIS_OK : TAMIS_ERR_READ_ONLY);
        tamis_states_free(opened);
    }
    assert_int_equal(tamis_states_open_fd(-1, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(close(saved), 0);
    temporary_remove(&file);
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ callbacks */

typedef struct meddler {
    tamis_states *states, *other;
    unsigned      calls;
} meddler;

#define REENTRY(call) assert_int_equal(call, TAMIS_ERR_REENTRY)

/* Drop every second key that is there, and put or move the others. */
static tamis_step decide(void *context, size_t i, tamis_status status, uint32_t value,
                         uint32_t *ret_to) {
    (void)context;
    *ret_to = (uint32_t)((value + i) % 5);
    return status == TAMIS_OK && i % 2 == 0 ? TAMIS_STEP_DROP : TAMIS_STEP_SET;
}

/* The same, and also try to change the table that calls it. */
static tamis_step meddle(void *context, size_t i, tamis_status status, uint32_t value,
                         uint32_t *ret_to) {
    meddler *const           m = context;
    uint64_t const           ids[2] = { 3, 5 };
    uint32_t const           values[2] = { 1, 2 };
    tamis_states_batch const batch = { .ids = ids, .n = 2, .values = values };
    tamis_states_info        info;
    uint32_t                 got;
    m->calls++;
    for (uint64_t id = 0; id < 20; id++) REENTRY(tamis_states_drop_id(m->states, id, 0));
    REENTRY(tamis_states_put(m->states, "a", 1, 1));
    REENTRY(tamis_states_put_id(m->states, 1000 + i, 1));
    REENTRY(tamis_states_move(m->states, "a", 1, 0, 1));
    REENTRY(tamis_states_set_id(m->states, i, 1));
    REENTRY(tamis_states_touch_id(m->states, i));
    REENTRY(tamis_states_put_batch(m->states, &batch, NULL));
    REENTRY(tamis_states_drop_batch(m->states, &batch, NULL));
    REENTRY(tamis_states_step_batch(m->states, &batch, decide, NULL, NULL));
    REENTRY(tamis_states_tick(m->states, 100, NULL, NULL));
    REENTRY(tamis_states_merge(m->states, m->other));
    REENTRY(tamis_states_clear(m->states));
    tamis_states_free(m->states); /* does nothing */
    assert_int_equal(tamis_states_get_id(m->states, i, &got), status);
    assert_int_equal(tamis_states_inspect(m->states, &info), TAMIS_OK);
    assert_int_equal(tamis_states_put_id(m->other, m->calls, 1), TAMIS_OK);
    return decide(NULL, i, status, value, ret_to);
}

/* A callback that calls functions of its table changes nothing except by its decision, in any
 * kind. */
static void a_callback_cannot_change_its_table(void **state) {
    (void)state;
    for (size_t kind = 0; tamis_states_kind_name(kind) != NULL; kind++) {
        tamis_states_spec spec = usual();
        tamis_states     *alone = NULL;
        meddler           m = { .calls = 0 };
        uint64_t          ids[200];
        spec.kind = tamis_states_kind_name(kind);
        spec.fpr = 1e-7;
        spec.timeout = 20;
        if (strcmp(spec.kind, "state_direct") == 0) spec.geometry = "counter_bits=4";
        assert_int_equal(tamis_states_create(&spec, &m.states, NULL), TAMIS_OK);
        spec.like = m.states;
        assert_int_equal(tamis_states_create(&spec, &m.other, NULL), TAMIS_OK);
        for (uint64_t i = 0; i < 200; i++) ids[i] = i;
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(tamis_states_put_id(m.states, i, (uint32_t)(i % 5)), TAMIS_OK);
        assert_int_equal(tamis_states_copy(m.states, &alone), TAMIS_OK);
        tamis_states_batch const batch = { .ids = ids, .n = 200 };
        size_t                   n = 0, n_alone = 0;
        assert_int_equal(tamis_states_step_batch(m.states, &batch, meddle, &m, &n), TAMIS_OK);
        assert_int_equal(tamis_states_step_batch(alone, &batch, decide, NULL, &n_alone), TAMIS_OK);
        assert_true(m.calls == 200 && n == n_alone && n > 150);
        assert_true(tamis_states_validate(m.states, NULL));
        for (uint64_t i = 0; i < 1300; i++) {
            uint32_t           a = 9, b = 9;
            tamis_status const status = tamis_states_get_id(alone, i, &b);
            assert_int_equal(tamis_states_get_id(m.states, i, &a), status);
            assert_int_equal(a, b);
        }
        assert_int_equal(tamis_states_put_id(m.states, 5000, 1), TAMIS_OK); /* as usual again */
        tamis_states_free(m.states);
        tamis_states_free(m.other);
        tamis_states_free(alone);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_are_rounded_as_the_library_says),
        cmocka_unit_test(facts_are_those_of_info),
        cmocka_unit_test(a_file_can_be_opened_by_its_descriptor),
        cmocka_unit_test(a_callback_cannot_change_its_table),
        cmocka_unit_test(specs_that_make_no_sense_are_refused_with_words),
        cmocka_unit_test(impossible_specs_are_refused_with_advice),
        cmocka_unit_test(nothing_crashes_on_null),
        cmocka_unit_test(batches_that_say_too_little_are_refused),
        cmocka_unit_test(every_kind_has_a_name_and_a_row),
        cmocka_unit_test(prefer_fast_takes_line),
        cmocka_unit_test(clearing_removes_all_keys_and_resets_time),
        cmocka_unit_test(a_call_in_each_tick_keeps_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
