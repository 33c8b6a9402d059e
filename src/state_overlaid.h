/* state_overlaid.h - code for the kinds of states whose keys share cells.
 *
 * In `state_bloom` and `state_direct` a key has k cells, and other keys may use some of them, too
 * (core/overlaid.h). The two kinds differ in the meaning of a cell, and so in how a key is found.
 * All else is here: the shape, the one function that changes a cell, the sweep, merging,
 * validation.
 *
 *     +-------+-----------------+------------------+
 *     | timer | counter         | code             |      a cell; any of the three may have no bits
 *     +-------+-----------------+------------------+
 *     |       |<----- content, 0 if empty -------->|
 *
 * Cells with counters become free when all of their keys were dropped. Such a table counts every
 * put as a new key, so that drops can be counted down. It cannot treat a put as a repeated put,
 * even if the key seems to be in the table already: all its cells may belong to other keys, and
 * then its drop would remove those other keys. A counter at its maximum is stuck: it is never
 * decremented, and only the sweep empties the cell.
 *
 * Cells with timers are emptied when the timer ends, whatever their count. So the keys of such a
 * table cannot be counted: `table->keys` is the number of cells in use, and the number of keys is
 * estimated from that. (Without timers it is the number of puts minus the number of drops.)
 *
 * Invariants (checked by state_overlaid_validate)
 *   I1  bits of the body after the m cells are zero;
 *   I2  a cell without content has no timer;
 *   I3  `saturated` is the number of counters at their maximum;
 *   I4  no timer is longer than a new one;
 *   I5  in a table with timers, `keys` is the number of cells in use;
 *   I6  the content of a cell is one that the kind can have made.
 */
#ifndef TAMIS_STATE_OVERLAID_H
#define TAMIS_STATE_OVERLAID_H

#include "core/overlaid.h"
#include "kind.h"
#include "theory/overlaid_size.h"

#include <math.h>

/* What operations need, computed from the geometry. */
typedef struct overlaid_shape {
    overlaid_cells cells;
    uint64_t       values;
    uint64_t       top;       /* of a counter; 0: there are none */
    unsigned       code_bits; /* of a content, below its counter */
} overlaid_shape;

static_assert(sizeof(overlaid_shape) <= KIND_DERIVED * sizeof(uint64_t),
              "the shape fits its place");

TAMIS_INLINE const overlaid_shape *state_overlaid_shape(const tamis_table *table) {
    return (const overlaid_shape *)(const void *)table->derived;
}

/* Fill in the geometry as `choose` does it. */
typedef bool state_overlaid_choose(const tamis_need *need, uint64_t *g);

