/* print_list.h - the fingerprints of a set in order, whatever order its kind keeps them in.
 *
 * Most kinds list theirs sorted (kind.h, `each`). A kind whose tables have them scattered is listed
 * into memory once, and sorted there; what it tells of one print in several parts is put together.
 */
#ifndef TAMIS_PRINT_LIST_H
#define TAMIS_PRINT_LIST_H

#include "handle.h"

typedef struct print_copies {
    uint64_t print, copies;
} print_copies;

typedef struct prints_list {
    const tamis_set *set;
    uint64_t         n;    /* listed in memory, if the kind's are scattered */
    print_copies    *list; /* those, or NULL: ask the kind */
    uint64_t         room;
} prints_list;

/* TAMIS_OK, _MEMORY. */
tamis_status tamis_prints_list(const tamis_set *set, prints_list *ret_list);

/* Visit each print once, in increasing order. False: the visitor did not want to go on. */
bool tamis_prints_each(const prints_list *of, kind_visit *visit, void *context);

void tamis_prints_free(prints_list *of);

#endif
