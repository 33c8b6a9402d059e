/* fibers.h - three threads as fibers of one thread, which switch where a list of turns says so.
 *
 * The library itself is run, not a model of it. It is compiled with -finstrument-functions, so the
 * compiler calls __cyg_profile_func_enter() wherever a function begins, inlined ones, too. At the
 * beginning of some functions, another fiber may go on. Threads that wait for a lock let others
 * run; that is not counted as a turn.
 *
 * Memory is always seen in the order of the program. core/stripes.h says why the protocol is right
 * with the orders that processors allow.
 */
#ifndef EXPLORE_FIBERS_H
#define EXPLORE_FIBERS_H

#define _GNU_SOURCE
#include <pthread.h>

/* Fibers are not threads of the system, so functions for threads are replaced. */
static int       explore_lock(pthread_mutex_t *mutex);
static int       explore_try_lock(pthread_mutex_t *mutex);
static int       explore_unlock(pthread_mutex_t *mutex);
static pthread_t explore_self(void);
#define pthread_mutex_lock explore_lock
#define pthread_mutex_trylock explore_try_lock
#define pthread_mutex_unlock explore_unlock
#define pthread_self explore_self

static unsigned explore_fault; /* 0: none; see run-explore */

#include "tamis.c" /* the library in one file (make amalgamation) */

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define PLAIN __attribute__((no_instrument_function))
#define FIBERS 3
#define READER 2 /* the last one only reads */
#define MOST_SWITCHES 4
#define STACK_BYTES (256 << 10)

/* ------------------------------------------------------------------ fibers */

typedef struct fiber {
    ucontext_t context;
    bool       is_done;
    uint8_t    stack[STACK_BYTES];
} fiber;

/* At this point another fiber goes on. */
typedef struct turn {
    uint64_t point;
    unsigned to;
} turn;

static struct {
    fiber      fibers[FIBERS];
    ucontext_t home;
    unsigned   start, now; /* the fiber that begins, and the one that runs */
    bool       is_on;
    uint64_t   points; /* that were passed */
    turn       turns[MOST_SWITCHES];
    unsigned   n_turns, next_turn;
    unsigned   owner, depth; /* of the mutex; depth 0: free */
    uint64_t   waits;        /* one after the other */
} world;

static PLAIN void go_to(unsigned other) {
    unsigned const me = world.now;
    if (other == me || world.fibers[other].is_done) return;
    world.now = other;
    (void)swapcontext(&world.fibers[me].context, &world.fibers[other].context);
}

/* Let some other fiber run. */
static PLAIN void give_way(void) {
    if (++world.waits > 100000) {
        (void)fprintf(stderr, "explore: the fibers wait for each other\n");
        exit(1);
    }
    for (unsigned i = 1; i < FIBERS; i++) {
        unsigned const other = (world.now + i) % FIBERS;
        if (world.fibers[other].is_done) continue;
        go_to(other);
        return;
    }
}

void __cyg_profile_func_enter(void *function, void *caller) PLAIN;
void __cyg_profile_func_exit(void *function, void *caller) PLAIN;

/* Where threads touch what others see: locks and versions, views, and the words of a table. In
 * `rank` and `counting` every write is such a point, and every read of the reader. Other threads
 * read only while they hold the lock, so nobody else writes then. */
static const void *const points[] = {
    stripe_lock_from,
    stripe_begin_change,
    stripe_fence,
    stripe_unlock,
    stripe_version,
    share_view_now,
    share_stripe,
    share_side,
    share_count,
    share_add_alone,
    runs_look_up,
    runs_load,
    runs_store,
    runs_match,
    slots_open,
    slots_close,
    shelf_find,
    shelf_match,
    attic_find,
    words_read,
    line_carry,
    line_wipe,
    field_set,
    parts_open,
    parts_close,
    pool_take,
    pool_give,
    counters_set,
    rank_carry,
    rank_wipe,
    share_load_sweep,
    tamis_share_count_in,
    tamis_share_count_out,
    tamis_share_pay,
    tamis_share_publish,
    tamis_share_show_move,
    tamis_share_settle,
    tamis_share_divide,
    take_spare,
    retire,
};

static const void *const reads[] = { field_get, field_get_wide, counters_get };

static PLAIN bool is_point(const void *function) {
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        if (points[i] == function) return true;
    }
    for (size_t i = 0; i < sizeof reads / sizeof reads[0] && world.now == READER; i++) {
        if (reads[i] == function) return true;
    }
    return false;
}

void __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    if (!world.is_on) return;
    if (function == (void *)stripe_wait) {
        give_way();
        return;
    }
    world.waits = 0;
    if (!is_point(function)) return;
    uint64_t const point = world.points++;
    if (world.next_turn == world.n_turns || world.turns[world.next_turn].point != point) return;
    go_to(world.turns[world.next_turn++].to);
}

void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}

/* The only mutex of a run is that of its set: nothing else is shared. */
static PLAIN int explore_try_lock(pthread_mutex_t *mutex) {
    (void)mutex;
    if (world.depth != 0 && world.owner != world.now) return 1;
    world.owner = world.now;
    world.depth++;
    return 0;
}

static PLAIN int explore_lock(pthread_mutex_t *mutex) {
    while (explore_try_lock(mutex) != 0) give_way();
    return 0;
}

static PLAIN int explore_unlock(pthread_mutex_t *mutex) {
    (void)mutex;
    world.depth--;
    return 0;
}

static PLAIN pthread_t explore_self(void) {
    return (pthread_t)(world.now + 1);
}

/* ------------------------------------------------------------------ from begin to end */

static PLAIN void fiber_begin_all(void (*run)(int)) {
    for (int i = 0; i < FIBERS; i++) {
        fiber *const one = &world.fibers[i];
        one->is_done = false;
        (void)getcontext(&one->context);
        one->context.uc_stack.ss_sp = one->stack;
        one->context.uc_stack.ss_size = sizeof one->stack;
        one->context.uc_link = NULL;
        makecontext(&one->context, (void (*)(void))run, 1, i);
    }
}

/* The last thing that a fiber does. */
static PLAIN void fiber_end(int number) {
    world.fibers[number].is_done = true;
    for (unsigned i = 0; i < FIBERS; i++) {
        if (world.fibers[i].is_done) continue;
        world.now = i;
        (void)setcontext(&world.fibers[i].context);
    }
    (void)setcontext(&world.home);
}

/* All of them, with the turns of the world. */
static PLAIN void fiber_run_all(void (*run)(int)) {
    world.points = world.next_turn = 0;
    world.now = world.start;
    world.depth = 0;
    fiber_begin_all(run);
    world.is_on = true;
    (void)swapcontext(&world.home, &world.fibers[world.start].context);
    world.is_on = false;
}

#endif
