/* mlcbf.c - counters on several levels: the smallest of the counting Bloom filters.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * section V: ML-VI-HCBF; with D = {1} it is the ML-HCBF of D. Ficara, S. Giordano, G. Procissi and
 * F. Vitucci, "MultiLayer Compressed Counting Bloom Filters", INFOCOM 2008. Names below: n keys, m
 * counters, k hashes, D increments.
 *
 * Idea
 * ----
 * A counting Bloom filter in which a key counts each of its k counters up by a number of its own,
 * out of a small set D, as its hash says. An absent key is excluded by a counter that is 0, and
 * also by one that cannot be the key's number and a sum of others (core/increments.h).
 *
 *        D = {8, 12, 14, 15}     a counter of 22 = 8 + 14 excludes a key that would add 12 or 15
 *
 * Most counters are small, so all have few bits, and those that need more get them on further
 * levels (levels.h). What follows is ours. The paper finds a counter's cell on the next level
 * by a perfect hash, which it neither counts nor rebuilds; here cells are found by rank, inside a
 * block, and follow each change. And what is stored is not the sum but its number among the sums
 * there are (numbered.h). Both together let the first level shrink to a single bit: 17.6 bits
 * per key at a rate of 1/1000, where counters of fixed size take 37.6, and nothing is left out.
 *
 * Why it never loses a key: a counter at the top of its levels sticks, and a block whose cells have
 * run out is closed, so that its full counters stick; both answer "maybe" for good. How rarely that
 * happens is planned (size.h). No add is ever refused.
 *
 * Places of a key that are the same counter are one place with the sum of their increments: asked,
 * counted and taken back as one.
 *
 * Invariants (checked by mlcbf_validate)
 *   I1  the cells of an open block fit its area, and the rest of the area is zero;
 *   I2  the area of a closed block is zero, and at least one of its counters is full;
 *   I3  bits of the body beyond the last block are zero;
 *   I4  a plain counter that is not stuck is 0 or a sum of increments;
 *   I5  `saturated` is the number of stuck counters;
 *   I6  with one increment and while none is stuck, the counters sum up to k x keys. With more of
 *       them, keys that were never added may have been removed, and took another sum.
 */
#include "core/checked.h"
#include "levels.h"
#include "numbered.h"
#include "core/packed.h"
#include "kind.h"
#include "theory/bloom_rate.h"
#include "size.h"
#include "theory/vi_rate.h"

#include <math.h>

static_assert(LEVELS_MAX * ((1 << LEVELS_MAX_BITS) - 1) + 64 * INCREMENTS_WORDS < VI_RATE_VALUES,
              "the largest number, and the gaps below it");

/* What mlcbf_prepare makes of the geometry. */
typedef struct shape {
    numbered of;
    levels   l;
    uint64_t block_bits;
} shape;

static_assert(sizeof(shape) <= KIND_DERIVED * sizeof(uint64_t), "fits the handle");

/* ------------------------------------------------------------------ planning */

static tamis_status mlcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    ml_need const ask = { .n = (double)need->capacity,
                          .fpr = need->fpr,
                          .lifetime = (double)need->lifetime,
                          .overflow = need->overflow,
                          .is_fast = need->prefer == TAMIS_PREFER_FAST };
    memcpy(ret_geometry, need->fixed, ML_FIELDS * sizeof need->fixed[0]);
    return tamis_ml_choose(&ask, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* Levels of 1 to LEVELS_MAX_BITS bits, then none. */
static bool mlcbf_levels_are_possible(const uint64_t *g) {
    bool is_over = false;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint64_t const bits = g[ML_BITS + l];
        if (bits > LEVELS_MAX_BITS || (is_over && bits != 0)) return false;
        is_over = bits == 0;
    }
    return g[ML_BITS] != 0;
}

