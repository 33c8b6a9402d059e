/* items.h - many items of one BF or CF key, in order, and what replicas are told of them. */
#ifndef TAMIS_REDIS_ITEMS_H
#define TAMIS_REDIS_ITEMS_H

#include "keys.h"

#define ITEMS_AT_ONCE 64 /* hashed and prefetched together */

/* A series of adds. If a part has to be opened on the way, replicas are told of the items before
 * it, then of the part, then of the others: so each item goes to the same part there. They are not
 * told of items that were refused for want of memory. */
typedef struct item_batch {
    key_handle    *key;
    redis_string **items;
    size_t         n, told;
    const char    *command; /* for items that are told by themselves */
    const char    *word;    /* in front of them, or NULL */
    bool           is_new_only, ends_when_full, has_changed;
    uint64_t       hashes[ITEMS_AT_ONCE];
    item_outcome   outcomes[ITEMS_AT_ONCE]; /* of the items of the last round */
} item_batch;

/* Begin with the words of the command still to be set. The two arrays are left as they are. */
void batch_begin(item_batch *batch, key_handle *key, redis_string **items, size_t n);

/* Add a round of items, from i on. Returns how many outcomes there are: less than a round if
 * `ends_when_full`, and then the last one is REFUSED_FULL. */
size_t batch_add(item_batch *batch, size_t i);

/* Replicate those of the first `done` items that were not replicated yet. */
void batch_end(item_batch *batch, size_t done);

/* The recipes of keys that BF.* and CF.* make. Expansion 0: of a fixed size. */
value_recipe recipe_of_bf(double error, uint64_t capacity, uint64_t expansion);
value_recipe recipe_of_cf(uint64_t capacity, uint64_t bucket_size, uint64_t max_iterations,
                          uint64_t expansion);

/* What commands of a family say. */
typedef struct filter_texts {
    value_family family;
    const char  *reserved;    /* the event of a key that was made */
    const char  *not_created; /* the reply, if that is not for want of memory */
} filter_texts;

/* RESERVE: make a key that must not be there yet, and reply. The handler may run again
 * (creation.h). */
int filter_reserve(redis_ctx *ctx, redis_string *name, value_recipe *recipe,
                   const filter_texts *texts, redis_handler *handler);

/* Make the key if it is missing and may be made; false: an error was replied, or the handler will
 * run again. */
bool filter_make_sure(key_handle *key, value_recipe *recipe, bool is_creating,
                      const filter_texts *texts, redis_handler *handler);

#endif
