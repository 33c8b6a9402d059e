/* bench.c - tamis-gpu-bench: is a set on the GPU the set of the CPU, byte for byte, and how fast is
 * it there?
 *
 * usage: tamis-gpu-bench check|speed|all [LARGEST [SMALLEST]]
 *
 * `check` builds sets of all modes on both sides and compares their files, up to LARGEST keys (10^8
 * if it is not given). `speed` measures lookups, adds and removals in tables of SMALLEST (10^5) to
 * LARGEST keys, and copies. Keys are in the memory of the GPU, times are from device events, and a
 * figure is the median of several runs. It sees the insides of the library (device.h) for that.
 */
#include "set.h"

#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REPEATS 7
#define CHANGES 3                 /* repeats of adds and removals */
#define ASKED (UINT64_C(1) << 27) /* keys of a measured lookup */

static tamis_gpu *gpu;
static unsigned   failures;

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop_if(tamis_status status, const tamis_problem *problem, const char *what) {
    if (status == TAMIS_OK) return;
    (void)printf("%s: %s: %s\n", what, tamis_status_text(status), problem->text);
    exit(1);
}

static void must(tamis_status status, const char *what) {
    tamis_problem const none = { .text = "" };
    stop_if(status, &none, what);
}

static tamis_spec make_spec(uint64_t capacity, double fpr, unsigned abilities, const char *kind) {
    static const tamis_seed seed = { 42, 43 };
    tamis_spec              spec = TAMIS_SPEC_INIT;
    spec.capacity = capacity;
    spec.fpr = fpr;
    spec.abilities = abilities;
    spec.kind = kind;
    spec.seed = &seed;
    return spec;
}

/* ------------------------------------------------------------------ keys in the GPU's memory */

static device_address get_memory(uint64_t bytes) {
    device_address address = 0;
    device_enter(gpu->device);
    if (device_alloc(gpu->device, bytes, &address) != TAMIS_OK) {
        (void)printf("%.1f GB of the GPU's memory: %s\n", (double)bytes / 1e9,
                     device_why(gpu->device));
        exit(1);
    }
    device_leave(gpu->device);
    return address;
}

static void free_memory(device_address address) {
    device_enter(gpu->device);
    device_free(gpu->device, address);
    device_leave(gpu->device);
}

static void send(device_address to, const void *from, uint64_t bytes) {
    device_enter(gpu->device);
    must(device_copy_in(gpu->device, to, from, bytes, NULL), "copy in");
    must(device_wait(gpu->device, NULL), "copy in");
    device_leave(gpu->device);
}

static void fetch(void *to, device_address from, uint64_t bytes) {
    device_enter(gpu->device);
    must(device_copy_out(gpu->device, to, from, bytes, NULL), "copy out");
    must(device_wait(gpu->device, NULL), "copy out");
    device_leave(gpu->device);
}

static uint64_t *make_ids(uint64_t first, uint64_t n, uint64_t step) {
    uint64_t *const ids = malloc(8 * n);
    if (ids == NULL) must(TAMIS_ERR_MEMORY, "ids");
    for (uint64_t i = 0; i < n; i++) ids[i] = first + i * step;
    return ids;
}

static tamis_gpu_keys keys_at(device_address at, uint64_t n) {
    return (tamis_gpu_keys){ (const uint64_t *)(uintptr_t)at, n, 0, NULL };
}

/* ------------------------------------------------------------------ check */

static bool append(void *context, const void *bytes, size_t n) {
    uint8_t **const at = context;
    memcpy(*at, bytes, n);
    *at += n;
    return true;
}

/* The file of a set, of so many bytes. */
static uint8_t *file_of(const tamis_set *set, uint64_t bytes) {
    uint8_t *const file = malloc(bytes), *at = file;
    must(file == NULL ? TAMIS_ERR_MEMORY : TAMIS_OK, "a file");
    must(tamis_write(set, append, &at), "write");
    return file;
}

