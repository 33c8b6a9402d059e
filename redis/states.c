/* states.c - TAMIS.STATE.*: items that have a value, and may leave when they are silent. */
#include "hold.h"
#include "native.h"
#include "words.h"

#include <stdlib.h>

int states_reserve(redis_ctx *ctx, redis_string **argv, int argc) {
    native_wish wish;
    if (argc < 4) return redis_WrongArity(ctx);
    const char *const problem = native_read_wish(argv, argc, 2, true, &wish);
    return problem != NULL ? redis_ReplyWithError(ctx, problem)
                           : native_reserve(ctx, argv, &wish, FAMILY_STATES);
}

/* The table of an open key, or NULL and an error was replied. */
static tamis_states *need_states(const key_handle *key) {
    if (key_is_wrong(key, FAMILY_STATES))
        redis_ReplyWithError(key->ctx, WRONG_TYPE);
    else if (key->value == NULL)
        redis_ReplyWithError(key->ctx, "ERR no such key: make it with TAMIS.STATE.RESERVE");
    else
        return key->value->states;
    return NULL;
}

/* What became of an item: OK, or the reason why nothing was done. */
static void reply_status(redis_ctx *ctx, tamis_status status) {
    switch (status) {
    case TAMIS_OK: redis_ReplyWithSimpleString(ctx, "OK"); break;
    case TAMIS_ERR_ABSENT: redis_ReplyWithSimpleString(ctx, "ABSENT"); break;
    case TAMIS_ERR_UNKNOWN: redis_ReplyWithSimpleString(ctx, "UNKNOWN"); break;
    case TAMIS_ERR_CONFLICT: redis_ReplyWithSimpleString(ctx, "CONFLICT"); break;
    case TAMIS_ERR_FULL: redis_ReplyWithSimpleString(ctx, "FULL"); break;
    case TAMIS_ERR_MEMORY: redis_ReplyWithError(ctx, "ERR Insufficient memory"); break;
    default: redis_ReplyWithError(ctx, "ERR there is no such value"); break;
    }
}

/* One change of one item: `from` and `to` where the command has them. */
typedef tamis_status state_change(tamis_states *states, tamis_key item, uint64_t from, uint32_t to);

static tamis_status change_move(tamis_states *states, tamis_key item, uint64_t from, uint32_t to) {
    return tamis_states_move(states, item.data, item.bytes, from, to);
}

static tamis_status change_touch(tamis_states *states, tamis_key item, uint64_t from, uint32_t to) {
    (void)from, (void)to;
    return tamis_states_touch(states, item.data, item.bytes);
}

static tamis_status change_drop(tamis_states *states, tamis_key item, uint64_t from, uint32_t to) {
    (void)to;
    return tamis_states_drop(states, item.data, item.bytes, from);
}

/* A command that changes items: what it is, and where its items begin. */
typedef struct change_command {
    redis_handler *handler;
    state_change  *change;
    int            first;
} change_command;

/* The same change to all items. */
static int change_all(redis_ctx *ctx, redis_string **argv, int argc, const change_command *command,
                      uint64_t from, uint32_t to) {
    key_handle          key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    tamis_states *const states = need_states(&key);
    int const           first = command->first;
    if (states != NULL && !hold_defer(&key, command->handler)) {
        redis_ReplyWithArray(ctx, argc - first);
        for (int i = first; i < argc; i++)
            reply_status(ctx, command->change(states, word_key(argv[i]), from, to));
        key.value->changes++;
        redis_ReplicateVerbatim(ctx);
        key_notify(&key, "tamis.state");
    }
    key_close(&key);
    return REDIS_OK;
}

/* "*" is any value. */
static bool read_from(const redis_string *word, uint64_t *ret_from) {
    if (word_is(word, "*")) {
        *ret_from = TAMIS_ANY_VALUE;
        return true;
    }
    return word_count(word, ret_from) && *ret_from <= UINT32_MAX;
}

static bool read_value(const redis_string *word, uint32_t *ret_value) {
    uint64_t number;
    if (!word_count(word, &number) || number > UINT32_MAX) return false;
    *ret_value = (uint32_t)number;
    return true;
}

/* Items with their values, from argv[from] to before argv[to]. */
static void replicate_pairs(const key_handle *key, redis_string **argv, int from, int to) {
    if (from < to)
        redis_Replicate(key->ctx, "TAMIS.STATE.PUT", "sv", key->name, argv + from,
                        (size_t)(to - from));
}

