/* redis_meta.h - what the string NAME:tamis says of a set: its shards, and what was asked for.
 *
 * It is written twice. First it says that the set is being made: a client that finds this may go on
 * with it, because nothing was added yet. When all shards are there, it says that the set is whole.
 * From then on a shard that is missing is lost, and is never made again. */
#ifndef CLI_REDIS_META_H
#define CLI_REDIS_META_H

#include "options.h"

#define META_BYTES 400

typedef struct set_meta {
    bool       is_whole;
    bool       is_imported; /* from a file: then there are no numbers of keys and no error rate */
    unsigned   shards;
    tamis_hash hash;
    tamis_seed seed;
    double     fpr;
    uint64_t   capacity, grow_to; /* of the whole set */
    bool       counts;
    char       kind[32]; /* "-": the best one */
} set_meta;

void meta_write(const set_meta *meta, char ret_text[META_BYTES]);

/* False: it is not the text of a set that this version knows. */
bool meta_read(const char *text, set_meta *ret_meta);

/* Are they about the same set, made in the same way? */
bool meta_is_same(const set_meta *a, const set_meta *b);

/* What the options of `load` ask for; the seed is not theirs if none was given. */
set_meta meta_of_options(const options *asked);

/* The first option that was given and says something else; NULL: none does. */
const char *meta_conflict(const set_meta *meta, const options *asked);

#endif
