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
#include "services.h"

#define MACHINE_STATES 32
#define MACHINE_RULES 96
#define MACHINE_ATOMS 12 /* different tests of a packet, in all conditions together */
#define MACHINE_EVENTS 32
#define MACHINE_NAME_BYTES 32
#define MACHINE_TEXT_BYTES 80
#define MACHINE_CODE_BYTES 64
#define MACHINE_CONDITION_BYTES 160
#define MACHINE_MAX_PORT 65535
#define MACHINE_RANGES 16  /* of ports, in one list */
#define MACHINE_PREFIXES 8 /* of addresses, in one list */
#define MACHINE_SEQUENCE 8 /* bytes of the payload that one test compares */
#define MACHINE_MAX_OFFSET 1023

/* Only with so many values or fewer can a table have a timeout of its own for each. */
#define MACHINE_TIMED_VALUES 16

typedef char machine_word[MACHINE_NAME_BYTES];

typedef struct machine_state {
    machine_word name;
    machine_word shown; /* its name in reports; several states may share one */
    uint64_t     timeout_ns;
    bool         is_half_open;
    bool         is_unconfirmed; /* picked up, and one packet may have been forged */
    bool         is_ended;       /* the flow is over; it is kept to recognise its last packets */
    bool         is_evictable;   /* may be forgotten to make room; so are all three above */
    bool         is_directed;    /* its values tell which end is the client */
    bool         is_guessed; /* its flows are picked up: the ports tell which end is the client */
    uint8_t      first_value;
    unsigned     line;
} machine_state;

/* Has nobody answered so far, as far as was captured? */
static inline bool machine_is_waiting(const machine_state *state) {
    return state->is_half_open || state->is_unconfirmed;
}

/* A list of ports: ranges from low to high. */
typedef struct machine_ports {
    unsigned n;
    uint16_t low[MACHINE_RANGES], high[MACHINE_RANGES];
} machine_ports;

/* The first `bits` bits of an address. */
typedef struct machine_prefix {
    uint8_t  address[16];
    uint8_t  version;
    unsigned bits;
} machine_prefix;

/* A yes-or-no test of a packet. */
typedef enum atom_kind {
    ATOM_CLIENT, /* sent by the end that opened the flow; always atom 0 of a machine */
    ATOM_FLAG,   /* low: TCP_... */
    ATOM_PROTOCOL,
    ATOM_VERSION,
    ATOM_PORT, /* of either end */
    ATOM_FROM_PORT,
    ATOM_TO_PORT,
    ATOM_ADDRESS, /* of either end */
    ATOM_FROM_ADDRESS,
    ATOM_TO_ADDRESS,
    ATOM_SIZE, /* at least `low` bytes */
    ATOM_TYPE, /* of ICMP */
    ATOM_FRAGMENT,
    ATOM_UNREACHABLE, /* no packet of the flow, but an ICMP error that quotes one */
    ATOM_BYTE,        /* of the payload, at `offset`: masked, and from low to high */
    ATOM_BYTES, /* of the payload, from `offset` on: `low` bytes that are equal to `sequence` */
} atom_kind;

typedef struct machine_atom {
    atom_kind      kind;
    uint32_t       low, high;
    uint32_t       offset, mask;
    uint8_t        sequence[MACHINE_SEQUENCE];
    machine_ports  ports;
    unsigned       n_prefixes;
    machine_prefix prefixes[MACHINE_PREFIXES];
    unsigned       line; /* where it is used first */
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
    bool     is_guess;    /* the client is guessed by the ports */
    bool     is_attempt; /* counts as an attempt of the sender, even if the flow is not half-open */
    unsigned line;
    uint8_t  code[MACHINE_CODE_BYTES]; /* the condition, see below */
    unsigned code_bytes;
    char     text[MACHINE_CONDITION_BYTES]; /* the condition as it was written, perhaps cut off */
} machine_rule;

/* Events with these names are counted for the lists of busy hosts (top.h). */
typedef enum event_role { ROLE_NONE, ROLE_REFUSED, ROLE_RESET } event_role;

typedef struct machine_event {
    char       name[MACHINE_TEXT_BYTES];
    bool       is_anomaly;
    event_role role;
} machine_event;

/* What tells flows apart, besides the addresses and the protocol. */
typedef enum machine_key {
    KEY_PORTS,
    KEY_DNS_ID, /* ports, and the first two bytes of the payload */
    KEY_HOSTS,  /* nothing: all ports of two hosts are one flow */
} machine_key;

/* What a value of the table means. */
typedef struct machine_meaning {
    uint8_t state;
    bool    is_directed, is_guessed, is_client_high;
} machine_meaning;

