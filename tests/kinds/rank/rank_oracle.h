/* rank_oracle.h - what a rank-indexed table must hold, kept in plain arrays.
 *
 * A table stores nothing about a key but its fingerprint. So the oracle counts copies by
 * fingerprint, and cells by bucket. From that it predicts every status, including refusals. It
 * computes the bucket from the hash with its own arithmetic. For geometries with few fingerprints.
 */
#ifndef TAMIS_TESTS_RANK_ORACLE_H
#define TAMIS_TESTS_RANK_ORACLE_H

#include "kinds/rank/size.h"
#include "subject.h"

/* Most fingerprints are absent. To find one that is present, whole groups of absent ones are
 * skipped. */
#define ORACLE_CROWD 256

typedef struct rank_oracle {
    uint64_t  geometry[RANK_FIELDS];
    uint64_t  prints, most;
    uint32_t *copies, *value; /* of each fingerprint */
    uint32_t *crowd;          /* of each ORACLE_CROWD fingerprints: how many of them are there */
    uint32_t *cells;          /* of each bucket */
    uint64_t  taken[2];       /* extensions */
    uint64_t  keys, saturated;
} rank_oracle;

static inline rank_oracle oracle_make(const uint64_t *geometry) {
    rank_oracle o = { .prints = tamis_rank_prints(geometry),
                      .most = geometry[RANK_COPIES] << geometry[RANK_COUNTER_BITS] };
    memcpy(o.geometry, geometry, sizeof o.geometry);
    o.copies = calloc(o.prints, sizeof *o.copies);
    o.value = calloc(o.prints, sizeof *o.value);
    o.crowd = calloc(o.prints / ORACLE_CROWD + 1, sizeof *o.crowd);
    o.cells = calloc(geometry[RANK_BUCKETS], sizeof *o.cells);
    assert(o.copies != NULL && o.value != NULL && o.crowd != NULL && o.cells != NULL);
    return o;
}

static inline void oracle_free(rank_oracle *o) {
    free(o->copies);
    free(o->value);
    free(o->crowd);
    free(o->cells);
}

/* The fingerprint: hash x prints / 2^64, computed from the two halves of the hash. */
static inline uint64_t oracle_print(const rank_oracle *o, uint64_t hash) {
    uint64_t const low = (hash & UINT32_MAX) * o->prints >> 32; /* prints are below 2^32 */
    return ((hash >> 32) * o->prints + low) >> 32;
}

static inline uint64_t oracle_bucket(const rank_oracle *o, uint64_t print) {
    return (print >> o->geometry[RANK_REMAINDER_BITS]) / o->geometry[RANK_CHAINS];
}

/* The first present fingerprint from this one on; any if none is present. The first one follows the
 * last. */
static inline uint64_t oracle_next(const rank_oracle *o, uint64_t print) {
    uint64_t passed = 0;
    while (passed < o->prints && o->copies[print] == 0) {
        uint64_t const crowd_end = (print / ORACLE_CROWD + 1) * ORACLE_CROWD;
        uint64_t const end = crowd_end < o->prints ? crowd_end : o->prints;
        uint64_t const next = o->crowd[print / ORACLE_CROWD] == 0 ? end : print + 1;
        passed += next - print;
        print = next == o->prints ? 0 : next;
    }
    return print;
}

/* ------------------------------------------------------------------ cells */

/* The extension that begins after exactly this many cells: 0 or 1; 2: none. */
static inline unsigned oracle_border(const rank_oracle *o, uint64_t cells) {
    const uint64_t *const g = o->geometry;
    if (g[RANK_EXTENSIONS2] != 0 && cells == g[RANK_CELLS]) return 0;
    return g[RANK_EXTENSIONS3] != 0 && cells == g[RANK_CELLS] + g[RANK_CELLS2] ? 1 : 2;
}

static inline bool oracle_grow(rank_oracle *o, uint64_t bucket) {
    const uint64_t *const g = o->geometry;
    unsigned const        level = oracle_border(o, o->cells[bucket]);
    if (o->cells[bucket] == g[RANK_CELLS] + g[RANK_CELLS2] + g[RANK_CELLS3]) return false;
    if (level < 2 && o->taken[level] == g[RANK_EXTENSIONS2 + level]) return false;
    if (level < 2) o->taken[level]++;
    o->cells[bucket]++;
    return true;
}

static inline void oracle_shrink(rank_oracle *o, uint64_t bucket) {
    unsigned const level = oracle_border(o, --o->cells[bucket]);
    if (level < 2) o->taken[level]--;
}

static inline bool oracle_fills_cells(const rank_oracle *o, uint64_t print) {
    return o->copies[print] % (1u << o->geometry[RANK_COUNTER_BITS]) == 0;
}

/* ------------------------------------------------------------------ operations */

static inline tamis_status oracle_add(rank_oracle *o, uint64_t print) {
    if (o->copies[print] == o->most) return TAMIS_OK;
    bool const needs_cell = oracle_fills_cells(o, print);
    if (needs_cell && !oracle_grow(o, oracle_bucket(o, print))) return TAMIS_ERR_FULL;
    o->crowd[print / ORACLE_CROWD] += o->copies[print] == 0;
    o->copies[print]++;
    o->keys++;
    o->saturated += o->most > 1 && o->copies[print] == o->most;
    return TAMIS_OK;
}

static inline tamis_status oracle_remove(rank_oracle *o, uint64_t print) {
    if (o->copies[print] == 0) return TAMIS_ERR_ABSENT;
    if (o->copies[print] == o->most) return TAMIS_ERR_SATURATED;
    o->copies[print]--;
    o->crowd[print / ORACLE_CROWD] -= o->copies[print] == 0;
    o->keys--;
    if (oracle_fills_cells(o, print)) oracle_shrink(o, oracle_bucket(o, print));
    return TAMIS_OK;
}

static inline uint64_t oracle_count(const rank_oracle *o, uint64_t print) {
    return o->copies[print] == o->most ? TAMIS_COUNT_MANY : o->copies[print];
}

static inline tamis_status oracle_put(rank_oracle *o, uint64_t print, uint32_t value) {
    if (o->copies[print] == 0) {
        if (!oracle_grow(o, oracle_bucket(o, print))) return TAMIS_ERR_FULL;
        o->copies[print] = 1;
        o->crowd[print / ORACLE_CROWD]++;
        o->keys++;
    }
    o->value[print] = value;
    return TAMIS_OK;
}

static inline tamis_status oracle_drop(rank_oracle *o, uint64_t print) {
    if (o->copies[print] == 0) return TAMIS_ERR_ABSENT;
    oracle_shrink(o, oracle_bucket(o, print));
    o->copies[print] = 0;
    o->crowd[print / ORACLE_CROWD]--;
    o->keys--;
    return TAMIS_OK;
}

#endif
