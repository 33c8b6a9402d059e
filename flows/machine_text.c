/* machine_text.c - parse a machine (machine.h) from text.
 *
 * The first word of a line names the statement: machine, over, state or from. An error message
 * gives the line, what was expected there, and what was found.
 *
 *     machine_text.c (statements)  ->  condition.c (conditions)  ->  words.c (words)
 */
#include <string.h>

#include "condition.h"
#include "suggest.h"

/* ------------------------------------------------------------------ names of states */

static int state_find(const machine *m, const char *name) {
    for (unsigned i = 0; i < m->n_states; i++) {
        if (strcmp(m->states[i].name, name) == 0) return (int)i;
    }
    return -1;
}

static const machine *suggesting; /* suggest() has no context argument */

static const char *state_name_at(size_t i) {
    return i < suggesting->n_states ? suggesting->states[i].name : NULL;
}

/* The word is not the name of a state. */
static bool fail_state(reader *r) {
    if (r->word[0] == '\0') return word_fail_expected(r, "a state");
    suggesting = r->m;
    const char *const meant = suggest(r->word, state_name_at);
    if (meant != NULL)
        return word_fail(r, "there is no state '%s' above this line; did you mean '%s'?", r->word,
                         meant);
    return word_fail(r, "there is no state '%s' above this line", r->word);
}

/* ------------------------------------------------------------------ statements */

static bool read_machine_line(reader *r) {
    machine *const m = r->m;
    if (m->name[0] != '\0') return word_fail(r, "a second 'machine': a file has only one");
    if (!word_take_name(r, m->name, "a name after 'machine'")) return false;
    memcpy(m->title, m->name, sizeof m->name);
    if (!r->is_quoted) return true;
    memcpy(m->title, r->word, sizeof m->title);
    return word_next(r);
}

static bool read_over(reader *r) {
    static const struct {
        const char *word;
        uint8_t     protocol;
    } known[] = {
        { "tcp", PROTOCOL_TCP }, { "udp", PROTOCOL_UDP }, { "icmp", PROTOCOL_ICMP }, { "any", 0 }
    };
    bool has_ports;
    if (r->has_over) return word_fail(r, "a second 'over': a machine has only one");
    r->has_over = true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!word_is(r, known[i].word)) continue;
        r->m->protocol = known[i].protocol;
        if (!word_next(r) || !word_accept(r, "port", &has_ports)) return false;
        if (has_ports && known[i].protocol == PROTOCOL_ICMP)
            return word_fail(r, "ICMP has no ports; leave out 'port'");
        return !has_ports || word_take_ports(r, &r->m->ports);
    }
    return word_fail_expected(r, "tcp, udp, icmp or any after 'over'");
}

static bool read_key(reader *r) {
    static const char *const words[] = {
        [KEY_PORTS] = "ports", [KEY_DNS_ID] = "dns-id", [KEY_HOSTS] = "hosts"
    };
    if (r->has_key) return word_fail(r, "a second 'key': a machine has only one");
    r->has_key = true;
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!word_is(r, words[i])) continue;
        r->m->key = (machine_key)i;
        return word_next(r);
    }
    return word_fail_expected(r, "ports, dns-id or hosts after 'key'");
}

static bool read_duplicates(reader *r) {
    if (r->m->duplicate_ns != 0)
        return word_fail(r, "a second 'duplicates': a machine has only one");
    return word_take_duration(r, &r->m->duplicate_ns);
}

static bool read_state_words(reader *r, machine_state *state) {
    bool is_half_open, is_unconfirmed, is_ended, is_evictable, is_as;
    while (!word_is_end(r)) {
        if (!word_accept(r, "half-open", &is_half_open) ||
            !word_accept(r, "unconfirmed", &is_unconfirmed) ||
            !word_accept(r, "ended", &is_ended) || !word_accept(r, "evictable", &is_evictable) ||
            !word_accept(r, "as", &is_as))
            return false;
        state->is_half_open |= is_half_open;
        state->is_unconfirmed |= is_unconfirmed;
        state->is_ended |= is_ended;
        state->is_evictable |= is_half_open || is_unconfirmed || is_ended || is_evictable;
        if (is_as && !word_take_name(r, state->shown, "a name after 'as'")) return false;
        if (!is_half_open && !is_unconfirmed && !is_ended && !is_evictable && !is_as)
            return word_fail_expected(r, "'half-open', 'unconfirmed', 'ended', 'evictable', 'as' "
                                         "or the end of the line");
    }
    if (state->is_half_open + state->is_unconfirmed + state->is_ended > 1)
        return word_fail(r, "a state can only be one of half-open, unconfirmed and ended");
    return true;
}

