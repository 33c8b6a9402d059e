/* shim.h - the few functions of a GPU that kernels use: thread numbers, shared memory, barriers,
 * votes and atomic operations.
 *
 * Kernels are C. clang compiles them to PTX; the same source is also compiled for the host, where a
 * block runs as fibers (tests/gpu/emulator.c), so that it is tested without a GPU.
 *
 * A warp is 32 threads. All threads of a warp must reach the same warp barriers in the same order,
 * and all threads of a block the same block barriers; otherwise the emulator stops the test.
 */
#ifndef TAMIS_GPU_SHIM_H
#define TAMIS_GPU_SHIM_H

#include "table.h"

#define GPU_ALL 0xffffffffu

/* 16 bytes at an address that is a multiple of 16: one load. */
typedef struct gpu_pair {
    uint64_t low, high;
} gpu_pair;

#if defined(__NVPTX__)

#define GPU_KERNEL __attribute__((nvptx_kernel, used)) void

TAMIS_INLINE unsigned gpu_thread(void) {
    return (unsigned)__nvvm_read_ptx_sreg_tid_x();
}
TAMIS_INLINE unsigned gpu_block(void) {
    return (unsigned)__nvvm_read_ptx_sreg_ctaid_x();
}
TAMIS_INLINE unsigned gpu_threads(void) {
    return (unsigned)__nvvm_read_ptx_sreg_ntid_x();
}
TAMIS_INLINE unsigned gpu_blocks(void) {
    return (unsigned)__nvvm_read_ptx_sreg_nctaid_x();
}

extern __attribute__((address_space(3), aligned(16))) uint8_t gpu_shared_bytes[];

/* The shared memory of the block, as many bytes as the launch asked for. */
TAMIS_INLINE void *gpu_shared(void) {
    return (void *)gpu_shared_bytes;
}

TAMIS_INLINE void gpu_warp_sync(void) {
    __nvvm_bar_warp_sync(GPU_ALL);
}
TAMIS_INLINE void gpu_block_sync(void) {
    __nvvm_bar_sync(0);
}

/* A vote: bit i is the answer of thread i of the warp. */
TAMIS_INLINE uint32_t gpu_ballot(bool mine) {
    return __nvvm_vote_ballot_sync(GPU_ALL, mine);
}
/* The value of thread `lane` of the warp. */
TAMIS_INLINE uint32_t gpu_shuffle(uint32_t mine, unsigned lane) {
    return (uint32_t)__nvvm_shfl_sync_idx_i32(GPU_ALL, (int)mine, (int)lane, 31);
}

typedef uint64_t gpu_vector __attribute__((ext_vector_type(2)));

TAMIS_INLINE gpu_pair gpu_load_pair(const void *from) {
    gpu_vector const pair = *(const gpu_vector *)from;
    return (gpu_pair){ pair.x, pair.y };
}
TAMIS_INLINE void gpu_store_pair(void *to, gpu_pair pair) {
    *(gpu_vector *)to = (gpu_vector){ pair.low, pair.high };
}

#else

#define GPU_KERNEL void

/* The position of the running fiber (tests/gpu/emulator.c). */
typedef struct gpu_host {
    unsigned thread, block, threads, blocks;
    void    *shared;
} gpu_host;

extern _Thread_local gpu_host gpu_now;

void     gpu_warp_sync(void);
void     gpu_block_sync(void);
uint32_t gpu_ballot(bool mine);
uint32_t gpu_shuffle(uint32_t mine, unsigned lane);

TAMIS_INLINE unsigned gpu_thread(void) {
    return gpu_now.thread;
}
TAMIS_INLINE unsigned gpu_block(void) {
    return gpu_now.block;
}
TAMIS_INLINE unsigned gpu_threads(void) {
    return gpu_now.threads;
}
TAMIS_INLINE unsigned gpu_blocks(void) {
    return gpu_now.blocks;
}
TAMIS_INLINE void *gpu_shared(void) {
    return gpu_now.shared;
}

/* The alignment is checked, since a GPU would stop with an error. */
TAMIS_INLINE gpu_pair gpu_load_pair(const void *from) {
    TAMIS_ASSERT((uintptr_t)from % 16 == 0);
    return *(const gpu_pair *)from;
}
TAMIS_INLINE void gpu_store_pair(void *to, gpu_pair pair) {
    TAMIS_ASSERT((uintptr_t)to % 16 == 0);
    *(gpu_pair *)to = pair;
}

#endif

TAMIS_INLINE unsigned gpu_lane(void) {
    return gpu_thread() % GPU_WARP;
}

/* Aligned loads and stores, each with one instruction. */
TAMIS_INLINE uint64_t gpu_load64(const void *from) {
    TAMIS_ASSERT((uintptr_t)from % 8 == 0);
    return *(const uint64_t *)from;
}
TAMIS_INLINE void gpu_store64(void *to, uint64_t value) {
    TAMIS_ASSERT((uintptr_t)to % 8 == 0);
    *(uint64_t *)to = value;
}
TAMIS_INLINE unsigned gpu_load16(const void *from) {
    TAMIS_ASSERT((uintptr_t)from % 2 == 0);
    return *(const uint16_t *)from;
}

/* Each returns the value before the change. */
TAMIS_INLINE uint32_t gpu_add32(uint32_t *to, uint32_t value) {
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
TAMIS_INLINE uint64_t gpu_add64(uint64_t *to, uint64_t value) {
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
TAMIS_INLINE uint64_t gpu_or64(uint64_t *to, uint64_t value) {
    return __atomic_fetch_or(to, value, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ a warp together */

/* The sum of the values of the threads before this one; *ret_total: of all. */
TAMIS_INLINE uint32_t gpu_warp_sum(uint32_t mine, uint32_t *ret_total) {
    unsigned const lane = gpu_lane();
    uint32_t       sum = mine;
    for (unsigned step = 1; step < GPU_WARP; step *= 2) {
        uint32_t const before = gpu_shuffle(sum, lane - step);
        sum += lane >= step ? before : 0;
    }
    *ret_total = gpu_shuffle(sum, GPU_WARP - 1);
    return sum - mine;
}

#endif
