/* machine.c - see machine.h.
 *
 * Idea: the conditions of a machine use a few different tests of a packet ("is SYN set?", "has the
 * payload 100 bytes or more?"). Take the answers as the bits of a number. Then the state and that
 * number decide which rule applies. So the rule is found once for each combination, and a packet
 * costs its tests and one lookup in a table:
 *
 *     chosen[state][answers] -> rule
 *
 * Why at most 12 tests: the table has 2^12 bytes for each state, and stays in the cache. The
 * machine for TCP uses five.
 *
 * The complete table also shows which rules can never apply. Such a machine is refused.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ conditions */

/* The stack is the bits of a number; the lowest bit is its top. */
bool machine_holds(const machine_rule *rule, uint32_t answers) {
    uint64_t stack = 0;
    for (unsigned i = 0; i < rule->code_bytes; i++) {
        uint8_t const code = rule->code[i];
        switch (code) {
        case CODE_NOT: stack ^= 1; break;
        case CODE_AND: stack = stack >> 1 & (stack | ~UINT64_C(1)); break;
        case CODE_OR: stack = stack >> 1 | (stack & 1); break;
        case CODE_TRUE: stack = stack << 1 | 1; break;
        default: stack = stack << 1 | (answers >> code & 1); break;
        }
    }
    return (stack & 1) != 0;
}

/* ------------------------------------------------------------------ values */

/* Does a condition use this test? */
static bool uses_atom(const machine_rule *rule, unsigned atom) {
    for (unsigned i = 0; i < rule->code_bytes; i++) {
        if (rule->code[i] == atom) return true;
    }
    return false;
}

static bool asks_sender(const machine_rule *rule) {
    return uses_atom(rule, ATOM_CLIENT); /* atom 0 */
}

/* Must a state know the client, for this rule? A rule that opens a flow takes the client from its
 * packet. The end of a flow is reported with both ends. */
static bool needs_client(const machine *m, const machine_rule *rule) {
    if (asks_sender(rule)) return true;
    if (rule->opens) return false;
    if (rule->event >= 0 || rule->go == GO_END) return true;
    return rule->go >= 0 && (m->states[rule->go].is_directed || m->states[rule->go].is_ended);
}

static bool spread_direction(machine *m) {
    bool is_changed = false;
    for (unsigned i = 0; i < m->n_rules; i++) {
        for (unsigned state = 0; state < m->n_states; state++) {
            bool const is_from = (m->rules[i].from >> (state + 1) & 1) != 0;
            bool const is_told = m->states[state].is_directed || m->states[state].is_guessed;
            if (!is_from || is_told || !needs_client(m, &m->rules[i])) continue;
            m->states[state].is_directed = is_changed = true;
        }
    }
    return is_changed;
}

/* Is a state reached only by rules that guess the client? */
static bool is_always_guessed(const machine *m, unsigned state) {
    bool is_guessed = false;
    for (unsigned i = 0; i < m->n_rules; i++) {
        const machine_rule *const rule = &m->rules[i];
        if (rule->go != (int)state) continue;
        if (!rule->is_guess || (rule->from != 1 && !rule->opens)) return false;
        is_guessed = true;
    }
    return is_guessed;
}

unsigned machine_number_values(machine *m, machine_clients which) {
    m->is_plain = which == CLIENTS_OF_NONE;
    for (unsigned i = 0; i < m->n_states; i++) {
        machine_state *const state = &m->states[i];
        state->is_guessed = !m->is_plain && is_always_guessed(m, i);
        state->is_directed = which == CLIENTS_OF_ALL && !state->is_ended && !state->is_guessed;
    }
    while (!m->is_plain && spread_direction(m)) continue;
    m->n_values = 0;
    for (unsigned i = 0; i < m->n_states; i++) {
        const machine_state *const state = &m->states[i];
        m->states[i].first_value = (uint8_t)m->n_values;
        for (unsigned j = 0; j < 1u + state->is_directed; j++)
            m->values[m->n_values++] =
                (machine_meaning){ (uint8_t)i, state->is_directed, state->is_guessed, j != 0 };
    }
    return m->n_values;
}

/* ------------------------------------------------------------------ the table */

/* The first rule of the file that applies, plus 1; 0: none. */
static uint8_t find_rule(const machine *m, unsigned row, uint32_t answers) {
    bool const is_error = m->unreachable != 0 && (answers >> m->unreachable & 1) != 0;
    for (unsigned i = 0; i < m->n_rules; i++) {
        bool const is_from_here = (m->rules[i].from >> row & 1) != 0;
        if (is_error && !uses_atom(&m->rules[i], m->unreachable)) continue;
        if (is_from_here && machine_holds(&m->rules[i], answers)) return (uint8_t)(i + 1);
    }
    return 0;
}

/* Row 0 is for new flows. The sender of a first packet is the client by definition, so the half of
 * the row with the answer "server" cannot occur (unless the machine guesses the client by ports).
 * It does not count as a use of a rule. */
static void fill_row(machine *m, unsigned row, uint64_t used[2]) {
    uint8_t *const at = m->chosen + ((size_t)row << m->n_atoms);
    for (uint32_t answers = 0; answers < UINT32_C(1) << m->n_atoms; answers++) {
        uint8_t const rule = find_rule(m, row, answers);
        at[answers] = rule;
        bool const can_occur = row != 0 || m->has_guess || (answers & 1) != 0;
        if (rule != 0 && can_occur) used[(rule - 1) / 64] |= UINT64_C(1) << (rule - 1) % 64;
    }
}

