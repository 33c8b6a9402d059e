/* table.h - a table in the memory of a GPU, and the arguments of kernels. The host fills them in.
 */
#ifndef TAMIS_GPU_TABLE_H
#define TAMIS_GPU_TABLE_H

#include "core/hash.h"
#include "kinds/line/lines.h"

/* A set or states. All pointers are addresses of the GPU. */
typedef struct gpu_table {
    uint8_t    *body;
    uint64_t    body_bytes;
    lines_shape lines;      /* of a `line` */
    uint64_t    most;       /* copies that saturate a fingerprint */
    uint64_t    state_bits; /* bits of the value of a state, without its timer; 0: a set */
    uint64_t    bits;       /* of a `bloom`: places, */
    uint64_t    hashes;     /* hashes, */
    uint64_t    is_blocked; /* and its form */
    id_mixer    ids;        /* how ids become hashes, unless */
    uint64_t    is_sip;     /* they are hashed by SipHash, with this key: */
    uint64_t    sip_low, sip_high;
} gpu_table;

/* Keys, and whether they are hashes already. */
typedef struct gpu_keys {
    const uint64_t *data;
    uint64_t        n;
    uint64_t        are_hashes;
} gpu_keys;

/* Answers: each kernel uses one of these. */
typedef struct gpu_ask {
    gpu_table table;
    gpu_keys  keys;
    uint8_t  *ret_has;
    uint64_t *ret_counts;
} gpu_ask;

/* The counters of changes, in the memory of the GPU. */
typedef struct gpu_tally {
    uint64_t added;                  /* copies; in a Bloom filter, keys that set a new bit */
    uint64_t removed, absent, stuck; /* of a removal: copies; absent keys; saturated keys */
    uint64_t saturated;              /* fingerprints that became saturated */
    uint64_t is_refused;
    uint64_t words; /* of the new attic */
    uint64_t large; /* groups that need more shared memory: the length of the list `large` */
} gpu_tally;

/* Adds and removals. A group is the lines of one shelf; ends[g] is where its hashes end in
 * `hashes`, and those of the next group begin. */
typedef struct gpu_change {
    gpu_table  table;
    gpu_keys   keys;
    uint64_t   is_removal;
    uint64_t   groups;
    uint32_t  *ends;
    uint64_t  *hashes;
    gpu_tally *tally;
    uint64_t  *words, *rests; /* words of the new attic, in any order; rests may be NULL */
    uint32_t  *large;         /* groups that did not fit */
    uint64_t   n_large;       /* 0: change all groups; otherwise those in `large` */
    uint64_t   room;          /* how many entries of a group fit into the shared memory */
    uint64_t   tile;          /* hashes that are sorted at a time: a power of two */
    uint64_t   is_last_try;   /* last attempt: refuse a group that does not fit */
} gpu_change;

/* The new attic, in the order of homes. */
typedef struct gpu_attic {
    gpu_table       table;
    uint64_t        n; /* words */
    const uint64_t *words, *rests;
    uint64_t       *sorted_words, *sorted_rests;
    uint32_t       *ends;   /* of each home, as in gpu_change */
    uint64_t       *places; /* see kernels/attic.h */
} gpu_attic;

/* A prefix sum of 32-bit numbers, or a prefix maximum of 64-bit ones. */
typedef struct gpu_scan {
    void     *items;
    uint64_t  n;
    uint64_t  each;   /* items for each thread */
    uint64_t *totals; /* one for each block; NULL: there is one block */
    uint64_t  is_max, is_wide, is_inclusive;
} gpu_scan;

/* For measuring: random lines of 64 bytes. */
typedef struct gpu_lines {
    const uint8_t *memory;
    uint64_t       lines, n, seed;
    uint64_t      *ret_sum;
} gpu_lines;

#define GPU_WARP 32   /* threads that run together */
#define GPU_BLOCK 256 /* threads of a block; k_line_merge has one warp per block */
#define GPU_TILE 1024 /* the most hashes of a group that are sorted at a time */
#define GPU_LEAST_TILE 64
#define GPU_ROOM 1024 /* nearly all groups have at most this many entries */
#define GPU_LARGE_ROOM \
    4096 /* no group has more: 16 lines, each with 50 slots and a tail of at most 200 entries */
#define GPU_CHAINS (SHELF_BUCKETS * LINE_CHAINS)
#define GPU_ENTRY_BITS 18 /* bits of an entry without its rest: line, chain, byte */

#define GPU_RAW_BYTES ((SHELF_BUCKETS + 1) * TAMIS_LINE_BYTES)

/* Bytes of shared memory for k_line_merge (kernels/group.h). */
TAMIS_INLINE uint64_t gpu_merge_bytes(uint64_t tile, uint64_t room, bool is_bare) {
    uint64_t const entry = is_bare ? 4 : 8, item = is_bare ? 1 : 8;
    return GPU_RAW_BYTES + tile * entry + (2 * SHELF_BUCKETS + 16) * 4 + 2 * (GPU_CHAINS + 8) * 2 +
           2 * room * item;
}

/* All kernels: name, argument, and whether their threads wait at barriers. */
#define GPU_KERNELS(X)                \
    X(line_has_bare, gpu_ask, 0)      \
    X(line_has, gpu_ask, 0)           \
    X(line_count, gpu_ask, 0)         \
    X(line_get, gpu_ask, 0)           \
    X(bloom_has, gpu_ask, 0)          \
    X(bloom_has_blocked, gpu_ask, 0)  \
    X(bloom_add, gpu_change, 0)       \
    X(group_count, gpu_change, 0)     \
    X(group_scatter, gpu_change, 0)   \
    X(line_merge_bare, gpu_change, 1) \
    X(line_merge, gpu_change, 1)      \
    X(attic_keep, gpu_change, 0)      \
    X(attic_count, gpu_attic, 0)      \
    X(attic_scatter, gpu_attic, 0)    \
    X(attic_order, gpu_attic, 0)      \
    X(attic_distances, gpu_attic, 0)  \
    X(attic_write, gpu_attic, 0)      \
    X(scan_totals, gpu_scan, 1)       \
    X(scan_apply, gpu_scan, 1)        \
    X(random_lines, gpu_lines, 0)

#define GPU_KERNEL_NUMBER(name, argument, meets) GPU_K_##name,
enum { GPU_KERNELS(GPU_KERNEL_NUMBER) GPU_N_KERNELS };
#undef GPU_KERNEL_NUMBER

#endif
