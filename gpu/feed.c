/* feed.c - see feed.h. */
#include "feed.h"

/* A piece costs a pass over the whole table and some launches, so it should be a large part of the
 * table, and large. There are three buffers with 8 bytes per key of a piece (two here, one for
 * hashes). So if a piece has a quarter of the keys, they take 6 bytes per key. */
#define LEAST_PIECE (UINT64_C(1) << 15)
#define MOST_PIECE (UINT64_C(1) << 26)

uint64_t feed_piece(uint64_t n, uint64_t capacity) {
    uint64_t const quarter = min_u64((n + 3) / 4, MOST_PIECE);
    return min_u64(n, max_u64(max_u64(quarter, capacity / 8), LEAST_PIECE));
}

void feed_begin(feed *keys_of, tamis_gpu *gpu, const tamis_gpu_keys *keys, uint64_t each) {
    keys_of->gpu = gpu;
    keys_of->keys = keys;
    keys_of->each = each;
    keys_of->sent = keys_of->taken = keys_of->chunks = 0;
    if (!feed_is_host(keys)) return;
    /* Without pinned memory of our own the driver copies from ordinary memory, more slowly. */
    keys_of->is_direct = device_is_pinned(gpu->device, keys->data) ||
                         ask_get_memory(gpu, min_u64(each, ASK_PIECE_KEYS)) != TAMIS_OK;
}

/* Copy a part of a piece through pinned memory, which is filled again when the copy out of it is
 * done. */
static tamis_status send_chunk(feed *keys_of, device_address to, const uint64_t *from, uint64_t n) {
    gpu_device *const device = keys_of->gpu->device;
    unsigned const    i = keys_of->chunks++ % DEVICE_STREAMS;
    uint64_t *const   pinned = keys_of->gpu->memory[i].keys;
    void *const       stream = device_stream(device, i);
    tamis_status      status = device_wait(device, stream);
    if (status != TAMIS_OK) return status;
    memcpy(pinned, from, 8 * n);
    return device_copy_in(device, to, pinned, 8 * n, stream);
}

tamis_status feed_send(feed *keys_of) {
    const tamis_gpu_keys *const keys = keys_of->keys;
    uint64_t const              n = min_u64(keys->n - keys_of->sent, keys_of->each);
    const uint64_t *const       from = keys->data + keys_of->sent;
    device_address const        to = keys_of->buffer[keys_of->sent / keys_of->each % FEED_BUFFERS];
    gpu_device *const           device = keys_of->gpu->device;
    tamis_status                status = TAMIS_OK;
    keys_of->sent += n;
    if (n == 0 || !feed_is_host(keys)) return TAMIS_OK; /* there may be no buffer for it */
    if (keys_of->is_direct)
        return device_copy_in(device, to, from, 8 * n, device_stream(device, 0));
    uint64_t const chunk = keys_of->gpu->memory_keys;
    for (uint64_t done = 0, part; done < n && status == TAMIS_OK; done += part) {
        part = min_u64(n - done, chunk);
        status = send_chunk(keys_of, to + 8 * done, from + done, part);
    }
    return status;
}

static tamis_status wait_for_copies(feed *keys_of) {
    gpu_device *const device = keys_of->gpu->device;
    tamis_status      status = TAMIS_OK;
    if (!feed_is_host(keys_of->keys)) return TAMIS_OK;
    for (unsigned i = 0; i < DEVICE_STREAMS && status == TAMIS_OK; i++)
        status = device_wait(device, device_stream(device, i));
    return status;
}

tamis_status feed_take(feed *keys_of, const uint64_t **ret_keys, uint64_t *ret_n) {
    uint64_t const       from = keys_of->taken;
    device_address const at = keys_of->buffer[from / keys_of->each % FEED_BUFFERS];
    *ret_n = keys_of->sent - from;
    *ret_keys =
        feed_is_host(keys_of->keys) ? (const uint64_t *)(uintptr_t)at : keys_of->keys->data + from;
    keys_of->taken = keys_of->sent;
    return wait_for_copies(keys_of);
}

void feed_stop(feed *keys_of) {
    (void)wait_for_copies(keys_of);
}
