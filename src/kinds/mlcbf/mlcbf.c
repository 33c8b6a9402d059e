/* mlcbf.c - counters on several levels: the smallest of the counting Bloom filters.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, section V: ML-VI-HCBF. With D = {1} it is the
 * ML-HCBF of D. Ficara, S. Giordano, G. Procissi, F. Vitucci, "MultiLayer Compressed Counting Bloom
 * Filters", INFOCOM 2008. Names below follow them: n keys, m counters, k hashes, D increments.
 *
 * Idea
 * ----
 * A counting Bloom filter with variable increments: a key adds to each of its k counters
 * a number of the set D, which its hash chooses. An absent key is excluded by a counter that is 0,
 * and also by a counter that is not the key's number plus a sum of others (core/increments.h).
 *
 *        D = {8, 12, 14, 15}     a counter of 22 = 8 + 14 excludes a key that adds 12 or 15
 *
 * Most counters are small. So all counters have a few bits, and those that need more get them on
 * further levels (levels.h).
 *
 * Worked example: D = {8, 12, 14, 15} and levels of 2, 3 and 3 bits. A counter stores the number of
 * its sum (numbered.h); a level that is full passes on what is left.
 *
 *     keys that added    sum    number    level 0   level 1   level 2
 *     none               0      0         0
 *     14                 14     3         3, full   0
 *     8, 14              22     7         3, full   4
 *     15, 15             30     14        3, full   7, full   4
 *
 * Deviations from the paper:
 *   - The paper finds the cell of a counter on the next level by a perfect hash, which it neither
 *     counts as memory nor rebuilds when counters change. Here a cell is found by its rank inside a
 *     block, and cells move with every change.
 *   - A counter does not store its sum but the number of this sum among all sums there are
 *     (numbered.h). Together this lets level 0 shrink to a single bit: 17.6 bits per key at a rate
 *     of 1/1000, everything counted, where counters of a fixed size take 37.6.
 *
 * Why no key is ever lost: a counter at the top of its levels is stuck; a block whose area is
 * exhausted is closed, and its full counters are stuck. Stuck counters exclude no key any more.
 * The plan makes that rare (size.h). No add is ever refused.
 *
 * Places of a key that fall on the same counter are one place with the sum of their increments:
 * looked up, added and removed as one.
 *
 * Invariants (checked by mlcbf_validate)
 *   I1  the cells of an open block fit into its area, and the rest of the area is zero;
 *   I2  the area of a closed block is zero, and at least one of its counters is full;
 *   I3  bits of the body beyond the last block are zero;
 *   I4  a plain counter that is not stuck is a sum of increments;
 *   I5  `saturated` is the number of stuck counters;
 *   I6  if D = {1} and no counter is stuck, the counters sum up to k x keys. With more numbers
 *       there is no such sum: the removal of a key that was never added, but was taken for present,
 *       subtracts other numbers than those that were added.
 */
#include "core/checked.h"
#include "core/packed.h"
#include "kind.h"
#include "levels.h"
#include "numbered.h"
#include "size.h"
#include "theory/bloom_rate.h"
#include "theory/vi_rate.h"

#include <math.h>

static_assert(LEVELS_MAX * ((1 << LEVELS_MAX_BITS) - 1) + 64 * INCREMENTS_WORDS < VI_RATE_VALUES,
              "the largest number, and the gaps below it");

/* What mlcbf_prepare makes of the geometry. */
typedef struct mlcbf_shape {
    numbered map; /* between what a counter stores and its sum */
    levels   layout;
    uint64_t block_bits;
} mlcbf_shape;

