/* change.c - adds and removals of many keys.
 *
 * One kernel sets the bits of a Bloom filter. A table of lines is changed in steps, for as many
 * keys at a time as there is memory for:
 *
 *   count     the hashes of each group of 16 lines         k_group_count, prefix sum
 *   scatter   the hashes, group by group                   k_group_scatter
 *   merge     each group with its hashes, by a warp        k_line_merge (kernels/group.h)
 *   attic     rebuilt from its words                     kernels/attic.h
 *
 * Whether all fits is known only at the end. So a copy of the body is kept until then, on the GPU
 * if there is memory for it: to copy it there takes less time than any other step. If something
 * does not fit, or fails, the copy is restored. A removal always fits, since entries only become
 * fewer. So it needs a copy only if a group could need more shared memory than a block has.
 *
 * Keys in this machine's memory are copied in pieces, each while the GPU works on the one before
 * (feed.h).
 */
#include "feed.h"

#include "core/le.h"

#include <stdlib.h>

#define MOST_KEYS (UINT64_C(1) << 30) /* per pass: positions of hashes are 32-bit numbers */
#define MOST_REST_BITS (64 - GPU_ENTRY_BITS)
#define SCAN_EACH 8
#define SCAN_SPAN (SCAN_EACH * GPU_BLOCK)
#define MOST_SCRATCH 16
#define SCRATCH_PER_KEY 12
#define MOST_PIECES 4

typedef struct change_job {
    tamis_gpu_set        *set;
    const tamis_gpu_keys *keys;
    bool                  is_removal;
    feed                  feed;
    gpu_change            change;
    gpu_attic             attic;
    gpu_tally             sum;    /* of all pieces so far */
    uint64_t              words;  /* in the attic now */
    uint64_t             *totals; /* for prefix sums */
    device_address        copy;   /* of the body; or */
    uint8_t              *host_copy;
    bool                  is_short_here; /* in this machine's memory */
    device_address        scratch[MOST_SCRATCH];
    unsigned              n_scratch;
    uint64_t              scratch_bytes; /* in all of them */
    uint64_t              shared_bytes;  /* bytes that a launch needed, and a block does not have */
} change_job;

/* ------------------------------------------------------------------ memory */

/* Memory of the GPU until the call ends. `ret` points to a pointer of any type. */
static tamis_status get_scratch(change_job *job, uint64_t bytes, void *ret) {
    device_address address = 0;
    tamis_status   status = device_alloc(job->set->device, bytes, &address);
    if (status != TAMIS_OK) return status;
    job->scratch[job->n_scratch++] = address;
    job->scratch_bytes += bytes;
    void *const pointer = (void *)(uintptr_t)address;
    memcpy(ret, &pointer, sizeof pointer);
    return TAMIS_OK;
}

static device_address address_of(const void *pointer) {
    return (device_address)(uintptr_t)pointer;
}

static uint64_t scan_blocks(uint64_t n) {
    return (n + SCAN_SPAN - 1) / SCAN_SPAN;
}

/* Memory that does not depend on the number of keys. */
static tamis_status get_fixed_memory(change_job *job) {
    const lines_shape *const lines = &job->set->table.lines;
    gpu_change *const        change = &job->change;
    gpu_attic *const         attic = &job->attic;
    uint64_t const           words = 8 * lines->room, rests = lines->rest_bits == 0 ? 0 : words;
    uint64_t const           most = max_u64(change->groups, max_u64(lines->homes, lines->room));
    tamis_status             status = get_scratch(job, sizeof(gpu_tally), &change->tally);
    if (status == TAMIS_OK) status = get_scratch(job, 4 * change->groups, &change->ends);
    if (status == TAMIS_OK) status = get_scratch(job, 4 * change->groups, &change->large);
    if (status == TAMIS_OK) status = get_scratch(job, 8 * scan_blocks(most), &job->totals);
    if (status == TAMIS_OK) status = get_scratch(job, words, &change->words);
    if (status == TAMIS_OK) status = get_scratch(job, words, &attic->sorted_words);
    if (status == TAMIS_OK) status = get_scratch(job, words, &attic->places);
    if (status == TAMIS_OK) status = get_scratch(job, 4 * lines->homes, &attic->ends);
    if (status == TAMIS_OK && rests != 0) status = get_scratch(job, rests, &change->rests);
    if (status == TAMIS_OK && rests != 0) status = get_scratch(job, rests, &attic->sorted_rests);
    attic->words = change->words;
    attic->rests = change->rests;
    return status;
}

