/* explain.c - see explain.h. */
#include "explain.h"

#include <inttypes.h>
#include <string.h>

#include "output.h"

/* ------------------------------------------------------------------ words */

static const char *protocol_word(uint8_t protocol) {
    switch (protocol) {
    case PROTOCOL_TCP: return "TCP packets";
    case PROTOCOL_UDP: return "UDP packets";
    case PROTOCOL_ICMP: return "ICMP packets";
    default: return "all IP packets";
    }
}

static void print_ports(const machine_ports *ports) {
    for (unsigned i = 0; i < ports->n; i++) {
        output_text("%s%u", i == 0 ? "" : ", ", ports->low[i]);
        if (ports->high[i] != ports->low[i]) output_text("-%u", ports->high[i]);
    }
}

/* "1m", "500ms": in the largest unit that divides it. */
static void print_duration(uint64_t ns) {
    static const struct {
        const char *name;
        uint64_t    ms;
    } units[] = { { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };
    uint64_t const ms = ns / 1000000;
    unsigned       i = 0;
    while (ms % units[i].ms != 0) i++;
    output_text("%" PRIu64 "%s", ms / units[i].ms, units[i].name);
}

static const char *target_name(const machine *m, const machine_rule *rule) {
    if (rule->go == GO_STAY) return "no change";
    return rule->go == GO_END ? "forget the flow" : m->states[rule->go].name;
}

static void print_events(const machine *m, const machine_rule *rule, const char *separator) {
    if (rule->event < 0) return;
    const machine_event *const event = &m->events[rule->event];
    output_text("%s%s %s", separator, event->is_anomaly ? "anomaly" : "event", event->name);
}

/* ------------------------------------------------------------------ as text */

static void print_head(const machine *m) {
    static const char *const keys[] = {
        [KEY_PORTS] = "addresses, protocol and ports",
        [KEY_DNS_ID] = "addresses, protocol, ports and the id of DNS (bytes 0 and 1)",
        [KEY_HOSTS] = "addresses and protocol"
    };
    output_text("%s: %s\n\n  packets     %s", m->name, m->title, protocol_word(m->protocol));
    if (m->ports.n != 0) output_string(", from or to port ");
    print_ports(&m->ports);
    bool const is_echo = m->key == KEY_PORTS && m->protocol == PROTOCOL_ICMP;
    output_text("\n  a flow is   %s\n",
                is_echo ? "addresses, protocol and the identifier of an echo" : keys[m->key]);
    if (m->duplicate_ns == 0) return;
    output_string("  copies      within ");
    print_duration(m->duplicate_ns);
    output_string(" are ignored\n");
}

/* Is the word `evictable` needed, or does it follow from half-open, unconfirmed or ended? */
static bool is_only_evictable(const machine_state *state) {
    return state->is_evictable && !machine_is_waiting(state) && !state->is_ended;
}

static void print_states(const machine *m) {
    output_string("\n  states\n");
    for (unsigned i = 0; i < m->n_states; i++) {
        const machine_state *const state = &m->states[i];
        output_text("    %-14s timeout ", state->name);
        print_duration(state->timeout_ns);
        if (state->is_half_open) output_string(", half-open");
        if (state->is_unconfirmed) output_string(", unconfirmed");
        if (state->is_ended) output_string(", ended");
        if (is_only_evictable(state)) output_string(", evictable");
        if (strcmp(state->name, state->shown) != 0) output_text(", reported as %s", state->shown);
        output_text("; %s\n", state->is_directed  ? "knows its client"
                              : state->is_guessed ? "guesses its client by ports"
                                                  : "needs no client");
    }
}

static void print_rule(const machine *m, const machine_rule *rule) {
    output_text("    line %-4u %s  ->  %s", rule->line, rule->text, target_name(m, rule));
    if (rule->opens) output_string(" (a new flow)");
    if (rule->is_reversed) output_string(", the receiver is the client");
    if (rule->is_guess) output_string(", the client is guessed by ports");
    if (rule->answers) output_string(", an answer");
    if (rule->is_attempt) output_string(", an attempt");
    print_events(m, rule, ", ");
    output_string("\n");
}

/* All rules of one state, in the order in which they are tried. Row 0: packets without a flow. */
static void print_row(const machine *m, unsigned row) {
    bool is_whole = true;
    output_text("\n  %s%s\n", row == 0 ? "a packet without a flow" : "a flow in ",
                row == 0 ? "" : m->states[row - 1].name);
    for (unsigned i = 0; i < m->n_rules; i++) {
        if ((m->rules[i].from >> row & 1) != 0) print_rule(m, &m->rules[i]);
    }
    for (uint32_t answers = 0; answers < UINT32_C(1) << m->n_atoms; answers++) {
        bool const can_occur = row != 0 || m->has_guess || (answers & 1) != 0;
        is_whole &= !can_occur || m->chosen[((size_t)row << m->n_atoms) + answers] != 0;
    }
    if (is_whole) return;
    output_text("    other packets: %s\n",
                row == 0 ? "ignored" : "the state stays, and its timeout begins again");
}

static void print_limits(const machine *m) {
    output_text(
        "\n  limits      %u of %d states, %u of %d rules, %u of %d tests, %u values of the table",
        m->n_states, MACHINE_STATES, m->n_rules, MACHINE_RULES, m->n_atoms - 1, MACHINE_ATOMS - 1,
        machine_values(m));
    output_text(" (at most %d with different timeouts)\n", MACHINE_TIMED_VALUES);
    if (m->is_plain)
        output_string(
            "              too many to keep the client: events say from and to instead\n");
}

/* States that no rule leaves, and whose flows go by their timeout. */
static void print_last_states(const machine *m) {
    for (unsigned i = 0; i < m->n_states; i++) {
        bool is_left = false;
        for (unsigned rule = 0; rule < m->n_rules; rule++) {
            bool const is_from = (m->rules[rule].from >> (i + 1) & 1) != 0;
            is_left |= is_from && m->rules[rule].go != GO_STAY && m->rules[rule].go != (int)i;
        }
        if (!is_left)
            output_text("  note        flows leave %s only by its timeout\n", m->states[i].name);
    }
}

void explain_machine(const machine *m) {
    print_head(m);
    print_states(m);
    for (unsigned row = 0; row <= m->n_states; row++) print_row(m, row);
    print_limits(m);
    print_last_states(m);
}

/* ------------------------------------------------------------------ as a graph */

/* A text within quotes of the language of Graphviz. */
static void draw_text(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') output_string("\\");
        output_text("%c", *text);
    }
}

