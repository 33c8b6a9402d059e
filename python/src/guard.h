/* guard.h - a lock for batches: one writer or many readers of a table while the GIL is released.
 *
 * The fields are read and written with the GIL held, so single calls pay for one comparison and
 * no atomic operation. The mutex and the condition are only for threads that wait.
 *
 * A shared set (Table.is_shared) is thread-safe in the library, so its calls and batches do not
 * exclude each other. They only exclude changes of the whole set: all its batches count as readers.
 */
#ifndef TAMIS_PYTHON_GUARD_H
#define TAMIS_PYTHON_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Guard {
    unsigned        readers; /* batches that run without the GIL */
    unsigned        writers; /* 0 or 1 */
    unsigned        waiting_writers;
    uint64_t        turns; /* batches that have ended */
    pthread_mutex_t mutex;
    pthread_cond_t  has_ended;
} Guard;

bool guard_init(Guard *guard);
void guard_fini(Guard *guard);

/* Wait, without the GIL, until a single call may begin. */
void guard_wait_to_read(Guard *guard);
void guard_wait_to_write(Guard *guard);

/* Begin a batch that changes `written` and reads `read`; either may be NULL, and they may be the
 * same. Both are taken at once, so that two threads that merge two sets crosswise cannot block each
 * other. All with the GIL held; the batch may then release it. */
void guard_begin(Guard *written, Guard *read);
void guard_end(Guard *written, Guard *read);

#endif
