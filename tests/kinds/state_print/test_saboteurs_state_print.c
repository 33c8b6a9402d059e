/* test_saboteurs_state_print.c - d-left tables of states with one invariant broken: validate must
 * name it. */
#include "broken.h"
#include "kinds/state_print/side.h"
#include "kinds/state_print/size.h"
#include "kinds/state_print/tagged.h"

/* Buckets with unused bits after their cells, and free cells; keys in the side table. There are
 * five values, so 3 bits can have codes without a value; timers of 2 bits. */
#define PERMUTED \
    "tables=3,buckets=9,cells=5,print_bits=9,value_bits=5,bucket_bytes=10,permuted=1,side=9"
#define APART \
    "tables=3,buckets=9,cells=5,print_bits=9,value_bits=5,bucket_bytes=10,permuted=0,side=9"

#define KEYS 130 /* of 135 cells: some are aside */

static tamis_states *make(const char *geometry) {
    tamis_seed const  seed = { 3, 4 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = spec.lifetime = 90;
    spec.values = 5;
    spec.timeout = 50;
    spec.kind = "state_print";
    spec.geometry = geometry;
    spec.overflow = 0.999;
    spec.seed = &seed;
    tamis_states *const states = make_states_from(&spec);
    for (uint64_t key = 0; key < KEYS; key++) {
        tamis_status const status = tamis_states_put_id(states, key, (uint32_t)(key % 5));
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT);
    }
    for (uint64_t key = 0; key < KEYS; key += 3) {
        (void)!tamis_states_drop_id(states, key, TAMIS_ANY_VALUE);
    }
    assert_true(tamis_states_validate(states, NULL));
    return states;
}

static tamis_table *table_of(tamis_states *states) {
    return &states->set.table;
}

static tagged_shape cells_shape_of(const tamis_states *states) {
    const uint64_t *const g = states->set.table.geometry;
    unsigned const        bits = (unsigned)g[STATE_PRINT_PRINT_BITS];
    return (tagged_shape){
        .cells = cells_make((cells_shape){ .n = (unsigned)g[STATE_PRINT_CELLS],
                                           .bits = bits,
                                           .print_bits = bits,
                                           .bytes = (unsigned)g[STATE_PRINT_BUCKET_BYTES] }),
        .places = dleft_make((unsigned)g[STATE_PRINT_TABLES], g[STATE_PRINT_BUCKETS], bits,
                             g[STATE_PRINT_PERMUTED] != 0),
        .bits = (unsigned)g[STATE_PRINT_VALUE_BITS],
        .is_permuted = g[STATE_PRINT_PERMUTED] != 0
    };
}

static side_shape side_shape_of(const tamis_states *states) {
    const uint64_t *const g = states->set.table.geometry;
    state_print_layout    layout;
    assert_true(tamis_state_print_layout(g, &layout));
    return (side_shape){ layout.side, (unsigned)g[STATE_PRINT_SIDE],
                         (unsigned)g[STATE_PRINT_VALUE_BITS] };
}

/* The first bucket that has this many cells in use, and a free one. */
static uint64_t bucket_with(tagged view, unsigned used) {
    for (uint64_t b = 0; b < dleft_all(&view.shape->places); b++) {
        unsigned const has = tagged_used(view, b);
        if (has >= used && has < view.shape->cells.n) return b;
    }
    fail_msg("there is no such bucket");
    return 0;
}

/* ------------------------------------------------------------------ I1 */

