/* redis_mock_waiting.c - clients of the mock that wait for a thread.
 *
 * The thread that calls the targets acts as the server's main thread: it waits until a job says
 * that it is done, and then replies and ends the job, as a server does.
 */
#include "redis_mock_inside.h"

#include <pthread.h>

#define MAX_BLOCKED 8

struct RedisModuleBlockedClient {
    redis_handler *reply;
    void (*end)(redis_ctx *ctx, void *data);
    void *data;
    bool  is_used, is_ready;
};

static redis_blocked blocked[MAX_BLOCKED];
static void
    *private_data; /* of the client that gets the reply; NULL: a command that does not wait */
static bool            is_replying;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  is_ready = PTHREAD_COND_INITIALIZER;

static int context_flags(redis_ctx *ctx) {
    (void)ctx;
    return mock_server.can_block ? 0 : REDIS_DENIES_BLOCKING;
}

static int is_blocked_reply(redis_ctx *ctx) {
    (void)ctx;
    return is_replying;
}

static redis_blocked *block_client(redis_ctx *ctx, redis_handler *reply, redis_handler *timeout,
                                   void (*end)(redis_ctx *ctx, void *data), long long ms) {
    (void)ctx, (void)timeout, (void)ms;
    for (unsigned i = 0; i < MAX_BLOCKED; i++) {
        if (blocked[i].is_used) continue;
        blocked[i] = (redis_blocked){ .reply = reply, .end = end, .is_used = true };
        return &blocked[i];
    }
    return NULL;
}

/* May be called by any thread. */
static int unblock_client(redis_blocked *client, void *data) {
    (void)pthread_mutex_lock(&lock);
    client->data = data;
    client->is_ready = true;
    (void)pthread_cond_signal(&is_ready);
    (void)pthread_mutex_unlock(&lock);
    return REDIS_OK;
}

static void *get_private_data(redis_ctx *ctx) {
    (void)ctx;
    return private_data;
}

/* The next client that is ready; NULL: no client waits. */
static redis_blocked *next_ready(void) {
    for (;;) {
        bool is_waited_for = false;
        for (unsigned i = 0; i < MAX_BLOCKED; i++) {
            if (blocked[i].is_used && blocked[i].is_ready) return &blocked[i];
            is_waited_for = is_waited_for || blocked[i].is_used;
        }
        if (!is_waited_for) return NULL;
        (void)pthread_cond_wait(&is_ready, &lock);
    }
}

void mock_wait(redis_string **words, int n) {
    for (;;) {
        (void)pthread_mutex_lock(&lock);
        redis_blocked *const found = next_ready();
        redis_blocked const  one = found != NULL ? *found : (redis_blocked){ .is_used = false };
        if (found != NULL) found->is_used = false;
        (void)pthread_mutex_unlock(&lock);
        if (found == NULL) return;
        private_data = one.data;
        is_replying = true;
        (void)one.reply(&mock_server.context, words, n);
        is_replying = false;
        one.end(&mock_server.context, one.data);
        private_data = NULL;
    }
}

const mock_function mock_functions_of_waiting[] = {
    MOCK_FUNCTION(GetContextFlags, context_flags),
    MOCK_FUNCTION(IsBlockedReplyRequest, is_blocked_reply),
    MOCK_FUNCTION(BlockClient, block_client),
    MOCK_FUNCTION(UnblockClient, unblock_client),
    MOCK_FUNCTION(GetBlockedClientPrivateData, get_private_data),
    { NULL, NULL },
};
