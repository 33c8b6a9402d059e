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
        const kind_calls *const calls = is_moved ? growth->next_calls : growth->table_calls;
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

static tamis_status grow_remove_copies(tamis_table *table, uint64_t hash, uint64_t copies) {
    struct growth *const    growth = grow_handle(table)->growth;
    bool const              is_moved = hash < growth->boundary;
    const kind_calls *const calls = is_moved ? growth->next_calls : growth->table_calls;
    tamis_status const      status =
        calls->remove_copies(is_moved ? &growth->next : table, hash, copies);
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

/* The keys of a chunk, sorted by the table that they are in. So each table gets a chunk of its own,
 * and the functions that are best for its form. A function of `line` that chose the table for each
 * key had 0.63 and 0.69 of the speed between two steps, for present and absent keys; this has 0.95
 * and 0.80 (8 M keys). It was not the pages: with huge ones for both tables it was no faster. */
typedef struct chunk_sides {
    unsigned n_here, n_next;
    uint64_t here[TAMIS_CHUNK], next[TAMIS_CHUNK];       /* hashes, in their order */
    uint8_t  here_at[TAMIS_CHUNK], next_at[TAMIS_CHUNK]; /* where in the chunk each is */
} chunk_sides;

/* Without branches: each hash is written to both, and counts in one. */
static void part_chunk(uint64_t boundary, const uint64_t *hash, unsigned n, chunk_sides *ret) {
    unsigned here = 0, next = 0;
    for (unsigned i = 0; i < n; i++) {
        bool const is_moved = hash[i] < boundary;
        ret->here[here] = ret->next[next] = hash[i];
        ret->here_at[here] = ret->next_at[next] = (uint8_t)i;
        next += is_moved;
        here += !is_moved;
    }
    ret->n_here = here;
    ret->n_next = next;
}

/* The answers of one table, as bits of the chunk. */
static uint64_t bits_of_chunk(uint64_t found, const uint8_t *at) {
    uint64_t bits = 0;
    for (; found != 0; found &= found - 1) bits |= UINT64_C(1) << at[bits_lowest(found)];
    return bits;
}

static uint64_t grow_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    const struct growth *const growth = grow_handle(table)->growth;
    chunk_sides                sides;
    uint64_t                   here = 0, next = 0;
    part_chunk(growth->boundary, hash, n, &sides);
    if (sides.n_here != 0) here = growth->table_calls->has_chunk(table, sides.here, sides.n_here);
    if (sides.n_next != 0)
        next = growth->next_calls->has_chunk(&growth->next, sides.next, sides.n_next);
    return bits_of_chunk(here, sides.here_at) | bits_of_chunk(next, sides.next_at);
}

/* The kind's own function chooses the table for each key. */
static void grow_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    const struct growth *const growth = grow_handle(table)->growth;
    grow_handle(table)->kind->growing->fetch(
        &(kind_sides){ table, &growth->next, growth->boundary }, hash, n, is_update);
}

/* The same for kinds that have none. */
static void grow_fetch_each(const tamis_table *table, const uint64_t *hash, unsigned n,
                            bool is_update) {
    const struct growth *const growth = grow_handle(table)->growth;
    chunk_sides                sides;
    part_chunk(growth->boundary, hash, n, &sides);
    growth->table_calls->fetch(table, sides.here, sides.n_here, is_update);
    growth->next_calls->fetch(&growth->next, sides.next, sides.n_next, is_update);
}

/* The kind's own functions, wrapped so that adds pay for growth. Those that are NULL stay NULL. */
static void wrap_calm(const kind_calls *own, kind_calls *calls) {
    *calls = *own;
    calls->add = grow_add;
    calls->add_new = own->add_new != NULL ? grow_add_new : NULL;
    calls->add_id = NULL;
    calls->add_copies = grow_add_copies;
    calls->add_chunk = own->add_chunk != NULL ? grow_add_chunk : NULL;
    calls->balance_bytes = NULL;
    calls->add_balanced = NULL;
}

/* In a step, all functions also choose between the two tables. */
static void wrap_moving(const kind_growing *growing, const kind_calls *own, kind_calls *calls) {
    calls->has_id = NULL;
    calls->remove_id = NULL;
    calls->fetch_id = NULL;
    calls->has = own->has != NULL ? grow_has : NULL;
    calls->remove = own->remove != NULL ? grow_remove : NULL;
    calls->remove_copy = NULL; /* by two calls */
    calls->remove_copies = own->remove_copies != NULL ? grow_remove_copies : NULL;
    calls->count = own->count != NULL ? grow_count : NULL;
    calls->has_chunk = own->has_chunk != NULL ? grow_has_chunk : NULL;
    calls->has_rolling = NULL;
    calls->add_chunk = NULL; /* one by one */
    calls->remove_chunk = NULL;
    calls->count_chunk = NULL;
    calls->fetch = own->fetch == NULL       ? NULL
                   : growing->fetch != NULL ? grow_fetch
                                            : grow_fetch_each;
    calls->chunk = own->chunk;
    calls->has_long_lookups = own->has_long_lookups;
    calls->has_long_updates = own->has_long_updates;
    calls->fetch_more = NULL;
}

void tamis_grow_choose_calls(tamis_set *set) {
    struct growth *const    growth = set->growth;
    const kind_calls *const own = growth->table_calls;
    wrap_calm(own, &growth->calls);
    if (grow_is_moving(set)) wrap_moving(set->kind->growing, own, &growth->calls);
    tamis_handle_use_calls(set, &growth->calls);
}
