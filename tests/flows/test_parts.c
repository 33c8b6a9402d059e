/* test_parts.c - the small parts: the clock, the exact table, scans, the timeline. */
#include "unit.h"

#include "clock.h"
#include "exact.h"
#include "scans.h"
#include "timeline.h"

#define SECOND NS_PER_SECOND

/* ------------------------------------------------------------------ the clock */

static void time_never_goes_back_and_never_runs_away(void **state) {
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

static void one_stamp_of_nonsense_does_not_stop_the_clock(void **state) {
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
static void two_clocks_that_differ_do_not_make_time_run(void **state) {
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

/* ------------------------------------------------------------------ the exact table */

#define ORACLE_IDS 3000

/* Against an array with a place for every id; ids that are close together probe long. */
static void the_exact_table_is_exact(void **state) {
    (void)state;
    static uint32_t oracle[ORACLE_IDS];
    dice            random = dice_start();
    exact           table;
    uint64_t        n = 0;
    assert_true(exact_init(&table));
    for (unsigned i = 0; i < ORACLE_IDS; i++) oracle[i] = EXACT_FREE;
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t const which = dice_below(&random, i % 1000 < 500 ? ORACLE_IDS : ORACLE_IDS / 10);
        uint64_t const id = which % 3 == 0 ? which : which << 52; /* crowded, and spread out */
        exact_slot *const slot = exact_find(&table, id);
        assert_true((slot != NULL) == (oracle[which] != EXACT_FREE));
        if (slot != NULL) assert_int_equal(slot->value, oracle[which]);
        if (slot != NULL && dice_below(&random, 2) == 0) {
            exact_remove(&table, slot);
            oracle[which] = EXACT_FREE;
            n--;
        } else if (slot == NULL) {
            exact_add(&table, id)->value = oracle[which] = i;
            n++;
        }
        assert_int_equal(table.n_used, n);
    }
    assert_true(table.n_used * 8 <= table.n_slots * 7 + 8);
    assert_int_equal(exact_bytes(&table), 16 * table.n_slots);
    exact_fini(&table);
}

static void the_exact_table_wraps_around(void **state) {
    (void)state;
    exact table;
    assert_true(exact_init(&table));
    for (uint64_t i = 0; i < 600; i++) exact_add(&table, UINT64_MAX - i)->value = (uint32_t)i;
    for (uint64_t i = 0; i < 600; i += 2) exact_remove(&table, exact_find(&table, UINT64_MAX - i));
    for (uint64_t i = 0; i < 600; i++) {
        const exact_slot *const slot = exact_find(&table, UINT64_MAX - i);
        assert_true((slot != NULL) == (i % 2 == 1));
        if (slot != NULL) assert_int_equal(slot->value, i);
    }
    exact_fini(&table);
}

/* ------------------------------------------------------------------ scans */

static scan_end source_of(uint32_t n) {
    scan_end end = { .version = 4 };
    memcpy(end.address, &n, sizeof n);
    return end;
}

/* What Space-Saving promises: who makes more than 1/1024 of all attempts is in the list, and no
 * counter is below the truth or too far above it. */
static void busy_sources_are_in_the_list_whatever_comes(void **state) {
    (void)state;
    static scans    s;
    static uint64_t truth[20000];
    dice            random = dice_start();
    uint64_t const  n = 400000;
    memset(truth, 0, sizeof truth);
    scans_init(&s, 1);
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_busy = dice_below(&random, 4) == 0;
        uint32_t const who =
            (uint32_t)(is_busy ? dice_below(&random, 50) : dice_below(&random, 20000));
        scan_end const from = source_of(who), to = source_of((uint32_t)dice_roll(&random));
        (void)scans_attempt(&s, &from, &to);
        truth[who]++;
    }
    assert_int_equal(s.n_attempts, n);
    uint64_t sum = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint32_t who;
        memcpy(&who, s.sources[i].address, sizeof who);
        assert_true(s.counts[i] >= truth[who]);
        assert_true(s.counts[i] - truth[who] <= n / SCANS_SOURCES);
        assert_true(s.sources[i].attempts <= truth[who]);
        sum += s.counts[i];
        if (truth[who] > n / SCANS_SOURCES) truth[who] = 0; /* found */
    }
    assert_int_equal(sum, n);
    for (size_t i = 0; i < COUNT(truth); i++) assert_true(truth[i] <= n / SCANS_SOURCES);
}

