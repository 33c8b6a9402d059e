/* test_row.c - kinds/ddlcbf/row.h against fields that are read bit by bit. */
#include "core_units.h"

#include "kinds/ddlcbf/row.h"

#define MAX_BYTES 64

static uint64_t oracle_field(const uint8_t *bucket, row of, unsigned i) {
    uint64_t field = 0;
    for (unsigned bit = 0; bit < of.width; bit++) {
        field |= (uint64_t)read_bit(bucket, of.at + i * of.width + bit) << bit;
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
        row const      of = any_row(&random, bytes);
        unsigned const skipped = (unsigned)dice_below(&random, of.width < 4 ? of.width : 4);
        dice_fill(&random, memory.bytes, bytes);
        if (round % 2 == 0) memset(memory.bytes, round % 4 == 0 ? 0 : 0xff, bytes);
        if (round % 2 == 0) memory.bytes[dice_below(&random, bytes)] ^= 16;
        uint64_t const any = of.n == 0 ? 0 : oracle_field(memory.bytes, of, 0);
        uint32_t const found = row_match(memory.bytes, of, skipped, any >> skipped);
        for (unsigned i = 0; i < 32; i++) {
            bool const is_same =
                i < of.n && oracle_field(memory.bytes, of, i) >> skipped == any >> skipped;
            assert_int_equal(found >> i & 1, is_same);
            if (i < of.n) {
                assert_true(row_get(memory.bytes, of, i) == oracle_field(memory.bytes, of, i));
            }
        }
        fenced_free(&memory);
    }
}

static void row_put_writes_one_field(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 5000; round++) {
        unsigned const bytes = 8 + (unsigned)dice_below(&random, MAX_BYTES - 7);
        fenced         memory = fenced_new(bytes);
        row const      of = any_row(&random, bytes);
        memset(memory.bytes, 0, bytes);
        for (unsigned i = 0; i < of.n; i++) {
            uint64_t const field = dice_roll(&random) & bits_low(of.width);
            row_put(memory.bytes, of, i, field);
            assert_true(oracle_field(memory.bytes, of, i) == field);
            for (unsigned bit = of.at + (i + 1) * of.width; bit < 8 * bytes; bit++) {
                assert_false(read_bit(memory.bytes, bit));
            }
        }
        for (unsigned bit = 0; bit < of.at; bit++) assert_false(read_bit(memory.bytes, bit));
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(row_match_finds_all_that_match),
    cmocka_unit_test(row_put_writes_one_field),
};

CORE_EXPORT(row)
