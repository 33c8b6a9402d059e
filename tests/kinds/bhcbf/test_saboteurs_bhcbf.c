/* test_saboteurs_bhcbf.c - see test_saboteurs.c: pairs of counters with one thing broken.
 *
 * First, kinds with one function broken: a law must notice it. Then, tables with one invariant
 * broken: validate must name it.
 */
#include "core/packed.h"
#include "kinds/bhcbf/size.h"
#include "sabotage.h"

#define PLAIN "entries=501,hashes=5,count_bits=4,sum_bits=8,sequence=40978,h=3,centred=0"
#define CENTRED "entries=501,hashes=5,count_bits=4,sum_bits=7,sequence=40978,h=3,centred=1"
#define TIGHT "entries=3000,hashes=5,count_bits=4,sum_bits=4,sequence=40978,centred=1"

/* ------------------------------------------------------------------ broken kinds */

static unsigned bits_of(const tamis_table *table) {
    return (unsigned)(table->geometry[BH_COUNT_BITS] + table->geometry[BH_SUM_BITS]);
}

/* A removal clears the mark of a stuck entry: the classic bug. */
static tamis_status unmarks(tamis_table *table, uint64_t hash) {
    tamis_status const status = honest->calls.remove(table, hash);
    unsigned const     bits = bits_of(table);
    pairs const        layout = tamis_bh_pairs(table->geometry);
    uint64_t const place = fastrange(remix(hash, 0), table->geometry[BH_ENTRIES] * layout.sums.n);
    if (packed_get(table->body, place / layout.sums.n, bits) == bits_low(bits)) {
        packed_set(table->body, place / layout.sums.n, bits, 0);
        table->saturated--;
    }
    return status;
}

/* An entry out of its range wraps around, instead of being marked. */
static tamis_status wraps(tamis_table *table, uint64_t hash) {
    uint64_t const  m = table->geometry[BH_ENTRIES];
    unsigned const  bits = bits_of(table);
    static uint64_t before[4096];
    for (uint64_t e = 0; e < m; e++) before[e] = packed_get(table->body, e, bits);
    tamis_status const status = honest->calls.add(table, hash);
    for (uint64_t e = 0; e < m; e++) {
        if (packed_get(table->body, e, bits) != bits_low(bits) || before[e] == bits_low(bits))
            continue;
        packed_set(table->body, e, bits, before[e] % (bits_low(bits) - 1) + 1);
        table->saturated--;
    }
    return status;
}

static const saboteur saboteurs[] = {
    SABOTEUR("floods_harm_no_other_key", NULL, calls.remove, unmarks),
    SABOTEUR("no_false_negative_under_churn", TIGHT, calls.remove, unmarks),
    SABOTEUR("no_false_negative_under_churn", TIGHT, calls.add, wraps),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.has, forgets_single_copies),
    SABOTEUR("refused_removes_change_nothing", NULL, calls.remove, removes_without_looking),
    SABOTEUR("no_false_negative_under_churn", NULL, calls.count, counts_too_few),
    SABOTEUR("merges_hold_both", NULL, merge, merges_a_part),
    SABOTEUR("error_rate_is_as_predicted", NULL, survey, flatters_itself),
};

/* ------------------------------------------------------------------ broken tables */

static void validate_names_each_invariant(void **state) {
    (void)state;
    static const char *const geometries[] = { PLAIN, CENTRED };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = unstuck_set("bhcbf", geometries[i]);
        unsigned const   bits = bits_of(&set->table);
        uint64_t const   first = packed_get(set->table.body, 0, bits), end = 501 * (uint64_t)bits;
        flip(set, end);
        expect_broken(set, "I1");
        flip(set, end);
        flip(set, set->table.body_bytes * 8 - 1);
        expect_broken(set, "I1");
        flip(set, set->table.body_bytes * 8 - 1);
        set->table.saturated = 1;
        expect_broken(set, "I2");
        set->table.saturated = 0;
        packed_set(set->table.body, 0, bits, bits_low(bits)); /* marked, and not counted */
        expect_broken(set, "I2");
        packed_set(set->table.body, 0, bits, 5 << 4); /* no key, and a sum */
        expect_broken(set, "I3");
        packed_set(set->table.body, 0, bits, 2); /* two keys that added nothing, or 16 */
        if (i == 0) expect_broken(set, "I3");
        packed_set(set->table.body, 0, bits, first);
        set->table.keys++;
        expect_broken(set, "I4");
        set->table.keys = UINT64_MAX / 2; /* the check must not overflow */
        expect_broken(set, "I4");
        tamis_free(set);
    }
}

/* Every flipped bit is noticed, unless the result is another possible sum of the same number of
 * keys. */
static void validate_sees_flipped_bits(void **state) {
    (void)state;
    static const char *const geometries[] = { PLAIN, CENTRED };
    for (unsigned i = 0; i < 2; i++) {
        tamis_set *const set = unstuck_set("bhcbf", geometries[i]);
        unsigned const   bits = bits_of(&set->table);
        pairs const      layout = tamis_bh_pairs(set->table.geometry);
        for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
            flip(set, bit);
            uint64_t const e = bit / bits,
                           field = packed_get(set->table.body, e < 501 ? e : 0, bits);
            pair const p = pairs_unpack(&layout, field);
            bool const is_sum =
                e < 501 && bit % bits >= 4 && sums_may_be(&layout.sums, p.count, p.sum);
            assert_int_equal(tamis_validate(set, NULL), is_sum);
            flip(set, bit);
        }
        assert_true(tamis_validate(set, NULL));
        tamis_free(set);
    }
}

static void validate_and_lookups_are_safe_on_any_bytes(void **state) {
    (void)state;
    static const char *const geometries[] = { PLAIN, CENTRED };
    dice                     chance = { 7 };
    for (unsigned round = 0; round < 100; round++) {
        tamis_set *const set = unstuck_set("bhcbf", geometries[round % 2]);
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
        .kind = "bhcbf", .capacity = 1000, .fpr = .01, .operations = 30000
    };
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_sees_flipped_bits),
        cmocka_unit_test(validate_and_lookups_are_safe_on_any_bytes),
    };
    return sabotage_run(&variant, saboteurs, COUNT(saboteurs), of_tables, COUNT(of_tables));
}
