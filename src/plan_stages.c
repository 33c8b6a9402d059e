/* plan_stages.c - plan a set that grows: its last stage, its first, and all stages between.
 *
 * The last stage is planned like a set of fixed size, except that its number of buckets must come
 * from doubling. The other stages follow from it: each earlier one has half the buckets, and one
 * remainder bit more (grow.c). Only tamis_plan_step() computes the geometry of a stage. A set that
 * grows calls it, too, so it always agrees with the plan.
 */
#include "core/memory.h"
#include "grow.h"
#include "planner.h"

#include <stdio.h>

#define MIN_BUCKETS 32 /* of the first stage: with fewer, rounding them up would cost too much */
#define FEW_BUCKETS 4  /* the same for sets with PREFER_SMALL, if rounding costs at most one part */
#define ROUND_PARTS 24 /* of this many */
#define PEAK_PARTS 20  /* with the system's memory, a step needs one part more, of this many */
#define MAX_DOUBLINGS 39 /* from 1 key or more to 2^40 at most */

/* ------------------------------------------------------------------ from stage to stage */

static uint64_t scaled(uint64_t number, int doublings) {
    return doublings < 0 ? number >> -doublings : number << doublings;
}

static bool step_need(const tamis_choice *from, int doublings, tamis_need *ret_need) {
    tamis_need need = {
        .work = { .capacity = scaled(from->work.capacity, doublings),
                  .copies = from->work.copies,
                  .lifetime = scaled(from->work.lifetime, doublings) },
        .overflow = from->overflow,
        .values = from->values,
        .unknown = 0.5, /* growing kinds know every key that they have */
        .timer_bits = (unsigned)from->sweep.timer_bits,
    };
    if (need.values == 0) need.abilities = tamis_kind_abilities(from->kind, from->geometry);
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) need.fixed[i] = NEED_FREE;
    if (!from->kind->growing->scale(from->geometry, doublings, need.fixed)) return false;
    *ret_need = need;
    return true;
}

/* Fields that depend on the load must not become smaller when a set grows: then all entries of the
 * table fit into the next one (line_growing.h, rank_growing.h). */
tamis_status tamis_plan_step(const tamis_choice *from, int doublings, tamis_choice *ret_choice) {
    tamis_choice next = *from;
    tamis_need   need;
    if (!step_need(from, doublings, &need)) return TAMIS_ERR_CANNOT;
    tamis_status const status = from->kind->plan(&need, next.geometry);
    if (status != TAMIS_OK) return status;
    for (unsigned i = 0; doublings > 0 && i < TAMIS_MAX_FIELDS; i++) {
        if (need.fixed[i] == NEED_FREE)
            next.geometry[i] = max_u64(next.geometry[i], from->geometry[i]);
    }
    next.work = need.work;
    *ret_choice = next;
    return TAMIS_OK;
}

