/* state_bloom.c - the stateful Bloom filter: each cell has a value, or "don't know".
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, section 3.3.
 * Names below: m cells, k hashes, n keys; DK, "don't know"; insertion, modify, deletion and lookup
 * are the paper's operations put, move, drop and get.
 *
 * Idea
 * ----
 * This is a Bloom filter whose cells contain the value of the key that was put there. If keys with
 * different values share a cell, the cell says DK instead. A key has the value that any of its
 * cells says.
 *
 *        put "apple" 3     . 3 . . . 3 . 3 . .      k = 3 cells say 3
 *        put "pear"  5     . 3 5 . . ? . 3 . 5      one is shared: DK
 *        get "apple"         3       ?   3          3
 *        get "plum"            5         3          two values: certainly absent
 *        get "fig"           3   .                  an empty cell: certainly absent
 *
 * A cell also counts its keys. When a key moves, the cell changes its value only if that is its
 * only key; otherwise it becomes DK. The cell becomes empty when its last key is dropped; a DK cell
 * changes only in this way. So all keys of a cell with a value have that value, and no key that was
 * put and not dropped ever has a wrong value.
 *
 * Deviation: in the paper, DK is "no value, and a count of two or more". If one of two keys is
 * dropped, the other is still there, but the cell would look empty, and that key would be lost. So
 * here DK is a separate code, and stays DK with a count of one.
 *
 * A cell with a counter through its life, with two keys X and Y that share it:
 *
 *     put X 3     3, one key
 *     put Y 5     DK, two keys         another value
 *     drop Y      DK, one key          the paper would read this as empty, and X would be lost
 *     move X 4    DK, one key          the cell cannot know that X is its only key now
 *     drop X      empty
 *
 *     +-------+----------------------------+---------------------------------------+
 *     | timer | keys besides the first     | code: 1 + value, or DK = values + 1   |      a cell
 *     +-------+----------------------------+---------------------------------------+
 *
 * Variants, by the geometry:
 *
 *   counters              every put is a new key. If all cells of a key are DK it can still be
 *                         dropped: it must have been put, and its cells count it.
 *   counters and timers   the same, and a cell is emptied when its timer ends, whatever its count.
 *                         Plans with a timeout use this. A put of a key that has another value is
 *                         refused.
 *   timers                the paper's choice for timeouts: a put to a cell in use makes it DK,
 *                         whatever its value. So a cell with a value belongs to one key, which may
 *                         change and empty it; a DK cell stays until it times out. A put of a key
 *                         that is in the table already refreshes it. A new key that only seems to
 *                         be in the table (as often as `fpr` says) is handled in the same way: it
 *                         shares the cells of other keys, and is lost when they are removed.
 *   neither               a drop empties cells with a value, but DK cells stay DK for ever. This is
 *                         for a map that is made once.
 *
 * With timers, a key that was not refreshed within its timeout loses its cells one by one, during
 * one pass of the sweep. If it is used in that time, it may still seem to be in the table, although
 * one of its cells belongs to another key by now, and may change or empty that cell. So a caller
 * must not move or drop a key that was silent for longer than its timeout.
 *
 * Advantage: a key in the table never has a wrong value. Cost: DK cells stay DK for long, so many
 * cells are needed. The longer a key lives, the likelier its value is unknown (size.h).
 *
 * Invariants: those of state_overlaid.h. I6 here: a cell in use has a value of this table, or DK.
 */
#include "size.h"
#include "state_overlaid.h"
#include "theory/bloom_rate.h"

/* ------------------------------------------------------------------ planning */

static tamis_status state_bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return state_overlaid_plan(need, tamis_state_bloom_choose, ret_geometry);
}

/* A code must have room for all values, "empty" and DK; with one value there is nothing to say. */
static bool state_bloom_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[OVERLAID_VALUES] < 2 || g[OVERLAID_VALUES] > KIND_MAX_VALUES) return false;
    if (g[OVERLAID_COUNTER_BITS] > OVERLAID_MAX_COUNTER_BITS) return false;
    return tamis_overlaid_body_bytes(g, tamis_state_bloom_cell_bits(g), ret_bytes);
}

/* A look-up of a present key reads all k cells; of an absent one, until a cell is empty or two
 * disagree. The latter is not counted, so lines_absent is a little high. */
