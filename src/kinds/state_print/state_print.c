/* state_print.c - fingerprints with a value, in the least loaded of d buckets.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, section 3.4 (the
 * fingerprint-compressed filter) and 4 (the permutations). Names below: d subtables of b buckets
 * with h cells each, f bits of print, x bits of value and timer.
 *
 * Idea
 * ----
 * A key has one bucket in each of d subtables, and its print and value go to the least loaded of
 * them, the leftmost if several are equal. The loads of buckets are so even that small buckets of a
 * fixed size hardly ever overflow. A bucket has all prints first, so that they can be compared at
 * once (core/cells.h), and then their fields:
 *
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *     |  f  |  f  |  f  |  .  | x: v, t | x: v, t | x: v, t |    .    |    h = 4, 3 keys
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *
 * A value is changed in place or, with `reinserts`, by removing the key and putting it into the
 * bucket that is least loaded now: these are the paper's two ways.
 *
 * Worked example, with B = 1000 buckets in each of d = 3 subtables, h = 4 cells, f = 12 bits of
 * print and x = 4 bits of value and timer. A bucket has 4 x (12 + 4) = 64 bits. At 2.5 keys in a
 * bucket the table has 7500 keys, at 25.6 bits each. An absent key is taken for one of them with a
 * chance of 7500 / (1000 x 4095) = 0.18%: so often is its fingerprint, one of 1000 x 4095, that of
 * a key.
 *
 * Why permutations: with d independent buckets and one print (permuted=0, as in section 3.4), a
 * print may be in two buckets of a key. Then the value of the key is unknown: the table cannot know
 * which of the two is its own. A move sets both to "don't know", which is a separate value; a drop
 * is refused, and the key stays until it times out. With permutations (core/dleft.h), every print
 * in a bucket comes from exactly one fingerprint. So nothing is unknown, and a key can always be
 * dropped. This costs no bits, and even saves the code for "don't know". It costs one
 * multiplication for each subtable.
 *
 * The side table (side.h; the paper's TCAM) has a few keys with their full hashes: keys whose
 * buckets are all full, and keys whose value is unknown when they are put. It is searched first;
 * while it is empty, that is one comparison.
 *
 * Deviation: a print is never 0, so that 0 is an empty cell whatever the value is. (In the paper an
 * entry of all zeros is empty, so a key with print 0 and state 0 could not be stored.)
 *
 * This file has the table; states.c has the operations on values, and timeouts.
 *
 * Invariants (checked by state_print_validate)
 *   I1  in a bucket the used cells are first, and everything else is 0;
 *   I2  a fingerprint has one cell; without permutations, a print is in a bucket once;
 *   I3  the side table has no more keys than there is room for, none twice, and 0 after the last;
 *   I4  the cells and the side table have `keys` keys;
 *   I5  all values exist in the table; without permutations, "don't know" is one of them;
 *   I6  everything after that is 0;
 *   I7  no timer is longer than a new one of its value.
 */
#include "state_print.h"
#include "core/checked.h"
#include "size.h"

/* ------------------------------------------------------------------ planning */

/* Permuted unless the user says otherwise: it is better in all but speed. The bits of a field
 * follow from the values and the timer, so a geometry that fixes others is refused. */
