/* foreseen.c - see foreseen.h. */
#include "foreseen.h"

/* ------------------------------------------------------------------ histories */

history history_make(const tested_states *target, const uint64_t *g, const char *isa,
                     uint64_t seed) {
    history h = { .target = target, .chance = { seed }, .values = g[OVERLAID_VALUES] };
    h.states = states_of(target->kind, isa, g, 100, 1600, 3);
    h.o = oracle_make(g, h.states);
    return h;
}

void history_free(history *h) {
    tamis_states_free(h->states);
    free(h->o);
}

static void expect_foreseen(const history *h) {
    const tamis_table *const  table = &h->states->set.table;
    const cells_oracle *const cells = oracle_cells(h->o);
    cells_expect_bytes(cells, table);
    assert_int_equal(table->keys, cells->timer_bits != 0 ? cells_in_use(cells) : cells->keys);
    assert_int_equal(table->saturated, cells->saturated);
    assert_int_equal(table->aged, cells->aged);
    expect_valid_states(h->states);
}

static void expect_get(const history *h, uint64_t id) {
    uint64_t const     hash = keyhash_id(&h->states->set.hasher, id);
    uint64_t           found = 0;
    uint32_t           value = 12345;
    tamis_status const status = oracle_get(h->o, hash, &found);
    assert_int_equal(tamis_states_get_id(h->states, id, &value), status);
    assert_int_equal(value, status == TAMIS_OK ? found : 12345);
}

static void expect_status(history *h, tamis_status status, tamis_status foreseen) {
    assert_int_equal(status, foreseen);
    assert_true(status <= 0 && status > -5);
    h->seen[-status]++;
}

/* Time goes on, and the sweep does a part of the work that is due. */
static void let_time_pass(history *h) {
    tamis_table *const table = &h->states->set.table;
    sweep *const       hand = &table->sweep;
    if (hand->timeout == 0) return;
    sweep_advance(hand, dice_below(&h->chance, hand->timeout / 3));
    bool const     is_all = dice_below(&h->chance, 4) == 0;
    uint64_t const most = is_all ? UINT64_MAX : dice_below(&h->chance, 12);
    for (uint64_t i = 0; i < most && hand->done != hand->due; i++) {
        oracle_pass(h->o, hand->done);
        h->states->set.kind->states->sweep(table, hand->done, NULL);
        sweep_step(hand);
    }
}

void history_step(history *h) {
    uint64_t const id = dice_below(&h->chance, h->target->keys),
                   operation = dice_below(&h->chance, 16);
    uint64_t const hash = keyhash_id(&h->states->set.hasher, id);
    uint64_t const few = min_u64(h->values, h->target->values), last = h->values - 1;
    uint64_t const a = last - dice_below(&h->chance, few), b = last - dice_below(&h->chance, few);
    uint64_t const from = dice_below(&h->chance, 2) == 0 ? TAMIS_ANY_VALUE : a;
    tamis_states  *s = h->states;
    oracle        *o = h->o;
    if (operation < h->target->puts)
        expect_status(h, tamis_states_put_id(s, id, (uint32_t)a), oracle_put(o, hash, a));
    else if (operation < h->target->puts + 3)
        expect_status(h, tamis_states_move_id(s, id, from, (uint32_t)b),
                      oracle_move(o, hash, from, b));
    else if (operation < 11)
        expect_status(h, tamis_states_drop_id(s, id, from), oracle_drop(o, hash, from));
    else if (operation < 12)
        expect_status(h, tamis_states_touch_id(s, id), oracle_touch(o, hash));
    else if (operation < 15)
        expect_get(h, id);
    else
        let_time_pass(h);
}

static void history_run(history *h, uint64_t steps, happened *all) {
    for (uint64_t step = 0; step < steps; step++) {
        history_step(h);
        if (step % 8 == 0) expect_foreseen(h);
    }
    expect_foreseen(h);
    for (unsigned i = 0; i < 5; i++) all->status[i] += h->seen[i];
    all->aged += oracle_cells(h->o)->aged;
    all->stuck += oracle_cells(h->o)->saturated;
}

happened check_state_histories(const tested_states *target, uint64_t steps) {
    happened    all = { .aged = 0 };
    const char *isa;
    for (size_t i = 0; (isa = tamis_isa_name(i)) != NULL; i++) {
        for (size_t g = 0; g < target->n; g++) {
            history h = history_make(target, target->geometries[g], isa, 99 + g);
            history_run(&h, steps, &all);
            history_free(&h);
        }
    }
    return all;
}

/* ------------------------------------------------------------------ merges */

void check_state_merges(const tested_states *target) {
    for (size_t g = 0; g < target->n; g++) {
        history a = history_make(target, target->geometries[g], NULL, 1 + g);
        history b = history_make(target, target->geometries[g], NULL, 2);
        for (unsigned round = 0; round < 5; round++) {
            for (unsigned step = 0; step < 40; step++) {
                history_step(&a);
                history_step(&b);
            }
            assert_int_equal(tamis_states_merge(a.states, b.states), TAMIS_OK);
            oracle_merge(a.o, b.o);
            expect_foreseen(&a);
            expect_foreseen(&b);
        }
        history_free(&a);
        history_free(&b);
    }
}

/* ------------------------------------------------------------------ broken tables */

void check_state_bodies(const tested_states *target) {
    dice chance = { 12 };
    for (unsigned round = 0; round < 400; round++) {
        history h = history_make(target, target->geometries[round % target->n], NULL, round);
        tamis_states_info info;
        scramble(&h.states->set, &chance, round);
        assert_false(tamis_states_validate(h.states, NULL));
        for (uint64_t id = 0; id < 20; id++) {
            uint32_t value;
            assert_int_not_equal(tamis_states_get_id(h.states, id, &value), TAMIS_ERR_CANNOT);
        }
        assert_int_equal(tamis_states_inspect(h.states, &info), TAMIS_OK);
        history_free(&h);
    }
}
