/* test_state_direct.c - pairs of keys and values against an oracle that predicts every answer and
 * every byte, and the checks against damaged tables.
 *
 * usage: test_state_direct [STEPS]     operations of each history
 */
#include "foreseen.h"

static uint64_t steps = 1500;

/* Tables that are so small that everything happens: cells, hashes, values, counter_bits,
 * timer_bits. */
static const uint64_t geometries[][OVERLAID_FIELDS] = {
    { 300, 4, 8, 3, 0 }, { 200, 3, 2, 2, 0 },  { 60, 6, 5, 8, 0 },   { 90, 32, 3, 4, 0 },
    { 300, 4, 8, 0, 2 }, { 200, 3, 2, 0, 3 },  { 400, 5, 6, 0, 5 },  { 2, 5, 4, 0, 2 },
    { 300, 4, 8, 2, 2 }, { 130, 5, 16, 3, 4 }, { 50, 2, 3, 4, 3 },   { 3, 9, 5, 8, 5 },
    { 300, 4, 8, 0, 0 }, { 40, 1, 2, 0, 0 },   { 512, 3, 16, 2, 0 },
};

/* ------------------------------------------------------------------ the oracle */

struct oracle {
    cells_oracle cells; /* content: how often a cell is held, or that it is */
    uint64_t     top, values;
    const sweep *hand;
};

oracle *oracle_make(const uint64_t *g, const tamis_states *states) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    uint64_t const bits = g[OVERLAID_COUNTER_BITS];
    o->cells = cells_of(g, bits == 0 ? 1 : (unsigned)bits);
    o->top = (UINT64_C(1) << bits) - 1;
    o->values = g[OVERLAID_VALUES];
    o->hand = &states->set.table.sweep;
    return o;
}

const cells_oracle *oracle_cells(oracle *o) {
    o->cells.saturated = 0;
    for (uint64_t i = 0; i < o->cells.m; i++)
        o->cells.saturated += o->top != 0 && o->cells.content[i] == o->top;
    return &o->cells;
}

static uint64_t pair_of(uint64_t hash, uint64_t value) {
    return remix(hash, 64 + (unsigned)value);
}

/* How many values the key appears to have, and which. */
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

tamis_status oracle_touch(oracle *o, uint64_t hash) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    for (uint64_t v = 0; v < o->values; v++) {
        if (is_hit[v]) oracle_apply(o, hash, v, 'r');
    }
    return hits == 0 ? TAMIS_ERR_ABSENT : hits == 1 ? TAMIS_OK : TAMIS_ERR_UNKNOWN;
}

tamis_status oracle_get(const oracle *o, uint64_t hash, uint64_t *ret_value) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    if (hits != 1) return hits == 0 ? TAMIS_ERR_ABSENT : TAMIS_ERR_UNKNOWN;
    for (uint64_t v = 0; v < o->values; v++) {
        if (is_hit[v]) *ret_value = v;
    }
    return TAMIS_OK;
}

