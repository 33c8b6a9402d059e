/* kind.h - the interface of a construction.
 *
 * A kind is one folder that exports one constant tamis_kind per instruction set. It works on 64-bit
 * hashes and a table; it never sees a key, a file or an allocator. (For speed, a kind may also
 * offer functions that take a 64-bit id and hash it.) A function that a kind does not have is NULL,
 * and the abilities that users see follow from that. If a kind can store values with its keys, the
 * functions for values are in a table of their own (kind_states).
 *
 * There are two structs. kind_calls has the functions on keys; tamis_kind has a kind_calls and
 * everything else. A handle has a pointer to the calls that it uses, which need not be the kind's
 * own: there are forms for common geometries (`form`), and wrappers for sets that grow
 * (grow_calls.c), that are shared (share_calls.c), or that are a part of a larger set (part.c).
 *
 * The slots in groups. Read the first column first: a set needs no others. scripts/lint checks that
 * every slot is in this list.
 *
 *     tamis_kind    every kind has     for an ability         for speed, or a fact
 *     identity      name summary isa                          is_default is_grow_only
 *                   fields                                    copies_take_room first_fields
 *     planning      plan body_bytes    count_to lacks         prepare most_count
 *                   predict                                   heeds_most_bytes
 *     keys          calls                                     form
 *     whole tables  survey validate    merge subtract         merges_by_steps refreshes
 *                                      conversion             empties_to_zero
 *     fingerprints                     prints each (sending)  each_is_scattered
 *                                                             keeps_more_than_prints
 *     own tables                       growing sharing states
 *
 *     kind_calls    every kind has     for an ability         for speed
 *     one key       has add            remove count           add_new remove_copy add_copies
 *                                                             remove_copies
 *                                                             has_id add_id remove_id
 *                                                             fetch_id
 *     many keys                        balance_bytes          has_chunk add_chunk remove_chunk
 *                                      add_balanced           count_chunk hash_ids chunk
 *                                                             fetch fetch_more has_rolling
 *                                                             has_long_lookups has_long_updates
 *
 * In comments and names, "print" is short for fingerprint.
 *
 * Rules that every kind follows, and tests/laws checks:
 *
 *   - The body is flat: bytes without pointers, little-endian, whose size follows from the geometry
 *     by integer arithmetic. A body of zero bytes is the empty table.
 *   - add either succeeds, or returns TAMIS_ERR_FULL and has changed no byte.
 *   - remove either succeeds, or returns TAMIS_ERR_ABSENT or _SATURATED and has changed no byte.
 *   - An entry that reaches its limit is saturated: it is never decremented again.
 *   - The instruction set changes speed, never a bit.
 *   - plan and predict are pure functions.
 */
#ifndef TAMIS_KIND_H
#define TAMIS_KIND_H

#include "core/batch.h"
#include "core/hash.h"
#include "core/sweep.h"
#include "core/vacancy.h"
#include "need.h"

#include <tamis/tamis.h>

#define KIND_DERIVED 128 /* words that `prepare` may compute from the geometry */

/* What a kind works on. Everything but `body` is in the handle. */
typedef struct tamis_table {
    uint8_t *body;
    id_mixer ids;                        /* how ids become hashes (not used with SipHash) */
    uint64_t derived[KIND_DERIVED];      /* computed from the geometry by the kind's prepare */
    uint64_t geometry[TAMIS_MAX_FIELDS]; /* in the order of the kind's fields */
    uint64_t body_bytes;                 /* a multiple of TAMIS_LINE_BYTES */
    uint64_t keys;                       /* see tamis_info */
    uint64_t entries; /* slots or cells in use; kept by kinds that grow, in tables with counters.
                         Without counters it is not kept: `keys` is that number (kind_growing) */
    uint64_t saturated;
    uint64_t refused_adds, refused_removes; /* counted by the front door, and by *_id */
    uint64_t moved;                         /* entries that were moved to make room */

    /* used by states only */
    uint64_t  values; /* how many there are; 0: a set */
    sweep     sweep;
    uint64_t  aged;       /* keys that the sweep has removed */
    uint64_t *used_parts; /* core/vacancy.h: units that may have keys; NULL: all */
} tamis_table;