tamis_status tamis_first_stage(const tamis_choice *last, unsigned stages, tamis_choice *ret_first) {
    tamis_status const status = tamis_plan_step(last, -(int)stages, ret_first);
    if (status != TAMIS_OK) return status;
    ret_first->grows = true;
    ret_first->stages = stages;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the last stage */

/* The request for the last stage of a set that grows: the first capacity is rounded up so that it
 * becomes grow_to or more after `stages` doublings. */
static tamis_request last_stage(const tamis_request *request, unsigned stages) {
    tamis_request  last = *request;
    uint64_t const parts = UINT64_C(1) << stages;
    uint64_t const first = request->grow_to / parts + (request->grow_to % parts != 0);
    last.grow_to = 0;
    last.need.grows = true;
    tamis_request_resize(&last, first << stages);
    return last;
}

/* The buckets of the last stage, rounded up so that they come from doubling. */
static uint64_t round_buckets(uint64_t least, unsigned stages) {
    uint64_t const parts = UINT64_C(1) << stages;
    return (least / parts + (least % parts != 0)) << stages;
}

/* Would the first stage have too few buckets? Rounding up costs less than one bucket of
 * the first stage: with MIN_BUCKETS less than a 32nd part. */
static bool is_too_small(uint64_t least, unsigned stages, bool can_be_few) {
    uint64_t const first = least >> stages;
    if (!can_be_few) return first < MIN_BUCKETS;
    return first < FEW_BUCKETS || round_buckets(least, stages) - least > least / ROUND_PARTS;
}

/* Plan the last stage twice: once to learn how many buckets it needs, and then with a number of
 * buckets that comes from doubling. If the first stage would be too small, use fewer doublings. */
static void ask_kind_to_grow(const tamis_kind *kind, const tamis_request *request, bool can_be_few,
                             tamis_candidate *ret_candidate) {
    uint64_t const capacity = request->need.work.capacity;
    unsigned       stages = 63 - (unsigned)__builtin_clzll(request->grow_to / capacity);
    tamis_request  last = last_stage(request, stages);
    tamis_ask_kind(kind, &last, ret_candidate);
    if (ret_candidate->plan.status != TAMIS_OK) return;
    while (stages != 0 && is_too_small(ret_candidate->geometry[0], stages, can_be_few)) stages--;
    last = last_stage(request, stages);
    tamis_ask_kind(kind, &last, ret_candidate);
    if (ret_candidate->plan.status != TAMIS_OK) return;
    char           fixed[64];
    uint64_t const buckets = round_buckets(ret_candidate->geometry[0], stages);
    (void)snprintf(fixed, sizeof fixed, "%s=%llu", kind->fields[0].name,
                   (unsigned long long)buckets);
    last.geometry = fixed;
    tamis_ask_kind(kind, &last, ret_candidate);
    ret_candidate->stages = stages;
}

/* Is there a first stage? Not if its remainders would be too long. */
static bool has_first_stage(const tamis_candidate *last, const tamis_request *request) {
    const tamis_plan *const plan = &last->plan;
    tamis_workload const    work = { plan->capacity, plan->copies, plan->lifetime };
    tamis_choice            first, choice = { .kind = last->kind,
                                              .work = work,
                                              .values = request->need.values,
                                              .sweep = request->sweep,
                                              .overflow = request->need.overflow };
    memcpy(choice.geometry, last->geometry, sizeof choice.geometry);
    return tamis_first_stage(&choice, last->stages, &first) == TAMIS_OK;
}

/* Plan a set that grows, and check that it has a first stage. */
static bool try_to_grow(const tamis_kind *kind, const tamis_request *request, bool can_be_few,
                        tamis_candidate *ret_candidate) {
    ask_kind_to_grow(kind, request, can_be_few, ret_candidate);
    return ret_candidate->plan.status == TAMIS_OK && has_first_stage(ret_candidate, request);
}

/* More stages need longer remainders. If a small first stage would make them too long, a larger one
 * may still be possible. */
void tamis_plan_growing(const tamis_kind *kind, const tamis_request *request,
                        tamis_candidate *ret_candidate) {
    *ret_candidate = (tamis_candidate){ .kind = kind,
                                        .plan = { .kind = kind->name,
                                                  .summary = kind->summary,
                                                  .status = TAMIS_ERR_CANNOT,
                                                  .copies_take_room = kind->copies_take_room,
                                                  .abilities = tamis_kind_abilities(kind, NULL) } };
    if (kind->growing == NULL) return;
    bool const can_be_few = request->need.values == 0 && !need_is_fast(&request->need);
    if (can_be_few && try_to_grow(kind, request, true, ret_candidate)) return;
    if (!try_to_grow(kind, request, false, ret_candidate) && ret_candidate->plan.status == TAMIS_OK)
        ret_candidate->plan.status = TAMIS_ERR_CANNOT;
}

/* ------------------------------------------------------------------ why not, in words */

/* "line, rank": the kinds that grow. */
static void list_growing(const tamis_request *request, char *ret_text, size_t n) {
    const tamis_kind *kind;
    size_t            at = 0;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL && at < n; i++) {
        if (kind->growing == NULL) continue;
        at += (size_t)snprintf(ret_text + at, n - at, "%s%s", at != 0 ? ", " : "", kind->name);
    }
}

/* The largest grow_to, a power of two times the first capacity, that this kind can plan, and in how
 * many stages. 0: not even the first capacity. */
static uint64_t most_growth(const tamis_kind *kind, const tamis_request *request,
                            unsigned *ret_stages) {
    tamis_request   tried = *request;
    tamis_candidate made;
    for (int doublings = MAX_DOUBLINGS; doublings >= 0; doublings--) {
        if (request->grow_to >> doublings < request->need.work.capacity) continue;
        tried.grow_to = request->need.work.capacity << doublings;
        tamis_plan_growing(kind, &tried, &made);
        *ret_stages = made.stages;
        if (made.plan.status == TAMIS_OK) return tried.grow_to;
    }
    return 0;
}

