/* share.c - shared sets: making and freeing them, and operations on a shared set as a whole.
 *
 * sharing.h says how threads work on keys. To save, copy, merge or inspect a shared set, a thread
 * holds it: it takes the mutex `whole`, and locks all stripes in order. Then no other thread
 * changes the tables, and the counts of all stripes are added to those of the handle; so the
 * ordinary functions can be used. Lookups go on.
 *
 * A change of the whole set is made to a copy. The result is written back with all stripes locked,
 * so that a lookup sees either the old or the new contents.
 *
 * Locks are taken in this order: `whole` of one set or of two (the one with the lower address
 * first), stripes by number, the attic.
 */
#include "share.h"

#include "core/memory.h"
#include "grow.h"

#ifndef MAX_STRIPES      /* tests use fewer */
#define MAX_STRIPES 2048 /* 128 KiB, which stay in the second-level cache */
#endif

/* ------------------------------------------------------------------ stripes */

static uint64_t stripes_of(const tamis_set *set) {
    return ((set->table.geometry[0] - 1) >> set->shared->stripe_shift) + 1;
}

/* One stripe for each group of buckets, or for 2, 4, 8, ... of them. */
void tamis_share_divide(tamis_set *set) {
    const kind_sharing *const how = set->kind->sharing;
    set->shared->stripe_shift =
        how->group_shift != NULL ? how->group_shift(set->table.geometry) : SHARE_ONE_GROUP;
    while (stripes_of(set) > MAX_STRIPES) set->shared->stripe_shift++;
}

/* ------------------------------------------------------------------ the life of a shared set */

static tamis_status get_stripes(tamis_set *set, uint64_t n) {
    sharing *const share = share_of(set);
    share->n = n;
    share->stripes = memory_get(&set->allocator, (size_t)n * sizeof *share->stripes);
    return share->stripes != NULL ? TAMIS_OK : TAMIS_ERR_MEMORY;
}

static bool make_mutex(pthread_mutex_t *mutex) {
    pthread_mutexattr_t recursive;
    if (pthread_mutexattr_init(&recursive) != 0) return false;
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    bool const is_made = pthread_mutex_init(mutex, &recursive) == 0;
    (void)pthread_mutexattr_destroy(&recursive);
    return is_made;
}

tamis_status tamis_share_init(tamis_set *set) {
    if (set->kind->sharing == NULL) return TAMIS_ERR_CANNOT;
    struct shared_set *const shared = memory_get(&set->allocator, sizeof *shared);
    if (shared == NULL) return TAMIS_ERR_MEMORY;
    if (!make_mutex(&shared->whole)) {
        memory_give(&set->allocator, shared, sizeof *shared);
        return TAMIS_ERR_MEMORY;
    }
    shared->refusal = TAMIS_ERR_FULL;
    set->shared = shared;
    set->change_locks |= HANDLE_SHARED;
    tamis_share_divide(set);
    tamis_status const status =
        get_stripes(set, set->growth != NULL ? MAX_STRIPES : stripes_of(set));
    /* A set from a file may be in a step. Ending it needs as much as a step that begins here. */
    unsigned const n = set->growth != NULL ? 4 : 1;
    if (status != TAMIS_OK || !tamis_share_prepare(set, n)) return TAMIS_ERR_MEMORY;
    tamis_share_publish(set);
    tamis_share_settle(set);
    tamis_share_choose_calls(set);
    if (set->table.values != 0) set->states = &tamis_shared_states;
    return TAMIS_OK;
}

void tamis_share_free(tamis_set *set) {
    struct shared_set *const shared = set->shared;
    if (shared == NULL) return;
    sharing *const share = &shared->share;
    memory_give(&set->allocator, share->stripes, (size_t)share->n * sizeof *share->stripes);
    tamis_share_free_retired(set);
    memory_give(&set->allocator, shared->now, sizeof *shared->now);
    (void)pthread_mutex_destroy(&shared->whole);
    memory_give(&set->allocator, shared, sizeof *shared);
    set->shared = NULL;
}

static uint64_t bytes_of_list(const share_retired *one) {
    uint64_t bytes = 0;
    for (; one != NULL; one = one->next) bytes += sizeof *one + one->body_bytes;
    return bytes;
}

uint64_t tamis_share_bytes(const tamis_set *set) {
    const struct shared_set *const shared = set->shared;
    return sizeof *shared + shared->share.n * sizeof *shared->share.stripes +
           bytes_of_list(shared->now) + bytes_of_list(shared->retired) +
           bytes_of_list(shared->spare);
}

void tamis_share_note(tamis_set *set, uint64_t adds, uint64_t removes, uint64_t conflicts) {
    sharing *const share = share_of(set);
    share_add(&share->refused_adds, adds);
    share_add(&share->refused_removes, removes);
    share_add(&share->conflicts, conflicts);
}

