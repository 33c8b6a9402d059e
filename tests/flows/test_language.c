/* test_language.c - machines: lists of ports, addresses, payload bytes, keys, copies, and who the
 * client is. */
#include "unit.h"

#include "machines.h"
#include "tracker.h"

/* ------------------------------------------------------------------ conditions */

#define HEAD "machine m\nstate a timeout 1s\nstate b timeout 1s\nfrom new when any go a\n"

static bool holds(const char *condition, const packet *p) {
    char text[400];
    (void)snprintf(text, sizeof text, HEAD "from a when %s go b\n", condition);
    machine    m = read_valid(text);
    bool const is_chosen = machine_choose(&m, 0, machine_answers(&m, p), true) != NULL;
    machine_free(&m);
    return is_chosen;
}

/* From 10.1.2.3 port 6000 to 192.0.2.7 port 53, with a payload of 7 bytes, 6 of them captured. */
static const uint8_t captured[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0x16, 0x03, 0x01, 0x02, 0x80, 0xff };

static packet make_packet(void) {
    packet        p = { .flow = { .protocol = PROTOCOL_UDP, .version = 4, .port = { 6000, 53 } },
                        .payload_bytes = 7,
                        .transport = captured,
                        .transport_bytes = sizeof captured,
                        .payload_at = 8 };
    uint8_t const from[] = { 10, 1, 2, 3 }, to[] = { 192, 0, 2, 7 };
    memcpy(p.flow.address[0], from, 4);
    memcpy(p.flow.address[1], to, 4);
    return p;
}

static const struct {
    const char *condition;
    bool        is_true;
} conditions[] = {
    { "port 53", true },
    { "port 52,54", false },
    { "port 52,53,54", true },
    { "port 1-10,5000-7000", true },
    { "port 1-10,5000-5999,6001-7000", false },
    { "from-port 80,6000", true },
    { "to-port 80,6000", false },
    { "to-port 53, 80", true },
    { "address 10.1.2.3", true },
    { "address 10.1.2.4", false },
    { "address 10.0.0.0/8", true },
    { "address 0.0.0.0/0", true },
    { "address 10.1.2.2/31", true },
    { "address 10.1.2.0/31", false },
    { "from-address 192.0.2.0/24", false },
    { "to-address 192.0.2.0/24", true },
    { "to-address 2001:db8::/32,192.0.2.7", true },
    { "address ::/0", false },
    { "byte 0 = 22", true },
    { "byte 0 = 0x16", true },
    { "byte 0 = 23", false },
    { "byte 0 >= 22", true },
    { "byte 0 > 22", false },
    { "byte 0 <= 22 and byte 0 < 23", true },
    { "byte 0 < 22", false },
    { "byte 4 & 0xf0 = 0x80", true },
    { "byte 5 & 0x0f = 0x0f", true },
    { "byte 5 & 0x0f > 0x0e", true },
    { "byte 6 >= 0", false }, /* not captured */
    { "byte 7 >= 0", false }, /* beyond the payload */
    { "byte 1023 >= 0", false },
    { "not byte 6 = 1", true },
    { "bytes 0 = 0x1603", true },
    { "bytes 0 = 0x16030102", true },
    { "bytes 0 = 0x1604", false },
    { "bytes 1 = 0x0301", true },
    { "bytes 4 = 0x80ff", true },
    { "bytes 4 = 0x80ff00", false }, /* not captured */
};

static void lists_addresses_and_bytes_are_tested(void **state) {
    (void)state;
    packet const p = make_packet();
    for (size_t i = 0; i < COUNT(conditions); i++) {
        bool const is_right = holds(conditions[i].condition, &p) == conditions[i].is_true;
        if (!is_right) print_error("%s\n", conditions[i].condition);
        assert_true(is_right);
    }
}

static void prefixes_of_ipv6_are_tested(void **state) {
    (void)state;
    packet p = { .flow = { .version = 6, .protocol = PROTOCOL_TCP } };
    p.flow.address[0][0] = 0x20;
    p.flow.address[0][1] = 0x01;
    p.flow.address[0][15] = 1;
    assert_true(holds("from-address 2001::/16", &p));
    assert_true(holds("from-address 2000::/15", &p));
    assert_false(holds("from-address 2000::/16", &p));
    assert_true(holds("address 2001::1", &p));
    assert_false(holds("address 2001::2", &p));
    assert_false(holds("address 32.1.0.0/16", &p));
}

