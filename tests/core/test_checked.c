/* test_checked.c - core/base.h and core/checked.h: minimum, maximum, sizes that cannot wrap. */
#include "core_units.h"

#include "core/checked.h"

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

static const uint64_t edges[] = {
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    63,
    64,
    65,
    UINT32_MAX - UINT64_C(1),
    UINT32_MAX,
    UINT32_MAX + UINT64_C(1),
    UINT64_MAX / 3,
    UINT64_MAX / 2,
    UINT64_MAX / 2 + 1,
    UINT64_MAX - 64,
    UINT64_MAX - 63,
    UINT64_MAX - 8,
    UINT64_MAX - 7,
    UINT64_MAX - 1,
    UINT64_MAX,
};

/* ------------------------------------------------------------------ base.h */

static void min_and_max_pick_the_smaller_and_the_larger(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(edges); i++) {
        for (size_t j = 0; j < COUNT(edges); j++) { /* `edges` is sorted */
            assert_int_equal(min_u64(edges[i], edges[j]), edges[i < j ? i : j]);
            assert_int_equal(max_u64(edges[i], edges[j]), edges[i > j ? i : j]);
        }
    }
}

/* Addresses are prefetched before it is known whether they are valid. */
static void prefetch_survives_any_address(void **state) {
    (void)state;
    prefetch_to_read(NULL);
    prefetch_to_write(NULL);
    prefetch_to_read((const void *)(uintptr_t)UINTPTR_MAX);
    prefetch_to_write((const void *)(uintptr_t)4096);
}

/* ------------------------------------------------------------------ sums */

/* Add bit by bit with a carry; returns the carry out of the top. */
static bool oracle_add(uint64_t a, uint64_t b, uint64_t *ret_sum) {
    unsigned carry = 0;
    *ret_sum = 0;
    for (unsigned i = 0; i < 64; i++) {
        unsigned const ones = (unsigned)(a >> i & 1) + (unsigned)(b >> i & 1) + carry;
        *ret_sum |= (uint64_t)(ones & 1) << i;
        carry = ones >> 1;
    }
    return carry != 0;
}

static void check_add(uint64_t a, uint64_t b) {
    uint64_t   sum = UNTOUCHED, expected;
    bool const wraps = oracle_add(a, b, &expected);
    assert_int_equal(checked_add(a, b, &sum), !wraps);
    assert_int_equal(sum, wraps ? UNTOUCHED : expected);
}

static void checked_add_is_exact_or_refused(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t i = 0; i < COUNT(edges); i++) {
        for (size_t j = 0; j < COUNT(edges); j++) check_add(edges[i], edges[j]);
    }
    for (unsigned i = 0; i < 100000; i++) check_add(dice_edge(&random), dice_edge(&random));
}

/* ------------------------------------------------------------------ products */

static void check_mul(uint64_t a, uint64_t b) {
    uint64_t   product = UNTOUCHED, expected;
    bool const wraps = multiply_digits(a, b, &expected) != 0;
    assert_int_equal(checked_mul(a, b, &product), !wraps);
    assert_int_equal(product, wraps ? UNTOUCHED : expected);
}

static void checked_mul_is_exact_or_refused(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t i = 0; i < COUNT(edges); i++) {
        for (size_t j = 0; j < COUNT(edges); j++) check_mul(edges[i], edges[j]);
    }
    for (unsigned i = 0; i < 100000; i++) check_mul(dice_edge(&random), dice_edge(&random));
}

/* ------------------------------------------------------------------ rounding */

static void checked_round_up_finds_the_next_multiple(void **state) {
    (void)state;
    for (uint64_t step = 1; step <= 1024; step *= 2) {
        uint64_t next = 0; /* counted up, one by one */
        for (uint64_t a = 0; a <= 3000; a++) {
            uint64_t rounded = UNTOUCHED;
            if (a > next) next += step;
            assert_true(checked_round_up(a, step, &rounded));
            assert_int_equal(rounded, next);
        }
    }
}

/* The largest multiple of the step below 2^64 is returned; larger numbers are refused. */
static void checked_round_up_refuses_what_would_wrap(void **state) {
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        uint64_t const step = UINT64_C(1) << shift, last = 0 - step;
        uint64_t       rounded = UNTOUCHED;
        assert_true(checked_round_up(last, step, &rounded));
        assert_int_equal(rounded, last);
        assert_true(checked_round_up(last - (step - 1), step, &rounded));
        assert_int_equal(rounded, last);
        if (step == 1) continue;
        rounded = UNTOUCHED;
        assert_false(checked_round_up(last + 1, step, &rounded));
        assert_false(checked_round_up(UINT64_MAX, step, &rounded));
        assert_int_equal(rounded, UNTOUCHED);
    }
}

/* ------------------------------------------------------------------ bodies */

static void checked_body_bytes_are_whole_lines_that_just_fit(void **state) {
    (void)state;
    for (uint64_t bits = 1; bits <= 56; bits += 5) {
        for (uint64_t count = 0; count <= 600; count++) {
            for (uint64_t pad = 0; pad <= 8; pad += 8) {
                uint64_t lines = 0, bytes = UNTOUCHED;
                while (lines * 64 * 8 < count * bits + pad * 8) lines++;
                /* a field may end inside a byte, and the pad begins at the next */
                if (lines * 64 < (count * bits + 7) / 8 + pad) lines++;
                assert_true(checked_body_bytes(count, bits, pad, &bytes));
                assert_int_equal(bytes, lines * 64);
            }
        }
    }
}

static void check_body(uint64_t count, uint64_t bits, uint64_t pad) {
    uint64_t   bytes = UNTOUCHED, total, whole;
    bool const wraps = multiply_digits(count, bits, &total) != 0 || total > UINT64_MAX - 7;
    bool const fits = !wraps && !oracle_add((total + 7) / 8, pad, &whole) && whole <= 0 - 64ull;
    assert_int_equal(checked_body_bytes(count, bits, pad, &bytes), fits);
    assert_int_equal(bytes, fits ? (whole + 63) / 64 * 64 : UNTOUCHED);
}

static void checked_body_bytes_refuses_every_step_that_would_wrap(void **state) {
    (void)state;
    dice random = dice_start();
    for (size_t i = 0; i < COUNT(edges); i++) {
        for (size_t j = 0; j < COUNT(edges); j++) {
            for (size_t k = 0; k < COUNT(edges); k++) {
                check_body(edges[i], edges[j], edges[k]);
            }
        }
    }
    for (unsigned i = 0; i < 100000; i++) {
        check_body(dice_edge(&random), 1 + dice_below(&random, 64), dice_edge(&random));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(min_and_max_pick_the_smaller_and_the_larger),
    cmocka_unit_test(prefetch_survives_any_address),
    cmocka_unit_test(checked_add_is_exact_or_refused),
    cmocka_unit_test(checked_mul_is_exact_or_refused),
    cmocka_unit_test(checked_round_up_finds_the_next_multiple),
    cmocka_unit_test(checked_round_up_refuses_what_would_wrap),
    cmocka_unit_test(checked_body_bytes_are_whole_lines_that_just_fit),
    cmocka_unit_test(checked_body_bytes_refuses_every_step_that_would_wrap),
};

CORE_EXPORT(checked)
