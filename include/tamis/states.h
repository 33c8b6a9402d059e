/* states.h - keys that carry a small value: the state of a connection, the phase of a job.
 *
 * A table keeps the value of each key in a few bits. A lookup has three results: a value, "absent"
 * (TAMIS_ERR_ABSENT), or "don't know" (TAMIS_ERR_UNKNOWN). "Don't know" is the answer where the
 * table can tell that a value might be wrong.
 *
 *     tamis_states_spec spec = TAMIS_STATES_SPEC_INIT;
 *     spec.capacity = 1000000;
 *     spec.values = 8;                     // 0 to 7
 *     spec.fpr = 0.001;
 *     spec.timeout = 60;                   // ticks, of any length; 0: no timeout
 *
 *     tamis_states *states;
 *     uint32_t      value;
 *     if (tamis_states_create(&spec, &states, NULL) != TAMIS_OK) ...
 *     if (tamis_states_put(states, key, n, SYN) != TAMIS_OK) ...
 *     if (tamis_states_move(states, key, n, SYN, ESTABLISHED) != TAMIS_OK) ...
 *     if (tamis_states_get(states, key, n, &value) == TAMIS_OK) ...
 *     if (tamis_states_tick(states, 1, NULL, NULL) != TAMIS_OK) ...
 *     tamis_states_free(states);
 *
 * The plan states what can go wrong, and how often. `fpr` is how often a key that is not in the
 * table seems to have a value, or a key in the table gets the value of another key. `unknown` is
 * how often the answer for a key in the table is "don't know".
 *
 * Kinds that store fingerprints ("line", "rank", "state_print") keep one value for one fingerprint.
 * They cannot tell two keys with the same fingerprint apart. So if the fingerprint is already in
 * the table, a put with the same value refreshes it, and a put with another value is a conflict.
 *
 * The kinds whose keys share cells ("state_bloom", "state_direct") count every put as a new key: a
 * key that was put twice must be dropped twice, or time out. In these kinds a key never has a wrong
 * value and is never lost, if the caller follows two rules: put a key once (touch it to refresh
 * it), and move and drop only keys that are in the table and were refreshed within their timeout.
 * The `fpr` of a plan of "state_bloom" is an upper bound: it is reached when all keys have the same
 * value. "state_direct" with a timeout is planned only if the geometry fixes `counter_bits`. Its
 * rates then hold for keys that are dropped, and not for keys that time out; and only if moves and
 * drops name the value of the key (docs/states.md).
 */

#ifndef TAMIS_STATES_H
#define TAMIS_STATES_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_states tamis_states;

/** Matches any current value. */
#define TAMIS_ANY_VALUE UINT64_MAX

