/* native_info.c - TAMIS.INFO and TAMIS.PLAN. */
#include "background.h"
#include "creation.h"
#include "native.h"
#include "requests.h"
#include "words.h"

#include <stdio.h>

#define SCAN_BELOW ((uint64_t)256 << 10) /* bodies that are read in well under a millisecond */
#define MAX_ROWS 48

/* ------------------------------------------------------------------ maps */

/* A map whose length is known when it is complete, in both protocols. */
typedef struct reply_map {
    redis_ctx *ctx;
    long       n;
} reply_map;

static void say_number(reply_map *map, const char *name, uint64_t number) {
    redis_ReplyWithSimpleString(map->ctx, name);
    redis_ReplyWithLongLong(map->ctx, (long long)number);
    map->n++;
}

/* In RESP2 a double is text with 17 digits; one that is not known is null. */
static void say_double(reply_map *map, const char *name, double number) {
    redis_ReplyWithSimpleString(map->ctx, name);
    if (isnan(number))
        redis_ReplyWithNull(map->ctx);
    else
        redis_ReplyWithDouble(map->ctx, number);
    map->n++;
}

static void say_text(reply_map *map, const char *name, const char *text) {
    redis_ReplyWithSimpleString(map->ctx, name);
    redis_ReplyWithSimpleString(map->ctx, text);
    map->n++;
}

/* ------------------------------------------------------------------ INFO */

/* What plan and contents say of a part. Without reading the body, the current error is unknown. */
typedef struct part_outlook {
    tamis_plan plan;
    double     error, fullness;
} part_outlook;

static part_outlook outlook_of_set(const tamis_set *set, const tamis_facts *facts, bool scans) {
    part_outlook outlook = { .error = NAN, .fullness = NAN };
    tamis_spec   spec = TAMIS_SPEC_INIT;
    tamis_info   info;
    size_t       n = 0;
    spec.like = set;
    if (tamis_plan_kinds(&spec, &outlook.plan, 1, &n, NULL) != TAMIS_OK || n == 0)
        outlook.plan.fpr = outlook.plan.overflow = NAN;
    if ((scans || facts->body_bytes <= SCAN_BELOW) && tamis_inspect(set, &info) == TAMIS_OK) {
        outlook.error = info.current_fpr;
        outlook.fullness = info.load;
    }
    return outlook;
}

static const char *family_name(value_family family) {
    static const char *const names[] = { "", "BF", "CF", "set", "states" };
    return names[family];
}

/* Sums over the parts; `facts` are those of the newest. */
typedef struct part_sums {
    tamis_facts facts;
    uint64_t    refused_adds, refused_removes, saturated, bytes;
    double      predicted, current, fullness, overflow;
} part_sums;

static part_sums sum_parts(const tamis_value *value, bool scans) {
    part_sums sums = { .facts = { .kind = "" }, .refused_removes = value->refused };
    for (unsigned i = 0; i < value->n_parts; i++) {
        const tamis_set *const set = value->parts[i].set;
        if (tamis_get_facts(set, &sums.facts) != TAMIS_OK) continue;
        part_outlook const outlook = outlook_of_set(set, &sums.facts, scans);
        sums.predicted += outlook.plan.fpr;
        sums.current += outlook.error;
        sums.overflow += outlook.plan.overflow;
        sums.fullness = outlook.fullness;
        sums.refused_adds += sums.facts.refused_adds;
        sums.refused_removes += sums.facts.refused_removes;
        sums.saturated += sums.facts.saturated;
        sums.bytes += sums.facts.body_bytes;
    }
    return sums;
}

static void info_set(reply_map *map, const tamis_value *value, bool scans) {
    part_sums const          sums = sum_parts(value, scans);
    const tamis_facts *const facts = &sums.facts;
    char                     seed[40];
    (void)snprintf(seed, sizeof seed, "%016llx%016llx", (unsigned long long)facts->seed.high,
                   (unsigned long long)facts->seed.low);
    say_text(map, "kind", facts->kind);
    say_text(map, "seed", seed);
    say_number(map, "parts", value->n_parts);
    if (facts->parts != 0) {
        say_number(map, "part of set", facts->part);
        say_number(map, "parts of set", facts->parts);
    }
    if (value->requests != NULL) say_number(map, "request clients", value->requests->n);
    say_number(map, "capacity", facts->capacity);
    say_number(map, "grow to", facts->grow_to);
    say_number(map, "stage", facts->stage);
    say_number(map, "stages", facts->stages);
    say_number(map, "growing", facts->is_growing);
    say_number(map, "keys", value->items);
    say_number(map, "counts to", facts->count_to);
    say_double(map, "asked error", value->error);
    say_double(map, "predicted error", sums.predicted);
    say_double(map, "current error", sums.current);
    say_double(map, "fullness", sums.fullness);
    say_double(map, "overflow probability", sums.overflow);
    say_number(map, "refused adds", sums.refused_adds);
    say_number(map, "refused removals", sums.refused_removes);
    say_number(map, "saturated", sums.saturated);
    say_number(map, "body bytes", sums.bytes);
    say_double(map, "bits per key of capacity",
               facts->capacity != 0 ? 8.0 * (double)sums.bytes / (double)facts->capacity : NAN);
}

