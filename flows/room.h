/* room.h - make room in a full table: forget what matters least, the oldest first.
 *
 * When a table holds as many flows as it was made for, every further flow takes the place of
 *
 *   1. the oldest half-open flow: so a flood of them cannot push out established connections;
 *   2. if there is none, the flow that ended first.
 *
 * Other flows are never forgotten to make room. If nothing of the above is left, the new flow is
 * refused.
 *
 * The table has no order of age. So the ids of half-open flows are kept in a queue, from the moment
 * on when the table is a quarter full, and those of ended flows when it is three quarters full: a
 * table of sensible size needs no queue. Flows from before that moment leave by their timeouts. A
 * queue takes 8 bytes per flow. Flows in it may have gone on to another state. They are taken out
 * when the queue is four times as long as it has to be, and skipped when it is used.
 */
#ifndef FLOWS_ROOM_H
#define FLOWS_ROOM_H

#include "table.h"

typedef enum room_class { ROOM_HALF_OPEN, ROOM_ENDED, N_ROOM_CLASSES } room_class;

typedef struct room_queue {
    uint64_t *ids;
    uint64_t  n_places, first, n; /* a ring; n_places is a power of two */
    uint64_t  states;             /* a bit for each state whose flows may go */
    uint64_t  begin;              /* how many flows must be in the table */
} room_queue;

typedef struct room {
    const machine *m;
    table         *flows;
    uint64_t       capacity; /* 0: without limit */
    room_queue     queues[N_ROOM_CLASSES];
    uint64_t       evicted[MACHINE_STATES];
} room;

void room_init(room *ret_room, const machine *m, table *flows);
void room_fini(room *r);

/* A flow has come to a state; `n_now` are in the table. */
void room_note(room *r, uint64_t id, unsigned state, uint64_t n_now);

/* Take up to n flows out. counts[state] is reduced by those that went, and on_evicted() is called
 * for each, unless it is NULL. Returns how many. */
typedef void room_evicted_hook(void *context, uint64_t id);
uint64_t     room_make(room *r, uint64_t n, uint64_t *counts, room_evicted_hook *on_evicted,
                       void *context);

/* Shorten queues that are much longer than the number of flows in their states. */
void room_tidy(room *r, const uint64_t *counts);

uint64_t room_evicted(const room *r);
uint64_t room_bytes(const room *r);

#endif
