/* cells_oracle.h - cells that keys share, in the simplest way: arrays, loops, and no packing.
 *
 * The oracle of a kind decides the content of a cell. This file has the common parts: the places of
 * a key, the passes that a late sweep owes to a cell, and the resulting bytes (docs/format.md).
 */
#ifndef TAMIS_TESTS_CELLS_ORACLE_H
#define TAMIS_TESTS_CELLS_ORACLE_H

#include "make.h"
#include "table.h"

#include "handle.h"
#include "theory/overlaid_size.h"

#define MAX_CELLS 512

/* ------------------------------------------------------------------ tables */

#define TIMEOUT 1000

/* If there are few enough values, each has its own timeout. */
static inline uint64_t timeout_of(const uint64_t *g, uint64_t value) {
    return g[OVERLAID_VALUES] > 16 || value >= g[OVERLAID_VALUES] ? TIMEOUT
                                                                  : TIMEOUT / (1 + value % 5);
}

/* After how many passes a value times out: its timeout, rounded up. */
static inline uint64_t passes_of(const uint64_t *g, uint64_t value) {
    uint64_t const most = (UINT64_C(1) << g[OVERLAID_TIMER_BITS]) / 2 - 1;
    return (timeout_of(g, value) * most + TIMEOUT - 1) / TIMEOUT;
}

/* A table of the kind with all of its geometry fixed. */
static inline tamis_states *states_of(const char *kind, const char *isa, const uint64_t *g,
                                      uint64_t capacity, uint64_t lifetime, uint64_t seed) {
    tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
    uint64_t          timeouts[16];
    tamis_seed const  seeds = { seed, 7 };
    for (unsigned i = 0; i < 16; i++) timeouts[i] = timeout_of(g, i);
    spec.capacity = capacity;
    spec.lifetime = lifetime;
    spec.values = g[OVERLAID_VALUES];
    spec.timeout = g[OVERLAID_TIMER_BITS] != 0 ? TIMEOUT : 0;
    spec.timeouts = g[OVERLAID_TIMER_BITS] != 0 ? timeouts : NULL;
    spec.timer_bits = (unsigned)g[OVERLAID_TIMER_BITS];
    spec.kind = kind;
    spec.isa = isa;
    spec.geometry = geometry_text(find_kind(kind, isa), g);
    spec.seed = &seeds;
    return make_states_from(&spec);
}

/* ------------------------------------------------------------------ cells */

typedef struct cells_oracle {
    uint64_t m, k;
    unsigned content_bits, timer_bits;
    uint64_t per_unit, units;
    uint64_t passes[17];                           /* of each value; the last: all others */
    uint64_t content[MAX_CELLS], timer[MAX_CELLS]; /* content 0: empty */
    uint64_t keys, saturated, aged;                /* what the table must state */
} cells_oracle;

static inline cells_oracle cells_of(const uint64_t *g, unsigned content_bits) {
    cells_oracle   o = { .m = g[OVERLAID_CELLS], .k = g[OVERLAID_HASHES] };
    unsigned const bits = content_bits + (unsigned)g[OVERLAID_TIMER_BITS];
    o.content_bits = content_bits;
    o.timer_bits = (unsigned)g[OVERLAID_TIMER_BITS];
    for (unsigned i = 0; i < 17 && o.timer_bits != 0; i++) o.passes[i] = passes_of(g, i);
    for (o.per_unit = 1; o.per_unit * 2 * bits <= 512;) o.per_unit *= 2;
    o.units = (o.m + o.per_unit - 1) / o.per_unit;
    assert_true(o.m <= MAX_CELLS);
    return o;
}

/* Is the cell one of the key's? */
static inline bool cells_are_of(const cells_oracle *o, uint64_t hash, uint64_t cell) {
    for (unsigned i = 0; i < o->k; i++) {
        if (fastrange(remix(hash, i), o->m) == cell) return true;
    }
    return false;
}

/* Passes that are due to the cell's unit and not done. */
static inline uint64_t cells_owed(const cells_oracle *o, const sweep *hand, uint64_t cell) {
    uint64_t owed = 0;
    for (uint64_t at = hand->done; at < hand->due; at++)
        owed += at % o->units == cell / o->per_unit;
    return owed;
}

/* The timer of a cell whose value was put or touched now. */
static inline uint64_t cells_fresh(const cells_oracle *o, const sweep *hand, uint64_t cell,
                                   uint64_t value) {
    uint64_t const owed = cells_owed(o, hand, cell);
    return o->timer_bits == 0 ? 0 : o->passes[value < 16 ? value : 16] + owed;
}

static inline void cells_clear(cells_oracle *o, uint64_t cell) {
    o->content[cell] = o->timer[cell] = 0;
}

/* What a table with timers counts instead of its keys. */
static inline uint64_t cells_in_use(const cells_oracle *o) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < o->m; i++) used += o->content[i] != 0;
    return used;
}

/* The sweep passes a unit. */
static inline void cells_age(cells_oracle *o, uint64_t unit) {
    for (uint64_t i = unit * o->per_unit; i < o->m && i < (unit + 1) * o->per_unit; i++) {
        if (o->content[i] == 0 || o->timer[i]-- != 0) continue;
        cells_clear(o, i);
        o->aged++;
    }
}

/* How long ago the sweep was due to pass the unit of a cell, in fractions of the time for one
 * unit. */
static inline uint64_t cells_since(const cells_oracle *o, const sweep *hand, uint64_t cell) {
    uint64_t units = 0;
    while ((hand->due + 2 * o->units - 1 - units) % o->units != cell / o->per_unit) units++;
    return units * hand->timeout + hand->rest;
}

/* Merge the timers of two cells, converted to our table: the one that was refreshed later counts.
 * If our sweep reaches the cell sooner than the other table's would have, the timer gets one pass
 * more, up to its maximum. */
static inline uint64_t cells_younger(const cells_oracle *into, const sweep *here,
                                     const cells_oracle *from, const sweep *there, uint64_t cell) {
    if (into->timer_bits == 0) return 0;
    uint64_t const owed = cells_owed(from, there, cell);
    bool const     is_sooner = cells_since(into, here, cell) > cells_since(from, there, cell);
    uint64_t const left = (from->timer[cell] > owed ? from->timer[cell] - owed : 0) + is_sooner;
    uint64_t const life = into->passes[16];
    uint64_t const taken = (left < life ? left : life) + cells_owed(into, here, cell);
    return taken > into->timer[cell] ? taken : into->timer[cell];
}

/* ------------------------------------------------------------------ bytes */

/* Is the body equal to the encoded cells, to the last byte? */
static inline void cells_expect_bytes(const cells_oracle *o, const tamis_table *table) {
    static uint8_t bytes[MAX_CELLS * 8 + 64];
    unsigned const bits = o->content_bits + o->timer_bits;
    assert_int_equal(table->body_bytes, ((o->m * bits + 7) / 8 + 8 + 63) / 64 * 64);
    assert_true(table->body_bytes <= sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    for (uint64_t i = 0; i < o->m; i++) {
        write_bits(bytes, i * bits, o->content_bits, o->content[i]);
        write_bits(bytes, i * bits + o->content_bits, o->timer_bits, o->timer[i]);
    }
    assert_memory_equal(bytes, table->body, table->body_bytes);
}

#endif
