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
    ret_tracker->is_simple = m->duplicate_ns == 0 && m->key != KEY_DNS_ID && m->n_others == 0;
    room_init(&ret_tracker->room, m, flows);
}

void tracker_fini(tracker *t) {
    room_fini(&t->room);
}

static __attribute__((noinline)) uint64_t hash_hosts(const tracker *t, flow_tuple flow) {
    flow.port[0] = flow.port[1] = flow.extra = 0;
    return XXH3_64bits_withSeed(&flow, sizeof flow, t->seed);
}

uint64_t tracker_id(const tracker *t, const flow_tuple *flow) {
    if (t->m->key == KEY_HOSTS) return hash_hosts(t, *flow);
    return XXH3_64bits_withSeed(flow, sizeof *flow, t->seed);
}

/* ------------------------------------------------------------------ one step */

/* Is end 1 the client of the flow that this packet opens? */
static bool opener_is_high(const machine_rule *rule, const packet *p) {
    if (rule->is_guess) return machine_guess_high(p);
    return p->is_from_high != rule->is_reversed;
}

static tamis_step decide_rule(const machine *m, tracked *p, const machine_rule *rule, bool is_new) {
    if (rule->go == GO_STAY) return is_new ? TAMIS_STEP_LEAVE : TAMIS_STEP_TOUCH;
    if (rule->go == GO_END) return TAMIS_STEP_DROP;
    if (is_new || rule->opens) p->is_client_high = opener_is_high(rule, &p->p);
    p->to = machine_value(m, (unsigned)rule->go, p->is_client_high);
    return TAMIS_STEP_SET;
}

/* The sender of a first packet is the client, unless the machine guesses by ports. In a state that
 * does not know its client, the sender takes its place: no rule asks. */
static inline tamis_step decide(const machine *m, tracked *p, tamis_status status, uint32_t value) {
    bool const            is_new = status == TAMIS_ERR_ABSENT;
    machine_meaning const meaning = m->values[status == TAMIS_OK ? value : 0];
    int const             state = is_new ? -1 : meaning.state;
    bool                  is_client_high = p->p.is_from_high;
    p->before = status;
    p->value = value;
    p->rule = NULL;
    p->step = is_new ? TAMIS_STEP_LEAVE : TAMIS_STEP_TOUCH;
    if (status == TAMIS_ERR_UNKNOWN) return p->step;
    if (!is_new && meaning.is_directed) is_client_high = meaning.is_client_high;
    if (is_new ? m->has_guess : meaning.is_guessed) is_client_high = machine_guess_high(&p->p);
    p->is_client_high = is_client_high;
    p->rule = machine_choose(m, state, p->answers, p->p.is_from_high == is_client_high);
    if (p->p.is_quoted && p->rule == NULL) p->step = TAMIS_STEP_LEAVE; /* it shows no life */
    if (p->rule != NULL) p->step = decide_rule(m, p, p->rule, is_new);
    return p->step;
}

tamis_step tracker_decide(const machine *m, tracked *p, tamis_status status, uint32_t value) {
    return decide(m, p, status, value);
}

static tamis_step on_step(void *context, size_t i, tamis_status status, uint32_t value,
                          uint32_t *ret_to) {
    tracker *const   t = context;
    tamis_step const step = decide(t->m, &t->batch[i], status, value);
    *ret_to = t->batch[i].to;
    return step;
}

/* ------------------------------------------------------------------ counting */

static void count_set(tracker *t, const tracked *p, uint64_t id, tamis_status after) {
    tracker_counts *const counts = &t->counts;
    bool const            is_new = p->before == TAMIS_ERR_ABSENT;
    unsigned const        state = machine_state_of(t->m, p->to);
    if (after != TAMIS_OK) {
        counts->no_room += after == TAMIS_ERR_FULL;
        return;
    }
    if (!is_new) counts->now[machine_state_of(t->m, p->value)]--;
    counts->now[state]++;
    counts->n_now += is_new;
    counts->flows += is_new || p->rule->opens;
    if (!room_may_go(&t->room, state)) return;
    /* Its age is the time when it came to such a state: it is in the queue since then. */
    bool const is_noted =
        !is_new && !p->rule->opens && room_may_go(&t->room, machine_state_of(t->m, p->value));
    if (!is_noted) room_note(&t->room, id, counts->n_now);
}

