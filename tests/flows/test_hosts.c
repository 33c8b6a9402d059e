/* test_hosts.c - lists of hosts: Space-Saving, scans in a window, retries, and who is busiest. */
#include "unit.h"

#include "counter.h"
#include "floods.h"
#include "machines.h"
#include "scans.h"
#include "top.h"

#define SECOND NS_PER_SECOND

static host_end make_host(uint32_t n, uint16_t port) {
    host_end end = { .version = 4, .port = port };
    memcpy(end.address, &n, sizeof n);
    return end;
}

/* ------------------------------------------------------------------ Space-Saving */

/* The guarantee of Space-Saving: a host with more than 1/1024 of the whole is in the list, and no
 * counter is below the true count or more than that share above it. Also with weights. */
static void busy_hosts_are_always_in_the_list(void **state) {
    (void)state;
    static ranking  r;
    static uint64_t truth[20000];
    for (unsigned is_weighted = 0; is_weighted < 2; is_weighted++) {
        dice     random = dice_start();
        uint64_t all = 0, sum = 0;
        memset(truth, 0, sizeof truth);
        ranking_init(&r, 1);
        for (uint64_t i = 0; i < (is_weighted ? 50000 : 400000); i++) {
            bool const     is_busy = dice_below(&random, 4) == 0;
            uint32_t const n = (uint32_t)dice_below(&random, is_busy ? 50 : 20000);
            uint64_t const weight = is_weighted ? 1 + dice_below(&random, 1500) : 1;
            host_end const host = make_host(n, 0);
            bool           has_entered;
            uint16_t const at = ranking_count(&r, &host, weight, &has_entered);
            assert_int_equal(ranking_find(&r, &host), at);
            truth[n] += weight;
            all += weight;
        }
        for (size_t i = 0; i < r.n; i++) {
            uint32_t n;
            memcpy(&n, r.hosts[i].address, sizeof n);
            assert_true(r.counts[i] >= truth[n] && r.counts[i] - truth[n] <= all / RANKING_HOSTS);
            sum += r.counts[i];
            if (truth[n] > all / RANKING_HOSTS) truth[n] = 0; /* found */
        }
        assert_int_equal(sum, all);
        for (size_t i = 0; i < COUNT(truth); i++) assert_true(truth[i] <= all / RANKING_HOSTS);
    }
}

static void rankings_are_sorted(void **state) {
    (void)state;
    static ranking r;
    uint64_t       values[RANKING_HOSTS] = { 0 };
    uint16_t       order[5];
    bool           has_entered;
    ranking_init(&r, 1);
    for (uint32_t i = 0; i < 100; i++) {
        host_end const host = make_host(i, 0);
        values[ranking_count(&r, &host, 1, &has_entered)] = (i * 37) % 100;
    }
    assert_int_equal(ranking_sort(&r, values, order, 5), 5);
    for (unsigned i = 0; i < 5; i++) assert_int_equal(values[order[i]], 99 - i);
    memset(values, 0, sizeof values);
    values[7] = 1;
    assert_int_equal(ranking_sort(&r, values, order, 5), 1); /* zeros are left out */
    assert_int_equal(order[0], 7);
}

/* ------------------------------------------------------------------ scans */

static scans    tried;
static unsigned n_found;

static void on_found(void *context, uint16_t source) {
    (void)context;
    (void)source;
    n_found++;
}

static void begin_scans(void) {
    scans_init(&tried, 1);
    n_found = 0;
}

/* n attempts of one source, `apart_ns` apart, the i-th to host i % hosts and port i / hosts. One in
 * `answered` is answered after a tenth of a second; 0: none. Returns the time at the end. */
static uint64_t try_targets(uint32_t source, uint32_t n, uint32_t hosts, uint32_t ports,
                            uint32_t answered, uint64_t now_ns, uint64_t apart_ns) {
    host_end const from = make_host(source, 40000);
    uint64_t const delay = SECOND / 10 / apart_ns; /* in attempts */
    for (uint32_t i = 0; i < n + delay; i++, now_ns += apart_ns) {
        host_end const to = make_host(1000000 + i % hosts, (uint16_t)(1 + i / hosts % ports));
        if (i < n) scans_attempt(&tried, &from, &to, now_ns);
        uint32_t const before = i - (uint32_t)delay;
        bool const     is_answer = i >= delay && answered != 0 && before % answered == 0;
        host_end const answerer =
            make_host(1000000 + before % hosts, (uint16_t)(1 + before / hosts % ports));
        if (is_answer) scans_answer(&tried, &from, &answerer, now_ns);
        scans_judge(&tried, now_ns, false, on_found, NULL);
    }
    return now_ns;
}

