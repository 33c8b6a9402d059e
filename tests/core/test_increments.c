/* test_increments.c - core/increments.h against sums that are made one by one. */
#include "core_units.h"

#include "core/increments.h"

#define FAR 1300 /* beyond the table */
#define GENERAL (UINT64_C(1) << 8 | UINT64_C(1) << 12 | UINT64_C(1) << 14 | UINT64_C(1) << 15)

/* Start from 0, and add each number to every sum that was found. */
static void oracle_sums(uint64_t mask, bool *ret_is_sum) {
    memset(ret_is_sum, 0, FAR * sizeof ret_is_sum[0]);
    ret_is_sum[0] = true;
    for (unsigned s = 0; s < FAR; s++) {
        for (unsigned v = 1; v <= INCREMENTS_MAX && ret_is_sum[s] && s + v < FAR; v++) {
            if ((mask >> v & 1) != 0) ret_is_sum[s + v] = true;
        }
    }
}

/* No number larger than 1 divides all of them. */
static bool oracle_is_possible(uint64_t mask) {
    if (mask == 0 || (mask & 1) != 0 || mask > UINT32_MAX) return false;
    for (unsigned divisor = 2; divisor <= INCREMENTS_MAX; divisor++) {
        bool divides = true;
        for (unsigned v = 1; v <= INCREMENTS_MAX; v++) {
            divides = divides && ((mask >> v & 1) == 0 || v % divisor == 0);
        }
        if (divides) return false;
    }
    return true;
}

static uint64_t random_mask(dice *random) {
    uint64_t mask = 0;
    while (!increments_are_possible(mask)) mask |= UINT64_C(2) << dice_below(random, 31);
    for (uint64_t more = dice_below(random, 4); more != 0; more--) {
        mask |= UINT64_C(2) << dice_below(random, 31);
    }
    return mask;
}

/* The numbers in order, and every sum up to beyond the table. */
static void check_mask(uint64_t mask) {
    increments const numbers = increments_make(mask);
    bool             is_sum[FAR];
    uint64_t         again = 0, wrong = 0;
    oracle_sums(mask, is_sum);
    for (unsigned i = 0; i < numbers.n; i++) {
        again |= UINT64_C(1) << numbers.value[i];
        assert_true(i == 0 || numbers.value[i] > numbers.value[i - 1]);
    }
    assert_int_equal(again, mask);
    for (unsigned c = 0; c < FAR; c++) wrong += increments_make_up(&numbers, c) != is_sum[c];
    if (wrong != 0)
        fail_msg("mask %llx: %llu sums", (unsigned long long)mask, (unsigned long long)wrong);
}

static void increments_make_all_sums_of_small_numbers(void **state) {
    (void)state;
    for (uint64_t mask = 2; mask < 1 << 13; mask += 2) {
        if (increments_are_possible(mask)) check_mask(mask);
    }
}

static void increments_make_all_sums_of_any_numbers(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 2000; i++) check_mask(random_mask(&random));
    for (unsigned a = 1; a <= INCREMENTS_MAX; a++) { /* few numbers have the longest gaps */
        for (unsigned b = 1; b <= INCREMENTS_MAX; b++) {
            uint64_t const mask = UINT64_C(1) << a | UINT64_C(1) << b;
            if (increments_are_possible(mask)) check_mask(mask);
        }
    }
}

/* D_L has everything from L on, and nothing below. */
static void increments_of_the_paper(void **state) {
    (void)state;
    static const uint8_t gaps[] = { 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 17, 18, 19, 21, 25, 33 };
    for (unsigned l = 1; l <= 16; l++) {
        increments const numbers = increments_make((UINT64_C(1) << 2 * l) - (UINT64_C(1) << l));
        assert_int_equal(numbers.n, l);
        for (unsigned c = 0; c < FAR; c++) {
            assert_int_equal(increments_make_up(&numbers, c), c == 0 || c >= l);
        }
    }
    increments const general = increments_make(GENERAL);
    for (unsigned c = 0; c < FAR; c++) {
        bool const is_gap = c != 0 && c < 34 && memchr(gaps, (int)c, sizeof gaps) != NULL;
        assert_int_equal(increments_make_up(&general, c), !is_gap);
    }
}

/* Also for numbers that are sums themselves, as with keys that share counters. */
static void increments_may_hold_and_most(void **state) {
    (void)state;
    dice random = dice_start();
    bool is_sum[FAR];
    for (unsigned i = 0; i < 200; i++) {
        uint64_t const   mask = random_mask(&random);
        increments const numbers = increments_make(mask);
        oracle_sums(mask, is_sum);
        for (unsigned j = 0; j < 2000; j++) {
            uint64_t const c = dice_below(&random, FAR);
            uint64_t       v = 1 + dice_below(&random, 200), most = 0;
            while (!is_sum[v]) v++;
            for (uint64_t times = 1; times * v <= c; times++) {
                if (is_sum[c - times * v]) most = times;
            }
            assert_int_equal(increments_most(&numbers, c, v), most);
            assert_int_equal(increments_may_hold(&numbers, c, v), v <= c && is_sum[c - v]);
            assert_int_equal(increments_may_hold(&numbers, c, v), most != 0);
        }
    }
    increments const one = increments_make(2);
    assert_false(increments_may_hold(&one, 3, UINT64_MAX) || increments_may_hold(&one, 0, 1));
}

static void increments_pick_is_uniform(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 40; i++) {
        increments const numbers = increments_make(random_mask(&random));
        uint64_t         counts[INCREMENTS_MAX + 1] = { 0 }, picked[INCREMENTS_MAX];
        if (numbers.n < 2) continue;
        for (unsigned j = 0; j < 20000; j++)
            counts[increments_pick(&numbers, dice_roll(&random))]++;
        uint64_t all = 0;
        for (unsigned v = 0; v < numbers.n; v++) all += picked[v] = counts[numbers.value[v]];
        assert_int_equal(all, 20000);
        assert_true(chi_square_sigmas(picked, numbers.n) < UNIT_SIGMAS);
        assert_int_equal(increments_pick(&numbers, 0), numbers.value[0]);
        assert_int_equal(increments_pick(&numbers, UINT64_MAX), numbers.value[numbers.n - 1]);
    }
}

static void increments_are_possible_without_a_divisor(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 50000; i++) {
        uint64_t mask = i < 5000 ? i : dice_roll(&random) & dice_roll(&random);
        if (i % 2 != 0) mask &= dice_roll(&random) & UINT32_MAX;
        if (i % 4 == 1) mask &= UINT64_C(0x55555554) << (i / 4 % 2); /* even numbers, or odd */
        assert_int_equal(increments_are_possible(mask), oracle_is_possible(mask));
    }
    assert_true(increments_are_possible(2) && increments_are_possible(GENERAL));
    assert_false(increments_are_possible(UINT64_C(1) << 31));
    assert_true(increments_are_possible(UINT64_C(3) << 30));
    assert_false(increments_are_possible(UINT64_C(3) << 31)); /* 32 is too large */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(increments_make_all_sums_of_small_numbers),
    cmocka_unit_test(increments_make_all_sums_of_any_numbers),
    cmocka_unit_test(increments_of_the_paper),
    cmocka_unit_test(increments_may_hold_and_most),
    cmocka_unit_test(increments_pick_is_uniform),
    cmocka_unit_test(increments_are_possible_without_a_divisor),
};

CORE_EXPORT(increments)
