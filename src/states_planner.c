/* states_planner.c - from a spec of states to a kind and a geometry.
 *
 * As with sets (planner.c), every kind that keeps values lays itself out for the spec. Of those
 * that reach the rates the smallest is taken. Who is to be fast takes the default kind, as with
 * sets, or else the one whose operations touch the fewest cache lines.
 */
#include "core/memory.h"
#include "handle.h"

#define MIN_RATE 1e-12
#define MAX_RATE 0.5
#define DEFAULT_OVERFLOW 1e-10
#define DEFAULT_TURNOVERS 16
#define DEFAULT_TIMER_BITS 2
#define LIVES_TIMER_BITS 4 /* when values have timeouts of their own */

/* ------------------------------------------------------------------ the spec */

static bool is_rate(double rate) {
    return rate >= MIN_RATE && rate <= MAX_RATE; /* false for NaN */
}

static tamis_status check_rates(const tamis_states_spec *spec, tamis_problem *problem) {
    if (spec->capacity < 1 || spec->capacity > HANDLE_MAX_CAPACITY) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "capacity must be 1 to 2^40 keys");
    }
    if (spec->values < 2 || spec->values > KIND_MAX_VALUES) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "values must be 2 to 2^32");
    }
    if (!is_rate(spec->fpr) && !(spec->fpr == 0 && spec->geometry != NULL)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "fpr must be 1e-12 to 0.5 (0 only with a fixed geometry)");
    }
    if (!is_rate(spec->unknown) && spec->unknown != 0) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "unknown must be 1e-12 to 0.5, or 0: as fpr");
    }
    if (!(spec->overflow >= 0 && spec->overflow < 1)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "overflow must be 0 to 1");
    }
    if (spec->lifetime != 0 && spec->lifetime < spec->capacity) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "lifetime counts all puts, so it is at least the capacity");
    }
    return TAMIS_OK;
}

static tamis_status check_times(const tamis_states_spec *spec, tamis_problem *problem) {
    if (spec->timeout > SWEEP_MAX_TIMEOUT) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "timeout must be at most 2^32 ticks");
    }
    bool const is_bits = spec->timer_bits >= SWEEP_MIN_BITS && spec->timer_bits <= SWEEP_MAX_BITS;
    if (spec->timer_bits != 0 && (!is_bits || spec->timeout == 0)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "timer_bits must be 2 to 5, and go with a timeout");
    }
    for (unsigned i = 0; spec->timeouts != NULL && i < spec->values && i < SWEEP_LIVES; i++) {
        if (spec->timeouts[i] < 1 || spec->timeouts[i] > spec->timeout) {
            return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                     "the timeout of value %u must be 1 to `timeout`", i);
        }
    }
    return TAMIS_OK;
}

static tamis_status check_others(const tamis_states_spec *spec, tamis_problem *problem) {
    if (spec->prefer != TAMIS_PREFER_FAST && spec->prefer != TAMIS_PREFER_SMALL) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown preference");
    }
    if (spec->hash != TAMIS_HASH_XXH3 && spec->hash != TAMIS_HASH_SIPHASH) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "unknown hash %d", (int)spec->hash);
    }
    if (!keyhash_is_built(spec->hash)) {
        return tamis_problem_say(problem, TAMIS_ERR_NOT_BUILT,
                                 "SipHash is not built in: configure with -Dsodium=enabled");
    }
    return TAMIS_OK;
}

/* A copy in today's size, checked and completed. */
static tamis_status spec_check(const tamis_states_spec *spec, tamis_states_spec *ret_spec,
                               tamis_problem *problem) {
    tamis_states_spec today = TAMIS_STATES_SPEC_INIT;
    if (spec == NULL || spec->size < sizeof spec->size || spec->size > sizeof today) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT,
                                 "start a spec from TAMIS_STATES_SPEC_INIT");
    }
    memcpy(&today, spec, spec->size);
    if (!allocator_is_whole(&today.allocator)) {
        return tamis_problem_say(problem, TAMIS_ERR_ARGUMENT, "an allocator needs alloc and free");
    }
    if (today.like == NULL) {
        tamis_status status = check_rates(&today, problem);
        if (status == TAMIS_OK) status = check_times(&today, problem);
        if (status == TAMIS_OK) status = check_others(&today, problem);
        if (status != TAMIS_OK) return status;
        unsigned const bits = today.timeouts != NULL ? LIVES_TIMER_BITS : DEFAULT_TIMER_BITS;
        if (today.unknown == 0) today.unknown = today.fpr;
        if (today.overflow == 0) today.overflow = DEFAULT_OVERFLOW;
        if (today.lifetime == 0) today.lifetime = today.capacity * DEFAULT_TURNOVERS;
        if (today.timeout != 0 && today.timer_bits == 0) today.timer_bits = bits;
    }
    *ret_spec = today;
    return TAMIS_OK;
}

