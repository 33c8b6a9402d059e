/* native.c - TAMIS.*: one set for a key, with all that the library offers. */
#include "native.h"

#include "background.h"
#include "bf.h"
#include "clock.h"
#include "codec.h"
#include "creation.h"
#include "hold.h"
#include "items.h"
#include "requests.h"
#include "types.h"
#include "words.h"

#include <stdio.h>

/* ------------------------------------------------------------------ making */

static int reserve_like(redis_ctx *ctx, key_handle *key, const native_wish *wish,
                        value_family family) {
    key_handle               other = key_open(ctx, wish->like, KEY_FOR_READING);
    const tamis_value *const from = key_family(&other, family);
    tamis_value             *made = NULL;
    if (key_is_wrong(&other, family))
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (from == NULL)
        redis_ReplyWithError(ctx, "ERR the key after LIKE does not exist");
    else if (!native_is_like(wish, from))
        redis_ReplyWithError(ctx, "ERR the key after LIKE was made with other words");
    else if (value_create_like(from, &made) != TAMIS_OK)
        redis_ReplyWithError(ctx, "ERR Insufficient memory");
    else {
        key_set(key, made);
        redis_ReplicateVerbatim(ctx);
        redis_ReplyWithSimpleString(ctx, "OK");
    }
    key_close(&other);
    return REDIS_OK;
}

int native_reserve(redis_ctx *ctx, redis_string **argv, const native_wish *wish,
                   value_family family) {
    key_handle    key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    bool const    is_there = key.value != NULL || key.is_foreign;
    value_recipe  recipe = wish->recipe;
    tamis_problem problem = { .status = TAMIS_OK };
    recipe.family = family;
    if (is_there) {
        redis_ReplyWithError(ctx, "ERR the key exists already");
    } else if (wish->like != NULL) {
        reserve_like(ctx, &key, wish, family);
    } else {
        bool const         is_set = family == FAMILY_SET;
        tamis_status const status =
            creation_make(&key, is_set ? CREATE_SET : CREATE_AS_TOLD, &recipe,
                          is_set ? set_reserve : states_reserve, &problem);
        if (status == TAMIS_OK)
            redis_ReplyWithSimpleString(ctx, "OK");
        else if (status != CREATED_LATER)
            native_reply_problem(ctx, status, &problem);
    }
    if (!is_there && key.value != NULL) key_notify(&key, "tamis.reserve");
    key_close(&key);
    return REDIS_OK;
}

int set_reserve(redis_ctx *ctx, redis_string **argv, int argc) {
    native_wish wish;
    if (argc < 4) return redis_WrongArity(ctx);
    const char *const problem = native_read_wish(argv, argc, 2, false, &wish);
    return problem != NULL ? redis_ReplyWithError(ctx, problem)
                           : native_reserve(ctx, argv, &wish, FAMILY_SET);
}

/* ------------------------------------------------------------------ items */

/* The value of an open key, or NULL and an error was replied. */
static tamis_value *need_set(const key_handle *key) {
    if (key->is_foreign || (key->value != NULL && key->value->family == FAMILY_STATES))
        redis_ReplyWithError(key->ctx, WRONG_TYPE);
    else if (key->value == NULL)
        redis_ReplyWithError(key->ctx, "ERR no such key: make it with TAMIS.RESERVE");
    else
        return key->value;
    return NULL;
}

static bool timed_has(const tamis_value *value, tamis_key item) {
    uint32_t           ignored;
    tamis_status const status = tamis_states_get(value->states, item.data, item.bytes, &ignored);
    return status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN;
}

/* In a set with a timeout an add lets the timeout of the item begin again. */
static item_outcome add_timed(tamis_value *value, tamis_key item) {
    bool const         was_there = timed_has(value, item);
    tamis_status const status = tamis_states_put(value->states, item.data, item.bytes, 0);
    if (status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN) {
        value->changes++;
        return was_there ? DONE_AGAIN : DONE_NEW;
    }
    return status == TAMIS_ERR_FULL ? REFUSED_FULL : REFUSED_MEMORY;
}

static item_outcome add_item(tamis_value *value, tamis_key item) {
    return value->states != NULL ? add_timed(value, item)
                                 : value_add(value, value_hash(value, item));
}

static request_end end_of(item_outcome refused) {
    return refused == REFUSED_FULL        ? END_FULL
           : refused == REFUSED_ELSEWHERE ? END_PART
                                          : END_MEMORY;
}

