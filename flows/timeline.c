/* timeline.c - see timeline.h. */
#include "timeline.h"

#include <string.h>

/* In milliseconds. Each divides the next. */
static const uint64_t widths[] = { 1,        2,         10,         20,         100,      200,
                                   1000,     2000,      10000,      30000,      60000,    300000,
                                   600000,   1800000,   3600000,    7200000,    21600000, 43200000,
                                   86400000, 604800000, 2419200000, 29030400000 };

#define N_WIDTHS (sizeof widths / sizeof widths[0])
#define NS_PER_MS UINT64_C(1000000)

uint64_t timeline_width_ns(const timeline *line) {
    return widths[line->width] * NS_PER_MS;
}

void timeline_init(timeline *ret_line) {
    *ret_line = (timeline){ 0 };
    ret_line->end_ns = TIMELINE_SLOTS * timeline_width_ns(ret_line);
}

/* Go to the next width, and merge slots. */
static void widen_slots(timeline *line) {
    uint64_t const n_merged = widths[line->width + 1] / widths[line->width];
    timeline       wider = { .width = line->width + 1 };
    for (size_t i = 0; i < TIMELINE_SLOTS; i++) {
        timeline_slot *const slot = &wider.slots[i / n_merged];
        slot->packets += line->slots[i].packets;
        slot->bytes += line->slots[i].bytes;
        slot->flows += line->slots[i].flows;
    }
    wider.end_ns = TIMELINE_SLOTS * timeline_width_ns(&wider);
    *line = wider;
}

timeline_slot *timeline_find(timeline *line, uint64_t now_ns) {
    while (now_ns >= line->end_ns && line->width + 1 < N_WIDTHS) widen_slots(line);
    uint64_t const width = timeline_width_ns(line), slot = now_ns / width;
    line->last = slot < TIMELINE_SLOTS ? (size_t)slot : TIMELINE_SLOTS - 1;
    line->from_ns = line->last * width;
    line->until_ns = line->from_ns + width;
    return &line->slots[line->last];
}

void timeline_add(timeline *to, const timeline *from) {
    timeline other = *from;
    while (to->width < other.width) widen_slots(to);
    while (other.width < to->width) widen_slots(&other);
    for (size_t i = 0; i < TIMELINE_SLOTS; i++) {
        to->slots[i].packets += other.slots[i].packets;
        to->slots[i].bytes += other.slots[i].bytes;
        to->slots[i].flows += other.slots[i].flows;
    }
}