/* An item that was refused for want of memory is not replicated: a replica may have the memory, and
 * would have an item that its primary has not. All else is the same there, refusals included, and
 * they are counted. */
static void put_pairs(const key_handle *key, redis_string **argv, int argc) {
    redis_ctx *const ctx = key->ctx;
    int              told = 2; /* all before is replicated, or was refused */
    uint32_t         value = 0;
    redis_ReplyWithArray(ctx, (argc - 2) / 2);
    for (int i = 2; i < argc; i += 2) {
        tamis_key const item = word_key(argv[i]);
        (void)read_value(argv[i + 1], &value);
        tamis_status const status =
            tamis_states_put(key->value->states, item.data, item.bytes, value);
        reply_status(ctx, status);
        if (status != TAMIS_ERR_MEMORY) continue;
        replicate_pairs(key, argv, told, i);
        told = i + 2;
    }
    if (told == 2)
        redis_ReplicateVerbatim(ctx);
    else
        replicate_pairs(key, argv, told, argc);
}

/* TAMIS.STATE.PUT key item value [item value ...] */
int states_put(redis_ctx *ctx, redis_string **argv, int argc) {
    uint32_t value;
    if (argc < 4 || argc % 2 != 0) return redis_WrongArity(ctx);
    for (int i = 3; i < argc; i += 2) {
        if (!read_value(argv[i], &value))
            return redis_ReplyWithError(ctx, "ERR a value must be a number");
    }
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    if (need_states(&key) != NULL && !hold_defer(&key, states_put)) {
        put_pairs(&key, argv, argc);
        key.value->changes++;
        key_notify(&key, "tamis.state");
    }
    key_close(&key);
    return REDIS_OK;
}

int states_get(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis_WrongArity(ctx);
    key_handle                key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_states *const states = need_states(&key);
    if (states != NULL) redis_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc && states != NULL; i++) {
        tamis_key const    item = word_key(argv[i]);
        uint32_t           value;
        tamis_status const status = tamis_states_get(states, item.data, item.bytes, &value);
        if (status == TAMIS_OK)
            redis_ReplyWithLongLong(ctx, value);
        else if (status == TAMIS_ERR_ABSENT)
            redis_ReplyWithNull(ctx);
        else
            redis_ReplyWithSimpleString(ctx, "UNKNOWN");
    }
    key_close(&key);
    return REDIS_OK;
}

/* TAMIS.STATE.MOVE key from to item [item ...] */
int states_move(redis_ctx *ctx, redis_string **argv, int argc) {
    uint64_t from;
    uint32_t to;
    if (argc < 5) return redis_WrongArity(ctx);
    if (!read_from(argv[2], &from) || !read_value(argv[3], &to))
        return redis_ReplyWithError(ctx, "ERR a value must be a number, or * for any");
    return change_all(ctx, argv, argc, &(change_command){ states_move, change_move, 4 }, from, to);
}

int states_touch(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis_WrongArity(ctx);
    return change_all(ctx, argv, argc, &(change_command){ states_touch, change_touch, 2 }, 0, 0);
}

/* TAMIS.STATE.DROP key from item [item ...] */
int states_drop(redis_ctx *ctx, redis_string **argv, int argc) {
    uint64_t from;
    if (argc < 4) return redis_WrongArity(ctx);
    if (!read_from(argv[2], &from))
        return redis_ReplyWithError(ctx, "ERR a value must be a number, or * for any");
    return change_all(ctx, argv, argc, &(change_command){ states_drop, change_drop, 3 }, from, 0);
}

#define MAX_TALLY 65536

/* An array of numbers: how many items have value 0, 1, ... */
int states_tally(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle                key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_states *const states = need_states(&key);
    tamis_states_facts        facts;
    uint64_t                 *counts = NULL;
    if (states != NULL && tamis_states_get_facts(states, &facts) == TAMIS_OK) {
        if (facts.values <= MAX_TALLY) counts = redis_TryAlloc((size_t)facts.values * 8);
        if (counts == NULL || tamis_states_tally(states, counts) != TAMIS_OK) {
            redis_ReplyWithError(ctx, "ERR this table cannot be counted by values");
        } else {
            redis_ReplyWithArray(ctx, (long)facts.values);
            for (uint64_t i = 0; i < facts.values; i++)
                redis_ReplyWithLongLong(ctx, (long long)counts[i]);
        }
    }
    if (counts != NULL) redis_Free(counts);
    key_close(&key);
    return REDIS_OK;
}
