/* cuda.c - implements device.h with NVIDIA's driver, libcuda.so.1, which is loaded when it is
 * needed.
 *
 * No header of CUDA is used. The functions of the driver have had these names and types for many
 * years. Its header renames some of them: cuMemAlloc, for example, is cuMemAlloc_v2 in the library.
 */
#include "device.h"
#include "kernels/table.h"
#include "say.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern const char tamis_gpu_ptx[]; /* made from kernels/kernels.c */

/* ------------------------------------------------------------------ the driver */

typedef int      cu_result; /* 0 is success */
typedef int      cu_device;
typedef void    *cu_handle; /* of a context, a module, a function, a stream or an event */
typedef uint64_t cu_pointer;

enum {
    CU_OUT_OF_MEMORY = 2,
    CU_MULTIPROCESSORS = 16,
    CU_MAJOR = 75,
    CU_MINOR = 76,
    CU_MAX_SHARED = 97,         /* bytes that a block may have on request */
    CU_FUNCTION_MAX_SHARED = 8, /* how a kernel requests it */
    CU_STREAM_NON_BLOCKING = 1,
    CU_POINTER_TYPE = 2, /* where memory is; the answer is one of these: */
    CU_OF_HOST = 1,
};

/* Name in this file, name in the driver, parameters. */
#define CU_FUNCTIONS(X)                                                                            \
    X(init, "cuInit", (unsigned))                                                                  \
    X(driver_version, "cuDriverGetVersion", (int *))                                               \
    X(error_string, "cuGetErrorString", (cu_result, const char **))                                \
    X(device_count, "cuDeviceGetCount", (int *))                                                   \
    X(device_get, "cuDeviceGet", (cu_device *, int))                                               \
    X(device_name, "cuDeviceGetName", (char *, int, cu_device))                                    \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, cu_device))                                 \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, cu_device))                           \
    X(context_retain, "cuDevicePrimaryCtxRetain", (cu_handle *, cu_device))                        \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (cu_device))                                \
    X(context_push, "cuCtxPushCurrent_v2", (cu_handle))                                            \
    X(context_pop, "cuCtxPopCurrent_v2", (cu_handle *))                                            \
    X(module_load, "cuModuleLoadData", (cu_handle *, const void *))                                \
    X(module_unload, "cuModuleUnload", (cu_handle))                                                \
    X(module_function, "cuModuleGetFunction", (cu_handle *, cu_handle, const char *))              \
    X(function_set, "cuFuncSetAttribute", (cu_handle, int, int))                                   \
    X(memory_alloc, "cuMemAlloc_v2", (cu_pointer *, size_t))                                       \
    X(memory_free, "cuMemFree_v2", (cu_pointer))                                                   \
    X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                        \
    X(pinned_alloc, "cuMemAllocHost_v2", (void **, size_t))                                        \
    X(pinned_free, "cuMemFreeHost", (void *))                                                      \
    X(pointer_attribute, "cuPointerGetAttribute", (void *, int, cu_pointer))                       \
    X(zero, "cuMemsetD8Async", (cu_pointer, unsigned char, size_t, cu_handle))                     \
    X(copy, "cuMemcpyDtoDAsync_v2", (cu_pointer, cu_pointer, size_t, cu_handle))                   \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (cu_pointer, const void *, size_t, cu_handle))              \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, cu_pointer, size_t, cu_handle))                   \
    X(launch, "cuLaunchKernel",                                                                    \
      (cu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_handle, \
       void **, void **))                                                                          \
    X(stream_create, "cuStreamCreate", (cu_handle *, unsigned))                                    \
    X(stream_destroy, "cuStreamDestroy_v2", (cu_handle))                                           \
    X(stream_wait, "cuStreamSynchronize", (cu_handle))                                             \
    X(event_create, "cuEventCreate", (cu_handle *, unsigned))                                      \
    X(event_destroy, "cuEventDestroy_v2", (cu_handle))                                             \
    X(event_record, "cuEventRecord", (cu_handle, cu_handle))                                       \
    X(event_wait, "cuEventSynchronize", (cu_handle))                                               \
    X(event_elapsed, "cuEventElapsedTime", (float *, cu_handle, cu_handle))