/* The sweep of a spec. A value's timeout is rounded up to passes. */
static sweep spec_sweep(const tamis_states_spec *spec) {
    sweep make = { .timeout = spec->timeout, .timer_bits = spec->timer_bits };
    for (unsigned i = 0; spec->timeouts != NULL && i < spec->values && i < SWEEP_LIVES; i++) {
        uint64_t const passes =
            (spec->timeouts[i] * sweep_most(&make) + spec->timeout - 1) / spec->timeout;
        make.lives |= passes << (4 * i);
    }
    return make;
}

/* ------------------------------------------------------------------ one kind */

/* Lay out one kind. ret_plan->status says whether it can do the job. */
static void plan_kind(const tamis_kind *kind, const tamis_states_spec *spec, uint64_t *ret_geometry,
                      tamis_plan *ret_plan) {
    tamis_need need = { .capacity = spec->capacity,
                        .fpr = spec->fpr,
                        .lifetime = spec->lifetime,
                        .overflow = spec->overflow,
                        .prefer = spec->prefer,
                        .values = spec->values,
                        .unknown = spec->unknown,
                        .timer_bits = spec->timer_bits };
    uint64_t   geometry[TAMIS_MAX_FIELDS] = { 0 };
    uint64_t   bytes;
    *ret_plan =
        (tamis_plan){ .kind = kind->name, .summary = kind->summary, .status = TAMIS_ERR_CANNOT };
    if (!tamis_fix_geometry(kind, spec->geometry, need.fixed)) {
        ret_plan->status = TAMIS_ERR_ARGUMENT;
        return;
    }
    if (kind->plan(&need, geometry) != TAMIS_OK) return;
    if (!kind->body_bytes(geometry, &bytes)) {
        ret_plan->status = TAMIS_ERR_LIMIT;
        return;
    }
    tamis_plan_describe(kind, geometry, spec->capacity, spec->lifetime, ret_plan);
    bool const is_wide = kind->states->holds_values(geometry, spec->values, spec->timer_bits);
    bool const is_exact = spec->fpr == 0 || ret_plan->fpr <= spec->fpr * (1 + 1e-9);
    bool const is_known = spec->unknown == 0 || ret_plan->unknown <= spec->unknown * (1 + 1e-9);
    bool const is_roomy = ret_plan->overflow <= spec->overflow;
    if (!is_wide || !is_exact || !is_known || !is_roomy) ret_plan->status = TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, geometry, sizeof geometry);
}

/* ------------------------------------------------------------------ all kinds */

/* Is it of the kind whose operations are the shortest? As with sets, that is taken to be fast. */
static bool is_of_default(const tamis_plan *plan) {
    const tamis_kind *kind;
    return tamis_kind_find(plan->kind, NULL, &kind) == TAMIS_OK && kind->is_default;
}

static bool is_better(const tamis_plan *plan, const tamis_plan *best, tamis_preference prefer) {
    double const lines = plan->lines_present + plan->lines_absent + plan->lines_add;
    double const best_lines = best->lines_present + best->lines_absent + best->lines_add;
    bool const   is_smaller = plan->body_bytes < best->body_bytes;
    if (prefer == TAMIS_PREFER_SMALL) return is_smaller;
    if (is_of_default(plan) || is_of_default(best)) return is_of_default(plan);
    return lines != best_lines ? lines < best_lines : is_smaller;
}

static tamis_status say_why_not(const tamis_states_spec *spec, const tamis_plan *plan,
                                tamis_problem *problem) {
    if (plan->status == TAMIS_ERR_ARGUMENT) {
        return tamis_problem_say(problem, plan->status,
                                 "the geometry '%s' does not fit kind %s: write field=number",
                                 spec->geometry, plan->kind);
    }
    if (plan->status == TAMIS_ERR_LIMIT) {
        return tamis_problem_say(problem, plan->status, "that %s is too large to address",
                                 plan->kind);
    }
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "kind %s cannot reach those rates with so many values%s", plan->kind,
                             spec->geometry != NULL
                                 ? " in that geometry: fix fewer fields, or ask for higher rates"
                                 : ": ask for higher rates or fewer values, or name no kind");
}

static tamis_status choose_best(const tamis_states_spec *spec, tamis_choice *ret_choice,
                                tamis_problem *problem) {
    tamis_plan        best = { .status = TAMIS_ERR_CANNOT };
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_states_kind_at(i)) != NULL; i++) {
        tamis_plan plan;
        uint64_t   geometry[TAMIS_MAX_FIELDS] = { 0 };
        plan_kind(kind, spec, geometry, &plan);
        if (plan.status != TAMIS_OK) continue;
        if (best.status == TAMIS_OK && !is_better(&plan, &best, spec->prefer)) continue;
        best = plan;
        ret_choice->kind = kind;
        memcpy(ret_choice->geometry, geometry, sizeof geometry);
    }
    if (best.status == TAMIS_OK)
        return tamis_kind_find(ret_choice->kind->name, spec->isa, &ret_choice->kind);
    return tamis_problem_say(problem, TAMIS_ERR_CANNOT,
                             "no kind can do all of that: ask for higher rates (fpr, unknown, "
                             "overflow) or fewer values; tamis_states_plan_kinds() compares them");
}

