/* redis_nodes.h - the nodes of a Redis cluster: who owns which slot, and connections to them. */
#ifndef CLI_REDIS_NODES_H
#define CLI_REDIS_NODES_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis_tls.h"

#define CLUSTER_SLOTS 16384
#define MAX_NODES 1024
#define NO_NODE (-1)

/* What becomes of a reply: it is the taker's. NULL: the connection is lost, and the reply with it.
 */
typedef void reply_taker(void *who, redisReply *reply);

typedef struct expected_reply {
    reply_taker *take;
    void        *who;
} expected_reply;

typedef struct node {
    char          host[256];
    int           port;
    redisContext *link;        /* NULL: not connected */
    unsigned      connections; /* so far: `link` is the one of this number */

    expected_reply *expected; /* in the order in which they come: expected[first .. last - 1] */
    size_t          first, last, room;
} node;

typedef struct cluster {
    node     nodes[MAX_NODES];
    unsigned n_nodes;
    int16_t  owner[CLUSTER_SLOTS]; /* a node, or NO_NODE */
    bool     is_single;            /* a server without cluster mode owns all slots */
    char     error[200];           /* the last one that a node has replied instead of slots */

    const char  *user, *password; /* for AUTH; NULL: none */
    tls_context *tls;             /* NULL: connections are plain */
} cluster;

/* The slot of a key: of what is in its first braces, if there is something, else of all of it. */
unsigned slot_of_key(const char *key, size_t n);

/* Connect to "HOST:PORT" and learn the slots, or end the program. `user`, `password` and `tls` are
 * set before. */
void cluster_open(cluster *nodes, const char *address);
void cluster_close(cluster *nodes);

/* Ask any node that answers who owns the slots now. False: no node has told it. */
bool cluster_refresh(cluster *nodes);

/* The node with this address; it becomes known if it was not. NO_NODE: there are too many. */
int cluster_node(cluster *nodes, const char *host, int port);

/* Make sure that there is a connection. */
bool node_connect(const cluster *nodes, node *one);

/* Close the connection. All replies that were expected are lost. */
void node_drop(node *one);

/* Register who gets the reply of the command that was just appended to the link. */
void node_expect(node *one, reply_taker *take, void *who);

/* Write what was appended. False: the connection is lost. */
bool node_flush(node *one);

/* Wait for the next reply, and pass it to its receiver. False: the connection is lost. */
bool node_read(node *one);

#endif
