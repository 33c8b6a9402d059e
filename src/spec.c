/* spec.c - turn the user's spec into a request: check every value, fill in every default.
 *
 * Specs of sets and of states become the same `tamis_request`. The planner and the kinds see only
 * that, and need not check it again.
 *
 *     1  copy the caller's struct into today's     it may be of an older or a newer header
 *     2  fill in the request, field by field       request_of(), or in tamis_request_states()
 *     3  check it, and complete it                 complete_request(), for both
 *
 * With `like`, the new table is to be as another one is: then nothing is planned, and the fields of
 * a plan are neither read nor checked.
 */
#include "part.h"

#define MAX_COPIES (UINT64_C(1) << 32)
#define MAX_STRUCT_BYTES 4096 /* a larger `size` is an error */
/* lifetime / capacity if keys are removed: how often all keys are exchanged. Overflow and
 * saturation are stated for a lifetime, and grow with it; a table that is used for longer is still
 * right, but an add may be refused sooner than was stated. */
#define DEFAULT_TURNOVERS 16
#define DEFAULT_TIMER_BITS 2
#define LIVES_TIMER_BITS 4 /* if values have their own timeouts */

/* ------------------------------------------------------------------ structs that grow */

tamis_status tamis_copy_sized(void *ours, size_t our_bytes, const void *theirs,
                              const char *init_macro, tamis_problem *problem) {
    size_t their_bytes = 0;
    if (theirs != NULL) memcpy(&their_bytes, theirs, sizeof their_bytes); /* the first member */
    if (their_bytes < sizeof their_bytes || their_bytes > MAX_STRUCT_BYTES) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "the struct is NULL, or its size is wrong: start from %s",
                                 init_macro);
    }
    for (size_t i = our_bytes; i < their_bytes; i++) {
        if (((const uint8_t *)theirs)[i] != 0) {
            return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                     "tamis %s does not know the field at byte %zu of your struct: "
                                     "start from %s and leave it zero, or use a newer library",
                                     tamis_version(), i, init_macro);
        }
    }
    memcpy(ours, theirs, their_bytes < our_bytes ? their_bytes : our_bytes);
    memcpy(ours, &our_bytes, sizeof our_bytes);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ what both specs have */

static bool is_rate(double rate) {
    return rate >= HANDLE_MIN_RATE && rate <= HANDLE_MAX_RATE; /* false for NaN */
}

/* A limit of memory leaves one of two questions open: how many keys fit (capacity 0), or how low
 * the rate can be (fpr 0). With a fixed geometry, the rate follows from that. */
static tamis_status check_size(const tamis_request *request, tamis_problem *problem) {
    const tamis_need *const need = &request->need;
    bool const              is_free = need->work.capacity == 0 && request->memory != 0;
    if (!is_free && (need->work.capacity < 1 || need->work.capacity > HANDLE_MAX_CAPACITY)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "capacity must be 1 to 2^40 keys (0 only with `memory`)");
    }
    bool const is_open = need->fpr == 0 && (request->geometry != NULL || request->memory != 0);
    if (!is_open && !is_rate(need->fpr)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "fpr must be 1e-12 to 0.5 (0 only with `geometry` or `memory`)");
    }
    if (is_free && need->fpr == 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "with `memory`, set the capacity or the fpr");
    }
    if (!(need->overflow >= 0 && need->overflow < 1)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "overflow must be 0 to 1");
    }
    if (need->prefer != TAMIS_PREFER_FAST && need->prefer != TAMIS_PREFER_SMALL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown preference %d",
                                 (int)need->prefer);
    }
    return TAMIS_OK;
}

/* A set that grows needs an fpr and a capacity to start with. */
static tamis_status check_growth(const tamis_request *request, tamis_problem *problem) {
    if (request->grow_to == 0) return TAMIS_OK;
    if (request->need.work.capacity == 0 || request->memory != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "grow_to needs a capacity to start with, and no `memory`");
    }
    if (request->grow_to < request->need.work.capacity || request->grow_to > HANDLE_MAX_CAPACITY) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "grow_to must be at least the capacity, and at most 2^40");
    }
    if (request->geometry != NULL || request->need.fpr == 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "grow_to needs an fpr, and no `geometry`");
    }
    return TAMIS_OK;
}

