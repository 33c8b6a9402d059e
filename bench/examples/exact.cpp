/* exact.cpp - an example of a contestant in C++: std::unordered_set. It can remove, it is never
 * wrong, and it shows what that costs.
 *
 *     make bench N=100000 CONTESTANTS=bench/examples/exact.cpp
 */
#include "outside.h"

#include <unordered_set>

typedef std::unordered_set<uint64_t> exact;

static inline bool exact_add(exact *set, uint64_t key) {
    return set->insert(key).second;
}

static inline bool exact_has(const exact *set, uint64_t key) {
    return set->find(key) != set->end();
}

static inline bool exact_remove(exact *set, uint64_t key) {
    return set->erase(key) != 0;
}

OUTSIDE_LOOPS(exact, exact, exact_add, exact_has)
OUTSIDE_REMOVE_LOOPS(exact, exact, exact_add, exact_remove)

/* The table is made for n keys, so that its buckets do not grow while they are counted. */
static void *exact_make(uint64_t n, double) {
    exact *const set = new exact;
    set->reserve(n);
    return set;
}

static void exact_free(void *table) {
    delete static_cast<exact *>(table);
}

/* A pointer per bucket, and a node per key: a pointer and the key, and what malloc() needs. The
 * bench asks for the bytes when the table is empty, and there are as many buckets as keys. */
static uint64_t exact_bytes(const void *table) {
    return static_cast<const exact *>(table)->bucket_count() * (8 + 32);
}

static const outside_contestant contestant = {
    OUTSIDE_HEAD,
    .name = "exact",
    .note = "an example: std::unordered_set",
    .make = exact_make,
    .free = exact_free,
    .clear = nullptr,
    .bytes = exact_bytes,
    .lines = 3,
    .single = { exact_add_each, exact_has_each, exact_remove_each, exact_churn_each },
    .batch = {},
    .ahead = {},
};
OUTSIDE_ENTER(contestant)
