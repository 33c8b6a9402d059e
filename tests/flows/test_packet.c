/* test_packet.c - the packet parser: what it finds, and that it never reads beyond the packet. */
#include "unit.h"

#include "frames.h"
#include "link.h"
#include "packet.h"

#define ETHERNET 1
#define ETHERNET_BYTES 14

static const frame_style plain4 = { .version = 4 }, plain6 = { .version = 6 };

static frame_end make_frame_end(unsigned last, uint16_t port) {
    frame_end end = { .port = port };
    for (unsigned i = 0; i < 16; i++) end.address[i] = (uint8_t)(i + 1);
    end.address[3] = end.address[15] = (uint8_t)last;
    return end;
}

/* Parse a copy that ends at the end of a page, so that reading beyond it crashes. */
static packet_skip parse_fenced(const uint8_t *bytes, size_t captured, size_t on_wire,
                                int link_type, packet *ret_packet) {
    fenced memory = fenced_new(captured);
    memcpy(memory.bytes, bytes, captured);
    packet_skip const skip = packet_parse(memory.bytes, captured, on_wire, link_type, ret_packet);
    fenced_free(&memory);
    return skip;
}

static packet must_parse(const frame *f) {
    packet p;
    memset(&p, 0x5a, sizeof p);
    assert_int_equal(parse_fenced(f->bytes, f->n, f->n, ETHERNET, &p), PACKET_TAKEN);
    return p;
}

#define assert_same_packet(p, q) assert_memory_equal(p, q, offsetof(packet, transport))

static packet_skip parse_status(const frame *f) {
    packet p;
    return parse_fenced(f->bytes, f->n, f->n, ETHERNET, &p);
}

/* ------------------------------------------------------------------ what it finds */

static void tcp_flags_ports_and_payload_are_found(void **state) {
    (void)state;
    frame_end const client = make_frame_end(1, 40000), server = make_frame_end(2, 443);
    for (unsigned flags = 0; flags < 256; flags++) {
        frame made;
        frame_tcp(&made, flags % 2 == 0 ? &plain4 : &plain6, &client, &server, flags, flags);
        packet const p = must_parse(&made);
        assert_int_equal(p.flags, flags);
        assert_int_equal(p.payload_bytes, flags);
        assert_int_equal(p.flow.protocol, PROTOCOL_TCP);
        assert_int_equal(p.flow.version, flags % 2 == 0 ? 4 : 6);
        assert_int_equal(p.flow.port[0], 40000);
        assert_int_equal(p.flow.port[1], 443);
        assert_false(p.is_from_high);
    }
}

static void both_directions_have_the_same_tuple(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 2000; i++) {
        frame_style const style = { .version = i % 2 == 0 ? 4 : 6 };
        frame_end const   a =
            make_frame_end((unsigned)dice_below(&random, 3), (uint16_t)dice_below(&random, 3));
        frame_end const b =
            make_frame_end((unsigned)dice_below(&random, 3), (uint16_t)dice_below(&random, 3));
        frame there, back;
        frame_tcp(&there, &style, &a, &b, SYN, 0);
        frame_tcp(&back, &style, &b, &a, ACK, 0);
        packet const p = must_parse(&there), q = must_parse(&back);
        assert_memory_equal(&p.flow, &q.flow, sizeof p.flow);
        bool const is_same_end = memcmp(&a, &b, sizeof a) == 0;
        assert_true(is_same_end || p.is_from_high != q.is_from_high);
    }
}

static void each_end_has_its_own_address(void **state) {
    (void)state;
    frame_end const low = make_frame_end(1, 9), high = make_frame_end(200, 5);
    frame           made;
    frame_udp(&made, &plain4, &high, &low, 10);
    packet const p = must_parse(&made);
    assert_true(p.is_from_high);
    assert_memory_equal(p.flow.address[0], low.address, 4);
    assert_memory_equal(p.flow.address[1], high.address, 4);
    for (unsigned i = 4; i < 16; i++)
        assert_int_equal(p.flow.address[0][i] | p.flow.address[1][i], 0);
    assert_int_equal(p.flow.port[0], 9);
    assert_int_equal(p.flow.port[1], 5);
    assert_int_equal(p.payload_bytes, 10);
}

