/* state_direct.c - the direct Bloom filter of states: a key and its value are one element.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, where it is what
 * the other two are compared with. Names below: m cells, k hashes, n keys, V values.
 *
 * Idea
 * ----
 * A counting Bloom filter whose elements are pairs (key, value). To move a key is to remove one
 * pair and to add another. To get its value is to ask for the pair with each of the V values:
 *
 *        put "apple" 3     ("apple", 3) counts up its k cells
 *        get "apple"       0 no, 1 no, 2 no, 3 yes, 4 no, ...         3
 *        get "pear"        0 no, 1 no, 2 yes, 3 no, 4 yes, ...        two: don't know
 *        get "plum"        all no                                     certainly not there
 *
 * The pair of a key that is there is always found. So an answer for it is right, or "don't know",
 * which a move or drop that says from which value it goes settles. What it costs is a lookup for
 * each value; so it is for few values only, and they are all alike to it: no cell says a value.
 *
 * Variants, by the geometry:
 *
 *   counters              every put is a new key. A counter at its maximum sticks.
 *   counters and timers   a put of a key that is there already refreshes it. A cell goes when its
 *                         timer ends, whatever it counts.
 *   timers                cells are marks, which can be set, and go when their time is over. A move
 *                         marks the new pair and leaves the old one to age: until then the key is
 *                         unknown, and it stays so if it is touched, since nobody can say which of
 *                         the two that is meant for. A drop says "don't know" and leaves it to age.
 *   neither               marks that stay for good.
 *
 * The last two only if asked for: how often a key is unknown then depends on how often it moves.
 *
 * Cells of pairs that have different timeouts have the timer of the one that lasts longer. A key
 * that was silent loses its cells one by one, as in state_bloom, with the same consequences.
 *
 * Invariants (checked by state_direct_validate)
 *   I1  bits of the body beyond the m cells are zero;
 *   I2  an empty cell has no timer;
 *   I3  `saturated` is the number of counters at their maximum;
 *   I4  no timer runs longer than a fresh one.
 */
#include "core/shared.h"
#include "kind.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

#define FIRST_VALUE 64 /* remix 64 + value makes the hash of a pair; those before are its places */

/* The geometry worked out. */
typedef struct direct_shape {
    shared_cells cells;
    uint64_t     top; /* of the counters; 0: there are none */
    unsigned     values;
} direct_shape;