static void validate_names_gaps_and_unused_bits(void **state) {
    (void)state;
    tamis_states *const states = make(PERMUTED);
    tagged_shape const  shape = cells_shape_of(states);
    tagged const        view = { table_of(states)->body, &shape };
    uint64_t const      b = bucket_with(view, 2);
    unsigned const      used = tagged_used(view, b);
    uint64_t const      print = cells_get(&shape.cells, tagged_bucket(view, b), 0);
    cells_set(&shape.cells, tagged_bucket(view, b), 0, 0); /* a gap */
    expect_broken(&states->set, "I1");
    cells_set(&shape.cells, tagged_bucket(view, b), 0, print);
    for (unsigned cell = used; cell < shape.cells.n; cell++) { /* a field of no print */
        for (unsigned bit = 0; bit < shape.bits; bit++) {
            expect_flip_broken(&states->set, tagged_field_at(view, b, cell) + bit, "I1");
        }
    }
    for (uint64_t bit = tagged_field_at(view, b, shape.cells.n); bit < 8 * (b + 1) * 10; bit++) {
        expect_flip_broken(&states->set, bit, "I1");
    }
    assert_true(tamis_states_validate(states, NULL));
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ I2 */

/* The same print a second time: in its bucket, and in another one where its fingerprint belongs. */
static void validate_names_fingerprints_with_two_cells(void **state) {
    (void)state;
    static const char *const geometries[] = { PERMUTED, APART };
    for (unsigned i = 0; i < 2; i++) {
        tamis_states *const states = make(geometries[i]);
        tagged_shape const  shape = cells_shape_of(states);
        tagged const        view = { table_of(states)->body, &shape };
        uint64_t const      b = bucket_with(view, 1);
        dleft_place const   place = { b, cells_get(&shape.cells, tagged_bucket(view, b), 0) };
        unsigned const      used = tagged_used(view, b);
        table_of(states)->keys++;
        tagged_add(view, place, used, 0);
        expect_broken(&states->set, "I2");
        tagged_take(view, b, used);
        uint64_t const fingerprint = dleft_fingerprint_of(&shape.places, place);
        for (unsigned k = 0; i == 0 && k < shape.places.tables; k++) {
            dleft_place const other = dleft_place_in(&shape.places, fingerprint, k);
            unsigned const    there = tagged_used(view, other.bucket);
            if (other.bucket == b || there == shape.cells.n) continue;
            tagged_add(view, other, there, 0);
            expect_broken(&states->set, "I2");
            tagged_take(view, other.bucket, there);
        }
        table_of(states)->keys--;
        assert_true(tamis_states_validate(states, NULL));
        tamis_states_free(states);
    }
}

/* ------------------------------------------------------------------ I3 */

static void validate_names_side_tables_that_are_not_in_order(void **state) {
    (void)state;
    tamis_states *const states = make(PERMUTED);
    side_shape const    shape = side_shape_of(states);
    side const          list = { table_of(states)->body, &shape };
    unsigned const      n = side_count(list);
    assert_in_range(n, 2, shape.room - 1);
    uint64_t const hash = side_hash(list, 0);
    le64_store(side_hash_at(list, 0), side_hash(list, 1)); /* a key twice */
    expect_broken(&states->set, "I3");
    le64_store(side_hash_at(list, 0), hash);
    for (unsigned i = n; i < shape.room; i++) { /* what is behind the last */
        expect_flip_broken(&states->set, 8 * (shape.at + 8 + 8 * i) + 13, "I3");
        expect_flip_broken(&states->set, side_field_at(list, i), "I3");
    }
    le64_store(list.body + shape.at, shape.room + 1); /* more than there is room for */
    expect_broken(&states->set, "I3");
    le64_store(list.body + shape.at, UINT64_MAX);
    expect_broken(&states->set, "I3");
    le64_store(list.body + shape.at, n - 1); /* fewer than there are */
    expect_broken(&states->set, "I3");
    le64_store(list.body + shape.at, n);
    assert_true(tamis_states_validate(states, NULL));
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ I4 to I7 */

static void validate_names_counts_that_are_wrong(void **state) {
    (void)state;
    tamis_states *const states = make(PERMUTED);
    table_of(states)->keys++;
    expect_broken(&states->set, "I4");
    table_of(states)->keys -= 2;
    expect_broken(&states->set, "I4");
    table_of(states)->keys++;
    table_of(states)->saturated = 1;
    expect_broken(&states->set, "I4");
    tamis_states_free(states);
}

/* Of the codes 0 to 7, those from 5 on are not values. In tables without permutations, 5 is "don't
 * know". */
static void validate_names_values_out_of_range(void **state) {
    (void)state;
    static const char *const geometries[] = { PERMUTED, APART };
    for (unsigned i = 0; i < 2; i++) {
        tamis_states *const states = make(geometries[i]);
        tagged_shape const  shape = cells_shape_of(states);
        side_shape const    aside_shape = side_shape_of(states);
        tagged const        view = { table_of(states)->body, &shape };
        side const          aside = { table_of(states)->body, &aside_shape };
        assert_true(side_count(aside) != 0);
        uint64_t const bits[] = { tagged_field_at(view, bucket_with(view, 1), 0),
                                  side_field_at(aside, 0) };
        for (unsigned k = 0; k < 2; k++) {
            uint64_t const own = field_get(view.body, bits[k], 3);
            for (uint64_t value = 0; value < 8; value++) {
                field_set(view.body, bits[k], 3, value);
                if (value < 5 + i)
                    assert_true(tamis_states_validate(states, NULL));
                else
                    expect_broken(&states->set, "I5");
            }
            field_set(view.body, bits[k], 3, own);
        }
        tamis_states_free(states);
    }
}

/* A fresh timer of 2 bits has 1; up to 3 if the sweep is behind by as many passes. In a cell and in
 * the side table. */
static void validate_names_timers_that_run_too_long(void **state) {
    (void)state;
    tamis_states *const states = make(PERMUTED);
    tagged_shape const  shape = cells_shape_of(states);
    side_shape const    aside_shape = side_shape_of(states);
    tagged const        view = { table_of(states)->body, &shape };
    side const          aside = { table_of(states)->body, &aside_shape };
    uint64_t const      bits[] = { tagged_field_at(view, bucket_with(view, 1), 0) + 3,
                                   side_field_at(aside, 0) + 3 };
    assert_true(side_count(aside) != 0);
    for (unsigned owed = 0; owed <= 2; owed++) {
        table_of(states)->sweep.due = owed * table_of(states)->sweep.units;
        for (unsigned k = 0; k < 2; k++) {
            uint64_t const own = field_get(view.body, bits[k], 2);
            for (uint64_t timer = 0; timer < 4; timer++) {
                field_set(view.body, bits[k], 2, timer);
                if (timer <= 1 + owed)
                    assert_true(tamis_states_validate(states, NULL));
                else
                    expect_broken(&states->set, "I7");
            }
            field_set(view.body, bits[k], 2, own);
        }
    }
    tamis_states_free(states);
}

static bool take_bytes(void *context, const void *bytes, size_t n) {
    uint8_t **const to = context;
    memcpy(*to, bytes, n);
    *to += n;
    return true;
}

/* A file with values out of range is opened without a check. When its keys age, they are not
 * counted, and nothing after the counters is written. */
static void values_out_of_range_are_not_counted(void **state) {
    (void)state;
    tamis_states      *states = make(PERMUTED);
    tagged_shape const shape = cells_shape_of(states);
    side_shape const   aside_shape = side_shape_of(states);
    tagged const       view = { table_of(states)->body, &shape };
    side const         aside = { table_of(states)->body, &aside_shape };
    for (uint64_t b = 0; b < dleft_all(&shape.places); b++) {
        for (unsigned i = 0; i < tagged_used(view, b); i++)
            field_set(view.body, tagged_field_at(view, b, i), 3, 5 + i % 3);
    }
    for (unsigned i = 0; i < side_count(aside); i++)
        field_set(view.body, side_field_at(aside, i), 3, 7);
    static uint8_t     file[1 << 16];
    uint8_t           *end = file;
    tamis_open_options trust = TAMIS_OPEN_OPTIONS_INIT;
    trust.flags = TAMIS_OPEN_TRUST;
    uint64_t const keys = table_of(states)->keys;
    assert_int_equal(tamis_states_write(states, take_bytes, &end), TAMIS_OK);
    tamis_states_free(states);
    assert_int_equal(tamis_states_read(file, (size_t)(end - file), &trust, &states, NULL),
                     TAMIS_OK);
    uint64_t aged[8] = { 0 }; /* five values, and three that must stay 0 */
    assert_int_equal(tamis_states_tick(states, 200, aged, NULL), TAMIS_OK);
    assert_int_equal(table_of(states)->aged, keys);
    for (unsigned value = 0; value < 8; value++) assert_int_equal(aged[value], 0);
    tamis_states_free(states);
}

/* Bits after the side table, and before it: the buckets need not end at a multiple of 8 bytes. */
static void validate_names_bits_behind_the_last(void **state) {
    (void)state;
    tamis_states *const states = make(PERMUTED);
    state_print_layout  layout;
    assert_true(tamis_state_print_layout(table_of(states)->geometry, &layout));
    assert_int_equal(layout.side, 272); /* 27 buckets of 10 bytes */
    for (uint64_t bit = 8 * 270; bit < 8 * 272; bit++) expect_flip_broken(&states->set, bit, "I6");
    for (uint64_t bit = 8 * layout.end; bit < 8 * table_of(states)->body_bytes; bit++) {
        expect_flip_broken(&states->set, bit, "I6");
    }
    tamis_states_free(states);
}

/* ------------------------------------------------------------------ anything */

/* Every operation on random bytes: nothing outside of the table is read or written. */
static void any_bytes_are_safe(void **state) {
    (void)state;
    static const char *const geometries[] = { PERMUTED, APART };
    dice                     chance = { 7 };
    for (unsigned i = 0; i < 2; i++) {
        tamis_states *const states = make(geometries[i]), *const sound = make(geometries[i]);
        for (unsigned round = 0; round < 1500; round++) {
            for (uint64_t at = 0; at < table_of(states)->body_bytes; at++) {
                uint64_t const roll = dice_roll(&chance), mask = roll >> 8 & roll >> 16;
                table_of(states)->body[at] = (uint8_t)(roll & (round % 3 == 0 ? UINT64_MAX : mask));
            }
            uint32_t          value;
            uint64_t          counts[5], aged[5] = { 0 };
            tamis_states_info info;
            assert_false(tamis_states_validate(states, NULL));
            (void)!tamis_states_get_id(states, round, &value);
            (void)!tamis_states_put_id(states, round, 1);
            (void)!tamis_states_move_id(states, round + 1, TAMIS_ANY_VALUE, 2);
            (void)!tamis_states_touch_id(states, round + 2);
            (void)!tamis_states_drop_id(states, round + 3, TAMIS_ANY_VALUE);
            (void)!tamis_states_tick(states, 20, aged, NULL);
            (void)!tamis_states_tally(states, counts);
            (void)!tamis_states_inspect(states, &info);
            (void)!tamis_states_merge(sound, states);
        }
        tamis_states_free(states);
        tamis_states_free(sound);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_names_gaps_and_unused_bits),
        cmocka_unit_test(validate_names_fingerprints_with_two_cells),
        cmocka_unit_test(validate_names_side_tables_that_are_not_in_order),
        cmocka_unit_test(validate_names_counts_that_are_wrong),
        cmocka_unit_test(validate_names_values_out_of_range),
        cmocka_unit_test(validate_names_timers_that_run_too_long),
        cmocka_unit_test(values_out_of_range_are_not_counted),
        cmocka_unit_test(validate_names_bits_behind_the_last),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return cmocka_run_group_tests_name("saboteurs_state_print", tests, NULL, NULL);
}
