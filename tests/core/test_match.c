/* test_match.c - core/match.h against a loop over the cells. */
#include "core_units.h"

#include "core/match.h"

/* ------------------------------------------------------------------ any width, one word */

static uint64_t oracle_match_word(uint64_t word, uint64_t value, unsigned bits) {
    uint64_t matches = 0;
    for (unsigned cell = 0; cell < 64 / bits; cell++) {
        uint64_t const here = word >> (cell * bits) & bits_low(bits);
        if (here == value) matches |= UINT64_C(1) << (cell * bits + bits - 1);
    }
    return matches;
}

/* A word whose cells are the value, or one bit away from it, or anything; the bits above the last
 * whole cell are noise. */
static uint64_t random_word(dice *random, uint64_t value, unsigned bits) {
    uint64_t word = dice_roll(random);
    for (unsigned cell = 0; cell < 64 / bits; cell++) {
        uint64_t const choice = dice_below(random, 3), one_off = dice_below(random, bits);
        uint64_t const here = choice == 0   ? value
                              : choice == 1 ? value ^ UINT64_C(1) << one_off
                                            : dice_roll(random) & bits_low(bits);
        word &= ~(bits_low(bits) << (cell * bits));
        word |= here << (cell * bits);
    }
    return word;
}

static void match_word_finds_just_the_equal_cells_of_every_width(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned round = 0; round < 5000; round++) {
            uint64_t const value = dice_edge(&random) & bits_low(bits);
            uint64_t const word = random_word(&random, value, bits);
            assert_int_equal(match_word(word, value, bits), oracle_match_word(word, value, bits));
        }
    }
}

/* Two neighbouring cells, all their contents: nothing is carried from one into the other. */
static void match_word_keeps_neighbours_apart(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 5; bits++) {
        for (uint64_t pair = 0; pair <= bits_low(2 * bits); pair++) {
            for (uint64_t value = 0; value <= bits_low(bits); value++) {
                assert_int_equal(match_word(pair, value, bits),
                                 oracle_match_word(pair, value, bits));
            }
        }
    }
}

static void match_gather8_pushes_the_bits_of_every_byte_together(void **state) {
    (void)state;
    for (unsigned mask = 0; mask < 256; mask++) {
        uint64_t spread = 0;
        for (unsigned i = 0; i < 8; i++) spread |= (uint64_t)(mask >> i & 1) << (8 * i);
        assert_int_equal(match_gather8(spread), mask);
    }
}

/* ------------------------------------------------------------------ buckets of bytes */

static uint64_t oracle_match8(const uint8_t *cells, uint8_t value, unsigned n) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++) mask |= (uint64_t)(cells[i] == value) << i;
    return mask;
}

static uint64_t match8(const uint8_t *cells, uint8_t value, unsigned n) {
    return n == 8 ? match_8x8(cells, value) : match_8x32(cells, value);
}

static void random_cells8(dice *random, uint8_t *cells, uint8_t value, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const choice = dice_below(random, 3);
        uint8_t const  near = (uint8_t)(value ^ 1u << dice_below(random, 8));
        cells[i] = choice == 0 ? value : choice == 1 ? near : (uint8_t)dice_roll(random);
    }
}

/* The bucket ends at a fence, or one byte before, so that it is at an odd address too. */
static void match_8_finds_just_the_equal_bytes(void **state) {
    (void)state;
    static const unsigned sizes[] = { 8, 32 };
    dice                  random = dice_start();
    for (size_t size = 0; size < COUNT(sizes); size++) {
        unsigned const n = sizes[size];
        fenced         memory = fenced_new(n + 1);
        for (unsigned round = 0; round < 20000; round++) {
            uint8_t *const cells = memory.bytes + round % 2;
            uint8_t const  value = (uint8_t)dice_roll(&random);
            random_cells8(&random, cells, value, n);
            assert_int_equal(match8(cells, value, n), oracle_match8(cells, value, n));
        }
        fenced_free(&memory);
    }
}

/* Each value alone, at each place, among its complement. */
static void match_8x32_finds_each_value_at_each_place(void **state) {
    (void)state;
    uint8_t cells[32];
    for (unsigned value = 0; value < 256; value++) {
        memset(cells, (int)(value ^ 0xff), sizeof cells);
        assert_int_equal(match_8x32(cells, (uint8_t)value), 0);
        for (unsigned place = 0; place < 32; place++) {
            cells[place] = (uint8_t)value;
            assert_int_equal(match_8x32(cells, (uint8_t)value), UINT32_C(1) << place);
            cells[place] = (uint8_t)(value ^ 0xff);
        }
        memset(cells, (int)value, sizeof cells);
        assert_int_equal(match_8x32(cells, (uint8_t)value), UINT32_MAX);
    }
}

static void below_8_finds_just_the_smaller_bytes(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(33);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *const cells = memory.bytes + round % 2;
        uint8_t const  value = (uint8_t)dice_roll(&random);
        uint32_t       smaller = 0;
        random_cells8(&random, cells, value, 32);
        for (unsigned i = 0; i < 32; i++) smaller |= (uint32_t)(cells[i] < value) << i;
        assert_int_equal(below_8x32(cells, value), smaller);
        assert_int_equal(below_8x8(cells, value), smaller & 0xff);
    }
    fenced_free(&memory);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(match_word_finds_just_the_equal_cells_of_every_width),
    cmocka_unit_test(match_word_keeps_neighbours_apart),
    cmocka_unit_test(match_gather8_pushes_the_bits_of_every_byte_together),
    cmocka_unit_test(match_8_finds_just_the_equal_bytes),
    cmocka_unit_test(match_8x32_finds_each_value_at_each_place),
    cmocka_unit_test(below_8_finds_just_the_smaller_bytes),
};

CORE_EXPORT(match)