/* ------------------------------------------------------------------ mistakes */

#define UDP "machine m\nover udp\nstate a timeout 1s\n"

static const machine_mistake mistakes[] = {
    { UDP "from new when syn go a\n", 4, "only TCP has flags, and this machine is over udp" },
    { UDP "from new when any go a\nfrom a when not rst go stay\n", 5, "only TCP has flags" },
    { UDP "from new when type 8 go a\n", 4,
      "only ICMP has a 'type', and this machine is over udp" },
    { UDP "from new when tcp go a\n", 4, "all packets of this machine are udp" },
    { HEAD "from a when port 1,2, go b\n", 5, "expected a port or ports, as in 53" },
    { HEAD "from a when port 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 go b\n", 5,
      "more than 16 ports" },
    { HEAD "from a when address 10.0.0.0/33 go b\n", 5, "expected an address or a prefix" },
    { HEAD "from a when address 10.0.0 go b\n", 5, "found '10.0.0'" },
    { HEAD "from a when address ::1/129 go b\n", 5, "expected an address or a prefix" },
    { HEAD "from a when byte x = 1 go b\n", 5, "expected an offset in the payload" },
    { HEAD "from a when byte 1024 = 1 go b\n", 5, "expected an offset in the payload" },
    { HEAD "from a when byte 0 = 256 go b\n", 5, "expected a value from 0 to 255" },
    { HEAD "from a when byte 0 1 go b\n", 5, "expected one of < <= = >= > after 'byte'" },
    { HEAD "from a when byte 0 > 255 go b\n", 5, "no byte is > 255" },
    { HEAD "from a when bytes 0 = 22 go b\n", 5, "1 to 8 bytes in hexadecimal" },
    { HEAD "from a when bytes 0 = 0x123 go b\n", 5, "1 to 8 bytes in hexadecimal" },
    { HEAD "from a when bytes 0 = 0x112233445566778899 go b\n", 5, "1 to 8 bytes" },
    { "machine m\nkey colour\n", 2, "expected ports, dns-id or hosts after 'key'" },
    { "machine m\nkey ports\nkey hosts\n", 3, "a second 'key'" },
    { "machine m\nduplicates soon\n", 2, "expected a duration" },
    { "machine m\nstate a timeout 1s half-open ended\n", 2,
      "only be one of half-open, unconfirmed and ended" },
    { "machine m\nstate a timeout 1s ended evictable unconfirmed\n", 2,
      "only be one of half-open, unconfirmed and ended" },
    { HEAD "from a when any go b guess\n", 5, "'guess' is for rules that open a flow" },
    { HEAD "from new when any go b guess reversed\n", 5, "cannot be used together" },
};

static void new_mistakes_are_explained(void **state) {
    (void)state;
    assert_refused(mistakes, COUNT(mistakes));
}

/* ------------------------------------------------------------------ the client */

/* States have two values, so that they know their client. Those at the end of a flow need none, nor
 * do those whose client was guessed. */
static void values_are_numbered_by_need(void **state) {
    (void)state;
    machine tcp = read_shipped("tcp");
    assert_int_equal(machine_values(&tcp), 16);
    for (unsigned value = 0; value < 16; value++) {
        machine_meaning const meaning = tcp.values[value];
        assert_int_equal(meaning.is_guessed,
                         strcmp(tcp.states[meaning.state].name, "picked-up") == 0);
        assert_int_equal(machine_value(&tcp, meaning.state, meaning.is_client_high), value);
    }
    machine_free(&tcp);
    /* no rule asks for the client, but an event tells it */
    machine m = read_valid("machine m\nstate a timeout 1s\nstate b timeout 1s\n"
                           "from new when any go a\nfrom a when size > 9 go b event large\n");
    assert_true(m.states[0].is_directed && m.states[1].is_directed);
    assert_int_equal(machine_values(&m), 4);
    assert_int_equal(machine_number_values(&m, CLIENTS_IF_NEEDED), 3);
    assert_true(m.states[0].is_directed && !m.states[1].is_directed);
    machine_free(&m);
}

