/* test_changes.c - bulk adds and removals leave the bytes that single ones leave. */
#include "emulator.h"
#include "pair.h"
#include "set.h"

#include <stdlib.h>
#include <string.h>

#define MOST 20000

/* Add to both. If the set here refuses one key, the one on the GPU must refuse all. */
static bool add_to_both(pair *both, const uint64_t *ids, size_t n, unsigned flags) {
    tamis_set           *before;
    tamis_problem        problem = { 0 };
    tamis_gpu_keys const keys = pair_keys(ids, n, flags);
    assert_int_equal(tamis_copy(both->here, &before), TAMIS_OK);
    tamis_status const status = tamis_add_id_batch(both->here, ids, n, NULL);
    tamis_status const there = tamis_gpu_add(both->there, &keys, &problem);
    if (there != status) fail_msg("%d here, %d there: %s", status, there, problem.text);
    if (status == TAMIS_OK) {
        tamis_free(before);
    } else {
        tamis_free(both->here);
        both->here = before;
    }
    return status == TAMIS_OK;
}

static void remove_from_both(pair *both, const uint64_t *ids, size_t n, unsigned flags) {
    tamis_gpu_keys const keys = pair_keys(ids, n, flags);
    tamis_removal        here, there;
    assert_int_equal(tamis_remove_id_batch(both->here, ids, n, NULL, &here), TAMIS_OK);
    assert_int_equal(tamis_gpu_remove(both->there, &keys, &there, NULL), TAMIS_OK);
    assert_int_equal(here.removed, there.removed);
    assert_int_equal(here.absent, there.absent);
    assert_int_equal(here.saturated, there.saturated);
}

/* Rounds of adds and removals of ids from a pool, most of them once and some often. */
static void try_history(const char *geometry, size_t pool, unsigned rounds) {
    tamis_spec spec = pair_spec("line", geometry, pool);
    uint64_t state = pool, *const ids = malloc(8 * MOST);
    pair       both = pair_make(&spec);
    bool       refused = false; /* then the counts of refusals differ */
    bool const can_remove =
        strstr(geometry, "copies=1,") == NULL || strstr(geometry, "counter_bits=0") == NULL;
    for (unsigned round = 0; round < rounds; round++) {
        size_t const n = 1 + (size_t)(pair_random(&state) % (pool / 2));
        for (size_t i = 0; i < n; i++) {
            uint64_t const id = pair_random(&state);
            ids[i] = id % 5 == 0 ? id / 5 % 20 : id / 5 % pool;
        }
        if (round % 3 == 2 && can_remove)
            remove_from_both(&both, ids, n, round % 2 ? TAMIS_GPU_HOST : 0);
        else if (!add_to_both(&both, ids, n, round % 2 ? TAMIS_GPU_HOST : 0))
            refused = true;
        if (refused)
            pair_compare_body(&both);
        else
            pair_compare(&both);
    }
    pair_ask(&both, ids, 500);
    pair_free(&both);
    free(ids);
}

static void test_histories(void **unused) {
    (void)unused;
    try_history("buckets=100,remainder_bits=8,counter_bits=0,copies=1,attic=500", 6000, 6);
    try_history("buckets=100,remainder_bits=8,counter_bits=0,copies=8,attic=1500", 3000, 12);
    try_history("buckets=83,remainder_bits=8,counter_bits=0,copies=2,attic=900", 4000, 9);
    try_history("buckets=100,remainder_bits=15,counter_bits=0,copies=8,attic=1500", 3000, 9);
    try_history("buckets=90,remainder_bits=8,counter_bits=4,copies=1,attic=1500", 5000, 9);
    try_history("buckets=90,remainder_bits=17,counter_bits=9,copies=1,attic=1500", 5000, 9);
    try_history("buckets=49,remainder_bits=40,counter_bits=14,copies=1,attic=700", 2500, 9);
    try_history("buckets=1,remainder_bits=9,counter_bits=0,copies=8,attic=300", 200, 9);
    try_history("buckets=16,remainder_bits=8,counter_bits=0,copies=8,attic=0", 500, 9);
}

