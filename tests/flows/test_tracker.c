/* test_tracker.c - flows in both tables: counts match the tables, timeouts are kept, and the small
 * table agrees with the exact one as often as it promises. */
#include "unit.h"

#include "check.h"
#include "machines.h"
#include "tracker.h"

#define SECOND NS_PER_SECOND

/* A machine, a table, a tracker, and an exact table to compare with. */
typedef struct rig {
    machine    m;
    table_spec spec;
    table     *flows;
    tracker    t;
    check      compared;
    uint64_t   now_ns;
} rig;

static void rig_on_batch(void *context, const tracked *batch, const uint64_t *ids,
                         const tamis_status *after, size_t n, uint32_t tick) {
    (void)after;
    check_batch(context, batch, ids, n, tick);
}

static void rig_init(rig *r, bool is_exact, uint64_t capacity, double fpr) {
    tamis_problem problem = { 0 };
    *r = (rig){ .m = read_shipped("tcp") };
    r->spec = (table_spec){ .capacity = capacity, .fpr = fpr, .seed = { 1, 2 } };
    tracker_timeouts(&r->m, &r->spec);
    r->flows =
        is_exact ? table_exact_new(&r->spec, &problem) : table_states_new(&r->spec, &problem);
    if (r->flows == NULL) print_error("%s\n", problem.text);
    assert_non_null(r->flows);
    tracker_init(&r->t, &r->m, r->flows, 77);
    assert_true(check_init(&r->compared, &r->m, r->flows, &r->spec));
    r->t.hooks = (tracker_hooks){ .context = &r->compared, .on_batch = rig_on_batch };
}

static void rig_free(rig *r) {
    check_fini(&r->compared);
    tracker_fini(&r->t);
    table_free(r->flows);
    machine_free(&r->m);
}

static void send_data(rig *r, uint32_t flow, bool is_high, uint8_t flags, uint32_t bytes) {
    packet *const p = tracker_room(&r->t, r->now_ns);
    *p = (packet){ .flow = { .protocol = PROTOCOL_TCP, .version = 4 },
                   .is_from_high = is_high,
                   .flags = flags,
                   .payload_bytes = bytes };
    memcpy(p->flow.address[0], &flow, sizeof flow);
    tracker_add(&r->t, r->now_ns, r->now_ns, 60 + bytes);
}

static void send_packet(rig *r, uint32_t flow, bool is_high, uint8_t flags) {
    send_data(r, flow, is_high, flags, 0);
}

static uint64_t now_in(const rig *r, const char *name) {
    for (unsigned i = 0; i < r->m.n_states; i++) {
        if (strcmp(r->m.states[i].name, name) == 0) return r->t.counts.now[i];
    }
    fail();
    return 0;
}

/* The tracker's counts must be those of the table itself. */
static void assert_counts_match(rig *r) {
    uint64_t   counts[TABLE_VALUES], by_state[MACHINE_STATES] = { 0 };
    table_info info;
    tracker_advance(&r->t, r->t.tick * r->t.tick_ns); /* report what has timed out */
    if (!table_tally(r->flows, counts)) return;
    for (unsigned i = 0; i < r->spec.n_values; i++)
        by_state[machine_state_of(&r->m, i)] += counts[i];
    for (unsigned i = 0; i < r->m.n_states; i++) assert_int_equal(r->t.counts.now[i], by_state[i]);
    table_inspect(r->flows, &info);
    uint64_t sum = 0;
    for (unsigned i = 0; i < r->m.n_states; i++) sum += by_state[i];
    assert_int_equal(info.flows, sum);
}

static void rig_finish(rig *r) {
    tracker_advance(&r->t, r->now_ns);
    while (table_is_behind(r->flows)) tracker_advance(&r->t, r->now_ns);
    check_finish(&r->compared, (uint32_t)r->t.tick);
}

/* ------------------------------------------------------------------ random packets */

/* Random flags from random ends: machines and tables must handle nonsense. */
static void send_random_packets(rig *r, uint64_t n_packets, uint32_t n_flows, uint64_t step_ns) {
    static const uint8_t flags[] = { TCP_SYN,           TCP_SYN | TCP_ACK, TCP_ACK, TCP_ACK,
                                     TCP_ACK | TCP_PSH, TCP_FIN | TCP_ACK, TCP_RST, 0 };
    dice                 random = dice_start();
    for (uint64_t i = 0; i < n_packets; i++) {
        send_packet(r, (uint32_t)dice_below(&random, n_flows), dice_below(&random, 2) != 0,
                    flags[dice_below(&random, COUNT(flags))]);
        r->now_ns += dice_below(&random, 2 * step_ns);
        if (i % 50000 == 0) {
            tracker_flush(&r->t);
            assert_counts_match(r);
        }
    }
    rig_finish(r);
    assert_counts_match(r);
}

