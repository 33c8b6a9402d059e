/* planner_words.c - messages that say why a kind cannot do what a request asks for.
 *
 * A plan has only a status. The reason is found afterwards, by asking again for a little less: if
 * the kind can do it with one copy of every key, the copies were too many; and so on. That takes as
 * long as several plans, which is of no matter to somebody who has to read a message. The first
 * reason that applies is told, the most certain ones first.
 */
#include "planner.h"

#include <string.h>

static const char *ability_word(unsigned missing) {
    if ((missing & TAMIS_CAN_REMOVE) != 0) return "remove";
    return (missing & TAMIS_CAN_COUNT) != 0 ? "count" : "merge";
}

static tamis_status say_too_large(const tamis_request *request, const tamis_plan *plan,
                                  tamis_problem *problem) {
    if (plan->status == TAMIS_ERR_LIMIT) {
        return tamis_problem_say(problem, TAMIS_ERR_LIMIT,
                                 "a table of kind %s for that many keys is too large to address",
                                 plan->kind);
    }
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "kind %s needs %llu bytes for that, but memory is limited to %llu",
                             plan->kind, (unsigned long long)plan->body_bytes,
                             (unsigned long long)request->memory);
}

static bool can_be_shared(const tamis_request *request, const char *name) {
    const tamis_kind *kind = NULL;
    return tamis_kind_find(name, request->isa, &kind) == TAMIS_OK && kind->sharing != NULL;
}

/* ------------------------------------------------------------------ copies and counts */

/* The request, with as little as possible of what a limit of memory leaves open: one key, or the
 * highest rate. Under such a limit, layouts for speed are no requirement (plan_kind in planner.c).
 */
static tamis_request with_nothing_open(const tamis_request *request) {
    tamis_request least = *request;
    if (request->memory != 0) least.need.prefer = TAMIS_PREFER_SMALL;
    if (least.need.work.capacity == 0) tamis_request_resize(&least, 1);
    if (least.need.fpr == 0 && least.geometry == NULL) least.need.fpr = HANDLE_MAX_RATE;
    if (least.need.values != 0 && least.need.unknown == 0) least.need.unknown = least.need.fpr;
    return least;
}

/* Could the kind do it with so many copies of every key, if counts need be exact only so far? */
static bool can_with(const tamis_kind *kind, const tamis_request *request, uint64_t copies,
                     uint64_t count_to) {
    tamis_request   tried = with_nothing_open(request);
    tamis_candidate made;
    tried.need.work.copies = copies;
    tried.need.count_to = count_to;
    tamis_ask_kind(kind, &tried, &made);
    return made.plan.status == TAMIS_OK;
}

/* The most copies of every key, less than those of the request, that the kind can plan for. 0: the
 * copies are not what is too much. */
static uint64_t most_copies(const tamis_kind *kind, const tamis_request *request) {
    uint64_t const asked = request->need.work.copies;
    uint64_t const count_to = min_u64(request->need.count_to, TAMIS_DEFAULT_COUNT_TO);
    uint64_t       low = 1, high = asked;
    if (asked <= 1 || !can_with(kind, request, 1, count_to)) return 0;
    while (high - low > 1) {
        uint64_t const middle = low + (high - low) / 2;
        uint64_t const counted = count_to != 0 ? max_u64(count_to, middle) : 0;
        *(can_with(kind, request, middle, counted) ? &low : &high) = middle;
    }
    return low;
}

/* If copies or counts are why the kind cannot do it, say so. */
static bool say_of_copies(const tamis_kind *kind, const tamis_request *request,
                          tamis_problem *problem) {
    unsigned long long const copies = request->need.work.copies;
    uint64_t const           most = most_copies(kind, request);
    if (most != 0 && kind->copies_take_room) {
        (void)tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                "kind %s cannot plan for %llu copies of every key, as its copies "
                                "use up capacity: ask for %llu times the capacity instead, or "
                                "name another kind",
                                kind->name, copies, copies);
        return true;
    }
    if (most != 0) {
        (void)tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                "kind %s can plan for %llu copies of every key, not for %llu: ask "
                                "for fewer, or name another kind",
                                kind->name, (unsigned long long)most, copies);
        return true;
    }
    if (request->need.count_to <= 1 || !can_with(kind, request, 1, 1)) return false;
    (void)tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                            "kind %s cannot count to %llu at that fpr: ask for less, or name "
                            "another kind",
                            kind->name, (unsigned long long)request->need.count_to);
    return true;
}

/* ------------------------------------------------------------------ a named kind */

static tamis_status say_out_of_reach(const tamis_request *request, const char *name,
                                     tamis_problem *problem) {
    const tamis_kind *kind = NULL;
    if (tamis_kind_find(name, request->isa, &kind) == TAMIS_OK &&
        say_of_copies(kind, request, problem))
        return TAMIS_ERR_CANNOT;
    return tamis_problem_say(
        problem, TAMIS_ERR_CANNOT, "kind %s cannot reach the requested fpr and overflow%s", name,
        request->geometry ? " in that geometry, or its fields exclude each other" : "");
}