/* Lines so full that groups need more shared memory than most, and tails of a hundred entries. */
static void test_crowds(void **unused) {
    (void)unused;
    try_history("buckets=16,remainder_bits=12,counter_bits=0,copies=1,attic=4000", 7000, 5);
    try_history("buckets=32,remainder_bits=8,counter_bits=0,copies=8,attic=4000", 2500, 9);
    try_history("buckets=20,remainder_bits=20,counter_bits=6,copies=1,attic=4000", 4500, 9);
}

/* A block of compute capability 7.5 has 64 KiB of shared memory. That is enough for tables without
 * rests, and for lines with rests that are not crowded. */
static void test_little_shared_memory(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=16,remainder_bits=12,counter_bits=0,copies=1,attic=4000", 0);
    pair            both = pair_make(&spec);
    uint64_t *const ids = malloc(8 * MOST);
    tamis_problem   problem = { 0 };
    emulator_shared = UINT64_C(64) << 10;
    for (size_t i = 0; i < MOST; i++) ids[i] = i;
    assert_true(add_to_both(&both, ids, 900, 0));
    tamis_gpu_keys const more = pair_keys(ids, 2000, 0);
    assert_int_equal(tamis_gpu_add(both.there, &more, &problem), TAMIS_ERR_CANNOT);
    assert_non_null(strstr(problem.text, "shared memory"));
    pair_compare(&both);
    pair_free(&both);
    try_history("buckets=32,remainder_bits=8,counter_bits=0,copies=8,attic=4000", 2500, 9);
    emulator_shared = UINT64_C(227) << 10;
    free(ids);
}

/* A file that is opened with TAMIS_OPEN_TRUST may be damaged. A word of the attic that is of no
 * bucket goes; nothing outside the table is read. */
static void test_damaged_attic(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=64,remainder_bits=8,counter_bits=0,copies=8,attic=2000", 0);
    pair            both = pair_make(&spec);
    uint64_t *const ids = malloc(8 * MOST);
    for (size_t i = 0; i < MOST; i++) ids[i] = i;
    assert_true(add_to_both(&both, ids, 4500, 0));
    const lines_shape *const lines = &both.there->table.lines;
    uint8_t *const           words = both.there->table.body + lines->words;
    uint64_t const           before = both.there->attic;
    assert_true(before > 100);
    size_t at = 0;
    while (words[at] == 0) at += lines->word_bits / 8;
    memset(words + at, 0, lines->word_bits / 8);
    words[at] = 1;
    tamis_gpu_keys const one = pair_keys(ids + 5000, 1, 0);
    assert_int_equal(tamis_gpu_add(both.there, &one, NULL), TAMIS_OK);
    assert_true(both.there->attic < before + 1);
    pair_free(&both);
    free(ids);
}

/* A flood of one key, and of two keys of the same chain, among others. */
static void test_floods(void **unused) {
    (void)unused;
    static const char *const geometries[] = {
        "buckets=200,remainder_bits=8,counter_bits=0,copies=1,attic=2000",
        "buckets=200,remainder_bits=8,counter_bits=0,copies=8,attic=2000",
        "buckets=200,remainder_bits=12,counter_bits=15,copies=1,attic=2000",
        "buckets=200,remainder_bits=12,counter_bits=3,copies=1,attic=2000",
    };
    uint64_t *const ids = malloc(8 * MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec spec = pair_spec("line", geometries[g], 2000);
        pair       both = pair_make(&spec);
        uint64_t   state = 1;
        for (size_t i = 0; i < MOST; i++) ids[i] = i % 3 == 0 ? i % 1000 : 77 + i % 2;
        assert_true(add_to_both(&both, ids, MOST, 0));
        pair_compare(&both);
        for (size_t i = 0; i < MOST; i++) ids[i] = pair_random(&state) % 4 == 0 ? i % 1500 : 77;
        if (g != 0) remove_from_both(&both, ids, MOST, 0);
        pair_compare(&both);
        for (size_t i = 0; i < MOST; i++) ids[i] = 78;
        assert_true(add_to_both(&both, ids, MOST, 0));
        pair_compare(&both);
        pair_free(&both);
    }
    free(ids);
}

/* Little memory: keys are taken in pieces, the copy of the body is kept here, and a call that is
 * refused in a later piece has changed nothing. */
