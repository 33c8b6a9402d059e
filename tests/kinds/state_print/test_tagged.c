/* test_tagged.c - kinds/state_print/tagged.h against buckets as plain lists. */
#include "core_units.h"

#include "kinds/state_print/tagged.h"

#define MAX_BUCKETS 24
#define MAX_CELLS 12

typedef struct model {
    unsigned n[MAX_BUCKETS];
    uint64_t print[MAX_BUCKETS][MAX_CELLS], field[MAX_BUCKETS][MAX_CELLS];
} model;

static tagged_shape random_shape(dice *random) {
    unsigned const cells = 1 + (unsigned)dice_below(random, MAX_CELLS);
    unsigned const print_bits = 4 + (unsigned)dice_below(random, 45);
    unsigned const bits = 1 + (unsigned)dice_below(random, 38);
    bool const     is_permuted = dice_below(random, 2) == 0;
    return (tagged_shape){ .cells = cells_make(
                               (cells_shape){ .n = cells,
                                              .bits = print_bits,
                                              .print_bits = print_bits,
                                              .bytes = (cells * (print_bits + bits) + 7) / 8 +
                                                       (unsigned)dice_below(random, 5) }),
                           .places = dleft_make(2 + (unsigned)dice_below(random, 2),
                                                1 + dice_below(random, 8), print_bits, is_permuted),
                           .bits = bits,
                           .is_permuted = is_permuted };
}

static void check_bytes(tagged view, const model *m) {
    static uint8_t           expected[MAX_BUCKETS * MAX_CELLS * 12];
    const cells_shape *const cells = &view.shape->cells;
    uint64_t const           all = dleft_all(&view.shape->places);
    memset(expected, 0, sizeof expected);
    for (unsigned b = 0; b < all; b++) {
        for (unsigned i = 0; i < m->n[b]; i++) {
            for (unsigned bit = 0; bit < cells->bits; bit++) {
                write_bit(expected, 8 * cells->bytes * b + i * cells->bits + bit,
                          m->print[b][i] >> bit & 1);
            }
            for (unsigned bit = 0; bit < view.shape->bits; bit++) {
                write_bit(expected,
                          8 * cells->bytes * b + cells->n * cells->bits + i * view.shape->bits +
                              bit,
                          m->field[b][i] >> bit & 1);
            }
        }
        assert_int_equal(tagged_used(view, b), m->n[b]);
        assert_true(tagged_is_whole(view, b));
    }
    assert_memory_equal(view.body, expected, all * cells->bytes);
}

/* Look for a key bucket by bucket and cell by cell. */
static tagged_found model_look(tagged view, const model *m, tagged_key key) {
    tagged_found found = TAGGED_NOTHING;
    for (unsigned i = 0; i < view.shape->places.tables; i++) {
        dleft_place const place = tagged_place_in(view, key, i);
        unsigned          k = 0;
        while (k < m->n[place.bucket] && m->print[place.bucket][k] != place.print) k++;
        if (k < m->n[place.bucket]) {
            found.matches++;
            found.bucket = place.bucket;
            found.cell = k;
        }
        if (m->n[place.bucket] >= found.load) continue;
        found.least = place;
        found.load = m->n[place.bucket];
    }
    return found;
}

static void check_step(tagged view, model *m, dice *random) {
    tagged_key const   key = tagged_key_of(view, dice_below(random, 200) << 56);
    tagged_found const found = tagged_look(view, key), expected = model_look(view, m, key);
    uint64_t           bucket = 0;
    unsigned           cell = 0;
    assert_int_equal(found.matches, expected.matches);
    assert_int_equal(found.load, expected.load);
    assert_int_equal(found.least.bucket, expected.least.bucket);
    assert_int_equal(found.least.print, expected.least.print);
    assert_int_equal(tagged_find(view, key, &bucket, &cell), expected.matches != 0);
    if (found.matches != 0) {
        assert_int_equal(found.bucket, expected.bucket);
        assert_int_equal(found.cell, expected.cell);
        if (found.matches == 1) assert_true(bucket == found.bucket && cell == found.cell);
        unsigned const last = --m->n[bucket];
        m->print[bucket][cell] = m->print[bucket][last];
        m->field[bucket][cell] = m->field[bucket][last];
        tagged_take(view, bucket, cell);
    } else if (found.load < view.shape->cells.n) {
        uint64_t const field = dice_roll(random) & bits_low(view.shape->bits);
        m->print[found.least.bucket][found.load] = found.least.print;
        m->field[found.least.bucket][found.load] = field;
        m->n[found.least.bucket]++;
        tagged_add(view, found.least, found.load, field);
        assert_int_equal(tagged_look(view, key).matches, 1);
    }
    check_bytes(view, m);
}

static void tagged_buckets_are_lists(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 300; round++) {
        tagged_shape const shape = random_shape(&random);
        fenced memory = fenced_new(dleft_all(&shape.places) * shape.cells.bytes + FIELD_PAD_BYTES);
        tagged const view = { memory.bytes, &shape };
        model        m = { .n = { 0 } };
        for (unsigned i = 0; i < 150; i++) check_step(view, &m, &random);
        fenced_free(&memory);
    }
}

/* A walk sees every cell once: the first of all buckets, then the second of all. */
static void cells_are_walked_level_by_level(void **state) {
    (void)state;
    dice              random = dice_start();
    cells_shape const shape =
        cells_make((cells_shape){ .n = 5, .bits = 9, .print_bits = 7, .bytes = 6 });
    for (unsigned round = 0; round < 200; round++) {
        uint8_t        body[20 * 6 + 8] = { 0 };
        uint64_t const buckets = dice_below(&random, 20);
        cells_walk     walk = { .cell = 0 };
        for (uint64_t b = 0; b < buckets; b++) {
            for (unsigned i = 0, n = (unsigned)dice_below(&random, 6); i < n; i++) {
                cells_set(&shape, body + 6 * b, i, 1 + dice_below(&random, 127));
            }
        }
        for (unsigned i = 0; i < 5; i++) {
            for (uint64_t b = 0; b < buckets; b++) {
                uint64_t const cell = cells_get(&shape, body + 6 * b, i);
                if (cell == 0) continue;
                assert_true(cells_walk_on(&shape, body, buckets, &walk));
                assert_true(walk.bucket == b && walk.cell == i && walk.found == cell);
            }
        }
        for (unsigned i = 0; i < 3; i++) assert_false(cells_walk_on(&shape, body, buckets, &walk));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tagged_buckets_are_lists),
    cmocka_unit_test(cells_are_walked_level_by_level),
};

CORE_EXPORT(tagged)
