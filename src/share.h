/* share.h - sets that many threads share: what the front door needs to know of them. See share.c,
 * and sharing.h for how kinds take part. */
#ifndef TAMIS_SHARE_H
#define TAMIS_SHARE_H

#include "handle.h"
#include "sharing.h"

#include <pthread.h>

#define SHARE_COUNTERS 16

/* A view, in use or no longer; and a body that goes with it, or NULL (share_grow.c). */
typedef struct share_retired {
    struct share_retired *next;
    share_view            view;
    uint8_t              *body;
    uint64_t              body_bytes;
    unsigned              seen_empty; /* bit i: counter i was at zero since it was replaced */
} share_retired;

/* What a shared set has beside its table. */
struct shared_set {
    sharing        share; /* first: it is all that operations on keys need */
    share_retired *now;   /* what share.view is a part of */
    unsigned       stripe_shift;

    tamis_kind calls; /* functions on keys for the front door (share_calls.c) */
    /* The kind's own, or NULL. */
    void (*fetch)(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update);

    pthread_mutex_t whole;     /* for work on the set as a whole, and for steps; recursive */
    unsigned        held;      /* how often its owner has locked all stripes */
    uintptr_t       caller;    /* the thread whose callback is running, or 0 */
    unsigned        callbacks; /* how many are, one in the other */

    /* Of sets that grow. */
    uint64_t       look_every; /* calls: see share_grow.c */
    share_retired *retired;    /* views and bodies that lookups may still read */
    share_retired *spare;
    struct {
        uint64_t n; /* calls on keys that are under way */
        uint8_t  alone[TAMIS_LINE_BYTES - sizeof(uint64_t)];
    } inside[SHARE_COUNTERS];
};

TAMIS_INLINE sharing *share_of(const tamis_set *set) {
    return &set->shared->share;
}

TAMIS_INLINE sharing *share_of_table(const tamis_table *table) {
    return share_of(set_of_table(table));
}

/* Let threads share a set that has its body: TAMIS_OK, _CANNOT, _MEMORY. */
tamis_status tamis_share_init(tamis_set *set);

/* Free what a shared set has beside its table. */
void tamis_share_free(tamis_set *set);

/* Make all writers wait; lookups go on. Until the release the calling thread may read the tables of
 * the handle as those of any set, and their counts are up to date. Calls may be nested. Both do
 * nothing if the set is not shared. */
void tamis_share_hold(const tamis_set *set);
void tamis_share_release(const tamis_set *set);

/* For long work that reads a set as a whole: a shared set is copied, and free again meanwhile; or
 * it is held, if there is no memory for that. What the first returns is read, and goes to the
 * second. */
const tamis_set *tamis_share_begin_read(const tamis_set *set);
void             tamis_share_end_read(const tamis_set *set, const tamis_set *read);

/* Hold two sets, in an order that all threads keep. */
void tamis_share_hold_two(const tamis_set *a, const tamis_set *b);
void tamis_share_release_two(const tamis_set *a, const tamis_set *b);

/* Change a set as a whole, or not at all, while others look keys up in it: the change is made to an
 * ordinary set with a copy of the tables, and what has become of them is written back. */
tamis_status tamis_share_change_all(tamis_set *set, const tamis_set *other, tamis_change *change);

/* Divide the buckets of the table into stripes. All stripes are locked, or nobody knows the set. */
void tamis_share_divide(tamis_set *set);

/* share_grow.c. A call on keys is under way; what the first returns goes to the second. Only sets
 * that grow have tables that go, so others need no counter. */
unsigned tamis_share_count_in(const tamis_set *set);
void     tamis_share_count_out(const tamis_set *set, unsigned mine);

TAMIS_INLINE unsigned tamis_share_enter(const tamis_set *set) {
    return set->growth != NULL ? tamis_share_count_in(set) : 0;
}

TAMIS_INLINE void tamis_share_leave(const tamis_set *set, unsigned mine) {
    if (set->growth != NULL) tamis_share_count_out(set, mine);
}

/* A call has changed the key: it may have to pay for a step. Not between enter and leave. */
void tamis_share_pay(tamis_set *set, uint64_t hash);

/* An add was refused when there had been so many views. TAMIS_OK: try again. Else _FULL, or
 * _MEMORY. */
tamis_status tamis_share_make_room(tamis_set *set, uint64_t seen);

/* Have what n calls of publish and retire_body need: false if there is no memory. */
bool tamis_share_prepare(tamis_set *set, unsigned n);

/* Let all threads see the tables that the handle has now. */
void tamis_share_publish(tamis_set *set);

/* Free the body of a table when no lookup can read it. */
void tamis_share_retire_body(tamis_set *set, tamis_table *table);

void tamis_share_clean(tamis_set *set);
void tamis_share_free_retired(tamis_set *set);

/* The group of a bucket is moved: nobody changes it from the first call to the last, and from the
 * second on others see that it has moved. */
void tamis_share_begin_move(tamis_set *set, uint64_t bucket);
void tamis_share_show_move(tamis_set *set, uint64_t bucket);
void tamis_share_end_move(tamis_set *set, uint64_t bucket);

/* The capacity is another. */
void tamis_share_settle(tamis_set *set);

/* share_calls.c: which functions on keys the front door calls. */
void tamis_share_choose_calls(tamis_set *set);

/* share_states.c. */
extern const kind_states tamis_shared_states;

/* Let all threads see the sweep of the table, or of both. */
void tamis_share_show_sweep(tamis_set *set);

/* Time goes on: sweep up to so many units. Returns how many are left to do. */
uint64_t tamis_share_tick(tamis_set *set, uint64_t ticks, uint64_t most, uint64_t *aged);

/* share_calls.c: as tamis_add_new_id(), for a hash: look and add at once. */
tamis_status tamis_share_add_new(tamis_set *set, uint64_t hash, bool *ret_is_new);

#endif