/** What you want. Start from TAMIS_STATES_SPEC_INIT; `capacity`, `values` and `fpr` must be set. */
typedef struct tamis_states_spec {
    size_t size; /**< set by TAMIS_STATES_SPEC_INIT */

    uint64_t capacity; /**< keys in the table at one time, 1 to 2^40. 0 with `memory`: as many as
                            fit. A key that times out is not removed at once; until then it counts.
                            It stays for up to 2 timeouts; with 3, 4 or 5 timer bits for up to 4/3,
                            8/7 or 16/15 timeouts */
    uint64_t values;   /**< how many values there are, 2 to 2^32: 0, 1, ... */
    double   fpr;      /**< how often a key that is not in the table may have a value, 1e-12 to
                            0.5 */
    double   unknown;  /**< how often a key in the table may be answered with "don't know", while
                            keys are put and dropped; 0: as often as fpr */

    uint64_t        timeout;    /**< ticks after which a key that was not refreshed is removed, 1 to
                                   2^32; 0: never */
    const uint64_t *timeouts;   /**< NULL, or one timeout for each of up to 16 values, none longer
                                    than `timeout`. Each is rounded up to a multiple of timeout / n
                                    (n: see timer_bits) */
    unsigned        timer_bits; /**< 2 to 5: a silent key is removed within timeout x (1 + 1 / n),
                                     where n is 1, 3, 7 or 15; 0: 2, or 4 with `timeouts` */

    uint64_t memory; /**< largest body in bytes; 0: no limit */

    tamis_preference prefer;   /**< default: TAMIS_PREFER_SMALL */
    const char      *kind;     /**< "rank", "state_print", ...; NULL: chosen for you */
    const char      *geometry; /**< NULL, or fields to fix */

    uint64_t lifetime; /**< keys that are put over the table's whole life; 0: 16 x capacity. If it
                            equals the capacity, the plan assumes that no key is ever dropped */
    double   overflow; /**< largest acceptable probability that a put within capacity is ever
                            refused; 0: 1e-10 */

    const tamis_seed   *seed; /**< as in tamis_spec */
    tamis_hash          hash;
    const tamis_states *like; /**< make an empty table with the same kind, geometry, values,
                                   timeouts, hash and seed as this one. All fields above are then
                                   ignored */

    tamis_allocator allocator;
    const char     *isa;

    uint64_t grow_to; /**< as in tamis_spec. Because of the steps of growing, a silent key may stay
                           a little longer: in total at most 1/32 of a pass of the sweep */
    bool     shared;  /**< as in tamis_spec. Kinds line and rank can be shared */

    unsigned allocator_flags; /**< as in tamis_spec */
    bool     reseed;          /**< as in tamis_spec */
    uint64_t max_bytes;       /**< as in tamis_spec */
} tamis_states_spec;

#define TAMIS_STATES_SPEC_INIT                                                                   \
    {                                                                                            \
        sizeof(tamis_states_spec), 0, 0, 0, 0, 0, NULL, 0, 0, TAMIS_PREFER_SMALL, NULL, NULL, 0, \
            0, NULL, TAMIS_HASH_DEFAULT, NULL, { NULL, NULL, NULL }, NULL, 0, false, 0, false, 0 \
    }

/** Make an empty table. @return as tamis_create(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_create(const tamis_states_spec *spec,
                                                           tamis_states           **ret_states,
                                                           tamis_problem           *reterr_problem);

TAMIS_API void tamis_states_free(tamis_states *states);

/* One key. Each function also has a form for a 64-bit id, as in section 4.
 *
 * put    Add a key with its value. TAMIS_OK; _CONFLICT: the key has another value, nothing changed;
 *        _FULL; _MEMORY: the table has to grow, and there is no memory for that; _UNKNOWN: the
 *        value of the key is not known, and there is no room to store it separately; _ARGUMENT:
 *        there is no such value.
 * get    Get the value. TAMIS_OK, _ABSENT or _UNKNOWN. It never refreshes a timer.
 * move   If the key has the value `from` (or any value, with TAMIS_ANY_VALUE), give it another
 *        value and refresh it. TAMIS_OK; _CONFLICT: the key has another value, nothing changed;
 *        _ABSENT; _UNKNOWN: its value was unknown and stays unknown.
 * set    Give a key this value, whether it is in the table or not: put it, or move it from any
 *        value, with one lookup. TAMIS_OK; _FULL; _UNKNOWN: the key is in the table, and its value
 *        stays unknown. In kinds whose keys share cells, a new key that seems to be in the table
 *        already is moved, not put.
 * touch  Refresh the key. TAMIS_OK, _ABSENT; _UNKNOWN: its value is unknown; it was refreshed.
 * drop   Remove the key if it has the value `from` (or any value, with TAMIS_ANY_VALUE). TAMIS_OK,
 *        _CONFLICT, _ABSENT; _UNKNOWN: the table cannot tell it from another key, and it stays
 *        until it times out. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put(tamis_states *states, const void *key,
                                                        size_t key_bytes, uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get(const tamis_states *states, const void *key,
                                                        size_t key_bytes, uint32_t *ret_value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move(tamis_states *states, const void *key,
                                                         size_t key_bytes, uint64_t from,
                                                         uint32_t to);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_set(tamis_states *states, const void *key,
                                                        size_t key_bytes, uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch(tamis_states *states, const void *key,
                                                          size_t key_bytes);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop(tamis_states *states, const void *key,
                                                         size_t key_bytes, uint64_t from);

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put_id(tamis_states *states, uint64_t id,
                                                           uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get_id(const tamis_states *states, uint64_t id,
                                                           uint32_t *ret_value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move_id(tamis_states *states, uint64_t id,
                                                            uint64_t from, uint32_t to);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_set_id(tamis_states *states, uint64_t id,
                                                           uint32_t value);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch_id(tamis_states *states, uint64_t id);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop_id(tamis_states *states, uint64_t id,
                                                            uint64_t from);

/* Many keys, in order, with the same results as single calls. Keys are given as bytes or as 64-bit
 * ids. Their values and the results are arrays of the same length. */

