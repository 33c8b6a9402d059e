/* state_direct.c - the direct Bloom filter of states: a key and its value are one element.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, which compares
 * the other two constructions with this one. Names below: m cells, k hashes, n keys, V values.
 *
 * Idea
 * ----
 * This is a counting Bloom filter whose elements are pairs (key, value). Moving a key removes one
 * pair and adds another. Getting its value looks up the pair with each of the V values:
 *
 *        put "apple" 3     ("apple", 3) increments its k cells
 *        get "apple"       0 no, 1 no, 2 no, 3 yes, 4 no, ...         3
 *        get "pear"        0 no, 1 no, 2 yes, 3 no, 4 yes, ...        two: don't know
 *        get "plum"        all no                                     certainly absent
 *
 * Worked example with V = 4 values, k = 8 hashes and half of the cells in use: an absent pair seems
 * to be there with f = 2^-8 = 0.39%. An absent key has a value with 4 f (1 - f)^3 = 1.5%, and the
 * value of a present key is not known with 1 - (1 - f)^3 = 1.2% (size.h).
 *
 * The pair of a key in the table is always found. So the answer for such a key is right, or "don't
 * know". In the second case, a move or drop that names the value still works; one that does not
 * name it is refused, and a key whose drop was refused stays (size.h takes such keys into account,
 * but not with timers). The cost is a lookup for each value, so this kind is for few values. No
 * cell stores a value.
 *
 *     +-------+--------------------------------------------+
 *     | timer | counter of pairs; or one bit: a mark       |      a cell
 *     +-------+--------------------------------------------+
 *
 * Variants, by the geometry:
 *
 *   counters              every put is a new key.
 *   counters and timers   the same, and a cell is emptied when its timer ends, whatever its count.
 *                         A put of a key that has another value is refused.
 *   timers                cells are marks, which can be set, and are cleared when their time is
 *                         over. A move marks the new pair and leaves the old one until it times
 *                         out: until then the value of the key is unknown. It stays unknown if the
 *                         key is touched, since that refreshes both pairs. A drop returns "don't
 *                         know" and leaves the pair until it times out. A put of a key that seems
 *                         to be in the table refreshes the pairs that it seems to have.
 *   neither               marks that stay for ever.
 *
 * All variants but the first are planned only if the geometry fixes counter_bits, because how often
 * a value is unknown then depends on how often keys move. With counters and timers, the reason is
 * that a key that times out leaves its counts in cells that other keys keep alive. A pair that
 * moves away from such cells leaves them in use, and is still found.
 *
 * If pairs with different timeouts share a cell, its timer is the longer one. A key that was silent
 * loses its cells one by one, as in state_bloom, with the same consequences.
 *
 * Invariants: those of state_overlaid.h. (I6 is empty: any content is a count.)
 */
#include "size.h"
#include "state_overlaid.h"
#include "theory/bloom_rate.h"

/* Remix 64 + value of a key's hash is the hash of the pair; remixes 0 to 63 of that are places. */
#define STATE_DIRECT_FIRST_VALUE 64

/* ------------------------------------------------------------------ planning */

static tamis_status state_direct_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return state_overlaid_plan(need, tamis_state_direct_choose, ret_geometry);
}

/* A counter of one bit would stick at its first pair: 2 bits are the fewest. */
static bool state_direct_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[OVERLAID_COUNTER_BITS];
    if (g[OVERLAID_VALUES] < 2 || g[OVERLAID_VALUES] > STATE_DIRECT_MAX_VALUES) return false;
    if (bits > OVERLAID_MAX_COUNTER_BITS || (bits != 0 && bits < STATE_DIRECT_MIN_COUNTER_BITS))
        return false;
    return tamis_overlaid_body_bytes(g, tamis_state_direct_cell_bits(g), ret_bytes);
}

