/* test_saboteurs_counting.c - see test_saboteurs.c: counters in lines with one thing broken.
 *
 * First, kinds with one function broken: the law that guards it must see that. Then, tables with
 * one invariant broken: validate must name it.
 */
#include "core/sectors.h"
#include "plan/bloom_size.h"
#include "plan/cbf_size.h"
#include "subject.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BLOCKED "counters=20400,hashes=6,counter_bits=5,blocked=1"
#define TIGHT "counters=10240,hashes=6,counter_bits=2,blocked=1"

/* ------------------------------------------------------------------ broken kinds */

static const tamis_kind *honest;

static sectors shape_of(const tamis_table *table) {
    const uint64_t *const g = table->geometry;
    return sectors_make(g[CBF_COUNTERS], g[CBF_COUNTER_BITS], g[CBF_HASHES], g[CBF_BLOCKED] != 0);
}

/* The first bit of counter i of a key. */
static uint64_t counter_of(const tamis_table *table, uint64_t hash, unsigned i) {
    sectors const in = shape_of(table);
    uint64_t      chosen = remix(hash, i);
    return sectors_pick(&in, sectors_line(&in, hash), i, &chosen);
}

/* A stuck counter that a removal meets is counted down: the classic bug. */
static tamis_status unsticks(tamis_table *table, uint64_t hash) {
    unsigned const     bits = (unsigned)table->geometry[CBF_COUNTER_BITS];
    uint64_t const     at = counter_of(table, hash, 1);
    tamis_status const status = honest->remove(table, hash);
    if (status == TAMIS_OK && field_get(table->body, at, bits) == bits_low(bits)) {
        field_set(table->body, at, bits, 0);
        table->saturated--;
    }
    return status;
}

/* Looks in the line behind that of the key, for some. */
static bool looks_in_the_next_line(const tamis_table *table, uint64_t hash) {
    sectors const  in = shape_of(table);
    uint64_t const one_line = UINT64_MAX / in.lines;
    return honest->has(table, hash % 64 == 0 ? hash + one_line : hash);
}

/* Some counters in a sector that is not their own: two of a key may meet. */
static tamis_status adds_in_another_sector(tamis_table *table, uint64_t hash) {
    unsigned const bits = (unsigned)table->geometry[CBF_COUNTER_BITS];
    uint64_t const at = counter_of(table, hash, 0), other = counter_of(table, hash, 1);
    uint64_t const c = field_get(table->body, at, bits), d = field_get(table->body, other, bits);
    if (c == bits_low(bits) || d >= bits_low(bits) - 2) return honest->add(table, hash);
    tamis_status const status = honest->add(table, hash);
    field_set(table->body, at, bits, c);
    field_set(table->body, other, bits, d + 2);
    return status;
}

/* Says of lines what is true of counters that are anywhere. */
static double current_as_if_anywhere(const tamis_table *table) {
    sectors const in = shape_of(table);
    uint64_t      held = 0;
    for (uint64_t i = 0; i < in.counters; i++) {
        held += field_get(table->body, sectors_at(&in, i), in.bits) != 0;
    }
    return pow((double)held / (double)in.counters, (double)table->geometry[CBF_HASHES]);
}

static void predicts_as_if_anywhere(const uint64_t *geometry, uint64_t capacity, uint64_t lifetime,
                                    tamis_forecast *ret_forecast) {
    honest->predict(geometry, capacity, lifetime, ret_forecast);
    ret_forecast->fpr = tamis_bloom_fpr((double)geometry[CBF_COUNTERS],
                                        (unsigned)geometry[CBF_HASHES], (double)capacity);
}

/* Counter by counter without the gaps between lines. */
static tamis_status merges_without_gaps(tamis_table *into, const tamis_table *from) {
    unsigned const     bits = (unsigned)into->geometry[CBF_COUNTER_BITS];
    uint64_t const     m = into->geometry[CBF_COUNTERS];
    tamis_status const status = honest->merge(into, from);
    for (uint64_t i = m / 2; i < m; i++) {
        field_set(into->body, i * bits, bits, field_get(from->body, i * bits, bits));
    }
    return status;
}

typedef struct saboteur {
    const char *law, *geometry;
    tamis_kind  broken; /* what is not NULL here replaces the honest function */
} saboteur;

