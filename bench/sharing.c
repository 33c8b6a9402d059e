/* sharing.c - tamis-bench-sharing: the cost of sharing a set, and how it scales.
 *
 *     tamis-bench-sharing N [ROUNDS] [JSON]
 *
 * Sets of `line` with N keys, and for each job:
 *
 *   plain    one thread on an ordinary set
 *   one      one thread on a shared set
 *   two      two threads on a shared set
 *   apart    two threads, each on an ordinary set of its own with half of the keys: they share
 *            nothing but the machine
 *   bare     one thread, and two, on cache lines without a set: as many bytes, one random line for
 *            each operation, prefetched. No set can scale better than this.
 *
 * Jobs: lookups of present keys, lookups of absent keys, adds (of a fiftieth of N), removals (of
 * the same keys), and a mix of nine lookups for each change. All are done in batches, and measured
 * in wall-clock time, since threads may wait for each other. In each round all take turns; the
 * results are medians.
 */
#include "keys.h"
#include "median.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>
#include <time.h>

#define FPR 0.00277
#define CHUNK 4096
#define MAX_ROUNDS 15
#define LINE_BYTES 64

typedef enum job { PRESENT, ABSENT, ADD, REMOVE, MIX, JOBS } job;
typedef enum way { PLAIN, ONE, TWO, APART, BARE_ONE, BARE_TWO, WAYS } way;

static const char *const job_names[JOBS] = { "present", "absent", "add", "remove", "mix" };

typedef struct stage_set {
    tamis_set *plain, *shared;
    tamis_set *halves[2]; /* each an ordinary set with one half of the keys */
    uint8_t   *lines;
    uint64_t   n, n_lines; /* keys in the sets; bare lines */
} stage_set;

/* The work of one thread. */
typedef struct task {
    const stage_set   *all;
    tamis_set         *set; /* NULL: bare lines */
    job                action;
    uint64_t           base, n;     /* numbers of the keys that are in the set */
    uint64_t           first, keys; /* numbers of the keys that are added and removed */
    uint64_t           operations, seed;
    uint64_t           sum;        /* so that the compiler removes nothing */
    double             begin, end; /* seconds */
    pthread_barrier_t *start;
} task;