typedef struct machine {
    machine_word    name;
    char            title[MACHINE_TEXT_BYTES];
    uint8_t         protocol; /* of the packets that it handles; 0: all */
    machine_ports   ports;    /* that one end of them has; none: any */
    machine_key     key;
    uint64_t        duplicate_ns; /* a copy of a packet within this time is not counted; 0: it is */
    unsigned        n_states, n_atoms, n_rules, n_events;
    machine_state   states[MACHINE_STATES];
    machine_atom    atoms[MACHINE_ATOMS];
    machine_rule    rules[MACHINE_RULES];
    machine_event   events[MACHINE_EVENTS];
    bool            asks_client; /* conditions say client or server */
    bool            has_guess;   /* some rule guesses the client by ports */
    bool            is_plain;    /* too many states to keep the client: see check_timeouts() */
    unsigned        n_values;
    machine_meaning values[2 * MACHINE_STATES];
    uint8_t        *chosen;     /* [1 + n_states][2^n_atoms]: 1 + a rule, or 0 */
    uint16_t flag_answers[512]; /* of the tests of TCP flags and of size > 0, for each flags byte,
                                        without data and then with data */
    unsigned unreachable;       /* the test of ICMP errors; 0: there is none */
    unsigned n_others;          /* tests besides those of flags and atom 0, */
    uint8_t  others[MACHINE_ATOMS]; /* and which they are */
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

/* Give each state its values. Returns how many there are. */
typedef enum machine_clients {
    CLIENTS_OF_ALL,    /* every state knows the client, but for those at the end of a flow */
    CLIENTS_IF_NEEDED, /* only states from which something asks for it */
    CLIENTS_OF_NONE
} machine_clients;
unsigned machine_number_values(machine *m, machine_clients which);

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

/* A value in the table of flows is a state, and for most states also which end is the client:
 *
 *     value   0          1           2              3               4
 *             syn, low   syn, high   syn-ack, low   syn-ack, high   closed
 *
 * A state at the end of a flow has one value if nothing asks for its client: no rule from it tests
 * the sender, has an event, or leads to a state whose client matters. So have other states, if
 * there would be too many values (machine_number_values()). A state that is reached only by rules
 * that guess the client has one value as well: the guess can be made again. */
static inline unsigned machine_values(const machine *m) {
    return m->n_values < 2 ? 2 : m->n_values;
}

static inline uint32_t machine_value(const machine *m, unsigned state, bool is_client_high) {
    return m->states[state].first_value + (uint32_t)(m->states[state].is_directed & is_client_high);
}

static inline unsigned machine_state_of(const machine *m, uint32_t value) {
    return m->values[value].state;
}

/* The guess for a flow whose beginning was not seen: is end 1 the client? If one end has the
 * port of a well-known service and the other has not, that is the server: so clients with ports
 * below 1024, as those of NFS, are guessed right. Else the client has the higher port. The guess
 * depends on nothing but the tuple, so that it can be made again. */
static inline bool machine_guess_high(const packet *p) {
    uint16_t const low = p->flow.port[0], high = p->flow.port[1];
    bool const     is_low_known = service_is_known(low);
    return is_low_known != service_is_known(high) ? is_low_known : high > low;
}

/* The answers for an ICMP error that quotes a packet of the flow. Only rules that ask for it apply:
 * it says nothing else. */
static inline uint32_t machine_unreachable_answers(const machine *m) {
    return UINT32_C(1) << m->unreachable;
}

/* Does this machine handle the packet? */
bool machine_takes_slowly(const machine *m, const packet *p);

static inline bool machine_takes(const machine *m, const packet *p) {
    return (p->flow.protocol == m->protocol && m->ports.n == 0) || machine_takes_slowly(m, p);
}

/* The answers of the tests that are not about TCP flags. */
uint32_t machine_other_answers(const machine *m, const packet *p);

/* The answers of the tests of flags, and of size > 0. */
static inline uint32_t machine_flag_answers(const machine *m, const packet *p) {
    return m->flag_answers[p->flags | (p->payload_bytes != 0) << 8];
}

/* The answers of all tests of a packet, except atom 0, which depends on the flow. */
static inline uint32_t machine_answers(const machine *m, const packet *p) {
    uint32_t const answers = machine_flag_answers(m, p);
    return m->n_others == 0 ? answers : answers | machine_other_answers(m, p);
}

/* The rule for a packet of a flow in a state, or without a flow (state -1). NULL: none applies. */
static inline const machine_rule *machine_choose(const machine *m, int state, uint32_t answers,
                                                 bool is_from_client) {
    size_t const  row = (size_t)(state + 1) << m->n_atoms;
    uint8_t const rule = m->chosen[row + (answers | is_from_client)];
    return rule != 0 ? &m->rules[rule - 1] : NULL;
}

#endif
