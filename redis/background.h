/* background.h - long work in a thread, while the server goes on.
 *
 * The client waits; nothing is visible until the work is complete. Then the server's main thread
 * looks at the keys again and replies. Where a client cannot wait (in transactions, scripts, from a
 * primary, while loading), the caller does the work at once. A client that goes away meanwhile
 * leaves nothing behind.
 */
#ifndef TAMIS_REDIS_BACKGROUND_H
#define TAMIS_REDIS_BACKGROUND_H

#include "keys.h"

/* May the client of this command be blocked? */
bool background_can_wait(redis_ctx *ctx);

/* A job for a thread, and the client that waits for it. All three functions get it as `job`: */
typedef struct background_job {
    redis_blocked *client;
    bool           is_question; /* it has no key and changes nothing, so it is never refused */
    void (*work)(struct background_job *job); /* in the thread */
    redis_handler *reply; /* in the main thread, with the words of the command; see background_of().
                             Not called if the client has gone away. */
    void (*end)(struct background_job *job); /* in the main thread, in any case: free it */
} background_job;

/* In the reply to a client that was blocked, with the first key of its command: must the command be
 * refused? While clients are paused, what goes to replicas would abort the server. And in a
 * cluster the slot of the key may belong to another node by now: what is written here would be
 * lost. True: the client has got an error, and may try again. */
bool background_refuse(redis_ctx *ctx, redis_string *key);

/* Block the client. False: it cannot be; then nothing has happened. */
bool background_block(redis_ctx *ctx, background_job *job);

/* Run the job of a blocked client in a thread; if no thread can be started, here. */
void background_run(background_job *job);

/* Inside `reply`: the job. */
background_job *background_of(redis_ctx *ctx);

/* Call a function in one of a few threads, when one is free; or here, without memory or threads. It
 * must not wait for the main thread. */
void background_call(void (*function)(void *), void *argument);

/* Free a value that may be large, which takes long: the system gets back page after page. */
void background_free(tamis_value *value);

/* ------------------------------------------------------------------ decoding */

/* Bytes to decode, and what is done then. */
typedef struct decoding {
    background_job job;
    tamis_key      source;
    byte_buffer    bytes; /* the source, if it belongs to the job; empty if it is `word` */
    redis_string  *word;  /* the word of the command that is the source; NULL: it is `bytes` */
    unsigned       family;
    bool           replaces; /* the key may exist */

    /* in a thread, or at once: make the value, or leave it NULL and set `text` */
    void (*decode)(struct decoding *decoding);
    /* in the main thread, with the key open for writing: set it, replicate, reply */
    void (*finish)(key_handle *key, struct decoding *decoding);

    tamis_value *value; /* what was decoded, until a key has it */
    char         text[400];
    uint64_t     stamp; /* for `finish` */
} decoding;

/* Decode and finish, in a thread if the bytes are many and the client can wait. Takes the buffer,
 * or keeps the word as long as it needs it; `key` may be closed when this returns. */
void background_decode(key_handle *key, decoding *decoding);

#endif
