/* gpu.h - the sets of tamis.h on an NVIDIA GPU: the same bytes, asked and changed there.
 *
 *     #include <tamis/gpu.h>                         link with -ltamis-gpu -ltamis
 *
 *     tamis_gpu     *gpu;
 *     tamis_gpu_set *there;
 *     tamis_problem  problem;
 *     if (tamis_gpu_open(0, &gpu, &problem) != TAMIS_OK) puts(problem.text);
 *     if (tamis_gpu_upload(gpu, set, &there, &problem) != TAMIS_OK) ...
 *     tamis_gpu_keys keys = { ids, n, 0, stream };   // in the memory of the GPU
 *     if (tamis_gpu_has(there, &keys, has, &problem) != TAMIS_OK) ...
 *
 * A set on a GPU is the body of the set, byte for byte: what is uploaded, changed and downloaded is
 * what the CPU would have made of the same keys. docs/gpu.md says how it works, how fast it is and
 * when to use it.
 *
 * Kinds: `line` in all its modes, and `bloom`, in both forms. Others are TAMIS_ERR_CANNOT, and so
 * are parts of a set (tamis_spec.parts). Keys are 64-bit ids, or hashes of tamis_hash_key(); bytes
 * are hashed on the CPU.
 *
 * The library needs no CUDA toolkit, neither to build nor to run: it loads the driver
 * (libcuda.so.1) when tamis_gpu_open() is called.
 *
 * Threads: one call at a time uses a GPU handle and all its sets, lookups included: they share
 * memory that keys are copied through. Any thread may make that call. Handles of their own, also of
 * the same GPU, are independent. Every call makes the primary context of its device current, and
 * leaves the one that was current before.
 *
 * Every `reterr_problem` may be NULL. A call that fails in the driver is TAMIS_ERR_IO, and the
 * problem has the driver's own words; the set must then be freed.
 */
#ifndef TAMIS_GPU_H
#define TAMIS_GPU_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ a GPU */

typedef struct tamis_gpu tamis_gpu;

/** Take GPU number `device`, from 0 on, into use.
 *  @return TAMIS_OK; _CANNOT: there is no driver, no GPU of this number, or one that is too old (it
 *  needs compute capability 7.0); _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_open(int device, tamis_gpu **ret_gpu,
                                                      tamis_problem *reterr_problem);

/** Let it go. Free its sets before. NULL is allowed. */
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

/** @return TAMIS_OK, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_describe(const tamis_gpu *gpu,
                                                          tamis_gpu_facts *ret_facts);

/** Memory of the GPU, for programs that have no other way to it. @return TAMIS_OK, _MEMORY,
 *  _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get_memory(tamis_gpu *gpu, uint64_t bytes,
                                                            void         **ret_memory,
                                                            tamis_problem *reterr_problem);
TAMIS_API void                         tamis_gpu_free_memory(tamis_gpu *gpu, void *memory);

/** Copy to and from that memory; it is done when the call returns. @return TAMIS_OK, _IO,
 *  _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_send(tamis_gpu *gpu, void *to, const void *from,
                                                      uint64_t       bytes,
                                                      tamis_problem *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_fetch(tamis_gpu *gpu, void *to, const void *from,
                                                       uint64_t       bytes,
                                                       tamis_problem *reterr_problem);

/* ------------------------------------------------------------------ a set there */

typedef struct tamis_gpu_set tamis_gpu_set;

/** Copy a set into the memory of a GPU. The set stays as it is. A set that is in a step of growing
 *  is copied first, and the copy finishes the step; on a GPU it does not grow any further.
 *  @return TAMIS_OK; _CANNOT: of another kind, or a part of a set; _MEMORY: of the GPU or here,
 *  and the problem says how much there is; _LIMIT, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_upload(tamis_gpu *gpu, const tamis_set *set,
                                                        tamis_gpu_set **ret_set,
                                                        tamis_problem  *reterr_problem);

/** The same for states of kind `line`: they can be read there (tamis_gpu_get(), tamis_gpu_has()),
 *  not changed. States in a step of growing are _CANNOT: add keys until it is done. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_upload_states(tamis_gpu          *gpu,
                                                               const tamis_states *states,
                                                               tamis_gpu_set     **ret_set,
                                                               tamis_problem      *reterr_problem);

/** Map a file of a set, and copy it into the memory of a GPU. The file is checked as tamis_open()
 *  checks it, unless `flags` has TAMIS_OPEN_TRUST.
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

/** Make a set in the memory of this machine from one on a GPU. It is checked on the way as a file
 *  is. During the call it needs memory for two bodies. Not for states: they did not change.
 *  @return TAMIS_OK; _MEMORY; _CANNOT: states; _CORRUPT: the memory of the GPU was damaged; _IO,
 *  _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_download(const tamis_gpu_set *set,
                                                          tamis_set          **ret_set,
                                                          tamis_problem       *reterr_problem);

/** Free a set and its memory on the GPU. NULL is allowed. */
TAMIS_API void tamis_gpu_free(tamis_gpu_set *set);

