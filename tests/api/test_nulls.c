/* test_nulls.c - every public function, with NULL for every pointer that it takes.
 *
 * A pointer that must be there is refused with TAMIS_ERR_ARGUMENT, or the answer is no or 0; no
 * call crashes, and none changes anything. tests/faults/check-calls compares this file with the
 * list of functions that the library exports.
 */
#include "buffer.h"
#include "make.h"

#include <tamis/states.h>

#define REFUSED(call) assert_int_equal(call, TAMIS_ERR_ARGUMENT)

static tamis_set    *set;
static tamis_states *states;

static int make_both(void **state) {
    (void)state;
    tamis_spec        spec = TAMIS_SPEC_INIT;
    tamis_states_spec states_spec = TAMIS_STATES_SPEC_INIT;
    spec.kind = states_spec.kind = "line";
    spec.capacity = states_spec.capacity = 100;
    spec.fpr = states_spec.fpr = 0.01;
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    states_spec.values = 4;
    states_spec.timeout = 10;
    set = make_set_from(&spec);
    states = make_states_from(&states_spec);
    return 0;
}

static int free_both(void **state) {
    (void)state;
    tamis_free(set);
    tamis_states_free(states);
    return 0;
}

/* ------------------------------------------------------------------ sets */

static void keys_of_bytes(void **state) {
    (void)state;
    bool     flag;
    uint64_t count;
    REFUSED(tamis_add(NULL, "k", 1));
    REFUSED(tamis_add(set, NULL, 1));
    REFUSED(tamis_add_copies(NULL, "k", 1, 2));
    REFUSED(tamis_add_copies(set, NULL, 1, 2));
    REFUSED(tamis_add_new(NULL, "k", 1, &flag));
    REFUSED(tamis_add_new(set, NULL, 1, &flag));
    REFUSED(tamis_add_new(set, "k", 1, NULL));
    REFUSED(tamis_remove(NULL, "k", 1));
    REFUSED(tamis_remove(set, NULL, 1));
    REFUSED(tamis_count(NULL, "k", 1, &count));
    REFUSED(tamis_count(set, NULL, 1, &count));
    REFUSED(tamis_count(set, "k", 1, NULL));
    (void)tamis_part_of_hash(1, 0);
}

static void ids_and_hashes(void **state) {
    (void)state;
    bool     flag;
    uint64_t count;
    REFUSED(tamis_add_id(NULL, 1));
    REFUSED(tamis_add_hash(NULL, 1));
    REFUSED(tamis_add_copies_id(NULL, 1, 2));
    REFUSED(tamis_add_new_id(NULL, 1, &flag));
    REFUSED(tamis_add_new_id(set, 1, NULL));
    REFUSED(tamis_add_new_hash(NULL, 1, &flag));
    REFUSED(tamis_add_new_hash(set, 1, NULL));
    REFUSED(tamis_remove_id(NULL, 1));
    REFUSED(tamis_remove_hash(NULL, 1));
    REFUSED(tamis_remove_copy_hash(NULL, 1, &flag));
    REFUSED(tamis_remove_copy_hash(set, 1, NULL));
    REFUSED(tamis_count_id(NULL, 1, &count));
    REFUSED(tamis_count_id(set, 1, NULL));
    REFUSED(tamis_count_hash(NULL, 1, &count));
    REFUSED(tamis_count_hash(set, 1, NULL));
}

