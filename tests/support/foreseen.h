/* foreseen.h - a table of states in cells that keys share, and the oracle of its kind: every answer
 * and every byte are compared.
 *
 * The test of a kind writes the oracle: what `struct oracle` is, and all functions that are named
 * oracle_. Callers in these histories break all rules: they put keys again, and move and drop keys
 * that are not there.
 */
#ifndef TAMIS_TESTS_FORESEEN_H
#define TAMIS_TESTS_FORESEEN_H

#include "broken.h"
#include "cells_oracle.h"

/* ------------------------------------------------------------------ what a test writes */

typedef struct oracle oracle;

/* An empty one, for free(). */
oracle *oracle_make(const uint64_t *g, const tamis_states *states);

/* Its cells, with contents and numbers as they are now. */
const cells_oracle *oracle_cells(oracle *o);

tamis_status oracle_get(const oracle *o, uint64_t hash, uint64_t *ret_value);
tamis_status oracle_put(oracle *o, uint64_t hash, uint64_t value);
tamis_status oracle_move(oracle *o, uint64_t hash, uint64_t from, uint64_t to);
tamis_status oracle_touch(oracle *o, uint64_t hash);
tamis_status oracle_drop(oracle *o, uint64_t hash, uint64_t from);

/* The sweep visits a unit. */
void oracle_pass(oracle *o, uint64_t unit);
void oracle_merge(oracle *into, const oracle *from);

/* A kind, and geometries that are so small that everything happens in them. */
typedef struct tested_states {
    const char *kind;
    const uint64_t (*geometries)[OVERLAID_FIELDS];
    size_t   n;
    uint64_t keys;   /* different ones of a history */
    uint64_t values; /* how many values are used: the last ones of all */
    unsigned puts;   /* of 16 operations; 3 are moves, and 11 - puts are drops */
} tested_states;

/* ------------------------------------------------------------------ histories */

typedef struct history {
    const tested_states *target;
    tamis_states        *states;
    oracle              *o;
    dice                 chance;
    uint64_t             values;
    uint64_t             seen[5]; /* operations, by status */
} history;

/* A table with that geometry, which need not be one of those of `target`. */
history history_make(const tested_states *target, const uint64_t *g, const char *isa,
                     uint64_t seed);
void    history_free(history *h);

/* One operation, mostly on a key that may be there, with values that may be right. */
void history_step(history *h);

/* ------------------------------------------------------------------ what holds for every kind */

/* What happened in all histories: operations by status, cells that aged, and that stuck. */
typedef struct happened {
    uint64_t status[5], aged, stuck;
} happened;

/* Histories of `steps` operations in every geometry, on every instruction set. */
happened check_state_histories(const tested_states *target, uint64_t steps);

void check_state_merges(const tested_states *target);

/* Reading a body of any bytes does no harm. */
void check_state_bodies(const tested_states *target);

#endif