static scan_verdict verdict_of(uint32_t source) {
    host_end const host = make_host(source, 0);
    uint16_t const i = ranking_find(&tried.list, &host);
    return i != RANKING_NONE ? tried.sources[i].verdict : SCAN_NONE;
}

/* Judge what is left, a while later. */
static void end_scans(uint64_t now_ns) {
    scans_judge(&tried, now_ns + 10 * SECOND, false, on_found, NULL);
}

static const struct {
    const char  *title;
    uint32_t     n, hosts, ports, answered;
    uint64_t     apart_ns;
    scan_verdict verdict;
} sources[] = {
    { "a thousand ports", 1000, 1, 1000, 0, SECOND / 1000, SCAN_LIKELY },
    { "a thousand ports, slower", 1000, 1, 1000, 0, SECOND / 20, SCAN_LIKELY },
    { "a network", 254, 254, 1, 50, SECOND / 100, SCAN_LIKELY },
    { "a hundred targets, each ten times", 1000, 100, 1, 0, SECOND / 100, SCAN_LIKELY },
    { "a dead service", 1000, 1, 1, 0, SECOND / 100, SCAN_RETRIES },
    { "a few dead services", 1000, 3, 2, 0, SECOND / 100, SCAN_RETRIES },
    { "a crawler", 5000, 5000, 1, 1, SECOND / 1000, SCAN_NONE },
    { "a crawler that often fails", 3000, 3000, 1, 2, SECOND / 1000, SCAN_LIKELY },
    { "a burst that is answered later", 3000, 3000, 1, 1, SECOND / 100000, SCAN_NONE },
    { "too few", 99, 1, 99, 0, SECOND / 100, SCAN_NONE },
    { "a hundred per minute and some", 1000, 1, 1000, 0, 55 * SECOND / 100, SCAN_LIKELY },
    { "too slow: 60 per minute", 1000, 1, 1000, 0, SECOND, SCAN_NONE },
};

static void scans_and_retries_are_told_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        begin_scans();
        end_scans(try_targets(1, sources[i].n, sources[i].hosts, sources[i].ports,
                              sources[i].answered, SECOND, sources[i].apart_ns));
        if (verdict_of(1) != sources[i].verdict)
            print_error("%s: %d\n", sources[i].title, verdict_of(1));
        assert_int_equal(verdict_of(1), sources[i].verdict);
        assert_int_equal(n_found, sources[i].verdict != SCAN_NONE);
    }
}

/* The same scan again after an hour is another one. Without a pause it is told once. */
static void a_scan_after_a_silence_is_told_again(void **state) {
    (void)state;
    begin_scans();
    uint64_t now_ns = try_targets(1, 1000, 1, 1000, 0, SECOND, SECOND / 100);
    for (unsigned again = 1; again < 3; again++) {
        end_scans(now_ns);
        assert_int_equal(n_found, again);
        now_ns = try_targets(1, 1000, 1, 1000, 0, now_ns + 3600 * SECOND, SECOND / 100);
    }
    end_scans(try_targets(1, 1000, 1, 1000, 0, now_ns, SECOND / 100));
    assert_int_equal(n_found, 3);
}

/* 120 good connections, then a scan of a thousand ports: minutes later, or at once. */
static void good_connections_do_not_hide_a_scan(void **state) {
    (void)state;
    for (unsigned minutes = 0; minutes < 3; minutes++) {
        begin_scans();
        uint64_t now_ns = try_targets(1, 120, 1, 1, 1, SECOND, SECOND / 10);
        assert_int_equal(verdict_of(1), SCAN_NONE);
        now_ns = try_targets(1, 1000, 1, 1000, 0, now_ns + minutes * 60 * SECOND, SECOND / 100);
        end_scans(now_ns);
        assert_int_equal(verdict_of(1), SCAN_LIKELY);
    }
}

