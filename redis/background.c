/* background.c - a thread for each long job. */
#include "background.h"

#include <pthread.h>
#include <string.h>

#define LARGE ((size_t)256 << 10) /* smaller values are decoded in less than a millisecond */

bool background_can_wait(redis_ctx *ctx) {
    int const never = REDIS_DENIES_BLOCKING | REDIS_IS_MULTI | REDIS_IS_LUA | REDIS_IS_LOADING |
                      REDIS_IS_REPLICATED;
    return (redis_GetContextFlags(ctx) & never) == 0 && !redis_IsBlockedReplyRequest(ctx);
}

static void end_job(redis_ctx *ctx, void *job) {
    (void)ctx;
    ((background_job *)job)->end(job);
}

background_job *background_of(redis_ctx *ctx) {
    return redis_GetBlockedClientPrivateData(ctx);
}

bool background_refuse_in_pause(redis_ctx *ctx) {
    if (!redis_AvoidReplicaTraffic()) return false;
    (void)redis_ReplyWithError(ctx, "TRYAGAIN clients were paused while the command was prepared, "
                                    "as for a failover; nothing was changed");
    return true;
}

static int reply_job(redis_ctx *ctx, redis_string **argv, int argc) {
    if (background_refuse_in_pause(ctx)) return REDIS_OK;
    return background_of(ctx)->reply(ctx, argv, argc);
}

bool background_block(redis_ctx *ctx, background_job *job) {
    if (!background_can_wait(ctx)) return false;
    job->client = redis_BlockClient(ctx, reply_job, NULL, end_job, 0);
    return job->client != NULL;
}

static void *run_job(void *argument) {
    background_job *const job = argument;
    job->work(job);
    (void)redis_UnblockClient(job->client, job);
    return NULL;
}

void background_call(void *(*function)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) == 0)
        (void)pthread_detach(thread);
    else
        (void)function(argument);
}

void background_run(background_job *job) {
    background_call(run_job, job);
}

/* ------------------------------------------------------------------ decoding */

static void *free_decoding(void *argument) {
    decoding *const one = argument;
    buffer_free(&one->bytes);
    value_free(one->value);
    redis_Free(one);
    return NULL;
}

static void end_decoding(background_job *job) {
    decoding *const one = (decoding *)job;
    if (one->word != NULL) redis_FreeString(NULL, one->word); /* only the main thread may count */
    background_call(free_decoding, one);
}

static void work_decoding(background_job *job) {
    decoding *const one = (decoding *)job;
    one->decode(one);
}

static int reply_decoding(redis_ctx *ctx, redis_string **argv, int argc) {
    decoding *const one = (decoding *)background_of(ctx);
    key_handle      key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    (void)argc;
    one->finish(&key, one);
    key_close(&key);
    return REDIS_OK;
}

/* False: it must be done at once. */
static bool decode_later(redis_ctx *ctx, const decoding *template) {
    decoding *const one = template->source.bytes >= LARGE ? redis_TryAlloc(sizeof *one) : NULL;
    if (one == NULL) return false;
    *one = *template;
    one->job =
        (background_job){ .work = work_decoding, .reply = reply_decoding, .end = end_decoding };
    if (background_block(ctx, &one->job)) {
        if (one->word != NULL) redis_RetainString(NULL, one->word); /* the client may go away */
        background_run(&one->job);
        return true;
    }
    redis_Free(one);
    return false;
}

void background_decode(key_handle *key, decoding *template) {
    if (decode_later(key->ctx, template)) return;
    template->decode(template);
    template->finish(key, template);
    buffer_free(&template->bytes);
    value_free(template->value);
}
