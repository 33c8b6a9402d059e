/* make.c - the life of a set: from a spec to a handle, copies, merges, and the end.
 *
 * Ownership: tamis_free() is the one function that gives memory back, and takes a handle in any
 * state. So whoever builds a set frees it on the first failure and returns.
 */
#include "core/memory.h"
#include "handle.h"
#include "os.h"

#include <math.h>

#define STRING_(a) #a
#define STRING(a) STRING_(a)

const char *tamis_version(void) {
    return STRING(TAMIS_VERSION_MAJOR) "." STRING(TAMIS_VERSION_MINOR) "." STRING(
        TAMIS_VERSION_PATCH);
}

/* ------------------------------------------------------------------ the spec */

#define MIN_FPR 1e-12
#define MAX_FPR 0.5
#define DEFAULT_OVERFLOW 1e-10
#define DEFAULT_TURNOVERS 16 /* lifetime / capacity when keys come and go */

static tamis_status spec_check_ranges(const tamis_spec *spec, tamis_problem *problem) {
    unsigned const abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE;
    if (spec->capacity < 1 || spec->capacity > HANDLE_MAX_CAPACITY) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "capacity must be 1 to 2^40 keys");
    }
    bool const is_rate = spec->fpr >= MIN_FPR && spec->fpr <= MAX_FPR; /* false for NaN */
    if (!is_rate && !(spec->fpr == 0 && spec->geometry != NULL)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "fpr must be 1e-12 to 0.5 (0 only with a fixed geometry)");
    }
    if ((spec->abilities & ~abilities) != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown ability 0x%x",
                                 spec->abilities & ~abilities);
    }
    if (spec->prefer != TAMIS_PREFER_FAST && spec->prefer != TAMIS_PREFER_SMALL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown preference");
    }
    if (!(spec->overflow >= 0 && spec->overflow < 1)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "overflow must be 0 to 1");
    }
    return TAMIS_OK;
}

static tamis_status spec_check_hash(const tamis_spec *spec, tamis_problem *problem) {
    if (spec->hash != TAMIS_HASH_XXH3 && spec->hash != TAMIS_HASH_SIPHASH) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown hash %d", (int)spec->hash);
    }
    if (!keyhash_is_built(spec->hash)) {
        return tamis_problem_say(problem, TAMIS_ERR_NOT_BUILT,
                                 "SipHash is not built in: configure with -Dsodium=enabled");
    }
    return TAMIS_OK;
}

tamis_status tamis_spec_check(const tamis_spec *spec, tamis_spec *ret_spec,
                              tamis_problem *problem) {
    tamis_spec today = TAMIS_SPEC_INIT; /* fields that an older caller does not know */
    if (spec == NULL || spec->size < sizeof spec->size || spec->size > sizeof today) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "start a spec from TAMIS_SPEC_INIT");
    }
    memcpy(&today, spec, spec->size);
    if (!allocator_is_whole(&today.allocator)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "an allocator needs alloc and free");
    }
    if (today.like == NULL) {
        tamis_status status = spec_check_ranges(&today, problem);
        if (status == TAMIS_OK) status = spec_check_hash(&today, problem);
        if (status != TAMIS_OK) return status;
        if (today.overflow == 0) today.overflow = DEFAULT_OVERFLOW;
        bool const     is_churned = (today.abilities & TAMIS_CAN_REMOVE) != 0;
        uint64_t const usual = today.capacity * (is_churned ? DEFAULT_TURNOVERS : 1);
        if (today.lifetime == 0) today.lifetime = usual;
        if (today.lifetime < today.capacity) {
            return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                     "lifetime counts all adds, so it is at least the capacity");
        }
    }
    *ret_spec = today;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ handles */

tamis_set *tamis_handle_new(const tamis_kind *kind, const uint64_t *geometry,
                            const tamis_allocator *allocator) {
    tamis_set *const set = memory_get(allocator, sizeof *set);
    if (set == NULL) return NULL;
    set->kind = kind;
    set->allocator = *allocator;
    memcpy(set->table.geometry, geometry, tamis_kind_n_fields(kind) * sizeof geometry[0]);
    set->abilities = tamis_kind_abilities(kind, set->table.geometry);
    if (kind->prepare != NULL) kind->prepare(&set->table);
    return set;
}

