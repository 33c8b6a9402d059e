/* planner.c - from a spec to a kind and a geometry.
 *
 * Who is to be fast takes the default kind where it can do the job: its operations are the shortest
 * (docs/performance.md), on any machine. So the others are not even asked; laying them all out
 * takes longer than filling a small set. Where it cannot, they are compared by the cache lines that
 * operations touch (the speed of a set that does not fit the cache); who is to be small, by bytes.
 * A tie goes to the other measure, then to the order of the registry. Who is to count gets a kind
 * in which copies take room only if there is no other.
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
        .copies_take_room = kind->copies_take_room,
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
                              .copies_take_room = kind->copies_take_room,
                              .abilities = tamis_kind_abilities(kind, NULL) };
    if (!tamis_fix_geometry(kind, spec->geometry, need.fixed)) {
        ret_plan->status = TAMIS_ERR_ARGUMENT;
        return;
    }
    if ((spec->abilities & ~ret_plan->abilities) != 0) return; /* in no geometry */
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

static double lines_of(const tamis_plan *plan) {
    return plan->lines_present + plan->lines_absent + plan->lines_add;
}

/* A kind and what it makes of a spec. */
typedef struct candidate {
    const tamis_kind *kind; /* NULL: none */
    uint64_t          geometry[TAMIS_MAX_FIELDS];
    tamis_plan        plan;
} candidate;

static void ask_kind(const tamis_kind *kind, const tamis_spec *spec, uint64_t prints,
                     candidate *ret_candidate) {
    *ret_candidate = (candidate){ .kind = kind };
    plan_kind(kind, spec, prints, ret_candidate->geometry, &ret_candidate->plan);
}

/* Is nobody better, whoever else can do the job? */
static bool is_first(const candidate *is, const tamis_spec *spec) {
    return is->plan.status == TAMIS_OK && is->kind->is_default && spec->prefer == TAMIS_PREFER_FAST;
}

/* Who is to count has copies. Where they take room, capacity is soon used up. */
static bool copies_fit(const candidate *is, const tamis_spec *spec) {
    return (spec->abilities & TAMIS_CAN_COUNT) == 0 || !is->kind->copies_take_room;
}

static bool is_better(const candidate *is, const candidate *best, const tamis_spec *spec) {
    if (is->plan.status != TAMIS_OK || best->kind == NULL) return is->plan.status == TAMIS_OK;
    if (is_first(is, spec) || is_first(best, spec)) return is_first(is, spec);
    if (copies_fit(is, spec) != copies_fit(best, spec)) return copies_fit(is, spec);
    double const faster = lines_of(&best->plan) - lines_of(&is->plan);
    double const smaller = (double)best->plan.body_bytes - (double)is->plan.body_bytes;
    double const first = spec->prefer == TAMIS_PREFER_SMALL ? smaller : faster;
    double const second = spec->prefer == TAMIS_PREFER_SMALL ? faster : smaller;
    return first != 0 ? first > 0 : second > 0;
}

static const tamis_kind *default_kind(void) {
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL && !kind->is_default; i++) continue;
    return kind;
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

/* The best of all kinds. Returns whether the geometry is that of any of them. */
static bool ask_all(const tamis_spec *spec, uint64_t prints, candidate *ret_best) {
    bool              is_any = false;
    const tamis_kind *kind;
    *ret_best = (candidate){ .kind = NULL };
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL; i++) {
        candidate next;
        ask_kind(kind, spec, prints, &next);
        is_any = is_any || next.plan.status != TAMIS_ERR_ARGUMENT;
        if (is_better(&next, ret_best, spec)) *ret_best = next;
    }
    return is_any;
}

/* The best kind that can do it, asking no more of them than there must be. */
static tamis_status choose_best(const tamis_spec *spec, uint64_t prints, candidate *ret_best,
                                tamis_problem *problem) {
    if (spec->prefer == TAMIS_PREFER_FAST) {
        ask_kind(default_kind(), spec, prints, ret_best);
        if (is_first(ret_best, spec)) return TAMIS_OK;
    }
    bool const is_geometry = ask_all(spec, prints, ret_best);
    if (ret_best->kind != NULL) return TAMIS_OK;
    if (!is_geometry) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "no kind has the geometry '%s': write field=number",
                                 spec->geometry);
    }
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "no kind can do all of that: ask for less, or see tamis_plan_kinds()");
}

/* The kind that the spec names, if it can do it. */
static tamis_status choose_named(const tamis_spec *spec, uint64_t prints, candidate *ret_best,
                                 tamis_problem *problem) {
    const tamis_kind *kind;
    tamis_status      status = tamis_kind_find(spec->kind, spec->isa, &kind);
    if (status == TAMIS_OK && kind->has == NULL) status = TAMIS_ERR_KIND;
    if (status == TAMIS_ERR_KIND) {
        return tamis_problem_say(problem, status, "there is no kind '%s'", spec->kind);
    }
    if (status != TAMIS_OK) return status;
    ask_kind(kind, spec, prints, ret_best);
    return ret_best->plan.status == TAMIS_OK ? TAMIS_OK
                                             : say_why_not(spec, &ret_best->plan, problem);
}

tamis_status tamis_choose(const tamis_spec *spec, uint64_t prints, tamis_choice *ret_choice,
                          tamis_problem *problem) {
    candidate    best;
    tamis_choice choice = { .capacity = spec->capacity, .lifetime = spec->lifetime };
    tamis_status status = spec->kind != NULL ? choose_named(spec, prints, &best, problem)
                                             : choose_best(spec, prints, &best, problem);
    if (status == TAMIS_OK) status = tamis_kind_find(best.kind->name, spec->isa, &choice.kind);
    if (status != TAMIS_OK) return status;
    memcpy(choice.geometry, best.geometry, sizeof choice.geometry);
    *ret_choice = choice;
    return TAMIS_OK;
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

/* A row for each kind, or for the one that is named. Each is laid out once: what tamis_choose()
 * takes is the best of the rows. */
static size_t plan_rows(const tamis_spec *spec, tamis_plan *ret_rows, size_t max_rows) {
    candidate         best = { .kind = NULL };
    size_t            n = 0, best_row = 0;
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_kind_at(i)) != NULL; i++) {
        if (spec->kind != NULL && strcmp(spec->kind, kind->name) != 0) continue;
        size_t const row = n++;
        if (max_rows == 0) continue;
        candidate next;
        ask_kind(kind, spec, 0, &next);
        if (row < max_rows) ret_rows[row] = next.plan;
        if (!is_better(&next, &best, spec)) continue;
        best = next;
        best_row = row;
    }
    bool const is_any = best.kind != NULL && best_row < max_rows;
    if (is_any && tamis_kind_find(best.kind->name, spec->isa, &kind) == TAMIS_OK) {
        ret_rows[best_row].chosen = true;
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