/* Items that were added are told to replicas; the first that is refused ends the reply. */
static void add_items(key_handle *key, redis_string **items, int n, request *asked) {
    redis_ctx *const ctx = key->ctx;
    int const   most = asked->is_told && (int)asked->asked.done < n ? (int)asked->asked.done : n;
    request_end end = asked->is_told ? (request_end)asked->asked.end : END_WELL;
    int         i = 0;
    redis_ReplyWithArray(ctx, REDIS_POSTPONED_LENGTH);
    for (; i < most; i++) {
        item_outcome const done = add_item(key->value, word_key(items[i]));
        if (done != DONE_NEW && done != DONE_AGAIN) {
            end = end_of(done);
            break;
        }
        request_note(asked, i, done == DONE_NEW);
        redis_ReplyWithLongLong(ctx, done == DONE_NEW);
    }
    bool const is_as_told = asked->is_told && i == most; /* then an error would alarm a replica */
    bool const is_error = end != END_WELL && !is_as_told;
    if (is_error) redis_ReplyWithError(ctx, request_end_text(end));
    redis_ReplySetArrayLength(ctx, i + is_error);
    if (asked->client != NULL)
        request_finish(key, asked, end, i, items, n);
    else if (i == n)
        redis_ReplicateVerbatim(ctx);
    else if (i != 0)
        redis_Replicate(ctx, "TAMIS.ADD", "sv", key->name, items, (size_t)i);
    if (i != 0) key_notify(key, "tamis.add");
}

static bool can(const tamis_value *value, unsigned ability) {
    tamis_facts facts;
    return value->states == NULL && tamis_get_facts(value->parts[0].set, &facts) == TAMIS_OK &&
           (facts.abilities & ability) != 0;
}

/* 1: removed, 0: it was not there, -1: it is saturated and stays. */
static void remove_items(key_handle *key, redis_string **items, int n, request *asked) {
    bool has_changed = false;
    redis_ReplyWithArray(key->ctx, n);
    for (int i = 0; i < n; i++) {
        tamis_value *const value = key->value;
        item_outcome const done = value_remove(value, value_hash(value, word_key(items[i])));
        int const          reply = done == DONE_AGAIN ? 1 : done == SATURATED ? -1 : 0;
        has_changed = has_changed || done == DONE_AGAIN;
        request_note(asked, i, reply);
        redis_ReplyWithLongLong(key->ctx, reply);
    }
    if (asked->client != NULL)
        request_finish(key, asked, END_WELL, n, items, n);
    else
        redis_ReplicateVerbatim(key->ctx); /* refused removals are counted, too */
    if (has_changed) key_notify(key, "tamis.remove");
}

/* Why items of the set cannot be changed; NULL: they can. */
static const char *change_problem(const tamis_value *value, bool is_remove) {
    if (value->family != FAMILY_SET) return "ERR BF and CF keys are changed by BF.* and CF.*";
    if (!is_remove) return NULL;
    if (value->states != NULL) return "ERR a set with TIMEOUT cannot remove: its items expire";
    return can(value, TAMIS_CAN_REMOVE) ? NULL : "ERR a set of this kind cannot remove";
}

/* TAMIS.ADD and TAMIS.REMOVE: key [REQUEST client n ITEMS] item ... */
static int change_items(redis_ctx *ctx, redis_string **argv, int argc, bool is_remove) {
    request asked;
    int     first;
    if (argc < 3) return redis_WrongArity(ctx);
    const char *problem = request_read(ctx, argv, argc, is_remove, &asked, &first);
    if (problem != NULL) return redis_ReplyWithError(ctx, problem);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    const tamis_value *const value = need_set(&key);
    problem = value != NULL ? change_problem(value, is_remove) : NULL;
    if (problem != NULL)
        redis_ReplyWithError(ctx, problem);
    else if (value != NULL && !hold_defer(&key, is_remove ? set_remove : set_add) &&
             request_begin(&key, &asked)) {
        if (is_remove)
            remove_items(&key, argv + first, argc - first, &asked);
        else
            add_items(&key, argv + first, argc - first, &asked);
    }
    key_close(&key);
    return REDIS_OK;
}

int set_add(redis_ctx *ctx, redis_string **argv, int argc) {
    return change_items(ctx, argv, argc, false);
}

int set_remove(redis_ctx *ctx, redis_string **argv, int argc) {
    return change_items(ctx, argv, argc, true);
}

int set_has(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis_WrongArity(ctx);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = need_set(&key);
    value_family const       family = value != NULL ? value->family : FAMILY_SET;
    bool const               is_timed = value != NULL && value->states != NULL;
    if (is_timed) {
        redis_ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++)
            redis_ReplyWithBool(ctx, timed_has(value, word_key(argv[i])));
    }
    key_close(&key);
    return value != NULL && !is_timed ? items_exist(ctx, argv, argc, family) : REDIS_OK;
}

/* A saturated item has more copies than can be counted: then the reply is "MANY". */
static void reply_count(redis_ctx *ctx, uint64_t count) {
    if (count == TAMIS_COUNT_MANY)
        redis_ReplyWithSimpleString(ctx, "MANY");
    else
        redis_ReplyWithLongLong(ctx, (long long)count);
}

