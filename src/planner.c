/* planner.c - choose a kind and a geometry for a request, for sets and for states.
 *
 * Every kind makes a plan, and preference.c says which of them is taken. If a first choice can do
 * the job, the other kinds are not planned: that would take longer than filling a small set.
 *
 * With a limit of memory (`memory`), the spec leaves open the capacity or the fpr. It is found for
 * each kind by bisection.
 */
#include "planner.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ fixed fields */

static bool is_separator(char c) {
    return c == ',' || c == ' ';
}

/* Read one "name=value" for this kind into fixed[]. Returns the rest of the text, or NULL. */
static const char *fix_field(const tamis_kind *kind, const char *text, uint64_t *fixed) {
    for (unsigned i = 0; kind->fields[i].name != NULL; i++) {
        size_t const length = strlen(kind->fields[i].name);
        if (strncmp(text, kind->fields[i].name, length) != 0 || text[length] != '=') continue;
        const char *const digits = text + length + 1;
        if (*digits < '0' || *digits > '9') return NULL;
        char                    *end;
        unsigned long long const value = strtoull(digits, &end, 10);
        if (value == NEED_FREE || (*end != '\0' && !is_separator(*end))) return NULL;
        fixed[i] = value;
        return end;
    }
    return NULL;
}

/* Read all of "a=1,b=2"; NULL means no fields. False if the kind has no such field, or if a number
 * is missing. */
static bool fix_geometry(const tamis_kind *kind, const char *geometry, uint64_t *fixed) {
    const char *text = geometry != NULL ? geometry : "";
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) fixed[i] = NEED_FREE;
    while (text != NULL && *text != '\0') {
        if (is_separator(*text))
            text++;
        else
            text = fix_field(kind, text, fixed);
    }
    return text != NULL;
}

/* Check the range of the fixed fields. Kinds divide and shift by them, so other numbers must not
 * reach them. _LIMIT: more buckets, cells or bits than a kind can address; otherwise the number is
 * not possible at all. */
