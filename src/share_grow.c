/* share_grow.c - shared sets that grow: all threads work on a step.
 *
 * A step is the one of grow.c; threads that add or remove keys do its work. One thread at a time
 * moves a group of buckets: it has the mutex `whole`, the stripe of the group, and the attic. A
 * thread that finds the mutex taken continues with its own work. The last group is moved with all
 * stripes locked, so that the counts can be collected and the new table can be divided into
 * stripes.
 *
 * When can an old view be freed?
 * ------------------------------
 * A lookup takes no lock, so it may still read a table that a step has emptied. Its result is
 * discarded, since the view or the version of its stripe has changed; but the memory must still be
 * there. So each call on keys increments one of a few counters at its start, and decrements it at
 * its end. A view that was replaced is freed when each counter has been seen at zero once since
 * then. By that time all calls that were in progress when it was replaced have ended, and later
 * calls use the new view. No thread waits for that; the counters are checked from time to time.
 * (The pages of a table are given back much earlier, as it is emptied; after that they read as
 * zero.)
 */
#include "core/bits.h"
#include "core/memory.h"
#include "grow.h"
#include "share.h"

/* ------------------------------------------------------------------ calls in progress */

unsigned tamis_share_count_in(const tamis_set *set) {
    unsigned const mine = share_own_line();
    (void)__atomic_fetch_add(&set->shared->inside[mine].n, 1, __ATOMIC_SEQ_CST);
    return mine;
}

