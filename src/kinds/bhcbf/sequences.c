/* sequences.c - see sequences.h. */
#include "sequences.h"

#include "core/bits.h"

#define MAX_VALUE 63
#define WORDS (MAX_VALUE * SEQUENCES_MAX_H / 64 + 1)

/* A set of sums. */
typedef struct seen {
    uint64_t bit[WORDS];
} seen;

typedef struct numbers {
    unsigned value[MAX_VALUE], n;
} numbers;

static numbers numbers_of(uint64_t mask) {
    numbers of = { .n = 0 };
    for (; mask != 0; mask &= mask - 1) of.value[of.n++] = bits_lowest(mask);
    return of;
}

static bool is_sequence(uint64_t mask, unsigned h) {
    return mask != 0 && (mask & 1) == 0 && h >= 1 && h <= SEQUENCES_MAX_H;
}

/* Are all sums of `left` more of the first n numbers new? It ends with the first that is not, so
 * that there are never more of them than there are different sums. */
static bool are_new(const numbers *of, unsigned n, unsigned left, unsigned sum, seen *all) {
    if (left == 0) {
        uint64_t const bit = UINT64_C(1) << (sum % 64), before = all->bit[sum / 64];
        all->bit[sum / 64] |= bit;
        return (before & bit) == 0;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!are_new(of, i + 1, left - 1, sum + of->value[i], all)) return false;
    }
    return true;
}

bool tamis_is_bh(uint64_t mask, unsigned h) {
    numbers const of = numbers_of(mask);
    seen          all = { .bit = { 0 } };
    return is_sequence(mask, h) && are_new(&of, of.n, h, 0, &all);
}

/* Sums of one number more, as far as a set reaches; false if there are none. */
static bool one_more(const numbers *of, seen *sums) {
    seen     next = { .bit = { 0 } };
    uint64_t any = 0;
    for (unsigned i = 0; i < of->n; i++) {
        unsigned const up = of->value[i]; /* less than a word */
        for (unsigned word = 0; word < WORDS; word++) {
            uint64_t const carry = word == 0 ? 0 : sums->bit[word - 1] >> (64 - up);
            next.bit[word] |= sums->bit[word] << up | carry;
            any |= next.bit[word];
        }
    }
    *sums = next;
    return any != 0;
}

bool tamis_is_bh_tilde(uint64_t mask, unsigned h) {
    numbers const of = numbers_of(mask);
    seen          all = { .bit = { 0 } }, sums = { .bit = { 1 } };
    if (!is_sequence(mask, h)) return false;
    for (unsigned i = 1; i <= h; i++) {
        if (!are_new(&of, of.n, i, 0, &all)) return false;
        (void)one_more(&of, &sums);
    }
    while (one_more(&of, &sums)) {
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

/* `left` numbers more, all from `from` on. What is not good does not become so with more. */
static void go_on(search *of, uint64_t mask, unsigned from, unsigned left) {
    if (left == 0) {
        if (of->found < of->max) of->ret_masks[of->found] = mask;
        of->found++;
        return;
    }
    for (unsigned v = from; v <= of->bound; v++) {
        uint64_t const more = mask | UINT64_C(1) << v;
        if (of->is_good(more, of->h)) go_on(of, more, v + 1, left - 1);
    }
}

size_t tamis_bh_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max) {
    search of = { tamis_is_bh, h, bound, ret_masks, max, 0 };
    if (l < 1 || bound < 1 || bound > MAX_VALUE || !tamis_is_bh(2, h)) return 0;
    go_on(&of, 2, 2, l - 1);
    return of.found;
}

size_t tamis_bh_tilde_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks,
                             size_t max) {
    search of = { tamis_is_bh_tilde, h, bound, ret_masks, max, 0 };
    if (l < 1 || bound > MAX_VALUE) return 0;
    go_on(&of, 0, 1, l);
    return of.found;
}
