/* zero_body.h - is a set, or a table of states, as empty as a new one? */
#ifndef TAMIS_TESTS_ZERO_BODY_H
#define TAMIS_TESTS_ZERO_BODY_H

#include "grow.h"

/* All bytes of all its tables: a set in a step of growing has two. */
static inline bool is_zero_body(const tamis_set *set) {
    const tamis_table *tables[2];
    for (unsigned n = grow_tables(set, tables); n-- != 0;) {
        for (uint64_t i = 0; i < tables[n]->body_bytes; i++) {
            if (tables[n]->body[i] != 0) return false;
        }
    }
    return true;
}

#endif
