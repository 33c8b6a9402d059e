/* test_saboteurs_bloom.c - see test_saboteurs.c: blocked filters with one function broken, which a
 * law must notice; then, filters with one invariant broken: validate must name it. */
#include "kinds/bloom/size.h"
#include "sabotage.h"

#define BLOCKED "bits=20480,hashes=8,blocked=1"

/* ------------------------------------------------------------------ broken kinds */

/* For some keys, the mark in the first sector of the line is not set. */
static tamis_status adds_a_mark_less(tamis_table *table, uint64_t hash) {
    uint8_t *const     line = table->body + fastrange(hash, table->body_bytes / 64) * 64;
    uint64_t           before;
    tamis_status const status = (memcpy(&before, line, 8), honest->calls.add(table, hash));
    if (hash % 64 == 0) memcpy(line, &before, 8);
    return status;
}

static uint64_t has_chunk_but_the_last(const tamis_table *table, const uint64_t *hash, unsigned n) {
    uint64_t found = 0;
    for (unsigned i = 0; i + 1 < n; i++) found |= (uint64_t)honest->calls.has(table, hash[i]) << i;
    return found;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", BLOCKED, calls.has, looks_in_the_next_line),
    SABOTEUR("no_false_negative_under_churn", BLOCKED, calls.add, adds_a_mark_less),
    SABOTEUR("batch_equals_single", BLOCKED, calls.has_chunk, has_chunk_but_the_last),
    SABOTEUR("error_rate_is_as_predicted", BLOCKED, survey, surveys_as_if_anywhere),
    SABOTEUR("error_rate_is_as_predicted", BLOCKED, predict, predicts_as_if_anywhere),
    SABOTEUR("merges_hold_both", BLOCKED, merge, merges_a_part),
};

/* ------------------------------------------------------------------ broken tables */

static void validate_names_each_invariant(void **state) {
    (void)state;
    subject const variant = { .kind = "bloom", .capacity = 100, .geometry = "bits=1000,hashes=5" };
    tamis_set *const set = filled_set(&variant, 100);
    set->table.body[1000 / 8] ^= 1; /* the first bit beyond */
    expect_broken(set, "I1");
    set->table.body[1000 / 8] ^= 1;
    set->table.body[set->table.body_bytes - 1] ^= 0x80; /* the last one */
    expect_broken(set, "I1");
    set->table.body[set->table.body_bytes - 1] ^= 0x80;
    uint64_t const keys = set->table.keys;
    set->table.keys = 0;
    expect_broken(set, "I2");
    set->table.keys = 5;
    expect_broken(set, "I3");
    set->table.keys = keys;
    set->table.saturated = 1;
    expect_broken(set, "I4");
    set->table.saturated = 0;
    assert_true(tamis_validate(set, NULL));
    memset(set->table.body, 0, set->table.body_bytes);
    expect_broken(set, "I2");
    tamis_free(set);
}

static void validate_names_each_invariant_of_lines(void **state) {
    (void)state;
    subject const    variant = { .kind = "bloom", .capacity = 100, .geometry = BLOCKED };
    tamis_set *const set = filled_set(&variant, 100);
    uint64_t const   keys = set->table.keys;
    set->table.keys = 0;
    expect_broken(set, "I2");
    set->table.keys = 99; /* enough for the marks, if they were anywhere */
    expect_broken(set, "I3");
    set->table.keys = keys;
    set->table.saturated = 1;
    expect_broken(set, "I4");
    set->table.saturated = 0;
    uint64_t line = 0;
    while (set->table.body[line * 64] != 0 || set->table.body[line * 64 + 1] != 0) line++;
    memset(set->table.body + line * 64, 0, 8); /* a whole sector */
    expect_broken(set, "I5");
    tamis_free(set);
}

/* In a filter with one key, every flipped bit is noticed. */
static void validate_sees_every_flipped_bit_of_a_line(void **state) {
    (void)state;
    static const char *const geometries[] = { "bits=1536,hashes=8,blocked=1",
                                              "bits=1536,hashes=2,blocked=1",
                                              "bits=1536,hashes=64,blocked=1" };
    for (size_t i = 0; i < COUNT(geometries); i++) {
        subject const    variant = { .kind = "bloom", .capacity = 9, .geometry = geometries[i] };
        tamis_set *const set = filled_set(&variant, 1);
        expect_all_flips_broken(set);
        tamis_free(set);
    }
}

int main(void) {
    static const subject variant = { .kind = "bloom", .capacity = 2000, .operations = 30000 };
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_names_each_invariant_of_lines),
        cmocka_unit_test(validate_sees_every_flipped_bit_of_a_line),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), of_tables, COUNT(of_tables));
}
