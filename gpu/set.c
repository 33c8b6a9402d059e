/* set.c - create, upload, download and free sets on a GPU. */
#include "set.h"

#include "core/le.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------ a GPU */

tamis_status tamis_gpu_open(int number, tamis_gpu **ret_gpu, tamis_problem *reterr_problem) {
    if (ret_gpu == NULL || number < 0)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT,
                   "ret_gpu is NULL, or the device is negative");
    tamis_gpu *const gpu = calloc(1, sizeof *gpu);
    if (gpu == NULL) return say(reterr_problem, TAMIS_ERR_MEMORY, "no memory for a handle");
    tamis_status const status = device_open(number, &gpu->device, reterr_problem);
    if (status == TAMIS_OK)
        *ret_gpu = gpu;
    else
        free(gpu);
    return status;
}

void tamis_gpu_close(tamis_gpu *gpu) {
    if (gpu == NULL) return;
    ask_free_memory(gpu);
    device_close(gpu->device);
    free(gpu);
}

tamis_status tamis_gpu_describe(const tamis_gpu *gpu, tamis_gpu_facts *ret_facts) {
    if (gpu == NULL || ret_facts == NULL) return TAMIS_ERR_ARGUMENT;
    if (device_enter(gpu->device) != TAMIS_OK) return TAMIS_ERR_IO;
    device_describe(gpu->device, ret_facts);
    device_leave(gpu->device);
    return TAMIS_OK;
}

tamis_status tamis_gpu_get_memory(tamis_gpu *gpu, uint64_t bytes, void **ret_memory,
                                  tamis_problem *reterr_problem) {
    device_address address = 0;
    if (gpu == NULL || ret_memory == NULL)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the GPU or the result is NULL");
    tamis_status status = device_enter(gpu->device);
    if (status == TAMIS_OK) {
        status = device_alloc(gpu->device, bytes, &address);
        device_leave(gpu->device);
    }
    if (status == TAMIS_OK) *ret_memory = (void *)(uintptr_t)address;
    return say_device(reterr_problem, status, gpu->device);
}

void tamis_gpu_free_memory(tamis_gpu *gpu, void *memory) {
    if (gpu == NULL || device_enter(gpu->device) != TAMIS_OK) return;
    device_free(gpu->device, (device_address)(uintptr_t)memory);
    device_leave(gpu->device);
}

/* Copy between the memory of this machine and of the GPU, and wait until it is done. */
static tamis_status copy_now(tamis_gpu *gpu, device_address there, void *here, const void *from,
                             uint64_t bytes, tamis_problem *problem) {
    if (gpu == NULL || (bytes != 0 && (there == 0 || (here == NULL && from == NULL))))
        return say(problem, TAMIS_ERR_ARGUMENT, "the GPU or the memory is NULL");
    tamis_status status = device_enter(gpu->device);
    if (status != TAMIS_OK) return say_device(problem, status, gpu->device);
    status = from != NULL ? device_copy_in(gpu->device, there, from, bytes, NULL)
                          : device_copy_out(gpu->device, here, there, bytes, NULL);
    if (status == TAMIS_OK) status = device_wait(gpu->device, NULL);
    device_leave(gpu->device);
    return say_device(problem, status, gpu->device);
}

tamis_status tamis_gpu_send(tamis_gpu *gpu, void *to, const void *from, uint64_t bytes,
                            tamis_problem *reterr_problem) {
    return copy_now(gpu, (device_address)(uintptr_t)to, NULL, from, bytes, reterr_problem);
}

tamis_status tamis_gpu_fetch(tamis_gpu *gpu, void *to, const void *from, uint64_t bytes,
                             tamis_problem *reterr_problem) {
    return copy_now(gpu, (device_address)(uintptr_t)from, to, NULL, bytes, reterr_problem);
}

tamis_status tamis_gpu_wait(tamis_gpu *gpu, void *stream, tamis_problem *reterr_problem) {
    if (gpu == NULL) return say(reterr_problem, TAMIS_ERR_ARGUMENT, "no GPU");
    tamis_status status = device_enter(gpu->device);
    if (status == TAMIS_OK) {
        status = device_wait(gpu->device, stream);
        device_leave(gpu->device);
    }
    return say_device(reterr_problem, status, gpu->device);
}

