/* clock.h - the time of a capture, made to behave.
 *
 * Stamps of packets may be out of order, and a few may be nonsense. Ageing wants a time that never
 * goes back and does not run away:
 *
 *   - a stamp up to a minute behind the latest: packets overtook each other. Time stands still.
 *   - further behind: the same, but after a hundred of them in a row the stamps start again from
 *     there, and time goes on from where it was. So one packet from the year 2106 does not stop the
 *     clock for ever, and two interfaces whose clocks differ, in one capture, do not make it run.
 *   - more than an hour ahead: time goes on by that hour only.
 */
#ifndef FLOWS_CLOCK_H
#define FLOWS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define CLOCK_LATE_NS (60 * NS_PER_SECOND)
#define CLOCK_JUMP_NS (3600 * NS_PER_SECOND)
#define CLOCK_BEHIND 100 /* packets in a row that are believed */

typedef struct flow_clock {
    uint64_t now_ns;    /* since the first packet */
    uint64_t latest_ns; /* the stamp that belongs to it, since 1970 */
    uint64_t first_ns;
    bool     is_begun;
    uint64_t behind_ns; /* latest_ns when the packets came that are far behind, */
    unsigned n_behind;  /* and how many of them */
    uint64_t n_late;    /* packets out of order */
    uint64_t n_jumps;   /* stamps that were too far from the ones before, in either direction */
} flow_clock;

static inline void clock_begin(flow_clock *clock, uint64_t stamp_ns) {
    clock->is_begun = true;
    clock->first_ns = clock->latest_ns = stamp_ns;
}

static inline void clock_go_back(flow_clock *clock, uint64_t stamp_ns) {
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

/* A packet with this stamp comes. */
static inline void clock_see(flow_clock *clock, uint64_t stamp_ns) {
    if (!clock->is_begun) clock_begin(clock, stamp_ns);
    if (stamp_ns < clock->latest_ns) {
        clock_go_back(clock, stamp_ns);
        return;
    }
    uint64_t const ahead = stamp_ns - clock->latest_ns;
    bool const     is_jump = ahead > CLOCK_JUMP_NS;
    clock->n_jumps += is_jump;
    clock->now_ns += is_jump ? CLOCK_JUMP_NS : ahead;
    clock->latest_ns = stamp_ns;
}

#endif
