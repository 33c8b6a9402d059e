/* background.h - decoding large values in a thread, while the server goes on.
 *
 * The client waits; nothing is visible until the value is complete. Then the server's main thread
 * looks at the key again, gives it the value if it is still free, and replies. Where a client
 * cannot wait (in transactions, scripts, from a primary, while loading), the caller decodes at
 * once. A client that goes away meanwhile leaves nothing behind.
 */
#ifndef TAMIS_REDIS_BACKGROUND_H
#define TAMIS_REDIS_BACKGROUND_H

#include "keys.h"

/* Bytes to decode, and what is done then. */
typedef struct decoding {
    byte_buffer bytes; /* the job's own */
    unsigned    family;
    bool        replaces; /* the key may exist */

    /* in a thread, or at once: make the value, or leave it NULL and set `text` */
    void (*decode)(struct decoding *decoding);
    /* in the main thread, with the key open for writing: set it, replicate, reply */
    void (*finish)(key_handle *key, struct decoding *decoding);

    tamis_value *value; /* what was decoded, until a key has it */
    char         text[400];
    uint64_t     stamp; /* for `finish` */
} decoding;

/* Decode and finish, in a thread if the bytes are many and the client can wait. Takes the buffer;
 * `key` may be closed when this returns. */
void background_decode(key_handle *key, decoding *decoding);

#endif
