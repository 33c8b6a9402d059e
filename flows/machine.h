/* machine.h - state machines for flows, read from small text files.
 *
 *     machine dns "DNS questions"
 *     over udp port 53
 *
 *     state asked     timeout 5s  half-open
 *     state answered  timeout 5s
 *
 *     from new       when to-port 53  go asked     event asked
 *     from asked     when server      go answered  event answered  answers
 *     from answered  when client      go asked     event asked     opens
 *
 * docs/flows.md describes the language. machine_text.c reads it; machine.c makes a table of it that
 * answers "which rule?" with one look.
 */
#ifndef FLOWS_MACHINE_H
#define FLOWS_MACHINE_H

#include <stdio.h>

#include "packet.h"

#define MACHINE_STATES 32
#define MACHINE_RULES 96
#define MACHINE_ATOMS 12 /* different questions about a packet, in all conditions together */
#define MACHINE_EVENTS 32
#define MACHINE_NAME_BYTES 32
#define MACHINE_TEXT_BYTES 80
#define MACHINE_CODE_BYTES 64
#define MACHINE_MAX_PORT 65535

/* The tables can give each of so many values a timeout of its own. */
#define MACHINE_TIMED_VALUES 16

typedef char machine_word[MACHINE_NAME_BYTES];

typedef struct machine_state {
    machine_word name;
    machine_word shown; /* in reports; several states may share it */
    uint64_t     timeout_ns;
    bool         is_half_open;
    unsigned     line;
} machine_state;

/* A question about a packet that is answered with yes or no. */
typedef enum atom_kind {
    ATOM_CLIENT, /* sent by the end that opened the flow: always the first atom of a machine */
    ATOM_FLAG,   /* low: TCP_... */
    ATOM_PROTOCOL,
    ATOM_VERSION,
    ATOM_PORT, /* either of them, low to high */
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
    int      go;          /* a state, or GO_... */
    int      event;       /* or -1 */
    bool     opens;       /* a flow begins with this packet, also where another one was */
    bool     answers;     /* the other end has answered */
    bool     is_reversed; /* the flow was opened by the end that this packet goes to */
    unsigned line;
    uint8_t  code[MACHINE_CODE_BYTES]; /* the condition, see machine.c */
    unsigned code_bytes;
} machine_rule;

typedef struct machine_event {
    char name[MACHINE_TEXT_BYTES];
    bool is_anomaly;
} machine_event;

typedef struct machine {
    machine_word  name;
    char          title[MACHINE_TEXT_BYTES];
    uint8_t       protocol; /* of the packets that it looks at; 0: all */
    uint32_t      low_port, high_port;
    unsigned      n_states, n_atoms, n_rules, n_events;
    machine_state states[MACHINE_STATES];
    machine_atom  atoms[MACHINE_ATOMS];
    machine_rule  rules[MACHINE_RULES];
    machine_event events[MACHINE_EVENTS];
    bool          has_direction;     /* values tell which end has opened the flow */
    uint8_t      *chosen;            /* [1 + n_states][2^n_atoms]: 1 + a rule, or 0 */
    uint16_t      flag_answers[256]; /* to questions about TCP flags, for all flags */
    bool          asks_flags_only;   /* there are no others, but for the first */
} machine;

/* What is wrong with a file: "line 7: expected a state after 'go', found 'estblished'". */
typedef struct machine_problem {
    unsigned line;
    char     text[240];
} machine_problem;

/* False: *reterr_problem says why. */
bool machine_read(const char *text, size_t n, machine *ret_machine,
                  machine_problem *reterr_problem);
void machine_free(machine *m);

/* Fill m->chosen; machine_read() does. */
bool machine_compile(machine *m, machine_problem *reterr_problem);

/* The machines that come along, i = 0, 1, ...: the text, or NULL after the last. */
typedef struct machine_shipped {
    const char *name, *text;
    size_t      n;
} machine_shipped;
const machine_shipped *machine_shipped_at(size_t i);

/* ------------------------------------------------------------------ conditions as code */

/* A condition is code for a stack of answers: atoms push theirs, the others take one or two. */
enum { CODE_NOT = 0xf0, CODE_AND = 0xf1, CODE_OR = 0xf2, CODE_TRUE = 0xf3 };

bool machine_holds(const machine_rule *rule, uint32_t answers);

/* ------------------------------------------------------------------ at work */

/* A value of the table is a state and, if the machine cares, which end of the tuple opened it. */
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

/* Is it for this machine? */
bool machine_takes(const machine *m, const packet *p);

/* The answers of a packet to all questions but the first, which depends on the flow. */
uint32_t machine_all_answers(const machine *m, const packet *p);

static inline uint32_t machine_answers(const machine *m, const packet *p) {
    return m->asks_flags_only ? m->flag_answers[p->flags] : machine_all_answers(m, p);
}

/* The rule for a packet in a state, or for a new flow (state -1); NULL if there is none. */
static inline const machine_rule *machine_choose(const machine *m, int state, uint32_t answers,
                                                 bool is_from_client) {
    size_t const  row = (size_t)(state + 1) << m->n_atoms;
    uint8_t const rule = m->chosen[row + (answers | is_from_client)];
    return rule != 0 ? &m->rules[rule - 1] : NULL;
}

#endif
