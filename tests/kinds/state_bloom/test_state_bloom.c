/* test_state_bloom.c - the stateful Bloom filter against an oracle that predicts every answer and
 * every byte, and its checks against damaged tables.
 *
 * usage: test_state_bloom [STEPS]     operations of each history
 */
#include "foreseen.h"

static uint64_t steps = 1500;

/* Tables that are so small that everything happens: cells, hashes, values, counter_bits,
 * timer_bits. */
static const uint64_t geometries[][OVERLAID_FIELDS] = {
    { 300, 4, 8, 3, 0 },  { 200, 3, 2, 2, 0 },
    { 120, 6, 30, 1, 0 }, { 60, 32, 3, 8, 0 },
    { 300, 4, 8, 0, 2 },  { 200, 3, 2, 0, 3 },
    { 90, 7, 6, 0, 5 },   { 2, 5, 4, 0, 2 },
    { 300, 4, 14, 2, 2 }, { 130, 5, 7, 1, 4 },
    { 50, 2, 100, 3, 3 }, { 3, 9, 5, 8, 5 },
    { 300, 4, 8, 0, 0 },  { 40, 1, 2, 0, 0 },
    { 7, 3, 2, 1, 0 },    { 80, 3, UINT64_C(1) << 32, 2, 2 },
};

/* ------------------------------------------------------------------ the oracle */

struct oracle {
    cells_oracle cells; /* content: what it says, and above that the keys beside the first */
    uint64_t     says[MAX_CELLS], more[MAX_CELLS]; /* says 0: empty; values + 1: don't know */
    uint64_t     unknown, top;
    unsigned     says_bits;
    const sweep *hand;
};

oracle *oracle_make(const uint64_t *g, const tamis_states *states) {
    oracle *const o = calloc(1, sizeof *o);
    assert_non_null(o);
    while (UINT64_C(1) << o->says_bits < g[OVERLAID_VALUES] + 2) o->says_bits++;
    o->unknown = g[OVERLAID_VALUES] + 1;
    o->top = (UINT64_C(1) << g[OVERLAID_COUNTER_BITS]) - 1;
    o->cells = cells_of(g, o->says_bits + (unsigned)g[OVERLAID_COUNTER_BITS]);
    o->hand = &states->set.table.sweep;
    return o;
}

const cells_oracle *oracle_cells(oracle *o) {
    o->cells.saturated = 0;
    for (uint64_t i = 0; i < o->cells.m; i++) {
        o->cells.content[i] = o->says[i] | o->more[i] << o->says_bits;
        o->cells.saturated += o->top != 0 && o->more[i] == o->top;
    }
    return &o->cells;
}

/* ------------------------------------------------------------------ what it says */

tamis_status oracle_get(const oracle *o, uint64_t hash, uint64_t *ret_value) {
    uint64_t said = 0, held = 0, n = 0;
    bool     is_two = false;
    for (uint64_t i = 0; i < o->cells.m; i++) {
        if (!cells_are_of(&o->cells, hash, i)) continue;
        n++;
        held += o->says[i] != 0;
        if (o->says[i] == 0 || o->says[i] == o->unknown) continue;
        is_two |= said != 0 && said != o->says[i];
        said = o->says[i];
    }
    if (held < n || is_two) return TAMIS_ERR_ABSENT;
    if (said == 0) return TAMIS_ERR_UNKNOWN;
    *ret_value = said - 1;
    return TAMIS_OK;
}

static tamis_status oracle_find(const oracle *o, uint64_t hash, uint64_t value) {
    uint64_t           found = 0;
    tamis_status const status = oracle_get(o, hash, &found);
    bool const         is_other = value != TAMIS_ANY_VALUE && found != value;
    return status == TAMIS_OK && is_other ? TAMIS_ERR_CONFLICT : status;
}

static void oracle_refresh_cell(oracle *o, uint64_t cell) {
    uint64_t const value = o->says[cell] == o->unknown ? UINT64_MAX : o->says[cell] - 1;
    o->cells.timer[cell] = cells_fresh(&o->cells, o->hand, cell, value);
}

