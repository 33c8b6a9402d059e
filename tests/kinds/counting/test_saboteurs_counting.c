/* test_saboteurs_counting.c - see test_saboteurs.c: counters in lines with one thing broken.
 *
 * First, kinds with one function broken: a law must notice it. Then, tables with one invariant
 * broken: validate must name it.
 */
#include "core/sectors.h"
#include "kinds/counting/size.h"
#include "sabotage.h"

#define BLOCKED "counters=20400,hashes=6,counter_bits=5,blocked=1"
#define TIGHT "counters=10240,hashes=6,counter_bits=2,blocked=1"
#define MINIMAL "counters=19200,hashes=6,minimal=1"

/* ------------------------------------------------------------------ broken kinds */

static sectors shape_of(const tamis_table *table) {
    const uint64_t *const g = table->geometry;
    return sectors_make(g[CBF_COUNTERS], g[CBF_COUNTER_BITS], g[CBF_HASHES], g[CBF_BLOCKED] != 0);
}

/* The first bit of counter i of a key. */
static uint64_t counter_of(const tamis_table *table, uint64_t hash, unsigned i) {
    sectors const in = shape_of(table);
    uint64_t      chosen = remix(hash, i);
    return sectors_line(&in, hash) + sectors_pick(&in, i, &chosen) * in.bits;
}

/* A removal decreases a stuck counter: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    unsigned const     bits = (unsigned)table->geometry[CBF_COUNTER_BITS];
    uint64_t const     at = counter_of(table, hash, 1);
    tamis_status const status = honest->calls.remove(table, hash);
    if (status == TAMIS_OK && field_get(table->body, at, bits) == bits_low(bits)) {
        field_set(table->body, at, bits, 0);
        table->saturated--;
    }
    return status;
}

/* Puts some counters into another sector, so that a key may have the same counter twice. */
static tamis_status adds_in_another_sector(tamis_table *table, uint64_t hash) {
    unsigned const bits = (unsigned)table->geometry[CBF_COUNTER_BITS];
    uint64_t const at = counter_of(table, hash, 0), other = counter_of(table, hash, 1);
    uint64_t const c = field_get(table->body, at, bits), d = field_get(table->body, other, bits);
    if (c == bits_low(bits) || d >= bits_low(bits) - 2) return honest->calls.add(table, hash);
    tamis_status const status = honest->calls.add(table, hash);
    field_set(table->body, at, bits, c);
    field_set(table->body, other, bits, d + 2);
    return status;
}

/* Merges counter by counter, but ignores the gaps between lines. */
static tamis_status merges_without_gaps(tamis_table *into, const tamis_table *from) {
    unsigned const     bits = (unsigned)into->geometry[CBF_COUNTER_BITS];
    uint64_t const     m = into->geometry[CBF_COUNTERS];
    tamis_status const status = honest->merge(into, from);
    for (uint64_t i = m / 2; i < m; i++) {
        field_set(into->body, i * bits, bits, field_get(from->body, i * bits, bits));
    }
    return status;
}

/* Minimal increase that counts up only the first of the smallest counters. */
static tamis_status adds_to_one(tamis_table *table, uint64_t hash) {
    unsigned const k = (unsigned)table->geometry[CBF_HASHES];
    uint64_t       best = 0, least = UINT64_MAX;
    for (unsigned i = 0; i < k; i++) {
        uint64_t const at = fastrange(remix(hash, i), table->geometry[CBF_COUNTERS]) * 4;
        uint64_t const value = field_get(table->body, at, 4);
        if (value >= least) continue;
        least = value;
        best = at;
    }
    if (least < 14) field_set(table->body, best, 4, least + 1);
    table->keys += least < 14;
    return TAMIS_OK;
}

