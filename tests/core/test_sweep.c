/* test_sweep.c - core/sweep.h against cells that record when they were last touched. */
#include "core_units.h"

#include "core/sweep.h"

#define MAX_UNITS 40

typedef struct cell {
    bool     is_there, is_late; /* is_late: touched while the sweep was late */
    uint64_t timer, value, heard;
} cell;

typedef struct world {
    sweep    hand;
    cell     cells[MAX_UNITS]; /* one in each unit */
    uint64_t now, gone;
} world;

static world world_make(uint64_t units, uint64_t timeout, uint64_t bits, uint64_t lives) {
    return (world){ .hand = {
                        .units = units, .timeout = timeout, .timer_bits = bits, .lives = lives } };
}

/* The timeout of a cell, by its value: so many passes. */
static uint64_t timeout_of(const world *w, const cell *c) {
    uint64_t const most = (UINT64_C(1) << (w->hand.timer_bits - 1)) - 1;
    uint64_t const own = c->value < 16 ? w->hand.lives >> (4 * c->value) & 15 : 0;
    return w->hand.timeout * (own != 0 ? own : most) / most;
}

static void hear(world *w, uint64_t unit, uint64_t value) {
    cell *const c = &w->cells[unit];
    *c = (cell){ true, w->hand.done != w->hand.due, 0, value, w->now };
    c->timer = sweep_fresh(&w->hand, unit, value);
    assert_true(c->timer < UINT64_C(1) << w->hand.timer_bits);
}

static void pass(world *w) {
    cell *const c = &w->cells[w->hand.done];
    if (c->is_there && c->timer == 0) {
        assert_true(w->now - c->heard > timeout_of(w, c)); /* the first law */
        c->is_there = false;
        w->gone++;
    }
    if (c->is_there) c->timer--;
    sweep_step(&w->hand);
}

/* The second law: when no work is left, cells that were not touched in time are gone. */
static void check(const world *w) {
    uint64_t const most = (UINT64_C(1) << (w->hand.timer_bits - 1)) - 1;
    assert_true(sweep_is_whole(&w->hand));
    if (w->hand.done != w->hand.due) return;
    for (uint64_t i = 0; i < w->hand.units; i++) {
        const cell *const c = &w->cells[i];
        uint64_t const    limit = timeout_of(w, c) + w->hand.timeout / most + 1;
        if (c->is_there && !c->is_late) assert_true(w->now - c->heard <= limit);
    }
}

static void live(world *w, dice *random, unsigned steps, unsigned most_work) {
    for (unsigned step = 0; step < steps; step++) {
        uint64_t const jump = dice_below(random, 50) == 0 ? dice_below(random, 9) : 0;
        uint64_t const ticks = dice_below(random, w->hand.timeout / 8 + 2);
        w->now += ticks + jump * w->hand.timeout;
        sweep_advance(&w->hand, ticks + jump * w->hand.timeout);
        for (unsigned work = 0; work < most_work && w->hand.done != w->hand.due; work++) pass(w);
        check(w);
        for (unsigned i = 0; i < 3; i++) {
            hear(w, dice_below(random, w->hand.units), dice_below(random, 20));
        }
    }
}

static void touched_cells_stay_and_silent_ones_expire(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 600; round++) {
        uint64_t const bits = 2 + round % 4, most = (UINT64_C(1) << (bits - 1)) - 1;
        uint64_t const units = 1 + dice_below(&random, MAX_UNITS);
        uint64_t       lives = 0;
        for (unsigned i = 0; i < 16; i++) lives |= dice_below(&random, most + 1) << (4 * i);
        world w = world_make(units, 1 + dice_below(&random, 3000), bits, lives);
        live(&w, &random, 400, round % 3 == 0 ? 1 : round % 3 == 1 ? 7 : 10000);
        if (round % 3 == 2) assert_true(w.gone > 0);
    }
}

/* In a timeout, as many units become due as the sweep has to visit in it, however large the steps
 * of time are. */
