/* tamis_states.c - kinds that keep a state with each key. "line:states" puts, gets and drops where
 * a set adds, looks up and removes. "line:moves" moves each key to its next state instead of get.
 *
 * There are eight states, and no timers unless the entry says "ageing".
 */
#include "contestant.h"

#include <stdlib.h>
#include <tamis/tamis.h>

#define STATES 8
#define TIMEOUT 60

typedef struct states_table {
    tamis_states *states;
    uint32_t      values[MAX_BATCH]; /* to put, or to move to */
    uint32_t      got[MAX_BATCH];
    tamis_status  statuses[MAX_BATCH];
    uint32_t      turn;
} states_table;

/* The state for the next key. */
static uint32_t take_next_value(states_table *t) {
    return t->turn++ % STATES;
}

/* ------------------------------------------------------------------ single calls */

static size_t put_each(void *table, const uint64_t *keys, size_t n) {
    states_table *const t = table;
    size_t              done = 0;
    for (size_t i = 0; i < n; i++)
        done += tamis_states_put_id(t->states, keys[i], take_next_value(t)) == TAMIS_OK;
    return done;
}

static size_t get_each(void *table, const uint64_t *keys, size_t n) {
    states_table *const t = table;
    size_t              found = 0;
    uint32_t            value;
    for (size_t i = 0; i < n; i++)
        found += tamis_states_get_id(t->states, keys[i], &value) == TAMIS_OK;
    return found;
}

static size_t move_each(void *table, const uint64_t *keys, size_t n) {
    states_table *const t = table;
    size_t              done = 0;
    for (size_t i = 0; i < n; i++)
        done += tamis_states_move_id(t->states, keys[i], TAMIS_ANY_VALUE, take_next_value(t)) ==
                TAMIS_OK;
    return done;
}

static size_t drop_each(void *table, const uint64_t *keys, size_t n) {
    states_table *const t = table;
    size_t              done = 0;
    for (size_t i = 0; i < n; i++)
        done += tamis_states_drop_id(t->states, keys[i], TAMIS_ANY_VALUE) == TAMIS_OK;
    return done;
}

static size_t churn_each(void *table, const uint64_t *keys, size_t n) {
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        done += drop_each(table, keys + i, 1) + put_each(table, keys + n + i, 1);
    return done;
}

/* ------------------------------------------------------------------ in batches */

typedef tamis_status states_call(tamis_states *states, const tamis_states_batch *batch,
                                 size_t *ret_n);

static size_t do_batch(states_table *t, const uint64_t *keys, size_t n, states_call *call) {
    tamis_states_batch const batch = {
        .ids = keys, .n = n, .values = t->values, .ret_statuses = t->statuses, .ret_values = t->got
    };
    size_t done = 0;
    return call(t->states, &batch, &done) == TAMIS_OK ? done : 0;
}

static size_t put_batch(void *table, const uint64_t *keys, size_t n) {
    return do_batch(table, keys, n, tamis_states_put_batch);
}

static size_t move_batch(void *table, const uint64_t *keys, size_t n) {
    return do_batch(table, keys, n, tamis_states_move_batch);
}

static size_t drop_batch(void *table, const uint64_t *keys, size_t n) {
    return do_batch(table, keys, n, tamis_states_drop_batch);
}

static size_t get_batch(void *table, const uint64_t *keys, size_t n) {
    states_table *const      t = table;
    tamis_states_batch const batch = {
        .ids = keys, .n = n, .ret_statuses = t->statuses, .ret_values = t->got
    };
    size_t found = 0;
    return tamis_states_get_batch(t->states, &batch, &found) == TAMIS_OK ? found : 0;
}

/* ------------------------------------------------------------------ making contestants */

static void clear_states(void *table) {
    tamis_status const status = tamis_states_clear(((states_table *)table)->states);
    (void)status; /* it fails only for tables that are mapped from files */
}

static void free_states(void *table) {
    tamis_states_free(((states_table *)table)->states);
    free(table);
}

static bench_ops states_ops(bool is_moving) {
    bench_ops ops = {
        .call = { { put_each, get_each, drop_each, churn_each },
                  { put_batch, get_batch, drop_batch, NULL } },
        .clear = clear_states,
        .free = free_states,
    };
    if (is_moving) ops.call[MODE_SINGLE][CALL_HAS] = move_each;
    if (is_moving) ops.call[MODE_BATCH][CALL_HAS] = move_batch;
    return ops;
}

void enter_states(bench_lineup *lineup, const bench_options *options, const bench_entry *entry,
                  uint64_t n) {
    contestant *const entrant = lineup_enter(lineup, entry);
    if (entrant == NULL) return;
    entrant->group = "tamis";
    tamis_seed const  seed = { options->seed, 0 };
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    tamis_problem     problem = { .text = "out of memory" };
    spec.kind = entry->key;
    spec.isa = entry->isa;
    if (*entry->geometry != '\0') spec.geometry = entry->geometry;
    spec.capacity = n;
    spec.values = STATES;
    spec.fpr = entry->fpr;
    spec.timeout = entry->is_ageing ? TIMEOUT : 0;
    spec.prefer = entry->is_small ? TAMIS_PREFER_SMALL : TAMIS_PREFER_FAST;
    spec.seed = &seed;
    states_table *const table = calloc(1, sizeof *table);
    if (table == NULL || tamis_states_create(&spec, &table->states, &problem) != TAMIS_OK) {
        contestant_exclude(entrant, "%s", problem.text);
        free(table);
        return;
    }
    tamis_states_info info;
    if (tamis_states_inspect(table->states, &info) != TAMIS_OK) info = (tamis_states_info){ 0 };
    for (size_t i = 0; i < MAX_BATCH; i++) table->values[i] = take_next_value(table);
    entrant->table = table;
    entrant->bytes = info.plan.body_bytes;
    entrant->lines = info.plan.lines_present;
    entrant->isa = info.isa;
    entrant->ops = states_ops(entry->is_moving);
}