/* Merges by the larger of two counters instead of their sum. */
static tamis_status merges_by_the_larger(tamis_table *into, const tamis_table *from) {
    for (uint64_t at = 0; at < into->body_bytes * 8 - 64; at += 4) {
        uint64_t const a = field_get(into->body, at, 4), b = field_get(from->body, at, 4);
        field_set(into->body, at, 4, max_u64(a, b));
    }
    into->keys += from->keys;
    return TAMIS_OK;
}

/* Subtracts at most what a counter has, and refuses nothing. */
static tamis_status takes_what_there_is(tamis_table *into, const tamis_table *from) {
    sectors const in = shape_of(into);
    for (uint64_t i = 0; i < in.counters; i++) {
        uint64_t const at = sectors_at(&in, i), value = field_get(into->body, at, in.bits);
        uint64_t const amount = field_get(from->body, at, in.bits);
        if (value != bits_low(in.bits))
            field_set(into->body, at, in.bits, value - min_u64(amount, value));
    }
    into->keys -= min_u64(into->keys, from->keys);
    return TAMIS_OK;
}

/* Refuses after half of the work is done. */
static tamis_status refuses_too_late(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->subtract(into, from);
    if (status != TAMIS_OK) into->keys++;
    return status;
}

/* A stuck counter is counted down like any other. */
static tamis_status takes_from_stuck(tamis_table *into, const tamis_table *from) {
    sectors const      in = shape_of(into);
    tamis_status const status = honest->subtract(into, from);
    for (uint64_t i = 0; i < in.counters && status == TAMIS_OK; i++) {
        uint64_t const at = sectors_at(&in, i), amount = field_get(from->body, at, in.bits);
        if (field_get(into->body, at, in.bits) != bits_low(in.bits) || amount == 0) continue;
        field_set(into->body, at, in.bits, bits_low(in.bits) - amount);
        into->saturated--;
    }
    return status;
}

static uint64_t counts_one_more(const tamis_table *table, uint64_t hash) {
    return honest->calls.count(table, hash) + 1;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", TIGHT, calls.remove, unsticks),
    SABOTEUR("no_false_negative_under_churn", BLOCKED, calls.has, looks_in_the_next_line),
    SABOTEUR("batch_equals_single", BLOCKED, calls.has, looks_in_the_next_line),
    SABOTEUR("no_false_negative_under_churn", BLOCKED, calls.add, adds_in_another_sector),
    SABOTEUR("error_rate_is_as_predicted", BLOCKED, survey, surveys_as_if_anywhere),
    SABOTEUR("error_rate_is_as_predicted", BLOCKED, predict, predicts_as_if_anywhere),
    SABOTEUR("merges_hold_both", BLOCKED, merge, merges_without_gaps),
    SABOTEUR("subtractions_undo_merges", BLOCKED, subtract, takes_what_there_is),
    SABOTEUR("subtractions_undo_merges", BLOCKED, subtract, refuses_too_late),
    SABOTEUR("subtractions_undo_merges", TIGHT, subtract, takes_from_stuck),
    SABOTEUR("no_false_negative_under_churn", MINIMAL, calls.add, adds_to_one),
    SABOTEUR("merged_counts_are_sums", MINIMAL, merge, merges_by_the_larger),
    SABOTEUR("counts_are_seldom_too_high", MINIMAL, calls.count, counts_one_more),
};

/* ------------------------------------------------------------------ broken tables */

#define GAPS "counters=1020,hashes=5,counter_bits=5,blocked=1"

static void validate_names_each_invariant(void **state) {
    (void)state;
    tamis_set *const set = unstuck_set("counting", GAPS);
    flip(set, 510); /* behind the 102 counters of the first line */
    expect_broken(set, "I1");
    flip(set, 510);
    flip(set, set->table.body_bytes * 8 - 1);
    expect_broken(set, "I1");
    flip(set, set->table.body_bytes * 8 - 1);
    set->table.saturated = 1;
    expect_broken(set, "I2");
    set->table.saturated = 0;
    set->table.keys++;
    expect_broken(set, "I3");
    set->table.keys = UINT64_MAX / 2; /* the check must not overflow */
    expect_broken(set, "I3");
    tamis_free(set);
}

