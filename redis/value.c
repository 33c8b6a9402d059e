/* value.c - values: making them, and what their items go through. */
#include "value.h"

#include "requests.h"
#include "settings.h"
#include "shapes.h"

#include <stdio.h>
#include <string.h>

/* Below, with the other recipes. */
static void complete_seed_and_kind(const tamis_value *value, value_recipe *recipe);

/* ------------------------------------------------------------------ making */

tamis_value *value_new(value_family family) {
    memory_account *const account = account_open();
    tamis_value *const    one = account != NULL ? redis_TryAlloc(sizeof *one) : NULL;
    if (one == NULL) {
        if (account != NULL) account_close(account);
        return NULL;
    }
    memset(one, 0, sizeof *one);
    one->family = family;
    one->account = account;
    one->parts = &one->first_part;
    atomic_init(&one->refs, 1);
    account->used += redis_MallocSize(one);
    return one;
}

void value_share(tamis_value *value) {
    (void)atomic_fetch_add(&value->refs, 1);
}

/* The list of several parts. */
static void free_list(tamis_value *value) {
    tamis_allocator const to = account_allocator(value->account);
    if (value->parts != &value->first_part)
        to.free(to.context, value->parts, value->n_parts * sizeof *value->parts);
    value->parts = &value->first_part;
}

void value_free(tamis_value *value) {
    if (value == NULL || atomic_fetch_sub(&value->refs, 1) != 1) return;
    for (unsigned i = 0; i < value->n_parts; i++) tamis_free(value->parts[i].set);
    free_list(value);
    tamis_states_free(value->states);
    requests_free(value);
    account_close(value->account);
    redis_Free(value);
}

uint64_t value_memory(const tamis_value *value) {
    return value->account->used;
}

static uint64_t part_limit(const tamis_value *value, const tamis_set *set) {
    tamis_facts facts;
    if (tamis_get_facts(set, &facts) != TAMIS_OK) return 0;
    if (value->family == FAMILY_SET) return UINT64_MAX; /* the set itself says when it is full */
    if (value->expansion == 0) return value->capacity;
    return facts.grow_to != 0 ? facts.grow_to : facts.capacity;
}

/* A list that is longer by one. A key opens its second part after many adds, so it is copied. */
static bool lengthen_list(tamis_value *value) {
    tamis_allocator const from = account_allocator(value->account);
    size_t const          bytes = value->n_parts * sizeof *value->parts;
    value_part *const list = from.alloc(from.context, bytes + sizeof *list, _Alignof(value_part));
    if (list == NULL) return false;
    memcpy(list, value->parts, bytes);
    free_list(value);
    value->parts = list;
    return true;
}

bool value_append_part(tamis_value *value, tamis_set *set, uint64_t prints) {
    value_part part = { .set = set, .prints = prints, .limit = part_limit(value, set) };
    if (value->family <= FAMILY_CF && value->expansion != 0) part.plan_at = part.limit / 16 + 1;
    if (value->n_parts != 0 && !lengthen_list(value)) return false;
    value->parts[value->n_parts++] = part;
    return true;
}

void value_moved(tamis_value *value, const tamis_value *before) {
    if ((uintptr_t)value->parts == (uintptr_t)&before->first_part)
        value->parts = &value->first_part;
}

/* What was asked of the key, from its first recipe. */
static void value_take_recipe(tamis_value *value, const value_recipe *recipe) {
    value->error = recipe->error;
    value->capacity = recipe->asked;
    value->expansion = recipe->expansion;
    value->bucket_size = recipe->bucket_size;
    value->max_iterations = recipe->max_iterations;
    value->headroom = recipe->headroom;
    value->count_to = recipe->count_to;
    value->timeout = recipe->timeout;
    value->tick_ms = recipe->tick_ms;
    value->last_ms = recipe->now_ms;
}

static tamis_status make_states(tamis_value *value, const value_recipe *recipe,
                                tamis_problem *problem) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = recipe->capacity;
    spec.grow_to = recipe->grow_to;
    spec.values = recipe->values;
    spec.fpr = recipe->fpr;
    spec.timeout = recipe->timeout;
    spec.kind = recipe->kind[0] != 0 ? recipe->kind : NULL;
    spec.seed = recipe->has_seed ? &recipe->seed : NULL;
    spec.allocator = account_allocator(value->account);
    spec.allocator_flags = ACCOUNT_FLAGS;
    return tamis_states_create(&spec, &value->states, problem);
}

