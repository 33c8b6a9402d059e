/* bench.h - what the parts of tamis-gpu-bench share. */
#ifndef TAMIS_GPU_BENCH_H
#define TAMIS_GPU_BENCH_H

#include "set.h"

extern tamis_gpu *bench_gpu;
extern unsigned   bench_failures;

/* A wall clock. */
double bench_seconds(void);

/* End the program with a sentence, unless the status is TAMIS_OK. */
void bench_stop_if(tamis_status status, const tamis_problem *problem, const char *attempt);
void bench_must(tamis_status status, const char *attempt);

/* A spec with a fixed seed. */
tamis_spec bench_spec(uint64_t capacity, double fpr, unsigned abilities, const char *kind);

/* Memory of the GPU. */
device_address bench_get_memory(uint64_t bytes);
void           bench_free_memory(device_address address);
void           bench_send(device_address to, const void *from, uint64_t bytes);
void           bench_fetch(void *to, device_address from, uint64_t bytes);

/* n ids, in memory for free(): first, first + step, ... */
uint64_t *bench_ids(uint64_t first, uint64_t n, uint64_t step);

/* n ids in the memory of the GPU. */
tamis_gpu_keys bench_keys(device_address at, uint64_t n);

/* The two jobs: up to this many keys. */
void bench_check(uint64_t largest);
void bench_speed(uint64_t smallest, uint64_t largest);

#endif
