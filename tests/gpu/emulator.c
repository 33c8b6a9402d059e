/* emulator.c - an implementation of device.h on the host: kernels run on the processor, so that all
 * of the GPU library except the driver is tested without a GPU.
 *
 * The threads of a block are fibers that take turns: each runs up to its next barrier, then the
 * next one runs. Every other round they take turns from the last to the first, so that code that
 * relies on an order fails. At its end a block checks that all its fibers have passed the same
 * number of barriers. Kernels without barriers need no fibers.
 */
#include "emulator.h"
#include "device.h"
#include "kernels/kernels.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_BYTES (64 << 10)
#define MOST_THREADS 256

struct gpu_device {
    uint64_t    used; /* bytes */
    const char *why;
};

uint64_t emulator_memory = UINT64_C(1) << 40;
uint64_t emulator_peak;
uint64_t emulator_shared = UINT64_C(227) << 10;
uint64_t emulator_waits;
uint64_t emulator_allocations = UINT64_MAX;
bool     emulator_refuses_entry, emulator_refuses_pins;
int      emulator_depth;
void    *emulator_waited;

_Thread_local gpu_host gpu_now;

/* ------------------------------------------------------------------ fibers */

static struct {
    ucontext_t  scheduler, fiber[MOST_THREADS];
    char       *stacks;
    bool        is_done[MOST_THREADS];
    unsigned    barriers[MOST_THREADS];
    uint32_t    said[MOST_THREADS]; /* votes and shuffles */
    unsigned    running;
    unsigned    kernel;
    const void *argument;
} now;

static void call_kernel(unsigned kernel, const void *argument) {
    switch (kernel) {
#define CALL(name, type, meets) \
    case GPU_K_##name: k_##name(*(const type *)argument); break;
        GPU_KERNELS(CALL)
#undef CALL
    default: abort();
    }
}

static void run_fiber(void) {
    call_kernel(now.kernel, now.argument);
    now.is_done[now.running] = true;
    (void)swapcontext(&now.fiber[now.running], &now.scheduler);
}

static void barrier(void) {
    unsigned const self = now.running;
    now.barriers[self]++;
    (void)swapcontext(&now.fiber[self], &now.scheduler);
}

void gpu_warp_sync(void) {
    barrier();
}

void gpu_block_sync(void) {
    barrier();
}

/* All threads write, then all read, and only then may one write again. */
uint32_t gpu_shuffle(uint32_t mine, unsigned lane) {
    unsigned const warp = gpu_now.thread / GPU_WARP * GPU_WARP;
    now.said[gpu_now.thread] = mine;
    barrier();
    uint32_t const theirs = now.said[warp + lane % GPU_WARP];
    barrier();
    return theirs;
}

uint32_t gpu_ballot(bool mine) {
    unsigned const warp = gpu_now.thread / GPU_WARP * GPU_WARP;
    uint32_t       votes = 0;
    now.said[gpu_now.thread] = mine;
    barrier();
    for (unsigned i = 0; i < GPU_WARP; i++) votes |= now.said[warp + i] << i;
    barrier();
    return votes;
}

static void start_fiber(unsigned i) {
    now.is_done[i] = false;
    now.barriers[i] = 0;
    (void)getcontext(&now.fiber[i]);
    now.fiber[i].uc_stack.ss_sp = now.stacks + (size_t)i * STACK_BYTES;
    now.fiber[i].uc_stack.ss_size = STACK_BYTES;
    now.fiber[i].uc_link = &now.scheduler;
    makecontext(&now.fiber[i], run_fiber, 0);
}

/* One turn of each fiber. Returns how many have more to do. */
static unsigned take_turns(unsigned threads, bool is_reverse) {
    unsigned left = 0;
    for (unsigned i = 0; i < threads; i++) {
        unsigned const thread = is_reverse ? threads - 1 - i : i;
        if (now.is_done[thread]) continue;
        now.running = gpu_now.thread = thread;
        (void)swapcontext(&now.scheduler, &now.fiber[thread]);
        left += !now.is_done[thread];
    }
    return left;
}

static void run_block(unsigned threads) {
    for (unsigned i = 0; i < threads; i++) start_fiber(i);
    for (unsigned round = 0; take_turns(threads, round % 2 != 0) != 0; round++) {
    }
    for (unsigned i = 1; i < threads; i++) {
        if (now.barriers[i] == now.barriers[0]) continue;
        (void)fprintf(stderr, "kernel %u: thread %u came to %u barriers, thread 0 to %u\n",
                      now.kernel, i, now.barriers[i], now.barriers[0]);
        abort();
    }
}

static bool kernel_meets(unsigned kernel) {
#define MEETS(name, type, meets) meets,
    static const bool all[] = { GPU_KERNELS(MEETS) };
#undef MEETS
    return all[kernel];
}