static void tags_options_and_extensions_change_nothing(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1000), b = make_frame_end(2, 80);
    for (unsigned i = 0; i < 24; i++) {
        frame_style const bare = { .version = i % 2 == 0 ? 4 : 6 };
        frame_style const style = { .version = bare.version,
                                    .n_tags = i / 2 % 3,
                                    .has_options = i / 6 % 2 != 0,
                                    .has_timestamps = i / 12 != 0 };
        frame             one, other;
        frame_tcp(&one, &bare, &a, &b, PSH | ACK, 77);
        frame_tcp(&other, &style, &a, &b, PSH | ACK, 77);
        packet const p = must_parse(&one), q = must_parse(&other);
        assert_same_packet(&p, &q);
    }
}

/* Wrap the IP packet of a frame into another IP packet. */
static void put_into_tunnel(frame *f, const frame_style *outer) {
    frame_end const a = make_frame_end(70, 0), b = make_frame_end(71, 0);
    frame           made;
    size_t const    inner = f->n - ETHERNET_BYTES;
    uint8_t const   inner_version = f->bytes[ETHERNET_BYTES] >> 4;
    frame_udp(&made, outer, &a, &b, inner - 8);
    made.bytes[ETHERNET_BYTES + (outer->version == 4 ? 9 : 6)] = inner_version == 4 ? 4 : 41;
    memcpy(made.bytes + made.n - inner, f->bytes + ETHERNET_BYTES, inner);
    *f = made;
}

static void ip_in_ip_is_the_inner_flow(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1000), b = make_frame_end(2, 80);
    for (unsigned i = 0; i < 4; i++) {
        const frame_style *const inner = i % 2 == 0 ? &plain4 : &plain6;
        const frame_style *const outer = i / 2 == 0 ? &plain4 : &plain6;
        frame                    bare, made;
        frame_tcp(&bare, inner, &a, &b, PSH | ACK, 77);
        made = bare;
        packet const expected = must_parse(&bare);
        for (unsigned depth = 1; depth <= 4; depth++) {
            put_into_tunnel(&made, outer);
            packet const p = must_parse(&made);
            assert_same_packet(&p, &expected);
        }
        put_into_tunnel(&made, outer);
        assert_int_equal(must_parse(&made).flow.port[0], 0); /* deeper ones are not unwrapped */
    }
}

static void echoes_and_their_answers_are_one_flow(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const frame_style *const style = i == 0 ? &plain4 : &plain6;
        frame_end const          a = make_frame_end(1, 77), b = make_frame_end(2, 77);
        frame                    there, back;
        frame_echo(&there, style, &a, &b, false);
        frame_echo(&back, style, &b, &a, true);
        packet const p = must_parse(&there), q = must_parse(&back);
        assert_memory_equal(&p.flow, &q.flow, sizeof p.flow);
        assert_int_equal(p.flow.extra, 77);
        assert_int_equal(p.flow.port[0] | p.flow.port[1], 0); /* an identifier is not a port */
        assert_int_equal(p.type, i == 0 ? 8 : 128);
        assert_int_equal(q.type, i == 0 ? 0 : 129);
    }
}

static void first_fragments_have_ports_and_later_ones_are_skipped(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        frame_style const style = { .version = i % 2 == 0 ? 4 : 6, .has_options = i / 2 != 0 };
        frame_end const   a = make_frame_end(1, 5000), b = make_frame_end(2, 6000);
        frame             first, second;
        frame_fragment(&first, &style, &a, &b, 1800, false);
        frame_fragment(&second, &style, &a, &b, 1800, true);
        packet const p = must_parse(&first);
        assert_true(p.is_fragment);
        assert_int_equal(p.flow.port[0], 5000);
        assert_int_equal(p.payload_bytes, 1000);
        assert_int_equal(parse_status(&second), PACKET_FRAGMENT);
    }
}

static void other_protocols_are_flows_without_ports(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1), b = make_frame_end(2, 2);
    frame           made;
    frame_udp(&made, &plain4, &a, &b, 30);
    made.bytes[ETHERNET_BYTES + 9] = 47; /* GRE */
    packet const p = must_parse(&made);
    assert_int_equal(p.flow.protocol, 47);
    assert_int_equal(p.flow.port[0] | p.flow.port[1], 0);
    made.bytes[ETHERNET_BYTES + 9] = 132; /* SCTP */
    assert_int_equal(must_parse(&made).flow.port[1], 2);
}

