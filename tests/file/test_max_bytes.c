/* test_max_bytes.c - max_bytes in specs and options: a set never takes more memory, however it was
 * made. */
#include "ledger.h"
#include "sample.h"

#define LOCKS (144 << 10) /* bytes that a shared set has more (tamis.h) */
#define SLACK 20000       /* bytes of handles, and of what a step needs besides its body */

static tamis_spec growing_spec(const char *kind, ledger *book) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = 6000;
    spec.grow_to = 96000;
    spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.seed = &seed;
    spec.allocator = ledger_allocator(book);
    return spec;
}

static uint64_t peak_of_stage(const tamis_spec *spec, size_t stage) {
    tamis_plan rows[10];
    size_t     n;
    assert_int_equal(tamis_plan_stages(spec, rows, 10, &n, NULL), TAMIS_OK);
    assert_true(stage < n);
    return stage == 0 ? rows[0].body_bytes : rows[stage].peak_bytes;
}

/* Add keys until the memory is used up; those before the first are in the set already. All of them
 * are found; returns how many there are. */
static uint64_t fill(tamis_set *set, uint64_t first) {
    uint64_t n = first;
    while (tamis_add_id(set, n) == TAMIS_OK) n++;
    assert_int_equal(tamis_add_id(set, n), TAMIS_ERR_MEMORY);
    expect_ids(set, 0, n);
    assert_true(tamis_validate(set, NULL));
    return n;
}

