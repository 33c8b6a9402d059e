/* test_grow_golden.c - files in the middle of a step: of earlier versions, and files of states made
 * by an attacker.
 *
 * usage: test_grow_golden FOLDER            read the golden files in the folder
 *        test_grow_golden FOLDER --write    write those that are missing; never over an old one
 *
 * The geometry of a growing set comes from the planner, so a golden file need not be what is
 * written today. It is read, gives the right answers, is written again byte for byte, and the set
 * grows on.
 */
#include "crafted.h"
#include "golden.h"
#include "growing.h"

#define SET_FILE "v1-line-growing.tamis"
#define STATES_FILE "v1-states-line-growing.tamis"
#define CAPACITY 1500u
#define VALUES 8u
#define KEYS 2850u /* in both: the second step has begun */

/* ------------------------------------------------------------------ what is in them */

static uint64_t copies_added(uint64_t id) {
    return id % 3 == 0 ? 1 + id % 5 : 1;
}

static tamis_set *make_golden_set(void) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = CAPACITY;
    spec.grow_to = 8 * CAPACITY;
    spec.fpr = 0.001;
    spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    spec.seed = &golden_seed;
    tamis_set *const set = make_set_from(&spec);
    for (uint64_t id = 0; id < KEYS; id++)
        assert_int_equal(tamis_add_copies_id(set, id, copies_added(id)), TAMIS_OK);
    return set;
}

static tamis_states *make_golden_states(void) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.kind = "line";
    spec.capacity = CAPACITY;
    spec.grow_to = 8 * CAPACITY;
    spec.fpr = 1e-6;
    spec.values = VALUES;
    spec.timeout = 50;
    spec.timer_bits = 3;
    spec.seed = &golden_seed;
    tamis_states *const states = make_states_from(&spec);
    for (uint64_t id = 0; id < KEYS; id++) {
        assert_int_equal(tamis_states_put_id(states, id, (uint32_t)(id % VALUES)), TAMIS_OK);
        if (id % 100 == 0) assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
    }
    return states;
}

/* ------------------------------------------------------------------ golden files */

static void a_set_of_old_goes_on(void **state) {
    char          path[GOLDEN_PATH_BYTES];
    tamis_set    *set = NULL;
    tamis_problem problem = { 0 };
    (void)state;
    golden_path(SET_FILE, path);
    if (tamis_open(path, NULL, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_true(grow_is_moving(set));
    buffer const now = buffer_of(set);
    golden_expect(SET_FILE, &now);
    free(now.bytes);
    for (uint64_t id = 0; id < KEYS; id++) assert_true(copies_of(set, id) >= copies_added(id));
    add_ids(set, KEYS, 8 * CAPACITY - KEYS - 100);
    expect_ids(set, 0, 8 * CAPACITY - 100);
    for (uint64_t id = 0; id < KEYS; id++) assert_true(copies_of(set, id) >= copies_added(id));
    expect_valid(set);
    tamis_free(set);
}

static void states_of_old_go_on(void **state) {
    char          path[GOLDEN_PATH_BYTES];
    tamis_states *states = NULL;
    tamis_problem problem = { 0 };
    (void)state;
    golden_path(STATES_FILE, path);
    if (tamis_states_open(path, NULL, &states, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_true(grow_is_moving(&states->set));
    buffer const now = buffer_of_states(states);
    golden_expect(STATES_FILE, &now);
    free(now.bytes);
    for (uint64_t id = 0; id < 3 * KEYS; id++) {
        uint32_t value = VALUES;
        if (id >= KEYS)
            assert_int_equal(tamis_states_put_id(states, id, (uint32_t)(id % VALUES)), TAMIS_OK);
        assert_int_equal(tamis_states_get_id(states, id, &value), TAMIS_OK);
        assert_int_equal(value, id % VALUES);
    }
    expect_valid_states(states);
    tamis_states_free(states);
}

static int write_missing(void) {
    tamis_set *const    set = make_golden_set();
    tamis_states *const states = make_golden_states();
    buffer const        files[2] = { buffer_of(set), buffer_of_states(states) };
    bool const          is_written =
        golden_write(SET_FILE, &files[0]) && golden_write(STATES_FILE, &files[1]);
    free(files[0].bytes);
    free(files[1].bytes);
    tamis_free(set);
    tamis_states_free(states);
    return is_written ? 0 : 1;
}

/* ------------------------------------------------------------------ crafted states */

static buffer crafted_from(void) {
    tamis_states *const states = make_golden_states();
    buffer const        file = buffer_of_states(states);
    assert_true(grow_is_moving(&states->set));
    tamis_states_free(states);
    sample_take_layout(&file);
    return file;
}

static void crafted_fields_are_safe(void **state) {
    buffer file = crafted_from();
    (void)state;
    crafted_seen = (crafted_counts){ .accepted = 0 };
    crafted_fields(&file, 8, 648, crafted_try_states);
    free(file.bytes);
    assert_true(crafted_seen.accepted > 100 && crafted_seen.refused > 3000);
}

static void crafted_bodies_are_safe(void **state) {
    buffer const good = crafted_from();
    dice         chance = { 1 };
    (void)state;
    crafted_seen = (crafted_counts){ .accepted = 0 };
    crafted_bytes(&good, 2000, good.n - SAMPLE_HEADER - 40, &chance, crafted_try_states);
    free(good.bytes);
    assert_true(crafted_seen.refused > 500);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_of_old_goes_on),
        cmocka_unit_test(states_of_old_go_on),
        cmocka_unit_test(crafted_fields_are_safe),
        cmocka_unit_test(crafted_bodies_are_safe),
    };
    if (argc < 2) return 2;
    golden_folder = argv[1];
    if (argc > 2) return write_missing();
    return unit_run("grow, golden", tests, COUNT(tests));
}
