/* forgetful.c - a broken contestant: it says no to one in eight keys that were added, in all its
 * calls. The bench has to notice. */
#include "outside.h"

#include <stdlib.h>

typedef struct forgetful {
    uint64_t n;
} forgetful;

static inline bool forgetful_add(forgetful *table, uint64_t key) {
    (void)key;
    table->n++;
    return true;
}

static inline bool forgetful_has(const forgetful *table, uint64_t key) {
    return table->n > 0 && key % 8 != 0;
}

static inline void forgetful_fetch(const forgetful *table, uint64_t key) {
    (void)key;
    OUTSIDE_PREFETCH(table);
}

OUTSIDE_LOOPS(forgetful, forgetful, forgetful_add, forgetful_has)
OUTSIDE_FETCH_LOOPS(forgetful, forgetful, forgetful_add, forgetful_has, forgetful_fetch)

static void *forgetful_make(uint64_t n, double fpr) {
    (void)n;
    (void)fpr;
    return calloc(1, sizeof(forgetful));
}

static uint64_t forgetful_bytes(const void *table) {
    (void)table;
    return sizeof(forgetful);
}

static const outside_contestant contestant = {
    OUTSIDE_HEAD,
    .name = "forgetful",
    .make = forgetful_make,
    .free = free,
    .bytes = forgetful_bytes,
    .single = { forgetful_add_each, forgetful_has_each, NULL, NULL },
    .batch = { forgetful_add_each, forgetful_has_each, NULL },
    .ahead = { forgetful_add_ahead, forgetful_has_ahead, NULL, NULL },
};
OUTSIDE_ENTER(contestant)

/* It cannot make a table of any size. */
static void *unable_make(uint64_t n, double fpr) {
    (void)n;
    (void)fpr;
    return NULL;
}

static const outside_contestant unable = {
    OUTSIDE_HEAD,
    .name = "unable",
    .make = unable_make,
    .free = free,
    .bytes = forgetful_bytes,
    .single = { forgetful_add_each, forgetful_has_each, NULL, NULL },
};
OUTSIDE_ENTER(unable)