static const saboteur saboteurs[] = {
    { "no_false_negative_under_churn", TIGHT, { .remove = unsticks } },
    { "no_false_negative_under_churn", BLOCKED, { .has = looks_in_the_next_line } },
    { "batch_equals_single", BLOCKED, { .has = looks_in_the_next_line } },
    { "no_false_negative_under_churn", BLOCKED, { .add = adds_in_another_sector } },
    { "error_rate_is_as_predicted", BLOCKED, { .current_fpr = current_as_if_anywhere } },
    { "error_rate_is_as_predicted", BLOCKED, { .predict = predicts_as_if_anywhere } },
    { "merges_hold_both", BLOCKED, { .merge = merges_without_gaps } },
};

static tamis_kind sabotage(const tamis_kind *by) {
    tamis_kind kind = *honest;
    if (by->has != NULL) kind.has = by->has;
    if (by->add != NULL) kind.add = by->add;
    if (by->add != NULL) kind.add_chunk = NULL; /* one by one, by the broken one */
    if (by->remove != NULL) kind.remove = by->remove;
    if (by->remove != NULL) kind.remove_chunk = NULL;
    if (by->merge != NULL) kind.merge = by->merge;
    if (by->predict != NULL) kind.predict = by->predict;
    if (by->current_fpr != NULL) kind.current_fpr = by->current_fpr;
    return kind;
}

static void law_sees_the_saboteur(void **state) {
    const saboteur *const by = *state;
    const named_law      *guard = laws;
    tamis_kind const      broken = sabotage(&by->broken);
    subject               of = { .kind = "counting", .isa = honest->isa, .capacity = 2000 };
    while (strcmp(guard->name, by->law) != 0) guard++;
    of.geometry = by->geometry;
    of.operations = 30000;
    assert_null(guard->holds(&of));
    of.instead = &broken;
    assert_non_null(guard->holds(&of));
}

/* ------------------------------------------------------------------ broken tables */

static tamis_set *filled(const char *geometry) {
    subject const    of = { .kind = "counting", .capacity = 100, .geometry = geometry };
    tamis_set *const set = subject_make(&of, 1);
    assert_non_null(set);
    for (uint64_t key = 0; key < 100; key++) assert_int_equal(tamis_add_hash(set, key), TAMIS_OK);
    assert_true(tamis_validate(set, NULL) && set->table.saturated == 0);
    return set;
}

static void expect_broken(tamis_set *set, const char *invariant) {
    const char *why = "nothing";
    assert_false(tamis_validate(set, &why));
    if (strncmp(why, invariant, strlen(invariant)) != 0) fail_msg("%s, not %s", why, invariant);
}

static void flip(tamis_set *set, uint64_t bit) {
    set->table.body[bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

#define GAPS "counters=1020,hashes=5,counter_bits=5,blocked=1"

static void validate_names_each_invariant(void **state) {
    (void)state;
    tamis_set *const set = filled(GAPS);
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
    set->table.keys = UINT64_MAX / 2; /* and no overflow in the check */
    expect_broken(set, "I3");
    tamis_free(set);
}

static void validate_sees_every_flipped_bit(void **state) {
    (void)state;
    tamis_set *const set = filled(GAPS);
    for (uint64_t bit = 0; bit < set->table.body_bytes * 8; bit++) {
        flip(set, bit);
        assert_false(tamis_validate(set, NULL));
        flip(set, bit);
    }
    assert_true(tamis_validate(set, NULL));
    tamis_free(set);
}

int main(void) {
    static const struct CMUnitTest of_tables[] = {
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(validate_sees_every_flipped_bit),
    };
    struct CMUnitTest tests[COUNT(saboteurs) + COUNT(of_tables)];
    size_t            n = COUNT(of_tables);
    memcpy(tests, of_tables, sizeof of_tables);
    assert(tamis_kind_find("counting", NULL, &honest) == TAMIS_OK);
    for (size_t i = 0; i < COUNT(saboteurs); i++) {
        union {
            const void *in;
            void       *out;
        } const given = { &saboteurs[i] };
        tests[n++] =
            (struct CMUnitTest){ saboteurs[i].law, law_sees_the_saboteur, NULL, NULL, given.out };
    }
    return _cmocka_run_group_tests("saboteurs of counting", tests, n, NULL, NULL);
}