static tamis_status choose_named(const tamis_states_spec *spec, tamis_choice *ret_choice,
                                 tamis_problem *problem) {
    tamis_plan   plan;
    tamis_status status = tamis_kind_find(spec->kind, spec->isa, &ret_choice->kind);
    if (status == TAMIS_OK && ret_choice->kind->states == NULL) status = TAMIS_ERR_KIND;
    if (status == TAMIS_ERR_KIND) {
        return tamis_problem_say(problem, status, "there is no kind of states '%s'", spec->kind);
    }
    if (status != TAMIS_OK) return status;
    plan_kind(ret_choice->kind, spec, ret_choice->geometry, &plan);
    return plan.status == TAMIS_OK ? TAMIS_OK : say_why_not(spec, &plan, problem);
}

static tamis_status choose(const tamis_states_spec *spec, tamis_choice *ret_choice,
                           tamis_problem *problem) {
    *ret_choice = (tamis_choice){ .capacity = spec->capacity,
                                  .lifetime = spec->lifetime,
                                  .values = spec->values,
                                  .sweep = spec_sweep(spec) };
    return spec->kind != NULL ? choose_named(spec, ret_choice, problem)
                              : choose_best(spec, ret_choice, problem);
}

/* ------------------------------------------------------------------ the doors */

/* What to make, and how its keys are hashed. */
static tamis_status prepare(const tamis_states_spec *spec, tamis_choice *ret_choice,
                            keyhash *ret_hasher, tamis_problem *problem) {
    if (spec->like != NULL) {
        *ret_choice = tamis_choice_like(&spec->like->set);
        *ret_hasher = spec->like->set.hasher;
        return tamis_kind_find(ret_choice->kind->name, spec->isa, &ret_choice->kind);
    }
    tamis_seed   seed;
    tamis_status status = choose(spec, ret_choice, problem);
    if (status == TAMIS_OK) status = tamis_seed_get(spec->seed, &seed, problem);
    if (status == TAMIS_OK) *ret_hasher = keyhash_make(spec->hash, seed);
    return status;
}

tamis_status tamis_states_create(const tamis_states_spec *spec, tamis_states **ret_states,
                                 tamis_problem *reterr_problem) {
    tamis_states_spec checked;
    tamis_choice      choice;
    keyhash           hasher;
    tamis_set        *set = NULL;
    tamis_status      status = spec_check(spec, &checked, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_states == NULL)
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "no ret_states");
    status = prepare(&checked, &choice, &hasher, reterr_problem);
    if (status == TAMIS_ERR_NOT_BUILT)
        return tamis_problem_say(reterr_problem, status, "no instruction set '%s' here",
                                 checked.isa);
    if (status != TAMIS_OK) return status;
    status = tamis_make(&choice, &hasher, &checked.allocator, &set);
    if (status == TAMIS_OK) {
        *ret_states = (tamis_states *)(void *)set;
        return status;
    }
    return tamis_problem_say(
        reterr_problem, status, "%s: a %s of %llu keys needs more than there is",
        tamis_status_text(status), choice.kind->name, (unsigned long long)choice.capacity);
}

/* A row for each kind, or for the one that is named. */
static size_t plan_rows(const tamis_states_spec *spec, tamis_plan *ret_rows, size_t max_rows) {
    size_t            n = 0, best = SIZE_MAX;
    const tamis_kind *kind;
    for (size_t i = 0; (kind = tamis_states_kind_at(i)) != NULL; i++) {
        if (spec->kind != NULL && strcmp(spec->kind, kind->name) != 0) continue;
        if (n < max_rows) {
            uint64_t geometry[TAMIS_MAX_FIELDS];
            plan_kind(kind, spec, geometry, &ret_rows[n]);
            bool const is_possible = ret_rows[n].status == TAMIS_OK;
            if (is_possible &&
                (best == SIZE_MAX || is_better(&ret_rows[n], &ret_rows[best], spec->prefer)))
                best = n;
        }
        n++;
    }
    if (best != SIZE_MAX) ret_rows[best].chosen = true;
    return n;
}

tamis_status tamis_states_plan_kinds(const tamis_states_spec *spec, tamis_plan *ret_rows,
                                     size_t max_rows, size_t *ret_n_rows,
                                     tamis_problem *reterr_problem) {
    tamis_states_spec  checked;
    tamis_status const status = spec_check(spec, &checked, reterr_problem);
    if (status != TAMIS_OK) return status;
    if (ret_n_rows == NULL || (ret_rows == NULL && max_rows != 0)) {
        return tamis_problem_say(reterr_problem, TAMIS_ERR_ARGUMENT, "no room for the rows");
    }
    if (checked.like != NULL) {
        const tamis_set *const like = &checked.like->set;
        *ret_n_rows = 1;
        if (max_rows == 0) return TAMIS_OK;
        tamis_plan_describe(like->kind, like->table.geometry, like->capacity, like->lifetime,
                            ret_rows);
        ret_rows->chosen = true;
        return TAMIS_OK;
    }
    *ret_n_rows = plan_rows(&checked, ret_rows, max_rows);
    if (*ret_n_rows != 0) return TAMIS_OK;
    return tamis_problem_say(reterr_problem, TAMIS_ERR_KIND, "there is no kind of states '%s'",
                             checked.kind);
}