/* ------------------------------------------------------------------ callbacks */

/* A writer's callback runs while its thread holds the set, and the set records which thread that
 * is. The callback of a step runs with a stripe locked; many threads may be in one, and each of
 * them is recorded in its line. Either way, a change of the table would wait for its own thread.
 *
 * Other threads read these records only to compare them with themselves. So nothing is ordered
 * here: a thread sees what it has written. */

/* Replace a thread in a line by another. 0 is a free place. */
static bool replace_stepper(share_thread_line *line, uintptr_t before, uintptr_t after) {
    for (unsigned i = 0; i < SHARE_STEPPERS; i++) {
        uintptr_t now = __atomic_load_n(&line->steppers[i], __ATOMIC_RELAXED);
        if (now == before && __atomic_compare_exchange_n(&line->steppers[i], &now, after, false,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static bool has_stepper(const share_thread_line *line, uintptr_t thread) {
    for (unsigned i = 0; i < SHARE_STEPPERS; i++) {
        if (__atomic_load_n(&line->steppers[i], __ATOMIC_RELAXED) == thread) return true;
    }
    return false;
}

static bool is_stepping(const tamis_set *set, uintptr_t thread, unsigned n_lines) {
    unsigned const own = share_own_line();
    for (unsigned i = 0; i < n_lines; i++) {
        if (has_stepper(&set->shared->inside[(own + i) % SHARE_THREAD_LINES], thread)) return true;
    }
    return false;
}

/* A table without steps costs one comparison more; others a look at the thread's own line. */
tamis_status tamis_share_change_status(const tamis_set *set) {
    uintptr_t const caller = __atomic_load_n(&set->shared->caller, __ATOMIC_RELAXED);
    unsigned const  n_lines = __atomic_load_n(&set->shared->step_lines, __ATOMIC_RELAXED);
    if (__builtin_expect(caller == 0 && n_lines == 0, 1)) return TAMIS_OK;
    uintptr_t const thread = (uintptr_t)pthread_self();
    return caller == thread || is_stepping(set, thread, n_lines) ? TAMIS_ERR_REENTRY : TAMIS_OK;
}

bool tamis_share_is_busy(const tamis_set *set) {
    return __atomic_load_n(&set->shared->copies, __ATOMIC_RELAXED) != 0 ||
           tamis_share_change_status(set) != TAMIS_OK;
}

/* If all lines are full (112 threads in steps), the thread is not recorded: then a callback that
 * changes its own table waits for ever. */
void tamis_share_begin_steps(const tamis_set *set) {
    struct shared_set *const shared = set->shared;
    uintptr_t const          thread = (uintptr_t)pthread_self();
    unsigned const           own = share_own_line();
    unsigned                 none = 0, i = 0;
    while (i < SHARE_THREAD_LINES &&
           !replace_stepper(&shared->inside[(own + i) % SHARE_THREAD_LINES], 0, thread))
        i++;
    if (i != 0)
        __atomic_store_n(&shared->step_lines, SHARE_THREAD_LINES, __ATOMIC_RELAXED);
    else if (__atomic_load_n(&shared->step_lines, __ATOMIC_RELAXED) == 0)
        (void)__atomic_compare_exchange_n(&shared->step_lines, &none, 1, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
}

void tamis_share_end_steps(const tamis_set *set) {
    uintptr_t const thread = (uintptr_t)pthread_self();
    unsigned const  own = share_own_line();
    for (unsigned i = 0; i < SHARE_THREAD_LINES; i++) {
        if (replace_stepper(&set->shared->inside[(own + i) % SHARE_THREAD_LINES], thread, 0))
            return;
    }
}

void tamis_share_begin_callbacks(const tamis_set *set) {
    __atomic_store_n(&set->shared->caller, (uintptr_t)pthread_self(), __ATOMIC_RELAXED);
    set->shared->callbacks++;
}

void tamis_share_end_callbacks(const tamis_set *set) {
    if (--set->shared->callbacks == 0) __atomic_store_n(&set->shared->caller, 0, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ holding a set */

static void take(uint64_t *from, uint64_t *to) {
    *to += __atomic_exchange_n(from, 0, __ATOMIC_RELAXED);
}

/* Move all counts into the handle. */
static void gather_counts(tamis_set *set) {
    sharing *const     share = share_of(set);
    tamis_table *const tables[2] = { &set->table,
                                     set->growth != NULL ? &set->growth->next : &set->table };
    for (unsigned side = 0; side < 2; side++) {
        for (uint64_t i = 0; i < share->n; i++) {
            take(&share->stripes[i].keys[side], &tables[side]->keys);
            take(&share->stripes[i].entries[side], &tables[side]->entries);
        }
        take(&share->saturated[side], &tables[side]->saturated);
    }
    /* If keys share counters, more keys can be removed than were added. */
    if ((int64_t)set->table.keys < 0) set->table.keys = 0;
    take(&share->moved, &set->table.moved);
    take(&share->aged, &set->table.aged);
    take(&share->refused_adds, &set->table.refused_adds);
    take(&share->refused_removes, &set->table.refused_removes);
    take(&share->conflicts, &set->conflicts);
}

void tamis_share_hold(const tamis_set *set) {
    struct shared_set *const shared = set->shared;
    if (shared == NULL) return;
    (void)pthread_mutex_lock(&shared->whole);
    if (shared->held++ != 0) return;
    for (uint64_t i = 0; i < shared->share.n; i++) stripe_lock(&shared->share.stripes[i].word);
    gather_counts((tamis_set *)(uintptr_t)set); /* counts of a const handle may change */
}

void tamis_share_release(const tamis_set *set) {
    struct shared_set *const shared = set->shared;
    if (shared == NULL) return;
    if (--shared->held == 0) {
        for (uint64_t i = 0; i < shared->share.n; i++)
            stripe_unlock(&shared->share.stripes[i].word);
    }
    (void)pthread_mutex_unlock(&shared->whole);
}

const tamis_set *tamis_share_begin_read(const tamis_set *set) {
    tamis_set *copy;
    tamis_share_hold(set);
    if (set->shared == NULL || tamis_copy_unshared(set, &copy) != TAMIS_OK) return set;
    (void)__atomic_fetch_add(&set->shared->copies, 1, __ATOMIC_RELAXED);
    tamis_share_release(set);
    return copy;
}

void tamis_share_end_read(const tamis_set *set, const tamis_set *read) {
    if (read == set) {
        tamis_share_release(set);
        return;
    }
    tamis_free((tamis_set *)(uintptr_t)read);
    (void)__atomic_fetch_sub(&set->shared->copies, 1, __ATOMIC_RELAXED);
}

void tamis_share_hold_two(const tamis_set *a, const tamis_set *b) {
    bool const is_first = (uintptr_t)a < (uintptr_t)b;
    tamis_share_hold(is_first ? a : b);
    tamis_share_hold(is_first ? b : a);
}

void tamis_share_release_two(const tamis_set *a, const tamis_set *b) {
    tamis_share_release(a);
    tamis_share_release(b);
}

/* ------------------------------------------------------------------ changing the whole set */

/* Overwrite the body of the table by another. All stripes change at once: their parts are in
 * several places of the body, and a lookup needs all of them. */
static void write_back(tamis_set *set, const tamis_table *changed) {
    sharing *const share = share_of(set);
    for (uint64_t i = 0; i < share->n; i++) stripe_begin_change(&share->stripes[i].word);
    stripe_lock(&share->attic);
    memcpy(set->table.body, changed->body, (size_t)set->table.body_bytes);
    stripe_unlock(&share->attic);
    set->table.keys = changed->keys;
    set->table.entries = changed->entries;
    set->table.saturated = changed->saturated;
    set->table.moved = changed->moved;
    set->table.aged = changed->aged;
    set->table.refused_adds = changed->refused_adds;
    set->table.refused_removes = changed->refused_removes;
    set->table.sweep = changed->sweep;
    tamis_share_show_sweep(set);
}

/* A set that grows may have become larger or smaller: replace its tables by those of the copy. */
static void take_tables(tamis_set *set, tamis_set *changed) {
    kind_calls const calls = set->growth->calls;
    if (grow_is_moving(set)) tamis_share_retire_body(set, &set->growth->next);
    tamis_share_retire_body(set, &set->table);
    tamis_handle_take_table(set, &changed->table);
    set->capacity = changed->capacity;
    set->lifetime = changed->lifetime;
    *set->growth = *changed->growth;
    set->growth->calls = calls;
    changed->table.body = NULL;
    changed->growth->next.body = NULL;
    tamis_share_divide(set);
    tamis_share_settle(set);
    tamis_share_publish(set);
}

/* New tables need three spare views, or bodies to retire. The changed set may be in a step of
 * growing, and the end of that step needs two more: it must not fail, so they are allocated here.
 */
#define CHANGE_SPARES 5

tamis_status tamis_share_change_all(tamis_set *set, const tamis_set *other, tamis_change *change) {
    tamis_set *copy;
    tamis_share_hold(set);
    bool const   is_ready = set->growth == NULL || tamis_share_prepare(set, CHANGE_SPARES);
    tamis_status status = is_ready ? tamis_copy_unshared(set, &copy) : TAMIS_ERR_MEMORY;
    if (status == TAMIS_OK) {
        status = change(copy, other);
        set->conflicts = copy->conflicts;
        if (status == TAMIS_OK && set->growth != NULL)
            take_tables(set, copy);
        else if (status == TAMIS_OK)
            write_back(set, &copy->table);
        tamis_free(copy);
    }
    tamis_share_release(set);
    return status;
}
