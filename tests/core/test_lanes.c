/* test_lanes.c - core/lanes.h against a loop over the lanes. */
#include "core_units.h"

#include "core/lanes.h"

/* ------------------------------------------------------------------ any width, one word */

/* The lowest bit of each of n lanes. */
static uint64_t oracle_ones(unsigned n, unsigned width) {
    uint64_t ones = 0;
    for (unsigned i = 0; i < n; i++) ones |= UINT64_C(1) << (i * width);
    return ones;
}

static uint64_t oracle_equal(uint64_t word, uint64_t value, unsigned n, unsigned width) {
    uint64_t tops = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const lane = word >> (i * width) & bits_low(width);
        if (lane == value) tops |= UINT64_C(1) << (i * width + width - 1);
    }
    return tops;
}

/* A word whose lanes are the value, differ from it in one bit, or are random. The bits above the
 * last lane are random, too. */
static uint64_t random_word(dice *random, uint64_t value, unsigned width) {
    uint64_t word = dice_roll(random);
    for (unsigned i = 0; i < 64 / width; i++) {
        uint64_t const choice = dice_below(random, 3), one_off = dice_below(random, width);
        uint64_t const lane = choice == 0   ? value
                              : choice == 1 ? value ^ UINT64_C(1) << one_off
                                            : dice_roll(random) & bits_low(width);
        word &= ~(bits_low(width) << (i * width));
        word |= lane << (i * width);
    }
    return word;
}

static void lanes_equal_finds_just_the_equal_lanes_of_every_width(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned width = 1; width <= 64; width++) {
        for (unsigned round = 0; round < 5000; round++) {
            unsigned const n = 1 + (unsigned)dice_below(&random, 64 / width);
            uint64_t const ones = oracle_ones(n, width), tops = ones << (width - 1);
            uint64_t const value = dice_edge(&random) & bits_low(width);
            uint64_t const word = random_word(&random, value, width);
            assert_int_equal(lanes_equal(word, value, ones, width),
                             oracle_equal(word, value, n, width));
            assert_int_equal(lanes_nonzero(word, ones, width),
                             tops ^ oracle_equal(word, 0, n, width));
        }
    }
}

/* Two neighbouring lanes, all their contents: nothing is carried from one into the other. */
static void lanes_equal_keeps_neighbours_apart(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 5; width++) {
        for (uint64_t pair = 0; pair <= bits_low(2 * width); pair++) {
            for (uint64_t value = 0; value <= bits_low(width); value++) {
                assert_int_equal(lanes_equal(pair, value, oracle_ones(2, width), width),
                                 oracle_equal(pair, value, 2, width));
            }
        }
    }
}

static void lanes_by_width_fill_57_bits(void **state) {
    (void)state;
    for (unsigned width = 1; width <= LANES_BITS; width++) {
        unsigned n = 0;
        while ((n + 1) * width <= LANES_BITS) n++;
        assert_int_equal(lanes_per_word[width], n);
        assert_int_equal(lanes_ones[width], oracle_ones(n, width));
    }
}

static void lanes_gather8_pushes_the_bits_of_every_byte_together(void **state) {
    (void)state;
    for (unsigned mask = 0; mask < 256; mask++) {
        uint64_t spread = 0;
        for (unsigned i = 0; i < 8; i++) spread |= (uint64_t)(mask >> i & 1) << (8 * i);
        assert_int_equal(lanes_gather8(spread), mask);
    }
}

/* ------------------------------------------------------------------ arrays of bytes */

static uint64_t oracle_equal8(const uint8_t *bytes, uint8_t value, unsigned n) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++) mask |= (uint64_t)(bytes[i] == value) << i;
    return mask;
}

static uint64_t equal8(const uint8_t *bytes, uint8_t value, unsigned n) {
    return n == 8 ? lanes_equal_8x8(bytes, value) : lanes_equal_8x32(bytes, value);
}

