/* handle.h - the struct behind tamis_set. Kinds never see it. */
#ifndef TAMIS_HANDLE_H
#define TAMIS_HANDLE_H

#include "keyhash.h"
#include "kind.h"

#define HANDLE_MAX_CAPACITY (UINT64_C(1) << 40)
#define HANDLE_MIN_RATE 1e-12 /* of a spec: its fpr, or how often a value is unknown */
#define HANDLE_MAX_RATE 0.5

/* Which part of a set this is: `part` of `parts`, a power of two; 0 and 0: the whole set. */
typedef struct tamis_part_place {
    uint32_t part, parts;
} tamis_part_place;

struct tamis_set {
    tamis_table table; /* first: the address of a set is that of its table (set_of_table) */
    bool (*has_id)(const tamis_table *table, uint64_t id); /* see tamis_handle_bind() */
    tamis_status (*add_id)(tamis_table *table, uint64_t id);
    tamis_status (*remove_id)(tamis_table *table, uint64_t id);
    void (*fetch_id)(const tamis_table *table, uint64_t id);
    void (*hash_ids)(const tamis_table *table, const uint64_t *ids, unsigned n, uint64_t *ret_hash);
    unsigned           ask_chunk, update_chunk; /* keys in a chunk of a batch (kind.h, chunk) */
    const kind_calls  *calls; /* functions on keys: of the kind, or of its form for the geometry */
    const tamis_kind  *kind;
    unsigned           abilities;    /* the abilities of this kind in this geometry */
    unsigned           change_locks; /* reasons why it must not change; 0: it may. See below */
    keyhash            hasher;
    uint64_t           capacity; /* the workload that it is planned for, as in need.h */
    uint64_t           copies;
    uint64_t           lifetime;
    uint64_t           conflicts; /* for states: calls that returned TAMIS_ERR_CONFLICT */
    struct growth     *growth;    /* grow.h; NULL: of fixed size */
    struct shared_set *shared;    /* share.h; NULL: not shared */
    struct set_part   *part;      /* part.h; NULL: a whole set */
    const kind_states *states;    /* for states: the kind's functions, or those of grow_states.c */
    tamis_allocator    allocator;
    unsigned           allocator_flags; /* TAMIS_ALLOCATOR_... */
    uint64_t           max_bytes;       /* of all its bodies; 0: no limit */
    void  *mapping; /* the whole file, if mapped; then the body is in it and read-only */
    size_t mapping_bytes;
};

/* change_locks is HANDLE_MAPPED if the table is a mapped file, plus 1 for each running callback of
 * this table: a stepper, or a writer that gets its bytes. Writing only reads the table, so several
 * threads may do it at a time; therefore the count is atomic. Relaxed order is enough, since a
 * callback that calls the table again runs in the thread that counted it. A shared set, which has
 * HANDLE_SHARED, records the threads that are in a callback (share.c). */
#define HANDLE_MAPPED (1u << 31)
#define HANDLE_SHARED (1u << 30)

/* share.c: the same as below, for a shared set. */
tamis_status tamis_share_change_status(const tamis_set *set);
bool         tamis_share_is_busy(const tamis_set *set);
void         tamis_share_begin_callbacks(const tamis_set *set);
void         tamis_share_end_callbacks(const tamis_set *set);

/* share.c: the same before and after the steps of a machine, which many threads run at a time. */
void tamis_share_begin_steps(const tamis_set *set);
void tamis_share_end_steps(const tamis_set *set);

/* The status of a call that would change the table: TAMIS_OK if it may, or _READ_ONLY, _REENTRY. */
TAMIS_INLINE tamis_status handle_change_status(const tamis_set *set) {
    unsigned const locks = __atomic_load_n(&set->change_locks, __ATOMIC_RELAXED);
    if (__builtin_expect(locks == 0, 1)) return TAMIS_OK;
    if ((locks & HANDLE_SHARED) != 0) return tamis_share_change_status(set);
    return (locks & HANDLE_MAPPED) != 0 ? TAMIS_ERR_READ_ONLY : TAMIS_ERR_REENTRY;
}

