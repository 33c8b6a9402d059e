/* table_exact.c - an exact table behind the interface of table.h, for --exact. */
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
    uint64_t swept;              /* the slot that the sweep looks at next */
    uint64_t aged[TABLE_VALUES]; /* found since the last tick, not reported yet */
} table_exact;

static bool has_timed_out(const table_exact *t, const exact_slot *slot) {
    return (uint32_t)(t->now - slot->tick) > t->timeouts[slot->value];
}

/* Find a flow that has not timed out. One that has is removed. */
static exact_slot *find_alive(table_exact *t, uint64_t id) {
    exact_slot *const slot = exact_find(&t->flows, id);
    if (slot == NULL || !has_timed_out(t, slot)) return slot;
    t->aged[slot->value]++;
    exact_remove(&t->flows, slot);
    return NULL;
}

static tamis_status set_exact_value(table_exact *t, uint64_t id, exact_slot *slot, uint32_t value) {
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
    case TAMIS_STEP_SET: return set_exact_value(t, id, slot, to);
    case TAMIS_STEP_TOUCH:
        if (slot != NULL) slot->tick = t->now;
        return status;
    case TAMIS_STEP_DROP:
        if (slot != NULL) exact_remove(&t->flows, slot);
        return status;
    default: return status;
    }
}

static void table_exact_step(table *base, const uint64_t *ids, size_t n, tamis_stepper *step,
                             void *context, tamis_status *ret_statuses) {
    table_exact *const t = (table_exact *)base;
    for (size_t i = 0; i < n; i++) ret_statuses[i] = step_one(t, ids[i], i, step, context);
}

/* Remove flows that have timed out. The sweep passes all slots once per shortest timeout. */
static void sweep_slots(table_exact *t, uint64_t ticks) {
    uint64_t const share = t->flows.n_slots / t->shortest + 1;
    uint64_t       left = ticks < t->shortest ? share * ticks : t->flows.n_slots;
    while (left-- != 0) {
        if (t->swept >= t->flows.n_slots) t->swept = 0;
        exact_slot *const slot = &t->flows.slots[t->swept];
        bool const        is_gone = slot->value != EXACT_FREE && has_timed_out(t, slot);
        if (is_gone) t->aged[slot->value]++;
        if (is_gone) exact_remove(&t->flows, slot);
        t->swept += !is_gone; /* another flow may have moved into this slot */
    }
}

static void table_exact_tick(table *base, uint64_t ticks, uint64_t *aged) {
    table_exact *const t = (table_exact *)base;
    t->now += (uint32_t)ticks;
    sweep_slots(t, ticks);
    for (unsigned i = 0; i < t->n_values; i++) aged[i] += t->aged[i];
    memset(t->aged, 0, sizeof t->aged);
}

static bool table_exact_is_behind(const table *base) {
    (void)base;
    return false;
}

static uint64_t table_exact_timeout(const table *base, uint32_t value) {
    return ((const table_exact *)base)->timeouts[value];
}

static void table_exact_inspect(const table *base, table_info *ret_info) {
    const exact *const flows = &((const table_exact *)base)->flows;
    *ret_info = (table_info){ .kind = "exact",
                              .capacity = flows->peak_used,
                              .body_bytes = exact_bytes(flows),
                              .memory_bytes = exact_bytes(flows) + sizeof(table_exact),
                              .flows = flows->n_used };
}

static bool table_exact_tally(const table *base, uint64_t *ret_counts) {
    const table_exact *const t = (const table_exact *)base;
    memset(ret_counts, 0, t->n_values * sizeof *ret_counts);
    for (uint64_t i = 0; i < t->flows.n_slots; i++) {
        if (t->flows.slots[i].value != EXACT_FREE) ret_counts[t->flows.slots[i].value]++;
    }
    return true;
}

static void table_exact_free(table *base) {
    exact_fini(&((table_exact *)base)->flows);
    free(base);
}

table *table_exact_new(const table_spec *spec, tamis_problem *reterr_problem) {
    static const table_ops ops = { .free = table_exact_free,
                                   .step = table_exact_step,
                                   .tick = table_exact_tick,
                                   .is_behind = table_exact_is_behind,
                                   .timeout = table_exact_timeout,
                                   .gone = table_exact_timeout,
                                   .inspect = table_exact_inspect,
                                   .tally = table_exact_tally };
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
