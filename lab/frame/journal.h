/* journal.h - keep finished trials, so that a run of hours can be stopped and continued later.
 *
 * Idea. A trial depends on its number alone (trials.c), so its outcome can be kept in a file and
 * need not be computed again. With --keep FOLDER there is a file for each series of trials. The
 * next run with the same folder reads it and runs only the trials that are not in it. The results
 * are the same bytes as those of a run that was never stopped.
 *
 * The file begins with everything on which its outcomes depend: the program itself, the seed, the
 * stream, the number of trials. If any of these differ, the file is refused: results of two
 * libraries must not be mixed.
 */
#ifndef TAMIS_LAB_JOURNAL_H
#define TAMIS_LAB_JOURNAL_H

#include "lab.h"

#include <pthread.h>

typedef struct journal {
    const char     *folder;
    uint64_t        program; /* a hash of this program's own file */
    unsigned        series;  /* how many series this experiment has begun: part of a file's name */
    FILE           *file;    /* of the series that runs now */
    double          flushed; /* when */
    pthread_mutex_t lock;    /* trials end on several threads */
} journal;

/* Once, before the first experiment. The folder is made if it is not there. */
void journal_open(journal *kept, const char *folder);

/* Begin a series: read its finished trials into `outcomes`, and mark them in `is_done`. Returns
 * the number of trials that are done. */
uint64_t journal_begin(journal *kept, const lab_run *run, const lab_series *series,
                       unsigned char *outcomes, unsigned char *is_done);

/* Trial `i` of this series is done; the series ends; the experiment ends. */
void journal_trial(journal *kept, const lab_series *series, uint64_t i, const void *outcome);
void journal_end(journal *kept);
void journal_experiment_over(journal *kept);

#endif