static tamis_status check_fixed(const tamis_kind *kind, const uint64_t *fixed) {
    for (unsigned i = 0; kind->fields[i].name != NULL; i++) {
        const kind_field *const field = &kind->fields[i];
        if (fixed[i] == NEED_FREE) continue;
        if (fixed[i] < field->least) return TAMIS_ERR_CANNOT;
        if (fixed[i] > field->most)
            return field->most > UINT32_MAX ? TAMIS_ERR_LIMIT : TAMIS_ERR_CANNOT;
    }
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ one kind */

/* Fill in the part of a plan that follows directly from the geometry. */
static void describe_geometry(const tamis_kind *kind, const uint64_t *geometry,
                              const tamis_workload *work, tamis_plan *ret_plan) {
    tamis_plan plan = {
        .kind = kind->name,
        .summary = kind->summary,
        .copies_take_room = kind->copies_take_room,
        .abilities = tamis_kind_abilities(kind, geometry),
        .capacity = work->capacity,
        .copies = work->copies,
        .lifetime = work->lifetime,
        .n_fields = tamis_kind_n_fields(kind),
    };
    if ((plan.abilities & TAMIS_CAN_COUNT) != 0) plan.count_to = kind->count_to(geometry);
    for (unsigned i = 0; i < plan.n_fields; i++) {
        plan.fields[i] = (tamis_field){ kind->fields[i].name, geometry[i] };
    }
    if (kind->body_bytes(geometry, &plan.body_bytes)) {
        plan.file_bytes = tamis_file_bytes(plan.body_bytes);
        plan.bits_per_key = 8.0 * (double)plan.body_bytes / (double)work->capacity;
    }
    *ret_plan = plan;
}

/* Fill in the predictions of the kind's analysis. This takes as long as planning. */
static void describe_forecast(const tamis_kind *kind, const uint64_t *geometry,
                              const tamis_workload *work, tamis_plan *plan) {
    tamis_forecast forecast = { 0 };
    kind->predict(geometry, work, &forecast);
    plan->fpr = forecast.fpr;
    plan->overflow = forecast.overflow;
    plan->saturation = forecast.saturation;
    plan->lines_present = forecast.lines_present;
    plan->lines_absent = forecast.lines_absent;
    plan->lines_add = forecast.lines_add;
    plan->unknown = forecast.unknown;
}

void tamis_plan_describe(const tamis_kind *kind, const uint64_t *geometry,
                         const tamis_workload *work, tamis_plan *ret_plan) {
    describe_geometry(kind, geometry, work, ret_plan);
    describe_forecast(kind, geometry, work, ret_plan);
}

/* Did the user fix the kind or fields of the table? */
static bool is_given(const tamis_request *request) {
    return request->kind != NULL || request->geometry != NULL || request->need.prints != 0;
}

/* Does the plan meet the request, as far as it is filled in? Rates without a forecast are 0. */
static bool meets(const tamis_candidate *made, const tamis_request *request) {
    const tamis_need *const need = &request->need;
    const tamis_plan *const plan = &made->plan;
    double const            slack = 1 + 1e-9; /* the kind may compute its rate in another order */
    if ((need->abilities & ~plan->abilities) != 0) return false;
    if (need->fpr != 0 && plan->fpr > need->fpr * slack) return false;
    if (plan->overflow > need->overflow) return false;
    if (request->memory != 0 && plan->body_bytes > request->memory) return false;
    /* If the user fixed the table and count_to is only the default, it need not be met. */
    bool const must_count = !request->is_count_open || !is_given(request);
    if (must_count && need->count_to > plan->count_to) return false;
    if (need->values == 0) return true;
    if (need->unknown != 0 && plan->unknown > need->unknown * slack) return false;
    return made->kind->states->holds_values(made->geometry, need->values, need->timer_bits);
}

static void add_forecast(const tamis_request *request, tamis_candidate *made) {
    tamis_plan *const    plan = &made->plan;
    tamis_workload const work = { plan->capacity, plan->copies, plan->lifetime };
    if (plan->status != TAMIS_OK || made->has_forecast) return;
    describe_forecast(made->kind, made->geometry, &work, plan);
    made->has_forecast = true;
    if (!meets(made, request)) plan->status = TAMIS_ERR_CANNOT;
}

/* Let a kind make a plan. A geometry that it chose freely meets the need, so its predictions are
 * computed only on request (add_forecast). A geometry that the user fixed, even in part, may not
 * meet the need. */
void tamis_ask_kind(const tamis_kind *kind, const tamis_request *request,
                    tamis_candidate *ret_candidate) {
    tamis_need      need = request->need;
    uint64_t        bytes;
    tamis_candidate made = { .kind = kind,
                             .plan = { .kind = kind->name,
                                       .summary = kind->summary,
                                       .status = TAMIS_ERR_CANNOT,
                                       .copies_take_room = kind->copies_take_room,
                                       .abilities = tamis_kind_abilities(kind, NULL) } };
    *ret_candidate = made;
    if (!fix_geometry(kind, request->geometry, need.fixed)) {
        ret_candidate->plan.status = TAMIS_ERR_ARGUMENT;
        return;
    }
    tamis_status const given = check_fixed(kind, need.fixed);
    if (given != TAMIS_OK) {
        ret_candidate->plan.status = given;
        return;
    }
    if ((need.abilities & ~made.plan.abilities) != 0) return; /* in no geometry */
    if (need.prints != 0 && kind->prints == NULL) return;
    if (request->shared && kind->sharing == NULL) return;
    /* A named kind that cannot count that far is planned all the same, for the message. */
    bool const counts_less = kind->most_count != 0 && kind->most_count < need.count_to;
    if (counts_less) ret_candidate->plan.count_to = kind->most_count;
    if (counts_less && !is_given(request)) return;
    if (kind->plan(&need, made.geometry) != TAMIS_OK) return;
    if (need.prints != 0 && kind->prints(made.geometry) != need.prints) return;
    if (!kind->body_bytes(made.geometry, &bytes)) {
        ret_candidate->plan.status = TAMIS_ERR_LIMIT;
        return;
    }
    describe_geometry(kind, made.geometry, &need.work, &made.plan);
    if (!meets(&made, request)) made.plan.status = TAMIS_ERR_CANNOT;
    if (request->geometry != NULL || need.prints != 0) add_forecast(request, &made);
    *ret_candidate = made;
}

/* ------------------------------------------------------------------ a limit of memory */

#define FIT_STEPS 14 /* of bisection: 1/16384 of the range */

/* Find the largest capacity that a kind has room for: double a capacity until it does not fit, then
 * bisect. The size of a table grows with its keys, except for small steps from rounding. So the
 * result fits, and is at most 1/16384 of the last interval (FIT_STEPS) below the largest. */
static void fit_capacity(const tamis_kind *kind, tamis_request *request,
                         tamis_candidate *ret_best) {
    uint64_t fits = 0, beyond = min_u64(request->memory, HANDLE_MAX_CAPACITY); /* 8 bits per key */
    tamis_candidate next;
    for (;;) {
        tamis_request_resize(request, beyond);
        tamis_ask_kind(kind, request, &next);
        if (next.plan.status != TAMIS_OK) break;
        *ret_best = next;
        fits = beyond;
        if (beyond == HANDLE_MAX_CAPACITY) return;
        beyond = min_u64(2 * beyond, HANDLE_MAX_CAPACITY);
    }
    for (unsigned i = 0; i < FIT_STEPS || (fits == 0 && beyond > 1); i++) {
        uint64_t const middle = fits + (beyond - fits) / 2;
        if (middle == fits) break;
        tamis_request_resize(request, middle);
        tamis_ask_kind(kind, request, &next);
        bool const is_possible = next.plan.status == TAMIS_OK;
        if (is_possible) *ret_best = next;
        *(is_possible ? &fits : &beyond) = middle;
    }
    if (fits == 0) *ret_best = next;
}

/* The lowest fpr that a kind reaches. */
static void fit_rate(const tamis_kind *kind, tamis_request *request, tamis_candidate *ret_best) {
    double          fits = 1, beyond = 40; /* -log2 of the fpr: 0.5 to 1e-12 */
    tamis_candidate next;
    bool            is_any = false;
    bool const is_unknown_open = request->need.unknown == 0; /* then it is the same as the fpr */
    for (unsigned i = 0; i < FIT_STEPS; i++) {
        double const middle = i == 0 ? fits : (fits + beyond) / 2;
        request->need.fpr = exp2(-middle);
        if (is_unknown_open) request->need.unknown = request->need.fpr;
        tamis_ask_kind(kind, request, &next);
        bool const is_possible = next.plan.status == TAMIS_OK;
        if (i == 0 && !is_possible) break;
        is_any = true;
        if (is_possible) *ret_best = next;
        *(is_possible ? &fits : &beyond) = middle;
    }
    if (!is_any) *ret_best = next;
}

/* The plan of a kind for a request; under a limit of memory it also finds the open value. */
static void plan_layout(const tamis_kind *kind, const tamis_request *request,
                        tamis_candidate *ret_candidate) {
    tamis_request tried = *request;
    if (request->grow_to != 0)
        tamis_plan_growing(kind, request, ret_candidate);
    else if (request->need.work.capacity == 0)
        fit_capacity(kind, &tried, ret_candidate);
    else if (request->memory != 0 && request->need.fpr == 0 && request->geometry == NULL)
        fit_rate(kind, &tried, ret_candidate);
    else
        tamis_ask_kind(kind, request, ret_candidate);
}

/* The same. But if the layout for speed is larger than `memory`, the kind is planned again with the
 * smallest layout: a table that fits is better than none, and only then is it true that no kind
 * can do it. */
static void plan_kind(const tamis_kind *kind, const tamis_request *request,
                      tamis_candidate *ret_candidate) {
    plan_layout(kind, request, ret_candidate);
    bool const is_too_large =
        request->memory != 0 && ret_candidate->plan.body_bytes > request->memory;
    if (!is_too_large || !need_is_fast(&request->need)) return;
    tamis_request smaller = *request;
    smaller.need.prefer = TAMIS_PREFER_SMALL;
    plan_layout(kind, &smaller, ret_candidate);
}

/* ------------------------------------------------------------------ choosing */

/* Do bytes alone decide between the best so far and others? Not if speed decides, if a part of the
 * table, a limit of memory or growth is given. */
static bool decides_by_bytes(const tamis_candidate *best, const tamis_request *request) {
    const tamis_need *const need = &request->need;
    if (best->kind == NULL || need_is_fast(need)) return false;
    return need->fpr != 0 && request->memory == 0 && request->grow_to == 0 && !is_given(request);
}

/* The kind that the spec names, if it can do the job. */
static tamis_status choose_named(const tamis_request *request, tamis_candidate *ret_best,
                                 tamis_problem *problem) {
    const tamis_kind *kind;
    tamis_status      status = tamis_kind_find(request->kind, request->isa, &kind);
    bool const        is_states = request->need.values != 0;
    if (status == TAMIS_OK && (is_states ? kind->states == NULL : kind->calls.has == NULL)) {
        status = TAMIS_ERR_KIND;
    }
    if (status == TAMIS_ERR_KIND) return tamis_say_unknown_kind(request, problem);
    if (status != TAMIS_OK) return status;
    plan_kind(kind, request, ret_best);
    if (ret_best->plan.status == TAMIS_OK) return TAMIS_OK;
    if (tamis_say_growth(kind, request, problem)) return TAMIS_ERR_CANNOT;
    return tamis_say_why_not(request, &ret_best->plan, problem);
}

/* The best of the kinds that take long to plan themselves, or of the others. Where bytes decide,
 * each has to be as small as the best so far (need.h), and only then is it forecast. Returns
 * whether the request has a geometry of any of them. */
static bool choose_among(const tamis_request *request, bool takes_long, tamis_candidate *best) {
    const tamis_kind *kind;
    bool              is_geometry = false;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        bool const      is_limited = decides_by_bytes(best, request);
        tamis_request   limited = *request;
        tamis_candidate next;
        if (kind->heeds_most_bytes != takes_long || !tamis_may_be_chosen(kind, request)) continue;
        if (is_limited) limited.need.most_bytes = best->plan.body_bytes;
        plan_kind(kind, &limited, &next);
        next.order = i;
        bool const is_larger =
            next.plan.status != TAMIS_OK || next.plan.body_bytes > best->plan.body_bytes;
        if (is_limited && is_larger) continue;
        add_forecast(request, &next);
        is_geometry = is_geometry || next.plan.status != TAMIS_ERR_ARGUMENT;
        if (tamis_is_better(&next, best, request)) *best = next;
    }
    return is_geometry;
}

