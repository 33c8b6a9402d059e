/* ask.c - lookups: has, count, get. */
#include "set.h"

/* A question: which kernel answers it, and how many bytes an answer has. */
typedef struct ask_kind {
    unsigned kernel;
    unsigned answer_bytes;
} ask_kind;

/* Queue the kernel for keys in the memory of the GPU. */
static tamis_status ask_there(const tamis_gpu_set *set, ask_kind question, const uint64_t *keys,
                              size_t n, unsigned flags, void *answers, void *stream) {
    gpu_ask const       ask = { .table = set->table,
                                .keys = { keys, n, flags & TAMIS_GPU_HASHES },
                                .ret_has = answers,
                                .ret_counts = answers };
    device_launch const launch = { .kernel = question.kernel,
                                   .blocks =
                                       min_u64((n + GPU_BLOCK - 1) / GPU_BLOCK, UINT64_C(1) << 30),
                                   .threads = GPU_BLOCK,
                                   .argument = &ask,
                                   .stream = stream };
    return device_run(set->device, &launch);
}

/* ------------------------------------------------------------------ keys in this machine's memory
 *
 * A piece of keys is copied to the GPU, asked, and its answers come back; two of them are under
 * way, each in a stream of its own. Keys and answers go through pinned memory of ours, unless the
 * caller's is pinned: then that is a copy less. */

/* Keys whose answers are awaited; n may be 0. */
typedef struct ask_piece {
    uint64_t first, n;
} ask_piece;

typedef struct ask_pipe {
    const tamis_gpu_set *set;
    ask_kind             question;
    unsigned             flags;
    bool                 is_pinned; /* the memory of the caller */
    uint8_t             *to;
    ask_piece            piece[DEVICE_STREAMS];
} ask_pipe;

static void free_memory(tamis_gpu *gpu) {
    for (unsigned i = 0; i < DEVICE_STREAMS; i++) {
        device_unpin(gpu->device, gpu->memory[i].keys);
        device_unpin(gpu->device, gpu->memory[i].answers);
        device_free(gpu->device, gpu->memory[i].there);
        gpu->memory[i] = (ask_memory){ NULL, NULL, 0 };
    }
    gpu->memory_keys = 0;
}

void ask_free_memory(tamis_gpu *gpu) {
    if (device_enter(gpu->device) != TAMIS_OK) return;
    free_memory(gpu);
    device_leave(gpu->device);
}

/* Memory for one piece. Answers have 8 bytes at most. */
static tamis_status get_piece(gpu_device *device, uint64_t keys, ask_memory *ret_memory) {
    ret_memory->keys = device_pin(device, 8 * keys);
    ret_memory->answers = device_pin(device, 8 * keys);
    if (ret_memory->keys == NULL || ret_memory->answers == NULL) return TAMIS_ERR_MEMORY;
    return device_alloc(device, 16 * keys, &ret_memory->there);
}

/* If there is not enough, none is kept: whoever is short of memory may need it. */
tamis_status ask_get_memory(tamis_gpu *gpu, uint64_t keys) {
    tamis_status status = TAMIS_OK;
    if (gpu->memory_keys >= keys) return TAMIS_OK;
    free_memory(gpu);
    for (unsigned i = 0; i < DEVICE_STREAMS && status == TAMIS_OK; i++)
        status = get_piece(gpu->device, keys, &gpu->memory[i]);
    if (status == TAMIS_OK)
        gpu->memory_keys = keys;
    else
        free_memory(gpu);
    return status;
}

/* Wait for the answers of a piece, and copy them to the caller. */
static tamis_status take_answers(ask_pipe *pipe, unsigned i) {
    ask_piece *const piece = &pipe->piece[i];
    if (piece->n == 0) return TAMIS_OK; /* and there may be no memory */
    unsigned const     bytes = pipe->question.answer_bytes;
    tamis_status const status = device_wait(pipe->set->device, device_stream(pipe->set->device, i));
    if (status == TAMIS_OK && !pipe->is_pinned)
        memcpy(pipe->to + bytes * piece->first, pipe->set->gpu->memory[i].answers,
               bytes * piece->n);
    piece->n = 0;
    return status;
}

static tamis_status send_keys(ask_pipe *pipe, unsigned i, const uint64_t *keys, uint64_t first,
                              uint64_t n) {
    const ask_memory *const memory = &pipe->set->gpu->memory[i];
    gpu_device *const       device = pipe->set->device;
    void *const             stream = device_stream(device, i);
    unsigned const          bytes = pipe->question.answer_bytes;
    device_address const    answers = memory->there + 8 * n;
    const uint64_t         *from = keys + first;
    uint8_t                *to = pipe->to + bytes * first;
    pipe->piece[i] = (ask_piece){ first, n };
    if (!pipe->is_pinned) {
        memcpy(memory->keys, from, 8 * n);
        from = memory->keys;
        to = memory->answers;
    }
    tamis_status status = device_copy_in(device, memory->there, from, 8 * n, stream);
    if (status == TAMIS_OK)
        status = ask_there(pipe->set, pipe->question, (const uint64_t *)(uintptr_t)memory->there, n,
                           pipe->flags, (void *)(uintptr_t)answers, stream);
    return status == TAMIS_OK ? device_copy_out(device, to, answers, bytes * n, stream) : status;
}

