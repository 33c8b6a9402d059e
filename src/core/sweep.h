/* sweep.h - timeouts: a sweep passes through the table again and again and decrements timers.
 *
 * A table is divided into units (buckets, or cells). The sweep visits all of them, like the hand of
 * a clock, `most` times in a timeout T. When the hand passes a cell, the cell's timer is
 * decremented by one; a cell whose timer is 0 already is removed. A cell that is put or touched
 * gets a timer of `most`. So it is removed at pass most + 1 after that: later than T, and within T
 * + T / most.
 *
 * A call of tick does only a bounded part of the work, so the hand may be behind the time. A pass
 * of a unit that is due and not done yet is called owed. Suppose that a key is touched while its
 * unit is owed two passes. Both will come after the touch, but belong to the time before it, so
 * they must not make the new life shorter. Therefore the touch sets the timer to `most` + 2, and
 * the two passes take away just what was added for them. That is exact, and a cell needs no clock:
 *
 *     timer of t bits:  0 .. 2^t - 1  =  0 .. most + owed,    most = 2^(t-1) - 1,  owed <= most + 1
 *
 * A unit is never owed more than most + 1 passes: after those, every cell that was not touched is
 * removed. If time jumps further, the rest of the jump is dropped.
 *
 * A value can have a shorter life than others: fewer passes, `lives` says how many.
 *
 *     units          0 ... done-1 | done ..... due-1 | due ... units-1
 *                     this round is done   owed a pass      not due yet
 */
#ifndef TAMIS_CORE_SWEEP_H
#define TAMIS_CORE_SWEEP_H

#include "core/base.h"
#include "core/hash.h"

#define SWEEP_MIN_BITS 2
#define SWEEP_MAX_BITS 5
#define SWEEP_LIVES 16 /* values that can have a life of their own, 4 bits for each */
#define SWEEP_MAX_TIMEOUT (UINT64_C(1) << 32)
#define SWEEP_CALL_UNITS 1024

typedef struct sweep {
    uint64_t units;
    uint64_t timeout;    /* in ticks; 0: no timeout */
    uint64_t timer_bits; /* 0 if nothing ages */
    uint64_t lives;      /* passes that the values 0 to 15 last, 4 bits each; 0: `most` */
    uint64_t done, due;  /* in units; done < units, and due <= done + (most + 1) units */
    uint64_t rest;       /* time that is less than a unit, in 1 / timeout of a unit */
    uint64_t late;       /* in a table that has grown: units of time before `due` moves again */
} sweep;

/* Passes in a timeout. */
TAMIS_INLINE uint64_t sweep_most(const sweep *hand) {
    return (UINT64_C(1) << (hand->timer_bits - 1)) - 1;
}

/* A call of tick visits at most twice the units that fall due in a tick, and never fewer than
 * SWEEP_CALL_UNITS if that many are due. So a caller who calls once in a tick keeps up, and reduces
 * the backlog. */
TAMIS_INLINE uint64_t sweep_units_of_a_call(const sweep *hand) {
    uint64_t const one_tick = hand->units * sweep_most(hand) / hand->timeout + 1;
    return max_u64(2 * one_tick, SWEEP_CALL_UNITS);
}

/* Passes that a value lasts. */
TAMIS_INLINE uint64_t sweep_life(const sweep *hand, uint64_t value) {
    uint64_t const own = value < SWEEP_LIVES ? hand->lives >> (4 * value) & 15 : 0;
    return own != 0 ? own : sweep_most(hand);
}

/* Passes of a unit that are due and not done. */
TAMIS_INLINE uint64_t sweep_owed(const sweep *hand, uint64_t unit) {
    if (__builtin_expect(hand->done == hand->due, 1)) return 0;
    uint64_t const next = unit >= hand->done ? unit : unit + hand->units;
    return next < hand->due ? (hand->due - 1 - next) / hand->units + 1 : 0;
}

/* The timer of a cell that is put or touched now; 0 in a table without timeouts. */
TAMIS_INLINE uint64_t sweep_fresh(const sweep *hand, uint64_t unit, uint64_t value) {
    return hand->timer_bits == 0 ? 0 : sweep_life(hand, value) + sweep_owed(hand, unit);
}

/* How many units ago the hand passed this unit, or would have, if nothing were owed. */
TAMIS_INLINE uint64_t sweep_past(const sweep *hand, uint64_t unit) {
    return (hand->due + hand->units - 1 - unit) % hand->units;
}

/* The timer that an entry of another table gets in this one (when sets are merged). It keeps the
 * passes that it had left, and gets those that its new unit is owed. If the hand comes to the new
 * unit sooner than it would have come to the old one, that pass is too early and must not count:
 * one more. It never gets more than a fresh timer of its value. */