static bool read_state(reader *r) {
    machine      *m = r->m;
    machine_state state = { .line = r->line };
    if (m->n_states == MACHINE_STATES) return word_fail(r, "more than %d states", MACHINE_STATES);
    if (!word_take_name(r, state.name, "a name after 'state'")) return false;
    if (state_find(m, state.name) >= 0)
        return word_fail(r, "there is a state '%s' already", state.name);
    static const char *const reserved[] = { "new", "any", "stay", "end" };
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(state.name, reserved[i]) == 0)
            return word_fail(r, "a state cannot be called '%s': the word has a meaning in rules",
                             reserved[i]);
    }
    memcpy(state.shown, state.name, sizeof state.shown);
    if (!word_expect(r, "timeout", "'timeout' after the name of the state")) return false;
    if (!word_take_duration(r, &state.timeout_ns) || !read_state_words(r, &state)) return false;
    m->states[m->n_states++] = state;
    return true;
}

/* The states of a rule: new, any, or names separated by commas. */
static bool read_from(reader *r, machine_rule *rule) {
    bool is_more = true;
    while (is_more) {
        int const state = r->is_quoted ? -1 : state_find(r->m, r->word);
        if (word_is(r, "new"))
            rule->from |= 1;
        else if (word_is(r, "any"))
            rule->from |= ~UINT64_C(1);
        else if (state >= 0)
            rule->from |= UINT64_C(2) << state;
        else
            return fail_state(r);
        if (!word_next(r) || !word_accept(r, ",", &is_more)) return false;
    }
    return true;
}

static bool read_go(reader *r, machine_rule *rule) {
    int const state = r->is_quoted ? -1 : state_find(r->m, r->word);
    if (word_is(r, "stay"))
        rule->go = GO_STAY;
    else if (word_is(r, "end"))
        rule->go = GO_END;
    else if (state >= 0)
        rule->go = state;
    else
        return fail_state(r);
    return word_next(r);
}

static bool take_event(reader *r, machine_rule *rule, bool is_anomaly) {
    machine *const m = r->m;
    if (rule->event >= 0) return word_fail(r, "a second event: a rule has only one");
    if (is_anomaly != r->is_quoted || r->word[0] == '\0') {
        return word_fail_expected(r, is_anomaly ? "a quoted text after 'anomaly'"
                                                : "a name after 'event'");
    }
    if (!is_anomaly && !word_is_name(r))
        return word_fail_expected(r, "a name of letters, digits, - and _ after 'event'");
    for (unsigned i = 0; i < m->n_events; i++) {
        if (m->events[i].is_anomaly == is_anomaly && strcmp(m->events[i].name, r->word) == 0)
            rule->event = (int)i;
    }
    if (rule->event < 0) {
        if (m->n_events == MACHINE_EVENTS)
            return word_fail(r, "more than %d events", MACHINE_EVENTS);
        rule->event = (int)m->n_events++;
        machine_event *const event = &m->events[rule->event];
        event->is_anomaly = is_anomaly;
        event->role = is_anomaly                        ? ROLE_NONE
                      : strcmp(r->word, "refused") == 0 ? ROLE_REFUSED
                      : strcmp(r->word, "reset") == 0   ? ROLE_RESET
                                                        : ROLE_NONE;
        memcpy(event->name, r->word, sizeof event->name);
    }
    return word_next(r);
}

/* Words that set a flag of the rule. *ret_is_flag: the current word was one. */
static bool take_flag(reader *r, machine_rule *rule, bool *ret_is_flag) {
    const struct {
        const char *word;
        bool       *flag;
    } flags[] = { { "opens", &rule->opens },
                  { "answers", &rule->answers },
                  { "reversed", &rule->is_reversed },
                  { "guess", &rule->is_guess },
                  { "attempt", &rule->is_attempt } };
    *ret_is_flag = false;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!word_is(r, flags[i].word)) continue;
        *ret_is_flag = *flags[i].flag = true;
        return word_next(r);
    }
    return true;
}