static bool mlcbf_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    if (g[ML_COUNTERS] < 1 || g[ML_COUNTERS] > ML_MAX_COUNTERS || g[ML_AREA] > ML_MAX_AREA)
        return false;
    if (g[ML_BLOCKS] < 1 || (g[ML_BLOCKS] == 1 && g[ML_COUNTERS] == 1)) return false;
    if (g[ML_HASHES] < 1 || g[ML_HASHES] > ML_MAX_HASHES || g[ML_PLAIN] > 1) return false;
    if (!increments_are_possible(g[ML_INCREMENTS]) || !mlcbf_levels_are_possible(g)) return false;
    levels const l = levels_make(g[ML_COUNTERS], g[ML_AREA], g + ML_BITS);
    return checked_body_bytes(g[ML_BLOCKS], levels_block_bits(&l), FIELD_PAD_BYTES, ret_bytes);
}

/* A counter that is not full is in one line. For one that is, half of its block is counted through
 * to find its cell, and all of it if that changes. */
static void mlcbf_predict(const uint64_t *geometry, uint64_t capacity, uint64_t lifetime,
                          tamis_forecast *ret_forecast) {
    unsigned const k = (unsigned)geometry[ML_HASHES];
    levels const   l = levels_make(geometry[ML_COUNTERS], geometry[ML_AREA], geometry + ML_BITS);
    double const   length = (double)levels_block_bits(&l) / 512;
    double const   lines = fmax(1, (double)geometry[ML_BLOCKS] * length);
    ml_forecast    told;
    tamis_ml_forecast(geometry, (double)capacity, (double)lifetime, &told);
    double const passes = pow(told.fpr, 1.0 / k), full = l.depth > 1 ? told.level[1] : 0;
    double const others = full * fmax(0, length - 1), asked = 1 + others / 2, changed = 1 + others;
    *ret_forecast = (tamis_forecast){
        .fpr = told.fpr,
        .saturation = told.ever,
        .lines_present = fmin(lines, asked * tamis_bloom_lines_present(lines, k)),
        .lines_absent = fmin(lines, asked * tamis_bloom_lines_absent(lines, k, passes)),
        .lines_add = fmin(lines, changed * tamis_bloom_lines_present(lines, k)),
    };
}

static void mlcbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    shape                 make = { .of = numbered_make(g[ML_INCREMENTS], g[ML_PLAIN] != 0),
                                   .l = levels_make(g[ML_COUNTERS], g[ML_AREA], g + ML_BITS) };
    make.block_bits = levels_block_bits(&make.l);
    memcpy(table->derived, &make, sizeof make);
}

