/* table_exact.c - the exact table as a table.h: for --exact, and to hold the other one against. */
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "table.h"

typedef struct table_exact {
    table    base;
    exact    flows;
    unsigned n_values;
    uint64_t timeouts[TABLE_VALUES];
    uint64_t shortest;
    uint32_t now;
    uint64_t swept;              /* the slot that the sweep comes to next */
    uint64_t aged[TABLE_VALUES]; /* found on the way, not told yet */
} table_exact;

static table_exact *exact_of(table *t) {
    return (table_exact *)t;
}

static const table_exact *exact_of_const(const table *t) {
    return (const table_exact *)t;
}

static bool is_over(const table_exact *t, const exact_slot *slot) {
    return (uint32_t)(t->now - slot->tick) > t->timeouts[slot->value];
}

/* The flow, if it is there and has not been silent for too long. */
static exact_slot *find_alive(table_exact *t, uint64_t id) {
    exact_slot *const slot = exact_find(&t->flows, id);
    if (slot == NULL || !is_over(t, slot)) return slot;
    t->aged[slot->value]++;
    exact_remove(&t->flows, slot);
    return NULL;
}

static tamis_status set_value(table_exact *t, uint64_t id, exact_slot *slot, uint32_t value) {
    if (slot == NULL) slot = exact_add(&t->flows, id);
    if (slot == NULL) return TAMIS_ERR_FULL;
    slot->value = value;
    slot->tick = t->now;
    return TAMIS_OK;
}

static tamis_status step_one(table_exact *t, uint64_t id, size_t i, tamis_stepper *step,
                             void *context) {
    exact_slot *const  slot = find_alive(t, id);
    tamis_status const status = slot != NULL ? TAMIS_OK : TAMIS_ERR_ABSENT;
    uint32_t           to = 0;
    switch (step(context, i, status, slot != NULL ? slot->value : 0, &to)) {
    case TAMIS_STEP_SET: return set_value(t, id, slot, to);
    case TAMIS_STEP_TOUCH:
        if (slot != NULL) slot->tick = t->now;
        return status;
    case TAMIS_STEP_DROP:
        if (slot != NULL) exact_remove(&t->flows, slot);
        return status;
    default: return status;
    }
}

static void exact_step(table *base, const uint64_t *ids, size_t n, tamis_stepper *step,
                       void *context, tamis_status *ret_statuses) {
    for (size_t i = 0; i < n; i++)
        ret_statuses[i] = step_one(exact_of(base), ids[i], i, step, context);
}

/* Once around in the shortest timeout. */
static void sweep(table_exact *t, uint64_t ticks) {
    uint64_t const share = t->flows.n_slots / t->shortest + 1;
    uint64_t       left = ticks < t->shortest ? share * ticks : t->flows.n_slots;
    while (left-- != 0) {
        if (t->swept >= t->flows.n_slots) t->swept = 0;
        exact_slot *const slot = &t->flows.slots[t->swept];
        bool const        is_gone = slot->value != EXACT_FREE && is_over(t, slot);
        if (is_gone) t->aged[slot->value]++;
        if (is_gone) exact_remove(&t->flows, slot);
        t->swept += !is_gone; /* another may have moved up */
    }
}

static void exact_tick(table *base, uint64_t ticks, uint64_t *aged) {
    table_exact *const t = exact_of(base);
    t->now += (uint32_t)ticks;
    sweep(t, ticks);
    for (unsigned i = 0; i < t->n_values; i++) aged[i] += t->aged[i];
    memset(t->aged, 0, sizeof t->aged);
}

static bool exact_is_behind(const table *base) {
    (void)base;
    return false;
}

static uint64_t exact_timeout(const table *base, uint32_t value) {
    return exact_of_const(base)->timeouts[value];
}

static void exact_inspect(const table *base, table_info *ret_info) {
    const exact *const flows = &exact_of_const(base)->flows;
    *ret_info = (table_info){ .kind = "exact",
                              .capacity = flows->peak_used,
                              .body_bytes = exact_bytes(flows),
                              .memory_bytes = exact_bytes(flows) + sizeof(table_exact),
                              .flows = flows->n_used };
}

static bool exact_tally(const table *base, uint64_t *ret_counts) {
    const table_exact *const t = exact_of_const(base);
    memset(ret_counts, 0, t->n_values * sizeof *ret_counts);
    for (uint64_t i = 0; i < t->flows.n_slots; i++) {
        if (t->flows.slots[i].value != EXACT_FREE) ret_counts[t->flows.slots[i].value]++;
    }
    return true;
}

static void exact_free(table *base) {
    exact_fini(&exact_of(base)->flows);
    free(base);
}

table *table_exact_new(const table_spec *spec, tamis_problem *reterr_problem) {
    static const table_ops ops = { exact_free,    exact_step,    exact_tick, exact_is_behind,
                                   exact_timeout, exact_inspect, exact_tally };
    table_exact *const     t = calloc(1, sizeof *t);
    if (t == NULL || !exact_init(&t->flows)) {
        free(t);
        *reterr_problem = (tamis_problem){ .status = TAMIS_ERR_MEMORY, .text = "out of memory" };
        return NULL;
    }
    t->base.ops = &ops;
    t->n_values = spec->n_values;
    t->shortest = UINT64_MAX;
    for (unsigned i = 0; i < spec->n_values; i++) {
        t->timeouts[i] = spec->timeouts[i];
        if (t->timeouts[i] < t->shortest) t->shortest = t->timeouts[i];
    }
    return &t->base;
}