static void random_bytes8(dice *random, uint8_t *bytes, uint8_t value, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t const choice = dice_below(random, 3);
        uint8_t const  near = (uint8_t)(value ^ 1u << dice_below(random, 8));
        bytes[i] = choice == 0 ? value : choice == 1 ? near : (uint8_t)dice_roll(random);
    }
}

/* The array ends at a fence, or one byte before, so that it is at an odd address too. */
static void lanes_equal_8_finds_just_the_equal_bytes(void **state) {
    (void)state;
    static const unsigned sizes[] = { 8, 32 };
    dice                  random = dice_start();
    for (size_t size = 0; size < COUNT(sizes); size++) {
        unsigned const n = sizes[size];
        fenced         memory = fenced_new(n + 1);
        for (unsigned round = 0; round < 20000; round++) {
            uint8_t *const bytes = memory.bytes + round % 2;
            uint8_t const  value = (uint8_t)dice_roll(&random);
            random_bytes8(&random, bytes, value, n);
            assert_int_equal(equal8(bytes, value, n), oracle_equal8(bytes, value, n));
        }
        fenced_free(&memory);
    }
}

/* Each value alone, at each place, among its complement. */
static void lanes_equal_8x32_finds_each_value_at_each_place(void **state) {
    (void)state;
    uint8_t bytes[32];
    for (unsigned value = 0; value < 256; value++) {
        memset(bytes, (int)(value ^ 0xff), sizeof bytes);
        assert_int_equal(lanes_equal_8x32(bytes, (uint8_t)value), 0);
        for (unsigned place = 0; place < 32; place++) {
            bytes[place] = (uint8_t)value;
            assert_int_equal(lanes_equal_8x32(bytes, (uint8_t)value), UINT32_C(1) << place);
            bytes[place] = (uint8_t)(value ^ 0xff);
        }
        memset(bytes, (int)value, sizeof bytes);
        assert_int_equal(lanes_equal_8x32(bytes, (uint8_t)value), UINT32_MAX);
    }
}

static void lanes_up_to_8_finds_just_the_bytes_that_are_not_larger(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(33);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *const bytes = memory.bytes + round % 2;
        uint8_t const  value = (uint8_t)dice_roll(&random);
        uint32_t       not_larger = 0;
        random_bytes8(&random, bytes, value, 32);
        for (unsigned i = 0; i < 32; i++) not_larger |= (uint32_t)(bytes[i] <= value) << i;
        assert_int_equal(lanes_up_to_8x32(bytes, value), not_larger);
        assert_int_equal(lanes_up_to_8x8(bytes, value), not_larger & 0xff);
    }
    fenced_free(&memory);
}

/* Only the line itself is read. */
static void lanes_of_a_line_begin_at_any_byte_of_its_first_half(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(64);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const first = round % 33;
        uint8_t const  value = (uint8_t)dice_roll(&random);
        uint64_t       not_larger = 0;
        random_bytes8(&random, memory.bytes, value, 64);
        for (unsigned i = 0; i < 64; i++) not_larger |= (uint64_t)(memory.bytes[i] <= value) << i;
        assert_true(lanes_equal_line(memory.bytes, first, value) ==
                    oracle_equal8(memory.bytes, value, 64) >> first);
        assert_true(lanes_up_to_line(memory.bytes, first, value) == not_larger >> first);
    }
    fenced_free(&memory);
}

/* Each marked byte once, in any order. Only the line itself is read. */
static void check_marks(const uint8_t *line, uint8_t value) {
    uint64_t bytes = 0;
    for (uint64_t left = lanes_mark_line(line, value); left != 0; left = lanes_other_marks(left)) {
        uint64_t const byte = UINT64_C(1) << (63 - lanes_after_mark(left));
        assert_true((bytes & byte) == 0);
        bytes |= byte;
    }
    assert_true(bytes == oracle_equal8(line, value, 64));
}

static void marks_of_a_line_are_its_equal_bytes(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(64);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t const value = (uint8_t)dice_roll(&random);
        random_bytes8(&random, memory.bytes, value, 64);
        check_marks(memory.bytes, value);
    }
    for (unsigned place = 0; place < 64; place++) {
        memset(memory.bytes, 0xa5, 64);
        memory.bytes[place] = 0x5a;
        check_marks(memory.bytes, 0x5a);
        check_marks(memory.bytes, 0xa5);
        check_marks(memory.bytes, 0);
    }
    fenced_free(&memory);
}

