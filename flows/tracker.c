/* tracker.c - see tracker.h. */
#include "tracker.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define TICKS_PER_TIMEOUT 64
#define SHORTEST_TICK_NS UINT64_C(1000000)

/* ------------------------------------------------------------------ ticks and ids */

uint64_t tracker_tick_ns(const machine *m) {
    uint64_t shortest = UINT64_MAX;
    for (unsigned i = 0; i < m->n_states; i++) {
        if (m->states[i].timeout_ns < shortest) shortest = m->states[i].timeout_ns;
    }
    uint64_t const tick = shortest / TICKS_PER_TIMEOUT;
    return tick > SHORTEST_TICK_NS ? tick : SHORTEST_TICK_NS;
}

/* Timeouts are rounded up to whole ticks. A silence begins and ends within a tick, but a flow times
 * out only after more ticks than its timeout has, so never too early. */
void tracker_timeouts(const machine *m, table_spec *spec) {
    uint64_t const tick_ns = tracker_tick_ns(m);
    spec->n_values = machine_values(m);
    for (unsigned i = 0; i < spec->n_values; i++) {
        unsigned const state = machine_state_of(m, i);
        uint64_t const timeout = m->states[state < m->n_states ? state : 0].timeout_ns;
        spec->timeouts[i] = (timeout + tick_ns - 1) / tick_ns;
    }
}

void tracker_init(tracker *ret_tracker, const machine *m, table *flows, uint64_t seed) {
    *ret_tracker = (tracker){ .m = m, .flows = flows, .seed = seed, .tick_ns = tracker_tick_ns(m) };
    ret_tracker->next_ns = ret_tracker->tick_ns;
}

uint64_t tracker_id(const tracker *t, const flow_tuple *flow) {
    return XXH3_64bits_withSeed(flow, sizeof *flow, t->seed);
}

/* ------------------------------------------------------------------ one step */

static tamis_step decide_rule(const machine *m, tracked *p, bool is_new, bool is_client_high) {
    tamis_step const          otherwise = is_new ? TAMIS_STEP_LEAVE : TAMIS_STEP_TOUCH;
    const machine_rule *const rule = p->rule;
    if (rule == NULL || rule->go == GO_STAY) return otherwise;
    if (rule->go == GO_END) return TAMIS_STEP_DROP;
    bool const opener_is_high = p->p.is_from_high != rule->is_reversed;
    bool const is_opened = is_new || rule->opens;
    p->to = machine_value(m, (unsigned)rule->go, is_opened ? opener_is_high : is_client_high);
    return TAMIS_STEP_SET;
}

tamis_step tracker_decide(const machine *m, tracked *p, tamis_status status, uint32_t value) {
    bool const is_new = status == TAMIS_ERR_ABSENT;
    bool const is_client_high = m->has_direction && !is_new ? (value & 1) != 0 : p->p.is_from_high;
    p->before = status;
    p->value = value;
    p->rule = NULL;
    if (status == TAMIS_ERR_UNKNOWN) {
        p->step = TAMIS_STEP_TOUCH;
    } else {
        int const state = is_new ? -1 : (int)machine_state_of(m, value);
        p->rule = machine_choose(m, state, p->answers, p->p.is_from_high == is_client_high);
        p->step = decide_rule(m, p, is_new, is_client_high);
    }
    return p->step;
}

static tamis_step on_step(void *context, size_t i, tamis_status status, uint32_t value,
                          uint32_t *ret_to) {
    tracker *const   t = context;
    tamis_step const step = tracker_decide(t->m, &t->batch[i], status, value);
    *ret_to = t->batch[i].to;
    return step;
}

/* ------------------------------------------------------------------ counting */

static void count_set(tracker *t, const tracked *p, tamis_status after) {
    tracker_counts *const counts = &t->counts;
    bool const            is_new = p->before == TAMIS_ERR_ABSENT;
    if (after != TAMIS_OK) {
        counts->refused += after == TAMIS_ERR_FULL;
        return;
    }
    if (!is_new) counts->now[machine_state_of(t->m, p->value)]--;
    counts->now[machine_state_of(t->m, p->to)]++;
    counts->flows += is_new || p->rule->opens;
}

static void count_packet_step(tracker *t, const tracked *p, tamis_status after) {
    tracker_counts *const counts = &t->counts;
    counts->unknown += p->before == TAMIS_ERR_UNKNOWN;
    counts->unruled += p->before == TAMIS_ERR_ABSENT && p->rule == NULL;
    if (p->step == TAMIS_STEP_SET) count_set(t, p, after);
    if (p->step == TAMIS_STEP_DROP && after == TAMIS_OK)
        counts->now[machine_state_of(t->m, p->value)]--;
    if (tracker_is_event(p, after)) counts->events[p->rule->event]++;
}

static void count_peak(tracker_counts *counts) {
    uint64_t now = 0;
    for (unsigned i = 0; i < MACHINE_STATES; i++) now += counts->now[i];
    if (now > counts->peak) counts->peak = now;
}

/* ------------------------------------------------------------------ batches */

void tracker_flush(tracker *t) {
    uint64_t     ids[TRACKER_BATCH];
    tamis_status after[TRACKER_BATCH];
    if (t->n == 0) return;
    for (size_t i = 0; i < t->n; i++) ids[i] = tracker_id(t, &t->batch[i].p.flow);
    table_step(t->flows, ids, t->n, on_step, t, after);
    for (size_t i = 0; i < t->n; i++) count_packet_step(t, &t->batch[i], after[i]);
    count_peak(&t->counts);
    t->counts.packets += t->n;
    if (t->hooks.on_batch != NULL) {
        t->hooks.on_batch(t->hooks.context, t->batch, ids, after, t->n, (uint32_t)t->tick);
    }
    t->n = 0;
    if (table_is_behind(t->flows)) tracker_advance(t, t->tick * t->tick_ns);
}

void tracker_advance(tracker *t, uint64_t now_ns) {
    uint64_t       aged[TABLE_VALUES] = { 0 }, gone[MACHINE_STATES] = { 0 };
    uint64_t const tick = now_ns / t->tick_ns;
    tracker_flush(t);
    table_tick(t->flows, tick - t->tick, aged);
    t->tick = tick;
    t->next_ns = (tick + 1) * t->tick_ns;
    for (unsigned value = 0; value < machine_values(t->m); value++) {
        if (aged[value] != 0) gone[machine_state_of(t->m, value)] += aged[value];
    }
    for (unsigned state = 0; state < t->m->n_states; state++) {
        if (gone[state] == 0) continue;
        t->counts.aged[state] += gone[state];
        t->counts.now[state] -= gone[state];
        if (t->hooks.on_aged != NULL) t->hooks.on_aged(t->hooks.context, state, gone[state]);
    }
}

packet *tracker_room(tracker *t, uint64_t now_ns) {
    if (now_ns >= t->next_ns) tracker_advance(t, now_ns);
    return &t->batch[t->n].p;
}

void tracker_add(tracker *t, uint64_t time_ns, uint64_t now_ns) {
    tracked *const added = &t->batch[t->n++];
    added->time_ns = time_ns;
    added->now_ns = now_ns;
    added->answers = machine_answers(t->m, &added->p); /* now: the payload is not kept */
    if (t->n == TRACKER_BATCH) tracker_flush(t);
}
