/* timeline.h - what came when, in a fixed number of slots.
 *
 * Nobody knows beforehand how long a capture is. So slots begin narrow; when time leaves the last
 * of them, neighbours are put together and all get wider, to the next width that people like.
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
    unsigned      width;             /* which of the widths */
    uint64_t      end_ns;            /* where the last slot ends */
    uint64_t      from_ns, until_ns; /* the slot of the last call, and */
    size_t        last;              /* which it was */
    timeline_slot slots[TIMELINE_SLOTS];
} timeline;

void     timeline_init(timeline *ret_line);
uint64_t timeline_width_ns(const timeline *line);

/* The slot of a time, after making room for it. */
timeline_slot *timeline_find(timeline *line, uint64_t now_ns);

static inline timeline_slot *timeline_at(timeline *line, uint64_t now_ns) {
    bool const is_same = now_ns >= line->from_ns && now_ns < line->until_ns;
    return is_same ? &line->slots[line->last] : timeline_find(line, now_ns);
}

#endif
