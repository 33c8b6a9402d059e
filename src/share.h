/* share.h - shared sets: the interface for the public functions. See share.c, and sharing.h for the
 * interface of kinds. */
#ifndef TAMIS_SHARE_H
#define TAMIS_SHARE_H

#include "handle.h"
#include "sharing.h"

#include <pthread.h>

/* Lines for threads: each thread has one, and several threads may have the same. */
#define SHARE_THREAD_LINES 16
#define SHARE_STEPPERS 7 /* threads in a line; a line of memory has room for this many */

/* A view that is in use, or was replaced; and a body to free with it, or NULL (share_grow.c). */
typedef struct share_retired {
    struct share_retired *next;
    share_view            view;
    uint8_t              *body;
    uint64_t              body_bytes;
    unsigned seen_empty; /* bit i: counter i has been zero since the view was replaced */
} share_retired;

/* What some of the threads write, apart from the others. */
typedef struct share_thread_line {
    uint64_t  n;                        /* calls on keys in progress; only if the set grows */
    uintptr_t steppers[SHARE_STEPPERS]; /* threads that are running steps; 0: a free place */
    uint8_t   unused[TAMIS_LINE_BYTES - sizeof(uint64_t) - SHARE_STEPPERS * sizeof(uintptr_t)];
} share_thread_line;

/* What a shared set has besides its table. */
struct shared_set {
    sharing        share; /* first: operations on keys need only this */
    share_retired *now;   /* the entry of share.view */
    unsigned       stripe_shift;

    kind_calls calls; /* functions on keys for the public functions (share_calls.c) */
    /* The kind's own, or NULL. */
    void (*fetch)(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update);

    pthread_mutex_t whole;     /* for operations on the whole set, and for steps; recursive */
    unsigned        held;      /* how often its owner has locked all stripes */
    uintptr_t       caller;    /* the thread whose callback is running, or 0 */
    unsigned        callbacks; /* how many are running, nested */

    unsigned copies; /* that are being written or sent: these calls still need the handle */

    /* How many lines, from its own on, have a thread if it is running steps: 0 as long as no thread
     * has run any, then 1, and all once a line was full. */
    unsigned step_lines;

    /* For sets that grow. */
    uint64_t          pay_every; /* calls: see share_grow.c */
    tamis_status      refusal;   /* why an add was refused: _FULL or _MEMORY, never TAMIS_OK */
    share_retired    *retired;   /* views and bodies that lookups may still read */
    share_retired    *spare;
    share_thread_line inside[SHARE_THREAD_LINES];
};

/* The line of the calling thread: it follows from the handle of the thread. */
TAMIS_INLINE unsigned share_own_line(void) {
    return (unsigned)(mix64((uintptr_t)pthread_self()) % SHARE_THREAD_LINES);
}

TAMIS_INLINE sharing *share_of(const tamis_set *set) {
    return &set->shared->share;
}

/* The set of a table, to change it. */
TAMIS_INLINE tamis_set *share_set_of_table(const tamis_table *table) {
    return (tamis_set *)(uintptr_t)table;
}

TAMIS_INLINE sharing *share_of_table(const tamis_table *table) {
    return share_of(set_of_table(table));
}

/* Make a set shared; it has its body. TAMIS_OK, _CANNOT, _MEMORY. */
tamis_status tamis_share_init(tamis_set *set);

/* Free what a shared set has besides its table. */
void tamis_share_free(tamis_set *set);

/* The bytes of what a shared set has besides its tables; the set is held. */
uint64_t tamis_share_bytes(const tamis_set *set);

/* Hold a set: all writers wait, lookups go on. Until the release, the calling thread may read the
 * tables of the handle like those of any set, and their counts are up to date. Calls may be nested.
 * Both functions do nothing if the set is not shared. */
void tamis_share_hold(const tamis_set *set);
void tamis_share_release(const tamis_set *set);

/* For long operations that read a whole set. A shared set is copied, and other threads can change
 * it meanwhile; if there is no memory for a copy, the set is held. Read the set that the first
 * function returns, and pass it to the second. */
const tamis_set *tamis_share_begin_read(const tamis_set *set);
void             tamis_share_end_read(const tamis_set *set, const tamis_set *read);

/* Hold two sets, in the same order in all threads. */
void tamis_share_hold_two(const tamis_set *a, const tamis_set *b);
void tamis_share_release_two(const tamis_set *a, const tamis_set *b);

/* Change a whole set, or nothing, while other threads look up keys in it: the change is made to an
 * ordinary set with a copy of the tables, and the result is written back. */
tamis_status tamis_share_change_all(tamis_set *set, const tamis_set *other, tamis_change *change);

/* Divide the buckets of the table into stripes. All stripes must be locked, or no other thread
 * knows the set. */
void tamis_share_divide(tamis_set *set);

/* share_grow.c. A call on keys begins and ends; pass the result of the first to the second. Only
 * sets that grow free tables, so other sets need no counter. */
unsigned tamis_share_count_in(const tamis_set *set);
void     tamis_share_count_out(const tamis_set *set, unsigned mine);

TAMIS_INLINE unsigned tamis_share_enter(const tamis_set *set) {
    return set->growth != NULL ? tamis_share_count_in(set) : 0;
}

TAMIS_INLINE void tamis_share_leave(const tamis_set *set, unsigned mine) {
    if (set->growth != NULL) tamis_share_count_out(set, mine);
}

/* A call has changed the key: it may have to do a part of a step. Not between enter and leave. */
void tamis_share_pay(tamis_set *set, uint64_t hash);

/* An add was refused when there had been `seen` views. TAMIS_OK: try again. Otherwise _FULL or
 * _MEMORY. */
tamis_status tamis_share_make_room(tamis_set *set, uint64_t seen);

/* Why an add was refused, or a chunk was not added completely: _FULL or _MEMORY. */
tamis_status tamis_share_refusal(const tamis_set *set);

/* Allocate what n calls of publish and retire_body need: false if there is no memory. */
bool tamis_share_prepare(tamis_set *set, unsigned n);

/* Let all threads see the tables that the handle has now. */
void tamis_share_publish(tamis_set *set);

/* Free the body of a table when no lookup can read it. */
void tamis_share_retire_body(tamis_set *set, tamis_table *table);

void tamis_share_clean(tamis_set *set);
void tamis_share_free_retired(tamis_set *set);

/* The group of a bucket is moved: no other thread changes it between the first and the last call,
 * and from the second call on other threads see that it has moved. */
void tamis_share_begin_move(tamis_set *set, uint64_t bucket);
void tamis_share_show_move(tamis_set *set, uint64_t bucket);
void tamis_share_end_move(tamis_set *set, uint64_t bucket);

/* The capacity has changed, or a step begins or ends. */
void tamis_share_settle(tamis_set *set);

/* share_calls.c: choose the functions on keys that the public functions call. */
void tamis_share_choose_calls(tamis_set *set);

/* share_states.c. */
extern const kind_states tamis_shared_states;

/* Let all threads see the sweep of the table, or of both. */
void tamis_share_show_sweep(tamis_set *set);

/* tamis_states_tick(). */
tamis_status tamis_share_tick(tamis_set *set, uint64_t ticks, uint64_t *aged,
                              uint64_t *ret_backlog);

/* share_calls.c: like tamis_add_new_id(), for a hash: look up and add in one step. */
tamis_status tamis_share_add_new(tamis_set *set, uint64_t hash, bool *ret_is_new);

#endif