#define KIND_MAX_VALUES (UINT64_C(1) << 32)

/* Counts of a table stop here, so that they cannot wrap around when sets are merged into each other
 * again and again. Files with larger counts are refused. */
#define KIND_MAX_COUNT (UINT64_C(1) << 56)

TAMIS_INLINE uint64_t kind_sum_counts(uint64_t a, uint64_t b) {
    return min_u64(a + b, KIND_MAX_COUNT);
}

/* Kinds without add_copies count less than this: their counters have up to 16 bits. */
#define KIND_MOST_COPIES (UINT64_C(1) << 16)

/* What is known from reading the whole body. */
typedef struct kind_survey {
    double   fpr;      /* computed from the present contents */
    double   distinct; /* how many different keys were added, estimated */
    double   load;     /* how full the table is, 0 to 1 */
    uint64_t prints;   /* different fingerprints that are stored; 0 if the kind stores none */
} kind_survey;

/* One number of a geometry, and the values that it can have. */
typedef struct kind_field {
    const char *name;
    uint64_t    least, most;
} kind_field;

/* Gets a fingerprint and how many copies of it are stored; TAMIS_COUNT_MANY: it is saturated.
 * Returns false to stop. */
typedef bool kind_visit(void *context, uint64_t print, uint64_t copies);

/* What a table of states reports besides its keys; see tamis_states_info. */
typedef struct kind_census {
    uint64_t unknown_cells, side_keys, side_room;
} kind_census;

/* The caller's state machine, and the index of the current key in the batch. */
typedef struct kind_stepper {
    tamis_stepper *decide;
    void          *context;
    size_t         i;
} kind_stepper;

#define KIND_NO_STEP ((tamis_step)-1)

/* Call the state machine for a key. KIND_NO_STEP: its answer is not valid. */
TAMIS_INLINE tamis_step kind_decide(const tamis_table *table, const kind_stepper *stepper,
                                    tamis_status was, uint32_t value, uint32_t *ret_to) {
    tamis_step const decided = stepper->decide(stepper->context, stepper->i, was, value, ret_to);
    return decided == TAMIS_STEP_SET && *ret_to >= table->values ? KIND_NO_STEP : decided;
}

/* The functions of a kind for values. The caller has checked the values; tamis/states.h says what
 * each operation means. */