static void draw_state(const machine *m, unsigned i) {
    const machine_state *const state = &m->states[i];
    const char *const          style = state->is_ended             ? ", peripheries=2"
                                       : machine_is_waiting(state) ? ", style=dashed"
                                                                   : "";
    output_text("    s%u [label=\"%s\\n", i, state->name);
    print_duration(state->timeout_ns);
    output_text("\"%s];\n", style);
}

static void draw_rule(const machine *m, const machine_rule *rule, unsigned row) {
    output_string(row == 0 ? "    new" : "    ");
    if (row != 0) output_text("s%u", row - 1);
    if (rule->go >= 0)
        output_text(" -> s%d [label=\"", rule->go);
    else if (rule->go == GO_END)
        output_string(" -> end [label=\"");
    else if (row == 0)
        output_string(" -> new [label=\"");
    else
        output_text(" -> s%u [label=\"", row - 1);
    draw_text(rule->text);
    if (rule->event >= 0) {
        output_string("\\n");
        draw_text(m->events[rule->event].name);
    }
    bool const is_odd = rule->event >= 0 && m->events[rule->event].is_anomaly;
    output_text("\"%s%s];\n", is_odd ? ", color=red" : "", rule->opens ? ", style=dotted" : "");
}

void explain_draw(const machine *m) {
    bool has_end = false;
    output_text("digraph \"%s\" {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n",
                m->name);
    output_string("    new [shape=circle, label=\"new\"];\n");
    for (unsigned i = 0; i < m->n_states; i++) draw_state(m, i);
    for (unsigned i = 0; i < m->n_rules; i++) has_end |= m->rules[i].go == GO_END;
    if (has_end) output_string("    end [shape=doublecircle, label=\"end\"];\n");
    for (unsigned i = 0; i < m->n_rules; i++) {
        for (unsigned row = 0; row <= m->n_states; row++) {
            if ((m->rules[i].from >> row & 1) != 0) draw_rule(m, &m->rules[i], row);
        }
    }
    output_string("}\n");
}