/* ------------------------------------------------------------------ making one */

/* Make a set from a header, with memory for its body. The body is not filled in. */
static tamis_status make_set(tamis_gpu *gpu, const uint8_t *header, tamis_gpu_set **ret_set,
                             tamis_problem *problem) {
    gpu_device *const    device = gpu->device;
    tamis_gpu_set *const set = calloc(1, sizeof *set);
    device_address       body = 0;
    if (set == NULL) return say(problem, TAMIS_ERR_MEMORY, "no memory for a handle");
    memcpy(set->header, header, HEADER_BYTES);
    set->gpu = gpu;
    set->device = device;
    set->facts = header_read(header);
    tamis_status status = header_make_table(header, &set->table, problem);
    if (status == TAMIS_OK && set->facts.parts != 1)
        status =
            say(problem, TAMIS_ERR_CANNOT, "it is in a step of growing; wait until that is done");
    uint64_t const bytes = set->facts.body_bytes, free_bytes = device_free_bytes(device);
    if (status == TAMIS_OK && device_alloc(device, bytes, &body) != TAMIS_OK)
        status = say(problem, TAMIS_ERR_MEMORY,
                     "the set is too large for this GPU: it has %.2f GiB, and %.2f GiB are free",
                     (double)bytes / (1 << 30), (double)free_bytes / (1 << 30));
    if (status != TAMIS_OK) {
        free(set);
        return status;
    }
    set->table.body = (uint8_t *)(uintptr_t)body;
    *ret_set = set;
    return TAMIS_OK;
}

tamis_status set_check_keys(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                            tamis_problem *problem) {
    if (set == NULL || keys == NULL || (keys->n != 0 && keys->data == NULL) ||
        (keys->flags & ~(unsigned)(TAMIS_GPU_HASHES | TAMIS_GPU_HOST)) != 0)
        return say(problem, TAMIS_ERR_ARGUMENT,
                   "the set or the keys are NULL, or a flag is unknown");
    if (!set_can_reach(keys, keys->data, sizeof *keys->data))
        return say(problem, TAMIS_ERR_ARGUMENT,
                   "the address of keys on the GPU is not a multiple of 8");
    return TAMIS_OK;
}

void tamis_gpu_free(tamis_gpu_set *set) {
    if (set == NULL) return;
    if (device_enter(set->device) == TAMIS_OK) {
        device_free(set->device, set_body(set));
        device_leave(set->device);
    }
    free(set);
}

/* ------------------------------------------------------------------ uploads */

#define NO_PINNED_MEMORY "not enough pinned memory on this machine for copying"

/* A tamis_writer that copies a file to the GPU through two pieces of pinned memory: one is filled
 * while the other is copied. */
typedef struct upload {
    tamis_gpu     *gpu;
    gpu_device    *device;
    tamis_gpu_set *set;
    tamis_problem *problem;
    tamis_status   status;
    uint8_t        header[HEADER_BYTES];
    uint64_t       done; /* bytes of the file so far */
    uint8_t       *piece[DEVICE_STREAMS];
    uint64_t       filled; /* bytes in the current piece */
    unsigned       at;     /* the current piece: 0 or 1 */
    bool           is_header_only;
} upload;

/* Queue the copy of the current piece, and wait for the copy of the other one. */
static tamis_status flush(upload *up) {
    uint64_t const body_done = up->done - HEADER_BYTES;
    tamis_status   status =
        device_copy_in(up->device, set_body(up->set) + body_done - up->filled, up->piece[up->at],
                       up->filled, device_stream(up->device, up->at));
    up->at = (up->at + 1) % DEVICE_STREAMS;
    up->filled = 0;
    if (status == TAMIS_OK) status = device_wait(up->device, device_stream(up->device, up->at));
    return say_device(up->problem, status, up->device);
}

static tamis_status take_header(upload *up) {
    tamis_status const status = make_set(up->gpu, up->header, &up->set, up->problem);
    if (status != TAMIS_OK || up->is_header_only) return status;
    for (unsigned i = 0; i < DEVICE_STREAMS; i++) {
        up->piece[i] = device_pin(up->device, PIECE_BYTES);
        if (up->piece[i] == NULL) return say(up->problem, TAMIS_ERR_MEMORY, NO_PINNED_MEMORY);
    }
    return TAMIS_OK;
}

