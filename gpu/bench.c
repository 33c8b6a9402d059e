/* bench.c - tamis-gpu-bench: compares sets on the GPU with those on the CPU, and measures their
 * speed.
 *
 * usage: tamis-gpu-bench check|speed|all [LARGEST [SMALLEST]]
 *
 * `check` builds sets of all modes on both sides, with up to LARGEST keys (default: 10^8), and
 * compares their files byte for byte. `speed` measures lookups, adds and removals in tables of
 * SMALLEST (10^5) to
 * LARGEST keys, and copies. Keys are in the memory of the GPU, times are from device events, and a
 * figure is the median of several runs. For that it uses device.h, an internal header of the
 * library.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

tamis_gpu *bench_gpu;
unsigned   bench_failures;

double bench_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void bench_stop_if(tamis_status status, const tamis_problem *problem, const char *attempt) {
    if (status == TAMIS_OK) return;
    (void)printf("%s: %s: %s\n", attempt, tamis_status_text(status), problem->text);
    exit(1);
}

void bench_must(tamis_status status, const char *attempt) {
    tamis_problem const none = { .text = "" };
    bench_stop_if(status, &none, attempt);
}

tamis_spec bench_spec(uint64_t capacity, double fpr, unsigned abilities, const char *kind) {
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

device_address bench_get_memory(uint64_t bytes) {
    device_address address = 0;
    bench_must(device_enter(bench_gpu->device), "enter");
    if (device_alloc(bench_gpu->device, bytes, &address) != TAMIS_OK) {
        (void)printf("%.1f GB of the GPU's memory: %s\n", (double)bytes / 1e9,
                     device_why(bench_gpu->device));
        exit(1);
    }
    device_leave(bench_gpu->device);
    return address;
}

void bench_free_memory(device_address address) {
    bench_must(device_enter(bench_gpu->device), "enter");
    device_free(bench_gpu->device, address);
    device_leave(bench_gpu->device);
}

void bench_send(device_address to, const void *from, uint64_t bytes) {
    bench_must(device_enter(bench_gpu->device), "enter");
    bench_must(device_copy_in(bench_gpu->device, to, from, bytes, NULL), "copy in");
    bench_must(device_wait(bench_gpu->device, NULL), "copy in");
    device_leave(bench_gpu->device);
}

void bench_fetch(void *to, device_address from, uint64_t bytes) {
    bench_must(device_enter(bench_gpu->device), "enter");
    bench_must(device_copy_out(bench_gpu->device, to, from, bytes, NULL), "copy out");
    bench_must(device_wait(bench_gpu->device, NULL), "copy out");
    device_leave(bench_gpu->device);
}

uint64_t *bench_ids(uint64_t first, uint64_t n, uint64_t step) {
    uint64_t *const ids = malloc(8 * n);
    if (ids == NULL) bench_must(TAMIS_ERR_MEMORY, "ids");
    for (uint64_t i = 0; i < n; i++) ids[i] = first + i * step;
    return ids;
}

tamis_gpu_keys bench_keys(device_address at, uint64_t n) {
    return (tamis_gpu_keys){ (const uint64_t *)(uintptr_t)at, n, 0, NULL };
}

int main(int argc, char **argv) {
    const char *const  mode = argc > 1 ? argv[1] : "all";
    uint64_t const     largest = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000;
    uint64_t const     smallest = argc > 3 ? strtoull(argv[3], NULL, 10) : 100000;
    tamis_problem      problem = { .text = "" };
    tamis_gpu_facts    facts;
    double const       began = bench_seconds();
    tamis_status const status = tamis_gpu_open(0, &bench_gpu, &problem);
    if (status != TAMIS_OK) {
        (void)printf("%s\n", problem.text);
        return 77;
    }
    bench_must(tamis_gpu_describe(bench_gpu, &facts), "describe");
    (void)printf(
        "%s, %.0f GB, %u multiprocessors, compute capability %u.%u, driver for CUDA %u.%u; "
        "opened in %.2f s\n",
        facts.name, (double)facts.memory_bytes / 1e9, facts.multiprocessors, facts.capability / 10,
        facts.capability % 10, facts.driver_version / 1000, facts.driver_version % 1000 / 10,
        bench_seconds() - began);
    (void)fflush(stdout);
    if (strcmp(mode, "speed") != 0) bench_check(largest);
    if (strcmp(mode, "check") != 0) bench_speed(smallest, largest);
    (void)printf("%u failed\n", bench_failures);
    tamis_gpu_close(bench_gpu);
    return bench_failures != 0;
}
