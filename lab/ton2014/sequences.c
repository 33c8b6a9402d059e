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

/* Replace sums of j numbers by sums of j + 1 numbers, as far as a set reaches. Returns false if
 * there are none within its reach. */
static bool one_more(const numbers *list, seen *sums) {
    seen     next = { .bit = { 0 } };
    uint64_t any = 0;
    for (unsigned i = 0; i < list->n; i++) {
        unsigned const up = list->value[i]; /* less than the bits of a word */
        for (unsigned word = 0; word < WORDS; word++) {
            uint64_t const carry = word == 0 ? 0 : sums->bit[word - 1] >> (64 - up);
            next.bit[word] |= sums->bit[word] << up | carry;
            any |= next.bit[word];
        }
    }
    *sums = next;
    return any != 0;
}

bool is_bh_tilde(uint64_t mask, unsigned h) {
    numbers const list = numbers_of(mask);
    seen          all = { .bit = { 0 } }, sums = { .bit = { 1 } };
    if (!is_sequence(mask, h)) return false;
    for (unsigned i = 1; i <= h; i++) {
        if (!are_new(&list, list.n, i, 0, &all)) return false;
        (void)one_more(&list, &sums);
    }
    while (one_more(&list, &sums)) { /* sums of more than h numbers must not be among them */
        for (unsigned word = 0; word < WORDS; word++) {
            if ((sums.bit[word] & all.bit[word]) != 0) return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ searches */

typedef struct search {
    bool (*is_good)(uint64_t mask, unsigned h);
    unsigned  h, bound;
    uint64_t *ret_masks;
    size_t    max, found;
} search;

/* Choose `left` more numbers, all at least `first`. A set that is not good has no superset that
 * is. */
static void go_on(search *task, uint64_t mask, unsigned first, unsigned left) {
    if (left == 0) {
        if (task->found < task->max) task->ret_masks[task->found] = mask;
        task->found++;
        return;
    }
    for (unsigned v = first; v <= task->bound; v++) {
        uint64_t const more = mask | UINT64_C(1) << v;
        if (task->is_good(more, task->h)) go_on(task, more, v + 1, left - 1);
    }
}

size_t bh_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max) {
    search task = { tamis_is_bh, h, bound, ret_masks, max, 0 };
    if (l < 1 || bound < 1 || bound > MAX_VALUE || !tamis_is_bh(2, h)) return 0;
    go_on(&task, 2, 2, l - 1);
    return task.found;
}

size_t bh_tilde_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max) {
    search task = { is_bh_tilde, h, bound, ret_masks, max, 0 };
    if (l < 1 || bound > MAX_VALUE) return 0;
    go_on(&task, 0, 1, l);
    return task.found;
}
