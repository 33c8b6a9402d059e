/* grow_calls.c - operations on the keys of a set that grows.
 *
 * The functions of set.c call `calls` of the handle with the handle's table. A growing set has
 * `calls` of its own. They find the handle around the table, and choose the table that the key is
 * in; those that change the set pay for a step (grow.c). A set of fixed size has none of this, and
 * pays nothing.
 *
 * Between two steps all keys are in one table: lookups are the kind's own functions then, and only
 * adds come through here.
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

/* Add `copies` of a key; where there is no room, make some. */
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

/* Between steps, chunks go straight to the kind. */
static unsigned grow_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    struct growth *const growth = grow_handle(table)->growth;
    unsigned             added = growth->table_calls->add_chunk(table, hash, n);
    tamis_grow_pay(grow_handle(table), added);
    while (added < n && grow_add(table, hash[added]) == TAMIS_OK) added++;
    return added;
}

/* ------------------------------------------------------------------ chunks in a step */

/* The keys of a chunk, sorted by the table that they are in. */
typedef struct grow_sides {
    uint64_t below;                                 /* bit i: key i is in `next` */
    unsigned n_next, n_table;                       /* how many are where */
    uint64_t next[TAMIS_CHUNK], table[TAMIS_CHUNK]; /* their hashes */
} grow_sides;

/* Without a branch: which side a key is on cannot be predicted. */
static void tell_sides(uint64_t boundary, const uint64_t *hash, unsigned n, grow_sides *ret_sides) {
    uint64_t below = 0;
    unsigned n_next = 0, n_table = 0;
    for (unsigned i = 0; i < n; i++) {
        bool const is_next = hash[i] < boundary;
        ret_sides->next[n_next] = hash[i];
        ret_sides->table[n_table] = hash[i];
        n_next += is_next;
        n_table += !is_next;
        below |= (uint64_t)is_next << i;
    }
    ret_sides->below = below;
    ret_sides->n_next = n_next;
    ret_sides->n_table = n_table;
}

/* Bits of two masks, back in the order of the chunk. */
static uint64_t join_sides(uint64_t below, unsigned n, uint64_t next, uint64_t table) {
    uint64_t joint = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const is_next = below >> i & 1;
        joint |= (is_next != 0 ? next & 1 : table & 1) << i;
        next >>= is_next;
        table >>= is_next ^ 1;
    }
    return joint;
}

static uint64_t grow_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    const struct growth *const growth = grow_handle(table)->growth;
    grow_sides                 sides;
    uint64_t                   in_next = 0, in_table = 0;
    tell_sides(growth->boundary, hash, n, &sides);
    if (sides.n_next != 0)
        in_next = growth->next_calls->has_chunk(&growth->next, sides.next, sides.n_next);
    if (sides.n_table != 0)
        in_table = growth->table_calls->has_chunk(table, sides.table, sides.n_table);
    return join_sides(sides.below, n, in_next, in_table);
}

static void grow_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    const struct growth *const growth = grow_handle(table)->growth;
    grow_sides                 sides;
    tell_sides(growth->boundary, hash, n, &sides);
    growth->next_calls->fetch(&growth->next, sides.next, sides.n_next, is_update);
    growth->table_calls->fetch(table, sides.table, sides.n_table, is_update);
}

/* Both are made of the kind's own functions, so that what the kind cannot do stays NULL. */
void tamis_grow_choose_calls(tamis_set *set) {
    struct growth *const    growth = set->growth;
    const tamis_kind *const own = growth->table_calls;
    growth->calm = *own;
    growth->calm.add = grow_add;
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
    growth->moving.has_chunk = own->has_chunk != NULL ? grow_has_chunk : NULL;
    growth->moving.add_chunk = NULL; /* one by one */
    growth->moving.remove_chunk = NULL;
    growth->moving.count_chunk = NULL;
    growth->moving.fetch = own->fetch != NULL ? grow_fetch : NULL;
    growth->moving.fetch_more = NULL;
    set->calls = grow_is_moving(set) ? &growth->moving : &growth->calm;
    tamis_handle_bind(set);
}