#ifdef LANES_LINE
/* The line from byte `at` on moved by n bytes; what comes from outside is 0 if it moves down. */
static void check_moved_line(uint8_t *line, unsigned at, unsigned n, bool is_up) {
    uint8_t        expected[64];
    lanes_64 const all = lanes_load_line(line);
    for (unsigned i = 0; i < 64; i++) {
        unsigned const from = is_up ? i - n : i + n;
        expected[i] = i < at ? line[i] : from < 64 ? line[from] : 0;
    }
    lanes_store_from(line, at, is_up ? lanes_line_up(all, n) : lanes_line_down(all, n), all);
    assert_memory_equal(line, expected, 64);
}

static void lanes_of_a_whole_line_move_from_any_byte_on(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(64);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const n = 1 + round / 64 % 2, at = round % 64;
        dice_fill(&random, memory.bytes, 64);
        check_moved_line(memory.bytes, at < n ? n : at, n, true);
        check_moved_line(memory.bytes, at, n, false);
    }
    fenced_free(&memory);
}
#endif

/* ------------------------------------------------------------------ numbers of 16 bits */

/* Numbers that are the value, or differ from it in one bit, inside the mask or outside. */
static void lanes_equal_16x16_compares_just_the_bits_of_the_mask(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(33);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *const bytes = memory.bytes + round % 2;
        uint16_t const value = (uint16_t)dice_roll(&random), mask = (uint16_t)dice_roll(&random);
        uint32_t       equal = 0;
        for (unsigned i = 0; i < 16; i++) {
            uint64_t const is_other = dice_below(&random, 2), bit = dice_below(&random, 16);
            uint16_t const number = (uint16_t)(value ^ is_other << bit);
            le16_store(bytes + 2 * i, number);
            equal |= (uint32_t)((number & mask) == (value & mask)) << i;
        }
        assert_int_equal(lanes_equal_16x16(bytes, value, mask), equal);
    }
    fenced_free(&memory);
}

static void lanes_below_16x16_agrees_with_a_loop(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced memory = fenced_new(33);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *const bytes = memory.bytes + round % 2;
        uint16_t const value = (uint16_t)dice_below(&random, 1 << 15);
        uint32_t       below = 0;
        for (unsigned i = 0; i < 16; i++) {
            uint64_t const any = dice_below(&random, 1 << 15), near = value + any % 3 - 1;
            uint16_t const number = (uint16_t)((round % 3 == 0 ? any : near) & 0x7fff);
            le16_store(bytes + 2 * i, number);
            below |= (uint32_t)(number < value) << i;
        }
        assert_int_equal(lanes_below_16x16(bytes, value), below);
    }
    fenced_free(&memory);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lanes_equal_finds_just_the_equal_lanes_of_every_width),
    cmocka_unit_test(lanes_equal_keeps_neighbours_apart),
    cmocka_unit_test(lanes_by_width_fill_57_bits),
    cmocka_unit_test(lanes_gather8_pushes_the_bits_of_every_byte_together),
    cmocka_unit_test(lanes_equal_8_finds_just_the_equal_bytes),
    cmocka_unit_test(lanes_equal_8x32_finds_each_value_at_each_place),
    cmocka_unit_test(lanes_up_to_8_finds_just_the_bytes_that_are_not_larger),
    cmocka_unit_test(lanes_of_a_line_begin_at_any_byte_of_its_first_half),
    cmocka_unit_test(marks_of_a_line_are_its_equal_bytes),
#ifdef LANES_LINE
    cmocka_unit_test(lanes_of_a_whole_line_move_from_any_byte_on),
#endif
    cmocka_unit_test(lanes_equal_16x16_compares_just_the_bits_of_the_mask),
    cmocka_unit_test(lanes_below_16x16_agrees_with_a_loop),
};

CORE_EXPORT(lanes)
