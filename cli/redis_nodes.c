/* redis_nodes.c - see redis_nodes.h. Debian's hiredis knows no clusters, so slots are learned here.
 */
#include "redis_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define CONNECT_MS 2000
#define ANSWER_SECONDS 30 /* a node that is silent for this long is treated as failed */

/* ------------------------------------------------------------------ slots */

/* CRC-16/XMODEM, bit by bit: names of keys are short. */
static unsigned crc16(const char *bytes, size_t n) {
    unsigned crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021u : 0)) & 0xffff;
    }
    return crc;
}

unsigned slot_of_key(const char *key, size_t n) {
    const char *const open = memchr(key, '{', n);
    if (open != NULL) {
        size_t const      left = n - (size_t)(open + 1 - key);
        const char *const shut = memchr(open + 1, '}', left);
        if (shut != NULL && shut != open + 1)
            return crc16(open + 1, (size_t)(shut - open - 1)) % CLUSTER_SLOTS;
    }
    return crc16(key, n) % CLUSTER_SLOTS;
}

/* ------------------------------------------------------------------ connections */

void node_drop(node *one) {
    if (one->link != NULL) redisFree(one->link);
    one->link = NULL;
    while (one->first < one->last) {
        expected_reply const lost = one->expected[one->first++];
        lost.take(lost.who, NULL);
    }
    one->first = one->last = 0;
}

/* A wrong password is not tried again. */
static bool log_in(const cluster *nodes, node *one) {
    if (nodes->password == NULL) return true;
    redisReply *const reply =
        nodes->user != NULL ? redisCommand(one->link, "AUTH %s %s", nodes->user, nodes->password)
                            : redisCommand(one->link, "AUTH %s", nodes->password);
    if (reply != NULL && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) != 0)
        die("%s:%d: %s", one->host, one->port, reply->str);
    bool const is_in = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return is_in;
}

/* NULL: the node does not answer. */
static redisContext *open_link(const cluster *nodes, const node *one) {
    struct timeval const connect = { CONNECT_MS / 1000, CONNECT_MS % 1000 * 1000 };
    redisContext        *link;
    if (nodes->tls != NULL) {
        int const plain = tls_connect(nodes->tls, one->host, one->port, CONNECT_MS);
        if (plain < 0) return NULL;
        link = redisConnectFd(plain);
    } else {
        link = redisConnectWithTimeout(one->host, one->port, connect);
    }
    if (link == NULL) die("not enough memory for a connection");
    return link;
}

bool node_connect(const cluster *nodes, node *one) {
    struct timeval const answer = { ANSWER_SECONDS, 0 };
    if (one->link != NULL) return true;
    one->connections++;
    one->link = open_link(nodes, one);
    if (one->link == NULL) return false;
    if (one->link->err == 0 && redisSetTimeout(one->link, answer) == REDIS_OK && log_in(nodes, one))
        return true;
    node_drop(one);
    return false;
}

void node_expect(node *one, reply_taker *take, void *who) {
    if (one->first == one->last) one->first = one->last = 0;
    if (one->last == one->room) {
        one->room = 2 * one->room + 64;
        one->expected = realloc(one->expected, one->room * sizeof *one->expected);
        if (one->expected == NULL) die("not enough memory for requests");
    }
    one->expected[one->last++] = (expected_reply){ take, who };
}

bool node_flush(node *one) {
    int is_done = 0;
    while (!is_done && one->link != NULL) {
        if (redisBufferWrite(one->link, &is_done) != REDIS_OK) node_drop(one);
    }
    return one->link != NULL;
}

bool node_read(node *one) {
    void *reply = NULL;
    if (redisGetReply(one->link, &reply) != REDIS_OK || reply == NULL) {
        node_drop(one);
        return false;
    }
    expected_reply const next = one->expected[one->first++];
    next.take(next.who, reply);
    return true;
}

int cluster_node(cluster *nodes, const char *host, int port) {
    unsigned i = 0;
    while (i < nodes->n_nodes &&
           (strcmp(nodes->nodes[i].host, host) != 0 || nodes->nodes[i].port != port))
        i++;
    if (i == MAX_NODES) return NO_NODE;
    if (i == nodes->n_nodes) {
        node *const one = &nodes->nodes[nodes->n_nodes++];
        (void)snprintf(one->host, sizeof one->host, "%s", host);
        one->port = port;
        one->link = NULL;
        one->connections = 0;
        one->expected = NULL;
        one->first = one->last = one->room = 0;
    }
    return (int)i;
}

/* ------------------------------------------------------------------ who owns what */