static void validate_knows_what_minimal_increase_can_be(void **state) {
    (void)state;
    tamis_set *const set =
        unstuck_set("counting", "counters=999,hashes=5,counter_bits=4,minimal=1");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 999; i++) sum += field_get(set->table.body, i * 4, 4);
    assert_true(sum > 350 && sum < 450); /* counters that are not 0 rarely rise */
    set->table.keys = sum / 5;
    expect_broken(set, "I4");
    set->table.keys = (sum + 4) / 5;
    assert_true(tamis_validate(set, NULL));
    set->table.keys = sum + 1;
    expect_broken(set, "I4");
    set->table.keys = UINT64_MAX / 2;
    expect_broken(set, "I4");
    memset(set->table.body, 0, set->table.body_bytes);
    field_set(set->table.body, 0, 4, 3);
    set->table.keys = 2; /* three times the same counter */
    expect_broken(set, "I4");
    set->table.keys = 3;
    assert_true(tamis_validate(set, NULL));
    set->table.saturated = 1;
    expect_broken(set, "I2");
    tamis_free(set);
}

static void minimal_increase_cannot_remove(void **state) {
    (void)state;
    tamis_set *const set =
        unstuck_set("counting", "counters=999,hashes=5,counter_bits=4,minimal=1");
    tamis_removal  removed = { 7, 7, 7 };
    uint64_t const key = 0;
    assert_int_equal(set->abilities, TAMIS_CAN_COUNT | TAMIS_CAN_MERGE);
    assert_int_equal(tamis_remove_id(set, key), TAMIS_ERR_CANNOT);
    assert_int_equal(tamis_remove_id_batch(set, &key, 1, NULL, &removed), TAMIS_ERR_CANNOT);
    tamis_free(set);
    subject const asked = { .kind = "counting",
                            .capacity = 100,
                            .fpr = .01,
                            .abilities = TAMIS_CAN_REMOVE,
                            .geometry = "minimal=1,counters=1000" };
    tamis_set    *none = NULL;
    assert_int_equal(subject_try(&asked, 1, NULL, &none, NULL), TAMIS_ERR_CANNOT);
}

static void validate_sees_every_flipped_bit(void **state) {
    (void)state;
    tamis_set *const set = unstuck_set("counting", GAPS);
    expect_all_flips_broken(set);
    tamis_free(set);
}

#define SCATTERED "counters=999,hashes=5,counter_bits=4"

static void validate_names_each_invariant_of_scattered_counters(void **state) {
    (void)state;
    tamis_set *const set = unstuck_set("counting", SCATTERED);
    set->table.body[999 / 2] ^= 0x10; /* the first bits beyond */
    expect_broken(set, "I1");
    set->table.body[999 / 2] ^= 0x10;
    set->table.saturated = 1;
    expect_broken(set, "I2");
    set->table.saturated = 0;
    set->table.keys++;
    expect_broken(set, "I3");
    set->table.keys = UINT64_MAX / 2; /* the check must not overflow */
    expect_broken(set, "I3");
    tamis_free(set);
}

/* A change of any counter is noticed. */
static void validate_sees_every_flipped_bit_of_scattered_counters(void **state) {
    (void)state;
    tamis_set *const set = unstuck_set("counting", SCATTERED);
    expect_all_flips_broken(set);
    tamis_free(set);
}

int main(void) {
    static const subject variant = { .kind = "counting", .capacity = 2000, .operations = 30000 };
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_sees_every_flipped_bit),
        cmocka_unit_test(validate_knows_what_minimal_increase_can_be),
        cmocka_unit_test(minimal_increase_cannot_remove),
        cmocka_unit_test(validate_names_each_invariant_of_scattered_counters),
        cmocka_unit_test(validate_sees_every_flipped_bit_of_scattered_counters),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), of_tables, COUNT(of_tables));
}
