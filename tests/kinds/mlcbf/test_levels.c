/* test_levels.c - kinds/mlcbf/levels.h against a plain array of counters. */
#include "core_units.h"

#include "kinds/mlcbf/levels.h"

#define MAX_COUNTERS 300
#define BYTES 2000

typedef struct model {
    levels   l;
    uint64_t block; /* where it begins */
    uint64_t value[MAX_COUNTERS];
    bool     is_stuck[MAX_COUNTERS], is_closed;
} model;

static model random_model(dice *random) {
    uint64_t       bits[LEVELS_MAX] = { 0 };
    unsigned const depth = 1 + (unsigned)dice_below(random, LEVELS_MAX);
    uint64_t const n = 1 + dice_below(random, MAX_COUNTERS);
    for (unsigned l = 0; l < depth; l++) bits[l] = 1 + dice_below(random, l == 0 ? 4 : 8);
    uint64_t const area = depth == 1 ? 0 : dice_below(random, 3 * n + 40);
    return (model){ .l = levels_make(n, area, bits), .block = dice_below(random, 200) };
}

static uint64_t cells_of(const model *m) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < m->l.counters; i++) {
        uint64_t const x = m->is_stuck[i] ? levels_top(&m->l) : m->value[i];
        for (unsigned l = 1; l < m->l.depth && x >= m->l.base[l]; l++) bits += m->l.bits[l];
    }
    return bits;
}

/* Returns how many are stuck. */
static uint64_t settle(model *m) {
    uint64_t stuck = 0;
    if (cells_of(m) > m->l.area) m->is_closed = true;
    for (unsigned i = 0; i < m->l.counters; i++) {
        uint64_t const limit = m->is_closed ? m->l.base[1] : levels_top(&m->l);
        m->is_stuck[i] |= m->value[i] >= limit;
        stuck += m->is_stuck[i];
    }
    return stuck;
}

static void check(const model *m, const uint8_t *body, const uint8_t *before) {
    uint64_t const end = m->block + levels_block_bits(&m->l);
    assert_int_equal(levels_is_closed(&m->l, body, m->block), m->is_closed);
    assert_true(m->is_closed || levels_fit(&m->l, body, m->block));
    levels_walk walk = levels_begin(&m->l, body, m->block);
    assert_true(field_is_zero(body, walk.end, levels_closed_at(&m->l, m->block)));
    for (unsigned i = 0; i < m->l.counters; i++) {
        uint64_t const x = m->is_stuck[i] ? LEVELS_STUCK : m->value[i];
        assert_int_equal(levels_get(&m->l, body, m->block, i), x);
        assert_int_equal(levels_next(&m->l, body, &walk), x);
    }
    for (uint64_t bit = 0; bit < BYTES * 8; bit++) { /* nothing beside it has changed */
        if (bit < m->block || bit >= end) {
            assert_int_equal(field_get_bit(body, bit), field_get_bit(before, bit));
        }
    }
}

/* Mostly a little up or down, now and then far. */
static uint64_t next_value(dice *random, const model *m, uint64_t value) {
    uint64_t const top = levels_top(&m->l);
    uint64_t const far = dice_below(random, 10) == 0 ? top : 4;
    uint64_t const amount = 1 + dice_below(random, far);
    if (dice_below(random, 5) < 2) return value < amount ? 0 : value - amount;
    return min_u64(top, value + amount);
}

static void one_history(dice *random, uint8_t *body) {
    model    m = random_model(random);
    uint8_t  before[BYTES];
    uint64_t stuck = 0;
    dice_fill(random, body, BYTES);
    for (uint64_t i = 0; i < levels_block_bits(&m.l); i++) field_set_bit(body, m.block + i, false);
    memcpy(before, body, BYTES);
    for (unsigned step = 0; step < 400; step++) {
        uint64_t const i = dice_below(random, m.l.counters);
        if (m.is_stuck[i]) continue;
        uint64_t const from = m.value[i];
        m.value[i] = next_value(random, &m, from);
        stuck += levels_set(&m.l, body, m.block, i, from, m.value[i]);
        assert_int_equal(settle(&m), stuck);
        if (step % 8 == 0) check(&m, body, before);
    }
    check(&m, body, before);
}

static void counters_are_those_of_an_array(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(BYTES);
    for (unsigned round = 0; round < 60; round++) one_history(&random, body.bytes);
    fenced_free(&body);
}

static void full_fields_are_counted_at_every_place(void **state) {
    (void)state;
    dice   random = dice_start();
    fenced body = fenced_new(400 + FIELD_PAD_BYTES);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned const bits = 1 + (unsigned)dice_below(&random, LEVELS_MAX_BITS);
        uint64_t const at = dice_below(&random, 100), n = dice_below(&random, 3000 / bits);
        dice_fill(&random, body.bytes, 400);
        for (unsigned i = 0; i < 400; i++) body.bytes[i] |= (uint8_t)dice_roll(&random);
        uint64_t expected = 0;
        for (uint64_t i = 0; i < n; i++)
            expected += levels_is_full(body.bytes, at + i * bits, bits);
        assert_int_equal(levels_full(body.bytes, at, n, bits), expected);
    }
    fenced_free(&body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counters_are_those_of_an_array),
    cmocka_unit_test(full_fields_are_counted_at_every_place),
};

CORE_EXPORT(levels)
