/* there.h - memory of the GPU for tests: of the emulator, or of a real one. */
#ifndef TAMIS_TESTS_GPU_THERE_H
#define TAMIS_TESTS_GPU_THERE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tamis/gpu.h>

/* Copy numbers to the memory of the GPU, where they stay until there_forget(). With TAMIS_GPU_HOST
 * they are used in the memory of the host. */
tamis_gpu_keys there_keys(tamis_gpu *gpu, const uint64_t *ids, size_t n, unsigned flags);

/* Free all of them. */
void there_forget(tamis_gpu *gpu);

/* Ask, which must succeed, and copy the answers to the host. Checks that no byte after them is
 * written. */
void there_has(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint8_t *ret_has);
void there_count(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint64_t *ret_counts);
void there_get(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint64_t *ret_values);

#endif