static tamis_status ask_from_here(const tamis_gpu_set *set, ask_kind question,
                                  const tamis_gpu_keys *keys, void *answers) {
    ask_pipe       pipe = { .set = set, .question = question, .flags = keys->flags, .to = answers };
    uint64_t const each = min_u64(keys->n, ASK_PIECE_KEYS);
    unsigned       i = 0;
    pipe.is_pinned =
        device_is_pinned(set->device, keys->data) && device_is_pinned(set->device, answers);
    tamis_status status = ask_get_memory(set->gpu, each);
    for (uint64_t first = 0, n; first < keys->n && status == TAMIS_OK; first += n) {
        n = min_u64(keys->n - first, each);
        if (pipe.piece[i].n != 0) status = take_answers(&pipe, i);
        if (status == TAMIS_OK) status = send_keys(&pipe, i, keys->data, first, n);
        i = (i + 1) % DEVICE_STREAMS;
    }
    for (unsigned j = 0; j < DEVICE_STREAMS; j++, i = (i + 1) % DEVICE_STREAMS) {
        /* Also after a failure: all copies must be complete before memory is freed. */
        tamis_status const taken = take_answers(&pipe, i);
        if (status == TAMIS_OK) status = taken;
    }
    return status;
}

/* ------------------------------------------------------------------ the public functions */

static tamis_status ask(const tamis_gpu_set *set, ask_kind question, const tamis_gpu_keys *keys,
                        void *answers, tamis_problem *problem) {
    if (keys->n == 0) return TAMIS_OK;
    tamis_status status = device_enter(set->device);
    if (status != TAMIS_OK) return say_device(problem, status, set->device);
    if ((keys->flags & TAMIS_GPU_HOST) != 0)
        status = ask_from_here(set, question, keys, answers);
    else
        status = ask_there(set, question, keys->data, keys->n, keys->flags, answers, keys->stream);
    device_leave(set->device);
    if (status == TAMIS_ERR_MEMORY)
        return say(problem, status, "not enough memory for copying keys");
    return say_device(problem, status, set->device);
}

/* Are the keys good, and is there room for an answer of this many bytes to each? */
static tamis_status check_question(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                                   const void *answers, unsigned answer_bytes,
                                   tamis_problem *problem) {
    tamis_status const status = set_check_keys(set, keys, problem);
    if (status != TAMIS_OK || keys->n == 0) return status;
    if (answers == NULL) return say(problem, TAMIS_ERR_ARGUMENT, "the result is NULL");
    if (!set_can_reach(keys, answers, answer_bytes))
        return say(problem, TAMIS_ERR_ARGUMENT,
                   "the address of answers on the GPU is not a multiple of %u", answer_bytes);
    return TAMIS_OK;
}

tamis_status tamis_gpu_has(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint8_t *ret_has,
                           tamis_problem *reterr_problem) {
    tamis_status const status = check_question(set, keys, ret_has, 1, reterr_problem);
    if (status != TAMIS_OK) return status;
    unsigned const of_lines = set_is_bare(set) ? GPU_K_line_has_bare : GPU_K_line_has;
    unsigned const of_bloom = set->table.is_blocked ? GPU_K_bloom_has_blocked : GPU_K_bloom_has;
    ask_kind const has = { set_is_line(set) ? of_lines : of_bloom, 1 };
    return ask(set, has, keys, ret_has, reterr_problem);
}

tamis_status tamis_gpu_count(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                             uint64_t *ret_counts, tamis_problem *reterr_problem) {
    tamis_status const status = check_question(set, keys, ret_counts, 8, reterr_problem);
    if (status != TAMIS_OK) return status;
    if ((set_abilities(set) & TAMIS_CAN_COUNT) == 0)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "this set cannot count");
    return ask(set, (ask_kind){ GPU_K_line_count, 8 }, keys, ret_counts, reterr_problem);
}

tamis_status tamis_gpu_get(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                           uint64_t *ret_values, tamis_problem *reterr_problem) {
    tamis_status const status = check_question(set, keys, ret_values, 8, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (!set->facts.is_states)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "only states have values, not a set");
    return ask(set, (ask_kind){ GPU_K_line_get, 8 }, keys, ret_values, reterr_problem);
}
