/* test_field.c - core/field.h against bits that are read one by one, and which cache lines it
 * reads. */
#include "core_units.h"

/* Every byte of a body that is read by words, see le.h. */
static void touched(const void *from, size_t bytes);
#define TAMIS_TOUCH(address, bytes) touched(address, bytes)
#include "core/field.h"

#define BITS (3 * 512u) /* of fields, so that some straddle lines */
#define BYTES (BITS / 8 + FIELD_PAD_BYTES)
#define MAX_WIDE 64

static struct { const uint8_t *first, *last; /* of what was read since it was NULL */ } trace;

static void touched(const void *from, size_t bytes) {
    const uint8_t *const first = from, *const last = first + bytes - 1;
    if (trace.first == NULL || first < trace.first) trace.first = first;
    if (trace.last == NULL || last > trace.last) trace.last = last;
}

static void trace_start(void) {
    trace.first = trace.last = NULL;
}

static uint64_t oracle_get(const uint8_t *body, uint64_t at, unsigned bits) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bits; i++) value |= (uint64_t)read_bit(body, at + i) << i;
    return value;
}

static void oracle_set(uint8_t *body, uint64_t at, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; i++) write_bit(body, at + i, value >> i & 1);
}

/* ------------------------------------------------------------------ fields */

static void field_get_reads_every_width_at_every_bit(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned bits = 0; bits <= FIELD_MAX_BITS; bits++) {
        dice_fill(&random, body.bytes, BYTES);
        for (uint64_t at = 0; at + bits <= BITS; at++) {
            assert_int_equal(field_get(body.bytes, at, bits), oracle_get(body.bytes, at, bits));
        }
    }
    fenced_free(&body);
}

static void field_get_wide_reads_every_width_at_every_bit(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned bits = 0; bits <= MAX_WIDE; bits++) {
        dice_fill(&random, body.bytes, BYTES);
        for (uint64_t at = 0; at + bits <= BITS; at++) {
            assert_int_equal(field_get_wide(body.bytes, at, bits),
                             oracle_get(body.bytes, at, bits));
        }
    }
    fenced_free(&body);
}

/* All of the memory must agree, not only the field. */
static void field_set_changes_its_bits_and_no_other(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  body = fenced_new(BYTES);
    uint8_t expected[BYTES];
    for (unsigned bits = 0; bits <= FIELD_MAX_BITS; bits++) {
        dice_fill(&random, body.bytes, BYTES);
        memcpy(expected, body.bytes, BYTES);
        for (uint64_t at = 0; at + bits <= BITS; at++) {
            uint64_t const value = dice_edge(&random) & bits_low(bits);
            field_set(body.bytes, at, bits, value);
            oracle_set(expected, at, bits, value);
            assert_memory_equal(body.bytes, expected, BYTES);
        }
    }
    fenced_free(&body);
}

static void field_bits_are_read_and_set_one_by_one(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  body = fenced_new(BYTES);
    uint8_t expected[BYTES];
    dice_fill(&random, body.bytes, BYTES);
    memcpy(expected, body.bytes, BYTES);
    for (uint64_t at = 0; at < BYTES * 8; at++) {
        bool const value = dice_below(&random, 2);
        assert_int_equal(field_get_bit(body.bytes, at), read_bit(expected, at));
        field_set_bit(body.bytes, at, value);
        write_bit(expected, at, value);
        assert_memory_equal(body.bytes, expected, BYTES);
    }
    fenced_free(&body);
}

/* ------------------------------------------------------------------ zeros */

/* All bits outside of the range are set; inside it none is, or one. */
static void check_zero(uint8_t *body, uint64_t from, uint64_t to, uint64_t bit) {
    memset(body, 0xff, BYTES);
    for (uint64_t i = from; i < to; i++) write_bit(body, i, i == bit);
    bool const is_inside = bit >= from && bit < to;
    if (field_is_zero(body, from, to) != !is_inside) {
        print_error("from %llu to %llu, bit %llu\n", (unsigned long long)from,
                    (unsigned long long)to, (unsigned long long)bit);
        fail();
    }
}

