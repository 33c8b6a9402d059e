/* both.h - a table and the oracle of its kind: every answer and every byte are compared.
 *
 * The test of a kind writes the oracle: `struct oracle`, and all functions whose names begin with
 * oracle_. Both get the same operations, and the oracle must predict what the table does.
 */
#ifndef TAMIS_TESTS_BOTH_H
#define TAMIS_TESTS_BOTH_H

#include "subject.h"

#define MAX_KEYS 400 /* keys that are added and removed in a history */

/* ------------------------------------------------------------------ what a test writes */

typedef struct oracle oracle;

typedef struct oracle_facts {
    uint64_t places, hashes;  /* counters or entries, and how many of them a key has */
    uint64_t body_bytes;      /* of the geometry */
    uint64_t keys, saturated; /* what the table must state now */
} oracle_facts;

/* Make an empty oracle; the caller frees it with free(). */
oracle *oracle_make(const uint64_t *geometry);

oracle_facts oracle_look(const oracle *o);
bool         oracle_has(const oracle *o, uint64_t hash);
uint64_t     oracle_count(const oracle *o, uint64_t hash);
void         oracle_add(oracle *o, uint64_t hash);
tamis_status oracle_remove(oracle *o, uint64_t hash);
void         oracle_merge(oracle *o, const oracle *from);

/* The share of all possible absent keys for which a lookup says yes. */
double oracle_rate(const oracle *o);

/* Write the body, into bytes that are 0. */
void oracle_bytes(const oracle *o, uint8_t *to);

/* A kind, and geometries that are so small that keys share places, and counters saturate. */
typedef struct tested {
    const char     *kind;
    const uint64_t *geometries; /* `n` rows of `fields` */
    size_t          n, fields;
    uint64_t        crowd; /* keys at a place when a history has its highest load */
    uint64_t        calm;  /* rounds of a history before those that begin with a flood of one key */
} tested;

/* ------------------------------------------------------------------ both */

typedef struct both {
    const tamis_kind *kind;
    tamis_table       table;
    oracle           *o;
    dice              chance;
    uint64_t          hash[MAX_KEYS];
    unsigned          copies[MAX_KEYS]; /* the keys that are really in the table */
    uint64_t          refused, kept;    /* removals of absent keys, and of saturated ones */
} both;

/* A table with that geometry, which need not be one of the geometries of `target`. */
both both_make(const tested *target, const uint64_t *geometry, const char *isa, uint64_t seed);
void both_free(both *b);

void both_add(both *b, size_t key);

/* Fair: choose this key or the next one that is present, so that no removal is refused. */
void both_remove(both *b, size_t key, bool is_fair);

void both_check_counts(const both *b); /* of keys, and of saturated entries */
void both_check_bytes(const both *b);

/* ------------------------------------------------------------------ what holds for every kind */

/* Fair and unfair histories of `steps` operations in every geometry, on every instruction set. */
void check_histories(const tested *target, uint64_t steps);

/* Chunks have the same results as single calls for their keys. For kinds that have chunk
 * functions. */
void check_chunks(const tested *target);

/* Compare merged tables place by place, including stuck ones; all keys of both are in the
 * result. */
void check_merges(const tested *target);

/* The rate that a table reports is right, with 0 to `keys` - 1 keys. */
void check_rates(const tested *target, size_t keys);

#endif