static_assert(sizeof(direct_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

static tamis_status state_direct_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t          g[TAMIS_MAX_FIELDS];
    shared_need const want = { .n = (double)need->work.capacity,
                               .lifetime = (double)need->work.lifetime,
                               .fpr = need->fpr,
                               .unknown = need->unknown,
                               .values = need->values,
                               .timer_bits = need->timer_bits };
    memcpy(g, need->fixed, sizeof g);
    if (!tamis_state_direct_choose(want, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, SHARED_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool state_direct_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[SHARED_COUNTER_BITS];
    if (g[SHARED_VALUES] < 2 || g[SHARED_VALUES] > STATE_DIRECT_MAX_VALUES) return false;
    if (bits > SHARED_MAX_COUNTER_BITS || (bits != 0 && bits < STATE_DIRECT_MIN_COUNTER_BITS))
        return false;
    return tamis_shared_body_bytes(g, tamis_state_direct_cell_bits(g), ret_bytes);
}

/* A value that is not the key's is asked for until a cell is not held. */
static void state_direct_predict(const uint64_t *g, const tamis_workload *work,
                                 tamis_forecast *ret_forecast) {
    uint64_t const  capacity = work->capacity, lifetime = work->lifetime;
    unsigned const  k = (unsigned)g[SHARED_HASHES];
    double const    values = (double)g[SHARED_VALUES];
    double const    lines = (double)g[SHARED_CELLS] * tamis_state_direct_cell_bits(g) / 512;
    shared_forecast told;
    tamis_state_direct_forecast(g, (double)capacity, (double)lifetime, &told);
    double const one = tamis_bloom_lines_present(lines, k);
    double const other = tamis_bloom_lines_absent(lines, k, told.held);
    double const look = g[SHARED_TIMER_BITS] != 0 ? values * other : 0; /* before it is put */
    *ret_forecast = (tamis_forecast){ .fpr = told.fpr,
                                      .unknown = told.unknown,
                                      .saturation = told.saturation,
                                      .lines_present = one + (values - 1) * other,
                                      .lines_absent = values * other,
                                      .lines_add = look + one };
}

static direct_shape state_direct_shape(const uint64_t *g) {
    unsigned const count_bits = tamis_state_direct_count_bits(g);
    return (direct_shape){ .cells = shared_make(g[SHARED_CELLS], (unsigned)g[SHARED_HASHES],
                                                count_bits, (unsigned)g[SHARED_TIMER_BITS]),
                           .top = bits_low((unsigned)g[SHARED_COUNTER_BITS]),
                           .values = (unsigned)g[SHARED_VALUES] };
}

static void state_direct_prepare(tamis_table *table) {
    uint64_t bytes;
    if (!state_direct_body_bytes(table->geometry, &bytes)) return; /* it will get no body either */
    direct_shape const shape = state_direct_shape(table->geometry);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const direct_shape *shape_of(const tamis_table *table) {
    return (const direct_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ cells */

typedef struct direct_cell {
    uint64_t count;
    uint64_t timer;
} direct_cell;

TAMIS_INLINE direct_cell cell_get(const tamis_table *table, uint64_t place) {
    const shared_cells *const of = &shape_of(table)->cells;
    uint64_t const            cell = shared_get(of, table->body, place);
    return (direct_cell){ shared_content(of, cell), shared_timer(of, cell) };
}

TAMIS_INLINE void cell_set(tamis_table *table, uint64_t place, direct_cell cell) {
    const shared_cells *const of = &shape_of(table)->cells;
    shared_set(of, table->body, place, shared_cell(of, cell.count, cell.timer));
}

TAMIS_INLINE bool cell_is_stuck(const direct_shape *s, uint64_t count) {
    return s->top != 0 && count == s->top;
}

/* Another pair of the cell may last longer. */
TAMIS_INLINE uint64_t cell_refreshed(const tamis_table *table, uint64_t place, uint64_t timer,
                                     unsigned value) {
    uint64_t const unit = shared_unit(&shape_of(table)->cells, place);
    return max_u64(timer, sweep_fresh(&table->sweep, unit, value));
}

static void cell_up(tamis_table *table, uint64_t place, unsigned value) {
    const direct_shape *const s = shape_of(table);
    direct_cell               cell = cell_get(table, place);
    if (s->top == 0) {
        cell.count = 1;
    } else if (cell.count != s->top) {
        table->saturated += ++cell.count == s->top;
    }
    cell.timer = cell_refreshed(table, place, cell.timer, value);
    cell_set(table, place, cell);
}

/* Of a cell that is held, in a table that counts. */
static void cell_down(tamis_table *table, uint64_t place, unsigned value) {
    direct_cell cell = cell_get(table, place);
    (void)value;
    if (cell.count == shape_of(table)->top) return;
    if (--cell.count == 0) cell.timer = 0;
    cell_set(table, place, cell);
}

static void cell_refresh(tamis_table *table, uint64_t place, unsigned value) {
    direct_cell cell = cell_get(table, place);
    cell.timer = cell_refreshed(table, place, cell.timer, value);
    cell_set(table, place, cell);
}

typedef void cell_rule(tamis_table *table, uint64_t place, unsigned value);

/* ------------------------------------------------------------------ pairs */

TAMIS_INLINE uint64_t pair_hash(uint64_t hash, unsigned value) {
    return remix(hash, FIRST_VALUE + value);
}

TAMIS_INLINE void each_cell(tamis_table *table, uint64_t hash, unsigned value, cell_rule *rule) {
    uint64_t       place[SHARED_MAX_HASHES];
    unsigned const n = shared_places(&shape_of(table)->cells, pair_hash(hash, value), place);
    for (unsigned i = 0; i < n; i++) rule(table, place[i], value);
}

TAMIS_INLINE bool cell_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    return cell_get(table, place).count != 0;
}

/* The values that a key seems to have: bit v for the value v. */
TAMIS_INLINE uint64_t direct_hits(const tamis_table *table, uint64_t hash) {
    const direct_shape *const s = shape_of(table);
    uint64_t                  hits = 0;
    for (unsigned value = 0; value < s->values; value++) {
        bool const is_hit = probes_hold(table, pair_hash(hash, value), 0, s->cells.hashes,
                                        s->cells.cells, cell_holds);
        hits |= (uint64_t)is_hit << value;
    }
    return hits;
}

/* ------------------------------------------------------------------ keys */

TAMIS_INLINE bool is_one(uint64_t hits) {
    return hits != 0 && (hits & (hits - 1)) == 0;
}

/* What the hits say of a key that is to have a certain value; whoever names it knows which of them
 * is meant. TAMIS_OK and the value, _ABSENT, _UNKNOWN or _CONFLICT. */
static tamis_status direct_expect(uint64_t hits, uint64_t from, unsigned *ret_value) {
    if (hits == 0) return TAMIS_ERR_ABSENT;
    if (from == TAMIS_ANY_VALUE && !is_one(hits)) return TAMIS_ERR_UNKNOWN;
    unsigned const value = from == TAMIS_ANY_VALUE ? bits_lowest(hits) : (unsigned)from;
    if ((hits >> value & 1) == 0) return TAMIS_ERR_CONFLICT;
    *ret_value = value;
    return TAMIS_OK;
}

/* All that a key seems to have is refreshed: one of it is true. */
static tamis_status direct_refresh(tamis_table *table, uint64_t hash, uint64_t hits) {
    for (uint64_t left = hits; left != 0 && table->sweep.timer_bits != 0; left &= left - 1) {
        each_cell(table, hash, bits_lowest(left), cell_refresh);
    }
    if (hits == 0) return TAMIS_ERR_ABSENT;
    return is_one(hits) ? TAMIS_OK : TAMIS_ERR_UNKNOWN;
}

static tamis_status state_direct_put(tamis_table *table, uint64_t hash, uint32_t value) {
    if (table->sweep.timer_bits != 0) {
        uint64_t const hits = direct_hits(table, hash), own = UINT64_C(1) << value;
        if (is_one(hits) && hits != own) return TAMIS_ERR_CONFLICT;
        if (hits != 0) return direct_refresh(table, hash, hits);
    }
    each_cell(table, hash, value, cell_up);
    table->keys++;
    return TAMIS_OK;
}

static tamis_status state_direct_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    unsigned           value;
    tamis_status const status = direct_expect(direct_hits(table, hash), TAMIS_ANY_VALUE, &value);
    if (status == TAMIS_OK) *ret_value = value;
    return status;
}

static tamis_status state_direct_move(tamis_table *table, uint64_t hash, uint64_t from,
                                      uint32_t to) {
    uint64_t const     hits = direct_hits(table, hash);
    unsigned           value;
    tamis_status const status = direct_expect(hits, from, &value);
    if (status == TAMIS_ERR_UNKNOWN) return direct_refresh(table, hash, hits);
    if (status != TAMIS_OK) return status;
    if (value == to) {
        each_cell(table, hash, value, cell_refresh);
    } else {
        if (shape_of(table)->top != 0) each_cell(table, hash, value, cell_down);
        each_cell(table, hash, to, cell_up);
    }
    return TAMIS_OK;
}

static tamis_status state_direct_touch(tamis_table *table, uint64_t hash) {
    return direct_refresh(table, hash, direct_hits(table, hash));
}

static tamis_status state_direct_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    unsigned           value;
    tamis_status const status = direct_expect(direct_hits(table, hash), from, &value);
    if (status != TAMIS_OK) return status;
    if (shape_of(table)->top == 0) return TAMIS_ERR_UNKNOWN; /* a mark may be another pair's, too */
    each_cell(table, hash, value, cell_down);
    table->keys -= table->keys != 0;
    return TAMIS_OK;
}

#define CHUNK 4       /* keys in a chunk */
#define FETCH_CELLS 2 /* of each value: more are asked only if both are held */

static void state_direct_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                               bool is_update) {
    const direct_shape *const s = shape_of(table);
    (void)is_update;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned value = 0; value < s->values; value++) {
            uint64_t const pair = pair_hash(hash[i], value);
            shared_fetch(&s->cells, table->body, &pair, 1, FETCH_CELLS);
        }
    }
}

