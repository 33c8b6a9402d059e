/* sweep.h - timeouts: a sweep passes through the table again and again and decrements timers.
 *
 * A table is divided into units (buckets, or cells). The sweep visits all of them, like the hand of
 * a clock, `most` times in a timeout T. When the hand passes a cell, the cell's timer is
 * decremented by one; a cell whose timer is 0 already is removed. A cell that is put or touched
 * gets a timer of `most`. So it is removed at pass most + 1 after that: later than T, and within T
 * + T / most.
 *
 * The hand may be late: a call of tick does a bounded part of its work. Passes of a unit that were
 * due before the touch and are done after it are owed; they must not count for the touch. So a
 * touch sets the timer to `most` plus the passes that are owed; the late passes only take back what
 * was added for them. That is exact, and needs no clock in a cell:
 *
 *     timer of t bits:  0 .. 2^t - 1  =  0 .. most + owed,    most = 2^(t-1) - 1,  owed <= most + 1
 *
 * More than most + 1 passes are never owed: after that many, every silent cell is gone. Longer
 * jumps of time are cut to that.
 *
 * A value can have a shorter life than others: fewer passes, `lives` says how many.
 *
 *     units          0 ... done-1 | done ..... due-1 | due ... units-1
 *                     looked through   owed             of the next ticks
 */
#ifndef TAMIS_CORE_SWEEP_H
#define TAMIS_CORE_SWEEP_H

#include "core/base.h"
#include "core/hash.h"

#define SWEEP_MIN_BITS 2
#define SWEEP_MAX_BITS 5
#define SWEEP_LIVES 16 /* values that can have a life of their own, 4 bits for each */
#define SWEEP_MAX_TIMEOUT (UINT64_C(1) << 32)

typedef struct sweep {
    uint64_t units;
    uint64_t timeout;    /* in ticks; 0: no timeout */
    uint64_t timer_bits; /* 0 if nothing ages */
    uint64_t lives;      /* passes that the values 0 to 15 last, 4 bits each; 0: `most` */
    uint64_t done, due;  /* in units; done < units, and due <= done + (most + 1) units */
    uint64_t rest;       /* of the time since, in 1 / timeout of a unit */
    uint64_t late;       /* units that pass before the next one is due: of tables that have grown */
} sweep;

/* Passes in a timeout. */
TAMIS_INLINE uint64_t sweep_most(const sweep *hand) {
    return (UINT64_C(1) << (hand->timer_bits - 1)) - 1;
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

/* How far the hand is past a unit, in units: all passes that are due are taken to be done. */
TAMIS_INLINE uint64_t sweep_past(const sweep *hand, uint64_t unit) {
    return (hand->due + hand->units - 1 - unit) % hand->units;
}

/* A timer goes from a unit there to a unit here: the passes that it had left, and those that are
 * owed here. If the hand comes sooner here than it would have come there, the first pass must not
 * count. No timer gets more than a fresh one of its value has. */
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
 * A key that was touched before a pass of its unit goes `life` passes after that one. So the next
 * pass must not come before now: that is all that a hand in another table must keep. It does here:
 * of the units that are made of those before `due` and others, none is due yet. */
static __attribute__((unused)) sweep sweep_shrunk(const sweep *hand, unsigned halvings) {
    sweep          less = *hand;
    uint64_t const part = hand->due & ((UINT64_C(1) << halvings) - 1);
    less.units >>= halvings;
    less.done >>= halvings;
    less.due >>= halvings;
    less.rest = (part * hand->timeout + hand->rest) >> halvings;
    less.late = 0;
    return less;
}

/* A timer goes from a unit there to the unit that it is a part of here (sweep_shrunk), or to a part
 * of it in a table that has grown. Passes that are not done count as before. But one unit here, the
 * one at the hand, may be made of some that were passed and of others that were not: it counts as
 * not passed, and those that were get that pass back. No timer gets more than a fresh one. */
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
