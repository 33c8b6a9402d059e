/* test_changes.c - bulk adds and removals lead to the same bytes as single ones. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

static void test_histories(void **unused) {
    (void)unused;
    pair_history("buckets=100,remainder_bits=8,counter_bits=0,copies=1,attic=500", 6000, 6);
    pair_history("buckets=100,remainder_bits=8,counter_bits=0,copies=8,attic=1500", 3000, 12);
    pair_history("buckets=83,remainder_bits=8,counter_bits=0,copies=2,attic=900", 4000, 9);
    pair_history("buckets=100,remainder_bits=15,counter_bits=0,copies=8,attic=1500", 3000, 9);
    pair_history("buckets=90,remainder_bits=8,counter_bits=4,copies=1,attic=1500", 5000, 9);
    pair_history("buckets=90,remainder_bits=17,counter_bits=9,copies=1,attic=1500", 5000, 9);
    pair_history("buckets=49,remainder_bits=40,counter_bits=14,copies=1,attic=700", 2500, 9);
    pair_history("buckets=1,remainder_bits=9,counter_bits=0,copies=8,attic=300", 200, 9);
    pair_history("buckets=16,remainder_bits=8,counter_bits=0,copies=8,attic=0", 500, 9);
}

/* Lines that are so full that their groups need more shared memory than usual, and tails of a
 * hundred entries. */
static void test_crowds(void **unused) {
    (void)unused;
    pair_history("buckets=16,remainder_bits=12,counter_bits=0,copies=1,attic=4000", 7000, 5);
    pair_history("buckets=32,remainder_bits=8,counter_bits=0,copies=8,attic=4000", 2500, 9);
    pair_history("buckets=20,remainder_bits=20,counter_bits=6,copies=1,attic=4000", 4500, 9);
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
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec spec = pair_spec("line", geometries[g], 2000);
        pair       both = pair_make(&spec);
        dice       chance = { 1 };
        for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i % 3 == 0 ? i % 1000 : 77 + i % 2;
        assert_true(pair_add(&both, ids, PAIR_MOST, 0));
        pair_compare(&both);
        for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = dice_below(&chance, 4) == 0 ? i % 1500 : 77;
        if (g != 0) pair_remove(&both, ids, PAIR_MOST, 0);
        pair_compare(&both);
        for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = 78;
        assert_true(pair_add(&both, ids, PAIR_MOST, 0));
        pair_compare(&both);
        pair_free(&both);
    }
    free(ids);
}

/* A refused call has changed no byte. */
static void test_refused(void **unused) {
    (void)unused;
    static const char *const geometries[] = {
        "buckets=64,remainder_bits=8,counter_bits=0,copies=8,attic=20",
        "buckets=64,remainder_bits=14,counter_bits=5,copies=1,attic=20",
        "buckets=1,remainder_bits=14,counter_bits=0,copies=1,attic=100000", /* a tail of 201 */
    };
    uint64_t *const ids = malloc(8 * PAIR_MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec   spec = pair_spec("line", geometries[g], 2000);
        pair         both = pair_make(&spec);
        size_t const n = g == 2 ? 150 : 1500;
        for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i;
        assert_true(pair_add(&both, ids, n, 0));
        assert_false(pair_add(&both, ids, PAIR_MOST, 0));
        assert_false(pair_add(&both, ids + n, PAIR_MOST - n, 0));
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
    uint64_t *const          ids = malloc(8 * PAIR_MOST);
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        tamis_spec spec = pair_spec("bloom", geometries[g], 5000);
        pair       both = pair_make(&spec);
        for (size_t i = 0; i < PAIR_MOST; i++) ids[i] = i % 6000;
        assert_true(pair_add(&both, ids, 3000, 0));
        pair_compare_body(&both);
        assert_true(pair_add(&both, ids, PAIR_MOST, TAMIS_GPU_HOST));
        pair_compare_body(&both);
        tamis_gpu_keys const keys = pair_keys(&both, ids, 10, 0);
        assert_int_equal(tamis_gpu_remove(both.there, &keys, NULL, NULL), TAMIS_ERR_CANNOT);
        pair_free(&both);
    }
    free(ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories), cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_floods),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_blooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