int set_count(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3) return redis_WrongArity(ctx);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = need_set(&key);
    if (value != NULL && !can(value, TAMIS_CAN_COUNT)) {
        redis_ReplyWithError(ctx, "ERR this set cannot count: make it with COUNTING");
    } else if (value != NULL) {
        redis_ReplyWithArray(ctx, argc - 2);
        for (int i = 2; i < argc; i++)
            reply_count(ctx, value_count(value, value_hash(value, word_key(argv[i]))));
    }
    key_close(&key);
    return REDIS_OK;
}

/* ------------------------------------------------------------------ whole sets */

int set_dump(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc != 2) return redis_WrongArity(ctx);
    key_handle               key = key_open(ctx, argv[1], KEY_FOR_READING);
    const tamis_value *const value = key.value;
    byte_buffer              file = { NULL, 0, 0 };
    tamis_status             status = TAMIS_OK;
    if (key.is_foreign) {
        redis_ReplyWithError(ctx, WRONG_TYPE);
    } else if (value == NULL) {
        redis_ReplyWithNull(ctx);
    } else if (value->n_parts > 1) {
        redis_ReplyWithError(ctx, "ERR it has several parts, and a file has one: use SCANDUMP");
    } else {
        status = value->states != NULL ? tamis_states_write(value->states, buffer_write, &file)
                                       : tamis_write(value->parts[0].set, buffer_write, &file);
        if (status == TAMIS_OK)
            redis_ReplyWithStringBuffer(ctx, file.bytes, file.n);
        else
            redis_ReplyWithError(ctx, "ERR Insufficient memory");
    }
    buffer_free(&file);
    key_close(&key);
    return REDIS_OK;
}

#define BUSY "BUSYKEY Target key name already exists."

/* A set, or else states without a timeout (a file does not say how long a tick is). */
static tamis_status read_file(tamis_key file, tamis_value **ret_value, tamis_problem *problem) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_value *const value = value_new(FAMILY_SET);
    if (value == NULL) return TAMIS_ERR_MEMORY;
    options.allocator = account_allocator(value->account);
    options.allocator_flags = ACCOUNT_FLAGS;
    tamis_status status =
        tamis_read(file.data, file.bytes, &options, &value->parts[0].set, problem);
    tamis_states_facts facts;
    tamis_facts        of_set;
    if (status == TAMIS_OK) {
        value->n_parts = 1;
        value->parts[0].limit = UINT64_MAX;
        status = tamis_get_facts(value->parts[0].set, &of_set);
        value->items = of_set.keys;
        value->capacity = of_set.capacity;
    } else if (status == TAMIS_ERR_KIND && tamis_states_read(file.data, file.bytes, &options,
                                                             &value->states, problem) == TAMIS_OK) {
        value->family = FAMILY_STATES;
        status = tamis_states_get_facts(value->states, &facts);
        value->capacity = facts.capacity;
        if (facts.timeout != 0) status = TAMIS_ERR_CANNOT;
    }
    if (status == TAMIS_OK)
        *ret_value = value;
    else
        value_free(value);
    return status;
}

static void decode_file(decoding *job) {
    tamis_problem      problem = { .status = TAMIS_OK };
    tamis_status const status = read_file(job->source, &job->value, &problem);
    if (status != TAMIS_OK) native_problem_text(status, &problem, job->text, sizeof job->text);
}

static void finish_file(key_handle *key, decoding *job) {
    bool const is_there = key->value != NULL || key->is_foreign;
    if (is_there && !job->replaces) {
        redis_ReplyWithError(key->ctx, BUSY);
    } else if (job->value == NULL) {
        redis_ReplyWithError(key->ctx, job->text);
    } else {
        if (is_there) redis_DeleteKey(key->key);
        key_set(key, job->value);
        job->value = NULL;
        redis_Replicate(key->ctx, "TAMIS.RESTORE", "ssc", key->name, job->word, "REPLACE");
        key_notify(key, "tamis.restore");
        redis_ReplyWithSimpleString(key->ctx, "OK");
    }
}

/* TAMIS.RESTORE key file [REPLACE] */
int set_restore(redis_ctx *ctx, redis_string **argv, int argc) {
    if (argc < 3 || argc > 4) return redis_WrongArity(ctx);
    bool const replaces = argc == 4 && word_is(argv[3], "REPLACE");
    if (argc == 4 && !replaces) return redis_ReplyWithError(ctx, "ERR syntax error");
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    decoding   job = { .source = word_key(argv[2]),
                       .word = argv[2],
                       .replaces = replaces,
                       .decode = decode_file,
                       .finish = finish_file };
    if ((key.value != NULL || key.is_foreign) && !replaces)
        redis_ReplyWithError(ctx, BUSY);
    else
        background_decode(&key, &job);
    key_close(&key);
    return REDIS_OK;
}
