/* gpu.h - the sets of tamis.h on an NVIDIA GPU, where you can look up and change many keys at once.
 *
 *     #include <tamis/gpu.h>                         link with -ltamis-gpu -ltamis
 *
 *     tamis_gpu     *gpu;
 *     tamis_gpu_set *there;
 *     tamis_problem  problem;
 *     if (tamis_gpu_open(0, &gpu, &problem) != TAMIS_OK) puts(problem.text);
 *     if (tamis_gpu_upload(gpu, set, &there, &problem) != TAMIS_OK) ...
 *     tamis_gpu_keys keys = { ids, n, 0, stream };   // ids are in the memory of the GPU
 *     if (tamis_gpu_has(there, &keys, has, &problem) != TAMIS_OK) ...
 *
 * A set has the same body on a GPU as on the CPU, byte for byte, also after changes: if you upload
 * a set, change it and download it, it is as if the CPU had made the same changes. docs/gpu.md says
 * how it works, how fast it is and when to use it.
 *
 * Kinds: `line` in all its modes, and `bloom` in both forms. For other kinds, and for parts of a
 * set (tamis_spec.parts), the result is TAMIS_ERR_CANNOT. Keys are 64-bit ids, or hashes from
 * tamis_hash_key(), which hashes key bytes on the CPU.
 *
 * The library needs no CUDA toolkit, neither to build nor to run: it loads the driver
 * (libcuda.so.1) when tamis_gpu_open() is called.
 *
 * Threads: only one call at a time may use a GPU handle or any of its sets. That includes lookups,
 * since all calls share one buffer for copying keys. Any thread may make that call. Different
 * handles are independent, also if they are for the same GPU. Every call makes the primary context
 * of its device current; when it returns, the context that was current before is current again.
 *
 * Every `reterr_problem` may be NULL. If a call fails in the driver, it returns TAMIS_ERR_IO, and
 * the problem text quotes the driver's message. Free the set then: it cannot be used any more.
 */
#ifndef TAMIS_GPU_H
#define TAMIS_GPU_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ a GPU */

typedef struct tamis_gpu tamis_gpu;

/** Open GPU number `device` (0, 1, ...).
 *  @return TAMIS_OK; _CANNOT: there is no driver, no GPU with this number, or the GPU is too old
 *  (it needs compute capability 7.0); _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_open(int device, tamis_gpu **ret_gpu,
                                                      tamis_problem *reterr_problem);

/** Close a GPU. Free its sets first. NULL is allowed. */
TAMIS_API void tamis_gpu_close(tamis_gpu *gpu);

typedef struct tamis_gpu_facts {
    char     name[128];
    uint64_t memory_bytes;   /**< of the GPU */
    uint64_t free_bytes;     /**< now */
    unsigned capability;     /**< 90 is compute capability 9.0 */
    unsigned driver_version; /**< 13000 is CUDA 13.0 */
    unsigned multiprocessors;
    unsigned reserved[9];
} tamis_gpu_facts;

/** Get the facts of a GPU. @return TAMIS_OK, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_describe(const tamis_gpu *gpu,
                                                          tamis_gpu_facts *ret_facts);

/** Allocate memory on the GPU, for programs that do not use CUDA themselves.
 *  @return TAMIS_OK, _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get_memory(tamis_gpu *gpu, uint64_t bytes,
                                                            void         **ret_memory,
                                                            tamis_problem *reterr_problem);
TAMIS_API void                         tamis_gpu_free_memory(tamis_gpu *gpu, void *memory);

/** Copy to that memory (send) and from it (fetch). The copy is complete when the call returns.
 *  @return TAMIS_OK, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_send(tamis_gpu *gpu, void *to, const void *from,
                                                      uint64_t       bytes,
                                                      tamis_problem *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_fetch(tamis_gpu *gpu, void *to, const void *from,
                                                       uint64_t       bytes,
                                                       tamis_problem *reterr_problem);

/* ------------------------------------------------------------------ a set on a GPU */

typedef struct tamis_gpu_set tamis_gpu_set;

/** Copy a set into the memory of a GPU. The set itself does not change. If the set is in a step of
 *  growing, a temporary copy finishes the step first. Sets do not grow on a GPU.
 *  @return TAMIS_OK; _CANNOT: another kind, or a part of a set; _MEMORY: not enough memory on the
 *  GPU or on this machine (the problem says how much there is); _LIMIT, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_upload(tamis_gpu *gpu, const tamis_set *set,
                                                        tamis_gpu_set **ret_set,
                                                        tamis_problem  *reterr_problem);

/** The same for states of kind `line`. On the GPU they can be read (tamis_gpu_get(),
 *  tamis_gpu_has()), not changed. For states in a step of growing the result is _CANNOT: put keys
 *  until the step is done. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_upload_states(tamis_gpu          *gpu,
                                                               const tamis_states *states,
                                                               tamis_gpu_set     **ret_set,
                                                               tamis_problem      *reterr_problem);

/** Map the file of a set, and copy it into the memory of a GPU. The file is checked as tamis_open()
 *  does, unless `flags` has TAMIS_OPEN_TRUST.
 *  @return as tamis_open() and tamis_gpu_upload(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_upload_file(tamis_gpu *gpu, const char *path,
                                                             unsigned        flags,
                                                             tamis_gpu_set **ret_set,
                                                             tamis_problem  *reterr_problem);

/** Make an empty set on a GPU. The allocator of the spec is not used.
 *  @return as tamis_create() and tamis_gpu_upload(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_create(tamis_gpu *gpu, const tamis_spec *spec,
                                                        tamis_gpu_set **ret_set,
                                                        tamis_problem  *reterr_problem);

/** Make a set in the memory of this machine from a set on a GPU. The contents are checked, as when
 *  a file is opened. During the call it needs memory for two bodies. States cannot be downloaded:
 *  they have not changed.
 *  @return TAMIS_OK; _MEMORY; _CANNOT: states; _CORRUPT: the memory of the GPU was damaged; _IO,
 *  _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_download(const tamis_gpu_set *set,
                                                          tamis_set          **ret_set,
                                                          tamis_problem       *reterr_problem);

/** Free a set and its memory on the GPU. NULL is allowed. */
TAMIS_API void tamis_gpu_free(tamis_gpu_set *set);

