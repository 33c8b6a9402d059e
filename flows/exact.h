/* exact.h - an exact table of flows: what others keep, and what --check compares with.
 *
 * Idea: open addressing with linear probing on 64-bit ids, 16 bytes a slot, at most 7/8 full; it
 * grows by a quarter. A flow that goes leaves no mark: those behind it move up.
 *
 * Two different flows share an id with a probability of 2^-64 each, which is what exact means here.
 */
#ifndef FLOWS_EXACT_H
#define FLOWS_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct exact_slot {
    uint64_t id;
    uint32_t tick;  /* of the last touch */
    uint32_t value; /* EXACT_FREE: nobody here */
} exact_slot;

#define EXACT_FREE UINT32_MAX

typedef struct exact {
    exact_slot *slots;
    uint64_t    n_slots, n_used;
    uint64_t    peak_used;
} exact;

bool exact_init(exact *ret_table); /* false: no memory */
void exact_fini(exact *t);

/* The flow's slot, or NULL. Valid until the next add or remove. */
exact_slot *exact_find(const exact *t, uint64_t id);

/* A slot for a flow that is not there yet; NULL: no memory. */
exact_slot *exact_add(exact *t, uint64_t id);

/* Take a flow out. What was behind it moves up, so look at this slot again when going through. */
void exact_remove(exact *t, exact_slot *slot);

uint64_t exact_bytes(const exact *t);

#endif