static void state_bloom_predict(const uint64_t *g, const tamis_workload *work,
                                tamis_forecast *ret_forecast) {
    unsigned const    k = (unsigned)g[OVERLAID_HASHES];
    double const      lines = (double)g[OVERLAID_CELLS] * tamis_state_bloom_cell_bits(g) / 512;
    overlaid_forecast told;
    tamis_state_bloom_forecast(g, (double)work->capacity, (double)work->lifetime, &told);
    *ret_forecast = (tamis_forecast){ .fpr = told.fpr,
                                      .unknown = told.unknown,
                                      .saturation = told.saturation,
                                      .lines_present = tamis_bloom_lines_present(lines, k),
                                      .lines_absent = tamis_bloom_lines_absent(lines, k, told.held),
                                      .lines_add = tamis_bloom_lines_present(lines, k) };
}

static unsigned state_bloom_content_bits(const uint64_t *g) {
    return tamis_state_bloom_cell_bits(g) - (unsigned)g[OVERLAID_TIMER_BITS];
}

/* The content of a cell is its code and its counter; the timer is above it. */
static void state_bloom_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!state_bloom_body_bytes(g, &bytes)) return; /* it will get no body either */
    state_overlaid_prepare(table, tamis_state_bloom_code_bits(g[OVERLAID_VALUES]),
                           state_bloom_content_bits(g));
}

/* ------------------------------------------------------------------ the rules of a cell */

/* A content is 1 + value, or DK, and above it the number of keys beside the first. DK is the code
 * after the last value. */
TAMIS_INLINE uint64_t state_bloom_unknown(const overlaid_shape *shape) {
    return shape->values + 1;
}

TAMIS_INLINE uint64_t state_bloom_content(const overlaid_shape *shape, uint64_t code,
                                          uint64_t more) {
    return code | more << shape->code_bits;
}

/* Insertion: the first key of a cell writes its value; another one makes it DK, unless both are
 * known to have the same value, which takes counters: a cell that does not count and says a value
 * belongs to one key. */
TAMIS_INLINE uint64_t state_bloom_inserted(const overlaid_shape *shape, uint64_t content,
                                           uint64_t code) {
    if (content == 0) return code;
    uint64_t const more = state_overlaid_count(shape, content);
    bool const     is_same = state_overlaid_code(shape, content) == code && shape->top != 0;
    return state_bloom_content(shape, is_same ? code : state_bloom_unknown(shape),
                               min_u64(more + 1, shape->top));
}

/* Modify: the only key of a cell changes its value; with other keys the cell becomes DK. */
TAMIS_INLINE uint64_t state_bloom_modified(const overlaid_shape *shape, uint64_t content,
                                           uint64_t code) {
    uint64_t const was = state_overlaid_code(shape, content);
    uint64_t const more = state_overlaid_count(shape, content);
    if (was == state_bloom_unknown(shape) || was == code) return content;
    return state_bloom_content(shape, more == 0 ? code : state_bloom_unknown(shape), more);
}

/* Deletion: the last key of a cell leaves it empty. A cell that is stuck, or DK and not counting,
 * may have any number of keys, and stays. */
TAMIS_INLINE uint64_t state_bloom_deleted(const overlaid_shape *shape, uint64_t content) {
    uint64_t const more = state_overlaid_count(shape, content);
    bool const     is_many = shape->top == 0
                                 ? state_overlaid_code(shape, content) == state_bloom_unknown(shape)
                                 : more == shape->top;
    if (is_many) return content;
    return more == 0 ? 0 : content - (UINT64_C(1) << shape->code_bits);
}

/* ------------------------------------------------------------------ looking */

/* What cells say of their key, one after the other. */
typedef struct bloom_saying {
    uint64_t code;      /* of a value; 0: no cell said one */
    bool     is_absent; /* a cell is empty, or two say different values, which no key has */
} bloom_saying;

/* One more cell. A DK cell says nothing. An empty one, or a second value, means that the key was
 * never put: all cells of a key that was put are in use, and each says the value of the key or
 * DK. */
TAMIS_INLINE void state_bloom_hear(const overlaid_shape *shape, uint64_t cell,
                                   bloom_saying *saying) {
    uint64_t const code = state_overlaid_code(shape, cell);
    bool const     is_value = code != 0 && code != state_bloom_unknown(shape);
    saying->is_absent |= code == 0 || (is_value && saying->code != 0 && saying->code != code);
    if (is_value) saying->code = code;
}

/* All cells were heard. If all of them are DK, the key may be there or not. */
TAMIS_INLINE tamis_status state_bloom_status(const bloom_saying *saying) {
    if (saying->is_absent) return TAMIS_ERR_ABSENT;
    return saying->code != 0 ? TAMIS_OK : TAMIS_ERR_UNKNOWN;
}

