/* counters.h - small counters that stay at their maximum, one by one and in whole tables.
 *
 * A counter is a field of 2 to 16 bits. It is identified by its first bit in the body (`at`), which
 * sectors.h computes.
 *
 *     body   | counter 0 | counter 1 | counter 2 | ...      `bits` bits each
 *            at = 0      at = bits   at = 2 x bits
 *
 * Saturation. A counter that reaches its maximum, `top`, no longer knows its value: it may stand
 * for any larger number. So it is "stuck": it is never counted up or down again. That can keep a
 * removed key in the set, but it can never lose a key that is still there.
 *
 * Whole tables. The sum of two tables is the sum of their counters. The difference exists only if
 * every counter of the table to be taken out can have been a part of the counter in the other one:
 * otherwise keys of others would be taken out, too. A stuck counter stays stuck in the difference.
 * If a counter is stuck only in the table to be taken out, that table holds more than the other one
 * ever counted, and there is no difference.
 */
#ifndef TAMIS_CORE_COUNTERS_H
#define TAMIS_CORE_COUNTERS_H

#include "core/sectors.h"

/* The position and width of counters. Operations keep these three words apart from the table: the
 * compiler must assume that a store into the body changes the table, and would reload them. */
typedef struct counters {
    uint8_t *body;
    unsigned bits;
    uint64_t top; /* the maximum: a counter that has it is stuck */
} counters;

TAMIS_INLINE counters counters_of(const sectors *layout, uint8_t *body) {
    return (counters){ body, layout->bits, bits_low(layout->bits) };
}

/* ------------------------------------------------------------------ one counter */

/* Counters of 8 bits are bytes. The branch always goes the same way in one table, so it is cheaper
 * than the shifts that it saves. */
TAMIS_INLINE uint64_t counters_get(counters cells, uint64_t at) {
    return cells.bits == 8 ? cells.body[at / 8] : field_get(cells.body, at, cells.bits);
}

TAMIS_INLINE void counters_set(counters cells, uint64_t at, uint64_t value) {
    if (cells.bits == 8)
        cells.body[at / 8] = (uint8_t)value;
    else
        field_set(cells.body, at, cells.bits, value);
}

/* Add `step` unless the counter is stuck. Returns whether it changed; *stuck is counted up if the
 * counter has become stuck. */
TAMIS_INLINE bool counters_up(counters cells, uint64_t at, uint64_t step, uint64_t *stuck) {
    uint64_t const value = counters_get(cells, at), sum = min_u64(value + step, cells.top);
    if (value == cells.top) return false;
    counters_set(cells, at, sum);
    *stuck += sum == cells.top;
    return true;
}

/* Subtract `step` unless the counter is stuck. The caller has checked that the counter is at least
 * `step`. Returns whether it changed. */
TAMIS_INLINE bool counters_down(counters cells, uint64_t at, uint64_t step) {
    uint64_t const value = counters_get(cells, at);
    if (value == cells.top) return false;
    TAMIS_ASSERT(value >= step);
    counters_set(cells, at, value - step);
    return true;
}

/* ------------------------------------------------------------------ whole tables */

/* Add every counter of `other` to that of `body`. Returns how many counters became stuck. */
static __attribute__((unused)) uint64_t counters_add_all(const sectors *layout, uint8_t *body,
                                                         const uint8_t *other) {
    counters const cells = counters_of(layout, body);
    uint64_t       stuck = 0;
    for (uint64_t i = 0; i < layout->counters; i++) {
        uint64_t const at = sectors_at(layout, i), step = field_get(other, at, cells.bits);
        if (step != 0) (void)counters_up(cells, at, step, &stuck);
    }
    return stuck;
}

/* A kind's own condition: can a counter hold `rest` after the subtraction? */
typedef bool counters_can_be(const void *context, uint64_t rest);

/* Can every counter of `other` be subtracted? can_be NULL: any rest will do. */
TAMIS_INLINE bool counters_hold_all(const sectors *layout, uint8_t *body, const uint8_t *other,
                                    counters_can_be *can_be, const void *context) {
    counters const cells = counters_of(layout, body);
    for (uint64_t i = 0; i < layout->counters; i++) {
        uint64_t const at = sectors_at(layout, i);
        uint64_t const value = counters_get(cells, at), step = field_get(other, at, cells.bits);
        if (value == cells.top) continue;
        if (value < step || (can_be != NULL && !can_be(context, value - step))) return false;
    }
    return true;
}

/* Subtract every counter of `other`, after counters_hold_all() has said that this is possible. */
static __attribute__((unused)) void counters_take_all(const sectors *layout, uint8_t *body,
                                                      const uint8_t *other) {
    counters const cells = counters_of(layout, body);
    for (uint64_t i = 0; i < layout->counters; i++) {
        uint64_t const at = sectors_at(layout, i), step = field_get(other, at, cells.bits);
        if (step != 0) (void)counters_down(cells, at, step);
    }
}

#endif
