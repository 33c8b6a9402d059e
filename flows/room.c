/* room.c - see room.h. */
#include "room.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PLACES 1024
#define BATCH 128
#define SLACK 4096 /* ids that a queue may have too many, in any case */

void room_init(room *ret_room, const machine *m, table *flows) {
    table_info info;
    table_inspect(flows, &info);
    *ret_room = (room){ .m = m, .flows = flows, .capacity = info.has_limit ? info.capacity : 0 };
    for (unsigned i = 0; i < m->n_states; i++)
        ret_room->states |= (uint64_t)m->states[i].is_evictable << i;
    ret_room->begin = ret_room->capacity / 4;
}

void room_fini(room *r) {
    free(r->queue.ids);
}

/* ------------------------------------------------------------------ the queue */

/* Without memory for a longer queue, the oldest flow is left to its timeout. */
static void queue_grow(room_queue *q) {
    uint64_t const  n_places = q->n_places == 0 ? FIRST_PLACES : 2 * q->n_places;
    uint64_t *const ids = malloc(n_places * sizeof *ids);
    if (ids == NULL) {
        if (q->n != 0) q->n--;
        q->first++;
        return;
    }
    for (uint64_t i = 0; i < q->n; i++) ids[i] = q->ids[(q->first + i) & (q->n_places - 1)];
    free(q->ids);
    q->ids = ids;
    q->n_places = n_places;
    q->first = 0;
}

static void queue_put(room_queue *q, uint64_t id) {
    if (q->n == q->n_places) queue_grow(q);
    if (q->n_places != 0) q->ids[(q->first + q->n++) & (q->n_places - 1)] = id;
}

static size_t queue_take(room_queue *q, uint64_t *ret_ids, size_t max) {
    size_t const n = q->n < max ? (size_t)q->n : max;
    for (size_t i = 0; i < n; i++) ret_ids[i] = q->ids[(q->first + i) & (q->n_places - 1)];
    q->first += n;
    q->n -= n;
    return n;
}

void room_note(room *r, uint64_t id, uint64_t n_now) {
    if (r->capacity != 0 && n_now >= r->begin) queue_put(&r->queue, id);
}

void room_order(const room *r, room_part ret_parts[2]) {
    const room_queue *const q = &r->queue;
    uint64_t const          first = q->n_places != 0 ? q->first & (q->n_places - 1) : 0;
    uint64_t const          n = q->n < q->n_places - first ? q->n : q->n_places - first;
    ret_parts[0] = (room_part){ q->n != 0 ? q->ids + first : NULL, n };
    ret_parts[1] = (room_part){ q->ids, q->n - n };
}

void room_restore(room *r, const uint64_t *ids, uint64_t n) {
    for (uint64_t i = 0; i < n && r->capacity != 0; i++) queue_put(&r->queue, ids[i]);
}

/* ------------------------------------------------------------------ asking the table */

/* A few flows of the queue, and what the table says about them. */
typedef struct asked {
    const room  *r;
    tamis_step   found; /* what to do with those that may still go */
    uint64_t     ids[BATCH];
    uint32_t     values[BATCH];
    tamis_status after[BATCH];
    bool         is_found[BATCH];
} asked;

static tamis_step on_asked(void *context, size_t i, tamis_status status, uint32_t value,
                           uint32_t *ret_to) {
    asked *const a = context;
    (void)ret_to;
    a->values[i] = value;
    a->is_found[i] = status == TAMIS_OK && room_may_go(a->r, machine_state_of(a->r->m, value));
    return a->is_found[i] ? a->found : TAMIS_STEP_LEAVE;
}

/* What is updated and called when flows are evicted. */
typedef struct eviction {
    uint64_t          *counts;
    room_evicted_hook *on_evicted;
    void              *context;
} eviction;

static uint64_t drop_some(room *r, uint64_t n, const eviction *tell) {
    asked        a = { .r = r, .found = TAMIS_STEP_DROP };
    uint64_t     n_dropped = 0;
    size_t const n_ids = queue_take(&r->queue, a.ids, n < BATCH ? (size_t)n : BATCH);
    table_step(r->flows, a.ids, n_ids, on_asked, &a, a.after);
    for (size_t i = 0; i < n_ids; i++) {
        if (!a.is_found[i] || a.after[i] != TAMIS_OK) continue;
        unsigned const state = machine_state_of(r->m, a.values[i]);
        tell->counts[state]--;
        if (tell->on_evicted != NULL) tell->on_evicted(tell->context, a.ids[i]);
        r->evicted[state]++;
        n_dropped++;
    }
    return n_dropped;
}

uint64_t room_make(room *r, uint64_t n, uint64_t *counts, room_evicted_hook *on_evicted,
                   void *context) {
    eviction const tell = { counts, on_evicted, context };
    uint64_t       n_dropped = 0;
    while (n_dropped < n && r->queue.n != 0) n_dropped += drop_some(r, n - n_dropped, &tell);
    return n_dropped;
}

/* Look at all flows of the queue once, and keep those that may still go. */
static void queue_tidy(room *r) {
    asked a = { .r = r, .found = TAMIS_STEP_LEAVE };
    for (uint64_t left = r->queue.n; left != 0;) {
        size_t const n = queue_take(&r->queue, a.ids, left < BATCH ? (size_t)left : BATCH);
        table_step(r->flows, a.ids, n, on_asked, &a, a.after);
        for (size_t i = 0; i < n; i++) {
            if (a.is_found[i]) queue_put(&r->queue, a.ids[i]);
        }
        left -= n;
    }
}

void room_tidy(room *r, const uint64_t *counts) {
    uint64_t needed = 0;
    if (r->queue.n <= SLACK) return;
    for (unsigned state = 0; state < r->m->n_states; state++)
        needed += room_may_go(r, state) ? counts[state] : 0;
    if (r->queue.n > 4 * needed + r->capacity / 16 + SLACK) queue_tidy(r);
}

/* ------------------------------------------------------------------ figures */

/* As in room_tidy(). A queue that has any ids left has not let the table exceed its capacity by
 * more than a batch. */
uint64_t room_most_ids(uint64_t capacity) {
    return 4 * (capacity + SLACK) + capacity / 16 + SLACK;
}

uint64_t room_evicted(const room *r) {
    uint64_t n = 0;
    for (unsigned i = 0; i < r->m->n_states; i++) n += r->evicted[i];
    return n;
}

uint64_t room_bytes(const room *r) {
    return r->queue.n_places * sizeof(uint64_t);
}
