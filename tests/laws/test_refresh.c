/* test_refresh.c - tamis_refresh: fingerprints become longer again, all or none. */
#include "subject.h"

#define KEYS 3000
#define TURNS 20

static const subject lean = { .kind = "ddlcbf",
                              .capacity = KEYS,
                              .geometry = "buckets=128,remainder_bits=14,bucket_bytes=16" };
static const subject wide = { .kind = "ddlcbf",
                              .capacity = KEYS,
                              .geometry = "buckets=128,remainder_bits=14,bucket_bytes=40" };

/* A set through which keys have gone, and which holds the last KEYS of them. */
static tamis_set *lived(const subject *variant) {
    tamis_set *const set = make_set(variant, 1);
    replace_ids(set, KEYS, TURNS * KEYS);
    return set;
}

/* The set is as good as a new one, has all keys, and every key can be removed. */
static void expect_refreshed(tamis_set *set, const tamis_set *fuller) {
    double const before = inspect(set).current_fpr;
    assert_int_equal(tamis_refresh(set, fuller), TAMIS_OK);
    assert_true(inspect(set).current_fpr < 0.8 * before);
    assert_true(tamis_validate(set, NULL));
    expect_ids(set, (TURNS - 1) * KEYS, KEYS);
    remove_ids(set, (TURNS - 1) * KEYS, KEYS);
    for (uint64_t i = 0; i < set->table.body_bytes; i++) assert_int_equal(set->table.body[i], 0);
}

static void set_is_refreshed_from_its_keys(void **state) {
    (void)state;
    tamis_set *const set = lived(&lean), *const again = make_set(&lean, 1);
    add_ids(again, (TURNS - 1) * KEYS, KEYS);
    expect_refreshed(set, again);
    tamis_free(set);
    tamis_free(again);
}

static void set_is_refreshed_from_a_wider_copy(void **state) {
    (void)state;
    tamis_set *const set = lived(&lean), *const copy = lived(&wide);
    expect_refreshed(set, copy);
    tamis_free(set);
    tamis_free(copy);
}

static void expect_refused(tamis_set *set, const tamis_set *from, tamis_status status) {
    tamis_set *before = NULL;
    assert_int_equal(tamis_copy(set, &before), TAMIS_OK);
    assert_int_equal(tamis_refresh(set, from), status);
    assert_memory_equal(set->table.body, before->table.body, set->table.body_bytes);
    assert_int_equal(set->table.keys, before->table.keys);
    tamis_free(before);
}

static void sets_that_hold_other_keys_are_refused(void **state) {
    (void)state;
    tamis_set *const set = lived(&lean), *const again = make_set(&lean, 1);
    add_ids(again, (TURNS - 1) * KEYS, KEYS - 1);
    expect_refused(set, again, TAMIS_ERR_MISMATCH); /* one is missing */
    add_ids(again, 5, 1);
    expect_refused(set, again, TAMIS_ERR_MISMATCH); /* one is another */
    assert_int_equal(tamis_remove_id(again, 5), TAMIS_OK);
    add_ids(again, TURNS * KEYS - 1, 1);
    assert_int_equal(tamis_refresh(set, again), TAMIS_OK);
    add_ids(again, TURNS * KEYS - 1, 1);
    expect_refused(set, again, TAMIS_ERR_MISMATCH); /* one is there twice */
    tamis_free(set);
    tamis_free(again);
}

static void sets_that_are_not_alike_are_refused(void **state) {
    (void)state;
    subject const    other = { .kind = "ddlcbf",
                               .capacity = KEYS,
                               .geometry = "buckets=129,remainder_bits=14,bucket_bytes=16" };
    subject const    counting = { .kind = "counting", .capacity = KEYS, .fpr = 0.01 };
    tamis_set *const set = make_set(&lean, 1), *const seed = make_set(&lean, 2);
    tamis_set *const size = make_set(&other, 1), *const kind = make_set(&counting, 1);
    assert_int_equal(tamis_refresh(set, seed), TAMIS_ERR_MISMATCH);
    assert_int_equal(tamis_refresh(set, size), TAMIS_ERR_MISMATCH);
    assert_int_equal(tamis_refresh(set, kind), TAMIS_ERR_MISMATCH);
    assert_int_equal(tamis_refresh(kind, set), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_refresh(set, set), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_refresh(NULL, set), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_refresh(set, NULL), TAMIS_ERR_ARGUMENT);
    tamis_free(set);
    tamis_free(seed);
    tamis_free(size);
    tamis_free(kind);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_is_refreshed_from_its_keys),
        cmocka_unit_test(set_is_refreshed_from_a_wider_copy),
        cmocka_unit_test(sets_that_hold_other_keys_are_refused),
        cmocka_unit_test(sets_that_are_not_alike_are_refused),
    };
    return cmocka_run_group_tests_name("refresh", tests, NULL, NULL);
}