/* Take some of n bytes. Returns how many; 0: stop. */
static size_t take_some(upload *up, const uint8_t *bytes, size_t n) {
    if (up->done < HEADER_BYTES) {
        size_t const taken = (size_t)min_u64(n, HEADER_BYTES - up->done);
        memcpy(up->header + up->done, bytes, taken);
        up->done += taken;
        if (up->done == HEADER_BYTES) up->status = take_header(up);
        return up->status != TAMIS_OK || (up->is_header_only && up->set != NULL) ? 0 : taken;
    }
    uint64_t const left = HEADER_BYTES + up->set->facts.body_bytes - up->done;
    size_t const   taken = (size_t)min_u64(min_u64(n, left), PIECE_BYTES - up->filled);
    if (left == 0) return n; /* checksums */
    memcpy(up->piece[up->at] + up->filled, bytes, taken);
    up->filled += taken;
    up->done += taken;
    if (up->filled == PIECE_BYTES || taken == left) up->status = flush(up);
    return up->status == TAMIS_OK ? taken : 0;
}

static bool take_bytes(void *context, const void *bytes, size_t n) {
    const uint8_t *from = bytes;
    for (size_t taken; n != 0; n -= taken, from += taken) {
        taken = take_some(context, from, n);
        if (taken == 0) return false;
    }
    return true;
}

/* Wait for all copies, read how many words the attic has, and free the pieces. */
static tamis_status finish(upload *up, tamis_status status, tamis_gpu_set **ret_set) {
    uint8_t count[8] = { 0 };
    if (up->status != TAMIS_OK) status = up->status;
    for (unsigned i = 0; i < DEVICE_STREAMS; i++) {
        tamis_status const waited = device_wait(up->device, device_stream(up->device, i));
        if (status == TAMIS_OK) status = say_device(up->problem, waited, up->device);
        device_unpin(up->device, up->piece[i]);
    }
    if (status == TAMIS_OK && set_is_line(up->set)) {
        status = device_copy_out(up->device, count, set_body(up->set) + up->set->table.lines.count,
                                 sizeof count, NULL);
        if (status == TAMIS_OK) status = device_wait(up->device, NULL);
        up->set->attic = le64_load(count);
        status = say_device(up->problem, status, up->device);
    }
    if (status == TAMIS_OK)
        *ret_set = up->set;
    else
        tamis_gpu_free(up->set);
    return status;
}

static tamis_status upload_set(tamis_gpu *gpu, const tamis_set *set, tamis_gpu_set **ret_set,
                               tamis_problem *problem) {
    upload       up = { .gpu = gpu, .device = gpu->device, .problem = problem };
    tamis_status status = device_enter(gpu->device);
    if (status != TAMIS_OK) return say_device(problem, status, gpu->device);
    status = tamis_write(set, take_bytes, &up);
    if (status != TAMIS_OK && up.status == TAMIS_OK)
        (void)say(problem, status, "%s", tamis_status_text(status));
    status = finish(&up, status, ret_set);
    device_leave(gpu->device);
    return status;
}

/* Make a copy that has finished the step of growing. The next stage has twice the capacity. */
static tamis_status finish_growing(const tamis_set *set, const tamis_facts *facts,
                                   tamis_set **ret_copy) {
    tamis_status status = tamis_copy(set, ret_copy);
    if (status != TAMIS_OK) return status;
    status = tamis_resize(*ret_copy, 2 * facts->capacity, NULL);
    if (status != TAMIS_OK) tamis_free(*ret_copy);
    return status;
}