/* share.c: count refusals of a shared set. */
void tamis_share_note(tamis_set *set, uint64_t adds, uint64_t removes, uint64_t conflicts);

/* Count refusals. */
TAMIS_INLINE void handle_note(tamis_set *set, uint64_t adds, uint64_t removes, uint64_t conflicts) {
    if (__builtin_expect((adds | removes | conflicts) == 0, 1)) return;
    if (set->shared != NULL) {
        tamis_share_note(set, adds, removes, conflicts);
        return;
    }
    set->table.refused_adds += adds;
    set->table.refused_removes += removes;
    set->conflicts += conflicts;
}

/* Is a callback of this table running? */
TAMIS_INLINE bool handle_is_busy(const tamis_set *set) {
    if (set->shared != NULL) return tamis_share_is_busy(set);
    return (__atomic_load_n(&set->change_locks, __ATOMIC_RELAXED) & ~HANDLE_MAPPED) != 0;
}

/* Call these before and after a callback. They change the count even in a const handle. */
TAMIS_INLINE void handle_begin_callbacks(const tamis_set *set) {
    tamis_set *const counted = (tamis_set *)(uintptr_t)set;
    if (set->shared != NULL)
        tamis_share_begin_callbacks(set);
    else
        (void)__atomic_fetch_add(&counted->change_locks, 1, __ATOMIC_RELAXED);
}

TAMIS_INLINE void handle_end_callbacks(const tamis_set *set) {
    tamis_set *const counted = (tamis_set *)(uintptr_t)set;
    if (set->shared != NULL)
        tamis_share_end_callbacks(set);
    else
        (void)__atomic_fetch_sub(&counted->change_locks, 1, __ATOMIC_RELAXED);
}

/* Swap the contents of two handles that are not shared. */
TAMIS_INLINE void handle_swap(tamis_set *a, tamis_set *b) {
    tamis_set const before = *a;
    *a = *b;
    *b = before;
}

/* States are the same handle, with other public functions (states.c). */
struct tamis_states {
    tamis_set set;
};

/* make.c: a handle with a geometry and without a body. NULL: not enough memory. tamis_free()
 * accepts a handle in any state. */
tamis_set *tamis_handle_new(const tamis_kind *kind, const uint64_t *geometry,
                            const tamis_allocator *allocator);

/* one_id.c: set the hash of the handle's keys, and choose its functions for ids: those of the kind,
 * if it has them and the hash allows it. They get the table of a set, so that a call is one
 * jump. */
void tamis_handle_set_hash(tamis_set *set, const keyhash *hasher);
void tamis_handle_bind(tamis_set *set);

/* part.c: use these functions on keys from now on. */
void tamis_handle_use_calls(tamis_set *set, const kind_calls *calls);

TAMIS_INLINE const tamis_set *set_of_table(const tamis_table *table) {
    return (const tamis_set *)(const void *)table;
}

/* make.c: allocate a zeroed body for one of the tables, of the size that the geometry says.
 * TAMIS_OK, _MEMORY; _LIMIT: too large to address, or more than the set's max_bytes. */
tamis_status tamis_table_get_body(const tamis_set *set, tamis_table *table);

/* An allocator must have both functions or none, and only known flags. */
TAMIS_INLINE bool allocator_is_whole(const tamis_allocator *allocator, unsigned flags) {
    return (allocator->alloc == NULL) == (allocator->free == NULL) &&
           (flags & ~(unsigned)TAMIS_ALLOCATOR_ZEROED) == 0;
}

/* problem.c: write the text of a problem, as printf does; nothing if `problem` is NULL. Returns
 * `status`. */
__attribute__((format(printf, 3, 4))) tamis_status
tamis_problem_say(tamis_problem *problem, tamis_status status, const char *format, ...);

