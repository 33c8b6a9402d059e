/* trials.c - the one loop over trials, on as many threads as asked.
 *
 * A trial has randomness of its own, made from its number, and writes to a place of its own. So it
 * does not matter which thread runs it, nor when: the outcomes are the same bytes with any number
 * of threads, and experiments add them up in the order of the trials.
 */
#include "lab.h"

#include "journal.h"
#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct crew {
    const lab_run    *run;
    const lab_series *series;
    unsigned char    *outcomes;
    unsigned char    *is_done; /* by trials of an earlier run */
    _Atomic uint64_t  next, done;
} crew;

static void run_trial(crew *all, uint64_t i) {
    const lab_series *const series = all->series;
    lab_random random = lab_random_of(all->run->seed, all->run->experiment->id, series->stream, i);
    unsigned char *const outcome = all->outcomes + i * series->outcome_bytes;
    series->trial(series->given, &random, outcome);
    if (all->run->journal != NULL) journal_trial(all->run->journal, series, i, outcome);
}

/* One thread: the next trial, as long as there is one. */
static void *work(void *given) {
    crew *const all = given;
    uint64_t    i;
    while ((i = atomic_fetch_add(&all->next, 1)) < all->series->n) {
        if (all->is_done[i]) continue;
        run_trial(all, i);
        uint64_t const done = atomic_fetch_add(&all->done, 1) + 1;
        if (all->run->progress != NULL) progress_trial(all->run->progress, done, all->series->n);
    }
    return NULL;
}

/* The caller works too. If a thread cannot be started, the others do its work. */
void *lab_trials(const lab_run *run, const lab_series *series) {
    crew       all = { .run = run,
                       .series = series,
                       .outcomes = lab_allocate((size_t)series->n, series->outcome_bytes),
                       .is_done = lab_allocate((size_t)series->n, 1) };
    uint64_t   helpers = run->jobs > 1 ? run->jobs - 1 : 0, started = 0;
    pthread_t *threads;
    if (series->n <= helpers) helpers = series->n != 0 ? series->n - 1 : 0;
    if (run->journal != NULL) {
        all.done = journal_begin(run->journal, run, series, all.outcomes, all.is_done);
    }
    threads = lab_allocate((size_t)helpers, sizeof *threads);
    while (started < helpers && pthread_create(&threads[started], NULL, work, &all) == 0) started++;
    (void)work(&all);
    for (uint64_t i = 0; i < started; i++) (void)pthread_join(threads[i], NULL);
    free(threads);
    if (run->journal != NULL) journal_end(run->journal);
    free(all.is_done);
    return all.outcomes;
}