static void stop(const char *why) {
    (void)fprintf(stderr, "tamis-bench-sharing: %s\n", why);
    exit(1);
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ sets */

static tamis_set *make(uint64_t n, bool is_shared) {
    static const tamis_seed seed = { 1, 2 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    tamis_problem           problem;
    tamis_set              *set;
    spec.capacity = n + n / 20;
    spec.fpr = FPR;
    spec.abilities = TAMIS_CAN_REMOVE;
    spec.kind = "line";
    spec.seed = &seed;
    spec.shared = is_shared;
    if (tamis_create(&spec, &set, &problem) != TAMIS_OK) stop(problem.text);
    return set;
}

static void fill(tamis_set *set, uint64_t base, uint64_t n) {
    uint64_t ids[CHUNK];
    for (uint64_t i = 0; i < n; i += CHUNK) {
        uint64_t const more = n - i < CHUNK ? n - i : CHUNK;
        for (uint64_t k = 0; k < more; k++) ids[k] = key_number(7, base + i + k);
        if (tamis_add_id_batch(set, ids, more, NULL) != TAMIS_OK) stop("an add was refused");
    }
}

/* ------------------------------------------------------------------ one thread */

/* The numbers of the keys of a chunk: in order for adds and removals, random for lookups. */
static void choose(task *my, uint64_t done, uint64_t *ids) {
    uint64_t const absent = UINT64_C(1) << 40;
    for (uint64_t i = 0; i < CHUNK; i++) {
        uint64_t number = my->base + key_random_below(&my->seed, my->n);
        if (my->action == ABSENT) number += absent;
        if (my->action == ADD || my->action == REMOVE) number = my->first + (done + i) % my->keys;
        ids[i] = key_number(7, number);
    }
}

static void work_on_set(task *my, const uint64_t *ids) {
    size_t const tenth = CHUNK / 20;
    size_t       added = 0;
    switch (my->action) {
    case ADD: my->sum += (uint64_t)tamis_add_id_batch(my->set, ids, CHUNK, &added); break;
    case REMOVE: my->sum += (uint64_t)tamis_remove_id_batch(my->set, ids, CHUNK, NULL, NULL); break;
    case MIX: /* the same keys are added and removed, so that the set stays as it is */
        my->sum += tamis_has_id_batch(my->set, ids + 2 * tenth, CHUNK - 2 * tenth, NULL);
        my->sum += (uint64_t)tamis_add_id_batch(my->set, ids, tenth, &added);
        my->sum += (uint64_t)tamis_remove_id_batch(my->set, ids, added, NULL, NULL);
        break;
    default: my->sum += tamis_has_id_batch(my->set, ids, CHUNK, NULL); break;
    }
}

/* One line for each key: read, or read and written. */
static void work_on_lines(task *my, const uint64_t *ids) {
    enum { AHEAD = 32 };
    const stage_set *const all = my->all;
    size_t const           changed = my->action == ADD || my->action == REMOVE ? CHUNK
                                     : my->action == MIX                       ? CHUNK / 10
                                                                               : 0;
    uint64_t               at[CHUNK];
    for (size_t i = 0; i < CHUNK; i++)
        at[i] = (uint64_t)(((unsigned __int128)key_mix(ids[i]) * all->n_lines) >> 64) * LINE_BYTES;
    for (size_t i = 0; i < CHUNK; i++) {
        if (i + AHEAD < CHUNK) __builtin_prefetch(all->lines + at[i + AHEAD]);
        uint64_t *const word = (uint64_t *)(void *)(all->lines + at[i]);
        uint64_t const  value = __atomic_load_n(word, __ATOMIC_RELAXED);
        my->sum += value;
        if (i < changed) __atomic_store_n(word, value + 1, __ATOMIC_RELAXED);
    }
}

/* Keys are made before the clock starts. */
static void *run_task(void *context) {
    task *const     my = context;
    uint64_t const  chunks = my->operations / CHUNK;
    uint64_t *const ids = malloc(chunks * CHUNK * sizeof *ids);
    if (ids == NULL) stop("no memory");
    for (uint64_t i = 0; i < chunks; i++) choose(my, i * CHUNK, ids + i * CHUNK);
    (void)pthread_barrier_wait(my->start);
    my->begin = now();
    for (uint64_t i = 0; i < chunks; i++) {
        if (my->set != NULL)
            work_on_set(my, ids + i * CHUNK);
        else
            work_on_lines(my, ids + i * CHUNK);
    }
    my->end = now();
    free(ids);
    return NULL;
}

/* ------------------------------------------------------------------ one job in one way */

/* The set that a thread works on; NULL: bare lines. */
static tamis_set *set_for(const stage_set *all, way how, unsigned thread) {
    switch (how) {
    case PLAIN: return all->plain;
    case ONE:
    case TWO: return all->shared;
    case APART: return all->halves[thread];
    default: return NULL;
    }
}

/* Million operations per second of all threads together. */
static double measure(const stage_set *all, job action, way how, unsigned round) {
    unsigned const    threads = how == TWO || how == APART || how == BARE_TWO ? 2 : 1;
    uint64_t const    more = all->n / 50 / CHUNK * CHUNK; /* keys that are added and removed */
    uint64_t const    n = action == ADD || action == REMOVE ? more : UINT64_C(1) << 22;
    task              tasks[2];
    pthread_t         thread[2];
    pthread_barrier_t start;
    double            begin = 0, end = 0;
    (void)pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        uint64_t const each = n / threads / CHUNK * CHUNK;
        tasks[i] = (task){ .all = all,
                           .set = set_for(all, how, i),
                           .action = action,
                           .base = how == APART ? i * (all->n / 2) : 0,
                           .n = how == APART ? all->n / 2 : all->n,
                           .first = all->n + i * each,
                           .keys = each,
                           .operations = each,
                           .seed = round * 10 + i,
                           .start = &start };
        if (pthread_create(&thread[i], NULL, run_task, &tasks[i]) != 0) stop("no thread");
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(thread[i], NULL);
        begin = i == 0 || tasks[i].begin < begin ? tasks[i].begin : begin;
        end = tasks[i].end > end ? tasks[i].end : end;
    }
    (void)pthread_barrier_destroy(&start);
    return (double)(n / threads / CHUNK * CHUNK * threads) / (end - begin) / 1e6;
}

typedef struct results {
    double rate[JOBS][WAYS]; /* medians */
} results;

static results measure_all(const stage_set *all, unsigned rounds) {
    static double rates[JOBS][WAYS][MAX_ROUNDS];
    results       found;
    for (unsigned r = 0; r < rounds; r++) {
        /* adds before removals: the sets stay as they are */
        for (unsigned how = 0; how < WAYS; how++) {
            for (unsigned action = 0; action < JOBS; action++)
                rates[action][how][r] = measure(all, (job)action, (way)how, r);
        }
    }
    for (unsigned action = 0; action < JOBS; action++) {
        for (unsigned how = 0; how < WAYS; how++)
            found.rate[action][how] = median(rates[action][how], rounds);
    }
    return found;
}

/* ------------------------------------------------------------------ the report */

static void print(const results *found) {
    (void)printf(
        "M/s        plain  shared, 1   of plain   2 threads   bare 1  bare 2   scales, of bare"
        "   2 apart   of 2 apart\n");
    for (unsigned action = 0; action < JOBS; action++) {
        const double *const r = found->rate[action];
        (void)printf("%-8s %7.1f %10.1f %10.2f %11.1f %8.1f %7.1f %8.2f %8.2f %9.1f %8.2f\n",
                     job_names[action], r[PLAIN], r[ONE], r[ONE] / r[PLAIN], r[TWO], r[BARE_ONE],
                     r[BARE_TWO], r[TWO] / r[ONE], r[TWO] / r[ONE] / (r[BARE_TWO] / r[BARE_ONE]),
                     r[APART], r[TWO] / r[ONE] / (r[APART] / r[PLAIN]));
    }
}

static int write_json(const char *path, const results *found, uint64_t n, unsigned rounds) {
    FILE *const to = fopen(path, "w");
    if (to == NULL) stop("cannot write the JSON file");
    (void)fprintf(to, "{\n  \"n\": %llu, \"rounds\": %u", (unsigned long long)n, rounds);
    for (unsigned action = 0; action < JOBS; action++) {
        const double *const r = found->rate[action];
        (void)fprintf(to,
                      ",\n  \"%s\": {\"plain\": %.4g, \"one\": %.4g, \"two\": %.4g, "
                      "\"apart\": %.4g, \"bare_one\": %.4g, \"bare_two\": %.4g}",
                      job_names[action], r[PLAIN], r[ONE], r[TWO], r[APART], r[BARE_ONE],
                      r[BARE_TWO]);
    }
    (void)fprintf(to, "\n}\n");
    return fclose(to) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    uint64_t const n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned const asked = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 5;
    unsigned const rounds = asked < 1 ? 1 : asked > MAX_ROUNDS ? MAX_ROUNDS : asked;
    tamis_facts    facts;
    if (n < 1000000) stop("usage: tamis-bench-sharing N [ROUNDS] [JSON]   (N: 1000000 or more)");
    stage_set all = { .plain = make(n, false), .shared = make(n, true), .n = n };
    if (tamis_get_facts(all.plain, &facts) != TAMIS_OK) stop("no facts");
    fill(all.plain, 0, n);
    fill(all.shared, 0, n);
    for (unsigned i = 0; i < 2; i++) {
        all.halves[i] = make(n / 2, false);
        fill(all.halves[i], i * (n / 2), n / 2);
    }
    all.n_lines = facts.body_bytes / LINE_BYTES;
    all.lines = aligned_alloc((size_t)2 << 20, (facts.body_bytes + (2 << 20)) >> 21 << 21);
    if (all.lines == NULL) stop("no memory");
    memset(all.lines, 1, all.n_lines * LINE_BYTES);
    (void)printf("%llu keys, %u rounds\n", (unsigned long long)n, rounds);
    results const found = measure_all(&all, rounds);
    print(&found);
    free(all.lines);
    tamis_free(all.plain);
    tamis_free(all.shared);
    for (unsigned i = 0; i < 2; i++) tamis_free(all.halves[i]);
    return argc > 3 ? write_json(argv[3], &found, n, rounds) : 0;
}