static tamis_status state_print_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (g[STATE_PRINT_PERMUTED] == NEED_FREE) g[STATE_PRINT_PERMUTED] = 1;
    uint64_t const bits =
        state_print_value_bits(need->values, need->timer_bits, g[STATE_PRINT_PERMUTED]);
    if (g[STATE_PRINT_VALUE_BITS] == NEED_FREE) g[STATE_PRINT_VALUE_BITS] = bits;
    if (g[STATE_PRINT_VALUE_BITS] != bits || need->values == 0) return TAMIS_ERR_CANNOT;
    if (!tamis_state_print_choose(need, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, STATE_PRINT_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool state_print_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    state_print_layout layout;
    if (!tamis_state_print_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.end, 8, FIELD_PAD_BYTES, ret_bytes);
}

/* A life longer than the capacity means churn, for which the d-left law is another one. */
static void state_print_predict(const uint64_t *g, const tamis_workload *work,
                                tamis_forecast *ret_forecast) {
    double const n = (double)work->capacity, t = (double)work->lifetime;
    *ret_forecast = (tamis_forecast){ .fpr = tamis_state_print_fpr(g, n, t),
                                      .overflow = tamis_state_print_overflow(g, n, t),
                                      .unknown = tamis_state_print_unknown(g, n, t) };
    tamis_state_print_touches(g, work->lifetime > work->capacity, n, &ret_forecast->lines_present,
                              &ret_forecast->lines_absent, &ret_forecast->lines_add);
}

/* The cells of core/cells.h are the prints alone; where their fields are, tagged.h knows. */
static tagged_shape state_print_cells_shape(const uint64_t *g) {
    unsigned const print_bits = (unsigned)g[STATE_PRINT_PRINT_BITS];
    bool const     is_permuted = g[STATE_PRINT_PERMUTED] != 0;
    return (tagged_shape){ .cells = cells_make(
                               (cells_shape){ .n = (unsigned)g[STATE_PRINT_CELLS],
                                              .bits = print_bits,
                                              .print_bits = print_bits,
                                              .bytes = (unsigned)g[STATE_PRINT_BUCKET_BYTES] }),
                           .places = dleft_make((unsigned)g[STATE_PRINT_TABLES],
                                                g[STATE_PRINT_BUCKETS], print_bits, is_permuted),
                           .bits = (unsigned)g[STATE_PRINT_VALUE_BITS],
                           .is_permuted = is_permuted };
}

/* What operations need of the geometry: the cells, and where the side table begins. */
static void state_print_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    unsigned const        bits = (unsigned)g[STATE_PRINT_VALUE_BITS];
    state_print_layout    layout;
    if (!tamis_state_print_layout(g, &layout)) return; /* it will get no body either */
    print_shape const shape = { .cells = state_print_cells_shape(g),
                                .side = { layout.side, (unsigned)g[STATE_PRINT_SIDE], bits },
                                .side_unit = g[STATE_PRINT_TABLES] * g[STATE_PRINT_BUCKETS],
                                .end = layout.end,
                                .bits = bits,
                                .is_permuted = g[STATE_PRINT_PERMUTED] != 0,
                                .is_reinserted = g[STATE_PRINT_REINSERTS] != 0 };
    memcpy(table->derived, &shape, sizeof shape);
}

/* Keys in a chunk: all their buckets are prefetched while the chunk before is worked on. */
#define STATE_PRINT_CHUNK 8

/* All d buckets: a lookup reads them until it finds its key, and a put must know the loads of all.
 * The side table is not fetched: it is nearly always empty, and its count is in the cache. */
static void state_print_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                              bool is_update) {
    tagged const cells = state_print_cells(table);
    (void)is_update;
    for (unsigned i = 0; i < n; i++) tagged_fetch(cells, tagged_key_of(cells, hash[i]));
}

/* ------------------------------------------------------------------ whole tables */

/* Every key has a fingerprint of its own; the side table has whole hashes, of which an absent key
 * is none. So the fpr is the share of fingerprints that are in cells. */
static void state_print_survey(const tamis_table *table, kind_survey *ret_survey) {
    const print_shape *const shape = state_print_shape(table);
    uint64_t                 cells = 0;
    for (uint64_t bucket = 0; bucket < shape->side_unit; bucket++) {
        cells += tagged_used(state_print_cells(table), bucket);
    }
    *ret_survey = (kind_survey){
        .fpr = (double)cells / (double)tamis_dleft_prints(table->geometry),
        .distinct = (double)table->keys,
        .load = (double)cells / (double)(shape->side_unit * shape->cells.cells.n),
        .prints = table->keys,
    };
}

/* How many cells have the print that a walk is at: in its bucket or, permuted, in all buckets of
 * its fingerprint. */