/* The best kind that can do the job. First the kinds that would be taken at once
 * (tamis_may_be_first): if one of them can do it, no other is planned. Then those that are planned
 * quickly: what they find leaves little to do for those that take long. */
static tamis_status choose_best(const tamis_request *request, tamis_candidate *ret_best,
                                tamis_problem *problem) {
    const tamis_kind *kind;
    bool              is_geometry = false; /* is it a geometry of any kind? */
    *ret_best = (tamis_candidate){ .kind = NULL };
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        tamis_candidate next;
        if (!tamis_may_be_first(kind, request)) continue;
        plan_kind(kind, request, &next);
        if (request->need.fpr == 0) add_forecast(request, &next); /* rates are compared */
        if (tamis_is_better(&next, ret_best, request)) *ret_best = next;
    }
    if (ret_best->kind != NULL) return TAMIS_OK;
    is_geometry = choose_among(request, false, ret_best);
    is_geometry = choose_among(request, true, ret_best) || is_geometry;
    if (ret_best->kind != NULL) return TAMIS_OK;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        if (kind->growing != NULL && tamis_say_growth(kind, request, problem))
            return TAMIS_ERR_CANNOT;
    }
    if (!is_geometry) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "no kind has the geometry '%s': write field=number",
                                 request->geometry);
    }
    return tamis_say_none_can(request, problem);
}

