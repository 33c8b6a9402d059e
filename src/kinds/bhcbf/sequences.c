/* sequences.c - see sequences.h. */
#include "sequences.h"

#include "core/bits.h"

#define MAX_VALUE 63
#define WORDS (MAX_VALUE * SEQUENCES_MAX_H / 64 + 1)

/* A set of sums: bit s of the words. */
typedef struct seen {
    uint64_t bit[WORDS];
} seen;

typedef struct numbers {
    unsigned value[MAX_VALUE], n;
} numbers;

static numbers numbers_of(uint64_t mask) {
    numbers list = { .n = 0 };
    for (; mask != 0; mask &= mask - 1) list.value[list.n++] = bits_lowest(mask);
    return list;
}

static bool is_sequence(uint64_t mask, unsigned h) {
    return mask != 0 && (mask & 1) == 0 && h >= 1 && h <= SEQUENCES_MAX_H;
}

/* Add to `all` every sum of `sum` and `left` more numbers, chosen among the first n. Returns false
 * as soon as a sum was there before. So there are never more steps than different sums. Each
 * multiset is visited once, since numbers are chosen in decreasing order. */
static bool are_new(const numbers *list, unsigned n, unsigned left, unsigned sum, seen *all) {
    if (left == 0) {
        uint64_t const bit = UINT64_C(1) << (sum % 64), before = all->bit[sum / 64];
        all->bit[sum / 64] |= bit;
        return (before & bit) == 0;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!are_new(list, i + 1, left - 1, sum + list->value[i], all)) return false;
    }
    return true;
}

bool tamis_is_bh(uint64_t mask, unsigned h) {
    numbers const list = numbers_of(mask);
    seen          all = { .bit = { 0 } };
    return is_sequence(mask, h) && are_new(&list, list.n, h, 0, &all);
}