TAMIS_INLINE tamis_status state_overlaid_plan(const tamis_need *need, state_overlaid_choose *choose,
                                              uint64_t *ret_geometry) {
    uint64_t g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!choose(need, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, OVERLAID_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

/* The cells of a geometry; content_bits: code and counter. */
TAMIS_INLINE overlaid_cells state_overlaid_cells(const uint64_t *g, unsigned content_bits) {
    return overlaid_make(g[OVERLAID_CELLS], (unsigned)g[OVERLAID_HASHES], content_bits,
                         (unsigned)g[OVERLAID_TIMER_BITS]);
}

/* Prepare a table whose geometry passed body_bytes. */
TAMIS_INLINE void state_overlaid_prepare(tamis_table *table, unsigned code_bits,
                                         unsigned content_bits) {
    const uint64_t *const g = table->geometry;
    overlaid_shape const  shape = { .cells = state_overlaid_cells(g, content_bits),
                                    .values = g[OVERLAID_VALUES],
                                    .top = bits_low((unsigned)g[OVERLAID_COUNTER_BITS]),
                                    .code_bits = code_bits };
    memcpy(table->derived, &shape, sizeof shape);
}

/* How many units the sweep has. */
TAMIS_INLINE uint64_t state_overlaid_units(const uint64_t *g, unsigned content_bits) {
    overlaid_cells const cells = state_overlaid_cells(g, content_bits);
    return overlaid_units(&cells);
}

TAMIS_INLINE bool state_overlaid_ages(const tamis_table *table) {
    return table->sweep.timer_bits != 0;
}

/* ------------------------------------------------------------------ cells */

TAMIS_INLINE uint64_t state_overlaid_count(const overlaid_shape *shape, uint64_t content) {
    return content >> shape->code_bits;
}

TAMIS_INLINE uint64_t state_overlaid_code(const overlaid_shape *shape, uint64_t content) {
    return content & bits_low(shape->code_bits);
}

TAMIS_INLINE bool state_overlaid_is_stuck(const overlaid_shape *shape, uint64_t content) {
    return shape->top != 0 && state_overlaid_count(shape, content) == shape->top;
}

/* Change a cell from `was` to `cell`. No other function changes cells: I3 and I5 are maintained
 * here. */
TAMIS_INLINE void state_overlaid_write(tamis_table *table, uint64_t place, uint64_t was,
                                       uint64_t cell) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    table->saturated += state_overlaid_is_stuck(shape, overlaid_content(&shape->cells, cell));
    table->saturated -= state_overlaid_is_stuck(shape, overlaid_content(&shape->cells, was));
    if (state_overlaid_ages(table)) {
        table->keys += cell != 0;
        table->keys -= was != 0;
    }
    overlaid_set(&shape->cells, table->body, place, cell);
}

/* A key was added or removed. With timers, its cells are counted instead. */
TAMIS_INLINE void state_overlaid_count_key(tamis_table *table, int64_t change) {
    if (!state_overlaid_ages(table) && (change > 0 || table->keys != 0))
        table->keys += (uint64_t)change;
}

/* A key is put; its lookup returned `status`, and it has no other value. Is it counted as a new
 * key? Yes in a table without timers. Yes in a table with timers and counters: a later drop must
 * find its count. With timers and without counters, a key that seems to be in the table is
 * refreshed instead. */
TAMIS_INLINE bool state_overlaid_is_new(const tamis_table *table, tamis_status status) {
    bool const is_counted = state_overlaid_shape(table)->top != 0;
    return is_counted || !state_overlaid_ages(table) || status == TAMIS_ERR_ABSENT;
}

/* ------------------------------------------------------------------ ageing */

/* The sweep visits all cells of a unit. It cannot know which keys time out, so `aged` does not
 * change. */
static __attribute__((unused)) void state_overlaid_sweep(tamis_table *table, uint64_t unit,
                                                         uint64_t *aged) {
    const overlaid_cells *const cells = &state_overlaid_shape(table)->cells;
    uint64_t const              end = overlaid_unit_end(cells, unit);
    (void)aged;
    for (uint64_t place = unit << cells->unit_shift; place < end; place++) {
        uint64_t const cell = overlaid_get(cells, table->body, place);
        if (cell == 0) continue;
        uint64_t const older = overlaid_older(cells, cell);
        state_overlaid_write(table, place, cell, older);
        table->aged += older == 0;
    }
}

static __attribute__((unused)) bool
state_overlaid_holds_values(const uint64_t *geometry, uint64_t values, unsigned timer_bits) {
    return geometry[OVERLAID_VALUES] == values && geometry[OVERLAID_TIMER_BITS] == timer_bits;
}

/* The number of keys for which this many cells are expected to be in use: n keys leave a share of
 * (1 - 1/m)^(kn) of the cells empty. A table without an empty cell is treated as if half a cell
 * were empty. */
TAMIS_INLINE double state_overlaid_estimate(const overlaid_cells *cells, uint64_t used) {
    double const m = (double)cells->n, share = fmin((double)used, m - 0.5) / m;
    return log1p(-share) / (cells->hashes * log1p(-1 / m));
}

/* How many keys there are. With timers, an estimate: a silent key counts as long as its cells. */
static __attribute__((unused)) uint64_t state_overlaid_keys(const tamis_table *table) {
    const overlaid_cells *const cells = &state_overlaid_shape(table)->cells;
    if (!state_overlaid_ages(table)) return table->keys;
    return (uint64_t)(state_overlaid_estimate(cells, table->keys) + 0.5);
}

/* ------------------------------------------------------------------ whole tables */

/* Combine the contents of two cells that are both in use. */
typedef uint64_t state_overlaid_join(const overlaid_shape *shape, uint64_t a, uint64_t b);

/* Add all cells of `from`. A cell that is in use in both keeps the timer that was refreshed
 * later. */
TAMIS_INLINE void state_overlaid_merge(tamis_table *into, const tamis_table *from,
                                       state_overlaid_join *join) {
    const overlaid_shape *const shape = state_overlaid_shape(into);
    const overlaid_cells *const cells = &shape->cells;
    for (uint64_t place = 0; place < cells->n; place++) {
        uint64_t const there = overlaid_get(cells, from->body, place);
        uint64_t const own = overlaid_get(cells, into->body, place);
        if (there == 0) continue;
        uint64_t content = overlaid_content(cells, there);
        if (own != 0) content = join(shape, overlaid_content(cells, own), content);
        uint64_t const timer =
            max_u64(overlaid_timer(cells, own),
                    overlaid_timer_here(cells, &into->sweep, &from->sweep, place, there));
        state_overlaid_write(into, place, own, overlaid_cell(cells, content, timer));
    }
    if (!state_overlaid_ages(into)) into->keys = kind_sum_counts(into->keys, from->keys);
}

/* Can the kind have made this content of a cell that is in use? */
typedef bool state_overlaid_is_content(const overlaid_shape *shape, uint64_t content);

TAMIS_INLINE bool state_overlaid_validate(const tamis_table         *table,
                                          state_overlaid_is_content *is_whole,
                                          const char               **reterr_why) {
    const overlaid_shape *const shape = state_overlaid_shape(table);
    const overlaid_cells *const cells = &shape->cells;
    uint64_t                    stuck = 0, used = 0;
    for (uint64_t place = 0; place < cells->n; place++) {
        uint64_t const cell = overlaid_get(cells, table->body, place);
        uint64_t const content = overlaid_content(cells, cell);
        if (cell == 0) continue;
        TAMIS_REQUIRE(content != 0, reterr_why, "I2: an empty cell has a timer");
        TAMIS_REQUIRE(is_whole(shape, content), reterr_why, "I6: the content of a cell is invalid");
        TAMIS_REQUIRE(overlaid_timer_is_whole(cells, &table->sweep, place, cell), reterr_why,
                      "I4: a timer is longer than a new one");
        stuck += state_overlaid_is_stuck(shape, content);
        used++;
    }
    TAMIS_REQUIRE(field_rest_is_zero(table->body, cells->n * cells->bits, table->body_bytes),
                  reterr_why, "I1: a bit beyond the last cell is not zero");
    TAMIS_REQUIRE(stuck == table->saturated, reterr_why,
                  "I3: the number of saturated counters is wrong");
    TAMIS_REQUIRE(!state_overlaid_ages(table) || used == table->keys, reterr_why,
                  "I5: the number of cells in use is wrong");
    return true;
}

#endif
