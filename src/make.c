/* make.c - make, copy, merge, clear and free sets.
 *
 *     spec  -->  request  -->  choice  -->  set
 *        spec.c       planner.c       tamis_make()
 *
 * A choice is all that an empty set is made of, except for its hash. It also comes from another set
 * (tamis_choice_like), a file (open_header.c makes the handle itself) or a stream (receive.c).
 *
 * Ownership: only tamis_free() frees memory, and it accepts a handle in any state. So a function
 * that builds a set frees it on the first failure and returns.
 */
#include "core/memory.h"
#include "grow.h"
#include "os.h"
#include "part.h"
#include "share.h"

#define STRING_(a) #a
#define STRING(a) STRING_(a)

const char *tamis_version(void) {
    return STRING(TAMIS_VERSION_MAJOR) "." STRING(TAMIS_VERSION_MINOR) "." STRING(
        TAMIS_VERSION_PATCH);
}

unsigned tamis_version_number(void) {
    return TAMIS_VERSION_NUMBER;
}

/* ------------------------------------------------------------------ handles */

tamis_set *tamis_handle_new(const tamis_kind *kind, const uint64_t *geometry,
                            const tamis_allocator *allocator) {
    tamis_set *const set = memory_get(allocator, sizeof *set);
    if (set == NULL) return NULL;
    set->kind = kind;
    set->calls = tamis_kind_calls(kind, geometry);
    set->states = kind->states;
    set->allocator = *allocator;
    memcpy(set->table.geometry, geometry, tamis_kind_n_fields(kind) * sizeof geometry[0]);
    set->abilities = tamis_kind_abilities(kind, set->table.geometry);
    if (kind->prepare != NULL) kind->prepare(&set->table);
    return set;
}

/* May this table of the set have a body of this many bytes? A set that grows has two; and a third,
 * while it gets another size in a step. */
static bool is_within_limit(const tamis_set *set, const tamis_table *table, uint64_t bytes) {
    uint64_t held = table != &set->table ? set->table.body_bytes : 0;
    if (set->growth != NULL && table != &set->growth->next) held += set->growth->next.body_bytes;
    return set->max_bytes == 0 || (bytes <= set->max_bytes && held <= set->max_bytes - bytes);
}

tamis_status tamis_table_get_body(const tamis_set *set, tamis_table *table) {
    uint64_t bytes;
    if (!set->kind->body_bytes(table->geometry, &bytes)) return TAMIS_ERR_LIMIT;
    if (bytes > SIZE_MAX / 2 || !is_within_limit(set, table, bytes)) return TAMIS_ERR_LIMIT;
    table->body = memory_get_flagged(&set->allocator, (size_t)bytes, set->allocator_flags);
    if (table->body == NULL) return TAMIS_ERR_MEMORY;
    table->body_bytes = bytes;
    return TAMIS_OK;
}

/* While a callback of the table runs, the table is still needed, so it is not freed. */
void tamis_free(tamis_set *set) {
    if (set == NULL || handle_is_busy(set)) return;
    tamis_share_free(set);
    tamis_grow_free(set);
    tamis_part_free(set);
    memory_give(&set->allocator, set->table.used_parts,
                (size_t)vacancy_words(set->table.sweep.units) * sizeof(uint64_t));
    if (set->mapping != NULL) {
        tamis_os_unmap(set->mapping, set->mapping_bytes);
    } else {
        memory_give(&set->allocator, set->table.body, (size_t)set->table.body_bytes);
    }
    tamis_allocator const allocator = set->allocator;
    memory_give(&allocator, set, sizeof *set);
}