/* problem.c: say that `what` needs this many bytes of memory. Returns TAMIS_ERR_MEMORY. */
tamis_status tamis_problem_say_memory(tamis_problem *problem, const char *purpose, uint64_t bytes);

/* The default of count_to: a kind must count this far to be chosen for counting. */
#define TAMIS_DEFAULT_COUNT_TO 255
#define TAMIS_DEFAULT_OVERFLOW 1e-10

/* A spec of a set or of states, checked and completed (spec.c). */
typedef struct tamis_request {
    tamis_need       need;          /* `fixed` is filled for each kind, from `geometry` */
    bool             is_count_open; /* count_to is the default: a named kind may count less */
    sweep            sweep;         /* for states: timeout, timer_bits and lives */
    uint64_t         memory;   /* largest body; 0: no limit. If set, capacity or fpr may be 0 */
    uint64_t         lifetime; /* as in the spec; 0: a multiple of the capacity */
    uint64_t         grow_to;  /* as in the spec; 0: of fixed size */
    bool             shared;   /* as in the spec */
    tamis_part_place part;     /* as in the spec */

    const char       *kind, *geometry, *isa; /* NULL: not given */
    tamis_hash        hash;
    const tamis_seed *seed;
    const tamis_set  *like;
    tamis_allocator   allocator;
    unsigned          allocator_flags;
    uint64_t          max_bytes;
    bool              reseed; /* do not use the seed of `like` */
} tamis_request;

/* spec.c: TAMIS_OK, _ARGUMENT, _NOT_BUILT. */
tamis_status tamis_request_set(const tamis_spec *spec, tamis_request *ret_request,
                               tamis_problem *problem);
tamis_status tamis_request_states(const tamis_states_spec *spec, tamis_request *ret_request,
                                  tamis_problem *problem);

/* spec.c: ask for another capacity, with the lifetime that goes with it. */
void tamis_request_resize(tamis_request *request, uint64_t capacity);

/* spec.c: copy a struct that begins with its size, from a caller that was compiled with an older or
 * newer header. `init_macro` is for the problem text. TAMIS_OK; _ARGUMENT: NULL, a wrong size, or a
 * field is set that this library does not know. */
tamis_status tamis_copy_sized(void *ours, size_t our_bytes, const void *theirs,
                              const char *init_macro, tamis_problem *problem);

/* A kind and a geometry for it. */
typedef struct tamis_choice {
    const tamis_kind *kind;
    uint64_t          geometry[TAMIS_MAX_FIELDS];
    tamis_workload    work;
    uint64_t          values;        /* for states */
    sweep             sweep;         /* timeout, timer_bits and lives */
    bool              shared;        /* see share.h */
    bool              grows;         /* see grow.h for the next */
    unsigned          stage, stages; /* geometry and workload are those of `stage` */
    double            overflow;
    tamis_part_place  part;
    unsigned          allocator_flags; /* TAMIS_ALLOCATOR_... of the allocator */
    uint64_t          max_bytes;       /* as in tamis_spec */
} tamis_choice;

/* planner.c: choose a kind and a geometry. TAMIS_OK, _ARGUMENT, _KIND, _CANNOT, _LIMIT,
 * _NOT_BUILT. */
tamis_status tamis_choose(const tamis_request *request, tamis_choice *ret_choice,
                          tamis_problem *problem);

/* plan_stages.c: the same table after this many doublings (fewer buckets, if negative), with the
 * same number of prints. `ret_choice` may be `from`. TAMIS_OK, _CANNOT. */
tamis_status tamis_plan_step(const tamis_choice *from, int doublings, tamis_choice *ret_choice);

/* The i-th kind that the request could be for, or NULL. */
TAMIS_INLINE const tamis_kind *tamis_kind_for(const tamis_request *request, size_t i) {
    return request->need.values != 0 ? tamis_states_kind_at(i) : tamis_kind_at(i);
}

/* planner_words.c: write the problem text: why the kind of this plan cannot do it; or that there is
 * no kind of this name. Both return the status that belongs to it. */
