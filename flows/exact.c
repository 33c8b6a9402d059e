/* exact.c - see exact.h. */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024

/* Scale the id to the number of slots, which need not be a power of two. Ids are hashes with a
 * secret seed already, so their high bits are random. */
static uint64_t home_slot(const exact *t, uint64_t id) {
    return (uint64_t)((unsigned __int128)id * t->n_slots >> 64);
}

static uint64_t slot_after(const exact *t, uint64_t i) {
    return i + 1 == t->n_slots ? 0 : i + 1;
}

static exact_slot *new_slots(uint64_t n) {
    exact_slot *const slots = malloc(n * sizeof *slots);
    for (uint64_t i = 0; slots != NULL && i < n; i++)
        slots[i] = (exact_slot){ .value = EXACT_FREE };
    return slots;
}

bool exact_init(exact *ret_table) {
    *ret_table = (exact){ .slots = new_slots(FIRST_SLOTS), .n_slots = FIRST_SLOTS };
    return ret_table->slots != NULL;
}

void exact_fini(exact *t) {
    free(t->slots);
    *t = (exact){ 0 };
}

exact_slot *exact_find(const exact *t, uint64_t id) {
    for (uint64_t i = home_slot(t, id); t->slots[i].value != EXACT_FREE; i = slot_after(t, i)) {
        if (t->slots[i].id == id) return &t->slots[i];
    }
    return NULL;
}

static exact_slot *find_free(const exact *t, uint64_t id) {
    uint64_t i = home_slot(t, id);
    while (t->slots[i].value != EXACT_FREE) i = slot_after(t, i);
    return &t->slots[i];
}

static bool grow(exact *t) {
    exact larger = { .n_slots = t->n_slots + t->n_slots / 4,
                     .n_used = t->n_used,
                     .peak_used = t->peak_used };
    larger.slots = new_slots(larger.n_slots);
    if (larger.slots == NULL) return false;
    for (uint64_t i = 0; i < t->n_slots; i++) {
        if (t->slots[i].value != EXACT_FREE) *find_free(&larger, t->slots[i].id) = t->slots[i];
    }
    free(t->slots);
    *t = larger;
    return true;
}

exact_slot *exact_add(exact *t, uint64_t id) {
    if (t->n_used >= t->n_slots / 8 * 7 && !grow(t)) return NULL;
    exact_slot *const slot = find_free(t, id);
    *slot = (exact_slot){ .id = id };
    t->n_used++;
    if (t->n_used > t->peak_used) t->peak_used = t->n_used;
    return slot;
}

void exact_remove(exact *t, exact_slot *slot) {
    uint64_t hole = (uint64_t)(slot - t->slots);
    for (uint64_t i = slot_after(t, hole); t->slots[i].value != EXACT_FREE; i = slot_after(t, i)) {
        uint64_t const home = home_slot(t, t->slots[i].id);
        bool const is_home_between = hole < i ? home > hole && home <= i : home > hole || home <= i;
        if (is_home_between) continue; /* it would not be found in the hole */
        t->slots[hole] = t->slots[i];
        hole = i;
    }
    t->slots[hole].value = EXACT_FREE;
    t->n_used--;
}

uint64_t exact_bytes(const exact *t) {
    return t->n_slots * sizeof(exact_slot);
}
