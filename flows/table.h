/* table.h - where the states of flows are kept: in a tamis table or in an exact one.
 *
 * A flow is a 64-bit id. For each packet the table looks up its flow, asks the machine what to do
 * in that state, and does it (see tamis_stepper in <tamis/states.h>).
 *
 *     table_states.c   tamis_states: a few bits per flow, fixed size, "don't know", rare mistakes
 *     table_exact.c    stores ids, values and times; grows without limit
 */
#ifndef FLOWS_TABLE_H
#define FLOWS_TABLE_H

#include <tamis/tamis.h>

#include "machine.h"

#define TABLE_VALUES (2 * MACHINE_STATES)

typedef struct table table;

typedef struct table_spec {
    uint64_t    capacity; /* flows at one time; 0: as many as fit into `memory` */
    uint64_t    memory;   /* bytes; 0: no limit */
    double      fpr;
    const char *kind; /* NULL: the library chooses */
    tamis_seed  seed;
    unsigned    n_values;
    uint64_t    timeouts[TABLE_VALUES]; /* of each value, in ticks */
} table_spec;

typedef struct table_info {
    const char *kind;
    uint64_t    capacity;
    bool        has_limit;  /* the table does not grow beyond its capacity */
    uint64_t    body_bytes; /* the table alone */
    uint64_t    file_bytes; /* what table_save() writes; 0: it cannot */
    uint64_t    memory_bytes;
    uint64_t    flows;        /* in the table now */
    double      fpr, unknown; /* predicted */
} table_info;

typedef struct table_ops {
    void (*free)(table *t);
    void (*step)(table *t, const uint64_t *ids, size_t n, tamis_stepper *step, void *context,
                 tamis_status *ret_statuses);
    void (*tick)(table *t, uint64_t ticks, uint64_t *aged);
    bool (*is_behind)(const table *t);
    uint64_t (*timeout)(const table *t, uint32_t value);
    uint64_t (*gone)(const table *t, uint32_t value);
    void (*inspect)(const table *t, table_info *ret_info);
    bool (*tally)(const table *t, uint64_t *ret_counts);
    bool (*save)(const table *t, tamis_writer *writer, void *context); /* NULL: it cannot */
} table_ops;

struct table {
    const table_ops *ops;
};

/* NULL: *reterr_problem says why. */
table *table_states_new(const table_spec *spec, tamis_problem *reterr_problem);
table *table_exact_new(const table_spec *spec, tamis_problem *reterr_problem);

/* Replace the contents of a table of table_states_new() by what table_save() has written for a
 * table that was made in the same way, with any seed. False: the bytes are not valid, or are those
 * of another table, and nothing was changed. */
bool table_states_restore(table *t, const void *bytes, size_t n, tamis_seed *ret_seed,
                          tamis_problem *reterr_problem);

static inline void table_free(table *t) {
    if (t != NULL) t->ops->free(t);
}

/* Take each id through one step. ret_statuses[i] is the result of the step that was decided. */
static inline void table_step(table *t, const uint64_t *ids, size_t n, tamis_stepper *step,
                              void *context, tamis_status *ret_statuses) {
    t->ops->step(t, ids, n, step, context, ret_statuses);
}

/* Let time pass. Adds the number of flows that timed out to aged[value]. */
static inline void table_tick(table *t, uint64_t ticks, uint64_t *aged) {
    t->ops->tick(t, ticks, aged);
}

/* True while some ageing is still to be done; table_tick() with 0 ticks continues it. */
static inline bool table_is_behind(const table *t) {
    return t->ops->is_behind(t);
}

/* The timeout that the table applies, in ticks. It may be longer than the requested one. */
static inline uint64_t table_timeout(const table *t, uint32_t value) {
    return t->ops->timeout(t, value);
}

/* After so many ticks of silence the table has forgotten a flow in any case. */
static inline uint64_t table_gone(const table *t, uint32_t value) {
    return t->ops->gone(t, value);
}

static inline void table_inspect(const table *t, table_info *ret_info) {
    t->ops->inspect(t, ret_info);
}

/* Count the flows that have each value. False: this kind cannot tell. */
static inline bool table_tally(const table *t, uint64_t *ret_counts) {
    return t->ops->tally(t, ret_counts);
}

/* Write all of it. False: the writer said no, or this kind cannot. */
static inline bool table_save(const table *t, tamis_writer *writer, void *context) {
    return t->ops->save != NULL && t->ops->save(t, writer, context);
}

#endif
