/* planner.c - from a spec to a kind and a geometry.
 *
 * Every kind is asked to lay itself out for the spec. Those that can do it are compared by what the
 * user prefers: bytes, or the cache lines that an operation touches (the speed of a set that does
 * not fit the cache is the number of lines), where the default kind has an advance. A tie goes to
 * the other measure, then to the order of the registry.
 */
#include "handle.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ fixed fields */

static bool is_separator(char c) {
    return c == ',' || c == ' ';
}

/* Read one "name=value" for this kind into fixed[]. Returns what follows it, or NULL. */
static const char *fix_field(const tamis_kind *kind, const char *text, uint64_t *fixed) {
    for (unsigned i = 0; kind->field_names[i] != NULL; i++) {
        size_t const length = strlen(kind->field_names[i]);
        if (strncmp(text, kind->field_names[i], length) != 0 || text[length] != '=') continue;
        const char *const digits = text + length + 1;
        if (*digits < '0' || *digits > '9') return NULL;
        char                    *end;
        unsigned long long const value = strtoull(digits, &end, 10);
        if (value == KIND_FREE || (*end != '\0' && !is_separator(*end))) return NULL;
        fixed[i] = value;
        return end;
    }
    return NULL;
}

/* All of "a=1,b=2"; NULL is nothing. False when a field is not the kind's, or has no number. */
bool tamis_fix_geometry(const tamis_kind *kind, const char *geometry, uint64_t *fixed) {
    const char *text = geometry != NULL ? geometry : "";
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) fixed[i] = KIND_FREE;
    while (text != NULL && *text != '\0') {
        if (is_separator(*text))
            text++;
        else
            text = fix_field(kind, text, fixed);
    }
    return text != NULL;
}

/* ------------------------------------------------------------------ one kind */

void tamis_plan_describe(const tamis_kind *kind, const uint64_t *geometry, uint64_t capacity,
                         uint64_t lifetime, tamis_plan *ret_plan) {
    tamis_forecast forecast = { 0 };
    kind->predict(geometry, capacity, lifetime, &forecast);
    tamis_plan plan = {
        .kind = kind->name,
        .summary = kind->summary,
        .abilities = tamis_kind_abilities(kind, geometry),
        .capacity = capacity,
        .lifetime = lifetime,
        .n_fields = tamis_kind_n_fields(kind),
        .fpr = forecast.fpr,
        .overflow = forecast.overflow,
        .saturation = forecast.saturation,
        .lines_present = forecast.lines_present,
        .lines_absent = forecast.lines_absent,
        .lines_add = forecast.lines_add,
        .unknown = forecast.unknown,
    };
    for (unsigned i = 0; i < plan.n_fields; i++) {
        plan.fields[i] = (tamis_field){ kind->field_names[i], geometry[i] };
    }
    if (kind->body_bytes(geometry, &plan.body_bytes)) {
        plan.file_bytes = tamis_file_bytes(plan.body_bytes);
        plan.bits_per_key = 8.0 * (double)plan.body_bytes / (double)capacity;
    }
    *ret_plan = plan;
}

/* Lay out one kind. ret_plan->status says whether it can do the job. */
static void plan_kind(const tamis_kind *kind, const tamis_spec *spec, uint64_t prints,
                      uint64_t *ret_geometry, tamis_plan *ret_plan) {
    tamis_need need = { .capacity = spec->capacity,
                        .fpr = spec->fpr,
                        .lifetime = spec->lifetime,
                        .overflow = spec->overflow,
                        .abilities = spec->abilities,
                        .prefer = spec->prefer,
                        .prints = prints };
    uint64_t   geometry[TAMIS_MAX_FIELDS] = { 0 };
    uint64_t   bytes;
    *ret_plan = (tamis_plan){ .kind = kind->name,
                              .summary = kind->summary,
                              .status = TAMIS_ERR_CANNOT,
                              .abilities = tamis_kind_abilities(kind, NULL) };
    if (!tamis_fix_geometry(kind, spec->geometry, need.fixed)) {
        ret_plan->status = TAMIS_ERR_ARGUMENT;
        return;
    }
    if (prints != 0 && kind->prints == NULL) return;
    if (kind->plan(&need, geometry) != TAMIS_OK) return;
    if (prints != 0 && kind->prints(geometry) != prints) return;
    if (!kind->body_bytes(geometry, &bytes)) {
        ret_plan->status = TAMIS_ERR_LIMIT;
        return;
    }
    tamis_plan_describe(kind, geometry, spec->capacity, spec->lifetime, ret_plan);
    bool const is_able = (spec->abilities & ~ret_plan->abilities) == 0;
    bool const is_exact = spec->fpr == 0 || ret_plan->fpr <= spec->fpr * (1 + 1e-9);
    bool const is_roomy = ret_plan->overflow <= spec->overflow;
    if (!is_able || !is_exact || !is_roomy) ret_plan->status = TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, geometry, sizeof geometry);
}

/* ------------------------------------------------------------------ all kinds */

/* Time goes with the lines that are touched. The operations of the default kind are short: in cache
 * they take half the time of rank's where it has AVX2 (docs/performance.md), so it may touch twice
 * as many. */
static double slowness(const tamis_kind *kind, const tamis_plan *plan) {
    double const lines = plan->lines_present + plan->lines_absent + plan->lines_add;
    return kind->is_default && strcmp(kind->isa, "portable") != 0 ? lines / 2 : lines;
}

static bool is_better(const tamis_kind *kind, const tamis_plan *plan, const tamis_kind *best_kind,
                      const tamis_plan *best, tamis_preference prefer) {
    double const faster = slowness(best_kind, best) - slowness(kind, plan);
    double const smaller = (double)best->body_bytes - (double)plan->body_bytes;
    double const first = prefer == TAMIS_PREFER_SMALL ? smaller : faster;
    double const second = prefer == TAMIS_PREFER_SMALL ? faster : smaller;
    return first != 0 ? first > 0 : second > 0;
}