typedef struct tamis_gpu_set_facts {
    const char *kind;
    unsigned    abilities; /**< TAMIS_CAN_REMOVE and TAMIS_CAN_COUNT, if it can that there */
    bool        is_states;
    uint64_t    keys, saturated, capacity; /**< as in tamis_facts */
    uint64_t    body_bytes;
    uint64_t    body; /**< the address of the body in the memory of the GPU */
    uint64_t    reserved[8];
} tamis_gpu_set_facts;

/** @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get_facts(const tamis_gpu_set *set,
                                                           tamis_gpu_set_facts *ret_facts);

/* ------------------------------------------------------------------ keys */

enum {
    TAMIS_GPU_HASHES = 1, /**< keys are hashes of tamis_hash_key() or tamis_hash_id(), not ids */
    TAMIS_GPU_HOST = 2    /**< keys and results are in the memory of this machine: a call copies
                               them in pieces, while other pieces are worked on */
};

/** Many keys, and where they are. */
typedef struct tamis_gpu_keys {
    const uint64_t *data; /**< n numbers of 64 bits. On the GPU the address is a multiple of 8, and
                               so are those of results of 64 bits; others are _ARGUMENT */
    size_t          n;
    unsigned        flags;  /**< TAMIS_GPU_... */
    void           *stream; /**< a CUstream or cudaStream_t of the device's primary context; NULL:
                                 the default stream. Not used with TAMIS_GPU_HOST */
} tamis_gpu_keys;

/* Lookups on the memory of the GPU are asynchronous, as a kernel of your own in the same stream:
 * the call returns when they are queued, and an error of the driver may show up later. Lookups on
 * the memory of this machine, and all changes, are done when the call returns. Before a change,
 * wait for the lookups of this set that are under way in other streams than that of its keys. */

/** Wait until all that is queued in a stream (as in tamis_gpu_keys) is done.
 *  @return TAMIS_OK; _IO: of the driver, also for what was queued; _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_wait(tamis_gpu *gpu, void *stream,
                                                      tamis_problem *reterr_problem);

/** ret_has[i] becomes 1 if the set has key i, else 0: n bytes, where the keys are.
 *  @return TAMIS_OK, _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_has(const tamis_gpu_set  *set,
                                                     const tamis_gpu_keys *keys, uint8_t *ret_has,
                                                     tamis_problem *reterr_problem);

/** ret_counts[i] becomes the count of key i, as tamis_count() has it.
 *  @return TAMIS_OK; _CANNOT: the set cannot count; _MEMORY, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_count(const tamis_gpu_set  *set,
                                                       const tamis_gpu_keys *keys,
                                                       uint64_t             *ret_counts,
                                                       tamis_problem        *reterr_problem);

#define TAMIS_GPU_ABSENT UINT64_MAX

/** ret_values[i] becomes the value of key i; TAMIS_GPU_ABSENT: it has none. Of states only.
 *  @return as tamis_gpu_count(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_get(const tamis_gpu_set  *set,
                                                     const tamis_gpu_keys *keys,
                                                     uint64_t             *ret_values,
                                                     tamis_problem        *reterr_problem);

/** Add all keys, or none. The body is then, byte for byte, what adding them one by one makes of it.
 *  (Of a `bloom`, tamis_facts.keys may differ by a few: which keys mark something new depends on
 *  their order.)
 *  Needs memory of the GPU: a copy of the body, 8 bytes for each 16 lines, up to 48 for each word
 *  that the attic may hold, and 8 for each key; at most 12 for each key in all when an empty set is
 *  filled. It takes keys in pieces for that, and if less is free.
 *  @return TAMIS_OK; _FULL: they do not all fit, and nothing has changed; _CANNOT: states; a `line`
 *  with rests of more than 46 bits; or one with rests in which 16 lines side by side come to hold
 *  more than 1024 entries, on a GPU with less than 78 KiB of shared memory for a block (compute
 *  capability 7.5), and nothing has changed; _MEMORY, _LIMIT, _IO, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_add(tamis_gpu_set *set, const tamis_gpu_keys *keys,
                                                     tamis_problem *reterr_problem);

/** Remove one copy of each key; absent and saturated ones are skipped, and counted. Remove only
 *  what you added, as with tamis_remove(). @param ret_removal may be NULL.
 *  Needs the memory of an add, but no copy of the body on most GPUs.
 *  @return TAMIS_OK; _CANNOT: the set cannot remove; _CORRUPT: the body is damaged, and it must be
 *  freed; others as tamis_gpu_add(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_gpu_remove(tamis_gpu_set        *set,
                                                        const tamis_gpu_keys *keys,
                                                        tamis_removal        *ret_removal,
                                                        tamis_problem        *reterr_problem);

#ifdef __cplusplus
}
#endif

#endif
