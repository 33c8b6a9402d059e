/* print_list.c - see print_list.h.
 *
 * Kinds whose `each` is in order need no list: they are walked through directly. For the others, a
 * first pass counts the prints, a second one fills an array with them, and this is sorted. A print
 * that came several times, each time with a part of its copies, becomes one entry.
 */
#include "print_list.h"

#include "core/memory.h"
#include "grow.h"

#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)

/* ------------------------------------------------------------------ sorting */

/* Radix sort by one digit. False: all have the same digit, and nothing was moved: so the digits
 * above the largest print cost one pass of counting each. start[d] is first how many entries have
 * the digit d, then where the next of them goes. Entries with the same digit keep their order, so
 * that sorting by the lowest digit first and by the highest last sorts by all. */
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

/* Sort n entries, with room for as many after them: each pass goes from one half to the other. */
static void sort_entries(print_copies *entries, uint64_t n) {
    print_copies *from = entries, *to = entries + n;
    for (unsigned shift = 0; shift < 64 && n != 0; shift += DIGIT_BITS) {
        if (!sort_digit(from, n, shift, to)) continue;
        print_copies *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != entries) memcpy(entries, from, (size_t)n * sizeof *from);
}

/* Join entries with the same print: their copies add up. Returns how many entries are left. */
static uint64_t join_entries(print_copies *entries, uint64_t n) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (kept == 0 || entries[kept - 1].print != entries[i].print) {
            entries[kept++] = entries[i];
            continue;
        }
        uint64_t *const copies = &entries[kept - 1].copies;
        bool const is_many = *copies == TAMIS_COUNT_MANY || entries[i].copies == TAMIS_COUNT_MANY;
        *copies = is_many ? TAMIS_COUNT_MANY : *copies + entries[i].copies;
    }
    return kept;
}

/* ------------------------------------------------------------------ listing */

static bool count_one(void *context, uint64_t print, uint64_t copies) {
    (void)print;
    (void)copies;
    ++*(uint64_t *)context;
    return true;
}

/* The state of a listing. */
typedef struct listing {
    print_copies *entries;
    uint64_t      n, room;
} listing;

/* If another program writes to a mapped file, there may be more prints now than when they were
 * counted. */
static bool list_one(void *context, uint64_t print, uint64_t copies) {
    listing *const made = context;
    if (made->n == made->room) return false;
    made->entries[made->n++] = (print_copies){ print, copies };
    return true;
}

tamis_status tamis_print_list_make(const tamis_set *set, print_list *ret_list) {
    const tamis_kind *const kind = set->kind;
    listing                 made = { .room = 0 };
    size_t                  bytes;
    *ret_list = (print_list){ .set = set };
    if (!kind->each_is_scattered) return TAMIS_OK;
    (void)tamis_each_print(set, count_one, &made.room);
    if (!print_list_bytes(made.room, SIZE_MAX, &bytes)) return TAMIS_ERR_MEMORY;
    made.entries = memory_get(&set->allocator, bytes);
    if (made.entries == NULL) return TAMIS_ERR_MEMORY;
    (void)tamis_each_print(set, list_one, &made);
    sort_entries(made.entries, made.n);
    *ret_list = (print_list){ set, made.entries, join_entries(made.entries, made.n), bytes };
    return TAMIS_OK;
}

bool tamis_print_list_each(const print_list *list, kind_visit *visit, void *context) {
    if (list->entries == NULL) return tamis_each_print(list->set, visit, context);
    for (uint64_t i = 0; i < list->n; i++) {
        if (!visit(context, list->entries[i].print, list->entries[i].copies)) return false;
    }
    return true;
}

void tamis_print_list_free(print_list *list) {
    if (list->entries != NULL) memory_give(&list->set->allocator, list->entries, list->bytes);
    list->entries = NULL;
}
