/* watch.c - see watch.h. */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "message.h"
#include "numbers.h"

void watch_init(watch *ret_watch, const machine *m, timeline *line, const watch_spec *spec) {
    watch *const w = ret_watch;
    w->m = m;
    w->line = line;
    w->is_json = spec->is_json;
    w->time_ns = w->now_ns = w->n_flows = 0;
    scans_init(&w->scans, spec->seed);
    floods_init(&w->floods, m, spec->seed);
    top_init(&w->top, m, spec->seed);
    w->seed = spec->seed;
    w->recent = spec->has_intervals ? malloc(sizeof *w->recent) : NULL;
    if (spec->has_intervals && w->recent == NULL) die("out of memory");
    watch_begin_interval(w);
    flow_log_open(&w->log, m, spec->log);
    w->ends = (flow_ends){ .places = NULL };
    if ((w->is_json || w->log.is_open) &&
        !ends_init(&w->ends, m, w->log.is_open, spec->log->n_ends))
        die("out of memory");
}

void watch_fini(watch *w) {
    free(w->recent);
    flow_log_close(&w->log);
    ends_fini(&w->ends);
}

void watch_add_table(watch *w, const table *flows) {
    ends_add_table(&w->ends, flows);
}

/* ------------------------------------------------------------------ packets */

static host_end get_end(const packet *p, bool is_high) {
    host_end end = { .version = p->flow.version, .port = p->flow.port[is_high] };
    memcpy(end.address, p->flow.address[is_high], sizeof end.address);
    return end;
}

/* A flow that begins half-open is an attempt of its client. Other rules may say that a packet is
 * one. If its client is a guess, only the client can make an attempt. */
static void see_attempt(watch *w, const tracked *p) {
    bool const is_half_open = w->m->states[p->rule->go].is_half_open && !p->rule->is_reversed;
    bool const is_from_client = p->p.is_from_high == p->is_client_high;
    if (!is_half_open && !(p->rule->is_attempt && is_from_client)) return;
    host_end const from = get_end(&p->p, p->is_client_high),
                   to = get_end(&p->p, !p->is_client_high);
    scans_attempt(&w->scans, &from, &to, w->now_ns);
}

static void see_rule(watch *w, const tracked *p, tamis_status after) {
    if (p->now_ns > w->now_ns) w->now_ns = p->now_ns; /* never back, whichever lane it is */
    if (tracker_is_opening(p, after)) {
        timeline_at(w->line, p->now_ns)->flows++;
        w->n_flows++;
        see_attempt(w, p);
    }
    if (p->rule->answers && p->before == TAMIS_OK) {
        host_end const client = get_end(&p->p, p->is_client_high),
                       server = get_end(&p->p, !p->is_client_high);
        scans_answer(&w->scans, &client, &server, w->now_ns);
    }
    if (w->is_json && tracker_is_event(p, after)) events_flow(w->m, p);
}

/* ------------------------------------------------------------------ flows and their ends */

static bool is_half_open(const watch *w, unsigned state) {
    return w->m->states[state].is_half_open;
}

static unsigned state_before(const watch *w, const tracked *p) {
    return machine_state_of(w->m, p->value);
}

static unsigned state_after(const watch *w, const tracked *p) {
    return p->step == TAMIS_STEP_SET ? (unsigned)p->rule->go : state_before(w, p);
}

/* Write a line about a flow whose last packet is remembered. */
static void log_remembered(watch *w, const ends_flow *flow, log_cause cause, const record *known) {
    log_end const end = { .flow = &flow->flow,
                          .is_client_high = flow->is_client_high,
                          .state = ends_state(flow),
                          .cause = cause,
                          .now_ns = flow->now_ns,
                          .time_ns = flow->time_ns,
                          .known = known };
    flow_log_write(&w->log, &end);
}