/* 16 states with different timeouts: the table cannot keep the client, too. */
static void large_machines_do_without_the_client(void **state) {
    (void)state;
    char   text[4000];
    size_t n = (size_t)sprintf(text, "machine m\n");
    for (unsigned i = 0; i < 16; i++)
        n += (size_t)sprintf(text + n, "state s%u timeout %us\n", i, i + 1);
    n += (size_t)sprintf(text + n, "from new when any go s0\n");
    for (unsigned i = 0; i < 15; i++)
        n += (size_t)sprintf(text + n, "from s%u when any go s%u event e\n", i, i + 1);
    machine m = read_valid(text);
    assert_true(m.is_plain);
    assert_int_equal(machine_values(&m), 16);
    machine_free(&m);
}

/* Whoever sends first, and whatever the machine says, the client is the end that opened the
 * flow. */
static void the_client_is_kept(void **state) {
    (void)state;
    machine m = read_valid("machine m\nstate a timeout 1s\nstate b timeout 1s\n"
                           "from new when any go a\nfrom a, b when size > 9 go b event large\n");
    for (unsigned i = 0; i < 4; i++) {
        tracked p = { .p = { .is_from_high = i % 2 != 0 } };
        p.answers = machine_answers(&m, &p.p);
        assert_int_equal(tracker_decide(&m, &p, TAMIS_ERR_ABSENT, 0), TAMIS_STEP_SET);
        assert_int_equal(p.is_client_high, i % 2 != 0);
        p.p.is_from_high = i / 2 != 0;
        p.p.payload_bytes = 10;
        p.answers = machine_answers(&m, &p.p);
        assert_int_equal(tracker_decide(&m, &p, TAMIS_OK, p.to), TAMIS_STEP_SET);
        assert_int_equal(p.is_client_high, i % 2 != 0);
    }
    machine_free(&m);
}

/* A connection that is picked up: the end with the higher port is the client, whoever speaks. */
/* The port of a well-known service wins, whichever is higher. */
static void clients_are_guessed_by_ports(void **state) {
    (void)state;
    static const uint16_t ports[][2] = {
        { 443, 50000 }, { 2049, 700 }, { 8080, 2000 }, { 22, 2049 }, { 7000, 7001 }
    };
    machine m = read_shipped("tcp");
    for (unsigned i = 0; i < 4 * COUNT(ports); i++) {
        bool const is_server_high = i / 2 % 2 != 0;
        tracked    p = { .p = { .flow = { .protocol = PROTOCOL_TCP },
                                .is_from_high = i % 2 != 0,
                                .flags = TCP_ACK | TCP_PSH,
                                .payload_bytes = 5 } };
        p.p.flow.port[is_server_high] = ports[i / 4][0];
        p.p.flow.port[!is_server_high] = ports[i / 4][1];
        p.answers = machine_answers(&m, &p.p);
        assert_int_equal(tracker_decide(&m, &p, TAMIS_ERR_ABSENT, 0), TAMIS_STEP_SET);
        assert_true(p.rule->is_guess && p.is_client_high == !is_server_high);
        p.p.flags = TCP_FIN | TCP_ACK;
        p.answers = machine_answers(&m, &p.p);
        (void)tracker_decide(&m, &p, TAMIS_OK, p.to);
        bool const is_client = p.p.is_from_high == !is_server_high;
        assert_string_equal(m.states[machine_state_of(&m, p.to)].name,
                            is_client ? "client-fin" : "server-fin");
    }
    machine_free(&m);
}

/* ------------------------------------------------------------------ keys and copies */

/* A tracker with an exact table. */
typedef struct rig {
    machine    m;
    table_spec spec;
    table     *flows;
    tracker    t;
} rig;

static void rig_init(rig *r, machine m) {
    tamis_problem problem;
    *r = (rig){ .m = m };
    tracker_timeouts(&r->m, &r->spec);
    r->flows = table_exact_new(&r->spec, &problem);
    assert_non_null(r->flows);
    tracker_init(&r->t, &r->m, r->flows, 1);
}

