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

#define PIECE_KEYS (UINT64_C(2) << 20)

typedef struct ask_piece {
    uint64_t      *keys;     /* pinned; NULL: the caller's are */
    uint8_t       *answers;  /* the same */
    device_address there;    /* keys, then answers */
    uint64_t       first, n; /* keys that are under way; n may be 0 */
} ask_piece;

typedef struct ask_pipe {
    const tamis_gpu_set *set;
    ask_kind             question;
    unsigned             flags;
    bool                 is_pinned; /* the memory of the caller */
    uint8_t             *to;
    ask_piece            piece[DEVICE_STREAMS];
} ask_pipe;

static tamis_status open_pipe(ask_pipe *pipe, uint64_t keys) {
    gpu_device *const device = pipe->set->device;
    uint64_t const    bytes = pipe->question.answer_bytes;
    for (unsigned i = 0; i < DEVICE_STREAMS; i++) {
        ask_piece *const piece = &pipe->piece[i];
        if (!pipe->is_pinned) {
            piece->keys = device_pin(device, 8 * keys);
            piece->answers = device_pin(device, bytes * keys);
            if (piece->keys == NULL || piece->answers == NULL) return TAMIS_ERR_MEMORY;
        }
        tamis_status const status = device_alloc(device, (8 + bytes) * keys, &piece->there);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static void close_pipe(ask_pipe *pipe) {
    for (unsigned i = 0; i < DEVICE_STREAMS; i++) {
        device_unpin(pipe->set->device, pipe->piece[i].keys);
        device_unpin(pipe->set->device, pipe->piece[i].answers);
        device_free(pipe->set->device, pipe->piece[i].there);
    }
}

/* Wait for the answers of a piece, and hand them out. */
static tamis_status take_answers(ask_pipe *pipe, unsigned i) {
    ask_piece *const   piece = &pipe->piece[i];
    unsigned const     bytes = pipe->question.answer_bytes;
    tamis_status const status = device_wait(pipe->set->device, device_stream(pipe->set->device, i));
    if (status == TAMIS_OK && !pipe->is_pinned)
        memcpy(pipe->to + bytes * piece->first, piece->answers, bytes * piece->n);
    piece->n = 0;
    return status;
}

static tamis_status send_keys(ask_pipe *pipe, unsigned i, const uint64_t *keys, uint64_t first,
                              uint64_t n) {
    ask_piece *const     piece = &pipe->piece[i];
    gpu_device *const    device = pipe->set->device;
    void *const          stream = device_stream(device, i);
    device_address const answers = piece->there + 8 * n;
    const uint64_t      *from = keys + first;
    uint8_t             *to = pipe->to + pipe->question.answer_bytes * first;
    piece->first = first;
    piece->n = n;
    if (!pipe->is_pinned) {
        memcpy(piece->keys, from, 8 * n);
        from = piece->keys;
        to = piece->answers;
    }
    tamis_status status = device_copy_in(device, piece->there, from, 8 * n, stream);
    if (status == TAMIS_OK)
        status = ask_there(pipe->set, pipe->question, (const uint64_t *)(uintptr_t)piece->there, n,
                           pipe->flags, (void *)(uintptr_t)answers, stream);
    if (status == TAMIS_OK)
        status = device_copy_out(device, to, answers, pipe->question.answer_bytes * n, stream);
    return status;
}

static tamis_status ask_from_here(const tamis_gpu_set *set, ask_kind question,
                                  const tamis_gpu_keys *keys, void *answers) {
    ask_pipe       pipe = { .set = set, .question = question, .flags = keys->flags, .to = answers };
    uint64_t const each = min_u64(keys->n, PIECE_KEYS);
    unsigned       i = 0;
    pipe.is_pinned =
        device_is_pinned(set->device, keys->data) && device_is_pinned(set->device, answers);
    tamis_status status = open_pipe(&pipe, each);
    for (uint64_t first = 0, n; first < keys->n && status == TAMIS_OK; first += n) {
        n = min_u64(keys->n - first, each);
        if (pipe.piece[i].n != 0) status = take_answers(&pipe, i);
        if (status == TAMIS_OK) status = send_keys(&pipe, i, keys->data, first, n);
        i = (i + 1) % DEVICE_STREAMS;
    }
    for (unsigned j = 0; j < DEVICE_STREAMS; j++, i = (i + 1) % DEVICE_STREAMS) {
        /* Also after a failure: nothing may be under way when memory goes. */
        tamis_status const taken = take_answers(&pipe, i);
        if (status == TAMIS_OK) status = taken;
    }
    close_pipe(&pipe);
    return status;
}

/* ------------------------------------------------------------------ the public functions */

static tamis_status ask(const tamis_gpu_set *set, ask_kind question, const tamis_gpu_keys *keys,
                        void *answers, tamis_problem *problem) {
    tamis_status status;
    if (keys->n == 0) return TAMIS_OK;
    device_enter(set->device);
    if ((keys->flags & TAMIS_GPU_HOST) != 0)
        status = ask_from_here(set, question, keys, answers);
    else
        status = ask_there(set, question, keys->data, keys->n, keys->flags, answers, keys->stream);
    device_leave(set->device);
    if (status == TAMIS_ERR_MEMORY)
        return say(problem, status, "not enough memory to copy keys through");
    return say_device(problem, status, set->device);
}

static bool is_asked_well(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                          const void *answers) {
    return set != NULL && keys != NULL &&
           (keys->n == 0 || (keys->data != NULL && answers != NULL)) &&
           (keys->flags & ~(unsigned)(TAMIS_GPU_HASHES | TAMIS_GPU_HOST)) == 0;
}

static tamis_status say_argument(tamis_problem *problem) {
    return say(problem, TAMIS_ERR_ARGUMENT,
               "no set, no keys, no room for answers, or unknown flags");
}

tamis_status tamis_gpu_has(const tamis_gpu_set *set, const tamis_gpu_keys *keys, uint8_t *ret_has,
                           tamis_problem *reterr_problem) {
    if (!is_asked_well(set, keys, ret_has)) return say_argument(reterr_problem);
    unsigned const of_lines = set_is_bare(set) ? GPU_K_line_has_bare : GPU_K_line_has;
    unsigned const of_bloom = set->table.is_blocked ? GPU_K_bloom_has_blocked : GPU_K_bloom_has;
    ask_kind const has = { set_is_line(set) ? of_lines : of_bloom, 1 };
    return ask(set, has, keys, ret_has, reterr_problem);
}

tamis_status tamis_gpu_count(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                             uint64_t *ret_counts, tamis_problem *reterr_problem) {
    if (!is_asked_well(set, keys, ret_counts)) return say_argument(reterr_problem);
    if ((set_abilities(set) & TAMIS_CAN_COUNT) == 0)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "this set cannot count");
    return ask(set, (ask_kind){ GPU_K_line_count, 8 }, keys, ret_counts, reterr_problem);
}

tamis_status tamis_gpu_get(const tamis_gpu_set *set, const tamis_gpu_keys *keys,
                           uint64_t *ret_values, tamis_problem *reterr_problem) {
    if (!is_asked_well(set, keys, ret_values)) return say_argument(reterr_problem);
    if (!set->facts.is_states)
        return say(reterr_problem, TAMIS_ERR_CANNOT, "a set has no values; states have");
    return ask(set, (ask_kind){ GPU_K_line_get, 8 }, keys, ret_values, reterr_problem);
}
