/* bench_speed.c - measure the speed of lookups and changes. Times of lookups are from device
 * events; a change is timed
 * from its call to its end. A figure is the median of several runs. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEATS 7                 /* of lookups */
#define CHANGES 3                 /* of adds and removals */
#define ASKED (UINT64_C(1) << 27) /* keys of a measured lookup */

static int compare_doubles(const void *a, const void *b) {
    double const x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, unsigned n) {
    qsort(times, n, sizeof *times, compare_doubles);
    return times[n / 2];
}

/* Billions a second. The first run is not counted. */
static double rate_of_has(const tamis_gpu_set *set, device_address ids, uint64_t n,
                          device_address answers) {
    double               times[REPEATS];
    tamis_gpu_keys const keys = bench_keys(ids, n);
    for (unsigned i = 0; i <= REPEATS; i++) {
        bench_must(device_enter(bench_gpu->device), "enter");
        bench_must(device_mark(bench_gpu->device, 0, NULL), "mark");
        bench_must(tamis_gpu_has(set, &keys, (uint8_t *)(uintptr_t)answers, NULL), "has");
        bench_must(device_mark(bench_gpu->device, 1, NULL), "mark");
        if (i != 0) times[i - 1] = device_elapsed(bench_gpu->device, 0, 1);
        device_leave(bench_gpu->device);
    }
    return (double)n / median(times, REPEATS) / 1e6;
}

static double rate_of_lines(const tamis_gpu_set *set, uint64_t n, device_address sum) {
    double              times[REPEATS];
    gpu_lines const     job = { .memory = set->table.body,
                                .lines = set->facts.body_bytes / 64,
                                .n = n,
                                .seed = 5,
                                .ret_sum = (uint64_t *)(uintptr_t)sum };
    device_launch const launch = { .kernel = GPU_K_random_lines,
                                   .blocks = (n + GPU_BLOCK - 1) / GPU_BLOCK,
                                   .threads = GPU_BLOCK,
                                   .argument = &job };
    bench_must(device_enter(bench_gpu->device), "enter");
    for (unsigned i = 0; i <= REPEATS; i++) {
        bench_must(device_mark(bench_gpu->device, 0, NULL), "mark");
        bench_must(device_run(bench_gpu->device, &launch), "random lines");
        bench_must(device_mark(bench_gpu->device, 1, NULL), "mark");
        if (i != 0) times[i - 1] = device_elapsed(bench_gpu->device, 0, 1);
    }
    device_leave(bench_gpu->device);
    return (double)n / median(times, REPEATS) / 1e6;
}

/* Adds or removes once, from the call to its end. */
static double rate_of_change(tamis_gpu_set *set, device_address ids, uint64_t n, bool is_removal) {
    tamis_gpu_keys const keys = bench_keys(ids, n);
    tamis_problem        problem = { .text = "" };
    double const         began = bench_seconds();
    bench_stop_if(is_removal ? tamis_gpu_remove(set, &keys, NULL, &problem)
                             : tamis_gpu_add(set, &keys, &problem),
                  &problem, is_removal ? "remove" : "add");
    return (double)n / (bench_seconds() - began) / 1e9;
}

/* Memory of the GPU for measuring. */
typedef struct bench_arena {
    device_address ids;             /* 0, 1, 2, ...: as many as the largest table */
    device_address present, absent; /* ids to ask for, ASKED each */
    device_address answers;
} bench_arena;

/* Ids below n, again and again, and ids from n on. */
static void make_questions(const bench_arena *arena, uint64_t n) {
    uint64_t *const ids = malloc(8 * ASKED);
    bench_must(ids == NULL ? TAMIS_ERR_MEMORY : TAMIS_OK, "ids");
    for (uint64_t i = 0; i < ASKED; i++) ids[i] = i % n;
    bench_send(arena->present, ids, 8 * ASKED);
    for (uint64_t i = 0; i < ASKED; i++) ids[i] = n + i;
    bench_send(arena->absent, ids, 8 * ASKED);
    free(ids);
}

static void empty_set(tamis_gpu_set *set) {
    bench_must(device_enter(bench_gpu->device), "enter");
    bench_must(device_zero(bench_gpu->device, set_body(set), set->facts.body_bytes, NULL), "zero");
    device_leave(bench_gpu->device);
    set->facts.keys = set->attic = 0;
}

