/* print_list.h - the fingerprints of a set in increasing order, for every kind.
 *
 * Most kinds visit their prints in order (kind.h, `each`). For the other kinds, the prints are
 * listed in memory and sorted; a print that the kind visits several times is listed once, with all
 * its copies.
 */
#ifndef TAMIS_PRINT_LIST_H
#define TAMIS_PRINT_LIST_H

#include "core/checked.h"
#include "handle.h"

typedef struct print_copies {
    uint64_t print, copies; /* copies: TAMIS_COUNT_MANY if it is saturated */
} print_copies;

typedef struct print_list {
    const tamis_set *set;
    print_copies    *entries; /* sorted; NULL: the kind visits its prints in order */
    uint64_t         n;       /* entries */
    size_t           bytes;   /* of memory */
} print_list;

/* Memory for n entries, and as much again to sort them; at most `most` bytes (SIZE_MAX, except in
 * tests). False: that is too much. */
TAMIS_INLINE bool print_list_bytes(uint64_t n, uint64_t most, size_t *ret_bytes) {
    uint64_t bytes;
    if (!checked_mul(n, 2 * sizeof(print_copies), &bytes) || bytes > most - sizeof(print_copies)) {
        return false;
    }
    *ret_bytes = (size_t)bytes + sizeof(print_copies); /* not 0, even without entries */
    return true;
}

/* TAMIS_OK, _MEMORY. */
tamis_status tamis_print_list_make(const tamis_set *set, print_list *ret_list);

/* Visit each print once, in increasing order. False: the visitor stopped. */
bool tamis_print_list_each(const print_list *list, kind_visit *visit, void *context);

void tamis_print_list_free(print_list *list);

#endif