/* Might this change have to be undone? */
static bool is_final(const change_job *job) {
    uint64_t const most = gpu_merge_bytes(GPU_TILE, GPU_LARGE_ROOM, set_is_bare(job->set));
    return job->is_removal && most <= device_shared_bytes(job->set->device);
}

/* Keep a copy of the body: on the GPU, or else in this machine's memory. */
static tamis_status keep_copy(change_job *job) {
    gpu_device *const device = job->set->device;
    uint64_t const    bytes = job->set->facts.body_bytes;
    if (device_free_bytes(device) / 2 > bytes && get_scratch(job, bytes, &job->copy) == TAMIS_OK)
        return device_copy(device, job->copy, set_body(job->set), bytes, NULL);
    job->host_copy = malloc(bytes);
    job->is_short_here = job->host_copy == NULL;
    if (job->is_short_here) return TAMIS_ERR_MEMORY;
    tamis_status const status =
        device_copy_out(device, job->host_copy, set_body(job->set), bytes, NULL);
    return status == TAMIS_OK ? device_wait(device, NULL) : status;
}

static tamis_status bring_back_copy(change_job *job) {
    gpu_device *const    device = job->set->device;
    device_address const body = set_body(job->set);
    uint64_t const       bytes = job->set->facts.body_bytes;
    tamis_status const   status = job->copy != 0
                                      ? device_copy(device, body, job->copy, bytes, NULL)
                                      : device_copy_in(device, body, job->host_copy, bytes, NULL);
    return status == TAMIS_OK ? device_wait(device, NULL) : status;
}

/* How many keys are on the GPU at a time, so that filling a table takes at most SCRATCH_PER_KEY
 * bytes of scratch memory per key. Each piece takes a pass over the whole table, so there are only
 * a few pieces. */
static uint64_t piece_there(const change_job *job) {
    uint64_t const n = job->keys->n;
    uint64_t const most = SCRATCH_PER_KEY * max_u64(n, job->set->facts.capacity);
    uint64_t const left = most > job->scratch_bytes ? most - job->scratch_bytes : 0;
    uint64_t const each = min_u64(n, max_u64(left / 8, n / MOST_PIECES + 1));
    uint64_t const pieces = (n + each - 1) / each;
    return (n + pieces - 1) / pieces;
}

/* Buffers for keys from this machine's memory: two, or one if there is only one piece. */
static tamis_status begin_feed(change_job *job, uint64_t each) {
    unsigned const most = each < job->keys->n ? FEED_BUFFERS : 1;
    unsigned const buffers = feed_is_host(job->keys) ? most : 0;
    tamis_status   status = TAMIS_OK;
    for (unsigned i = 0; i < buffers && status == TAMIS_OK; i++)
        status = get_scratch(job, 8 * each, &job->feed.buffer[i]);
    if (status == TAMIS_OK) feed_begin(&job->feed, job->set->gpu, job->keys, each);
    return status;
}

/* Allocate memory for as many keys at a time as possible. */
static tamis_status get_key_memory(change_job *job) {
    bool const     is_host = feed_is_host(job->keys);
    uint64_t const wanted =
        is_host ? feed_piece(job->keys->n, job->set->facts.capacity) : piece_there(job);
    uint64_t const bytes = is_host ? 8 * (1 + FEED_BUFFERS) : 8;
    uint64_t const fits = device_free_bytes(job->set->device) / 10 * 9 / bytes;
    uint64_t const each = min_u64(min_u64(wanted, MOST_KEYS), fits);
    if (each == 0) return TAMIS_ERR_MEMORY;
    tamis_status const status = get_scratch(job, 8 * each, &job->change.hashes);
    return status == TAMIS_OK ? begin_feed(job, each) : status;
}