tamis_spec value_spec(const value_recipe *recipe) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.capacity = recipe->capacity;
    spec.grow_to = recipe->grow_to;
    spec.fpr = recipe->fpr;
    spec.abilities = recipe->abilities;
    spec.count_to = (recipe->abilities & TAMIS_CAN_COUNT) != 0 ? recipe->count_to : 0;
    spec.prefer = recipe->is_small ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
    spec.kind = recipe->kind[0] != 0 ? recipe->kind : NULL;
    bool const is_fixed = recipe->geometry[0] != 0 && recipe->grow_to == 0;
    spec.geometry = is_fixed ? recipe->geometry : NULL;
    spec.seed = recipe->has_seed ? &recipe->seed : NULL;
    spec.part = recipe->set_part;
    spec.parts = recipe->set_parts;
    return spec;
}

/* A new set, and its geometry as text. */
static tamis_status make_set(const tamis_value *value, const value_recipe *recipe,
                             char *ret_geometry, tamis_set **ret_set, tamis_problem *problem) {
    tamis_status status;
    tamis_spec   spec = value_spec(recipe);
    spec.allocator = account_allocator(value->account);
    spec.allocator_flags = ACCOUNT_FLAGS;
    if (shapes_make(recipe, &spec, ret_geometry, ret_set, &status)) return status;
    status = tamis_create(&spec, ret_set, problem);
    if (status != TAMIS_OK) return status;
    value_geometry(*ret_set, ret_geometry, GEOMETRY_BYTES);
    shapes_keep(recipe, *ret_set, ret_geometry);
    return TAMIS_OK;
}

/* The geometry of a set that grows cannot be given, only compared: a primary with another version
 * of the library may have planned another one, and then its replicas would differ silently. */
static bool has_geometry(const value_recipe *recipe, const char *geometry) {
    return recipe->grow_to == 0 || recipe->geometry[0] == 0 ||
           strcmp(geometry, recipe->geometry) == 0;
}

tamis_status value_open_part(tamis_value *value, value_recipe *recipe, tamis_problem *problem) {
    char       geometry[GEOMETRY_BYTES];
    tamis_set *set;
    if (value->n_parts == VALUE_MAX_PARTS) return TAMIS_ERR_LIMIT;
    tamis_status const status = make_set(value, recipe, geometry, &set, problem);
    if (status != TAMIS_OK) return status;
    if (!has_geometry(recipe, geometry)) {
        tamis_free(set);
        return TAMIS_ERR_MISMATCH;
    }
    if (!value_append_part(value, set, 0)) {
        tamis_free(set);
        return TAMIS_ERR_MEMORY;
    }
    memcpy(recipe->geometry, geometry, sizeof geometry);
    complete_seed_and_kind(value, recipe);
    return TAMIS_OK;
}

tamis_status value_create(value_recipe *recipe, tamis_value **ret_value, tamis_problem *problem) {
    tamis_value *const value = value_new(recipe->family);
    if (value == NULL) return TAMIS_ERR_MEMORY;
    value_take_recipe(value, recipe);
    tamis_status const status = recipe->values != 0 ? make_states(value, recipe, problem)
                                                    : value_open_part(value, recipe, problem);
    if (status != TAMIS_OK) {
        value_free(value);
        return status;
    }
    complete_seed_and_kind(value, recipe);
    *ret_value = value;
    return TAMIS_OK;
}

static tamis_status make_like(const tamis_value *other, tamis_value *value) {
    if (other->states != NULL) {
        tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
        spec.like = other->states;
        spec.allocator = account_allocator(value->account);
        spec.allocator_flags = ACCOUNT_FLAGS;
        return tamis_states_create(&spec, &value->states, NULL);
    }
    tamis_spec spec = TAMIS_SPEC_INIT;
    spec.like = other->parts[0].set;
    spec.allocator = account_allocator(value->account);
    spec.allocator_flags = ACCOUNT_FLAGS;
    tamis_status const status = tamis_create(&spec, &value->parts[0].set, NULL);
    if (status == TAMIS_OK) value->n_parts = 1;
    return status;
}

