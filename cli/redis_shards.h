/* redis_shards.h - one logical set over a cluster: P = 2^k keys, each a part of the set.
 *
 * Shard i is the key NAME:{t}:i. Its tag t is a number whose slot is among those from i / P to
 * (i + 1) / P of all slots: the first one, counted from a hash of NAME, so that not all sets use
 * the same slots. So shards are spread over the slots as evenly as they can be, and a node gets as
 * many of them as it has slots. NAME:tamis says what the set is like (redis_meta.h); a client that
 * knows the name can find the rest.
 */
#ifndef CLI_REDIS_SHARDS_H
#define CLI_REDIS_SHARDS_H

#include "options.h"
#include "redis_meta.h"
#include "redis_rounds.h"

#define SHARD_NAME_BYTES 320

typedef struct shard {
    char     key[SHARD_NAME_BYTES];
    unsigned slot;
} shard;

typedef struct shards {
    cluster     nodes;
    const char *name;
    unsigned    n; /* P; 0: the set does not exist */
    set_meta    meta;
    tamis_set  *hasher;
    shard      *all;
    unsigned    replicas;   /* that must have a change before it counts as done */
    char        client[31]; /* of REQUEST; each window adds its place */
} shards;

/* Connect, and find the set of the second operand. Any error ends the program. */
void shards_open(shards *ret_set, const options *asked);
void shards_need(const shards *set); /* end the program if it does not exist */
void shards_close(shards *set);

/* Say what a set that does not exist yet is going to be like; it is not whole before
 * shards_finish(). False: somebody else was faster, and the set is as that one makes it. */
bool shards_claim(shards *set, const set_meta *wanted);
void shards_finish(shards *set);

/* One command to one key; the reply is for freeReplyObject(). */
redisReply *shards_ask(shards *set, const char *key, int argc, const char **argv,
                       const size_t *argv_bytes, unsigned replicas);

/* The same command to every shard, in one round: argv[1] is left for the key, and with `has_part`
 * the words PART i P follow. Reply i is that of shard i; free them together. */
round_request *shards_ask_all(shards *set, int argc, const char **argv, bool has_part,
                              unsigned replicas);
void           shards_free_all(const shards *set, round_request *all);

/* How many different nodes the shards are on. */
unsigned shards_nodes(const shards *set);

/* redis_ensure.c: make the set, if it does not exist or is not whole; else all must be there. */
void shards_ensure(shards *set, const options *asked);

/* redis_files.c */
int shards_import(shards *set, const options *asked, const char *path);
int shards_export(shards *set, const options *asked, const char *path);

#endif