/* A thousand good connections to one service and a scan of 300 ports, in turns. */
static void good_connections_meanwhile_do_not_hide_a_scan(void **state) {
    (void)state;
    host_end const from = make_host(1, 40000), good = make_host(5, 80);
    begin_scans();
    for (uint32_t i = 0; i < 1300; i++) {
        uint64_t const now_ns = i * (SECOND / 50);
        host_end const port = make_host(5, (uint16_t)(1000 + i));
        bool const     is_good = i % 13 < 10;
        scans_attempt(&tried, &from, is_good ? &good : &port, now_ns);
        if (is_good) scans_answer(&tried, &from, &good, now_ns);
        scans_judge(&tried, now_ns, false, on_found, NULL);
    }
    assert_int_equal(verdict_of(1), SCAN_LIKELY);
}

/* 20,000 attempts per second from as many forged addresses, and one source that tries 50 ports per
 * second: less than a thousandth of all. No forged address is accused. */
static void a_flood_does_not_hide_a_scan(void **state) {
    (void)state;
    begin_scans();
    host_end const victim = make_host(5, 80), from = make_host(1, 40000);
    for (uint32_t i = 0; i < 400000; i++) {
        uint64_t const now_ns = i * (SECOND / 20000);
        host_end const forged = make_host(1000000 + i, 40000);
        host_end const port = make_host(6, (uint16_t)(i / 400));
        scans_attempt(&tried, &forged, &victim, now_ns);
        if (i % 400 == 0) scans_attempt(&tried, &from, &port, now_ns);
        scans_judge(&tried, now_ns, false, on_found, NULL);
    }
    assert_int_equal(verdict_of(1), SCAN_LIKELY);
    assert_int_equal(n_found, 1);
}

/* One good connection per second and retries of a dead service: not a scan, whatever else it
 * does. */
static void retries_beside_good_connections_are_no_scan(void **state) {
    (void)state;
    host_end const from = make_host(1, 40000), dead = make_host(5, 99);
    begin_scans();
    for (uint32_t i = 0; i < 6000; i++) {
        uint64_t const now_ns = i * (SECOND / 100);
        host_end const good = make_host(100 + i, 80);
        scans_attempt(&tried, &from, i % 2 == 0 ? &good : &dead, now_ns);
        if (i % 2 == 0) scans_answer(&tried, &from, &good, now_ns);
        scans_judge(&tried, now_ns, false, on_found, NULL);
    }
    assert_int_equal(verdict_of(1), SCAN_RETRIES);
}

/* Of the targets of retries, the dead service is named, and not the one that was tried last. */
static void retries_name_the_dead_service(void **state) {
    (void)state;
    host_end const from = make_host(1, 40000), dead = make_host(5, 99), last = make_host(5, 1);
    begin_scans();
    for (uint32_t i = 0; i < 6000; i++) {
        uint64_t const now_ns = i * (SECOND / 100);
        host_end const good = make_host(100 + i % 3, 80);
        scans_attempt(&tried, &from, i % 5 < 2 ? &good : &dead, now_ns);
        if (i % 5 < 2) scans_answer(&tried, &from, &good, now_ns);
    }
    scans_attempt(&tried, &from, &last, 60 * SECOND);
    end_scans(60 * SECOND);
    assert_int_equal(verdict_of(1), SCAN_RETRIES);
    assert_int_equal(tried.sources[0].target.port, dead.port);
    assert_memory_equal(tried.sources[0].target.address, dead.address, sizeof dead.address);
}

/* The capture may end before a scan can be judged by time. */
static void the_last_judgement_does_not_wait(void **state) {
    (void)state;
    begin_scans();
    uint64_t const now_ns = try_targets(1, 500, 1, 500, 0, SECOND, SECOND / 10000);
    assert_int_equal(verdict_of(1), SCAN_NONE);
    scans_judge(&tried, now_ns, true, on_found, NULL);
    assert_int_equal(verdict_of(1), SCAN_LIKELY);
    assert_int_equal(n_found, 1);
    begin_scans(); /* or nothing happens for a day after it */
    (void)try_targets(1, 500, 1, 500, 0, SECOND, SECOND / 10000);
    scans_judge(&tried, 86400 * SECOND, false, on_found, NULL);
    assert_int_equal(verdict_of(1), SCAN_LIKELY);
}

/* The estimate for so many hosts, relative to the true number. */
static double relative_estimate(uint32_t n_hosts, uint64_t seed) {
    host_end const from = make_host(1, 0);
    scans_init(&tried, seed);
    for (uint32_t i = 0; i < n_hosts + 1; i++) { /* the target of the first attempt is not kept */
        host_end const to = make_host((i % n_hosts) * 7, 0);
        scans_attempt(&tried, &from, &to, 0);
    }
    return scans_estimate(tried.sources[0].pieces[0].hosts) / n_hosts;
}