/* ------------------------------------------------------------------ ageing */

static uint64_t state_direct_units(const uint64_t *g) {
    direct_shape const shape = state_direct_shape(g);
    return shared_units(&shape.cells);
}

static bool state_direct_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[SHARED_VALUES] == values && g[SHARED_TIMER_BITS] == timer_bits;
}

static void state_direct_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {
    const direct_shape *const s = shape_of(table);
    uint64_t const            end = shared_unit_end(&s->cells, unit);
    (void)aged; /* cells go, and nobody knows whose */
    for (uint64_t place = unit << s->cells.unit_shift; place < end; place++) {
        uint64_t const cell = shared_get(&s->cells, table->body, place);
        uint64_t const older = shared_older(&s->cells, cell);
        if (cell == 0) continue;
        shared_set(&s->cells, table->body, place, older);
        table->aged += older == 0;
        table->saturated -= older == 0 && cell_is_stuck(s, shared_content(&s->cells, cell));
    }
}

/* ------------------------------------------------------------------ whole tables */

static tamis_status state_direct_merge(tamis_table *into, const tamis_table *from) {
    const direct_shape *const s = shape_of(into);
    uint64_t const            most = s->top == 0 ? 1 : s->top;
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        uint64_t const    there = shared_get(&s->cells, from->body, place);
        direct_cell const own = cell_get(into, place);
        if (there == 0) continue;
        direct_cell const cell = {
            .count = min_u64(own.count + shared_content(&s->cells, there), most),
            .timer = max_u64(own.timer,
                             shared_timer_here(&s->cells, &into->sweep, &from->sweep, place, there))
        };
        cell_set(into, place, cell);
        into->saturated += !cell_is_stuck(s, own.count) && cell_is_stuck(s, cell.count);
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static double state_direct_current_fpr(const tamis_table *table) {
    const direct_shape *const s = shape_of(table);
    uint64_t                  held = 0;
    for (uint64_t place = 0; place < s->cells.cells; place++) held += cell_holds(table, place);
    double const f = pow((double)held / (double)s->cells.cells, s->cells.hashes);
    return tamis_state_direct_fpr(f, s->values);
}

static bool state_direct_validate(const tamis_table *table, const char **reterr_why) {
    const direct_shape *const s = shape_of(table);
    uint64_t                  stuck = 0;
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        uint64_t const    bits = shared_get(&s->cells, table->body, place);
        direct_cell const cell = cell_get(table, place);
        TAMIS_REQUIRE(cell.count != 0 || bits == 0, reterr_why, "I2: an empty cell has a timer");
        TAMIS_REQUIRE(shared_timer_is_whole(&s->cells, &table->sweep, place, bits), reterr_why,
                      "I4: a timer runs longer than a fresh one");
        stuck += cell_is_stuck(s, cell.count);
    }
    TAMIS_REQUIRE(
        field_rest_is_zero(table->body, s->cells.cells * s->cells.bits, table->body_bytes),
        reterr_why, "I1: a bit beyond the last cell");
    TAMIS_REQUIRE(stuck == table->saturated, reterr_why,
                  "I3: the number of saturated counters is not what it is said to be");
    return true;
}

