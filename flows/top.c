/* top.c - see top.h. */
#include "top.h"

#include <string.h>

void top_init(top *ret_top, const machine *m, uint64_t seed) {
    memset(ret_top, 0, sizeof *ret_top);
    ret_top->m = m;
    ret_top->weight = 1;
    ret_top->step = ret_top->next_byte = TOP_FIRST_STEP;
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        ranking_init(&ret_top->lists[role].flows, seed + role);
        ranking_init(&ret_top->lists[role].bytes, seed + role);
    }
}

const char *top_measure_name(top_measure measure) {
    static const char *const names[N_TOP_MEASURES] = { [TOP_FLOWS] = "flows",
                                                       [TOP_HALF_OPEN] = "half_open",
                                                       [TOP_REFUSED] = "refused",
                                                       [TOP_RESET] = "reset",
                                                       [TOP_BYTES] = "bytes" };
    return names[measure];
}

const char *top_role_name(top_role role) {
    return role == TOP_SOURCE ? "source" : "target";
}

/* ------------------------------------------------------------------ one host */

static void list_enter(top_list *list, uint16_t i, uint16_t port) {
    for (unsigned measure = 0; measure < N_TOP_COUNTS; measure++) list->counts[measure][i] = 0;
    list->has_ports[i] = false;
    list->ports[i] = port;
}

/* The two ends of a flow, in the order of the roles. Both carry the port of the server. */
static void get_ends(const tracked *p, host_end ret_ends[N_TOP_ROLES]) {
    const flow_tuple *const flow = &p->p.flow;
    uint16_t const          service = flow->port[!p->is_client_high];
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        bool const is_high = p->is_client_high != (role == TOP_TARGET);
        memcpy(ret_ends[role].address, flow->address[is_high], 16);
        ret_ends[role].version = flow->version;
        ret_ends[role].port = service;
    }
}

static uint16_t list_open(top_list *list, const host_end *host, uint64_t weight) {
    bool           has_entered;
    uint16_t const i = ranking_count(&list->flows, host, 1, &has_entered);
    if (has_entered) list_enter(list, i, host->port);
    list->counts[TOP_FLOWS][i] += weight;
    list->has_ports[i] |= list->ports[i] != host->port;
    return i;
}

/* A host may have entered the list after its attempt, or with another weight. */
static void take_from(uint64_t *count, uint64_t weight) {
    *count -= *count < weight ? *count : weight;
}

/* ------------------------------------------------------------------ flows */

static bool is_half_open(const top *t, uint32_t value) {
    return t->m->states[machine_state_of(t->m, value)].is_half_open;
}

/* What happens to half-open flows: +1, -1 or 0. */
static int half_open_change(const top *t, const tracked *p, bool is_opening) {
    bool const was = p->before == TAMIS_OK && !is_opening && is_half_open(t, p->value);
    bool const will_be = p->step == TAMIS_STEP_SET    ? is_half_open(t, p->to)
                         : p->step == TAMIS_STEP_DROP ? false
                                                      : was;
    return (int)will_be - (int)was;
}

/* What happens to a flow, for each of its ends that is in its list. */
static void see_flow(top *t, const tracked *p, bool is_opening) {
    event_role const event = p->rule->event >= 0 ? t->m->events[p->rule->event].role : ROLE_NONE;
    int const        change = half_open_change(t, p, is_opening);
    host_end         ends[N_TOP_ROLES];
    if (!is_opening && change == 0 && event == ROLE_NONE) return;
    get_ends(p, ends);
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        top_list *const list = &t->lists[role];
        uint16_t const  i = is_opening ? list_open(list, &ends[role], t->weight)
                                       : ranking_find(&list->flows, &ends[role]);
        if (i == RANKING_NONE) continue;
        if (change > 0) list->counts[TOP_HALF_OPEN][i] += t->weight;
        if (change < 0) take_from(&list->counts[TOP_HALF_OPEN][i], t->weight);
        if (event == ROLE_REFUSED) list->counts[TOP_REFUSED][i] += t->weight;
        if (event == ROLE_RESET) list->counts[TOP_RESET][i] += t->weight;
    }
}

