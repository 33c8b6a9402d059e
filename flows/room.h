/* room.h - make room in a full table: forget what matters least, the oldest first.
 *
 * When a table holds as many flows as it was made for, every further flow takes the place of the
 * oldest flow that is not known to be alive and real:
 *
 *   - half-open: nobody has answered;
 *   - unconfirmed: picked up from one packet, which is as cheap to forge as a SYN;
 *   - ended, or called evictable by the machine (TCP: one end has sent its FIN).
 *
 * Other flows are never forgotten to make room. If nothing of the above is left, the new flow is
 * refused.
 *
 * Why there is one order of age for all of these flows: if one class were always evicted first, a
 * flood of another class would evict all flows of the first at once. With 20,000 lone RSTs in the
 * table, and half-open flows evicted first, each real SYN would be the only half-open flow, and the
 * next RST would evict it. By age, every flow stays until all older ones that can be replaced are
 * replaced.
 *
 * The table has no order of age. So the ids of these flows are kept in a queue, from the moment on
 * when the table is a quarter full: a table of sensible size needs no queue. Flows from before that
 * moment are removed only by their timeouts. The queue takes 8 bytes per flow. Flows in it may have
 * gone on to another state. They are taken out when the queue is four times as long as it has to
 * be, and skipped when it is used.
 */
#ifndef FLOWS_ROOM_H
#define FLOWS_ROOM_H

#include "table.h"

typedef struct room_queue {
    uint64_t *ids;
    uint64_t  n_places, first, n; /* a ring; n_places is a power of two */
} room_queue;

typedef struct room {
    const machine *m;
    table         *flows;
    uint64_t       capacity; /* 0: without limit */
    uint64_t       begin;    /* how many flows must be in the table */
    uint64_t       states;   /* a bit for each state whose flows may go */
    room_queue     queue;
    uint64_t       evicted[MACHINE_STATES];
} room;

void room_init(room *ret_room, const machine *m, table *flows);
void room_fini(room *r);

/* May flows in this state go? */
static inline bool room_may_go(const room *r, unsigned state) {
    return (r->states >> state & 1) != 0;
}

/* A flow has come to a state in which it may go; `n_now` are in the table. */
void room_note(room *r, uint64_t id, uint64_t n_now);

/* Take up to n flows out. counts[state] is reduced by those that went, and on_evicted() is called
 * for each, unless it is NULL. Returns how many. */
typedef void room_evicted_hook(void *context, uint64_t id);
uint64_t     room_make(room *r, uint64_t n, uint64_t *counts, room_evicted_hook *on_evicted,
                       void *context);

/* Shorten a queue that is much longer than the number of flows that may go. */
void room_tidy(room *r, const uint64_t *counts);

/* The ids in the order of age, oldest first, in two parts that may be empty. room_restore() puts
 * such ids into an empty queue. */
typedef struct room_part {
    const uint64_t *ids;
    uint64_t        n;
} room_part;
void room_order(const room *r, room_part ret_parts[2]);
void room_restore(room *r, const uint64_t *ids, uint64_t n);

/* No queue is longer than this after room_tidy(), and so none that is saved. */
uint64_t room_most_ids(uint64_t capacity);

uint64_t room_evicted(const room *r);
uint64_t room_bytes(const room *r);

#endif