static void info_states(reply_map *map, const tamis_value *value, bool scans) {
    tamis_states_facts facts;
    tamis_states_spec  spec = TAMIS_STATES_SPEC_INIT;
    tamis_states_info  info;
    tamis_plan         plan;
    size_t             n = 0;
    uint64_t           least = 0, most = 0;
    if (tamis_states_get_facts(value->states, &facts) != TAMIS_OK) return;
    spec.like = value->states;
    bool const is_planned =
        tamis_states_plan_kinds(&spec, &plan, 1, &n, NULL) == TAMIS_OK && n == 1;
    bool const is_read = (scans || facts.body_bytes <= SCAN_BELOW) &&
                         tamis_states_inspect(value->states, &info) == TAMIS_OK;
    say_text(map, "kind", facts.kind);
    say_number(map, "capacity", facts.capacity);
    say_number(map, "grow to", facts.grow_to);
    say_number(map, "stage", facts.stage);
    say_number(map, "stages", facts.stages);
    say_number(map, "values", facts.values);
    say_number(map, "keys", facts.keys);
    say_double(map, "asked error", value->error);
    say_double(map, "predicted error", is_planned ? plan.fpr : NAN);
    say_double(map, "current error", is_read ? info.current_fpr : NAN);
    say_double(map, "overflow probability", is_planned ? plan.overflow : NAN);
    say_number(map, "refused", facts.refused);
    say_number(map, "conflicts", facts.conflicts);
    say_number(map, "timed out", facts.aged);
    say_number(map, "backlog", facts.backlog);
    say_number(map, "tick milliseconds", value->tick_ms);
    if (value->timeout != 0 && tamis_states_timeout(&spec, 0, &least, &most, NULL) == TAMIS_OK) {
        say_number(map, "stays at least milliseconds", least * value->tick_ms);
        say_number(map, "gone after milliseconds", (most + 1) * value->tick_ms);
    }
    say_number(map, "body bytes", facts.body_bytes);
}

int set_info(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 2 || argc > 3) return redis_WrongArity(ctx);
    bool const scans = argc == 3 && word_is(argv[2], "SCAN");
    if (argc == 3 && !scans) return redis_ReplyWithError(ctx, "ERR syntax error");
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = key.value;
    reply_map                map = { .ctx = ctx };
    if (key.is_foreign) {
        redis_ReplyWithError(ctx, WRONG_TYPE);
    } else if (value == NULL) {
        redis_ReplyWithNull(ctx);
    } else {
        redis_ReplyWithMap(ctx, REDIS_POSTPONED_LENGTH);
        say_text(&map, "family", family_name(value->family));
        say_number(&map, "memory", value_memory(value));
        if (value->states != NULL)
            info_states(&map, value, scans);
        else
            info_set(&map, value, scans);
        redis_ReplySetMapLength(ctx, map.n);
    }
    key_close(&key);
    return REDIS_OK;
}

/* ------------------------------------------------------------------ PLAN */

static void plan_row(redis_ctx *ctx, const tamis_plan *plan) {
    reply_map map = { .ctx = ctx };
    redis_ReplyWithMap(ctx, REDIS_POSTPONED_LENGTH);
    say_text(&map, "kind", plan->kind);
    say_text(&map, "status", plan->status == TAMIS_OK ? "OK" : tamis_status_text(plan->status));
    if (plan->status == TAMIS_OK) {
        say_number(&map, "chosen", plan->chosen);
        say_number(&map, "capacity", plan->capacity);
        say_number(&map, "bytes", plan->body_bytes);
        say_double(&map, "bits per key", plan->bits_per_key);
        say_double(&map, "error", plan->fpr);
        say_double(&map, "overflow probability", plan->overflow);
        say_double(&map, "saturation probability", plan->saturation);
        if (plan->peak_bytes != 0) say_number(&map, "peak bytes", plan->peak_bytes);
    }
    redis_ReplySetMapLength(ctx, map.n);
}