void tamis_share_count_out(const tamis_set *set, unsigned mine) {
    (void)__atomic_fetch_sub(&set->shared->inside[mine].n, 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ making and freeing views */

static void free_retired(tamis_set *set, share_retired *gone) {
    memory_give(&set->allocator, gone->body, (size_t)gone->body_bytes);
    memory_give(&set->allocator, gone, sizeof *gone);
}

/* Record which counters are zero now, and free the views for which all of them have been zero. */
void tamis_share_clean(tamis_set *set) {
    struct shared_set *const shared = set->shared;
    unsigned                 empty = 0;
    if (shared->retired == NULL) return;
    for (unsigned i = 0; i < SHARE_THREAD_LINES; i++) {
        bool const is_empty = __atomic_load_n(&shared->inside[i].n, __ATOMIC_SEQ_CST) == 0;
        empty |= (unsigned)is_empty << i;
    }
    for (share_retired **at = &shared->retired; *at != NULL;) {
        share_retired *const one = *at;
        one->seen_empty |= empty;
        if (one->seen_empty == (unsigned)bits_low(SHARE_THREAD_LINES)) {
            *at = one->next;
            free_retired(set, one);
        } else {
            at = &one->next;
        }
    }
}

void tamis_share_free_retired(tamis_set *set) {
    struct shared_set *const shared = set->shared;
    while (shared->retired != NULL) {
        share_retired *const one = shared->retired;
        shared->retired = one->next;
        free_retired(set, one);
    }
    while (shared->spare != NULL) {
        share_retired *const one = shared->spare;
        shared->spare = one->next;
        memory_give(&set->allocator, one, sizeof *one);
    }
}

bool tamis_share_prepare(tamis_set *set, unsigned n) {
    for (share_retired *one = set->shared->spare; one != NULL && n != 0; one = one->next) n--;
    for (; n != 0; n--) {
        share_retired *const one = memory_get(&set->allocator, sizeof *one);
        if (one == NULL) return false;
        one->next = set->shared->spare;
        set->shared->spare = one;
    }
    return true;
}

static share_retired *take_spare(tamis_set *set) {
    share_retired *const one = set->shared->spare;
    TAMIS_ASSERT(one != NULL); /* tamis_share_prepare() was called */
    set->shared->spare = one->next;
    one->next = NULL;
    return one;
}

static void retire(tamis_set *set, share_retired *one) {
    one->seen_empty = 0;
    one->next = set->shared->retired;
    set->shared->retired = one;
}

void tamis_share_publish(tamis_set *set) {
    struct shared_set *const shared = set->shared;
    share_retired *const fresh = take_spare(set), *const before = shared->now;
    fresh->view.table = set->table;
    if (set->growth != NULL) fresh->view.next = set->growth->next;
    fresh->view.stripe_shift = shared->stripe_shift;
    fresh->body = NULL;
    fresh->body_bytes = 0;
    fresh->view.boundary = set->growth != NULL ? set->growth->boundary : 0;
    tamis_share_show_sweep(set);
    shared->now = fresh;
    __atomic_store_n(&shared->share.view, &fresh->view, __ATOMIC_SEQ_CST);
    (void)__atomic_fetch_add(&shared->share.views, 1, __ATOMIC_RELEASE);
    if (before != NULL) retire(set, before);
    tamis_share_clean(set);
}

void tamis_share_retire_body(tamis_set *set, tamis_table *table) {
    share_retired *const one = take_spare(set);
    one->body = table->body;
    one->body_bytes = table->body_bytes;
    table->body = NULL;
    table->body_bytes = 0;
    retire(set, one);
}

/* ------------------------------------------------------------------ a group moves */

/* A kind may ask whether anything is saturated, to move a group faster: so what the threads have
 * counted comes into the handle first. With its stripe locked, everything in the group is counted.
 */
void tamis_share_begin_move(tamis_set *set, uint64_t bucket) {
    sharing *const share = share_of(set);
    stripe_lock(&share->stripes[bucket >> set->shared->stripe_shift].word);
    stripe_lock(&share->attic);
    set->table.saturated += __atomic_exchange_n(&share->saturated[0], 0, __ATOMIC_RELAXED);
}

void tamis_share_show_move(tamis_set *set, uint64_t bucket) {
    sharing *const share = share_of(set);
    stripe_begin_change(&share->stripes[bucket >> set->shared->stripe_shift].word);
    __atomic_store_n(&set->shared->now->view.boundary, set->growth->boundary, __ATOMIC_RELEASE);
}

void tamis_share_end_move(tamis_set *set, uint64_t bucket) {
    sharing *const share = share_of(set);
    stripe_unlock(&share->attic);
    stripe_unlock(&share->stripes[bucket >> set->shared->stripe_shift].word);
}

/* ------------------------------------------------------------------ calls pay for a step */

/* Which calls pay for a step is decided by bits of their hash, so that there is no counter that all
 * threads write. The lowest bits cannot be used: they are 0 in parts of a set (part.c). */
#define PAY_SHIFT 20
#define MOVE_EVERY 16   /* calls for a group; grow.c has 44 keys for it to be done in time */
#define LOOK_EVERY 4096 /* calls between two checks of how full the set is; fewer if small */

/* Entries of a set between two steps: those in the handle, and the differences of all stripes. */
static uint64_t entries_now(const tamis_set *set) {
    const sharing *const share = share_of(set);
    tamis_table          sum = set->table;
    for (uint64_t i = 0; i < share->n; i++) {
        sum.keys += __atomic_load_n(&share->stripes[i].keys[0], __ATOMIC_RELAXED);
        sum.entries += __atomic_load_n(&share->stripes[i].entries[0], __ATOMIC_RELAXED);
    }
    return set->kind->growing->entries(&sum);
}

/* With the mutex: begin a step if the set is nearly full, or move a group. */
static void pay_now(tamis_set *set) {
    struct growth *const growth = set->growth;
    if (grow_is_moving(set)) {
        (void)tamis_grow_move_group(set);
    } else {
        uint64_t const entries = entries_now(set);
        if (entries >= growth->begin_at && tamis_grow_begin_step(set) != TAMIS_OK)
            growth->begin_at = entries + 1 + set->capacity / 256; /* as in grow.c */
    }
    tamis_share_clean(set);
}

void tamis_share_pay(tamis_set *set, uint64_t hash) {
    uint64_t const every = __atomic_load_n(&set->shared->pay_every, __ATOMIC_RELAXED);
    if (__builtin_expect((hash >> PAY_SHIFT & (every - 1)) != 0, 1)) return;
    if (pthread_mutex_trylock(&set->shared->whole) != 0) return;
    pay_now(set);
    (void)pthread_mutex_unlock(&set->shared->whole);
}

/* A call that pays is not counted as in progress, so it must not read the view: it might be freed
 * meanwhile. */
void tamis_share_settle(tamis_set *set) {
    uint64_t every = 1;
    while (every < LOOK_EVERY && every * 64 < set->capacity) every *= 2;
    if (grow_is_moving(set)) every = MOVE_EVERY;
    __atomic_store_n(&set->shared->pay_every, every, __ATOMIC_RELAXED);
}

tamis_status tamis_share_make_room(tamis_set *set, uint64_t seen) {
    tamis_status status = TAMIS_OK;
    (void)pthread_mutex_lock(&set->shared->whole);
    /* Another thread may have made room meanwhile. */
    if (share_of(set)->views == seen) status = tamis_grow_make_room(set);
    (void)pthread_mutex_unlock(&set->shared->whole);
    /* Never TAMIS_OK: a thread that was refused may read it after another thread found room. */
    if (status != TAMIS_OK) __atomic_store_n(&set->shared->refusal, status, __ATOMIC_RELAXED);
    return status;
}

tamis_status tamis_share_refusal(const tamis_set *set) {
    if (set->growth == NULL) return TAMIS_ERR_FULL;
    return __atomic_load_n(&set->shared->refusal, __ATOMIC_RELAXED);
}
