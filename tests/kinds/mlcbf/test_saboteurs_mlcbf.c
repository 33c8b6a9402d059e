/* test_saboteurs_mlcbf.c - the checks of the multilayer filter notice what they should.
 *
 * Kinds with one function broken, each by a mistake that is easy to make with levels: a law must
 * notice it. Then tables with one invariant broken: validate must name it, and be safe on any bits.
 */
#include "kinds/mlcbf/levels.h"
#include "kinds/mlcbf/size.h"
#include "sabotage.h"

static levels levels_of(const tamis_table *table) {
    const uint64_t *const g = table->geometry;
    return levels_make(g[ML_COUNTERS], g[ML_AREA], g + ML_BITS);
}

/* ------------------------------------------------------------------ broken kinds */

/* Counts down the first full counter of a closed block: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    levels const       l = levels_of(table);
    for (uint64_t i = 0; i < l.counters && levels_is_closed(&l, table->body, 0); i++) {
        if (!levels_is_full(table->body, i * l.bits[0], l.bits[0])) continue;
        field_set(table->body, i * l.bits[0], l.bits[0], 0);
        table->saturated--;
        break;
    }
    return status;
}

/* Opens a closed block again, although the values of its counters are lost. */
static tamis_status reopens(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    levels const       l = levels_of(table);
    field_set_bit(table->body, levels_closed_at(&l, 0), false);
    return status;
}

/* The cells of the first block are off by one, as if a gap had been opened one cell too far. */
static tamis_status mistakes_the_rank(tamis_table *table, uint64_t hash) {
    levels const   l = levels_of(table);
    uint64_t const at = levels_area_at(&l, 0);
    if (!levels_is_closed(&l, table->body, 0) && hash % 16 == 0) {
        uint64_t const a = field_get(table->body, at, l.bits[1]);
        uint64_t const b = field_get(table->body, at + l.bits[1], l.bits[1]);
        field_set(table->body, at, l.bits[1], b);
        field_set(table->body, at + l.bits[1], l.bits[1], a);
    }
    return honest->calls.add(table, hash);
}

/* A counter that comes down leaves its cell behind. */
static tamis_status leaves_a_cell(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    levels const       l = levels_of(table);
    if (hash % 64 == 0) field_set_bit(table->body, levels_closed_at(&l, 0) - 1, true);
    return status;
}

/* Merges stuck counters as if their values were known. */
static tamis_status merges_by_number(tamis_table *into, const tamis_table *from) {
    tamis_status const status = honest->merge(into, from);
    levels const       l = levels_of(into);
    for (uint64_t i = 0; i < l.counters; i++) field_set(into->body, i * l.bits[0], l.bits[0], 0);
    return status;
}

static const saboteur saboteurs[] = {
    SABOTEUR("no_false_negative_under_churn", NULL, calls.remove, unsticks),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.remove, reopens),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.add, mistakes_the_rank),
    SABOTEUR("emptying_restores_every_byte", NULL, calls.remove, leaves_a_cell),
    SABOTEUR("merges_hold_both", NULL, merge, merges_by_number),
};

/* ------------------------------------------------------------------ broken tables */

static tamis_set *filled(uint64_t keys) {
    subject const variant = { .kind = "mlcbf",
                              .capacity = 100,
                              .geometry = "blocks=3,counters=150,area=210,hashes=3,increments=240,"
                                          "plain=1,bits=3,bits2=3,bits3=6" };
    return filled_set(&variant, keys);
}

/* Flip one bit, expect that validate notices it, and flip it back. */
static void expect_bit(tamis_set *set, uint64_t bit, const char *invariant) {
    expect_flip_broken(set, bit, invariant);
    assert_true(tamis_validate(set, NULL));
}

/* The first counter of block 0 with that value on level 0. */
static uint64_t counter_at(const tamis_set *set, uint64_t value) {
    uint64_t i = 0;
    while (field_get(set->table.body, i * 3, 3) != value) i++;
    assert_true(i < 150);
    return i * 3;
}

static void validate_names_each_invariant(void **state) {
    (void)state;
    tamis_set *const set = filled(70);
    levels const     l = levels_of(&set->table);
    assert_int_equal(set->table.saturated, 0);
    expect_bit(set, levels_closed_at(&l, 0) - 1, "I1: a bit behind");
    expect_bit(set, levels_closed_at(&l, 0), "I2: a bit in the area");
    expect_bit(set, 3 * levels_block_bits(&l), "I3");
    expect_bit(set, set->table.body_bytes * 8 - 1, "I3");
    expect_bit(set, counter_at(set, 0), "I4");
    set->table.saturated = 1;
    expect_broken(set, "I5");
    set->table.saturated = 0;
    tamis_free(set);
}

static void validate_sees_cells_beyond_the_area(void **state) {
    (void)state;
    tamis_set *const set = filled(10);
    for (uint64_t i = 0; i < 150; i++) field_set(set->table.body, i * 3, 3, 7);
    expect_broken(set, "I1: the cells of a block");
    tamis_free(set);
}

static void validate_sees_a_closed_block_that_need_not_be(void **state) {
    (void)state;
    tamis_set *const set = filled(0);
    levels const     l = levels_of(&set->table);
    field_set_bit(set->table.body, levels_closed_at(&l, 0), true);
    expect_broken(set, "I2: a closed block without");
    tamis_free(set);
}

/* With one increment the counters sum up to k x keys: a wrong counter or a wrong number of keys is
 * noticed. */
static void validate_sees_counters_that_do_not_add_up(void **state) {
    (void)state;
    subject const    variant = { .kind = "mlcbf",
                                 .capacity = 100,
                                 .geometry = "blocks=3,counters=150,area=210,hashes=3,increments=2,"
                                                "plain=1,bits=3,bits2=3,bits3=6" };
    tamis_set *const set = filled_set(&variant, 60);
    assert_int_equal(set->table.saturated, 0);
    expect_bit(set, counter_at(set, 0), "I6");
    expect_bit(set, counter_at(set, 1), "I6");
    set->table.keys++;
    expect_broken(set, "I6");
    set->table.keys = UINT64_MAX / 2; /* the check must not overflow */
    expect_broken(set, "I6");
    tamis_free(set);
}

/* On random bits, valid or not, nothing outside is read or written, and a valid table works. */
static void any_bytes_are_safe(void **state) {
    (void)state;
    dice chance = { 3 };
    for (unsigned round = 0; round < 3000; round++) {
        tamis_set *const set = filled(dice_below(&chance, 150));
        uint64_t const   bits = set->table.body_bytes * 8;
        for (uint64_t n = dice_below(&chance, 20); n != 0; n--)
            flip(set, dice_below(&chance, bits));
        if (tamis_validate(set, NULL)) {
            for (uint64_t key = 0; key < 200; key++) {
                assert_in_range(tamis_remove_id(set, key), TAMIS_OK, TAMIS_ERR_ABSENT);
                assert_int_equal(tamis_add_id(set, key), TAMIS_OK);
            }
        }
        tamis_free(set);
    }
}

#define TIGHT                                   \
    "blocks=30,counters=150,area=130,hashes=4," \
    "increments=53504,bits=2,bits2=2,bits3=3,bits4=6"

int main(void) {
    static const subject variant = {
        .kind = "mlcbf", .capacity = 1000, .geometry = TIGHT, .operations = 50000
    };
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_sees_cells_beyond_the_area),
        cmocka_unit_test(validate_sees_a_closed_block_that_need_not_be),
        cmocka_unit_test(validate_sees_counters_that_do_not_add_up),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), of_tables, COUNT(of_tables));
}