static void an_ip_length_of_zero_means_the_whole_rest(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1), b = make_frame_end(2, 2);
    frame           made;
    for (unsigned i = 0; i < 2; i++) {
        frame_tcp(&made, i == 0 ? &plain4 : &plain6, &a, &b, ACK, 500);
        memset(made.bytes + ETHERNET_BYTES + (i == 0 ? 2 : 4), 0, 2);
        assert_int_equal(must_parse(&made).payload_bytes, 500);
    }
}

/* ------------------------------------------------------------------ why packets are skipped */

static void packets_other_than_ip_are_skipped(void **state) {
    (void)state;
    frame made;
    frame_arp(&made);
    assert_int_equal(parse_status(&made), PACKET_NOT_IP);
    made.bytes[12] = 0; /* a length, and then LLC: spanning tree */
    made.bytes[13] = 38;
    made.bytes[14] = made.bytes[15] = 0x42;
    assert_int_equal(parse_status(&made), PACKET_NOT_IP);
}

/* One byte of a good packet is changed. Why is the packet skipped? */
static void malformed_headers_are_skipped_for_the_right_reason(void **state) {
    (void)state;
    static const struct {
        bool        is_tcp;
        uint8_t     version;
        unsigned    at; /* from the beginning of IP */
        uint8_t     value;
        packet_skip why;
    } cases[] = {
        { true, 4, 0, 0x15, PACKET_BAD_IP },         /* version 1 */
        { true, 4, 0, 0x44, PACKET_BAD_IP },         /* a header of 16 bytes */
        { true, 4, 3, 19, PACKET_BAD_IP },           /* 19 bytes in all */
        { true, 4, 3, 30, PACKET_SHORT_TRANSPORT },  /* 10 bytes of TCP */
        { true, 4, 0, 0x4f, PACKET_BAD_IP },         /* a header of 60 bytes, more than in all */
        { true, 4, 32, 0x40, PACKET_BAD_TRANSPORT }, /* a TCP header of 16 bytes */
        { true, 4, 32, 0xf0, PACKET_BAD_TRANSPORT }, /* of 60 bytes, of which 20 exist */
        { false, 4, 25, 7, PACKET_BAD_TRANSPORT },   /* a UDP datagram of 7 bytes */
        { true, 6, 5, 12, PACKET_SHORT_TRANSPORT },  /* 12 bytes after the header */
        { true, 6, 6, 0, PACKET_SHORT_IP },          /* an extension header, longer than the rest */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const frame_style *const style = cases[i].version == 4 ? &plain4 : &plain6;
        frame_end const          a = make_frame_end(1, 0x1234), b = make_frame_end(2, 80);
        frame                    made;
        if (cases[i].is_tcp)
            frame_tcp(&made, style, &a, &b, ACK, 0);
        else
            frame_udp(&made, style, &a, &b, 4);
        made.bytes[ETHERNET_BYTES + (cases[i].at == 3 ? 2 : cases[i].at)] = 0;
        made.bytes[ETHERNET_BYTES + cases[i].at] = cases[i].value;
        packet_skip const skip = parse_status(&made);
        if (skip != cases[i].why) print_error("case %zu: %s\n", i, packet_skip_text(skip));
        assert_int_equal(skip, cases[i].why);
    }
}

static void too_many_tags_or_extensions_are_refused(void **state) {
    (void)state;
    frame made = { .n = 12 };
    while (made.n < 200) {
        static const uint8_t tag[4] = { 0x81, 0x00, 0, 1 };
        memcpy(made.bytes + made.n, tag, 4);
        made.n += 4;
    }
    assert_int_equal(parse_status(&made), PACKET_BAD_LINK);
    frame_end const a = make_frame_end(1, 1), b = make_frame_end(2, 2);
    frame_udp(&made, &plain6, &a, &b, 400);
    memset(made.bytes + ETHERNET_BYTES + 40, 0,
           408); /* hop-by-hop headers of 8 bytes, 51 of them */
    made.bytes[ETHERNET_BYTES + 6] = 0;
    assert_int_equal(parse_status(&made), PACKET_BAD_EXTENSIONS);
}

/* ------------------------------------------------------------------ link types */

