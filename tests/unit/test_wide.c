/* test_wide.c - core/wide.h against 128 bits, one by one. */
#include "core_units.h"

#include "core/wide.h"

#define BITS 128

typedef struct model {
    bool bit[BITS];
} model;

static model model_of(wide of) {
    model m;
    for (unsigned i = 0; i < BITS; i++) m.bit[i] = (i < 64 ? of.low >> i : of.high >> (i - 64)) & 1;
    return m;
}

static void check(const model *expected, wide actual) {
    model const m = model_of(actual);
    for (unsigned i = 0; i < BITS; i++) assert_int_equal(m.bit[i], expected->bit[i]);
}

static wide random_wide(unit_random *random) {
    return (wide){ random_edgy(random), random_edgy(random) };
}

/* ------------------------------------------------------------------ tests */

static void wide_is_stored_little_endian_in_16_bytes(void **state) {
    (void)state;
    unit_random random = random_start();
    for (unsigned round = 0; round < 1000; round++) {
        unsigned const at = (unsigned)random_below(&random, 9);
        uint8_t        bytes[32], expected[32];
        wide const     value = random_wide(&random);
        model const    m = model_of(value);
        random_fill(&random, bytes, sizeof bytes);
        memcpy(expected, bytes, sizeof bytes);
        for (unsigned i = 0; i < BITS; i++) oracle_put(expected + at, i, m.bit[i]);
        wide_store(bytes + at, value);
        assert_memory_equal(bytes, expected, sizeof bytes);
        check(&m, wide_load(bytes + at));
    }
}

static void wide_moves_by_every_number_of_places(void **state) {
    (void)state;
    unit_random random = random_start();
    for (unsigned by = 0; by < BITS; by++) {
        for (unsigned round = 0; round < 100; round++) {
            wide const  value = random_wide(&random);
            model const m = model_of(value);
            model       up = { { 0 } }, down = { { 0 } };
            for (unsigned i = by; i < BITS; i++) {
                up.bit[i] = m.bit[i - by];
                down.bit[i - by] = m.bit[i];
            }
            check(&up, wide_up(value, by));
            check(&down, wide_down(value, by));
        }
    }
}

static void wide_low_sets_just_the_n_lowest(void **state) {
    (void)state;
    for (unsigned n = 0; n <= BITS; n++) {
        model const m = model_of(wide_low(n));
        for (unsigned i = 0; i < BITS; i++) assert_int_equal(m.bit[i], i < n);
    }
}

static void wide_logic_is_that_of_each_bit(void **state) {
    (void)state;
    unit_random random = random_start();
    for (unsigned round = 0; round < 2000; round++) {
        wide const  a = random_wide(&random), b = random_wide(&random);
        model const x = model_of(a), y = model_of(b);
        model const both = model_of(wide_and(a, b)), any = model_of(wide_or(a, b)),
                    less = model_of(wide_without(a, b));
        for (unsigned i = 0; i < BITS; i++) {
            assert_int_equal(both.bit[i], x.bit[i] && y.bit[i]);
            assert_int_equal(any.bit[i], x.bit[i] || y.bit[i]);
            assert_int_equal(less.bit[i], x.bit[i] && !y.bit[i]);
        }
    }
}

/* Every width at every place. */
static void wide_fields_are_read_and_set_and_nothing_else(void **state) {
    (void)state;
    unit_random random = random_start();
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (unsigned at = 0; at + bits <= BITS && at < BITS; at++) {
            wide const     value = random_wide(&random);
            uint64_t const field = random_edgy(&random) & bits_low(bits);
            model          m = model_of(value);
            uint64_t       old = 0;
            for (unsigned i = 0; i < bits; i++) old |= (uint64_t)m.bit[at + i] << i;
            assert_int_equal(wide_get(value, at, bits), old);
            for (unsigned i = 0; i < bits; i++) m.bit[at + i] = field >> i & 1;
            check(&m, wide_set(value, at, bits, field));
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wide_is_stored_little_endian_in_16_bytes),
    cmocka_unit_test(wide_moves_by_every_number_of_places),
    cmocka_unit_test(wide_low_sets_just_the_n_lowest),
    cmocka_unit_test(wide_logic_is_that_of_each_bit),
    cmocka_unit_test(wide_fields_are_read_and_set_and_nothing_else),
};

CORE_EXPORT(wide)
