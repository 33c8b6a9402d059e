/* planner_words.c - messages that say why a kind cannot do what a request asks for. */
#include "handle.h"

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
    if (request->need.count_to > plan->count_to && plan->body_bytes != 0) {
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
    return tamis_problem_say(
        problem, TAMIS_ERR_CANNOT, "kind %s cannot reach the requested fpr and overflow%s", kind,
        request->geometry ? " in that geometry, or its fields exclude each other" : "");
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
