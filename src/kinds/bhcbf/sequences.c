/* sequences.c - see sequences.h. */
#include "sequences.h"

/* A sequence is stored as a mask: bit v is set if v is one of its numbers. */
sequence_numbers tamis_sequence_numbers(uint64_t mask) {
    sequence_numbers list = { .n = 0 };
    for (; mask != 0; mask &= mask - 1) list.value[list.n++] = bits_lowest(mask);
    return list;
}

/* Add to `all` every sum of `sum` and `left` more numbers, chosen among the first n. Each multiset
 * of numbers is visited once, since they are chosen in decreasing order. It stops at the first sum
 * that was there before, so there are never more steps than different sums. */
static bool are_new(const sequence_numbers *list, unsigned n, unsigned left, unsigned sum,
                    sequence_sums *all) {
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

bool tamis_sequence_add_sums(const sequence_numbers *list, unsigned h, sequence_sums *all) {
    return are_new(list, list->n, h, 0, all);
}

/* Sums of fewer numbers are different, too: two equal ones, each with the same number added until
 * they are sums of h numbers, would be equal as well. So h is enough to test. */
bool tamis_is_bh(uint64_t mask, unsigned h) {
    sequence_numbers const list = tamis_sequence_numbers(mask);
    sequence_sums          all = { .bit = { 0 } };
    return sequence_is_possible(mask, h) && tamis_sequence_add_sums(&list, h, &all);
}