/* A value that the key does not have is tested until a cell is empty. */
static void state_direct_predict(const uint64_t *g, const tamis_workload *work,
                                 tamis_forecast *ret_forecast) {
    unsigned const    k = (unsigned)g[OVERLAID_HASHES];
    double const      values = (double)g[OVERLAID_VALUES];
    double const      lines = (double)g[OVERLAID_CELLS] * tamis_state_direct_cell_bits(g) / 512;
    overlaid_forecast told;
    tamis_state_direct_forecast(g, (double)work->capacity, (double)work->lifetime, &told);
    double const one = tamis_bloom_lines_present(lines, k);
    double const other = tamis_bloom_lines_absent(lines, k, told.held);
    double const look = g[OVERLAID_TIMER_BITS] != 0 ? values * other : 0; /* before it is put */
    *ret_forecast = (tamis_forecast){ .fpr = told.fpr,
                                      .unknown = told.unknown,
                                      .saturation = told.saturation,
                                      .lines_present = one + (values - 1) * other,
                                      .lines_absent = values * other,
                                      .lines_add = look + one };
}

static void state_direct_prepare(tamis_table *table) {
    uint64_t bytes;
    if (!state_direct_body_bytes(table->geometry, &bytes)) return; /* it will get no body either */
    state_overlaid_prepare(table, 0, tamis_state_direct_count_bits(table->geometry));
}

/* ------------------------------------------------------------------ pairs */

/* The hash of a pair: what a counting filter would be given as the key. Pairs of one key have
 * nothing in common but by chance. */
TAMIS_INLINE uint64_t state_direct_pair(uint64_t hash, uint64_t value) {
    return remix(hash, STATE_DIRECT_FIRST_VALUE + (unsigned)value);
}

/* Change a cell: its count, and a timer that lasts at least as long as the value, since another
 * pair of the cell may last longer. */
TAMIS_INLINE void state_direct_write(tamis_table *table, const overlaid_found *pair, unsigned i,
                                     uint64_t count, uint64_t value) {
    const overlaid_cells *const cells = &state_overlaid_shape(table)->cells;
    uint64_t const fresh = sweep_fresh(&table->sweep, overlaid_unit(cells, pair->place[i]), value);
    uint64_t const timer = max_u64(overlaid_timer(cells, pair->cell[i]), fresh);
    state_overlaid_write(table, pair->place[i], pair->cell[i], overlaid_cell(cells, count, timer));
}

/* The cells of a pair count one more; a mark is 1. Of a pair whose hashes meet in one cell, that
 * cell counts once: overlaid_read() leaves out places that were there before. */
static void state_direct_add(tamis_table *table, uint64_t hash, uint64_t value) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    uint64_t const              most = max_u64(shape->top, 1);
    overlaid_found              pair;
    overlaid_read(&shape->cells, table->body, state_direct_pair(hash, value), &pair);
    for (unsigned i = 0; i < pair.n; i++) {
        uint64_t const count = overlaid_content(&shape->cells, pair.cell[i]);
        state_direct_write(table, &pair, i, min_u64(count + 1, most), value);
    }
}

/* The cells of a pair that is held, in a table that counts, count one less. */
static void state_direct_remove(tamis_table *table, const overlaid_found *pair) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    for (unsigned i = 0; i < pair->n; i++) {
        uint64_t const cell = pair->cell[i], count = overlaid_content(&shape->cells, cell);
        if (count == shape->top) continue; /* stuck */
        state_overlaid_write(table, pair->place[i], cell, count == 1 ? 0 : cell - 1);
    }
}

/* The timers of a pair start again; its counts stay. */
static void state_direct_refresh(tamis_table *table, const overlaid_found *pair, uint64_t value) {
    const overlaid_cells *const cells = &state_overlaid_shape(table)->cells;
    for (unsigned i = 0; i < pair->n; i++)
        state_direct_write(table, pair, i, overlaid_content(cells, pair->cell[i]), value);
}

/* ------------------------------------------------------------------ looking */

/* Is the cell in use? */
TAMIS_INLINE bool state_direct_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    return overlaid_get(&state_overlaid_shape(table)->cells, table->body, place) != 0;
}

/* The values that a key seems to have: bit v for the value v. A pair is left at its first empty
 * cell. */
TAMIS_INLINE uint64_t state_direct_hits(const tamis_table *table, uint64_t hash) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    uint64_t                    hits = 0;
    for (unsigned value = 0; value < shape->values; value++) {
        bool const is_hit = probes_hold(table, state_direct_pair(hash, value), 0,
                                        shape->cells.hashes, shape->cells.n, state_direct_holds);
        hits |= (uint64_t)is_hit << value;
    }
    return hits;
}