static_assert(sizeof(mlcbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

/* Copies of every key would raise the rate, since larger counters exclude fewer keys: that is not
 * planned for. */
static tamis_status mlcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    if (need->work.copies > 1) return TAMIS_ERR_CANNOT;
    return tamis_ml_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* Are the level sizes 1 to LEVELS_MAX_BITS bits, and 0 after the last level? */
static bool mlcbf_levels_are_possible(const uint64_t *g) {
    bool is_over = false;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint64_t const bits = g[ML_BITS + l];
        if (bits > LEVELS_MAX_BITS || (is_over && bits != 0)) return false;
        is_over = bits == 0;
    }
    return g[ML_BITS] != 0;
}

/* Every geometry of a file is checked here, field by field. A table of a single counter is refused:
 * all keys would share it. */
static bool mlcbf_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[ML_COUNTERS] < 1 || g[ML_COUNTERS] > ML_MAX_COUNTERS || g[ML_AREA] > ML_MAX_AREA)
        return false;
    if (g[ML_BLOCKS] < 1 || (g[ML_BLOCKS] == 1 && g[ML_COUNTERS] == 1)) return false;
    if (g[ML_HASHES] < 1 || g[ML_HASHES] > ML_MAX_HASHES || g[ML_PLAIN] > 1) return false;
    if (!increments_are_possible(g[ML_INCREMENTS]) || !mlcbf_levels_are_possible(g)) return false;
    levels const layout = ml_levels(g);
    return checked_body_bytes(g[ML_BLOCKS], levels_block_bits(&layout), FIELD_PAD_BYTES, ret_bytes);
}

/* Lines per operation. A counter that is not full on level 0 is in one line. For a full one, half
 * of its block is read on average to find the rank of its cell, and all of it if the cell
 * changes. */
static void mlcbf_predict(const uint64_t *g, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    unsigned const k = (unsigned)g[ML_HASHES];
    levels const   layout = ml_levels(g);
    double const   length = (double)levels_block_bits(&layout) / 512;
    double const   lines = fmax(1, (double)g[ML_BLOCKS] * length);
    ml_forecast    forecast;
    tamis_ml_forecast(g, (double)work->capacity, (double)work->lifetime, &forecast);
    double const passes = pow(forecast.fpr, 1.0 / k);
    double const full = layout.depth > 1 ? forecast.level[1] : 0;
    double const others = full * fmax(0, length - 1), asked = 1 + others / 2, changed = 1 + others;
    *ret_forecast = (tamis_forecast){
        .fpr = forecast.fpr,
        .saturation = forecast.ever,
        .lines_present = fmin(lines, asked * tamis_bloom_lines_present(lines, k)),
        .lines_absent = fmin(lines, asked * tamis_bloom_lines_absent(lines, k, passes)),
        .lines_add = fmin(lines, changed * tamis_bloom_lines_present(lines, k)),
    };
}

