/* merge.c - TAMIS.MERGE into from: at once, or in a thread that works on a copy.
 *
 * The command happens when it replies, as every command does. The thread only prepares that: it
 * copies `into`, and merges `from` into the copy, while both values are held (hold.h). Then the
 * main thread opens the keys again. If they still have these values, unchanged, the copy takes the
 * place of the set in `into`. Else (a transaction has changed one of them, a key was deleted,
 * renamed, flushed or replaced) the prepared copy is discarded, and the keys are merged as they
 * are now, or there is an error as for any command.
 *
 * A copy comes from the same account as the set, so MEMORY USAGE counts both until the end.
 */
#include "background.h"
#include "hold.h"
#include "native.h"

#define LARGE ((uint64_t)128 << 10) /* smaller ones are merged in less than a millisecond */

/* ------------------------------------------------------------------ at once */

static void count_merged(tamis_value *into, const tamis_value *from) {
    into->items += from->items;
    into->changes++;
    if (into->n_parts != 0) into->parts[0].prints += from->parts[0].prints; /* an upper bound */
}

/* Both are native sets, or both are states. */
static tamis_status check_pair(const tamis_value *into, const tamis_value *from) {
    if (into->family < FAMILY_SET || from->family != into->family ||
        (into->states != NULL) != (from->states != NULL))
        return TAMIS_ERR_MISMATCH;
    return into == from ? TAMIS_ERR_ARGUMENT : TAMIS_OK;
}

static tamis_status merge_now(tamis_value *into, tamis_value *from) {
    tamis_status status = check_pair(into, from);
    if (status != TAMIS_OK) return status;
    hold_wait(into);
    hold_wait(from);
    status = into->states != NULL ? tamis_states_merge(into->states, from->states)
                                  : tamis_merge(into->parts[0].set, from->parts[0].set);
    if (status == TAMIS_OK) count_merged(into, from);
    return status;
}

/* ------------------------------------------------------------------ in a thread */

typedef struct merge_job {
    background_job job;  /* first */
    hold_job       hold; /* values[0] is `into`, values[1] is `from` */
    bool           is_started;
    uint64_t       changes[2]; /* of both, when it began */
    tamis_status   status;
    tamis_set     *set; /* the merged copy, and later what it has replaced */
    tamis_states  *states;
} merge_job;

static void work_merge(background_job *job) {
    merge_job *const one = (merge_job *)job;
    tamis_value     *into = one->hold.values[0], *from = one->hold.values[1];
    if (into->states != NULL) {
        one->status = tamis_states_copy(into->states, &one->states);
        if (one->status == TAMIS_OK) one->status = tamis_states_merge(one->states, from->states);
    } else {
        one->status = tamis_copy(into->parts[0].set, &one->set);
        if (one->status == TAMIS_OK) one->status = tamis_merge(one->set, from->parts[0].set);
    }
    hold_was_read(into);
    hold_was_read(from);
}

static void start_merge(hold_job *hold) {
    merge_job *const one = (merge_job *)((char *)hold - offsetof(merge_job, hold));
    for (unsigned i = 0; i < 2; i++) {
        hold_begin(hold->values[i]);
        one->changes[i] = hold->values[i]->changes;
    }
    one->is_started = true;
    background_run(&one->job);
}

/* Are the keys as they were when the thread began? */
static bool is_unchanged(const merge_job *one, const tamis_value *into, const tamis_value *from) {
    return into == one->hold.values[0] && from == one->hold.values[1] &&
           into->changes == one->changes[0] && from->changes == one->changes[1];
}

/* The copy takes the place of the set; what it replaces is freed with the job. */
static tamis_status take_copy(merge_job *one, tamis_value *into, const tamis_value *from) {
    if (one->status != TAMIS_OK) return one->status;
    if (into->states != NULL) {
        tamis_states *const before = into->states;
        into->states = one->states;
        one->states = before;
    } else {
        tamis_set *const before = into->parts[0].set;
        into->parts[0].set = one->set;
        one->set = before;
    }
    count_merged(into, from);
    return TAMIS_OK;
}

/* Memory for a copy may be missing, and in place there may be enough. */
static tamis_status finish(merge_job *one, tamis_value *into, tamis_value *from) {
    bool const is_ready = one != NULL && one->status != TAMIS_ERR_MEMORY;
    return is_ready && is_unchanged(one, into, from) ? take_copy(one, into, from)
                                                     : merge_now(into, from);
}

/* These may be the last references, and freeing a large value takes long. */
static void free_merge(void *argument) {
    merge_job *const one = argument;
    tamis_free(one->set);
    tamis_states_free(one->states);
    value_free(one->hold.values[0]);
    value_free(one->hold.values[1]);
    redis_Free(one);
}

static void end_merge(background_job *job) {
    merge_job *const one = (merge_job *)job;
    for (unsigned i = 0; i < 2 && one->is_started; i++) hold_end(one->hold.values[i]);
    background_call(free_merge, one);
}

/* ------------------------------------------------------------------ the command */

static void merge_and_reply(redis_ctx *ctx, key_handle *key, const key_handle *other,
                            merge_job *one) {
    tamis_status const status = finish(one, key->value, other->value);
    if (status != TAMIS_OK) {
        native_reply_problem(ctx, status, NULL);
        return;
    }
    redis_ReplicateVerbatim(ctx);
    key_notify(key, "tamis.merge");
    redis_ReplyWithSimpleString(ctx, "OK");
}

static int reply_merge(redis_ctx *ctx, redis_string **argv, int argc);

/* False: it is small, or the client cannot wait. */
static bool merge_later(redis_ctx *ctx, tamis_value *into, tamis_value *from) {
    bool const is_small =
        value_memory(into) + value_memory(from) < LARGE && hold_is_free(into) && hold_is_free(from);
    if (is_small || check_pair(into, from) != TAMIS_OK) return false;
    merge_job *const one = redis_TryAlloc(sizeof *one);
    if (one == NULL) return false;
    *one = (merge_job){ .job = { .work = work_merge, .reply = reply_merge, .end = end_merge },
                        .hold = { .values = { into, from }, .start = start_merge } };
    if (!background_block(ctx, &one->job)) {
        redis_Free(one);
        return false;
    }
    value_share(into);
    value_share(from);
    hold_start(&one->hold);
    return true;
}

static int merge_keys(redis_ctx *ctx, redis_string **argv, merge_job *one) {
    key_handle key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    key_handle other = key_open(ctx, argv[2], KEY_FOR_READING);
    if (key.is_foreign || other.is_foreign)
        redis_ReplyWithError(ctx, WRONG_TYPE);
    else if (key.value == NULL || other.value == NULL)
        redis_ReplyWithError(ctx, "ERR no such key");
    else if (one != NULL || !merge_later(ctx, key.value, other.value))
        merge_and_reply(ctx, &key, &other, one);
    key_close(&other);
    key_close(&key);
    return REDIS_OK;
}

static int reply_merge(redis_ctx *ctx, redis_string **argv, int argc) {
    (void)argc;
    return merge_keys(ctx, argv, (merge_job *)background_of(ctx));
}

int set_merge(redis_ctx *ctx, redis_string **argv, int argc) {
    return argc != 3 ? redis_WrongArity(ctx) : merge_keys(ctx, argv, NULL);
}