/* Is exactly one value hit? */
TAMIS_INLINE bool state_direct_is_one(uint64_t hits) {
    return hits != 0 && (hits & (hits - 1)) == 0;
}

/* What the hits of a key mean: TAMIS_OK, _ABSENT or _UNKNOWN. The pair of a present key is always
 * hit, so with a single hit that is its value, and with none the key is absent. */
TAMIS_INLINE tamis_status state_direct_status(uint64_t hits) {
    if (hits == 0) return TAMIS_ERR_ABSENT;
    return state_direct_is_one(hits) ? TAMIS_OK : TAMIS_ERR_UNKNOWN;
}

/* Read the cells of a pair, to change them. Are they all in use? */
TAMIS_INLINE bool state_direct_read(const tamis_table *table, uint64_t hash, uint64_t value,
                                    overlaid_found *ret_pair) {
    bool is_held = true;
    overlaid_read(&state_overlaid_shape(table)->cells, table->body, state_direct_pair(hash, value),
                  ret_pair);
    for (unsigned i = 0; i < ret_pair->n; i++) is_held &= ret_pair->cell[i] != 0;
    return is_held;
}

/* Find a key that should have the value `from`, or any value. TAMIS_OK, its value and the cells of
 * that pair; _ABSENT; _UNKNOWN and the hits; _CONFLICT. A caller who names a value means exactly
 * that pair, so only that pair is searched, if it is in the table.
 *
 *     from        pairs that are hit                result
 *     a value     that one, whatever others         _OK
 *     a value     others only                       _CONFLICT
 *     any value   one                               _OK
 *     any value   several                           _UNKNOWN: one of them is the key's
 *     either      none                              _ABSENT */
static tamis_status state_direct_find(const tamis_table *table, uint64_t hash, uint64_t from,
                                      overlaid_found *ret_pair, uint64_t *ret_value,
                                      uint64_t *ret_hits) {
    *ret_value = from;
    *ret_hits = 0;
    if (from != TAMIS_ANY_VALUE && state_direct_read(table, hash, from, ret_pair)) return TAMIS_OK;
    *ret_hits = state_direct_hits(table, hash);
    tamis_status const status = state_direct_status(*ret_hits);
    if (from != TAMIS_ANY_VALUE) return status == TAMIS_ERR_ABSENT ? status : TAMIS_ERR_CONFLICT;
    if (status != TAMIS_OK) return status;
    *ret_value = bits_lowest(*ret_hits);
    (void)state_direct_read(table, hash, *ret_value, ret_pair); /* its cells are in the cache */
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ changing */

/* The value of the key is not known: refresh all pairs that it seems to have, since one of them is
 * real. */
static tamis_status state_direct_refresh_all(tamis_table *table, uint64_t hash, uint64_t hits) {
    for (uint64_t left = hits; left != 0 && state_overlaid_ages(table); left &= left - 1) {
        overlaid_found pair;
        unsigned const value = bits_lowest(left);
        (void)state_direct_read(table, hash, value, &pair);
        state_direct_refresh(table, &pair, value);
    }
    return state_direct_status(hits);
}

/* The pair of a key is found; the key has another value from now on. Marks of the old pair may be
 * another pair's, too, and stay until they age. */
static void state_direct_change(tamis_table *table, uint64_t hash, const overlaid_found *pair,
                                uint64_t from, uint32_t to) {
    if (from == to) {
        state_direct_refresh(table, pair, to);
        return;
    }
    if (state_overlaid_shape(table)->top != 0) state_direct_remove(table, pair);
    state_direct_add(table, hash, to);
}

/* The pair of a key is found; the key goes, where cells count. A mark may be that of another pair,
 * too, so it cannot be cleared. */
static tamis_status state_direct_erase(tamis_table *table, const overlaid_found *pair) {
    if (state_overlaid_shape(table)->top == 0) return TAMIS_ERR_UNKNOWN;
    state_direct_remove(table, pair);
    state_overlaid_count_key(table, -1);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ keys */

/* Every put is a new key, except as state_overlaid_is_new() says. With timers, a key that has
 * another value is refused; without timers no lookup is needed. */
static tamis_status state_direct_put(tamis_table *table, uint64_t hash, uint32_t value) {
    if (state_overlaid_ages(table)) {
        uint64_t const hits = state_direct_hits(table, hash), own = UINT64_C(1) << value;
        if (state_direct_is_one(hits) && hits != own) return TAMIS_ERR_CONFLICT;
        if (!state_overlaid_is_new(table, state_direct_status(hits)))
            return state_direct_refresh_all(table, hash, hits);
    }
    state_direct_add(table, hash, value);
    state_overlaid_count_key(table, 1);
    return TAMIS_OK;
}

/* V lookups of a counting filter. It cannot stop at the first hit: a second one means "don't
 * know". */
static tamis_status state_direct_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    uint64_t const     hits = state_direct_hits(table, hash);
    tamis_status const status = state_direct_status(hits);
    if (status == TAMIS_OK) *ret_value = bits_lowest(hits);
    return status;
}

/* With `from`, even a key whose value is not known can be moved: its pair is known. */
static tamis_status state_direct_move(tamis_table *table, uint64_t hash, uint64_t from,
                                      uint32_t to) {
    overlaid_found     pair;
    uint64_t           value, hits;
    tamis_status const status = state_direct_find(table, hash, from, &pair, &value, &hits);
    if (status == TAMIS_ERR_UNKNOWN) return state_direct_refresh_all(table, hash, hits);
    if (status == TAMIS_OK) state_direct_change(table, hash, &pair, value, to);
    return status;
}

/* One of the values that seem to be there is the key's own: all are refreshed. */
static tamis_status state_direct_touch(tamis_table *table, uint64_t hash) {
    return state_direct_refresh_all(table, hash, state_direct_hits(table, hash));
}

/* Refused if the key is unknown and no value is named: size.h has what such keys do. */
static tamis_status state_direct_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    overlaid_found     pair;
    uint64_t           value, hits;
    tamis_status const status = state_direct_find(table, hash, from, &pair, &value, &hits);
    return status == TAMIS_OK ? state_direct_erase(table, &pair) : status;
}