tamis_status tamis_make(const tamis_choice *choice, const keyhash *hasher,
                        const tamis_allocator *allocator, tamis_set **ret_set) {
    tamis_set *const set = tamis_handle_new(choice->kind, choice->geometry, allocator);
    if (set == NULL) return TAMIS_ERR_MEMORY;
    tamis_handle_set_hash(set, hasher);
    set->allocator_flags = choice->allocator_flags;
    set->max_bytes = choice->max_bytes;
    set->capacity = choice->work.capacity;
    set->copies = choice->work.copies;
    set->lifetime = choice->work.lifetime;
    set->table.values = choice->values;
    set->table.sweep = choice->sweep;
    if (choice->values != 0) set->table.sweep.units = choice->kind->states->units(choice->geometry);
    tamis_status status = tamis_table_get_body(set, &set->table);
    /* Growth and sharing put their functions in place of the kind's; a part, if it is one, stays
     * before whatever is there (tamis_handle_use_calls). */
    if (status == TAMIS_OK) status = tamis_part_init(set, choice->part);
    if (status == TAMIS_OK && choice->grows)
        status = tamis_grow_init(set, choice->stage, choice->stages, choice->overflow);
    if (status == TAMIS_OK && choice->shared) status = tamis_share_init(set);
    if (status != TAMIS_OK)
        tamis_free(set);
    else
        *ret_set = set;
    return status;
}

tamis_choice tamis_choice_like(const tamis_set *other) {
    const sweep *const ageing = &other->table.sweep;
    tamis_choice       choice = { .kind = other->kind,
                                  .work = tamis_handle_workload(other),
                                  .values = other->table.values,
                                  .allocator_flags = other->allocator_flags,
                                  .max_bytes = other->max_bytes,
                                  .part = part_of_set(other),
                                  .sweep = { .timeout = ageing->timeout,
                                             .timer_bits = ageing->timer_bits,
                                             .lives = ageing->lives } };
    memcpy(choice.geometry, other->table.geometry, sizeof choice.geometry);
    return choice;
}

tamis_choice tamis_choice_to_follow(const tamis_set *other) {
    tamis_share_hold(other);
    tamis_choice const choice = tamis_grow_choice(other);
    tamis_share_release(other);
    return choice;
}

/* The hash of a new set: that of `like`, or one with the given seed or a random one. TAMIS_OK,
 * _IO. */
static tamis_status make_hasher(const tamis_request *request, keyhash *ret_hasher,
                                tamis_problem *problem) {
    bool const       is_like = request->like != NULL;
    tamis_hash const hash = is_like ? request->like->hasher.hash : request->hash;
    tamis_seed       seed;
    if (is_like && !request->reseed) {
        *ret_hasher = request->like->hasher;
        return TAMIS_OK;
    }
    if (request->seed != NULL)
        seed = *request->seed;
    else if (!tamis_os_random(&seed, sizeof seed))
        return tamis_problem_say(problem, TAMIS_ERR_IO,
                                 "the system returned no random seed: set spec.seed");
    *ret_hasher = keyhash_make(hash, seed);
    return TAMIS_OK;
}

/* Bytes in a unit that keeps the number below 1000. */
static double bytes_in_unit(uint64_t bytes, const char **ret_unit) {
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
    double                   number = (double)bytes;
    size_t                   unit = 0;
    for (; number >= 999.5 && unit < 5; unit++) number /= 1024;
    *ret_unit = units[unit];
    return number;
}

static tamis_status say_no_memory(tamis_problem *problem, tamis_status status,
                                  const tamis_choice *choice) {
    uint64_t    bytes = 0;
    const char *unit = NULL;
    (void)choice->kind->body_bytes(choice->geometry, &bytes);
    double const number = bytes_in_unit(bytes, &unit);
    return tamis_problem_say(problem, status, "%s: a %s for %llu keys needs %.3g %s",
                             tamis_status_text(status), choice->kind->name,
                             (unsigned long long)choice->work.capacity, number, unit);
}

tamis_status tamis_make_requested(const tamis_request *request, tamis_set **ret_set,
                                  tamis_problem *problem) {
    tamis_choice choice;
    keyhash      hasher;
    tamis_status status;
    if (request->like != NULL) {
        choice = tamis_choice_to_follow(request->like);
        status = tamis_kind_find(choice.kind->name, request->isa, &choice.kind);
    } else {
        status = tamis_choose(request, &choice, problem);
    }
    if (status == TAMIS_OK) status = make_hasher(request, &hasher, problem);
    if (status == TAMIS_ERR_NOT_BUILT) {
        return tamis_problem_say(problem, status,
                                 "this build or processor does not have the instruction set \"%s\"",
                                 request->isa);
    }
    if (status == TAMIS_OK) status = tamis_part_check(request, &choice, problem);
    if (status != TAMIS_OK) return status;
    choice.shared = request->shared;
    choice.allocator_flags = request->allocator_flags;
    choice.max_bytes = request->max_bytes;
    if (request->like == NULL || request->part.parts != 0) choice.part = request->part;
    status = tamis_make(&choice, &hasher, &request->allocator, ret_set);
    return status == TAMIS_OK ? status : say_no_memory(problem, status, &choice);
}