tamis_status tamis_choose(const tamis_request *request, tamis_choice *ret_choice,
                          tamis_problem *problem) {
    tamis_candidate best;
    tamis_choice    choice = { .values = request->need.values, .sweep = request->sweep };
    tamis_status    status = request->kind != NULL ? choose_named(request, &best, problem)
                                                   : choose_best(request, &best, problem);
    if (status == TAMIS_OK) status = tamis_kind_find(best.kind->name, request->isa, &choice.kind);
    if (status != TAMIS_OK) return status;
    memcpy(choice.geometry, best.geometry, sizeof choice.geometry);
    choice.work = (tamis_workload){ best.plan.capacity, best.plan.copies, best.plan.lifetime };
    choice.overflow = request->need.overflow;
    if (request->grow_to != 0) return tamis_first_stage(&choice, best.stages, ret_choice);
    *ret_choice = choice;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the table of all kinds */

/* A row for each kind, or for the named kind. Each is planned once: tamis_choose() takes the best
 * of these rows. */
static size_t plan_rows(const tamis_request *request, tamis_plan *ret_rows, size_t max_rows) {
    tamis_candidate   best = { .kind = NULL };
    size_t            n = 0, best_row = 0;
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_for(request, i)) != NULL; i++) {
        if (request->kind != NULL && strcmp(request->kind, kind->name) != 0) continue;
        size_t const row = n++;
        if (max_rows == 0) continue;
        tamis_candidate next;
        plan_kind(kind, request, &next);
        add_forecast(request, &next);
        if (row < max_rows) ret_rows[row] = next.plan;
        if (!tamis_is_better(&next, &best, request)) continue;
        best = next;
        best_row = row;
    }
    bool const is_any = best.kind != NULL && best_row < max_rows;
    if (is_any && tamis_kind_find(best.kind->name, request->isa, &kind) == TAMIS_OK) {
        ret_rows[best_row].chosen = true;
    }
    return n;
}