/* One range of CLUSTER SLOTS: first, last, [host, port, ...], replicas. A node that does not know
 * its own address leaves it empty: it is the one that was asked. */
static bool take_range(cluster *nodes, const redisReply *range, const char *asked_host) {
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3) return false;
    const redisReply *const *const part = (const redisReply *const *)range->element;
    if (part[2]->type != REDIS_REPLY_ARRAY || part[2]->elements < 2) return false;
    const redisReply *const host = part[2]->element[0];
    bool const              is_named = host->type == REDIS_REPLY_STRING && host->len != 0;
    int const               owner =
        cluster_node(nodes, is_named ? host->str : asked_host, (int)part[2]->element[1]->integer);
    if (owner == NO_NODE || part[0]->integer < 0 || part[1]->integer >= CLUSTER_SLOTS) return false;
    for (long long slot = part[0]->integer; slot <= part[1]->integer; slot++)
        nodes->owner[slot] = (int16_t)owner;
    return true;
}

/* Replicas become known, too: when all masters that we knew are gone, they can tell. */
static void take_replicas(cluster *nodes, const redisReply *range) {
    for (size_t i = 3; i < range->elements; i++) {
        const redisReply *const one = range->element[i];
        if (one->type != REDIS_REPLY_ARRAY || one->elements < 2) continue;
        const redisReply *const host = one->element[0];
        if (host->type == REDIS_REPLY_STRING && host->len != 0)
            (void)cluster_node(nodes, host->str, (int)one->element[1]->integer);
    }
}

static bool take_slots(cluster *nodes, int asked, const redisReply *reply) {
    char host[sizeof nodes->nodes[0].host];
    (void)snprintf(host, sizeof host, "%s", nodes->nodes[asked].host);
    if (reply->type == REDIS_REPLY_ERROR &&
        strstr(reply->str, "cluster support disabled") != NULL) {
        for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++) nodes->owner[slot] = (int16_t)asked;
        nodes->is_single = true;
        return true;
    }
    if (reply->type == REDIS_REPLY_ERROR)
        (void)snprintf(nodes->error, sizeof nodes->error, "%s", reply->str);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) return false;
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++) nodes->owner[slot] = NO_NODE;
    for (size_t i = 0; i < reply->elements; i++) {
        if (!take_range(nodes, reply->element[i], host)) return false;
        take_replicas(nodes, reply->element[i]);
    }
    return true;
}

static bool ask_node(cluster *nodes, int asked) {
    node *const one = &nodes->nodes[asked];
    while (one->link != NULL && one->first < one->last) (void)node_read(one); /* those before it */
    if (!node_connect(nodes, one)) return false;
    redisReply *const reply = redisCommand(one->link, "CLUSTER SLOTS");
    bool const        is_known = reply != NULL && take_slots(nodes, asked, reply);
    if (reply == NULL) node_drop(one);
    freeReplyObject(reply);
    return is_known;
}

/* A node that was cut off may answer with an old map: MOVED replies and the next refresh mend that.
 * Those with a connection are asked first: a dead one would make us wait. */
bool cluster_refresh(cluster *nodes) {
    static unsigned next; /* not always the same one: it may be the one that is wrong */
    unsigned const  n = nodes->n_nodes;
    for (unsigned i = 0; i < 2 * n; i++) {
        unsigned const at = (next + i) % n;
        if ((i < n) != (nodes->nodes[at].link != NULL)) continue;
        if (ask_node(nodes, (int)at)) {
            next = (at + 1) % n;
            return true;
        }
    }
    return false;
}

void cluster_open(cluster *nodes, const char *address) {
    char              host[256];
    const char *const colon = strrchr(address, ':');
    long const        port = colon != NULL ? strtol(colon + 1, NULL, 10) : 6379;
    size_t const      n = colon != NULL ? (size_t)(colon - address) : strlen(address);
    if (n == 0 || n >= sizeof host || port < 1 || port > 65535)
        die("--cluster %s: write HOST:PORT, as in 127.0.0.1:7000", address);
    memcpy(host, address, n);
    host[n] = '\0';
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++) nodes->owner[slot] = NO_NODE;
    (void)cluster_node(nodes, host, (int)port);
    if (!node_connect(nodes, &nodes->nodes[0])) die("no Redis server answers at %s", address);
    if (!cluster_refresh(nodes))
        die("%s: %s", address,
            nodes->error[0] != '\0' ? nodes->error : "it does not know the slots of its cluster");
}

void cluster_close(cluster *nodes) {
    for (unsigned i = 0; i < nodes->n_nodes; i++) {
        node_drop(&nodes->nodes[i]);
        free(nodes->nodes[i].expected);
    }
    tls_close(nodes->tls);
}