tamis_status tamis_create(const tamis_spec *spec, tamis_set **ret_set,
                          tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_set(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_set == NULL) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "ret_set is NULL");
    }
    return tamis_make_requested(&request, ret_set, reterr_problem);
}

/* ------------------------------------------------------------------ whole sets */

static tamis_status clear_now(tamis_set *set, const tamis_set *unused) {
    (void)unused;
    memset(set->table.body, 0, (size_t)set->table.body_bytes);
    tamis_grow_clear(set);
    set->table.entries = 0;
    set->table.keys = set->table.saturated = set->table.moved = set->table.aged = 0;
    set->table.sweep.done = set->table.sweep.due = set->table.sweep.rest = 0;
    set->table.sweep.late = 0;
    set->table.refused_adds = set->table.refused_removes = set->conflicts = 0;
    return TAMIS_OK;
}

tamis_status tamis_clear(tamis_set *set) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_status const checked = handle_change_status(set);
    if (checked != TAMIS_OK) return checked;
    return set->shared != NULL ? tamis_share_change_all(set, NULL, clear_now)
                               : clear_now(set, NULL);
}

void tamis_handle_take_table(tamis_set *set, const tamis_table *table) {
    size_t const first = offsetof(tamis_table, derived), end = offsetof(tamis_table, values);
    set->table.body = table->body;
    memcpy((uint8_t *)&set->table + first, (const uint8_t *)table + first, end - first);
    set->table.sweep = table->sweep;
    set->table.aged = table->aged;
}

/* Which units may have keys is not copied: that all may is always true, and the next pass of the
 * sweep finds out again which are empty. */
void tamis_table_copy(tamis_table *to, const tamis_table *from) {
    memcpy(to->body, from->body, (size_t)from->body_bytes);
    to->keys = from->keys;
    to->entries = from->entries;
    to->saturated = from->saturated;
    to->moved = from->moved;
    to->sweep = from->sweep;
    to->aged = from->aged;
    vacancy_mark_all_used(to->used_parts, to->sweep.units);
}

tamis_status tamis_copy_unshared(const tamis_set *set, tamis_set **ret_copy) {
    tamis_choice const choice = tamis_choice_like(set);
    tamis_set         *copy;
    tamis_status       status = tamis_make(&choice, &set->hasher, &set->allocator, &copy);
    if (status != TAMIS_OK) return status;
    tamis_table_copy(&copy->table, &set->table);
    status = set->growth != NULL ? tamis_grow_copy(copy, set) : TAMIS_OK;
    if (status != TAMIS_OK) {
        tamis_free(copy);
        return status;
    }
    copy->table.refused_adds = set->table.refused_adds;
    copy->table.refused_removes = set->table.refused_removes;
    copy->conflicts = set->conflicts;
    *ret_copy = copy;
    return TAMIS_OK;
}

