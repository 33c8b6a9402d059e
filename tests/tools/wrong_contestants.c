/* wrong_contestants.c - contestants that the bench must refuse before it calls any of them. */
#include "outside.h"

#include <stdlib.h>

static void *no_table(uint64_t n, double fpr) {
    (void)n;
    (void)fpr;
    return NULL;
}

static uint64_t no_bytes(const void *table) {
    (void)table;
    return 0;
}

static size_t no_answer(void *table, const uint64_t *keys, size_t n) {
    (void)table;
    (void)keys;
    return n;
}

static size_t no_answer_ahead(void *table, const uint64_t *keys, size_t n, size_t ahead) {
    (void)ahead;
    return no_answer(table, keys, n);
}

#define CALLS .make = no_table, .free = free, .bytes = no_bytes, .single = { no_answer, no_answer }

/* Its name is not where this outside.h expects it. */
static const outside_contestant another_version = { .version = OUTSIDE_VERSION + 1,
                                                    .struct_bytes = sizeof another_version };
static const outside_contestant another_size = { .version = OUTSIDE_VERSION, .struct_bytes = 16 };
static const outside_contestant no_name = { OUTSIDE_HEAD, CALLS };
static const outside_contestant odd_name = { OUTSIDE_HEAD, .name = "a:b", CALLS };
static const outside_contestant name_of_kind = { OUTSIDE_HEAD, .name = "line", CALLS };
static const outside_contestant twin = { OUTSIDE_HEAD, .name = "twin", CALLS };
static const outside_contestant no_make = { OUTSIDE_HEAD, .name = "no-make" };
static const outside_contestant no_has = { OUTSIDE_HEAD,      .name = "no-has",
                                           .make = no_table,  .free = free,
                                           .bytes = no_bytes, .single = { .add = no_answer } };
static const outside_contestant half_ahead = { OUTSIDE_HEAD, .name = "half-ahead", CALLS,
                                               .ahead = { .has = no_answer_ahead } };

__attribute__((constructor)) static void enter_wrong_contestants(void) {
    static const outside_contestant *const wrong[] = {
        &another_version, &another_size, &no_name,    &odd_name, &name_of_kind, &twin, &twin,
        &no_make,         &no_has,       &half_ahead,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) outside_register(wrong[i]);
}
