/* test_packed.c - core/packed.h against fields read and written bit by bit. */
#include "core_units.h"

#include "core/packed.h"

#define FIELDS 131 /* odd, so that the last field ends anywhere */

/* ------------------------------------------------------------------ oracles */

static uint64_t oracle_get(const uint8_t *array, uint64_t i, unsigned bits) {
    uint64_t value = 0;
    for (unsigned bit = 0; bit < bits; bit++) {
        value |= (uint64_t)read_bit(array, i * bits + bit) << bit;
    }
    return value;
}

static void oracle_set(uint8_t *array, uint64_t i, unsigned bits, uint64_t value) {
    for (unsigned bit = 0; bit < bits; bit++) {
        write_bit(array, i * bits + bit, value >> bit & 1);
    }
}

/* What an array of so many fields needs, and no byte more. */
static size_t array_bytes(uint64_t fields, unsigned bits) {
    return (size_t)(fields * bits + 7) / 8 + PACKED_PAD_BYTES;
}

/* ------------------------------------------------------------------ tests */

static void packed_get_reads_every_field_of_every_width(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        for (uint64_t fields = FIELDS - 8; fields <= FIELDS; fields++) {
            size_t const bytes = array_bytes(fields, bits);
            fenced       array = fenced_new(bytes);
            dice_fill(&random, array.bytes, bytes);
            for (uint64_t i = 0; i < fields; i++) {
                assert_int_equal(packed_get(array.bytes, i, bits),
                                 oracle_get(array.bytes, i, bits));
            }
            fenced_free(&array);
        }
    }
}

static void packed_set_changes_its_field_and_no_other_bit(void **state) {
    (void)state;
    dice    random = dice_start();
    uint8_t expected[4096];
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        size_t const bytes = array_bytes(FIELDS, bits);
        fenced       array = fenced_new(bytes);
        for (uint64_t i = 0; i < FIELDS; i++) {
            uint64_t const value = dice_edge(&random) & bits_low(bits);
            dice_fill(&random, array.bytes, bytes);
            memcpy(expected, array.bytes, bytes);
            oracle_set(expected, i, bits, value);
            packed_set(array.bytes, i, bits, value);
            assert_memory_equal(array.bytes, expected, bytes);
            assert_int_equal(packed_get(array.bytes, i, bits), value);
        }
        fenced_free(&array);
    }
}

/* The largest and the smallest value, over ones and over zeros. */
static void packed_set_holds_the_extremes_of_every_width(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        size_t const bytes = array_bytes(FIELDS, bits);
        fenced       array = fenced_new(bytes);
        for (uint64_t i = 0; i < FIELDS; i++) packed_set(array.bytes, i, bits, bits_low(bits));
        for (uint64_t bit = 0; bit < bytes * 8; bit++) {
            assert_int_equal(read_bit(array.bytes, bit), bit < (uint64_t)FIELDS * bits);
        }
        for (uint64_t i = 0; i < FIELDS; i++) packed_set(array.bytes, i, bits, 0);
        for (size_t at = 0; at < bytes; at++) assert_int_equal(array.bytes[at], 0);
        fenced_free(&array);
    }
}

/* Field 9 of 7 bits is bit 63 of one word and bits 0..5 of the next. */
static void packed_get_crosses_word_boundary(void **state) {
    (void)state;
    uint8_t array[24] = { 0 };
    array[7] = 0x80;
    array[8] = 0x15;
    assert_int_equal(packed_get(array, 9, 7), 0x2b);
    packed_set(array, 9, 7, 0x54);
    assert_int_equal(array[7], 0);
    assert_int_equal(array[8], 0x2a);
}

/* The word that holds a field holds all of it, and is where the field is. */
static void check_find(uint64_t i, unsigned bits) {
    field_at const at = packed_find(i, bits);
    assert_int_equal(at.byte * 8 + at.shift, i * bits);
    assert_true(at.shift + bits <= 64);
}

static void packed_find_holds_every_field_whole(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        for (uint64_t i = 0; i < 2048; i++) check_find(i, bits);
        for (uint64_t i = 0; i < 130; i++) check_find(UINT64_MAX / bits - i, bits);
    }
}

/* Each cache line costs time: the word lies only in lines that the field is in. */
static void packed_find_touches_only_lines_of_the_field(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        for (uint64_t i = 0; i < 2048; i++) {
            uint64_t const byte = packed_find(i, bits).byte;
            uint64_t const first = i * bits / 8, last = (i * bits + bits - 1) / 8;
            assert_int_equal(byte / 64, first / 64);
            assert_int_equal((byte + 7) / 64, last / 64);
        }
    }
}

static void packed_find_stays_inside_the_pad_of_the_last_field(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= PACKED_MAX_BITS; bits++) {
        for (uint64_t fields = 1; fields < 2048; fields++) {
            assert_true(packed_find(fields - 1, bits).byte + 8 <= array_bytes(fields, bits));
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(packed_get_reads_every_field_of_every_width),
    cmocka_unit_test(packed_set_changes_its_field_and_no_other_bit),
    cmocka_unit_test(packed_set_holds_the_extremes_of_every_width),
    cmocka_unit_test(packed_get_crosses_word_boundary),
    cmocka_unit_test(packed_find_holds_every_field_whole),
    cmocka_unit_test(packed_find_touches_only_lines_of_the_field),
    cmocka_unit_test(packed_find_stays_inside_the_pad_of_the_last_field),
};

CORE_EXPORT(packed)