/* Read all cells of a key, to change them. TAMIS_OK and the code of its value, _ABSENT, _UNKNOWN;
 * _CONFLICT: it has another value than `from`. Every change calls it. It reads k cells, so that it
 * is called and not inlined: one copy of it is compiled, and not six. */
static __attribute__((noinline)) tamis_status state_bloom_find(const tamis_table *table,
                                                               uint64_t hash, uint64_t from,
                                                               overlaid_found *ret_found,
                                                               uint64_t       *ret_code) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    bloom_saying                saying = { 0, false };
    overlaid_read(&shape->cells, table->body, hash, ret_found);
    for (unsigned i = 0; i < ret_found->n; i++)
        state_bloom_hear(shape, ret_found->cell[i], &saying);
    tamis_status const status = state_bloom_status(&saying);
    *ret_code = saying.code;
    bool const is_other = from != TAMIS_ANY_VALUE && saying.code != from + 1;
    return status == TAMIS_OK && is_other ? TAMIS_ERR_CONFLICT : status;
}

/* The same without changing anything: stops at the first cell that settles it. */
static tamis_status state_bloom_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    bloom_saying                saying = { 0, false };
    for (unsigned i = 0; i < shape->cells.hashes && !saying.is_absent; i++) {
        uint64_t const place = probes_place(hash, i, shape->cells.n);
        state_bloom_hear(shape, overlaid_get(&shape->cells, table->body, place), &saying);
    }
    tamis_status const status = state_bloom_status(&saying);
    if (status == TAMIS_OK) *ret_value = (uint32_t)(saying.code - 1);
    return status;
}

/* ------------------------------------------------------------------ changing */

/* Write a cell of a key that was put, moved or touched: its content, with a new timer. The timer
 * depends on the value of the cell; a DK cell may have keys of any value, and gets the longest
 * timer. */
TAMIS_INLINE void state_bloom_write(tamis_table *table, const overlaid_found *found, unsigned i,
                                    uint64_t content) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    uint64_t const              code = state_overlaid_code(shape, content);
    uint64_t const              value = code == state_bloom_unknown(shape) ? UINT64_MAX : code - 1;
    uint64_t const              unit = overlaid_unit(&shape->cells, found->place[i]);
    uint64_t const              timer = sweep_fresh(&table->sweep, unit, value);
    state_overlaid_write(table, found->place[i], found->cell[i],
                         overlaid_cell(&shape->cells, content, timer));
}

/* The paper's insertion, in each cell of the key. All cells were read before the first is written,
 * and no cell is there twice (core/overlaid.h), so that a key never finds its own value in a
 * cell. */
static void state_bloom_insert(tamis_table *table, const overlaid_found *found, uint32_t value) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    for (unsigned i = 0; i < found->n; i++) {
        uint64_t const content = overlaid_content(&shape->cells, found->cell[i]);
        state_bloom_write(table, found, i,
                          state_bloom_inserted(shape, content, value + UINT64_C(1)));
    }
    state_overlaid_count_key(table, 1);
}

/* The paper's modification, in each cell of the key. */
static void state_bloom_modify(tamis_table *table, const overlaid_found *found, uint32_t value) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    for (unsigned i = 0; i < found->n; i++) {
        uint64_t const content = overlaid_content(&shape->cells, found->cell[i]);
        state_bloom_write(table, found, i,
                          state_bloom_modified(shape, content, value + UINT64_C(1)));
    }
}

/* A key that is there, known or not, is refreshed, and the status passed on. */
static tamis_status state_bloom_refresh(tamis_table *table, const overlaid_found *found,
                                        tamis_status status) {
    bool const is_there = status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN;
    for (unsigned i = 0; is_there && state_overlaid_ages(table) && i < found->n; i++) {
        state_bloom_write(table, found, i,
                          overlaid_content(&state_overlaid_shape(table)->cells, found->cell[i]));
    }
    return status;
}

/* Drop a key that is found with `status`. If its value is not known, it can still be dropped if
 * cells have counters: they count it in any case. */
static tamis_status state_bloom_delete(tamis_table *table, const overlaid_found *found,
                                       tamis_status status) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    if (status == TAMIS_ERR_UNKNOWN && shape->top != 0) status = TAMIS_OK;
    if (status != TAMIS_OK) return status;
    for (unsigned i = 0; i < found->n; i++) {
        uint64_t const cell = found->cell[i];
        uint64_t const content = state_bloom_deleted(shape, overlaid_content(&shape->cells, cell));
        uint64_t const timer = content != 0 ? overlaid_timer(&shape->cells, cell) : 0;
        state_overlaid_write(table, found->place[i], cell,
                             overlaid_cell(&shape->cells, content, timer));
    }
    state_overlaid_count_key(table, -1);
    return TAMIS_OK;
}