/* Why a named kind will not do, in words. */
static tamis_status say_why_not(const tamis_spec *spec, const tamis_plan *plan,
                                tamis_problem *problem) {
    const char *const kind = plan->kind;
    unsigned const    missing = spec->abilities & ~plan->abilities;
    if (plan->status == TAMIS_ERR_ARGUMENT) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "the geometry '%s' does not fit kind %s: write field=number, with "
                                 "its own fields",
                                 spec->geometry, kind);
    }
    if (plan->status == TAMIS_ERR_LIMIT) {
        return tamis_problem_say(problem, TAMIS_ERR_LIMIT, "that %s is too large to address", kind);
    }
    if (missing != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                                 "kind %s cannot %s%s: name another kind, or leave the choice open",
                                 kind,
                                 missing & TAMIS_CAN_REMOVE  ? "remove"
                                 : missing & TAMIS_CAN_COUNT ? "count"
                                                             : "merge",
                                 spec->geometry ? " in that geometry" : "");
    }
    return tamis_problem_say(
        problem, TAMIS_ERR_CANNOT, "kind %s cannot reach that fpr and overflow%s", kind,
        spec->geometry ? " in that geometry, or its fields exclude each other" : "");
}

/* The kind that the spec names, or the best one that can do it. */
static tamis_status choose_best(const tamis_spec *spec, uint64_t prints, tamis_choice *ret_choice,
                                tamis_problem *problem) {
    tamis_plan        best = { .status = TAMIS_ERR_CANNOT };
    bool              is_geometry = spec->geometry != NULL; /* is it no kind's geometry? */
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL; i++) {
        tamis_plan plan;
        uint64_t   geometry[TAMIS_MAX_FIELDS] = { 0 };
        plan_kind(kind, spec, prints, geometry, &plan);
        is_geometry = is_geometry && plan.status == TAMIS_ERR_ARGUMENT;
        if (plan.status != TAMIS_OK) continue;
        if (best.status == TAMIS_OK &&
            !is_better(kind, &plan, ret_choice->kind, &best, spec->prefer)) {
            continue;
        }
        best = plan;
        ret_choice->kind = kind;
        memcpy(ret_choice->geometry, geometry, sizeof geometry);
    }
    if (best.status == TAMIS_OK) return TAMIS_OK;
    if (is_geometry) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "no kind has the geometry '%s': write field=number",
                                 spec->geometry);
    }
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "no kind can do all of that: ask for less, or see tamis_plan_kinds()");
}

tamis_status tamis_choose(const tamis_spec *spec, uint64_t prints, tamis_choice *ret_choice,
                          tamis_problem *problem) {
    tamis_choice choice = { .capacity = spec->capacity, .lifetime = spec->lifetime };
    tamis_status status;
    if (spec->kind == NULL) {
        status = choose_best(spec, prints, &choice, problem);
        if (status == TAMIS_OK)
            status = tamis_kind_find(choice.kind->name, spec->isa, &choice.kind);
    } else {
        status = tamis_kind_find(spec->kind, spec->isa, &choice.kind);
        if (status == TAMIS_OK && choice.kind->has == NULL) status = TAMIS_ERR_KIND;
        if (status == TAMIS_ERR_KIND) {
            return tamis_problem_say(problem, status, "there is no kind '%s'", spec->kind);
        }
        if (status != TAMIS_OK) return status;
        tamis_plan plan;
        plan_kind(choice.kind, spec, prints, choice.geometry, &plan);
        if (plan.status != TAMIS_OK) return say_why_not(spec, &plan, problem);
    }
    if (status == TAMIS_OK) *ret_choice = choice;
    return status;
}

/* ------------------------------------------------------------------ the table */

static size_t plan_like(const tamis_set *like, tamis_plan *ret_rows, size_t max_rows) {
    if (max_rows != 0) {
        tamis_plan_describe(like->kind, like->table.geometry, like->capacity, like->lifetime,
                            ret_rows);
        ret_rows->chosen = true;
    }
    return 1;
}

/* A row for each kind, or for the one that is named. */
static size_t plan_rows(const tamis_spec *spec, tamis_plan *ret_rows, size_t max_rows) {
    tamis_choice      choice = { 0 };
    bool const        is_any = tamis_choose(spec, 0, &choice, NULL) == TAMIS_OK;
    size_t            n = 0;
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL; i++) {
        if (spec->kind != NULL && strcmp(spec->kind, kind->name) != 0) continue;
        if (n < max_rows) {
            uint64_t geometry[TAMIS_MAX_FIELDS];
            plan_kind(kind, spec, 0, geometry, &ret_rows[n]);
            ret_rows[n].chosen = is_any && strcmp(choice.kind->name, kind->name) == 0;
        }
        n++;
    }
    return n;
}

tamis_status tamis_plan_kinds(const tamis_spec *spec, tamis_plan *ret_rows, size_t max_rows,
                              size_t *ret_n_rows, tamis_problem *reterr_problem) {
    tamis_spec         checked;
    tamis_status const status = tamis_spec_check(spec, &checked, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_n_rows == NULL || (ret_rows == NULL && max_rows != 0)) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "no room for the rows");
    }
    if (checked.like != NULL) {
        *ret_n_rows = plan_like(checked.like, ret_rows, max_rows);
        return TAMIS_OK;
    }
    size_t const n = plan_rows(&checked, ret_rows, max_rows);
    if (n == 0) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_KIND, "there is no kind '%s'",
                                 checked.kind);
    }
    *ret_n_rows = n;
    return TAMIS_OK;
}