/* Look for a key that should have the value `from`. */
static tamis_status oracle_find(const oracle *o, uint64_t hash, uint64_t from,
                                uint64_t *ret_value) {
    bool           is_hit[16];
    uint64_t const hits = oracle_hits(o, hash, is_hit);
    if (hits == 0 || from == TAMIS_ANY_VALUE) return oracle_get(o, hash, ret_value);
    *ret_value = from;
    return is_hit[from] ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

tamis_status oracle_put(oracle *o, uint64_t hash, uint64_t value) {
    uint64_t           found = 0;
    tamis_status const status = oracle_get(o, hash, &found);
    if (o->cells.timer_bits != 0 && status == TAMIS_OK && found != value) return TAMIS_ERR_CONFLICT;
    if (o->cells.timer_bits != 0 && o->top == 0 && status != TAMIS_ERR_ABSENT)
        return oracle_touch(o, hash);
    oracle_apply(o, hash, value, 'u');
    o->cells.keys++;
    return TAMIS_OK;
}

tamis_status oracle_move(oracle *o, uint64_t hash, uint64_t from, uint64_t to) {
    uint64_t           found = 0;
    tamis_status const status = oracle_find(o, hash, from, &found);
    if (status == TAMIS_ERR_UNKNOWN) return oracle_touch(o, hash);
    if (status != TAMIS_OK) return status;
    if (found != to && o->top != 0) oracle_apply(o, hash, found, 'd');
    oracle_apply(o, hash, to, found == to ? 'r' : 'u');
    return TAMIS_OK;
}

tamis_status oracle_drop(oracle *o, uint64_t hash, uint64_t from) {
    uint64_t           found = 0;
    tamis_status const status = oracle_find(o, hash, from, &found);
    if (status != TAMIS_OK) return status;
    if (o->top == 0) return TAMIS_ERR_UNKNOWN;
    oracle_apply(o, hash, found, 'd');
    o->cells.keys -= o->cells.keys != 0;
    return TAMIS_OK;
}

void oracle_pass(oracle *o, uint64_t unit) {
    cells_age(&o->cells, unit);
}

void oracle_merge(oracle *into, const oracle *from) {
    for (uint64_t i = 0; i < into->cells.m; i++) {
        if (from->cells.content[i] == 0) continue;
        uint64_t const most = into->top == 0 ? 1 : into->top;
        into->cells.timer[i] = cells_younger(&into->cells, into->hand, &from->cells, from->hand, i);
        into->cells.content[i] = min_u64(into->cells.content[i] + from->cells.content[i], most);
    }
    into->cells.keys += from->cells.keys;
}

/* ------------------------------------------------------------------ histories */

static const tested_states under_test = {
    .kind = "state_direct",
    .geometries = geometries,
    .n = COUNT(geometries),
    .keys = 40,
    .values = 16,
    .puts = 3,
};

static void every_answer_and_byte_matches_the_oracle(void **state) {
    (void)state;
    happened const all = check_state_histories(&under_test, steps);
    assert_int_equal(all.status[1], 0); /* it is never full */
    assert_true(all.status[0] > 1000 && all.status[2] > 1000 && all.status[3] > 1000);
    assert_true(all.status[4] > 500 && all.aged > 1000 && all.stuck > 100);
}

static void merges_match_the_oracle(void **state) {
    (void)state;
    check_state_merges(&under_test);
}

/* A key that appears to have a second value is unknown. A caller who names the true value can still
 * move and drop it. */
static void a_value_that_is_named_settles_it(void **state) {
    (void)state;
    static const uint64_t g[OVERLAID_FIELDS] = { 60, 2, 8, 4, 0 };
    history               h = history_make(&under_test, g, NULL, 4);
    uint64_t              settled = 0;
    for (uint32_t id = 0; id < 20; id++)
        assert_int_equal(tamis_states_put_id(h.states, id, id % 8), TAMIS_OK);
    for (uint32_t id = 0; id < 20; id++) {
        uint32_t value;
        if (tamis_states_get_id(h.states, id, &value) != TAMIS_ERR_UNKNOWN) continue;
        uint32_t const to = (id + 1) % 8;
        assert_int_equal(tamis_states_move_id(h.states, id, TAMIS_ANY_VALUE, to),
                         TAMIS_ERR_UNKNOWN);
        assert_int_equal(tamis_states_drop_id(h.states, id, TAMIS_ANY_VALUE), TAMIS_ERR_UNKNOWN);
        assert_int_equal(tamis_states_move_id(h.states, id, id % 8, to), TAMIS_OK);
        assert_int_equal(tamis_states_drop_id(h.states, id, to), TAMIS_OK);
        settled++;
    }
    assert_true(settled > 3);
    assert_int_equal(h.states->set.table.keys, 20 - settled);
    history_free(&h);
}

/* Cells without counters: a moved key is unknown until its old value has aged, and a dropped key
 * stays until it has aged. */
static void marks_are_left_to_age(void **state) {
    (void)state;
    static const uint64_t g[OVERLAID_FIELDS] = { 500, 5, 2, 0, 3 };
    history               h = history_make(&under_test, g, NULL, 4);
    tamis_states *const   s = h.states;
    uint32_t              value = 9;
    assert_int_equal(tamis_states_put_id(s, 5, 1), TAMIS_OK); /* lasts half as long as 0 */
    assert_int_equal(tamis_states_tick(s, TIMEOUT / 10, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_move_id(s, 5, 1, 0), TAMIS_OK);
    assert_int_equal(tamis_states_get_id(s, 5, &value), TAMIS_ERR_UNKNOWN);
    assert_int_equal(tamis_states_tick(s, TIMEOUT, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_id(s, 5, &value), TAMIS_OK);
    assert_int_equal(value, 0);
    assert_int_equal(tamis_states_drop_id(s, 5, 1), TAMIS_ERR_CONFLICT);
    assert_int_equal(tamis_states_drop_id(s, 5, 0), TAMIS_ERR_UNKNOWN);
    assert_int_equal(tamis_states_get_id(s, 5, &value), TAMIS_OK);
    assert_int_equal(tamis_states_tick(s, TIMEOUT / 3 + 1, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_states_get_id(s, 5, &value), TAMIS_ERR_ABSENT);
    history_free(&h);
}

/* ------------------------------------------------------------------ broken tables */

static void validate_names_each_invariant(void **state) {
    (void)state;
    static const uint64_t whole[OVERLAID_FIELDS] = { 200, 3, 6, 5, 3 }; /* cells of 8 bits: 5, 3 */
    static const struct {
        uint8_t     cell; /* a cell */
        const char *invariant;
    } changes[] = {
        { 0x20, "I2" }, /* a timer of nothing */
        { 0x1f, "I3" }, /* stuck, and not counted */
        { 0x81, "I4" }, /* a timer of 4; a fresh one has 3 */
    };
    history h = history_make(&under_test, whole, NULL, 1);
    for (size_t i = 0; i < COUNT(changes); i++) {
        h.states->set.table.body[i * 7] = changes[i].cell;
        h.states->set.table.keys++; /* one more is in use */
        expect_broken(&h.states->set, changes[i].invariant);
        h.states->set.table.body[i * 7] = 0x61;
        assert_true(tamis_states_validate(h.states, NULL));
    }
    h.states->set.table.body[200] = 1;
    expect_broken(&h.states->set, "I1");
    h.states->set.table.body[200] = 0;
    h.states->set.table.saturated++;
    expect_broken(&h.states->set, "I3");
    h.states->set.table.saturated--;
    h.states->set.table.keys--;
    expect_broken(&h.states->set, "I5");
    history_free(&h);
}

static void any_bytes_are_safe(void **state) {
    (void)state;
    check_state_bodies(&under_test);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_and_byte_matches_the_oracle),
        cmocka_unit_test(merges_match_the_oracle),
        cmocka_unit_test(a_value_that_is_named_settles_it),
        cmocka_unit_test(marks_are_left_to_age),
        cmocka_unit_test(validate_names_each_invariant),
        cmocka_unit_test(any_bytes_are_safe),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("state_direct", tests, NULL, NULL);
}
