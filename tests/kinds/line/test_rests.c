/* test_rests.c - kinds/line/rests.h, and the rows of kinds/line/lines.h, against bits moved one by
 * one. */
#include "core_units.h"

#include "kinds/line/lines.h"

#define MAX_BYTES 4096

/* A table of lines, as far as its slot rests go. */
static lines_shape shape_with(uint64_t buckets, unsigned bits) {
    uint64_t const row = LINE_SLOTS * bits, group = (16 * row + 63) / 64 * 64;
    uint64_t const rest = (buckets % 16 * row + 63) / 64 * 64;
    return (lines_shape){ .buckets = buckets,
                          .rest_bits = bits,
                          .slot_rests = 512,
                          .shelf_rests = 512 + buckets / 16 * group + rest,
                          .slot_pad = group - 16 * row,
                          .row_bits = row,
                          .row_words = rests_window_words(LINE_SLOTS, bits),
                          .group_bytes = group / 8 };
}

/* Rests of `from` to `used` - 1 of a row move by n slots, up or down. */
static void oracle_move(uint8_t *body, uint64_t row, unsigned bits, unsigned from, unsigned used,
                        unsigned n, bool is_up) {
    uint64_t const first = row + from * bits, end = row + used * bits, gap = n * bits;
    if (is_up) {
        for (uint64_t bit = end; bit-- > first;) write_bit(body, bit + gap, read_bit(body, bit));
        return;
    }
    for (uint64_t bit = first + gap; bit < end; bit++)
        write_bit(body, bit - gap, read_bit(body, bit));
    for (uint64_t bit = end - gap; bit < end; bit++) write_bit(body, bit, false);
}

static void oracle_put(uint8_t *body, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; i++) write_bit(body, at + i, value >> i & 1);
}

/* Put n rests into a row of random ones and take n others out. Everything else must stay. */
static void check_row(lines_view lines, uint64_t bucket, dice *chance) {
    static uint8_t  expected[MAX_BYTES];
    unsigned const  bits = lines_rest_bits(lines), most = FIELD_MAX_BITS / bits;
    unsigned const  n = 1 + (unsigned)dice_below(chance, most < LINE_SLOTS ? most : LINE_SLOTS);
    rests_row const row = lines_row(lines, bucket);
    uint64_t const  at = lines_rest_at(lines, bucket, 0);
    uint64_t const  rests = dice_roll(chance) & bits_low(n * bits);
    unsigned const  used = (unsigned)dice_below(chance, LINE_SLOTS - n + 1);
    unsigned const  slot = (unsigned)dice_below(chance, used + 1);
    for (uint64_t i = used * bits; i < LINE_SLOTS * bits; i++) write_bit(lines.body, at + i, false);
    memcpy(expected, lines.body, MAX_BYTES);
    oracle_move(expected, at, bits, slot, used, n, true);
    oracle_put(expected, at + slot * bits, n * bits, rests);
    rests_insert(&row, slot, n, used, rests);
    assert_memory_equal(lines.body, expected, MAX_BYTES);
    assert_int_equal(rests_get(&row, slot, n), rests);
    unsigned const gone = (unsigned)dice_below(chance, used + 1);
    oracle_move(expected, at, bits, gone, used + n, n, false);
    rests_remove(&row, gone, n, used + n);
    assert_memory_equal(lines.body, expected, MAX_BYTES);
}

static void rows_are_changed_as_bit_by_bit(void **state) {
    (void)state;
    static uint8_t body[MAX_BYTES];
    dice           chance = dice_start();
    for (unsigned bits = 1; bits <= 24; bits++) {
        for (uint64_t buckets = 1; buckets <= 17; buckets++) {
            lines_shape const shape = shape_with(buckets, bits);
            lines_view const  lines = { body, &shape, false };
            assert_true(shape.shelf_rests / 8 < MAX_BYTES);
            dice_fill(&chance, body, sizeof body);
            for (unsigned i = 0; i < 60; i++)
                check_row(lines, dice_below(&chance, buckets), &chance);
        }
    }
}

/* Threads that change different groups must not write to one word. */
static void windows_lie_within_their_group(void **state) {
    (void)state;
    static uint8_t body[8];
    for (unsigned bits = 1; bits <= 56; bits++) {
        for (uint64_t buckets = 1; buckets <= 40; buckets++) {
            lines_shape const shape = shape_with(buckets, bits);
            lines_view const  lines = { body, &shape, false };
            for (uint64_t bucket = 0; bucket < buckets; bucket++) {
                rests_row const row = lines_row(lines, bucket);
                uint64_t const  at = (uint64_t)(row.window - body);
                uint64_t const  group = shape.slot_rests / 8 + bucket / 16 * shape.group_bytes;
                uint64_t const  end = min_u64(group + shape.group_bytes, shape.shelf_rests / 8);
                assert_true(at >= group && 8 * at + row.end <= 8 * end);
                if (row.words <= RESTS_SHORT_WORDS) {
                    assert_true(at + 8 * row.words <= end && row.end <= 64 * row.words);
                } else {
                    assert_true(at % 8 == 0 && row.first < 64);
                }
                assert_int_equal(8 * at + row.first, lines_rest_at(lines, bucket, 0));
            }
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_are_changed_as_bit_by_bit),
    cmocka_unit_test(windows_lie_within_their_group),
};

CORE_EXPORT(rests)