tamis_status device_run(gpu_device *device, const device_launch *launch) {
    (void)device;
    if (launch->shared_bytes > emulator_shared) return TAMIS_ERR_IO;
    /* The alignment of shared memory, and what is in it, as on a GPU: anything. */
    void *const shared = aligned_alloc(16, (launch->shared_bytes + 31) / 16 * 16);
    memset(shared, 0xa5, launch->shared_bytes);
    gpu_now = (gpu_host){ 0, 0, launch->threads, (unsigned)launch->blocks, shared };
    now.kernel = launch->kernel;
    now.argument = launch->argument;
    if (now.stacks == NULL) now.stacks = malloc((size_t)MOST_THREADS * STACK_BYTES);
    for (gpu_now.block = 0; gpu_now.block < launch->blocks; gpu_now.block++) {
        if (kernel_meets(launch->kernel)) {
            run_block(launch->threads);
            continue;
        }
        for (gpu_now.thread = 0; gpu_now.thread < launch->threads; gpu_now.thread++)
            call_kernel(launch->kernel, launch->argument);
    }
    free(shared);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ a gpu_device */

tamis_status device_open(int number, gpu_device **ret_device, tamis_problem *problem) {
    if (number != 0) return say(problem, TAMIS_ERR_CANNOT, "there is no GPU %d", number);
    *ret_device = calloc(1, sizeof **ret_device);
    return TAMIS_OK;
}

void device_close(gpu_device *device) {
    free(device);
    free(now.stacks);
    now.stacks = NULL;
}

void device_describe(gpu_device *device, tamis_gpu_facts *ret_facts) {
    *ret_facts = (tamis_gpu_facts){ .name = "emulator",
                                    .memory_bytes = emulator_memory,
                                    .free_bytes = device_free_bytes(device) };
}

const char *device_why(const gpu_device *device) {
    return device->why != NULL ? device->why : "";
}

tamis_status device_enter(gpu_device *device) {
    device->why = "the emulator was told to refuse";
    if (emulator_refuses_entry) return TAMIS_ERR_IO;
    device->why = NULL;
    emulator_depth++;
    return TAMIS_OK;
}

void device_leave(gpu_device *device) {
    (void)device;
    emulator_depth--;
}

static bool may_allocate(void) {
    bool const is_allowed = emulator_allocations != 0;
    emulator_allocations -= is_allowed;
    return is_allowed;
}

/* Sizes are kept in front of the memory. */
tamis_status device_alloc(gpu_device *device, uint64_t bytes, device_address *ret_address) {
    device->why = "the emulator has no more memory";
    if (!may_allocate() || device->used + bytes > emulator_memory) return TAMIS_ERR_MEMORY;
    device->why = NULL;
    uint64_t *const memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    memset(memory, 0xa5, (bytes + 511) / 256 * 256);
    memory[0] = bytes;
    device->used += bytes;
    emulator_peak = max_u64(emulator_peak, device->used);
    *ret_address = (device_address)(uintptr_t)memory + 256;
    return TAMIS_OK;
}

void device_free(gpu_device *device, device_address address) {
    if (address == 0) return;
    uint64_t *const memory = (uint64_t *)(uintptr_t)(address - 256);
    device->used -= memory[0];
    free(memory);
}

uint64_t device_free_bytes(gpu_device *device) {
    return emulator_memory - device->used;
}

uint64_t emulator_used(const tamis_gpu *gpu) {
    return (*(gpu_device *const *)(const void *)gpu)->used;
}

void *device_pin(gpu_device *device, size_t bytes) {
    (void)device;
    return !may_allocate() || emulator_refuses_pins ? NULL : malloc(bytes);
}

void device_unpin(gpu_device *device, void *memory) {
    (void)device;
    free(memory);
}

bool device_is_pinned(gpu_device *device, const void *memory) {
    (void)device;
    (void)memory;
    return false;
}

void *device_stream(gpu_device *device, unsigned i) {
    (void)device;
    (void)i;
    return NULL;
}

tamis_status device_zero(gpu_device *device, device_address at, uint64_t bytes, void *stream) {
    (void)device;
    (void)stream;
    memset((void *)(uintptr_t)at, 0, bytes);
    return TAMIS_OK;
}

tamis_status device_copy(gpu_device *device, device_address to, device_address from, uint64_t bytes,
                         void *stream) {
    return device_copy_in(device, to, (const void *)(uintptr_t)from, bytes, stream);
}

tamis_status device_copy_in(gpu_device *device, device_address to, const void *from, uint64_t bytes,
                            void *stream) {
    (void)device;
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return TAMIS_OK;
}

tamis_status device_copy_out(gpu_device *device, void *to, device_address from, uint64_t bytes,
                             void *stream) {
    (void)device;
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return TAMIS_OK;
}

tamis_status device_wait(gpu_device *device, void *stream) {
    (void)device;
    emulator_waits++;
    emulator_waited = stream;
    return TAMIS_OK;
}

uint64_t device_shared_bytes(const gpu_device *device) {
    (void)device;
    return emulator_shared;
}

uint64_t device_full_blocks(gpu_device *device) {
    (void)device;
    return 3; /* so that blocks take more than one item */
}

tamis_status device_mark(gpu_device *device, unsigned mark, void *stream) {
    (void)device;
    (void)mark;
    (void)stream;
    return TAMIS_OK;
}

double device_elapsed(gpu_device *device, unsigned from, unsigned to) {
    (void)device;
    return (double)to - (double)from;
}
