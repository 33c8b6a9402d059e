/* table_states.c - tamis_states as a table.h.
 *
 * The size is fixed: by the number of flows, or by the memory, of which as many flows are made as
 * the planner says fit. How often it is wrong, or does not know, follows from the spec.
 */
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define MAX_KINDS 32
#define MAX_CAPACITY (UINT64_C(1) << 36)
#define MIN_TIMER_BITS 2
#define MAX_TIMER_BITS 5

typedef struct table_states {
    table         base;
    tamis_states *states;
    unsigned      n_values;
    uint64_t      longest; /* timeout */
    uint64_t      timeouts[TABLE_VALUES];
    uint64_t      backlog;
} table_states;

/* ------------------------------------------------------------------ timers */

/* A timer of so many bits counts up to this: timeouts are multiples of the longest over it. */
static uint64_t timer_steps(unsigned timer_bits) {
    return (UINT64_C(1) << (timer_bits - 1)) - 1;
}

static uint64_t rounded(uint64_t timeout, uint64_t longest, unsigned timer_bits) {
    uint64_t const step = (longest + timer_steps(timer_bits) - 1) / timer_steps(timer_bits);
    uint64_t const multiple = (timeout + step - 1) / step * step;
    return multiple < longest ? multiple : longest;
}

/* As few bits as keep every timeout within a quarter of what was asked for, if any do. */
static unsigned choose_timer_bits(const table_spec *spec, uint64_t longest) {
    for (unsigned bits = MIN_TIMER_BITS; bits < MAX_TIMER_BITS; bits++) {
        bool is_close = true;
        for (unsigned i = 0; i < spec->n_values; i++) {
            uint64_t const asked = spec->timeouts[i];
            is_close &= rounded(asked, longest, bits) <= asked + asked / 4;
        }
        if (is_close) return bits;
    }
    return MAX_TIMER_BITS;
}

