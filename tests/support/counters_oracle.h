/* counters_oracle.h - counters of a few bits, in the simplest way: an array, and no packing.
 *
 * The oracle of a kind decides what a key adds to a counter. This file has the common parts: where
 * the counters of a key can be, incrementing until they are stuck, and the resulting bytes
 * (docs/format.md).
 */
#ifndef TAMIS_TESTS_COUNTERS_ORACLE_H
#define TAMIS_TESTS_COUNTERS_ORACLE_H

#include "both.h"
#include "by_hand.h"

#define MAX_COUNTERS 1024

typedef struct counters_oracle {
    uint64_t m, bits, top;
    uint64_t per_line, sectors; /* sectors: in a line, one for each hash */
    bool     is_blocked;
    uint64_t counter[MAX_COUNTERS];
    uint64_t keys, saturated;
} counters_oracle;

/* What a key adds to each counter; most of these are 0. */
typedef struct visit {
    uint64_t adds[MAX_COUNTERS];
} visit;

static inline counters_oracle counters_of(uint64_t m, uint64_t bits, bool is_blocked,
                                          uint64_t sectors) {
    counters_oracle o = { .m = m, .bits = bits, .is_blocked = is_blocked, .sectors = sectors };
    o.per_line = 512 / bits;
    o.top = (UINT64_C(1) << bits) - 1;
    assert_true(m <= MAX_COUNTERS);
    return o;
}

static inline uint64_t counters_lines(const counters_oracle *o) {
    return o->is_blocked ? o->m / o->per_line : 1;
}

/* For hash i: the first counter that it can have, and how many. */
static inline uint64_t counters_range(const counters_oracle *o, uint64_t line, uint64_t i,
                                      uint64_t *ret_size) {
    uint64_t const first = i * o->per_line / o->sectors, end = (i + 1) * o->per_line / o->sectors;
    *ret_size = o->is_blocked ? end - first : o->m;
    return o->is_blocked ? line * o->per_line + first : 0;
}

/* The mean of all lines. */
static inline double counters_mean(const counters_oracle *all, const oracle *o,
                                   double (*rate)(const oracle *o, uint64_t line)) {
    uint64_t const lines = counters_lines(all);
    double         sum = 0;
    for (uint64_t line = 0; line < lines; line++) sum += rate(o, line) / (double)lines;
    return sum;
}

/* Increment a counter; true if it was not stuck before. */
static inline bool counters_add(counters_oracle *o, size_t c, uint64_t amount) {
    if (amount == 0 || o->counter[c] == o->top) return false;
    o->counter[c] = min_u64(o->counter[c] + amount, o->top);
    o->saturated += o->counter[c] == o->top;
    return true;
}

/* Subtract a key from all its counters that are not stuck. The key must be in them. */
static inline void counters_take(counters_oracle *o, const visit *v) {
    bool is_changed = false;
    for (size_t c = 0; c < o->m; c++) {
        if (v->adds[c] == 0 || o->counter[c] == o->top) continue;
        is_changed = true;
        o->counter[c] -= v->adds[c];
    }
    o->keys -= is_changed && o->keys != 0;
}

static inline void counters_merge(counters_oracle *o, const counters_oracle *from) {
    for (size_t c = 0; c < o->m; c++) (void)counters_add(o, c, from->counter[c]);
    o->keys += from->keys;
}

/* The body, bit by bit. */
static inline void counters_bytes(const counters_oracle *o, uint8_t *to) {
    for (size_t i = 0; i < o->m * o->bits; i++) {
        size_t const c = i / o->bits;
        size_t const in_line = c / o->per_line * 512 + c % o->per_line * o->bits;
        size_t const at = (o->is_blocked ? in_line : c * o->bits) + i % o->bits;
        write_bit(to, at, (o->counter[c] >> (i % o->bits) & 1) != 0);
    }
}

#endif