/* A key that is found with `status` has `value` from now on, if it can be known. */
static tamis_status state_bloom_assign(tamis_table *table, const overlaid_found *found,
                                       tamis_status status, uint32_t value) {
    if (status == TAMIS_ERR_UNKNOWN) return state_bloom_refresh(table, found, status);
    if (status == TAMIS_ERR_ABSENT)
        state_bloom_insert(table, found, value);
    else
        state_bloom_modify(table, found, value);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ keys */

/* Every put is a new key, except as state_overlaid_is_new() says. With timers, one that is there
 * with another value is refused. */
static tamis_status state_bloom_put(tamis_table *table, uint64_t hash, uint32_t value) {
    overlaid_found     found;
    uint64_t           code;
    tamis_status const status = state_bloom_find(table, hash, value, &found, &code);
    if (status == TAMIS_ERR_CONFLICT && state_overlaid_ages(table)) return status;
    if (!state_overlaid_is_new(table, status)) return state_bloom_refresh(table, &found, status);
    state_bloom_insert(table, &found, value);
    return TAMIS_OK;
}

/* The paper's modification, if the key has the value that the caller expects. Otherwise nothing is
 * moved, but a key that is there is refreshed: it was heard of. */
static tamis_status state_bloom_move(tamis_table *table, uint64_t hash, uint64_t from,
                                     uint32_t to) {
    overlaid_found     found;
    uint64_t           code;
    tamis_status const status = state_bloom_find(table, hash, from, &found, &code);
    if (status != TAMIS_OK) return state_bloom_refresh(table, &found, status);
    state_bloom_modify(table, &found, to);
    return TAMIS_OK;
}

/* Heard of: all cells of the key start their timers again. */
static tamis_status state_bloom_touch(tamis_table *table, uint64_t hash) {
    overlaid_found     found;
    uint64_t           code;
    tamis_status const status = state_bloom_find(table, hash, TAMIS_ANY_VALUE, &found, &code);
    return state_bloom_refresh(table, &found, status);
}

/* A drop that expects another value than the key has changes nothing. */
static tamis_status state_bloom_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    overlaid_found     found;
    uint64_t           code;
    tamis_status const status = state_bloom_find(table, hash, from, &found, &code);
    return state_bloom_delete(table, &found, status);
}

/* Unlike put, set never counts a key twice that is known to be there. */
static tamis_status state_bloom_set(tamis_table *table, uint64_t hash, uint32_t value) {
    overlaid_found     found;
    uint64_t           code;
    tamis_status const status = state_bloom_find(table, hash, TAMIS_ANY_VALUE, &found, &code);
    return state_bloom_assign(table, &found, status, value);
}

/* Get, ask the caller's machine, and change the cells that were read: one look. */
static tamis_status state_bloom_step(tamis_table *table, uint64_t hash, const kind_stepper *stepper,
                                     tamis_status *ret_was, uint32_t *ret_value) {
    overlaid_found     found;
    uint64_t           code;
    uint32_t           to = 0;
    tamis_status const was = state_bloom_find(table, hash, TAMIS_ANY_VALUE, &found, &code);
    *ret_was = was;
    if (was == TAMIS_OK) *ret_value = (uint32_t)(code - 1);
    switch (kind_decide(table, stepper, was, *ret_value, &to)) {
    case TAMIS_STEP_LEAVE: return TAMIS_OK;
    case TAMIS_STEP_TOUCH: return state_bloom_refresh(table, &found, was);
    case TAMIS_STEP_SET: return state_bloom_assign(table, &found, was, to);
    case TAMIS_STEP_DROP: return state_bloom_delete(table, &found, was);
    }
    return TAMIS_ERR_ARGUMENT;
}

#define STATE_BLOOM_CHUNK 8 /* keys in a chunk, of several lines each */

/* All places, since a present key is tested at all of them. */
static void state_bloom_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_update) {
    (void)is_update;
    overlaid_fetch(&state_overlaid_shape(table)->cells, table->body, hash, n, OVERLAID_MAX_HASHES);
}

static uint64_t state_bloom_units(const uint64_t *g) {
    return state_overlaid_units(g, state_bloom_content_bits(g));
}

/* ------------------------------------------------------------------ whole tables */

/* Two cells in use become one, which has the keys of both: so the counts add up, and one more
 * for the second "first key". It keeps its value if both say the same. If cells have no
 * counters, a cell with a value has one key, which may not be the same key in both tables: then
 * it becomes DK. */
