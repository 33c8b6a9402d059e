/* feed.h - the keys of a change, piece by piece, in the memory of the GPU.
 *
 * Idea. Keys that are on the GPU are used where they are. Keys of this machine are copied into one
 * of two buffers there while the keys of the other one are worked on:
 *
 *     feed_send()                   the first piece is on its way
 *     feed_take()                   wait for it
 *     queue kernels for it
 *     feed_send()                   meanwhile the next one goes to the other buffer
 *     wait for the kernels
 *     feed_take() ...
 *
 * Why: a copy over the bus takes longer than the change. One after the other would take both times.
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
    bool                  is_direct; /* copied from where they are, not by pinned memory of ours */
    uint64_t              sent, taken;
    unsigned              chunks; /* that were copied */
} feed;

TAMIS_INLINE bool feed_is_host(const tamis_gpu_keys *keys) {
    return (keys->flags & TAMIS_GPU_HOST) != 0;
}

/* Keys in a piece of a change of n keys from this machine's memory, if memory allows, in a table
 * for `capacity` keys. */
uint64_t feed_piece(uint64_t n, uint64_t capacity);

/* Begin. The buffers are the caller's: `each` keys in each of them, in one if one piece is all. */
void feed_begin(feed *keys_of, tamis_gpu *gpu, const tamis_gpu_keys *keys, uint64_t each);

/* Send the next piece on its way; nothing is left: do nothing. Its buffer must not be in use. */
tamis_status feed_send(feed *keys_of);

/* Wait for the piece that was sent: where it is, and how many keys it has. 0: there are no more. */
tamis_status feed_take(feed *keys_of, const uint64_t **ret_keys, uint64_t *ret_n);

/* After a failure: nothing is under way any more. */
void feed_stop(feed *keys_of);

#endif