/* A row of the table: fill an empty set with n keys, ask, remove a tenth. */
static void measure_set(const char *name, tamis_spec spec, uint64_t n, const bench_arena *arena) {
    tamis_gpu_set *set;
    tamis_problem  problem = { .text = "" };
    double         add[CHANGES], removal[CHANGES] = { 0 };
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &set, &problem), &problem, "create");
    make_questions(arena, n);
    for (unsigned i = 0; i < CHANGES; i++) {
        empty_set(set);
        add[i] = rate_of_change(set, arena->ids, n, false);
        if ((set_abilities(set) & TAMIS_CAN_REMOVE) != 0)
            removal[i] = rate_of_change(set, arena->ids, n / 10, true);
    }
    empty_set(set);
    (void)rate_of_change(set, arena->ids, n, false);
    double const present = rate_of_has(set, arena->present, ASKED, arena->answers);
    double const absent = rate_of_has(set, arena->absent, ASKED, arena->answers);
    double const lines = rate_of_lines(set, ASKED, arena->answers);
    (void)printf("  %-16s %10.0e %8.1f MB %8.2f %8.2f %8.2f %7.2f %7.2f %8.2f %8.2f\n", name,
                 (double)n, (double)set->facts.body_bytes / 1e6, present, absent, lines,
                 present / lines, absent / lines, median(add, CHANGES), median(removal, CHANGES));
    (void)fflush(stdout);
    tamis_gpu_free(set);
}

/* Keys and answers in this machine's memory; for comparison, the time of only copying the keys. */
static void measure_host(const tamis_gpu_set *set, uint64_t n, device_address there,
                         bool is_pinned) {
    uint64_t *const      ids = is_pinned ? device_pin(bench_gpu->device, 8 * n) : malloc(8 * n);
    uint8_t *const       has = is_pinned ? device_pin(bench_gpu->device, n) : malloc(n);
    double               asks[REPEATS], copies[REPEATS];
    tamis_gpu_keys const keys = { ids, n, TAMIS_GPU_HOST, NULL };
    if (ids == NULL || has == NULL) bench_must(TAMIS_ERR_MEMORY, "host keys");
    for (uint64_t i = 0; i < n; i++) ids[i] = 3 * i;
    memset(has, 0, n);
    for (unsigned i = 0; i < REPEATS; i++) {
        double const began = bench_seconds();
        bench_must(tamis_gpu_has(set, &keys, has, NULL), "has");
        double const asked = bench_seconds();
        bench_send(there, ids, 8 * n);
        asks[i] = asked - began;
        copies[i] = bench_seconds() - asked;
    }
    double const ask = median(asks, REPEATS), copy = median(copies, REPEATS);
    (void)printf(
        "  host to host, %-9s %6.2f G keys/s, %5.1f GB/s of keys; a copy of the keys alone "
        "%5.1f GB/s; ratio %.2f\n",
        is_pinned ? "pinned:" : "pageable:", (double)n / ask / 1e9, 8 * (double)n / ask / 1e9,
        8 * (double)n / copy / 1e9, copy / ask);
    (void)fflush(stdout);
    if (is_pinned) {
        device_unpin(bench_gpu->device, ids);
        device_unpin(bench_gpu->device, has);
    } else {
        free(ids);
        free(has);
    }
}

/* Adds and removals of keys in this machine's memory, from the call to its end. */
static void measure_host_changes(uint64_t n, device_address there, bool is_pinned) {
    tamis_spec const     spec = bench_spec(n, 0.003, TAMIS_CAN_REMOVE, "line");
    uint64_t *const      ids = is_pinned ? device_pin(bench_gpu->device, 8 * n) : malloc(8 * n);
    tamis_gpu_keys const keys = { ids, n, TAMIS_GPU_HOST, NULL };
    double               add[CHANGES], removal[CHANGES], copy[CHANGES];
    tamis_gpu_set       *set;
    tamis_problem        problem = { .text = "" };
    if (ids == NULL) bench_must(TAMIS_ERR_MEMORY, "host keys");
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &set, &problem), &problem, "create");
    for (uint64_t i = 0; i < n; i++) ids[i] = 3 * i;
    for (unsigned i = 0; i < CHANGES; i++) {
        double const began = bench_seconds();
        bench_stop_if(tamis_gpu_add(set, &keys, &problem), &problem, "add");
        double const added = bench_seconds();
        bench_stop_if(tamis_gpu_remove(set, &keys, NULL, &problem), &problem, "remove");
        double const removed = bench_seconds();
        bench_send(there, ids, 8 * n);
        copy[i] = bench_seconds() - removed;
        removal[i] = removed - added;
        add[i] = added - began;
    }
    (void)printf("  from the host, %-9s add %.2f G/s, remove all %.2f G/s; a copy of the keys "
                 "alone %.2f G/s\n",
                 is_pinned ? "pinned:" : "pageable:", (double)n / median(add, CHANGES) / 1e9,
                 (double)n / median(removal, CHANGES) / 1e9,
                 (double)n / median(copy, CHANGES) / 1e9);
    (void)fflush(stdout);
    tamis_gpu_free(set);
    if (is_pinned)
        device_unpin(bench_gpu->device, ids);
    else
        free(ids);
}

