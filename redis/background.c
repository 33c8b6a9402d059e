/* background.c - a few threads for long jobs. */
#include "background.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define LARGE \
    ((size_t)256 << 10) /* smaller values are decoded, or freed, in less than a millisecond */

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

/* Does another node serve this key by now? There is no function for it, but the server refuses
 * commands for such keys. */
static bool has_moved_away(redis_ctx *ctx, redis_string *key) {
    if ((redis_GetContextFlags(ctx) & REDIS_IS_CLUSTER) == 0) return false;
    errno = 0;
    redis_reply *const reply = redis_Call(ctx, "EXISTS", "s", key);
    if (reply == NULL) return errno == EPERM;
    redis_FreeCallReply(reply);
    return false;
}

bool background_refuse(redis_ctx *ctx, redis_string *key) {
    const char *why = NULL;
    if (redis_AvoidReplicaTraffic())
        why = "TRYAGAIN clients were paused while the command was prepared, as for a failover; "
              "nothing was changed";
    else if (has_moved_away(ctx, key))
        why = "TRYAGAIN the slot of the key was moved while the command was prepared; nothing was "
              "changed";
    if (why != NULL) (void)redis_ReplyWithError(ctx, why);
    return why != NULL;
}

static int reply_job(redis_ctx *ctx, redis_string **argv, int argc) {
    if (!background_of(ctx)->is_question && background_refuse(ctx, argv[1])) return REDIS_OK;
    return background_of(ctx)->reply(ctx, argv, argc);
}

bool background_block(redis_ctx *ctx, background_job *job) {
    if (!background_can_wait(ctx)) return false;
    job->client = redis_BlockClient(ctx, reply_job, NULL, end_job, 0);
    return job->client != NULL;
}

/* ------------------------------------------------------------------ threads */

/* A client can ask for as many jobs as it likes; it gets this many threads, and the rest wait. */
#define MAX_THREADS 4

typedef struct call {
    struct call *next;
    void (*function)(void *argument);
    void *argument;
} call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  has_come = PTHREAD_COND_INITIALIZER;
static call           *first_call, **last_call = &first_call;
static unsigned        threads, idle; /* idle ones are among the threads */

/* Threads are never ended: a module that has types stays loaded as long as the server runs. */
static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (first_call == NULL) {
            idle++;
            pthread_cond_wait(&has_come, &lock);
            idle--;
        }
        call *const one = first_call;
        first_call = one->next;
        if (first_call == NULL) last_call = &first_call;
        pthread_mutex_unlock(&lock);
        one->function(one->argument);
        redis_Free(one);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

/* With the lock: is there a thread that will come to the calls? */
static bool has_thread(void) {
    pthread_t thread;
    if (idle == 0 && threads < MAX_THREADS && pthread_create(&thread, NULL, serve, NULL) == 0) {
        (void)pthread_detach(thread);
        threads++;
    }
    return threads != 0;
}

void background_call(void (*function)(void *), void *argument) {
    call *const one = redis_TryAlloc(sizeof *one);
    pthread_mutex_lock(&lock);
    bool const is_taken = one != NULL && has_thread();
    if (is_taken) {
        *one = (call){ NULL, function, argument };
        *last_call = one;
        last_call = &one->next;
        pthread_cond_signal(&has_come);
    }
    pthread_mutex_unlock(&lock);
    if (is_taken) return;
    redis_Free(one);
    function(argument);
}

static void free_value(void *value) {
    value_free(value);
}

void background_free(tamis_value *value) {
    if (value != NULL && value_memory(value) >= LARGE)
        background_call(free_value, value);
    else
        value_free(value);
}

/* ------------------------------------------------------------------ jobs */

static void run_job(void *argument) {
    background_job *const job = argument;
    job->work(job);
    (void)redis_UnblockClient(job->client, job);
}

void background_run(background_job *job) {
    background_call(run_job, job);
}

/* ------------------------------------------------------------------ decoding */

static void free_decoding(void *argument) {
    decoding *const one = argument;
    buffer_free(&one->bytes);
    value_free(one->value);
    redis_Free(one);
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
