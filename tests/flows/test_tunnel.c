/* test_tunnel.c - packets in packets: the flow in a tunnel is found, and what is no tunnel is not;
 * and the flow that an ICMP error is about. */
#include "unit.h"

#include "frames.h"
#include "packet.h"

#define ETHERNET 1
#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define PROTOCOL_AT (ETHERNET_BYTES + 9)

static const frame_style plain4 = { .version = 4 }, plain6 = { .version = 6 };

static const frame_end client = { .address = { 10, 0, 0, 1 }, .port = 40000 };
static const frame_end server = { .address = { 10, 0, 0, 2 }, .port = 443 };
static const frame_end left = { .address = { 192, 0, 2, 1 }, .port = 55555 };

/* What is put before the inner packet, and where the inner packet begins: with its Ethernet header
 * or with IP. */
typedef struct tunnel_case {
    const char *name;
    uint8_t     protocol; /* of the outer IP */
    uint16_t    port;     /* of UDP */
    bool        has_ethernet;
    size_t      n;
    uint8_t     header[40];
} tunnel_case;

static const tunnel_case cases[] = {
    { "GRE", 47, 0, false, 4, { 0, 0, 0x08, 0x00 } },
    { "GRE with checksum, key and number", 47, 0, false, 16, { 0xb0, 0, 0x08, 0x00 } },
    { "GRE with Ethernet", 47, 0, true, 8, { 0x20, 0, 0x65, 0x58, 1, 2, 3, 4 } },
    { "PPTP", 47, 0, false, 20, { 0x30, 0x81, 0x88, 0x0b, 0, 9, 0,    1, 0, 0,
                                  0,    1,    0,    0,    0, 1, 0xff, 3, 0, 0x21 } },
    { "ERSPAN 1", 47, 0, true, 4, { 0, 0, 0x88, 0xbe } },
    { "ERSPAN 2", 47, 0, true, 16, { 0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1 } },
    { "ERSPAN 3", 47, 0, true, 20, { 0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1 } },
    { "ERSPAN 3 with more", 47, 0, true, 28, { 0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 1,
                                               0,    0, 0,    0,    0, 0, 0, 0, 0,    1 } },
    { "EtherIP", 97, 0, true, 2, { 0x30, 0 } },
    { "MPLS in IP", 137, 0, false, 4, { 0, 0, 0x11, 64 } },
    { "MPLS, pseudowire", 137, 0, true, 4, { 0, 0, 0x11, 64 } },
    { "MPLS, pseudowire with a control word", 137, 0, true, 8, { 0, 0, 0x11, 64, 0, 0, 0, 1 } },
    { "L2TP 3 over IP", 115, 0, true, 8, { 0, 0, 0, 7, 0, 0, 0, 0 } },
    { "L2TP 3 over IP with a cookie", 115, 0, true, 16, { 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8 } },
    { "VXLAN", 17, 4789, true, 8, { 0x08, 0, 0, 0, 0, 0, 5, 0 } },
    { "VXLAN of Linux", 17, 8472, true, 8, { 0x08, 0, 0, 0, 0, 0, 5, 0 } },
    { "VXLAN with a type", 17, 4790, false, 8, { 0x0c, 0, 0, 1, 0, 0, 5, 0 } },
    { "Geneve", 17, 6081, true, 8, { 0, 0, 0x65, 0x58, 0, 0, 5, 0 } },
    { "Geneve with options and IP", 17, 6081, false, 16, { 2, 0, 0x08, 0x00, 0, 0, 5, 0 } },
    { "GTP-U", 17, 2152, false, 8, { 0x30, 255, 0, 40, 0, 0, 0, 1 } },
    { "GTP-U with an extension",
      17,
      2152,
      false,
      16,
      { 0x34, 255, 0, 48, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0 } },
    { "L2TP 2", 17, 1701, false, 10, { 0x00, 0x02, 0, 1, 0, 2, 0xff, 0x03, 0, 0x21 } },
    { "L2TP 2 with all fields",
      17,
      1701,
      false,
      18,
      { 0x4a, 0x02, 0, 60, 0, 1, 0, 2, 0, 0, 0, 0, 0, 2, 9, 9, 0, 0x21 } },
    { "L2TP 3 over UDP", 17, 1701, true, 12, { 0, 3, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0 } },
    { "MPLS in UDP", 17, 6635, false, 4, { 0, 0, 0x11, 64 } },
};