typedef struct driver {
#define CU_MEMBER(name, symbol, parameters) cu_result(*name) parameters;
    CU_FUNCTIONS(CU_MEMBER)
#undef CU_MEMBER
} driver;

struct gpu_device {
    driver    cu;
    void     *library;
    cu_device number;
    cu_handle context, module, function[GPU_N_KERNELS], stream[DEVICE_STREAMS], mark[DEVICE_MARKS];
    bool      is_retained;
    int       multiprocessors, driver_version;
    uint64_t  shared_bytes;
    char      why[256];
};

/* Keep the driver's message for a failure. */
static tamis_status check(gpu_device *device, cu_result result, const char *call) {
    const char *text = NULL;
    if (result == 0) return TAMIS_OK;
    if (device->cu.error_string(result, &text) != 0 || text == NULL) text = "unknown error";
    (void)snprintf(device->why, sizeof device->why, "%s failed: %s (error %d of the driver)", call,
                   text, result);
    return result == CU_OUT_OF_MEMORY ? TAMIS_ERR_MEMORY : TAMIS_ERR_IO;
}

const char *device_why(const gpu_device *device) {
    return device->why;
}

/* ------------------------------------------------------------------ opening */

/* ISO C has no conversion from an object pointer to a function pointer; POSIX has. */
static bool find_symbol(void *library, const char *name, void *ret_function) {
    void *const found = dlsym(library, name);
    memcpy(ret_function, &found, sizeof found);
    return found != NULL;
}

static tamis_status load_driver(gpu_device *device, tamis_problem *problem) {
    device->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (device->library == NULL)
        return say(problem, TAMIS_ERR_CANNOT,
                   "there is no NVIDIA driver on this machine: libcuda.so.1 could not be loaded");
#define CU_LOAD(name, symbol, parameters)                        \
    if (!find_symbol(device->library, symbol, &device->cu.name)) \
        return say(problem, TAMIS_ERR_CANNOT, "the NVIDIA driver is too old: it has no %s", symbol);
    CU_FUNCTIONS(CU_LOAD)
#undef CU_LOAD
    return TAMIS_OK;
}

static tamis_status find_device(gpu_device *device, int number, tamis_problem *problem) {
    const driver *const cu = &device->cu;
    int                 n = 0, major = 0, minor = 0;
    cu_result const     started = cu->init(0);
    if (started != 0) {
        (void)check(device, started, "starting the NVIDIA driver");
        return say(problem, TAMIS_ERR_CANNOT, "there is no GPU to use: %s", device->why);
    }
    if (cu->device_count(&n) != 0 || number >= n)
        return say(problem, TAMIS_ERR_CANNOT, "there is no GPU %d: this machine has %d", number, n);
    if (cu->device_get(&device->number, number) != 0 ||
        cu->device_attribute(&major, CU_MAJOR, device->number) != 0 ||
        cu->device_attribute(&minor, CU_MINOR, device->number) != 0 ||
        cu->device_attribute(&device->multiprocessors, CU_MULTIPROCESSORS, device->number) != 0 ||
        cu->driver_version(&device->driver_version) != 0)
        return say(problem, TAMIS_ERR_IO, "the driver says nothing about GPU %d", number);
    if (major < 7)
        return say(problem, TAMIS_ERR_CANNOT,
                   "GPU %d is too old: it has compute capability %d.%d, and 7.0 is needed", number,
                   major, minor);
    return TAMIS_OK;
}

#define NAME_OF(name, argument, meets) "k_" #name,
static const char *const kernel_names[GPU_N_KERNELS] = { GPU_KERNELS(NAME_OF) };
#undef NAME_OF

/* Kernels that need more shared memory than every GPU has must request it. */
static void ask_for_shared(gpu_device *device) {
    const driver *const cu = &device->cu;
    unsigned const      kernels[] = { GPU_K_line_merge, GPU_K_line_merge_bare };
    int                 most = 0;
    device->shared_bytes = DEVICE_SHARED_BYTES;
    if (cu->device_attribute(&most, CU_MAX_SHARED, device->number) != 0) return;
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (cu->function_set(device->function[kernels[i]], CU_FUNCTION_MAX_SHARED, most) != 0)
            return;
    }
    device->shared_bytes = max_u64(device->shared_bytes, (uint64_t)most);
}

