/* needs.h - what tests of sizes ask the planning functions of a kind for. */
#ifndef TAMIS_TESTS_NEEDS_H
#define TAMIS_TESTS_NEEDS_H

#include "need.h"

/* n different keys at a time, one copy of each, and this many in all. */
static inline tamis_workload work_of(double n, double lifetime) {
    return (tamis_workload){ (uint64_t)n, 1, (uint64_t)lifetime };
}

/* A small set that removes, with the first `fields` fields of its geometry as they are given. */
static inline tamis_need need_of(double n, double fpr, double lifetime, const uint64_t *geometry,
                                 unsigned fields) {
    tamis_need need = { .work = work_of(n, lifetime),
                        .fpr = fpr,
                        .overflow = 1e-10,
                        .abilities = TAMIS_CAN_REMOVE,
                        .prefer = TAMIS_PREFER_SMALL };
    for (unsigned i = 0; i < TAMIS_MAX_FIELDS; i++) {
        need.fixed[i] = i < fields ? geometry[i] : NEED_FREE;
    }
    return need;
}

#endif
