/* progress.h - a line on the terminal with the progress and the remaining time.
 *
 * It is written to stderr if that is a terminal, and removed at the end. Results never depend on
 * it.
 */
#ifndef TAMIS_LAB_PROGRESS_H
#define TAMIS_LAB_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool            is_shown, is_full;
    unsigned        jobs, index, n; /* this experiment, of this many */
    const char     *id;
    double          begun, began_this, drawn; /* times */
    double          before, all;              /* what experiments cost: done, and all of them */
    pthread_mutex_t lock;                     /* trials end on several threads */
} progress;

/* Before the first experiment: their number, and their total cost. */
void progress_begin(progress *p, bool is_full, unsigned jobs);
void progress_expect(progress *p, const char *id);

/* An experiment begins; `done` of the `total` trials of one of its series are done; it ends. */
void progress_experiment(progress *p, const char *id);
void progress_trial(progress *p, uint64_t done, uint64_t total);
void progress_experiment_over(progress *p);

/* Remove the line before something else is printed. */
void progress_clear(progress *p);

#endif