/* Compile the kernels. The driver caches the result from one run to the next. */
static tamis_status load_kernels(gpu_device *device) {
    const driver *const cu = &device->cu;
    tamis_status        status =
        check(device, cu->module_load(&device->module, tamis_gpu_ptx), "compiling the kernels");
    for (unsigned i = 0; i < GPU_N_KERNELS && status == TAMIS_OK; i++)
        status = check(device,
                       cu->module_function(&device->function[i], device->module, kernel_names[i]),
                       kernel_names[i]);
    if (status == TAMIS_OK) ask_for_shared(device);
    return status;
}

static tamis_status make_streams(gpu_device *device) {
    const driver *const cu = &device->cu;
    tamis_status        status = TAMIS_OK;
    for (unsigned i = 0; i < DEVICE_STREAMS && status == TAMIS_OK; i++)
        status = check(device, cu->stream_create(&device->stream[i], CU_STREAM_NON_BLOCKING),
                       "making a stream");
    for (unsigned i = 0; i < DEVICE_MARKS && status == TAMIS_OK; i++)
        status = check(device, cu->event_create(&device->mark[i], 0), "making an event");
    return status;
}

static tamis_status start(gpu_device *device, int number, tamis_problem *problem) {
    tamis_status status = load_driver(device, problem);
    if (status == TAMIS_OK) status = find_device(device, number, problem);
    if (status != TAMIS_OK) return status;
    status = check(device, device->cu.context_retain(&device->context, device->number),
                   "making a context on the GPU");
    device->is_retained = status == TAMIS_OK;
    if (status == TAMIS_OK) status = device_enter(device);
    if (status == TAMIS_OK) {
        status = load_kernels(device);
        if (status == TAMIS_OK) status = make_streams(device);
        device_leave(device);
    }
    return status == TAMIS_OK ? TAMIS_OK : say(problem, status, "%s", device->why);
}

tamis_status device_open(int number, gpu_device **ret_device, tamis_problem *problem) {
    gpu_device *const device = calloc(1, sizeof *device);
    if (device == NULL) return say(problem, TAMIS_ERR_MEMORY, "no memory for a handle");
    tamis_status const status = start(device, number, problem);
    if (status == TAMIS_OK)
        *ret_device = device;
    else
        device_close(device);
    return status;
}

void device_close(gpu_device *device) {
    const driver *const cu = &device->cu;
    if (device->is_retained && device_enter(device) == TAMIS_OK) {
        for (unsigned i = 0; i < DEVICE_STREAMS; i++)
            if (device->stream[i] != NULL) (void)cu->stream_destroy(device->stream[i]);
        for (unsigned i = 0; i < DEVICE_MARKS; i++)
            if (device->mark[i] != NULL) (void)cu->event_destroy(device->mark[i]);
        if (device->module != NULL) (void)cu->module_unload(device->module);
        device_leave(device);
    }
    if (device->is_retained) (void)cu->context_release(device->number);
    /* The driver stays loaded: it has threads and exit handlers of its own. */
    free(device);
}

tamis_status device_enter(gpu_device *device) {
    return check(device, device->cu.context_push(device->context), "entering the GPU's context");
}

void device_leave(gpu_device *device) {
    cu_handle was;
    (void)device->cu.context_pop(&was);
}

void device_describe(gpu_device *device, tamis_gpu_facts *ret_facts) {
    const driver *const cu = &device->cu;
    int                 major = 0, minor = 0;
    size_t              total = 0;
    *ret_facts = (tamis_gpu_facts){ .driver_version = (unsigned)device->driver_version,
                                    .multiprocessors = (unsigned)device->multiprocessors };
    (void)cu->device_name(ret_facts->name, sizeof ret_facts->name, device->number);
    (void)cu->device_memory(&total, device->number);
    (void)cu->device_attribute(&major, CU_MAJOR, device->number);
    (void)cu->device_attribute(&minor, CU_MINOR, device->number);
    ret_facts->memory_bytes = total;
    ret_facts->free_bytes = device_free_bytes(device);
    ret_facts->capability = (unsigned)(10 * major + minor);
}

