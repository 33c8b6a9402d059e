/* test_crafted_states.c - files of states that an attacker made, with right checksums.
 *
 * usage: test_crafted_states [TIMES]      TIMES x about 9,000 random files per table
 *
 * As in test_crafted.c, a file that is accepted must survive operations on it, one that is refused
 * must get a reason, and no file may ask for more memory than its length.
 */
#include "crafted.h"
#include "life.h"

static unsigned times = 1;

static buffer fresh(const subject *variant) {
    tamis_states *const states = states_subject_make(variant, 1);
    assert_non_null(states);
    for (uint64_t id = 0; id < variant->capacity / 2; id++)
        (void)!tamis_states_put_id(states, id, (uint32_t)(id % variant->values));
    if (variant->timeout != 0) (void)!tamis_states_tick(states, 1, NULL, NULL);
    buffer const s = buffer_of_states(states);
    sample_take_layout(&s);
    tamis_states_free(states);
    return s;
}

static void crafted_fields_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_fields(&s, 0, 656, crafted_try_states);
    free(s.bytes);
}

static void crafted_pairs_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_pairs(&s, times, s.bytes[24] == 2 ? 640 : 384, crafted_try_states);
    free(s.bytes);
}

/* A table in a step has two geometries, which must agree with each other. */
static void crafted_geometries_are_safe(void **state) {
    buffer s = fresh(*state);
    if (s.bytes[24] == 1) crafted_geometries(&s, 3000 * times, crafted_try_states);
    free(s.bytes);
}

static void crafted_bodies_are_safe(void **state) {
    buffer s = fresh(*state);
    crafted_bodies(&s, 2000 * times, crafted_try_states);
    free(s.bytes);
}

/* The smallest tables of each kind, with timers and without, and one that grows: every third
 * variant on the best instruction set. */
int main(int argc, char **argv) {
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    static const CMUnitTestFunction functions[] = { crafted_fields_are_safe, crafted_pairs_are_safe,
                                                    crafted_geometries_are_safe,
                                                    crafted_bodies_are_safe };
    size_t                          n_all, n = 0;
    subject *const                  all = states_subjects(1, &n_all);
    struct CMUnitTest *const        tests = calloc(COUNT(functions) * n_all + 1, sizeof *tests);
    assert_non_null(tests);
    for (size_t i = 0; i < n_all; i++) {
        bool const is_best = isa_is_best(all[i].kind, all[i].isa);
        if (!is_best || all[i].capacity > 6000 || (times == 1 && i % 3 != 0)) continue;
        for (unsigned f = 0; f < COUNT(functions); f++)
            tests[n++] = unit_named(all[i].kind, functions[f], &all[i]);
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(crafted_both_ends_were_seen);
    int const failed = _cmocka_run_group_tests("crafted_states", tests, n, NULL, NULL);
    free(tests);
    free(all);
    return failed;
}