typedef struct kind_states {
    tamis_status (*put)(tamis_table *table, uint64_t hash, uint32_t value);
    tamis_status (*get)(const tamis_table *table, uint64_t hash, uint32_t *ret_value);
    tamis_status (*move)(tamis_table *table, uint64_t hash, uint64_t from, uint32_t to);
    tamis_status (*set)(tamis_table *table, uint64_t hash, uint32_t value);
    tamis_status (*touch)(tamis_table *table, uint64_t hash);
    tamis_status (*drop)(tamis_table *table, uint64_t hash, uint64_t from);

    /* Ageing (core/sweep.h). units: how many units the sweep has. holds_values: does the geometry
     * have room for this many values, and for timers of this many bits? sweep: visit one unit;
     * `aged` counts the removed keys by value, or is NULL. */
    uint64_t (*units)(const uint64_t *geometry);
    bool (*holds_values)(const uint64_t *geometry, uint64_t values, unsigned timer_bits);
    void (*sweep)(tamis_table *table, uint64_t unit, uint64_t *aged);

    /* Optional: is a unit empty? A kind that has this calls vacancy_mark_used() for each key that
     * it adds. Then the sweep skips empty units. */
    bool (*is_vacant)(const tamis_table *table, uint64_t unit);

    /* Optional, for speed. get_chunk: 1 <= n <= TAMIS_CHUNK keys. fetch_values: the memory that
     * `fetch` has prefetched is in the cache now; prefetch the memory that it points to, before
     * keys are put (is_new) or looked up. */
    void (*get_chunk)(const tamis_table *table, const uint64_t *hash, unsigned n,
                      uint32_t *ret_values, tamis_status *ret_statuses);
    void (*fetch_values)(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_new);

    /* Required: get the value, call the state machine and do what it decides, with one search for
     * the key, as tamis_states_step_batch() says. Returns the result; ret_was and ret_value are
     * what get would have returned before. */
    tamis_status (*step)(tamis_table *table, uint64_t hash, const kind_stepper *stepper,
                         tamis_status *ret_was, uint32_t *ret_value);

    /* Optional: the number of keys, for kinds whose table->keys is something else. */
    uint64_t (*keys)(const tamis_table *table);

    /* Optional. tally: add the keys of each value to its counter. */
    void (*tally)(const tamis_table *table, uint64_t *counts);
    void (*census)(const tamis_table *table, kind_census *ret_census);

    /* Optional: like the kind's merge, but it may also return _CONFLICT. It may fail halfway, so
     * the caller keeps a copy. */
    tamis_status (*merge)(tamis_table *into, const tamis_table *from);
} kind_states;

#define KIND_MAX_SPANS 4

/* A range of bytes of a body. */
typedef struct kind_span {
    uint64_t begin, end;
} kind_span;

/* The two tables of a set in a step of growing: hashes below the boundary are in `next`. */
typedef struct kind_sides {
    const tamis_table *table, *next;
    uint64_t           boundary;
} kind_sides;

/* How a table becomes a table with twice the buckets, one remainder bit less, and therefore the
 * same number of prints. This is for kinds with `prints` whose buckets are in the order of prints.
 * Field 0 of the geometry is the number of buckets. src/grow.c says how a set grows. */
typedef struct kind_growing {
    unsigned group; /* buckets that are moved together */

    /* The geometry of a table with 2^doublings times the buckets (fewer, if it is negative) and the
     * same number of prints. Fields that depend on the load are NEED_FREE. False: there is no such
     * table. */
    bool (*scale)(const uint64_t *geometry, int doublings, uint64_t *ret_fixed);

    /* Add all entries of a bucket to a table with the same number of prints, which has none of them
     * yet; values and timers are copied. _FULL: some were not added. `from` does not change. The
     * counts of `to` grow: keys, entries, saturated. */
    tamis_status (*carry)(const tamis_table *from, uint64_t bucket, tamis_table *to);

    /* Empty the buckets first..first+n-1. `first` is a multiple of `group`, and so is n, unless the
     * last bucket is one of them. The caller corrects the counts of the table. */
    void (*wipe)(tamis_table *table, uint64_t first, uint64_t n);

    /* Slots or cells in use. recount: compute table->entries from the body, for a table that was
     * opened (files do not store it). */
    uint64_t (*entries)(const tamis_table *table);
    void (*recount)(tamis_table *table);

    /* Optional, for speed: like `fetch` of kind_calls, but each key may be in either table. */
    void (*fetch)(const kind_sides *sides, const uint64_t *hash, unsigned n, bool is_update);

    /* The bytes of the body that belong only to buckets before `bucket`: up to KIND_MAX_SPANS
     * ranges. Returns how many. Used to give memory back while buckets are moved. */
    unsigned (*spans)(const tamis_table *table, uint64_t bucket, kind_span *ret_spans);
} kind_growing;