/* What was found of a key, in one look. */
typedef struct direct_found {
    tamis_status   status;
    overlaid_found pair; /* with TAMIS_OK: the cells of its pair */
    uint64_t       value;
    uint64_t       hits;
} direct_found;

/* Look for a key with any value: set and step need all that can be known of it. */
static direct_found state_direct_look(const tamis_table *table, uint64_t hash) {
    direct_found found;
    found.status =
        state_direct_find(table, hash, TAMIS_ANY_VALUE, &found.pair, &found.value, &found.hits);
    return found;
}

/* A key that was looked for has the value `to` from now on, if it can be known. */
static tamis_status state_direct_assign(tamis_table *table, uint64_t hash,
                                        const direct_found *found, uint32_t to) {
    if (found->status == TAMIS_ERR_UNKNOWN)
        return state_direct_refresh_all(table, hash, found->hits);
    if (found->status == TAMIS_OK) {
        state_direct_change(table, hash, &found->pair, found->value, to);
    } else {
        state_direct_add(table, hash, to);
        state_overlaid_count_key(table, 1);
    }
    return TAMIS_OK;
}

/* Put, or move from whatever value it has. */
static tamis_status state_direct_set(tamis_table *table, uint64_t hash, uint32_t value) {
    direct_found const found = state_direct_look(table, hash);
    return state_direct_assign(table, hash, &found, value);
}

/* Get, ask the caller's machine, and change the cells that were read: one look. A value that is not
 * known can be touched, which refreshes all that are possible, but not changed or dropped. */
static tamis_status state_direct_step(tamis_table *table, uint64_t hash,
                                      const kind_stepper *stepper, tamis_status *ret_was,
                                      uint32_t *ret_value) {
    direct_found const found = state_direct_look(table, hash);
    uint32_t           to = 0;
    *ret_was = found.status;
    if (found.status == TAMIS_OK) *ret_value = (uint32_t)found.value;
    switch (kind_decide(table, stepper, found.status, *ret_value, &to)) {
    case TAMIS_STEP_LEAVE: return TAMIS_OK;
    case TAMIS_STEP_TOUCH: return state_direct_refresh_all(table, hash, found.hits);
    case TAMIS_STEP_SET: return state_direct_assign(table, hash, &found, to);
    case TAMIS_STEP_DROP:
        return found.status == TAMIS_OK ? state_direct_erase(table, &found.pair) : found.status;
    }
    return TAMIS_ERR_ARGUMENT;
}