static void let_memory_go(change_job *job) {
    for (unsigned i = 0; i < job->n_scratch; i++) device_free(job->set->device, job->scratch[i]);
    free(job->host_copy);
}

/* ------------------------------------------------------------------ kernels */

/* Run a kernel over n items. */
static tamis_status run_over(change_job *job, unsigned kernel, uint64_t n, const void *argument) {
    gpu_device *const   device = job->set->device;
    uint64_t const      blocks = (n + GPU_BLOCK - 1) / GPU_BLOCK;
    device_launch const launch = { .kernel = kernel,
                                   .blocks = min_u64(blocks, device_full_blocks(device)),
                                   .threads = GPU_BLOCK,
                                   .argument = argument };
    return device_run(device, &launch);
}

static tamis_status run_scan(change_job *job, unsigned kernel, uint64_t blocks,
                             const gpu_scan *scan) {
    device_launch const launch = { .kernel = kernel,
                                   .blocks = blocks,
                                   .threads = GPU_BLOCK,
                                   .shared_bytes = 8 * GPU_BLOCK,
                                   .argument = scan };
    return device_run(job->set->device, &launch);
}

/* Prefixes of n items, in place (kernels/scan.h). */
static tamis_status scan(change_job *job, void *items, uint64_t n, bool is_max) {
    uint64_t const blocks = scan_blocks(n);
    gpu_scan const all = { .items = items,
                           .n = n,
                           .each = SCAN_EACH,
                           .totals = job->totals,
                           .is_max = is_max,
                           .is_wide = is_max,
                           .is_inclusive = is_max };
    gpu_scan const totals = { .items = job->totals,
                              .n = blocks,
                              .each = (blocks + GPU_BLOCK - 1) / GPU_BLOCK,
                              .is_max = is_max,
                              .is_wide = true };
    tamis_status   status = run_scan(job, GPU_K_scan_totals, blocks, &all);
    if (status == TAMIS_OK) status = run_scan(job, GPU_K_scan_apply, 1, &totals);
    if (status == TAMIS_OK) status = run_scan(job, GPU_K_scan_apply, blocks, &all);
    return status;
}

/* Merge all groups, or those in the list of large ones, with room for this many entries. */
static tamis_status merge(change_job *job, uint64_t n_large, uint64_t room) {
    bool const  is_bare = set_is_bare(job->set);
    gpu_change *change = &job->change;
    change->room = room;
    change->n_large = n_large;
    change->tile = GPU_LEAST_TILE; /* one tile is enough for most groups: see group.h */
    while (change->tile < GPU_TILE && change->tile < 2 * change->keys.n / change->groups)
        change->tile *= 2;
    change->is_last_try = n_large != 0;
    uint64_t const      n = n_large != 0 ? n_large : change->groups;
    device_launch const launch = {
        .kernel = is_bare ? GPU_K_line_merge_bare : GPU_K_line_merge,
        .blocks = min_u64(n, device_full_blocks(job->set->device)),
        .threads = GPU_WARP,
        .shared_bytes = gpu_merge_bytes(change->tile, room, is_bare),
        .argument = change,
    };
    return device_run(job->set->device, &launch);
}

/* Merge the groups that did not fit in the first launch. Not every GPU has enough shared memory. */
static tamis_status merge_large(change_job *job, uint64_t n_large) {
    uint64_t const bytes = gpu_merge_bytes(job->change.tile, GPU_LARGE_ROOM, set_is_bare(job->set));
    if (bytes <= device_shared_bytes(job->set->device)) return merge(job, n_large, GPU_LARGE_ROOM);
    job->shared_bytes = bytes;
    return TAMIS_ERR_CANNOT;
}