static void rig_free(rig *r) {
    tracker_fini(&r->t);
    table_free(r->flows);
    machine_free(&r->m);
}

static void send_dns(rig *r, uint16_t id, bool is_answer, uint64_t now_ns) {
    uint8_t const bytes[20] = {
        [8] = (uint8_t)(id >> 8), [9] = (uint8_t)id, [10] = is_answer ? 0x80 : 0
    };
    packet *const p = tracker_room(&r->t, now_ns);
    *p = (packet){ .flow = { .protocol = PROTOCOL_UDP, .version = 4, .port = { 40000, 53 } },
                   .is_from_high = is_answer,
                   .payload_bytes = 12,
                   .transport = bytes,
                   .transport_bytes = sizeof bytes,
                   .payload_at = 8 };
    tracker_add(&r->t, now_ns, now_ns, 60);
    tracker_flush(&r->t);
}

static uint64_t count_events(const rig *r, bool is_anomaly) {
    uint64_t n = 0;
    for (unsigned i = 0; i < r->m.n_events; i++)
        n += r->m.events[i].is_anomaly == is_anomaly ? r->t.counts.events[i] : 0;
    return n;
}

/* A and AAAA from one socket, answered in any order. */
static void queries_are_told_apart_by_their_ids(void **state) {
    (void)state;
    static rig r;
    uint64_t   now_ns = 0;
    rig_init(&r, read_shipped("dns"));
    for (unsigned i = 0; i < 100; i++) {
        uint16_t const one = (uint16_t)(2 * i), two = (uint16_t)(2 * i + 1);
        send_dns(&r, one, false, now_ns += 1000000);
        send_dns(&r, two, false, now_ns += 1000);
        send_dns(&r, i % 2 == 0 ? two : one, true, now_ns += 1000000);
        send_dns(&r, i % 2 == 0 ? one : two, true, now_ns += 1000000);
    }
    assert_int_equal(r.t.counts.flows, 200);
    assert_int_equal(count_events(&r, false), 400);
    assert_int_equal(count_events(&r, true), 0);
    rig_free(&r);
}

static void copies_are_ignored_for_a_while(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, read_shipped("dns"));
    for (unsigned i = 0; i < 2; i++) send_dns(&r, 7, false, 1000000 + i * 500000);
    for (unsigned i = 0; i < 3; i++) send_dns(&r, 7, true, 5000000 + i * 300000);
    assert_int_equal(r.t.counts.duplicates, 3);
    assert_int_equal(count_events(&r, false), 2); /* asked, answered */
    assert_int_equal(count_events(&r, true), 0);
    send_dns(&r, 8, false, 1000000000); /* repeated after a while: not a copy */
    send_dns(&r, 8, false, 2000000000);
    assert_int_equal(r.t.counts.duplicates, 3);
    assert_int_equal(count_events(&r, false), 4);
    rig_free(&r);
}

static void keys_may_be_hosts_alone(void **state) {
    (void)state;
    static rig r;
    rig_init(&r, read_valid("machine m\nkey hosts\nstate a timeout 1s\nfrom new when any go a\n"));
    for (uint16_t port = 1; port <= 50; port++) {
        packet *const p = tracker_room(&r.t, 0);
        *p = (packet){ .flow = { .version = 4, .port = { port, 80 } } };
        tracker_add(&r.t, 0, 0, 60);
    }
    tracker_flush(&r.t);
    assert_int_equal(r.t.counts.flows, 1);
    rig_free(&r);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_addresses_and_bytes_are_tested),
        cmocka_unit_test(prefixes_of_ipv6_are_tested),
        cmocka_unit_test(new_mistakes_are_explained),
        cmocka_unit_test(values_are_numbered_by_need),
        cmocka_unit_test(large_machines_do_without_the_client),
        cmocka_unit_test(the_client_is_kept),
        cmocka_unit_test(clients_are_guessed_by_ports),
        cmocka_unit_test(queries_are_told_apart_by_their_ids),
        cmocka_unit_test(copies_are_ignored_for_a_while),
        cmocka_unit_test(keys_may_be_hosts_alone),
    };
    return unit_run("language", tests, COUNT(tests));
}
