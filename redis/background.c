/* background.c - a thread for each large value that comes in. */
#include "background.h"

#include <pthread.h>
#include <string.h>

#define LARGE ((size_t)1 << 20) /* smaller values are decoded in a few milliseconds */

static void decoding_free(decoding *job) {
    buffer_free(&job->bytes);
    value_free(job->value);
    redis_Free(job);
}

static void free_job(redis_ctx *ctx, void *job) {
    (void)ctx;
    decoding_free(job);
}

/* In the main thread again. */
static int reply_job(redis_ctx *ctx, redis_string **argv, int argc) {
    decoding *const job = redis_GetBlockedClientPrivateData(ctx);
    key_handle      key = key_open(ctx, argv[1], KEY_FOR_WRITING);
    (void)argc;
    job->finish(&key, job);
    key_close(&key);
    return REDIS_OK;
}

/* A decoding and the client that waits for it. */
typedef struct waiting_client {
    decoding      *job;
    redis_blocked *client;
} waiting_client;

static void *run_job(void *argument) {
    waiting_client const waiting = *(waiting_client *)argument;
    redis_Free(argument);
    waiting.job->decode(waiting.job);
    (void)redis_UnblockClient(waiting.client, waiting.job);
    return NULL;
}

static bool can_wait(redis_ctx *ctx) {
    int const never = REDIS_DENIES_BLOCKING | REDIS_IS_MULTI | REDIS_IS_LUA | REDIS_IS_LOADING |
                      REDIS_IS_REPLICATED;
    return (redis_GetContextFlags(ctx) & never) == 0;
}

/* False: no thread; then it is done at once. */
static bool start_thread(redis_ctx *ctx, decoding *job) {
    waiting_client *const waiting = redis_TryAlloc(sizeof *waiting);
    pthread_t             thread;
    if (waiting == NULL) return false;
    waiting->job = job;
    waiting->client = redis_BlockClient(ctx, reply_job, NULL, free_job, 0);
    if (waiting->client == NULL) {
        redis_Free(waiting);
        return false;
    }
    if (pthread_create(&thread, NULL, run_job, waiting) != 0) {
        (void)redis_AbortBlock(waiting->client);
        redis_Free(waiting);
        return false;
    }
    (void)pthread_detach(thread);
    return true;
}

void background_decode(key_handle *key, decoding *template) {
    redis_ctx *const ctx = key->ctx;
    decoding *const  job = redis_TryAlloc(sizeof *job);
    if (job != NULL) *job = *template;
    if (job != NULL && job->bytes.n >= LARGE && can_wait(ctx) && start_thread(ctx, job)) return;
    if (job != NULL) redis_Free(job);
    template->decode(template);
    template->finish(key, template);
    buffer_free(&template->bytes);
    value_free(template->value);
}
