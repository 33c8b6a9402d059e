/* test_parts.c - the clock, the exact table, and the timeline. */
#include "unit.h"

#include "clock.h"
#include "exact.h"
#include "intervals.h"
#include "live.h"
#include "timeline.h"

#define SECOND NS_PER_SECOND

/* ------------------------------------------------------------------ the clock */

static void time_never_goes_back_or_jumps_far(void **state) {
    (void)state;
    dice       random = dice_start();
    flow_clock clock = { 0 };
    uint64_t   before = 0;
    for (unsigned i = 0; i < 100000; i++) {
        clock_see(&clock, dice_edge(&random));
        assert_true(clock.now_ns >= before && clock.now_ns - before <= CLOCK_JUMP_NS);
        before = clock.now_ns;
    }
}

static void packets_out_of_order_do_not_move_time(void **state) {
    (void)state;
    flow_clock clock = { 0 };
    for (unsigned i = 0; i < 1000; i++) {
        clock_see(&clock, 1000 * SECOND + 50 * SECOND);
        clock_see(&clock, 1000 * SECOND);
    }
    assert_int_equal(clock.now_ns, 0);
    assert_int_equal(clock.n_late, 1000);
    clock_see(&clock, 1000 * SECOND + 51 * SECOND);
    assert_int_equal(clock.now_ns, SECOND);
    assert_int_equal(clock.n_jumps, 0);
}

static void one_wrong_timestamp_does_not_stop_the_clock(void **state) {
    (void)state;
    flow_clock clock = { 0 };
    clock_see(&clock, 1000 * SECOND);
    clock_see(&clock, UINT64_C(4000000000) * SECOND); /* in the year 2096 */
    assert_int_equal(clock.now_ns, CLOCK_JUMP_NS);
    for (unsigned i = 1; i <= CLOCK_BEHIND; i++) clock_see(&clock, 1000 * SECOND + i);
    assert_int_equal(clock.now_ns, CLOCK_JUMP_NS);
    clock_see(&clock, 1000 * SECOND + CLOCK_BEHIND + 2 * SECOND);
    assert_int_equal(clock.now_ns, CLOCK_JUMP_NS + 2 * SECOND);
    assert_int_equal(clock.n_jumps, 2);
}

/* A capture of two interfaces, one of which is ten minutes behind. */
static void two_different_clocks_do_not_drive_time_ahead(void **state) {
    (void)state;
    flow_clock clock = { 0 };
    for (unsigned i = 0; i <= 1000; i++) {
        clock_see(&clock, 10000 * SECOND + i * SECOND);
        clock_see(&clock, 9400 * SECOND + i * SECOND);
    }
    assert_int_equal(clock.now_ns, 1000 * SECOND);
    assert_int_equal(clock.n_late, 1001);
    assert_int_equal(clock.n_jumps, 0);
}

/* Live, without packets: the clock of the system is followed, and time goes on where it was. */
static void a_clock_that_is_set_back_is_followed(void **state) {
    (void)state;
    flow_clock clock = { 0 };
    clock_see(&clock, 10000 * SECOND);
    clock_follow(&clock, 10010 * SECOND);
    assert_int_equal(clock.now_ns, 10 * SECOND);
    clock_follow(&clock, 9990 * SECOND); /* packets may be late: it stands still */
    assert_int_equal(clock.now_ns, 10 * SECOND);
    assert_int_equal(clock.latest_ns, 10010 * SECOND);
    clock_follow(&clock, 6400 * SECOND); /* an hour back */
    assert_int_equal(clock.now_ns, 10 * SECOND);
    clock_follow(&clock, 6405 * SECOND);
    assert_int_equal(clock.now_ns, 15 * SECOND);
    assert_int_equal(clock.n_jumps, 1);
}

/* Packets are ignored while the rings are opened, and at no other time: also if the clock was set
 * back after that. None waits for a time that is far ahead. */
static void packets_of_a_clock_that_was_set_back_are_taken(void **state) {
    (void)state;
    uint64_t const opening = 5000 * SECOND, began = opening + SECOND / 100;
    assert_true(live_is_early(opening, began, opening + 1));
    assert_false(live_is_early(opening, began, began));
    assert_false(live_is_early(opening, began, opening - 3600 * SECOND));
    assert_true(live_may_be_overtaken(opening, opening + LIVE_LAG_NS - 1));
    assert_false(live_may_be_overtaken(opening, opening + LIVE_LAG_NS));
    assert_false(live_may_be_overtaken(opening, opening - 3600 * SECOND));
}

