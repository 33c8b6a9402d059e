/* share_calls.c - operations on the keys of shared sets.
 *
 * The public functions call these with the handle's table. They make a window for the key and let
 * the kind work on it (sharing.h). If a kind has its own functions for chunks of a shared set, they
 * are used, also for single keys: they are compiled for the instruction set, without indirect
 * calls.
 */
#include "core/bits.h"
#include "grow.h"
#include "part.h"
#include "share.h"

TAMIS_INLINE const kind_sharing *how_of(const tamis_table *table) {
    return set_of_table(table)->kind->sharing;
}

/* ------------------------------------------------------------------ operations on a window */

/* The kind's functions on keys, and what else an operation needs. */
typedef struct key_call {
    const kind_calls *calls;
    uint64_t          copies;
    bool              is_new;
} key_call;

static tamis_status do_add(tamis_table *table, uint64_t hash, void *arguments) {
    const key_call *const call = arguments;
    return call->calls->add(table, hash);
}

static tamis_status do_remove(tamis_table *table, uint64_t hash, void *arguments) {
    const key_call *const call = arguments;
    return call->calls->remove(table, hash);
}

static tamis_status do_add_copies(tamis_table *table, uint64_t hash, void *arguments) {
    const key_call *const call = arguments;
    return tamis_table_add_copies(call->calls, table, hash, call->copies);
}

static tamis_status do_add_new(tamis_table *table, uint64_t hash, void *arguments) {
    key_call *const call = arguments;
    call->is_new = !call->calls->has(table, hash);
    return call->is_new ? call->calls->add(table, hash) : TAMIS_OK;
}

static uint64_t ask_has(const tamis_table *table, uint64_t hash, void *arguments) {
    const key_call *const call = arguments;
    return call->calls->has(table, hash);
}

static uint64_t ask_count(const tamis_table *table, uint64_t hash, void *arguments) {
    const key_call *const call = arguments;
    return call->calls->count(table, hash);
}

/* ------------------------------------------------------------------ calls, and paying */

/* A call has changed a key, and does its part of a step if the set grows. It is no longer counted
 * as in progress: that would keep the views that the step replaces from being freed. */
TAMIS_INLINE void pay(tamis_set *set, uint64_t hash) {
    if (set->growth != NULL) tamis_share_pay(set, hash);
}

TAMIS_INLINE uint64_t views_now(const tamis_set *set) {
    return __atomic_load_n(&set->shared->share.views, __ATOMIC_ACQUIRE);
}

/* A call was refused. True: there is more room now. Otherwise *ret_status says why not. */
static bool has_more_room(tamis_set *set, uint64_t seen, tamis_status *ret_status) {
    *ret_status = set->growth == NULL ? TAMIS_ERR_FULL : tamis_share_make_room(set, seen);
    return *ret_status == TAMIS_OK;
}

/* Change one key. `more`: entries that may come. */
static tamis_status change_one(const tamis_table *table, uint64_t hash, uint64_t more,
                               share_operation *operation, key_call *call) {
    tamis_set *const set = share_set_of_table(table);
    call->calls = &set->kind->calls;
    for (;;) {
        share_window   window;
        uint64_t const seen = views_now(set);
        unsigned const mine = tamis_share_enter(set);
        window.side = NULL;
        tamis_status status =
            share_change(share_of(set), set->kind->sharing, &window, hash,
                         (unsigned)min_u64(more, KIND_MAX_VALUES - 1), operation, call);
        tamis_share_leave(set, mine);
        pay(set, hash);
        if (status != TAMIS_ERR_FULL || !has_more_room(set, seen, &status)) return status;
    }
}

/* ------------------------------------------------------------------ chunks */

static uint64_t share_calls_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    const tamis_set *const set = set_of_table(table);
    unsigned const         mine = tamis_share_enter(set);
    uint64_t const         found = set->kind->sharing->has_chunk(share_of(set), hash, n);
    tamis_share_leave(set, mine);
    return found;
}

/* If the kind refuses a key, there may be room for it after a step. */
static unsigned share_calls_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    tamis_set *const set = share_set_of_table(table);
    tamis_status     status = TAMIS_OK;
    unsigned         added = 0;
    for (;;) {
        uint64_t const seen = views_now(set);
        unsigned const mine = tamis_share_enter(set), first = added;
        added += set->kind->sharing->add_chunk(share_of(set), hash + added, n - added);
        tamis_share_leave(set, mine);
        for (unsigned i = first; i < added; i++) pay(set, hash[i]);
        if (added == n || !has_more_room(set, seen, &status)) return added;
    }
}

static uint64_t share_calls_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n,
                                         uint64_t *ret_saturated) {
    tamis_set *const set = share_set_of_table(table);
    unsigned const   mine = tamis_share_enter(set);
    uint64_t const   removed =
        set->kind->sharing->remove_chunk(share_of(set), hash, n, ret_saturated);
    tamis_share_leave(set, mine);
    for (unsigned i = 0; i < n; i++) pay(set, hash[i]);
    return removed;
}

/* Prefetch the memory of keys, in the table that each is in, and the words of their stripes. */
static void share_calls_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_update) {
    const tamis_set *const  set = set_of_table(table);
    const sharing *const    share = share_of(set);
    unsigned const          mine = tamis_share_enter(set);
    const share_view *const view = share_view_now(share);
    if (view->next.body != NULL && set->kind->growing->fetch != NULL) {
        uint64_t const boundary = __atomic_load_n(&view->boundary, __ATOMIC_RELAXED);
        set->kind->growing->fetch(&(kind_sides){ &view->table, &view->next, boundary }, hash, n,
                                  is_update);
    } else {
        set->shared->fetch(&view->table, hash, n, is_update);
    }
    for (unsigned i = 0; i < n && is_update; i++)
        prefetch_to_own(&share->stripes[share_stripe(view, hash[i])].word);
    tamis_share_leave(set, mine);
}

