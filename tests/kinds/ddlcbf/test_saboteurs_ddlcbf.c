/* test_saboteurs_ddlcbf.c - tables with dynamic bit reassignment and one invariant broken: validate
 * must name it. Also, nothing outside of a table is touched, whatever its bytes are.
 */
#include "broken.h"
#include "kinds/ddlcbf/size.h"

#define ONE "tables=3,buckets=7,cells=8,remainder_bits=9,counter_bits=2,lengths=1,bucket_bytes=16"
#define TWO "tables=3,buckets=7,cells=8,remainder_bits=9,counter_bits=2,lengths=2,bucket_bytes=17"

/* Filled and then half emptied, so that there are two lengths. Some keys have several copies. */
static tamis_set *filled(const char *geometry, prefixes_shape *ret_shape) {
    subject const    variant = { .kind = "ddlcbf", .capacity = 60, .geometry = geometry };
    tamis_set *const set = filled_set(&variant, 125);
    for (uint64_t key = 0; key < 70; key++) {
        assert_int_equal(tamis_remove_id(set, key), TAMIS_OK);
    }
    for (uint64_t key = 200; key < 230; key++) {
        for (uint64_t i = 0; i <= key % 3; i++) assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
    }
    assert_true(tamis_validate(set, NULL));
    assert_true(tamis_ddlcbf_cells(set->table.geometry, ret_shape));
    return set;
}

static uint64_t n_buckets(const tamis_set *set) {
    return set->table.geometry[DDLCBF_TABLES] * set->table.geometry[DDLCBF_BUCKETS];
}

static void set_code(const prefixes_shape *s, uint8_t *bucket, uint64_t code) {
    uint8_t *const last = bucket + s->bytes - 8;
    uint64_t const cells = le64_load(last) & bits_low(64u - s->code_bits);
    le64_store(last, cells | code << (64 - s->code_bits));
}