static void test_pieces(void **unused) {
    (void)unused;
    tamis_spec spec =
        pair_spec("line", "buckets=400,remainder_bits=8,counter_bits=0,copies=8,attic=60", 17000);
    uint64_t *const ids = malloc(8 * MOST);
    pair            both = pair_make(&spec);
    uint64_t const  body = emulator_used(both.gpu);
    for (size_t i = 0; i < MOST; i++) ids[i] = i;
    emulator_memory = body + 40000;
    assert_true(add_to_both(&both, ids, 16000, 0));
    pair_compare(&both);
    assert_true(add_to_both(&both, ids + 16000, 100, TAMIS_GPU_HOST));
    pair_compare(&both);
    assert_false(add_to_both(&both, ids, MOST, 0));
    assert_int_equal(emulator_used(both.gpu), body);
    emulator_memory = body + 100;
    tamis_gpu_keys const keys = pair_keys(ids, 10, 0);
    assert_int_equal(tamis_gpu_add(both.there, &keys, NULL), TAMIS_ERR_MEMORY);
    emulator_memory = UINT64_C(1) << 40;
    pair_ask(&both, ids, 16100);
    remove_from_both(&both, ids, 16100, 0);
    pair_free(&both);
    free(ids);
}

/* Filling a table takes at most 12 bytes of scratch memory for each key. */
static void test_scratch(void **unused) {
    (void)unused;
    tamis_spec spec = pair_spec("line", NULL, MOST);
    spec.fpr = 0.003;
    spec.abilities = TAMIS_CAN_REMOVE;
    uint64_t *const ids = malloc(8 * MOST);
    pair            both = pair_make(&spec);
    for (size_t i = 0; i < MOST; i++) ids[i] = i;
    uint64_t const before = emulator_used(both.gpu);
    emulator_peak = 0;
    assert_true(add_to_both(&both, ids, MOST, 0));
    assert_true(emulator_peak > before);
    assert_true(emulator_peak - before <= 12 * MOST);
    assert_int_equal(emulator_used(both.gpu), before);
    pair_free(&both);
    free(ids);
}

/* What is refused has changed no byte. */
static void test_refused(void **unused) {
    (void)unused;
    static const char *const geometries[] = {
        "buckets=64,remainder_bits=8,counter_bits=0,copies=8,attic=20",
        "buckets=64,remainder_bits=14,counter_bits=5,copies=1,attic=20",
        "buckets=1,remainder_bits=14,counter_bits=0,copies=1,attic=100000", /* a tail of 201 */
    };
    uint64_t *const ids = malloc(8 * MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec   spec = pair_spec("line", geometries[g], 2000);
        pair         both = pair_make(&spec);
        size_t const n = g == 2 ? 150 : 1500;
        for (size_t i = 0; i < MOST; i++) ids[i] = i;
        assert_true(add_to_both(&both, ids, n, 0));
        assert_false(add_to_both(&both, ids, MOST, 0));
        assert_false(add_to_both(&both, ids + n, MOST - n, 0));
        pair_compare_body(&both);
        pair_ask(&both, ids, n);
        pair_free(&both);
    }
    free(ids);
}

/* Which of the keys mark something new depends on their order, so the counts may differ. */
static void test_blooms(void **unused) {
    (void)unused;
    static const char *const geometries[] = { "bits=60000,hashes=7",
                                              "bits=61440,hashes=8,blocked=1",
                                              "bits=61440,hashes=2,blocked=1" };
    uint64_t *const          ids = malloc(8 * MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec spec = pair_spec("bloom", geometries[g], 5000);
        pair       both = pair_make(&spec);
        for (size_t i = 0; i < MOST; i++) ids[i] = i % 6000;
        assert_true(add_to_both(&both, ids, 3000, 0));
        pair_compare_body(&both);
        assert_true(add_to_both(&both, ids, MOST, TAMIS_GPU_HOST));
        pair_compare_body(&both);
        tamis_gpu_keys const keys = pair_keys(ids, 10, 0);
        assert_int_equal(tamis_gpu_remove(both.there, &keys, NULL, NULL), TAMIS_ERR_CANNOT);
        pair_free(&both);
    }
    free(ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),     cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_floods),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_scratch),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_blooms),        cmocka_unit_test(test_little_shared_memory),
        cmocka_unit_test(test_damaged_attic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
