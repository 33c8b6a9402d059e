/* pending.c - see pending.h. */
#include "pending.h"

#include <stdlib.h>

bool pending_init(pending *ret_pending, const machine *m, table *flows) {
    *ret_pending = (pending){ .m = m, .flows = flows };
    for (unsigned i = 0; i < m->n_states; i++) {
        uint64_t const timeout = m->states[i].timeout_ns, least = ret_pending->timeout_ns;
        if (m->states[i].is_half_open && (least == 0 || timeout < least))
            ret_pending->timeout_ns = timeout;
    }
    if (ret_pending->timeout_ns == 0) return true;
    ret_pending->places = malloc(PENDING_PLACES * sizeof *ret_pending->places);
    return ret_pending->places != NULL;
}

void pending_fini(pending *q) {
    free(q->places);
    q->places = NULL;
    q->n = 0;
}

static pending_attempt *place_at(pending *q, uint64_t i) {
    return &q->places[(q->first + i) % PENDING_PLACES];
}

void pending_put(pending *q, const tracked *p, uint64_t id) {
    if (q->places == NULL) return;
    if (q->n == PENDING_PLACES) {
        q->first++;
        q->n--;
    }
    *place_at(q, q->n++) = (pending_attempt){ .flow = p->p.flow,
                                              .is_client_high = p->is_client_high,
                                              .id = id,
                                              .now_ns = p->now_ns,
                                              .time_ns = p->time_ns };
}

/* ------------------------------------------------------------------ asking the table */

/* Attempts whose time has come, and whether they are half-open still. */
typedef struct question {
    const machine *m;
    bool           is_half_open[TRACKER_BATCH];
} question;

static tamis_step on_question(void *context, size_t i, tamis_status status, uint32_t value,
                              uint32_t *ret_to) {
    question *const asked = context;
    (void)ret_to;
    asked->is_half_open[i] =
        status == TAMIS_OK && asked->m->states[machine_state_of(asked->m, value)].is_half_open;
    return TAMIS_STEP_LEAVE;
}

/* The first n attempts have waited long enough. */
static void ask(pending *q, size_t n, pending_timeout *on_timeout, void *context) {
    question     asked = { .m = q->m };
    uint64_t     ids[TRACKER_BATCH] = { 0 };
    tamis_status after[TRACKER_BATCH];
    for (size_t i = 0; i < n; i++) ids[i] = place_at(q, i)->id;
    table_step(q->flows, ids, n, on_question, &asked, after);
    for (size_t i = 0; i < n; i++) {
        if (asked.is_half_open[i]) on_timeout(context, place_at(q, i));
    }
    q->first += n;
    q->n -= n;
}

void pending_advance(pending *q, uint64_t now_ns, pending_timeout *on_timeout, void *context) {
    size_t n = 0;
    do {
        for (n = 0; n < TRACKER_BATCH && n < q->n; n++) {
            if (now_ns - place_at(q, n)->now_ns < q->timeout_ns) break;
        }
        if (n != 0) ask(q, n, on_timeout, context);
    } while (n == TRACKER_BATCH);
}