static bool read_rule_words(reader *r, machine_rule *rule) {
    bool is_event, is_anomaly, is_flag;
    while (!word_is_end(r)) {
        if (!word_accept(r, "event", &is_event) || (is_event && !take_event(r, rule, false)))
            return false;
        if (!word_accept(r, "anomaly", &is_anomaly) || (is_anomaly && !take_event(r, rule, true)))
            return false;
        if (!take_flag(r, rule, &is_flag)) return false;
        if (!is_event && !is_anomaly && !is_flag) {
            return word_fail_expected(r, "'event', 'anomaly', 'opens', 'answers', 'reversed', "
                                         "'guess', 'attempt' or the end of the line");
        }
    }
    return true;
}

static bool check_rule_words(reader *r, machine_rule *rule) {
    bool const is_new = (rule->from & 1) != 0;
    if (rule->opens && rule->go < 0) return word_fail(r, "'opens' needs a state to go to");
    if (is_new && rule->go == GO_END)
        return word_fail(r, "a new flow cannot end; write 'go stay' to ignore the packet");
    if ((rule->is_reversed || rule->is_guess || rule->is_attempt) && !(rule->opens || is_new))
        return word_fail(r, "'%s' is for rules that open a flow",
                         rule->is_reversed ? "reversed"
                         : rule->is_guess  ? "guess"
                                           : "attempt");
    if (rule->is_reversed && rule->is_guess)
        return word_fail(r, "'reversed' and 'guess' cannot be used together");
    r->m->has_guess |= rule->is_guess;
    return true;
}

/* Keep the text of the condition, for people. It ends before the current word. */
static void keep_text(const reader *r, const char *begin, machine_rule *rule) {
    size_t n = (size_t)(r->at - begin) - strlen(r->word);
    while (n > 0 && begin[n - 1] == ' ') n--;
    bool const is_long = n >= sizeof rule->text;
    if (is_long) n = sizeof rule->text - 4;
    memcpy(rule->text, begin, n);
    memcpy(rule->text + n, is_long ? "..." : "", is_long ? 4 : 1);
}

static bool read_rule(reader *r) {
    machine     *m = r->m;
    machine_rule rule = { .line = r->line, .event = -1 };
    if (m->n_rules == MACHINE_RULES) return word_fail(r, "more than %d rules", MACHINE_RULES);
    if (!read_from(r, &rule)) return false;
    const char *begin = r->at;
    while (begin != r->end && *begin == ' ') begin++;
    if (!word_expect(r, "when", "',' or 'when'") || !condition_read(r, &rule)) return false;
    keep_text(r, begin, &rule);
    if (!word_expect(r, "go", "'and', 'or' or 'go'")) return false;
    if (!read_go(r, &rule) || !read_rule_words(r, &rule) || !check_rule_words(r, &rule))
        return false;
    m->rules[m->n_rules++] = rule;
    return true;
}

/* ------------------------------------------------------------------ the file */

static bool read_statement(reader *r) {
    static const struct {
        const char *word;
        bool (*read)(reader *r);
    } statements[] = {
        { "machine", read_machine_line },  { "over", read_over },   { "key", read_key },
        { "duplicates", read_duplicates }, { "state", read_state }, { "from", read_rule }
    };
    if (!word_next(r) || word_is_end(r)) return r->problem->text[0] == '\0';
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (!word_is(r, statements[i].word)) continue;
        if (!word_next(r) || !statements[i].read(r)) return false;
        return word_is_end(r) || word_fail_expected(r, "the end of the line");
    }
    return word_fail_expected(r, "'machine', 'over', 'key', 'duplicates', 'state' or 'from'");
}

/* Some rule must go to each state. */
static bool check_reachable(reader *r) {
    machine *const m = r->m;
    uint64_t       reached = 0;
    for (unsigned i = 0; i < m->n_rules; i++) {
        if (m->rules[i].go >= 0) reached |= UINT64_C(1) << m->rules[i].go;
    }
    for (unsigned i = 0; i < m->n_states; i++) {
        r->line = m->states[i].line;
        if ((reached >> i & 1) == 0)
            return word_fail(r, "no rule goes to the state '%s'", m->states[i].name);
    }
    return true;
}

