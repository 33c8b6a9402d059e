/* intervals.h - what happened in each interval of time, as a line of text, CSV or JSON. */
#ifndef FLOWS_INTERVALS_H
#define FLOWS_INTERVALS_H

#include "session.h"

/* Counters of a session at one time. */
typedef struct interval_counts {
    uint64_t packets, bytes, flows, timed_out, evicted, dropped, no_room, unknown;
    uint64_t events[MACHINE_EVENTS];
} interval_counts;

typedef struct intervals {
    bool            has_header; /* of text and of CSV, in this output file */
    uint64_t        length_ns;  /* 0: none are wanted */
    uint64_t        began_ns;   /* the interval that is counted now */
    interval_counts before;     /* when it began */
} intervals;

void intervals_begin(intervals *ret_intervals, const session *s, uint64_t now_ns);

/* When the interval ends; UINT64_MAX: never. */
static inline uint64_t intervals_next(const intervals *all) {
    return all->length_ns != 0 ? all->began_ns + all->length_ns : UINT64_MAX;
}

/* Has it ended? Or was the clock of the system set back? */
static inline bool intervals_are_due(const intervals *all, uint64_t now_ns) {
    return all->length_ns != 0 &&
           (now_ns >= intervals_next(all) || now_ns + all->length_ns < all->began_ns);
}

/* Print the interval that has ended by now. If more have ended since, nothing came in them: a line
 * is printed for each. */
void intervals_print_due(intervals *all, const session *s, uint64_t now_ns);

/* Print what came since, which may be shorter than an interval. */
void intervals_print_last(intervals *all, const session *s);

/* The output goes to a new file, which needs a header. */
void intervals_begin_file(intervals *all);

#endif