static tamis_status say_too_far(const tamis_kind *kind, const tamis_request *request,
                                uint64_t possible, unsigned stages, tamis_problem *problem) {
    uint64_t const parts = UINT64_C(1) << stages;
    uint64_t const first = request->grow_to / parts + (request->grow_to % parts != 0);
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "kind %s cannot grow that far at that fpr, since its fingerprints "
                             "would be too long: from %llu keys it can grow to %llu; to reach "
                             "%llu, start with %llu",
                             kind->name, (unsigned long long)request->need.work.capacity,
                             (unsigned long long)possible, (unsigned long long)request->grow_to,
                             (unsigned long long)first);
}

bool tamis_say_growth(const tamis_kind *kind, const tamis_request *request,
                      tamis_problem *problem) {
    char     names[80] = "";
    unsigned stages = 0;
    if (request->grow_to == 0) return false;
    if (kind->growing == NULL) {
        list_growing(request, names, sizeof names);
        (void)tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                "kind %s cannot grow: name a kind that can (%s), or no kind, or "
                                "leave out grow_to",
                                kind->name, names);
        return true;
    }
    uint64_t const possible = most_growth(kind, request, &stages);
    if (possible != 0) (void)say_too_far(kind, request, possible, stages, problem);
    return possible != 0;
}

/* ------------------------------------------------------------------ the table of stages */

/* The peak memory of a step: the two tables. If the old one is large, its memory is given back
 * during the step, so the larger table and a twentieth of it are enough. */
static uint64_t step_peak(uint64_t old_bytes, uint64_t new_bytes,
                          const tamis_allocator *allocator) {
    if (!memory_is_huge(allocator, (size_t)old_bytes)) return old_bytes + new_bytes;
    uint64_t const larger = max_u64(old_bytes, new_bytes);
    return min_u64(larger + larger / PEAK_PARTS, old_bytes + new_bytes);
}

static tamis_status fill_stages(tamis_choice first, const tamis_allocator *allocator,
                                tamis_plan *ret_rows, size_t max_rows) {
    uint64_t before = 0;
    for (size_t stage = 0; stage <= first.stages && stage < max_rows; stage++) {
        tamis_plan *const row = &ret_rows[stage];
        if (stage != 0) {
            tamis_status const status = tamis_plan_step(&first, 1, &first);
            if (status != TAMIS_OK) return status;
        }
        tamis_plan_describe(first.kind, first.geometry, &first.work, row);
        row->chosen = true;
        row->peak_bytes = step_peak(before, row->body_bytes, allocator);
        before = row->body_bytes;
    }
    return TAMIS_OK;
}

/* The first stage of a spec; with `like`, that of the set. */
static tamis_status choose_first(const tamis_request *request, tamis_choice *ret_choice,
                                 tamis_problem *problem) {
    if (request->like == NULL) return tamis_choose(request, ret_choice, problem);
    tamis_choice const now = tamis_choice_to_follow(request->like);
    *ret_choice = now;
    return now.grows ? tamis_plan_step(&now, -(int)now.stage, ret_choice) : TAMIS_OK;
}

static tamis_status plan_stages(const tamis_request *request, tamis_plan *ret_rows, size_t max_rows,
                                size_t *ret_n_rows, tamis_problem *problem) {
    tamis_choice first;
    if (ret_n_rows == NULL || (ret_rows == NULL && max_rows != 0)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "ret_rows or ret_n_rows is NULL");
    }
    tamis_status status = choose_first(request, &first, problem);
    if (status == TAMIS_OK) status = fill_stages(first, &request->allocator, ret_rows, max_rows);
    if (status == TAMIS_OK) *ret_n_rows = (size_t)first.stages + 1;
    return status;
}

tamis_status tamis_plan_stages(const tamis_spec *spec, tamis_plan *ret_rows, size_t max_rows,
                               size_t *ret_n_rows, tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_set(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    return plan_stages(&request, ret_rows, max_rows, ret_n_rows, reterr_problem);
}

tamis_status tamis_states_plan_stages(const tamis_states_spec *spec, tamis_plan *ret_rows,
                                      size_t max_rows, size_t *ret_n_rows,
                                      tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    return plan_stages(&request, ret_rows, max_rows, ret_n_rows, reterr_problem);
}