static bool are_equal(const table_spec *spec) {
    for (unsigned i = 1; i < spec->n_values; i++) {
        if (spec->timeouts[i] != spec->timeouts[0]) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ making one */

static tamis_states_spec spec_of(const table_spec *from) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    for (unsigned i = 0; i < from->n_values; i++) {
        if (from->timeouts[i] > spec.timeout) spec.timeout = from->timeouts[i];
    }
    spec.capacity = from->capacity;
    spec.values = from->n_values;
    spec.fpr = from->fpr;
    spec.prefer = TAMIS_PREFER_FAST;
    spec.kind = from->kind;
    spec.seed = &from->seed;
    spec.timeouts = are_equal(from) ? NULL : from->timeouts;
    spec.timer_bits = choose_timer_bits(from, spec.timeout);
    return spec;
}

/* The plan of what would be made; false: nothing can be. */
static bool find_plan(const tamis_states_spec *spec, tamis_plan *ret_plan) {
    tamis_plan rows[MAX_KINDS];
    size_t     n;
    if (tamis_states_plan_kinds(spec, rows, MAX_KINDS, &n, NULL) != TAMIS_OK) return false;
    for (size_t i = 0; i < n && i < MAX_KINDS; i++) {
        if (!rows[i].chosen || rows[i].status != TAMIS_OK) continue;
        *ret_plan = rows[i];
        return true;
    }
    return false;
}

static bool fits(tamis_states_spec *spec, uint64_t capacity, uint64_t memory) {
    tamis_plan plan;
    spec->capacity = capacity;
    return find_plan(spec, &plan) && plan.body_bytes <= memory;
}

/* As many flows as fit; 0: not even one. Double until they do not, then halve the gap: to within a
 * thousandth, which is finer than sizes are. */
static uint64_t capacity_for(tamis_states_spec *spec, uint64_t memory) {
    uint64_t low = 0, high = 1;
    while (high < MAX_CAPACITY && fits(spec, high, memory)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1 + low / 1000) {
        uint64_t const middle = low + (high - low) / 2;
        if (fits(spec, middle, memory))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool states_make(table_states *t, const table_spec *from, tamis_problem *reterr_problem) {
    tamis_states_spec spec = spec_of(from);
    if (from->memory != 0) spec.capacity = 1;
    if (from->memory != 0) {
        spec.capacity = capacity_for(&spec, from->memory);
        if (spec.capacity == 0) {
            *reterr_problem = (tamis_problem){ .status = TAMIS_ERR_LIMIT,
                                               .text = "--memory: too little for a single flow" };
            return false;
        }
    }
    if (tamis_states_create(&spec, &t->states, reterr_problem) != TAMIS_OK) return false;
    uint64_t counts[TABLE_VALUES];
    if (tamis_states_tally(t->states, counts) != TAMIS_OK) {
        tamis_states_free(t->states);
        *reterr_problem = (tamis_problem){
            .status = TAMIS_ERR_CANNOT,
            .text = "this kind does not know which flows are there; take line, rank or state_print"
        };
        return false;
    }
    t->longest = spec.timeout;
    for (unsigned i = 0; i < from->n_values; i++) {
        t->timeouts[i] = rounded(from->timeouts[i], spec.timeout, spec.timer_bits);
    }
    return true;
}

/* ------------------------------------------------------------------ at work */

static table_states *states_of(table *t) {
    return (table_states *)t;
}

static const table_states *states_of_const(const table *t) {
    return (const table_states *)t;
}

static void states_step(table *base, const uint64_t *ids, size_t n, tamis_stepper *step,
                        void *context, tamis_status *ret_statuses) {
    tamis_states_batch const batch = { .ids = ids, .n = n, .ret_statuses = ret_statuses };
    tamis_status const       status =
        tamis_states_step_batch(states_of(base)->states, &batch, step, context, NULL);
    (void)status; /* only of arguments, which are fine */
}

/* All flows have been silent for too long. */
static void age_all(table_states *t, uint64_t *aged) {
    uint64_t           counts[TABLE_VALUES] = { 0 };
    tamis_status const told = tamis_states_tally(t->states, counts);
    for (unsigned i = 0; told == TAMIS_OK && i < t->n_values; i++) aged[i] += counts[i];
    tamis_status const cleared = tamis_states_clear(t->states);
    (void)cleared; /* neither can fail: states_make() has tried */
    t->backlog = 0;
}

/* One tick may leave a rest, which goes with the next packets. But after a gap all that is due is
 * done at once: the first packet behind it must not meet a flow that is over. */
static void states_tick(table *base, uint64_t ticks, uint64_t *aged) {
    table_states *const t = states_of(base);
    if (ticks > t->longest) {
        age_all(t, aged);
        return;
    }
    tamis_status status = tamis_states_tick(t->states, ticks, aged, &t->backlog);
    while (ticks > 1 && t->backlog != 0 && status == TAMIS_OK)
        status = tamis_states_tick(t->states, 0, aged, &t->backlog);
}

static bool states_is_behind(const table *base) {
    return states_of_const(base)->backlog != 0;
}

static uint64_t states_timeout(const table *base, uint32_t value) {
    return states_of_const(base)->timeouts[value];
}

static void states_inspect(const table *base, table_info *ret_info) {
    tamis_states_info info;
    *ret_info = (table_info){ .kind = "" };
    if (tamis_states_inspect(states_of_const(base)->states, &info) != TAMIS_OK) return;
    *ret_info = (table_info){ .kind = info.plan.kind,
                              .capacity = info.plan.capacity,
                              .body_bytes = info.plan.body_bytes,
                              .memory_bytes = info.memory_bytes,
                              .flows = info.keys,
                              .fpr = info.plan.fpr,
                              .unknown = info.plan.unknown };
}

static bool states_tally(const table *base, uint64_t *ret_counts) {
    return tamis_states_tally(states_of_const(base)->states, ret_counts) == TAMIS_OK;
}

static void states_free(table *base) {
    tamis_states_free(states_of(base)->states);
    free(base);
}

table *table_states_new(const table_spec *spec, tamis_problem *reterr_problem) {
    static const table_ops ops = { states_free,    states_step,    states_tick, states_is_behind,
                                   states_timeout, states_inspect, states_tally };
    table_states *const    t = calloc(1, sizeof *t);
    if (t == NULL) {
        *reterr_problem = (tamis_problem){ .status = TAMIS_ERR_MEMORY, .text = "out of memory" };
        return NULL;
    }
    t->base.ops = &ops;
    t->n_values = spec->n_values;
    if (states_make(t, spec, reterr_problem)) return &t->base;
    free(t);
    return NULL;
}