/* Write a line about the flow of a packet. */
static void log_packet(watch *w, const tracked *p, unsigned state, log_cause cause,
                       const record *known) {
    log_end const end = { .flow = &p->p.flow,
                          .is_client_high = p->is_client_high,
                          .state = state,
                          .cause = cause,
                          .now_ns = p->now_ns,
                          .time_ns = p->time_ns,
                          .known = known };
    flow_log_write(&w->log, &end);
}

/* A packet opens a flow. If there was one with these ends before, it is over: because of this
 * packet, or the table has forgotten it after a silence. */
static void end_flow_before(watch *w, ends_flow *flow, const tracked *p, const record *known) {
    bool const is_replaced = p->before == TAMIS_OK && !w->m->states[state_before(w, p)].is_ended;
    log_cause const cause = is_replaced ? CAUSE_REUSED : CAUSE_TIMEOUT;
    if (w->log.is_open && flow != NULL)
        log_remembered(w, flow, cause, known);
    else if (w->log.is_open && is_replaced)
        log_packet(w, p, state_before(w, p), cause, known);
    if (flow != NULL) ends_remove(&w->ends, flow);
}

/* Without a log, only half-open flows matter. */
static bool is_followed(const watch *w, const tracked *p, tamis_status after) {
    if (p->before == TAMIS_ERR_UNKNOWN || (p->p.is_quoted && p->rule == NULL)) return false;
    if (p->step == TAMIS_STEP_SET && after != TAMIS_OK) return false;
    bool const is_new = p->before == TAMIS_ERR_ABSENT;
    if (is_new && p->step != TAMIS_STEP_SET) return false;
    return w->log.is_open || (!is_new && is_half_open(w, state_before(w, p))) ||
           is_half_open(w, state_after(w, p));
}

/* Remember the ends of the packet's flow, and write a line if it is over. `known` and `before` are
 * what a log knows of it and of the flow before. */
static void follow(watch *w, const tracked *p, uint64_t id, tamis_status after, const record *known,
                   const record *before) {
    if (!is_followed(w, p, after)) return;
    ends_flow     *flow = ends_find(&w->ends, id);
    unsigned const state = state_after(w, p);
    if (tracker_is_opening(p, after)) {
        end_flow_before(w, flow, p, before);
        flow = NULL;
    }
    bool const is_end = tracker_is_end(w->m, p, after);
    if (is_end && w->log.is_open) log_packet(w, p, state, CAUSE_PACKET, known);
    bool const is_open =
        !is_end && !w->m->states[state].is_ended && (w->log.is_open || is_half_open(w, state));
    if (is_open)
        ends_see(&w->ends, flow, p, id, state);
    else if (flow != NULL)
        ends_remove(&w->ends, flow);
}

static void follow_batch(watch *w, const tracked *batch, const uint64_t *ids,
                         const tamis_status *after, size_t n) {
    record known[TRACKER_BATCH], before[TRACKER_BATCH];
    if (w->log.is_open) records_batch(&w->log.records, batch, ids, after, n, known, before);
    for (size_t i = 0; i < n; i++) follow(w, &batch[i], ids[i], after[i], &known[i], &before[i]);
}

/* A flow is over, or the capture is, and no packet says so. */
static void end_silent(watch *w, const ends_flow *flow, log_cause cause) {
    record known;
    if (!w->log.is_open) return;
    records_take(&w->log.records, flow->id, &known);
    log_remembered(w, flow, cause, &known);
}

/* The timestamp of the event is that of the last packet, and the timeout. */
static void on_silent(void *context, const ends_flow *flow, bool is_gone) {
    watch *const   w = context;
    uint64_t const timeout_ns = w->m->states[ends_state(flow)].timeout_ns;
    if (is_gone)
        end_silent(w, flow, CAUSE_TIMEOUT);
    else if (w->is_json)
        events_timeout(flow, flow->time_ns + timeout_ns);
}

static void on_left(void *context, const ends_flow *flow, bool is_silent) {
    end_silent(context, flow, is_silent ? CAUSE_TIMEOUT : CAUSE_RUNNING);
}

