/* test_row.c - core/row.h against fields that are read bit by bit. */
#include "core_units.h"

#include "core/row.h"

#define MAX_BYTES 64

static uint64_t oracle_field(const uint8_t *bucket, row fields, unsigned i) {
    uint64_t field = 0;
    for (unsigned bit = 0; bit < fields.width; bit++) {
        field |= (uint64_t)read_bit(bucket, fields.at + i * fields.width + bit) << bit;
    }
    return field;
}

/* A row that fits into a bucket of so many bytes. */
static row any_row(dice *random, unsigned bytes) {
    unsigned const width = 1 + (unsigned)dice_below(random, ROW_MAX_WIDTH);
    unsigned const at = (unsigned)dice_below(random, 8 * bytes - width + 1);
    unsigned const room = (8 * bytes - at) / width, most = room < 32 ? room : 32;
    return (row){ bytes, at, (unsigned)dice_below(random, most + 1), width };
}

/* In memory that ends with the bucket; with few different fields, so that many match. */
static void row_match_finds_all_that_match(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const bytes = 8 + (unsigned)dice_below(&random, MAX_BYTES - 7);
        fenced         memory = fenced_new(bytes);
        row const      fields = any_row(&random, bytes);
        unsigned const skipped = (unsigned)dice_below(&random, fields.width < 4 ? fields.width : 4);
        dice_fill(&random, memory.bytes, bytes);
        if (round % 2 == 0) memset(memory.bytes, round % 4 == 0 ? 0 : 0xff, bytes);
        if (round % 2 == 0) memory.bytes[dice_below(&random, bytes)] ^= 16;
        uint64_t const any = fields.n == 0 ? 0 : oracle_field(memory.bytes, fields, 0);
        uint32_t const found = row_match(memory.bytes, fields, skipped, any >> skipped);
        for (unsigned i = 0; i < 32; i++) {
            bool const is_same =
                i < fields.n && oracle_field(memory.bytes, fields, i) >> skipped == any >> skipped;
            assert_int_equal(found >> i & 1, is_same);
            if (i < fields.n) {
                assert_true(row_get(memory.bytes, fields, i) ==
                            oracle_field(memory.bytes, fields, i));
            }
        }
        fenced_free(&memory);
    }
}

/* The value is that of a field, or any; a row without fields may begin at the end of the bucket. */
static void row_has_finds_what_a_loop_finds(void **state) {
    (void)state;
    dice     random = dice_start();
    unsigned n_found = 0;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned const bytes = 8 + (unsigned)dice_below(&random, MAX_BYTES - 7);
        fenced         memory = fenced_new(bytes);
        row            fields = any_row(&random, bytes);
        if (fields.n == 0) fields.at = 8 * bytes;
        dice_fill(&random, memory.bytes, bytes);
        uint64_t value = dice_roll(&random) & bits_low(fields.width);
        if (fields.n != 0 && dice_below(&random, 2) == 0) {
            value = oracle_field(memory.bytes, fields, (unsigned)dice_below(&random, fields.n));
        }
        bool is_there = false;
        for (unsigned i = 0; i < fields.n; i++) {
            is_there = is_there || oracle_field(memory.bytes, fields, i) == value;
        }
        assert_int_equal(row_has(memory.bytes, fields, value), is_there);
        n_found += is_there;
        fenced_free(&memory);
    }
    assert_in_range(n_found, 5000, 15000);
}

static void row_put_writes_one_field(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        unsigned const bytes = 8 + (unsigned)dice_below(&random, MAX_BYTES - 7);
        fenced         memory = fenced_new(bytes);
        row const      fields = any_row(&random, bytes);
        memset(memory.bytes, 0, bytes);
        for (unsigned i = 0; i < fields.n; i++) {
            uint64_t const field = dice_roll(&random) & bits_low(fields.width);
            row_put(memory.bytes, fields, i, field);
            assert_true(oracle_field(memory.bytes, fields, i) == field);
            for (unsigned bit = fields.at + (i + 1) * fields.width; bit < 8 * bytes; bit++) {
                assert_false(read_bit(memory.bytes, bit));
            }
        }
        for (unsigned bit = 0; bit < fields.at; bit++) assert_false(read_bit(memory.bytes, bit));
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(row_match_finds_all_that_match),
    cmocka_unit_test(row_has_finds_what_a_loop_finds),
    cmocka_unit_test(row_put_writes_one_field),
};

CORE_EXPORT(row)