/* ------------------------------------------------------------------ memory */

tamis_status device_alloc(gpu_device *device, uint64_t bytes, device_address *ret_address) {
    /* The driver allocates no memory of 0 bytes. */
    return check(device, device->cu.memory_alloc(ret_address, bytes == 0 ? 1 : bytes),
                 "allocating memory of the GPU");
}

void device_free(gpu_device *device, device_address address) {
    if (address != 0) (void)device->cu.memory_free(address);
}

uint64_t device_free_bytes(gpu_device *device) {
    size_t now = 0, total = 0;
    return device->cu.memory_info(&now, &total) == 0 ? now : 0;
}

void *device_pin(gpu_device *device, size_t bytes) {
    void *memory = NULL;
    return device->cu.pinned_alloc(&memory, bytes) == 0 ? memory : NULL;
}

void device_unpin(gpu_device *device, void *memory) {
    if (memory != NULL) (void)device->cu.pinned_free(memory);
}

/* The driver knows only the memory of this machine that it has pinned itself. */
bool device_is_pinned(gpu_device *device, const void *memory) {
    unsigned        type = 0;
    cu_result const result =
        device->cu.pointer_attribute(&type, CU_POINTER_TYPE, (cu_pointer)(uintptr_t)memory);
    return result == 0 && type == CU_OF_HOST;
}

/* ------------------------------------------------------------------ streams */

void *device_stream(gpu_device *device, unsigned i) {
    return device->stream[i];
}

tamis_status device_zero(gpu_device *device, device_address at, uint64_t bytes, void *stream) {
    if (bytes == 0) return TAMIS_OK;
    return check(device, device->cu.zero(at, 0, bytes, stream), "clearing memory of the GPU");
}

tamis_status device_copy(gpu_device *device, device_address to, device_address from, uint64_t bytes,
                         void *stream) {
    if (bytes == 0) return TAMIS_OK;
    return check(device, device->cu.copy(to, from, bytes, stream), "copying on the GPU");
}

tamis_status device_copy_in(gpu_device *device, device_address to, const void *from, uint64_t bytes,
                            void *stream) {
    if (bytes == 0) return TAMIS_OK;
    return check(device, device->cu.copy_in(to, from, bytes, stream), "copying to the GPU");
}

tamis_status device_copy_out(gpu_device *device, void *to, device_address from, uint64_t bytes,
                             void *stream) {
    if (bytes == 0) return TAMIS_OK;
    return check(device, device->cu.copy_out(to, from, bytes, stream), "copying from the GPU");
}

tamis_status device_wait(gpu_device *device, void *stream) {
    return check(device, device->cu.stream_wait(stream), "running kernels");
}

tamis_status device_run(gpu_device *device, const device_launch *launch) {
    void *arguments[] = { (void *)(uintptr_t)launch->argument };
    if (launch->blocks == 0) return TAMIS_OK;
    return check(device,
                 device->cu.launch(device->function[launch->kernel], (unsigned)launch->blocks, 1, 1,
                                   launch->threads, 1, 1, (unsigned)launch->shared_bytes,
                                   launch->stream, arguments, NULL),
                 kernel_names[launch->kernel]);
}

uint64_t device_shared_bytes(const gpu_device *device) {
    return device->shared_bytes;
}

uint64_t device_full_blocks(gpu_device *device) {
    return 32 * (uint64_t)device->multiprocessors;
}

tamis_status device_mark(gpu_device *device, unsigned mark, void *stream) {
    return check(device, device->cu.event_record(device->mark[mark], stream), "marking the time");
}

double device_elapsed(gpu_device *device, unsigned from, unsigned to) {
    float milliseconds = 0;
    (void)device->cu.event_wait(device->mark[to]);
    (void)device->cu.event_elapsed(&milliseconds, device->mark[from], device->mark[to]);
    return (double)milliseconds;
}
