/* creation.c - see creation.h. */
#include "creation.h"

#include "background.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

#define N_KNOWN 64

typedef struct creation {
    background_job job; /* first */
    creation_rule  rule;
    redis_handler *handler;
    value_recipe   asked, used; /* as asked for, and what was made of that */
    value_recipe   recipe;      /* that, completed */
    tamis_value   *value;       /* NULL: see status, or a key has it */
    tamis_status   status;
    tamis_problem  problem;
} creation;

/* ------------------------------------------------------------------ which kind */

static uint64_t bytes_of_kind(const value_recipe *recipe, const char *kind) {
    tamis_spec spec = TAMIS_SPEC_INIT;
    tamis_plan plan;
    size_t     n = 0;
    spec.capacity = recipe->capacity;
    spec.fpr = recipe->fpr;
    spec.kind = kind;
    bool const is_planned = tamis_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && n == 1;
    return is_planned && plan.status == TAMIS_OK ? plan.body_bytes : UINT64_MAX;
}

/* What an allocator takes for a body: its sizes are four in each doubling. */
static uint64_t rounded_bytes(uint64_t bytes) {
    uint64_t step = 64;
    while (8 * step < bytes && step < UINT64_MAX / 16) step *= 2;
    return (bytes / step + (bytes % step != 0)) * step;
}

static uint64_t bytes_of_rank(const value_recipe *recipe, const char *geometry) {
    tamis_spec spec = value_spec(recipe);
    tamis_plan plan;
    size_t     n = 0;
    spec.kind = "rank";
    spec.geometry = geometry;
    bool const is_planned = tamis_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && n == 1;
    return is_planned && plan.status == TAMIS_OK ? rounded_bytes(plan.body_bytes) : UINT64_MAX;
}

/* Of a CF key of a fixed size that counts to 15: counters of 2 bits, and another cell for every 4
 * copies more. That takes 12.3 bits per key at 1%; counters of 4 bits would take 15.2. Buckets of
 * whole cache lines take 13.0, and 13 ns less for every add, lookup and removal: they are chosen if
 * the key is at most an eighth larger, as it is allocated. */
static const char *geometry_of_cf(const value_recipe *recipe) {
    static const char *const packed = "counter_bits=2,copies=4,aligned=0";
    static const char *const aligned = "counter_bits=2,copies=4,aligned=1";
    uint64_t const           least = bytes_of_rank(recipe, packed);
    return bytes_of_rank(recipe, aligned) / 9 <= least / 8 ? aligned : packed;
}

/* `rank` is the smallest kind that grows, and that counts. Of sets without either, a Bloom filter
 * is smaller at high errors. A comparison of all kinds would take longer. */
static void choose_kind(value_recipe *recipe) {
    bool const  is_fixed = recipe->expansion == 0;
    const char *kind = "rank";
    if (is_fixed && recipe->family == FAMILY_BF &&
        bytes_of_kind(recipe, "bloom") <= bytes_of_kind(recipe, "rank"))
        kind = "bloom";
    if (is_fixed && recipe->family == FAMILY_CF && recipe->count_to == 15)
        (void)snprintf(recipe->geometry, sizeof recipe->geometry, "%s", geometry_of_cf(recipe));
    (void)snprintf(recipe->kind, sizeof recipe->kind, "%s", kind);
}

static void create_used(creation *one) {
    one->recipe = one->used;
    one->status = value_create(&one->recipe, &one->value, &one->problem);
}

static void create_small(creation *one) {
    choose_kind(&one->used);
    create_used(one);
    if (one->status == TAMIS_OK || one->status == TAMIS_ERR_MEMORY) return;
    one->used = one->asked; /* whatever can do it */
    create_used(one);
}

/* A set is able to remove and merge, if its kind can. One that counts can always remove. */
bool creation_abilities(unsigned asked, unsigned i, unsigned *ret_abilities) {
    static const unsigned more[] = { TAMIS_CAN_REMOVE | TAMIS_CAN_MERGE, TAMIS_CAN_REMOVE,
                                     TAMIS_CAN_MERGE, 0 };
    if (i >= (asked != 0 ? 2 : 4)) return false;
    *ret_abilities = asked | more[i];
    return true;
}

/* With TIMEOUT a set is a table of states. */
static void create_set(creation *one) {
    if (one->asked.timeout != 0) {
        one->used.values = 2;
        if (one->used.kind[0] == 0) (void)snprintf(one->used.kind, sizeof one->used.kind, "rank");
        create_used(one);
        return;
    }
    one->status = TAMIS_ERR_CANNOT;
    for (unsigned i = 0; one->status == TAMIS_ERR_CANNOT &&
                         creation_abilities(one->asked.abilities, i, &one->used.abilities);
         i++)
        create_used(one);
}