tamis_status tamis_gpu_upload(tamis_gpu *gpu, const tamis_set *set, tamis_gpu_set **ret_set,
                              tamis_problem *reterr_problem) {
    tamis_facts facts;
    tamis_set  *copy;
    if (gpu == NULL || ret_set == NULL || tamis_get_facts(set, &facts) != TAMIS_OK)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the GPU, the set or the result is NULL");
    if (!facts.is_growing) return upload_set(gpu, set, ret_set, reterr_problem);
    tamis_status status = finish_growing(set, &facts, &copy);
    if (status != TAMIS_OK)
        return say(reterr_problem, status,
                   "it is in a step of growing, and a copy that is done "
                   "could not be made: %s",
                   tamis_status_text(status));
    status = upload_set(gpu, copy, ret_set, reterr_problem);
    tamis_free(copy);
    return status;
}

tamis_status tamis_gpu_upload_states(tamis_gpu *gpu, const tamis_states *states,
                                     tamis_gpu_set **ret_set, tamis_problem *reterr_problem) {
    if (gpu == NULL || ret_set == NULL || states == NULL)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the GPU, the states or the result is NULL");
    upload       up = { .gpu = gpu, .device = gpu->device, .problem = reterr_problem };
    tamis_status status = device_enter(gpu->device);
    if (status != TAMIS_OK) return say_device(reterr_problem, status, gpu->device);
    status = tamis_states_write(states, take_bytes, &up);
    if (status != TAMIS_OK && up.status == TAMIS_OK)
        (void)say(reterr_problem, status, "%s", tamis_status_text(status));
    status = finish(&up, status, ret_set);
    device_leave(gpu->device);
    return status;
}

tamis_status tamis_gpu_upload_file(tamis_gpu *gpu, const char *path, unsigned flags,
                                   tamis_gpu_set **ret_set, tamis_problem *reterr_problem) {
    tamis_open_options options = TAMIS_OPEN_OPTIONS_INIT;
    tamis_set         *mapped;
    options.flags = TAMIS_OPEN_MAP | flags;
    if (gpu == NULL || path == NULL || ret_set == NULL)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the GPU, the path or the result is NULL");
    tamis_status status = tamis_open(path, &options, &mapped, reterr_problem);
    if (status != TAMIS_OK) return status;
    status = tamis_gpu_upload(gpu, mapped, ret_set, reterr_problem);
    tamis_free(mapped);
    return status;
}

/* An allocator for a body that is never touched: it reserves address space, not memory. The body
 * may be larger than the memory of this machine. */
static void *reserve(void *unused, size_t bytes, size_t alignment) {
    size_t const   all = bytes + alignment;
    uint8_t *const memory =
        mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)unused;
    if (memory == MAP_FAILED) return NULL;
    size_t const before = (alignment - (uintptr_t)memory % alignment) % alignment;
    size_t const page = (size_t)sysconf(_SC_PAGESIZE), kept = (bytes + page - 1) / page * page;
    if (before >= page) (void)munmap(memory, before / page * page);
    if (before + kept < all) (void)munmap(memory + before + kept, all - before - kept);
    return memory + before;
}

static void unreserve(void *unused, void *memory, size_t bytes) {
    (void)unused;
    (void)munmap(memory, bytes);
}

/* A caller's spec, which may be smaller or larger than the one of this version. */
typedef union any_spec {
    tamis_spec spec;
    uint8_t    bytes[4096]; /* larger specs are refused */
} any_spec;

/* Copy a spec by the rule of tamis.h, and put in the allocator above. tamis_create() checks that
 * all bytes after the known fields are zero. False: it is not a spec. */
static bool take_spec(any_spec *ours, const tamis_spec *theirs) {
    size_t const size = theirs->size;
    if (size < sizeof size || size > sizeof ours->bytes) return false;
    memset(ours, 0, sizeof *ours);
    ours->spec = (tamis_spec)TAMIS_SPEC_INIT;
    memcpy(ours->bytes, theirs, size);
    if (size < sizeof ours->spec) ours->spec.size = sizeof ours->spec;
    ours->spec.allocator = (tamis_allocator){ reserve, unreserve, NULL };
    ours->spec.allocator_flags = TAMIS_ALLOCATOR_ZEROED;
    return true;
}