tamis_status tamis_handle_get_body(tamis_set *set) {
    uint64_t bytes;
    if (!set->kind->body_bytes(set->table.geometry, &bytes)) return TAMIS_ERR_LIMIT;
    if (bytes > SIZE_MAX / 2) return TAMIS_ERR_LIMIT;
    set->table.body = memory_get(&set->allocator, (size_t)bytes);
    if (set->table.body == NULL) return TAMIS_ERR_MEMORY;
    set->table.body_bytes = bytes;
    return TAMIS_OK;
}

void tamis_free(tamis_set *set) {
    if (set == NULL) return;
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
    set->hasher = *hasher;
    set->capacity = choice->capacity;
    set->lifetime = choice->lifetime;
    set->table.values = choice->values;
    set->table.sweep = choice->sweep;
    if (choice->values != 0) set->table.sweep.units = choice->kind->states->units(choice->geometry);
    tamis_status const status = tamis_handle_get_body(set);
    if (status != TAMIS_OK)
        tamis_free(set);
    else
        *ret_set = set;
    return status;
}

tamis_choice tamis_choice_like(const tamis_set *other) {
    const sweep *const ageing = &other->table.sweep;
    tamis_choice       choice = { .kind = other->kind,
                                  .capacity = other->capacity,
                                  .lifetime = other->lifetime,
                                  .values = other->table.values,
                                  .sweep = { .timeout = ageing->timeout,
                                             .timer_bits = ageing->timer_bits,
                                             .lives = ageing->lives } };
    memcpy(choice.geometry, other->table.geometry, sizeof choice.geometry);
    return choice;
}

tamis_status tamis_seed_get(const tamis_seed *given, tamis_seed *ret_seed, tamis_problem *problem) {
    if (given != NULL) {
        *ret_seed = *given;
        return TAMIS_OK;
    }
    if (tamis_os_random(ret_seed, sizeof *ret_seed)) return TAMIS_OK;
    return tamis_problem_say(problem, TAMIS_ERR_IO, "the system gives no random seed: set one");
}

tamis_status tamis_create(const tamis_spec *spec, tamis_set **ret_set,
                          tamis_problem *reterr_problem) {
    tamis_spec   checked;
    tamis_status status = tamis_spec_check(spec, &checked, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_set == NULL) return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "no ret_set");

    tamis_choice choice;
    keyhash      hasher;
    if (checked.like != NULL) {
        choice = tamis_choice_like(checked.like);
        hasher = checked.like->hasher;
        status = tamis_kind_find(choice.kind->name, checked.isa, &choice.kind);
    } else {
        tamis_seed seed;
        status = tamis_choose(&checked, 0, &choice, reterr_problem);
        if (status == TAMIS_OK) status = tamis_seed_get(checked.seed, &seed, reterr_problem);
        if (status == TAMIS_OK) hasher = keyhash_make(checked.hash, seed);
    }
    if (status == TAMIS_ERR_NOT_BUILT) {
        (void)tamis_problem_say(reterr_problem, status, "no instruction set '%s' here",
                                checked.isa);
    }
    if (status != TAMIS_OK) return status;

    status = tamis_make(&choice, &hasher, &checked.allocator, ret_set);
    if (status == TAMIS_OK) return status;
    return tamis_problem_say(
        reterr_problem, status, "%s: a %s of %llu keys needs more than there is",
        tamis_status_text(status), choice.kind->name, (unsigned long long)choice.capacity);
}

/* ------------------------------------------------------------------ whole sets */

tamis_status tamis_clear(tamis_set *set) {
    if (set == NULL) return TAMIS_ERR_ARGUMENT;
    if (set->mapping != NULL) return TAMIS_ERR_READ_ONLY;
    memset(set->table.body, 0, (size_t)set->table.body_bytes);
    set->table.keys = set->table.saturated = set->table.moved = set->table.aged = 0;
    set->table.sweep.done = set->table.sweep.due = set->table.sweep.rest = 0;
    set->refused_adds = set->refused_removes = set->conflicts = 0;
    return TAMIS_OK;
}

void tamis_table_copy(tamis_table *to, const tamis_table *from) {
    memcpy(to->body, from->body, (size_t)from->body_bytes);
    to->keys = from->keys;
    to->saturated = from->saturated;
    to->moved = from->moved;
    to->sweep = from->sweep;
    to->aged = from->aged;
}

