/* crew.c - see crew.h. */
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "message.h"

/* Jobs are numbered as they are read. `finished` <= `taken` <= `handed`; job i is in the place
 * i % n_jobs. The lock protects these numbers, `is_over`, and is_done of each job. What is in a job
 * belongs to the main thread until it is handed out, then to the worker until it is done. */
typedef struct crew {
    const crew_task *task;
    lines           *input;

    job     *jobs;
    size_t   n_jobs;
    uint64_t handed, taken, finished;
    bool     is_stopped; /* no more input is needed */

    pthread_mutex_t lock;
    pthread_cond_t  has_work, has_result;
    bool            is_over; /* workers must end */

    pthread_t *workers;
    unsigned   n_workers, most_workers;
} crew;

unsigned crew_processors(void) {
    cpu_set_t ours;
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) return 1;
    int const n = CPU_COUNT(&ours);
    return n < 1 ? 1 : n > CREW_MOST_THREADS ? CREW_MOST_THREADS : (unsigned)n;
}

/* ------------------------------------------------------------------ jobs */

size_t job_cut(job *block, tamis_key *ret_keys) {
    uint64_t const left = block->most - block->lines;
    size_t         n = left != 0 ? text_cut(&block->text, ret_keys) : 0;
    if (n > left) n = (size_t)left;
    block->lines += n;
    return n;
}

/* Make room for the keys of one more batch. False: there is no memory. */
static bool job_make_room(job *block) {
    if (block->room >= block->lines + LINES_BATCH) return true;
    size_t const     room = 2 * block->room + LINES_BATCH;
    tamis_key *const keys = realloc(block->keys, room * sizeof keys[0]);
    if (keys != NULL) block->keys = keys;
    uint64_t *const hashes = realloc(block->hashes, room * sizeof hashes[0]);
    if (hashes != NULL) block->hashes = hashes;
    uint64_t *const parted = realloc(block->parted, room * sizeof parted[0]);
    if (parted != NULL) block->parted = parted;
    if (keys == NULL || hashes == NULL || parted == NULL) return false;
    block->room = room;
    return true;
}

void job_hash(job *block, const tamis_set *hasher) {
    size_t n;
    do {
        block->lacks_room = !job_make_room(block);
        if (block->lacks_room) return; /* workers print nothing: the main thread does */
        tamis_key *const keys = block->keys + block->lines;
        uint64_t *const  hashes = block->hashes + block->lines;
        n = job_cut(block, keys);
        for (size_t i = 0; i < n; i++) {
            hashes[i] = tamis_hash_key(hasher, keys[i].data, keys[i].bytes);
        }
    } while (n != 0);
}

/* The room for keys and hashes stays. */
static void job_begin(job *block, const lines *input) {
    block->most = input->limit != LINES_ALL ? input->limit - input->keys : LINES_ALL;
    block->lines = block->sums[0] = block->sums[1] = block->sums[2] = 0;
    block->output = NULL;
    block->n_output = 0;
    block->status = TAMIS_OK;
    block->lacks_room = block->is_done = false;
}

static job *job_at(const crew *all, uint64_t number) {
    return &all->jobs[number % all->n_jobs];
}

/* ------------------------------------------------------------------ workers */

/* Wait for a job, and take it; NULL: there will be none. */
static job *worker_take(crew *all) {
    job *taken = NULL;
    (void)pthread_mutex_lock(&all->lock);
    while (all->taken == all->handed && !all->is_over) {
        (void)pthread_cond_wait(&all->has_work, &all->lock);
    }
    if (!all->is_over) taken = job_at(all, all->taken++);
    (void)pthread_mutex_unlock(&all->lock);
    return taken;
}