void watch_evicted(watch *w, uint64_t id) {
    ends_flow *const flow = ends_find(&w->ends, id);
    if (flow == NULL) return;
    end_silent(w, flow, CAUSE_EVICTED);
    ends_remove(&w->ends, flow);
}

/* Of the flows that lost their place, some were seen again, and have got a line since. */
uint64_t watch_unlogged(const watch *w) {
    uint64_t const told = w->log.n_ends + w->ends.n;
    uint64_t const untold = w->n_flows > told ? w->n_flows - told : 0;
    return untold < w->ends.n_displaced ? untold : w->ends.n_displaced;
}

/* The lists of hosts of the current interval, beside those of the whole run. */
static void see_recent(watch *w, const tracked *batch, const uint64_t *ids,
                       const tamis_status *after, size_t n, uint64_t n_opened) {
    top_see_bytes(w->recent, batch, n);
    for (size_t i = 0; i < n; i++) {
        if (batch[i].rule != NULL) top_see(w->recent, &batch[i], ids[i], after[i]);
    }
    top_add_flows(w->recent, n_opened);
}

void watch_batch(watch *w, const tracked *batch, const uint64_t *ids, const tamis_status *after,
                 size_t n) {
    uint64_t const n_before = w->n_flows;
    top_see_bytes(&w->top, batch, n);
    for (size_t i = 0; i < n; i++) {
        if (batch[i].rule == NULL) continue;
        see_rule(w, &batch[i], after[i]);
        floods_see(&w->floods, &batch[i], ids[i], after[i]);
        top_see(&w->top, &batch[i], ids[i], after[i]);
    }
    top_add_flows(&w->top, w->n_flows - n_before);
    if (w->recent != NULL) see_recent(w, batch, ids, after, n, w->n_flows - n_before);
    if (watch_has_ends(w)) follow_batch(w, batch, ids, after, n);
    if (n != 0) w->time_ns = batch[n - 1].time_ns;
}

/* ------------------------------------------------------------------ time */

static void on_scan(void *context, uint16_t source) {
    const watch *const w = context;
    if (w->is_json) events_scan(&w->scans, source, w->time_ns);
}

static void on_flood(void *context, const flood *found) {
    const watch *const w = context;
    if (w->is_json) events_flood(found, w->time_ns);
}

static void judge(watch *w, uint64_t now_ns, bool is_last) {
    if (now_ns > w->now_ns) w->now_ns = now_ns;
    scans_judge(&w->scans, w->now_ns, is_last, on_scan, w);
    floods_judge(&w->floods, w->now_ns, is_last, on_flood, w);
}

void watch_time(watch *w, uint64_t now_ns) {
    if (watch_has_ends(w)) ends_advance(&w->ends, now_ns, on_silent, w);
    judge(w, now_ns, false);
    flow_log_time(&w->log, now_ns);
}

void watch_begin_interval(watch *w) {
    scans_begin_interval(&w->scans);
    floods_begin_interval(&w->floods);
    if (w->recent != NULL) top_init(w->recent, w->m, w->seed);
}

void watch_finish(watch *w, uint64_t now_ns, bool goes_on) {
    judge(w, now_ns, true);
    if (w->log.is_open && !goes_on) ends_take_all(&w->ends, now_ns, on_left, w);
    if (w->is_json) events_top(&w->top, w->time_ns);
}

void watch_aged(watch *w, unsigned state, uint64_t n, uint64_t time_ns) {
    if (w->is_json) events_aged(&w->m->states[state], n, time_ns);
}

void watch_full(watch *w, bool is_refused, uint64_t n_flows, uint64_t time_ns) {
    number_text flows;
    number_exact(n_flows, flows);
    if (is_refused)
        warn("the table is full of %s flows, and a new flow was refused; use a larger --flows or "
             "--memory",
             flows);
    else
        warn("the table is full: %s flows. From now on, flows that nobody has answered or that are "
             "over are forgotten to make room, the oldest first",
             flows);
    if (w->is_json) events_full(is_refused, n_flows, time_ns);
}