static uint64_t sum_results(const uint64_t *counts) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < N_CHECK_RESULTS; i++) sum += counts[i];
    return sum;
}

static void exact_tables_always_agree(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, true, 1, 0.1);
    send_random_packets(&r, 400000, 3000,
                        50000000); /* 20000 s: every flow times out and comes again */
    assert_int_equal(r.compared.packets[CHECK_SAME], 400000);
    assert_int_equal(sum_results(r.compared.packets), 400000);
    rig_free(&r);
}

/* A new flow is a ghost with the probability of a false positive, and causes wrong states later. */
static void the_small_table_is_wrong_as_rarely_as_planned(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 40000, 0.001);
    send_random_packets(&r, 1000000, 30000, 1000000);
    uint64_t const all = sum_results(r.compared.packets), same = r.compared.packets[CHECK_SAME];
    print_message(
        "# of %llu packets: unknown %llu, missed %llu, ghost %llu, wrong %llu; refused %llu\n",
        (unsigned long long)all, (unsigned long long)r.compared.packets[CHECK_UNKNOWN],
        (unsigned long long)r.compared.packets[CHECK_MISSED],
        (unsigned long long)r.compared.packets[CHECK_GHOST],
        (unsigned long long)r.compared.packets[CHECK_WRONG],
        (unsigned long long)r.t.counts.no_room);
    assert_int_equal(all, 1000000);
    assert_true(r.t.counts.no_room == 0);
    assert_true(all - same < all / 250);
    rig_free(&r);
}

static void with_a_tiny_rate_nothing_is_wrong(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 20000, 1e-7);
    send_random_packets(&r, 500000, 10000, 10000000);
    assert_int_equal(r.compared.packets[CHECK_SAME], 500000);
    assert_int_equal(r.compared.ends[CHECK_SAME], sum_results(r.compared.ends));
    assert_true(r.compared.ends[CHECK_SAME] > 1000);
    rig_free(&r);
}

/* ------------------------------------------------------------------ time */

/* Packets are rare: collecting them in a batch must not make a flow older than it is. */
static void a_flow_is_kept_for_its_timeout_and_forgotten_after_two(void **state) {
    (void)state;
    for (unsigned is_exact = 0; is_exact < 2; is_exact++) {
        static rig r;
        rig_init(&r, is_exact != 0, 1000, 0.001);
        send_packet(&r, 1, false, TCP_SYN);
        send_packet(&r, 2, false, TCP_ACK);
        for (unsigned i = 0; i < 100; i++) { /* others, every 0.6 s, for 59.4 s */
            r.now_ns += SECOND * 6 / 10;
            if (i < 99) send_packet(&r, 1000 + i % 3, false, TCP_ACK);
        }
        r.now_ns -= SECOND / 2;
        rig_finish(&r);
        assert_int_equal(now_in(&r, "syn"), 1);
        assert_int_equal(now_in(&r, "picked-up") + now_in(&r, "established"), 4);
        r.now_ns += 65 * SECOND; /* more than twice a minute after the SYN */
        rig_finish(&r);
        assert_int_equal(now_in(&r, "syn"), 0);
        assert_int_equal(r.t.counts.aged[0], 1);
        assert_int_equal(now_in(&r, "picked-up") + now_in(&r, "established"), 4);
        r.now_ns += 1801 * SECOND;
        rig_finish(&r);
        assert_int_equal(now_in(&r, "picked-up"), 0);
        assert_counts_match(&r);
        rig_free(&r);
    }
}

static void active_flows_stay(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 1000, 0.001);
    for (unsigned i = 0; i < 200; i++) {
        for (uint32_t flow = 0; flow < 500; flow++) send_packet(&r, flow, false, TCP_SYN);
        r.now_ns += 59 * SECOND;
    }
    tracker_flush(&r.t);
    assert_true(now_in(&r, "syn") >= 498); /* false positives may merge a few */
    assert_true(r.t.counts.flows <= 500);
    rig_free(&r);
}

/* ------------------------------------------------------------------ room */

static void establish(rig *r, uint32_t flow) {
    send_packet(r, flow, false, TCP_SYN);
    send_packet(r, flow, true, TCP_SYN | TCP_ACK);
    send_packet(r, flow, false, TCP_ACK);
}

