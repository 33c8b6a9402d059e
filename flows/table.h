/* table.h - where the states of flows are kept: a table of tamis, or an exact one.
 *
 * Flows are 64-bit ids. For each the machine is asked what to do, with the state that the flow has
 * at its turn, and that is done (tamis_stepper of <tamis/tamis.h>).
 *
 *     table_states.c   tamis_states: a few bits per flow, a fixed size, "don't know", rare mistakes
 *     table_exact.c    ids, values and times as they are; grows without limit
 */
#ifndef FLOWS_TABLE_H
#define FLOWS_TABLE_H

#include <tamis/tamis.h>

#include "machine.h"

#define TABLE_VALUES (2 * MACHINE_STATES)

typedef struct table table;

typedef struct table_spec {
    uint64_t    capacity; /* flows at one time */
    uint64_t    memory;   /* or 0, and then as many flows as fit into so many bytes */
    double      fpr;
    const char *kind; /* NULL: choose for me */
    tamis_seed  seed;
    unsigned    n_values;
    uint64_t    timeouts[TABLE_VALUES]; /* of each value, in ticks */
} table_spec;

typedef struct table_info {
    const char *kind;
    uint64_t    capacity;
    uint64_t    body_bytes; /* of the table itself */
    uint64_t    memory_bytes;
    uint64_t    flows;        /* now */
    double      fpr, unknown; /* predicted */
} table_info;

typedef struct table_ops {
    void (*free)(table *t);
    void (*step)(table *t, const uint64_t *ids, size_t n, tamis_stepper *step, void *context,
                 tamis_status *ret_statuses);
    void (*tick)(table *t, uint64_t ticks, uint64_t *aged);
    bool (*is_behind)(const table *t);
    uint64_t (*timeout)(const table *t, uint32_t value);
    void (*inspect)(const table *t, table_info *ret_info);
    bool (*tally)(const table *t, uint64_t *ret_counts);
} table_ops;

struct table {
    const table_ops *ops;
};

/* NULL: *reterr_problem says why. */
table *table_states_new(const table_spec *spec, tamis_problem *reterr_problem);
table *table_exact_new(const table_spec *spec, tamis_problem *reterr_problem);

static inline void table_free(table *t) {
    if (t != NULL) t->ops->free(t);
}

/* Take each id through one step. ret_statuses tell how what was decided went. */
static inline void table_step(table *t, const uint64_t *ids, size_t n, tamis_stepper *step,
                              void *context, tamis_status *ret_statuses) {
    t->ops->step(t, ids, n, step, context, ret_statuses);
}

/* Let time pass. Those that go are added to `aged`, by value. */
static inline void table_tick(table *t, uint64_t ticks, uint64_t *aged) {
    t->ops->tick(t, ticks, aged);
}

/* True as long as there is more to do: table_tick() with 0 ticks does it. */
static inline bool table_is_behind(const table *t) {
    return t->ops->is_behind(t);
}

/* A timeout as the table keeps it: it may be longer than what was asked for. */
static inline uint64_t table_timeout(const table *t, uint32_t value) {
    return t->ops->timeout(t, value);
}

static inline void table_inspect(const table *t, table_info *ret_info) {
    t->ops->inspect(t, ret_info);
}

/* How many flows have each value; false: this kind does not know. */
static inline bool table_tally(const table *t, uint64_t *ret_counts) {
    return t->ops->tally(t, ret_counts);
}

#endif
