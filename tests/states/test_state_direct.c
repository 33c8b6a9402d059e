/* test_state_direct.c - pairs of keys and values against an oracle that foresees every answer and
 * every byte, and the checks against tables that somebody has broken.
 *
 * usage: test_state_direct [STEPS]     operations of each history
 *
 * Histories are as ill-behaved as can be: keys are put again, moved and dropped without being
 * there.
 */
#include "cells_oracle.h"

#define KEYS 40 /* different keys of a history */

static uint64_t steps = 1500;

/* Tables so small that everything happens: cells, hashes, values, counter_bits, timer_bits. */
static const uint64_t geometries[][SHARED_FIELDS] = {
    { 300, 4, 8, 3, 0 }, { 200, 3, 2, 2, 0 },  { 60, 6, 5, 8, 0 },   { 90, 32, 3, 4, 0 },
    { 300, 4, 8, 0, 2 }, { 200, 3, 2, 0, 3 },  { 400, 5, 6, 0, 5 },  { 2, 5, 4, 0, 2 },
    { 300, 4, 8, 2, 2 }, { 130, 5, 16, 3, 4 }, { 50, 2, 3, 4, 3 },   { 3, 9, 5, 8, 5 },
    { 300, 4, 8, 0, 0 }, { 40, 1, 2, 0, 0 },   { 512, 3, 16, 2, 0 },
};

/* ------------------------------------------------------------------ the oracle */

typedef struct oracle {
    cells_oracle cells; /* content: how often a cell is held, or that it is */
    uint64_t     top, values;
    uint64_t     keys, saturated, aged;
    const sweep *hand;
} oracle;

static oracle *oracle_make(const uint64_t *g, const tamis_states *states) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    uint64_t const bits = g[SHARED_COUNTER_BITS];
    o->cells = cells_of(g, bits == 0 ? 1 : (unsigned)bits);
    o->top = (UINT64_C(1) << bits) - 1;
    o->values = g[SHARED_VALUES];
    o->hand = &states->set.table.sweep;
    return o;
}

static void oracle_expect(oracle *o, const tamis_states *states) {
    const tamis_table *const table = &states->set.table;
    const char              *why = "";
    o->saturated = 0;
    for (uint64_t i = 0; i < o->cells.m; i++)
        o->saturated += o->top != 0 && o->cells.content[i] == o->top;
    cells_expect_bytes(&o->cells, table);
    assert_int_equal(table->keys, o->keys);
    assert_int_equal(table->saturated, o->saturated);
    assert_int_equal(table->aged, o->aged);
    if (!tamis_states_validate(states, &why)) fail_msg("%s", why);
}

static uint64_t pair_of(uint64_t hash, uint64_t value) {
    return remix(hash, 64 + (unsigned)value);
}

/* How many values the key seems to have, and which. */
static uint64_t oracle_hits(const oracle *o, uint64_t hash, bool *ret_is_hit) {
    uint64_t hits = 0;
    for (uint64_t v = 0; v < o->values; v++) {
        ret_is_hit[v] = true;
        for (uint64_t i = 0; i < o->cells.m; i++) {
            if (cells_are_of(&o->cells, pair_of(hash, v), i) && o->cells.content[i] == 0)
                ret_is_hit[v] = false;
        }
        hits += ret_is_hit[v];
    }
    return hits;
}

/* up, down or refresh the cells of a pair */
static void oracle_apply(oracle *o, uint64_t hash, uint64_t value, char rule) {
    for (uint64_t i = 0; i < o->cells.m; i++) {
        if (!cells_are_of(&o->cells, pair_of(hash, value), i)) continue;
        uint64_t *const count = &o->cells.content[i];
        if (rule == 'u' && (*count != o->top || o->top == 0)) *count = o->top == 0 ? 1 : *count + 1;
        if (rule == 'd' && *count != o->top && --*count == 0) cells_clear(&o->cells, i);
        uint64_t const fresh = cells_fresh(&o->cells, o->hand, i, value);
        if (rule != 'd' && fresh > o->cells.timer[i]) o->cells.timer[i] = fresh;
    }
}