/* ------------------------------------------------------------------ bytes */

/* A packet has n of the bytes that count. */
static void see_bytes(top *t, const tracked *p, uint64_t n) {
    for (unsigned role = 0; role < N_TOP_ROLES; role++) {
        top_list *const list = &t->lists[role];
        bool const      is_high = p->p.is_from_high != (role == TOP_TARGET);
        host_end        host = { .version = p->p.flow.version };
        bool            has_entered;
        memcpy(host.address, p->p.flow.address[is_high], 16);
        uint16_t const  i = ranking_count(&list->bytes, &host, n, &has_entered);
        uint64_t *const count = &list->counts[TOP_BYTES][i];
        *count = (has_entered ? 0 : *count) + n * t->step;
    }
}

static void see_packet(top *t, const tracked *p) {
    t->n_bytes += p->bytes;
    if (t->n_bytes < t->next_byte) return;
    uint64_t const n = (t->n_bytes - t->next_byte) / t->step + 1;
    see_bytes(t, p, n);
    t->next_byte += n * t->step;
    if (t->n_bytes < 2 * TOP_SAMPLES * t->step) return;
    t->step *= 2;
    for (unsigned role = 0; role < N_TOP_ROLES; role++) ranking_halve(&t->lists[role].bytes);
}

void top_see_bytes(top *t, const tracked *batch, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += batch[i].bytes;
    if (t->n_bytes + sum < t->next_byte) {
        t->n_bytes += sum;
        return;
    }
    for (size_t i = 0; i < n; i++) see_packet(t, &batch[i]);
}

void top_add_flows(top *t, uint64_t n) {
    t->n_flows += n;
    while (t->n_flows > t->weight * TOP_FLOWS_WHOLE) {
        t->weight *= 2;
        for (unsigned role = 0; role < N_TOP_ROLES; role++) ranking_halve(&t->lists[role].flows);
    }
}

void top_see_rule(top *t, const tracked *p, tamis_status after) {
    if (p->step == TAMIS_STEP_SET && after != TAMIS_OK) return;
    see_flow(t, p, tracker_is_opening(p, after));
}

/* ------------------------------------------------------------------ results */

/* Each flow of the sample stands for many. A host with one or two of them may have had no others,
 * and its row would accuse it of many. */
#define LEAST_SAMPLES 8

static bool is_sampled(const top *t, top_measure measure) {
    return measure == TOP_BYTES ? t->step != TOP_FIRST_STEP : t->weight != 1;
}

static bool is_seen_enough(const top *t, top_measure measure, uint64_t count) {
    uint64_t const sample = measure == TOP_BYTES ? t->step : t->weight;
    return !is_sampled(t, measure) || count >= LEAST_SAMPLES * sample;
}

/* An estimate can be higher than what there was in all. */
static uint64_t bounded(const top *t, top_measure measure, uint64_t count) {
    uint64_t const all = measure == TOP_BYTES ? t->n_bytes : t->n_flows;
    return is_sampled(t, measure) && count > all ? all : count;
}

size_t top_rows(const top *t, top_role role, top_measure measure, top_row *ret_rows, size_t max) {
    const top_list *const list = &t->lists[role];
    const ranking *const  hosts = measure == TOP_BYTES ? &list->bytes : &list->flows;
    const uint64_t *const counts = list->counts[measure];
    uint16_t              order[RANKING_HOSTS];
    size_t n = ranking_sort(hosts, counts, order, max < RANKING_HOSTS ? max : RANKING_HOSTS);
    while (n != 0 && !is_seen_enough(t, measure, counts[order[n - 1]])) n--;
    for (size_t i = 0; i < n; i++) {
        uint16_t const at = order[i];
        ret_rows[i] = (top_row){ .host = { .version = hosts->hosts[at].version } };
        memcpy(ret_rows[i].host.address, hosts->hosts[at].address, 16);
        if (measure != TOP_BYTES && !list->has_ports[at]) ret_rows[i].host.port = list->ports[at];
        ret_rows[i].count = bounded(t, measure, counts[at]);
    }
    return n;
}
