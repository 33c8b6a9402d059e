/* ddlcbf.c - the d-left counting filter with dynamic bit reassignment: remainders as long as there
 * is room for.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, section III. Names below: d subtables of B
 * buckets; a key is (b, r, z).
 *
 * Idea
 * ----
 * As in dlcbf.c, a key goes to the least loaded of d buckets, which are those of P_1(b, r) to
 * P_d(b, r). What is stored there is the remainder r_i and after it as much of z as there is room
 * for: the fewer cells a bucket has, the longer they are (prefixes.h). So buckets that never
 * were full have longer remainders, and fewer false positives, in the same memory.
 *
 * Why no key is ever lost
 * -----------------------
 * P_i can be undone, so every cell, wherever it is, is a prefix of the strings (b, r, z), at least
 * (b, r) of them. Two cells that match a key are prefixes of one string: one begins with the other.
 *
 *   Claim. Keys can at any time be assigned to cells, each to a prefix of its own, one key to each
 *   copy that a cell stands for, and any number to a cell that is stuck. (So all keys are found.)
 *
 *   An add gives the key a cell of its own, another copy of a cell that matches, or a cell that is
 *   stuck. Cutting a cell, or two equal ones that become one, leave every assignment right.
 *   A removal of x takes a copy of the longest cell that matches, c; nothing if any match is stuck.
 *   If c is x's own, fine. If x was assigned to another, c', and c to a key y: c' is no longer than
 *   c and begins alike, so it is a prefix of c and of y too, and y can have it. If c was nobody's,
 *   none is worse off.                                                                           []
 *
 * The same with any other match would be wrong: y need not begin with a longer c'. Nothing in this
 * depends on how lengths are chosen, or on keys with the same (b, r) being in one bucket; so new
 * cells may be longer than old ones (two lengths), and a bucket that is empty begins again.
 *
 * Example: x = 10110 and y = 10111 begin alike. x was stored first, and its cell was cut to 101;
 * then y was stored as 10111. Removing y must take 10111: without 101, a lookup of x would find
 * nothing. Removing x takes 101, its only match. If x = 10111 as well, both cells match both keys,
 * and the removal of x takes 10111, which was y's own: y still begins with 101, and is found.
 *
 * At the limit, when all buckets of a key have as many cells as they can, one of them is cut to r
 * bits and equal cells become one (III.A). If that makes no room, and the key matches no cell that
 * could stand for it too, it is refused.
 *
 * Deviation: the paper puts keys with the same (b, r) into one bucket. Here they are anywhere, as
 * it allows for copies; so no bucket must take a key when it is full, and fewer ever are.
 *
 * Counters of C bits count to 2^C - 1; further copies take further cells, up to 4, and what comes
 * then sticks. So with C = 1 the bit only says that a cell is stuck.
 *
 * Invariants (checked by ddlcbf_validate)
 *   I1  the code of a bucket is possible, and what its cells do not use is 0;
 *   I2  cells of one length are sorted in their bucket;
 *   I3  all copies sum up to `keys`, one that is stuck as 2^C, and `saturated` of them are.
 */
#include "core/checked.h"
#include "kind.h"
#include "prefix_places.h"
#include "prints_plan.h"
#include "size.h"

#include <math.h>

/* ------------------------------------------------------------------ planning */

static tamis_status ddlcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return tamis_ddlcbf_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

static bool ddlcbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    uint64_t bytes;
    if (!tamis_ddlcbf_bytes(geometry, &bytes)) return false;
    return checked_body_bytes(bytes, 8, 0, ret_bytes);
}

static uint64_t ddlcbf_prints(const uint64_t *geometry) {
    return geometry[DDLCBF_BUCKETS] << geometry[DDLCBF_REMAINDER_BITS];
}

/* Overflow: copies beyond what one cell counts take further cells, and one key may be added without
 * end. Saturation: as many different keys with one (b, r) as saturate it; that such keys may have
 * other bits of z, and so cells of their own, is not counted. */
