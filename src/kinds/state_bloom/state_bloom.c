/* state_bloom.c - the stateful Bloom filter: cells that say a value, or that they do not know.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, section 3.3.
 * Names below: m cells, k hashes, n keys; DK, "don't know".
 *
 * Idea
 * ----
 * A Bloom filter whose places hold the value of the key that was put there. Where keys with
 * different values meet, the cell says DK instead. A key has the value that any of its cells says.
 *
 *        put "apple" 3     . 3 . . . 3 . 3 . .      k = 3 cells say 3
 *        put "pear"  5     . 3 5 . . ? . 3 . 5      one is shared: DK
 *        get "apple"         3       ?   3          3
 *        get "plum"            5         3          two values: certainly not there
 *        get "fig"           3   .                  an empty cell: certainly not there
 *
 * A cell also counts its keys. It changes its value with a key that moves only if that is its only
 * one, else it becomes DK; it is empty again when the last of them is dropped, and only then does a
 * cell that is DK become anything else. (The paper defines DK as "no value, and two keys or more".
 * When one of two is dropped the other one is still there, and a cell that was then taken for empty
 * would lose it: DK with one key is DK.) So all keys of a cell that says a value have that value,
 * and no key that was put and not dropped ever has a wrong one.
 *
 * Variants, by the geometry:
 *
 *   counters, no timers   every put is a new key. If all cells of a key are DK it can still be
 *                         dropped, since it must be one that was put.
 *   timers, no counters   a put to a cell that is not empty makes it DK, whatever it says. So a
 *                         cell that says a value belongs to one key, which may change and empty it;
 *                         one that is DK is left until it has aged. A put of a key that is there
 *                         already refreshes it.
 *   both                  a cell goes when its timer ends, whatever it counts.
 *   neither               nothing is ever dropped, as in a map that is made once: it can be, but
 *                         cells that are DK remain so.
 *
 * With timers, a key that was silent for its timeout loses its cells one by one, while the hand
 * goes round once. Heard of in that time, it may be taken for one that is there with a cell that is
 * another's by now, and change or empty it. Whoever knows better lets it go and puts it later.
 *
 * Why anybody would want it: never a wrong value for a key that is there. What it costs: cells that
 * are DK remain so for long, which takes many cells. The longer a key lives the likelier it is
 * unknown (size.h).
 *
 * A cell: what it says (0: nothing, it is empty; 1 + value; the largest: DK), how many keys it has
 * beside the first, and the timer. A counter at its maximum sticks.
 *
 * Invariants (checked by state_bloom_validate)
 *   I1  bits of the body beyond the m cells are zero;
 *   I2  what a cell says is a value that there is, or DK, or nothing;
 *   I3  an empty cell is all zero bits;
 *   I4  `saturated` is the number of counters at their maximum;
 *   I5  no timer runs longer than a fresh one.
 */
#include "core/shared.h"
#include "kind.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

#define EMPTY 0

/* The geometry worked out. */
typedef struct bloom_shape {
    shared_cells cells;
    uint64_t     unknown; /* the code for DK */
    uint64_t     top;     /* of the counters; 0: there are none */
    unsigned     code_bits;
} bloom_shape;

