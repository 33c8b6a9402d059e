/* test_saboteurs_dlcbf.c - d-left tables with one invariant broken: validate must name it. */
#include "broken.h"

#include "core/cells.h"
#include "kinds/dlcbf/size.h"

/* Buckets with unused bits after their cells, and free cells; counters of 1 bit. */
#define COUNTING "tables=3,buckets=20,cells=7,remainder_bits=9,counter_bits=1,bucket_bytes=11"
#define SET "tables=2,buckets=30,cells=7,remainder_bits=9,counter_bits=0,bucket_bytes=9"

static tamis_set *make(const char *geometry, uint64_t keys) {
    subject const variant = {
        .kind = "dlcbf", .capacity = 100, .geometry = geometry, .overflow = 0.999
    };
    return filled_set(&variant, keys);
}

static cells_shape shape_of(const tamis_set *set) {
    const uint64_t *const g = set->table.geometry;
    return cells_make((cells_shape){ .n = (unsigned)g[DLCBF_CELLS],
                                     .bits = (unsigned)dleft_cell_bits(g),
                                     .print_bits = (unsigned)g[DLCBF_REMAINDER_BITS],
                                     .bytes = (unsigned)g[DLCBF_BUCKET_BYTES] });
}

static uint64_t buckets_of(const tamis_set *set) {
    return set->table.geometry[DLCBF_TABLES] * set->table.geometry[DLCBF_BUCKETS];
}

/* The first bucket that has at least so many cells in use, and one that is free. */
static uint8_t *bucket_with(const tamis_set *set, unsigned used) {
    cells_shape const shape = shape_of(set);
    for (uint64_t b = 0; b < buckets_of(set); b++) {
        uint8_t *const bucket = set->table.body + b * shape.bytes;
        unsigned const has = cells_used(&shape, bucket);
        if (has >= used && has < shape.n) return bucket;
    }
    fail_msg("there is no such bucket");
    return NULL;
}

/* ------------------------------------------------------------------ I1 */

