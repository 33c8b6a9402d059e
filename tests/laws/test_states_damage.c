/* test_states_damage.c - states of `line` and `rank` in bodies that were damaged.
 *
 * validate must name a value that is out of range and a timer that is too long. A table that was
 * opened without being checked (TAMIS_OPEN_TRUST) may answer wrongly, but must not write outside of
 * its own memory or of the caller's.
 */
#include "subject.h"

#define VALUES 5 /* so that 3 bits can say more than there are */
#define VALUE_BITS 3
#define KEYS 300

typedef struct job {
    const char *kind;
    const char *value, *timer; /* the invariants that validate must name */
} job;

static const job jobs[] = { { "line", "I7", "I8" }, { "rank", "I6", "I7" } };

static tamis_states *make(const char *kind) {
    tamis_seed const  seed = { 3, 4 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = KEYS;
    spec.values = VALUES;
    spec.timeout = 50;
    spec.kind = kind;
    spec.fpr = 1e-6;
    spec.seed = &seed;
    tamis_states *const states = make_states_from(&spec);
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_int_equal(tamis_states_put_id(states, key, 0), TAMIS_OK);
    }
    assert_true(tamis_states_validate(states, NULL));
    return states;
}

static uint8_t *body_of(tamis_states *states) {
    return states->set.table.body;
}

/* The lowest bit of the state of a key whose value is 0: with it, the value is 1. */
static uint64_t find_field(tamis_states *states, uint64_t key) {
    uint64_t const bits = 8 * states->set.table.body_bytes;
    for (uint64_t bit = 0; bit < bits; bit++) {
        uint32_t value;
        flip_bit(body_of(states), bit);
        bool const is_there = tamis_states_get_id(states, key, &value) == TAMIS_OK && value == 1;
        flip_bit(body_of(states), bit);
        if (is_there) return bit;
    }
    fail_msg("no bit is the value of key %llu", (unsigned long long)key);
    return 0;
}

static void expect_flips_broken(tamis_states *states, uint64_t bit, uint64_t other,
                                const char *invariant) {
    const char *why = "nothing";
    flip_bit(body_of(states), bit);
    flip_bit(body_of(states), other);
    assert_false(tamis_states_validate(states, &why));
    if (strncmp(why, invariant, 2) != 0) fail_msg("%s, not %s", why, invariant);
    flip_bit(body_of(states), bit);
    flip_bit(body_of(states), other);
    assert_true(tamis_states_validate(states, NULL));
}

/* Values of 5 and 6. Timers of 3 and 2, where a key that is touched now gets 1. */
static void validate_names_values_and_timers(void **state) {
    const job *const    kind = *state;
    tamis_states *const states = make(kind->kind);
    for (uint64_t key = 0; key < KEYS; key += 60) {
        uint64_t const field = find_field(states, key), timer = field + VALUE_BITS;
        expect_flips_broken(states, field, field + 2, kind->value);
        expect_flips_broken(states, field + 1, field + 2, kind->value);
        expect_flips_broken(states, timer + 1, field, kind->timer); /* of value 1 */
        expect_flips_broken(states, timer + 1, timer, kind->timer);
    }
    tamis_states_free(states);
}

/* Whatever the values and timers in the body are, ageing counts only valid values: the array `aged`
 * ends at a page without access. */
static void damaged_values_age_inside_the_array(void **state) {
    const job *const    kind = *state;
    tamis_states *const states = make(kind->kind);
    fenced              memory = fenced_new(VALUES * sizeof(uint64_t));
    uint64_t *const     aged = (uint64_t *)(void *)memory.bytes;
    uint64_t            sum = 0, backlog = 1;
    memset(aged, 0, VALUES * sizeof *aged);
    for (uint64_t key = 0; key < KEYS; key += 10) { /* value 7, in its last pass */
        uint64_t const field = find_field(states, key);
        for (unsigned i = 0; i < VALUE_BITS + 1; i++) flip_bit(body_of(states), field + i);
    }
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(tamis_states_tick(states, 1, aged, &backlog), TAMIS_OK);
    }
    while (backlog != 0) {
        assert_int_equal(tamis_states_tick(states, 0, aged, &backlog), TAMIS_OK);
    }
    for (unsigned i = 0; i < VALUES; i++) sum += aged[i];
    assert_int_equal(aged[0], KEYS - KEYS / 10);
    assert_int_equal(sum, aged[0]);
    tamis_states_info info;
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_int_equal(info.aged, KEYS);
    fenced_free(&memory);
    tamis_states_free(states);
}

/* Random bytes: every operation on such a table stays inside it. */
static void any_bytes_are_survived(void **state) {
    const job *const    kind = *state;
    dice                random = dice_start();
    tamis_states *const states = make(kind->kind);
    uint64_t            aged[VALUES];
    for (unsigned round = 0; round < 200; round++) {
        dice_fill(&random, body_of(states), states->set.table.body_bytes);
        for (uint64_t key = 0; key < 50; key++) {
            uint32_t value;
            (void)!tamis_states_get_id(states, key, &value);
            (void)!tamis_states_put_id(states, key, (uint32_t)(key % VALUES));
            (void)!tamis_states_move_id(states, key, TAMIS_ANY_VALUE, 1);
            (void)!tamis_states_drop_id(states, key, TAMIS_ANY_VALUE);
        }
        (void)!tamis_states_tick(states, 20, aged, NULL);
    }
    tamis_states_free(states);
}

#define TESTS(i)                                                                                  \
    { "validate_names_values_and_timers", validate_names_values_and_timers, NULL, NULL,           \
      (void *)(uintptr_t)&jobs[i] },                                                              \
        { "damaged_values_age_inside_the_array", damaged_values_age_inside_the_array, NULL, NULL, \
          (void *)(uintptr_t)&jobs[i] },                                                          \
    {                                                                                             \
        "any_bytes_are_survived", any_bytes_are_survived, NULL, NULL, (void *)(uintptr_t)&jobs[i] \
    }

int main(void) {
    const struct CMUnitTest tests[] = { TESTS(0), TESTS(1) };
    return cmocka_run_group_tests_name("states, damaged", tests, NULL, NULL);
}