tamis_status value_create_like(const tamis_value *other, tamis_value **ret_value) {
    tamis_value *const value = value_new(other->family);
    if (value == NULL) return TAMIS_ERR_MEMORY;
    value->error = other->error;
    value->capacity = other->capacity;
    value->count_to = other->count_to;
    value->timeout = other->timeout;
    value->tick_ms = other->tick_ms;
    value->last_ms = other->last_ms;
    tamis_status const status = make_like(other, value);
    if (status != TAMIS_OK) {
        value_free(value);
        return status;
    }
    if (value->n_parts != 0) value->parts[0].limit = UINT64_MAX;
    *ret_value = value;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ recipes */

/* All fields of a geometry, as a spec takes them. */
static void write_geometry(const tamis_plan *plan, char *text, size_t bytes) {
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < plan->n_fields && at < bytes; i++) {
        int const n = snprintf(text + at, bytes - at, "%s%s=%llu", i != 0 ? "," : "",
                               plan->fields[i].name, (unsigned long long)plan->fields[i].value);
        at += n > 0 ? (size_t)n : 0;
    }
    if (at >= bytes) text[0] = 0; /* too long to fix: then the kind alone is fixed */
}

/* All fields of the geometry that a set has now; empty if they cannot be told. */
void value_geometry(const tamis_set *set, char *text, size_t bytes) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan plan;
    size_t     n = 0;
    text[0] = 0;
    spec.like = set;
    if (tamis_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && n == 1)
        write_geometry(&plan, text, bytes);
}

static void complete_seed_and_kind(const tamis_value *value, value_recipe *recipe) {
    tamis_states_facts of_states;
    tamis_facts        facts;
    const char        *kind = "";
    if (value->states != NULL) {
        if (tamis_states_get_facts(value->states, &of_states) != TAMIS_OK) return;
        recipe->seed = of_states.seed;
        kind = of_states.kind;
    } else {
        if (tamis_get_facts(value->parts[value->n_parts - 1].set, &facts) != TAMIS_OK) return;
        recipe->seed = facts.seed;
        kind = facts.kind;
    }
    recipe->has_seed = true;
    (void)snprintf(recipe->kind, sizeof recipe->kind, "%s", kind);
}

/* The next part begins where the last one ended, and has half its error. */
value_recipe value_next_recipe(const tamis_value *value) {
    const tamis_set *const last = value->parts[value->n_parts - 1].set;
    tamis_facts            facts;
    value_recipe           next = { .family = value->family,
                                    .part = value->n_parts,
                                    .error = value->error,
                                    .asked = value->capacity,
                                    .expansion = value->expansion,
                                    .bucket_size = value->bucket_size,
                                    .max_iterations = value->max_iterations,
                                    .headroom = value->headroom,
                                    .count_to = value->count_to,
                                    .is_small = true };
    if (tamis_get_facts(last, &facts) != TAMIS_OK) return next;
    (void)snprintf(next.kind, sizeof next.kind, "%s", facts.kind);
    uint64_t const most = UINT64_C(1) << 40;
    next.capacity = value->parts[value->n_parts - 1].limit;
    next.grow_to =
        next.capacity > most >> value->headroom ? most : next.capacity << value->headroom;
    next.fpr = value->error / (double)(UINT64_C(2) << value->n_parts);
    if (next.fpr < 1e-12) next.fpr = 1e-12;
    next.abilities = value->family == FAMILY_CF ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
    next.has_seed = true;
    next.seed = facts.seed;
    return next;
}

/* ------------------------------------------------------------------ items */

uint64_t value_hash(const tamis_value *value, tamis_key key) {
    return tamis_hash_key(value->parts[0].set, key.data, key.bytes);
}

#define FETCH_FROM ((uint64_t)1 << 20) /* smaller keys are in the processor's cache anyway */

void value_fetch(const tamis_value *value, const uint64_t *hashes, size_t n) {
    if (value_memory(value) < FETCH_FROM) return;
    for (unsigned i = 0; i < value->n_parts; i++) {
        for (size_t k = 0; k < n; k++) tamis_fetch_hash(value->parts[i].set, hashes[k]);
    }
}

#define NO_PART VALUE_MAX_PARTS

/* The oldest part that has it, or NO_PART. */
static unsigned part_of(const tamis_value *value, uint64_t hash) {
    for (unsigned i = 0; i < value->n_parts; i++) {
        if (tamis_has_hash(value->parts[i].set, hash)) return i;
    }
    return NO_PART;
}

