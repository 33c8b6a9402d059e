/* visited.h - the states that every.c has seen, by their hashes, and how many orders follow each.
 *
 * A table with linear probing. Two states with the same hash of 64 bits would be taken for one: for
 * 2 x 10^7 states, the probability that any two have the same is 10^-5.
 */
#ifndef EXPLORE_VISITED_H
#define EXPLORE_VISITED_H

#include "steps.h"

#include <math.h>

#define VISITED_LEAST (UINT64_C(1) << 16)

typedef struct visit {
    uint64_t hash;   /* 0: free */
    double   orders; /* the logarithm: from here to an end; -INFINITY while they are tried */
} visit;

static struct {
    visit   *slots;
    uint64_t n, room;
} visited;

static visit *visited_slot(uint64_t hash) {
    uint64_t i = hash & (visited.room - 1);
    while (visited.slots[i].hash != 0 && visited.slots[i].hash != hash)
        i = (i + 1) & (visited.room - 1);
    return &visited.slots[i];
}

static void visited_make(uint64_t room) {
    visited.room = room;
    visited.slots = calloc(room, sizeof(visit));
    if (visited.slots == NULL) stop_all("not enough memory for the states");
}

static void visited_clear(void) {
    free(visited.slots);
    visited.n = 0;
    visited_make(VISITED_LEAST);
}

static void visited_double(void) {
    visit *const   before = visited.slots;
    uint64_t const room = visited.room;
    visited_make(2 * room);
    for (uint64_t i = 0; i < room; i++) {
        if (before[i].hash != 0) *visited_slot(before[i].hash) = before[i];
    }
    free(before);
}

/* True: it is new. Otherwise *ret_orders says how many follow it. */
static bool visited_add(uint64_t hash, double *ret_orders) {
    if (8 * (visited.n + 1) > 7 * visited.room) visited_double();
    visit *const slot = visited_slot(hash);
    *ret_orders = slot->orders;
    if (slot->hash != 0) return false;
    *slot = (visit){ hash, -INFINITY };
    visited.n++;
    return true;
}

#endif