static void time_adds_up_exactly(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned round = 0; round < 500; round++) {
        uint64_t const timeout = 1 + dice_below(&random, UINT64_C(1) << dice_below(&random, 33));
        uint64_t const units = 1 + dice_below(&random, UINT64_C(1) << dice_below(&random, 40));
        uint64_t const bits = 2 + dice_below(&random, 4), most = (UINT64_C(1) << (bits - 1)) - 1;
        world          w = world_make(units, timeout, bits, 0);
        for (uint64_t left = timeout; left != 0;) {
            uint64_t const ticks = 1 + dice_below(&random, left);
            sweep_advance(&w.hand, ticks);
            left -= ticks;
        }
        assert_int_equal(w.hand.due, most * units);
        assert_int_equal(w.hand.rest, 0);
        sweep_advance(&w.hand, UINT64_MAX);
        assert_int_equal(w.hand.due, (most + 1) * units);
    }
}

/* After a sweep that was late, as many units pass before the next one is due. */
static void a_late_hand_waits(void **state) {
    (void)state;
    sweep hand = { .units = 10, .timeout = 30, .timer_bits = 3, .late = 4 }; /* a unit a tick */
    sweep_advance(&hand, 3);
    assert_int_equal(hand.due, 0);
    assert_int_equal(hand.late, 1);
    sweep_advance(&hand, 3);
    assert_int_equal(hand.due, 2);
    assert_int_equal(hand.late, 0);
    hand.late = 4;
    sweep_advance(&hand, 1000);
    assert_int_equal(hand.due, hand.done + 4 * hand.units);
    assert_int_equal(hand.late, 0);
}

static void without_a_timeout_nothing_has_a_timer(void **state) {
    (void)state;
    sweep const none = { .units = 10 };
    assert_int_equal(sweep_fresh(&none, 3, 1), 0);
    assert_true(sweep_is_whole(&none));
}

/* 2^33 units become one. The part of a unit that is due, times the timeout, has 65 bits. */
static void many_halvings_at_once_are_exact(void **state) {
    (void)state;
    uint64_t const units = UINT64_C(1) << 33, timeout = SWEEP_MAX_TIMEOUT;
    sweep const    large = { .units = units,
                             .timeout = timeout,
                             .timer_bits = 3,
                             .done = units - 1,
                             .due = units - 1,
                             .rest = timeout - 1 };
    sweep const    small = sweep_shrunk(&large, 33);
    assert_int_equal(small.units, 1);
    assert_int_equal(small.done, 0);
    assert_int_equal(small.due, 0);
    assert_int_equal(small.rest, timeout - 1); /* 1 / (timeout x units) before the end of a round */
    assert_true(sweep_is_whole(&small));
}

static void impossible_numbers_are_refused(void **state) {
    (void)state;
    sweep const good = { 10, 100, 3, 0x321, 4, 17, 99, 9 };
    assert_true(sweep_is_whole(&good));
    sweep bad[11];
    for (unsigned i = 0; i < COUNT(bad); i++) bad[i] = good;
    bad[0].timeout = SWEEP_MAX_TIMEOUT + 1;
    bad[1].timer_bits = 1;
    bad[2].timer_bits = 6;
    bad[3].lives = 0x421; /* a timer of 3 bits lasts 3 passes */
    bad[4].done = 10;
    bad[5].due = 3;
    bad[6].due = 4 + 41;
    bad[7].rest = 100;
    bad[8].timeout = 0;
    bad[9].timer_bits = 0;
    bad[10].late = 10;
    for (unsigned i = 0; i < COUNT(bad); i++) assert_false(sweep_is_whole(&bad[i]));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(touched_cells_stay_and_silent_ones_expire),
    cmocka_unit_test(time_adds_up_exactly),
    cmocka_unit_test(a_late_hand_waits),
    cmocka_unit_test(without_a_timeout_nothing_has_a_timer),
    cmocka_unit_test(many_halvings_at_once_are_exact),
    cmocka_unit_test(impossible_numbers_are_refused),
};

CORE_EXPORT(sweep)