static void ddlcbf_predict(const uint64_t *g, const tamis_workload *work,
                           tamis_forecast *ret_forecast) {
    uint64_t const capacity = work->capacity, lifetime = work->lifetime;
    double const   n = (double)capacity, t = (double)lifetime;
    double const   cells = ceil((double)work->copies / (double)ddlcbf_full(g)); /* of a key */
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_ddlcbf_fpr(g, n, t),
        .overflow = tamis_ddlcbf_overflow(g, n * cells + DDLCBF_COPIES - 1, t * cells),
        .saturation = prints_saturation(ddlcbf_prints(g), ddlcbf_most(g), work),
    };
    tamis_ddlcbf_touches(g, n, &ret_forecast->lines_present, &ret_forecast->lines_absent,
                         &ret_forecast->lines_add);
}

static void ddlcbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    ddlcbf_shape          shape = { .tables = (unsigned)g[DDLCBF_TABLES],
                                    .buckets = g[DDLCBF_BUCKETS],
                                    .range = g[DDLCBF_BUCKETS] << g[DDLCBF_REMAINDER_BITS] };
    if (!tamis_ddlcbf_cells(g, &shape.cells)) return; /* it will get no body either */
    for (unsigned i = 0; i < shape.tables; i++) {
        shape.permute[i] = permutation_make(shape.range, i);
    }
    memcpy(table->derived, &shape, sizeof shape);
}

/* ------------------------------------------------------------------ changing */

/* Give a cell another counter. Equal prefixes are sorted by counter, so the bucket is packed again.
 * A stuck cell stands for one copy more than it can count: `counter` for 2^C - 1 is 2^C copies
 * (I3). */
static void ddlcbf_set_counter(tamis_table *table, const ddlcbf_cell *cell, uint64_t counter) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    prefixes                    p;
    prefixes_unpack(s, cell->bucket, &p);
    prefixes_set_counter(s, &p, cell->i, counter);
    prefixes_pack(s, &p, cell->bucket);
    table->keys += counter - cell->counter;
    table->saturated += counter == prefixes_stuck(s);
}

/* The caller has seen that the bucket has room. */
static void ddlcbf_new_cell(tamis_table *table, const ddlcbf_place *place, unsigned known) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    prefixes                    p;
    prefixes_unpack(s, place->bucket, &p);
    (void)prefixes_put(s, &p, place->string, known);
    prefixes_pack(s, &p, place->bucket);
    table->keys++;
}

/* Cut one of the buckets of a key, all of them full, to the least length and put equal cells
 * together. False: none has equal ones. */
static __attribute__((noinline)) bool ddlcbf_make_room(tamis_table *table, const ddlcbf_key *key) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    for (unsigned i = 0; i < ddlcbf_shape_of(table)->tables; i++) {
        uint8_t *const bucket = ddlcbf_place_in(table, key, i).bucket;
        prefixes       p, less;
        prefixes_unpack(s, bucket, &p);
        less = p;
        prefixes_squeeze(s, &less);
        if (less.n[0] == s->cells) continue;
        prefixes_pack(s, &less, bucket);
        table->keys += prefixes_copies(s, &less) - prefixes_copies(s, &p);
        table->saturated += prefixes_n_stuck(s, &less) - prefixes_n_stuck(s, &p);
        return true;
    }
    return false;
}

/* One copy more, in the cheapest way there is:
 *
 *     a cell is stuck                      nothing to do: it stands for any number of copies
 *     a cell can still count               count it up
 *     fewer than DDLCBF_COPIES cells       a new cell in the least loaded bucket, if that has room;
 *                                          if not, squeeze a bucket first and look again
 *     no room, but a cell matches          the longest is stuck from now on
 *     no room, and none matches            full */
static tamis_status ddlcbf_add_key(tamis_table *table, const ddlcbf_key *key) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    ddlcbf_found                found = ddlcbf_look(table, key);
    if (!found.is_stuck && found.open.length == 0 && found.cells < DDLCBF_COPIES &&
        found.load == s->cells && ddlcbf_make_room(table, key)) {
        found = ddlcbf_look(table, key);
    }
    if (found.is_stuck) return TAMIS_OK;
    if (found.open.length != 0)
        ddlcbf_set_counter(table, &found.open, found.open.counter + 1);
    else if (found.cells < DDLCBF_COPIES && found.load < s->cells)
        ddlcbf_new_cell(table, &found.least, key->known);
    else if (found.cells != 0)
        ddlcbf_set_counter(table, &found.longest, prefixes_stuck(s));
    else
        return TAMIS_ERR_FULL;
    return TAMIS_OK;
}

