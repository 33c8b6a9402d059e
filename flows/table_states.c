/* table_states.c - a tamis_states table behind the interface of table.h.
 *
 * The size is fixed when the table is made: by the number of flows, or by a limit of memory, and
 * then the library's planner finds how many flows fit. The plan also tells how often the table is
 * wrong and how often it does not know.
 *
 * The sweep that removes silent flows goes round the table. A part of the table that it has just
 * passed is emptier than the mean, and one that it will reach next is fuller: by the longest time
 * that a silent flow may stay, over the mean time. For a timeout of one pass that is 2 / 1.5. So
 * that the fullest part has room, the table is planned for more flows than it may hold: by a third
 * for TCP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define MIN_TIMER_BITS 2
#define MAX_TIMER_BITS 5

typedef struct table_states {
    table         base;
    tamis_states *states;
    unsigned      n_values;
    uint64_t      longest; /* of all timeouts */
    uint64_t      timeouts[TABLE_VALUES], gone[TABLE_VALUES];
    uint64_t      backlog;
    uint64_t      capacity; /* flows that it may hold; it is planned for more */
} table_states;

/* ------------------------------------------------------------------ timers */

/* What the library makes of the timeout of a value; 0: there is no such table. */
static uint64_t get_timeout(const tamis_states_spec *spec, unsigned value) {
    uint64_t timeout = 0;
    return tamis_states_timeout(spec, value, &timeout, NULL, NULL) == TAMIS_OK ? timeout : 0;
}

/* The fewest bits that keep every timeout within a quarter of the requested one, or else the most
 * bits that there are. */
static unsigned choose_timer_bits(tamis_states_spec spec, const uint64_t *requested) {
    for (spec.timer_bits = MIN_TIMER_BITS; spec.timer_bits < MAX_TIMER_BITS; spec.timer_bits++) {
        bool is_close = true;
        for (unsigned i = 0; i < spec.values; i++)
            is_close &= get_timeout(&spec, i) <= requested[i] + requested[i] / 4;
        if (is_close) break;
    }
    return spec.timer_bits;
}

/* How much fuller the fullest part of the table may be than the mean, because silent flows of a
 * value stay for a least time, or up to a most one. */
static double get_unevenness(const tamis_states_spec *spec) {
    double worst = 1;
    for (unsigned i = 0; i < spec->values; i++) {
        uint64_t least, most;
        if (tamis_states_timeout(spec, i, &least, &most, NULL) != TAMIS_OK) continue;
        double const ratio = 2 * (double)most / ((double)least + (double)most);
        if (ratio > worst) worst = ratio;
    }
    return worst;
}

/* ------------------------------------------------------------------ making a table */

static tamis_states_spec make_states_spec(const table_spec *spec) {
    tamis_states_spec made = TAMIS_STATES_SPEC_INIT;
    bool              is_equal = true;
    for (unsigned i = 0; i < spec->n_values; i++) {
        if (spec->timeouts[i] > made.timeout) made.timeout = spec->timeouts[i];
        is_equal &= spec->timeouts[i] == spec->timeouts[0];
    }
    made.capacity = spec->capacity;
    made.memory = spec->memory;
    made.values = spec->n_values;
    made.fpr = spec->fpr;
    made.prefer = TAMIS_PREFER_FAST;
    made.kind = spec->kind;
    made.seed = &spec->seed;
    made.timeouts = is_equal ? NULL : spec->timeouts;
    made.timer_bits = choose_timer_bits(made, spec->timeouts);
    made.capacity = (uint64_t)ceil((double)spec->capacity * get_unevenness(&made));
    return made;
}

/* With little memory only kinds of shared cells fit, or none at all. Kinds of shared cells cannot
 * tell how many flows are in each state, which the report needs. */