/* An outer packet whose contents after its IPv4 header are `bytes`. */
static void make_outer(frame *ret_frame, const tunnel_case *c, const uint8_t *bytes, size_t n) {
    frame_end const right = { .address = { 192, 0, 2, 2 }, .port = c->port };
    bool const      is_udp = c->protocol == 17;
    frame_udp(ret_frame, &plain4, &left, &right, is_udp ? n : n - UDP_BYTES);
    uint8_t *const begin = ret_frame->bytes + ETHERNET_BYTES + IPV4_BYTES;
    memcpy(is_udp ? begin + UDP_BYTES : begin, bytes, n);
    ret_frame->bytes[PROTOCOL_AT] = c->protocol;
}

static void put_into(frame *ret_frame, const tunnel_case *c, const frame *inner) {
    uint8_t      bytes[FRAME_BYTES];
    size_t const skipped = c->has_ethernet ? 0 : ETHERNET_BYTES;
    memcpy(bytes, c->header, c->n);
    memcpy(bytes + c->n, inner->bytes + skipped, inner->n - skipped);
    make_outer(ret_frame, c, bytes, c->n + inner->n - skipped);
}

/* Parse a copy that ends at the end of a page, so that reading beyond it crashes. */
static packet_skip parse_fenced(const frame *f, size_t captured, packet *ret_packet) {
    fenced memory = fenced_new(captured);
    memcpy(memory.bytes, f->bytes, captured);
    packet_skip const skip = packet_parse(memory.bytes, captured, f->n, ETHERNET, ret_packet);
    fenced_free(&memory);
    return skip;
}

static void assert_inner(const packet *p, const char *name) {
    bool const is_right = p->flow.protocol == PROTOCOL_TCP && p->flow.port[0] == 40000 &&
                          p->flow.port[1] == 443 && p->flags == SYN && p->payload_bytes == 11 &&
                          p->flow.address[0][0] == 10 && !p->is_from_high;
    if (!is_right) print_error("%s: protocol %u\n", name, p->flow.protocol);
    assert_true(is_right);
}

/* A SYN of assert_inner() in the tunnel of case i. */
static void put_syn_into(frame *ret_outer, size_t i) {
    frame inner;
    frame_tcp(&inner, &plain4, &client, &server, SYN, 11);
    put_into(ret_outer, &cases[i], &inner);
}

static void flows_in_tunnels_are_found(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        frame  outer;
        packet p;
        put_syn_into(&outer, i);
        assert_int_equal(parse_fenced(&outer, outer.n, &p), PACKET_TAKEN);
        assert_inner(&p, cases[i].name);
    }
}

/* Cut anywhere, a packet is known as before, or not at all: never as the flow outside. */
static void cut_tunnels_are_not_taken_for_the_flow_outside(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        frame  outer;
        packet p;
        put_syn_into(&outer, i);
        for (size_t captured = 0; captured < outer.n; captured++) {
            packet_skip const skip = parse_fenced(&outer, captured, &p);
            assert_true(skip == PACKET_CUT || skip == PACKET_TAKEN);
            if (skip == PACKET_TAKEN) assert_inner(&p, cases[i].name);
        }
    }
}

/* The port or the protocol of a tunnel, and other contents. */
static void other_contents_belong_to_the_flow_outside(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t bytes[120];
        frame   outer;
        packet  p;
        memset(bytes, 0xee, sizeof bytes);
        make_outer(&outer, &cases[i], bytes, sizeof bytes);
        assert_int_equal(parse_fenced(&outer, outer.n, &p), PACKET_TAKEN);
        assert_int_equal(p.flow.protocol, cases[i].protocol);
        assert_int_equal(p.flow.address[0][0], 192);
        if (cases[i].protocol == 17)
            assert_true(p.flow.port[0] == 55555 || p.flow.port[1] == 55555);
    }
}

/* Tunnels in tunnels are followed four deep. Then the flow is that of the fifth. */
static void depth_is_bounded(void **state) {
    (void)state;
    const tunnel_case *const vxlan = &cases[14];
    frame                    f, next;
    packet                   p;
    frame_tcp(&f, &plain4, &client, &server, SYN, 11);
    for (unsigned depth = 1; depth <= 6; depth++) {
        put_into(&next, vxlan, &f);
        f = next;
        assert_int_equal(parse_fenced(&f, f.n, &p), PACKET_TAKEN);
        assert_int_equal(p.flow.protocol, depth <= 4 ? PROTOCOL_TCP : PROTOCOL_UDP);
        assert_int_equal(p.flow.port[p.flow.protocol == PROTOCOL_UDP ? 1 : 0],
                         depth <= 4 ? 40000 : 4789);
    }
}

