/* condition.c - see condition.h. */
#include "condition.h"

#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 16 /* of parentheses */

static bool code_add(reader *r, machine_rule *rule, unsigned code) {
    if (rule->code_bytes == MACHINE_CODE_BYTES)
        return word_fail(r, "the condition is too long; split it into two rules");
    rule->code[rule->code_bytes++] = (uint8_t)code;
    return true;
}

static bool is_same_atom(const machine_atom *a, const machine_atom *b) {
    return a->kind == b->kind && a->low == b->low && a->high == b->high && a->offset == b->offset &&
           a->mask == b->mask && memcmp(a->sequence, b->sequence, sizeof a->sequence) == 0 &&
           memcmp(&a->ports, &b->ports, sizeof a->ports) == 0 && a->n_prefixes == b->n_prefixes &&
           memcmp(a->prefixes, b->prefixes, sizeof a->prefixes) == 0;
}

/* Two equal tests share one atom. */
static bool code_add_atom(reader *r, machine_rule *rule, const machine_atom *atom) {
    machine *const m = r->m;
    if (atom->kind == ATOM_CLIENT) m->asks_client = true;
    for (unsigned i = 0; i < m->n_atoms; i++) {
        if (is_same_atom(&m->atoms[i], atom)) return code_add(r, rule, i);
    }
    if (m->n_atoms == MACHINE_ATOMS) {
        return word_fail(r, "more than %d different tests of a packet in all conditions",
                         MACHINE_ATOMS - 1);
    }
    m->atoms[m->n_atoms] = *atom;
    m->atoms[m->n_atoms].line = r->line;
    return code_add(r, rule, m->n_atoms++);
}

/* Tests that are a single word. */
static bool find_single(const char *word, machine_atom *ret_atom, bool *ret_is_negated) {
    static const struct {
        const char *word;
        atom_kind   kind;
        uint32_t    low;
        bool        is_negated;
    } singles[] = {
        { "syn", ATOM_FLAG, TCP_SYN, false },
        { "ack", ATOM_FLAG, TCP_ACK, false },
        { "fin", ATOM_FLAG, TCP_FIN, false },
        { "rst", ATOM_FLAG, TCP_RST, false },
        { "psh", ATOM_FLAG, TCP_PSH, false },
        { "urg", ATOM_FLAG, TCP_URG, false },
        { "ece", ATOM_FLAG, TCP_ECE, false },
        { "cwr", ATOM_FLAG, TCP_CWR, false },
        { "client", ATOM_CLIENT, 0, false },
        { "server", ATOM_CLIENT, 0, true },
        { "tcp", ATOM_PROTOCOL, PROTOCOL_TCP, false },
        { "udp", ATOM_PROTOCOL, PROTOCOL_UDP, false },
        { "icmp", ATOM_PROTOCOL, PROTOCOL_ICMP, false },
        { "ip4", ATOM_VERSION, 4, false },
        { "ip6", ATOM_VERSION, 6, false },
        { "fragment", ATOM_FRAGMENT, 0, false },
        { "unreachable", ATOM_UNREACHABLE, 0, false },
    };
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
        if (strcmp(singles[i].word, word) != 0) continue;
        memset(ret_atom, 0, sizeof *ret_atom);
        ret_atom->kind = singles[i].kind;
        ret_atom->low = singles[i].low;
        *ret_is_negated = singles[i].is_negated;
        return true;
    }
    return false;
}

/* A test with nothing set but its kind. All bytes are 0, so that equal tests are equal. */
static machine_atom make_atom(atom_kind kind) {
    machine_atom atom;
    memset(&atom, 0, sizeof atom);
    atom.kind = kind;
    return atom;
}

static bool read_port(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = make_atom(kind);
    return word_next(r) && word_take_ports(r, &atom.ports) && code_add_atom(r, rule, &atom);
}

static bool read_address(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = make_atom(kind);
    bool         is_more = true;
    if (!word_next(r)) return false;
    while (is_more) {
        if (atom.n_prefixes == MACHINE_PREFIXES)
            return word_fail(r, "more than %d addresses in one list", MACHINE_PREFIXES);
        if (!word_take_prefix(r, &atom.prefixes[atom.n_prefixes++]) ||
            !word_accept(r, ",", &is_more))
            return false;
    }
    return code_add_atom(r, rule, &atom);
}

static bool read_type(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = make_atom(kind);
    return word_next(r) &&
           word_take_range(r, 255, "an ICMP type, as in 8", &atom.low, &atom.high) &&
           code_add_atom(r, rule, &atom);
}

/* A sign of comparison. */
static bool take_sign(reader *r, const char *after, char ret_sign[3]) {
    char expected[64];
    (void)snprintf(expected, sizeof expected, "one of < <= = >= > after '%s'", after);
    if (r->word[0] == '\0' || strchr("<>=", r->word[0]) == NULL)
        return word_fail_expected(r, expected);
    memcpy(ret_sign, r->word, 2);
    ret_sign[2] = '\0';
    return word_next(r);
}