static void validate_names_gaps_and_remainders_of_0(void **state) {
    (void)state;
    tamis_set *const  set = make(COUNTING, 100);
    cells_shape const shape = shape_of(set);
    uint8_t *const    bucket = bucket_with(set, 2);
    unsigned const    used = cells_used(&shape, bucket);
    uint64_t const    cell = cells_get(&shape, bucket, 0);
    cells_set(&shape, bucket, 0, 0); /* a gap */
    expect_broken(set, "I1");
    cells_set(&shape, bucket, 0, UINT64_C(1) << shape.print_bits); /* a counter alone */
    expect_broken(set, "I1");
    cells_set(&shape, bucket, 0, cell);
    cells_set(&shape, bucket, used, UINT64_C(1) << shape.print_bits); /* behind the last */
    expect_broken(set, "I1");
    cells_set(&shape, bucket, used, 0);
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

static void validate_names_bits_behind_the_cells(void **state) {
    (void)state;
    tamis_set *const  set = make(COUNTING, 100);
    cells_shape const shape = shape_of(set);
    uint64_t const    end = 8 * shape.bytes * buckets_of(set);
    for (uint64_t b = 0; b < buckets_of(set); b++) {
        for (unsigned bit = shape.n * shape.bits; bit < 8 * shape.bytes; bit++) {
            expect_flip_broken(set, 8 * shape.bytes * b + bit, "I1");
        }
    }
    for (uint64_t bit = end; bit < 8 * set->table.body_bytes; bit++) {
        expect_flip_broken(set, bit, "I1");
    }
    tamis_free(set);
}

/* ------------------------------------------------------------------ I2 */

/* The only contents of the table are n equal cells in one bucket; the counts of the table agree. */
static void put_cells(tamis_set *set, unsigned n, uint64_t counter, uint64_t saturated) {
    cells_shape const shape = shape_of(set);
    uint64_t const    full = UINT64_C(1) << (shape.bits - shape.print_bits);
    memset(set->table.body, 0, set->table.body_bytes);
    for (unsigned i = 0; i < n; i++) {
        cells_set(&shape, set->table.body, i, 5 | counter << shape.print_bits);
    }
    assert_true(counter < full);
    set->table.keys = n * (counter + 1);
    set->table.saturated = saturated;
}

static void validate_names_fingerprints_with_too_many_cells(void **state) {
    (void)state;
    tamis_set *const counting = make(COUNTING, 0), *const plain = make(SET, 0);
    for (unsigned n = 1; n <= 7; n++) {
        put_cells(counting, n, 1, n >= 4);
        if (n <= 4)
            assert_true(tamis_validate(counting, NULL));
        else
            expect_broken(counting, "I2");
        put_cells(counting, n, 0, 0); /* all but one must be full */
        if (n == 1)
            assert_true(tamis_validate(counting, NULL));
        else
            expect_broken(counting, "I2");
        put_cells(plain, n, 0, 0);
        if (n == 1)
            assert_true(tamis_validate(plain, NULL));
        else
            expect_broken(plain, "I2");
    }
    tamis_free(counting);
    tamis_free(plain);
}

/* The second subtable of a table is combined with a first one that has one more key. That is broken
 * only if the key is in the second subtable already. */
static void validate_names_cells_in_other_subtables(void **state) {
    (void)state;
    tamis_set *const  other = make(SET, 60);
    cells_shape const shape = shape_of(other);
    uint64_t const    half = other->table.geometry[DLCBF_BUCKETS] * shape.bytes;
    unsigned          seen = 0;
    for (uint64_t key = 0; key < 60; key++) {
        tamis_set *const set = make(SET, 0);
        const char      *why = "nothing";
        assert_int_equal(tamis_add_id(set, key), TAMIS_OK); /* to the left, as it is empty */
        memcpy(set->table.body + half, other->table.body + half, half);
        for (uint64_t at = half; at < 2 * half; at += shape.bytes) {
            set->table.keys += cells_used(&shape, set->table.body + at);
        }
        bool const is_whole = tamis_validate(set, &why);
        assert_true(is_whole || strncmp(why, "I2", 2) == 0);
        seen += !is_whole;
        tamis_free(set);
    }
    assert_in_range(seen, 10, 40);
    tamis_free(other);
}

/* ------------------------------------------------------------------ I3 */

static void validate_names_counts_that_are_wrong(void **state) {
    (void)state;
    tamis_set *const  set = make(COUNTING, 100);
    cells_shape const shape = shape_of(set);
    uint8_t *const    bucket = bucket_with(set, 1);
    set->table.keys++;
    expect_broken(set, "I3");
    set->table.keys -= 2;
    expect_broken(set, "I3");
    set->table.keys = UINT64_MAX;
    expect_broken(set, "I3");
    cells_set(&shape, bucket, 0, cells_get(&shape, bucket, 0) ^ UINT64_C(1) << shape.print_bits);
    set->table.keys = 100;
    expect_broken(set, "I3");
    tamis_free(set);
}

static void validate_names_saturation_that_is_wrong(void **state) {
    (void)state;
    tamis_set *const set = make(COUNTING, 50);
    set->table.saturated = 1;
    expect_broken(set, "I3");
    set->table.saturated = 0;
    for (unsigned i = 0; i < 20; i++) assert_int_equal(tamis_add_id(set, 1000), TAMIS_OK);
    assert_int_equal(set->table.saturated, 1);
    assert_true(tamis_validate(set, NULL));
    set->table.saturated = 0;
    expect_broken(set, "I3");
    set->table.saturated = 2;
    expect_broken(set, "I3");
    set->table.saturated = (UINT64_C(1) << 62) + 1; /* four times as many would be 4 */
    expect_broken(set, "I3");
    tamis_free(set);
}

/* ------------------------------------------------------------------ anything */

/* Is the bit part of a remainder? Only there a flipped bit can give another valid table. */
static bool is_remainder(const tamis_set *set, uint64_t bit) {
    cells_shape const    shape = shape_of(set);
    uint64_t const       b = bit / (8 * shape.bytes), at = bit % (8 * shape.bytes);
    const uint8_t *const bucket = set->table.body + b * shape.bytes;
    if (b >= buckets_of(set) || at / shape.bits >= shape.n) return false;
    return at / shape.bits < cells_used(&shape, bucket) && at % shape.bits < shape.print_bits;
}

static void validate_sees_every_other_flipped_bit(void **state) {
    (void)state;
    static const char *const geometries[] = { COUNTING, SET };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = make(geometries[i], 100);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            if (is_remainder(set, bit)) continue;
            flip(set, bit);
            bool const is_seen = !tamis_validate(set, NULL);
            flip(set, bit);
            if (!is_seen) fail_msg("bit %llu, %s", (unsigned long long)bit, geometries[i]);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { COUNTING, SET };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = make(geometries[i], 100);
        for (unsigned round = 0; round < 1500; round++) {
            scramble(set, &chance, round);
            assert_false(tamis_validate(set, NULL));
            (void)tamis_has_id(set, round);
            (void)!tamis_add_id(set, round);
            (void)!tamis_remove_id(set, round + 1);
        }
        tamis_free(set);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_gaps_and_remainders_of_0),
        cmocka_unit_test(validate_names_bits_behind_the_cells),
        cmocka_unit_test(validate_names_fingerprints_with_too_many_cells),
        cmocka_unit_test(validate_names_cells_in_other_subtables),
        cmocka_unit_test(validate_names_counts_that_are_wrong),
        cmocka_unit_test(validate_names_saturation_that_is_wrong),
        cmocka_unit_test(validate_sees_every_other_flipped_bit),
        cmocka_unit_test(validate_is_safe_on_any_bytes),
    };
    return cmocka_run_group_tests_name("saboteurs_dleft", tests, NULL, NULL);
}
