/* bench_check.c - compare sets on the GPU with those on the CPU: their bytes, and their answers. */
#include "bench.h"

#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>

static bool append(void *context, const void *bytes, size_t n) {
    uint8_t **const at = context;
    memcpy(*at, bytes, n);
    *at += n;
    return true;
}

/* The file of a set, of this many bytes. */
static uint8_t *file_of(const tamis_set *set, uint64_t bytes) {
    uint8_t *const file = malloc(bytes), *at = file;
    bench_must(file == NULL ? TAMIS_ERR_MEMORY : TAMIS_OK, "a file");
    bench_must(tamis_write(set, append, &at), "write");
    return file;
}

static void compare_files(const char *title, const tamis_set *here, const tamis_gpu_set *there,
                          bool is_bloom) {
    tamis_set    *down;
    tamis_problem problem = { .text = "" };
    bench_stop_if(tamis_gpu_download(there, &down, &problem), &problem, "download");
    uint64_t const bytes = header_file_bytes(there->facts.body_bytes);
    uint64_t const from = is_bloom ? HEADER_BYTES : 0, to = bytes - (is_bloom ? TOTAL_BYTES : 0);
    uint8_t *const a = file_of(here, bytes), *const b = file_of(down, bytes);
    uint64_t different = 0;
    for (uint64_t i = from; i < to; i++) different += a[i] != b[i];
    (void)printf("  %-34s %12llu bytes compared, %llu differ\n", title,
                 (unsigned long long)(to - from), (unsigned long long)different);
    bench_failures += different != 0;
    free(a);
    free(b);
    tamis_free(down);
    (void)fflush(stdout);
}

/* Ask for n ids, half of them present, on both sides. */
static void compare_answers(const tamis_set *here, const tamis_gpu_set *there, const uint64_t *ids,
                            uint64_t n) {
    device_address const at = bench_get_memory(8 * n), answers = bench_get_memory(8 * n);
    tamis_gpu_keys const keys = bench_keys(at, n);
    bool *const expected = malloc(n), *const has = malloc(n);
    uint64_t *const counts = malloc(8 * n), *const counted = malloc(8 * n);
    uint64_t      different = 0;
    tamis_problem problem = { .text = "" };
    bench_send(at, ids, 8 * n);
    bench_stop_if(tamis_gpu_has(there, &keys, (uint8_t *)(uintptr_t)answers, &problem), &problem,
                  "has");
    bench_fetch(has, answers, n);
    double const   began = bench_seconds();
    uint64_t const present = tamis_has_id_batch(here, ids, n, expected);
    double const   took = bench_seconds() - began;
    for (uint64_t i = 0; i < n; i++) different += has[i] != expected[i];
    if ((set_abilities(there) & TAMIS_CAN_COUNT) != 0) {
        bench_stop_if(tamis_gpu_count(there, &keys, (uint64_t *)(uintptr_t)answers, &problem),
                      &problem, "count");
        bench_fetch(counted, answers, 8 * n);
        bench_must(tamis_count_id_batch(here, ids, n, counts), "count");
        for (uint64_t i = 0; i < n; i++) different += counts[i] != counted[i];
    }
    (void)printf("  %-34s %12llu keys asked, %llu present, %llu answers differ; %.3f G/s here\n",
                 "", (unsigned long long)n, (unsigned long long)present,
                 (unsigned long long)different, (double)n / took / 1e9);
    bench_failures += different != 0;
    free(expected);
    free(has);
    free(counts);
    free(counted);
    bench_free_memory(at);
    bench_free_memory(answers);
}

/* Add n ids, remove a tenth of them, and compare after each. */
static void check_set(const char *title, tamis_spec spec, uint64_t n) {
    tamis_set     *here;
    tamis_gpu_set *there;
    tamis_problem  problem = { .text = "" };
    uint64_t      *ids = bench_ids(1, n, 3);
    bool const     is_bloom = spec.kind != NULL && strcmp(spec.kind, "bloom") == 0;
    bench_stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &there, &problem), &problem,
                  "create on the GPU");
    device_address const at = bench_get_memory(8 * n);
    tamis_gpu_keys       keys = bench_keys(at, n);
    bench_send(at, ids, 8 * n);
    double const began = bench_seconds();
    bench_stop_if(tamis_gpu_add(there, &keys, &problem), &problem, "add");
    double const added = bench_seconds();
    bench_must(tamis_add_id_batch(here, ids, n, NULL), "add on the CPU");
    (void)printf("  %-34s %12llu keys added in %.3f s there, %.1f s here\n", title,
                 (unsigned long long)n, added - began, bench_seconds() - added);
    compare_files("", here, there, is_bloom);
    if ((set_abilities(there) & TAMIS_CAN_REMOVE) != 0) {
        tamis_removal a, b;
        keys.n = n / 10;
        bench_stop_if(tamis_gpu_remove(there, &keys, &a, &problem), &problem, "remove");
        bench_must(tamis_remove_id_batch(here, ids, n / 10, NULL, &b), "remove on the CPU");
        bench_failures +=
            a.removed != b.removed || a.absent != b.absent || a.saturated != b.saturated;
        compare_files("a tenth removed", here, there, is_bloom);
    }
    uint64_t const asked = min_u64(n, 2000000);
    for (uint64_t i = 0; i < asked; i++) ids[i] = mix64(i) % (6 * n);
    compare_answers(here, there, ids, asked);
    bench_free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