static void count_packet_step(tracker *t, const tracked *p, uint64_t id, tamis_status after) {
    tracker_counts *const counts = &t->counts;
    counts->unknown += p->before == TAMIS_ERR_UNKNOWN;
    counts->unruled += p->before == TAMIS_ERR_ABSENT && p->rule == NULL;
    if (p->step == TAMIS_STEP_SET) count_set(t, p, id, after);
    if (p->step == TAMIS_STEP_DROP && after == TAMIS_OK) {
        counts->now[machine_state_of(t->m, p->value)]--;
        counts->n_now--;
    }
    if (tracker_is_event(p, after)) counts->events[p->rule->event]++;
}

/* ------------------------------------------------------------------ a full table */

static void tell_full(tracker *t, bool *is_told, bool is_refused) {
    if (*is_told) return;
    *is_told = true;
    t->told_ns = t->tick * t->tick_ns;
    if (t->hooks.on_full != NULL) t->hooks.on_full(t->hooks.context, is_refused);
}

/* A tenth of the table is free again: the next time it is full is another one. */
static void note_free_room(tracker *t) {
    uint64_t const capacity = t->room.capacity, now_ns = t->tick * t->tick_ns;
    if (t->counts.n_now >= capacity - capacity / 10) return;
    if (now_ns - t->told_ns >= TRACKER_TELL_NS) t->is_told_full = t->is_told_refused = false;
}

static uint64_t make_room(tracker *t, uint64_t n) {
    uint64_t const n_made =
        room_make(&t->room, n, t->counts.now, t->hooks.on_evicted, t->hooks.context);
    t->counts.n_now -= n_made;
    t->counts.evicted += n_made;
    if (n_made != 0) tell_full(t, &t->is_told_full, false);
    return n_made;
}

/* A packet that is taken through the table once more. */
typedef struct retry {
    const machine *m;
    tracked       *p;
} retry;

static tamis_step on_retry(void *context, size_t i, tamis_status status, uint32_t value,
                           uint32_t *ret_to) {
    const retry *const again = context;
    (void)i;
    tamis_step const step = tracker_decide(again->m, again->p, status, value);
    *ret_to = again->p->to;
    return step;
}

/* The table refused a flow: forget another one, and try again. */
static void retry_refused(tracker *t, const uint64_t *ids, tamis_status *after) {
    for (size_t i = 0; i < t->n; i++) {
        if (t->batch[i].step != TAMIS_STEP_SET || after[i] != TAMIS_ERR_FULL) continue;
        retry again = { t->m, &t->batch[i] };
        while (after[i] == TAMIS_ERR_FULL && make_room(t, 1) != 0)
            table_step(t->flows, &ids[i], 1, on_retry, &again, &after[i]);
        if (after[i] == TAMIS_ERR_FULL) tell_full(t, &t->is_told_refused, true);
    }
}

/* ------------------------------------------------------------------ batches */

static void count_batch(tracker *t, const uint64_t *ids, const tamis_status *after) {
    tracker_counts *const counts = &t->counts;
    for (size_t i = 0; i < t->n; i++) count_packet_step(t, &t->batch[i], ids[i], after[i]);
    counts->packets += t->n;
    if (counts->n_now > counts->peak) counts->peak = counts->n_now;
}