/* IPv6 and tags inside. */
static void inner_packets_may_have_any_form(void **state) {
    (void)state;
    frame_style const tagged = { .version = 6, .n_tags = 2, .has_options = true };
    frame             inner, outer;
    packet            p;
    frame_tcp(&inner, &tagged, &client, &server, SYN, 11);
    put_into(&outer, &cases[14], &inner);
    assert_int_equal(parse_fenced(&outer, outer.n, &p), PACKET_TAKEN);
    assert_int_equal(p.flow.version, 6);
    assert_int_equal(p.payload_bytes, 11);
    frame_tcp(&inner, &plain6, &client, &server, SYN, 11);
    put_into(&outer, &cases[19], &inner); /* GTP-U */
    assert_int_equal(parse_fenced(&outer, outer.n, &p), PACKET_TAKEN);
    assert_int_equal(p.flow.version, 6);
}

/* ------------------------------------------------------------------ quotes */

/* An ICMP error with the first bytes of a packet. */
static bool quote(const frame *inner, uint8_t type, uint8_t code, size_t n, packet *ret_quoted) {
    static const tunnel_case icmp = { "ICMP", PROTOCOL_ICMP, 0, false, 0, { 0 } };
    uint8_t                  bytes[FRAME_BYTES] = { type, code };
    frame                    outer;
    packet                   p;
    memcpy(bytes + 8, inner->bytes + ETHERNET_BYTES, n);
    make_outer(&outer, &icmp, bytes, 8 + n);
    assert_int_equal(packet_parse(outer.bytes, outer.n, outer.n, ETHERNET, &p), PACKET_TAKEN);
    assert_int_equal(p.flow.protocol, PROTOCOL_ICMP);
    return packet_quoted(&p, ret_quoted);
}

/* The quote counts as sent by the end that the packet did not reach. */
static void quoted_flows_are_found(void **state) {
    (void)state;
    frame  inner;
    packet p, itself;
    frame_tcp(&inner, &plain4, &client, &server, SYN, 11);
    assert_int_equal(packet_parse(inner.bytes, inner.n, inner.n, ETHERNET, &itself), PACKET_TAKEN);
    assert_true(quote(&inner, 3, 1, IPV4_BYTES + 8, &p));
    assert_memory_equal(&p.flow, &itself.flow, sizeof p.flow);
    assert_true(p.is_quoted && p.is_from_high != itself.is_from_high && p.type == 3);
    assert_true(quote(&inner, 11, 0, inner.n - ETHERNET_BYTES, &p));
    frame_udp(&inner, &plain4, &client, &server, 100);
    assert_true(quote(&inner, 3, 3, IPV4_BYTES + 8, &p));
    assert_int_equal(p.flow.protocol, PROTOCOL_UDP);
}

static void other_icmp_quotes_nothing(void **state) {
    (void)state;
    frame  inner;
    packet p;
    frame_tcp(&inner, &plain4, &client, &server, SYN, 11);
    assert_false(quote(&inner, 3, 4, IPV4_BYTES + 8, &p)); /* too large: no failure */
    assert_false(quote(&inner, 8, 0, IPV4_BYTES + 8, &p)); /* an echo request */
    assert_false(quote(&inner, 5, 0, IPV4_BYTES + 8, &p)); /* a redirect */
    for (size_t n = 0; n < IPV4_BYTES + 4; n++) assert_false(quote(&inner, 3, 1, n, &p));
    frame_echo(&inner, &plain4, &client, &server, false);
    assert_false(quote(&inner, 3, 1, IPV4_BYTES + 8, &p)); /* of no TCP or UDP */
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_in_tunnels_are_found),
        cmocka_unit_test(cut_tunnels_are_not_taken_for_the_flow_outside),
        cmocka_unit_test(other_contents_belong_to_the_flow_outside),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(inner_packets_may_have_any_form),
        cmocka_unit_test(quoted_flows_are_found),
        cmocka_unit_test(other_icmp_quotes_nothing),
    };
    return cmocka_run_group_tests_name("tunnel", tests, NULL, NULL);
}