/* Only the header of the file of an empty set is needed: after it, the writer stops. */
static tamis_status upload_empty(tamis_gpu *gpu, const tamis_set *empty, tamis_gpu_set **ret_set,
                                 tamis_problem *problem) {
    upload up = { .gpu = gpu, .device = gpu->device, .problem = problem, .is_header_only = true };
    tamis_status status = device_enter(gpu->device);
    if (status != TAMIS_OK) return say_device(problem, status, gpu->device);
    status = tamis_write(empty, take_bytes, &up);
    if (up.status == TAMIS_OK && up.set != NULL) {
        status = device_zero(gpu->device, set_body(up.set), up.set->facts.body_bytes, NULL);
        if (status == TAMIS_OK) status = device_wait(gpu->device, NULL);
        status = say_device(problem, status, gpu->device);
    }
    status = finish(&up, status, ret_set);
    device_leave(gpu->device);
    return status;
}

tamis_status tamis_gpu_create(tamis_gpu *gpu, const tamis_spec *spec, tamis_gpu_set **ret_set,
                              tamis_problem *reterr_problem) {
    tamis_set *empty;
    any_spec   reserved;
    if (gpu == NULL || ret_set == NULL || spec == NULL || !take_spec(&reserved, spec))
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the GPU, the spec or the result is NULL");
    tamis_status status = tamis_create(&reserved.spec, &empty, reterr_problem);
    if (status != TAMIS_OK) return status;
    status = upload_empty(gpu, empty, ret_set, reterr_problem);
    tamis_free(empty);
    return status;
}

/* ------------------------------------------------------------------ downloads */

/* Copy the body through pieces of pinned memory to its place in the file of the set. */
static tamis_status copy_body_out(const tamis_gpu_set *set, uint8_t *to, tamis_problem *problem) {
    gpu_device *const device = set->device;
    uint8_t *const    piece = device_pin(device, PIECE_BYTES);
    uint64_t const    bytes = set->facts.body_bytes;
    tamis_status      status = TAMIS_OK;
    if (piece == NULL) return say(problem, TAMIS_ERR_MEMORY, NO_PINNED_MEMORY);
    for (uint64_t done = 0, n; done < bytes && status == TAMIS_OK; done += n) {
        n = min_u64(bytes - done, PIECE_BYTES);
        status = device_copy_out(device, piece, set_body(set) + done, n, NULL);
        if (status == TAMIS_OK) status = device_wait(device, NULL);
        if (status == TAMIS_OK) memcpy(to + done, piece, n);
    }
    device_unpin(device, piece);
    return say_device(problem, status, device);
}

tamis_status tamis_gpu_download(const tamis_gpu_set *set, tamis_set **ret_set,
                                tamis_problem *reterr_problem) {
    if (set == NULL || ret_set == NULL)
        return say(reterr_problem, TAMIS_ERR_ARGUMENT, "the set or the result is NULL");
    if (set->facts.is_states)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "states do not change on a GPU");
    uint64_t const bytes = header_file_bytes(set->facts.body_bytes);
    uint8_t *const file = malloc(bytes);
    if (file == NULL)
        return say(reterr_problem, TAMIS_ERR_MEMORY, "not enough memory: needs %.2f GiB",
                   (double)bytes / (1 << 30));
    memcpy(file, set->header, HEADER_BYTES);
    header_set_counts(file, &set->facts);
    tamis_status status = say_device(reterr_problem, device_enter(set->device), set->device);
    if (status == TAMIS_OK) {
        status = copy_body_out(set, file + HEADER_BYTES, reterr_problem);
        device_leave(set->device);
    }
    if (status == TAMIS_OK) {
        header_finish_file(file, set->facts.body_bytes);
        status = tamis_read(file, bytes, NULL, ret_set, reterr_problem);
    }
    free(file);
    return status;
}

tamis_status tamis_gpu_get_facts(const tamis_gpu_set *set, tamis_gpu_set_facts *ret_facts) {
    if (set == NULL || ret_facts == NULL) return TAMIS_ERR_ARGUMENT;
    *ret_facts = (tamis_gpu_set_facts){ .kind = set_is_line(set) ? "line" : "bloom",
                                        .abilities = set_abilities(set),
                                        .is_states = set->facts.is_states,
                                        .keys = set->facts.keys,
                                        .saturated = set->facts.saturated,
                                        .capacity = set->facts.capacity,
                                        .body_bytes = set->facts.body_bytes,
                                        .body = set_body(set) };
    return TAMIS_OK;
}
