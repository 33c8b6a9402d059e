/* test_grow_files.c - a growing set in files, copies and streams, and memory that runs out.
 *
 * A set that is opened or received in the middle of a step gives the same answers, has the same
 * file, and grows on to the same result as a set that stayed in memory.
 */
#include "core/le.h"
#include "growing.h"
#include "ledger.h"
#include "temporary.h"

/* The moments at which a set is saved or sent. */
static const struct {
    unsigned stage;
    uint64_t progress;
} moments[] = { { 0, 0 }, { 0, 1 }, { 0, 600 }, { 1, 700 }, { 2, 0 }, { 3, 400 }, { 4, 0 } };

static void expect_same_file(const tamis_set *set, const buffer *file) {
    buffer const again = buffer_of(set);
    assert_int_equal(again.n, file->n);
    assert_memory_equal(again.bytes, file->bytes, file->n);
    free(again.bytes);
}

/* Both sets have the same answers and the same file. Then both grow on, and are the same at the
 * end. Frees `back`. */
static void goes_on(const tamis_set *set, tamis_set *back, uint64_t n) {
    tamis_set   *other = NULL;
    buffer const file = buffer_of(set);
    growing_expect_same(set, back);
    expect_valid(back);
    expect_same_file(back, &file);
    free(file.bytes);
    for (uint64_t id = 0; id < n + 3000; id += 1 + id % 5)
        assert_int_equal(tamis_has_id(set, id), tamis_has_id(back, id));
    assert_int_equal(tamis_copy(set, &other), TAMIS_OK);
    for (uint64_t id = n; id < GROWING_TO - 100; id++) {
        assert_int_equal(tamis_add_id(other, id), TAMIS_OK);
        assert_int_equal(tamis_add_id(back, id), TAMIS_OK);
    }
    assert_int_equal(back->growth->stage, GROWING_STAGES);
    growing_expect_alike(other, back);
    expect_ids(back, 0, GROWING_TO - 100);
    tamis_free(other);
    tamis_free(back);
}

/* ------------------------------------------------------------------ files and copies */

static void opened_sets_go_on(void **state) {
    temporary const file = temporary_file();
    for (size_t m = 0; m < COUNT(moments); m++) {
        tamis_set         *set = growing_make(*state, 1), *back = NULL, *mapped = NULL;
        tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
        uint64_t const     n = growing_bring(set, 0, moments[m].stage, moments[m].progress);
        assert_int_equal(tamis_save(set, file.path, NULL), TAMIS_OK);
        options.flags = m % 2 != 0 ? TAMIS_OPEN_TRUST : 0;
        assert_int_equal(tamis_open(file.path, &options, &back, NULL), TAMIS_OK);
        goes_on(set, back, n);
        /* mapped: the same answers, no changes; a copy of it goes on */
        options.flags |= TAMIS_OPEN_MAP;
        assert_int_equal(tamis_open(file.path, &options, &mapped, NULL), TAMIS_OK);
        for (uint64_t id = 0; id < n + 3000; id++)
            assert_int_equal(tamis_has_id(set, id), tamis_has_id(mapped, id));
        assert_int_equal(tamis_add_id(mapped, n), TAMIS_ERR_READ_ONLY);
        assert_int_equal(tamis_clear(mapped), TAMIS_ERR_READ_ONLY);
        assert_int_equal(tamis_resize(mapped, GROWING_TO, NULL), TAMIS_ERR_READ_ONLY);
        growing_expect_contents(set, mapped);
        assert_int_equal(tamis_copy(mapped, &back), TAMIS_OK);
        tamis_free(mapped);
        goes_on(set, back, n);
        tamis_free(set);
    }
    temporary_remove(&file);
}

static void read_sets_and_copies_go_on(void **state) {
    for (size_t m = 0; m < COUNT(moments); m++) {
        tamis_set     *set = growing_make(*state, 2), *back = NULL, *copy = NULL;
        uint64_t const n = growing_bring(set, 0, moments[m].stage, moments[m].progress);
        buffer const   file = buffer_of(set);
        assert_int_equal(tamis_read(file.bytes, file.n, NULL, &back, NULL), TAMIS_OK);
        free(file.bytes);
        goes_on(set, back, n);
        assert_int_equal(tamis_copy(set, &copy), TAMIS_OK);
        goes_on(set, copy, n);
        tamis_free(set);
    }
}

