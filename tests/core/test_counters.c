/* test_counters.c - core/counters.h against counters in a plain array. */
#include "core_units.h"

#include "core/counters.h"

#define MAX_COUNTERS 600
#define BODY_BYTES 2048

/* A table, and the same counters as an array of numbers. */
typedef struct both {
    uint8_t  body[BODY_BYTES];
    uint64_t value[MAX_COUNTERS];
} both;

static sectors any_shape(dice *random) {
    uint64_t const bits = 2 + dice_below(random, 11), per_line = 512 / bits;
    bool const     is_blocked = dice_below(random, 2) == 0;
    uint64_t const lines = 1 + dice_below(random, 2);
    return sectors_make(is_blocked ? lines * per_line : 1 + dice_below(random, MAX_COUNTERS), bits,
                        1, is_blocked);
}

static void expect_same(const sectors *in, const both *b) {
    for (uint64_t i = 0; i < in->counters; i++) {
        assert_int_equal(field_get(b->body, sectors_at(in, i), in->bits), b->value[i]);
    }
    assert_true(sectors_gaps_are_zero(in, b->body, BODY_BYTES));
}

/* Increase random counters by random amounts. Returns how many stick. */
static uint64_t count_up(const sectors *in, both *b, unsigned times, dice *random) {
    counters const all = counters_of(in, b->body);
    uint64_t       stuck = 0, expected = 0;
    for (unsigned t = 0; t < times; t++) {
        uint64_t const i = dice_below(random, in->counters), amount = dice_below(random, 9);
        bool const     was_stuck = b->value[i] == all.top;
        assert_int_equal(counters_up(all, sectors_at(in, i), amount, &stuck), !was_stuck);
        b->value[i] = min_u64(b->value[i] + amount, all.top);
        expected += !was_stuck && b->value[i] == all.top;
    }
    assert_int_equal(stuck, expected);
    expect_same(in, b);
    return stuck;
}

static void counters_count_and_stick(void **state) {
    (void)state;
    dice     random = dice_start();
    uint64_t stuck = 0;
    for (unsigned round = 0; round < 300; round++) {
        both           b = { .body = { 0 } };
        sectors const  in = any_shape(&random);
        counters const all = counters_of(&in, b.body);
        stuck += count_up(&in, &b, 300, &random);
        for (unsigned t = 0; t < 300; t++) {
            uint64_t const i = dice_below(&random, in.counters), value = b.value[i];
            uint64_t const amount = dice_below(&random, value + 1);
            assert_int_equal(counters_down(all, sectors_at(&in, i), amount), value != all.top);
            if (value != all.top) b.value[i] -= amount;
        }
        expect_same(&in, &b);
    }
    assert_true(stuck > 1000);
}

static bool only_this_can_be(const void *context, uint64_t rest) {
    return rest == *(const uint64_t *)context;
}

/* A table that was added to another can be subtracted again. Then the counters are as before,
 * except for those that stuck meanwhile. */
static void counters_of_tables_are_added_and_taken_out(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 300; round++) {
        both           a = { .body = { 0 } }, b = { .body = { 0 } };
        sectors const  in = any_shape(&random);
        uint64_t const top = bits_low(in.bits);
        uint64_t       expected = 0;
        (void)count_up(&in, &a, 200, &random);
        (void)count_up(&in, &b, 200, &random);
        both const before = a;
        for (uint64_t i = 0; i < in.counters; i++) {
            a.value[i] = min_u64(a.value[i] + b.value[i], top);
            expected += a.value[i] == top && before.value[i] != top;
        }
        assert_int_equal(counters_add_all(&in, a.body, b.body), expected);
        expect_same(&in, &a);
        assert_true(counters_hold_all(&in, a.body, b.body, NULL, NULL));
        counters_take_all(&in, a.body, b.body);
        for (uint64_t i = 0; i < in.counters; i++) {
            if (a.value[i] != top) a.value[i] = before.value[i];
        }
        expect_same(&in, &a);
    }
}

static void counters_do_not_hold_what_is_more(void **state) {
    (void)state;
    both           a = { .body = { 0 } }, b = { .body = { 0 } };
    sectors const  in = sectors_make(30, 4, 1, false);
    uint64_t const two = 2;
    field_set(a.body, 4 * 7, 4, 5);
    field_set(b.body, 4 * 7, 4, 3);
    assert_true(counters_hold_all(&in, a.body, b.body, NULL, NULL));
    assert_false(counters_hold_all(&in, a.body, b.body, only_this_can_be, &two)); /* others: 0 */
    field_set(b.body, 4 * 7, 4, 6);
    assert_false(counters_hold_all(&in, a.body, b.body, NULL, NULL));
    field_set(b.body, 4 * 7, 4, 15); /* stuck alone */
    assert_false(counters_hold_all(&in, a.body, b.body, NULL, NULL));
    field_set(a.body, 4 * 7, 4, 15); /* both: it stays */
    assert_true(counters_hold_all(&in, a.body, b.body, NULL, NULL));
    counters_take_all(&in, a.body, b.body);
    assert_int_equal(field_get(a.body, 4 * 7, 4), 15);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counters_count_and_stick),
    cmocka_unit_test(counters_of_tables_are_added_and_taken_out),
    cmocka_unit_test(counters_do_not_hold_what_is_more),
};

CORE_EXPORT(counters)