static tamis_status oracle_touch(oracle *o, uint64_t hash) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    for (uint64_t v = 0; v < o->values; v++) {
        if (is_hit[v]) oracle_apply(o, hash, v, 'r');
    }
    return hits == 0 ? TAMIS_ERR_ABSENT : hits == 1 ? TAMIS_OK : TAMIS_ERR_UNKNOWN;
}

static tamis_status oracle_get(const oracle *o, uint64_t hash, uint64_t *ret_value) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    if (hits != 1) return hits == 0 ? TAMIS_ERR_ABSENT : TAMIS_ERR_UNKNOWN;
    for (uint64_t v = 0; v < o->values; v++) {
        if (is_hit[v]) *ret_value = v;
    }
    return TAMIS_OK;
}

/* What a key that is to have `from` is found to have. */
static tamis_status oracle_find(const oracle *o, uint64_t hash, uint64_t from,
                                uint64_t *ret_value) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    if (hits == 0 || from == TAMIS_ANY_VALUE) return oracle_get(o, hash, ret_value);
    *ret_value = from;
    return is_hit[from] ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

static tamis_status oracle_put(oracle *o, uint64_t hash, uint64_t value) {
    uint64_t           found = 0;
    tamis_status const status = oracle_get(o, hash, &found);
    if (o->cells.timer_bits != 0 && status != TAMIS_ERR_ABSENT) {
        if (status == TAMIS_OK && found != value) return TAMIS_ERR_CONFLICT;
        return oracle_touch(o, hash);
    }
    oracle_apply(o, hash, value, 'u');
    o->keys++;
    return TAMIS_OK;
}

static tamis_status oracle_move(oracle *o, uint64_t hash, uint64_t from, uint64_t to) {
    uint64_t           found = 0;
    tamis_status const status = oracle_find(o, hash, from, &found);
    if (status == TAMIS_ERR_UNKNOWN) return oracle_touch(o, hash);
    if (status != TAMIS_OK) return status;
    if (found != to && o->top != 0) oracle_apply(o, hash, found, 'd');
    oracle_apply(o, hash, to, found == to ? 'r' : 'u');
    return TAMIS_OK;
}

static tamis_status oracle_drop(oracle *o, uint64_t hash, uint64_t from) {
    uint64_t           found = 0;
    tamis_status const status = oracle_find(o, hash, from, &found);
    if (status != TAMIS_OK) return status;
    if (o->top == 0) return TAMIS_ERR_UNKNOWN;
    oracle_apply(o, hash, found, 'd');
    o->keys -= o->keys != 0;
    return TAMIS_OK;
}

static void oracle_pass(void *any, uint64_t unit) {
    oracle *const o = any;
    o->aged += cells_age(&o->cells, unit);
}

static void oracle_merge(oracle *into, const oracle *from) {
    for (uint64_t i = 0; i < into->cells.m; i++) {
        if (from->cells.content[i] == 0) continue;
        uint64_t const most = into->top == 0 ? 1 : into->top;
        into->cells.timer[i] = cells_younger(&into->cells, into->hand, &from->cells, from->hand, i);
        into->cells.content[i] = min_u64(into->cells.content[i] + from->cells.content[i], most);
    }
    into->keys += from->keys;
}

/* ------------------------------------------------------------------ histories */

/* What happened in all histories, by status; and cells that aged, and that stuck. */
static uint64_t happened[5], happened_aged, happened_stuck;

static tamis_status seen(tamis_status status) {
    assert_true(status <= 0 && status > -5);
    happened[-status]++;
    return status;
}

typedef struct history {
    tamis_states *states;
    oracle       *o;
    dice          chance;
} history;

static history history_make(const uint64_t *g, const char *isa, uint64_t seed) {
    history h = { .chance = { seed } };
    h.states = states_of("state_direct", isa, g, 100, 1600, 3);
    h.o = oracle_make(g, h.states);
    return h;
}

static void history_free(history *h) {
    tamis_states_free(h->states);
    free(h->o);
}

static void expect_get(history *h, uint64_t id) {
    uint64_t const     hash = keyhash_id(&h->states->set.hasher, id);
    uint64_t           found = 0;
    uint32_t           value = 12345;
    tamis_status const status = oracle_get(h->o, hash, &found);
    assert_int_equal(tamis_states_get_hash(h->states, id, &value), status);
    assert_int_equal(value, status == TAMIS_OK ? found : 12345);
}

