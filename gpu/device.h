/* device.h - the functions of a GPU that the library needs. cuda.c implements them with NVIDIA's
 * driver; tests/gpu/emulator.c implements them on the host, so that everything else can be tested
 * without a GPU.
 */
#ifndef TAMIS_GPU_DEVICE_H
#define TAMIS_GPU_DEVICE_H

#include <tamis/gpu.h>

typedef struct gpu_device gpu_device;

typedef uint64_t device_address; /* of memory of the GPU; 0: none */

/* Two streams of our own, for copies that overlap with kernels. */
#define DEVICE_STREAMS 2

/* Statuses: TAMIS_OK; or _MEMORY or _IO, and then device_why() returns a message. */

tamis_status device_open(int number, gpu_device **ret_device, tamis_problem *problem);
void         device_close(gpu_device *device);
void         device_describe(gpu_device *device, tamis_gpu_facts *ret_facts);
const char  *device_why(const gpu_device *device);

/* Every public call begins with device_enter() and ends with device_leave(). If entering fails, the
 * caller's own context is still current: do nothing, and do not leave. */
tamis_status device_enter(gpu_device *device);
void         device_leave(gpu_device *device);

tamis_status device_alloc(gpu_device *device, uint64_t bytes, device_address *ret_address);
void         device_free(gpu_device *device, device_address address);
uint64_t     device_free_bytes(gpu_device *device);

/* Pinned memory of this machine: the GPU can copy from and to it while other work runs. NULL: there
 * is none. */
void *device_pin(gpu_device *device, size_t bytes);
void  device_unpin(gpu_device *device, void *memory);

/* Has the caller pinned this memory already? */
bool device_is_pinned(gpu_device *device, const void *memory);

/* These calls only queue the work; a copy from or to memory that is not pinned may wait. */
void        *device_stream(gpu_device *device, unsigned i);
tamis_status device_zero(gpu_device *device, device_address at, uint64_t bytes, void *stream);
tamis_status device_copy(gpu_device *device, device_address to, device_address from, uint64_t bytes,
                         void *stream);
tamis_status device_copy_in(gpu_device *device, device_address to, const void *from, uint64_t bytes,
                            void *stream);
tamis_status device_copy_out(gpu_device *device, void *to, device_address from, uint64_t bytes,
                             void *stream);
tamis_status device_wait(gpu_device *device, void *stream);

/* Run a kernel of kernels/table.h: its number, and a pointer to its argument. */
typedef struct device_launch {
    unsigned    kernel;
    uint64_t    blocks;
    unsigned    threads;
    uint64_t    shared_bytes;
    const void *argument;
    void       *stream;
} device_launch;

tamis_status device_run(gpu_device *device, const device_launch *launch);

/* Bytes of shared memory that a block can have. Every GPU has at least DEVICE_SHARED_BYTES. */
#define DEVICE_SHARED_BYTES (UINT64_C(48) << 10)
uint64_t device_shared_bytes(const gpu_device *device);

/* Blocks that keep the whole GPU busy, for kernels whose threads take one key after the other. */
uint64_t device_full_blocks(gpu_device *device);

/* For measuring: note the time in a stream, under a number; and the milliseconds between two. */
#define DEVICE_MARKS 4
tamis_status device_mark(gpu_device *device, unsigned mark, void *stream);
double       device_elapsed(gpu_device *device, unsigned from, unsigned to);

#endif