static void a_set_grows_up_to_its_limit(void **state) {
    ledger         book = { 0 };
    tamis_spec     spec = growing_spec(*state, &book);
    uint64_t const first = peak_of_stage(&spec, 0), second = peak_of_stage(&spec, 1);
    spec.max_bytes = first - 1;
    tamis_set    *set = NULL;
    tamis_problem problem;
    assert_int_equal(tamis_create(&spec, &set, &problem), TAMIS_ERR_LIMIT);
    spec.max_bytes = first; /* not one byte for a step */
    set = make_set_from(&spec);
    assert_in_range(fill(set, 0), 6000, 11999);
    tamis_free(set);
    spec.max_bytes = second; /* for one step, and for no more */
    set = make_set_from(&spec);
    assert_in_range(fill(set, 0), 12000, 23999);
    assert_int_equal(tamis_resize(set, 96000, NULL), TAMIS_ERR_MEMORY);
    assert_true(book.peak <= second + SLACK);
    tamis_set *copy = NULL; /* has the same limit */
    assert_int_equal(tamis_copy(set, &copy), TAMIS_OK);
    assert_int_equal(tamis_resize(copy, 96000, NULL), TAMIS_ERR_MEMORY);
    tamis_free(copy);
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

/* In a step there are two tables already, and a resize makes a third. */
static void a_resize_in_a_step_keeps_the_limit(void **state) {
    ledger      book = { 0 };
    tamis_spec  spec = growing_spec(*state, &book);
    tamis_facts facts = { .is_growing = false };
    uint64_t    id = 0;
    spec.max_bytes = peak_of_stage(&spec, 1);
    tamis_set *const set = make_set_from(&spec);
    for (; !facts.is_growing; id++) {
        add_ids(set, id, 1);
        assert_int_equal(tamis_get_facts(set, &facts), TAMIS_OK);
    }
    assert_int_equal(tamis_resize(set, 12000, NULL), TAMIS_ERR_MEMORY);
    assert_true(book.peak <= spec.max_bytes + SLACK);
    assert_in_range(fill(set, id), 12000, 23999); /* the step goes on */
    tamis_free(set);
    assert_int_equal(book.bytes, 0);
}

static void an_opened_set_has_a_limit(void **state) {
    ledger           book = { 0 };
    tamis_spec const spec = growing_spec(*state, &book);
    tamis_set       *set = make_set_from(&spec), *back = NULL;
    add_ids(set, 0, 3000);
    buffer             s = sample_of(set);
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_problem      problem;
    options.allocator = spec.allocator;
    options.max_bytes = peak_of_stage(&spec, 0) - 1;
    tamis_free(set);
    book = (ledger){ 0 };
    assert_int_equal(tamis_read(s.bytes, s.n, &options, &back, &problem), TAMIS_ERR_LIMIT);
    assert_true(book.peak < SLACK); /* it was not asked for */
    options.max_bytes = peak_of_stage(&spec, 1);
    assert_int_equal(tamis_read(s.bytes, s.n, &options, &back, NULL), TAMIS_OK);
    uint64_t id = 3000;
    while (tamis_add_id(back, id) == TAMIS_OK) id++;
    expect_ids(back, 0, id);
    assert_in_range(id, 12000, 23999);
    assert_true(book.peak <= options.max_bytes + SLACK);
    tamis_free(back);
    free(s.bytes);
    assert_int_equal(book.bytes, 0);
}

/* A stream of a few hundred bytes describes an empty set of 20 MB, or a set that grows. */
static void a_received_set_has_a_limit(void **state) {
    ledger     book = { 0 };
    tamis_spec spec = growing_spec(*state, &book), limited = TAMIS_SPEC_INIT;
    spec.capacity = 10000000;
    spec.grow_to = 0;
    tamis_set     *set = make_set_from(&spec), *back = NULL;
    uint64_t const body = inspect(set).plan.body_bytes;
    buffer const   s = buffer_sent(set, TAMIS_SEND_COPIES);
    book = (ledger){ .bytes = book.bytes, .blocks = book.blocks };
    limited.allocator = spec.allocator;
    limited.max_bytes = body - 1;
    size_t const before = book.bytes;
    assert_int_equal(tamis_receive(s.bytes, s.n, &limited, &back, NULL), TAMIS_ERR_LIMIT);
    assert_true(book.peak < before + SLACK);
    limited.max_bytes = body;
    assert_int_equal(tamis_receive(s.bytes, s.n, &limited, &back, NULL), TAMIS_OK);
    buffer sent = sample_of(set), received = sample_of(back); /* the same as without a spec */
    buffer_expect_equal(&sent, &received);
    tamis_free(back);
    tamis_free(set);
    free(sent.bytes);
    free(received.bytes);
    free(s.bytes);
}

static void states_grow_up_to_their_limit(void **state) {
    ledger            book = { 0 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_plan        rows[10];
    size_t            n;
    spec.kind = *state;
    spec.capacity = 6000;
    spec.grow_to = 96000;
    spec.fpr = 1e-7;
    spec.values = 8;
    spec.allocator = ledger_allocator(&book);
    assert_int_equal(tamis_states_plan_stages(&spec, rows, 10, &n, NULL), TAMIS_OK);
    spec.max_bytes = rows[1].peak_bytes;
    tamis_states *const states = make_states_from(&spec);
    uint64_t            id = 0;
    tamis_status        status;
    while ((status = tamis_states_put_id(states, id, (uint32_t)id % 8)) != TAMIS_ERR_MEMORY) {
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT);
        id++;
    }
    assert_in_range(id, 12000, 24000);
    assert_true(book.peak <= spec.max_bytes + SLACK);
    tamis_states_free(states);
    assert_int_equal(book.bytes, 0);
}

/* Small files, at each stage and in each step: locks are what a shared set needs besides. */
static void opening_takes_no_more_than_tamis_h_says(void **state) {
    ledger     book = { 0 };
    tamis_spec spec = growing_spec(*state, &book);
    spec.capacity = 500;
    spec.grow_to = 16000;
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; id < 16000; id++) {
        add_ids(set, id, 1);
        if (id % 397 != 0) continue;
        buffer const       file = sample_of(set);
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        for (unsigned shared = 0; shared < 2; shared++) {
            ledger     mine = { 0 };
            tamis_set *opened = NULL;
            options.allocator = ledger_allocator(&mine);
            options.shared = shared != 0;
            assert_int_equal(tamis_read(file.bytes, file.n, &options, &opened, NULL), TAMIS_OK);
            assert_true(mine.peak <= file.n + shared * LOCKS);
            tamis_free(opened);
        }
        free(file.bytes);
    }
    tamis_free(set);
}

int main(void) {
    static const char *const kinds[] = { "line", "rank" };
    struct CMUnitTest        tests[12];
    for (size_t i = 0; i < 2; i++) {
        tests[6 * i] =
            unit_named("a_set_grows_up_to_its_limit", a_set_grows_up_to_its_limit, kinds[i]);
        tests[6 * i + 1] = unit_named("a_resize_in_a_step_keeps_the_limit",
                                      a_resize_in_a_step_keeps_the_limit, kinds[i]);
        tests[6 * i + 2] =
            unit_named("an_opened_set_has_a_limit", an_opened_set_has_a_limit, kinds[i]);
        tests[6 * i + 3] =
            unit_named("a_received_set_has_a_limit", a_received_set_has_a_limit, kinds[i]);
        tests[6 * i + 4] =
            unit_named("states_grow_up_to_their_limit", states_grow_up_to_their_limit, kinds[i]);
        tests[6 * i + 5] = unit_named("opening_takes_no_more_than_tamis_h_says",
                                      opening_takes_no_more_than_tamis_h_says, kinds[i]);
    }
    return unit_run("max_bytes", tests, 12);
}