/* Link headers before IPv4, as text for hex_read(). */
static const struct {
    int         link_type;
    const char *header;
} links[] = {
    { 0, "02000000" },                                                 /* NULL, little-endian */
    { 0, "00000002" },                                                 /* NULL, big-endian */
    { 108, "00000002" },                                               /* LOOP */
    { 1, "0200000000010200000000020800" },                             /* Ethernet */
    { 1, "02000000000102000000000288a80064810000650800" },             /* QinQ */
    { 1, "0200000000010200000000020040aaaa030000000800" },             /* 802.3, LLC, SNAP */
    { 1, "02000000000102000000000288470001403f0001403f0001413f" },     /* MPLS */
    { 1, "020000000001020000000002886411000001002a0021" },             /* PPPoE */
    { 6, "1040020000000001020000000002aaaa030000000800" },             /* token ring */
    { 6, "1040020000000001820000000002063000210020aaaa030000000800" }, /* with a route */
    { 9, "0021" },
    { 9, "ff030021" },
    { 9, "21" },
    { 9, "0f000800" },                                    /* Cisco HDLC */
    { 10, "50020000000001020000000002aaaa030000000800" }, /* FDDI */
    { 11, "aaaa030000000800" },
    { 12, "" },
    { 14, "" },
    { 19, "aaaa030000000800" },
    { 50, "ff030021" },
    { 50, "8f000800" }, /* broadcast */
    { 51, "11000001002a0021" },
    { 100, "aaaa030000000800" },
    { 101, "" },
    { 104, "0f000800" },
    { 105, "0801 z22 aaaa030000000800" },
    { 105, "8801 z24 aaaa030000000800" }, /* QoS */
    { 106, "aaaa030000000800" },
    { 107, "184103cc" },
    { 107, "18410300800000000800" },
    { 109, "020000000000000000000000" },
    { 113, "00000001000602000000000100000800" },
    { 117, "3d02 z62" },
    { 119, "8021100100000040 z56 0801 z22 aaaa030000000800" },
    { 119, "00000044 z140 0801 z22 aaaa030000000800" }, /* the older form */
    { 122, "10000200000000011000020000000002aaaa030000000800" },
    { 127, "0000080000000000 0801 z22 aaaa030000000800" },
    { 163, "8021100100000040 z56 0801 z22 aaaa030000000800" },
    { 166, "ff030021" },
    { 192, "00000800010000000200000000010200000000020800" }, /* PPI around Ethernet */
    { 204, "01ff030021" },
    { 219, "0001413f" },
    { 228, "" },
    { 239, "0200000008000100aabbccdd04000900" },
    { 240, "000000000200000000010200000000020800" },
    { 241, "00000000 55555555555555d50200000000010200000000020800" },
    { 242, "z40 08000000" },
    { 274, "55555555555555d50200000000010200000000020800" },
    { 276, "0800000000000002000100060200000000010000" },
};

/* Read hexadecimal digits. A word like z22 stands for 22 zero bytes. */
static size_t hex_read(const char *text, uint8_t *ret_bytes) {
    size_t n = 0;
    while (*text != '\0') {
        char *end = NULL;
        if (*text == ' ') {
            text++;
        } else if (*text == 'z') {
            size_t const zeros = strtoul(text + 1, &end, 10);
            memset(ret_bytes + n, 0, zeros);
            n += zeros;
            text = end;
        } else {
            char const digits[3] = { text[0], text[1], '\0' };
            ret_bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
            text += 2;
        }
    }
    return n;
}

/* A link header of the list, followed by IP. */
static void wrap_in_link(size_t i, frame *ret_frame) {
    frame_end const a = make_frame_end(1, 1000), b = make_frame_end(2, 80);
    frame           inner;
    frame_tcp(&inner, &plain4, &a, &b, SYN, 60);
    ret_frame->n = hex_read(links[i].header, ret_frame->bytes);
    memcpy(ret_frame->bytes + ret_frame->n, inner.bytes + ETHERNET_BYTES, inner.n - ETHERNET_BYTES);
    ret_frame->n += inner.n - ETHERNET_BYTES;
}

