/* make_capture.c - make captures for tests and demonstrations of tamis-flows. The same seed gives
 * the same bytes.
 *
 * usage: make_capture mixed FILE [option=value ...]     some of everything
 *        make_capture bulk FILE [option=value ...]      many connections at one time
 *        make_capture flood FILE [option=value ...]     SYNs, or others, from random addresses
 *
 * Prints what is in the capture, and so what tamis-flows should find, as JSON.
 *
 * Options: seed=1, connections=1000 (mixed: TCP connections; bulk: at one time), packets=5 (bulk:
 * data packets per connection; flood: real connections), loss=0 (mixed: percent of packets that
 * are left out), scans=2 (mixed: sources that scan), format=micro|nano|swapped|ng,
 * snapshot=262144, seconds=60, flags=2 (flood: the TCP flags of its packets; 16 is an ACK, 17 a
 * FIN with an ACK), payload=0 (flood: bytes of data in each).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

#define BEGIN_NS (UINT64_C(1700000000) * 1000000000)
#define MS UINT64_C(1000000)

typedef struct settings {
    uint64_t    seed, connections, packets, loss, scans, snapshot, seconds, flags, payload;
    const char *format;
} settings;

/* ------------------------------------------------------------------ random numbers */

static uint64_t random_state;

static uint64_t random_next(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

static uint64_t random_below(uint64_t n) {
    return (random_next() >> 11) % n;
}

static bool is_one_in(uint64_t n) {
    return random_below(n) == 0;
}

/* ------------------------------------------------------------------ planned packets */

typedef enum piece { PIECE_TCP, PIECE_UDP, PIECE_ECHO, PIECE_FIRST, PIECE_SECOND, PIECE_ARP } piece;

typedef struct planned {
    uint64_t    time_ns;
    uint32_t    order;
    uint32_t    payload;
    frame_end   from, to;
    frame_style style;
    uint8_t     piece, flags;
} planned;

static planned *plans;
static size_t   n_plans, n_room;

static planned *plan_add(piece type, uint64_t time_ns, const frame_end *from, const frame_end *to,
                         const frame_style *style) {
    if (n_plans == n_room) {
        n_room = n_room == 0 ? 65536 : 2 * n_room;
        plans = realloc(plans, n_room * sizeof *plans);
        if (plans == NULL) exit(2);
    }
    planned *const p = &plans[n_plans];
    *p = (planned){ .time_ns = time_ns,
                    .order = (uint32_t)n_plans++,
                    .piece = (uint8_t)type,
                    .from = *from,
                    .to = *to,
                    .style = *style };
    return p;
}

static int compare_times(const void *a, const void *b) {
    const planned *const x = a, *const y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void plan_frame(const planned *p, frame *ret_frame) {
    switch ((piece)p->piece) {
    case PIECE_TCP: frame_tcp(ret_frame, &p->style, &p->from, &p->to, p->flags, p->payload); break;
    case PIECE_UDP: frame_udp(ret_frame, &p->style, &p->from, &p->to, p->payload); break;
    case PIECE_ECHO: frame_echo(ret_frame, &p->style, &p->from, &p->to, p->flags != 0); break;
    case PIECE_FIRST:
        frame_fragment(ret_frame, &p->style, &p->from, &p->to, p->payload, false);
        break;
    case PIECE_SECOND:
        frame_fragment(ret_frame, &p->style, &p->from, &p->to, p->payload, true);
        break;
    case PIECE_ARP: frame_arp(ret_frame); break;
    }
}

/* ------------------------------------------------------------------ ends */

static frame_style random_style(void) {
    frame_style style = { .version = is_one_in(3) ? 6 : 4 };
    if (is_one_in(4)) style.n_tags = is_one_in(3) ? 2 : 1;
    style.has_options = is_one_in(10);
    style.has_timestamps = !is_one_in(4);
    return style;
}

/* End number n. Different n up to 2^24 have different addresses. */
static frame_end make_end(const frame_style *style, unsigned network, uint64_t n, uint16_t port) {
    frame_end end = { .port = port };
    if (style->version == 6) {
        end.address[0] = 0x20;
        end.address[1] = 0x01;
        end.address[2] = 0x0d;
        end.address[3] = 0xb8;
    }
    uint8_t *const last = end.address + (style->version == 6 ? 12 : 0);
    last[0] = (uint8_t)network;
    last[1] = (uint8_t)(n >> 16);
    last[2] = (uint8_t)(n >> 8);
    last[3] = (uint8_t)n;
    return end;
}

/* ------------------------------------------------------------------ connections */

/* How a connection ends. The names are those in the JSON output. */
typedef enum fate {
    FATE_CLOSED,
    FATE_OPEN,
    FATE_RESET,
    FATE_REFUSED,
    FATE_HALF_OPEN,
    FATE_MIDDLE,
    N_FATES
} fate;

static const char *const fate_names[N_FATES] = { "closed",  "open",      "reset",
                                                 "refused", "half_open", "picked_up" };

/* A connection, and the time of its next packet. */
typedef struct talk {
    frame_style style;
    frame_end   client, server;
    uint64_t    now_ns;
} talk;

static uint64_t counts[N_FATES], n_reused, n_dns, n_unanswered, n_echoes, n_scan_attempts;

/* Plan a packet, a little after the one before. */
static void talk_packet(talk *t, bool is_client, unsigned flags, uint32_t payload) {
    planned *const p = plan_add(PIECE_TCP, t->now_ns, is_client ? &t->client : &t->server,
                                is_client ? &t->server : &t->client, &t->style);
    p->flags = (uint8_t)flags;
    p->payload = payload;
    t->now_ns += MS + random_below(20 * MS);
}

static void talk_handshake(talk *t) {
    talk_packet(t, true, SYN, 0);
    talk_packet(t, false, SYN | ACK, 0);
    talk_packet(t, true, ACK, 0);
}

static void talk_data(talk *t) {
    uint64_t const n = 1 + random_below(6);
    for (uint64_t i = 0; i < n; i++) {
        bool const is_client = is_one_in(2);
        talk_packet(t, is_client, PSH | ACK, (uint32_t)(1 + random_below(1200)));
        talk_packet(t, !is_client, ACK, 0);
    }
}

static void talk_close(talk *t) {
    bool const is_client = is_one_in(2);
    talk_packet(t, is_client, FIN | ACK, 0);
    if (is_one_in(2)) talk_packet(t, !is_client, ACK, 0);
    talk_packet(t, !is_client, FIN | ACK, 0);
    talk_packet(t, is_client, ACK, 0);
}

static void talk_all(talk *t, fate f) {
    if (f == FATE_HALF_OPEN) {
        for (unsigned i = 0; i < 3; i++) talk_packet(t, true, SYN, 0);
        return;
    }
    if (f == FATE_REFUSED) {
        talk_packet(t, true, SYN, 0);
        talk_packet(t, false, RST | ACK, 0);
        return;
    }
    if (f != FATE_MIDDLE) talk_handshake(t);
    talk_data(t);
    if (f == FATE_CLOSED) talk_close(t);
    if (f == FATE_RESET) talk_packet(t, is_one_in(2), RST | ACK, 0);
}

static fate random_fate(void) {
    uint64_t const n = random_below(100);
    return n < 60   ? FATE_CLOSED
           : n < 72 ? FATE_OPEN
           : n < 82 ? FATE_RESET
           : n < 88 ? FATE_REFUSED
           : n < 95 ? FATE_HALF_OPEN
                    : FATE_MIDDLE;
}

/* Connection number i. Each has a client address of its own, so all tuples are different. */
static void plan_connection(uint64_t i, uint64_t span_ns) {
    static const uint16_t ports[] = { 80, 443, 22, 25, 8080 };
    talk       t = { .style = random_style(), .now_ns = BEGIN_NS + random_below(span_ns) };
    fate const f = random_fate();
    t.client = make_end(&t.style, 10, i, (uint16_t)(1024 + random_below(60000)));
    t.server =
        make_end(&t.style, is_one_in(2) ? 9 : 192, random_below(500), ports[random_below(5)]);
    counts[f]++;
    talk_all(&t, f);
    if (f != FATE_CLOSED || !is_one_in(20)) return;
    t.now_ns += 1000 * MS;
    t.style.sequence += 1000000;
    counts[FATE_CLOSED]++;
    n_reused++;
    talk_all(&t, FATE_CLOSED);
}

/* ------------------------------------------------------------------ other packets */

/* A scan by source number i: hosts x ports, with one answer in 50. */
static void plan_scan(unsigned i_source, uint64_t span_ns) {
    frame_style const style = { .version = i_source % 3 == 2 ? 6 : 4 };
    uint64_t const    start_ns = BEGIN_NS + random_below(span_ns / 2);
    uint64_t const    n_hosts = i_source % 2 == 0 ? 254 : 1, n_ports = i_source % 2 == 0 ? 2 : 500;
    for (uint64_t i = 0; i < n_hosts * n_ports; i++) {
        frame_end const source = make_end(&style, 66, i_source + 1, (uint16_t)(40000 + i_source));
        frame_end const target = make_end(&style, 172, i % n_hosts, (uint16_t)(1 + i / n_hosts));
        uint64_t const  time_ns = start_ns + i * MS;
        plan_add(PIECE_TCP, time_ns, &source, &target, &style)->flags = SYN;
        n_scan_attempts++;
        if (i % 50 == 7)
            plan_add(PIECE_TCP, time_ns + MS / 2, &target, &source, &style)->flags = SYN | ACK;
    }
}

static void plan_dns_query(uint64_t i, uint64_t span_ns) {
    frame_style const style = random_style();
    uint64_t const    time_ns = BEGIN_NS + random_below(span_ns);
    frame_end const   from = make_end(&style, 10, i, (uint16_t)(1024 + random_below(60000)));
    frame_end const   to = make_end(&style, 192, 53, 53);
    n_dns++;
    plan_add(PIECE_UDP, time_ns, &from, &to, &style)->payload = 40;
    if (is_one_in(10))
        n_unanswered++;
    else
        plan_add(PIECE_UDP, time_ns + 5 * MS, &to, &from, &style)->payload = 120;
}

static void plan_echo(uint64_t i, uint64_t span_ns) {
    frame_style const style = random_style();
    uint64_t const    time_ns = BEGIN_NS + random_below(span_ns);
    frame_end const   from = make_end(&style, 10, i, (uint16_t)i),
                    to = make_end(&style, 192, 1, (uint16_t)i);
    n_echoes++;
    plan_add(PIECE_ECHO, time_ns, &from, &to, &style);
    plan_add(PIECE_ECHO, time_ns + MS, &to, &from, &style)->flags = 1;
}

static void plan_fragments(uint64_t i, uint64_t span_ns) {
    frame_style const style = random_style();
    uint64_t const    time_ns = BEGIN_NS + random_below(span_ns);
    frame_end const   from = make_end(&style, 10, i, 5000), to = make_end(&style, 192, 2, 6000);
    plan_add(PIECE_FIRST, time_ns, &from, &to, &style)->payload = 1800;
    plan_add(PIECE_SECOND, time_ns + MS / 10, &from, &to, &style)->payload = 1800;
}

static void plan_mixed(const settings *set) {
    uint64_t const span_ns = set->seconds * 1000 * MS;
    frame_end      nobody = { .port = 0 };
    frame_style    plain = { .version = 4 };
    for (uint64_t i = 0; i < set->connections; i++) plan_connection(i, span_ns);
    for (unsigned i = 0; i < set->scans; i++) plan_scan(i, span_ns);
    for (uint64_t i = 0; i < set->connections / 5; i++) plan_dns_query(i, span_ns);
    for (uint64_t i = 0; i < set->connections / 20; i++) plan_echo(i, span_ns);
    for (uint64_t i = 0; i < set->connections / 50; i++) plan_fragments(i, span_ns);
    for (uint64_t i = 0; i < set->connections / 50; i++) {
        plan_add(PIECE_ARP, BEGIN_NS + random_below(span_ns), &nobody, &nobody, &plain);
    }
    qsort(plans, n_plans, sizeof *plans, compare_times);
}

static void write_mixed(const settings *set, frame_writer *writer) {
    frame made;
    plan_mixed(set);
    for (size_t i = 0; i < n_plans; i++) {
        if (set->loss != 0 && random_below(100) < set->loss) continue;
        plan_frame(&plans[i], &made);
        writer_put(writer, &made, plans[i].time_ns);
    }
    uint64_t established = counts[FATE_CLOSED] + counts[FATE_OPEN] + counts[FATE_RESET],
             all = n_scan_attempts;
    for (unsigned i = 0; i < N_FATES; i++) all += counts[i];
    printf("{\"packets\":%llu,\"tcp\":%llu,\"established\":%llu",
           (unsigned long long)writer_packets(writer), (unsigned long long)all,
           (unsigned long long)established);
    for (unsigned i = 0; i < N_FATES; i++)
        printf(",\"%s\":%llu", fate_names[i], (unsigned long long)counts[i]);
    printf(",\"reused\":%llu,\"scans\":%llu,\"scan_attempts\":%llu,\"dns\":%llu,\"dns_unanswered\":"
           "%llu,\"echoes\":%llu}\n",
           (unsigned long long)n_reused, (unsigned long long)set->scans,
           (unsigned long long)n_scan_attempts, (unsigned long long)n_dns,
           (unsigned long long)n_unanswered, (unsigned long long)n_echoes);
    free(plans);
}

/* ------------------------------------------------------------------ bulk */

/* The ends of connection i, computed from its number. */
static void bulk_ends(uint64_t i, frame_end *ret_client, frame_end *ret_server,
                      frame_style *ret_style) {
    uint64_t const mixed = i * UINT64_C(0x9e3779b97f4a7c15) >> 40; /* 24 bits */
    *ret_style = (frame_style){ .version = i % 8 == 7 ? 6 : 4, .has_timestamps = true };
    *ret_client =
        make_end(ret_style, 10 + (unsigned)(i >> 24 & 0x3f), i, (uint16_t)(1024 + mixed % 60000));
    *ret_server = make_end(ret_style, 192, mixed % 4096, i % 4 == 0 ? 80 : 443);
}

static void bulk_put(frame_writer *writer, uint64_t i, bool is_client, unsigned flags,
                     uint32_t payload, uint64_t time_ns) {
    frame_end   client, server;
    frame_style style;
    frame       made;
    bulk_ends(i, &client, &server, &style);
    frame_tcp(&made, &style, is_client ? &client : &server, is_client ? &server : &client, flags,
              payload);
    writer_put(writer, &made, time_ns);
}

/* All connections open, then all exchange data in random order, then every second one closes. */
static void write_bulk(const settings *set, frame_writer *writer) {
    static const struct {
        bool    is_client;
        uint8_t flags;
    } begin[] = { { true, SYN }, { false, SYN | ACK }, { true, ACK } },
      end[] = { { true, FIN | ACK }, { false, FIN | ACK }, { true, ACK } };
    uint64_t const n = set->connections, total = n * (3 + set->packets) + n / 2 * 3;
    uint64_t const step_ns = set->seconds * 1000 * MS / total + 1;
    uint64_t       time_ns = BEGIN_NS;
    for (unsigned k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < n; i++)
            bulk_put(writer, i, begin[k].is_client, begin[k].flags, 0, time_ns += step_ns);
    }
    for (uint64_t i = 0; i < n * set->packets; i++) {
        bulk_put(writer, random_below(n), is_one_in(2), ACK, (uint32_t)random_below(64),
                 time_ns += step_ns);
    }
    for (unsigned k = 0; k < 3; k++) {
        for (uint64_t i = 0; i < n / 2; i++)
            bulk_put(writer, 2 * i, end[k].is_client, end[k].flags, 0, time_ns += step_ns);
    }
    printf("{\"packets\":%llu,\"tcp\":%llu,\"established\":%llu,\"closed\":%llu}\n",
           (unsigned long long)writer_packets(writer), (unsigned long long)n, (unsigned long long)n,
           (unsigned long long)(n / 2));
}

/* ------------------------------------------------------------------ flood */

static void flood_data(frame_writer *writer, const frame_end *from, const frame_end *to,
                       unsigned flags, uint32_t payload, uint64_t time_ns) {
    frame_style const style = { .version = 4 };
    frame             made;
    frame_tcp(&made, &style, from, to, flags, payload);
    writer_put(writer, &made, time_ns);
}

static void flood_put(frame_writer *writer, const frame_end *from, const frame_end *to,
                      unsigned flags, uint64_t time_ns) {
    flood_data(writer, from, to, flags, 0, time_ns);
}

/* `connections` packets from random addresses, and among them `packets` real connections to the
 * same server. */
static void write_flood(const settings *set, frame_writer *writer) {
    frame_style const style = { .version = 4 };
    frame_end const   server = make_end(&style, 192, 1, 80);
    uint64_t const    each = set->connections / (set->packets + 1) + 1;
    uint64_t const    step_ns = set->seconds * 1000 * MS / set->connections + 1;
    uint64_t          time_ns = BEGIN_NS, n_real = 0;
    for (uint64_t i = 1; i <= set->connections; i++) {
        uint64_t const  any = random_next() >> 20;
        frame_end const source =
            make_end(&style, 11 + (unsigned)(any >> 24 & 0x7f), any, (uint16_t)(any >> 28 | 1024));
        flood_data(writer, &source, &server, (unsigned)set->flags, (uint32_t)set->payload,
                   time_ns += step_ns);
        if (i % each != 0) continue;
        frame_end const client = make_end(&style, 10, n_real++, 40000);
        flood_put(writer, &client, &server, SYN, time_ns += step_ns);
        flood_put(writer, &server, &client, SYN | ACK, time_ns += step_ns);
        flood_put(writer, &client, &server, ACK, time_ns += step_ns);
    }
    for (uint64_t i = 0; i < n_real; i++) {
        frame_end const client = make_end(&style, 10, i, 40000);
        flood_put(writer, &client, &server, FIN | ACK, time_ns += step_ns);
        flood_put(writer, &server, &client, FIN | ACK, time_ns += step_ns);
        flood_put(writer, &client, &server, ACK, time_ns += step_ns);
    }
    printf("{\"packets\":%llu,\"%s\":%llu,\"closed\":%llu}\n",
           (unsigned long long)writer_packets(writer), set->flags == SYN ? "half_open" : "flood",
           (unsigned long long)set->connections, (unsigned long long)n_real);
}

/* ------------------------------------------------------------------ the command line */

static void set_option(settings *set, const char *word) {
    const struct {
        const char *name;
        uint64_t   *value;
    } numbers[] = { { "seed=", &set->seed },       { "connections=", &set->connections },
                    { "packets=", &set->packets }, { "loss=", &set->loss },
                    { "scans=", &set->scans },     { "snapshot=", &set->snapshot },
                    { "seconds=", &set->seconds }, { "flags=", &set->flags },
                    { "payload=", &set->payload } };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        size_t const n = strlen(numbers[i].name);
        if (strncmp(word, numbers[i].name, n) != 0) continue;
        *numbers[i].value = strtoull(word + n, NULL, 10);
        return;
    }
    if (strncmp(word, "format=", 7) == 0) {
        set->format = word + 7;
        return;
    }
    fprintf(stderr, "make_capture: unknown option '%s'\n", word);
    exit(2);
}

static frame_format parse_format(const char *name) {
    static const char *const names[] = { "micro", "nano", "swapped", "ng" };
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0) return (frame_format)i;
    }
    fprintf(stderr, "make_capture: the format must be micro, nano, swapped or ng\n");
    exit(2);
}

int main(int argc, char **argv) {
    settings set = { .seed = 1,
                     .connections = 1000,
                     .packets = 5,
                     .scans = 2,
                     .snapshot = 262144,
                     .seconds = 60,
                     .flags = SYN,
                     .format = "micro" };
    if (argc < 3) {
        fprintf(stderr, "usage: make_capture mixed|bulk|flood FILE [option=value ...]\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) set_option(&set, argv[i]);
    random_state = set.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    frame_writer *const writer = writer_open(argv[2], parse_format(set.format), set.snapshot, 1);
    if (writer == NULL) {
        fprintf(stderr, "make_capture: %s: %s\n", argv[2], strerror(errno));
        return 2;
    }
    if (strcmp(argv[1], "bulk") == 0)
        write_bulk(&set, writer);
    else if (strcmp(argv[1], "flood") == 0)
        write_flood(&set, writer);
    else
        write_mixed(&set, writer);
    return writer_close(writer) ? 0 : 2;
}