/* I1: codes that are never used, or that do not belong to these cells. */
static void validate_names_impossible_codes(void **state) {
    (void)state;
    for (unsigned lengths = 1; lengths <= 2; lengths++) {
        prefixes_shape   s;
        tamis_set *const set = filled(lengths == 1 ? ONE : TWO, &s);
        unsigned const   codes = 1u << s.code_bits;
        unsigned const   own = prefixes_code(&s, set->table.body);
        uint64_t         seen = 0;
        for (unsigned code = 0; code < codes; code++) {
            const char *why = "";
            set_code(&s, set->table.body, code);
            bool const is_valid = tamis_validate(set, &why);
            assert_true(code != own || is_valid);
            bool const is_impossible = lengths == 1 ? code >= s.codes : code >> 10 >= s.codes;
            if (is_impossible) assert_true(!is_valid && strncmp(why, "I1", 2) == 0);
            seen += is_impossible;
        }
        assert_true(seen > 10);
        set_code(&s, set->table.body, own);
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

/* The first bucket with cells of both lengths. */
static uint8_t *two_lengths(const tamis_set *set, const prefixes_shape *s) {
    for (uint64_t i = 0; i < n_buckets(set); i++) {
        uint8_t *const      bucket = set->table.body + i * s->bytes;
        prefixes_head const head = prefixes_head_of(s, bucket);
        if (head.n[0] > 1 && head.n[1] != 0) return bucket;
    }
    fail_msg("there is no such bucket");
    return NULL;
}

/* I1: long cells that are not longer than the short ones, or without short ones; a long length
 * without long cells; lengths without cells. */
static void validate_names_lengths_that_are_told_wrongly(void **state) {
    (void)state;
    prefixes_shape      s;
    tamis_set *const    set = filled(TWO, &s);
    uint8_t *const      bucket = two_lengths(set, &s);
    prefixes_head const head = prefixes_head_of(&s, bucket);
    unsigned const      n = head.n[0] + head.n[1], code = prefixes_code(&s, bucket);
    unsigned const      pair = code >> 10, shorter = code >> 5 & 31, longer = code & 31;
    unsigned const      all_long = max_codes_pair(n, n), none_long = max_codes_pair(n, 0);
    set_code(&s, bucket, pair << 10 | shorter << 5 | shorter);
    expect_broken(set, "I1");
    set_code(&s, bucket, all_long << 10 | shorter << 5 | shorter);
    expect_broken(set, "I1");
    set_code(&s, bucket, none_long << 10 | shorter << 5 | longer);
    expect_broken(set, "I1");
    set_code(&s, bucket, pair << 10 | 31u << 5 | 31u); /* more than there is room for */
    expect_broken(set, "I1");
    memset(bucket, 0, s.bytes);
    set_code(&s, bucket, 5u << 5);
    expect_broken(set, "I1");
    tamis_free(set);
}

/* I1: a bit after the cells of a bucket, or after the last bucket. */
static void validate_names_bits_where_nothing_is(void **state) {
    (void)state;
    for (unsigned lengths = 1; lengths <= 2; lengths++) {
        prefixes_shape   s;
        tamis_set *const set = filled(lengths == 1 ? ONE : TWO, &s);
        unsigned         tried = 0;
        for (uint64_t i = 0; i < n_buckets(set); i++) {
            const uint8_t *const bucket = set->table.body + i * s.bytes;
            prefixes_head const  head = prefixes_head_of(&s, bucket);
            unsigned const       used = prefixes_used(&s, head.n, head.length);
            for (uint64_t bit = used; bit < s.room; bit++, tried++) {
                expect_flip_broken(set, 8 * i * s.bytes + bit, "I1");
            }
        }
        assert_true(tried > 10);
        expect_flip_broken(set, 8 * n_buckets(set) * s.bytes, "I1");
        expect_flip_broken(set, 8 * set->table.body_bytes - 1, "I1");
        tamis_free(set);
    }
}

/* I2: two cells of the same length are exchanged. */
static void validate_names_cells_out_of_order(void **state) {
    (void)state;
    for (unsigned lengths = 1; lengths <= 2; lengths++) {
        prefixes_shape   s;
        tamis_set *const set = filled(lengths == 1 ? ONE : TWO, &s);
        unsigned         tried = 0;
        for (uint64_t i = 0; i < n_buckets(set); i++) {
            uint8_t *const      bucket = set->table.body + i * s.bytes;
            prefixes_head const head = prefixes_head_of(&s, bucket);
            prefixes            p;
            prefixes_unpack(&s, bucket, &p);
            if (head.n[0] < 2 || p.cell[0][0] == p.cell[0][1]) continue;
            uint64_t const first = p.cell[0][0];
            p.cell[0][0] = p.cell[0][1];
            p.cell[0][1] = first;
            prefixes_pack(&s, &p, bucket);
            expect_broken(set, "I2");
            prefixes_sort(&p, 0);
            prefixes_pack(&s, &p, bucket);
            tried++;
        }
        assert_true(tried > 3 && tamis_validate(set, NULL));
        tamis_free(set);
    }
}

/* I3: counts that differ from those of the cells. */
static void validate_names_counts_that_are_wrong(void **state) {
    (void)state;
    prefixes_shape   s;
    tamis_set *const set = filled(ONE, &s);
    set->table.keys++;
    expect_broken(set, "I3");
    set->table.keys--;
    set->table.saturated++;
    expect_broken(set, "I3");
    set->table.saturated--;
    for (uint64_t i = 0; i < n_buckets(set); i++) {
        prefixes_head const head = prefixes_head_of(&s, set->table.body + i * s.bytes);
        if (head.n[0] == 1) expect_flip_broken(set, 8 * i * s.bytes, "I3"); /* its counter */
    }
    memset(set->table.body, 0, set->table.body_bytes);
    expect_broken(set, "I3");
    tamis_free(set);
}

/* Every operation on random bytes; the sanitizers find wrong accesses. */
static void no_bytes_outside_the_table_are_touched(void **state) {
    (void)state;
    dice chance = { 9 };
    for (unsigned round = 0; round < 1500; round++) {
        prefixes_shape   s;
        tamis_set *const set = filled(round % 2 == 0 ? ONE : TWO, &s);
        bool const       is_wild = round % 4 < 2;
        for (uint64_t at = 0; at < n_buckets(set) * s.bytes; at++) {
            if (is_wild || dice_below(&chance, 20) == 0)
                set->table.body[at] = (uint8_t)dice_roll(&chance);
        }
        const char *why = NULL;
        (void)tamis_validate(set, &why);
        for (unsigned i = 0; i < 60; i++) {
            uint64_t count, key = dice_below(&chance, 300);
            (void)!tamis_add_id(set, key);
            (void)!tamis_remove_id(set, dice_below(&chance, 300));
            (void)!tamis_count_id(set, key, &count);
        }
        tamis_info info;
        (void)!tamis_inspect(set, &info);
        tamis_free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_impossible_codes),
        cmocka_unit_test(validate_names_lengths_that_are_told_wrongly),
        cmocka_unit_test(validate_names_bits_where_nothing_is),
        cmocka_unit_test(validate_names_cells_out_of_order),
        cmocka_unit_test(validate_names_counts_that_are_wrong),
        cmocka_unit_test(no_bytes_outside_the_table_are_touched),
    };
    return cmocka_run_group_tests_name("saboteurs_ddlcbf", tests, NULL, NULL);
}