static uint64_t share_calls_has_rolling(const tamis_table *table, const uint64_t *hash, unsigned n,
                                        const uint64_t *next, unsigned n_next) {
    const tamis_set *const    set = set_of_table(table);
    const kind_sharing *const how = set->kind->sharing;
    unsigned const            mine = tamis_share_enter(set);
    uint64_t                  found = 0;
    bool const is_done = n_next == n && how->has_rolling(share_of(set), hash, n, next, &found);
    tamis_share_leave(set, mine);
    if (is_done) return found;
    share_calls_fetch(table, next, n_next, false);
    return share_calls_has_chunk(table, hash, n);
}

/* ------------------------------------------------------------------ one key */

static uint64_t ask_one(const tamis_table *table, uint64_t hash, share_question *question) {
    const tamis_set *const set = set_of_table(table);
    key_call               call = { .calls = &set->kind->calls };
    unsigned const         mine = tamis_share_enter(set);
    uint64_t const answer = share_ask(share_of(set), set->kind->sharing, hash, question, &call);
    tamis_share_leave(set, mine);
    return answer;
}

static bool share_calls_has(const tamis_table *table, uint64_t hash) {
    const tamis_set *const set = set_of_table(table);
    if (set->kind->sharing->has == NULL) return ask_one(table, hash, ask_has) != 0;
    unsigned const mine = tamis_share_enter(set);
    bool const     is_found = set->kind->sharing->has(share_of(set), hash);
    tamis_share_leave(set, mine);
    return is_found;
}

/* For sets whose ids are mixed, as that of kinds (kind.h). */
static bool share_calls_has_id(const tamis_table *table, uint64_t id) {
    return share_calls_has(table, hash_id(&table->ids, id));
}

static tamis_status share_calls_add(tamis_table *table, uint64_t hash) {
    key_call call;
    if (how_of(table)->add_chunk == NULL) return change_one(table, hash, 1, do_add, &call);
    bool const is_added = share_calls_add_chunk(table, &hash, 1) == 1;
    return is_added ? TAMIS_OK : tamis_share_refusal(set_of_table(table));
}

static tamis_status share_calls_remove(tamis_table *table, uint64_t hash) {
    key_call call;
    uint64_t saturated;
    if (how_of(table)->remove_chunk == NULL) return change_one(table, hash, 0, do_remove, &call);
    if (share_calls_remove_chunk(table, &hash, 1, &saturated) != 0) return TAMIS_OK;
    return saturated != 0 ? TAMIS_ERR_SATURATED : TAMIS_ERR_ABSENT;
}

static tamis_status share_calls_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    key_call call = { .copies = copies };
    return change_one(table, hash, copies, do_add_copies, &call);
}

static uint64_t share_calls_count(const tamis_table *table, uint64_t hash) {
    return ask_one(table, hash, ask_count);
}

tamis_status tamis_share_add_new(tamis_set *set, uint64_t hash, bool *ret_is_new) {
    key_call call = { .is_new = false };
    if (set->part != NULL && !part_owns(set->part, hash)) return TAMIS_ERR_PART;
    uint64_t const     rest = set->part == NULL ? hash : hash << set->part->bits;
    tamis_status const status = change_one(&set->table, rest, 1, do_add_new, &call);
    if (status == TAMIS_OK) *ret_is_new = call.is_new;
    return status;
}

/* ------------------------------------------------------------------ which functions */

/* Wrap the kind's own functions. Those that are NULL stay NULL. */
void tamis_share_choose_calls(tamis_set *set) {
    const kind_calls *const   own = &set->kind->calls;
    const kind_calls *const   form = tamis_kind_calls(set->kind, set->table.geometry);
    const kind_sharing *const how = set->kind->sharing;
    kind_calls *const         calls = &set->shared->calls;
    /* Tables of a growing set change their form. */
    set->shared->fetch = set->growth != NULL ? own->fetch : form->fetch;
    bool const is_fetched = set->shared->fetch != NULL;
    *calls = (kind_calls){
        .has = own->has != NULL ? share_calls_has : NULL,
        .has_id = how->has != NULL ? share_calls_has_id : NULL,
        .add = own->add != NULL ? share_calls_add : NULL,
        .remove = own->remove != NULL ? share_calls_remove : NULL,
        .count = own->count != NULL ? share_calls_count : NULL,
        .add_copies = own->add != NULL ? share_calls_add_copies : NULL,
        .hash_ids = own->hash_ids,
        .has_chunk = how->has_chunk != NULL ? share_calls_has_chunk : NULL,
        .add_chunk = how->add_chunk != NULL ? share_calls_add_chunk : NULL,
        .remove_chunk = how->remove_chunk != NULL ? share_calls_remove_chunk : NULL,
        .has_rolling = is_fetched && how->has_rolling != NULL ? share_calls_has_rolling : NULL,
        .fetch = is_fetched ? share_calls_fetch : NULL,
        .chunk = is_fetched ? form->chunk : 0, /* as many as are prefetched */
        .has_long_lookups = form->has_long_lookups,
        .has_long_updates = form->has_long_updates,
    };
    if (how->reads_in_place) {
        calls->has = form->has;
        calls->has_id = form->has_id;
        calls->has_chunk = form->has_chunk;
        calls->has_rolling = form->has_rolling;
        calls->count = own->count;
    }
    tamis_handle_use_calls(set, calls);
}