typedef struct tamis_states_batch {
    const tamis_key *keys; /**< set either `keys` or `ids` */
    const uint64_t  *ids;
    size_t           n;
    const uint64_t  *from;         /**< NULL: any value */
    const uint32_t  *values;       /**< to put, to set, or to move to */
    tamis_status    *ret_statuses; /**< what each single call would return; may be NULL */
    uint32_t        *ret_values;   /**< for get: written where the status is TAMIS_OK */
    const void      *reserved[2];  /**< NULL; otherwise the result is TAMIS_ERR_ARGUMENT */
} tamis_states_batch;

/* All return TAMIS_OK even if some or all of the keys were refused. *ret_n (may be NULL) is the
 * number of keys that were not refused. _READ_ONLY, _ARGUMENT: nothing was done. */

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_put_batch(tamis_states             *states,
                                                              const tamis_states_batch *batch,
                                                              size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get_batch(const tamis_states       *states,
                                                              const tamis_states_batch *batch,
                                                              size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_move_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_set_batch(tamis_states             *states,
                                                              const tamis_states_batch *batch,
                                                              size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_touch_batch(tamis_states             *states,
                                                                const tamis_states_batch *batch,
                                                                size_t                   *ret_n);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_drop_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               size_t                   *ret_n);

/** What a state machine decides to do with a key. */
typedef enum tamis_step {
    TAMIS_STEP_LEAVE = 0, /**< nothing */
    TAMIS_STEP_TOUCH = 1, /**< refresh it */
    TAMIS_STEP_SET = 2,   /**< put it, or move it, to *ret_to */
    TAMIS_STEP_DROP = 3   /**< remove it */
} tamis_step;

/** Decide what to do with key i of the batch. `status` and `value` are what get would return now.
 *
 *  This is a callback: it must return normally (no exception, no longjmp), and must not change the
 *  table that calls it. A call that would change that table (put, move, touch, drop, a batch, tick,
 *  clear, merge into it) returns TAMIS_ERR_REENTRY and does nothing; tamis_states_free() does
 *  nothing, either. Calls that only read the table (get, inspect, copy, save, ...) are allowed,
 *  but not if it is shared: then they may wait for ever. Other tables can be used freely.
 *
 *  It is called once for each key. Only in a shared table that grows it may be called again for the
 *  same key: if there was no room for its first decision, and another thread has changed the key
 *  while room was made. Then only the last decision counts. */
typedef tamis_step tamis_stepper(void *context, size_t i, tamis_status status, uint32_t value,
                                 uint32_t *ret_to);

/** Run one step of your state machine for each key: get its value, call `step`, and do what it
 *  decided. `from` and `values` of the batch are not used; ret_statuses are the results of these
 *  actions, and ret_values the values before them. @return as the other batches. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_step_batch(tamis_states             *states,
                                                               const tamis_states_batch *batch,
                                                               tamis_stepper *step, void *context,
                                                               size_t *ret_n);

/** Let time pass. A sweep walks through the table once per `timeout` (more often with more timer
 *  bits), and removes silent keys: those that were not put, moved or touched. One call does a
 *  bounded part of that work: at most what is due in two ticks, or 1024 buckets if that is more.
 *  So one call per tick is enough. Work that is due and not done is the backlog. Later calls do
 *  it; tick(states, 0, ...) does only that.
 *
 *  A key that was put, moved or touched within its timeout is never removed, even with a backlog.
 *  A key that was silent for two timeouts has been removed when the backlog is zero (if it was
 *  touched while there was a backlog, it may take two more timeouts). In kinds whose keys share
 *  cells this holds for each cell: a key is gone when one of its cells is.
 *
 *  @param aged NULL, or an array of `values` counters. Counter v is increased by the number of
 *  keys with value v that were removed (only in kinds that store fingerprints).
 *  @param ret_backlog buckets that are due; may be NULL.
 *  @return TAMIS_OK, _READ_ONLY, _ARGUMENT; _CANNOT: there is no timeout. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_tick(tamis_states *states, uint64_t ticks,
                                                         uint64_t *aged, uint64_t *ret_backlog);

/** Give a table that was made with `grow_to` another capacity, as tamis_resize() does for sets: the
 *  smallest possible one that is at least `capacity`. Choose a larger one before many keys arrive,
 *  or a smaller one after many keys were removed, to free memory. Values and timers stay as they
 *  are. A key may stay a little longer: at most the time in which the sweep visits one unit (the
 *  buckets that it visits together; at most a 32nd of the smallest table).
 *  @param ret_capacity the capacity that it has now; may be NULL.
 *  @return TAMIS_OK; _CANNOT: the table has a fixed size; _LIMIT: more than grow_to; _FULL: the
 *  table holds more than that; _MEMORY, _READ_ONLY, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_resize(tamis_states *states, uint64_t capacity,
                                                           uint64_t *ret_capacity);

/** Get the real timeout of a value. Timers count passes of the sweep, so the timeout in a spec is
 *  rounded up. A silent key with that value is never removed within *ret_least ticks, and is gone
 *  after *ret_most, if the backlog is zero. If the spec has `like`, the answer is for that table.
 *  @param ret_least, ret_most may be NULL.
 *  @return TAMIS_OK, _ARGUMENT; _CANNOT: there is no timeout. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_timeout(const tamis_states_spec *spec,
                                                            uint64_t value, uint64_t *ret_least,
                                                            uint64_t      *ret_most,
                                                            tamis_problem *reterr_problem);

/** What is known about a table without reading its body. */
typedef struct tamis_states_facts {
    const char *kind;
    const char *isa;
    tamis_hash  hash;
    tamis_seed  seed;
    bool        is_mapped; /**< read-only, from a file */
    bool        is_huge;   /**< huge pages were requested */

    uint64_t capacity; /**< as in tamis_states_spec */
    uint64_t lifetime;
    uint64_t values;
    uint64_t timeout;
    unsigned timer_bits;

    uint64_t keys; /**< as in tamis_states_info, as are the next */
    uint64_t saturated;
    uint64_t moved;
    uint64_t aged;
    uint64_t backlog;
    uint64_t refused;
    uint64_t conflicts;
    uint64_t body_bytes;
    uint64_t memory_bytes;

    uint64_t grow_to; /**< as in tamis_facts, as are the next */
    unsigned stage, stages;
    bool     is_growing;

    uint64_t reserved[5];
} tamis_states_facts;

/** Get the facts of a table. The body is not read, so this takes a few nanoseconds (longer in a
 *  shared table, where it first waits for changes). @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_get_facts(const tamis_states *states,
                                                              tamis_states_facts *ret_facts);

typedef struct tamis_states_info {
    tamis_plan  plan; /**< for the geometry; `plan.unknown` is the predicted one */
    const char *isa;
    tamis_hash  hash;
    tamis_seed  seed;
    bool        is_mapped;
    bool        is_huge;

    uint64_t values;
    uint64_t timeout;
    unsigned timer_bits;

    uint64_t keys;          /**< keys that were put and not removed. If keys share cells and time
                                 out, this is an estimate from the cells in use */
    double   current_fpr;   /**< computed from the present contents */
    uint64_t unknown_cells; /**< cells that say "don't know" */
    uint64_t side_keys;     /**< keys in the exact side table (state_print) */
    uint64_t side_room;
    uint64_t saturated;
    uint64_t moved;
    uint64_t aged;      /**< keys (or shared cells) that timed out */
    uint64_t backlog;   /**< buckets that the sweep still has to visit */
    uint64_t refused;   /**< puts that returned TAMIS_ERR_FULL */
    uint64_t conflicts; /**< calls that returned TAMIS_ERR_CONFLICT */
    uint64_t memory_bytes;

    uint64_t reserved[8];
} tamis_states_info;

/** Get everything that is known about a table. Reads the whole body.
 *  @return TAMIS_OK, _ARGUMENT. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_inspect(const tamis_states *states,
                                                            tamis_states_info  *ret_info);

/** Count how many keys have each value. `ret_counts` needs room for `values` counters. Reads the
 *  whole body. @return TAMIS_OK, _ARGUMENT; _CANNOT: the kind does not know, since keys share
 *  cells. */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_tally(const tamis_states *states,
                                                          uint64_t           *ret_counts);

/* Whole tables and files, as in sections 6 to 9 for sets. Open a file of states with
 * tamis_states_open(), and a file of a set with tamis_open(). If you use the wrong one, the problem
 * text says so. */

TAMIS_API bool tamis_states_validate(const tamis_states *states, const char **reterr_why);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_clear(tamis_states *states);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_copy(const tamis_states *states,
                                                         tamis_states      **ret_copy);

/** Put all keys of `from` into `into`: all of them or none. If a key is in both, the timer
 *  that was refreshed later is kept. If the sweeps of the two tables are at different places, a
 *  silent key may stay for one pass longer, but no key is removed sooner. Tables that grow can be
 *  merged at any stage; `into` grows if needed.
 *  @return as tamis_merge(); _CONFLICT: a key has different values in the two tables (kinds that
 *  can store "don't know" store that instead, and do not refuse). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_merge(tamis_states       *into,
                                                          const tamis_states *from);

TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_save(const tamis_states *states,
                                                         const char         *path,
                                                         tamis_problem      *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_write(const tamis_states *states,
                                                          tamis_writer *writer, void *context);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_open(const char               *path,
                                                         const tamis_open_options *options,
                                                         tamis_states            **ret_states,
                                                         tamis_problem            *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_open_fd(int                       fd,
                                                            const tamis_open_options *options,
                                                            tamis_states            **ret_states,
                                                            tamis_problem *reterr_problem);
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_read(const void *bytes, size_t n,
                                                         const tamis_open_options *options,
                                                         tamis_states            **ret_states,
                                                         tamis_problem            *reterr_problem);

/** Plan every kind of states for a spec. @return as tamis_plan_kinds(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_plan_kinds(const tamis_states_spec *spec,
                                                               tamis_plan              *ret_rows,
                                                               size_t max_rows, size_t *ret_n_rows,
                                                               tamis_problem *reterr_problem);

/** Plan the stages of states that grow. @return as tamis_plan_stages(). */
TAMIS_API TAMIS_NODISCARD tamis_status tamis_states_plan_stages(const tamis_states_spec *spec,
                                                                tamis_plan              *ret_rows,
                                                                size_t max_rows, size_t *ret_n_rows,
                                                                tamis_problem *reterr_problem);

/** The names of the kinds of states, i = 0, 1, ...; NULL after the last. */
TAMIS_API const char *tamis_states_kind_name(size_t i);

#ifdef __cplusplus
}
#endif

#endif
