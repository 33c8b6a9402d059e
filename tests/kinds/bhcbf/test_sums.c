/* test_sums.c - kinds/bhcbf/sums.h and kinds/bhcbf/pairs.h against sums that are added up
 * one by one. */
#include "core_units.h"

#include "kinds/bhcbf/pairs.h"

/* Is s a sum of exactly j numbers? */
static bool oracle_makes(uint64_t mask, unsigned j, uint64_t s) {
    if (j == 0) return s == 0;
    for (unsigned v = 1; v < 64; v++) {
        if ((mask >> v & 1) != 0 && s >= v && oracle_makes(mask, j - 1, s - v)) return true;
    }
    return false;
}

static uint64_t random_mask(dice *random) {
    uint64_t mask = 0;
    while (!sums_are_possible(mask)) mask |= UINT64_C(2) << dice_below(random, 63);
    for (uint64_t more = dice_below(random, 3); more != 0; more--) {
        mask |= UINT64_C(2) << dice_below(random, 63);
    }
    return mask;
}

static void sums_are_those_of_exactly_so_many_numbers(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 60; i++) {
        uint64_t const mask = random_mask(&random);
        sums const     all = sums_make(mask, 64);
        for (unsigned j = 0; j <= 5; j++) {
            for (uint64_t s = 0; s <= 64 * j + 5; s++) {
                assert_int_equal(sums_may_be(&all, j, s), oracle_makes(mask, j, s));
            }
            assert_false(sums_may_be(&all, j, UINT64_MAX - 3)); /* sums below 0 */
        }
    }
}

/* Beyond the last row, everything between the least and the largest sum may be. */
static void sums_beyond_the_table_may_be_any(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 200; i++) {
        uint64_t const mask = random_mask(&random);
        unsigned const most = 1 + (unsigned)dice_below(&random, 64);
        sums const     all = sums_make(mask, most);
        unsigned const least = bits_lowest(mask), last = 63 - (unsigned)__builtin_clzll(mask);
        assert_true(all.rows >= 1 && all.rows <= most);
        assert_true(sums_row(&all, all.rows) <= 64 * SUMS_WORDS);
        assert_true(all.rows == most || sums_row(&all, all.rows + 1u) > 64 * SUMS_WORDS);
        for (unsigned j = all.rows; j < all.rows + 3u; j++) {
            assert_false(sums_may_be(&all, j, (uint64_t)j * least - 1));
            assert_false(sums_may_be(&all, j, (uint64_t)j * last + 1));
            for (uint64_t s = j * least; s <= j * last; s++) assert_true(sums_may_be(&all, j, s));
        }
    }
}

/* For up to 5 numbers of {1, 4, 13, 15}, 216 bits: 1 + 15 + 29 + 43 + 57 + 71. */
static void sums_take_few_bits(void **state) {
    (void)state;
    sums const all = sums_make(UINT64_C(0xa012), 64);
    assert_int_equal(all.n, 4);
    assert_int_equal(sums_row(&all, 6), 216);
    assert_int_equal(all.rows, 18);
    assert_false(sums_are_possible(0) || sums_are_possible(2) || sums_are_possible(3));
}

/* Every pair in range is packed and unpacked to the same pair. All others, and one pair in range,
 * become the mark. */
static void pairs_keep_what_is_in_range(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2 * 4 * 8; i++) {
        unsigned const a = 2 + i / 2 % 4, b = 2 + i / 8, centre = i % 2 == 0 ? 0 : 8;
        pairs const    layout = pairs_make(UINT64_C(0xa012), a, b, 3, i % 2 != 0);
        int const      low = centre == 0 ? 0 : 1 - (1 << (b - 1)), high = low + (1 << b) - 1;
        unsigned       marks = 0;
        assert_int_equal(layout.centre, centre);
        assert_int_equal(pairs_pack(&layout, (pair){ 0, 0 }), 0);
        for (uint64_t c1 = 0; c1 < (1u << a) + 3; c1++) {
            for (uint64_t c2 = 0; c2 < 400; c2++) {
                int const      c3 = (int)c2 - (int)(centre * c1);
                uint64_t const field = pairs_pack(&layout, (pair){ c1, c2 });
                bool const     fits = c1 < 1u << a && c3 >= low && c3 <= high;
                if (!fits) assert_int_equal(field, pairs_mark(&layout));
                marks += fits && field == pairs_mark(&layout);
                if (field == pairs_mark(&layout)) continue;
                assert_int_equal(pairs_unpack(&layout, field).count, c1);
                assert_int_equal(pairs_unpack(&layout, field).sum, c2);
            }
        }
        assert_true(marks <= 1);
    }
}

/* The steps of a key are its places, joined by entry. */
static void pairs_steps_are_the_places_by_entry(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 3000; i++) {
        pairs const    layout = pairs_make(random_mask(&random), 4, 8, 3, false);
        uint64_t const m = 2 + dice_below(&random, i % 3 == 0 ? PAIRS_MAX_ENTRIES - 2 : 90);
        uint64_t       place[64], sum = 0, times = 0;
        unsigned const k = 1 + (unsigned)dice_below(&random, 64);
        pairs_step     step[64];
        for (unsigned j = 0; j < k; j++) {
            place[j] = fastrange(dice_roll(&random), m * layout.sums.n);
            assert_int_equal(pairs_entry(&layout, place[j]), place[j] / layout.sums.n);
            assert_int_equal(pairs_added(&layout, place[j]),
                             layout.sums.value[place[j] % layout.sums.n]);
            sum += pairs_added(&layout, place[j]);
        }
        unsigned const n = pairs_steps(&layout, place, k, step);
        for (unsigned j = 0; j < n; j++) {
            for (unsigned l = 0; l < j; l++) assert_true(step[l].entry != step[j].entry);
            for (unsigned l = 0; l < k; l++) {
                if (place[l] / layout.sums.n != step[j].entry) continue;
                step[j].times--, times++;
                step[j].sum -= layout.sums.value[place[l] % layout.sums.n];
                sum -= layout.sums.value[place[l] % layout.sums.n];
            }
            assert_true(step[j].times == 0 && step[j].sum == 0);
        }
        assert_true(times == k && sum == 0);
    }
}

/* The last place of the largest table, where a division by multiplication is hardest. */
static void pairs_divide_exactly(void **state) {
    (void)state;
    for (unsigned n = 2; n <= 63; n++) {
        pairs const    layout = pairs_make(bits_low(n) << 1, 4, 8, 3, false);
        uint64_t const last = PAIRS_MAX_ENTRIES * n - 1;
        assert_int_equal(pairs_entry(&layout, last), PAIRS_MAX_ENTRIES - 1);
        assert_int_equal(pairs_entry(&layout, last - n + 1), PAIRS_MAX_ENTRIES - 1);
        assert_int_equal(pairs_entry(&layout, last - n), PAIRS_MAX_ENTRIES - 2);
        assert_int_equal(pairs_entry(&layout, n - 1), 0);
        assert_int_equal(pairs_entry(&layout, n), 1);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_those_of_exactly_so_many_numbers),
    cmocka_unit_test(sums_beyond_the_table_may_be_any),
    cmocka_unit_test(sums_take_few_bits),
    cmocka_unit_test(pairs_keep_what_is_in_range),
    cmocka_unit_test(pairs_steps_are_the_places_by_entry),
    cmocka_unit_test(pairs_divide_exactly),
};

CORE_EXPORT(sums)