static unsigned state_print_copies(const tamis_table *table, const cells_walk *at) {
    tagged const             cells = state_print_cells(table);
    const cells_shape *const shape = &cells.shape->cells;
    dleft_place const        place = { at->bucket, at->found };
    const uint8_t *const     bucket = tagged_bucket(cells, at->bucket);
    /* tagged_look() counts a bucket once, however many of its cells match: so this bucket is
     * searched for a second one. */
    unsigned const first = cells_next(shape, bucket, at->found, 0);
    if (cells_next(shape, bucket, at->found, first + 1) < shape->n) return 2;
    if (!cells.shape->is_permuted) return 1;
    uint64_t const fingerprint = dleft_fingerprint_of(&cells.shape->places, place);
    return tagged_look(cells, (tagged_key){ 0, fingerprint }).matches;
}

/* I2, I5 and I7 of the key that a walk is at. */
static bool state_print_validate_key(const tamis_table *table, const print_walk *walk,
                                     const char **reterr_why) {
    const print_shape *const shape = state_print_shape(table);
    uint64_t const           field = state_print_field(table, walk->cell.bit);
    uint64_t const           value = state_value(table, shape->bits, field);
    TAMIS_REQUIRE(walk->aside != 0 || state_print_copies(table, &walk->at) == 1, reterr_why,
                  "I2: a fingerprint has two cells");
    TAMIS_REQUIRE(value < table->values || (value == table->values && !shape->is_permuted),
                  reterr_why, "I5: a value is out of range");
    TAMIS_REQUIRE(state_timer(table, shape->bits, field) <=
                      sweep_fresh(&table->sweep, walk->cell.unit, value),
                  reterr_why, "I7: a timer is longer than a new one");
    return true;
}

/* Buckets and the side table first (I1, I3): the walk over all keys relies on them. */
static bool state_print_validate(const tamis_table *table, const char **reterr_why) {
    const print_shape *const shape = state_print_shape(table);
    uint64_t                 keys = 0;
    print_walk               walk = { .aside = 0 };
    for (uint64_t bucket = 0; bucket < shape->side_unit; bucket++) {
        TAMIS_REQUIRE(tagged_is_whole(state_print_cells(table), bucket), reterr_why,
                      "I1: a bucket has a gap, or bits behind its cells");
    }
    TAMIS_REQUIRE(side_is_whole(state_print_side(table)), reterr_why,
                  "I3: the side table is invalid");
    for (; state_print_next(table, &walk); keys++) {
        if (!state_print_validate_key(table, &walk, reterr_why)) return false;
    }
    TAMIS_REQUIRE(keys == table->keys && table->saturated == 0, reterr_why,
                  "I4: the number of keys is wrong");
    /* side_unit is the number of all buckets. Between them and the side table is the padding to 8
     * bytes; after the side table, the rest of the last line. */
    uint64_t const buckets_end = 8 * shape->side_unit * shape->cells.cells.bytes;
    TAMIS_REQUIRE(field_rest_is_zero(table->body, buckets_end, shape->side.at) &&
                      field_rest_is_zero(table->body, 8 * shape->end, table->body_bytes),
                  reterr_why, "I6: bits behind the last cell are not zero");
    return true;
}

KIND_EXPORT(state_print) = {
    .name = "state_print",
    .summary = "states beside fingerprints, in the least loaded of d buckets",
    .isa = KIND_ISA,
    .fields = { { "tables", DLEFT_MIN_TABLES, DLEFT_MAX_TABLES },
                { "buckets", 1, PERMUTE_MAX >> DLEFT_MIN_PRINT_BITS },
                { "cells", 1, DLEFT_MAX_CELLS },
                { "print_bits", DLEFT_MIN_PRINT_BITS, DLEFT_MAX_PRINT_BITS },
                { "value_bits", 1, DLEFT_MAX_OTHER_BITS },
                { "bucket_bytes", 1, DLEFT_MAX_BUCKET_BYTES },
                { "permuted", 0, 1 },
                { "reinserts", 0, 1 },
                { "side", 0, SIDE_MAX_ROOM },
                { NULL, 0, 0 } },
    .plan = state_print_plan,
    .body_bytes = state_print_body_bytes,
    .predict = state_print_predict,
    .prepare = state_print_prepare,
    .calls = {
        .fetch = state_print_fetch,
        .chunk = STATE_PRINT_CHUNK,
    },
    .states = &KIND_STATES(state_print),
    .survey = state_print_survey,
    .validate = state_print_validate,
    .empties_to_zero = true,
};
