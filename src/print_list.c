/* print_list.c - see prints.h. */
#include "print_list.h"

#include "core/memory.h"

#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)

/* ------------------------------------------------------------------ listing */

static bool count_one(void *context, uint64_t print, uint64_t copies) {
    uint64_t *const n = context;
    (void)print;
    (void)copies;
    ++*n;
    return true;
}

static bool list_one(void *context, uint64_t print, uint64_t copies) {
    prints_list *const of = context;
    if (of->n == of->room) return false; /* more than there were: not while nobody changes it */
    of->list[of->n++] = (print_copies){ print, copies };
    return true;
}

/* Radix sort by one digit. Returns whether anything had to move. */
static bool sort_digit(const print_copies *from, uint64_t n, unsigned shift, print_copies *to) {
    uint64_t start[DIGITS] = { 0 }, sum = 0;
    for (uint64_t i = 0; i < n; i++) start[from[i].print >> shift & (DIGITS - 1)]++;
    if (start[from[0].print >> shift & (DIGITS - 1)] == n) return false;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint64_t const here = start[digit];
        start[digit] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < n; i++) to[start[from[i].print >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* The other half of the list is the space to sort in. */
static void sort_all(prints_list *of) {
    print_copies *from = of->list, *to = of->list + of->room;
    for (unsigned shift = 0; shift < 64 && of->n != 0; shift += DIGIT_BITS) {
        if (!sort_digit(from, of->n, shift, to)) continue;
        print_copies *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != of->list) memcpy(of->list, from, (size_t)of->n * sizeof *from);
}

tamis_status tamis_prints_list(const tamis_set *set, prints_list *ret_list) {
    const tamis_kind *const kind = set->kind;
    *ret_list = (prints_list){ .set = set };
    if (!kind->each_is_scattered) return TAMIS_OK;
    (void)kind->each(&set->table, count_one, &ret_list->room);
    ret_list->list =
        memory_get(&set->allocator, (size_t)(2 * ret_list->room + 1) * sizeof *ret_list->list);
    if (ret_list->list == NULL) return TAMIS_ERR_MEMORY;
    (void)kind->each(&set->table, list_one, ret_list);
    sort_all(ret_list);
    return TAMIS_OK;
}

void tamis_prints_free(prints_list *of) {
    if (of->list == NULL) return;
    memory_give(&of->set->allocator, of->list, (size_t)(2 * of->room + 1) * sizeof *of->list);
    of->list = NULL;
}

/* ------------------------------------------------------------------ visiting */

static uint64_t sum_copies(uint64_t a, uint64_t b) {
    return a == TAMIS_COUNT_MANY || b == TAMIS_COUNT_MANY ? TAMIS_COUNT_MANY : a + b;
}

bool tamis_prints_each(const prints_list *of, kind_visit *visit, void *context) {
    if (of->list == NULL) return of->set->kind->each(&of->set->table, visit, context);
    for (uint64_t i = 0; i < of->n;) {
        print_copies all = of->list[i++];
        for (; i < of->n && of->list[i].print == all.print; i++) {
            all.copies = sum_copies(all.copies, of->list[i].copies);
        }
        if (!visit(context, all.print, all.copies)) return false;
    }
    return true;
}
