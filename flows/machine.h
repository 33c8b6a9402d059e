/* machine.h - state machines for flows, read from small text files.
 *
 *     machine dns "DNS queries"
 *     over udp port 53
 *
 *     state asked     timeout 5s  half-open
 *     state answered  timeout 5s
 *
 *     from new       when to-port 53  go asked     event asked
 *     from asked     when server      go answered  event answered  answers
 *     from answered  when client      go asked     event asked     opens
 *
 * docs/flows.md describes the language. machine_text.c parses it. machine.c compiles it into a
 * table that finds the rule for a packet with one lookup.
 */
#ifndef FLOWS_MACHINE_H
#define FLOWS_MACHINE_H

#include <stdio.h>

#include "packet.h"

#define MACHINE_STATES 32
#define MACHINE_RULES 96
#define MACHINE_ATOMS 12 /* different tests of a packet, in all conditions together */
#define MACHINE_EVENTS 32
#define MACHINE_NAME_BYTES 32
#define MACHINE_TEXT_BYTES 80
#define MACHINE_CODE_BYTES 64
#define MACHINE_MAX_PORT 65535

/* Only with so many values or fewer can a table have a timeout of its own for each. */
#define MACHINE_TIMED_VALUES 16

typedef char machine_word[MACHINE_NAME_BYTES];

typedef struct machine_state {
    machine_word name;
    machine_word shown; /* its name in reports; several states may share one */
    uint64_t     timeout_ns;
    bool         is_half_open;
    unsigned     line;
} machine_state;

/* A yes-or-no test of a packet. */
typedef enum atom_kind {
    ATOM_CLIENT, /* sent by the end that opened the flow; always atom 0 of a machine */
    ATOM_FLAG,   /* low: TCP_... */
    ATOM_PROTOCOL,
    ATOM_VERSION,
    ATOM_PORT, /* of either end, low to high */
    ATOM_FROM_PORT,
    ATOM_TO_PORT,
    ATOM_SIZE, /* at least `low` bytes */
    ATOM_TYPE, /* of ICMP */
    ATOM_FRAGMENT,
} atom_kind;

typedef struct machine_atom {
    atom_kind kind;
    uint32_t  low, high;
} machine_atom;

#define GO_STAY (-1)
#define GO_END (-2)

typedef struct machine_rule {
    uint64_t from;        /* bit 0: new flows; bit 1 + i: state i */
    int      go;          /* the new state, or GO_... */
    int      event;       /* or -1 */
    bool     opens;       /* this packet begins a new flow, even if the tuple has one already */
    bool     answers;     /* the other end has answered */
    bool     is_reversed; /* the receiver of this packet opened the flow */
    unsigned line;
    uint8_t  code[MACHINE_CODE_BYTES]; /* the condition, see below */
    unsigned code_bytes;
} machine_rule;

typedef struct machine_event {
    char name[MACHINE_TEXT_BYTES];
    bool is_anomaly;
} machine_event;

typedef struct machine {
    machine_word  name;
    char          title[MACHINE_TEXT_BYTES];
    uint8_t       protocol; /* of the packets that it handles; 0: all */
    uint32_t      low_port, high_port;
    unsigned      n_states, n_atoms, n_rules, n_events;
    machine_state states[MACHINE_STATES];
    machine_atom  atoms[MACHINE_ATOMS];
    machine_rule  rules[MACHINE_RULES];
    machine_event events[MACHINE_EVENTS];
    bool          has_direction;     /* values tell which end opened the flow */
    uint8_t      *chosen;            /* [1 + n_states][2^n_atoms]: 1 + a rule, or 0 */
    uint16_t      flag_answers[256]; /* of the tests of TCP flags, for each flags byte */
    bool          asks_flags_only;   /* atom 0 is the only other test */
} machine;

/* What is wrong with a file, and in which line. */
typedef struct machine_problem {
    unsigned line;
    char     text[240];
} machine_problem;

/* Parse and compile. False: *reterr_problem says why. */
bool machine_read(const char *text, size_t n, machine *ret_machine,
                  machine_problem *reterr_problem);
void machine_free(machine *m);

/* Fill m->chosen. Called by machine_read(). */
bool machine_compile(machine *m, machine_problem *reterr_problem);

/* The built-in machines, i = 0, 1, ...; NULL after the last. */
typedef struct machine_shipped {
    const char *name, *text;
    size_t      n;
} machine_shipped;
const machine_shipped *machine_shipped_at(size_t i);

/* ------------------------------------------------------------------ conditions as code */

/* A condition is code for a stack of answers. A byte below 0xf0 is an atom: push its answer. The
 * others work on the top of the stack. */
enum { CODE_NOT = 0xf0, CODE_AND = 0xf1, CODE_OR = 0xf2, CODE_TRUE = 0xf3 };

bool machine_holds(const machine_rule *rule, uint32_t answers);

/* ------------------------------------------------------------------ using a machine */

/* A value in the table of flows is a state. If conditions say client or server, one more bit tells
 * which end of the tuple opened the flow:
 *
 *     | state ...          | is end 1 the client? |
 */
static inline unsigned machine_values(const machine *m) {
    unsigned const values = m->has_direction ? 2 * m->n_states : m->n_states;
    return values < 2 ? 2 : values;
}

static inline uint32_t machine_value(const machine *m, unsigned state, bool is_client_high) {
    return m->has_direction ? 2 * state + is_client_high : state;
}

static inline unsigned machine_state_of(const machine *m, uint32_t value) {
    return m->has_direction ? value >> 1 : value;
}

/* Does this machine handle the packet? */
bool machine_takes(const machine *m, const packet *p);

/* The answers of all tests of a packet, except atom 0, which depends on the flow. */
uint32_t machine_all_answers(const machine *m, const packet *p);

static inline uint32_t machine_answers(const machine *m, const packet *p) {
    return m->asks_flags_only ? m->flag_answers[p->flags] : machine_all_answers(m, p);
}

/* The rule for a packet of a flow in a state, or without a flow (state -1). NULL: none applies. */
static inline const machine_rule *machine_choose(const machine *m, int state, uint32_t answers,
                                                 bool is_from_client) {
    size_t const  row = (size_t)(state + 1) << m->n_atoms;
    uint8_t const rule = m->chosen[row + (answers | is_from_client)];
    return rule != 0 ? &m->rules[rule - 1] : NULL;
}

#endif
