/* test_le.c - core/le.h: the lowest byte comes first, at any address. */
#include "core_units.h"

#include "core/le.h"

#define ROOM 32

/* The number that n bytes say, lowest first. */
static uint64_t oracle_load(const uint8_t *from, unsigned n) {
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static void oracle_store(uint8_t *to, uint64_t value, unsigned n) {
    for (unsigned i = 0; i < n; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void le_load_reads_the_lowest_byte_first_at_any_address(void **state) {
    (void)state;
    dice    random = dice_start();
    uint8_t bytes[ROOM];
    for (unsigned round = 0; round < 1000; round++) {
        dice_fill(&random, bytes, sizeof bytes);
        for (unsigned at = 0; at <= ROOM - 8; at++) {
            assert_int_equal(le16_load(bytes + at), oracle_load(bytes + at, 2));
            assert_int_equal(le32_load(bytes + at), oracle_load(bytes + at, 4));
            assert_int_equal(le64_load(bytes + at), oracle_load(bytes + at, 8));
        }
    }
}

static void store(uint8_t *to, uint64_t value, unsigned n) {
    if (n == 2) le16_store(to, (uint16_t)value);
    if (n == 4) le32_store(to, (uint32_t)value);
    if (n == 8) le64_store(to, value);
}

static void le_store_writes_its_bytes_and_no_other(void **state) {
    (void)state;
    dice    random = dice_start();
    uint8_t bytes[ROOM], expected[ROOM];
    for (unsigned round = 0; round < 300; round++) {
        for (unsigned n = 2; n <= 8; n *= 2) {
            for (unsigned at = 0; at <= ROOM - n; at++) {
                uint64_t const value = dice_edge(&random);
                dice_fill(&random, bytes, sizeof bytes);
                memcpy(expected, bytes, sizeof bytes);
                oracle_store(expected + at, value, n);
                store(bytes + at, value, n);
                assert_memory_equal(bytes, expected, ROOM);
            }
        }
    }
}

static void le16_load_returns_every_value_that_was_stored(void **state) {
    (void)state;
    uint8_t bytes[2];
    for (unsigned value = 0; value <= UINT16_MAX; value++) {
        le16_store(bytes, (uint16_t)value);
        assert_int_equal(le16_load(bytes), value);
    }
}

static void le_load_and_store_stay_inside_their_bytes(void **state) {
    (void)state;
    for (unsigned n = 2; n <= 8; n *= 2) {
        fenced memory = fenced_new(n);
        store(memory.bytes, UINT64_C(0x8877665544332211), n);
        if (n == 2) assert_int_equal(le16_load(memory.bytes), 0x2211);
        if (n == 4) assert_int_equal(le32_load(memory.bytes), 0x44332211);
        if (n == 8) assert_int_equal(le64_load(memory.bytes), UINT64_C(0x8877665544332211));
        fenced_free(&memory);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(le_load_reads_the_lowest_byte_first_at_any_address),
    cmocka_unit_test(le_store_writes_its_bytes_and_no_other),
    cmocka_unit_test(le16_load_returns_every_value_that_was_stored),
    cmocka_unit_test(le_load_and_store_stay_inside_their_bytes),
};

CORE_EXPORT(le)