/* The functions on keys of a table. The caller has hashed the keys. */
typedef struct kind_calls {
    /* ---- one key */
    bool (*has)(const tamis_table *table, uint64_t hash);
    /* TAMIS_OK; or _FULL, and nothing changed. */
    tamis_status (*add)(tamis_table *table, uint64_t hash);
    /* TAMIS_OK; or _ABSENT or _SATURATED (more copies than can be counted), and nothing changed. */
    tamis_status (*remove)(tamis_table *table, uint64_t hash);
    /* How many copies were added and not removed; TAMIS_COUNT_MANY: it is saturated. */
    uint64_t (*count)(const tamis_table *table, uint64_t hash);
    /* Optional, for speed: add a key unless `has` would say yes, with one look at its place. */
    tamis_status (*add_new)(tamis_table *table, uint64_t hash, bool *ret_is_new);
    /* Optional, for speed: like remove; if a copy was removed, *ret_is_last says whether `has` says
     * no now. */
    tamis_status (*remove_copy)(tamis_table *table, uint64_t hash, bool *ret_is_last);
    /* Optional, for speed: has, add and remove for an id, which is hashed by
     * hash_id(&table->ids, id). In sets that hash ids in this way, the public functions jump
     * directly to these. So these functions count their refusals themselves: _FULL in
     * table->refused_adds, _ABSENT in refused_removes. */
    bool (*has_id)(const tamis_table *table, uint64_t id);
    tamis_status (*add_id)(tamis_table *table, uint64_t id);
    tamis_status (*remove_id)(tamis_table *table, uint64_t id);
    /* Optional, for speed, only with `fetch`: the same as `fetch` for a lookup of one such id. */
    void (*fetch_id)(const tamis_table *table, uint64_t id);
    /* Optional, for speed: add a key `copies` times, 1 or more. Either all are added, with the same
     * bytes as by single adds (copies beyond saturation change nothing); or it returns _FULL, and
     * nothing has changed. */
    tamis_status (*add_copies)(tamis_table *table, uint64_t hash, uint64_t copies);
    /* Optional, for kinds with counters so long that single removals would take seconds: remove 1
     * or more copies. _ABSENT: there are fewer; _SATURATED. Then nothing has changed. */
    tamis_status (*remove_copies)(tamis_table *table, uint64_t hash, uint64_t copies);

    /* ---- many keys: optional. 1 <= n <= TAMIS_CHUNK keys, in order, with the same result as
     * single calls. Masks have a bit for each key. */
    void (*hash_ids)(const tamis_table *table, const uint64_t *ids, unsigned n,
                     uint64_t *ret_hash); /* hash_ids(), compiled for the instruction set */
    uint64_t (*has_chunk)(const tamis_table *table, const uint64_t *hash, unsigned n);
    unsigned (*add_chunk)(tamis_table *table, const uint64_t *hash, unsigned n); /* until full */
    uint64_t (*remove_chunk)(tamis_table *table, const uint64_t *hash, unsigned n,
                             uint64_t *ret_saturated); /* returns a mask of the removed keys */
    void (*count_chunk)(const tamis_table *table, const uint64_t *hash, unsigned n,
                        uint64_t *ret_counts);
    /* Prefetch the memory of the next `chunk` keys. `chunk` is about how many memory accesses any
     * processor can have in flight. On a processor that can have many more (tamis_has_many_misses)
     * chunks have TAMIS_CHUNK keys, if that is faster for this kind. NULL and 0: all chunks have
     * TAMIS_CHUNK keys, and the kind prefetches their memory itself. */
    void (*fetch)(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update);
    unsigned chunk;
    bool     has_long_lookups, has_long_updates;
    /* Like has_chunk, and prefetches the memory of the next chunk, too, one key for each that is
     * looked up: a steady stream of requests. `fetch` makes them all at once, and then memory has
     * nothing to do while the chunk is worked on. n_next may be 0. Optional, and only with `fetch`.
     */
    uint64_t (*has_rolling)(const tamis_table *table, const uint64_t *hash, unsigned n,
                            const uint64_t *next, unsigned n_next);
    /* For lookups: the memory that `fetch` has prefetched is in the cache now. Prefetch the memory
     * that it points to, one chunk before the keys are looked up. Optional; needs `fetch`. */
    void (*fetch_more)(const tamis_table *table, const uint64_t *hash, unsigned n);
    /* Add keys that are all known in advance, and place each depending on the others. `scratch` has
     * balance_bytes() bytes, not initialised. Returns how many were added, in order, until the
     * table was full. A kind has both functions or none. */
    uint64_t (*balance_bytes)(const tamis_table *table, uint64_t n);
    uint64_t (*add_balanced)(tamis_table *table, const uint64_t *hash, uint64_t n,
                             uint8_t *scratch);
} kind_calls;

