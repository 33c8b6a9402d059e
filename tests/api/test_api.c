/* test_api.c - what the public header says about arguments, statuses and abilities, for any
 * kind. */
#include "make.h"

static tamis_set *set_of(const char *kind) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 100;
    spec.fpr = 0.01;
    spec.kind = kind;
    return make_set_from(&spec);
}

static void null_keys_are_refused(void **state) {
    (void)state;
    tamis_set *const set = set_of("counting");
    tamis_key const  key = { NULL, 3 };
    uint64_t         count;
    size_t           n = 9;
    assert_int_equal(tamis_add(set, NULL, 3), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove(set, NULL, 3), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count(set, NULL, 3, &count), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count(set, "a", 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count_id(set, 1, NULL), TAMIS_ERR_ARGUMENT);
#ifdef NDEBUG /* otherwise it is an assertion */
    assert_false(tamis_has(set, NULL, 3));
#endif
    assert_int_equal(tamis_add_batch(set, &key, 1, &n), TAMIS_ERR_ARGUMENT);
    assert_int_equal(n, 0);
    assert_int_equal(tamis_add_batch(set, NULL, 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_add_id_batch(set, NULL, 1, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_has_batch(set, &key, 1, NULL), 0);
    assert_int_equal(tamis_remove_batch(set, &key, 1, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count_batch(set, &key, 1, &count), TAMIS_ERR_ARGUMENT);
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_int_equal(info.facts.keys, 0);
    tamis_free(set);
}

/* The answers are those of single lookups: entries that are not keys are absent, and the other keys
 * are found. */
static void a_bad_key_in_a_batch_hides_no_other(void **state) {
    (void)state;
    tamis_set *const set = set_of("bloom");
    tamis_key const  keys[] = { { "a", 1 }, { NULL, 4 }, { "b", 1 } };
    bool             has[3] = { false, true, false };
    assert_int_equal(tamis_add(set, "a", 1), TAMIS_OK);
    assert_int_equal(tamis_add(set, "b", 1), TAMIS_OK);
    assert_int_equal(tamis_has_batch(set, keys, 3, has), 2);
    assert_true(has[0] && !has[1] && has[2]);
    tamis_free(set);
}

/* The same seed with two hash functions: the geometry is the same, but the places of keys
 * differ. */
static void sets_of_two_hashes_do_not_merge(void **state) {
    (void)state;
    tamis_seed const seed = { 1, 2 };
    tamis_spec       spec = TAMIS_SPEC_INIT;
    tamis_set       *a = NULL, *b = NULL;
    spec.capacity = 100;
    spec.fpr = 0.01;
    spec.seed = &seed;
    assert_int_equal(tamis_create(&spec, &a, NULL), TAMIS_OK);
    spec.hash = TAMIS_HASH_SIPHASH;
    tamis_status const status = tamis_create(&spec, &b, NULL);
    if (status == TAMIS_OK) assert_int_equal(tamis_merge(a, b), TAMIS_ERR_MISMATCH);
    assert_true(status == TAMIS_OK || status == TAMIS_ERR_NOT_BUILT);
    tamis_free(a);
    tamis_free(b);
}

static void reading_nothing_is_refused(void **state) {
    (void)state;
    tamis_set *set = NULL;
    assert_int_equal(tamis_read(NULL, 0, NULL, &set, NULL), TAMIS_ERR_TRUNCATED);
    assert_null(set);
}

static void the_empty_key_is_a_key(void **state) {
    (void)state;
    tamis_set *const set = set_of("counting");
    assert_false(tamis_has(set, NULL, 0));
    assert_int_equal(tamis_add(set, NULL, 0), TAMIS_OK);
    assert_true(tamis_has(set, "", 0));
    assert_int_equal(tamis_remove(set, "x", 0), TAMIS_OK);
    assert_false(tamis_has(set, NULL, 0));
    tamis_free(set);
}

static void a_null_set_is_refused(void **state) {
    (void)state;
    uint64_t   count;
    tamis_set *set = NULL;
    tamis_info info;
    assert_int_equal(tamis_add(NULL, "a", 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_add_id(NULL, 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove(NULL, "a", 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove_id(NULL, 1), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count(NULL, "a", 1, &count), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count_id(NULL, 1, &count), TAMIS_ERR_ARGUMENT);
#ifdef NDEBUG /* otherwise these are assertions */
    assert_false(tamis_has(NULL, "a", 1));
    assert_false(tamis_has_id(NULL, 1));
    assert_int_equal(tamis_has_batch(NULL, NULL, 0, NULL), 0);
#endif
    assert_int_equal(tamis_add_batch(NULL, NULL, 0, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_remove_batch(NULL, NULL, 0, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_count_batch(NULL, NULL, 0, &count), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_clear(NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_copy(NULL, &set), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_merge(NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_subtract(NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_convert(NULL, "bloom", &set), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_inspect(NULL, &info), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_save(NULL, "x", NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_write(NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_open(NULL, NULL, &set, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_read(NULL, 5, NULL, &set, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_read("", 0, NULL, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_false(tamis_validate(NULL, NULL));
    assert_null(set);
    tamis_free(NULL);
}

static void missing_results_are_refused(void **state) {
    (void)state;
    tamis_set *const set = set_of("bloom");
    assert_int_equal(tamis_copy(set, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_convert(set, NULL, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_inspect(set, NULL), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_merge(set, set), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_save(set, NULL, NULL), TAMIS_ERR_ARGUMENT);
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = 1;
    spec.fpr = 0.1;
    assert_int_equal(tamis_create(&spec, NULL, NULL), TAMIS_ERR_ARGUMENT);
    tamis_free(set);
}

static void what_a_kind_cannot_do_it_says(void **state) {
    (void)state;
    tamis_set *const set = set_of("bloom");
    uint64_t         count = 7;
    assert_int_equal(tamis_remove(set, "a", 1), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_remove_id(set, 1), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_count(set, "a", 1, &count), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_count_id(set, 1, &count), TAMIS_ERR_CANNOT);
    assert_int_equal(count, 7);
    tamis_info info;
    assert_int_equal(tamis_inspect(set, &info), TAMIS_OK);
    assert_int_equal(info.plan.abilities, TAMIS_CAN_MERGE);
    tamis_free(set);
}

/* A 64-bit id and the 8 bytes of the same number are different keys. */
static void bytes_and_ids_are_different_keys(void **state) {
    (void)state;
    tamis_set *const set = set_of("counting");
    uint64_t         both = 0;
    for (uint64_t id = 0; id < 100; id++) assert_int_equal(tamis_add_id(set, id), TAMIS_OK);
    for (uint64_t id = 0; id < 100; id++) both += tamis_has(set, &id, sizeof id);
    assert_true(both < 20); /* 1 is expected at 1% */
    tamis_free(set);
}

/* Random seeds differ, and so do the false positives. A seed that is given is kept. */
static void seeds_are_random_unless_given(void **state) {
    (void)state;
    tamis_set *const a = set_of("bloom"), *const b = set_of("bloom");
    tamis_info in_a, in_b;
    assert_int_equal(tamis_inspect(a, &in_a), TAMIS_OK);
    assert_int_equal(tamis_inspect(b, &in_b), TAMIS_OK);
    assert_true(in_a.facts.seed.low != in_b.facts.seed.low &&
                in_a.facts.seed.high != in_b.facts.seed.high);
    assert_int_equal(tamis_merge(a, b), TAMIS_ERR_MISMATCH);
    tamis_free(a);
    tamis_free(b);
}

/* Sets cannot be merged if their seeds differ in only one half. */
static void every_part_of_the_seed_matters(void **state) {
    (void)state;
    tamis_seed const seeds[] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
    for (unsigned i = 0; i < 3; i++) {
        tamis_spec spec = TAMIS_SPEC_INIT;
        spec.capacity = 1000;
        spec.fpr = 0.01;
        spec.seed = &seeds[i];
        tamis_set *one = NULL, *other = NULL;
        assert_int_equal(tamis_create(&spec, &one, NULL), TAMIS_OK);
        spec.seed = &seeds[(i + 1) % 3];
        assert_int_equal(tamis_create(&spec, &other, NULL), TAMIS_OK);
        assert_int_equal(tamis_merge(one, other), TAMIS_ERR_MISMATCH);
        tamis_free(one);
        tamis_free(other);
    }
}

static void version_is_that_of_the_header(void **state) {
    (void)state;
    int major = -1, minor = -1, patch = -1;
    assert_int_equal(sscanf(tamis_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(major, TAMIS_VERSION_MAJOR);
    assert_int_equal(minor, TAMIS_VERSION_MINOR);
    assert_int_equal(patch, TAMIS_VERSION_PATCH);
}

static void a_mapped_set_cannot_be_changed(void **state) {
    (void)state;
    tamis_set *const   set = set_of("counting");
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *mapped = NULL, *copy = NULL;
    options.flags = TAMIS_OPEN_MAP;
    assert_int_equal(tamis_add(set, "a", 1), TAMIS_OK);
    assert_int_equal(tamis_save(set, "api.tamis", NULL), TAMIS_OK);
    assert_int_equal(tamis_open("api.tamis", &options, &mapped, NULL), TAMIS_OK);
    assert_true(tamis_has(mapped, "a", 1));
    assert_int_equal(tamis_add(mapped, "b", 1), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_remove(mapped, "a", 1), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_add_id_batch(mapped, NULL, 0, NULL), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_clear(mapped), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_merge(mapped, set), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_merge(set, mapped), TAMIS_OK);
    assert_int_equal(tamis_copy(mapped, &copy), TAMIS_OK);
    assert_int_equal(tamis_add(copy, "b", 1), TAMIS_OK);
    assert_true(tamis_has(copy, "a", 1));
    tamis_free(set);
    tamis_free(mapped);
    tamis_free(copy);
    assert_int_equal(remove("api.tamis"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_keys_are_refused),
        cmocka_unit_test(a_bad_key_in_a_batch_hides_no_other),
        cmocka_unit_test(sets_of_two_hashes_do_not_merge),
        cmocka_unit_test(reading_nothing_is_refused),
        cmocka_unit_test(the_empty_key_is_a_key),
        cmocka_unit_test(a_null_set_is_refused),
        cmocka_unit_test(missing_results_are_refused),
        cmocka_unit_test(what_a_kind_cannot_do_it_says),
        cmocka_unit_test(bytes_and_ids_are_different_keys),
        cmocka_unit_test(seeds_are_random_unless_given),
        cmocka_unit_test(every_part_of_the_seed_matters),
        cmocka_unit_test(version_is_that_of_the_header),
        cmocka_unit_test(a_mapped_set_cannot_be_changed),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