static void explain_failure(const table_spec *spec, bool was_made, tamis_problem *problem) {
    if (!was_made && problem->status != TAMIS_ERR_CANNOT) return; /* the library has said why */
    if (spec->memory != 0 && spec->kind == NULL) {
        problem->status = TAMIS_ERR_CANNOT;
        (void)snprintf(problem->text, sizeof problem->text,
                       "--memory: no table of flows fits into %llu B; write 16M, for example",
                       (unsigned long long)spec->memory);
    } else if (was_made) {
        problem->status = TAMIS_ERR_CANNOT;
        (void)snprintf(problem->text, sizeof problem->text,
                       "this kind cannot count the flows in each state; use line, rank or "
                       "state_print");
    }
}

/* How many flows a table that was planned by its memory may hold. */
static uint64_t count_flows(const tamis_states *states, const tamis_states_spec *spec) {
    tamis_states_facts facts;
    if (tamis_states_get_facts(states, &facts) != TAMIS_OK) return 0;
    return (uint64_t)((double)facts.capacity / get_unevenness(spec));
}

static bool table_states_make(table_states *t, const table_spec *spec,
                              tamis_problem *reterr_problem) {
    tamis_states_spec const states_spec = make_states_spec(spec);
    uint64_t                counts[TABLE_VALUES];
    bool const was_made = tamis_states_create(&states_spec, &t->states, reterr_problem) == TAMIS_OK;
    if (!was_made || tamis_states_tally(t->states, counts) != TAMIS_OK) {
        if (was_made) tamis_states_free(t->states);
        explain_failure(spec, was_made, reterr_problem);
        return false;
    }
    t->longest = states_spec.timeout;
    t->capacity = spec->capacity != 0 ? spec->capacity : count_flows(t->states, &states_spec);
    for (unsigned i = 0; i < spec->n_values; i++) {
        t->timeouts[i] = get_timeout(&states_spec, i);
        if (tamis_states_timeout(&states_spec, i, NULL, &t->gone[i], NULL) != TAMIS_OK)
            t->gone[i] = 2 * t->timeouts[i];
    }
    return true;
}

/* ------------------------------------------------------------------ a table from a file */

/* Do both tables apply the same timeout to each value? */
static bool has_same_timeouts(const tamis_states *made, const tamis_states *read, uint64_t values) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    for (uint64_t value = 0; value < values; value++) {
        uint64_t least[2], most[2];
        for (unsigned i = 0; i < 2; i++) {
            spec.like = i == 0 ? made : read;
            if (tamis_states_timeout(&spec, value, &least[i], &most[i], NULL) != TAMIS_OK)
                return false;
        }
        if (least[0] != least[1] || most[0] != most[1]) return false;
    }
    return true;
}

/* Is the table of a file one that this run could have made? A valid table may have any number of
 * values, and each of them is an index into arrays of TABLE_VALUES counters. */
static bool is_alike(const tamis_states *made, const tamis_states *read) {
    tamis_states_facts own, other;
    if (tamis_states_get_facts(made, &own) != TAMIS_OK ||
        tamis_states_get_facts(read, &other) != TAMIS_OK)
        return false;
    return strcmp(own.kind, other.kind) == 0 && own.hash == other.hash &&
           own.values == other.values && own.timeout == other.timeout &&
           own.timer_bits == other.timer_bits && own.capacity == other.capacity &&
           own.lifetime == other.lifetime && own.grow_to == other.grow_to &&
           own.stages == other.stages && own.body_bytes == other.body_bytes &&
           has_same_timeouts(made, read, own.values);
}

bool table_states_restore(table *base, const void *bytes, size_t n, tamis_seed *ret_seed,
                          tamis_problem *reterr_problem) {
    table_states *const t = (table_states *)base;
    tamis_states       *read;
    tamis_states_facts  facts;
    if (tamis_states_read(bytes, n, NULL, &read, reterr_problem) != TAMIS_OK) return false;
    if (!is_alike(t->states, read) || tamis_states_get_facts(read, &facts) != TAMIS_OK) {
        tamis_states_free(read);
        *reterr_problem = (tamis_problem){ .status = TAMIS_ERR_MISMATCH,
                                           .text = "its table differs from the one that this run "
                                                   "would make" };
        return false;
    }
    tamis_states_free(t->states);
    t->states = read;
    t->backlog = facts.backlog;
    *ret_seed = facts.seed;
    return true;
}

