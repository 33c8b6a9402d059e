/* grow_calls.c - operations on the keys of a set that grows.
 *
 * The functions of set.c call the function table `calls` of the handle. A growing set has its own
 * `calls`, the functions of this file. They find the handle that contains the table, and choose the
 * table that the key is in; functions that change the set do a part of the step (grow.c). A set of
 * fixed size does not use this file, and pays nothing for it.
 *
 * Between two steps all keys are in one table. Then lookups are the kind's own functions, and only
 * adds use this file.
 */
#include "core/bits.h"
#include "grow.h"

/* ------------------------------------------------------------------ one key */

static bool grow_has(const tamis_table *table, uint64_t hash) {
    const struct growth *const growth = grow_handle(table)->growth;
    return hash < growth->boundary ? growth->next_calls->has(&growth->next, hash)
                                   : growth->table_calls->has(table, hash);
}

static uint64_t grow_count(const tamis_table *table, uint64_t hash) {
    const struct growth *const growth = grow_handle(table)->growth;
    return hash < growth->boundary ? growth->next_calls->count(&growth->next, hash)
                                   : growth->table_calls->count(table, hash);
}

/* Add `copies` copies of a key; if there is no room, make room. */
static tamis_status grow_add_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    tamis_set *const     set = grow_handle(table);
    struct growth *const growth = set->growth;
    for (;;) {
        bool const              is_moved = hash < growth->boundary;
        const tamis_kind *const calls = is_moved ? growth->next_calls : growth->table_calls;
        tamis_table *const      at = is_moved ? &growth->next : table;
        tamis_status const      status =
            copies == 1 ? calls->add(at, hash) : tamis_table_add_copies(calls, at, hash, copies);
        if (__builtin_expect(status == TAMIS_OK, 1)) {
            tamis_grow_pay(set, 1);
            return status;
        }
        growth->refusal = tamis_grow_make_room(set);
        if (growth->refusal != TAMIS_OK) return growth->refusal;
    }
}

/* A key that is not new changes nothing, and pays for nothing. */
static tamis_status grow_add_new(tamis_table *table, uint64_t hash, bool *ret_is_new) {
    tamis_set *const     set = grow_handle(table);
    struct growth *const growth = set->growth;
    for (;;) {
        tamis_status const status =
            hash < growth->boundary ? growth->next_calls->add_new(&growth->next, hash, ret_is_new)
                                    : growth->table_calls->add_new(table, hash, ret_is_new);
        if (__builtin_expect(status == TAMIS_OK, 1)) {
            if (*ret_is_new) tamis_grow_pay(set, 1);
            return status;
        }
        growth->refusal = tamis_grow_make_room(set);
        if (growth->refusal != TAMIS_OK) return growth->refusal;
    }
}

static tamis_status grow_add(tamis_table *table, uint64_t hash) {
    return grow_add_copies(table, hash, 1);
}

static tamis_status grow_remove(tamis_table *table, uint64_t hash) {
    struct growth *const growth = grow_handle(table)->growth;
    tamis_status const   status = hash < growth->boundary
                                      ? growth->next_calls->remove(&growth->next, hash)
                                      : growth->table_calls->remove(table, hash);
    tamis_grow_pay(grow_handle(table), 1);
    return status;
}

/* Between steps, chunks go directly to the kind. */
static unsigned grow_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    struct growth *const growth = grow_handle(table)->growth;
    unsigned             added = growth->table_calls->add_chunk(table, hash, n);
    tamis_grow_pay(grow_handle(table), added);
    while (added < n && grow_add(table, hash[added]) == TAMIS_OK) added++;
    return added;
}

/* ------------------------------------------------------------------ chunks in a step */

static kind_sides sides_of(const tamis_table *table) {
    const struct growth *const growth = grow_handle(table)->growth;
    return (kind_sides){ table, &growth->next, growth->boundary };
}

static uint64_t grow_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    kind_sides const sides = sides_of(table);
    return grow_handle(table)->kind->growing->has_chunk(&sides, hash, n);
}

static void grow_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    kind_sides const sides = sides_of(table);
    grow_handle(table)->kind->growing->fetch(&sides, hash, n, is_update);
}

/* Both wrap the kind's own functions. Those that are NULL stay NULL. */
void tamis_grow_choose_calls(tamis_set *set) {
    struct growth *const    growth = set->growth;
    const tamis_kind *const own = growth->table_calls;
    growth->calm = *own;
    growth->calm.add = grow_add;
    growth->calm.add_new = own->add_new != NULL ? grow_add_new : NULL;
    growth->calm.add_id = NULL;
    growth->calm.add_copies = grow_add_copies;
    growth->calm.add_chunk = own->add_chunk != NULL ? grow_add_chunk : NULL;
    growth->calm.balance_bytes = NULL;
    growth->calm.add_balanced = NULL;
    growth->moving = growth->calm;
    growth->moving.has_id = NULL;
    growth->moving.remove_id = NULL;
    growth->moving.has = own->has != NULL ? grow_has : NULL;
    growth->moving.remove = own->remove != NULL ? grow_remove : NULL;
    growth->moving.count = own->count != NULL ? grow_count : NULL;
    growth->moving.has_chunk = set->kind->growing->has_chunk != NULL ? grow_has_chunk : NULL;
    growth->moving.add_chunk = NULL; /* one by one */
    growth->moving.remove_chunk = NULL;
    growth->moving.count_chunk = NULL;
    growth->moving.fetch = set->kind->growing->fetch != NULL ? grow_fetch : NULL;
    growth->moving.fetch_more = NULL;
    tamis_handle_use_calls(set, grow_is_moving(set) ? &growth->moving : &growth->calm);
}
