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

/* A WAIT behind the requests to a node. */
typedef struct round_wait {
    request_round *round;
    int            at;
    bool           is_sent;
} round_wait;

struct request_round {
    cluster       *nodes;
    round_request *requests;
    size_t         n;
    unsigned       replicas;
    bool           has_progress, has_trouble;
    unsigned       in_flight[MAX_NODES]; /* replies that are expected of each node */
    round_wait     waits[MAX_NODES];
    bool           has_done[MAX_NODES]; /* some requests are not safe yet */
    bool           is_deaf[MAX_NODES];  /* it did not connect in this turn: that took seconds */
};

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------------------------------------------------------------ trouble */

static void lose_request(round_request *one) {
    round_seen.sent_again++;
    freeReplyObject(one->reply);
    one->reply = NULL;
    one->is_sent = false;
}

/* Was it done by a node whose connection is gone, or is another one? The node may have been
 * restarted in between, without what it had done. Whoever drops a connection, this sees it. */
static bool is_lost(const request_round *now, const round_request *one) {
    if (one->reply == NULL) return false;
    const node *const at = &now->nodes->nodes[one->at];
    return at->link == NULL || at->connections != one->connection;
}

/* "MOVED 3999 127.0.0.1:6381": the node, or NO_NODE. */
static int node_of_redirect(request_round *now, int at, const char *text) {
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

/* Is it an error that goes away? Then the request is sent again. UNBLOCKED: the node became a
 * replica while the client waited. NOREPLICAS: a new master, with min-replicas-to-write, has none
 * yet. */
static bool is_redirected(request_round *now, round_request *one, const redisReply *reply) {
    static const char *const passing[] = { "TRYAGAIN",  "CLUSTERDOWN", "LOADING",    "MASTERDOWN",
                                           "UNBLOCKED", "READONLY",    "NOREPLICAS", "BUSY " };
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

/* ------------------------------------------------------------------ replies */

static void take_asking(void *who, redisReply *reply) {
    round_request *const one = who;
    one->round->in_flight[one->at]--;
    freeReplyObject(reply);
}

static void take_reply(void *who, redisReply *reply) {
    round_request *const one = who;
    request_round *const now = one->round;
    now->in_flight[one->at]--;
    one->is_sent = false;
    if (reply == NULL) {
        now->has_trouble = true;
        lose_request(one);
    } else if (is_redirected(now, one, reply)) {
        freeReplyObject(reply);
    } else {
        one->reply = reply;
        one->is_safe = now->replicas == 0;
        /* Only the first time: a node that replies and then fails, each time, is no progress. */
        now->has_progress = now->has_progress || !one->is_known;
        one->is_known = true;
    }
}

/* A login that may not send WAIT, or a proxy that does not know it: trying again does not help. */
static void refuse_wait(const node *one, const redisReply *reply) {
    if (reply->type != REDIS_REPLY_ERROR) return;
    if (begins(reply->str, "NOPERM") || begins(reply->str, "ERR unknown command"))
        die("%s:%d does not accept WAIT: %s. With --wait 0, changes do not wait for replicas",
            one->host, one->port, reply->str);
}

/* All that a node has done before a WAIT is safe when this many replicas have it. */
static void take_wait(void *who, redisReply *reply) {
    round_wait *const    wait = who;
    request_round *const now = wait->round;
    now->in_flight[wait->at]--;
    wait->is_sent = false;
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER) { /* it is gone, or a replica now */
        now->has_trouble = true;
        if (reply != NULL) {
            refuse_wait(&now->nodes->nodes[wait->at], reply);
            node_drop(&now->nodes->nodes[wait->at]);
        }
        freeReplyObject(reply);
        return;
    }
    bool const is_safe = reply->integer >= (long long)now->replicas;
    freeReplyObject(reply);
    for (size_t i = 0; i < now->n && is_safe; i++) {
        round_request *const one = &now->requests[i];
        if (one->at != wait->at || one->is_safe || one->reply == NULL || is_lost(now, one))
            continue;
        one->is_safe = now->has_progress = true;
    }
}

/* Read what the nodes owe to this round, and to those before it. */
static void read_all(request_round *now) {
    for (unsigned i = 0; i < now->nodes->n_nodes; i++) {
        while (now->in_flight[i] != 0) {
            if (!node_read(&now->nodes->nodes[i])) round_seen.lost_connections++;
        }
    }
}

/* ------------------------------------------------------------------ sending */

/* A node that did not connect is asked once in a turn; after it, there may be a new map. */
static bool is_reached(request_round *now, int at) {
    if (at == NO_NODE || now->is_deaf[at]) return false;
    now->is_deaf[at] = !node_connect(now->nodes, &now->nodes->nodes[at]);
    return !now->is_deaf[at];
}

static void send_one(request_round *now, round_request *one) {
    bool const is_asked = one->asked != NO_NODE;
    one->at = is_asked ? one->asked : now->nodes->owner[one->slot];
    one->asked = NO_NODE;
    if (!is_reached(now, one->at)) {
        now->has_trouble = true;
        return;
    }
    node *const to = &now->nodes->nodes[one->at];
    if (is_asked) {
        (void)redisAppendCommand(to->link, "ASKING");
        node_expect(to, take_asking, one);
    }
    (void)redisAppendCommandArgv(to->link, one->argc, one->argv, one->argv_bytes);
    node_expect(to, take_reply, one);
    now->in_flight[one->at] += 1 + is_asked;
    one->is_sent = true;
    one->connection = to->connections;
    now->has_done[one->at] = true;
}

static void send_waits(request_round *now) {
    for (unsigned i = 0; i < now->nodes->n_nodes; i++) {
        node *const to = &now->nodes->nodes[i];
        if (to->link == NULL || !now->has_done[i] || now->waits[i].is_sent) continue;
        (void)redisAppendCommand(to->link, "WAIT %u " WAIT_MS, now->replicas);
        now->waits[i] = (round_wait){ now, (int)i, true };
        node_expect(to, take_wait, &now->waits[i]);
        now->in_flight[i]++;
    }
}

/* Everything that is not safe and not on its way, to every node, before any reply is read. */
static void send_all(request_round *now) {
    memset(now->has_done, 0, sizeof now->has_done);
    memset(now->is_deaf, 0, sizeof now->is_deaf);
    for (size_t i = 0; i < now->n; i++) {
        round_request *const one = &now->requests[i];
        if (one->is_safe || one->is_sent) continue;
        if (is_lost(now, one)) lose_request(one);
        if (one->reply == NULL)
            send_one(now, one);
        else
            now->has_done[one->at] = true;
    }
    if (now->replicas != 0) send_waits(now);
    for (unsigned i = 0; i < now->nodes->n_nodes; i++) {
        node *const to = &now->nodes->nodes[i];
        if (to->link != NULL && now->has_done[i] && !node_flush(to)) round_seen.lost_connections++;
    }
}

/* ------------------------------------------------------------------ the round */

static bool is_over(const request_round *now) {
    for (size_t i = 0; i < now->n; i++) {
        if (!now->requests[i].is_safe) return false;
    }
    return true;
}

static _Noreturn void die_of_silence(const request_round *now) {
    size_t undone = 0, unsafe = 0;
    for (size_t i = 0; i < now->n; i++) {
        undone += now->requests[i].reply == NULL;
        unsafe += now->requests[i].reply != NULL && !now->requests[i].is_safe;
    }
    if (undone == 0)
        die("%zu %s done, but in a minute %u %s did not confirm that; --wait 0 does not wait for "
            "it",
            unsafe, unsafe == 1 ? "request was" : "requests were", now->replicas,
            now->replicas == 1 ? "replica" : "replicas");
    die("%zu %s not answered in a minute: is a node down, and has no replica taken over?", undone,
        undone == 1 ? "request was" : "requests were");
}

request_round *round_start(cluster *nodes, round_request *requests, size_t n, unsigned replicas) {
    request_round *const now = calloc(1, sizeof *now);
    if (now == NULL) die("not enough memory");
    now->nodes = nodes;
    now->requests = requests;
    now->n = n;
    now->replicas = replicas;
    for (size_t i = 0; i < n; i++) {
        requests[i].reply = NULL;
        requests[i].is_safe = requests[i].is_known = requests[i].is_sent = false;
        requests[i].at = requests[i].asked = NO_NODE;
        requests[i].round = now;
    }
    send_all(now);
    return now;
}

/* The first turn was sent by round_start(). */
void round_finish(request_round *now) {
    double last = seconds_now();
    read_all(now);
    while (!is_over(now)) {
        if (now->has_progress) last = seconds_now();
        if (seconds_now() - last > PATIENCE_SECONDS) die_of_silence(now);
        if (now->has_trouble) {
            struct timespec const pause = { 0, PAUSE_MS * 1000000L };
            (void)nanosleep(&pause, NULL);
            (void)cluster_refresh(now->nodes);
        }
        now->has_progress = now->has_trouble = false;
        send_all(now);
        read_all(now);
    }
    free(now);
}

void round_run(cluster *nodes, round_request *requests, size_t n, unsigned replicas) {
    round_finish(round_start(nodes, requests, n, replicas));
}
