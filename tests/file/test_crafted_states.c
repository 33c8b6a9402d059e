/* test_crafted_states.c - files of states that an attacker made, with right checksums.
 *
 * usage: test_crafted_states [TIMES]      TIMES x 8,000 random files per table
 *
 * As in test_crafted.c, a file that is accepted must survive operations on it, one that is refused
 * must get a reason, and no file may ask for more memory than twice its length.
 */
#include "ledger.h"
#include "life.h"
#include "sample.h"

static unsigned n_accepted, n_refused, times = 1;

/* ------------------------------------------------------------------ one crafted file */

static void use(tamis_states *states) {
    tamis_states_info info;
    uint32_t          value;
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    for (uint64_t id = 0; id < 200; id++) {
        uint32_t const to = (uint32_t)(id % info.values);
        (void)!tamis_states_get_id(states, id, &value);
        (void)!tamis_states_set_id(states, id, to);
        (void)!tamis_states_move_id(states, id, TAMIS_ANY_VALUE, 0);
        (void)!tamis_states_touch_id(states, id);
        if (id % 3 == 0) (void)!tamis_states_drop_id(states, id, TAMIS_ANY_VALUE);
    }
    (void)!tamis_states_tick(states, 5, NULL, NULL);
    (void)!tamis_states_tick(states, UINT64_C(1) << 40, NULL, NULL);
    assert_true(tamis_states_validate(states, NULL));
}

static void try_file(const buffer *s) {
    ledger             book = { 0 };
    tamis_states      *states = NULL;
    tamis_problem      problem;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    options.allocator = ledger_allocator(&book);
    tamis_status const status = tamis_states_read(s->bytes, s->n, &options, &states, &problem);
    assert_true(book.peak <= 2 * s->n);
    if (status == TAMIS_OK) {
        use(states);
        n_accepted++;
    } else {
        assert_true(sample_is_refusal(status));
        assert_null(states);
        n_refused++;
    }
    tamis_states_free(states);
    assert_int_equal(book.bytes, 0);
}

/* ------------------------------------------------------------------ what is crafted */

static const uint64_t extremes[] = { 0,
                                     1,
                                     2,
                                     3,
                                     63,
                                     64,
                                     65,
                                     255,
                                     65535,
                                     UINT64_C(1) << 31,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 40) + 1,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX };

static buffer fresh(const subject *variant) {
    tamis_states *const states = states_subject_make(variant, 1);
    buffer              s = { NULL, 0 };
    assert_non_null(states);
    for (uint64_t id = 0; id < variant->capacity / 2; id++)
        (void)!tamis_states_put_id(states, id, (uint32_t)(id % variant->values));
    if (variant->timeout != 0) (void)!tamis_states_tick(states, 1, NULL, NULL);
    assert_int_equal(tamis_states_write(states, buffer_write, &s), TAMIS_OK);
    sample_take_layout(&s);
    tamis_states_free(states);
    return s;
}

/* In each word of the header, flip every bit and try every extreme value. */
static void crafted_fields_are_safe(void **state) {
    buffer s = fresh(*state);
    for (size_t at = 0; at < 656; at += 8) {
        uint64_t const good = le64_load(s.bytes + at);
        for (unsigned i = 0; i < 64 + COUNT(extremes); i++) {
            le64_store(s.bytes + at, i < 64 ? good ^ UINT64_C(1) << i : extremes[i - 64]);
            sample_seal(&s);
            try_file(&s);
        }
        le64_store(s.bytes + at, good);
    }
    free(s.bytes);
}

static void crafted_pairs_are_safe(void **state) {
    buffer s = fresh(*state);
    dice   chance = { 5 };
    for (unsigned trial = 0; trial < 6000 * times; trial++) {
        size_t const   a = dice_below(&chance, 48) * 8, b = dice_below(&chance, 48) * 8;
        uint64_t const good_a = le64_load(s.bytes + a), good_b = le64_load(s.bytes + b);
        le64_store(s.bytes + a, extremes[dice_below(&chance, COUNT(extremes))]);
        le64_store(s.bytes + b, le64_load(s.bytes + b) ^ UINT64_C(1) << dice_below(&chance, 64));
        sample_seal(&s);
        try_file(&s);
        le64_store(s.bytes + b, good_b);
        le64_store(s.bytes + a, good_a);
    }
    free(s.bytes);
}

static void crafted_bodies_are_safe(void **state) {
    buffer s = fresh(*state);
    for (unsigned trial = 0; trial < 2000 * times; trial++) {
        for (unsigned i = 0; i <= trial % 7; i++) {
            uint64_t const random = remix(trial, i);
            s.bytes[SAMPLE_HEADER + fastrange(random, s.n - SAMPLE_HEADER - 24)] = (uint8_t)random;
        }
        sample_seal(&s);
        try_file(&s);
    }
    free(s.bytes);
}

static int check_both_ends(void **state) {
    (void)state;
    print_message("# %u files accepted and used, %u refused\n", n_accepted, n_refused);
    return n_accepted > 100 && n_refused > 10000 ? 0 : -1;
}

/* The smallest tables of each kind, with timers and without, and one that grows: every third
 * variant on the best instruction set. */
int main(int argc, char **argv) {
    if (argc > 1) times = (unsigned)strtoul(argv[1], NULL, 10);
    static const CMUnitTestFunction functions[] = { crafted_fields_are_safe, crafted_pairs_are_safe,
                                                    crafted_bodies_are_safe };
    size_t                          n_all, n = 0;
    subject *const                  all = states_subjects(1, &n_all);
    struct CMUnitTest *const        tests = calloc(3 * n_all, sizeof *tests);
    assert_non_null(tests);
    for (size_t i = 0; i < n_all; i++) {
        bool const is_best = isa_is_best(all[i].kind, all[i].isa);
        if (!is_best || all[i].capacity > 6000 || (times == 1 && i % 3 != 0)) continue;
        for (unsigned f = 0; f < 3; f++)
            tests[n++] = unit_named(all[i].kind, functions[f], &all[i]);
    }
    int const failed = _cmocka_run_group_tests("crafted_states", tests, n, NULL, check_both_ends);
    free(tests);
    free(all);
    return failed;
}
