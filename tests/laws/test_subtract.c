/* test_subtract.c - tamis_subtract() case by case; the law for all kinds is in set_laws.c. */
#include "subject.h"
#include "temporary.h"

#include <time.h>

#define KEYS 300

/* Every kind that can subtract, with counts, and with so low a rate that no error occurs. */
static const subject kinds[] = {
    { .kind = "counting", .fpr = 1e-9 },
    { .kind = "counting", .geometry = "counters=12800,hashes=9,counter_bits=4,blocked=1" },
    { .kind = "vicbf", .fpr = 1e-9 },
    { .kind = "bhcbf", .fpr = 1e-9 },
    { .kind = "mlcbf", .fpr = 1e-9 },
    { .kind = "line", .fpr = 1e-9 },
    { .kind = "rank", .fpr = 1e-9 },
    { .kind = "dlcbf", .fpr = 1e-7 },
};

static tamis_set *make(const subject *like, uint64_t seed) {
    subject variant = *like;
    variant.capacity = KEYS;
    variant.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE;
    return make_set(&variant, seed);
}

/* Key i has i % 4 copies. Of these i % 3 are subtracted, or all if there are fewer. */
static void copies_are_subtracted(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tamis_set *const into = make(&kinds[k], 1), *const from = make(&kinds[k], 1);
        uint64_t left = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t const there = i % 4, taken = there < i % 3 ? there : i % 3;
            add_copies(into, i, (unsigned)there);
            add_copies(from, i, (unsigned)taken);
            left += there - taken;
        }
        assert_int_equal(tamis_subtract(into, from), TAMIS_OK);
        if (into->table.keys != left)
            fail_msg("%s: %llu keys are left, not %llu", kinds[k].kind,
                     (unsigned long long)into->table.keys, (unsigned long long)left);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t const there = i % 4, taken = there < i % 3 ? there : i % 3;
            assert_int_equal(copies_of(into, i), there - taken);
        }
        assert_true(tamis_validate(into, NULL));
        tamis_free(into);
        tamis_free(from);
    }
}

/* One copy too many, of the last of many keys. */
static void one_copy_too_many_is_refused_and_changes_nothing(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tamis_set *const into = make(&kinds[k], 1), *const from = make(&kinds[k], 1), *copy = NULL;
        for (uint64_t i = 0; i < KEYS; i++) {
            add_copies(into, i, 2);
            add_copies(from, i, i == KEYS - 1 ? 3 : 2);
        }
        assert_int_equal(tamis_copy(into, &copy), TAMIS_OK);
        assert_int_equal(tamis_subtract(into, from), TAMIS_ERR_ABSENT);
        assert_memory_equal(into->table.body, copy->table.body, into->table.body_bytes);
        assert_int_equal(into->table.keys, copy->table.keys);
        assert_int_equal(into->table.refused_removes, 0);
        assert_int_equal(tamis_remove_id(from, KEYS - 1), TAMIS_OK);
        assert_int_equal(tamis_subtract(into, from), TAMIS_OK);
        assert_int_equal(into->table.keys, 0);
        tamis_free(into);
        tamis_free(from);
        tamis_free(copy);
    }
}

/* Saturated keys stay. If a key is saturated only in the set that is subtracted, that is
 * refused. */
static void saturated_keys_stay_when_subtracted(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tamis_set *const into = make(&kinds[k], 1), *const flood = make(&kinds[k], 1);
        tamis_set *const one = make(&kinds[k], 1);
        add_copies(flood, 7, 5000);
        assert_int_equal(copies_of(flood, 7), TAMIS_COUNT_MANY);
        add_copies(into, 7, 3);
        add_copies(one, 7, 1);
        assert_int_equal(tamis_subtract(into, flood), TAMIS_ERR_ABSENT);
        assert_int_equal(copies_of(into, 7), 3);
        add_copies(into, 7, 5000);
        assert_int_equal(tamis_subtract(into, one), TAMIS_OK);
        assert_int_equal(tamis_subtract(into, flood), TAMIS_OK);
        assert_int_equal(copies_of(into, 7), TAMIS_COUNT_MANY);
        assert_true(tamis_validate(into, NULL));
        tamis_free(into);
        tamis_free(flood);
        tamis_free(one);
    }
}

/* Counters of 24 bits count to 16,777,214. Removing so many copies of each key one by one would
 * take a minute. */