/* ------------------------------------------------------------------ operations */

static tamis_states *get_states(const table *base) {
    return ((const table_states *)base)->states;
}

static void table_states_step(table *base, const uint64_t *ids, size_t n, tamis_stepper *step,
                              void *context, tamis_status *ret_statuses) {
    tamis_states_batch const batch = { .ids = ids, .n = n, .ret_statuses = ret_statuses };
    tamis_status const       status =
        tamis_states_step_batch(get_states(base), &batch, step, context, NULL);
    (void)status; /* an error would be about the arguments, which are valid */
}

/* All flows have been silent for longer than any timeout: remove them at once. */
static void table_states_age_all(table_states *t, uint64_t *aged) {
    uint64_t           counts[TABLE_VALUES] = { 0 };
    tamis_status const tallied = tamis_states_tally(t->states, counts);
    for (unsigned i = 0; tallied == TAMIS_OK && i < t->n_values; i++) aged[i] += counts[i];
    tamis_status const cleared = tamis_states_clear(t->states);
    (void)cleared; /* neither call can fail: the table can tally, and is not mapped from a file */
    t->backlog = 0;
}

/* After a single tick, ageing that is left over is done with the next packets. After a gap all of
 * it is done at once: the first packet after the gap must not find a flow that has timed out. */
static void table_states_tick(table *base, uint64_t ticks, uint64_t *aged) {
    table_states *const t = (table_states *)base;
    if (ticks > t->longest) {
        table_states_age_all(t, aged);
        return;
    }
    tamis_status status = tamis_states_tick(t->states, ticks, aged, &t->backlog);
    while (ticks > 1 && t->backlog != 0 && status == TAMIS_OK)
        status = tamis_states_tick(t->states, 0, aged, &t->backlog);
}

static bool table_states_is_behind(const table *base) {
    return ((const table_states *)base)->backlog != 0;
}

static uint64_t table_states_timeout(const table *base, uint32_t value) {
    return ((const table_states *)base)->timeouts[value];
}

static uint64_t table_states_gone(const table *base, uint32_t value) {
    return ((const table_states *)base)->gone[value];
}

static void table_states_inspect(const table *base, table_info *ret_info) {
    tamis_states_info         info;
    const table_states *const t = (const table_states *)base;
    *ret_info = (table_info){ .kind = "" };
    if (tamis_states_inspect(get_states(base), &info) != TAMIS_OK) return;
    *ret_info = (table_info){ .kind = info.plan.kind,
                              .capacity = t->capacity,
                              .has_limit = true,
                              .body_bytes = info.plan.body_bytes,
                              .file_bytes = info.plan.file_bytes,
                              .memory_bytes = info.memory_bytes,
                              .flows = info.keys,
                              .fpr = info.plan.fpr,
                              .unknown = info.plan.unknown };
}

static bool table_states_tally(const table *base, uint64_t *ret_counts) {
    return tamis_states_tally(get_states(base), ret_counts) == TAMIS_OK;
}

static void table_states_free(table *base) {
    tamis_states_free(get_states(base));
    free(base);
}

static bool table_states_save(const table *base, tamis_writer *writer, void *context) {
    return tamis_states_write(get_states(base), writer, context) == TAMIS_OK;
}

table *table_states_new(const table_spec *spec, tamis_problem *reterr_problem) {
    static const table_ops ops = { .free = table_states_free,
                                   .step = table_states_step,
                                   .tick = table_states_tick,
                                   .is_behind = table_states_is_behind,
                                   .timeout = table_states_timeout,
                                   .gone = table_states_gone,
                                   .inspect = table_states_inspect,
                                   .tally = table_states_tally,
                                   .save = table_states_save };
    table_states *const    t = calloc(1, sizeof *t);
    if (t == NULL) {
        *reterr_problem = (tamis_problem){ .status = TAMIS_ERR_MEMORY, .text = "out of memory" };
        return NULL;
    }
    t->base.ops = &ops;
    t->n_values = spec->n_values;
    if (table_states_make(t, spec, reterr_problem)) return &t->base;
    free(t);
    return NULL;
}