/* In any thread. */
static void create(creation *one) {
    one->used = one->asked;
    if (one->rule == CREATE_SMALL)
        create_small(one);
    else if (one->rule == CREATE_SET)
        create_set(one);
    else
        create_used(one);
}

/* ------------------------------------------------------------------ what was made before */

/* What does not depend on the seed, the time and the part of a set. */
static value_recipe timeless(const value_recipe *recipe) {
    value_recipe same = *recipe;
    same.has_seed = false;
    same.seed = (tamis_seed){ 0, 0 };
    same.now_ms = 0;
    same.set_part = 0;
    return same;
}

static bool is_same_ask(const value_recipe *a, const value_recipe *b) {
    char               texts[2][RECIPE_TEXT_BYTES];
    value_recipe const both[2] = { timeless(a), timeless(b) };
    recipe_write(&both[0], texts[0]);
    recipe_write(&both[1], texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

/* A recipe that was asked for, and the one that was chosen for it. */
typedef struct known_ask {
    creation_rule rule;
    value_recipe  asked, chosen;
} known_ask;

static known_ask known[N_KNOWN]; /* of the main thread; capacity 0: free */
static unsigned  next_known;

static const known_ask *find_known(creation_rule rule, const value_recipe *asked) {
    for (unsigned i = 0; i < N_KNOWN; i++) {
        const known_ask *const one = &known[i];
        if (one->asked.capacity == asked->capacity && one->rule == rule &&
            one->asked.family == asked->family && is_same_ask(&one->asked, asked))
            return one;
    }
    return NULL;
}

static void remember(const creation *one) {
    if (one->recipe.values != 0 || find_known(one->rule, &one->asked) != NULL) return;
    known[next_known] = (known_ask){ one->rule, one->asked, one->used };
    next_known = (next_known + 1) % N_KNOWN;
}

/* The recipe that was chosen then, with the seed, the time and the part of this one. */
static value_recipe chosen_for(const known_ask *before, const value_recipe *asked) {
    value_recipe recipe = before->chosen;
    recipe.has_seed = asked->has_seed;
    recipe.seed = asked->seed;
    recipe.now_ms = asked->now_ms;
    recipe.set_part = asked->set_part;
    return recipe;
}

/* ------------------------------------------------------------------ in a thread */

static creation *prepared; /* while its command runs again */

static void work_creation(background_job *job) {
    create((creation *)job);
}

/* What was prepared and not used is remembered, too: a client that tries again does not wait. */
static void end_creation(background_job *job) {
    creation *const one = (creation *)job;
    if (one->value != NULL) remember(one);
    background_free(one->value); /* if no key has it */
    redis_Free(one);
}

static int reply_creation(redis_ctx *ctx, redis_string **argv, int argc) {
    creation *const one = (creation *)background_of(ctx);
    prepared = one;
    int const result = one->handler(ctx, argv, argc);
    prepared = NULL;
    return result;
}

static bool create_later(key_handle *key, const creation *template) {
    creation *const one = redis_TryAlloc(sizeof *one);
    if (one == NULL) return false;
    *one = *template;
    one->job =
        (background_job){ .work = work_creation, .reply = reply_creation, .end = end_creation };
    if (background_block(key->ctx, &one->job)) {
        background_run(&one->job);
        return true;
    }
    redis_Free(one);
    return false;
}

/* ------------------------------------------------------------------ making */

static void give_to_key(key_handle *key, creation *one, value_recipe *ret_recipe) {
    key_set(key, one->value);
    one->value = NULL;
    *ret_recipe = one->recipe;
    key_replicate_part(key, ret_recipe);
    remember(one);
}

tamis_status creation_make(key_handle *key, creation_rule rule, value_recipe *recipe,
                           redis_handler *handler, tamis_problem *problem) {
    creation now = { .rule = rule, .handler = handler };
    if (settings.fixed_seed != 0 && !recipe->has_seed) {
        recipe->seed = (tamis_seed){ (uint64_t)settings.fixed_seed, 0 };
        recipe->has_seed = true;
    }
    now.asked = *recipe;
    bool const is_prepared =
        prepared != NULL && prepared->rule == rule && is_same_ask(&prepared->asked, recipe);
    creation *const        one = is_prepared ? prepared : &now;
    const known_ask *const before = is_prepared ? NULL : find_known(rule, recipe);
    if (is_prepared) prepared = NULL; /* it can be taken once */
    if (before != NULL) {
        now.used = chosen_for(before, recipe);
        create_used(&now);
    } else if (!is_prepared) {
        if (handler != NULL && create_later(key, &now)) return CREATED_LATER;
        create(&now);
    }
    if (one->status == TAMIS_OK && one->value != NULL) give_to_key(key, one, recipe);
    if (problem != NULL) *problem = one->problem;
    return one->status;
}
