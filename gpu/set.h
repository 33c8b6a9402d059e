/* set.h - the structs of a GPU and of a set on it, for the files of this folder.
 */
#ifndef TAMIS_GPU_SET_H
#define TAMIS_GPU_SET_H

#include "device.h"
#include "header.h"
#include "say.h"

/* Buffers for keys from this machine's memory: pinned ones, and others on the GPU. They are kept
 * from one call to the next, since pinning takes a millisecond. */
typedef struct ask_memory {
    uint64_t      *keys;
    uint8_t       *answers;
    device_address there; /* keys, then answers */
} ask_memory;

struct tamis_gpu {
    gpu_device *device;
    ask_memory  memory[DEVICE_STREAMS];
    uint64_t    memory_keys; /* for which each of these has room */
};

/* ask.c: allocate that memory, for this many keys in each piece, ASK_PIECE_KEYS at most; or free
 * it.
 */
#define ASK_PIECE_KEYS (UINT64_C(2) << 20)
tamis_status ask_get_memory(tamis_gpu *gpu, uint64_t keys);
void         ask_free_memory(tamis_gpu *gpu);

struct tamis_gpu_set {
    tamis_gpu   *gpu;
    gpu_device  *device;
    gpu_table    table; /* its body is memory of the GPU */
    header_facts facts; /* `keys` and `saturated` are current */
    uint64_t     attic; /* words in the attic */
    uint8_t      header[HEADER_BYTES];
};

TAMIS_INLINE device_address set_body(const tamis_gpu_set *set) {
    return (device_address)(uintptr_t)set->table.body;
}

TAMIS_INLINE bool set_is_line(const tamis_gpu_set *set) {
    return set->table.lines.buckets != 0;
}

/* Is it a table without rests? */
TAMIS_INLINE bool set_is_bare(const tamis_gpu_set *set) {
    return set->table.lines.rest_bits == 0;
}

/* A GPU loads and stores words only at addresses that are multiples of their size. */
TAMIS_INLINE bool set_can_reach(const tamis_gpu_keys *keys, const void *memory, unsigned bytes) {
    return (keys->flags & TAMIS_GPU_HOST) != 0 || (uintptr_t)memory % bytes == 0;
}

/* set.c: check the set and the keys of a call. TAMIS_OK, _ARGUMENT. */
tamis_status set_check_keys(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                            tamis_problem *problem);

/* The abilities of the set on a GPU. */
TAMIS_INLINE unsigned set_abilities(const tamis_gpu_set *set) {
    bool const can_count = set_is_line(set) && set->table.most > 1 && !set->facts.is_states;
    return can_count ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0;
}

/* Put the driver's message into the problem. Returns `status`. */
TAMIS_INLINE tamis_status say_device(tamis_problem *problem, tamis_status status,
                                     const gpu_device *device) {
    return status == TAMIS_OK ? TAMIS_OK : say(problem, status, "%s", device_why(device));
}

/* Bytes of a piece of a pipelined copy, on the GPU and in pinned memory. */
#define PIECE_BYTES (UINT64_C(16) << 20)

#endif