TAMIS_INLINE uint64_t sweep_taken_over(const sweep *here, uint64_t here_unit, const sweep *there,
                                       uint64_t there_unit, uint64_t timer, uint64_t value) {
    if (here->timer_bits == 0) return 0;
    uint64_t const owed = sweep_owed(there, there_unit), left = timer > owed ? timer - owed : 0;
    uint64_t const past = sweep_past(here, here_unit), was_past = sweep_past(there, there_unit);
    uint64_t const here_at = past + there->late, there_at = was_past + here->late;
    bool const     is_sooner = here_at != there_at ? here_at > there_at : here->rest > there->rest;
    return min_u64(left + is_sooner, sweep_life(here, value)) + sweep_owed(here, here_unit);
}

/* The sweep as it goes on in a table of fewer units, in which each is made of 2^halvings: u becomes
 * u / 2^halvings.
 *
 * No key may leave too early. A key is removed `life` passes after the first one that follows its
 * touch, so it is enough that no unit is passed sooner than before. That holds: a new unit counts
 * as due only when all the old ones that it is made of are. */
static __attribute__((unused)) sweep sweep_shrunk(const sweep *hand, unsigned halvings) {
    sweep less = *hand;
    for (; halvings > 0; halvings--) { /* one by one: due x timeout may not fit into 64 bits */
        less.rest = (less.due % 2 * less.timeout + less.rest) / 2;
        less.units /= 2;
        less.done /= 2;
        less.due /= 2;
    }
    less.late = 0;
    return less;
}

/* The timer of an entry whose table changes its size: `there` is the sweep before, `here` the one
 * after it. It stays as it is, but for one unit: where the hand stands, a unit here may be made of
 * some that were passed in this round and of others that were not. It counts as not passed, so the
 * entries of those that were get that pass back. No timer gets more than a fresh one. */
TAMIS_INLINE uint64_t sweep_carried(const sweep *here, uint64_t here_unit, const sweep *there,
                                    uint64_t there_unit, uint64_t timer, uint64_t value) {
    if (here->timer_bits == 0) return 0;
    bool const is_passed_again = there_unit < there->done && here_unit >= here->done;
    return min_u64(timer + is_passed_again, sweep_fresh(here, here_unit, value));
}

/* The hand has passed n more units, and not beyond the last. */
TAMIS_INLINE void sweep_skip(sweep *hand, uint64_t n) {
    hand->done += n;
    if (hand->done != hand->units) return;
    hand->done = 0;
    hand->due -= hand->units;
}

/* The hand has passed one more unit. */
TAMIS_INLINE void sweep_step(sweep *hand) {
    sweep_skip(hand, 1);
}

/* (a x b + c) / d of 64-bit numbers, where the result has 64 bits, too. */
static __attribute__((unused)) uint64_t sweep_divide(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                                     uint64_t *ret_rest) {
    uint64_t low, high = mul_wide(a, b, &low), quotient = 0;
    high += low + c < low;
    low += c;
    for (unsigned i = 0; i < 64; i++) { /* long division; d < 2^63 */
        high = high << 1 | low >> 63;
        low <<= 1;
        quotient = quotient << 1 | (high >= d);
        if (high >= d) high -= d;
    }
    *ret_rest = high;
    return quotient;
}

/* Time goes on: that many more units are due. */
static __attribute__((unused)) void sweep_advance(sweep *hand, uint64_t ticks) {
    uint64_t const most = sweep_most(hand), full = hand->done + (most + 1) * hand->units;
    bool const     is_long = ticks > 2 * hand->timeout; /* at least (most + 1) rounds */
    uint64_t const passed =
        is_long ? 0
                : sweep_divide(ticks, hand->units * most, hand->rest, hand->timeout, &hand->rest);
    uint64_t const waited = is_long ? hand->late : min_u64(passed, hand->late);
    uint64_t const more = passed - (is_long ? 0 : waited);
    hand->late -= waited;
    hand->due = is_long || more > full - hand->due ? full : hand->due + more;
}

/* Can these be the numbers of a sweep? For what comes from a file. */
static __attribute__((unused)) bool sweep_is_whole(const sweep *hand) {
    if (hand->timeout == 0)
        return (hand->timer_bits | hand->lives | hand->done | hand->due | hand->rest |
                hand->late) == 0;
    if (hand->timer_bits < SWEEP_MIN_BITS || hand->timer_bits > SWEEP_MAX_BITS) return false;
    for (unsigned value = 0; value < SWEEP_LIVES; value++) {
        if (sweep_life(hand, value) > sweep_most(hand)) return false;
    }
    return hand->timeout <= SWEEP_MAX_TIMEOUT && hand->rest < hand->timeout &&
           hand->done < hand->units && hand->late < hand->units && hand->due >= hand->done &&
           hand->due - hand->done <= (sweep_most(hand) + 1) * hand->units;
}

#endif
