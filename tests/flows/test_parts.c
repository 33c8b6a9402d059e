/* test_parts.c - the clock, the exact table, scans, and the timeline. */
#include "unit.h"

#include "clock.h"
#include "exact.h"
#include "scans.h"
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

/* ------------------------------------------------------------------ the exact table */

#define ORACLE_IDS 3000

/* Compare with an array that has an element for every id. Small ids share a home, so probes are
 * long. */
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
        uint64_t const id =
            which % 3 == 0 ? which : which << 52; /* some close together, some spread out */
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

static scan_end make_scan_end(uint32_t n) {
    scan_end end = { .version = 4 };
    memcpy(end.address, &n, sizeof n);
    return end;
}

/* The guarantee of Space-Saving: a source with more than 1/1024 of all attempts is in the list, and
 * no counter is below the true count or more than that share above it. */
static void busy_sources_are_always_in_the_list(void **state) {
    (void)state;
    static scans    s;
    static uint64_t truth[20000];
    dice            random = dice_start();
    uint64_t const  n = 400000;
    memset(truth, 0, sizeof truth);
    scans_init(&s, 1);
    for (uint64_t i = 0; i < n; i++) {
        bool const     is_busy = dice_below(&random, 4) == 0;
        uint32_t const source =
            (uint32_t)(is_busy ? dice_below(&random, 50) : dice_below(&random, 20000));
        scan_end const from = make_scan_end(source),
                       to = make_scan_end((uint32_t)dice_roll(&random));
        (void)scans_attempt(&s, &from, &to);
        truth[source]++;
    }
    assert_int_equal(s.n_attempts, n);
    uint64_t sum = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint32_t source;
        memcpy(&source, s.sources[i].address, sizeof source);
        assert_true(s.counts[i] >= truth[source]);
        assert_true(s.counts[i] - truth[source] <= n / SCANS_SOURCES);
        assert_true(s.sources[i].attempts <= truth[source]);
        sum += s.counts[i];
        if (truth[source] > n / SCANS_SOURCES) truth[source] = 0; /* found */
    }
    assert_int_equal(sum, n);
    for (size_t i = 0; i < COUNT(truth); i++) assert_true(truth[i] <= n / SCANS_SOURCES);
}

static void scans_are_reported_once_and_only_with_few_answers(void **state) {
    (void)state;
    static scans   s;
    scan_end const scanner = make_scan_end(1), crawler = make_scan_end(2);
    unsigned       n_reported = 0;
    scans_init(&s, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        scan_end const target = make_scan_end(1000 + i);
        n_reported += scans_attempt(&s, &scanner, &target) != NULL;
        assert_int_equal(n_reported, i + 1 >= SCANS_ATTEMPTS ? 1 : 0);
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

static void likely_scans_are_sorted(void **state) {
    (void)state;
    static scans       s;
    const scan_source *likely[3];
    scans_init(&s, 1);
    for (uint32_t source = 1; source <= 5; source++) {
        scan_end const from = make_scan_end(source);
        for (uint32_t i = 0; i < 100 * source; i++) {
            scan_end const to = make_scan_end(i);
            (void)scans_attempt(&s, &from, &to);
        }
    }
    assert_int_equal(scans_likely(&s, likely, 3), 3);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(likely[i]->attempts, 500 - 100 * i);
}

/* The estimate for so many hosts, relative to the true number. */
static double relative_estimate(uint32_t n_hosts, uint64_t seed) {
    static scans   s;
    scan_end const from = make_scan_end(1);
    scans_init(&s, seed);
    for (uint32_t i = 0; i < n_hosts; i++) {
        scan_end const to = make_scan_end(i * 7);
        (void)scans_attempt(&s, &from, &to);
    }
    return scans_estimate(s.sources[0].hosts) / n_hosts;
}

/* 64 registers have a standard error of 1.04 / sqrt(64) = 13%. */
static void hosts_are_estimated_within_their_error(void **state) {
    (void)state;
    static const uint32_t sizes[] = { 1, 2, 10, 100, 1000, 10000 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        unsigned const n = sizes[i] < 10000 ? 400 : 100;
        double         sum = 0, squares = 0;
        for (uint64_t seed = 0; seed < n; seed++) {
            double const error = relative_estimate(sizes[i], seed) - 1;
            sum += error;
            squares += error * error;
        }
        assert_true(fabs(sum / n) < UNIT_SIGMAS * 0.13 / sqrt(n) + 0.02);
        assert_true(sqrt(squares / n) < 1.25 * 0.13);
    }
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
        cmocka_unit_test(two_different_clocks_do_not_drive_time_ahead),
        cmocka_unit_test(the_exact_table_is_exact),
        cmocka_unit_test(the_exact_table_wraps_around),
        cmocka_unit_test(busy_sources_are_always_in_the_list),
        cmocka_unit_test(scans_are_reported_once_and_only_with_few_answers),
        cmocka_unit_test(likely_scans_are_sorted),
        cmocka_unit_test(hosts_are_estimated_within_their_error),
        cmocka_unit_test(timelines_keep_everything_in_its_slot),
        cmocka_unit_test(timelines_accept_any_time),
    };
    return unit_run("parts", tests, COUNT(tests));
}
