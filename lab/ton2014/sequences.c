/* sequences.c - see sequences.h. */
#include "sequences.h"

/* Replace sums of j numbers by sums of j + 1 numbers, as far as a set reaches. Returns false if
 * there are none within its reach. */
static bool one_more(const sequence_numbers *list, sequence_sums *sums) {
    sequence_sums next = { .bit = { 0 } };
    uint64_t      any = 0;
    for (unsigned i = 0; i < list->n; i++) {
        unsigned const up = list->value[i]; /* less than the bits of a word */
        for (unsigned word = 0; word < SEQUENCES_WORDS; word++) {
            uint64_t const carry = word == 0 ? 0 : sums->bit[word - 1] >> (64 - up);
            next.bit[word] |= sums->bit[word] << up | carry;
            any |= next.bit[word];
        }
    }
    *sums = next;
    return any != 0;
}

bool is_bh_tilde(uint64_t mask, unsigned h) {
    sequence_numbers const list = tamis_sequence_numbers(mask);
    sequence_sums          all = { .bit = { 0 } }, sums = { .bit = { 1 } };
    if (!sequence_is_possible(mask, h)) return false;
    for (unsigned i = 1; i <= h; i++) {
        if (!tamis_sequence_add_sums(&list, i, &all)) return false;
        (void)one_more(&list, &sums);
    }
    while (one_more(&list, &sums)) { /* sums of more than h numbers must not be among them */
        for (unsigned word = 0; word < SEQUENCES_WORDS; word++) {
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
    if (l < 1 || bound < 1 || bound > SEQUENCES_MAX_VALUE || !tamis_is_bh(2, h)) return 0;
    go_on(&task, 2, 2, l - 1);
    return task.found;
}

size_t bh_tilde_search(unsigned h, unsigned l, unsigned bound, uint64_t *ret_masks, size_t max) {
    search task = { is_bh_tilde, h, bound, ret_masks, max, 0 };
    if (l < 1 || bound > SEQUENCES_MAX_VALUE) return 0;
    go_on(&task, 0, 1, l);
    return task.found;
}