static void millions_of_copies_are_subtracted_at_once(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t const most = 16000000;
        tamis_spec     spec = TAMIS_SPEC_INIT;
        tamis_set     *from = NULL;
        uint64_t       left;
        spec.kind = i % 2 != 0 ? "rank" : "line";
        spec.capacity = 3000;
        spec.grow_to = i < 2 ? 0 : 24000;
        spec.fpr = 1e-6;
        spec.abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE;
        spec.count_to = most;
        tamis_set *const into = make_set_from(&spec);
        uint64_t         n = 0;
        while (i < 2 ? n < 2800 : !inspect(into).facts.is_growing)
            assert_int_equal(tamis_add_copies_id(into, n++, most), TAMIS_OK);
        assert_true(n > 100);
        assert_int_equal(tamis_copy(into, &from), TAMIS_OK);
        assert_int_equal(tamis_add_copies_id(into, 1, 2), TAMIS_OK);
        assert_int_equal(tamis_remove_id(from, 2), TAMIS_OK);
        clock_t const begin = clock();
        assert_int_equal(tamis_subtract(from, into), TAMIS_ERR_ABSENT);
        assert_int_equal(tamis_subtract(into, from), TAMIS_OK);
        assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
        for (uint64_t id = 0; id < n; id++) {
            assert_int_equal(tamis_count_id(into, id, &left), TAMIS_OK);
            assert_int_equal(left, id == 1 ? 2 : id == 2);
        }
        expect_valid(into);
        assert_int_equal(inspect(into).facts.keys, 3);
        tamis_free(into);
        tamis_free(from);
    }
}

static void sets_that_are_not_alike_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tamis_set *const set = make(&kinds[k], 1), *const seed = make(&kinds[k], 2);
        tamis_set *const kind = make(&kinds[(k + 2) % COUNT(kinds)], 1);
        assert_int_equal(tamis_subtract(set, seed), TAMIS_ERR_MISMATCH);
        assert_int_equal(tamis_subtract(set, kind), TAMIS_ERR_MISMATCH);
        assert_int_equal(tamis_subtract(set, set), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_subtract(set, NULL), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_subtract(NULL, set), TAMIS_ERR_ARGUMENT);
        tamis_free(set);
        tamis_free(seed);
        tamis_free(kind);
    }
}

/* Kinds that cannot remove, or that store more than a print. */
static void kinds_that_cannot_subtract_are_refused(void **state) {
    (void)state;
    static const subject others[] = {
        { .kind = "bloom", .capacity = KEYS, .fpr = .01 },
        { .kind = "dlbf", .capacity = KEYS, .fpr = .01 },
        { .kind = "line", .capacity = KEYS, .fpr = .01 }, /* a set, without copies */
        { .kind = "ddlcbf", .capacity = KEYS, .fpr = .01, .abilities = TAMIS_CAN_REMOVE },
        { .kind = "counting", .capacity = KEYS, .geometry = "counters=999,minimal=1" },
        { .kind = "rank", .capacity = KEYS, .geometry = "remainder_bits=8,copies=8,value_bits=9" },
    };
    for (size_t k = 0; k < COUNT(others); k++) {
        tamis_set *const a = make_set(&others[k], 1), *const b = make_set(&others[k], 1);
        if (tamis_subtract(a, b) != TAMIS_ERR_CANNOT) fail_msg("%s", others[k].kind);
        tamis_free(a);
        tamis_free(b);
    }
}

/* A mapped set can be subtracted from another, but nothing can be subtracted from it. */
static void mapped_sets_are_only_read(void **state) {
    (void)state;
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *mapped = NULL;
    tamis_set *const   set = make(&kinds[2], 1);
    temporary const    file = temporary_file();
    options.flags = TAMIS_OPEN_MAP;
    add_copies(set, 1, 2);
    assert_int_equal(tamis_save(set, file.path, NULL), TAMIS_OK);
    assert_int_equal(tamis_open(file.path, &options, &mapped, NULL), TAMIS_OK);
    assert_int_equal(tamis_subtract(mapped, set), TAMIS_ERR_READ_ONLY);
    assert_int_equal(tamis_subtract(set, mapped), TAMIS_OK);
    assert_int_equal(set->table.keys, 0);
    temporary_remove(&file);
    tamis_free(mapped);
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_subtracted),
        cmocka_unit_test(one_copy_too_many_is_refused_and_changes_nothing),
        cmocka_unit_test(saturated_keys_stay_when_subtracted),
        cmocka_unit_test(millions_of_copies_are_subtracted_at_once),
        cmocka_unit_test(sets_that_are_not_alike_are_refused),
        cmocka_unit_test(kinds_that_cannot_subtract_are_refused),
        cmocka_unit_test(mapped_sets_are_only_read),
    };
    return _cmocka_run_group_tests("subtract", tests, COUNT(tests), NULL, NULL);
}
