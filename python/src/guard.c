/* guard.c - one writer or many readers; see guard.h. */
#include "core.h"

bool guard_init(Guard *guard) {
    if (pthread_mutex_init(&guard->mutex, NULL) != 0) return false;
    if (pthread_cond_init(&guard->has_ended, NULL) == 0) return true;
    pthread_mutex_destroy(&guard->mutex);
    return false;
}

void guard_fini(Guard *guard) {
    pthread_cond_destroy(&guard->has_ended);
    pthread_mutex_destroy(&guard->mutex);
}

/* Sleep until a batch on this table ends. `turns` was read under the GIL and is compared again
 * before the sleep, so a batch that ends in between is not missed. */
static void wait_for_turn(Guard *guard) {
    uint64_t const seen = guard->turns;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&guard->mutex);
    while (guard->turns == seen) pthread_cond_wait(&guard->has_ended, &guard->mutex);
    pthread_mutex_unlock(&guard->mutex);
    Py_END_ALLOW_THREADS;
}

static void end_turn(Guard *guard) {
    pthread_mutex_lock(&guard->mutex);
    guard->turns++;
    pthread_cond_broadcast(&guard->has_ended);
    pthread_mutex_unlock(&guard->mutex);
}

void guard_wait_to_read(Guard *guard) {
    while (guard->writers > 0) wait_for_turn(guard);
}

/* The single call that follows keeps the GIL, so waiting readers may already be woken here. */
void guard_wait_to_write(Guard *guard) {
    guard->waiting_writers++;
    while (guard->writers + guard->readers > 0) wait_for_turn(guard);
    guard->waiting_writers--;
    end_turn(guard);
}

/* The table that a batch has to wait for; NULL: none. A batch that only reads lets waiting writers
 * go first; otherwise a stream of readers could keep them waiting forever. A batch on two tables
 * does not let them go first, since two such batches could wait for each other. */
static Guard *in_the_way(Guard *written, Guard *read) {
    if (written != NULL && written->writers + written->readers > 0) return written;
    if (read == NULL || read == written) return NULL;
    bool const lets_go_first = written == NULL && read->waiting_writers > 0;
    return read->writers > 0 || lets_go_first ? read : NULL;
}

void guard_begin(Guard *written, Guard *read) {
    if (written != NULL) written->waiting_writers++;
    for (Guard *busy; (busy = in_the_way(written, read)) != NULL;) wait_for_turn(busy);
    if (written != NULL) {
        written->waiting_writers--;
        written->writers++;
    }
    if (read != NULL && read != written) read->readers++;
}

void guard_end(Guard *written, Guard *read) {
    if (written != NULL) {
        written->writers--;
        end_turn(written);
    }
    if (read != NULL && read != written) {
        read->readers--;
        end_turn(read);
    }
}