static void measure_copies(device_address there, uint64_t n) {
    tamis_spec const spec = bench_spec(10000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_gpu_set   *set;
    tamis_problem    problem = { .text = "" };
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &set, &problem), &problem, "create");
    bench_must(device_enter(bench_gpu->device), "enter");
    measure_host(set, n, there, true);
    measure_host(set, n, there, false);
    measure_host_changes(n, there, true);
    measure_host_changes(n, there, false);
    device_leave(bench_gpu->device);
    tamis_gpu_free(set);
}

/* Small calls, in milliseconds: the least that a call costs. */
static void measure_small(const bench_arena *arena, uint64_t keys) {
    tamis_spec const spec = bench_spec(keys, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_gpu_set   *set;
    tamis_problem    problem = { .text = "" };
    uint64_t *const  ids = bench_ids(0, 1000000, 7);
    uint8_t *const   has = malloc(1000000);
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &set, &problem), &problem, "create");
    (void)rate_of_change(set, arena->ids, keys / 2, false);
    (void)printf("small calls, in milliseconds, in a table for %.0e keys\n", (double)keys);
    for (uint64_t n = 1000; n <= 1000000 && n <= keys / 4; n *= 10) {
        double               there[REPEATS], here[REPEATS], add[REPEATS];
        tamis_gpu_keys const keys_here = { ids, n, TAMIS_GPU_HOST, NULL };
        for (unsigned i = 0; i < REPEATS; i++) {
            there[i] = 1e-6 * (double)n / rate_of_has(set, arena->present, n, arena->answers);
            double const began = bench_seconds();
            bench_must(tamis_gpu_has(set, &keys_here, has, NULL), "has");
            here[i] = 1e3 * (bench_seconds() - began);
            add[i] = 1e-6 * (double)n / rate_of_change(set, arena->absent, n, false);
            /* So that the set is the same at the start of each round, and never full. */
            (void)rate_of_change(set, arena->absent, n, true);
        }
        (void)printf("  %8llu keys: has %.3f there, %.3f from here; add %.2f\n",
                     (unsigned long long)n, median(there, REPEATS), median(here, REPEATS),
                     median(add, REPEATS));
    }
    tamis_gpu_free(set);
    free(ids);
    free(has);
}

static bench_arena make_arena(uint64_t largest) {
    uint64_t const    piece = min_u64(largest, UINT64_C(1) << 24);
    bench_arena const arena = { bench_get_memory(8 * largest), bench_get_memory(8 * ASKED),
                                bench_get_memory(8 * ASKED), bench_get_memory(ASKED) };
    for (uint64_t first = 0; first < largest; first += piece) {
        uint64_t const  n = min_u64(piece, largest - first);
        uint64_t *const some = bench_ids(first, n, 1);
        bench_send(arena.ids + 8 * first, some, 8 * n);
        free(some);
    }
    return arena;
}

void bench_speed(uint64_t smallest, uint64_t largest) {
    unsigned const    can = TAMIS_CAN_REMOVE;
    bench_arena const arena = make_arena(largest);
    uint64_t const    size = min_u64(largest, 100000000);
    (void)printf("speed: billions a second; lines are bare random lines of 64 bytes\n"
                 "  kind                   keys        body  present   absent    lines  "
                 "p/lines a/lines      add   remove\n");
    for (uint64_t n = smallest; n <= largest; n *= 10) {
        measure_set("line", bench_spec(n, 0.003, can, "line"), n, &arena);
        if (3 * n < largest)
            measure_set("line", bench_spec(3 * n, 0.003, can, "line"), 3 * n, &arena);
    }
    measure_set("line, set", bench_spec(size, 0.003, 0, "line"), size, &arena);
    measure_set("line, 1e-5", bench_spec(size, 1e-5, can, "line"), size, &arena);
    measure_set("line, counters", bench_spec(size, 0.003, can | TAMIS_CAN_COUNT, "line"), size,
                &arena);
    measure_set("bloom, blocked", bench_spec(size, 0.003, 0, "bloom"), size, &arena);
    tamis_spec spec = bench_spec(size, 0.003, 0, "bloom");
    spec.prefer = TAMIS_PREFER_SMALL;
    measure_set("bloom, scattered", spec, size, &arena);
    measure_copies(arena.present, ASKED);
    measure_small(&arena, largest);
    bench_free_memory(arena.ids);
    bench_free_memory(arena.present);
    bench_free_memory(arena.absent);
    bench_free_memory(arena.answers);
}