TAMIS_INLINE uint64_t state_bloom_join(const overlaid_shape *shape, uint64_t a, uint64_t b) {
    uint64_t const code = state_overlaid_code(shape, a);
    bool const     is_same = code == state_overlaid_code(shape, b) && shape->top != 0;
    uint64_t const more = state_overlaid_count(shape, a) + state_overlaid_count(shape, b) + 1;
    return state_bloom_content(shape, is_same ? code : state_bloom_unknown(shape),
                               min_u64(more, shape->top));
}

static tamis_status state_bloom_merge(tamis_table *into, const tamis_table *from) {
    state_overlaid_merge(into, from, state_bloom_join);
    return TAMIS_OK;
}

/* How many cells are DK: what makes keys unknown. */
static void state_bloom_census(const tamis_table *table, kind_census *ret_census) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    uint64_t                    unknown = 0;
    for (uint64_t place = 0; place < shape->cells.n; place++) {
        uint64_t const cell = overlaid_get(&shape->cells, table->body, place);
        unknown += state_overlaid_code(shape, cell) == state_bloom_unknown(shape);
    }
    ret_census->unknown_cells = unknown;
}

#define STATE_BLOOM_TOLD_APART 64 /* values; of more, several count as one: an upper bound */

/* fpr: a key that is not there has value i if its cells say i or DK, and not all of them DK. With
 * s_i the share of cells that say i and q that of DK cells, value i has the chance (s_i + q)^k -
 * q^k; the chances of all values add up. */
static void state_bloom_survey(const tamis_table *table, kind_survey *ret_survey) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    double const                m = (double)shape->cells.n, k = shape->cells.hashes;
    uint64_t                    says[STATE_BLOOM_TOLD_APART] = { 0 }, unknown = 0, used = 0;
    double                      fpr = 0;
    for (uint64_t place = 0; place < shape->cells.n; place++) {
        uint64_t const cell = overlaid_get(&shape->cells, table->body, place);
        uint64_t const code = state_overlaid_code(shape, cell);
        unknown += code == state_bloom_unknown(shape);
        used += cell != 0;
        if (code != 0 && code != state_bloom_unknown(shape))
            says[(code - 1) % STATE_BLOOM_TOLD_APART]++;
    }
    for (unsigned i = 0; i < STATE_BLOOM_TOLD_APART; i++) {
        fpr += pow((double)(says[i] + unknown) / m, k) - pow((double)unknown / m, k);
    }
    *ret_survey = (kind_survey){ .fpr = fpr,
                                 .distinct = state_overlaid_estimate(&shape->cells, used),
                                 .load = (double)used / m };
}

/* A cell in use says a value of this table, or DK. */
TAMIS_INLINE bool state_bloom_is_content(const overlaid_shape *shape, uint64_t content) {
    uint64_t const code = state_overlaid_code(shape, content);
    return code != 0 && code <= state_bloom_unknown(shape);
}

static bool state_bloom_validate(const tamis_table *table, const char **reterr_why) {
    return state_overlaid_validate(table, state_bloom_is_content, reterr_why);
}

static const kind_states state_bloom_states = {
    .put = state_bloom_put,
    .get = state_bloom_get,
    .move = state_bloom_move,
    .set = state_bloom_set,
    .touch = state_bloom_touch,
    .drop = state_bloom_drop,
    .step = state_bloom_step,
    .units = state_bloom_units,
    .holds_values = state_overlaid_holds_values,
    .sweep = state_overlaid_sweep,
    .keys = state_overlaid_keys,
    .census = state_bloom_census,
    .merge = state_bloom_merge,
};

KIND_EXPORT(state_bloom) = {
    .name = "state_bloom",
    .summary = "stateful Bloom filter: never a wrong value for a key that is there",
    .isa = KIND_ISA,
    .fields = { { "cells", 2, (UINT64_MAX - 7) / 2 }, /* of two bits, the fewest */
                { "hashes", 1, OVERLAID_MAX_HASHES },
                { "values", 2, KIND_MAX_VALUES },
                { "counter_bits", 0, OVERLAID_MAX_COUNTER_BITS },
                { "timer_bits", 0, SWEEP_MAX_BITS },
                { NULL, 0, 0 } },
    .plan = state_bloom_plan,
    .body_bytes = state_bloom_body_bytes,
    .predict = state_bloom_predict,
    .prepare = state_bloom_prepare,
    .calls = {
        .fetch = state_bloom_fetch,
        .chunk = STATE_BLOOM_CHUNK,
    },
    .states = &state_bloom_states,
    .survey = state_bloom_survey,
    .validate = state_bloom_validate,
};