static tamis_status read_tally(change_job *job, gpu_tally *ret_tally) {
    gpu_device *const device = job->set->device;
    tamis_status      status =
        device_copy_out(device, ret_tally, address_of(job->change.tally), sizeof *ret_tally, NULL);
    return status == TAMIS_OK ? device_wait(device, NULL) : status;
}

/* ------------------------------------------------------------------ the attic */

/* Clear the words of the attic and their rests. The rests begin at a whole word, and only zeros
 * follow them. */
static tamis_status clear_attic(change_job *job) {
    gpu_device *const        device = job->set->device;
    const lines_shape *const lines = &job->set->table.lines;
    device_address const     body = set_body(job->set);
    tamis_status             status =
        device_zero(device, body + lines->words, lines->count - lines->words, NULL);
    if (status == TAMIS_OK && lines->rest_bits != 0)
        status = device_zero(device, body + lines->word_rests / 8,
                             job->set->facts.body_bytes - lines->word_rests / 8, NULL);
    return status;
}

static tamis_status write_attic(change_job *job, uint64_t n) {
    const lines_shape *const lines = &job->set->table.lines;
    gpu_device *const        device = job->set->device;
    gpu_attic *const         attic = &job->attic;
    uint8_t                  count[8];
    le64_store(count, n);
    attic->n = n;
    tamis_status status = clear_attic(job);
    if (status == TAMIS_OK)
        status = device_zero(device, address_of(attic->ends), 4 * lines->homes, NULL);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_attic_count, n, attic);
    if (status == TAMIS_OK) status = scan(job, attic->ends, lines->homes, false);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_attic_scatter, n, attic);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_attic_order, lines->homes, attic);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_attic_distances, n, attic);
    if (status == TAMIS_OK && n != 0) status = scan(job, attic->places, n, true);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_attic_write, n, attic);
    if (status == TAMIS_OK)
        status = device_copy_in(device, set_body(job->set) + lines->count, count, 8, NULL);
    if (status == TAMIS_OK) status = device_wait(device, NULL);
    job->words = n;
    return status;
}

/* ------------------------------------------------------------------ a piece of the keys */

static tamis_status group_hashes(change_job *job) {
    gpu_change *const change = &job->change;
    gpu_device *const device = job->set->device;
    tamis_status status = device_zero(device, address_of(change->ends), 4 * change->groups, NULL);
    if (status == TAMIS_OK)
        status = device_zero(device, address_of(change->tally), sizeof(gpu_tally), NULL);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_group_count, change->keys.n, change);
    if (status == TAMIS_OK) status = scan(job, change->ends, change->groups, false);
    if (status == TAMIS_OK) status = run_over(job, GPU_K_group_scatter, change->keys.n, change);
    return status;
}

static void add_tally(gpu_tally *sum, const gpu_tally *more) {
    sum->added += more->added;
    sum->removed += more->removed;
    sum->absent += more->absent;
    sum->stuck += more->stuck;
    sum->saturated += more->saturated;
}

/* Queue the kernels of a piece that need no result on the host. */
static tamis_status start_piece(change_job *job, const uint64_t *keys, uint64_t n) {
    bool const are_hashes = (job->keys->flags & TAMIS_GPU_HASHES) != 0;
    job->change.keys = (gpu_keys){ keys, n, are_hashes };
    tamis_status const status = group_hashes(job);
    return status == TAMIS_OK ? merge(job, 0, GPU_ROOM) : status;
}

/* Wait for these kernels, and do the rest. TAMIS_OK, _FULL, _CORRUPT, _CANNOT (shared memory), or
 * an error of the device. */
