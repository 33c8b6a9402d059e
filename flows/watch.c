/* watch.c - see watch.h. */
#include "watch.h"

#include <string.h>

#include "events.h"

void watch_init(watch *ret_watch, const machine *m, timeline *line, uint64_t seed, bool is_json) {
    ret_watch->m = m;
    ret_watch->line = line;
    ret_watch->is_json = is_json;
    scans_init(&ret_watch->scans, seed);
}

static bool is_opening(const tracked *p, tamis_status after) {
    return p->step == TAMIS_STEP_SET && after == TAMIS_OK &&
           (p->before == TAMIS_ERR_ABSENT || p->rule->opens);
}

static void get_end(const packet *p, bool is_high, scan_end *ret_end) {
    memcpy(ret_end->address, p->flow.address[is_high], sizeof ret_end->address);
    ret_end->version = p->flow.version;
    ret_end->port = p->flow.port[is_high];
}

/* A flow that begins half-open is an attempt of its source. */
static void watch_scans(watch *w, const tracked *p, tamis_status after) {
    scan_end   from, to;
    bool const is_attempt =
        is_opening(p, after) && !p->rule->is_reversed && w->m->states[p->rule->go].is_half_open;
    bool const is_answer = p->rule->answers && p->before == TAMIS_OK;
    if (!is_attempt && !is_answer) return;
    get_end(&p->p, p->p.is_from_high, &from);
    get_end(&p->p, !p->p.is_from_high, &to);
    if (!is_attempt) {
        scans_answer(&w->scans, &to);
        return;
    }
    const scan_source *const likely = scans_attempt(&w->scans, &from, &to);
    if (likely != NULL && w->is_json) events_scan(likely, p->time_ns);
}

void watch_batch(watch *w, const tracked *batch, const tamis_status *after, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const tracked *const p = &batch[i];
        if (p->rule == NULL) continue;
        watch_scans(w, p, after[i]);
        if (is_opening(p, after[i])) timeline_at(w->line, p->now_ns)->flows++;
        if (w->is_json && tracker_is_event(p, after[i])) events_flow(w->m, p);
    }
}

void watch_aged(watch *w, unsigned state, uint64_t n, uint64_t time_ns) {
    if (w->is_json) events_aged(&w->m->states[state], n, time_ns);
}
