/* redis_nodes.h - the nodes of a Redis cluster: who owns which slot, and connections to them. */
#ifndef CLI_REDIS_NODES_H
#define CLI_REDIS_NODES_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_SLOTS 16384
#define MAX_NODES 1024
#define NO_NODE (-1)

typedef struct node {
    char          host[256];
    int           port;
    redisContext *link;        /* NULL: not connected */
    unsigned      connections; /* so far: `link` is the one of this number */
} node;

typedef struct cluster {
    node     nodes[MAX_NODES];
    unsigned n_nodes;
    int16_t  owner[CLUSTER_SLOTS]; /* a node, or NO_NODE */
    bool     is_single;            /* a server without cluster mode owns all slots */
    char     error[200];           /* the last one that a node has replied instead of slots */
} cluster;

/* The slot of a key: of what is in its first braces, if there is something, else of all of it. */
unsigned slot_of_key(const char *key, size_t n);

/* Connect to "HOST:PORT" and learn the slots, or end the program. */
void cluster_open(cluster *ret_cluster, const char *address);
void cluster_close(cluster *nodes);

/* Ask any node that answers who owns the slots now. False: nobody knows. */
bool cluster_refresh(cluster *nodes);

/* The node with this address; it becomes known if it was not. NO_NODE: there are too many. */
int cluster_node(cluster *nodes, const char *host, int port);

/* Make sure that there is a connection. */
bool node_connect(node *one);
void node_drop(node *one);

#endif