static void history_step(history *h) {
    uint64_t const id = dice_below(&h->chance, KEYS), what = dice_below(&h->chance, 16);
    uint64_t const hash = keyhash_id(&h->states->set.hasher, id);
    uint64_t const a = dice_below(&h->chance, h->o->values);
    uint64_t const b = dice_below(&h->chance, h->o->values);
    uint64_t const from = dice_below(&h->chance, 2) == 0 ? TAMIS_ANY_VALUE : a;
    tamis_states  *s = h->states;
    if (what < 3)
        assert_int_equal(seen(tamis_states_put_hash(s, id, (uint32_t)a)),
                         oracle_put(h->o, hash, a));
    else if (what < 6)
        assert_int_equal(seen(tamis_states_move_hash(s, id, from, (uint32_t)b)),
                         oracle_move(h->o, hash, from, b));
    else if (what < 11)
        assert_int_equal(seen(tamis_states_drop_hash(s, id, from)), oracle_drop(h->o, hash, from));
    else if (what < 12)
        assert_int_equal(seen(tamis_states_touch_hash(s, id)), oracle_touch(h->o, hash));
    else if (what < 15)
        expect_get(h, id);
    else
        let_time_pass(s, &h->chance, oracle_pass, h->o);
}

static void every_answer_and_byte_is_foreseen(void **state) {
    (void)state;
    const char *isa;
    for (size_t i = 0; (isa = tamis_isa_name(i)) != NULL; i++) {
        for (size_t g = 0; g < COUNT(geometries); g++) {
            history h = history_make(geometries[g], isa, 99 + g);
            for (uint64_t step = 0; step < steps; step++) {
                history_step(&h);
                if (step % 8 == 0) oracle_expect(h.o, h.states);
            }
            oracle_expect(h.o, h.states);
            happened_aged += h.o->aged;
            happened_stuck += h.o->saturated;
            history_free(&h);
        }
    }
    assert_int_equal(happened[1], 0); /* it is never full */
    assert_true(happened[0] > 1000 && happened[2] > 1000 && happened[3] > 1000);
    assert_true(happened[4] > 500 && happened_aged > 1000 && happened_stuck > 100);
}

static void a_merge_is_foreseen(void **state) {
    (void)state;
    for (size_t g = 0; g < COUNT(geometries); g++) {
        history a = history_make(geometries[g], NULL, 1 + g);
        history b = history_make(geometries[g], NULL, 2);
        for (unsigned round = 0; round < 5; round++) {
            for (unsigned step = 0; step < 40; step++) {
                history_step(&a);
                history_step(&b);
            }
            assert_int_equal(tamis_states_merge(a.states, b.states), TAMIS_OK);
            oracle_merge(a.o, b.o);
            oracle_expect(a.o, a.states);
            oracle_expect(b.o, b.states);
        }
        history_free(&a);
        history_free(&b);
    }
}

/* A key of which another value seems to be there, too, is unknown; who names the true one can move
 * and drop it all the same. */
static void a_value_that_is_named_settles_it(void **state) {
    (void)state;
    static const uint64_t g[SHARED_FIELDS] = { 60, 2, 8, 4, 0 };
    history               h = history_make(g, NULL, 4);
    uint64_t              settled = 0;
    for (uint32_t id = 0; id < 20; id++)
        assert_int_equal(tamis_states_put_hash(h.states, id, id % 8), TAMIS_OK);
    for (uint32_t id = 0; id < 20; id++) {
        uint32_t value;
        if (tamis_states_get_hash(h.states, id, &value) != TAMIS_ERR_UNKNOWN) continue;
        uint32_t const to = (id + 1) % 8;
        assert_int_equal(tamis_states_move_hash(h.states, id, TAMIS_ANY_VALUE, to),
                         TAMIS_ERR_UNKNOWN);
        assert_int_equal(tamis_states_drop_hash(h.states, id, TAMIS_ANY_VALUE), TAMIS_ERR_UNKNOWN);
        assert_int_equal(tamis_states_move_hash(h.states, id, id % 8, to), TAMIS_OK);
        assert_int_equal(tamis_states_drop_hash(h.states, id, to), TAMIS_OK);
        settled++;
    }
    assert_true(settled > 3);
    assert_int_equal(h.states->set.table.keys, 20 - settled);
    history_free(&h);
}