static void batches(void **state) {
    (void)state;
    tamis_key const keys[] = { { "k", 1 } };
    uint64_t const  ids[] = { 1 };
    uint64_t        counts[1];
    REFUSED(tamis_add_batch(NULL, keys, 1, NULL));
    REFUSED(tamis_add_batch(set, NULL, 1, NULL));
    REFUSED(tamis_add_balanced(NULL, keys, 1, NULL));
    REFUSED(tamis_add_balanced(set, NULL, 1, NULL));
    REFUSED(tamis_add_new_batch(NULL, keys, 1, NULL, NULL));
    REFUSED(tamis_add_new_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_remove_batch(NULL, keys, 1, NULL, NULL));
    REFUSED(tamis_remove_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_count_batch(NULL, keys, 1, counts));
    REFUSED(tamis_count_batch(set, NULL, 1, counts));
    REFUSED(tamis_count_batch(set, keys, 1, NULL));
    REFUSED(tamis_add_id_batch(NULL, ids, 1, NULL));
    REFUSED(tamis_add_id_batch(set, NULL, 1, NULL));
    REFUSED(tamis_add_id_balanced(NULL, ids, 1, NULL));
    REFUSED(tamis_add_id_balanced(set, NULL, 1, NULL));
    REFUSED(tamis_add_new_id_batch(NULL, ids, 1, NULL, NULL));
    REFUSED(tamis_add_new_id_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_remove_id_batch(NULL, ids, 1, NULL, NULL));
    REFUSED(tamis_remove_id_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_count_id_batch(NULL, ids, 1, counts));
    REFUSED(tamis_count_id_batch(set, NULL, 1, counts));
    REFUSED(tamis_count_id_batch(set, ids, 1, NULL));
}

static void batches_of_hashes(void **state) {
    (void)state;
    uint64_t const hashes[] = { 1 };
    uint64_t       counts[1];
    REFUSED(tamis_add_hash_batch(NULL, hashes, 1, NULL));
    REFUSED(tamis_add_hash_batch(set, NULL, 1, NULL));
    REFUSED(tamis_add_new_hash_batch(NULL, hashes, 1, NULL, NULL));
    REFUSED(tamis_add_new_hash_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_remove_hash_batch(NULL, hashes, 1, NULL, NULL));
    REFUSED(tamis_remove_hash_batch(set, NULL, 1, NULL, NULL));
    REFUSED(tamis_count_hash_batch(NULL, hashes, 1, counts));
    REFUSED(tamis_count_hash_batch(set, NULL, 1, counts));
    REFUSED(tamis_count_hash_batch(set, hashes, 1, NULL));
}

/* Functions that cannot return a status. In a debug build of the library these are assertions. */
static void answers(void **state) {
    (void)state;
#ifdef NDEBUG
    tamis_key const keys[] = { { "k", 1 } };
    uint64_t const  ids[] = { 1 }, hashes[] = { 1 };
    assert_false(tamis_has(NULL, "k", 1));
    assert_false(tamis_has(set, NULL, 1));
    assert_false(tamis_has_id(NULL, 1));
    assert_false(tamis_has_hash(NULL, 1));
    tamis_fetch(NULL, "k", 1);
    tamis_fetch(set, NULL, 1);
    tamis_fetch_id(NULL, 1);
    tamis_fetch_hash(NULL, 1);
    assert_int_equal(tamis_hash_key(NULL, "k", 1), 0);
    assert_int_equal(tamis_hash_key(set, NULL, 1), 0);
    assert_int_equal(tamis_part_of_key(NULL, "k", 1, 4), 0);
    assert_int_equal(tamis_part_of_key(set, NULL, 1, 4), 0);
    assert_int_equal(tamis_hash_id(NULL, 1), 0);
    assert_int_equal(tamis_has_batch(NULL, keys, 1, NULL), 0);
    assert_int_equal(tamis_has_batch(set, NULL, 1, NULL), 0);
    assert_int_equal(tamis_has_id_batch(NULL, ids, 1, NULL), 0);
    assert_int_equal(tamis_has_id_batch(set, NULL, 1, NULL), 0);
    assert_int_equal(tamis_has_hash_batch(NULL, hashes, 1, NULL), 0);
    assert_int_equal(tamis_has_hash_batch(set, NULL, 1, NULL), 0);
#endif
}

