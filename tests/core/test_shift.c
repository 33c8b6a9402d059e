/* test_shift.c - core/shift.h against strings of bits moved one by one. */
#include "core_units.h"

#include "core/shift.h"

#define WORDS 3
#define BITS (WORDS * 64u)
#define LONG_BYTES 256

typedef void mover(uint8_t *bits, uint64_t from, uint64_t to, unsigned w);

/* ------------------------------------------------------------------ oracles */

static void oracle_open(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    for (uint64_t bit = to; bit-- > from;) write_bit(bits, bit + w, read_bit(bits, bit));
    for (uint64_t bit = from; bit < from + w; bit++) write_bit(bits, bit, false);
}

static void oracle_close(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    for (uint64_t bit = from + w; bit < to; bit++) {
        write_bit(bits, bit - w, read_bit(bits, bit));
    }
    for (uint64_t bit = to - w; bit < to; bit++) write_bit(bits, bit, false);
}

static void open_gap(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    shift_open(bits, from, to, w);
}

static void close_gap(uint8_t *bits, uint64_t from, uint64_t to, unsigned w) {
    shift_close(bits, from, to, w);
}

/* Both on the same random bits; all of the memory must agree, not only the range. */
static void check(mover *move, mover *oracle, const uint8_t *start, uint8_t *bits, size_t bytes,
                  const uint64_t range[2], unsigned w) {
    uint8_t expected[LONG_BYTES];
    memcpy(bits, start, bytes);
    memcpy(expected, start, bytes);
    move(bits, range[0], range[1], w);
    oracle(expected, range[0], range[1], w);
    if (memcmp(bits, expected, bytes) == 0) return;
    print_error("from %llu to %llu by %u\n", (unsigned long long)range[0],
                (unsigned long long)range[1], w);
    fail();
}

/* ------------------------------------------------------------------ moves */

/* Every range and every distance inside three words. */
static void shift_open_moves_every_range_up_and_zeroes_the_gap(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  bits = fenced_new(BITS / 8);
    uint8_t start[BITS / 8];
    for (unsigned w = 1; w <= 63; w++) {
        for (uint64_t from = 0; from + w <= BITS; from++) {
            dice_fill(&random, start, sizeof start);
            for (uint64_t to = from; to + w <= BITS; to++) {
                uint64_t const range[2] = { from, to };
                check(open_gap, oracle_open, start, bits.bytes, sizeof start, range, w);
            }
        }
    }
    fenced_free(&bits);
}

static void shift_close_moves_every_range_down_and_zeroes_what_it_leaves(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  bits = fenced_new(BITS / 8);
    uint8_t start[BITS / 8];
    for (unsigned w = 1; w <= 63; w++) {
        for (uint64_t from = 0; from + w <= BITS; from++) {
            dice_fill(&random, start, sizeof start);
            for (uint64_t to = from + w; to <= BITS; to++) {
                uint64_t const range[2] = { from, to };
                check(close_gap, oracle_close, start, bits.bytes, sizeof start, range, w);
            }
        }
    }
    fenced_free(&bits);
}

static void shift_moves_long_strings(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  bits = fenced_new(LONG_BYTES);
    uint8_t start[LONG_BYTES];
    for (unsigned round = 0; round < 3000; round++) {
        unsigned const w = 1 + (unsigned)dice_below(&random, 63);
        uint64_t const room = LONG_BYTES * 8 - w, from = dice_below(&random, room + 1);
        uint64_t const to = from + dice_below(&random, room - from + 1);
        uint64_t const opened[2] = { from, to }, closed[2] = { from, to + w };
        dice_fill(&random, start, sizeof start);
        check(open_gap, oracle_open, start, bits.bytes, sizeof start, opened, w);
        check(close_gap, oracle_close, start, bits.bytes, sizeof start, closed, w);
    }
    fenced_free(&bits);
}

/* The caller's memory covers the words that the range touches, and perhaps no more. */
static void shift_stays_inside_the_words_of_the_range(void **state) {
    (void)state;
    for (uint64_t to = 0; to <= 320; to++) {
        for (unsigned w = 1; w <= 63; w++) {
            fenced bits = fenced_new((size_t)(to + w + 63) / 64 * 8);
            shift_open(bits.bytes, to / 2, to, w);
            shift_close(bits.bytes, to / 2, to + w, w);
            fenced_free(&bits);
        }
    }
}

static void shift_close_undoes_shift_open(void **state) {
    (void)state;
    dice    random = dice_start();
    uint8_t bits[LONG_BYTES], before[LONG_BYTES];
    for (unsigned round = 0; round < 3000; round++) {
        unsigned const w = 1 + (unsigned)dice_below(&random, 63);
        uint64_t const to = dice_below(&random, LONG_BYTES * 8 - w + 1);
        uint64_t const from = dice_below(&random, to + 1);
        dice_fill(&random, before, sizeof before);
        for (uint64_t bit = to; bit < to + w; bit++) write_bit(before, bit, false);
        memcpy(bits, before, sizeof bits);
        shift_open(bits, from, to, w);
        shift_close(bits, from, to + w, w);
        assert_memory_equal(bits, before, sizeof bits);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shift_open_moves_every_range_up_and_zeroes_the_gap),
    cmocka_unit_test(shift_close_moves_every_range_down_and_zeroes_what_it_leaves),
    cmocka_unit_test(shift_moves_long_strings),
    cmocka_unit_test(shift_stays_inside_the_words_of_the_range),
    cmocka_unit_test(shift_close_undoes_shift_open),
};

CORE_EXPORT(shift)
