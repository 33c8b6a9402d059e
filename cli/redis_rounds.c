/* redis_rounds.c - see redis_rounds.h. */
#include "redis_rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"

#define PATIENCE_SECONDS 60.0
#define PAUSE_MS 50
#define WAIT_MS "1000"

round_events round_seen;

/* A round on its way. */
typedef struct turn {
    cluster       *nodes;
    round_request *requests;
    size_t         n;
    unsigned       replicas;
    bool           has_progress, has_trouble;
    bool           is_waiting[MAX_NODES]; /* a WAIT is behind its requests */
    bool           has_done[MAX_NODES];   /* something that is not safe yet */
    bool           is_deaf[MAX_NODES];    /* it did not connect in this turn: that took seconds */
} turn;

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------------------------------------------------------------ trouble */

static void lose_request(round_request *one) {
    if (one->reply != NULL || one->is_sent) round_seen.sent_again++;
    freeReplyObject(one->reply);
    one->reply = NULL;
    one->is_sent = false;
}

/* Was it done by a node whose connection is gone, or is another one? The node may have been
 * restarted in between, without what it had done. Whoever drops a connection, this sees it. */
static bool is_lost(const turn *now, const round_request *one) {
    if (one->reply == NULL) return false;
    const node *const at = &now->nodes->nodes[one->at];
    return at->link == NULL || at->connections != one->connection;
}

/* The connection is gone: whatever this node has done in this round may be lost with it. */
static void lose_node(turn *now, int at) {
    node_drop(&now->nodes->nodes[at]);
    now->has_trouble = true;
    now->is_waiting[at] = false;
    round_seen.lost_connections++;
    for (size_t i = 0; i < now->n; i++) {
        round_request *const one = &now->requests[i];
        if (one->at == at && !one->is_safe) lose_request(one);
    }
}

/* "MOVED 3999 127.0.0.1:6381": the node, or NO_NODE. */
static int node_of_redirect(turn *now, int at, const char *text) {
    unsigned          slot;
    char              address[256], host[256];
    const char *const host_before = now->nodes->nodes[at].host;
    if (sscanf(text, "%*s %u %255s", &slot, address) != 2) return NO_NODE;
    char *const colon = strrchr(address, ':');
    if (colon == NULL || slot >= CLUSTER_SLOTS) return NO_NODE;
    *colon = '\0';
    (void)snprintf(host, sizeof host, "%s", *address != '\0' ? address : host_before);
    return cluster_node(now->nodes, host, (int)strtol(colon + 1, NULL, 10));
}

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* Is it an error that goes away? Then the request is sent again. */
static bool is_redirected(turn *now, round_request *one, const redisReply *reply) {
    static const char *const passing[] = { "TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN",
                                           "READONLY" };
    if (reply->type != REDIS_REPLY_ERROR) return false;
    bool is_passing = false;
    if (begins(reply->str, "MOVED ")) {
        int const owner = node_of_redirect(now, one->at, reply->str);
        if (owner != NO_NODE) now->nodes->owner[one->slot] = (int16_t)owner;
        is_passing = true;
    } else if (begins(reply->str, "ASK ")) {
        one->asked = node_of_redirect(now, one->at, reply->str);
        round_seen.redirected++;
        return true; /* at once, and without a new map: the slot is on its way */
    }
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        is_passing = is_passing || begins(reply->str, passing[i]);
    if (is_passing) now->has_trouble = true;
    round_seen.redirected += is_passing;
    return is_passing;
}

/* ------------------------------------------------------------------ sending */

/* A node that did not connect is asked once in a turn; after it, there may be a new map. */
static bool is_reached(turn *now, int at) {
    if (at == NO_NODE || now->is_deaf[at]) return false;
    now->is_deaf[at] = !node_connect(&now->nodes->nodes[at]);
    return !now->is_deaf[at];
}

static void send_one(turn *now, round_request *one) {
    bool const is_asked = one->asked != NO_NODE;
    one->at = is_asked ? one->asked : now->nodes->owner[one->slot];
    if (!is_reached(now, one->at)) {
        one->asked = NO_NODE;
        now->has_trouble = true;
        return;
    }
    redisContext *const link = now->nodes->nodes[one->at].link;
    if (is_asked) (void)redisAppendCommand(link, "ASKING");
    (void)redisAppendCommandArgv(link, one->argc, one->argv, one->argv_bytes);
    one->is_sent = true;
    one->connection = now->nodes->nodes[one->at].connections;
    now->has_done[one->at] = true;
}

/* Write all that was appended, to every node, before any reply is read. */
static void flush_nodes(turn *now) {
    for (unsigned i = 0; i < now->nodes->n_nodes; i++) {
        redisContext *const link = now->nodes->nodes[i].link;
        int                 is_done = 0;
        if (link == NULL || !now->has_done[i]) continue;
        while (!is_done) {
            if (redisBufferWrite(link, &is_done) != REDIS_OK) {
                lose_node(now, (int)i);
                break;
            }
        }
    }
}

