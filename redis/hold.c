/* hold.c - who holds a value, and who waits for it. See hold.h. */
#include "hold.h"

#include "background.h"

#include <pthread.h>

/* `value->readers` is shared with the threads; `holds` and `promised` are the main thread's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  was_read = PTHREAD_COND_INITIALIZER;

/* A client whose command waits for a value. */
typedef struct waiter {
    struct waiter *next;
    tamis_value   *value; /* with a reference */
    redis_handler *handler;
    redis_blocked *client;
} waiter;

static waiter   *first_waiter, **last_waiter = &first_waiter;
static hold_job *first_job, **last_job = &first_job;

static void wake(void);

void hold_begin(tamis_value *value) {
    value_share(value);
    value->holds++;
    pthread_mutex_lock(&lock);
    value->readers++;
    pthread_mutex_unlock(&lock);
}

void hold_was_read(tamis_value *value) {
    pthread_mutex_lock(&lock);
    value->readers--;
    pthread_cond_broadcast(&was_read);
    pthread_mutex_unlock(&lock);
}

void hold_wait(tamis_value *value) {
    if (value->holds == 0) return;
    pthread_mutex_lock(&lock);
    while (value->readers != 0) pthread_cond_wait(&was_read, &lock);
    pthread_mutex_unlock(&lock);
}

void hold_end(tamis_value *value) {
    value->holds--;
    background_free(value);
    wake();
}

bool hold_is_free(const tamis_value *value) {
    return value->holds == 0 && value->promised == 0;
}

/* ------------------------------------------------------------------ those who wait */

/* The command was run again, or its client is gone. */
static void waiter_end(redis_ctx *ctx, void *data) {
    waiter *const one = data;
    (void)ctx;
    one->value->promised--;
    background_free(one->value);
    redis_Free(one);
    wake();
}

/* Commands first; a job begins when the commands that were promised their turn have run, so neither
 * can keep the other waiting for ever. */
static void wake_waiters(void) {
    waiter **at = &first_waiter;
    while (*at != NULL) {
        waiter *const one = *at;
        if (one->value->holds != 0) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->value->promised++;
        (void)redis_UnblockClient(one->client, one);
    }
    last_waiter = at;
}

static void wake_jobs(void) {
    hold_job **at = &first_job;
    while (*at != NULL) {
        hold_job *const one = *at;
        if (!hold_is_free(one->values[0]) || !hold_is_free(one->values[1])) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->start(one); /* holds both, or replies at once */
    }
    last_job = at;
}

static void wake(void) {
    wake_waiters();
    wake_jobs();
}

void hold_start(hold_job *job) {
    if (hold_is_free(job->values[0]) && hold_is_free(job->values[1])) {
        job->start(job);
        return;
    }
    job->next = NULL;
    *last_job = job;
    last_job = &job->next;
}

static int reply_waiter(redis_ctx *ctx, redis_string **argv, int argc) {
    const waiter *const one = redis_GetBlockedClientPrivateData(ctx);
    return background_refuse(ctx, argv[1]) ? REDIS_OK : one->handler(ctx, argv, argc);
}

static bool wait_for(key_handle *key, redis_handler *handler) {
    waiter *const one = redis_TryAlloc(sizeof *one);
    if (one == NULL) return false;
    *one = (waiter){ .value = key->value, .handler = handler };
    one->client = redis_BlockClient(key->ctx, reply_waiter, NULL, waiter_end, 0);
    if (one->client == NULL) {
        redis_Free(one);
        return false;
    }
    value_share(one->value);
    *last_waiter = one;
    last_waiter = &one->next;
    return true;
}

bool hold_defer(key_handle *key, redis_handler *handler) {
    if (key->value == NULL || key->value->holds == 0) return false;
    if (background_can_wait(key->ctx) && wait_for(key, handler)) return true;
    hold_wait(key->value);
    return false;
}