/* One copy less of the longest match; the top of this file says why it must be the longest. A key
 * that matches a stuck cell has more copies than can be counted, as ddlcbf_count says, too; all its
 * cells stay. */
static tamis_status ddlcbf_remove_key(tamis_table *table, const ddlcbf_key *key) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    ddlcbf_found const          found = ddlcbf_look(table, key);
    const ddlcbf_cell *const    cell = &found.longest;
    if (found.cells == 0) return TAMIS_ERR_ABSENT;
    if (found.is_stuck) return TAMIS_ERR_SATURATED;
    if (cell->counter != 0) {
        ddlcbf_set_counter(table, cell, cell->counter - 1);
        return TAMIS_OK;
    }
    prefixes p;
    prefixes_unpack(s, cell->bucket, &p);
    prefixes_take(&p, cell->i);
    prefixes_pack(s, &p, cell->bucket);
    table->keys--;
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ keys, by their hash */

static bool ddlcbf_has(const tamis_table *table, uint64_t hash) {
    ddlcbf_key const key = ddlcbf_key_of(ddlcbf_shape_of(table), hash);
    return ddlcbf_holds(table, &key);
}

static tamis_status ddlcbf_add(tamis_table *table, uint64_t hash) {
    ddlcbf_key const key = ddlcbf_key_of(ddlcbf_shape_of(table), hash);
    return ddlcbf_add_key(table, &key);
}

static tamis_status ddlcbf_remove(tamis_table *table, uint64_t hash) {
    ddlcbf_key const key = ddlcbf_key_of(ddlcbf_shape_of(table), hash);
    return ddlcbf_remove_key(table, &key);
}

static uint64_t ddlcbf_count(const tamis_table *table, uint64_t hash) {
    ddlcbf_key const   key = ddlcbf_key_of(ddlcbf_shape_of(table), hash);
    ddlcbf_found const found = ddlcbf_look(table, &key);
    return found.is_stuck ? TAMIS_COUNT_MANY : found.copies;
}

/* Keys in a chunk: all their buckets are prefetched while the chunk before is worked on. */
#define DDLCBF_CHUNK 8