static tamis_status plan_states(const value_recipe *recipe, tamis_plan *rows, size_t *ret_n,
                                tamis_problem *problem) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    spec.capacity = recipe->capacity;
    spec.grow_to = recipe->grow_to;
    spec.fpr = recipe->fpr;
    spec.values = recipe->values;
    spec.timeout = recipe->timeout;
    spec.kind = recipe->kind[0] != 0 ? recipe->kind : NULL;
    return recipe->grow_to != 0 ? tamis_states_plan_stages(&spec, rows, MAX_ROWS, ret_n, problem)
                                : tamis_states_plan_kinds(&spec, rows, MAX_ROWS, ret_n, problem);
}

/* As RESERVE does it: if the kind that was named cannot remove or merge, it is planned without. */
static tamis_status plan_set(const value_recipe *recipe, tamis_plan *rows, size_t *ret_n,
                             tamis_problem *problem) {
    tamis_spec   spec = value_spec(recipe);
    tamis_status status = TAMIS_ERR_CANNOT;
    bool         is_refused = true;
    for (unsigned i = 0; is_refused && creation_abilities(recipe->abilities, i, &spec.abilities);
         i++) {
        status = recipe->grow_to != 0 ? tamis_plan_stages(&spec, rows, MAX_ROWS, ret_n, problem)
                                      : tamis_plan_kinds(&spec, rows, MAX_ROWS, ret_n, problem);
        is_refused = status == TAMIS_ERR_CANNOT ||
                     (status == TAMIS_OK && *ret_n == 1 && rows[0].status == TAMIS_ERR_CANNOT);
    }
    return status;
}

/* Is VALUES among the words? Then the plan is of states, which have fewer words. */
static bool is_about_states(redis_string **argv, int argc) {
    for (int i = 1; i < argc; i++) {
        if (word_is(argv[i], "VALUES")) return true;
    }
    return false;
}

/* A plan on its way. All kinds take some 11 ms, too long for the main thread. */
typedef struct planning {
    background_job job; /* first */
    value_recipe   recipe;
    tamis_plan     rows[MAX_ROWS];
    size_t         n;
    tamis_status   status;
    tamis_problem  problem;
} planning;

static void work_planning(background_job *job) {
    planning *const one = (planning *)job;
    one->status = one->recipe.values != 0
                      ? plan_states(&one->recipe, one->rows, &one->n, &one->problem)
                      : plan_set(&one->recipe, one->rows, &one->n, &one->problem);
}

/* A row for each kind; with GROWTO a row for each stage of the kind that is taken. */
static int reply_rows(redis_ctx *ctx, const planning *one) {
    size_t const n = one->n < MAX_ROWS ? one->n : MAX_ROWS;
    if (one->status != TAMIS_OK) return native_reply_problem(ctx, one->status, &one->problem);
    redis_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++) plan_row(ctx, &one->rows[i]);
    return REDIS_OK;
}

static int reply_planning(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argv, (void)argc;
    return reply_rows(ctx, (const planning *)background_of(ctx));
}

static void end_planning(background_job *job) {
    redis_Free(job);
}

/* In a thread, or at once where the client cannot wait. */
static int reply_with_plan(redis_ctx *ctx, const value_recipe *recipe) {
    planning *const one = redis_TryAlloc(sizeof *one);
    if (one == NULL) return redis_ReplyWithError(ctx, "ERR Insufficient memory");
    one->job = (background_job){
        .is_question = true, .work = work_planning, .reply = reply_planning, .end = end_planning
    };
    one->recipe = *recipe;
    one->n = 0;
    one->problem = (tamis_problem){ .status = TAMIS_OK };
    if (background_block(ctx, &one->job)) {
        background_run(&one->job);
        return REDIS_OK;
    }
    work_planning(&one->job);
    int const result = reply_rows(ctx, one);
    redis_Free(one);
    return result;
}

/* TAMIS.PLAN ERROR e CAPACITY n ... */
int set_plan(redis_ctx *ctx, redis_string **argv, int argc) {
    native_wish       wish;
    const char *const wrong = native_read_wish(argv, argc, 1, is_about_states(argv, argc), &wish);
    if (wrong != NULL) return redis_ReplyWithError(ctx, wrong);
    if (wish.like != NULL) return redis_ReplyWithError(ctx, "ERR PLAN needs no key");
    if (wish.recipe.timeout != 0 && wish.recipe.values == 0) wish.recipe.values = 2;
    return reply_with_plan(ctx, &wish.recipe);
}