tamis_status tamis_say_why_not(const tamis_request *request, const tamis_plan *plan,
                               tamis_problem *problem);
tamis_status tamis_say_unknown_kind(const tamis_request *request, tamis_problem *problem);

/* make.c: an empty set or table of states, as requested. */
tamis_status tamis_make_requested(const tamis_request *request, tamis_set **ret_set,
                                  tamis_problem *problem);

/* make.c: an empty set. TAMIS_OK, _LIMIT or _MEMORY. */
tamis_status tamis_make(const tamis_choice *choice, const keyhash *hasher,
                        const tamis_allocator *allocator, tamis_set **ret_set);

/* planner.c: fill in the plan of a geometry. */
void tamis_plan_describe(const tamis_kind *kind, const uint64_t *geometry,
                         const tamis_workload *work, tamis_plan *ret_plan);

TAMIS_INLINE tamis_workload tamis_handle_workload(const tamis_set *set) {
    return (tamis_workload){ set->capacity, set->copies, set->lifetime };
}

/* make.c: the choice for a new set that can be merged with `other`. */
tamis_choice tamis_choice_like(const tamis_set *other);

/* The same for a set that other threads may change, with its growth: a set that is made of it is at
 * the stage that the other one has now. */
tamis_choice tamis_choice_to_follow(const tamis_set *other);

/* make.c: do both have the same kind, and the same places for every key? */
bool tamis_is_alike(const tamis_set *a, const tamis_set *b);

/* make.c: replace the table of a set by another. Fields that are equal in both are not written,
 * since other threads may be reading them. */
void tamis_handle_take_table(tamis_set *set, const tamis_table *table);

/* make.c: copy a table, except its geometry. */
void tamis_table_copy(tamis_table *to, const tamis_table *from);

/* make.c: call a merge that may fail halfway, and undo it if it fails. */
tamis_status tamis_merge_or_restore(tamis_set *into, const tamis_set *from,
                                    tamis_status (*merge)(tamis_table *, const tamis_table *));

/* make.c: can two sets of different geometries be merged print by print? They need the same kind,
 * hash, seed and number of prints; states also the same values and timers. */
bool tamis_has_same_prints(const tamis_set *a, const tamis_set *b);

/* make.c: change a set completely or not at all: the change is made to a copy. */
typedef tamis_status tamis_change(tamis_set *set, const tamis_set *other);
tamis_status         tamis_change_all(tamis_set *set, const tamis_set *other, tamis_change *change);

/* make.c: change one set with the contents of another; both may be shared. */
tamis_status tamis_change_by(tamis_set *set, const tamis_set *other, tamis_change *change);

/* make.c: a copy that is not shared, also of a shared set. TAMIS_OK, _MEMORY. */
tamis_status tamis_copy_unshared(const tamis_set *set, tamis_set **ret_copy);

/* inspect.c: the sums of the counts and bytes of all tables of a set. */
tamis_table tamis_sum_tables(const tamis_set *set);

/* set.c: add `copies` copies of one key: all of them, or _FULL and none. A set that cannot count
 * stores a key once. */
tamis_status tamis_table_add_copies(const kind_calls *calls, tamis_table *table, uint64_t hash,
                                    uint64_t copies);

/* open.c: open a set, or states. A file of states is refused if a set is wanted, and the
 * reverse. */
tamis_status tamis_file_open(const char *path, const tamis_open_options *options, bool is_states,
                             tamis_set **ret_set, tamis_problem *problem);
tamis_status tamis_file_open_fd(int fd, const tamis_open_options *options, bool is_states,
                                tamis_set **ret_set, tamis_problem *problem);
tamis_status tamis_file_read(const void *bytes, size_t n, const tamis_open_options *options,
                             bool is_states, tamis_set **ret_set, tamis_problem *problem);

/* save.c: the size of a file with a body of this size. */
uint64_t tamis_file_bytes(uint64_t body_bytes);

#endif
