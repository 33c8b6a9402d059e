/* crew.h - threads that work on lines, a block at a time.
 *
 * The main thread reads blocks of complete lines (lines.h). Worker threads split them into keys and
 * work on them, in any order. The main thread finishes the jobs in the order of the input: it
 * prints and counts, and does everything that must not happen in two threads at a time.
 *
 *     main thread    read  read  read  read  finish 1  read  finish 2 ...
 *     worker             [ work 1 ]  [ work 3 ] ...
 *     worker                   [ work 2 ]  [ work 4 ] ...
 *
 * If a block is the only work, because the input ends or waits, the main thread does it itself. So
 * a program that writes a line and waits for the answer gets it without a detour through other
 * threads, and a small input starts no threads.
 *
 * Before the main thread waits for more input, all jobs are finished, and their output is written.
 */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include "lines.h"

#define CREW_MOST_THREADS 256

/* One block, and what a worker has made of it. */
typedef struct job {
    line_text text; /* the text that is not split yet */
    uint64_t  most; /* how many lines may be split */

    /* results, zero when the work begins */
    uint64_t     lines;    /* lines that were split */
    uint64_t     sums[3];  /* a count that the work function keeps */
    const char  *output;   /* bytes to print, within the text */
    size_t       n_output; /* of them */
    tamis_status status;
    tamis_key   *keys;   /* of job_hash(): of each line */
    uint64_t    *hashes; /* and its hash */
    uint64_t    *parted; /* room for the hashes in another order (parting.h) */
    size_t       room;   /* of the three */

    bool lacks_room; /* job_hash() has found no memory */
    bool is_done;
} job;

/* Get the next keys of a job, at most LINES_BATCH, counted in `lines`; 0 at its end. */
size_t job_cut(job *block, tamis_key *ret_keys);

/* Work: keep the keys of all lines, and the hashes that this set has for them. */
void job_hash(job *block, const tamis_set *hasher);

/* What is done to each block. */
typedef struct crew_task {
    /* In any thread, while others do the same with other jobs. */
    void (*work)(job *block, void *context);
    /* In the main thread, in the order of the input; or NULL. False: no more input is needed. */
    bool (*finish)(job *block, void *context);
    void *context;
} crew_task;

/* Do it to all lines of the input, with this many threads besides the main one. With none, the main
 * thread does the work itself. Returns how many lines were worked on that come after those of the
 * last job that was finished; 0 unless `finish` has ended it. */
uint64_t crew_run(const crew_task *task, lines *input, unsigned workers);

/* How many workers to use if `work` is nearly all the work, and if the main thread has much to do,
 * too. */
static inline unsigned crew_of_workers(unsigned threads) {
    return threads > 1 ? threads : 0;
}
static inline unsigned crew_with_main(unsigned threads) {
    return threads - 1;
}

/* How many processors there are for this process. */
unsigned crew_processors(void);

#endif