/* Nothing but established connections: there is nothing to forget. */
static void refused_flows_are_counted(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 1000, 0.001);
    for (uint32_t flow = 0; flow < 50000; flow++) {
        establish(&r, flow);
        if (flow % 40 == 39) tracker_flush(&r.t);
    }
    tracker_flush(&r.t);
    assert_true(r.t.counts.no_room > 40000);
    assert_true(now_in(&r, "established") >= 900);
    assert_true(r.t.is_told_refused);
    assert_counts_match(&r);
    rig_free(&r);
}

static tamis_step on_ask(void *context, size_t i, tamis_status status, uint32_t value,
                         uint32_t *ret_to) {
    (void)i;
    (void)ret_to;
    *(int *)context = status == TAMIS_OK ? (int)value : -1;
    return TAMIS_STEP_LEAVE;
}

/* The state of a flow, or NULL. */
static const char *state_of(rig *r, uint32_t flow) {
    flow_tuple   tuple = { .protocol = PROTOCOL_TCP, .version = 4 };
    tamis_status after;
    int          value;
    memcpy(tuple.address[0], &flow, sizeof flow);
    uint64_t const id = tracker_id(&r->t, &tuple);
    table_step(r->flows, &id, 1, on_ask, &value, &after);
    return value >= 0 ? r->m.states[machine_state_of(&r->m, (uint32_t)value)].name : NULL;
}

/* Packets that an attacker may send from as many addresses as he likes, one from each. */
static const struct {
    const char *title;
    uint8_t     flags[2]; /* in turns */
    uint32_t    bytes;
} floods[] = {
    { "SYN", { TCP_SYN, TCP_SYN }, 0 },
    { "ACK", { TCP_ACK, TCP_ACK }, 0 },
    { "data", { TCP_PSH | TCP_ACK, TCP_PSH | TCP_ACK }, 100 },
    { "FIN", { TCP_FIN | TCP_ACK, TCP_FIN | TCP_ACK }, 0 },
    { "RST", { TCP_RST, TCP_RST }, 0 },
    { "SYN-ACK", { TCP_SYN | TCP_ACK, TCP_SYN | TCP_ACK }, 0 },
    { "nothing", { 0, 0 }, 0 },
    { "SYN and RST", { TCP_SYN, TCP_RST }, 0 },
    { "ACK and FIN", { TCP_ACK, TCP_FIN | TCP_ACK }, 0 },
};

/* The packet of a connection number i at step `step` of a flood. The packets of a connection are
 * 200 packets of the flood apart: a round trip. */
static void send_connection(rig *r, uint32_t step) {
    uint32_t const flow = 1000000 + step / 1600;
    if (step % 1600 == 0) send_packet(r, flow, false, TCP_SYN);
    if (step % 1600 == 200) send_packet(r, flow, true, TCP_SYN | TCP_ACK);
    if (step % 1600 == 400) send_packet(r, flow, false, TCP_ACK);
    if (step % 1600 == 600) send_data(r, flow, false, TCP_PSH | TCP_ACK, 100);
}

static unsigned count_established(rig *r, uint32_t first, uint32_t n) {
    unsigned n_followed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *const name = state_of(r, first + i);
        n_followed += name != NULL && strcmp(name, "established") == 0;
    }
    return n_followed;
}

/* 61 connections before and during a flood of 97,000 packets, in a table for 20,000 flows. Nothing
 * of the flood is called established. */
static void flood_with(size_t kind) {
    static rig r;
    rig_init(&r, false, 20000, 0.0005);
    for (uint32_t i = 0; i < 97000; i++) {
        send_connection(&r, i);
        send_data(&r, i, false, floods[kind].flags[i % 2], floods[kind].bytes);
        r.now_ns += 100000;
    }
    tracker_flush(&r.t);
    unsigned const n_followed = count_established(&r, 1000000, 61);
    /* the newest flows of the flood are there, older ones are not: all but those from the time when
     * the table was nearly empty */
    unsigned n_new = 0, n_old = 0;
    for (uint32_t i = 0; i < 10000; i++) n_new += state_of(&r, 96999 - i) != NULL;
    for (uint32_t i = 0; i < 10000; i++) n_old += state_of(&r, 60000 + i) != NULL;
    print_message("# %s: followed %u, new %u, old %u\n", floods[kind].title, n_followed, n_new,
                  n_old);
    assert_true(n_followed >= 60); /* of 61; a false positive may hide one */
    assert_true(n_new >= 9980 && n_old < 100);
    assert_true(now_in(&r, "established") <= 61 + 97); /* a false positive is a second packet */
    assert_int_equal(r.t.counts.no_room, 0);
    assert_true(room_evicted(&r.t.room) > 76000);
    assert_true(r.t.counts.n_now <= 20000);
    assert_true(r.t.is_told_full && !r.t.is_told_refused);
    assert_counts_match(&r);
    rig_free(&r);
}