/* Tests of flags and of "any data" have a table. */
static void fill_flag_answers(machine *m) {
    for (unsigned i = 1; i < m->n_atoms; i++) {
        const machine_atom *const atom = &m->atoms[i];
        bool const                is_data = atom->kind == ATOM_SIZE && atom->low == 1;
        if (atom->kind == ATOM_UNREACHABLE) { /* never so for a packet of the flow itself */
            m->unreachable = i;
            continue;
        }
        if (atom->kind != ATOM_FLAG && !is_data) {
            m->others[m->n_others++] = (uint8_t)i;
            continue;
        }
        for (unsigned flags = 0; flags < 512; flags++) {
            bool const holds = is_data ? flags >= 256 : (flags & atom->low) != 0;
            if (holds) m->flag_answers[flags] |= (uint16_t)(1u << i);
        }
    }
}

bool machine_compile(machine *m, machine_problem *reterr_problem) {
    uint64_t used[2] = { 0, 0 };
    fill_flag_answers(m);
    m->chosen = malloc((size_t)(m->n_states + 1) << m->n_atoms);
    if (m->chosen == NULL) {
        *reterr_problem = (machine_problem){ .text = "out of memory" };
        return false;
    }
    for (unsigned row = 0; row <= m->n_states; row++) fill_row(m, row, used);
    for (unsigned i = 0; i < m->n_rules; i++) {
        if ((used[i / 64] >> i % 64 & 1) != 0) continue;
        *reterr_problem = (machine_problem){
            .line = m->rules[i].line,
            .text = "this rule never applies: its condition is never true, or rules above it match "
                    "all its packets"
        };
        machine_free(m);
        return false;
    }
    return true;
}

void machine_free(machine *m) {
    free(m->chosen);
    m->chosen = NULL;
}

/* ------------------------------------------------------------------ testing packets */

static bool is_in_range(const machine_atom *atom, uint32_t value) {
    return value - atom->low <= atom->high - atom->low;
}

static bool has_port(const machine_ports *ports, uint16_t port) {
    for (unsigned i = 0; i < ports->n; i++) {
        if (port >= ports->low[i] && port <= ports->high[i]) return true;
    }
    return false;
}

static bool is_icmp(const packet *p) {
    return p->flow.protocol == PROTOCOL_ICMP || p->flow.protocol == PROTOCOL_ICMP6;
}

bool machine_takes_slowly(const machine *m, const packet *p) {
    if (m->protocol != 0 && p->flow.protocol != m->protocol &&
        !(m->protocol == PROTOCOL_ICMP && is_icmp(p))) {
        return false;
    }
    return m->ports.n == 0 || has_port(&m->ports, p->flow.port[0]) ||
           has_port(&m->ports, p->flow.port[1]);
}

static bool has_prefix(const machine_prefix *prefix, const packet *p, bool is_high) {
    const uint8_t *const address = p->flow.address[is_high];
    unsigned const       whole = prefix->bits / 8, rest = prefix->bits % 8;
    if (prefix->version != p->flow.version || memcmp(address, prefix->address, whole) != 0)
        return false;
    return rest == 0 || (address[whole] ^ prefix->address[whole]) >> (8 - rest) == 0;
}

static bool has_address(const machine_atom *atom, const packet *p, bool is_high) {
    for (unsigned i = 0; i < atom->n_prefixes; i++) {
        if (has_prefix(&atom->prefixes[i], p, is_high)) return true;
    }
    return false;
}

/* Bytes that were not captured are equal to nothing. */
static bool has_bytes(const machine_atom *atom, const packet *p) {
    for (unsigned i = 0; i < atom->low; i++) {
        if (packet_byte(p, atom->offset + i) != atom->sequence[i]) return false;
    }
    return true;
}

static bool has_byte(const machine_atom *atom, const packet *p) {
    int const byte = packet_byte(p, atom->offset);
    return byte >= 0 && is_in_range(atom, (uint32_t)byte & atom->mask);
}

static bool atom_holds(const machine_atom *atom, const packet *p) {
    const uint16_t *const port = p->flow.port;
    bool const            from = p->is_from_high;
    switch (atom->kind) {
    case ATOM_CLIENT:
    case ATOM_UNREACHABLE:
    case ATOM_FLAG: return false; /* client depends on the flow; flags have a table */
    case ATOM_PROTOCOL:
        return p->flow.protocol == atom->low || (atom->low == PROTOCOL_ICMP && is_icmp(p));
    case ATOM_VERSION: return p->flow.version == atom->low;
    case ATOM_PORT: return has_port(&atom->ports, port[0]) || has_port(&atom->ports, port[1]);
    case ATOM_FROM_PORT: return has_port(&atom->ports, port[from]);
    case ATOM_TO_PORT: return has_port(&atom->ports, port[!from]);
    case ATOM_ADDRESS: return has_address(atom, p, false) || has_address(atom, p, true);
    case ATOM_FROM_ADDRESS: return has_address(atom, p, from);
    case ATOM_TO_ADDRESS: return has_address(atom, p, !from);
    case ATOM_SIZE: return p->payload_bytes >= atom->low;
    case ATOM_TYPE: return is_icmp(p) && is_in_range(atom, p->type);
    case ATOM_FRAGMENT: return p->is_fragment;
    case ATOM_BYTE: return has_byte(atom, p);
    case ATOM_BYTES: return has_bytes(atom, p);
    }
    return false;
}

uint32_t machine_other_answers(const machine *m, const packet *p) {
    uint32_t answers = 0;
    for (unsigned i = 0; i < m->n_others; i++) {
        unsigned const atom = m->others[i];
        answers |= (uint32_t)atom_holds(&m->atoms[atom], p) << atom;
    }
    return answers;
}