static void send_all(turn *now) {
    memset(now->has_done, 0, sizeof now->has_done);
    memset(now->is_waiting, 0, sizeof now->is_waiting);
    memset(now->is_deaf, 0, sizeof now->is_deaf);
    for (size_t i = 0; i < now->n; i++) {
        round_request *const one = &now->requests[i];
        one->is_sent = false;
        if (one->is_safe) continue;
        if (is_lost(now, one)) lose_request(one);
        if (one->reply == NULL)
            send_one(now, one);
        else
            now->has_done[one->at] = true;
    }
    for (unsigned i = 0; i < now->nodes->n_nodes && now->replicas != 0; i++) {
        redisContext *const link = now->nodes->nodes[i].link;
        if (link == NULL || !now->has_done[i]) continue;
        (void)redisAppendCommand(link, "WAIT %u " WAIT_MS, now->replicas);
        now->is_waiting[i] = true;
    }
    flush_nodes(now);
}

/* ------------------------------------------------------------------ replies */

/* The next reply of a node; NULL: it is lost. */
static redisReply *next_reply(turn *now, int at) {
    void *reply = NULL;
    if (redisGetReply(now->nodes->nodes[at].link, &reply) == REDIS_OK && reply != NULL)
        return reply;
    lose_node(now, at);
    return NULL;
}

static void read_one(turn *now, round_request *one) {
    redisReply *reply = next_reply(now, one->at);
    if (reply != NULL && one->asked != NO_NODE) { /* that of ASKING */
        freeReplyObject(reply);
        reply = next_reply(now, one->at);
    }
    one->asked = NO_NODE;
    if (reply == NULL) return;
    one->is_sent = false;
    if (is_redirected(now, one, reply)) {
        freeReplyObject(reply);
        return;
    }
    one->reply = reply;
    one->is_safe = now->replicas == 0;
    now->has_progress = true;
}

/* All that a node has done is safe when so many replicas have it. */
static void read_wait(turn *now, int at) {
    redisReply *const reply = next_reply(now, at);
    if (reply == NULL) return;
    bool const is_number = reply->type == REDIS_REPLY_INTEGER;
    bool const is_safe = is_number && reply->integer >= (long long)now->replicas;
    freeReplyObject(reply);
    if (!is_number) { /* it is a replica now */
        lose_node(now, at);
        return;
    }
    for (size_t i = 0; i < now->n && is_safe; i++) {
        round_request *const one = &now->requests[i];
        if (one->at != at || one->reply == NULL || one->is_safe) continue;
        one->is_safe = now->has_progress = true;
    }
}

static void read_all(turn *now) {
    for (size_t i = 0; i < now->n; i++) {
        if (now->requests[i].is_sent) read_one(now, &now->requests[i]);
    }
    for (unsigned i = 0; i < now->nodes->n_nodes; i++) {
        if (now->is_waiting[i]) read_wait(now, (int)i);
    }
}

/* ------------------------------------------------------------------ the round */

static bool is_over(const turn *now) {
    for (size_t i = 0; i < now->n; i++) {
        if (!now->requests[i].is_safe) return false;
    }
    return true;
}

static _Noreturn void die_of_silence(const turn *now) {
    size_t undone = 0, unsafe = 0;
    for (size_t i = 0; i < now->n; i++) {
        undone += now->requests[i].reply == NULL;
        unsafe += now->requests[i].reply != NULL && !now->requests[i].is_safe;
    }
    if (undone == 0)
        die("%zu %s done, but in a minute %u %s did not confirm that; --wait 0 does not ask for it",
            unsafe, unsafe == 1 ? "request was" : "requests were", now->replicas,
            now->replicas == 1 ? "replica" : "replicas");
    die("%zu %s not answered in a minute: is a node down, and has no replica taken over?", undone,
        undone == 1 ? "request was" : "requests were");
}

void round_run(cluster *nodes, round_request *requests, size_t n, unsigned replicas) {
    turn *const now = calloc(1, sizeof *now);
    double      last = seconds_now();
    if (now == NULL) die("not enough memory");
    *now = (turn){ .nodes = nodes, .requests = requests, .n = n, .replicas = replicas };
    for (size_t i = 0; i < n; i++) {
        requests[i].reply = NULL;
        requests[i].is_safe = requests[i].is_sent = false;
        requests[i].at = requests[i].asked = NO_NODE;
    }
    while (!is_over(now)) {
        now->has_progress = now->has_trouble = false;
        send_all(now);
        read_all(now);
        if (now->has_progress) last = seconds_now();
        if (seconds_now() - last > PATIENCE_SECONDS) die_of_silence(now);
        if (!now->has_trouble) continue;
        struct timespec const pause = { 0, PAUSE_MS * 1000000L };
        (void)nanosleep(&pause, NULL);
        (void)cluster_refresh(nodes);
    }
    free(now);
}