static void mlcbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    mlcbf_shape           shape;
    memset(&shape, 0, sizeof shape);
    shape.map = numbered_make(g[ML_INCREMENTS], g[ML_PLAIN] != 0);
    shape.layout = ml_levels(g);
    shape.block_bits = levels_block_bits(&shape.layout);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const mlcbf_shape *mlcbf_shape_of(const tamis_table *table) {
    return (const mlcbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ one place of a key */

typedef struct mlcbf_place {
    uint64_t block; /* its first bit in the body */
    uint32_t i;     /* which counter of the block */
    uint32_t step;  /* what the key adds to it */
} mlcbf_place;

/* Place number i: one random number selects the block, the counter and the increment, each from
 * what the choice before has left of it (fastrange_next). */
TAMIS_INLINE mlcbf_place mlcbf_find_place(const tamis_table *table, uint64_t hash, unsigned i) {
    const mlcbf_shape *const shape = mlcbf_shape_of(table);
    uint64_t                 value = remix(hash, i);
    uint64_t const           block = fastrange_next(&value, table->geometry[ML_BLOCKS]);
    uint32_t const           at = (uint32_t)fastrange_next(&value, shape->layout.counters);
    uint32_t const           step = (uint32_t)increments_pick(&shape->map.d, value);
    return (mlcbf_place){ block * shape->block_bits, at, step };
}

/* All places of a key, those on the same counter joined. Returns how many. Joined places exclude
 * more: 22 = 8 + 14 may hold a key that adds 8 and a key that adds 14, but no key that adds 8 to
 * this counter twice. And a removal must not find the counter that it has just changed. */
TAMIS_INLINE unsigned mlcbf_find_places(const tamis_table *table, uint64_t hash,
                                        mlcbf_place *ret_places) {
    unsigned const k = (unsigned)table->geometry[ML_HASHES];
    unsigned       n = 0;
    for (unsigned i = 0; i < k; i++) {
        mlcbf_place const p = mlcbf_find_place(table, hash, i);
        unsigned          same = 0;
        while (same < n && (ret_places[same].block != p.block || ret_places[same].i != p.i)) same++;
        if (same < n) {
            ret_places[same].step += p.step;
        } else {
            ret_places[n++] = p;
        }
    }
    return n;
}

/* What the counter of a place stores: the number of its sum, or LEVELS_STUCK. */
TAMIS_INLINE uint64_t mlcbf_get(const tamis_table *table, const mlcbf_place *place) {
    return levels_get(&mlcbf_shape_of(table)->layout, table->body, place->block, place->i);
}

/* Change a counter that is not stuck. The caller knows its old number from mlcbf_get(), which saves
 * a second walk through the levels. The change may close the block: then other counters get stuck,
 * too, and levels_set() returns how many. */
TAMIS_INLINE void mlcbf_set(tamis_table *table, const mlcbf_place *place, uint64_t old_number,
                            uint64_t new_number) {
    table->saturated += levels_set(&mlcbf_shape_of(table)->layout, table->body, place->block,
                                   place->i, old_number, new_number);
}

/* May a counter that stores x hold a key that adds `step`? A stuck counter has lost its sum, so it
 * may hold every key. */
TAMIS_INLINE bool mlcbf_may_hold(const numbered *map, uint64_t x, uint64_t step) {
    return x == LEVELS_STUCK || increments_may_hold(&map->d, numbered_value(map, x), step);
}

/* Add the step of a place, unless its counter is stuck. Returns 1 if the counter changed. A number
 * at the top or beyond is stored as the top, which is stuck. */
TAMIS_INLINE unsigned mlcbf_up_one(tamis_table *table, const mlcbf_place *place) {
    const mlcbf_shape *const shape = mlcbf_shape_of(table);
    uint64_t const           x = mlcbf_get(table, place);
    if (x == LEVELS_STUCK) return 0;
    uint64_t const sum = numbered_value(&shape->map, x) + place->step;
    uint64_t const number = numbered_number(&shape->map, sum);
    mlcbf_set(table, place, x, min_u64(number, levels_top(&shape->layout)));
    return 1;
}

/* ------------------------------------------------------------------ a key, by its places */

static void mlcbf_up(tamis_table *table, const mlcbf_place *places, unsigned n) {
    unsigned changed = 0;
    for (unsigned i = 0; i < n; i++) changed |= mlcbf_up_one(table, &places[i]);
    table->keys += changed; /* an add that met only stuck counters is not counted */
}

/* TAMIS_OK; or nothing changed, and _ABSENT, or _SATURATED if all counters are stuck. All counters
 * are looked at first. Places are joined, so that no change of one place touches the counter of
 * another one; but it can move its cells, or close its block, so mlcbf_set() finds these again. */
static tamis_status mlcbf_down(tamis_table *table, const mlcbf_place *places, unsigned n) {
    const numbered *const map = &mlcbf_shape_of(table)->map;
    uint64_t              x[ML_MAX_HASHES];
    unsigned              changed = 0;
    for (unsigned i = 0; i < n; i++) {
        x[i] = mlcbf_get(table, &places[i]);
        if (!mlcbf_may_hold(map, x[i], places[i].step)) return TAMIS_ERR_ABSENT;
    }
    for (unsigned i = 0; i < n; i++) {
        if (x[i] == LEVELS_STUCK) continue;
        /* x[i] is still what the counter stores: no other place of the key is on it. */
        uint64_t const rest = numbered_value(map, x[i]) - places[i].step;
        mlcbf_set(table, &places[i], x[i], numbered_number(map, rest));
        changed = 1;
    }
    table->keys -= table->keys != 0 ? changed : 0;
    return changed != 0 ? TAMIS_OK : TAMIS_ERR_SATURATED;
}

/* The fewest copies that any counter allows which is not stuck. All stuck: many. */
static uint64_t mlcbf_least(const tamis_table *table, const mlcbf_place *places, unsigned n) {
    const numbered *const map = &mlcbf_shape_of(table)->map;
    uint64_t              least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n && least != 0; i++) {
        uint64_t const x = mlcbf_get(table, &places[i]);
        if (x == LEVELS_STUCK) continue;
        least = min_u64(least, increments_most(&map->d, numbered_value(map, x), places[i].step));
    }
    return least;
}

/* ------------------------------------------------------------------ one key */

static bool mlcbf_has(const tamis_table *table, uint64_t hash) {
    const numbered *const map = &mlcbf_shape_of(table)->map;
    mlcbf_place           places[ML_MAX_HASHES];
    unsigned const        n = mlcbf_find_places(table, hash, places);
    for (unsigned i = 0; i < n; i++) {
        if (!mlcbf_may_hold(map, mlcbf_get(table, &places[i]), places[i].step)) return false;
    }
    return true;
}

static tamis_status mlcbf_add(tamis_table *table, uint64_t hash) {
    mlcbf_place    places[ML_MAX_HASHES];
    unsigned const n = mlcbf_find_places(table, hash, places);
    mlcbf_up(table, places, n);
    return TAMIS_OK;
}

static tamis_status mlcbf_remove(tamis_table *table, uint64_t hash) {
    mlcbf_place    places[ML_MAX_HASHES];
    unsigned const n = mlcbf_find_places(table, hash, places);
    return mlcbf_down(table, places, n);
}

static uint64_t mlcbf_count(const tamis_table *table, uint64_t hash) {
    mlcbf_place    places[ML_MAX_HASHES];
    unsigned const n = mlcbf_find_places(table, hash, places);
    return mlcbf_least(table, places, n);
}

/* Keys in a chunk: few, so that the lines prefetched for the next chunk are still on their way or
 * in the first cache when its turn comes. */
#define MLCBF_CHUNK 16

/* The field on level 0 of each place. Most absent keys are excluded by their first two places. */
static void mlcbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    unsigned const k = (unsigned)table->geometry[ML_HASHES];
    unsigned const asked = is_update ? k : (unsigned)min_u64(k, 2);
    unsigned const bits = mlcbf_shape_of(table)->layout.bits[0];
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < asked; j++) {
            mlcbf_place const p = mlcbf_find_place(table, hash[i], j);
            prefetch_to_read(table->body + (p.block + (uint64_t)p.i * bits) / 8);
        }
    }
}