static void every_link_type_leads_to_the_same_packet(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1000), b = make_frame_end(2, 80);
    frame           made;
    frame_tcp(&made, &plain4, &a, &b, SYN, 60);
    packet const expected = must_parse(&made);
    for (size_t i = 0; i < COUNT(links); i++) {
        packet p;
        wrap_in_link(i, &made);
        packet_skip const skip = parse_fenced(made.bytes, made.n, made.n, links[i].link_type, &p);
        if (skip != PACKET_TAKEN)
            print_error("link type %d, row %zu: %s\n", links[i].link_type, i,
                        packet_skip_text(skip));
        assert_int_equal(skip, PACKET_TAKEN);
        assert_same_packet(&p, &expected);
    }
}

static void every_supported_link_type_is_tested(void **state) {
    (void)state;
    for (size_t i = 0; link_type_at(i) >= 0; i++) {
        bool is_tested = link_type_at(i) == 229; /* IPv6 only: the packets here are IPv4 */
        for (size_t j = 0; j < COUNT(links); j++)
            is_tested |= links[j].link_type == link_type_at(i);
        if (!is_tested) print_error("link type %d\n", link_type_at(i));
        assert_true(is_tested);
    }
}

static void unknown_link_types_are_reported(void **state) {
    (void)state;
    frame made;
    wrap_in_link(0, &made);
    packet p;
    assert_int_equal(packet_parse(made.bytes, made.n, made.n, 147, &p), PACKET_UNKNOWN_LINK_TYPE);
    assert_int_equal(packet_parse(made.bytes, made.n, made.n, -1, &p), PACKET_UNKNOWN_LINK_TYPE);
}

/* ------------------------------------------------------------------ never beyond the packet */

/* At every length: a packet that the capture cut off is "cut". One that ends there is short or
 * malformed. */
static void packets_cut_at_every_byte_do_no_harm(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(links); i++) {
        frame  made;
        packet p;
        wrap_in_link(i, &made);
        for (size_t n = 0; n <= made.n; n++) {
            packet_skip const cut = parse_fenced(made.bytes, n, made.n, links[i].link_type, &p);
            packet_skip const ends = parse_fenced(made.bytes, n, n, links[i].link_type, &p);
            size_t const      needed = made.n - 60 - 6; /* up to the flags */
            bool const        is_fine = cut == PACKET_TAKEN || cut == PACKET_CUT;
            if (!is_fine) print_error("row %zu, %zu bytes: %s\n", i, n, packet_skip_text(cut));
            assert_true(is_fine);
            assert_true((cut == PACKET_TAKEN) == (n >= needed));
            assert_true(ends != PACKET_CUT);
        }
    }
}

static void cut_packets_have_the_same_sizes(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 1000), b = make_frame_end(2, 80);
    frame           made;
    frame_tcp(&made, &plain6, &a, &b, PSH | ACK, 1000);
    packet const whole = must_parse(&made);
    packet       p;
    assert_int_equal(parse_fenced(made.bytes, 96, made.n, ETHERNET, &p), PACKET_TAKEN);
    assert_same_packet(&p, &whole);
}

static void random_bytes_of_every_link_type_do_no_harm(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 60000; i++) {
        uint8_t      bytes[200];
        size_t const n = (size_t)dice_below(&random, sizeof bytes);
        packet       p;
        dice_fill(&random, bytes, n);
        int const link_type =
            i % 4 == 0 ? (int)dice_below(&random, 300) : links[i % COUNT(links)].link_type;
        (void)parse_fenced(bytes, n, n + (size_t)dice_below(&random, 3) * 100, link_type, &p);
    }
}

static void changed_packets_do_no_harm(void **state) {
    (void)state;
    dice random = dice_start();
    for (unsigned i = 0; i < 60000; i++) {
        frame  made;
        packet p;
        wrap_in_link(i % COUNT(links), &made);
        for (unsigned j = 0; j < 1 + dice_below(&random, 4); j++) {
            made.bytes[dice_below(&random, made.n)] = (uint8_t)dice_edge(&random);
        }
        size_t const captured =
            dice_below(&random, 3) == 0 ? (size_t)dice_below(&random, made.n + 1) : made.n;
        packet_skip const skip =
            parse_fenced(made.bytes, captured, made.n, links[i % COUNT(links)].link_type, &p);
        assert_true(skip < N_PACKET_SKIPS);
        if (skip == PACKET_TAKEN) assert_true(p.payload_bytes <= made.n);
    }
}

/* Plain TCP packets have a parser of their own. Without their Ethernet header they have not: what
 * is found in changed and cut packets must be the same. */