static void scans_are_told_once_and_only_when_few_are_answered(void **state) {
    (void)state;
    static scans   s;
    scan_end const scanner = source_of(1), crawler = source_of(2);
    unsigned       told = 0;
    scans_init(&s, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        scan_end const target = source_of(1000 + i);
        told += scans_attempt(&s, &scanner, &target) != NULL;
        assert_int_equal(told, i + 1 >= SCANS_ATTEMPTS ? 1 : 0);
        if (i % 20 == 0) scans_answer(&s, &scanner);
        assert_null(scans_attempt(&s, &crawler, &target));
        if (i % 5 == 0) scans_answer(&s, &crawler);
    }
    const scan_source *likely[SCANS_SOURCES];
    assert_int_equal(scans_likely(&s, likely, SCANS_SOURCES), 1);
    assert_memory_equal(likely[0]->address, scanner.address, 16);
    assert_int_equal(likely[0]->attempts, 1000);
    assert_int_equal(likely[0]->answers, 50);
}

static void likely_scans_come_in_order(void **state) {
    (void)state;
    static scans       s;
    const scan_source *likely[3];
    scans_init(&s, 1);
    for (uint32_t who = 1; who <= 5; who++) {
        scan_end const from = source_of(who);
        for (uint32_t i = 0; i < 100 * who; i++) {
            scan_end const to = source_of(i);
            (void)scans_attempt(&s, &from, &to);
        }
    }
    assert_int_equal(scans_likely(&s, likely, 3), 3);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(likely[i]->attempts, 500 - 100 * i);
}

/* The estimate for so many hosts, over the truth. */
static double estimate_of(uint32_t n_hosts, uint64_t seed) {
    static scans   s;
    scan_end const from = source_of(1);
    scans_init(&s, seed);
    for (uint32_t i = 0; i < n_hosts; i++) {
        scan_end const to = source_of(i * 7);
        (void)scans_attempt(&s, &from, &to);
    }
    return scans_estimate(s.sources[0].hosts) / n_hosts;
}

/* 64 registers: a standard error of 1.04 / sqrt(64), which is 13%. */
static void hosts_are_estimated_within_their_error(void **state) {
    (void)state;
    static const uint32_t sizes[] = { 1, 2, 10, 100, 1000, 10000 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        unsigned const n = sizes[i] < 10000 ? 400 : 100;
        double         sum = 0, squares = 0;
        for (uint64_t seed = 0; seed < n; seed++) {
            double const error = estimate_of(sizes[i], seed) - 1;
            sum += error;
            squares += error * error;
        }
        assert_true(fabs(sum / n) < UNIT_SIGMAS * 0.13 / sqrt(n) + 0.02);
        assert_true(sqrt(squares / n) < 1.25 * 0.13);
    }
}

/* ------------------------------------------------------------------ the timeline */

static void timelines_keep_everything_at_its_time(void **state) {
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
                           behind = (end + steps[i] - 1) / steps[i];
            uint64_t const expected = first >= 5000 ? 0 : (behind < 5000 ? behind : 5000) - first;
            assert_int_equal(line.slots[slot].packets, expected);
            sum += line.slots[slot].packets;
        }
        assert_int_equal(sum, 5000);
    }
}

static void a_timeline_takes_any_time(void **state) {
    (void)state;
    timeline line;
    timeline_init(&line);
    timeline_at(&line, UINT64_MAX)->packets++;
    timeline_at(&line, 0)->packets++;
    assert_int_equal(line.slots[0].packets, 1);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back_and_never_runs_away),
        cmocka_unit_test(packets_out_of_order_do_not_move_time),
        cmocka_unit_test(one_stamp_of_nonsense_does_not_stop_the_clock),
        cmocka_unit_test(two_clocks_that_differ_do_not_make_time_run),
        cmocka_unit_test(the_exact_table_is_exact),
        cmocka_unit_test(the_exact_table_wraps_around),
        cmocka_unit_test(busy_sources_are_in_the_list_whatever_comes),
        cmocka_unit_test(scans_are_told_once_and_only_when_few_are_answered),
        cmocka_unit_test(likely_scans_come_in_order),
        cmocka_unit_test(hosts_are_estimated_within_their_error),
        cmocka_unit_test(timelines_keep_everything_at_its_time),
        cmocka_unit_test(a_timeline_takes_any_time),
    };
    return unit_run("parts", tests, COUNT(tests));
}