/* ------------------------------------------------------------------ merging */

/* Add every counter of a block. A closed block of `from` closes that of `into`, and a stuck counter
 * of `from` makes that of `into` stuck: their sums are not known. The block is closed first, since
 * cells that are inserted before would be dropped again. */
static void mlcbf_merge_block(tamis_table *into, const tamis_table *from, uint64_t block) {
    const mlcbf_shape *const shape = mlcbf_shape_of(into);
    const levels *const      layout = &shape->layout;
    levels_walk              walk = levels_begin(layout, from->body, block);
    if (walk.is_closed && !levels_is_closed(layout, into->body, block)) {
        into->saturated += levels_close(layout, into->body, block);
    }
    for (uint32_t i = 0; i < layout->counters; i++) {
        mlcbf_place const place = { block, i, 0 };
        uint64_t const    x = levels_next(layout, from->body, &walk), y = mlcbf_get(into, &place);
        uint64_t          to = levels_top(layout);
        if (x == 0 || y == LEVELS_STUCK) continue;
        if (x != LEVELS_STUCK) {
            uint64_t const sum = numbered_value(&shape->map, x) + numbered_value(&shape->map, y);
            to = min_u64(to, numbered_number(&shape->map, sum));
        }
        mlcbf_set(into, &place, y, to);
    }
}

