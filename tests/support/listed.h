/* listed.h - a table that lists its fingerprints in order, and the oracle of its kind: every
 * status, count and value, and all contents are compared.
 *
 * The test of a kind writes the oracle: what `struct oracle` is, and all functions whose names
 * begin with oracle_. A table stores nothing about a key but its fingerprint, so the oracle knows
 * prints with their copies and values, and predicts every status, including refusals.
 */
#ifndef TAMIS_TESTS_LISTED_H
#define TAMIS_TESTS_LISTED_H

#include "table.h"

/* ------------------------------------------------------------------ what a test writes */

typedef struct oracle oracle;

typedef struct oracle_facts {
    uint64_t prints, most;    /* of the geometry: fingerprints, and copies of one that is stuck */
    uint64_t keys, saturated; /* what the table must state now */
    unsigned value_bits;
    bool     can_copy; /* a key with a value can have copies */
} oracle_facts;

/* An empty one. */
oracle *oracle_make(const uint64_t *geometry);
void    oracle_free(oracle *o);

oracle_facts oracle_look(const oracle *o);

#define NO_PRINT UINT64_MAX

/* The first print from this one on that is in the table, or NO_PRINT. */
uint64_t oracle_next(const oracle *o, uint64_t print);

uint64_t     oracle_copies(const oracle *o, uint64_t print);
uint32_t     oracle_value(const oracle *o, uint64_t print); /* of one that is there */
tamis_status oracle_add(oracle *o, uint64_t print);
tamis_status oracle_remove(oracle *o, uint64_t print);
tamis_status oracle_put(oracle *o, uint64_t print, uint32_t value);
tamis_status oracle_drop(oracle *o, uint64_t print);

/* Any hash, or one whose print is in the table, if there is one. */
uint64_t oracle_pick(const oracle *o, dice *chance, bool is_present);

/* The contents of both together; NULL: there is no room for them. */
oracle *oracle_merge(const oracle *a, const oracle *b);

/* A kind, and geometries that are so small that every limit is reached. */
typedef struct tested_table {
    const char     *kind;
    const uint64_t *geometries, *maps; /* rows of `fields`; maps have values */
    size_t          n_geometries, n_maps, fields;
    uint64_t        turn, map_turn;           /* operations until a history goes up or down again */
    unsigned        copies_in, map_copies_in; /* one key in so many that come is there already */
    unsigned        check_every;
    unsigned        full_in; /* in each geometry, one operation in so many finds no room; 0: any */
} tested_table;

/* ------------------------------------------------------------------ both */

typedef struct listed {
    const tamis_kind *kind;
    tamis_table       table;
    oracle           *o;
    dice              chance;
    uint64_t          refused, saturated; /* how often that happened */
} listed;

listed listed_make(const tested_table *target, const uint64_t *geometry, const char *isa,
                   uint64_t seed);
void   listed_free(listed *both);

void listed_add(listed *both, uint64_t hash);

/* All contents are equal. */
void listed_check(const listed *both);

/* n operations: mostly adds for a while, then mostly removals. */
void listed_history(listed *both, const tested_table *target, uint64_t n);

/* The same with values, which are put, moved and dropped. */
void listed_map_history(listed *both, const tested_table *target, uint64_t n);

/* Add this many keys; now and then one that all tables have, until it is saturated. */
void listed_fill_for_merge(listed *both, uint64_t n);

/* Merge two tables. True: there was room, else nothing has changed. */
bool listed_merge(listed *into, const listed *from);

/* ------------------------------------------------------------------ what holds for every kind */

/* Histories of `steps` operations in every geometry, on every instruction set. */
void check_listed_histories(const tested_table *target, uint64_t steps);

/* Counts are exact up to the limit, where they stick. */
void check_listed_limits(const tested_table *target);

/* Listing the prints stops when the visitor says so. `filled`: a history that leaves three. */
void check_listed_stops(const tested_table *target, const uint64_t *geometry, uint64_t filled);

/* Values are those that were put, with and without room. When all are dropped, nothing is left. */
void check_listed_maps(const tested_table *target, uint64_t steps);

#endif