static void whole_sets(void **state) {
    (void)state;
    tamis_spec const spec = TAMIS_SPEC_INIT;
    tamis_set       *made = NULL, *other = NULL;
    tamis_info       info;
    tamis_facts      facts;
    uint64_t         value;
    REFUSED(tamis_create(NULL, &made, NULL));
    REFUSED(tamis_create(&spec, NULL, NULL));
    tamis_free(NULL);
    REFUSED(tamis_get_facts(NULL, &facts));
    REFUSED(tamis_get_facts(set, NULL));
    REFUSED(tamis_get_field(NULL, "lines", &value));
    REFUSED(tamis_get_field(set, NULL, &value));
    REFUSED(tamis_get_field(set, "lines", NULL));
    REFUSED(tamis_inspect(NULL, &info));
    REFUSED(tamis_inspect(set, NULL));
    assert_false(tamis_validate(NULL, NULL));
    REFUSED(tamis_clear(NULL));
    REFUSED(tamis_copy(NULL, &made));
    REFUSED(tamis_copy(set, NULL));
    REFUSED(tamis_resize(NULL, 100, NULL));
    REFUSED(tamis_merge(NULL, set));
    REFUSED(tamis_merge(set, NULL));
    REFUSED(tamis_subtract(NULL, set));
    REFUSED(tamis_subtract(set, NULL));
    REFUSED(tamis_refresh(NULL, set));
    REFUSED(tamis_refresh(set, NULL));
    REFUSED(tamis_convert(NULL, "bloom", &made));
    REFUSED(tamis_convert(set, NULL, &made));
    REFUSED(tamis_convert(set, "bloom", NULL));
    REFUSED(tamis_split(NULL, &made, &other, NULL));
    REFUSED(tamis_split(set, NULL, &other, NULL));
    REFUSED(tamis_split(set, &made, NULL, NULL));
    REFUSED(tamis_join(NULL, set, &made, NULL));
    REFUSED(tamis_join(set, NULL, &made, NULL));
    REFUSED(tamis_join(set, set, NULL, NULL));
    assert_true(made == NULL && other == NULL);
}

static void files_and_streams(void **state) {
    (void)state;
    tamis_set *made = NULL;
    buffer     out = { NULL, 0 };
    REFUSED(tamis_save(NULL, "unused", NULL));
    REFUSED(tamis_save(set, NULL, NULL));
    REFUSED(tamis_open(NULL, NULL, &made, NULL));
    REFUSED(tamis_open("unused", NULL, NULL, NULL));
    REFUSED(tamis_open_fd(0, NULL, NULL, NULL));
    REFUSED(tamis_write(NULL, buffer_write, &out));
    REFUSED(tamis_write(set, NULL, &out));
    REFUSED(tamis_read(NULL, 10, NULL, &made, NULL));
    REFUSED(tamis_read("unused", 6, NULL, NULL, NULL));
    REFUSED(tamis_send(NULL, 0, buffer_write, &out));
    REFUSED(tamis_send(set, 0, NULL, &out));
    REFUSED(tamis_receive(NULL, 10, NULL, &made, NULL));
    REFUSED(tamis_receive("unused", 6, NULL, NULL, NULL));
    assert_true(made == NULL && out.n == 0);
}

static void plans_and_names(void **state) {
    (void)state;
    tamis_spec        spec = TAMIS_SPEC_INIT;
    tamis_plan        row;
    tamis_field_range fields[TAMIS_MAX_FIELDS];
    size_t            n;
    spec.capacity = 100;
    spec.fpr = 0.01;
    REFUSED(tamis_plan_kinds(NULL, &row, 1, &n, NULL));
    REFUSED(tamis_plan_kinds(&spec, NULL, 1, &n, NULL));
    REFUSED(tamis_plan_kinds(&spec, &row, 1, NULL, NULL));
    REFUSED(tamis_plan_stages(NULL, &row, 1, &n, NULL));
    REFUSED(tamis_plan_stages(&spec, NULL, 1, &n, NULL));
    REFUSED(tamis_plan_stages(&spec, &row, 1, NULL, NULL));
    REFUSED(tamis_kind_fields(NULL, fields, &n));
    REFUSED(tamis_kind_fields("line", NULL, &n));
    REFUSED(tamis_kind_fields("line", fields, NULL));
    assert_null(tamis_kind_name(SIZE_MAX));
    assert_null(tamis_states_kind_name(SIZE_MAX));
    assert_null(tamis_isa_name(SIZE_MAX));
    assert_non_null(tamis_status_text((tamis_status)-1000));
    assert_non_null(tamis_version());
    assert_true(tamis_version_number() != 0);
}

