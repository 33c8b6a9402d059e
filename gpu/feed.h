/* feed.h - the keys of a change, piece by piece, in the memory of the GPU.
 *
 * Idea. Keys that are on the GPU are used where they are. Keys in this machine's memory are copied
 * into one of two buffers on the GPU while the GPU works on the keys in the other one:
 *
 *     feed_send()                   the first piece is on its way
 *     feed_take()                   wait for it
 *     queue kernels for it
 *     feed_send()                   meanwhile the next one goes to the other buffer
 *     wait for the kernels
 *     feed_take() ...
 *
 * Why: a copy over the bus takes longer than the change. Without overlap, the two times would add
 * up.
 */
#ifndef TAMIS_GPU_FEED_H
#define TAMIS_GPU_FEED_H

#include "set.h"

#define FEED_BUFFERS 2

typedef struct feed {
    tamis_gpu            *gpu;
    const tamis_gpu_keys *keys;
    uint64_t              each;                 /* keys in a piece */
    device_address        buffer[FEED_BUFFERS]; /* not used if keys are on the GPU */
    bool                  is_direct; /* copied directly, not through our own pinned memory */
    uint64_t              sent, taken;
    unsigned              chunks; /* keys that were copied */
} feed;

TAMIS_INLINE bool feed_is_host(const tamis_gpu_keys *keys) {
    return (keys->flags & TAMIS_GPU_HOST) != 0;
}

/* How many keys a piece should have, if there is enough memory: for a change of n keys from this
 * machine's memory, in a table for `capacity` keys. */
uint64_t feed_piece(uint64_t n, uint64_t capacity);

/* Begin. The buffers belong to the caller. Each has room for `each` keys; with a single piece, one
 * buffer is enough. */
void feed_begin(feed *keys_of, tamis_gpu *gpu, const tamis_gpu_keys *keys, uint64_t each);

/* Start to copy the next piece, if there is one. Its buffer must not be in use. */
tamis_status feed_send(feed *keys_of);

/* Wait for the piece that was sent. Gets its address and how many keys it has; 0: there are no
 * more. */
tamis_status feed_take(feed *keys_of, const uint64_t **ret_keys, uint64_t *ret_n);

/* After a failure: wait until no copy is running. */
void feed_stop(feed *keys_of);

#endif
