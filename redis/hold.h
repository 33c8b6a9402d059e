/* hold.h - values that a thread is reading, while the server goes on.
 *
 * A value that is held may be asked by everybody, and is not changed by commands that can wait:
 * their clients are blocked, and the command is run when nobody holds the value any more. Commands
 * that cannot wait (in transactions and scripts, from a primary, while loading) let the server wait
 * until the threads have read what they need; whoever holds the value must then see, by
 * `value->changes`, that it is another one.
 *
 * A holder has a reference, so the key may be deleted, renamed, flushed or expire meanwhile.
 * Everything here is for the main thread, except hold_was_read().
 */
#ifndef TAMIS_REDIS_HOLD_H
#define TAMIS_REDIS_HOLD_H

#include "keys.h"

/* Hold the value; a thread is going to read it. */
void hold_begin(tamis_value *value);

/* The thread has read it. */
void hold_was_read(tamis_value *value);

/* The holder is done: clients and jobs that waited for the value go on. */
void hold_end(tamis_value *value);

/* True: nobody holds it, and no client that had to wait for it is about to change it. */
bool hold_is_free(const tamis_value *value);

/* Before a command changes the value of an open key. True: the client waits, and `handler` will run
 * again: close the key and return. False: change it. */
bool hold_defer(key_handle *key, redis_handler *handler);

/* Wait until no thread reads the value. */
void hold_wait(tamis_value *value);

/* Something that waits until two values are free, and then holds both and goes on: job.start(). */
typedef struct hold_job {
    struct hold_job *next;
    tamis_value     *values[2]; /* each with a reference */
    void (*start)(struct hold_job *job);
} hold_job;

/* Start the job: now, or when both are free. */
void hold_start(hold_job *job);

#endif
