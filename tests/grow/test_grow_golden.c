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
#include "growing.h"
#include "sample.h"

static const char *folder;

#define SET_FILE "v1-line-growing.tamis"
#define STATES_FILE "v1-states-line-growing.tamis"
#define CAPACITY 1500u
#define VALUES 8u
#define KEYS 2850u /* in both: the second step has begun */

static const tamis_seed seed = { UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210) };

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
    spec.seed = &seed;
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
    spec.seed = &seed;
    tamis_states *const states = make_states_from(&spec);
    for (uint64_t id = 0; id < KEYS; id++) {
        assert_int_equal(tamis_states_put_id(states, id, (uint32_t)(id % VALUES)), TAMIS_OK);
        if (id % 100 == 0) assert_int_equal(tamis_states_tick(states, 1, NULL, NULL), TAMIS_OK);
    }
    return states;
}

static void path_of(const char *file, char ret_path[500]) {
    (void)snprintf(ret_path, 500, "%s/%s", folder, file);
}

static buffer states_file(const tamis_states *states) {
    buffer file = { NULL, 0 };
    assert_int_equal(tamis_states_write(states, buffer_write, &file), TAMIS_OK);
    return file;
}

static void expect_file(const buffer *now, const char *name) {
    char path[500];
    path_of(name, path);
    buffer const then = buffer_read(path);
    assert_int_equal(now->n, then.n);
    assert_memory_equal(now->bytes, then.bytes, then.n);
    free(then.bytes);
}

/* ------------------------------------------------------------------ golden files */

static void a_set_of_old_goes_on(void **state) {
    char          path[500];
    tamis_set    *set = NULL;
    tamis_problem problem = { 0 };
    (void)state;
    path_of(SET_FILE, path);
    if (tamis_open(path, NULL, &set, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_true(grow_is_moving(set));
    buffer const now = growing_file(set);
    expect_file(&now, SET_FILE);
    free(now.bytes);
    for (uint64_t id = 0; id < KEYS; id++) assert_true(copies_of(set, id) >= copies_added(id));
    add_ids(set, KEYS, 8 * CAPACITY - KEYS - 100);
    expect_ids(set, 0, 8 * CAPACITY - 100);
    for (uint64_t id = 0; id < KEYS; id++) assert_true(copies_of(set, id) >= copies_added(id));
    growing_expect_valid(set);
    tamis_free(set);
}

static void states_of_old_go_on(void **state) {
    char          path[500];
    tamis_states *states = NULL;
    tamis_problem problem = { 0 };
    (void)state;
    path_of(STATES_FILE, path);
    if (tamis_states_open(path, NULL, &states, &problem) != TAMIS_OK) fail_msg("%s", problem.text);
    assert_true(grow_is_moving(&states->set));
    buffer const now = states_file(states);
    expect_file(&now, STATES_FILE);
    free(now.bytes);
    for (uint64_t id = 0; id < 3 * KEYS; id++) {
        uint32_t value = VALUES;
        if (id >= KEYS)
            assert_int_equal(tamis_states_put_id(states, id, (uint32_t)(id % VALUES)), TAMIS_OK);
        assert_int_equal(tamis_states_get_id(states, id, &value), TAMIS_OK);
        assert_int_equal(value, id % VALUES);
    }
    growing_expect_valid(&states->set);
    tamis_states_free(states);
}

static int write_missing(void) {
    char                set_path[500], states_path[500];
    tamis_set *const    set = make_golden_set();
    tamis_states *const states = make_golden_states();
    bool                is_written = true;
    path_of(SET_FILE, set_path);
    path_of(STATES_FILE, states_path);
    if (access(set_path, F_OK) != 0) is_written = tamis_save(set, set_path, NULL) == TAMIS_OK;
    if (access(states_path, F_OK) != 0)
        is_written = is_written && tamis_states_save(states, states_path, NULL) == TAMIS_OK;
    tamis_free(set);
    tamis_states_free(states);
    return is_written ? 0 : 1;
}

/* ------------------------------------------------------------------ crafted states */

static unsigned n_accepted, n_refused;

/* A table that was accepted must survive operations on it. */
static void use(tamis_states *states) {
    uint64_t           counts[VALUES], backlog;
    tamis_states_facts facts;
    assert_int_equal(tamis_states_get_facts(states, &facts), TAMIS_OK);
    for (uint64_t i = 0; i < 400; i++) {
        uint32_t value;
        (void)!tamis_states_put_id(states, 10000 + i, 1);
        (void)!tamis_states_get_id(states, i * 3, &value);
        (void)!tamis_states_touch_id(states, i * 2);
        (void)!tamis_states_drop_id(states, i * 7, TAMIS_ANY_VALUE);
        if (i % 20 == 0) (void)!tamis_states_tick(states, i / 16, NULL, &backlog);
    }
    if (facts.values <= VALUES) assert_int_equal(tamis_states_tally(states, counts), TAMIS_OK);
    growing_expect_valid(&states->set);
}

static void try_file(buffer *file) {
    tamis_states *states = NULL;
    sample_seal(file);
    tamis_status const status = tamis_states_read(file->bytes, file->n, NULL, &states, NULL);
    if (status == TAMIS_OK) use(states);
    n_accepted += status == TAMIS_OK;
    n_refused += status != TAMIS_OK;
    tamis_states_free(states);
}

static buffer crafted_from(void) {
    tamis_states *const states = make_golden_states();
    buffer const        file = states_file(states);
    assert_true(grow_is_moving(&states->set));
    tamis_states_free(states);
    sample_take_layout(&file);
    return file;
}

static void crafted_fields_are_safe(void **state) {
    static const uint64_t extremes[] = {
        0,         1, 2, 3, 15, 16, 1500, UINT64_C(1) << 31, UINT64_C(1) << 33, UINT64_C(1) << 57,
        UINT64_MAX
    };
    buffer file = crafted_from();
    (void)state;
    n_accepted = n_refused = 0;
    for (unsigned at = 8; at < 648; at += 8) {
        uint64_t const good = le64_load(file.bytes + at);
        for (size_t k = 0; k < COUNT(extremes) + 64; k++) {
            bool const is_bit = k >= COUNT(extremes);
            le64_store(file.bytes + at,
                       is_bit ? good ^ UINT64_C(1) << (k - COUNT(extremes)) : extremes[k]);
            try_file(&file);
        }
        le64_store(file.bytes + at, good);
    }
    free(file.bytes);
    assert_true(n_accepted > 100 && n_refused > 3000);
}

static void crafted_bodies_are_safe(void **state) {
    buffer const good = crafted_from();
    buffer       file = { malloc(good.n), good.n };
    dice         chance = { 1 };
    (void)state;
    assert_non_null(file.bytes);
    n_accepted = n_refused = 0;
    for (unsigned k = 0; k < 2000; k++) {
        memcpy(file.bytes, good.bytes, good.n);
        for (uint64_t n = dice_below(&chance, 3) + 1; n != 0; n--)
            file.bytes[SAMPLE_HEADER + dice_below(&chance, good.n - SAMPLE_HEADER - 40)] ^=
                (uint8_t)dice_roll(&chance);
        try_file(&file);
    }
    free(good.bytes);
    free(file.bytes);
    assert_true(n_refused > 500);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_of_old_goes_on),
        cmocka_unit_test(states_of_old_go_on),
        cmocka_unit_test(crafted_fields_are_safe),
        cmocka_unit_test(crafted_bodies_are_safe),
    };
    if (argc < 2) return 2;
    folder = argv[1];
    if (argc > 2) return write_missing();
    return unit_run("grow, golden", tests, COUNT(tests));
}
