/* one_id.c - the public functions for one 64-bit id: check, and jump to the function of the set.
 *
 * A core looks only a few hundred instructions ahead. So in a large set, the number of cache misses
 * that it can overlap is that number divided by the instructions of one call. Therefore these calls
 * are short: the function that hashes and looks up is chosen when a set gets its hash, not for each
 * key. Kinds with very short calls have functions that do both (kind.h, has_id). All other sets use
 * the functions of this file, which hash the id and call the kind.
 */
#include "handle.h"

/* ------------------------------------------------------------------ any kind, any hash */

static bool any_has_id(const tamis_table *table, uint64_t id) {
    const tamis_set *const set = set_of_table(table);
    return set->calls->has(table, keyhash_id(&set->hasher, id));
}

static tamis_status any_add_id(tamis_table *table, uint64_t id) {
    tamis_set *const   set = (tamis_set *)(void *)table;
    tamis_status const status = set->calls->add(table, keyhash_id(&set->hasher, id));
    handle_note(set, status == TAMIS_ERR_FULL, 0, 0);
    return status;
}

static tamis_status any_remove_id(tamis_table *table, uint64_t id) {
    tamis_set *const   set = (tamis_set *)(void *)table;
    tamis_status const status = set->calls->remove(table, keyhash_id(&set->hasher, id));
    handle_note(set, 0, status == TAMIS_ERR_ABSENT, 0);
    return status;
}

static void any_fetch_id(const tamis_table *table, uint64_t id) {
    const tamis_set *const set = set_of_table(table);
    tamis_fetch_hash(set, keyhash_id(&set->hasher, id));
}

static void fetch_nothing(const tamis_table *table, uint64_t id) {
    (void)table;
    (void)id;
}

static void any_hash_ids(const tamis_table *table, const uint64_t *ids, unsigned n,
                         uint64_t *ret_hash) {
    const keyhash *const hasher = &set_of_table(table)->hasher;
    for (unsigned i = 0; i < n; i++) ret_hash[i] = keyhash_id(hasher, ids[i]);
}

static tamis_status cannot_remove_id(tamis_table *table, uint64_t id) {
    (void)table;
    (void)id;
    return TAMIS_ERR_CANNOT;
}

/* ------------------------------------------------------------------ which function */

void tamis_handle_bind(tamis_set *set) {
    bool const is_mixed = set->hasher.hash == TAMIS_HASH_XXH3; /* ids are: keyhash_id() */
    bool const can_remove = (set->abilities & TAMIS_CAN_REMOVE) != 0;
    set->has_id = is_mixed && set->calls->has_id != NULL ? set->calls->has_id : any_has_id;
    set->add_id = is_mixed && set->calls->add_id != NULL ? set->calls->add_id : any_add_id;
    set->remove_id =
        is_mixed && set->calls->remove_id != NULL ? set->calls->remove_id : any_remove_id;
    set->hash_ids = is_mixed && set->calls->hash_ids != NULL ? set->calls->hash_ids : any_hash_ids;
    if (!can_remove) set->remove_id = cannot_remove_id;
    set->fetch_id = is_mixed && set->calls->fetch_id != NULL ? set->calls->fetch_id : any_fetch_id;
    if (set->calls->fetch == NULL) set->fetch_id = fetch_nothing;
    unsigned const chunk = set->calls->chunk != 0 ? set->calls->chunk : TAMIS_CHUNK;
    bool const     is_long = tamis_has_many_misses();
    set->ask_chunk = is_long && set->calls->has_long_lookups ? TAMIS_CHUNK : chunk;
    set->update_chunk = is_long && set->calls->has_long_updates ? TAMIS_CHUNK : chunk;
}

void tamis_handle_set_hash(tamis_set *set, const keyhash *hasher) {
    set->hasher = *hasher;
    set->table.ids = hasher->ids;
    tamis_handle_bind(set);
}

/* ------------------------------------------------------------------ the public functions */

bool tamis_has_id(const tamis_set *set, uint64_t id) {
    TAMIS_ASSERT(set != NULL);
    return set != NULL && set->has_id(&set->table, id);
}

tamis_status tamis_add_id(tamis_set *set, uint64_t id) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = handle_change_status(set);
    return status == TAMIS_OK ? set->add_id(&set->table, id) : status;
}

tamis_status tamis_remove_id(tamis_set *set, uint64_t id) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = handle_change_status(set);
    return status == TAMIS_OK ? set->remove_id(&set->table, id) : status;
}

void tamis_fetch_id(const tamis_set *set, uint64_t id) {
    TAMIS_ASSERT(set != NULL);
    if (set != NULL) set->fetch_id(&set->table, id);
}
