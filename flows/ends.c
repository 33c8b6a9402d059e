/* ends.c - see ends.h. */
#include "ends.h"

#include <stdlib.h>
#include <string.h>

bool ends_init(flow_ends *ret_ends, const machine *m, bool has_all, uint32_t n_places) {
    flow_ends *const e = ret_ends;
    *e = (flow_ends){ .m = m, .has_all = has_all, .n_places = n_places, .spare = ENDS_NONE };
    e->places = malloc(n_places * sizeof *e->places);
    e->chains = malloc(n_places * sizeof *e->chains);
    if (e->places == NULL || e->chains == NULL) {
        ends_fini(e);
        return false;
    }
    memset(e->chains, 0xff, n_places * sizeof *e->chains); /* ENDS_NONE */
    memset(e->oldest, 0xff, sizeof e->oldest);
    memset(e->newest, 0xff, sizeof e->newest);
    return true;
}

void ends_fini(flow_ends *e) {
    free(e->places);
    free(e->chains);
    e->places = NULL;
    e->chains = NULL;
    e->n = 0;
}

/* Two ticks more: a tick may have begun just before the last packet, or end just after. */
void ends_add_table(flow_ends *e, const table *flows) {
    if (e->places == NULL) return;
    for (unsigned value = 0; value < machine_values(e->m); value++) {
        unsigned const state = machine_state_of(e->m, value);
        uint64_t const ns = (table_gone(flows, value) + 2) * tracker_tick_ns(e->m);
        if (ns > e->gone_ns[state]) e->gone_ns[state] = ns;
    }
}

uint64_t ends_bytes(const flow_ends *e) {
    return e->places == NULL ? 0 : e->n_places * (sizeof *e->places + sizeof *e->chains);
}

/* ------------------------------------------------------------------ chains and lists */

/* Ids are hashes already. */
static uint32_t *chain_of(const flow_ends *e, uint64_t id) {
    return &e->chains[(uint64_t)((unsigned __int128)id * e->n_places >> 64)];
}

ends_flow *ends_find(const flow_ends *e, uint64_t id) {
    if (e->places == NULL) return NULL;
    for (uint32_t i = *chain_of(e, id); i != ENDS_NONE; i = e->places[i].next) {
        if (e->places[i].id == id) return &e->places[i];
    }
    return NULL;
}

static void leave_chain(flow_ends *e, const ends_flow *flow) {
    uint32_t *link = chain_of(e, flow->id);
    while (&e->places[*link] != flow) link = &e->places[*link].next;
    *link = flow->next;
}

static void leave_list(flow_ends *e, const ends_flow *flow) {
    if (flow->older != ENDS_NONE)
        e->places[flow->older].newer = flow->newer;
    else
        e->oldest[flow->list] = flow->newer;
    if (flow->newer != ENDS_NONE)
        e->places[flow->newer].older = flow->older;
    else
        e->newest[flow->list] = flow->older;
}

static void join_list(flow_ends *e, ends_flow *flow, unsigned list) {
    uint32_t const i = (uint32_t)(flow - e->places);
    flow->list = (uint8_t)list;
    flow->older = e->newest[list];
    flow->newer = ENDS_NONE;
    if (flow->older != ENDS_NONE)
        e->places[flow->older].newer = i;
    else
        e->oldest[list] = i;
    e->newest[list] = i;
}

void ends_remove(flow_ends *e, ends_flow *flow) {
    leave_list(e, flow);
    leave_chain(e, flow);
    flow->next = e->spare;
    e->spare = (uint32_t)(flow - e->places);
    e->n--;
}

/* ------------------------------------------------------------------ places */

/* The flow that has been silent for longest, of those that may be forged or are nearly over, or of
 * the others. */
static ends_flow *find_oldest(const flow_ends *e, bool is_evictable) {
    ends_flow *found = NULL;
    for (unsigned list = 0; list < 2 * e->m->n_states; list++) {
        if (e->m->states[list / 2].is_evictable != is_evictable || e->oldest[list] == ENDS_NONE)
            continue;
        ends_flow *const flow = &e->places[e->oldest[list]];
        if (found == NULL || flow->now_ns < found->now_ns) found = flow;
    }
    return found;
}

static ends_flow *get_place(flow_ends *e) {
    if (e->spare == ENDS_NONE && e->n_used < e->n_places) return &e->places[e->n_used++];
    if (e->spare == ENDS_NONE) {
        ends_flow *const evictable = find_oldest(e, true);
        ends_remove(e, evictable != NULL ? evictable : find_oldest(e, false));
        e->n_displaced++;
    }
    ends_flow *const place = &e->places[e->spare];
    e->spare = place->next;
    return place;
}

static ends_flow *add_flow(flow_ends *e, const tracked *p, uint64_t id) {
    ends_flow *const flow = get_place(e);
    uint32_t *const  chain = chain_of(e, id);
    flow->flow = p->p.flow;
    flow->id = id;
    flow->next = *chain;
    *chain = (uint32_t)(flow - e->places);
    e->n++;
    return flow;
}

void ends_see(flow_ends *e, ends_flow *known, const tracked *p, uint64_t id, unsigned state) {
    ends_flow *const flow = known != NULL ? known : add_flow(e, p, id);
    if (known != NULL) leave_list(e, flow);
    join_list(e, flow, 2 * state);
    if (known == NULL || e->m->states[state].is_directed) flow->is_client_high = p->is_client_high;
    flow->now_ns = p->now_ns;
    flow->time_ns = p->time_ns;
}

/* ------------------------------------------------------------------ silence */

/* When a flow in a list is reported. */
static uint64_t get_patience(const flow_ends *e, unsigned list) {
    const machine_state *const state = &e->m->states[list / 2];
    return state->is_half_open && list % 2 == 0 ? state->timeout_ns : e->gone_ns[list / 2];
}

static void report_silent(flow_ends *e, ends_flow *flow, ends_silent *on_silent, void *context) {
    unsigned const list = flow->list;
    bool const     is_gone = list % 2 != 0 || !e->m->states[list / 2].is_half_open;
    on_silent(context, flow, is_gone);
    if (is_gone || !e->has_all) {
        ends_remove(e, flow);
        return;
    }
    leave_list(e, flow);
    join_list(e, flow, list + 1);
}

void ends_advance(flow_ends *e, uint64_t now_ns, ends_silent *on_silent, void *context) {
    for (unsigned list = 0; e->n != 0 && list < 2 * e->m->n_states; list++) {
        uint64_t const patience = get_patience(e, list);
        while (e->oldest[list] != ENDS_NONE) {
            ends_flow *const flow = &e->places[e->oldest[list]];
            if (now_ns < flow->now_ns || now_ns - flow->now_ns < patience) break;
            report_silent(e, flow, on_silent, context);
        }
    }
}

void ends_take_all(flow_ends *e, uint64_t now_ns, ends_left *on_left, void *context) {
    for (unsigned list = 0; e->n != 0 && list < 2 * e->m->n_states; list++) {
        while (e->oldest[list] != ENDS_NONE) {
            ends_flow *const flow = &e->places[e->oldest[list]];
            uint64_t const   silence = now_ns > flow->now_ns ? now_ns - flow->now_ns : 0;
            on_left(context, flow, silence >= e->m->states[list / 2].timeout_ns);
            ends_remove(e, flow);
        }
    }
}
