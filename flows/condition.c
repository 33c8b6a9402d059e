/* condition.c - see condition.h. */
#include "condition.h"

#include <string.h>

#define MAX_DEPTH 16 /* of parentheses */

static bool code_add(reader *r, machine_rule *rule, unsigned code) {
    if (rule->code_bytes == MACHINE_CODE_BYTES)
        return word_fail(r, "the condition is too long; split it into two rules");
    rule->code[rule->code_bytes++] = (uint8_t)code;
    return true;
}

/* Two equal tests share one atom. */
static bool code_add_atom(reader *r, machine_rule *rule, machine_atom atom) {
    machine *const m = r->m;
    if (atom.kind == ATOM_CLIENT) m->has_direction = true;
    for (unsigned i = 0; i < m->n_atoms; i++) {
        const machine_atom *const known = &m->atoms[i];
        if (known->kind == atom.kind && known->low == atom.low && known->high == atom.high)
            return code_add(r, rule, i);
    }
    if (m->n_atoms == MACHINE_ATOMS) {
        return word_fail(r, "more than %d different tests of a packet in all conditions",
                         MACHINE_ATOMS - 1);
    }
    m->atoms[m->n_atoms] = atom;
    return code_add(r, rule, m->n_atoms++);
}

/* Tests that are a single word. */
static bool find_single(const char *word, machine_atom *ret_atom, bool *ret_is_negated) {
    static const struct {
        const char  *word;
        machine_atom atom;
        bool         is_negated;
    } singles[] = {
        { "syn", { ATOM_FLAG, TCP_SYN, 0 }, false },
        { "ack", { ATOM_FLAG, TCP_ACK, 0 }, false },
        { "fin", { ATOM_FLAG, TCP_FIN, 0 }, false },
        { "rst", { ATOM_FLAG, TCP_RST, 0 }, false },
        { "psh", { ATOM_FLAG, TCP_PSH, 0 }, false },
        { "urg", { ATOM_FLAG, TCP_URG, 0 }, false },
        { "ece", { ATOM_FLAG, TCP_ECE, 0 }, false },
        { "cwr", { ATOM_FLAG, TCP_CWR, 0 }, false },
        { "client", { ATOM_CLIENT, 0, 0 }, false },
        { "server", { ATOM_CLIENT, 0, 0 }, true },
        { "tcp", { ATOM_PROTOCOL, PROTOCOL_TCP, 0 }, false },
        { "udp", { ATOM_PROTOCOL, PROTOCOL_UDP, 0 }, false },
        { "icmp", { ATOM_PROTOCOL, PROTOCOL_ICMP, 0 }, false },
        { "ip4", { ATOM_VERSION, 4, 0 }, false },
        { "ip6", { ATOM_VERSION, 6, 0 }, false },
        { "fragment", { ATOM_FRAGMENT, 0, 0 }, false },
    };
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
        if (strcmp(singles[i].word, word) != 0) continue;
        *ret_atom = singles[i].atom;
        *ret_is_negated = singles[i].is_negated;
        return true;
    }
    return false;
}

static bool read_port(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = { kind, 0, 0 };
    return word_next(r) &&
           word_take_range(r, MACHINE_MAX_PORT, "a port or ports, as in 53 or 6000-6063", &atom.low,
                           &atom.high) &&
           code_add_atom(r, rule, atom);
}

static bool read_type(reader *r, machine_rule *rule) {
    machine_atom atom = { ATOM_TYPE, 0, 0 };
    return word_next(r) &&
           word_take_range(r, 255, "an ICMP type, as in 8", &atom.low, &atom.high) &&
           code_add_atom(r, rule, atom);
}

/* The only atom is "n bytes or more". The other comparisons are built from it:
 *
 *     size >= n   n or more              size <  n   not (n or more)
 *     size >  n   n + 1 or more          size <= n   not (n + 1 or more)
 *     size =  n   n or more, and not (n + 1 or more)
 */
static bool read_size(reader *r, machine_rule *rule) {
    char         sign[3];
    machine_atom least = { ATOM_SIZE, 0, 0 };
    if (!word_next(r)) return false;
    if (strchr("<>=", r->word[0]) == NULL || r->word[0] == '\0')
        return word_fail_expected(r, "one of < <= = >= > after 'size'");
    memcpy(sign, r->word, sizeof sign - 1);
    if (!word_next(r) || !word_take_number(r, 65535, "a number of bytes up to 65535", &least.low))
        return false;
    bool const         is_or_equal = sign[0] != '=' && sign[1] == '=';
    machine_atom const more = { ATOM_SIZE, least.low + 1, 0 };
    if (sign[0] == '=') {
        return code_add_atom(r, rule, least) && code_add_atom(r, rule, more) &&
               code_add(r, rule, CODE_NOT) && code_add(r, rule, CODE_AND);
    }
    bool const is_more = (sign[0] == '>') != is_or_equal; /* > and <= use n + 1 */
    return code_add_atom(r, rule, is_more ? more : least) &&
           (sign[0] == '>' || code_add(r, rule, CODE_NOT));
}

static bool read_group(reader *r, machine_rule *rule) {
    if (r->depth == MAX_DEPTH) return word_fail(r, "more than %d nested parentheses", MAX_DEPTH);
    r->depth++;
    bool const is_fine =
        word_next(r) && condition_read(r, rule) && word_expect(r, ")", "'and', 'or' or ')'");
    r->depth--;
    return is_fine;
}

static bool read_factor(reader *r, machine_rule *rule) {
    unsigned n_nots = 0;
    while (word_is(r, "not")) {
        n_nots++;
        if (!word_next(r)) return false;
    }
    machine_atom atom;
    bool         is_negated = false, is_fine;
    if (word_is(r, "("))
        is_fine = read_group(r, rule);
    else if (word_is(r, "any"))
        is_fine = code_add(r, rule, CODE_TRUE) && word_next(r);
    else if (word_is(r, "port"))
        is_fine = read_port(r, rule, ATOM_PORT);
    else if (word_is(r, "from-port"))
        is_fine = read_port(r, rule, ATOM_FROM_PORT);
    else if (word_is(r, "to-port"))
        is_fine = read_port(r, rule, ATOM_TO_PORT);
    else if (word_is(r, "type"))
        is_fine = read_type(r, rule);
    else if (word_is(r, "size"))
        is_fine = read_size(r, rule);
    else if (!r->is_quoted && find_single(r->word, &atom, &is_negated))
        is_fine = code_add_atom(r, rule, atom) && (!is_negated || code_add(r, rule, CODE_NOT)) &&
                  word_next(r);
    else
        is_fine = word_fail_expected(r, "a condition (syn, client, port 53, size > 0, any, ...)");
    return is_fine && (n_nots % 2 == 0 || code_add(r, rule, CODE_NOT));
}

static bool read_term(reader *r, machine_rule *rule) {
    if (!read_factor(r, rule)) return false;
    while (word_is(r, "and")) {
        if (!word_next(r) || !read_factor(r, rule) || !code_add(r, rule, CODE_AND)) return false;
    }
    return true;
}

bool condition_read(reader *r, machine_rule *rule) {
    if (!read_term(r, rule)) return false;
    while (word_is(r, "or")) {
        if (!word_next(r) || !read_term(r, rule) || !code_add(r, rule, CODE_OR)) return false;
    }
    return true;
}