static tamis_status finish_piece(change_job *job) {
    gpu_tally    tally = { 0 };
    tamis_status status = read_tally(job, &tally);
    if (status == TAMIS_OK && tally.large != 0) status = merge_large(job, tally.large);
    if (status == TAMIS_OK && job->words != 0)
        status = run_over(job, GPU_K_attic_keep,
                          job->set->table.lines.homes + job->set->table.lines.room, &job->change);
    if (status == TAMIS_OK) status = read_tally(job, &tally);
    if (status != TAMIS_OK) return status;
    bool const fits = !tally.is_refused && tally.words <= job->set->table.lines.room;
    if (!fits) return job->is_removal ? TAMIS_ERR_CORRUPT : TAMIS_ERR_FULL;
    add_tally(&job->sum, &tally);
    return job->words == 0 && tally.words == 0 ? TAMIS_OK : write_attic(job, tally.words);
}

static tamis_status change_all(change_job *job) {
    tamis_status status = feed_send(&job->feed);
    while (status == TAMIS_OK && job->feed.taken < job->keys->n) {
        const uint64_t *keys;
        uint64_t        n;
        status = feed_take(&job->feed, &keys, &n);
        if (status == TAMIS_OK) status = start_piece(job, keys, n);
        if (status == TAMIS_OK) status = feed_send(&job->feed);
        if (status == TAMIS_OK) status = finish_piece(job);
    }
    if (status != TAMIS_OK) feed_stop(&job->feed);
    return status;
}

static tamis_status change_lines(change_job *job) {
    tamis_gpu_set *const set = job->set;
    bool                 is_kept = false;
    job->change.table = job->attic.table = set->table;
    job->change.is_removal = job->is_removal;
    job->change.groups = (set->table.lines.buckets + SHELF_BUCKETS - 1) / SHELF_BUCKETS;
    job->words = set->attic;
    if (job->change.groups > UINT32_MAX || set->table.lines.homes > UINT32_MAX)
        return TAMIS_ERR_LIMIT;
    tamis_status status = get_fixed_memory(job);
    if (status == TAMIS_OK && !is_final(job)) {
        status = keep_copy(job);
        is_kept = status == TAMIS_OK;
    }
    if (status == TAMIS_OK) status = get_key_memory(job);
    if (status == TAMIS_OK) status = change_all(job);
    if (status == TAMIS_OK) {
        set->attic = job->words;
        set->facts.keys += job->sum.added - job->sum.removed;
        set->facts.saturated += job->sum.saturated;
        set->facts.refused_removes += job->sum.absent;
    } else if (is_kept && bring_back_copy(job) != TAMIS_OK) {
        status = TAMIS_ERR_IO;
    }
    return status;
}

/* ------------------------------------------------------------------ Bloom filters */

static tamis_status mark_piece(change_job *job) {
    gpu_change *const change = &job->change;
    const uint64_t   *keys;
    uint64_t          n;
    tamis_status      status = feed_take(&job->feed, &keys, &n);
    change->keys = (gpu_keys){ keys, n, (job->keys->flags & TAMIS_GPU_HASHES) != 0 };
    if (status == TAMIS_OK) status = run_over(job, GPU_K_bloom_add, n, change);
    if (status == TAMIS_OK) status = feed_send(&job->feed);
    return status == TAMIS_OK ? device_wait(job->set->device, NULL) : status;
}

/* Setting bits always succeeds, so no copy is needed. */
static tamis_status mark_keys(change_job *job) {
    uint64_t const n = job->keys->n;
    gpu_tally      tally = { 0 };
    tamis_status   status = get_scratch(job, sizeof(gpu_tally), &job->change.tally);
    if (status == TAMIS_OK)
        status = begin_feed(job, feed_is_host(job->keys) ? feed_piece(n, 0) : n);
    if (status != TAMIS_OK) return status;
    job->change.table = job->set->table;
    status = device_zero(job->set->device, address_of(job->change.tally), sizeof(gpu_tally), NULL);
    if (status == TAMIS_OK) status = feed_send(&job->feed);
    while (status == TAMIS_OK && job->feed.taken < n) status = mark_piece(job);
    if (status == TAMIS_OK) status = read_tally(job, &tally);
    if (status != TAMIS_OK) feed_stop(&job->feed);
    job->set->facts.keys += tally.added;
    return status;
}