static void a_flood_does_not_push_out_connections(void **state) {
    (void)state;
    for (size_t kind = 0; kind < COUNT(floods); kind++) flood_with(kind);
}

/* A connection that was picked up is confirmed by its second packet, from either end, and then
 * stays in a full table. */
static void picked_up_connections_are_confirmed(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 2000, 0.0005);
    for (uint32_t i = 0; i < 10; i++) {
        send_data(&r, i, false, TCP_ACK, 100 * (i % 2));
        tracker_flush(&r.t);
        assert_string_equal(state_of(&r, i), "picked-up");
        send_data(&r, i, i % 3 == 0, TCP_ACK, 100 * (i / 2 % 2));
        tracker_flush(&r.t);
        assert_string_equal(state_of(&r, i), "established");
    }
    for (uint32_t i = 0; i < 10000; i++) send_packet(&r, 1000 + i, false, TCP_ACK);
    tracker_flush(&r.t);
    assert_true(count_established(&r, 0, 10) >= 9); /* a false positive may end one */
    rig_free(&r);
}

/* Connections that are refused end at once. They make room, too. */
static void ended_flows_make_room(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 2000, 0.001);
    for (uint32_t flow = 0; flow < 30000; flow++) {
        send_packet(&r, flow, false, TCP_SYN);
        send_packet(&r, flow, true, TCP_RST | TCP_ACK);
        if (flow % 300 == 0) establish(&r, 1000000 + flow);
    }
    tracker_flush(&r.t);
    assert_int_equal(r.t.counts.no_room, 0);
    assert_true(now_in(&r, "established") >= 99);
    assert_true(r.t.counts.n_now <= 2000);
    assert_counts_match(&r);
    rig_free(&r);
}

/* Refused connections, 200 a second: each stays for 60 to 120 seconds, so there are 18000 on
 * average. But where the sweep comes by next, the table is fuller by a third. It must have room
 * there, too. */
static void the_fullest_part_of_the_table_has_room(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 18400, 1e-6);
    for (uint32_t flow = 0; flow < 200 * 600; flow++) {
        send_packet(&r, flow, false, TCP_SYN);
        send_packet(&r, flow, true, TCP_RST | TCP_ACK);
        r.now_ns += SECOND / 200;
    }
    rig_finish(&r);
    assert_true(r.t.counts.n_now > 17500 && r.t.counts.n_now < 18500);
    assert_int_equal(r.t.counts.no_room, 0);
    rig_free(&r);
}

/* A queue is much shorter than the number of flows that went through it. */
static void queues_are_tidied(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, false, 100000, 0.001);
    for (uint32_t flow = 0; flow < 30000; flow++) send_packet(&r, flow, false, TCP_SYN);
    for (uint32_t flow = 100000; flow < 170000; flow++) establish(&r, flow);
    tracker_flush(&r.t);
    const room_queue *const q = &r.t.room.queue;
    assert_true(q->n < 4 * now_in(&r, "syn") + 100000 / 16 + 5000);
    assert_int_equal(room_evicted(&r.t.room), 0);
    rig_free(&r);
}

static void memory_limit_is_kept(void **state) {
    (void)state;
    machine       m = read_shipped("tcp");
    tamis_problem problem;
    for (uint64_t memory = 4096; memory <= 4 << 20; memory *= 8) {
        table_spec spec = { .memory = memory, .fpr = 0.0005, .seed = { 1, 2 } };
        table_info info;
        tracker_timeouts(&m, &spec);
        table *const flows = table_states_new(&spec, &problem);
        assert_non_null(flows);
        table_inspect(flows, &info);
        assert_true(info.body_bytes <= memory);
        assert_true(info.body_bytes >= memory - memory / 4);
        assert_true(8 * info.body_bytes <= 45 * info.capacity + 8192);
        table_free(flows);
    }
    machine_free(&m);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_tables_always_agree),
        cmocka_unit_test(the_small_table_is_wrong_as_rarely_as_planned),
        cmocka_unit_test(with_a_tiny_rate_nothing_is_wrong),
        cmocka_unit_test(a_flow_is_kept_for_its_timeout_and_forgotten_after_two),
        cmocka_unit_test(active_flows_stay),
        cmocka_unit_test(refused_flows_are_counted),
        cmocka_unit_test(a_flood_does_not_push_out_connections),
        cmocka_unit_test(picked_up_connections_are_confirmed),
        cmocka_unit_test(ended_flows_make_room),
        cmocka_unit_test(the_fullest_part_of_the_table_has_room),
        cmocka_unit_test(queues_are_tidied),
        cmocka_unit_test(memory_limit_is_kept),
    };
    return unit_run("tracker", tests, COUNT(tests));
}
