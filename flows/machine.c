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

/* ------------------------------------------------------------------ the table */

/* The first rule of the file that applies, plus 1; 0: none. */
static uint8_t find_rule(const machine *m, unsigned row, uint32_t answers) {
    for (unsigned i = 0; i < m->n_rules; i++) {
        bool const is_from_here = (m->rules[i].from >> row & 1) != 0;
        if (is_from_here && machine_holds(&m->rules[i], answers)) return (uint8_t)(i + 1);
    }
    return 0;
}

/* Row 0 is for new flows. The sender of a first packet is the client by definition, so the half of
 * the row with the answer "server" cannot occur. It does not count as a use of a rule. */
static void fill_row(machine *m, unsigned row, uint64_t used[2]) {
    uint8_t *const at = m->chosen + ((size_t)row << m->n_atoms);
    for (uint32_t answers = 0; answers < UINT32_C(1) << m->n_atoms; answers++) {
        uint8_t const rule = find_rule(m, row, answers);
        at[answers] = rule;
        bool const can_occur = row != 0 || (answers & 1) != 0;
        if (rule != 0 && can_occur) used[(rule - 1) / 64] |= UINT64_C(1) << (rule - 1) % 64;
    }
}

static void fill_flag_answers(machine *m) {
    m->asks_flags_only = true;
    for (unsigned i = 1; i < m->n_atoms; i++) {
        const machine_atom *const atom = &m->atoms[i];
        m->asks_flags_only &= atom->kind == ATOM_FLAG;
        for (unsigned flags = 0; flags < 256 && atom->kind == ATOM_FLAG; flags++) {
            if ((flags & atom->low) != 0) m->flag_answers[flags] |= (uint16_t)(1u << i);
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

bool machine_takes(const machine *m, const packet *p) {
    if (m->protocol != 0 && p->flow.protocol != m->protocol &&
        !(m->protocol == PROTOCOL_ICMP && p->flow.protocol == PROTOCOL_ICMP6)) {
        return false;
    }
    machine_atom const ports = { ATOM_PORT, m->low_port, m->high_port };
    return is_in_range(&ports, p->flow.port[0]) || is_in_range(&ports, p->flow.port[1]);
}

static bool is_icmp(const packet *p) {
    return p->flow.protocol == PROTOCOL_ICMP || p->flow.protocol == PROTOCOL_ICMP6;
}

static bool atom_holds(const machine_atom *atom, const packet *p) {
    const uint16_t *const port = p->flow.port;
    switch (atom->kind) {
    case ATOM_CLIENT:
    case ATOM_FLAG: return false; /* client depends on the flow; flags have a table */
    case ATOM_PROTOCOL:
        return p->flow.protocol == atom->low || (atom->low == PROTOCOL_ICMP && is_icmp(p));
    case ATOM_VERSION: return p->flow.version == atom->low;
    case ATOM_PORT: return is_in_range(atom, port[0]) || is_in_range(atom, port[1]);
    case ATOM_FROM_PORT: return is_in_range(atom, port[p->is_from_high]);
    case ATOM_TO_PORT: return is_in_range(atom, port[!p->is_from_high]);
    case ATOM_SIZE: return p->payload_bytes >= atom->low;
    case ATOM_TYPE: return is_icmp(p) && is_in_range(atom, p->type);
    case ATOM_FRAGMENT: return p->is_fragment;
    }
    return false;
}

uint32_t machine_all_answers(const machine *m, const packet *p) {
    uint32_t answers = m->flag_answers[p->flags];
    for (unsigned i = 1; i < m->n_atoms; i++) {
        if (m->atoms[i].kind == ATOM_FLAG) continue;
        answers |= (uint32_t)atom_holds(&m->atoms[i], p) << i;
    }
    return answers;
}