static void compare_files(const char *what, const tamis_set *here, const tamis_gpu_set *there,
                          bool is_bloom) {
    tamis_set    *down;
    tamis_problem problem = { .text = "" };
    stop_if(tamis_gpu_download(there, &down, &problem), &problem, "download");
    uint64_t const bytes = header_file_bytes(there->facts.body_bytes);
    uint64_t const from = is_bloom ? HEADER_BYTES : 0, to = bytes - (is_bloom ? TOTAL_BYTES : 0);
    uint8_t *const a = file_of(here, bytes), *const b = file_of(down, bytes);
    uint64_t different = 0;
    for (uint64_t i = from; i < to; i++) different += a[i] != b[i];
    (void)printf("  %-34s %12llu bytes compared, %llu differ\n", what,
                 (unsigned long long)(to - from), (unsigned long long)different);
    failures += different != 0;
    free(a);
    free(b);
    tamis_free(down);
    (void)fflush(stdout);
}

/* Ask for n ids, half of them present, on both sides. */
static void compare_answers(const tamis_set *here, const tamis_gpu_set *there, const uint64_t *ids,
                            uint64_t n) {
    device_address const at = get_memory(8 * n), answers = get_memory(8 * n);
    tamis_gpu_keys const keys = keys_at(at, n);
    bool *const expected = malloc(n), *const has = malloc(n);
    uint64_t *const counts = malloc(8 * n), *const counted = malloc(8 * n);
    uint64_t      different = 0;
    tamis_problem problem = { .text = "" };
    send(at, ids, 8 * n);
    stop_if(tamis_gpu_has(there, &keys, (uint8_t *)(uintptr_t)answers, &problem), &problem, "has");
    fetch(has, answers, n);
    uint64_t const present = tamis_has_id_batch(here, ids, n, expected);
    for (uint64_t i = 0; i < n; i++) different += has[i] != expected[i];
    if ((set_abilities(there) & TAMIS_CAN_COUNT) != 0) {
        stop_if(tamis_gpu_count(there, &keys, (uint64_t *)(uintptr_t)answers, &problem), &problem,
                "count");
        fetch(counted, answers, 8 * n);
        must(tamis_count_id_batch(here, ids, n, counts), "count");
        for (uint64_t i = 0; i < n; i++) different += counts[i] != counted[i];
    }
    (void)printf("  %-34s %12llu keys asked, %llu present, %llu answers differ\n", "",
                 (unsigned long long)n, (unsigned long long)present, (unsigned long long)different);
    failures += different != 0;
    free(expected);
    free(has);
    free(counts);
    free(counted);
    free_memory(at);
    free_memory(answers);
}

