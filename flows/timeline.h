/* timeline.h - counts of packets, bytes and flows over time, in a fixed number of slots.
 *
 * The length of a capture is not known beforehand. So slots begin narrow. When time passes the end
 * of the last slot, neighbouring slots are merged, and all become wider: 1, 2, 10, 20 ms, ...
 */
#ifndef FLOWS_TIMELINE_H
#define FLOWS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_SLOTS 60

typedef struct timeline_slot {
    uint64_t packets, bytes, flows;
} timeline_slot;

typedef struct timeline {
    unsigned      width;             /* an index into the list of widths */
    uint64_t      end_ns;            /* where the last slot ends */
    size_t        last;              /* the slot that the last call found, */
    uint64_t      from_ns, until_ns; /* and its borders */
    timeline_slot slots[TIMELINE_SLOTS];
} timeline;

void     timeline_init(timeline *ret_line);
uint64_t timeline_width_ns(const timeline *line);

/* Find the slot of a time. Widens all slots if it is after the last one. */
timeline_slot *timeline_find(timeline *line, uint64_t now_ns);

/* Add the counts of another line, which began at the same time. */
void timeline_add(timeline *to, const timeline *from);

/* The same as timeline_find(), with a fast path for the slot of the last call. */
static inline timeline_slot *timeline_at(timeline *line, uint64_t now_ns) {
    bool const is_same = now_ns >= line->from_ns && now_ns < line->until_ns;
    return is_same ? &line->slots[line->last] : timeline_find(line, now_ns);
}

#endif