/* ------------------------------------------------------------------ states */

static void states_of_keys(void **state) {
    (void)state;
    uint32_t value;
    REFUSED(tamis_states_put(NULL, "k", 1, 0));
    REFUSED(tamis_states_put(states, NULL, 1, 0));
    REFUSED(tamis_states_get(NULL, "k", 1, &value));
    REFUSED(tamis_states_get(states, NULL, 1, &value));
    REFUSED(tamis_states_get(states, "k", 1, NULL));
    REFUSED(tamis_states_move(NULL, "k", 1, 0, 1));
    REFUSED(tamis_states_move(states, NULL, 1, 0, 1));
    REFUSED(tamis_states_set(NULL, "k", 1, 0));
    REFUSED(tamis_states_set(states, NULL, 1, 0));
    REFUSED(tamis_states_touch(NULL, "k", 1));
    REFUSED(tamis_states_touch(states, NULL, 1));
    REFUSED(tamis_states_drop(NULL, "k", 1, 0));
    REFUSED(tamis_states_drop(states, NULL, 1, 0));
    REFUSED(tamis_states_put_id(NULL, 1, 0));
    REFUSED(tamis_states_get_id(NULL, 1, &value));
    REFUSED(tamis_states_get_id(states, 1, NULL));
    REFUSED(tamis_states_move_id(NULL, 1, 0, 1));
    REFUSED(tamis_states_set_id(NULL, 1, 0));
    REFUSED(tamis_states_touch_id(NULL, 1));
    REFUSED(tamis_states_drop_id(NULL, 1, 0));
}

static tamis_step leave(void *context, size_t i, tamis_status status, uint32_t value,
                        uint32_t *ret_to) {
    (void)context, (void)i, (void)status, (void)value, (void)ret_to;
    return TAMIS_STEP_LEAVE;
}

/* A batch without a table, none at all, without keys, and without the values that it needs. */
static void states_of_batches(void **state) {
    (void)state;
    static tamis_status (*const calls[])(tamis_states *, const tamis_states_batch *, size_t *) = {
        tamis_states_put_batch, tamis_states_move_batch, tamis_states_set_batch,
        tamis_states_touch_batch, tamis_states_drop_batch
    };
    uint64_t const           ids[] = { 1 };
    uint32_t                 values[] = { 1 };
    tamis_states_batch const full = { .ids = ids, .n = 1, .values = values, .ret_values = values };
    tamis_states_batch const no_keys = { .n = 1, .values = values, .ret_values = values };
    tamis_states_batch const no_values = { .ids = ids, .n = 1 };
    for (size_t i = 0; i < COUNT(calls); i++) {
        REFUSED(calls[i](NULL, &full, NULL));
        REFUSED(calls[i](states, NULL, NULL));
        REFUSED(calls[i](states, &no_keys, NULL));
        if (i < 3) REFUSED(calls[i](states, &no_values, NULL));
    }
    REFUSED(tamis_states_get_batch(NULL, &full, NULL));
    REFUSED(tamis_states_get_batch(states, NULL, NULL));
    REFUSED(tamis_states_get_batch(states, &no_keys, NULL));
    REFUSED(tamis_states_step_batch(NULL, &full, leave, NULL, NULL));
    REFUSED(tamis_states_step_batch(states, NULL, leave, NULL, NULL));
    REFUSED(tamis_states_step_batch(states, &no_keys, leave, NULL, NULL));
    REFUSED(tamis_states_step_batch(states, &full, NULL, NULL, NULL));
}

