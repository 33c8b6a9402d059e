/* test_saboteurs_dlbf.c - tables of the d-left kinds with one invariant broken: validate must name
 * it. See test_saboteurs.c.
 */
#include "broken.h"
#include "core/field.h"
#include "kinds/dlbf/codes.h"
#include "kinds/dlbf/size.h"
#include "survey.h"

/* ------------------------------------------------------------------ dlbf */

#define PLAIN "tables=3,buckets=11,bucket_bits=128,cells=10,sorting=1418580,group=1"
#define GROUPED "tables=3,buckets=12,bucket_bits=128,cells=10,sorting=1418580,group=4"

static tamis_set *filled(const char *geometry, uint64_t n) {
    subject const variant = {
        .kind = "dlbf", .capacity = n, .geometry = geometry, .overflow = 0.999
    };
    return filled_set(&variant, n);
}

/* The bit where the first bucket of a load begins; they have 8 bits of code and 120 of cells. */
static uint64_t bucket_with(const tamis_set *set, unsigned load) {
    const uint64_t *const g = set->table.geometry;
    codes                 all;
    codes_make((unsigned)g[DLBF_CELLS], g[DLBF_SORTING], &all);
    for (uint64_t at = 0; at < g[DLBF_TABLES] * g[DLBF_BUCKETS] * 128; at += 128) {
        if (split_load(all.split[field_get(set->table.body, at, 8)]) == load) return at;
    }
    fail_msg("no bucket has a load of %u", load);
    return 0;
}

static void set_code(tamis_set *set, uint64_t at, unsigned bits, unsigned code) {
    field_set(set->table.body, at, bits, code);
}

/* I1: there are 255 codes. */
static void dlbf_validate_names_an_unused_code(void **state) {
    (void)state;
    static const char *const geometries[] = { PLAIN, GROUPED };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = filled(geometries[i], 200);
        set_code(set, 0, 8, 255);
        expect_broken(set, "I1");
        memset(set->table.body, 0xff, set->table.body_bytes);
        expect_broken(set, "I1");
        tamis_free(set);
    }
    tamis_set *const set = filled(GROUPED, 200);
    set_code(set, 24, 8, 255); /* of the fourth of a group */
    expect_broken(set, "I1");
    tamis_free(set);
}

/* I2: two cells of one part are exchanged. Five cells of 24 bits, and one bit in the code: three of
 * them at least begin alike. */
static void dlbf_validate_names_cells_out_of_order(void **state) {
    (void)state;
    tamis_set *const set = filled(PLAIN, 180);
    uint64_t const   at = bucket_with(set, 5);
    codes            all;
    codes_make(10, set->table.geometry[DLBF_SORTING], &all);
    codes_split const split = all.split[field_get(set->table.body, at, 8)];
    unsigned const    part = split_end(split, 0) >= 3 ? 0 : 1;
    uint64_t const    cell = at + 8 + 24 * split_first(split, part);
    uint64_t const    a = field_get(set->table.body, cell, 24);
    uint64_t const    b = field_get(set->table.body, cell + 24, 24);
    assert_true(a < b);
    field_set(set->table.body, cell, 24, b);
    field_set(set->table.body, cell + 24, 24, a);
    expect_broken(set, "I2");
    tamis_free(set);
}

/* I3: seven cells of 17 bits leave one of 120; groups leave some; and the last line is not full. */
static void dlbf_validate_names_bits_behind_the_last(void **state) {
    (void)state;
    tamis_set *const plain = filled(PLAIN, 215), *const grouped = filled(GROUPED, 215);
    expect_flip_broken(plain, bucket_with(plain, 7) + 127, "I3");
    expect_flip_broken(plain, (uint64_t)3 * 11 * 128, "I3");
    expect_flip_broken(plain, plain->table.body_bytes * 8 - 1, "I3");
    assert_true(tamis_validate(plain, NULL));
    memset(grouped->table.body, 0, 64); /* a block without cells */
    expect_flip_broken(grouped, 32, "I3");
    expect_flip_broken(grouped, 511, "I3");
    tamis_free(plain);
    tamis_free(grouped);
}

static void dlbf_validate_names_counts_that_are_wrong(void **state) {
    (void)state;
    tamis_set *const set = filled(GROUPED, 200);
    set->table.keys++;
    expect_broken(set, "I4");
    set->table.keys = UINT64_MAX;
    expect_broken(set, "I4");
    set->table.keys = 0;
    expect_broken(set, "I4");
    tamis_free(set);
    tamis_set *const other = filled(PLAIN, 200);
    other->table.saturated = 1;
    expect_broken(other, "I4");
    tamis_free(other);
}

/* For any bytes, validate refuses the table, or operations on it are safe. */
static void dlbf_validate_is_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = {
        PLAIN, GROUPED, "tables=2,buckets=8,bucket_bits=64,cells=6,sorting=1280,group=4",
        "tables=4,buckets=16,bucket_bits=64,cells=12,sorting=0,group=1"
    };
    dice chance = { 5 };
    for (unsigned i = 0; i < 4; i++) {
        tamis_set *const set = filled(geometries[i], 20);
        for (unsigned round = 0; round < 3000; round++) {
            for (uint64_t at = 0; at < set->table.body_bytes; at++) {
                set->table.body[at] = (uint8_t)dice_roll(&chance);
                if (round % 2 != 0) set->table.body[at] &= (uint8_t)dice_roll(&chance);
            }
            const char *why;
            (void)tamis_validate(set, &why);
            (void)survey_fpr(set->kind, &set->table);
            for (uint64_t key = 0; key < 5; key++) (void)tamis_has_id(set, key);
        }
        tamis_free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dlbf_validate_names_an_unused_code),
        cmocka_unit_test(dlbf_validate_names_cells_out_of_order),
        cmocka_unit_test(dlbf_validate_names_bits_behind_the_last),
        cmocka_unit_test(dlbf_validate_names_counts_that_are_wrong),
        cmocka_unit_test(dlbf_validate_is_safe_on_any_bytes),
    };
    return cmocka_run_group_tests_name("saboteurs_dleft", tests, NULL, NULL);
}