/* An interval that began in the future goes on from now. */
static void intervals_survive_a_clock_that_is_set_back(void **state) {
    (void)state;
    intervals all = { .length_ns = 10 * SECOND, .began_ns = 5000 * SECOND };
    assert_false(intervals_are_due(&all, 5009 * SECOND));
    assert_true(intervals_are_due(&all, 5010 * SECOND));
    assert_false(intervals_are_due(&all, 4995 * SECOND));
    assert_true(intervals_are_due(&all, 1400 * SECOND));
    intervals_print_due(&all, NULL, 1400 * SECOND);
    assert_false(intervals_are_due(&all, 1409 * SECOND));
    assert_true(intervals_are_due(&all, 1410 * SECOND));
}

/* ------------------------------------------------------------------ the exact table */

#define ORACLE_IDS 3000

/* Compare with an array that has an element for every id. Small ids share a home, so probes are
 * long. */
static void the_exact_table_is_exact(void **state) {
    (void)state;
    static uint32_t oracle[ORACLE_IDS];
    dice            random = dice_start();
    exact           slots;
    uint64_t        n = 0;
    assert_true(exact_init(&slots));
    for (unsigned i = 0; i < ORACLE_IDS; i++) oracle[i] = EXACT_FREE;
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t const which = dice_below(&random, i % 1000 < 500 ? ORACLE_IDS : ORACLE_IDS / 10);
        uint64_t const id =
            which % 3 == 0 ? which : which << 52; /* some close together, some spread out */
        exact_slot *const slot = exact_find(&slots, id);
        assert_true((slot != NULL) == (oracle[which] != EXACT_FREE));
        if (slot != NULL) assert_int_equal(slot->value, oracle[which]);
        if (slot != NULL && dice_below(&random, 2) == 0) {
            exact_remove(&slots, slot);
            oracle[which] = EXACT_FREE;
            n--;
        } else if (slot == NULL) {
            exact_add(&slots, id)->value = oracle[which] = i;
            n++;
        }
        assert_int_equal(slots.n_used, n);
    }
    assert_true(slots.n_used * 8 <= slots.n_slots * 7 + 8);
    assert_int_equal(exact_bytes(&slots), 16 * slots.n_slots);
    exact_fini(&slots);
}

static void the_exact_table_wraps_around(void **state) {
    (void)state;
    exact slots;
    assert_true(exact_init(&slots));
    for (uint64_t i = 0; i < 600; i++) exact_add(&slots, UINT64_MAX - i)->value = (uint32_t)i;
    for (uint64_t i = 0; i < 600; i += 2) exact_remove(&slots, exact_find(&slots, UINT64_MAX - i));
    for (uint64_t i = 0; i < 600; i++) {
        const exact_slot *const slot = exact_find(&slots, UINT64_MAX - i);
        assert_true((slot != NULL) == (i % 2 == 1));
        if (slot != NULL) assert_int_equal(slot->value, i);
    }
    exact_fini(&slots);
}

/* ------------------------------------------------------------------ the timeline */

static void timelines_keep_everything_in_its_slot(void **state) {
    (void)state;
    static const uint64_t steps[] = { 1000, 1000000, 77777777, UINT64_C(5000000000),
                                      UINT64_C(900000000000) };
    for (size_t i = 0; i < COUNT(steps); i++) {
        timeline line;
        uint64_t sum = 0;
        timeline_init(&line);
        for (uint64_t j = 0; j < 5000; j++) timeline_at(&line, j * steps[i])->packets++;
        for (size_t slot = 0; slot < TIMELINE_SLOTS; slot++) {
            uint64_t const width = timeline_width_ns(&line), begin = slot * width,
                           end = begin + width;
            uint64_t const first = (begin + steps[i] - 1) / steps[i],
                           next = (end + steps[i] - 1) / steps[i];
            uint64_t const expected = first >= 5000 ? 0 : (next < 5000 ? next : 5000) - first;
            assert_int_equal(line.slots[slot].packets, expected);
            sum += line.slots[slot].packets;
        }
        assert_int_equal(sum, 5000);
    }
}

static void timelines_accept_any_time(void **state) {
    (void)state;
    timeline line;
    timeline_init(&line);
    timeline_at(&line, UINT64_MAX)->packets++;
    timeline_at(&line, 0)->packets++;
    assert_int_equal(line.slots[0].packets, 1);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back_or_jumps_far),
        cmocka_unit_test(packets_out_of_order_do_not_move_time),
        cmocka_unit_test(one_wrong_timestamp_does_not_stop_the_clock),
        cmocka_unit_test(a_clock_that_is_set_back_is_followed),
        cmocka_unit_test(packets_of_a_clock_that_was_set_back_are_taken),
        cmocka_unit_test(intervals_survive_a_clock_that_is_set_back),
        cmocka_unit_test(two_different_clocks_do_not_drive_time_ahead),
        cmocka_unit_test(the_exact_table_is_exact),
        cmocka_unit_test(the_exact_table_wraps_around),
        cmocka_unit_test(timelines_keep_everything_in_its_slot),
        cmocka_unit_test(timelines_accept_any_time),
    };
    return unit_run("parts", tests, COUNT(tests));
}