static void *worker_run(void *context) {
    crew *const all = context;
    job        *block;
    while ((block = worker_take(all)) != NULL) {
        all->task->work(block, all->task->context);
        (void)pthread_mutex_lock(&all->lock);
        block->is_done = true;
        (void)pthread_cond_signal(&all->has_result);
        (void)pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

/* Signals are for the main thread, which holds them back at times. But a worker that reads a mapped
 * file beyond its end gets SIGBUS itself, and must not hold it back. */
static bool worker_start(crew *all) {
    sigset_t held, before;
    (void)sigfillset(&held);
    (void)sigdelset(&held, SIGBUS);
    (void)pthread_sigmask(SIG_BLOCK, &held, &before);
    int const error = pthread_create(&all->workers[all->n_workers], NULL, worker_run, all);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) return false;
    all->n_workers++;
    return true;
}

/* ------------------------------------------------------------------ the main thread */

static uint64_t in_flight(const crew *all) {
    return all->handed - all->finished;
}

static void finish_job(crew *all, job *block) {
    if (block->lacks_room) die("not enough memory for the hashes of lines; try --threads 1");
    lines_count(all->input, block->lines);
    if (all->task->finish == NULL) return;
    if (!all->task->finish(block, all->task->context)) all->is_stopped = true;
}

/* Finish the oldest job, if it is done, or wait until it is. Returns whether it was finished. */
static bool finish_oldest(crew *all, bool may_wait) {
    job *const block = job_at(all, all->finished);
    (void)pthread_mutex_lock(&all->lock);
    while (!block->is_done && may_wait) (void)pthread_cond_wait(&all->has_result, &all->lock);
    bool const is_done = block->is_done;
    (void)pthread_mutex_unlock(&all->lock);
    if (!is_done) return false;
    all->finished++;
    finish_job(all, block);
    return true;
}

/* The lines_settle of a crew. */
static settled settle_oldest(void *context) {
    crew *const all = context;
    if (all->is_stopped) return SETTLED_ENOUGH;
    if (in_flight(all) == 0) return SETTLED_ALL;
    (void)finish_oldest(all, true);
    return all->is_stopped ? SETTLED_ENOUGH : SETTLED_ONE;
}

static void do_it_here(crew *all, job *block) {
    all->task->work(block, all->task->context);
    finish_job(all, block);
}

/* More workers are started only while there is work for them. If the system has no more threads to
 * give, those that there are do it. */
static void hand_out(crew *all, job *block) {
    bool const is_end = all->input->descriptor < 0 || text_is_small(&block->text);
    bool const is_only_one = in_flight(all) == 0 && is_end && !lines_are_ready(all->input);
    if (!is_only_one && all->n_workers < all->most_workers && in_flight(all) >= all->n_workers) {
        if (!worker_start(all)) all->most_workers = all->n_workers;
    }
    if (is_only_one || all->n_workers == 0) {
        do_it_here(all, block);
        return;
    }
    (void)pthread_mutex_lock(&all->lock);
    all->handed++;
    (void)pthread_cond_signal(&all->has_work);
    (void)pthread_mutex_unlock(&all->lock);
}

static void run_all(crew *all) {
    while (!all->is_stopped && all->input->keys < all->input->limit) {
        if (in_flight(all) == all->n_jobs) (void)finish_oldest(all, true);
        while (in_flight(all) != 0 && !all->is_stopped && finish_oldest(all, false)) continue;
        job *const block = job_at(all, all->handed);
        if (all->is_stopped || !lines_next_block(all->input, &block->text)) break;
        job_begin(block, all->input);
        hand_out(all, block);
    }
    while (settle_oldest(all) == SETTLED_ONE) continue;
}

/* ------------------------------------------------------------------ beginning and end */

static void crew_begin(crew *all, unsigned workers) {
    all->n_jobs = workers != 0 ? 2 * (size_t)workers : 1; /* one at work, and one ready for it */
    all->jobs = calloc(all->n_jobs, sizeof all->jobs[0]);
    all->workers = calloc(workers != 0 ? workers : 1, sizeof all->workers[0]);
    if (all->jobs == NULL || all->workers == NULL) die("not enough memory for %u threads", workers);
    all->most_workers = workers;
    (void)pthread_mutex_init(&all->lock, NULL);
    (void)pthread_cond_init(&all->has_work, NULL);
    (void)pthread_cond_init(&all->has_result, NULL);
    if (workers == 0) return;
    all->input->settle = settle_oldest;
    all->input->settle_context = all;
}

static uint64_t crew_end(crew *all) {
    uint64_t unfinished = 0;
    (void)pthread_mutex_lock(&all->lock);
    all->is_over = true;
    (void)pthread_cond_broadcast(&all->has_work);
    (void)pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; i < all->n_workers; i++) (void)pthread_join(all->workers[i], NULL);
    for (; all->finished < all->taken; all->finished++) {
        unfinished += job_at(all, all->finished)->lines;
    }
    (void)pthread_cond_destroy(&all->has_result);
    (void)pthread_cond_destroy(&all->has_work);
    (void)pthread_mutex_destroy(&all->lock);
    for (size_t i = 0; i < all->n_jobs; i++) {
        text_free(&all->jobs[i].text);
        free(all->jobs[i].keys);
        free(all->jobs[i].hashes);
        free(all->jobs[i].parted);
    }
    free(all->jobs);
    free(all->workers);
    all->input->settle = NULL;
    return unfinished;
}

/* Lines up to a limit, after an interrupt, are counted one block after the other. */
uint64_t crew_run(const crew_task *task, lines *input, unsigned workers) {
    crew all = { .task = task, .input = input };
    crew_begin(&all, input->limit == LINES_ALL ? workers : 0);
    run_all(&all);
    uint64_t const unfinished = crew_end(&all);
    if (!all.is_stopped) lines_end(input);
    return unfinished;
}