/* Add n ids, remove a tenth of them, and compare after each. */
static void check_set(const char *what, tamis_spec spec, uint64_t n) {
    tamis_set     *here;
    tamis_gpu_set *there;
    tamis_problem  problem = { .text = "" };
    uint64_t      *ids = make_ids(1, n, 3);
    bool const     is_bloom = spec.kind != NULL && strcmp(spec.kind, "bloom") == 0;
    stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    stop_if(tamis_gpu_create(gpu, &spec, &there, &problem), &problem, "create on the GPU");
    device_address const at = get_memory(8 * n);
    tamis_gpu_keys       keys = keys_at(at, n);
    send(at, ids, 8 * n);
    double const began = seconds();
    stop_if(tamis_gpu_add(there, &keys, &problem), &problem, "add");
    double const added = seconds();
    must(tamis_add_id_batch(here, ids, n, NULL), "add on the CPU");
    (void)printf("  %-34s %12llu keys added in %.3f s there, %.1f s here\n", what,
                 (unsigned long long)n, added - began, seconds() - added);
    compare_files("", here, there, is_bloom);
    if ((set_abilities(there) & TAMIS_CAN_REMOVE) != 0) {
        tamis_removal a, b;
        keys.n = n / 10;
        stop_if(tamis_gpu_remove(there, &keys, &a, &problem), &problem, "remove");
        must(tamis_remove_id_batch(here, ids, n / 10, NULL, &b), "remove on the CPU");
        failures += a.removed != b.removed || a.absent != b.absent || a.saturated != b.saturated;
        compare_files("a tenth removed", here, there, is_bloom);
    }
    uint64_t const asked = min_u64(n, 2000000);
    for (uint64_t i = 0; i < asked; i++) ids[i] = mix64(i) % (6 * n);
    compare_answers(here, there, ids, asked);
    free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

/* Many copies of few keys. */
static void check_flood(uint64_t n) {
    tamis_spec const spec = make_spec(1000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_set       *here;
    tamis_gpu_set   *there;
    tamis_problem    problem = { .text = "" };
    uint64_t        *ids = make_ids(77, n, 0);
    stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    stop_if(tamis_gpu_create(gpu, &spec, &there, &problem), &problem, "create on the GPU");
    device_address const at = get_memory(8 * n);
    tamis_gpu_keys const keys = keys_at(at, n);
    send(at, ids, 8 * n);
    double const began = seconds();
    stop_if(tamis_gpu_add(there, &keys, &problem), &problem, "add");
    (void)printf("  %-34s %12llu copies added in %.3f s\n", "one key", (unsigned long long)n,
                 seconds() - began);
    must(tamis_add_id_batch(here, ids, n, NULL), "add on the CPU");
    compare_files("", here, there, false);
    free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

/* More keys than fit: refused as a whole, and nothing has changed. */
static void check_refusal(void) {
    tamis_spec const spec = make_spec(1000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_set       *here;
    tamis_gpu_set   *there;
    tamis_problem    problem = { .text = "" };
    uint64_t const   n = 4000000;
    uint64_t        *ids = make_ids(1, n, 5);
    stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    must(tamis_add_id_batch(here, ids, 900000, NULL), "add on the CPU");
    stop_if(tamis_gpu_upload(gpu, here, &there, &problem), &problem, "upload");
    device_address const at = get_memory(8 * n);
    tamis_gpu_keys const keys = keys_at(at, n);
    send(at, ids, 8 * n);
    tamis_status const status = tamis_gpu_add(there, &keys, &problem);
    (void)printf("  too many keys: %s\n", problem.text);
    failures += status != TAMIS_ERR_FULL;
    there->facts.refused_adds = 0;
    compare_files("after the refusal", here, there, false);
    free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

static void check_too_large(void) {
    tamis_spec const   spec = make_spec(UINT64_C(200000000000), 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_gpu_set     *there;
    tamis_problem      problem = { .text = "" };
    tamis_status const status = tamis_gpu_create(gpu, &spec, &there, &problem);
    (void)printf("  2 * 10^11 keys: %s\n", problem.text);
    failures += status != TAMIS_ERR_MEMORY;
}

static void check(uint64_t largest) {
    unsigned const can = TAMIS_CAN_REMOVE;
    uint64_t const n = min_u64(largest, 1000000);
    tamis_spec     tight = make_spec(n, 0.003, can, "line");
    tight.prefer = TAMIS_PREFER_SMALL;
    (void)printf("check\n");
    check_set("line, set", make_spec(n, 0.003, 0, "line"), n);
    check_set("line, multiset", make_spec(n, 0.003, can, "line"), n);
    check_set("line, the smallest", tight, n);
    check_set("line, 1e-6", make_spec(n, 1e-6, can, "line"), n);
    check_set("line, counters", make_spec(n, 0.003, can | TAMIS_CAN_COUNT, "line"), n);
    check_set("line, 1e-5, counters", make_spec(n, 1e-5, can | TAMIS_CAN_COUNT, "line"), n);
    check_set("bloom, blocked", make_spec(n, 0.003, 0, "bloom"), n);
    tight = make_spec(n, 0.003, 0, "bloom");
    tight.prefer = TAMIS_PREFER_SMALL;
    check_set("bloom, scattered", tight, n);
    check_flood(50 * n);
    check_refusal();
    check_too_large();
    for (uint64_t more = 10 * n; more <= largest; more *= 10)
        check_set("line, multiset", make_spec(more, 0.003, can, "line"), more);
}

/* ------------------------------------------------------------------ speed */

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
    tamis_gpu_keys const keys = keys_at(ids, n);
    for (unsigned i = 0; i <= REPEATS; i++) {
        device_enter(gpu->device);
        must(device_mark(gpu->device, 0, NULL), "mark");
        must(tamis_gpu_has(set, &keys, (uint8_t *)(uintptr_t)answers, NULL), "has");
        must(device_mark(gpu->device, 1, NULL), "mark");
        if (i != 0) times[i - 1] = device_elapsed(gpu->device, 0, 1);
        device_leave(gpu->device);
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
    device_enter(gpu->device);
    for (unsigned i = 0; i <= REPEATS; i++) {
        must(device_mark(gpu->device, 0, NULL), "mark");
        must(device_run(gpu->device, &launch), "random lines");
        must(device_mark(gpu->device, 1, NULL), "mark");
        if (i != 0) times[i - 1] = device_elapsed(gpu->device, 0, 1);
    }
    device_leave(gpu->device);
    return (double)n / median(times, REPEATS) / 1e6;
}

/* Adds or removes once, from the call to its end. */
static double rate_of_change(tamis_gpu_set *set, device_address ids, uint64_t n, bool is_removal) {
    tamis_gpu_keys const keys = keys_at(ids, n);
    tamis_problem        problem = { .text = "" };
    double const         began = seconds();
    stop_if(is_removal ? tamis_gpu_remove(set, &keys, NULL, &problem)
                       : tamis_gpu_add(set, &keys, &problem),
            &problem, is_removal ? "remove" : "add");
    return (double)n / (seconds() - began) / 1e9;
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
    must(ids == NULL ? TAMIS_ERR_MEMORY : TAMIS_OK, "ids");
    for (uint64_t i = 0; i < ASKED; i++) ids[i] = i % n;
    send(arena->present, ids, 8 * ASKED);
    for (uint64_t i = 0; i < ASKED; i++) ids[i] = n + i;
    send(arena->absent, ids, 8 * ASKED);
    free(ids);
}

static void empty_set(tamis_gpu_set *set) {
    device_enter(gpu->device);
    must(device_zero(gpu->device, set_body(set), set->facts.body_bytes, NULL), "zero");
    device_leave(gpu->device);
    set->facts.keys = set->attic = 0;
}

/* A row of the table: fill an empty set with n keys, ask, remove a tenth. */
static void measure_set(const char *name, tamis_spec spec, uint64_t n, const bench_arena *arena) {
    tamis_gpu_set *set;
    tamis_problem  problem = { .text = "" };
    double         add[CHANGES], removal[CHANGES] = { 0 };
    stop_if(tamis_gpu_create(gpu, &spec, &set, &problem), &problem, "create");
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

/* Keys and answers in this machine's memory; beside it, copies of the keys alone. */
static void measure_host(const tamis_gpu_set *set, uint64_t n, device_address there,
                         bool is_pinned) {
    uint64_t *const      ids = is_pinned ? device_pin(gpu->device, 8 * n) : malloc(8 * n);
    uint8_t *const       has = is_pinned ? device_pin(gpu->device, n) : malloc(n);
    double               asks[REPEATS], copies[REPEATS];
    tamis_gpu_keys const keys = { ids, n, TAMIS_GPU_HOST, NULL };
    if (ids == NULL || has == NULL) must(TAMIS_ERR_MEMORY, "host keys");
    for (uint64_t i = 0; i < n; i++) ids[i] = 3 * i;
    memset(has, 0, n);
    for (unsigned i = 0; i < REPEATS; i++) {
        double const began = seconds();
        must(tamis_gpu_has(set, &keys, has, NULL), "has");
        double const asked = seconds();
        send(there, ids, 8 * n);
        asks[i] = asked - began;
        copies[i] = seconds() - asked;
    }
    double const ask = median(asks, REPEATS), copy = median(copies, REPEATS);
    (void)printf(
        "  host to host, %-9s %6.2f G keys/s, %5.1f GB/s of keys; a copy of the keys alone "
        "%5.1f GB/s; ratio %.2f\n",
        is_pinned ? "pinned:" : "pageable:", (double)n / ask / 1e9, 8 * (double)n / ask / 1e9,
        8 * (double)n / copy / 1e9, copy / ask);
    (void)fflush(stdout);
    if (is_pinned) {
        device_unpin(gpu->device, ids);
        device_unpin(gpu->device, has);
    } else {
        free(ids);
        free(has);
    }
}

static void measure_copies(device_address there, uint64_t n) {
    tamis_spec const spec = make_spec(10000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_gpu_set   *set;
    tamis_problem    problem = { .text = "" };
    stop_if(tamis_gpu_create(gpu, &spec, &set, &problem), &problem, "create");
    device_enter(gpu->device);
    measure_host(set, n, there, true);
    measure_host(set, n, there, false);
    device_leave(gpu->device);
    tamis_gpu_free(set);
}

static bench_arena make_arena(uint64_t largest) {
    uint64_t const    piece = min_u64(largest, UINT64_C(1) << 24);
    bench_arena const arena = { get_memory(8 * largest), get_memory(8 * ASKED),
                                get_memory(8 * ASKED), get_memory(ASKED) };
    for (uint64_t first = 0; first < largest; first += piece) {
        uint64_t const  n = min_u64(piece, largest - first);
        uint64_t *const some = make_ids(first, n, 1);
        send(arena.ids + 8 * first, some, 8 * n);
        free(some);
    }
    return arena;
}

static void measure(uint64_t smallest, uint64_t largest) {
    unsigned const    can = TAMIS_CAN_REMOVE;
    bench_arena const arena = make_arena(largest);
    uint64_t const    size = min_u64(largest, 100000000);
    (void)printf("speed: billions a second; lines are bare random lines of 64 bytes\n"
                 "  kind                   keys        body  present   absent    lines  "
                 "p/lines a/lines      add   remove\n");
    for (uint64_t n = smallest; n <= largest; n *= 10) {
        measure_set("line", make_spec(n, 0.003, can, "line"), n, &arena);
        if (3 * n < largest)
            measure_set("line", make_spec(3 * n, 0.003, can, "line"), 3 * n, &arena);
    }
    measure_set("line, set", make_spec(size, 0.003, 0, "line"), size, &arena);
    measure_set("line, 1e-5", make_spec(size, 1e-5, can, "line"), size, &arena);
    measure_set("line, counters", make_spec(size, 0.003, can | TAMIS_CAN_COUNT, "line"), size,
                &arena);
    measure_set("bloom, blocked", make_spec(size, 0.003, 0, "bloom"), size, &arena);
    tamis_spec spec = make_spec(size, 0.003, 0, "bloom");
    spec.prefer = TAMIS_PREFER_SMALL;
    measure_set("bloom, scattered", spec, size, &arena);
    measure_copies(arena.present, ASKED);
    free_memory(arena.ids);
    free_memory(arena.present);
    free_memory(arena.absent);
    free_memory(arena.answers);
}

int main(int argc, char **argv) {
    const char *const  what = argc > 1 ? argv[1] : "all";
    uint64_t const     largest = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000;
    uint64_t const     smallest = argc > 3 ? strtoull(argv[3], NULL, 10) : 100000;
    tamis_problem      problem = { .text = "" };
    tamis_gpu_facts    facts;
    double const       began = seconds();
    tamis_status const status = tamis_gpu_open(0, &gpu, &problem);
    if (status != TAMIS_OK) {
        (void)printf("%s\n", problem.text);
        return 77;
    }
    must(tamis_gpu_describe(gpu, &facts), "describe");
    (void)printf(
        "%s, %.0f GB, %u multiprocessors, compute capability %u.%u, driver for CUDA %u.%u; "
        "opened in %.2f s\n",
        facts.name, (double)facts.memory_bytes / 1e9, facts.multiprocessors, facts.capability / 10,
        facts.capability % 10, facts.driver_version / 1000, facts.driver_version % 1000 / 10,
        seconds() - began);
    (void)fflush(stdout);
    if (strcmp(what, "speed") != 0) check(largest);
    if (strcmp(what, "check") != 0) measure(smallest, largest);
    (void)printf("%u failed\n", failures);
    tamis_gpu_close(gpu);
    return failures != 0;
}