static_assert(sizeof(bloom_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

static tamis_status state_bloom_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t          g[TAMIS_MAX_FIELDS];
    shared_need const want = { .n = (double)need->work.capacity,
                               .lifetime = (double)need->work.lifetime,
                               .fpr = need->fpr,
                               .unknown = need->unknown,
                               .values = need->values,
                               .timer_bits = need->timer_bits };
    memcpy(g, need->fixed, sizeof g);
    if (!tamis_state_bloom_choose(want, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, SHARED_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool state_bloom_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[SHARED_VALUES] < 2 || g[SHARED_VALUES] > KIND_MAX_VALUES) return false;
    if (g[SHARED_COUNTER_BITS] > SHARED_MAX_COUNTER_BITS) return false;
    return tamis_shared_body_bytes(g, tamis_state_bloom_cell_bits(g), ret_bytes);
}

static void state_bloom_predict(const uint64_t *g, const tamis_workload *work,
                                tamis_forecast *ret_forecast) {
    uint64_t const  capacity = work->capacity, lifetime = work->lifetime;
    unsigned const  k = (unsigned)g[SHARED_HASHES];
    double const    lines = (double)g[SHARED_CELLS] * tamis_state_bloom_cell_bits(g) / 512;
    shared_forecast told;
    tamis_state_bloom_forecast(g, (double)capacity, (double)lifetime, &told);
    *ret_forecast = (tamis_forecast){ .fpr = told.fpr,
                                      .unknown = told.unknown,
                                      .saturation = told.saturation,
                                      .lines_present = tamis_bloom_lines_present(lines, k),
                                      .lines_absent = tamis_bloom_lines_absent(lines, k, told.held),
                                      .lines_add = tamis_bloom_lines_present(lines, k) };
}

static bloom_shape state_bloom_shape(const uint64_t *g) {
    unsigned const counter_bits = (unsigned)g[SHARED_COUNTER_BITS];
    unsigned const code_bits = tamis_state_bloom_code_bits(g[SHARED_VALUES]);
    return (bloom_shape){ .cells =
                              shared_make(g[SHARED_CELLS], (unsigned)g[SHARED_HASHES],
                                          code_bits + counter_bits, (unsigned)g[SHARED_TIMER_BITS]),
                          .unknown = g[SHARED_VALUES] + 1,
                          .top = bits_low(counter_bits),
                          .code_bits = code_bits };
}

static void state_bloom_prepare(tamis_table *table) {
    uint64_t bytes;
    if (!state_bloom_body_bytes(table->geometry, &bytes)) return; /* it will get no body either */
    bloom_shape const shape = state_bloom_shape(table->geometry);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const bloom_shape *shape_of(const tamis_table *table) {
    return (const bloom_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ cells */

typedef struct bloom_cell {
    uint64_t code;
    uint64_t more; /* keys beside the first */
    uint64_t timer;
} bloom_cell;

TAMIS_INLINE bloom_cell cell_get(const tamis_table *table, uint64_t place) {
    const bloom_shape *const s = shape_of(table);
    uint64_t const           cell = shared_get(&s->cells, table->body, place);
    return (bloom_cell){ .code = cell & bits_low(s->code_bits),
                         .more = shared_content(&s->cells, cell) >> s->code_bits,
                         .timer = shared_timer(&s->cells, cell) };
}

TAMIS_INLINE void cell_set(tamis_table *table, uint64_t place, bloom_cell cell) {
    const bloom_shape *const s = shape_of(table);
    uint64_t const           content = cell.code | cell.more << s->code_bits;
    shared_set(&s->cells, table->body, place, shared_cell(&s->cells, content, cell.timer));
}

/* What lasts as long as `code` does, DK being no value with a life of its own. */
TAMIS_INLINE uint64_t cell_fresh(const tamis_table *table, uint64_t place, uint64_t code) {
    const bloom_shape *const s = shape_of(table);
    uint64_t const           value = code == s->unknown ? UINT64_MAX : code - 1;
    return sweep_fresh(&table->sweep, shared_unit(&s->cells, place), value);
}

TAMIS_INLINE bool cell_is_stuck(const bloom_shape *s, uint64_t more) {
    return s->top != 0 && more == s->top;
}

TAMIS_INLINE void cell_clear(tamis_table *table, uint64_t place, bloom_cell was) {
    table->saturated -= cell_is_stuck(shape_of(table), was.more);
    cell_set(table, place, (bloom_cell){ EMPTY, 0, 0 });
}

/* The four rules of the paper: what an operation on a key does to one of its cells. */

static void cell_insert(tamis_table *table, uint64_t place, uint64_t code) {
    const bloom_shape *const s = shape_of(table);
    bloom_cell               cell = cell_get(table, place);
    if (cell.code == EMPTY) {
        cell.code = code;
    } else {
        if (cell.code != code || s->top == 0) cell.code = s->unknown;
        if (cell.more < s->top) table->saturated += ++cell.more == s->top;
    }
    cell.timer = cell_fresh(table, place, cell.code);
    cell_set(table, place, cell);
}

static void cell_modify(tamis_table *table, uint64_t place, uint64_t code) {
    const bloom_shape *const s = shape_of(table);
    bloom_cell               cell = cell_get(table, place);
    if (cell.code != s->unknown && cell.code != code) {
        cell.code = cell.more == 0 ? code : s->unknown;
    }
    cell.timer = cell_fresh(table, place, cell.code);
    cell_set(table, place, cell);
}

static void cell_refresh(tamis_table *table, uint64_t place, uint64_t code) {
    bloom_cell cell = cell_get(table, place);
    (void)code;
    cell.timer = cell_fresh(table, place, cell.code);
    cell_set(table, place, cell);
}

static void cell_delete(tamis_table *table, uint64_t place, uint64_t code) {
    const bloom_shape *const s = shape_of(table);
    bloom_cell               cell = cell_get(table, place);
    bool const               is_kept = s->top == 0 ? cell.code == s->unknown : cell.more == s->top;
    (void)code;
    if (is_kept) return;
    if (cell.more == 0) {
        cell_clear(table, place, cell);
    } else {
        cell.more--;
        cell_set(table, place, cell);
    }
}

typedef void cell_rule(tamis_table *table, uint64_t place, uint64_t code);

TAMIS_INLINE void each_cell(tamis_table *table, uint64_t hash, cell_rule *rule, uint64_t code) {
    uint64_t       place[SHARED_MAX_HASHES];
    unsigned const n = shared_places(&shape_of(table)->cells, hash, place);
    for (unsigned i = 0; i < n; i++) rule(table, place[i], code);
}

/* ------------------------------------------------------------------ keys */

/* What the cells of a key say: TAMIS_OK and the code of a value, _ABSENT or _UNKNOWN. */
TAMIS_INLINE tamis_status bloom_find(const tamis_table *table, uint64_t hash, uint64_t *ret_code) {
    const bloom_shape *const s = shape_of(table);
    uint64_t                 said = EMPTY;
    for (unsigned i = 0; i < s->cells.hashes; i++) {
        uint64_t const place = probes_place(hash, i, s->cells.cells);
        uint64_t const cell = shared_get(&s->cells, table->body, place);
        uint64_t const code = cell & bits_low(s->code_bits);
        if (code == EMPTY) return TAMIS_ERR_ABSENT;
        if (code == s->unknown || code == said) continue;
        if (said != EMPTY) return TAMIS_ERR_ABSENT; /* two values: no key has both */
        said = code;
    }
    if (said == EMPTY) return TAMIS_ERR_UNKNOWN;
    *ret_code = said;
    return TAMIS_OK;
}

/* The same for a key that is to have a certain value; _CONFLICT if it has another one. */
TAMIS_INLINE tamis_status bloom_expect(const tamis_table *table, uint64_t hash, uint64_t value) {
    uint64_t           code = EMPTY;
    tamis_status const status = bloom_find(table, hash, &code);
    if (status != TAMIS_OK || value == TAMIS_ANY_VALUE) return status;
    return code == value + 1 ? TAMIS_OK : TAMIS_ERR_CONFLICT;
}

/* A key that is there, known or not, is refreshed. Nothing changes where nothing ages. */
static tamis_status bloom_refresh(tamis_table *table, uint64_t hash, tamis_status status) {
    bool const is_there = status == TAMIS_OK || status == TAMIS_ERR_UNKNOWN;
    if (is_there && table->sweep.timer_bits != 0) each_cell(table, hash, cell_refresh, EMPTY);
    return status;
}

static tamis_status state_bloom_put(tamis_table *table, uint64_t hash, uint32_t value) {
    if (table->sweep.timer_bits != 0) {
        tamis_status const status = bloom_expect(table, hash, value);
        if (status != TAMIS_ERR_ABSENT) return bloom_refresh(table, hash, status);
    }
    each_cell(table, hash, cell_insert, value + UINT64_C(1));
    table->keys++;
    return TAMIS_OK;
}

static tamis_status state_bloom_get(const tamis_table *table, uint64_t hash, uint32_t *ret_value) {
    uint64_t           code;
    tamis_status const status = bloom_find(table, hash, &code);
    if (status == TAMIS_OK) *ret_value = (uint32_t)(code - 1);
    return status;
}

static tamis_status state_bloom_move(tamis_table *table, uint64_t hash, uint64_t from,
                                     uint32_t to) {
    tamis_status const status = bloom_expect(table, hash, from);
    if (status != TAMIS_OK) return bloom_refresh(table, hash, status);
    each_cell(table, hash, cell_modify, to + UINT64_C(1));
    return TAMIS_OK;
}

static tamis_status state_bloom_touch(tamis_table *table, uint64_t hash) {
    return bloom_refresh(table, hash, bloom_expect(table, hash, TAMIS_ANY_VALUE));
}

/* A key that nobody knows can be dropped where all keys are known to have been put: its cells count
 * it, whatever they say. */
static tamis_status state_bloom_drop(tamis_table *table, uint64_t hash, uint64_t from) {
    bool const         is_counted = shape_of(table)->top != 0 && table->sweep.timer_bits == 0;
    tamis_status const status = bloom_expect(table, hash, from);
    if (status != TAMIS_OK && !(status == TAMIS_ERR_UNKNOWN && is_counted)) return status;
    each_cell(table, hash, cell_delete, EMPTY);
    table->keys -= table->keys != 0;
    return TAMIS_OK;
}

#define CHUNK 8 /* keys in a chunk, of several lines each */

/* All of them: a key that is there is asked for all, and it is not known which are. */
static void state_bloom_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_update) {
    (void)is_update;
    shared_fetch(&shape_of(table)->cells, table->body, hash, n, SHARED_MAX_HASHES);
}

/* ------------------------------------------------------------------ ageing */

static uint64_t state_bloom_units(const uint64_t *g) {
    bloom_shape const shape = state_bloom_shape(g);
    return shared_units(&shape.cells);
}

static bool state_bloom_holds_values(const uint64_t *g, uint64_t values, unsigned timer_bits) {
    return g[SHARED_VALUES] == values && g[SHARED_TIMER_BITS] == timer_bits;
}

static void state_bloom_sweep(tamis_table *table, uint64_t unit, uint64_t *aged) {
    const bloom_shape *const s = shape_of(table);
    uint64_t const           end = shared_unit_end(&s->cells, unit);
    (void)aged; /* cells go, and nobody knows whose */
    for (uint64_t place = unit << s->cells.unit_shift; place < end; place++) {
        bloom_cell cell = cell_get(table, place);
        if (cell.code == EMPTY) continue;
        if (cell.timer == 0) {
            cell_clear(table, place, cell);
            table->aged++;
        } else {
            cell.timer--;
            cell_set(table, place, cell);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* Two cells become one. Where cells do not count, one that says a value has one key, which may not
 * be the same one in both. */
static bloom_cell cell_join(const bloom_shape *s, bloom_cell a, bloom_cell b) {
    bool const is_same = a.code == b.code && s->top != 0;
    return (bloom_cell){ .code = is_same ? a.code : s->unknown,
                         .more = min_u64(a.more + b.more + 1, s->top),
                         .timer = max_u64(a.timer, b.timer) };
}

static tamis_status state_bloom_merge(tamis_table *into, const tamis_table *from) {
    const bloom_shape *const s = shape_of(into);
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        uint64_t const   there = shared_get(&s->cells, from->body, place);
        bloom_cell const own = cell_get(into, place);
        bloom_cell       cell = cell_get(from, place);
        if (cell.code == EMPTY) continue;
        cell.timer = shared_timer_here(&s->cells, &into->sweep, &from->sweep, place, there);
        if (own.code != EMPTY) cell = cell_join(s, own, cell);
        cell_set(into, place, cell);
        into->saturated += !cell_is_stuck(s, own.more) && cell_is_stuck(s, cell.more);
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static void state_bloom_census(const tamis_table *table, kind_census *ret_census) {
    const bloom_shape *const s = shape_of(table);
    uint64_t                 unknown = 0;
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        unknown += cell_get(table, place).code == s->unknown;
    }
    ret_census->unknown_cells = unknown;
}

#define TOLD_APART 64 /* values; beyond, several count as one, and the rate is an upper bound */

/* A key that is not there has value i if its cells say i or DK, and not all of them DK. */
static double state_bloom_current_fpr(const tamis_table *table) {
    const bloom_shape *const s = shape_of(table);
    double const             m = (double)s->cells.cells, k = s->cells.hashes;
    uint64_t                 says[TOLD_APART] = { 0 }, unknown = 0;
    double                   sum = 0;
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        uint64_t const code = cell_get(table, place).code;
        unknown += code == s->unknown;
        if (code != EMPTY && code != s->unknown) says[(code - 1) % TOLD_APART]++;
    }
    for (unsigned i = 0; i < TOLD_APART; i++) {
        sum += pow((double)(says[i] + unknown) / m, k) - pow((double)unknown / m, k);
    }
    return sum;
}

static bool state_bloom_validate(const tamis_table *table, const char **reterr_why) {
    const bloom_shape *const s = shape_of(table);
    uint64_t                 stuck = 0;
    for (uint64_t place = 0; place < s->cells.cells; place++) {
        uint64_t const   bits = shared_get(&s->cells, table->body, place);
        bloom_cell const cell = cell_get(table, place);
        TAMIS_REQUIRE(cell.code <= s->unknown, reterr_why, "I2: a value that there is not");
        TAMIS_REQUIRE(cell.code != EMPTY || bits == 0, reterr_why, "I3: an empty cell has more");
        TAMIS_REQUIRE(shared_timer_is_whole(&s->cells, &table->sweep, place, bits), reterr_why,
                      "I5: a timer runs longer than a fresh one");
        stuck += cell_is_stuck(s, cell.more);
    }
    TAMIS_REQUIRE(
        field_rest_is_zero(table->body, s->cells.cells * s->cells.bits, table->body_bytes),
        reterr_why, "I1: a bit beyond the last cell");
    TAMIS_REQUIRE(stuck == table->saturated, reterr_why,
                  "I4: the number of saturated counters is not what it is said to be");
    return true;
}

static const kind_states state_bloom_states = {
    .put = state_bloom_put,
    .get = state_bloom_get,
    .move = state_bloom_move,
    .touch = state_bloom_touch,
    .drop = state_bloom_drop,
    .units = state_bloom_units,
    .holds_values = state_bloom_holds_values,
    .sweep = state_bloom_sweep,
    .census = state_bloom_census,
    .merge = state_bloom_merge,
};

static void state_bloom_survey(const tamis_table *table, kind_survey *ret_survey) {
    *ret_survey =
        (kind_survey){ .fpr = state_bloom_current_fpr(table), .distinct = (double)table->keys };
}

KIND_EXPORT(state_bloom) = {
    .name = "state_bloom",
    .summary = "stateful Bloom filter: never a wrong value for a key that is there",
    .isa = KIND_ISA,
    .fields = { { "cells", 0, UINT64_MAX - 1 },
                { "hashes", 0, UINT64_MAX - 1 },
                { "values", 0, UINT64_MAX - 1 },
                { "counter_bits", 0, UINT64_MAX - 1 },
                { "timer_bits", 0, UINT64_MAX - 1 },
                { NULL, 0, 0 } },
    .plan = state_bloom_plan,
    .body_bytes = state_bloom_body_bytes,
    .predict = state_bloom_predict,
    .prepare = state_bloom_prepare,
    .fetch = state_bloom_fetch,
    .chunk = CHUNK,
    .states = &state_bloom_states,
    .survey = state_bloom_survey,
    .validate = state_bloom_validate,
};