/* The rules of the paper, with (don't know, 1) being don't know. */
static void oracle_apply(oracle *o, uint64_t hash, char rule, uint64_t says) {
    for (uint64_t i = 0; i < o->cells.m; i++) {
        if (!cells_are_of(&o->cells, hash, i)) continue;
        bool const is_unknown = o->says[i] == o->unknown;
        if (rule == 'i' && o->says[i] == 0) {
            o->says[i] = says;
        } else if (rule == 'i') {
            if (o->top == 0 || o->says[i] != says) o->says[i] = o->unknown;
            if (o->more[i] != o->top) o->more[i]++;
        } else if (rule == 'm' && !is_unknown && o->says[i] != says) {
            o->says[i] = o->more[i] == 0 ? says : o->unknown;
        } else if (rule == 'd' && (o->top == 0 ? !is_unknown : o->more[i] != o->top)) {
            if (o->more[i] == 0) {
                o->says[i] = 0;
                cells_clear(&o->cells, i);
            } else {
                o->more[i]--;
            }
        }
        if (rule != 'd') oracle_refresh_cell(o, i);
    }
}

static bool is_there(tamis_status status) {
    return status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN;
}

tamis_status oracle_put(oracle *o, uint64_t hash, uint64_t value) {
    tamis_status const found = oracle_find(o, hash, value);
    if (o->cells.timer_bits != 0 && found == TAMIS_ERR_CONFLICT) return found;
    if (o->cells.timer_bits != 0 && o->top == 0 && is_there(found)) {
        oracle_apply(o, hash, 'r', 0);
        return found;
    }
    oracle_apply(o, hash, 'i', value + 1);
    o->cells.keys++;
    return TAMIS_OK;
}

tamis_status oracle_move(oracle *o, uint64_t hash, uint64_t from, uint64_t to) {
    tamis_status const found = oracle_find(o, hash, from);
    if (is_there(found)) oracle_apply(o, hash, found == TAMIS_OK ? 'm' : 'r', to + 1);
    return found;
}

tamis_status oracle_touch(oracle *o, uint64_t hash) {
    tamis_status const found = oracle_find(o, hash, TAMIS_ANY_VALUE);
    if (is_there(found)) oracle_apply(o, hash, 'r', 0);
    return found;
}

tamis_status oracle_drop(oracle *o, uint64_t hash, uint64_t from) {
    tamis_status const found = oracle_find(o, hash, from);
    if (found != TAMIS_OK && !(found == TAMIS_ERR_UNKNOWN && o->top != 0)) return found;
    oracle_apply(o, hash, 'd', 0);
    o->cells.keys -= o->cells.keys != 0;
    return TAMIS_OK;
}

void oracle_pass(oracle *o, uint64_t unit) {
    (void)oracle_cells(o);
    cells_age(&o->cells, unit);
    for (uint64_t i = 0; i < o->cells.m; i++) {
        if (o->cells.content[i] == 0) o->says[i] = o->more[i] = 0;
    }
}

void oracle_merge(oracle *into, const oracle *from) {
    for (uint64_t i = 0; i < into->cells.m; i++) {
        if (from->says[i] == 0) continue;
        into->cells.timer[i] = cells_younger(&into->cells, into->hand, &from->cells, from->hand, i);
        if (into->says[i] == 0) {
            into->says[i] = from->says[i];
            into->more[i] = from->more[i];
            continue;
        }
        if (into->top == 0 || into->says[i] != from->says[i]) into->says[i] = into->unknown;
        into->more[i] = min_u64(into->more[i] + from->more[i] + 1, into->top);
    }
    into->cells.keys += from->cells.keys;
}

/* ------------------------------------------------------------------ histories */

static const tested_states under_test = {
    .kind = "state_bloom",
    .geometries = geometries,
    .n = COUNT(geometries),
    .keys = 60,
    .values = 4, /* the next code is "don't know" */
    .puts = 4,
};

static void every_answer_and_byte_matches_the_oracle(void **state) {
    (void)state;
    happened const all = check_state_histories(&under_test, steps);
    assert_int_equal(all.status[1], 0); /* it is never full */
    assert_true(all.status[0] > 1000 && all.status[2] > 1000 && all.status[3] > 1000);
    assert_true(all.status[4] > 1000 && all.aged > 1000 && all.stuck > 100);
}

