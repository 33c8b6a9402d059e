/* test_numbered.c - kinds/mlcbf/numbered.h compared with counting all sums. */
#include "core_units.h"

#include "kinds/mlcbf/numbered.h"

#define REACH 3000

static const uint64_t masks[] = { 2, 0xf0, 0xd100, 0xd9000000, UINT64_C(3) << 30, 0x60000000 | 2 };

/* Every sum, found from those below it, and its number. */
static void check_numbers(uint64_t mask) {
    numbered const numbers = numbered_make(mask, false);
    static bool    is_sum[REACH];
    uint64_t       number = 0;
    for (uint64_t c = 0; c < REACH; c++) {
        is_sum[c] = c == 0;
        for (uint64_t v = 1; v < 32 && v <= c; v++) {
            if ((mask >> v & 1) != 0 && is_sum[c - v]) is_sum[c] = true;
        }
        assert_int_equal(increments_make_up(&numbers.d, c), is_sum[c]);
        if (!is_sum[c]) continue;
        assert_int_equal(numbered_number(&numbers, c), number);
        assert_int_equal(numbered_value(&numbers, number), c);
        number++;
    }
}

static void numbers_and_sums_are_inverse(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(masks); i++) check_numbers(masks[i]);
}

static void plain_counters_are_their_own_numbers(void **state) {
    (void)state;
    numbered const numbers = numbered_make(0xd100, true);
    for (uint64_t c = 0; c < REACH; c++) {
        assert_int_equal(numbered_number(&numbers, c), c);
        assert_int_equal(numbered_value(&numbers, c), c);
    }
}

static void four_bits_reach_as_far_as_five_did(void **state) {
    (void)state;
    numbered const numbers = numbered_make(0xd100, false);
    assert_int_equal(numbered_number(&numbers, 31), 15);
    assert_int_equal(numbered_value(&numbers, 15), 31);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_and_sums_are_inverse),
    cmocka_unit_test(plain_counters_are_their_own_numbers),
    cmocka_unit_test(four_bits_reach_as_far_as_five_did),
};

CORE_EXPORT(numbered)
