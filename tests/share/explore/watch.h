/* watch.h - between the library, which is watched, and the explorer (every.c). */
#ifndef EXPLORE_WATCH_H
#define EXPLORE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/tamis.h>

/* ------------------------------------------------------------------ what the library calls */

extern unsigned explore_fault; /* 0: none; see run-explore */

void      explore_wait(void);                /* in place of stripe_wait() */
void      explore_fence(void);               /* at each stripe_fence() */
void      explore_clear(void *at, size_t n); /* what was copied in a try that failed */
void      explore_copy(void *to, const void *from, size_t n);
void      explore_fill(void *to, int byte, size_t n);
int       explore_lock(pthread_mutex_t *mutex);
int       explore_try_lock(pthread_mutex_t *mutex);
int       explore_unlock(pthread_mutex_t *mutex);
pthread_t explore_self(void);

/* ------------------------------------------------------------------ what scenes want to know */

/* The hash of an id in this set. Ids are sorted by it within a bucket, so the last one moves when
 * another is added. */
uint64_t explore_hash(const tamis_set *set, uint64_t id);

/* The bucket of an id. */
uint64_t explore_bucket(const tamis_set *set, uint64_t id);

/* `line`: where the entry of an id is. */
typedef enum explore_part { IN_LINE, ON_SHELF, IN_ATTIC } explore_part;
explore_part explore_part_of(const tamis_set *set, uint64_t id);

#endif
