/* progress.h - a line on the terminal that says how far the lab is, and how long it will take.
 *
 * It is for people who wait: it appears on stderr if that is a terminal, and leaves nothing behind.
 * Without a terminal there is none, and results never depend on it.
 */
#ifndef TAMIS_LAB_PROGRESS_H
#define TAMIS_LAB_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool            is_shown, is_full;
    unsigned        jobs, index, n; /* this experiment, of so many */
    const char     *id;
    double          begun, began_this, drawn; /* times */
    double          before, all;              /* what experiments cost: done, and all of them */
    pthread_mutex_t lock;                     /* trials end on several threads */
} progress;

/* Before the first experiment: how many there will be, with what they cost in all. */
void progress_begin(progress *p, bool is_full, unsigned jobs);
void progress_expect(progress *p, const char *id);

/* An experiment begins; `done` of the `of` trials of one of its series are over; it ends. */
void progress_experiment(progress *p, const char *id);
void progress_trial(progress *p, uint64_t done, uint64_t of);
void progress_experiment_over(progress *p);

/* Take the line away, before something else is printed. */
void progress_clear(progress *p);

#endif