/* byte 0 = 22, byte 13 & 0x0f >= 2: the byte is between low and high. A byte that was not captured
 * meets no comparison, so these are not built from "not", as sizes are. */
static bool read_byte(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = make_atom(kind);
    char         sign[3];
    bool         is_masked;
    uint32_t     value;
    atom.mask = 255;
    if (!word_next(r) ||
        !word_take_number(r, MACHINE_MAX_OFFSET, "an offset in the payload from 0 to 1023",
                          &atom.offset) ||
        !word_accept(r, "&", &is_masked))
        return false;
    if (is_masked && !word_take_number(r, 255, "a mask from 1 to 0xff", &atom.mask)) return false;
    if (!take_sign(r, "byte", sign) ||
        !word_take_number(r, 255, "a value from 0 to 255 or 0xff", &value))
        return false;
    bool const is_strict = sign[0] != '=' && sign[1] != '=';
    if ((sign[0] == '<' && is_strict && value == 0) ||
        (sign[0] == '>' && is_strict && value == 255))
        return word_fail(r, "no byte is %s %u", sign, value);
    atom.low = sign[0] == '<' ? 0 : value + (sign[0] == '>' && is_strict);
    atom.high = sign[0] == '>' ? 255 : value - (sign[0] == '<' && is_strict);
    return code_add_atom(r, rule, &atom);
}

/* bytes 1 = 0x00000001 */
static bool read_bytes(reader *r, machine_rule *rule, atom_kind kind) {
    machine_atom atom = make_atom(kind);
    return word_next(r) &&
           word_take_number(r, MACHINE_MAX_OFFSET, "an offset in the payload from 0 to 1023",
                            &atom.offset) &&
           word_expect(r, "=", "'=' after the offset of 'bytes'") &&
           word_take_sequence(r, atom.sequence, &atom.low) && code_add_atom(r, rule, &atom);
}

/* The only atom is "n bytes or more". The other comparisons are built from it:
 *
 *     size >= n   n or more              size <  n   not (n or more)
 *     size >  n   n + 1 or more          size <= n   not (n + 1 or more)
 *     size =  n   n or more, and not (n + 1 or more)
 */
static bool read_size(reader *r, machine_rule *rule, atom_kind kind) {
    char         sign[3];
    machine_atom least = make_atom(kind);
    if (!word_next(r) || !take_sign(r, "size", sign) ||
        !word_take_number(r, 65535, "a number of bytes up to 65535", &least.low))
        return false;
    bool const   is_or_equal = sign[0] != '=' && sign[1] == '=';
    machine_atom more = least;
    more.low++;
    if (sign[0] == '=') {
        return code_add_atom(r, rule, &least) && code_add_atom(r, rule, &more) &&
               code_add(r, rule, CODE_NOT) && code_add(r, rule, CODE_AND);
    }
    bool const is_more = (sign[0] == '>') != is_or_equal; /* > and <= use n + 1 */
    return code_add_atom(r, rule, is_more ? &more : &least) &&
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

/* Tests that take values. */
static const struct {
    const char *word;
    bool (*read)(reader *r, machine_rule *rule, atom_kind kind);
    atom_kind kind;
} valued[] = {
    { "port", read_port, ATOM_PORT },
    { "from-port", read_port, ATOM_FROM_PORT },
    { "to-port", read_port, ATOM_TO_PORT },
    { "address", read_address, ATOM_ADDRESS },
    { "from-address", read_address, ATOM_FROM_ADDRESS },
    { "to-address", read_address, ATOM_TO_ADDRESS },
    { "type", read_type, ATOM_TYPE },
    { "size", read_size, ATOM_SIZE },
    { "byte", read_byte, ATOM_BYTE },
    { "bytes", read_bytes, ATOM_BYTES },
};

static bool read_test(reader *r, machine_rule *rule) {
    machine_atom atom;
    bool         is_negated;
    if (word_is(r, "(")) return read_group(r, rule);
    if (word_is(r, "any")) return code_add(r, rule, CODE_TRUE) && word_next(r);
    for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
        if (word_is(r, valued[i].word)) return valued[i].read(r, rule, valued[i].kind);
    }
    if (r->is_quoted || !find_single(r->word, &atom, &is_negated))
        return word_fail_expected(r, "a condition (syn, client, port 53, size > 0, any, ...)");
    return code_add_atom(r, rule, &atom) && (!is_negated || code_add(r, rule, CODE_NOT)) &&
           word_next(r);
}

static bool read_factor(reader *r, machine_rule *rule) {
    unsigned n_nots = 0;
    while (word_is(r, "not")) {
        n_nots++;
        if (!word_next(r)) return false;
    }
    bool const is_fine = read_test(r, rule);
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