static tamis_status check_hash(tamis_request *request, tamis_problem *problem) {
    if (request->hash == TAMIS_HASH_DEFAULT) request->hash = TAMIS_HASH_XXH3;
    if (request->hash != TAMIS_HASH_XXH3 && request->hash != TAMIS_HASH_SIPHASH) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown hash %d",
                                 (int)request->hash);
    }
    if (!keyhash_is_built(request->hash)) {
        return tamis_problem_say(problem, TAMIS_ERR_NOT_BUILT,
                                 "this build has no SipHash: configure it with -Dsodium=enabled");
    }
    return TAMIS_OK;
}

static tamis_status check_allocator(const tamis_allocator *allocator, unsigned flags,
                                    tamis_problem *problem) {
    if (allocator_is_whole(allocator, flags)) return TAMIS_OK;
    return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                             "an allocator needs both alloc and free, and only known flags");
}

static tamis_status check_part(const tamis_request *request, tamis_problem *problem) {
    if (part_is_possible(request->part)) return TAMIS_OK;
    return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                             "parts must be a power of two up to 65536, and part less than that "
                             "(both 0: a whole set)");
}

static tamis_status complete_request(tamis_request *request, tamis_problem *problem) {
    tamis_status status = check_size(request, problem);
    if (status == TAMIS_OK) status = check_growth(request, problem);
    if (status == TAMIS_OK) status = check_hash(request, problem);
    if (status != TAMIS_OK) return status;
    if (request->need.overflow == 0) request->need.overflow = TAMIS_DEFAULT_OVERFLOW;
    if (request->lifetime != 0 && request->lifetime < request->need.work.capacity) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "lifetime counts every key that arrives, so it is at least the "
                                 "capacity");
    }
    tamis_request_resize(request, request->need.work.capacity);
    return TAMIS_OK;
}

/* Without removal the life of a table is its filling. */
void tamis_request_resize(tamis_request *request, uint64_t capacity) {
    tamis_workload *const work = &request->need.work;
    bool const is_churned = request->need.values != 0 || need_can(&request->need, TAMIS_CAN_REMOVE);
    work->capacity = capacity;
    work->lifetime = capacity * (is_churned ? DEFAULT_TURNOVERS : 1);
    if (request->lifetime != 0) work->lifetime = max_u64(request->lifetime, capacity);
}

/* ------------------------------------------------------------------ sets */

static tamis_status check_abilities(const tamis_spec *spec, tamis_problem *problem) {
    unsigned const known = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE;
    if ((spec->abilities & ~known) != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown ability 0x%x",
                                 spec->abilities & ~known);
    }
    if (spec->copies > MAX_COPIES || spec->count_to > MAX_COPIES) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "copies and count_to must be at most 2^32");
    }
    if (spec->count_to != 0 && (spec->abilities & TAMIS_CAN_COUNT) == 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "count_to needs TAMIS_CAN_COUNT in abilities");
    }
    return TAMIS_OK;
}

/* The contents of a spec, not checked yet. Whoever counts, and plans for several copies of every
 * key, must be told these apart: so count_to is at least `copies`. */
static tamis_request request_of(const tamis_spec *spec) {
    bool const    is_counted = (spec->abilities & TAMIS_CAN_COUNT) != 0;
    tamis_request request = {
        .need = { .work = { .capacity = spec->capacity,
                            .copies = spec->copies != 0 ? spec->copies : 1 },
                  .fpr = spec->fpr,
                  .overflow = spec->overflow,
                  .abilities = spec->abilities,
                  .count_to = is_counted ? max_u64(spec->count_to, spec->copies) : 0,
                  .prefer = spec->prefer },
        .memory = spec->memory,
        .lifetime = spec->lifetime,
        .grow_to = spec->grow_to,
        .shared = spec->shared,
        .kind = spec->kind,
        .geometry = spec->geometry,
        .isa = spec->isa,
        .hash = spec->hash,
        .seed = spec->seed,
        .like = spec->like,
        .allocator = spec->allocator,
        .allocator_flags = spec->allocator_flags,
        .max_bytes = spec->max_bytes,
        .reseed = spec->reseed,
        .part = { spec->part, spec->parts },
    };
    if (is_counted && spec->count_to == 0) {
        request.is_count_open = true;
        request.need.count_to = max_u64(request.need.count_to, TAMIS_DEFAULT_COUNT_TO);
    }
    return request;
}