#define STATE_DIRECT_CHUNK 4   /* keys in a chunk */
#define STATE_DIRECT_FETCHED 2 /* cells of each pair: more are read only if both are in use */

/* Prefetch the cells of all values, since each value is tested. */
static void state_direct_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                               bool is_update) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    (void)is_update;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned value = 0; value < shape->values; value++) {
            uint64_t const pair = state_direct_pair(hash[i], value);
            overlaid_fetch(&shape->cells, table->body, &pair, 1, STATE_DIRECT_FETCHED);
        }
    }
}

/* Cells are swept a unit at a time, as in all tables of shared cells (core/sweep.h). */
static uint64_t state_direct_units(const uint64_t *g) {
    return state_overlaid_units(g, tamis_state_direct_count_bits(g));
}

/* ------------------------------------------------------------------ whole tables */

/* Counts of two tables add up, to the top at most, where they are stuck; marks stay marks. */
TAMIS_INLINE uint64_t state_direct_join(const overlaid_shape *shape, uint64_t a, uint64_t b) {
    return min_u64(a + b, max_u64(shape->top, 1));
}

static tamis_status state_direct_merge(tamis_table *into, const tamis_table *from) {
    state_overlaid_merge(into, from, state_direct_join);
    return TAMIS_OK;
}

/* The rates of what is in the table now: f from the cells that are in use. */
static void state_direct_survey(const tamis_table *table, kind_survey *ret_survey) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    uint64_t                    used = 0;
    for (uint64_t place = 0; place < shape->cells.n; place++)
        used += state_direct_holds(table, place);
    double const load = (double)used / (double)shape->cells.n;
    double const f = pow(load, shape->cells.hashes);
    *ret_survey = (kind_survey){ .fpr = tamis_state_direct_fpr(f, (double)shape->values),
                                 .distinct = state_overlaid_estimate(&shape->cells, used),
                                 .load = load };
}

/* Any count is possible; a cell in use has at least 1. */
TAMIS_INLINE bool state_direct_is_content(const overlaid_shape *shape, uint64_t content) {
    (void)shape;
    return content != 0;
}

static bool state_direct_validate(const tamis_table *table, const char **reterr_why) {
    return state_overlaid_validate(table, state_direct_is_content, reterr_why);
}

static const kind_states state_direct_states = {
    .put = state_direct_put,
    .get = state_direct_get,
    .move = state_direct_move,
    .set = state_direct_set,
    .touch = state_direct_touch,
    .drop = state_direct_drop,
    .step = state_direct_step,
    .units = state_direct_units,
    .holds_values = state_overlaid_holds_values,
    .sweep = state_overlaid_sweep,
    .keys = state_overlaid_keys,
    .merge = state_direct_merge,
};

KIND_EXPORT(state_direct) = {
    .name = "state_direct",
    .summary = "direct Bloom filter of states: pairs of key and value, for a few values",
    .isa = KIND_ISA,
    .fields = { { "cells", 2, UINT64_MAX - 7 }, /* of one bit */
                { "hashes", 1, OVERLAID_MAX_HASHES },
                { "values", 2, STATE_DIRECT_MAX_VALUES },
                { "counter_bits", 0, OVERLAID_MAX_COUNTER_BITS },
                { "timer_bits", 0, SWEEP_MAX_BITS },
                { NULL, 0, 0 } },
    .plan = state_direct_plan,
    .body_bytes = state_direct_body_bytes,
    .predict = state_direct_predict,
    .prepare = state_direct_prepare,
    .calls = {
        .fetch = state_direct_fetch,
        .chunk = STATE_DIRECT_CHUNK,
    },
    .states = &state_direct_states,
    .survey = state_direct_survey,
    .validate = state_direct_validate,
};