static void merges_match_the_oracle(void **state) {
    (void)state;
    check_state_merges(&under_test);
}

/* What info says about a table: the cells that say "don't know", and the rate of this table. */
static void contents_are_told(void **state) {
    (void)state;
    for (size_t g = 0; g < COUNT(geometries) - 1; g++) {
        history           h = history_make(&under_test, geometries[g], NULL, 5 + g);
        tamis_states_info info;
        for (unsigned step = 0; step < 60; step++) history_step(&h);
        uint64_t unknown = 0, answered = 0, asked = 40000;
        for (uint64_t i = 0; i < h.o->cells.m; i++) unknown += h.o->says[i] == h.o->unknown;
        for (uint64_t id = 0; id < asked; id++) {
            uint32_t value;
            answered += tamis_states_get_id(h.states, 1000000 + id, &value) == TAMIS_OK;
        }
        assert_int_equal(tamis_states_inspect(h.states, &info), TAMIS_OK);
        assert_int_equal(info.unknown_cells, unknown);
        double const expected = info.current_fpr * (double)asked;
        double const off = (double)answered - expected;
        assert_true(off * off <= 16 * expected + 16); /* 4 sigma of a Poisson, and a little */
        history_free(&h);
    }
}

/* ------------------------------------------------------------------ broken tables */

static const uint64_t whole[OVERLAID_FIELDS] = { 200, 3, 6, 2, 3 }; /* cells of 8 bits: 3, 2, 3 */

static history filled(const uint64_t *g) {
    history h = history_make(&under_test, g, NULL, 77);
    for (uint32_t id = 0; id < 30; id++) {
        tamis_status const status = tamis_states_put_id(h.states, id, id % 5);
        assert_true(status == TAMIS_OK || status == TAMIS_ERR_CONFLICT);
    }
    assert_true(tamis_states_validate(h.states, NULL));
    return h;
}

static void validate_names_what_is_wrong_in_a_cell(void **state) {
    (void)state;
    static const struct {
        uint8_t     cell; /* in place of an empty one */
        const char *invariant;
    } changes[] = {
        { 0x08, "I6" }, /* a count of nothing */
        { 0x20, "I2" }, /* a timer of nothing */
        { 0x19, "I3" }, /* stuck, and not counted */
        { 0x81, "I4" }, /* a timer of 4; a fresh one has 3 */
        { 0x61, NULL }, /* a cell as any other */
        { 0x67, NULL }, /* the same, unknown */
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        history        h = filled(whole);
        uint8_t *const body = h.states->set.table.body;
        uint64_t       at = 0;
        while (body[at] != 0) at++;
        body[at] = changes[i].cell;
        h.states->set.table.keys++; /* one more is in use */
        if (changes[i].invariant != NULL)
            expect_broken(&h.states->set, changes[i].invariant);
        else
            assert_true(tamis_states_validate(h.states, NULL));
        history_free(&h);
    }
    static const uint64_t narrow[OVERLAID_FIELDS] = { 200, 3, 5, 2, 3 }; /* 7 codes of 8 */
    history               h = filled(narrow);
    h.states->set.table.body[0] |= 7;
    expect_broken(&h.states->set, "I6");
    history_free(&h);
}

static void validate_names_counts_and_bits_that_are_wrong(void **state) {
    (void)state;
    history h = filled(whole);
    h.states->set.table.body[200] = 1;
    expect_broken(&h.states->set, "I1");
    h.states->set.table.body[200] = 0;
    h.states->set.table.saturated++;
    expect_broken(&h.states->set, "I3");
    h.states->set.table.saturated--;
    h.states->set.table.keys++;
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
        cmocka_unit_test(contents_are_told),
        cmocka_unit_test(validate_names_what_is_wrong_in_a_cell),
        cmocka_unit_test(validate_names_counts_and_bits_that_are_wrong),
        cmocka_unit_test(any_bytes_are_safe),
    };
    if (argc > 1) steps = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("state_bloom", tests, NULL, NULL);
}
