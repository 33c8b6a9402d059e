/* handle.h - what a tamis_set is. Only the front doors look inside. */
#ifndef TAMIS_HANDLE_H
#define TAMIS_HANDLE_H

#include "keyhash.h"
#include "kind.h"

#define HANDLE_MAX_CAPACITY (UINT64_C(1) << 40)

struct tamis_set {
    const tamis_kind *kind; /* first: the hot path loads one word, then calls */
    tamis_table       table;
    unsigned          abilities; /* of this kind in this geometry */
    keyhash           hasher;
    uint64_t          capacity;
    uint64_t          lifetime;
    uint64_t          refused_adds;
    uint64_t          refused_removes;
    tamis_allocator   allocator;
    void  *mapping; /* the whole file, when mapped; then the body is inside and read-only */
    size_t mapping_bytes;
};

/* make.c: a handle with a geometry and without a body. NULL: no memory. tamis_free() takes a handle
 * in any state. */
tamis_set *tamis_handle_new(const tamis_kind *kind, const uint64_t *geometry,
                            const tamis_allocator *allocator);

/* make.c: give it a zeroed body of the size that the geometry says. TAMIS_OK, _LIMIT or _MEMORY. */
tamis_status tamis_handle_get_body(tamis_set *set);

/* An allocator is both functions or none. */
TAMIS_INLINE bool allocator_is_whole(const tamis_allocator *allocator) {
    return (allocator->alloc == NULL) == (allocator->free == NULL);
}

/* problem.c: say what is wrong, printf-like, if anybody listens. Returns `status`. */
__attribute__((format(printf, 3, 4))) tamis_status
tamis_problem_say(tamis_problem *problem, tamis_status status, const char *format, ...);

/* A kind and a geometry for it. */
typedef struct tamis_choice {
    const tamis_kind *kind;
    uint64_t          geometry[TAMIS_MAX_FIELDS];
    uint64_t          capacity, lifetime;
} tamis_choice;

/* plan/planner.c: what a spec that has been checked comes to. With `prints`, only kinds that store
 * fingerprints, with that many of them; 0: any. */
tamis_status tamis_choose(const tamis_spec *spec, uint64_t prints, tamis_choice *ret_choice,
                          tamis_problem *problem);

/* make.c: an empty set. TAMIS_OK, _LIMIT or _MEMORY. */
tamis_status tamis_make(const tamis_choice *choice, const keyhash *hasher,
                        const tamis_allocator *allocator, tamis_set **ret_set);

/* plan/planner.c: all that can be said of a geometry. */
void tamis_plan_describe(const tamis_kind *kind, const uint64_t *geometry, uint64_t capacity,
                         uint64_t lifetime, tamis_plan *ret_plan);

/* make.c: a copy of the spec in today's size, with ranges checked. */
tamis_status tamis_spec_check(const tamis_spec *spec, tamis_spec *ret_spec, tamis_problem *problem);

/* file.c: bytes of the file that a body of this size becomes. */
uint64_t tamis_file_bytes(uint64_t body_bytes);

#endif
