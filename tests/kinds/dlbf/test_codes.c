/* test_codes.c - kinds/dlbf/codes.h against all possible splits. */
#include "core_units.h"

#include "kinds/dlbf/codes.h"

/* ------------------------------------------------------------------ counting */

/* In how many ways can `load` cells be split into parts? Found by trying all. */
static unsigned oracle_count(unsigned load, unsigned parts) {
    if (parts == 1) return 1;
    unsigned n = 0;
    for (unsigned first = 0; first <= load; first++) n += oracle_count(load - first, parts - 1);
    return n;
}

static void a_load_has_as_many_codes_as_there_are_splits(void **state) {
    (void)state;
    for (unsigned load = 0; load <= CODES_MAX_LOAD; load++) {
        for (unsigned sorted = 0; sorted <= CODES_MAX_SORTED; sorted++) {
            assert_int_equal(codes_of_load(load, sorted), oracle_count(load, 1u << sorted));
        }
    }
}

static uint64_t sorting_of(const unsigned *sorted, unsigned highest) {
    uint64_t sorting = 0;
    for (unsigned a = 0; a <= highest; a++) sorting |= (uint64_t)sorted[a] << (2 * a);
    return sorting;
}

/* Section II.B: 4 bits are enough for loads 0 to 6 with one sorted bit at 4 and 5, and no code is
 * left; 8 bits for 0 to 10 with one everywhere and two at 6 and 7, and one is left. */
static void the_codes_of_the_paper_are_16_and_255(void **state) {
    (void)state;
    unsigned const narrow[] = { 0, 0, 0, 0, 1, 1, 0 };
    unsigned const wide[] = { 0, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1 };
    assert_int_equal(sorting_of(narrow, 6), 1280);
    assert_int_equal(codes_count(6, sorting_of(narrow, 6)), 16);
    assert_int_equal(codes_bits(16), 4);
    assert_int_equal(sorting_of(wide, 10), 1418580);
    assert_int_equal(codes_count(10, sorting_of(wide, 10)), 255);
    assert_int_equal(codes_bits(255), 8);
    unsigned const wider[] = { 0, 1, 1, 1, 1, 1, 1, 2, 2 }; /* "7 and 8": too many */
    assert_int_equal(codes_count(8, sorting_of(wider, 8)), 313);
}

static void the_bits_of_a_code_are_the_fewest(void **state) {
    (void)state;
    assert_int_equal(codes_bits(1), 0);
    assert_int_equal(codes_bits(2), 1);
    assert_int_equal(codes_bits(3), 2);
    assert_int_equal(codes_bits(256), 8);
    assert_int_equal(codes_bits(257), 9);
    assert_int_equal(codes_bits(UINT64_C(1) << 63), 63);
    assert_int_equal(codes_bits(UINT64_MAX), 64);
}

/* ------------------------------------------------------------------ every code of a sorting */

/* Every code has its own split, which leads back to the code, and loads rise with the codes. */
static void check_sorting(unsigned highest, uint64_t sorting) {
    codes    all;
    unsigned seen[CODES_MAX_LOAD + 1] = { 0 };
    codes_make(highest, sorting, &all);
    assert_int_equal(all.n, codes_count(highest, sorting));
    assert_int_equal(all.split[0], 0);
    for (unsigned code = 0; code < all.n; code++) {
        codes_split const split = all.split[code];
        unsigned const    load = split_load(split), parts = 1u << all.sorted[load];
        assert_int_equal(codes_code(&all, split), code);
        assert_true(code == 0 || load >= split_load(all.split[code - 1]));
        seen[load]++;
        unsigned end = 0;
        for (unsigned part = 0; part < parts; part++) {
            assert_int_equal(split_first(split, part), end);
            assert_true(split_end(split, part) >= end);
            end = split_end(split, part);
        }
        assert_int_equal(end, load);
    }
    for (unsigned a = 0; a <= highest; a++) {
        assert_int_equal(seen[a], codes_of_load(a, codes_sorted(sorting, a)));
    }
    for (unsigned code = all.n; code < 1u << CODES_MAX_BITS; code++) {
        assert_int_equal(all.split[code], 0);
    }
}

/* All sortings of up to 6 cells, and random ones of more cells. */
static void every_code_has_a_split_and_leads_back(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned highest = 1; highest <= 6; highest++) {
        for (uint64_t sorting = 0; sorting < UINT64_C(4) << (2 * highest); sorting += 4) {
            if ((sorting & sorting >> 1 & UINT64_C(0x55555555)) != 0) continue; /* a 3 in it */
            if (codes_count(highest, sorting) > 256) continue;
            check_sorting(highest, sorting);
        }
    }
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const highest = 7 + (unsigned)dice_below(&random, 9);
        uint64_t       sorting = 0;
        for (unsigned a = 1; a <= highest; a++) sorting |= dice_below(&random, 3) << (2 * a);
        if (dice_below(&random, 2) == 0) sorting &= dice_roll(&random) | UINT64_C(0x55555554);
        if ((sorting & sorting >> 1 & UINT64_C(0x55555555)) != 0) continue;
        if (codes_count(highest, sorting) <= 256) check_sorting(highest, sorting);
    }
}

/* Cells one after the other, in any order: the split counts them. */
static void a_split_counts_the_cells_of_each_class(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        unsigned const load = (unsigned)dice_below(&random, 16);
        unsigned const parts = 1u << dice_below(&random, 3);
        unsigned       count[4] = { 0 }, first = 0;
        codes_split    split = 0;
        for (unsigned i = 0; i < load; i++) {
            unsigned const part = (unsigned)dice_below(&random, parts);
            count[part]++;
            split = split_with(split, part);
        }
        assert_int_equal(split_load(split), load);
        for (unsigned part = 0; part < parts; part++) {
            assert_int_equal(split_first(split, part), first);
            first += count[part];
            assert_int_equal(split_end(split, part), first);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_load_has_as_many_codes_as_there_are_splits),
    cmocka_unit_test(the_codes_of_the_paper_are_16_and_255),
    cmocka_unit_test(the_bits_of_a_code_are_the_fewest),
    cmocka_unit_test(every_code_has_a_split_and_leads_back),
    cmocka_unit_test(a_split_counts_the_cells_of_each_class),
};

CORE_EXPORT(codes)