/* The bytes of the header, by the specification. */
static void headers_say_how_it_grows(void **state) {
    tamis_set *const set = growing_make(*state, 3);
    (void)growing_bring(set, 0, 2, 500);
    buffer const file = buffer_of(set);
    assert_int_equal(le32_load(file.bytes + 12), 2);
    assert_int_equal(le32_load(file.bytes + 88), 2);
    assert_int_equal(le32_load(file.bytes + 92), GROWING_STAGES);
    assert_true(le_double_load(file.bytes + 96) == 1e-10);
    assert_int_equal(le64_load(file.bytes + 104), set->growth->moved);
    assert_int_equal(file.bytes[24], 2);
    assert_string_equal((const char *)file.bytes + 384, set->kind->name);
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++)
        assert_int_equal(le64_load(file.bytes + 384 + 128 + 8 * i), set->growth->next.geometry[i]);
    free(file.bytes);
    tamis_free(set);
}

/* ------------------------------------------------------------------ streams */

/* A received set has the prints of the sender, and can grow as far. */
static void received_sets_go_on(void **state) {
    for (size_t m = 0; m < COUNT(moments); m++) {
        tamis_set     *set = growing_make(*state, 4);
        unsigned const flags = (set->abilities & TAMIS_CAN_COUNT) != 0 ? TAMIS_SEND_COPIES : 0;
        uint64_t const n = growing_bring(set, 0, moments[m].stage, moments[m].progress);
        buffer const   sent = buffer_sent(set, flags);
        tamis_spec     spec = TAMIS_SPEC_INIT;
        tamis_set     *back = buffer_receive(&sent, NULL);
        growing_expect_contents(set, back);
        assert_int_equal(inspect(back).facts.grow_to, GROWING_TO);
        spec.like = set;
        tamis_set *const like = buffer_receive(&sent, &spec);
        growing_expect_contents(set, like);
        add_ids(back, n, GROWING_TO - n);
        add_ids(set, n, GROWING_TO - n);
        growing_expect_alike(set, back);
        add_ids(like, n, GROWING_TO - n);
        growing_expect_alike(set, like);
        free(sent.bytes);
        tamis_free(set);
        tamis_free(back);
        tamis_free(like);
    }
}

/* Without copies the received set cannot remove; it grows as far as the sender does. */
static void sets_received_without_copies_go_on(void **state) {
    tamis_set *const set = growing_make(*state, 5);
    uint64_t const   n = growing_bring(set, 0, 1, 500);
    buffer const     sent = buffer_sent(set, 0);
    tamis_set *const back = buffer_receive(&sent, NULL);
    assert_true(inspect(back).facts.grow_to >= GROWING_TO);
    for (uint64_t id = 0; id < n + 3000; id++)
        assert_int_equal(tamis_has_id(set, id), tamis_has_id(back, id));
    for (uint64_t id = n; id < GROWING_TO; id++) assert_int_equal(tamis_add_id(back, id), TAMIS_OK);
    expect_ids(back, 0, GROWING_TO);
    assert_int_equal(tamis_remove_id(back, 1), TAMIS_ERR_CANNOT);
    free(sent.bytes);
    tamis_free(set);
    tamis_free(back);
}

/* ------------------------------------------------------------------ memory that runs out */

/* Add the ids below n, singly and in batches. When memory is refused, all are still there. */
static void add_all(tamis_set *set, uint64_t n) {
    uint64_t ids[100];
    for (uint64_t id = 0; id < n / 2; id++) {
        tamis_status status = tamis_add_id(set, id);
        if (status == TAMIS_ERR_MEMORY) {
            expect_valid(set);
            expect_ids(set, 0, id);
            status = tamis_add_id(set, id);
        }
        assert_int_equal(status, TAMIS_OK);
    }
    for (uint64_t first = n / 2; first < n; first += COUNT(ids)) {
        size_t added = 0;
        for (size_t i = 0; i < COUNT(ids); i++) ids[i] = first + i;
        tamis_status status = tamis_add_id_batch(set, ids, COUNT(ids), &added);
        if (status == TAMIS_ERR_MEMORY)
            status = tamis_add_id_batch(set, ids + added, COUNT(ids) - added, NULL);
        assert_int_equal(status, TAMIS_OK);
    }
}

static void resize(tamis_set *set, uint64_t capacity, uint64_t n) {
    growing_sum const before = growing_contents(set);
    tamis_status      status = tamis_resize(set, capacity, NULL);
    if (status == TAMIS_ERR_MEMORY) {
        assert_int_equal(growing_contents(set).sum, before.sum);
        expect_ids(set, 0, n);
        status = tamis_resize(set, capacity, NULL);
    }
    assert_int_equal(status, TAMIS_OK);
}

