/* exact.h - an exact table of flows: what a flow tracker usually keeps, and what --check uses.
 *
 * Idea: open addressing with linear probing on 64-bit ids. A slot takes 16 bytes. The table is at
 * most 7/8 full and grows by a quarter. Removal leaves no mark: the flows behind the removed one
 * move up.
 *
 * "Exact" means up to collisions of ids: two given flows share an id with probability 2^-64.
 */
#ifndef FLOWS_EXACT_H
#define FLOWS_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct exact_slot {
    uint64_t id;
    uint32_t tick;  /* of the last touch */
    uint32_t value; /* EXACT_FREE: the slot is empty */
} exact_slot;

#define EXACT_FREE UINT32_MAX

typedef struct exact {
    exact_slot *slots;
    uint64_t    n_slots, n_used;
    uint64_t    peak_used;
} exact;

bool exact_init(exact *ret_table); /* false: no memory */
void exact_fini(exact *t);

/* The slot of a flow, or NULL. Valid until the next add or remove. */
exact_slot *exact_find(const exact *t, uint64_t id);

/* Make a slot for a flow that is not in the table. NULL: no memory. */
exact_slot *exact_add(exact *t, uint64_t id);

/* Remove a flow. Another flow may move into its slot, so a loop over all slots looks at this slot
 * again. */
void exact_remove(exact *t, exact_slot *slot);

uint64_t exact_bytes(const exact *t);

#endif