TAMIS_INLINE const shape *shape_of(const tamis_table *table) {
    return (const shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ places */

typedef struct place {
    uint64_t block; /* the bit where it begins */
    uint32_t i;     /* which counter of it */
    uint32_t step;
} place;

TAMIS_INLINE place mlcbf_place(const tamis_table *table, uint64_t hash, unsigned i) {
    const shape *const s = shape_of(table);
    uint64_t           value = remix(hash, i);
    uint64_t const     block = fastrange_next(&value, table->geometry[ML_BLOCKS]);
    uint32_t const     at = (uint32_t)fastrange_next(&value, s->l.counters);
    return (place){ block * s->block_bits, at, (uint32_t)increments_pick(&s->of.d, value) };
}

/* All places of a key, each once. Returns how many. */
TAMIS_INLINE unsigned mlcbf_places(const tamis_table *table, uint64_t hash, place *ret_places) {
    unsigned const k = (unsigned)table->geometry[ML_HASHES];
    unsigned       n = 0;
    for (unsigned i = 0; i < k; i++) {
        place const p = mlcbf_place(table, hash, i);
        unsigned    same = 0;
        while (same < n && (ret_places[same].block != p.block || ret_places[same].i != p.i)) same++;
        if (same < n) {
            ret_places[same].step += p.step;
        } else {
            ret_places[n++] = p;
        }
    }
    return n;
}

TAMIS_INLINE const uint8_t *place_where(const tamis_table *table, const place *p) {
    return table->body + (p->block + (uint64_t)p->i * shape_of(table)->l.bits[0]) / 8;
}

TAMIS_INLINE uint64_t place_get(const tamis_table *table, const place *p) {
    return levels_get(&shape_of(table)->l, table->body, p->block, p->i);
}

/* May the counter hold the key? */
TAMIS_INLINE bool number_may_hold(const numbered *of, uint64_t x, uint64_t step) {
    return x == LEVELS_STUCK || increments_may_hold(&of->d, numbered_value(of, x), step);
}

TAMIS_INLINE bool place_holds(const tamis_table *table, const place *p) {
    return number_may_hold(&shape_of(table)->of, place_get(table, p), p->step);
}

TAMIS_INLINE void place_set(tamis_table *table, const place *p, uint64_t from, uint64_t to) {
    table->saturated += levels_set(&shape_of(table)->l, table->body, p->block, p->i, from, to);
}

/* Count up, unless stuck. Returns 1 if the counter changed. */
TAMIS_INLINE unsigned place_up(tamis_table *table, const place *p) {
    const shape *const s = shape_of(table);
    uint64_t const     x = place_get(table, p);
    if (x == LEVELS_STUCK) return 0;
    uint64_t const sum = numbered_value(&s->of, x) + p->step;
    place_set(table, p, x, min_u64(numbered_number(&s->of, sum), levels_top(&s->l)));
    return 1;
}

/* ------------------------------------------------------------------ keys, by their places */

static void mlcbf_up(tamis_table *table, const place *at, unsigned n) {
    unsigned changed = 0;
    for (unsigned i = 0; i < n; i++) changed |= place_up(table, &at[i]);
    table->keys += changed; /* an add that met only stuck counters is not counted */
}

static bool mlcbf_down(tamis_table *table, const place *at, unsigned n) {
    const numbered *const of = &shape_of(table)->of;
    uint64_t              x[ML_MAX_HASHES];
    unsigned              changed = 0;
    for (unsigned i = 0; i < n; i++) {
        x[i] = place_get(table, &at[i]);
        if (!number_may_hold(of, x[i], at[i].step)) return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (x[i] == LEVELS_STUCK) continue;
        place_set(table, &at[i], x[i], numbered_number(of, numbered_value(of, x[i]) - at[i].step));
        changed = 1;
    }
    table->keys -= table->keys != 0 ? changed : 0;
    return true;
}

/* How often at most the counters can hold the key; all stuck is many. */
static uint64_t mlcbf_most(const tamis_table *table, const place *at, unsigned n) {
    const numbered *const of = &shape_of(table)->of;
    uint64_t              least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n && least != 0; i++) {
        uint64_t const x = place_get(table, &at[i]);
        if (x == LEVELS_STUCK) continue;
        least = min_u64(least, increments_most(&of->d, numbered_value(of, x), at[i].step));
    }
    return least;
}

/* ------------------------------------------------------------------ keys, by their hash */

static bool mlcbf_has(const tamis_table *table, uint64_t hash) {
    place          at[ML_MAX_HASHES];
    unsigned const n = mlcbf_places(table, hash, at);
    for (unsigned i = 0; i < n; i++) {
        if (!place_holds(table, &at[i])) return false;
    }
    return true;
}

static tamis_status mlcbf_add(tamis_table *table, uint64_t hash) {
    place          at[ML_MAX_HASHES];
    unsigned const n = mlcbf_places(table, hash, at);
    mlcbf_up(table, at, n);
    return TAMIS_OK;
}

static tamis_status mlcbf_remove(tamis_table *table, uint64_t hash) {
    place          at[ML_MAX_HASHES];
    unsigned const n = mlcbf_places(table, hash, at);
    return mlcbf_down(table, at, n) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static uint64_t mlcbf_count(const tamis_table *table, uint64_t hash) {
    place          at[ML_MAX_HASHES];
    unsigned const n = mlcbf_places(table, hash, at);
    return mlcbf_most(table, at, n);
}

/* A chunk: the counters of all keys are on their way while the next chunk is thought of. */
#define MLCBF_CHUNK 16

static void mlcbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    unsigned const k = (unsigned)table->geometry[ML_HASHES];
    unsigned const asked =
        is_update ? k : (unsigned)min_u64(k, 2); /* most absent ones need no more */
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < asked; j++) {
            place const p = mlcbf_place(table, hash[i], j);
            prefetch_to_read(place_where(table, &p));
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* A block of `from` that is closed closes that of `into`; a counter that is stuck sticks. */
static void mlcbf_merge_block(tamis_table *into, const tamis_table *from, uint64_t block) {
    const shape *const s = shape_of(into);
    uint64_t const     top = levels_top(&s->l);
    levels_walk        walk = levels_begin(&s->l, from->body, block);
    if (walk.is_closed && !levels_is_closed(&s->l, into->body, block)) {
        into->saturated += levels_close(&s->l, into->body, block);
    }
    for (uint32_t i = 0; i < s->l.counters; i++) {
        place const    p = { block, i, 0 };
        uint64_t const x = levels_next(&s->l, from->body, &walk), y = place_get(into, &p);
        if (x == 0 || y == LEVELS_STUCK) continue;
        uint64_t const sum =
            x == LEVELS_STUCK ? 0 : numbered_value(&s->of, x) + numbered_value(&s->of, y);
        uint64_t const to = x == LEVELS_STUCK ? top : numbered_number(&s->of, sum);
        place_set(into, &p, y, min_u64(to, top));
    }
}

/* Counter by counter. What reaches a limit sticks, so this is never full. */
static tamis_status mlcbf_merge(tamis_table *into, const tamis_table *from) {
    uint64_t const bits = shape_of(into)->block_bits;
    for (uint64_t b = 0; b < into->geometry[ML_BLOCKS]; b++)
        mlcbf_merge_block(into, from, b * bits);
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* Can each counter of a block be without that of the other? */
static bool mlcbf_block_can_lose(const tamis_table *into, const tamis_table *from, uint64_t block) {
    const shape *const s = shape_of(into);
    levels_walk        to = levels_begin(&s->l, into->body, block);
    levels_walk        of = levels_begin(&s->l, from->body, block);
    for (uint32_t i = 0; i < s->l.counters; i++) {
        uint64_t const y = levels_next(&s->l, into->body, &to);
        uint64_t const x = levels_next(&s->l, from->body, &of);
        if (x == 0 || y == LEVELS_STUCK) continue;
        if (x == LEVELS_STUCK || !number_may_hold(&s->of, y, numbered_value(&s->of, x)))
            return false;
    }
    return true;
}

static void mlcbf_block_lose(tamis_table *into, const tamis_table *from, uint64_t block) {
    const shape *const s = shape_of(into);
    levels_walk        of = levels_begin(&s->l, from->body, block);
    for (uint32_t i = 0; i < s->l.counters; i++) {
        place const    p = { block, i, 0 };
        uint64_t const x = levels_next(&s->l, from->body, &of);
        if (x == 0 || x == LEVELS_STUCK) continue;
        uint64_t const y = place_get(into, &p);
        if (y == LEVELS_STUCK) continue;
        uint64_t const rest = numbered_value(&s->of, y) - numbered_value(&s->of, x);
        place_set(into, &p, y, numbered_number(&s->of, rest));
    }
}

/* Counter by counter, if each can be without the other's. What is stuck stays so. */
static tamis_status mlcbf_subtract(tamis_table *into, const tamis_table *from) {
    uint64_t const bits = shape_of(into)->block_bits, blocks = into->geometry[ML_BLOCKS];
    for (uint64_t b = 0; b < blocks; b++) {
        if (!mlcbf_block_can_lose(into, from, b * bits)) return TAMIS_ERR_ABSENT;
    }
    for (uint64_t b = 0; b < blocks; b++) mlcbf_block_lose(into, from, b * bits);
    into->keys = kind_less_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* By how many counters of each value there are. */
static double mlcbf_current_fpr(const tamis_table *table) {
    const shape *const s = shape_of(table);
    vi_counts          all = { .stuck = 0 };
    for (uint64_t b = 0; b < table->geometry[ML_BLOCKS]; b++) {
        levels_walk walk = levels_begin(&s->l, table->body, b * s->block_bits);
        for (uint32_t i = 0; i < s->l.counters; i++) {
            uint64_t const x = levels_next(&s->l, table->body, &walk);
            ++*(x == LEVELS_STUCK ? &all.stuck : &all.of[numbered_value(&s->of, x)]);
        }
    }
    return tamis_vi_rate(&s->of.d, &all, (unsigned)table->geometry[ML_HASHES], 0);
}

/* ------------------------------------------------------------------ validation */

/* What a body adds up to. */
typedef struct tally {
    uint64_t stuck, sum;
} tally;

static bool mlcbf_check_block(const tamis_table *table, uint64_t block, tally *count,
                              const char **reterr_why) {
    const shape *const s = shape_of(table);
    bool const         is_closed = levels_is_closed(&s->l, table->body, block);
    TAMIS_REQUIRE(is_closed || levels_fit(&s->l, table->body, block), reterr_why,
                  "I1: cells beyond the area of their block");
    levels_walk    walk = levels_begin(&s->l, table->body, block);
    uint64_t const before = count->stuck;
    TAMIS_REQUIRE(field_is_zero(table->body, walk.end, levels_closed_at(&s->l, block)), reterr_why,
                  is_closed ? "I2: a bit in the area of a closed block"
                            : "I1: a bit behind the last cell of a block");
    for (uint32_t i = 0; i < s->l.counters; i++) {
        uint64_t const x = levels_next(&s->l, table->body, &walk);
        bool const     is_stuck = x == LEVELS_STUCK;
        uint64_t const value = is_stuck ? 0 : numbered_value(&s->of, x);
        TAMIS_REQUIRE(increments_make_up(&s->of.d, value), reterr_why,
                      "I4: a counter that is no sum of increments");
        count->stuck += is_stuck;
        count->sum += value;
    }
    TAMIS_REQUIRE(!is_closed || count->stuck != before, reterr_why,
                  "I2: a closed block without a stuck counter");
    return true;
}

/* Can `keys` keys with k increments each sum up to this? */
static bool mlcbf_adds_up(const tamis_table *table, uint64_t sum) {
    const increments *const d = &shape_of(table)->of.d;
    uint64_t                hits;
    if (d->n != 1) return true;
    return checked_mul(table->keys, table->geometry[ML_HASHES], &hits) && sum == hits;
}

static bool mlcbf_validate(const tamis_table *table, const char **reterr_why) {
    uint64_t const bits = shape_of(table)->block_bits, blocks = table->geometry[ML_BLOCKS];
    tally          count = { 0, 0 };
    for (uint64_t b = 0; b < blocks; b++) {
        if (!mlcbf_check_block(table, b * bits, &count, reterr_why)) return false;
    }
    TAMIS_REQUIRE(field_rest_is_zero(table->body, blocks * bits, table->body_bytes), reterr_why,
                  "I3: a bit beyond the last block");
    TAMIS_REQUIRE(count.stuck == table->saturated, reterr_why,
                  "I5: the number of stuck counters is not what it is said to be");
    TAMIS_REQUIRE(count.stuck != 0 || mlcbf_adds_up(table, count.sum), reterr_why,
                  "I6: the counters do not sum up to what the keys can have added");
    return true;
}

KIND_EXPORT(mlcbf) = {
    .name = "mlcbf",
    .summary = "multilayer counting filter, variable increments: never refuses, in little memory",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .field_names = { "blocks", "counters", "area", "hashes", "increments", "plain", "bits", "bits2",
                     "bits3", "bits4", "bits5", "bits6", NULL },
    .plan = mlcbf_plan,
    .body_bytes = mlcbf_body_bytes,
    .predict = mlcbf_predict,
    .prepare = mlcbf_prepare,
    .has = mlcbf_has,
    .add = mlcbf_add,
    .remove = mlcbf_remove,
    .count = mlcbf_count,
    .fetch = mlcbf_fetch,
    .chunk = MLCBF_CHUNK,
    .merge = mlcbf_merge,
    .subtract = mlcbf_subtract,
    .current_fpr = mlcbf_current_fpr,
    .validate = mlcbf_validate,
    .empties_to_zero = true,
};