bool value_has(const tamis_value *value, uint64_t hash) {
    return part_of(value, hash) != NO_PART;
}

uint64_t value_count(const tamis_value *value, uint64_t hash) {
    unsigned const i = part_of(value, hash);
    uint64_t       count = 0;
    if (i == NO_PART || tamis_count_hash(value->parts[i].set, hash, &count) != TAMIS_OK) return 0;
    return count;
}

static item_outcome outcome_of(tamis_status status, item_outcome good) {
    if (status == TAMIS_OK) return good;
    if (status == TAMIS_ERR_PART) return REFUSED_ELSEWHERE;
    return status == TAMIS_ERR_FULL ? REFUSED_FULL : REFUSED_MEMORY;
}

/* A fingerprint that no part has goes to the newest part. */
static item_outcome add_print(tamis_value *value, uint64_t hash) {
    value_part *const newest = &value->parts[value->n_parts - 1];
    if (newest->prints >= newest->limit) return REFUSED_FULL;
    item_outcome const done = outcome_of(tamis_add_hash(newest->set, hash), DONE_NEW);
    value_count_prints(value, done == DONE_NEW);
    return done;
}

/* When a part has begun to grow, another one may be needed some day. */
static void plan_next_part(const tamis_value *value) {
    value_recipe const next = value_next_recipe(value);
    shapes_plan_ahead(&next);
}

bool value_has_room(const tamis_value *value, size_t n) {
    const value_part *const part = &value->parts[0];
    return value->n_parts == 1 && part->prints <= part->limit && n <= part->limit - part->prints;
}

void value_count_prints(tamis_value *value, size_t n) {
    value_part *const newest = &value->parts[value->n_parts - 1];
    bool const        was_before = newest->prints < newest->plan_at;
    newest->prints += n;
    value->items += n;
    value->changes += n;
    if (was_before && newest->prints >= newest->plan_at) plan_next_part(value);
}

/* In the only part, which has room: a new item needs one look at its place, not two. NOT_THERE: it
 * was not new, and nothing was done. */
static item_outcome add_if_new(tamis_value *value, uint64_t hash) {
    bool               is_new = false;
    tamis_status const status = tamis_add_new_hash(value->parts[0].set, hash, &is_new);
    if (status == TAMIS_OK) value_count_prints(value, is_new);
    return is_new || status != TAMIS_OK ? outcome_of(status, DONE_NEW) : NOT_THERE;
}

static item_outcome add_copy_to(tamis_value *value, unsigned part, uint64_t hash) {
    item_outcome const done = outcome_of(tamis_add_hash(value->parts[part].set, hash), DONE_AGAIN);
    if (done == DONE_AGAIN) {
        value->items++;
        value->changes++;
    }
    return done;
}

item_outcome value_add_copy(tamis_value *value, uint64_t hash) {
    return add_copy_to(value, 0, hash);
}

item_outcome value_add(tamis_value *value, uint64_t hash) {
    bool const         has_room = value_has_room(value, 1);
    item_outcome const first = has_room ? add_if_new(value, hash) : NOT_THERE;
    if (first != NOT_THERE) return first;
    unsigned const i = has_room ? 0 : part_of(value, hash);
    return i == NO_PART ? add_print(value, hash) : add_copy_to(value, i, hash);
}

item_outcome value_add_new(tamis_value *value, uint64_t hash) {
    if (value_has_room(value, 1)) {
        item_outcome const done = add_if_new(value, hash);
        return done == NOT_THERE ? DONE_AGAIN : done;
    }
    return part_of(value, hash) != NO_PART ? DONE_AGAIN : add_print(value, hash);
}

item_outcome value_remove(tamis_value *value, uint64_t hash) {
    unsigned const i = value->n_parts > 1 ? part_of(value, hash) : 0; /* one part tells itself */
    value->changes++;
    if (i == NO_PART) {
        value->refused++;
        return NOT_THERE;
    }
    bool               is_last = false;
    value_part *const  part = &value->parts[i];
    tamis_status const status = tamis_remove_copy_hash(part->set, hash, &is_last);
    if (status == TAMIS_ERR_SATURATED) return SATURATED;
    if (status != TAMIS_OK) return NOT_THERE; /* the part has counted it */
    value->items -= value->items != 0;        /* a crafted value may have lied */
    value->deleted++;
    part->prints -= is_last && part->prints != 0;
    return DONE_AGAIN;
}