static void plain_packets_are_parsed_like_others(void **state) {
    (void)state;
    frame_end const a = make_frame_end(1, 40000), b = make_frame_end(2, 443);
    dice            random = dice_start();
    unsigned        n_taken = 0;
    for (unsigned i = 0; i < 200000; i++) {
        frame_style const style = { .version = i % 5 < 3 ? 4 : 6,
                                    .n_tags = i % 7 == 0,
                                    .has_timestamps = i % 2 == 0 };
        size_t const      link_bytes = ETHERNET_BYTES + 4 * style.n_tags;
        frame             made;
        packet            p, bare;
        frame_tcp(&made, &style, i % 3 == 0 ? &a : &b, i % 3 == 0 ? &b : &a,
                  (unsigned)dice_below(&random, 256), (size_t)dice_below(&random, 60));
        for (unsigned j = 0; j < dice_below(&random, 4); j++) /* the headers of IP and TCP */
            made.bytes[link_bytes + dice_below(&random, style.version == 4 ? 40 : 60)] =
                (uint8_t)dice_edge(&random);
        size_t const      cut = link_bytes + (size_t)dice_below(&random, made.n - link_bytes + 1);
        size_t const      captured = dice_below(&random, 2) == 0 ? cut : made.n;
        size_t const      on_wire = made.n + (size_t)dice_below(&random, 2) * 6; /* padding */
        packet_skip const skip = packet_parse(made.bytes, captured, on_wire, ETHERNET, &p);
        packet_skip const other = packet_parse(made.bytes + link_bytes, captured - link_bytes,
                                               on_wire - link_bytes, 12, &bare);
        assert_int_equal(skip == PACKET_TAKEN, other == PACKET_TAKEN);
        if (skip != PACKET_TAKEN) continue;
        n_taken++;
        assert_memory_equal(&p.flow, &bare.flow, sizeof p.flow);
        assert_true(p.is_from_high == bare.is_from_high && p.is_fragment == bare.is_fragment);
        assert_true(p.flags == bare.flags && p.type == bare.type);
        assert_int_equal(p.payload_bytes, bare.payload_bytes);
        assert_true(p.transport == bare.transport && p.transport_bytes == bare.transport_bytes);
        assert_int_equal(p.payload_at, bare.payload_at);
    }
    assert_true(n_taken > 50000);
}

static void reasons_have_different_names(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_PACKET_SKIPS; i++) {
        for (unsigned j = 0; j < i; j++) {
            assert_string_not_equal(packet_skip_name((packet_skip)i),
                                    packet_skip_name((packet_skip)j));
            assert_string_not_equal(packet_skip_text((packet_skip)i),
                                    packet_skip_text((packet_skip)j));
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp_flags_ports_and_payload_are_found),
        cmocka_unit_test(both_directions_have_the_same_tuple),
        cmocka_unit_test(each_end_has_its_own_address),
        cmocka_unit_test(tags_options_and_extensions_change_nothing),
        cmocka_unit_test(ip_in_ip_is_the_inner_flow),
        cmocka_unit_test(echoes_and_their_answers_are_one_flow),
        cmocka_unit_test(first_fragments_have_ports_and_later_ones_are_skipped),
        cmocka_unit_test(other_protocols_are_flows_without_ports),
        cmocka_unit_test(an_ip_length_of_zero_means_the_whole_rest),
        cmocka_unit_test(packets_other_than_ip_are_skipped),
        cmocka_unit_test(malformed_headers_are_skipped_for_the_right_reason),
        cmocka_unit_test(too_many_tags_or_extensions_are_refused),
        cmocka_unit_test(every_link_type_leads_to_the_same_packet),
        cmocka_unit_test(every_supported_link_type_is_tested),
        cmocka_unit_test(unknown_link_types_are_reported),
        cmocka_unit_test(packets_cut_at_every_byte_do_no_harm),
        cmocka_unit_test(cut_packets_have_the_same_sizes),
        cmocka_unit_test(random_bytes_of_every_link_type_do_no_harm),
        cmocka_unit_test(changed_packets_do_no_harm),
        cmocka_unit_test(plain_packets_are_parsed_like_others),
        cmocka_unit_test(reasons_have_different_names),
    };
    return unit_run("packet", tests, COUNT(tests));
}