static const kind_states state_direct_states = {
    .put = state_direct_put,
    .get = state_direct_get,
    .move = state_direct_move,
    .touch = state_direct_touch,
    .drop = state_direct_drop,
    .units = state_direct_units,
    .holds_values = state_direct_holds_values,
    .sweep = state_direct_sweep,
    .merge = state_direct_merge,
};

static void state_direct_survey(const tamis_table *table, kind_survey *ret_survey) {
    *ret_survey =
        (kind_survey){ .fpr = state_direct_current_fpr(table), .distinct = (double)table->keys };
}

KIND_EXPORT(state_direct) = {
    .name = "state_direct",
    .summary = "direct Bloom filter of states: pairs of key and value, for a few values",
    .isa = KIND_ISA,
    .fields = { { "cells", 0, UINT64_MAX - 1 },
                { "hashes", 0, UINT64_MAX - 1 },
                { "values", 0, UINT64_MAX - 1 },
                { "counter_bits", 0, UINT64_MAX - 1 },
                { "timer_bits", 0, UINT64_MAX - 1 },
                { NULL, 0, 0 } },
    .plan = state_direct_plan,
    .body_bytes = state_direct_body_bytes,
    .predict = state_direct_predict,
    .prepare = state_direct_prepare,
    .fetch = state_direct_fetch,
    .chunk = CHUNK,
    .states = &state_direct_states,
    .survey = state_direct_survey,
    .validate = state_direct_validate,
};
