/* floods.c - see floods.h. */
#include "floods.h"

#include <string.h>

/* Can a packet of the end that has opened a flow take it out of a half-open state? */
static bool can_confirm_itself(const machine *m, const machine_rule *rule) {
    for (uint32_t answers = 0; answers < UINT32_C(1) << m->n_atoms; answers += 2) {
        const machine_rule *const next = machine_choose(m, rule->go, answers, !rule->is_reversed);
        if (next == NULL || next->go < 0) continue;
        const machine_state *const state = &m->states[next->go];
        if (!machine_is_waiting(state) && !state->is_ended) return true;
    }
    return false;
}

/* If only one direction is captured, do half-open flows show that they were answered? Those of TCP
 * do, by the ACK of the handshake. A UDP packet may be one of many that were all answered. */
static bool can_tell_one_direction(const machine *m) {
    for (unsigned i = 0; i < m->n_rules; i++) {
        const machine_rule *const rule = &m->rules[i];
        bool const                is_opening = (rule->from & 1) != 0 && rule->go >= 0;
        if (is_opening && m->states[rule->go].is_half_open && !can_confirm_itself(m, rule))
            return false;
    }
    return true;
}

void floods_init(floods *ret_floods, const machine *m, uint64_t seed) {
    memset(ret_floods, 0, sizeof *ret_floods);
    ret_floods->m = m;
    ret_floods->weight = 1;
    ret_floods->can_tell_half_open = can_tell_one_direction(m);
    ranking_init(&ret_floods->list, seed);
}

const char *flood_kind_name(flood_kind kind) {
    static const char *const names[N_FLOOD_KINDS] = { [FLOOD_HALF_OPEN] = "half-open",
                                                      [FLOOD_UNCONFIRMED] = "lone packets",
                                                      [FLOOD_CLOSING] = "lone FINs" };
    return names[kind];
}

/* ------------------------------------------------------------------ counting */

/* The kind of a flood to which a flow in this state may belong, or N_FLOOD_KINDS. */
static flood_kind kind_of(const machine_state *state) {
    if (state->is_half_open) return FLOOD_HALF_OPEN;
    if (state->is_unconfirmed) return FLOOD_UNCONFIRMED;
    return state->is_evictable && !state->is_ended ? FLOOD_CLOSING : N_FLOOD_KINDS;
}

static host_end get_end(const packet *p, bool is_high) {
    host_end end = { .version = p->flow.version, .port = p->flow.port[is_high] };
    memcpy(end.address, p->flow.address[is_high], sizeof end.address);
    return end;
}

/* The youngest flows of a target move on with time. */
static void target_advance(flood_target *target, uint64_t slot) {
    if (slot == target->slot) return;
    if (slot == target->slot + 1)
        memcpy(target->young[1], target->young[0], sizeof target->young[1]);
    else
        memset(target->young[1], 0, sizeof target->young[1]);
    memset(target->young[0], 0, sizeof target->young[0]);
    target->slot = slot;
}

static void vote_for(flood_vote *vote, const host_end *end, bool is_same, uint64_t weight) {
    if (vote->lead == 0) vote->winner = *end;
    if (vote->lead == 0 || is_same)
        vote->lead += weight;
    else
        vote->lead -= vote->lead < weight ? vote->lead : weight;
}