tamis_status tamis_say_why_not(const tamis_request *request, const tamis_plan *plan,
                               tamis_problem *problem) {
    const char *const kind = plan->kind;
    const char *const where = request->geometry != NULL ? " in that geometry" : "";
    unsigned const    missing = request->need.abilities & ~plan->abilities;
    if (plan->status == TAMIS_ERR_ARGUMENT) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "geometry '%s' does not fit kind %s: write field=number, with the "
                                 "fields of that kind",
                                 request->geometry, kind);
    }
    bool const is_over = request->memory != 0 && plan->body_bytes > request->memory;
    if (plan->status == TAMIS_ERR_LIMIT || is_over) return say_too_large(request, plan, problem);
    if (missing != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot %s%s: name another kind, or name none", kind,
                                 ability_word(missing), where);
    }
    if (request->shared && !can_be_shared(request, kind)) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot be shared by threads: name another kind, or name "
                                 "none",
                                 kind);
    }
    bool const is_counting_less = plan->count_to != 0 && request->need.count_to > plan->count_to;
    if (is_counting_less && !request->is_count_open) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s counts to %llu%s: ask for less, or name another kind",
                                 kind, (unsigned long long)plan->count_to, where);
    }
    if (request->need.values != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot do all of that%s: ask for higher rates, fewer "
                                 "values or no timeout, or name another kind",
                                 kind, where);
    }
    return say_out_of_reach(request, kind, problem);
}

tamis_status tamis_say_unknown_kind(const tamis_request *request, tamis_problem *problem) {
    char              names[160] = "";
    size_t            used = 0;
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        size_t const length = strlen(kind->name);
        if (used + length + 3 > sizeof names) break;
        if (used != 0) {
            memcpy(names + used, ", ", 2);
            used += 2;
        }
        memcpy(names + used, kind->name, length + 1);
        used += length;
    }
    return tamis_problem_say(problem, TAMIS_ERR_KIND, "unknown kind \"%s\"%s (this build has: %s)",
                             request->kind, request->need.values != 0 ? " of states" : "", names);
}

/* ------------------------------------------------------------------ no kind at all */

/* The smallest table if memory has no limit; kind is NULL if there is none. */
static tamis_candidate smallest_without_limit(const tamis_request *request) {
    tamis_request     any = with_nothing_open(request);
    tamis_candidate   next, best = { .kind = NULL };
    const tamis_kind *kind;
    any.memory = 0;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        if (!tamis_may_be_chosen(kind, request)) continue;
        tamis_ask_kind(kind, &any, &next);
        if (next.plan.status != TAMIS_OK) continue;
        if (best.kind == NULL || next.plan.body_bytes < best.plan.body_bytes) best = next;
    }
    return best;
}

/* The kind that counts furthest; NULL: one counts as far as the request asks. */
static const tamis_kind *furthest_counting(const tamis_request *request) {
    const tamis_kind *kind, *furthest = NULL;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        if (kind->calls.count == NULL || !tamis_may_be_chosen(kind, request)) continue;
        if (kind->most_count == 0 || kind->most_count >= request->need.count_to) return NULL;
        if (furthest == NULL || kind->most_count > furthest->most_count) furthest = kind;
    }
    return furthest;
}

static bool can_any(const tamis_request *request, uint64_t copies, uint64_t count_to) {
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        if (tamis_may_be_chosen(kind, request) && can_with(kind, request, copies, count_to))
            return true;
    }
    return false;
}

tamis_status tamis_say_none_can(const tamis_request *request, tamis_problem *problem) {
    const tamis_need *const need = &request->need;
    const tamis_kind *const furthest = need->count_to != 0 ? furthest_counting(request) : NULL;
    uint64_t const          count_to = min_u64(need->count_to, TAMIS_DEFAULT_COUNT_TO);
    tamis_candidate         smallest = { .kind = NULL };
    if (furthest != NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "no kind counts to %llu: %s counts furthest, to %llu",
                                 (unsigned long long)need->count_to, furthest->name,
                                 (unsigned long long)furthest->most_count);
    }
    if (request->memory != 0) smallest = smallest_without_limit(request);
    if (smallest.kind != NULL) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "no kind can do all of that in %llu bytes: %s needs %llu, the "
                                 "least",
                                 (unsigned long long)request->memory, smallest.kind->name,
                                 (unsigned long long)smallest.plan.body_bytes);
    }
    if (request->grow_to == 0 && need->work.copies > 1 && can_any(request, 1, count_to)) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "no kind can plan for %llu copies of every key: ask for fewer",
                                 (unsigned long long)need->work.copies);
    }
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "no kind can do all of that%s: %sask for fewer keys, higher rates or "
                             "fewer abilities",
                             request->geometry != NULL ? " in that geometry" : "",
                             request->geometry != NULL ? "leave its fields free, or " : "");
}
