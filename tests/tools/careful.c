/* careful.c - a contestant that is never wrong and has every call: a table of keys with linear
 * probing. If a loop of the bench passed a wrong key, an add or a removal would be refused. */
#include "outside.h"

#include <stdlib.h>

#define EMPTY 0   /* no key of the test is 0 or 1 */
#define REMOVED 1 /* lookups go on here, adds may use it */
#define ROOM 16   /* slots per key: a test is over before all are used, so every chain ends */

typedef struct careful {
    uint64_t  n_slots;
    uint64_t *slots;
} careful;

static inline uint64_t *careful_slot(const careful *t, uint64_t key, uint64_t step) {
    return &t->slots[(key + step) % t->n_slots];
}

/* The slot of the key. NULL: it is not there. */
static inline uint64_t *careful_find(const careful *t, uint64_t key) {
    for (uint64_t step = 0; *careful_slot(t, key, step) != EMPTY; step++) {
        if (*careful_slot(t, key, step) == key) return careful_slot(t, key, step);
    }
    return NULL;
}

/* False: it is there already. */
static inline bool careful_add(careful *t, uint64_t key) {
    uint64_t step = 0;
    if (careful_find(t, key) != NULL) return false;
    while (*careful_slot(t, key, step) > REMOVED) step++;
    *careful_slot(t, key, step) = key;
    return true;
}

static inline bool careful_has(const careful *t, uint64_t key) {
    return careful_find(t, key) != NULL;
}

static inline bool careful_remove(careful *t, uint64_t key) {
    uint64_t *const slot = careful_find(t, key);
    if (slot != NULL) *slot = REMOVED;
    return slot != NULL;
}

static inline void careful_fetch(const careful *t, uint64_t key) {
    OUTSIDE_PREFETCH(careful_slot(t, key, 0));
}

OUTSIDE_LOOPS(careful, careful, careful_add, careful_has)
OUTSIDE_REMOVE_LOOPS(careful, careful, careful_add, careful_remove)
OUTSIDE_FETCH_LOOPS(careful, careful, careful_add, careful_has, careful_fetch)
OUTSIDE_FETCH_REMOVE_LOOPS(careful, careful, careful_add, careful_remove, careful_fetch)

static void careful_free(void *table) {
    free(((careful *)table)->slots);
    free(table);
}

static uint64_t careful_bytes(const void *table) {
    return ((const careful *)table)->n_slots * sizeof(uint64_t);
}

static void *careful_make(uint64_t n, double fpr) {
    (void)fpr;
    careful *const t = malloc(sizeof *t);
    if (t == NULL) return NULL;
    t->n_slots = ROOM * n;
    t->slots = calloc(t->n_slots, sizeof *t->slots);
    if (t->slots != NULL) return t;
    free(t);
    return NULL;
}

static const outside_contestant contestant = {
    OUTSIDE_HEAD,
    .name = "careful",
    .make = careful_make,
    .free = careful_free,
    .bytes = careful_bytes,
    .lines = 1,
    .single = { careful_add_each, careful_has_each, careful_remove_each, careful_churn_each },
    .batch = { careful_add_each, careful_has_each, careful_remove_each },
    .ahead = { careful_add_ahead, careful_has_ahead, careful_remove_ahead, careful_churn_ahead },
};
OUTSIDE_ENTER(contestant)