static void whole_states(void **state) {
    (void)state;
    tamis_states_spec const spec = TAMIS_STATES_SPEC_INIT;
    tamis_states           *made = NULL;
    tamis_states_info       info;
    tamis_states_facts      facts;
    uint64_t                tally[4];
    REFUSED(tamis_states_create(NULL, &made, NULL));
    REFUSED(tamis_states_create(&spec, NULL, NULL));
    tamis_states_free(NULL);
    REFUSED(tamis_states_tick(NULL, 1, NULL, NULL));
    REFUSED(tamis_states_resize(NULL, 100, NULL));
    REFUSED(tamis_states_timeout(NULL, 0, NULL, NULL, NULL));
    REFUSED(tamis_states_get_facts(NULL, &facts));
    REFUSED(tamis_states_get_facts(states, NULL));
    REFUSED(tamis_states_inspect(NULL, &info));
    REFUSED(tamis_states_inspect(states, NULL));
    REFUSED(tamis_states_tally(NULL, tally));
    REFUSED(tamis_states_tally(states, NULL));
    assert_false(tamis_states_validate(NULL, NULL));
    REFUSED(tamis_states_clear(NULL));
    REFUSED(tamis_states_copy(NULL, &made));
    REFUSED(tamis_states_copy(states, NULL));
    REFUSED(tamis_states_merge(NULL, states));
    REFUSED(tamis_states_merge(states, NULL));
    assert_null(made);
}

static void files_and_plans_of_states(void **state) {
    (void)state;
    tamis_states_spec const spec = TAMIS_STATES_SPEC_INIT;
    tamis_states           *made = NULL;
    buffer                  out = { NULL, 0 };
    tamis_plan              row;
    size_t                  n;
    REFUSED(tamis_states_save(NULL, "unused", NULL));
    REFUSED(tamis_states_save(states, NULL, NULL));
    REFUSED(tamis_states_write(NULL, buffer_write, &out));
    REFUSED(tamis_states_write(states, NULL, &out));
    REFUSED(tamis_states_open(NULL, NULL, &made, NULL));
    REFUSED(tamis_states_open("unused", NULL, NULL, NULL));
    REFUSED(tamis_states_open_fd(0, NULL, NULL, NULL));
    REFUSED(tamis_states_read(NULL, 10, NULL, &made, NULL));
    REFUSED(tamis_states_read("unused", 6, NULL, NULL, NULL));
    REFUSED(tamis_states_plan_kinds(NULL, &row, 1, &n, NULL));
    REFUSED(tamis_states_plan_kinds(&spec, NULL, 1, &n, NULL));
    REFUSED(tamis_states_plan_kinds(&spec, &row, 1, NULL, NULL));
    REFUSED(tamis_states_plan_stages(NULL, &row, 1, &n, NULL));
    REFUSED(tamis_states_plan_stages(&spec, NULL, 1, &n, NULL));
    REFUSED(tamis_states_plan_stages(&spec, &row, 1, NULL, NULL));
    assert_true(made == NULL && out.n == 0);
}

/* All that was refused has changed nothing. */
static void nothing_has_changed(void **state) {
    (void)state;
    tamis_states_facts facts;
    assert_int_equal(inspect(set).facts.keys, 0);
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    assert_int_equal(facts.keys, 0);
    expect_valid(set);
    expect_valid_states(states);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_bytes),
        cmocka_unit_test(ids_and_hashes),
        cmocka_unit_test(batches),
        cmocka_unit_test(batches_of_hashes),
        cmocka_unit_test(answers),
        cmocka_unit_test(whole_sets),
        cmocka_unit_test(files_and_streams),
        cmocka_unit_test(plans_and_names),
        cmocka_unit_test(states_of_keys),
        cmocka_unit_test(states_of_batches),
        cmocka_unit_test(whole_states),
        cmocka_unit_test(files_and_plans_of_states),
        cmocka_unit_test(nothing_has_changed),
    };
    return cmocka_run_group_tests_name("nulls", tests, make_both, free_both);
}