/* With many values a table has one timeout for all of them. So if there are too many, states do not
 * keep the client that no rule asks for. If only reports would tell it, they do without it (and say
 * from and to instead). */
static bool check_timeouts(reader *r) {
    machine *const m = r->m;
    bool           is_equal = true;
    for (unsigned i = 1; i < m->n_states; i++)
        is_equal &= m->states[i].timeout_ns == m->states[0].timeout_ns;
    unsigned n = machine_number_values(m, CLIENTS_OF_ALL);
    if (n > MACHINE_TIMED_VALUES && !is_equal) n = machine_number_values(m, CLIENTS_IF_NEEDED);
    if (n > MACHINE_TIMED_VALUES && !is_equal && !m->asks_client)
        n = machine_number_values(m, CLIENTS_OF_NONE);
    if (n <= MACHINE_TIMED_VALUES || is_equal) return true;
    for (unsigned i = 1; i < m->n_states; i++) {
        r->line = m->states[i].line;
        if (m->states[i].timeout_ns != m->states[0].timeout_ns) break;
    }
    return word_fail(r,
                     "different timeouts need at most %d values, and these states make %u (a state "
                     "that has to know its client makes two)",
                     MACHINE_TIMED_VALUES, n);
}

static bool is_port_test(const machine_atom *atom) {
    return atom->kind == ATOM_PORT || atom->kind == ATOM_FROM_PORT || atom->kind == ATOM_TO_PORT;
}

/* A test that no packet of this protocol can meet is a mistake. */
static bool check_atoms(reader *r) {
    static const char *const names[] = {
        [PROTOCOL_TCP] = "tcp", [PROTOCOL_UDP] = "udp", [PROTOCOL_ICMP] = "icmp"
    };
    const machine *const m = r->m;
    for (unsigned i = 1; i < m->n_atoms && m->protocol != 0; i++) {
        const machine_atom *const atom = &m->atoms[i];
        const char *const         name = names[m->protocol];
        r->line = atom->line;
        if (atom->kind == ATOM_FLAG && m->protocol != PROTOCOL_TCP)
            return word_fail(r, "only TCP has flags, and this machine is over %s", name);
        if (atom->kind == ATOM_TYPE && m->protocol != PROTOCOL_ICMP)
            return word_fail(r, "only ICMP has a 'type', and this machine is over %s", name);
        if (is_port_test(atom) && m->protocol == PROTOCOL_ICMP)
            return word_fail(r, "ICMP has no ports; use 'type', 'byte' or an address");
        if (atom->kind == ATOM_PROTOCOL)
            return word_fail(
                r, "all packets of this machine are %s; leave out the test of the protocol", name);
    }
    return true;
}

static bool check_whole(reader *r) {
    machine *const m = r->m;
    if (m->name[0] == '\0')
        return word_fail(r, "expected 'machine' and its name, found the end of the file");
    if (m->n_states == 0) return word_fail(r, "expected a 'state', found the end of the file");
    bool has_begin = false;
    for (unsigned i = 0; i < m->n_rules; i++)
        has_begin |= (m->rules[i].from & 1) != 0 && m->rules[i].go >= 0;
    if (!has_begin)
        return word_fail(r, "expected a rule 'from new ... go STATE', found the end of the file");
    return check_reachable(r) && check_atoms(r) && check_timeouts(r);
}

bool machine_read(const char *text, size_t n, machine *ret_machine,
                  machine_problem *reterr_problem) {
    *ret_machine = (machine){ .n_atoms = 1 };
    *reterr_problem = (machine_problem){ 0 };
    reader r = {
        .at = text, .end = text + n, .line = 1, .m = ret_machine, .problem = reterr_problem
    };
    if (!words_are_text(&r)) return false;
    while (r.at != r.end) {
        if (!read_statement(&r)) return false;
        while (r.at != r.end && *r.at != '\n') r.at++; /* skip a comment */
        if (r.at == r.end) break;
        r.at++;
        r.line++;
    }
    return check_whole(&r) && machine_compile(ret_machine, reterr_problem);
}
