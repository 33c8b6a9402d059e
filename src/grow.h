/* grow.h - sets that grow: the interface for the rest of the library. See grow.c. */
#ifndef TAMIS_GROW_H
#define TAMIS_GROW_H

#include "handle.h"

/* What a set that grows has besides its table. */
struct growth {
    unsigned stage, stages; /* the present stage, and the last one. The capacity doubles at each */
    double   overflow;      /* as in the spec, for the plans of later stages */

    uint64_t     begin_at; /* entries at which a step begins; UINT64_MAX at the last stage */
    tamis_status refusal;  /* why the last add was refused: _FULL, or _MEMORY. A shared set has its
                              own (share.h) */
    kind_calls   calls;    /* functions on keys: those between steps, or those for a step. One copy,
                              since a server may have many small sets */

    /* The step in progress. `next` has a body only then. */
    tamis_table       next;
    const kind_calls *table_calls, *next_calls; /* functions on keys of the table, and of `next` */
    uint64_t          moved;                    /* buckets of the table that are in `next` */
    uint64_t          boundary; /* the first hash that belongs to none of these buckets */
    uint64_t pace, credit;      /* calls that pay for one group of buckets; calls counted so far */
    uint64_t given_back[KIND_MAX_SPANS]; /* each span of the body was given back up to this byte */
};

TAMIS_INLINE bool grow_is_moving(const tamis_set *set) {
    return set->growth != NULL && set->growth->next.body != NULL;
}

/* The tables of a set, in the order of their prints. Returns how many: 1, or 2 in a step. */
TAMIS_INLINE unsigned grow_tables(const tamis_set *set, const tamis_table *ret_tables[2]) {
    unsigned n = 0;
    if (grow_is_moving(set)) ret_tables[n++] = &set->growth->next;
    ret_tables[n++] = &set->table;
    return n;
}

/* The handle of a table: it is its first member. */
TAMIS_INLINE tamis_set *grow_handle(const tamis_table *table) {
    return (tamis_set *)(uintptr_t)table;
}

/* The capacity of the last stage. */
TAMIS_INLINE uint64_t grow_largest(const tamis_set *set) {
    return set->capacity << (set->growth->stages - set->growth->stage);
}

/* The choice that the table of a set was made from, and what its other stages depend on. */
tamis_choice tamis_grow_choice(const tamis_set *set);

/* ------------------------------------------------------------------ steps, for grow_calls.c */

/* Choose the functions on keys that the public functions call: those for a step, or those between
 * steps. */
void tamis_grow_choose_calls(tamis_set *set);

/* `n` calls have changed the set: begin a step if it is nearly full; in a step, do the work that
 * they pay for. */
void tamis_grow_pay(tamis_set *set, uint64_t n);

/* Begin a step: TAMIS_OK, _MEMORY. Move one group: TAMIS_OK; or _FULL, and nothing has changed. */
tamis_status tamis_grow_begin_step(tamis_set *set);
tamis_status tamis_grow_move_group(tamis_set *set);

/* An add was refused. TAMIS_OK: there is more room now, try again. Else _FULL: there can be no
 * more; or _MEMORY. */
tamis_status tamis_grow_make_room(tamis_set *set);

/* Build the table of another stage at once, from all entries; this also ends a step. TAMIS_OK; or
 * nothing has changed: _FULL, _MEMORY, _CANNOT, _LIMIT (there is no such stage). */
tamis_status tamis_grow_rebuild(tamis_set *set, int doublings);

/* The sweep of the table has advanced: advance that of `next`. */
void tamis_grow_follow_sweep(tamis_set *set);

/* grow_states.c */
extern const kind_states tamis_grow_states;

/* grow_states.c: calls the caller's state machine, and remembers its decision, which may have to
 * wait for room. If it is called again for a key in the same state, it repeats the decision. So the
 * machine is called once for each state that it is shown. The context is a grow_note. */
typedef struct grow_note {
    const kind_stepper *asked;
    bool                is_decided;
    tamis_status        was; /* the state of the key that was decided on */
    uint32_t            value;
    tamis_step          decided;
    uint32_t            to;
} grow_note;

tamis_stepper tamis_grow_remember;

/* ------------------------------------------------------------------ whole sets */

#define GROW_MAX_STAGES 40

/* Can a set have this stage, geometry and workload? Checks data from files and streams. */
bool tamis_grow_is_possible(const tamis_choice *choice);

/* Make a handle growable. It has its geometry and body. TAMIS_OK, _MEMORY. */
tamis_status tamis_grow_init(tamis_set *set, unsigned stage, unsigned stages, double overflow);

/* Free what a growing set has besides its table. */
void tamis_grow_free(tamis_set *set);

/* Set up a table of a growing set, except its body. */
void tamis_grow_prepare(const tamis_set *set, const uint64_t *geometry, tamis_table *ret_table);

/* Continue a step from a file: `next` has its geometry and body. */
void tamis_grow_resume(tamis_set *set, uint64_t moved);

/* Make a copy growable, like the original. TAMIS_OK, _MEMORY. */
tamis_status tamis_grow_copy(tamis_set *to, const tamis_set *from);

/* The table was emptied: end the step, too. */
void tamis_grow_clear(tamis_set *set);

/* Does each of the two tables of a step have only keys that belong to it? */
bool tamis_grow_is_whole(const tamis_set *set, const char **reterr_why);

/* Visit every print of a set once, in increasing order, unless the kind scatters them. */
bool tamis_each_print(const tamis_set *set, kind_visit *visit, void *context);

/* Add all prints of one set to another of the same kind, print by print: TAMIS_OK; or _FULL or
 * _MEMORY, and some have been added. */
tamis_status tamis_merge_prints(tamis_set *into, const tamis_set *from);

#endif
