/* test_states_files.c - files of states: of earlier versions, and made by an attacker.
 *
 * usage: test_states_files FOLDER            compare with the golden files in the folder
 *        test_states_files FOLDER --write    write those that are missing; never over an old one
 */
#include "crafted.h"
#include "golden.h"

/* ------------------------------------------------------------------ golden files */

typedef struct golden {
    const char *file, *kind, *geometry;
    uint64_t    values, timeout;
} golden;

static const golden goldens[] = {
    { "v1-states-line.tamis", "line",
      "buckets=12,remainder_bits=16,counter_bits=0,copies=1,value_bits=5,attic=100", 8, 60 },
    { "v1-states-rank.tamis", "rank",
      "buckets=20,chains=20,remainder_bits=13,cells=30,cells2=5,cells3=46,extensions2=20,"
      "extensions3=18,counter_bits=0,copies=1,value_bits=3,aligned=0",
      6, 0 },
    { "v1-states-print.tamis", "state_print",
      "tables=4,buckets=13,cells=10,print_bits=15,value_bits=5,bucket_bytes=25,permuted=1,"
      "reinserts=0,side=16",
      5, 60 },
    { "v1-states-print-apart.tamis", "state_print",
      "tables=3,buckets=30,cells=7,print_bits=13,value_bits=3,permuted=0,reinserts=1,side=8", 5,
      0 },
    { "v1-states-bloom.tamis", "state_bloom",
      "cells=7052,hashes=6,values=5,counter_bits=2,timer_bits=0", 5, 0 },
    { "v1-states-bloom-ageing.tamis", "state_bloom",
      "cells=6336,hashes=6,values=5,counter_bits=0,timer_bits=2", 5, 60 },
    { "v1-states-direct.tamis", "state_direct",
      "cells=7257,hashes=11,values=5,counter_bits=3,timer_bits=2", 5, 60 },
};

#define KEYS 400

/* Keys that are put, moved, aged and dropped. */
static tamis_states *golden_make(const golden *g) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = KEYS;
    spec.values = g->values;
    spec.timeout = g->timeout;
    spec.kind = g->kind;
    spec.geometry = g->geometry;
    spec.overflow = 0.9;
    spec.unknown = 0.5;
    spec.seed = &golden_seed;
    tamis_states *const states = make_states_from(&spec);
    for (uint64_t i = 0; i < KEYS; i++) {
        (void)!tamis_states_put_id(states, i, (uint32_t)(i % g->values));
        if (i % 3 == 0)
            (void)!tamis_states_move_id(states, i / 2, TAMIS_ANY_VALUE, (uint32_t)(i % g->values));
        if (i % 5 == 0) (void)!tamis_states_drop_id(states, i / 3, TAMIS_ANY_VALUE);
        if (i % 7 == 0) (void)!tamis_states_tick(states, 1, NULL, NULL);
    }
    return states;
}

static buffer golden_file(const golden *g) {
    tamis_states *const states = golden_make(g);
    buffer const        file = buffer_of_states(states);
    tamis_states_free(states);
    return file;
}

static void golden_is_written_and_read_the_same(void **state) {
    const golden *const g = *state;
    tamis_states       *states = NULL;
    buffer const        now = golden_file(g);
    golden_expect(g->file, &now);
    assert_int_equal(tamis_states_read(now.bytes, now.n, NULL, &states, NULL), TAMIS_OK);
    expect_valid_states(states);
    tamis_states_free(states);
    free(now.bytes);
}

static int write_missing(void) {
    for (size_t i = 0; i < COUNT(goldens); i++) {
        buffer const now = golden_file(&goldens[i]);
        if (!golden_write(goldens[i].file, &now)) return 1;
        free(now.bytes);
    }
    return 0;
}

/* ------------------------------------------------------------------ crafted ones */

static void fields_of_the_header_are_checked(void **state) {
    (void)state;
    crafted_seen = (crafted_counts){ .accepted = 0 };
    for (size_t i = 0; i < COUNT(goldens); i++) {
        buffer file = golden_file(&goldens[i]);
        crafted_fields(&file, 48, 384, crafted_try_states);
        free(file.bytes);
    }
    assert_true(crafted_seen.accepted > 20 && crafted_seen.refused > 500);
}

static void bodies_are_checked(void **state) {
    dice chance = { 1 };
    (void)state;
    crafted_seen = (crafted_counts){ .accepted = 0 };
    for (size_t i = 0; i < COUNT(goldens); i++) {
        buffer const good = golden_file(&goldens[i]);
        size_t const body = (size_t)le64_load(good.bytes + 128 + 16);
        crafted_bytes(&good, 3000, body, &chance, crafted_try_states);
        free(good.bytes);
    }
    assert_true(crafted_seen.refused > 1000);
}

/* Conflicts of states and refused removals of sets are two fields: states have 0 in the second,
 * sets in the first. */
static void conflicts_have_a_field_of_their_own(void **state) {
    tamis_states_info info;
    tamis_problem     problem;
    (void)state;
    tamis_states *states = golden_make(&goldens[0]);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    uint64_t const before = info.conflicts;
    assert_int_equal(tamis_states_put_id(states, 1000, 3), TAMIS_OK);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(tamis_states_put_id(states, 1000, 4), TAMIS_ERR_CONFLICT);
    buffer file = buffer_of_states(states);
    tamis_states_free(states);
    assert_int_equal(le64_load(file.bytes + 56), 0);
    assert_int_equal(le64_load(file.bytes + 72), before + 7);
    assert_int_equal(tamis_states_read(file.bytes, file.n, NULL, &states, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_int_equal(info.conflicts, before + 7);
    tamis_states_free(states);
    le64_store(file.bytes + 56, 7); /* refused removals, in states */
    sample_seal(&file);
    assert_int_equal(tamis_states_read(file.bytes, file.n, NULL, &states, &problem),
                     TAMIS_ERR_CORRUPT);
    free(file.bytes);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    golden_folder = argv[1];
    if (argc > 2) return write_missing();
    struct CMUnitTest tests[COUNT(goldens) + 3];
    for (size_t i = 0; i < COUNT(goldens); i++) {
        tests[i] = (struct CMUnitTest){ goldens[i].file, golden_is_written_and_read_the_same, NULL,
                                        NULL, (void *)(uintptr_t)&goldens[i] };
    }
    tests[COUNT(goldens)] = (struct CMUnitTest)cmocka_unit_test(fields_of_the_header_are_checked);
    tests[COUNT(goldens) + 1] = (struct CMUnitTest)cmocka_unit_test(bodies_are_checked);
    tests[COUNT(goldens) + 2] =
        (struct CMUnitTest)cmocka_unit_test(conflicts_have_a_field_of_their_own);
    return _cmocka_run_group_tests("files of states", tests, COUNT(goldens) + 3, NULL, NULL);
}
