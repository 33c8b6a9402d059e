/* test_machine.c - machines: parsing, error messages, and which rule applies. */
#include "unit.h"

#include "machines.h"
#include "tracker.h"

/* ------------------------------------------------------------------ mistakes */

#define HEAD "machine m\nover tcp\nstate a timeout 5s\nstate b timeout 5s\n"
#define RULES "from new when any go a\nfrom a when any go b\n"

static const machine_mistake mistakes[] = {
    { "", 1, "expected 'machine' and its name, found the end of the file" },
    { "# nothing\n\n", 3, "found the end of the file" },
    { "machin m\n", 1,
      "expected 'machine', 'over', 'key', 'duplicates', 'state' or 'from', found 'machin'" },
    { "machine\n", 1, "expected a name after 'machine', found the end of the line" },
    { "machine \"m\"\n", 1, "expected a name after 'machine', found 'm'" },
    { "machine m \"title\" more\n", 1, "expected the end of the line, found 'more'" },
    { "machine m \"title\n", 1, "expected a closing quote" },
    { "machine m\nmachine n\n", 2, "a second 'machine': a file has only one" },
    { "machine m,n\n", 1, "expected the end of the line, found ','" },
    { "machine m!\n", 1, "expected a name of letters, digits, - and _, found 'm!'" },
    { "machine an-endless-name-that-never-comes-to-its-end\n", 1, "too long for a name" },
    { "machine m\nover ip\n", 2, "expected tcp, udp, icmp or any after 'over', found 'ip'" },
    { "machine m\nover udp port\n", 2, "expected a port or ports" },
    { "machine m\nover udp port 70000\n", 2, "found '70000'" },
    { "machine m\nover udp port 20-10\n", 2, "found '20-10'" },
    { "machine m\nstate a\n", 2, "expected 'timeout' after the name of the state, found the end" },
    { "machine m\nstate a timeout\n", 2, "expected a duration" },
    { "machine m\nstate a timeout 5\n", 2, "expected a duration from 1ms to 30d, as in 500ms" },
    { "machine m\nstate a timeout 0s\n", 2, "found '0s'" },
    { "machine m\nstate a timeout 31d\n", 2, "found '31d'" },
    { "machine m\nstate a timeout 99999999999999999999s\n", 2, "expected a duration" },
    { "machine m\nstate a timeout 5s halfopen\n", 2,
      "expected 'half-open', 'unconfirmed', 'ended', 'evictable', 'as' or the end" },
    { "machine m\nstate a timeout 5s as\n", 2, "expected a name after 'as'" },
    { "machine m\nstate a timeout 5s\nstate a timeout 6s\n", 3, "there is a state 'a' already" },
    { "machine m\nstate new timeout 5s\n", 2, "a state cannot be called 'new'" },
    { "machine m\n", 2, "expected a 'state', found the end of the file" },
    { HEAD, 5, "expected a rule 'from new ... go STATE'" },
    { HEAD "from x when any go a\n", 5, "there is no state 'x' above this line" },
    { "machine m\nstate established timeout 5s\nfrom new when any go estblished\n", 3,
      "did you mean 'established'?" },
    { HEAD "from\n", 5, "expected a state, found the end of the line" },
    { HEAD "from new go a\n", 5, "expected ',' or 'when', found 'go'" },
    { HEAD "from new when go a\n", 5, "expected a condition" },
    { HEAD "from new when syn ack go a\n", 5, "expected 'and', 'or' or 'go', found 'ack'" },
    { HEAD "from new when syn and go a\n", 5, "expected a condition" },
    { HEAD "from new when (syn go a\n", 5, "expected 'and', 'or' or ')', found 'go'" },
    { HEAD "from new when size 5 go a\n", 5,
      "expected one of < <= = >= > after 'size', found '5'" },
    { HEAD "from new when size > x go a\n", 5, "expected a number of bytes" },
    { HEAD "from new when port x go a\n", 5, "expected a port or ports" },
    { HEAD "from new when type 256 go a\n", 5, "expected an ICMP type" },
    { HEAD "from new when any go\n", 5, "expected a state" },
    { HEAD "from new when any go end\n", 5, "a new flow cannot end" },
    { HEAD "from new when any go a loudly\n", 5, "expected 'event', 'anomaly', 'opens'" },
    { HEAD "from new when any go a event\n", 5, "expected a name after 'event'" },
    { HEAD "from new when any go a anomaly odd\n", 5, "expected a quoted text after 'anomaly'" },
    { HEAD "from new when any go a event x event y\n", 5, "a second event" },
    { HEAD "from new when any go a\nfrom a when any go b reversed\n", 6,
      "'reversed' is for rules that open" },
    { HEAD "from new when any go a\nfrom a when any go stay opens\n", 6, "'opens' needs a state" },
    { HEAD "from new when any go a\n", 4, "no rule goes to the state 'b'" },
    { HEAD RULES "from a when syn go b\n", 7, "this rule never applies" },
    { HEAD RULES "from b when syn and not syn go a\n", 7, "this rule never applies" },
    { HEAD "from new when server go a\n" RULES, 5, "this rule never applies" },
    { HEAD "from new when \x01 go a\n", 5, "expected text in UTF-8, found the byte 0x01" },
    { HEAD "# caf\xe9\n", 5, "expected text in UTF-8, found the byte 0xe9" },
    { "machine m \"\x1b[31mred\"\n", 1, "expected text in UTF-8, found the byte 0x1b" },
    { "machine m \"cut \xe2\x82", 1, "found the byte 0xe2" },
    { "machine m\nover tcp\nover udp\n", 3, "a second 'over': a machine has only one" },
    { HEAD "from new when any go a event caf\xc3\xa9\n", 5,
      "expected a name of letters, digits, - and _ after 'event', found 'caf\xc3\xa9'" },
};

