/* test_states_files.c - files of states: of earlier versions, and made by an attacker.
 *
 * usage: test_states_files FOLDER            compare with the golden files in the folder
 *        test_states_files FOLDER --write    write those that are missing; never over an old one
 */
#include "sample.h"

#include <sys/stat.h>

static const char *folder;

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
    tamis_seed const  seed = { UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210) };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = KEYS;
    spec.values = g->values;
    spec.timeout = g->timeout;
    spec.kind = g->kind;
    spec.geometry = g->geometry;
    spec.overflow = 0.9;
    spec.unknown = 0.5;
    spec.seed = &seed;
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

static buffer golden_write(const golden *g) {
    tamis_states *const states = golden_make(g);
    buffer              file = { NULL, 0 };
    assert_int_equal(tamis_states_write(states, buffer_write, &file), TAMIS_OK);
    tamis_states_free(states);
    return file;
}

static void golden_is_written_and_read_the_same(void **state) {
    const golden *const g = *state;
    char                path[500];
    tamis_states       *states = NULL;
    const char         *why = "";
    (void)snprintf(path, sizeof path, "%s/%s", folder, g->file);
    buffer const now = golden_write(g), then = buffer_read(path);
    assert_int_equal(now.n, then.n);
    assert_memory_equal(now.bytes, then.bytes, now.n);
    assert_int_equal(tamis_states_read(then.bytes, then.n, NULL, &states, NULL), TAMIS_OK);
    if (!tamis_states_validate(states, &why)) fail_msg("%s", why);
    tamis_states_free(states);
    free(now.bytes);
    free(then.bytes);
}

static int write_missing(void) {
    for (size_t i = 0; i < COUNT(goldens); i++) {
        char        path[500];
        struct stat old;
        (void)snprintf(path, sizeof path, "%s/%s", folder, goldens[i].file);
        if (stat(path, &old) == 0) continue;
        buffer const now = golden_write(&goldens[i]);
        FILE *const  file = fopen(path, "wb");
        if (file == NULL || fwrite(now.bytes, 1, now.n, file) != now.n || fclose(file) != 0) {
            return 1;
        }
        free(now.bytes);
    }
    return 0;
}

/* ------------------------------------------------------------------ crafted ones */

static unsigned n_accepted, n_refused;

/* A table that was accepted must survive operations on it. */
static void use(tamis_states *states) {
    uint64_t backlog;
    for (uint64_t i = 0; i < 300; i++) {
        uint32_t value;
        (void)!tamis_states_put_id(states, i, 1);
        (void)!tamis_states_get_id(states, i * 3, &value);
        (void)!tamis_states_move_id(states, i * 5, TAMIS_ANY_VALUE, 0);
        (void)!tamis_states_touch_id(states, i * 2);
        (void)!tamis_states_drop_id(states, i * 7, TAMIS_ANY_VALUE);
        if (i % 20 == 0) (void)!tamis_states_tick(states, i, NULL, &backlog);
    }
    tamis_states_info info;
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    assert_true(tamis_states_validate(states, NULL));
}

/* Read it as a user would. */
static void try_file(buffer *file) {
    sample_seal(file);
    tamis_states      *states = NULL;
    tamis_status const status = tamis_states_read(file->bytes, file->n, NULL, &states, NULL);
    if (status == TAMIS_OK) use(states);
    n_accepted += status == TAMIS_OK;
    n_refused += status != TAMIS_OK;
    tamis_states_free(states);
}

static void fields_of_the_header_are_checked(void **state) {
    static const uint64_t extremes[] = {
        0, 1, 2, 3, 15, UINT64_C(1) << 31, UINT64_C(1) << 33, UINT64_C(1) << 57, UINT64_MAX
    };
    (void)state;
    n_accepted = n_refused = 0;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        buffer file = golden_write(&goldens[i]);
        for (unsigned at = 48; at < 384; at += 8) {
            uint64_t const good = le64_load(file.bytes + at);
            for (size_t k = 0; k < COUNT(extremes); k++) {
                le64_store(file.bytes + at, extremes[k]);
                try_file(&file);
            }
            le64_store(file.bytes + at, good);
        }
        free(file.bytes);
    }
    assert_true(n_accepted > 20 && n_refused > 500);
}

static void bodies_are_checked(void **state) {
    dice chance = { 1 };
    (void)state;
    n_accepted = n_refused = 0;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        buffer const good = golden_write(&goldens[i]);
        buffer       file = { malloc(good.n), good.n };
        size_t const body = (size_t)le64_load(good.bytes + 128 + 16);
        assert_non_null(file.bytes);
        for (unsigned k = 0; k < 3000; k++) {
            memcpy(file.bytes, good.bytes, good.n);
            for (uint64_t n = dice_below(&chance, 3) + 1; n != 0; n--) {
                file.bytes[SAMPLE_HEADER + dice_below(&chance, body)] ^=
                    (uint8_t)dice_roll(&chance);
            }
            try_file(&file);
        }
        free(good.bytes);
        free(file.bytes);
    }
    assert_true(n_refused > 1000);
}

/* Conflicts of states and refused removals of sets are two fields: states have 0 in the second,
 * sets in the first. */
static void conflicts_have_a_field_of_their_own(void **state) {
    buffer            file = { NULL, 0 };
    tamis_states_info info;
    tamis_problem     problem;
    (void)state;
    tamis_states *states = golden_make(&goldens[0]);
    assert_int_equal(tamis_states_inspect(states, &info), TAMIS_OK);
    uint64_t const before = info.conflicts;
    assert_int_equal(tamis_states_put_id(states, 1000, 3), TAMIS_OK);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(tamis_states_put_id(states, 1000, 4), TAMIS_ERR_CONFLICT);
    assert_int_equal(tamis_states_write(states, buffer_write, &file), TAMIS_OK);
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
    folder = argv[1];
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