/* Cells that are marks: a moved key is unknown until what it was has aged; a drop leaves it to. */
static void marks_are_left_to_age(void **state) {
    (void)state;
    static const uint64_t g[SHARED_FIELDS] = { 500, 5, 2, 0, 3 };
    history               h = history_make(g, NULL, 4);
    tamis_states *const   s = h.states;
    uint32_t              value = 9;
    assert_int_equal(tamis_states_put_hash(s, 5, 1), TAMIS_OK); /* lasts half as long as 0 */
    assert_int_equal(tamis_states_tick(s, TIMEOUT / 10, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_move_hash(s, 5, 1, 0), TAMIS_OK);
    assert_int_equal(tamis_states_get_hash(s, 5, &value), TAMIS_ERR_UNKNOWN);
    assert_int_equal(tamis_states_tick(s, TIMEOUT, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_hash(s, 5, &value), TAMIS_OK);
    assert_int_equal(value, 0);
    assert_int_equal(tamis_states_drop_hash(s, 5, 1), TAMIS_ERR_CONFLICT);
    assert_int_equal(tamis_states_drop_hash(s, 5, 0), TAMIS_ERR_UNKNOWN);
    assert_int_equal(tamis_states_get_hash(s, 5, &value), TAMIS_OK);
    assert_int_equal(tamis_states_tick(s, TIMEOUT / 3 + 1, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_hash(s, 5, &value), TAMIS_ERR_ABSENT);
    history_free(&h);
}

/* ------------------------------------------------------------------ broken tables */

static void expect_broken(const history *h, const char *invariant) {
    const char *why = "nothing";
    assert_false(tamis_states_validate(h->states, &why));
    if (strncmp(why, invariant, strlen(invariant)) != 0) fail_msg("%s, not %s", why, invariant);
}

static void validate_names_each_invariant(void **state) {
    (void)state;
    static const uint64_t whole[SHARED_FIELDS] = { 200, 3, 6, 5, 3 }; /* cells of 8 bits: 5, 3 */
    static const struct {
        uint8_t     is; /* a cell */
        const char *invariant;
    } changes[] = {
        { 0x20, "I2" }, /* a timer of nothing */
        { 0x1f, "I3" }, /* stuck, and not counted */
        { 0x81, "I4" }, /* a timer of 4; a fresh one has 3 */
    };
    history h = history_make(whole, NULL, 1);
    for (size_t i = 0; i < COUNT(changes); i++) {
        h.states->set.table.body[i * 7] = changes[i].is;
        expect_broken(&h, changes[i].invariant);
        h.states->set.table.body[i * 7] = 0x61;
        assert_true(tamis_states_validate(h.states, NULL));
    }
    h.states->set.table.body[200] = 1;
    expect_broken(&h, "I1");
    h.states->set.table.body[200] = 0;
    h.states->set.table.saturated++;
    expect_broken(&h, "I3");
    history_free(&h);
}

/* Whatever is in the body, it is looked at without harm. */
static void nothing_is_unsafe_on_any_bytes(void **state) {
    (void)state;
    dice chance = { 12 };
    for (unsigned round = 0; round < 400; round++) {
        history            h = history_make(geometries[round % COUNT(geometries)], NULL, round);
        const tamis_table *table = &h.states->set.table;
        tamis_states_info  info;
        for (uint64_t i = 0; i < table->body_bytes; i++) {
            uint64_t const roll = dice_below(&chance, UINT64_MAX);
            table->body[i] = (uint8_t)(round % 2 == 0 ? roll : roll & roll >> 8 & roll >> 16);
        }
        assert_false(tamis_states_validate(h.states, NULL));
        for (uint64_t id = 0; id < 20; id++) {
            uint32_t value;
            assert_int_not_equal(tamis_states_get_hash(h.states, id, &value), TAMIS_ERR_CANNOT);
        }
        assert_int_equal(tamis_states_inspect(h.states, &info), TAMIS_OK);
        history_free(&h);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_and_byte_is_foreseen),
        cmocka_unit_test(a_merge_is_foreseen),
        cmocka_unit_test(a_value_that_is_named_settles_it),
        cmocka_unit_test(marks_are_left_to_age),
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(nothing_is_unsafe_on_any_bytes),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("state_direct", tests, NULL, NULL);
}