static void field_is_zero_sees_every_bit_of_the_range_and_no_other(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t const from = dice_below(&random, BITS), n = dice_below(&random, 300);
        uint64_t const to = min_u64(BITS, from + n);
        check_zero(body.bytes, from, to, BITS);
        check_zero(body.bytes, from, to, from);
        if (to > from) check_zero(body.bytes, from, to, to - 1);
        if (to > from) check_zero(body.bytes, from, to, from + dice_below(&random, to - from));
    }
    fenced_free(&body);
}

static void field_clear_clears_the_range_and_no_other_bit(void **state) {
    (void)state;
    dice    random = dice_start();
    fenced  body = fenced_new(BYTES);
    uint8_t expected[BYTES];
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t const from = dice_below(&random, BITS), n = dice_below(&random, 300);
        uint64_t const to = min_u64(BITS, from + n);
        for (unsigned i = 0; i < BYTES; i++) expected[i] = (uint8_t)dice_roll(&random);
        memcpy(body.bytes, expected, BYTES);
        for (uint64_t i = from; i < to; i++) write_bit(expected, i, false);
        field_clear(body.bytes, from, to);
        assert_memory_equal(body.bytes, expected, BYTES);
    }
    fenced_free(&body);
}

static void field_rest_is_zero_sees_every_bit_from_its_first_on(void **state) {
    (void)state;
    fenced body = fenced_new(64);
    for (uint64_t bit = 0; bit < 512; bit++) {
        write_bit(body.bytes, bit, true);
        for (uint64_t from = 0; from <= 512; from++) {
            assert_int_equal(field_rest_is_zero(body.bytes, from, 64), bit < from);
        }
        write_bit(body.bytes, bit, false);
    }
    fenced_free(&body);
}

/* ------------------------------------------------------------------ lines */

/* Each cache line costs time: only those that the field is in are read. */
static void check_lines(const uint8_t *body, uint64_t at, unsigned bits) {
    uint64_t const last = at + (bits != 0 ? bits - 1 : 0);
    assert_non_null(trace.first);
    assert_int_equal((uint64_t)(trace.first - body) / 64, at / 512);
    assert_int_equal((uint64_t)(trace.last - body) / 64, last / 512);
}

static void field_get_and_set_read_only_lines_of_the_field(void **state) {
    (void)state;
    static _Alignas(64) uint8_t body[BYTES];
    for (unsigned bits = 0; bits <= FIELD_MAX_BITS; bits++) {
        for (uint64_t at = 0; at + bits <= BITS; at++) {
            trace_start();
            assert_int_equal(field_get(body, at, bits), 0);
            check_lines(body, at, bits);
            trace_start();
            field_set(body, at, bits, 0);
            check_lines(body, at, bits);
        }
    }
}

/* Bits 60..63 of a word and 0..2 of the next: read at the byte where they begin. */
static void field_get_crosses_word_boundary(void **state) {
    (void)state;
    uint8_t body[8 + 8 + FIELD_PAD_BYTES] = { 0 };
    body[7] = 0xb0;
    body[8] = 0x05;
    assert_int_equal(field_get(body, 60, 7), 0x5b);
    field_set(body, 60, 7, 0x24);
    assert_int_equal(body[7], 0x40);
    assert_int_equal(body[8], 0x02);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(field_get_reads_every_width_at_every_bit),
    cmocka_unit_test(field_get_wide_reads_every_width_at_every_bit),
    cmocka_unit_test(field_set_changes_its_bits_and_no_other),
    cmocka_unit_test(field_bits_are_read_and_set_one_by_one),
    cmocka_unit_test(field_is_zero_sees_every_bit_of_the_range_and_no_other),
    cmocka_unit_test(field_clear_clears_the_range_and_no_other_bit),
    cmocka_unit_test(field_rest_is_zero_sees_every_bit_from_its_first_on),
    cmocka_unit_test(field_get_and_set_read_only_lines_of_the_field),
    cmocka_unit_test(field_get_crosses_word_boundary),
};

CORE_EXPORT(field)