/* The same for specs of sets and of states. */
static tamis_status plan_all(const tamis_request *request, tamis_plan *ret_rows, size_t max_rows,
                             size_t *ret_n_rows, tamis_problem *problem) {
    if (ret_n_rows == NULL || (ret_rows == NULL && max_rows != 0)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "ret_rows or ret_n_rows is NULL");
    }
    if (request->like != NULL) {
        tamis_choice const like = tamis_choice_to_follow(request->like);
        if (max_rows != 0) tamis_plan_describe(like.kind, like.geometry, &like.work, ret_rows);
        if (max_rows != 0) ret_rows->chosen = true;
        *ret_n_rows = 1;
        return TAMIS_OK;
    }
    size_t const n = plan_rows(request, ret_rows, max_rows);
    if (n == 0) return tamis_say_unknown_kind(request, problem);
    *ret_n_rows = n;
    return TAMIS_OK;
}

tamis_status tamis_plan_kinds(const tamis_spec *spec, tamis_plan *ret_rows, size_t max_rows,
                              size_t *ret_n_rows, tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_set(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    return plan_all(&request, ret_rows, max_rows, ret_n_rows, reterr_problem);
}

tamis_status tamis_states_plan_kinds(const tamis_states_spec *spec, tamis_plan *ret_rows,
                                     size_t max_rows, size_t *ret_n_rows,
                                     tamis_problem *reterr_problem) {
    tamis_request      request;
    tamis_status const status = tamis_request_states(spec, &request, reterr_problem);
    if (status != TAMIS_OK) return status;
    return plan_all(&request, ret_rows, max_rows, ret_n_rows, reterr_problem);
}
