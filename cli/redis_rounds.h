/* redis_rounds.h - a round of requests to many shards at once, until all of them are done.
 *
 * round_start() sends all requests of a round; round_finish() waits for the replies. Several rounds
 * may be on their way: a node replies in the order of its requests, so each reply is passed to the
 * round that it belongs to. If a node does not answer a request, or answers with MOVED, ASK or "try
 * again", the request is sent again, to the node that owns the slot then. With `replicas`, a round
 * ends when this many replicas have it: WAIT is sent to each node after the requests. If a node
 * fails before that, all its changes of this round may be lost, and the requests are sent again to
 * its successor. So requests that change something carry REQUEST client n: those that were not lost
 * are not done twice. At most one request of a client is on its way to a shard, so rounds that
 * overlap have different clients.
 */
#ifndef CLI_REDIS_ROUNDS_H
#define CLI_REDIS_ROUNDS_H

#include "redis_nodes.h"

typedef struct request_round request_round;

typedef struct round_request {
    unsigned     slot;
    int          argc;
    const char **argv;
    size_t      *argv_bytes;

    redisReply    *reply; /* NULL: not done. For freeReplyObject() */
    bool           is_safe;
    bool           is_known;   /* it had a reply, which may have been lost since */
    bool           is_sent;    /* and neither answered nor lost */
    int            at;         /* the node that has it, or did it */
    unsigned       connection; /* to that node, by its number */
    int            asked;      /* the node that an ASK has named, or NO_NODE */
    request_round *round;
} round_request;

/* The requests must stay where they are until the round is finished. */
request_round *round_start(cluster *nodes, round_request *requests, size_t n, unsigned replicas);

/* Ends the program if there is no progress for a minute. */
void round_finish(request_round *round);

/* Start and finish a round. */
void round_run(cluster *nodes, round_request *requests, size_t n, unsigned replicas);

/* Lost connections and repeated requests, for the final report. */
typedef struct round_events {
    uint64_t redirected, lost_connections, sent_again;
} round_events;
extern round_events round_seen;

#endif
