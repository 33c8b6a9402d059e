/* test_saboteurs_vicbf.c - see test_saboteurs.c: variable increments with one thing broken.
 *
 * First, kinds with one function broken: a law must notice it. Then, tables with one invariant
 * broken: validate must name it.
 */
#include "core/field.h"
#include "core/increments.h"
#include "kinds/vicbf/size.h"
#include "sabotage.h"

#define PLAIN "counters=501,hashes=5,more=0,counter_bits=7,increments=240,blocked=0"
#define BLOCKED "counters=511,hashes=5,more=0,counter_bits=7,increments=240,blocked=1"
#define TIGHT "counters=3000,hashes=5,more=0,counter_bits=5,increments=240,blocked=0"
#define WIDE "counters=7000,hashes=5,more=0,counter_bits=7,increments=240,blocked=0"

static const char *const geometries[] = { PLAIN, BLOCKED };

/* ------------------------------------------------------------------ broken kinds */

static unsigned bits_of(const tamis_table *table) {
    return (unsigned)table->geometry[VI_COUNTER_BITS];
}

/* The first bit of the first counter of a key, in a table that is not blocked. */
static uint64_t first_of(const tamis_table *table, uint64_t hash) {
    return fastrange(remix(hash, 0), table->geometry[VI_COUNTERS]) * bits_of(table);
}

/* A removal decreases a stuck counter: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    uint64_t const     at = first_of(table, hash), top = bits_low(bits_of(table));
    tamis_status const status = honest->calls.remove(table, hash);
    if (status == TAMIS_OK && field_get(table->body, at, bits_of(table)) == top) {
        field_set(table->body, at, bits_of(table), top - 7);
        table->saturated--;
    }
    return status;
}

/* A counter beyond its maximum wraps around, instead of sticking. */
static tamis_status wraps(tamis_table *table, uint64_t hash) {
    uint64_t const     at = first_of(table, hash), top = bits_low(bits_of(table));
    bool const         was_stuck = field_get(table->body, at, bits_of(table)) == top;
    tamis_status const status = honest->calls.add(table, hash);
    if (!was_stuck && field_get(table->body, at, bits_of(table)) == top) {
        field_set(table->body, at, bits_of(table), 4);
        table->saturated--;
    }
    return status;
}

/* Adds always the same increment, where lookups expect another one. */
static tamis_status adds_another(tamis_table *table, uint64_t hash) {
    uint64_t const     at = first_of(table, hash), top = bits_low(bits_of(table));
    tamis_status const status = honest->calls.add(table, hash);
    uint64_t const     c = field_get(table->body, at, bits_of(table));
    if (c == 5 || c == 6) field_set(table->body, at, bits_of(table), c + 1);
    return c <= top ? status : TAMIS_ERR_FULL;
}

/* Counters that are not 0 exclude no key: the rate is then that of a table a third smaller. */
static bool looks_at_zero_only(const tamis_table *table, uint64_t hash) {
    for (unsigned i = 0; i < table->geometry[VI_HASHES]; i++) {
        uint64_t const c = fastrange(remix(hash, i), table->geometry[VI_COUNTERS]);
        if (field_get(table->body, c * bits_of(table), bits_of(table)) == 0) return false;
    }
    return true;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", TIGHT, calls.remove, unsticks),
    SABOTEUR("no_false_negative_under_churn", TIGHT, calls.add, wraps),
    SABOTEUR("no_false_negative_under_churn", WIDE, calls.add, adds_another),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.has, forgets_single_copies),
    SABOTEUR("refused_removes_change_nothing", NULL, calls.remove, removes_without_looking),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.count, counts_too_few),
    SABOTEUR("merges_hold_both", NULL, merge, merges_a_part),
    SABOTEUR("error_rate_is_as_predicted", NULL, survey, flatters_itself),
    SABOTEUR("error_rate_is_as_predicted", NULL, calls.has, looks_at_zero_only),
};

/* ------------------------------------------------------------------ broken tables */

static void validate_names_each_invariant(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = unstuck_set("vicbf", geometries[i]);
        uint64_t const   first = field_get(set->table.body, 0, 7), end = i == 0 ? 501 * 7 : 511;
        flip(set, end); /* blocked: the one bit of a line that is no counter's */
        expect_broken(set, "I1");
        flip(set, end);
        flip(set, set->table.body_bytes * 8 - 1);
        expect_broken(set, "I1");
        flip(set, set->table.body_bytes * 8 - 1);
        set->table.saturated = 1;
        expect_broken(set, "I2");
        set->table.saturated = 0;
        field_set(set->table.body, 0, 7, 127); /* stuck, and not counted */
        expect_broken(set, "I2");
        field_set(set->table.body, 0, 7, 3); /* less than any increment */
        expect_broken(set, "I3");
        field_set(set->table.body, 0, 7, first);
        tamis_free(set);
    }
    tamis_set *const set =
        unstuck_set("vicbf", "counters=501,hashes=5,more=0,counter_bits=7,increments=2,blocked=0");
    set->table.keys *= 2;
    expect_broken(set, "I4");
    set->table.keys = UINT64_MAX / 2;
    expect_broken(set, "I4");
    tamis_free(set);
}

/* Does the flipped bit belong to no counter, or does it make a counter that is stuck or not a
 * possible sum? */
static bool must_be_seen(const tamis_set *set, uint64_t bit) {
    bool const     is_blocked = set->table.geometry[VI_BLOCKED] != 0;
    uint64_t const line = is_blocked ? bit / 512 * 512 : 0, c = (bit - line) / 7;
    uint64_t const value = field_get(set->table.body, line + c * 7, 7);
    if (is_blocked ? bit >= 7 * 512 || c == 73 : c >= 501) return true;
    return value == 127 || (value > 0 && value < 4);
}

/* Every flipped bit is noticed, unless the result is another possible sum of increments. */
static void validate_sees_flipped_bits(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = unstuck_set("vicbf", geometries[i]);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            flip(set, bit);
            bool const is_seen = bit >= set->table.body_bytes * 8 - 64 || must_be_seen(set, bit);
            assert_int_equal(tamis_validate(set, NULL), !is_seen);
            flip(set, bit);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void validate_and_lookups_are_safe_on_any_bytes(void **state) {
    (void)state;
    dice chance = { 7 };
    for (unsigned round = 0; round < 100; round++) {
        tamis_set *const set = unstuck_set("vicbf", geometries[round % 2]);
        uint64_t         count;
        scramble(set, &chance, round);
        (void)tamis_has_id(set, round);
        assert_int_equal(tamis_count_id(set, round, &count), TAMIS_OK);
        assert_false(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

int main(void) {
    static const subject variant = {
        .kind = "vicbf", .capacity = 1000, .fpr = .01, .operations = 30000
    };
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_sees_flipped_bits),
        cmocka_unit_test(validate_and_lookups_are_safe_on_any_bytes),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), of_tables, COUNT(of_tables));
}
