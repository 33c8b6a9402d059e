/* clock.h - the time of a capture, made monotonic.
 *
 * Timestamps of packets may be out of order, and a few may be wrong. Timeouts need a time that
 * never goes back and does not jump far ahead:
 *
 *   - A timestamp up to a minute behind the latest one: packets overtook each other. The time does
 *     not change.
 *   - Further behind: the time does not change, either. But after a hundred such packets in a row
 *     their timestamps are accepted, and time continues from where it was. So one packet from the
 *     year 2106 does not stop the clock for ever. And two interfaces with different clocks in one
 *     capture do not drive time ahead.
 *   - More than an hour ahead: time advances by one hour only.
 */
#ifndef FLOWS_CLOCK_H
#define FLOWS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define CLOCK_LATE_NS (60 * NS_PER_SECOND)
#define CLOCK_JUMP_NS (3600 * NS_PER_SECOND)
#define CLOCK_BEHIND 100 /* so many packets in a row that are far behind are believed */

typedef struct flow_clock {
    uint64_t now_ns;    /* since the first packet */
    uint64_t latest_ns; /* the timestamp of now_ns, since 1970 */
    uint64_t first_ns;
    bool     is_begun;
    uint64_t behind_ns; /* latest_ns at the last packet that was far behind */
    unsigned n_behind;  /* how many came in a row */
    uint64_t n_late;    /* packets out of order */
    uint64_t n_jumps;   /* timestamps too far ahead or behind */
} flow_clock;

/* A packet is behind the latest one. */
static inline void clock_see_late(flow_clock *clock, uint64_t stamp_ns) {
    clock->n_late++;
    if (clock->latest_ns - stamp_ns <= CLOCK_LATE_NS) return;
    bool const is_in_a_row = clock->n_behind != 0 && clock->behind_ns == clock->latest_ns;
    clock->behind_ns = clock->latest_ns;
    clock->n_behind = is_in_a_row ? clock->n_behind + 1 : 1;
    if (clock->n_behind < CLOCK_BEHIND) return;
    clock->n_behind = 0;
    clock->n_jumps++;
    clock->latest_ns = stamp_ns;
}

/* A packet with this timestamp arrives. */
static inline void clock_see(flow_clock *clock, uint64_t stamp_ns) {
    if (!clock->is_begun) clock->first_ns = clock->latest_ns = stamp_ns;
    clock->is_begun = true;
    if (stamp_ns < clock->latest_ns) {
        clock_see_late(clock, stamp_ns);
        return;
    }
    uint64_t const ahead = stamp_ns - clock->latest_ns;
    bool const     is_jump = ahead > CLOCK_JUMP_NS;
    clock->n_jumps += is_jump;
    clock->now_ns += is_jump ? CLOCK_JUMP_NS : ahead;
    clock->latest_ns = stamp_ns;
}

/* The clock of the system says this, and no packet is on its way. It is believed at once, also if
 * it was set back. */
static inline void clock_follow(flow_clock *clock, uint64_t stamp_ns) {
    if (clock->is_begun && clock->latest_ns > stamp_ns + CLOCK_LATE_NS) {
        clock->n_jumps++;
        clock->latest_ns = stamp_ns;
    } else if (stamp_ns > clock->latest_ns) {
        clock_see(clock, stamp_ns);
    }
}

#endif