tamis_status tamis_request_set(const tamis_spec *spec, tamis_request *ret_request,
                               tamis_problem *problem) {
    tamis_spec   today = TAMIS_SPEC_INIT;
    tamis_status status = tamis_copy_sized(&today, sizeof today, spec, "TAMIS_SPEC_INIT", problem);
    if (status != TAMIS_OK) return status;
    tamis_request request = request_of(&today);
    status = check_allocator(&today.allocator, today.allocator_flags, problem);
    if (status == TAMIS_OK) status = check_part(&request, problem);
    if (status == TAMIS_OK && today.like == NULL) {
        status = check_abilities(&today, problem);
        if (status == TAMIS_OK) status = complete_request(&request, problem);
    }
    if (status == TAMIS_OK) *ret_request = request;
    return status;
}

/* ------------------------------------------------------------------ states */

static tamis_status check_values(const tamis_states_spec *spec, tamis_problem *problem) {
    if (spec->values < 2 || spec->values > KIND_MAX_VALUES) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "values must be 2 to 2^32");
    }
    if (!is_rate(spec->unknown) && spec->unknown != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "unknown must be 1e-12 to 0.5 (0: the same as fpr)");
    }
    if (spec->timeout > SWEEP_MAX_TIMEOUT) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "timeout must be at most 2^32 ticks");
    }
    bool const is_bits = spec->timer_bits >= SWEEP_MIN_BITS && spec->timer_bits <= SWEEP_MAX_BITS;
    if (spec->timer_bits != 0 && (!is_bits || spec->timeout == 0)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "timer_bits must be 2 to 5, and needs a timeout");
    }
    for (unsigned i = 0; spec->timeouts != NULL && i < spec->values && i < SWEEP_LIVES; i++) {
        if (spec->timeouts[i] < 1 || spec->timeouts[i] > spec->timeout) {
            return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                     "the timeout of value %u must be 1 to `timeout`", i);
        }
    }
    return TAMIS_OK;
}

/* Timers and timeouts. A value's own timeout is rounded up to whole passes of the sweep. */
static sweep spec_sweep(const tamis_states_spec *spec) {
    unsigned const bits = spec->timeouts != NULL ? LIVES_TIMER_BITS : DEFAULT_TIMER_BITS;
    sweep          make = { .timeout = spec->timeout, .timer_bits = spec->timer_bits };
    if (spec->timeout != 0 && spec->timer_bits == 0) make.timer_bits = bits;
    for (unsigned i = 0; spec->timeouts != NULL && i < spec->values && i < SWEEP_LIVES; i++) {
        uint64_t const passes =
            (spec->timeouts[i] * sweep_most(&make) + spec->timeout - 1) / spec->timeout;
        make.lives |= passes << (4 * i);
    }
    return make;
}

tamis_status tamis_request_states(const tamis_states_spec *spec, tamis_request *ret_request,
                                  tamis_problem *problem) {
    tamis_states_spec today = TAMIS_STATES_SPEC_INIT;
    tamis_status      status =
        tamis_copy_sized(&today, sizeof today, spec, "TAMIS_STATES_SPEC_INIT", problem);
    if (status == TAMIS_OK)
        status = check_allocator(&today.allocator, today.allocator_flags, problem);
    if (status == TAMIS_OK && today.like == NULL) status = check_values(&today, problem);
    if (status != TAMIS_OK) return status;
    sweep const   ageing = today.like == NULL ? spec_sweep(&today) : (sweep){ .timeout = 0 };
    tamis_request request = {
        .need = { .work = { .capacity = today.capacity, .copies = 1 },
                  .fpr = today.fpr,
                  .overflow = today.overflow,
                  .prefer = today.prefer,
                  .values = today.values,
                  .unknown = today.unknown != 0 ? today.unknown : today.fpr,
                  .timer_bits = (unsigned)ageing.timer_bits },
        .sweep = ageing,
        .memory = today.memory,
        .lifetime = today.lifetime,
        .grow_to = today.grow_to,
        .shared = today.shared,
        .kind = today.kind,
        .geometry = today.geometry,
        .isa = today.isa,
        .hash = today.hash,
        .seed = today.seed,
        .like = today.like != NULL ? &today.like->set : NULL,
        .allocator = today.allocator,
        .allocator_flags = today.allocator_flags,
        .max_bytes = today.max_bytes,
        .reseed = today.reseed,
    };
    if (today.like == NULL) status = complete_request(&request, problem);
    if (status == TAMIS_OK) *ret_request = request;
    return status;
}