tamis_status tamis_copy(const tamis_set *set, tamis_set **ret_copy) {
    if (set == NULL || ret_copy == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_choice const choice = tamis_choice_like(set);
    tamis_set         *copy;
    tamis_status const status = tamis_make(&choice, &set->hasher, &set->allocator, &copy);
    if (status != TAMIS_OK) return status;
    tamis_table_copy(&copy->table, &set->table);
    copy->refused_adds = set->refused_adds;
    copy->refused_removes = set->refused_removes;
    copy->conflicts = set->conflicts;
    *ret_copy = copy;
    return TAMIS_OK;
}

bool tamis_is_alike(const tamis_set *a, const tamis_set *b) {
    return strcmp(a->kind->name, b->kind->name) == 0 && a->hasher.hash == b->hasher.hash &&
           a->hasher.seed.low == b->hasher.seed.low && a->hasher.seed.high == b->hasher.seed.high &&
           memcmp(a->table.geometry, b->table.geometry, sizeof a->table.geometry) == 0 &&
           a->table.values == b->table.values && a->table.sweep.timeout == b->table.sweep.timeout &&
           a->table.sweep.timer_bits == b->table.sweep.timer_bits &&
           a->table.sweep.lives == b->table.sweep.lives;
}

tamis_status tamis_merge_or_restore(tamis_set *into, const tamis_set *from,
                                    tamis_status (*merge)(tamis_table *, const tamis_table *)) {
    tamis_set   *before;
    tamis_status status = tamis_copy(into, &before);
    if (status != TAMIS_OK) return status;
    status = merge(&into->table, &from->table);
    if (status != TAMIS_OK) tamis_table_copy(&into->table, &before->table);
    tamis_free(before);
    return status;
}

tamis_status tamis_merge(tamis_set *into, const tamis_set *from) {
    if (into == NULL || from == NULL || into == from) return TAMIS_ERR_ARGUMENT;
    if (into->mapping != NULL) return TAMIS_ERR_READ_ONLY;
    if (!tamis_is_alike(into, from)) return TAMIS_ERR_MISMATCH;
    if ((into->abilities & TAMIS_CAN_MERGE) == 0) return TAMIS_ERR_CANNOT;
    return into->kind->merges_by_steps ? tamis_merge_or_restore(into, from, into->kind->merge)
                                       : into->kind->merge(&into->table, &from->table);
}

tamis_status tamis_convert(const tamis_set *set, const char *kind, tamis_set **ret_set) {
    if (set == NULL || kind == NULL || ret_set == NULL) return TAMIS_ERR_ARGUMENT;
    tamis_choice choice = tamis_choice_like(set);
    tamis_status status = tamis_kind_find(kind, set->kind->isa, &choice.kind);
    if (status != TAMIS_OK) return status;
    if (set->kind->converts_to == NULL || strcmp(set->kind->converts_to, kind) != 0) {
        return TAMIS_ERR_CANNOT;
    }
    memset(choice.geometry, 0, sizeof choice.geometry);
    if (!set->kind->convert_geometry(set->table.geometry, choice.geometry)) return TAMIS_ERR_CANNOT;
    tamis_set *converted;
    status = tamis_make(&choice, &set->hasher, &set->allocator, &converted);
    if (status != TAMIS_OK) return status;
    set->kind->convert(&set->table, &converted->table);
    *ret_set = converted;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ looking at a set */

tamis_status tamis_inspect(const tamis_set *set, tamis_info *ret_info) {
    if (set == NULL || ret_info == NULL) return TAMIS_ERR_ARGUMENT;
    const tamis_table *table = &set->table;
    tamis_info         info = { 0 };
    info.isa = set->kind->isa;
    info.hash = set->hasher.hash;
    info.seed = set->hasher.seed;
    info.is_mapped = set->mapping != NULL;
    info.is_huge = !info.is_mapped && memory_is_huge(&set->allocator, (size_t)table->body_bytes);
    info.keys = table->keys;
    /* to the kind's own come keys whose 64-bit hashes are equal; fingerprints include them */
    info.current_fpr = set->kind->current_fpr(table);
    if (set->kind->prints == NULL) info.current_fpr += (double)table->keys / 0x1p64;
    info.saturated = table->saturated;
    info.moved = table->moved;
    info.refused_adds = set->refused_adds;
    info.refused_removes = set->refused_removes;
    info.memory_bytes = table->body_bytes + sizeof *set;
    tamis_plan_describe(set->kind, table->geometry, set->capacity, set->lifetime, &info.plan);
    *ret_info = info;
    return TAMIS_OK;
}

bool tamis_validate(const tamis_set *set, const char **reterr_why) {
    const char *why = NULL;
    bool const  is_valid = set != NULL && set->kind->validate(&set->table, &why);
    if (!is_valid && reterr_why != NULL) *reterr_why = why != NULL ? why : "there is no set";
    return is_valid;
}