/* How a table becomes one of another kind, with the same answers and fewer abilities. */
typedef struct kind_conversion {
    const char *to; /* the name of the other kind */
    /* False: that kind has no such geometry. */
    bool (*geometry)(const uint64_t *geometry, uint64_t *ret_geometry);
    void (*convert)(const tamis_table *from, tamis_table *to);
} kind_conversion;

typedef struct tamis_kind {
    /* ---- identity */
    const char *name; /* at most 15 letters; it is written into every file */
    const char *summary;
    const char *isa;
    bool        is_default; /* PREFER_FAST takes this kind if it can do the job */
    /* PREFER_FAST takes this kind if nothing is removed or counted, and it is at most 1/8 larger */
    bool       is_grow_only;
    bool       copies_take_room;             /* every copy takes as much room as another key */
    kind_field fields[TAMIS_MAX_FIELDS + 1]; /* of the geometry; the name after the last is NULL */
    /* How many fields there were in the first version of the format. Later fields are written to
     * files only if they are not 0. 0: all fields are of that version. */
    unsigned first_fields;

    /* ---- planning: pure functions */

    /* Fill in the geometry. TAMIS_OK, or _CANNOT: no geometry meets the need. */
    tamis_status (*plan)(const tamis_need *need, uint64_t *ret_geometry);
    /* The size of the body. False for a geometry that the kind would never make, or that is too
     * large to address. Every geometry from a file is checked here. */
    bool (*body_bytes)(const uint64_t *geometry, uint64_t *ret_bytes);
    void (*predict)(const uint64_t *geometry, const tamis_workload *work,
                    tamis_forecast *ret_forecast);
    /* The highest count that is exact. NULL in kinds that cannot count. */
    uint64_t (*count_to)(const uint64_t *geometry);
    /* No geometry that the kind chooses counts further; one that the user fixes may (`rank`, with
     * copies=8). 0: there is no such limit. */
    uint64_t most_count;
    bool     heeds_most_bytes; /* plan gives up early with need.most_bytes: it is called last */
    /* Abilities that this geometry takes away. Optional. */
    unsigned (*lacks)(const uint64_t *geometry);
    /* Compute values that operations need from the geometry, into table->derived. Optional. */
    void (*prepare)(tamis_table *table);

    /* ---- keys */
    kind_calls calls;
    /* Faster calls for tables of this geometry; NULL: there are none, use `calls`. Optional. */
    const kind_calls *(*form)(const uint64_t *geometry);

    /* ---- whole tables */

    /* For tables with the same geometry: TAMIS_OK, or _FULL and nothing changed. If merges_by_steps
     * is set, a failed merge may have changed `into`; then the caller (make.c) keeps a copy. NULL:
     * its sets cannot be merged, sent or subtracted. */
    tamis_status (*merge)(tamis_table *into, const tamis_table *from);
    bool merges_by_steps;
    bool refreshes; /* merge also takes other geometries with equal prints (refresh.c) */
    /* The reverse, for kinds whose merge adds counters: TAMIS_OK; or _ABSENT and nothing changed,
     * since `from` cannot be a part of `into`. Optional: subtract.c does it for kinds that store
     * only fingerprints. */
    tamis_status (*subtract)(tamis_table *into, const tamis_table *from);
    const kind_conversion *conversion; /* optional */
    /* Read the whole body, and compute a survey of it. */
    void (*survey)(const tamis_table *table, kind_survey *ret_survey);
    /* Check the numbered invariants, and name the first that is broken. Safe on any bytes. */
    bool (*validate)(const tamis_table *table, const char **reterr_why);
    bool empties_to_zero; /* if nothing is saturated, removing all keys leaves only zero bytes */

    /* ---- fingerprints: optional, for kinds that store nothing about a key except fastrange(hash,
     * prints). Such sets can be sent without their empty places, and can become a table of another
     * geometry or kind with the same number of prints (send.c, receive.c). For that they must be
     * able to merge, too: a table that cannot take the keys of another one (states) is not sent. */
    uint64_t (*prints)(const uint64_t *geometry); /* the number of possible prints */
    /* Visit every stored print once, in increasing order. With each_is_scattered the order is
     * arbitrary, and a print may be visited several times, each with a part of its copies
     * (print_list.c sorts them). */
    bool (*each)(const tamis_table *table, kind_visit *visit, void *context);
    bool each_is_scattered;
    /* Its tables store more about a key than the print. So they cannot be sent: the received set
     * would have lost that information, and have a higher fpr. Nor can they be subtracted print by
     * print: of two keys with the same print, the wrong one might be removed. */
    bool keeps_more_than_prints;

    /* ---- growing: optional */
    const kind_growing *growing;

    /* ---- sharing: optional. How many threads work on one table (sharing.h) */
    const struct kind_sharing *sharing;

    /* ---- states: optional. A kind with `states` and no `has` is only for states. A kind with both
     * stores states in geometries that have value_bits. */
    const kind_states *states;
} tamis_kind;