/* ------------------------------------------------------------------ the public functions */

static tamis_status say_why(tamis_problem *problem, tamis_status status, const change_job *job) {
    switch (status) {
    case TAMIS_OK: return TAMIS_OK;
    case TAMIS_ERR_FULL:
        return say(problem, status,
                   "the keys do not all fit: the set has %llu of a capacity of "
                   "%llu, and nothing has changed",
                   (unsigned long long)job->set->facts.keys,
                   (unsigned long long)job->set->facts.capacity);
    case TAMIS_ERR_MEMORY:
        return say(problem, status, "not enough memory %s to change a set of %.2f GiB",
                   job->is_short_here ? "on this machine and on the GPU" : "on the GPU",
                   (double)job->set->facts.body_bytes / (1 << 30));
    case TAMIS_ERR_CANNOT:
        return say(problem, status,
                   "16 lines side by side would hold more than %d entries; to change them takes "
                   "%.1f KiB of shared memory, this GPU has %.1f KiB, and nothing has changed",
                   GPU_ROOM, (double)job->shared_bytes / 1024,
                   (double)device_shared_bytes(job->set->device) / 1024);
    case TAMIS_ERR_CORRUPT:
        return say(problem, status, "the body is damaged: it is too full after a removal");
    case TAMIS_ERR_LIMIT: return say(problem, status, "the set is too large to change on a GPU");
    default: return say_device(problem, status, job->set->device);
    }
}

static tamis_status change(change_job *job, tamis_problem *problem) {
    tamis_gpu_set *const set = job->set;
    if (job->keys->n == 0) return TAMIS_OK;
    tamis_status status = device_enter(set->device);
    if (status != TAMIS_OK) return say_device(problem, status, set->device);
    /* Keys that are computed in a stream of the caller must be complete. */
    if ((job->keys->flags & TAMIS_GPU_HOST) == 0)
        status = device_wait(set->device, job->keys->stream);
    if (status == TAMIS_OK) status = set_is_line(set) ? change_lines(job) : mark_keys(job);
    set->facts.refused_adds += status == TAMIS_ERR_FULL;
    let_memory_go(job);
    device_leave(set->device);
    return say_why(problem, status, job);
}

static tamis_status check_change(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                                 tamis_problem *problem) {
    tamis_status const status = set_check_keys(set, keys, problem);
    if (status != TAMIS_OK) return status;
    if (set->facts.is_states)
        return say(problem, TAMIS_ERR_CANNOT, "states can be read on a GPU, not changed");
    if (set_is_line(set) && set->table.lines.rest_bits > MOST_REST_BITS)
        return say(problem, TAMIS_ERR_CANNOT,
                   "a line with rests of %llu bits cannot be changed on a GPU, only up to %d bits",
                   (unsigned long long)set->table.lines.rest_bits, MOST_REST_BITS);
    return TAMIS_OK;
}

tamis_status tamis_gpu_add(tamis_gpu_set *set, const tamis_gpu_keys *keys,
                           tamis_problem *reterr_problem) {
    tamis_status const status = check_change(set, keys, reterr_problem);
    if (status != TAMIS_OK) return status;
    change_job job = { .set = set, .keys = keys };
    return change(&job, reterr_problem);
}

tamis_status tamis_gpu_remove(tamis_gpu_set *set, const tamis_gpu_keys *keys,
                              tamis_removal *ret_removal, tamis_problem *reterr_problem) {
    tamis_status status = check_change(set, keys, reterr_problem);
    if (status != TAMIS_OK) return status;
    if ((set_abilities(set) & TAMIS_CAN_REMOVE) == 0)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "this set cannot remove");
    change_job job = { .set = set, .keys = keys, .is_removal = true };
    status = change(&job, reterr_problem);
    if (status == TAMIS_OK && ret_removal != NULL)
        *ret_removal = (tamis_removal){ job.sum.removed, job.sum.absent, job.sum.stuck };
    return status;
}
