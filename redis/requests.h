/* requests.h - exactly once: the last request of each client, which a key remembers.
 *
 * TAMIS.ADD and TAMIS.REMOVE take REQUEST client n ITEMS item ... A client numbers its requests to
 * a key 1, 2, ... If it does not get a reply, it sends the request again: with the n of its last
 * request it gets the reply of the first time, and nothing is changed. The memory of this is in the
 * value, so in RDB and AOF files, in replicas, copies and migrations.
 *
 * It is bounded: REQUEST_CLIENTS of a key, and those whose last request is older than
 * REQUEST_AGE_MS are forgotten when another client comes. Time comes with the command, in the form
 * that replicas get, so that they forget the same ones.
 */
#ifndef TAMIS_REDIS_REQUESTS_H
#define TAMIS_REDIS_REQUESTS_H

#include "keys.h"

#include <tamis/redis.h>

#define REQUEST_CLIENTS TAMIS_REDIS_CLIENTS
#define REQUEST_AGE_MS ((uint64_t)86400 * 1000)
#define REQUEST_CLIENT_BYTES TAMIS_REDIS_CLIENT_BYTES
#define REQUEST_MAX_ITEMS TAMIS_REDIS_REQUEST_ITEMS

/* How the reply ends. */
typedef enum request_end { END_WELL, END_FULL, END_MEMORY, END_PART, N_ENDS } request_end;

typedef struct request_record {
    char     client[REQUEST_CLIENT_BYTES]; /* filled up with zeros */
    uint64_t n, at_ms;
    uint64_t sum;       /* of command and items: the same request has the same */
    uint32_t is_remove; /* else an add */
    uint32_t end;       /* a request_end */
    uint32_t done;      /* items that were handled */
    uint32_t unused;
    uint8_t  replies[REQUEST_MAX_ITEMS / 4]; /* 2 bits each: 0, 1; 2 for -1 */
} request_record;

/* Of a value; records are in the order of their last use. */
typedef struct request_log {
    unsigned        n;
    request_record *records[REQUEST_CLIENTS];
} request_log;

/* A request on its way. */
typedef struct request {
    redis_string   *client;  /* NULL: the command has no REQUEST */
    request_record  asked;   /* client, n, time, sum */
    bool            is_told; /* from a primary or a file: what was done is known */
    request_record *record;  /* where it is kept */
} request;

/* Read [REQUEST client n [AT ms end done] ITEMS] from argv[2] on. NULL, and *ret_first is the first
 * item; or the error to reply. Fewer than four words cannot be a request: then REQUEST is an item.
 */
const char *request_read(redis_ctx *ctx, redis_string **argv, int argc, bool is_remove,
                         request *ret_request, int *ret_first);

/* True: go on, and note each item. False: a reply was sent (that of the first time, or an error).
 */
bool request_begin(key_handle *key, request *asked);
void request_note(request *asked, int i, int reply);

/* All that is going to happen has happened: tell replicas. */
void request_finish(key_handle *key, request *asked, request_end end, int done,
                    redis_string **items, int n);

/* The error at the end of a reply; NULL: none. */
const char *request_end_text(request_end end);

/* The log as bytes, behind the header of a value, and back. Decode: NULL or what is wrong. */
bool        requests_encode(const request_log *log, byte_buffer *ret_bytes);
const char *requests_decode(const char *bytes, size_t n, tamis_value *value);
#define REQUESTS_MAX_BYTES (8 + REQUEST_CLIENTS * sizeof(request_record))

void requests_free(tamis_value *value);

#endif