/* For validate: name the broken invariant and stop. */
#define TAMIS_REQUIRE(condition, why_ptr, text) \
    do {                                        \
        if (!(condition)) {                     \
            *(why_ptr) = (text);                \
            return false;                       \
        }                                       \
    } while (0)

/* The only symbol of a kind, as in tamis_kind_bloom_avx2. A kind with a states.c has a second one
 * for its kind_states, as in tamis_kind_line_states_avx2. */
#define KIND_CAT_(a, b) a##b
#define KIND_CAT(a, b) KIND_CAT_(a, b)
#define KIND_STRING_(a) #a
#define KIND_STRING(a) KIND_STRING_(a)
#define KIND_EXPORT(name) const tamis_kind KIND_CAT(tamis_kind_##name##_, TAMIS_ISA)
#define KIND_STATES(name) KIND_CAT(tamis_kind_##name##_states_, TAMIS_ISA)
#define KIND_ISA KIND_STRING(TAMIS_ISA)

/* registry.c */

/* The kind of that name for an instruction set; isa NULL: the best. TAMIS_ERR_KIND if there is no
 * such kind, TAMIS_ERR_NOT_BUILT if this build or processor has no such instruction set. */
tamis_status tamis_kind_find(const char *name, const char *isa, const tamis_kind **ret_kind);

/* Can this processor have more than some 20 cache misses in flight? See `fetch` of kind_calls. */
bool tamis_has_many_misses(void);

/* The i-th kind of sets, or of states, in its best instruction set, or NULL. */
const tamis_kind *tamis_kind_at(size_t i);
const tamis_kind *tamis_states_kind_at(size_t i);

/* The abilities of a table: those that the kind has functions for, without those that the geometry
 * takes away. */
unsigned tamis_kind_abilities(const tamis_kind *kind, const uint64_t *geometry);

unsigned tamis_kind_n_fields(const tamis_kind *kind);

/* The functions on keys for tables of this geometry: those of the kind, or of its form. */
const kind_calls *tamis_kind_calls(const tamis_kind *kind, const uint64_t *geometry);

#endif