/* 64 registers have a standard error of 1.04 / sqrt(64) = 13%. */
static void hosts_are_estimated_within_their_error(void **state) {
    (void)state;
    static const uint32_t sizes[] = { 2, 5, 10, 100, 1000, 10000 };
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

/* ------------------------------------------------------------------ busiest hosts */

static top     busiest;
static machine tcp;

static void begin_top(void) {
    tcp = read_shipped("tcp");
    top_init(&busiest, &tcp, 1);
}

/* A packet of a new flow from host `client` to `server`, that goes through the machine. */
static tracked make_opening(uint32_t client, uint32_t server, uint32_t bytes) {
    tracked p = { .p = { .flow = { .version = 4, .protocol = PROTOCOL_TCP, .port = { 5000, 80 } },
                         .flags = TCP_SYN },
                  .bytes = bytes };
    memcpy(p.p.flow.address[0], &client, sizeof client);
    memcpy(p.p.flow.address[1], &server, sizeof server);
    p.answers = machine_answers(&tcp, &p.p);
    (void)tracker_decide(&tcp, &p, TAMIS_ERR_ABSENT, 0);
    return p;
}

/* The next packet of the same flow, from its server. */
static tracked make_reply(const tracked *first, uint8_t flags, uint32_t bytes) {
    tracked p = { .p = first->p, .bytes = bytes };
    p.p.flags = flags;
    p.p.is_from_high = true;
    p.answers = machine_answers(&tcp, &p.p);
    (void)tracker_decide(&tcp, &p, TAMIS_OK, first->to);
    return p;
}

static void see(const tracked *p, uint64_t id) {
    top_see_bytes(&busiest, p, 1);
    top_see(&busiest, p, id, TAMIS_OK);
}

static top_row first_row(top_role role, top_measure measure) {
    top_row row = { .count = 0 };
    (void)top_rows(&busiest, role, measure, &row, 1);
    return row;
}

static bool is_host(const top_row *row, uint32_t n) {
    return memcmp(row->host.address, &n, sizeof n) == 0;
}

/* Clients 0 to 99 make i connections to server 1000 + i; those of 50 are refused, those of 60 are
 * never answered. */
static void the_busiest_hosts_are_found(void **state) {
    (void)state;
    uint64_t id = 0;
    begin_top();
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t j = 0; j < i; j++, id++) {
            tracked const open = make_opening(i, 1000 + i, 60);
            tracked const reply = make_reply(&open, i == 50 ? TCP_RST : TCP_SYN | TCP_ACK, 1000);
            see(&open, id);
            if (i != 60) see(&reply, id);
            tracked const done = make_reply(&reply, TCP_ACK, 0);
            if (i != 60 && i != 50) see(&done, id);
        }
    }
    top_row row = first_row(TOP_SOURCE, TOP_FLOWS);
    assert_true(is_host(&row, 99) && row.count == 99);
    row = first_row(TOP_TARGET, TOP_FLOWS);
    assert_true(is_host(&row, 1099) && row.count == 99 && row.host.port == 80);
    row = first_row(TOP_TARGET, TOP_HALF_OPEN);
    assert_true(is_host(&row, 1060) && row.count == 60);
    row = first_row(TOP_SOURCE, TOP_REFUSED);
    assert_true(is_host(&row, 50) && row.count == 50);
    row = first_row(TOP_TARGET, TOP_REFUSED);
    assert_true(is_host(&row, 1050) && row.count == 50);
    row = first_row(TOP_SOURCE, TOP_BYTES); /* servers send more */
    uint32_t sender;
    memcpy(&sender, row.host.address, sizeof sender);
    assert_true(sender >= 1090 && row.count > 90000 && row.count < 105000);
    row = first_row(TOP_SOURCE, TOP_RESET);
    assert_int_equal(row.count, 0);
    machine_free(&tcp);
}

/* A million flows, of which one target has a tenth: the sample finds it, within six of its
 * errors. */