/* What reaches a limit gets stuck, so a merge never fails for lack of room. */
static tamis_status mlcbf_merge(tamis_table *into, const tamis_table *from) {
    uint64_t const bits = mlcbf_shape_of(into)->block_bits;
    for (uint64_t b = 0; b < into->geometry[ML_BLOCKS]; b++) {
        mlcbf_merge_block(into, from, b * bits);
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ subtracting */

/* Can every counter of a block of `from` have been a part of that of `into`? */
static bool mlcbf_block_can_lose(const tamis_table *into, const tamis_table *from, uint64_t block) {
    const mlcbf_shape *const shape = mlcbf_shape_of(into);
    levels_walk              walk_into = levels_begin(&shape->layout, into->body, block);
    levels_walk              walk_from = levels_begin(&shape->layout, from->body, block);
    for (uint32_t i = 0; i < shape->layout.counters; i++) {
        uint64_t const y = levels_next(&shape->layout, into->body, &walk_into);
        uint64_t const x = levels_next(&shape->layout, from->body, &walk_from);
        if (x == 0 || y == LEVELS_STUCK) continue;
        if (x == LEVELS_STUCK || !mlcbf_may_hold(&shape->map, y, numbered_value(&shape->map, x)))
            return false;
    }
    return true;
}

/* Subtract a block that mlcbf_block_can_lose() has accepted. Counters become smaller, so cells are
 * only rewritten or deleted, and the block never closes. */
static void mlcbf_block_lose(tamis_table *into, const tamis_table *from, uint64_t block) {
    const mlcbf_shape *const shape = mlcbf_shape_of(into);
    levels_walk              walk = levels_begin(&shape->layout, from->body, block);
    for (uint32_t i = 0; i < shape->layout.counters; i++) {
        mlcbf_place const place = { block, i, 0 };
        uint64_t const    x = levels_next(&shape->layout, from->body, &walk);
        if (x == 0 || x == LEVELS_STUCK) continue;
        uint64_t const y = mlcbf_get(into, &place);
        if (y == LEVELS_STUCK) continue;
        uint64_t const held = numbered_value(&shape->map, y);
        uint64_t const taken = numbered_value(&shape->map, x);
        if (held < taken) continue; /* only in a body that was not checked */
        mlcbf_set(into, &place, y, numbered_number(&shape->map, held - taken));
    }
}

/* Look at all blocks first, then subtract. Stuck counters stay stuck. */
static tamis_status mlcbf_subtract(tamis_table *into, const tamis_table *from) {
    uint64_t const bits = mlcbf_shape_of(into)->block_bits, blocks = into->geometry[ML_BLOCKS];
    for (uint64_t b = 0; b < blocks; b++) {
        if (!mlcbf_block_can_lose(into, from, b * bits)) return TAMIS_ERR_ABSENT;
    }
    for (uint64_t b = 0; b < blocks; b++) mlcbf_block_lose(into, from, b * bits);
    into->keys = sub_or_0(into->keys, from->keys); /* not all of them may have been counted */
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the table as it is */

/* The rate is known from how many counters of each value there are. The number of keys is estimated
 * from the share of counters that are not 0, as in a Bloom filter: copies of a key do not change
 * it. Stuck counters may outlive their keys, and still count. */
static void mlcbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    const mlcbf_shape *const shape = mlcbf_shape_of(table);
    double const             m = ml_total(table->geometry);
    unsigned const           k = (unsigned)table->geometry[ML_HASHES];
    vi_rate                  rate;
    tamis_vi_rate_begin(&rate, &shape->map.d, m, k, 0);
    for (uint64_t b = 0; b < table->geometry[ML_BLOCKS]; b++) {
        levels_walk walk = levels_begin(&shape->layout, table->body, b * shape->block_bits);
        for (uint32_t i = 0; i < shape->layout.counters; i++) {
            uint64_t const x = levels_next(&shape->layout, table->body, &walk);
            vi_rate_add(&rate, x == LEVELS_STUCK ? VI_RATE_STUCK : numbered_value(&shape->map, x));
        }
    }
    *ret_survey = (kind_survey){ .fpr = tamis_vi_rate_end(&rate),
                                 .distinct = tamis_bloom_distinct(m, k, (double)rate.used),
                                 .load = (double)rate.used / m };
}

/* ------------------------------------------------------------------ validation */

typedef struct mlcbf_tally {
    uint64_t stuck, sum; /* stuck counters, and the sum of the others */
} mlcbf_tally;

/* I1, I2 and I4 of one block, whose counters are added to the tally. */
static bool mlcbf_check_block(const tamis_table *table, uint64_t block, mlcbf_tally *tally,
                              const char **reterr_why) {
    const mlcbf_shape *const shape = mlcbf_shape_of(table);
    const levels *const      layout = &shape->layout;
    bool const               is_closed = levels_is_closed(layout, table->body, block);
    TAMIS_REQUIRE(is_closed || levels_fit(layout, table->body, block), reterr_why,
                  "I1: the cells of a block do not fit into its area");
    levels_walk    walk = levels_begin(layout, table->body, block);
    uint64_t const before = tally->stuck;
    TAMIS_REQUIRE(field_is_zero(table->body, walk.end, levels_closed_at(layout, block)), reterr_why,
                  is_closed ? "I2: a bit in the area of a closed block"
                            : "I1: a bit behind the last cell of a block");
    for (uint32_t i = 0; i < layout->counters; i++) {
        uint64_t const x = levels_next(layout, table->body, &walk);
        bool const     is_stuck = x == LEVELS_STUCK;
        uint64_t const value = is_stuck ? 0 : numbered_value(&shape->map, x);
        TAMIS_REQUIRE(increments_make_up(&shape->map.d, value), reterr_why,
                      "I4: a counter is not a sum of increments");
        tally->stuck += is_stuck;
        tally->sum += value;
    }
    TAMIS_REQUIRE(!is_closed || tally->stuck != before, reterr_why,
                  "I2: a closed block without a stuck counter");
    return true;
}

/* Block by block: that the cells of a block fit is checked before they are read (I1). What all
 * blocks have together comes last. */
static bool mlcbf_validate(const tamis_table *table, const char **reterr_why) {
    const mlcbf_shape *const shape = mlcbf_shape_of(table);
    uint64_t const           bits = shape->block_bits, blocks = table->geometry[ML_BLOCKS];
    mlcbf_tally              tally = { 0, 0 };
    uint64_t                 hits; /* k x keys */
    for (uint64_t b = 0; b < blocks; b++) {
        if (!mlcbf_check_block(table, b * bits, &tally, reterr_why)) return false;
    }
    TAMIS_REQUIRE(field_rest_is_zero(table->body, blocks * bits, table->body_bytes), reterr_why,
                  "I3: a bit is set beyond the last block");
    TAMIS_REQUIRE(tally.stuck == table->saturated, reterr_why,
                  "I5: the stored number of stuck counters is wrong");
    if (shape->map.d.n != 1 || tally.stuck != 0) return true;
    TAMIS_REQUIRE(checked_mul(table->keys, table->geometry[ML_HASHES], &hits) && tally.sum == hits,
                  reterr_why, "I6: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(mlcbf) = {
    .name = "mlcbf",
    .summary = "multilayer counting filter, variable increments: never refuses, in little memory",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .fields = { { "blocks", 1, UINT64_C(1) << 62 },
                { "counters", 1, ML_MAX_COUNTERS },
                { "area", 0, ML_MAX_AREA },
                { "hashes", 1, ML_MAX_HASHES },
                { "increments", 2, UINT32_MAX - 1 },
                { "plain", 0, 1 },
                { "bits", 1, LEVELS_MAX_BITS },
                { "bits2", 0, LEVELS_MAX_BITS },
                { "bits3", 0, LEVELS_MAX_BITS },
                { "bits4", 0, LEVELS_MAX_BITS },
                { "bits5", 0, LEVELS_MAX_BITS },
                { "bits6", 0, LEVELS_MAX_BITS },
                { NULL, 0, 0 } },
    .plan = mlcbf_plan,
    .body_bytes = mlcbf_body_bytes,
    .predict = mlcbf_predict,
    .heeds_most_bytes = true,
    .count_to = tamis_ml_count_to,
    .prepare = mlcbf_prepare,
    .calls = {
        .has = mlcbf_has,
        .add = mlcbf_add,
        .remove = mlcbf_remove,
        .count = mlcbf_count,
        .fetch = mlcbf_fetch,
        .chunk = MLCBF_CHUNK,
    },
    .merge = mlcbf_merge,
    .subtract = mlcbf_subtract,
    .survey = mlcbf_survey,
    .validate = mlcbf_validate,
    .empties_to_zero = true,
};