typedef struct tamis_gpu_set_facts {
    const char *kind;
    unsigned    abilities; /**< TAMIS_CAN_REMOVE and TAMIS_CAN_COUNT, as far as the GPU can */
    bool        is_states;
    uint64_t    keys, saturated, capacity; /**< as in tamis_facts */
    uint64_t    body_bytes;
    uint64_t    body; /**< the address of the body in the memory of the GPU */
    uint64_t    reserved[8];
} tamis_gpu_set_facts;

/** Get the facts of a set on a GPU. @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get_facts(const tamis_gpu_set *set,
                                                           tamis_gpu_set_facts *ret_facts);

/* ------------------------------------------------------------------ keys */

enum {
    TAMIS_GPU_HASHES = 1, /**< keys are hashes of tamis_hash_key() or tamis_hash_id(), not ids */
    TAMIS_GPU_HOST = 2    /**< keys and results are in the memory of this machine. The call copies
                               them in pieces; while it copies one, the GPU works on another */
};

/** Many keys, and where they are. */
typedef struct tamis_gpu_keys {
    const uint64_t *data; /**< n numbers of 64 bits. On the GPU, their address and the addresses of
                               64-bit results must be multiples of 8, else _ARGUMENT */
    size_t          n;
    unsigned        flags;  /**< TAMIS_GPU_... */
    void           *stream; /**< a CUstream or cudaStream_t of the device's primary context; NULL:
                                 the default stream. Not used with TAMIS_GPU_HOST */
} tamis_gpu_keys;

/* Lookups of keys in the memory of the GPU are asynchronous, like a kernel of your own in the same
 * stream: the call returns when they are queued, and an error of the driver may be reported later.
 * Lookups of keys in the memory of this machine, and all changes, are complete when the call
 * returns. Before a change, wait for lookups in this set that are still running in other streams
 * than the one of the change. */

/** Wait until everything that is queued in a stream (as in tamis_gpu_keys) is done.
 *  @return TAMIS_OK; _IO: an error of the driver, also from work that was queued; _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_wait(tamis_gpu *gpu, void *stream,
                                                      tamis_problem *reterr_problem);

/** Set ret_has[i] to 1 if the set has key i, else to 0. ret_has has n bytes, in the same memory as
 *  the keys.
 *  @return TAMIS_OK, _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_has(const tamis_gpu_set  *set,
                                                     const tamis_gpu_keys *keys, uint8_t *ret_has,
                                                     tamis_problem *reterr_problem);

/** Set ret_counts[i] to the count of key i, as tamis_count() does.
 *  @return TAMIS_OK; _CANNOT: the set cannot count; _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_count(const tamis_gpu_set  *set,
                                                       const tamis_gpu_keys *keys,
                                                       uint64_t             *ret_counts,
                                                       tamis_problem        *reterr_problem);

#define TAMIS_GPU_ABSENT UINT64_MAX

/** Set ret_values[i] to the value of key i, or to TAMIS_GPU_ABSENT. For states only.
 *  @return as tamis_gpu_count(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get(const tamis_gpu_set  *set,
                                                     const tamis_gpu_keys *keys,
                                                     uint64_t             *ret_values,
                                                     tamis_problem        *reterr_problem);

/** Add all keys, or none. The body is then the same, byte for byte, as if they were added one by
 *  one. (In a `bloom`, tamis_facts.keys may differ by a few: it counts keys that set a new bit,
 *  which depends on the order of the keys.)
 *
 *  The call needs memory on the GPU: a copy of the body, 8 bytes for each 16 lines, up to 48 bytes
 *  for each word of the attic, and 8 bytes for each key; in total at most 12 bytes per key when an
 *  empty set is filled. To stay below that, or if less memory is free, it adds the keys in pieces.
 *
 *  @return TAMIS_OK; _FULL: they do not all fit, nothing changed; _CANNOT, nothing changed: states;
 *  or a `line` with rests of more than 46 bits; or a `line` with rests in which 16 neighbouring
 *  lines would have more than 1024 entries, on a GPU with less than 78 KiB of shared memory per
 *  block (compute capability 7.5); _MEMORY, _LIMIT, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_add(tamis_gpu_set *set, const tamis_gpu_keys *keys,
                                                     tamis_problem *reterr_problem);

/** Remove one copy of each key; absent and saturated keys are skipped, and counted. Remove only
 *  what you added, as with tamis_remove(). @param ret_removal may be NULL.
 *  The call needs as much memory as an add, but no copy of the body on most GPUs.
 *  @return TAMIS_OK; _CANNOT: the set cannot remove; _CORRUPT: the body is damaged; free the set;
 *  others as tamis_gpu_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_remove(tamis_gpu_set        *set,
                                                        const tamis_gpu_keys *keys,
                                                        tamis_removal        *ret_removal,
                                                        tamis_problem        *reterr_problem);

#ifdef __cplusplus
}
#endif

#endif