/* The set is held only while it is copied: writers need not wait until the copy is shared. */
tamis_status tamis_copy(const tamis_set *set, tamis_set **ret_copy) {
    tamis_set *copy;
    if (set == NULL || ret_copy == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_share_hold(set);
    tamis_status status = tamis_copy_unshared(set, &copy);
    tamis_share_release(set);
    if (status == TAMIS_OK && set->shared != NULL) {
        status = tamis_share_init(copy);
        if (status != TAMIS_OK) tamis_free(copy);
    }
    if (status == TAMIS_OK) *ret_copy = copy;
    return status;
}

/* Do both tables have the same values and timers? In sets both are 0. */
static bool has_same_states(const tamis_table *a, const tamis_table *b) {
    return a->values == b->values && a->sweep.timeout == b->sweep.timeout &&
           a->sweep.timer_bits == b->sweep.timer_bits && a->sweep.lives == b->sweep.lives;
}

bool tamis_is_alike(const tamis_set *a, const tamis_set *b) {
    return strcmp(a->kind->name, b->kind->name) == 0 && keyhash_is_same(&a->hasher, &b->hasher) &&
           memcmp(a->table.geometry, b->table.geometry, sizeof a->table.geometry) == 0 &&
           has_same_states(&a->table, &b->table) && part_is_same(part_of_set(a), part_of_set(b));
}

tamis_status tamis_merge_or_restore(tamis_set *into, const tamis_set *from,
                                    tamis_status (*merge)(tamis_table *, const tamis_table *)) {
    tamis_set   *before;
    tamis_status status = tamis_copy_unshared(into, &before);
    if (status != TAMIS_OK) return status;
    status = merge(&into->table, &from->table);
    if (status != TAMIS_OK) tamis_table_copy(&into->table, &before->table);
    tamis_free(before);
    return status;
}

bool tamis_has_same_prints(const tamis_set *a, const tamis_set *b) {
    return a->kind->growing != NULL && strcmp(a->kind->name, b->kind->name) == 0 &&
           keyhash_is_same(&a->hasher, &b->hasher) &&
           a->kind->prints(a->table.geometry) == b->kind->prints(b->table.geometry) &&
           has_same_states(&a->table, &b->table) && a->abilities == b->abilities &&
           part_is_same(part_of_set(a), part_of_set(b)) &&
           a->kind->count_to(a->table.geometry) == b->kind->count_to(b->table.geometry);
}

tamis_status tamis_change_all(tamis_set *set, const tamis_set *other, tamis_change *change) {
    tamis_set   *changed;
    tamis_status status = tamis_copy_unshared(set, &changed);
    if (status != TAMIS_OK) return status;
    status = change(changed, other);
    if (status == TAMIS_OK) handle_swap(set, changed);
    tamis_free(changed);
    return status;
}

tamis_status tamis_change_by(tamis_set *set, const tamis_set *other, tamis_change *change) {
    tamis_share_hold_two(set, other);
    tamis_status const status =
        set->shared != NULL ? tamis_share_change_all(set, other, change) : change(set, other);
    tamis_share_release_two(set, other);
    return status;
}

/* Tables with the same geometry are merged by the kind. Otherwise, and if the kind finds no room in
 * a set that can grow, they are merged print by print. */
static tamis_status merge_now(tamis_set *into, const tamis_set *from) {
    tamis_status status;
    bool const   is_alike =
        tamis_is_alike(into, from) && !grow_is_moving(into) && !grow_is_moving(from);
    if (!is_alike && !tamis_has_same_prints(into, from)) return TAMIS_ERR_MISMATCH;
    if ((into->abilities & TAMIS_CAN_MERGE) == 0) return TAMIS_ERR_CANNOT;
    if (is_alike) {
        status = into->kind->merges_by_steps ? tamis_merge_or_restore(into, from, into->kind->merge)
                                             : into->kind->merge(&into->table, &from->table);
        if (status != TAMIS_ERR_FULL || into->growth == NULL) return status;
    }
    return tamis_change_all(into, from, tamis_merge_prints);
}

tamis_status tamis_merge(tamis_set *into, const tamis_set *from) {
    if (into == NULL || from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    tamis_status const status = handle_change_status(into);
    return status == TAMIS_OK ? tamis_change_by(into, from, merge_now) : status;
}

tamis_status tamis_convert(const tamis_set *set, const char *kind, tamis_set **ret_set) {
    if (set == NULL || kind == NULL || ret_set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_choice choice = tamis_choice_to_follow(set);
    tamis_status status = tamis_kind_find(kind, set->kind->isa, &choice.kind);
    if (status != TAMIS_OK) return status;
    if (set->kind->conversion == NULL || strcmp(set->kind->conversion->to, kind) != 0) {
        return TAMIS_ERR_CANNOT;
    }
    memset(choice.geometry, 0, sizeof choice.geometry);
    if (!set->kind->conversion->geometry(set->table.geometry, choice.geometry))
        return TAMIS_ERR_CANNOT;
    tamis_set *converted;
    status = tamis_make(&choice, &set->hasher, &set->allocator, &converted);
    if (status != TAMIS_OK) return status;
    tamis_share_hold(set);
    set->kind->conversion->convert(&set->table, &converted->table);
    tamis_share_release(set);
    *ret_set = converted;
    return TAMIS_OK;
}
