/* watch.c - see watch.h. */
#include "watch.h"

#include <string.h>

#include "events.h"
#include "message.h"
#include "numbers.h"

void watch_init(watch *ret_watch, const machine *m, timeline *line, const watch_spec *spec) {
    watch *const w = ret_watch;
    w->m = m;
    w->line = line;
    w->is_json = spec->is_json;
    w->timeouts = w->time_ns = w->now_ns = w->n_flows = 0;
    scans_init(&w->scans, spec->seed);
    top_init(&w->top, m, spec->seed);
    flow_log_open(&w->log, m, spec->log);
}

void watch_fini(watch *w) {
    flow_log_close(&w->log);
}

bool watch_needs_pending(bool is_json, const char *log_path) {
    return is_json || log_path != NULL;
}

/* ------------------------------------------------------------------ packets */

static host_end get_end(const packet *p, bool is_high) {
    host_end end = { .version = p->flow.version, .port = p->flow.port[is_high] };
    memcpy(end.address, p->flow.address[is_high], sizeof end.address);
    return end;
}

/* A flow that begins half-open is an attempt of its client. Other rules may say that a packet is
 * one. If its client is a guess, only the client can make an attempt. */
static void see_attempt(watch *w, pending *attempts, const tracked *p, uint64_t id) {
    bool const is_half_open = w->m->states[p->rule->go].is_half_open && !p->rule->is_reversed;
    bool const is_from_client = p->p.is_from_high == p->is_client_high;
    if (!is_half_open && !(p->rule->is_attempt && is_from_client)) return;
    host_end const from = get_end(&p->p, p->is_client_high),
                   to = get_end(&p->p, !p->is_client_high);
    scans_attempt(&w->scans, &from, &to, w->now_ns);
    if (is_half_open) pending_put(attempts, p, id);
}

static void see_rule(watch *w, pending *attempts, const tracked *p, uint64_t id,
                     tamis_status after) {
    if (p->now_ns > w->now_ns) w->now_ns = p->now_ns; /* never back, whichever lane it is */
    if (tracker_is_opening(p, after)) {
        timeline_at(w->line, p->now_ns)->flows++;
        w->n_flows++;
        see_attempt(w, attempts, p, id);
    }
    if (p->rule->answers && p->before == TAMIS_OK) {
        host_end const client = get_end(&p->p, p->is_client_high);
        scans_answer(&w->scans, &client, w->now_ns);
    }
    if (w->is_json && tracker_is_event(p, after)) events_flow(w->m, p);
}

void watch_batch(watch *w, pending *attempts, const tracked *batch, const uint64_t *ids,
                 const tamis_status *after, size_t n) {
    top_see_bytes(&w->top, batch, n);
    for (size_t i = 0; i < n; i++) {
        if (batch[i].rule == NULL) continue;
        see_rule(w, attempts, &batch[i], ids[i], after[i]);
        top_see(&w->top, &batch[i], ids[i], after[i]);
    }
    top_set_flows(&w->top, w->n_flows);
    if (w->log.is_open) flow_log_batch(&w->log, batch, ids, after, n);
    if (n != 0) w->time_ns = batch[n - 1].time_ns;
}

/* ------------------------------------------------------------------ time */

static void on_scan(void *context, uint16_t source) {
    const watch *const w = context;
    if (w->is_json) events_scan(&w->scans, source, w->time_ns);
}

static void on_flood(void *context, uint16_t target, uint64_t n_half_open) {
    const watch *const w = context;
    if (w->is_json) events_flood(&w->top, target, n_half_open, w->time_ns);
}

/* The timestamp is that of the attempt, and the timeout. */
static void on_timeout(void *context, const pending_attempt *attempt) {
    watch *const   w = context;
    uint64_t const time_ns = attempt->time_ns + w->timeout_ns;
    w->timeouts++;
    if (w->is_json) events_timeout(attempt, time_ns);
    if (w->log.is_open) flow_log_timeout(&w->log, attempt, time_ns);
}

static void judge(watch *w, uint64_t now_ns, bool is_last) {
    if (now_ns > w->now_ns) w->now_ns = now_ns;
    scans_judge(&w->scans, w->now_ns, is_last, on_scan, w);
    top_look_for_floods(&w->top, w->now_ns, is_last, on_flood, w);
}

void watch_time(watch *w, pending *attempts, uint64_t now_ns) {
    w->timeout_ns = attempts->timeout_ns;
    if (attempts->n != 0) pending_advance(attempts, now_ns, on_timeout, w);
    judge(w, now_ns, false);
    flow_log_time(&w->log, now_ns);
}

void watch_finish(watch *w, uint64_t now_ns) {
    judge(w, now_ns, true);
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
        warn("the table is full: %s flows. From now on, half-open and then ended flows are "
             "forgotten to make room, the oldest first",
             flows);
    if (w->is_json) events_full(is_refused, n_flows, time_ns);
}