static void ddlcbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                         bool is_update) {
    const ddlcbf_shape *const s = ddlcbf_shape_of(table);
    (void)is_update;
    for (unsigned k = 0; k < n; k++) {
        ddlcbf_key const key = ddlcbf_key_of(s, hash[k]);
        for (unsigned i = 0; i < s->tables; i++) {
            const uint8_t *const bucket = ddlcbf_place_in(table, &key, i).bucket;
            prefetch_to_read(bucket);
            prefetch_to_read(bucket + s->cells.bytes - 1);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* Every cell of a table. The buckets come in a scattered order: put into another table one after
 * the other, the keys of a subtable would fill it before the others. */
typedef struct ddlcbf_walk {
    multiplier order;
    uint64_t   at; /* buckets that are done */
    unsigned   i;  /* the next cell of this one */

    /* the cell where it is */
    const uint8_t *bucket;
    ddlcbf_key     key;
    uint64_t       counter;
} ddlcbf_walk;

static ddlcbf_walk ddlcbf_start(const tamis_table *table) {
    const ddlcbf_shape *const s = ddlcbf_shape_of(table);
    return (ddlcbf_walk){ .order = permutation_make(s->tables * s->buckets, 0).there };
}

/* Go to the next cell; false after the last. A bucket of no cells is passed over. Permuted back,
 * its place tells (b, r) of the key, and the prefix as much of z as it has. */
static bool ddlcbf_next(const tamis_table *table, ddlcbf_walk *walk) {
    const ddlcbf_shape *const s = ddlcbf_shape_of(table);
    uint64_t const            buckets = s->tables * s->buckets;
    for (; walk->at < buckets; walk->at++, walk->i = 0) {
        uint64_t const       number = multiplier_apply(walk->order, buckets, walk->at);
        const uint8_t *const bucket = table->body + number * s->cells.bytes;
        prefixes_head const  head = prefixes_head_of(&s->cells, bucket);
        if (walk->i == prefixes_load(&head)) continue;
        unsigned const length = prefixes_length(&head, walk->i);
        uint64_t const cell = prefixes_cell(&s->cells, bucket, &head, walk->i++);
        walk->key = ddlcbf_key_from(s, (unsigned)(number / s->buckets), number % s->buckets,
                                    cell >> s->cells.counter_bits, length);
        walk->counter = cell & prefixes_stuck(&s->cells);
        walk->bucket = bucket;
        return true;
    }
    return false;
}

/* The print of a key is its (b, r): z is not told, as not all cells have it. Such sets cannot be
 * sent (keeps_more_than_prints). */
static bool ddlcbf_each(const tamis_table *table, kind_visit *visit, void *context) {
    uint64_t const stuck = prefixes_stuck(&ddlcbf_shape_of(table)->cells);
    ddlcbf_walk    walk = ddlcbf_start(table);
    while (ddlcbf_next(table, &walk)) {
        uint64_t const copies = walk.counter == stuck ? TAMIS_COUNT_MANY : walk.counter + 1;
        if (!visit(context, walk.key.print, copies)) return false;
    }
    return true;
}

/* A cell that is stuck there is stuck here. It was just added, so there is a match to be marked. */
static void ddlcbf_stick(tamis_table *table, const ddlcbf_key *key) {
    ddlcbf_found const found = ddlcbf_look(table, key);
    if (!found.is_stuck)
        ddlcbf_set_counter(table, &found.longest, prefixes_stuck(&ddlcbf_shape_of(table)->cells));
}

/* A cell is added as a key of which no more is known. The tables need only have the same prints: so
 * an empty one is refreshed from one with wider buckets (III.B). */
static tamis_status ddlcbf_merge(tamis_table *into, const tamis_table *from) {
    uint64_t const stuck = prefixes_stuck(&ddlcbf_shape_of(from)->cells);
    ddlcbf_walk    walk = ddlcbf_start(from);
    while (ddlcbf_next(from, &walk)) {
        bool const is_stuck = walk.counter == stuck;
        for (uint64_t copies = is_stuck ? 1 : walk.counter + 1; copies != 0; copies--) {
            if (ddlcbf_add_key(into, &walk.key) != TAMIS_OK) return TAMIS_ERR_FULL;
        }
        if (is_stuck) ddlcbf_stick(into, &walk.key);
    }
    return TAMIS_OK;
}

/* Does every key that matches the cell where the walk is match another one, too: a shorter one that
 * it begins with, or an equal one that is found before it? */
static bool ddlcbf_is_covered(const tamis_table *table, const ddlcbf_walk *walk) {
    const prefixes_shape *const s = &ddlcbf_shape_of(table)->cells;
    bool                        is_met = false; /* an equal one, perhaps the cell itself */
    for (unsigned i = 0; i < ddlcbf_shape_of(table)->tables; i++) {
        ddlcbf_place const  place = ddlcbf_place_in(table, &walk->key, i);
        prefixes_head const head = prefixes_head_of(s, place.bucket);
        uint32_t same = prefixes_match(s, place.bucket, &head, place.string, walk->key.known);
        for (; same != 0; same &= same - 1) {
            unsigned const cell = bits_lowest(same);
            bool const     is_own = place.bucket == walk->bucket && cell == walk->i - 1;
            if (prefixes_length(&head, cell) < walk->key.known || (is_own && is_met)) return true;
            is_met = true;
        }
    }
    return false;
}

/* Of all strings (b, r, z), a cell of length l stands for a share of 2^-l / B, whatever its
 * subtable: P_i only renames the strings. Cells that are covered add nothing: they are of copies of
 * a key, or of keys with the same string. So the fpr is exact. The number of keys is estimated as
 * for fixed prints: -ln(1 - fpr) / fpr keys for each string. */
static void ddlcbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    const ddlcbf_shape *const s = ddlcbf_shape_of(table);
    uint64_t                  cells = 0, prints = 0;
    double                    sum = 0;
    ddlcbf_walk               walk = ddlcbf_start(table);
    while (ddlcbf_next(table, &walk)) {
        cells++;
        if (ddlcbf_is_covered(table, &walk)) continue;
        prints++;
        sum += ldexp(1, -(int)walk.key.known);
    }
    double const fpr = sum / (double)s->buckets;
    *ret_survey = (kind_survey){
        .fpr = fpr,
        .distinct = (double)prints * (fpr > 0 && fpr < 1 ? -log1p(-fpr) / fpr : 1),
        .load = (double)cells / (double)(s->tables * s->buckets * s->cells.cells),
        .prints = prints,
    };
}

/* Buckets first, each by itself: packing it again must give the same bytes. Then all cells are
 * walked for the sums. No invariant is about several buckets: cells that match each other are
 * allowed anywhere. */
static bool ddlcbf_validate(const tamis_table *table, const char **reterr_why) {
    const ddlcbf_shape *const   s = ddlcbf_shape_of(table);
    const prefixes_shape *const cells = &s->cells;
    uint64_t const              bytes = s->tables * s->buckets * cells->bytes;
    uint64_t                    copies = 0, n_stuck = 0;
    for (uint64_t at = 0; at < bytes; at += cells->bytes) {
        TAMIS_REQUIRE(prefixes_is_packed(cells, table->body + at), reterr_why,
                      "I1: a bucket has an invalid code, or bits after its cells");
        TAMIS_REQUIRE(prefixes_is_sorted(cells, table->body + at), reterr_why,
                      "I2: the cells of a bucket are out of order");
    }
    for (uint64_t at = bytes; at < table->body_bytes; at++) {
        TAMIS_REQUIRE(table->body[at] == 0, reterr_why, "I1: bits behind the last bucket");
    }
    ddlcbf_walk walk = ddlcbf_start(table);
    while (ddlcbf_next(table, &walk)) {
        copies += walk.counter + 1;
        n_stuck += walk.counter == prefixes_stuck(cells);
    }
    TAMIS_REQUIRE(copies == table->keys, reterr_why, "I3: the copies do not sum up to the keys");
    TAMIS_REQUIRE(n_stuck == table->saturated, reterr_why,
                  "I3: the stored number of saturated cells is wrong");
    return true;
}

static uint64_t ddlcbf_count_to(const uint64_t *g) {
    return ddlcbf_most(g) - 1;
}

KIND_EXPORT(ddlcbf) = {
    .name = "ddlcbf",
    .summary = "d-left counting filter whose remainders are as long as there is room for",
    .isa = KIND_ISA,
    .fields = { { "tables", DDLCBF_MIN_TABLES, DDLCBF_MAX_TABLES },
                { "buckets", 1, PERMUTE_MAX >> PREFIXES_MIN_BITS },
                { "cells", 1, PREFIXES_MAX_CELLS },
                { "remainder_bits", PREFIXES_MIN_BITS, PREFIXES_MAX_BITS },
                { "counter_bits", 1, PREFIXES_MAX_COUNTER_BITS },
                { "lengths", 1, 2 },
                { "bucket_bytes", PREFIXES_MIN_BYTES, PREFIXES_MAX_BYTES },
                { NULL, 0, 0 } },
    .plan = ddlcbf_plan,
    .body_bytes = ddlcbf_body_bytes,
    .predict = ddlcbf_predict,
    .heeds_most_bytes = true,
    .count_to = ddlcbf_count_to,
    .most_count = DDLCBF_COPIES * ((UINT64_C(1) << PREFIXES_MAX_COUNTER_BITS) - 1),
    .prepare = ddlcbf_prepare,
    .calls = {
        .has = ddlcbf_has,
        .add = ddlcbf_add,
        .remove = ddlcbf_remove,
        .count = ddlcbf_count,
        .fetch = ddlcbf_fetch,
        .chunk = DDLCBF_CHUNK,
    },
    .merge = ddlcbf_merge,
    .merges_by_steps = true,
    .refreshes = true,
    .prints = ddlcbf_prints,
    .each = ddlcbf_each,
    .each_is_scattered = true,
    .keeps_more_than_prints = true,
    .survey = ddlcbf_survey,
    .validate = ddlcbf_validate,
    .empties_to_zero = true,
};
