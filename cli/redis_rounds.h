/* redis_rounds.h - a round of requests to many shards at once, until all of them are done.
 *
 * All requests of a round are sent before the first reply is read, node by node. What a node did
 * not answer, or answered with MOVED, ASK or "try again", is sent again, to whoever owns the slot
 * then. With `replicas`, a round ends when so many replicas have it: each node is told to WAIT. If
 * a node breaks before that, all it has done in this round may be lost, and is sent again to its
 * successor. So requests that change something carry REQUEST client n: those that were not lost are
 * not done twice. There is one request per shard in a round, so they arrive in order.
 */
#ifndef CLI_REDIS_ROUNDS_H
#define CLI_REDIS_ROUNDS_H

#include "redis_nodes.h"

typedef struct round_request {
    unsigned     slot;
    int          argc;
    const char **argv;
    size_t      *argv_bytes;

    redisReply *reply; /* NULL: not done. For freeReplyObject() */
    bool        is_safe;
    bool        is_sent;    /* in this turn */
    int         at;         /* the node that has it, or did it */
    unsigned    connection; /* to that node, by its number */
    int         asked;      /* the node that an ASK has named, or NO_NODE */
} round_request;

/* Ends the program if nothing goes on for a minute. */
void round_run(cluster *nodes, round_request *requests, size_t n, unsigned replicas);

/* What went wrong on the way, for tests and curious people. */
typedef struct round_events {
    uint64_t redirected, lost_connections, sent_again;
} round_events;
extern round_events round_seen;

#endif
