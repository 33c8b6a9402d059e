/* test_sectors.c - core/sectors.h: where counters are, and that no two places of a key are the same
 * counter. */
#include "core_units.h"

#include "core/sectors.h"

#define MAX_BITS 16

/* Every width, and every number of sectors that it leaves room for. */
static void sectors_cut_a_line_into_parts_of_its_own(void **state) {
    (void)state;
    for (uint64_t bits = 1; bits <= MAX_BITS; bits++) {
        uint64_t const per_line = 512 / bits;
        for (uint64_t n = 1; n <= per_line && n <= SECTORS_MAX; n++) {
            sectors const in = sectors_make(3 * per_line, bits, n, true);
            assert_int_equal(in.lines, 3);
            assert_int_equal(in.first[0], 0);
            assert_int_equal(in.first[n], per_line);
            for (uint64_t i = 0; i < n; i++) {
                uint64_t const size = in.first[i + 1] - in.first[i];
                assert_in_range(size, per_line / n, (per_line + n - 1) / n);
            }
        }
    }
}

static void sectors_pick_stays_in_its_part(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t const bits = 1 + dice_below(&random, MAX_BITS), per_line = 512 / bits;
        uint64_t const most = per_line < SECTORS_MAX ? per_line : SECTORS_MAX;
        uint64_t const n = 1 + dice_below(&random, most), lines = 1 + dice_below(&random, 1000);
        sectors const  in = sectors_make(lines * per_line, bits, n, true);
        uint64_t const hash = dice_edge(&random), line = sectors_line(&in, hash);
        uint64_t       low, first_hash = dice_edge(&random), chosen = first_hash;
        unsigned const i = (unsigned)dice_below(&random, n);
        uint64_t const counter = sectors_pick(&in, i, &chosen);
        assert_int_equal(line, 512 * multiply_digits(hash, lines, &low));
        assert_in_range(counter, in.first[i], in.first[i + 1] - 1);
        uint64_t const size = in.first[i + 1] - in.first[i];
        assert_int_equal(counter - in.first[i], multiply_digits(first_hash, size, &low));
        assert_true(chosen == low);
    }
}

/* No counter shares a bit with another, none crosses the end of a line, and the rest is a gap. */
static void sectors_at_and_the_gaps_are_all_bits(void **state) {
    (void)state;
    for (uint64_t bits = 2; bits <= MAX_BITS; bits++) {
        for (unsigned is_blocked = 0; is_blocked < 2; is_blocked++) {
            uint64_t const per_line = 512 / bits;
            sectors const  in = sectors_make(3 * per_line, bits, 1, is_blocked);
            uint8_t        body[5 * 64] = { 0 };
            uint64_t       bytes = 0, taken = 0;
            assert_true(sectors_body_bytes(in.counters, bits, 1, is_blocked, 8, &bytes));
            assert_in_range(bytes, 1, sizeof body);
            for (uint64_t i = 0; i < in.counters; i++) {
                uint64_t const at = sectors_at(&in, i);
                assert_int_equal(field_get(body, at, (unsigned)bits), 0);
                assert_true(!is_blocked || at / 512 == (at + bits - 1) / 512);
                field_set(body, at, (unsigned)bits, bits_low((unsigned)bits));
                taken += bits;
            }
            assert_true(sectors_gaps_are_zero(&in, body, bytes));
            for (uint64_t bit = 0; bit < bytes * 8; bit++) {
                if (read_bit(body, bit)) continue;
                write_bit(body, bit, true);
                assert_false(sectors_gaps_are_zero(&in, body, bytes));
                write_bit(body, bit, false);
                taken++;
            }
            assert_int_equal(taken, bytes * 8);
        }
    }
}

static void sectors_body_is_refused_if_lines_are_not_full(void **state) {
    (void)state;
    uint64_t bytes = 0;
    assert_true(sectors_body_bytes(73, 7, 73, true, 0, &bytes));
    assert_int_equal(bytes, 64);
    assert_false(sectors_body_bytes(73, 7, 74, true, 0, &bytes));
    assert_false(sectors_body_bytes(72, 7, 1, true, 0, &bytes));
    assert_false(sectors_body_bytes(0, 7, 1, true, 0, &bytes));
    assert_false(sectors_body_bytes(UINT64_MAX / 128 * 128, 4, 1, true, 0, &bytes));
    assert_false(sectors_body_bytes(UINT64_MAX, 4, 1, false, 0, &bytes));
    assert_int_equal(bytes, 64);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sectors_cut_a_line_into_parts_of_its_own),
    cmocka_unit_test(sectors_pick_stays_in_its_part),
    cmocka_unit_test(sectors_at_and_the_gaps_are_all_bits),
    cmocka_unit_test(sectors_body_is_refused_if_lines_are_not_full),
};

CORE_EXPORT(sectors)
