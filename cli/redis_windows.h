/* redis_windows.h - keys of the input on their way to the shards, a window at a time.
 *
 * A window is some lines of the input, and a round of requests with them, one for each shard that
 * has some. Several windows are on their way at the same time; they are finished in the order in
 * which they began. Each has a place of its own, and each place is a client of its own (the CLIENT
 * of REQUEST): so a shard has at most one request of a client to expect, which is what it
 * remembers.
 *
 * A request has the number of its window: 1, 2, ... So a run that was killed can be continued by
 * another one, which makes the same windows (redis_journal.h).
 */
#ifndef CLI_REDIS_WINDOWS_H
#define CLI_REDIS_WINDOWS_H

#include <tamis/redis.h>

#include "lines.h"
#include "redis_shards.h"

/* Keys that are read, their shards, and a request for each shard that has some. */
typedef struct key_window {
    shards   *set;
    size_t    most, n; /* keys */
    char     *bytes;   /* of the keys, one after the other */
    size_t    used, room;
    size_t   *end;   /* of key i in `bytes` */
    uint16_t *part;  /* of key i */
    size_t   *place; /* of key i among the items of its shard */
    unsigned *items; /* of each shard */

    char           client[TAMIS_REDIS_CLIENT_BYTES + 1];
    char           number[24]; /* of the window, as text */
    request_round *round;      /* NULL: not on its way */
    round_request *requests;   /* of the shards that have keys */
    unsigned       n_requests;
    unsigned      *request_of; /* of shard i */
    const char   **words;
    size_t        *word_bytes;
    long long     *answers; /* of key i: a number; -2 is "MANY" */
} key_window;

void window_make(key_window *ret_window, shards *set, unsigned place);
void window_free(key_window *window);

/* Read keys until the window is full or no more input is ready; or exactly this many keys, if
 * `wanted` is not 0. False: there are no more. */
bool window_read(key_window *window, lines *input, size_t wanted);

/* A checksum of the keys and their order. */
uint64_t window_sum(const key_window *window);

/* Send the keys. A change is a REQUEST of this number. */
void window_start(key_window *window, const char *verb, bool is_change, uint64_t number);

/* Wait until all of it is done, and get an answer for each key. */
void window_finish(key_window *window);

const char *window_key(const key_window *window, size_t i, size_t *ret_bytes);

#endif