static void samples_estimate_large_numbers(void **state) {
    (void)state;
    dice random = dice_start();
    begin_top();
    for (uint64_t i = 0; i < 1000000; i++) {
        uint32_t const server =
            dice_below(&random, 10) == 0 ? 7 : (uint32_t)dice_below(&random, 50000) + 100;
        tracked const open = make_opening((uint32_t)dice_below(&random, 1 << 24), server, 100);
        see(&open, dice_roll(&random));
        top_add_flows(&busiest, 1);
    }
    double const each = 1 / sqrt(0.1 * TOP_FLOWS_WHOLE), of_bytes = 1 / sqrt(0.1 * TOP_SAMPLES);
    top_row      row = first_row(TOP_TARGET, TOP_FLOWS);
    assert_true(is_host(&row, 7) && fabs((double)row.count / 100000 - 1) < UNIT_SIGMAS * each);
    row = first_row(TOP_TARGET, TOP_HALF_OPEN);
    assert_true(is_host(&row, 7) && fabs((double)row.count / 100000 - 1) < UNIT_SIGMAS * each);
    row = first_row(TOP_TARGET, TOP_BYTES);
    assert_true(is_host(&row, 7) && fabs((double)row.count / 1e7 - 1) < UNIT_SIGMAS * of_bytes);
    /* Nobody else has more than 30 flows, so nobody is accused of more. */
    top_row rows[10];
    assert_int_equal(top_rows(&busiest, TOP_SOURCE, TOP_FLOWS, rows, 10), 0);
    assert_int_equal(top_rows(&busiest, TOP_TARGET, TOP_FLOWS, rows, 10), 1);
    machine_free(&tcp);
}

/* ------------------------------------------------------------------ floods */

static floods   flooded;
static unsigned n_told;

static void on_flood(void *context, const flood *found) {
    (void)context;
    (void)found;
    n_told++;
}

static void begin_floods(void) {
    begin_top();
    floods_init(&flooded, &tcp, 1);
    n_told = 0;
}

/* Traffic at a target: flow i comes from source i % sources to port i % ports. */
typedef struct flood_case {
    const char *title;
    uint64_t    n, per_second;
    uint32_t    sources, ports;
    uint8_t     flags;
    uint8_t     reply;    /* the flags of the target's packet after a tenth of a second; 0: none */
    uint32_t    one_in;   /* flows get a reply */
    unsigned    expected; /* floods */
} flood_case;

static const flood_case traffic[] = {
    { "SYNs from many", 5000, 500, 5000, 1, TCP_SYN, 0, 1, 1 },
    { "SYNs from one to one port", 5000, 500, 1, 1, TCP_SYN, 0, 1, 1 },
    { "SYNs from many to many ports", 5000, 500, 5000, 1000, TCP_SYN, 0, 1, 1 },
    { "a port scan", 5000, 500, 1, 5000, TCP_SYN, 0, 1, 0 },
    { "a port scan from three", 6000, 500, 3, 2000, TCP_SYN, 0, 1, 0 },
    { "too few", 500, 90, 500, 1, TCP_SYN, 0, 1, 0 },
    { "too slow", 5000, 90, 5000, 1, TCP_SYN, 0, 1, 0 },
    { "a busy server", 50000, 5000, 50000, 1, TCP_SYN, TCP_SYN | TCP_ACK, 1, 0 },
    { "a service that is down", 5000, 500, 5000, 1, TCP_SYN, TCP_RST, 1, 0 },
    { "lone ACKs, nothing captured of the target", 5000, 500, 5000, 1, TCP_ACK, 0, 1, 0 },
    { "lone ACKs, and some are refused", 5000, 500, 5000, 1, TCP_ACK, TCP_RST, 50, 1 },
    { "lone ACKs, and all are refused", 5000, 500, 5000, 1, TCP_ACK, TCP_RST, 1, 1 },
    { "connections that are picked up", 5000, 500, 5000, 1, TCP_ACK, TCP_ACK, 1, 0 },
    { "lone FINs, and some are refused", 5000, 500, 5000, 1, TCP_FIN | TCP_ACK, TCP_RST, 50, 1 },
    { "connections that are closing", 5000, 500, 5000, 1, TCP_FIN | TCP_ACK, TCP_FIN | TCP_ACK, 1,
      0 },
};