static void merge(tamis_set *into, const tamis_set *from) {
    growing_sum const before = growing_contents(into);
    tamis_status      status = tamis_merge(into, from);
    if (status == TAMIS_ERR_MEMORY) {
        assert_int_equal(growing_contents(into).sum, before.sum);
        expect_valid(into);
        status = tamis_merge(into, from);
    }
    assert_int_equal(status, TAMIS_OK);
}

/* All calls that allocate memory, with the `at`-th request refused. No key is lost, and all calls
 * succeed when memory is back. False: there were fewer requests. */
static bool life_with_a_refusal(const growing_case *tried, size_t at) {
    ledger             book = { .fail_at = at };
    tamis_seed const   seed = make_seed(6);
    tamis_spec         spec = growing_spec(tried, &seed);
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *set = NULL, *copy = NULL, *back = NULL;
    buffer             file = { NULL, 0 };
    options.allocator = spec.allocator = ledger_allocator(&book);
    while (tamis_create(&spec, &set, NULL) != TAMIS_OK) assert_true(book.has_failed);
    add_all(set, 7000);
    resize(set, GROWING_TO, 7000);
    resize(set, 7000, 7000);
    uint64_t const n = growing_bring(set, 7000, 2, 500);
    while (tamis_copy(set, &copy) != TAMIS_OK) assert_true(book.has_failed);
    while (tamis_write(set, buffer_write, &file) != TAMIS_OK) file.n = 0;
    while (tamis_read(file.bytes, file.n, &options, &back, NULL) != TAMIS_OK)
        assert_true(book.has_failed);
    growing_expect_same(set, back);
    merge(copy, back);
    expect_ids(copy, 0, n);
    expect_valid(copy);
    free(file.bytes);
    tamis_free(set);
    tamis_free(copy);
    tamis_free(back);
    assert_int_equal(book.bytes, 0);
    return book.has_failed;
}

static void every_request_may_be_refused(void **state) {
    size_t at = 1;
    while (life_with_a_refusal(*state, at)) at++;
    assert_in_range(at, 15, 100);
}

/* Without memory the set is full when its table is full, and it grows when memory is back. */
static void a_set_without_memory_is_full(void **state) {
    const growing_case *const tried = *state;
    ledger                    book = { 0 };
    tamis_seed const          seed = make_seed(7);
    tamis_spec                spec = growing_spec(tried, &seed);
    uint64_t                  id = 0;
    spec.allocator = ledger_allocator(&book);
    tamis_set *const set = make_set_from(&spec), *const other = growing_make(tried, 7);
    book.is_empty = true;
    while (tamis_add_id(set, id) == TAMIS_OK) id++;
    assert_true(id >= GROWING_CAPACITY);
    assert_true(id < 2 * GROWING_CAPACITY);
    assert_int_equal(tamis_add_id(set, id), TAMIS_ERR_MEMORY);
    assert_int_equal(tamis_resize(set, GROWING_TO, NULL), TAMIS_ERR_MEMORY);
    assert_int_equal(set->growth->stage, 0);
    expect_ids(set, 0, id);
    expect_valid(set);
    book.is_empty = false;
    add_ids(set, id, GROWING_TO - id);
    add_ids(other, 0, GROWING_TO);
    growing_expect_alike(set, other);
    tamis_free(set);
    tamis_free(other);
    assert_int_equal(book.bytes, 0);
}

/* A step that could not begin is begun soon after memory is back, not when an add finds no room. */
static void a_step_begins_when_memory_is_back(void **state) {
    const growing_case *const tried = *state;
    ledger                    book = { .is_empty = false };
    tamis_seed const          seed = make_seed(8);
    tamis_spec                spec = growing_spec(tried, &seed);
    uint64_t const            begin = GROWING_CAPACITY - GROWING_CAPACITY / 16;
    spec.allocator = ledger_allocator(&book);
    tamis_set *const set = make_set_from(&spec);
    book.is_empty = true;
    add_ids(set, 0, begin + 10);
    assert_false(grow_is_moving(set));
    book.is_empty = false;
    add_ids(set, begin + 10, GROWING_CAPACITY / 128);
    assert_true(grow_is_moving(set));
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_sets_go_on),
        cmocka_unit_test(read_sets_and_copies_go_on),
        cmocka_unit_test(headers_say_how_it_grows),
        cmocka_unit_test(received_sets_go_on),
        cmocka_unit_test(sets_received_without_copies_go_on),
        cmocka_unit_test(every_request_may_be_refused),
        cmocka_unit_test(a_set_without_memory_is_full),
        cmocka_unit_test(a_step_begins_when_memory_is_back),
    };
    return growing_run("grow, files", tests, COUNT(tests));
}