/* After the hook for the batch, which has to know a flow before it is told that it is forgotten. */
static void keep_to_capacity(tracker *t) {
    tracker_counts *const counts = &t->counts;
    uint64_t const        capacity = t->room.capacity;
    if (capacity != 0 && counts->n_now > capacity) (void)make_room(t, counts->n_now - capacity);
    room_tidy(&t->room, counts->now);
    counts->queue_bytes = room_bytes(&t->room);
}

void tracker_flush(tracker *t) {
    uint64_t     ids[TRACKER_BATCH];
    tamis_status after[TRACKER_BATCH];
    if (t->n == 0) return;
    for (size_t i = 0; i < t->n; i++) ids[i] = tracker_id(t, &t->batch[i].p.flow);
    table_step(t->flows, ids, t->n, on_step, t, after);
    if (t->counts.n_now + t->n > t->room.capacity && t->room.capacity != 0)
        retry_refused(t, ids, after);
    count_batch(t, ids, after);
    if (t->hooks.on_batch != NULL) {
        t->hooks.on_batch(t->hooks.context, t->batch, ids, after, t->n, (uint32_t)t->tick);
    }
    keep_to_capacity(t);
    t->n = 0;
    if (table_is_behind(t->flows)) tracker_advance(t, t->tick * t->tick_ns);
}

void tracker_advance(tracker *t, uint64_t now_ns) {
    uint64_t       aged[TABLE_VALUES] = { 0 }, gone[MACHINE_STATES] = { 0 };
    uint64_t const tick = now_ns / t->tick_ns;
    tracker_flush(t);
    if (t->hooks.on_time != NULL && tick != t->tick)
        t->hooks.on_time(t->hooks.context, now_ns, tick - t->tick);
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
        t->counts.n_now -= gone[state];
        if (t->hooks.on_aged != NULL) t->hooks.on_aged(t->hooks.context, state, gone[state]);
    }
    note_free_room(t);
}

/* ------------------------------------------------------------------ flows of an earlier run */

/* Without this, the first flows that leave would make the counters negative. */
void tracker_count_loaded(tracker *t) {
    uint64_t counts[TABLE_VALUES] = { 0 };
    if (!table_tally(t->flows, counts)) return;
    for (unsigned value = 0; value < machine_values(t->m); value++) {
        unsigned const state = machine_state_of(t->m, value);
        if (state >= t->m->n_states) continue;
        t->counts.now[state] += counts[value];
        t->counts.n_now += counts[value];
    }
    t->counts.peak = t->counts.n_now;
}

/* The time between two runs passes for the table, and not for anything else: the clock of this run
 * begins at 0. */
void tracker_resume(tracker *t, uint64_t silent_ns) {
    tracker_hooks const hooks = t->hooks;
    t->hooks = (tracker_hooks){ .context = NULL };
    if (silent_ns != 0) tracker_advance(t, silent_ns);
    t->hooks = hooks;
    t->counts.peak = t->counts.n_now;
    t->tick = 0;
    t->next_ns = t->tick_ns;
}

/* ------------------------------------------------------------------ slow packets */

/* The id of a DNS message; 0 if it was not captured. */
static uint16_t get_dns_id(const packet *p) {
    int const high = packet_byte(p, 0), low = packet_byte(p, 1);
    if (high < 0 || low < 0) return 0;
    return (uint16_t)(high << 8 | low);
}

/* What few machines ask for: copies are not counted, the key has a DNS id, and there are tests that
 * look further than flags. */
void tracker_add_slowly(tracker *t, uint64_t time_ns, uint64_t now_ns, uint32_t bytes) {
    const machine *const m = t->m;
    packet *const        p = &t->batch[t->n].p;
    if (m->duplicate_ns != 0 && duplicates_see(&t->recent, p, t->seed, time_ns, m->duplicate_ns)) {
        t->counts.duplicates++;
        return;
    }
    if (m->key == KEY_DNS_ID) p->flow.extra = get_dns_id(p);
    uint32_t const answers = machine_answers(m, p); /* now: the payload is not kept */
    tracker_take(t, time_ns, now_ns, bytes, answers);
}