static tracked make_flow(const flood_case *c, uint64_t i, uint64_t now_ns) {
    tracked        p = make_opening(100 + (uint32_t)(i % c->sources), 7, 60);
    uint16_t const port = (uint16_t)(80 + i % c->ports);
    p.p.flow.port[0] = (uint16_t)(20000 + i % 30000);
    p.p.flow.port[1] = port;
    p.p.flags = c->flags;
    p.now_ns = now_ns;
    p.answers = machine_answers(&tcp, &p.p);
    (void)tracker_decide(&tcp, &p, TAMIS_ERR_ABSENT, 0);
    return p;
}

/* Half-open flows that are answered wait for an ACK, and are half-open until then. */
static void answer_flow(const flood_case *c, uint64_t i, uint64_t now_ns) {
    tracked const open = make_flow(c, i, now_ns);
    tracked       reply = make_reply(&open, c->reply, 60);
    reply.now_ns = now_ns;
    floods_see(&flooded, &reply, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
    if ((c->reply & TCP_SYN) == 0) return;
    reply = make_reply(&reply, TCP_ACK, 60);
    reply.now_ns = now_ns;
    floods_see(&flooded, &reply, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
}

static void floods_are_told_from_scans_and_busy_servers(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(traffic); k++) {
        const flood_case *const c = &traffic[k];
        uint64_t const          delay = c->per_second / 10;
        uint64_t                now_ns = 0;
        begin_floods();
        for (uint64_t i = 0; i < c->n + delay; i++, now_ns += SECOND / c->per_second) {
            tracked const open = make_flow(c, i, now_ns);
            if (i < c->n)
                floods_see(&flooded, &open, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
            if (c->reply != 0 && i >= delay && (i - delay) % c->one_in == 0)
                answer_flow(c, i - delay, now_ns);
            floods_judge(&flooded, now_ns, false, on_flood, NULL);
        }
        floods_judge(&flooded, now_ns, true, on_flood, NULL);
        if (n_told != c->expected) print_error("%s: %u\n", c->title, n_told);
        assert_int_equal(n_told, c->expected);
        machine_free(&tcp);
    }
}

/* The number of flows is an estimate, and the port and a source with most of them are named. */
static void floods_are_described(void **state) {
    (void)state;
    flood_case const both[] = { { "many", 60000, 5000, 60000, 1, TCP_SYN, 0, 1, 1 },
                                { "one", 60000, 5000, 1, 1, TCP_SYN, 0, 1, 1 } };
    for (size_t k = 0; k < COUNT(both); k++) {
        const flood *found[4];
        begin_floods();
        for (uint64_t i = 0; i < both[k].n; i++) {
            tracked const open = make_flow(&both[k], i, i * (SECOND / 5000));
            floods_see(&flooded, &open, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
            floods_judge(&flooded, i * (SECOND / 5000), false, on_flood, NULL);
        }
        floods_judge(&flooded, 12 * SECOND, true, on_flood, NULL);
        assert_int_equal(floods_list(&flooded, false, found, 4), 1);
        assert_true(fabs((double)found[0]->flows / 60000 - 1) <
                    UNIT_SIGMAS / sqrt(FLOODS_WHOLE / 2));
        assert_int_equal(found[0]->target.port, 80);
        assert_int_equal(found[0]->source.version, k == 0 ? 0 : 4);
        assert_int_equal(floods_list(&flooded, true, found, 4), 1);
        floods_begin_interval(&flooded);
        assert_int_equal(floods_list(&flooded, true, found, 4), 0);
        machine_free(&tcp);
    }
}

/* A short flood at the end of a window is judged in the next one, though nothing comes any more. */
static void short_floods_are_found(void **state) {
    (void)state;
    flood_case const both[] = { { "many", 0, 0, 5000, 1, TCP_SYN, 0, 1, 1 },
                                { "a scan", 0, 0, 1, 5000, TCP_SYN, 0, 1, 0 } };
    for (size_t k = 0; k < COUNT(both); k++) {
        begin_floods();
        floods_judge(&flooded, 0, false, on_flood, NULL);
        for (uint64_t i = 0; i < 2000; i++) {
            tracked const open = make_flow(&both[k], i, 9 * SECOND + i * (SECOND / 4000));
            floods_see(&flooded, &open, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
        }
        floods_judge(&flooded, 10 * SECOND, false, on_flood, NULL);
        assert_int_equal(n_told, 0);
        floods_judge(&flooded, 20 * SECOND, false, on_flood, NULL);
        assert_int_equal(n_told, both[k].expected);
        floods_judge(&flooded, 30 * SECOND, false, on_flood, NULL);
        assert_int_equal(n_told, both[k].expected);
        machine_free(&tcp);
    }
}

/* After a million flows an hour ago, a hundred are no flood. */
static void floods_are_judged_by_their_window(void **state) {
    (void)state;
    flood_case const c = { "many", 0, 0, 1000000, 1, TCP_SYN, 0, 1, 1 };
    begin_floods();
    for (uint64_t i = 0; i < 1000100; i++) {
        uint64_t const now_ns = i < 1000000 ? i * 10000 : 3600 * SECOND + i * 1000;
        tracked const  open = make_flow(&c, i, now_ns);
        if (i >= 1000000 && i % 10 == 0) floods_judge(&flooded, now_ns, false, on_flood, NULL);
        floods_see(&flooded, &open, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, TAMIS_OK);
        if (i == 999999) floods_judge(&flooded, 20 * SECOND, false, on_flood, NULL);
    }
    assert_int_equal(n_told, 1);
    floods_judge(&flooded, 3700 * SECOND, true, on_flood, NULL);
    assert_int_equal(n_told, 1);
    machine_free(&tcp);
}

/* ------------------------------------------------------------------ counters */

/* The mean is right, and the error is the one of the paper. */
static void approximate_counters_have_no_bias(void **state) {
    (void)state;
    counter_scale const scales[] = { { 1.0234, 0, 1023 }, { 1.0115, 511, 2047 } };
    dice                random = dice_start();
    for (size_t i = 0; i < COUNT(scales); i++) {
        for (unsigned step = 1; step <= 1000; step *= 1000) {
            double const   truth = 20000.0 * step, error = sqrt((scales[i].base - 1) / 2);
            double         sum = 0, squares = 0;
            unsigned const n = 50;
            for (unsigned k = 0; k < n; k++) {
                uint32_t code = 0;
                for (unsigned j = 0; j < 20000; j++) {
                    double const any = (double)(dice_roll(&random) >> 11) * 0x1p-53;
                    code = counter_add(&scales[i], code, step, any);
                }
                double const off = counter_value(&scales[i], code) / truth - 1;
                sum += off;
                squares += off * off;
            }
            assert_true(fabs(sum / n) < UNIT_SIGMAS * error / sqrt(n));
            assert_true(sqrt(squares / n) < 1.5 * error);
        }
    }
}

/* Small numbers are exact, large ones are not lost, and no code is too large. */
static void counters_are_exact_as_promised(void **state) {
    (void)state;
    counter_scale const scale = { 1.0115, 511, 2047 };
    uint32_t            code = 0;
    for (unsigned n = 0; n <= 511; n++) {
        assert_true(counter_value(&scale, code) == n);
        if (n < 511) code = counter_add(&scale, code, 1, 0.999999);
    }
    for (uint32_t i = 0; i <= 2047; i++)
        assert_int_equal(counter_code(&scale, counter_value(&scale, i)), i);
    assert_int_equal(counter_add(&scale, 2000, 1e300, 0), 2047);
    assert_true(counter_value(&scale, 2047) > 3e9);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_hosts_are_always_in_the_list),
        cmocka_unit_test(rankings_are_sorted),
        cmocka_unit_test(scans_and_retries_are_told_apart),
        cmocka_unit_test(a_scan_after_a_silence_is_told_again),
        cmocka_unit_test(good_connections_do_not_hide_a_scan),
        cmocka_unit_test(good_connections_meanwhile_do_not_hide_a_scan),
        cmocka_unit_test(a_flood_does_not_hide_a_scan),
        cmocka_unit_test(retries_beside_good_connections_are_no_scan),
        cmocka_unit_test(retries_name_the_dead_service),
        cmocka_unit_test(the_last_judgement_does_not_wait),
        cmocka_unit_test(hosts_are_estimated_within_their_error),
        cmocka_unit_test(the_busiest_hosts_are_found),
        cmocka_unit_test(samples_estimate_large_numbers),
        cmocka_unit_test(floods_are_told_from_scans_and_busy_servers),
        cmocka_unit_test(floods_are_described),
        cmocka_unit_test(short_floods_are_found),
        cmocka_unit_test(floods_are_judged_by_their_window),
        cmocka_unit_test(approximate_counters_have_no_bias),
        cmocka_unit_test(counters_are_exact_as_promised),
    };
    return unit_run("hosts", tests, COUNT(tests));
}