static bool is_same_host(const host_end *a, const host_end *b) {
    return a->version == b->version && memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* When the sample of a window is full, half of the flows are left out from now on, and the others
 * count twice. */
static void count_sample(floods *f) {
    if (++f->n_sampled < FLOODS_WHOLE) return;
    f->n_sampled /= 2;
    f->weight *= 2;
}

/* The first flow of a window: whose flows came before it matters no more. */
static void forget_description(flood_target *target) {
    target->is_before = false;
    target->opened = 0;
    target->port.lead = target->source.lead = 0;
    memset(target->sources, 0, sizeof target->sources);
}

static void see_opening(floods *f, const tracked *p, flood_kind kind) {
    host_end const from = get_end(&p->p, p->p.is_from_high),
                   to = get_end(&p->p, !p->p.is_from_high);
    uint64_t const      hash = ranking_hash(&f->list, from.address);
    uint16_t const      sender = ranking_find_hash(&f->list, &from, hash);
    bool                has_entered;
    uint16_t const      i = ranking_count(&f->list, &to, f->weight, &has_entered);
    flood_target *const target = &f->targets[i];
    if (sender != RANKING_NONE) f->targets[sender].has_sent = true;
    if (has_entered) memset(target, 0, sizeof *target);
    if (target->is_before) forget_description(target);
    target_advance(target, p->now_ns / FLOODS_GRACE_NS);
    target->flows[kind] += f->weight;
    target->young[0][kind] += f->weight;
    target->opened += f->weight;
    f->is_busy[i] = true;
    scans_register(target->sources, hash);
    vote_for(&target->port, &to, target->port.winner.port == to.port, f->weight);
    vote_for(&target->source, &from, is_same_host(&target->source.winner, &from), f->weight);
    count_sample(f);
}

static void subtract(uint64_t *count, uint64_t n) {
    *count -= *count < n ? *count : n;
}

/* Is this what a host says to packets that belong to no connection of its own? */
static bool is_refusal(const floods *f, const tracked *p, flood_kind before) {
    if (before == FLOOD_UNCONFIRMED) return f->m->states[p->rule->go].is_ended;
    return before == FLOOD_CLOSING && p->rule->event >= 0 &&
           f->m->events[p->rule->event].role == ROLE_RESET;
}

/* Flows that are answered soon are most often young. */
static void see_answer(floods *f, const tracked *p, flood_kind kind) {
    uint64_t const n = is_refusal(f, p, kind) ? 0 : f->weight;
    for (unsigned is_high = 0; is_high < 2; is_high++) {
        host_end const end = get_end(&p->p, is_high);
        uint16_t const i = ranking_find(&f->list, &end);
        if (i == RANKING_NONE) continue;
        flood_target *const target = &f->targets[i];
        target_advance(target, p->now_ns / FLOODS_GRACE_NS);
        if (p->p.is_from_high == is_high) target->has_sent = true;
        subtract(&target->flows[kind], n);
        subtract(&target->young[target->young[0][kind] == 0][kind], n);
    }
}

/* A packet within a flow that is not answered yet, as a SYN-ACK. */
static void see_sender(floods *f, const tracked *p) {
    host_end const from = get_end(&p->p, p->p.is_from_high);
    uint16_t const i = ranking_find(&f->list, &from);
    if (i != RANKING_NONE) f->targets[i].has_sent = true;
}

void floods_see_rule(floods *f, const tracked *p, tamis_status after) {
    if (p->step != TAMIS_STEP_SET || after != TAMIS_OK) return;
    const machine_state *const state = &f->m->states[p->rule->go];
    flood_kind const           kind = kind_of(state);
    if (tracker_is_opening(p, after)) {
        if (kind != N_FLOOD_KINDS) see_opening(f, p, kind);
        return;
    }
    flood_kind const before = kind_of(&f->m->states[machine_state_of(f->m, p->value)]);
    if (before == N_FLOOD_KINDS) return;
    if (before != kind)
        see_answer(f, p, before);
    else
        see_sender(f, p);
}

/* ------------------------------------------------------------------ judging */

static bool has_most(const flood_target *target, const flood_vote *vote) {
    return 2 * vote->lead >= target->opened;
}

/* A scan of ports has few sources, and no port gets most of it. */
static bool is_scan(const flood_target *target) {
    return scans_estimate(target->sources) < FLOODS_SOURCES && !has_most(target, &target->port);
}

/* The flood of this kind that is remembered for a target. If there is none, it gets a place. */
static flood *find_flood(floods *f, const host_end *target, flood_kind kind) {
    flood *smallest = f->found;
    for (size_t i = 0; i < f->n_found; i++) {
        flood *const found = &f->found[i];
        if (found->kind == kind && is_same_host(&found->target, target)) return found;
        if (found->flows < smallest->flows) smallest = found;
    }
    flood *const place = f->n_found < FLOODS_FOUND ? &f->found[f->n_found++] : smallest;
    *place = (flood){ .kind = kind, .target = *target };
    return place;
}

static void describe(flood *found, const flood_target *target) {
    bool const     is_new = found->flows == 0;
    uint16_t const port = has_most(target, &target->port) ? target->port.winner.port : 0;
    found->target.port = is_new || found->target.port == port ? port : 0;
    found->source = (host_end){ .port = 0 };
    if (has_most(target, &target->source)) found->source = target->source.winner;
}

/* `flows` of this kind were not answered. Returns the flood, or NULL. */
static const flood *judge_kind(floods *f, uint16_t i, flood_kind kind, uint64_t flows) {
    const flood_target *const target = &f->targets[i];
    host_end                  host = { .version = f->list.hosts[i].version };
    if (flows < FLOODS_FLOWS || flows < FLOODS_LEAST_SAMPLES * f->weight) return NULL;
    bool const can_tell = kind == FLOOD_HALF_OPEN && f->can_tell_half_open;
    if (!can_tell && !target->has_sent) return NULL;
    if (is_scan(target)) return NULL;
    memcpy(host.address, f->list.hosts[i].address, sizeof host.address);
    flood *const found = find_flood(f, &host, kind);
    describe(found, target);
    found->in_window = flows;
    found->flows += flows;
    found->in_interval += flows;
    return found;
}

/* The window of a target is over. What may still be answered belongs to the next one. */
static void judge_target(floods *f, uint16_t i, bool is_last, floods_hook *on_found,
                         void *context) {
    flood_target *const target = &f->targets[i];
    bool                is_flood = false;
    uint64_t            young[N_FLOOD_KINDS]; /* the half-open, unconfirmed and closing ones */
    for (unsigned kind = 0; kind < N_FLOOD_KINDS; kind++) {
        uint64_t const all = target->flows[kind];
        uint64_t const latest = is_last ? 0 : target->young[0][kind] + target->young[1][kind];
        young[kind] = latest < all ? latest : all;
        const flood *const found = judge_kind(f, i, (flood_kind)kind, all - young[kind]);
        if (found == NULL) continue;
        is_flood = true;
        if (target->is_told) continue;
        f->n_told[kind]++;
        if (on_found != NULL) on_found(context, found);
    }
    memcpy(target->flows, young, sizeof young);
    memset(target->young, 0, sizeof target->young);
    target->is_before = true;
    target->is_told = is_flood;
    f->is_busy[i] = is_flood || young[0] != 0 || young[1] != 0 || young[2] != 0;
}

/* Of the next window, half to all of FLOODS_WHOLE flows are taken, if it is like this one. */
static void begin_window(floods *f, uint64_t now_ns) {
    f->next_ns = now_ns + FLOODS_WINDOW_NS;
    while (f->weight > 1 && f->n_sampled < FLOODS_WHOLE / 2) {
        f->n_sampled *= 2;
        f->weight /= 2;
    }
    f->n_sampled = 0;
    ranking_halve(&f->list); /* who was busy long ago makes room for others */
}

void floods_judge(floods *f, uint64_t now_ns, bool is_last, floods_hook *on_found, void *context) {
    if (f->next_ns == 0) f->next_ns = now_ns + FLOODS_WINDOW_NS; /* the first window */
    if (now_ns < f->next_ns && !is_last) return;
    for (uint16_t i = 0; i < f->list.n; i++) {
        if (!f->is_busy[i]) continue;
        target_advance(&f->targets[i], now_ns / FLOODS_GRACE_NS);
        judge_target(f, i, is_last, on_found, context);
    }
    begin_window(f, now_ns);
}

/* ------------------------------------------------------------------ results */

void floods_begin_interval(floods *f) {
    for (size_t i = 0; i < f->n_found; i++) f->found[i].in_interval = 0;
}

/* Insertion sort: there are few floods. */
size_t floods_list(const floods *f, bool is_interval, const flood **ret_found, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < f->n_found; i++) {
        const flood *const found = &f->found[i];
        size_t             at = n;
        if (is_interval && found->in_interval == 0) continue;
        while (at > 0 && ret_found[at - 1]->flows < found->flows) at--;
        if (at == max) continue;
        if (n < max) n++;
        memmove(ret_found + at + 1, ret_found + at, (n - at - 1) * sizeof *ret_found);
        ret_found[at] = found;
    }
    return n;
}
