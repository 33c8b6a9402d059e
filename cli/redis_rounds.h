/* redis_rounds.h - a round of requests to many shards at once, until all of them are done.
 *
 * round_start() sends all requests of a round; round_finish() waits for the replies. Several rounds
 * may be on their way: a node replies in the order in which it was asked, and each reply finds the
 * round that it belongs to. What a node did not answer, or answered with MOVED, ASK or "try again",
 * is sent again, to the node that owns the slot then. With `replicas`, a round ends when this many
 * replicas have it: each node is told to WAIT behind the requests. If a node breaks before that,
 * all it has done in this round may be lost, and is sent again to its successor. So requests that
 * change something carry REQUEST client n: those that were not lost are not done twice. There is
 * one request of a client per shard on its way, so rounds that overlap have different clients.
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
    bool           is_sent;    /* and neither answered nor lost */
    int            at;         /* the node that has it, or did it */
    unsigned       connection; /* to that node, by its number */
    int            asked;      /* the node that an ASK has named, or NO_NODE */
    request_round *round;
} round_request;

/* The requests must stay where they are until the round is finished. */
request_round *round_start(cluster *nodes, round_request *requests, size_t n, unsigned replicas);

/* Ends the program if nothing goes on for a minute. */
void round_finish(request_round *round);

/* Both. */
void round_run(cluster *nodes, round_request *requests, size_t n, unsigned replicas);

/* What went wrong on the way, for the final report. */
typedef struct round_events {
    uint64_t redirected, lost_connections, sent_again;
} round_events;
extern round_events round_seen;

#endif
