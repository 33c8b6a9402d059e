/* counters.h - counters that stick: of one key, and of whole tables.
 *
 * A counter is a field of a few bits, known by its first bit (sectors.h). One that reaches its
 * maximum, or would go beyond, no longer knows its value: it sticks there and never changes again.
 *
 * Tables are added counter by counter. They are subtracted the same way, but only if each counter
 * of one can have been part of the other's: then nobody's share is touched but that of the keys
 * that are taken out. A counter that is stuck stays so. One that is stuck in the table to be taken
 * out alone stands for more than the other ever counted, and nothing can be subtracted.
 */
#ifndef TAMIS_CORE_COUNTERS_H
#define TAMIS_CORE_COUNTERS_H

#include "core/sectors.h"

/* Kept aside from a table, which a compiler must take for changed with every counter. */
typedef struct counters {
    uint8_t *body;
    unsigned bits;
    uint64_t top; /* stuck */
} counters;

TAMIS_INLINE counters counters_of(const sectors *in, uint8_t *body) {
    return (counters){ body, in->bits, bits_low(in->bits) };
}

/* ------------------------------------------------------------------ one counter */

/* Those of 8 bits are bytes, which is worth a branch that is always the same. */
TAMIS_INLINE uint64_t counters_get(counters of, uint64_t at) {
    return of.bits == 8 ? of.body[at / 8] : field_get(of.body, at, of.bits);
}

TAMIS_INLINE void counters_set(counters of, uint64_t at, uint64_t value) {
    if (of.bits == 8)
        of.body[at / 8] = (uint8_t)value;
    else
        field_set(of.body, at, of.bits, value);
}

/* Count up, unless stuck. Returns whether it changed; *stuck counts those that stick. */
TAMIS_INLINE bool counters_up(counters of, uint64_t at, uint64_t by, uint64_t *stuck) {
    uint64_t const value = counters_get(of, at), sum = min_u64(value + by, of.top);
    if (value == of.top) return false;
    counters_set(of, at, sum);
    *stuck += sum == of.top;
    return true;
}

/* Count down one that is not less, unless stuck. Returns whether it changed. */
TAMIS_INLINE bool counters_down(counters of, uint64_t at, uint64_t by) {
    uint64_t const value = counters_get(of, at);
    if (value == of.top) return false;
    TAMIS_ASSERT(value >= by);
    counters_set(of, at, value - by);
    return true;
}

/* ------------------------------------------------------------------ whole tables */

/* Add all of `from`. Returns how many counters stick by that. */
static __attribute__((unused)) uint64_t counters_add_all(const sectors *in, uint8_t *into,
                                                         const uint8_t *from) {
    counters const of = counters_of(in, into);
    uint64_t       stuck = 0;
    for (uint64_t i = 0; i < in->counters; i++) {
        uint64_t const at = sectors_at(in, i), by = field_get(from, at, of.bits);
        if (by != 0) (void)counters_up(of, at, by, &stuck);
    }
    return stuck;
}

/* Can one counter have been part of another, with `rest` left? NULL: with any. */
typedef bool counters_can_be(const void *context, uint64_t rest);

/* Can all of `from` be taken out? */
TAMIS_INLINE bool counters_hold_all(const sectors *in, uint8_t *into, const uint8_t *from,
                                    counters_can_be *can_be, const void *context) {
    counters const of = counters_of(in, into);
    for (uint64_t i = 0; i < in->counters; i++) {
        uint64_t const at = sectors_at(in, i);
        uint64_t const value = counters_get(of, at), by = field_get(from, at, of.bits);
        if (value == of.top) continue;
        if (value < by || (can_be != NULL && !can_be(context, value - by))) return false;
    }
    return true;
}

/* Take out all of `from`, which can be. */
static __attribute__((unused)) void counters_take_all(const sectors *in, uint8_t *into,
                                                      const uint8_t *from) {
    counters const of = counters_of(in, into);
    for (uint64_t i = 0; i < in->counters; i++) {
        uint64_t const at = sectors_at(in, i), by = field_get(from, at, of.bits);
        if (by != 0) (void)counters_down(of, at, by);
    }
}

#endif