/* Many copies of few keys. */
static void check_flood(uint64_t n) {
    tamis_spec const spec = bench_spec(1000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_set       *here;
    tamis_gpu_set   *there;
    tamis_problem    problem = { .text = "" };
    uint64_t        *ids = bench_ids(77, n, 0);
    bench_stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    bench_stop_if(tamis_gpu_create(bench_gpu, &spec, &there, &problem), &problem,
                  "create on the GPU");
    device_address const at = bench_get_memory(8 * n);
    tamis_gpu_keys const keys = bench_keys(at, n);
    bench_send(at, ids, 8 * n);
    double const began = bench_seconds();
    bench_stop_if(tamis_gpu_add(there, &keys, &problem), &problem, "add");
    (void)printf("  %-34s %12llu copies added in %.3f s\n", "one key", (unsigned long long)n,
                 bench_seconds() - began);
    bench_must(tamis_add_id_batch(here, ids, n, NULL), "add on the CPU");
    compare_files("", here, there, false);
    bench_free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

/* If more keys come than fit, the whole call is refused, and nothing has changed. */
static void check_refusal(void) {
    tamis_spec const spec = bench_spec(1000000, 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_set       *here;
    tamis_gpu_set   *there;
    tamis_problem    problem = { .text = "" };
    uint64_t const   n = 4000000;
    uint64_t        *ids = bench_ids(1, n, 5);
    bench_stop_if(tamis_create(&spec, &here, &problem), &problem, "create");
    bench_must(tamis_add_id_batch(here, ids, 900000, NULL), "add on the CPU");
    bench_stop_if(tamis_gpu_upload(bench_gpu, here, &there, &problem), &problem, "upload");
    device_address const at = bench_get_memory(8 * n);
    tamis_gpu_keys const keys = bench_keys(at, n);
    bench_send(at, ids, 8 * n);
    tamis_status const status = tamis_gpu_add(there, &keys, &problem);
    (void)printf("  too many keys: %s\n", problem.text);
    bench_failures += status != TAMIS_ERR_FULL;
    there->facts.refused_adds = 0;
    compare_files("after the refusal", here, there, false);
    bench_free_memory(at);
    free(ids);
    tamis_gpu_free(there);
    tamis_free(here);
}

static void check_too_large(void) {
    tamis_spec const   spec = bench_spec(UINT64_C(200000000000), 0.003, TAMIS_CAN_REMOVE, "line");
    tamis_gpu_set     *there;
    tamis_problem      problem = { .text = "" };
    tamis_status const status = tamis_gpu_create(bench_gpu, &spec, &there, &problem);
    (void)printf("  2 * 10^11 keys: %s\n", problem.text);
    bench_failures += status != TAMIS_ERR_MEMORY;
}

void bench_check(uint64_t largest) {
    unsigned const can = TAMIS_CAN_REMOVE;
    uint64_t const n = min_u64(largest, 1000000);
    tamis_spec     tight = bench_spec(n, 0.003, can, "line");
    tight.prefer = TAMIS_PREFER_SMALL;
    (void)printf("check\n");
    check_set("line, set", bench_spec(n, 0.003, 0, "line"), n);
    check_set("line, multiset", bench_spec(n, 0.003, can, "line"), n);
    check_set("line, the smallest", tight, n);
    check_set("line, 1e-6", bench_spec(n, 1e-6, can, "line"), n);
    check_set("line, counters", bench_spec(n, 0.003, can | TAMIS_CAN_COUNT, "line"), n);
    check_set("line, 1e-5, counters", bench_spec(n, 1e-5, can | TAMIS_CAN_COUNT, "line"), n);
    check_set("bloom, blocked", bench_spec(n, 0.003, 0, "bloom"), n);
    tight = bench_spec(n, 0.003, 0, "bloom");
    tight.prefer = TAMIS_PREFER_SMALL;
    check_set("bloom, scattered", tight, n);
    check_flood(max_u64(50 * n, largest));
    check_refusal();
    check_too_large();
    for (uint64_t more = 10 * n; more <= largest; more *= 10)
        check_set("line, multiset", bench_spec(more, 0.003, can, "line"), more);
}