static void errors_name_the_line_and_what_was_expected(void **state) {
    (void)state;
    assert_refused(mistakes, COUNT(mistakes));
}

static void titles_may_use_utf8(void **state) {
    (void)state;
    machine m =
        read_valid("\xef\xbb\xbfmachine m \"\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82\"\r\n"
                   "state a timeout 1s\r\nfrom new when any go a\r\n");
    assert_string_equal(m.title, "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
    machine_free(&m);
}

static void limits_are_reported(void **state) {
    (void)state;
    static char     text[200000];
    machine         m;
    machine_problem problem;
    size_t          n = (size_t)sprintf(text, "machine m\n");
    for (unsigned i = 0; i < 40; i++) n += (size_t)sprintf(text + n, "state s%u timeout 1s\n", i);
    assert_false(machine_read(text, n, &m, &problem));
    assert_non_null(strstr(problem.text, "more than 32 states"));
    n = (size_t)sprintf(text, HEAD "from new when any go a\n");
    for (unsigned i = 0; i < 20; i++)
        n += (size_t)sprintf(text + n, "from a when port %u go b\n", i);
    assert_false(machine_read(text, n, &m, &problem));
    assert_non_null(strstr(problem.text, "more than 11 different tests"));
    n = (size_t)sprintf(text, HEAD "from new when ");
    for (unsigned i = 0; i < 100000; i++) text[n++] = '(';
    assert_false(machine_read(text, n, &m, &problem));
    assert_non_null(strstr(problem.text, "more than 16 nested parentheses"));
    n = (size_t)sprintf(text, HEAD "from new when syn");
    for (unsigned i = 0; i < 100; i++) n += (size_t)sprintf(text + n, " and syn");
    assert_false(machine_read(text, n, &m, &problem));
    assert_non_null(strstr(problem.text, "too long; split it"));
    n = (size_t)sprintf(text, "machine m\n");
    for (unsigned i = 0; i < 9; i++)
        n += (size_t)sprintf(text + n, "state s%u timeout %us\n", i, i + 1);
    n += (size_t)sprintf(text + n, "from new when any go s0\n");
    for (unsigned i = 0; i < 8; i++)
        n += (size_t)sprintf(text + n, "from s%u when client go s%u\n", i, i + 1);
    assert_false(machine_read(text, n, &m, &problem));
    assert_int_equal(problem.line, 3);
    assert_non_null(strstr(problem.text,
                           "different timeouts need at most 16 values, and these states make 17"));
}

static void random_changes_are_parsed_or_refused(void **state) {
    (void)state;
    const machine_shipped *const tcp = machine_shipped_at(0);
    dice                         random = dice_start();
    for (unsigned i = 0; i < 3000; i++) {
        fenced          text = fenced_new(tcp->n);
        machine         m;
        machine_problem problem;
        memcpy(text.bytes, tcp->text, tcp->n);
        for (unsigned j = 0; j < 1 + dice_below(&random, 8); j++) {
            static const char signs[] = " \n()\"#,=<>";
            char const        sign = signs[dice_below(&random, sizeof signs - 1)];
            uint8_t const     any = (uint8_t)dice_below(&random, 256);
            text.bytes[dice_below(&random, tcp->n)] = i % 2 == 0 ? any : (uint8_t)sign;
        }
        size_t const n = i % 3 == 0 ? (size_t)dice_below(&random, tcp->n) : tcp->n;
        if (machine_read((const char *)text.bytes, n, &m, &problem))
            machine_free(&m);
        else
            assert_true(problem.text[0] != '\0' && problem.line >= 1);
        fenced_free(&text);
    }
}

/* ------------------------------------------------------------------ conditions */

/* Is the condition true for a packet from the client of a flow, or from its server? */
static bool condition_holds(const char *condition, const packet *p, bool is_client) {
    char text[400];
    (void)snprintf(text, sizeof text,
                   "machine m\nstate a timeout 1s\nstate b timeout 1s\nfrom new when any go "
                   "a\nfrom a when %s go b\n",
                   condition);
    machine    m = read_valid(text);
    bool const is_chosen = machine_choose(&m, 0, machine_answers(&m, p), is_client) != NULL;
    machine_free(&m);
    return is_chosen;
}

static const struct {
    const char *condition;
    bool        for_tcp, for_ping; /* sent by the client */
} conditions[] = {
    { "any", true, true },
    { "not any or any", true, true },
    { "syn", true, false },
    { "not syn", false, true },
    { "not not syn", true, false },
    { "syn and psh", true, false },
    { "syn and ack", false, false },
    { "syn or ack", true, false },
    { "syn and ack or psh", true, false },
    { "syn and (ack or psh)", true, false },
    { "not (syn and psh)", false, true },
    { "not syn and psh", false, false },
    { "ack or fin or rst or urg or ece or cwr", false, false },
    { "client", true, true },
    { "server", false, false },
    { "tcp", true, false },
    { "udp", false, false },
    { "icmp", false, true },
    { "ip4", true, false },
    { "ip6", false, true },
    { "fragment", false, true },
    { "port 80", true, false },
    { "port 5000", true, false },
    { "port 81-4999", false, false },
    { "port 0-80", true, true },
    { "from-port 5000", true, false },
    { "from-port 80", false, false },
    { "to-port 80", true, false },
    { "to-port 5000", false, false },
    { "size > 99", true, false },
    { "size > 100", false, false },
    { "size >= 100", true, false },
    { "size>=101", false, false },
    { "size < 100", false, true },
    { "size < 101", true, true },
    { "size <= 99", false, true },
    { "size <= 100", true, true },
    { "size = 100", true, false },
    { "size = 0", false, true },
    { "type 128", false, true },
    { "type 0-127", false, false },
};

static void conditions_test_packets(void **state) {
    (void)state;
    packet const tcp = { .flow = { .protocol = PROTOCOL_TCP, .version = 4, .port = { 80, 5000 } },
                         .flags = TCP_SYN | TCP_PSH,
                         .payload_bytes = 100,
                         .is_from_high = true };
    packet const ping = { .flow = { .protocol = PROTOCOL_ICMP6, .version = 6 },
                          .type = 128,
                          .is_fragment = true };
    for (size_t i = 0; i < COUNT(conditions); i++) {
        const char *const text = conditions[i].condition;
        bool const        is_right = condition_holds(text, &tcp, true) == conditions[i].for_tcp &&
                              condition_holds(text, &ping, true) == conditions[i].for_ping;
        if (!is_right) print_error("%s\n", conditions[i].condition);
        assert_true(is_right);
    }
    assert_true(condition_holds("server", &tcp, false));
    assert_false(condition_holds("client", &tcp, false));
}

static void the_first_matching_rule_applies(void **state) {
    (void)state;
    machine m =
        read_valid(HEAD "from new when syn go a event one\nfrom new when any go b event two\n");
    packet p = { .flow = { .protocol = PROTOCOL_TCP }, .flags = TCP_SYN };
    assert_int_equal(machine_choose(&m, -1, machine_answers(&m, &p), true)->line, 5);
    p.flags = TCP_ACK;
    assert_int_equal(machine_choose(&m, -1, machine_answers(&m, &p), true)->line, 6);
    assert_null(machine_choose(&m, 0, machine_answers(&m, &p), true));
    assert_false(m.asks_client);
    machine_free(&m);
}

static void over_selects_packets(void **state) {
    (void)state;
    machine m =
        read_valid("machine m\nover udp port 53\nstate a timeout 1s\nfrom new when any go a\n");
    packet p = { .flow = { .protocol = PROTOCOL_UDP, .port = { 53, 999 } } };
    assert_true(machine_takes(&m, &p));
    p.flow.port[0] = 52;
    assert_false(machine_takes(&m, &p));
    p.flow.port[1] = 53;
    assert_true(machine_takes(&m, &p));
    p.flow.protocol = PROTOCOL_TCP;
    assert_false(machine_takes(&m, &p));
    machine_free(&m);
    m = read_valid("machine m\nover icmp\nstate a timeout 1s\nfrom new when any go a\n");
    p.flow.protocol = PROTOCOL_ICMP6;
    assert_true(machine_takes(&m, &p));
    machine_free(&m);
    m = read_valid("machine m\nstate a timeout 1s\nfrom new when any go a\n");
    assert_true(machine_takes(&m, &p));
    machine_free(&m);
}

static void all_words_are_parsed(void **state) {
    (void)state;
    machine m = read_valid("machine m \"My flows\" # mine\n\n"
                           "state a timeout 1500ms half-open as waiting\r\nstate b timeout 2h\n"
                           "from new when any go a reversed\n"
                           "from a,b when syn go b anomaly \"odd # thing\"\n"
                           "from any when any go end event over");
    assert_string_equal(m.title, "My flows");
    assert_string_equal(m.states[0].shown, "waiting");
    assert_true(m.states[0].is_half_open && !m.states[1].is_half_open);
    assert_int_equal(m.states[0].timeout_ns, UINT64_C(1500000000));
    assert_int_equal(m.states[1].timeout_ns, UINT64_C(7200000000000));
    assert_true(m.rules[0].is_reversed);
    assert_int_equal(m.rules[1].from, 2 | 4);
    assert_int_equal(m.rules[2].go, GO_END);
    assert_string_equal(m.events[m.rules[1].event].name, "odd # thing");
    assert_true(m.events[m.rules[1].event].is_anomaly);
    machine_free(&m);
}

/* ------------------------------------------------------------------ the built-in machines */

static uint8_t parse_flags(const char *letters) {
    static const char names[] = "FSRPAU";
    uint8_t           flags = 0;
    for (; *letters != '\0' && *letters != ' '; letters++) {
        const char *const at = strchr(names, *letters);
        if (at != NULL) flags |= (uint8_t)(1u << (at - names));
    }
    return flags;
}

/* Play a conversation, as in "c:S s:SA c:A": the sender and the flags of each packet. Returns the
 * state at the end. */
static const char *play(const machine *m, const char *packets, unsigned *ret_opened) {
    tamis_status status = TAMIS_ERR_ABSENT;
    uint32_t     value = 0;
    *ret_opened = 0;
    for (const char *at = packets; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        tracked p = { .p = {
                          .flow = { .port = { 40000, 80 }, .protocol = PROTOCOL_TCP, .version = 4 },
                          .is_from_high = at[0] == 's',
                          .flags = parse_flags(at + 2) } };
        p.p.payload_bytes = (p.p.flags & TCP_PSH) != 0 ? 10 : 0;
        p.answers = machine_answers(m, &p.p);
        if (tracker_decide(m, &p, status, value) != TAMIS_STEP_SET) continue;
        *ret_opened += status == TAMIS_ERR_ABSENT || p.rule->opens;
        status = TAMIS_OK;
        value = p.to;
    }
    return status == TAMIS_OK ? m->states[machine_state_of(m, value)].name : "none";
}

static const struct {
    const char *packets, *end;
    unsigned    opened;
} conversations[] = {
    { "c:S", "syn", 1 },
    { "c:S c:S c:S", "syn", 1 },
    { "c:S s:SA", "syn-ack", 1 },
    { "c:S s:SA s:SA", "syn-ack", 1 },
    { "c:S s:SA c:A", "established", 1 },
    { "c:S s:SA c:PA s:A", "established", 1 },
    { "c:S s:SA c:A c:FA", "client-fin", 1 },
    { "c:S s:SA c:A c:FA c:FA s:A", "client-fin", 1 }, /* a repeated FIN */
    { "c:S s:SA c:A s:FA", "server-fin", 1 },
    { "c:S s:SA c:A c:FA s:FA c:A", "closed", 1 },
    { "c:S s:SA c:A s:FA c:FA s:A", "closed", 1 },
    { "c:S s:SA c:A s:FA c:FA s:R", "closed", 1 },
    { "c:S s:RA", "refused", 1 },
    { "c:S c:R", "reset", 1 },
    { "c:S s:SA c:R", "reset", 1 },
    { "c:S s:SA c:A s:R", "reset", 1 },
    { "c:S s:SA c:A s:FA c:FA c:S", "syn", 2 }, /* the ports are used again */
    { "c:S s:SA c:A s:FA c:FA s:S", "syn", 2 }, /* opened by the other end */
    { "c:S s:SA c:A s:FA c:FA s:S c:SA s:A", "established", 2 },
    { "c:S s:RA c:S s:SA c:A", "established", 2 },
    { "c:S c:A", "established", 1 },  /* the answer was not captured */
    { "s:SA c:A", "established", 1 }, /* the SYN was not: c is still the client */
    { "s:SA c:A c:FA", "client-fin", 1 },
    { "c:S s:S", "syn-ack", 1 }, /* both ends open */
    { "c:A", "picked-up", 1 },
    { "s:A", "picked-up", 1 },
    { "c:PA", "picked-up", 1 }, /* perhaps forged */
    { "c:PA c:PA", "established", 1 },
    { "c:PA s:A", "established", 1 },
    { "c:A s:A", "established", 1 },  /* the other end answers */
    { "c:A c:A", "established", 1 },  /* one side, without data */
    { "c:A c:PA", "established", 1 }, /* one side, with data */
    { "s:A s:FA", "server-fin", 1 },  /* the higher port is the client */
    { "s:A c:FA", "client-fin", 1 },
    { "s:A s:A c:FA", "client-fin", 1 },
    { "s:SA s:A", "established", 1 }, /* only the server was captured */
    { "s:SA s:SA", "syn-ack", 1 },
    { "c:A c:S", "syn", 2 },
    { "c:F", "reset", 1 }, /* scans */
    { "c:FPU", "reset", 1 },
    { "s:PA s:FA", "server-fin", 1 },
    { "c:FA", "client-fin", 1 },
    { "c:R", "reset", 1 },
    { "c:SF", "reset", 1 },
    { "c:", "reset", 1 },
    { "c:S s:SA c:A c:S", "syn-again", 1 }, /* a SYN within a connection */
    { "c:S s:SA c:A c:S c:S s:SA c:A", "established", 2 },
    { "c:S s:SA c:A s:S c:SA c:FA", "server-fin", 2 }, /* the other end is the client now */
    { "c:S s:SA c:A c:S s:A c:PA", "established", 1 }, /* forged: the connection goes on */
    { "c:S s:SA c:A c:S s:A c:R c:S s:SA", "syn-ack", 2 },
    { "c:S s:SA c:A c:S s:FA", "server-fin", 1 },
    { "c:S s:SA c:A s:SA c:A", "established", 1 }, /* the SYN-ACK again */
};

static void tcp_conversations_end_in_their_states(void **state) {
    (void)state;
    machine m = read_shipped("tcp");
    for (size_t i = 0; i < COUNT(conversations); i++) {
        unsigned          opened;
        const char *const end = play(&m, conversations[i].packets, &opened);
        bool const        is_right =
            strcmp(end, conversations[i].end) == 0 && opened == conversations[i].opened;
        if (!is_right) print_error("%s: %s, opened %u\n", conversations[i].packets, end, opened);
        assert_true(is_right);
    }
    machine_free(&m);
}

static void built_in_machines_fit_into_four_bits(void **state) {
    (void)state;
    for (size_t i = 0; machine_shipped_at(i) != NULL; i++) {
        machine m = read_shipped(machine_shipped_at(i)->name);
        assert_true(machine_values(&m) <= 16);
        machine_free(&m);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_line_and_what_was_expected),
        cmocka_unit_test(limits_are_reported),
        cmocka_unit_test(titles_may_use_utf8),
        cmocka_unit_test(random_changes_are_parsed_or_refused),
        cmocka_unit_test(conditions_test_packets),
        cmocka_unit_test(the_first_matching_rule_applies),
        cmocka_unit_test(over_selects_packets),
        cmocka_unit_test(all_words_are_parsed),
        cmocka_unit_test(tcp_conversations_end_in_their_states),
        cmocka_unit_test(built_in_machines_fit_into_four_bits),
    };
    return unit_run("machine", tests, COUNT(tests));
}
