/* state_print.c - a state beside a fingerprint, in the least loaded of d buckets.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Beyond Bloom Filters:
 * From Approximate Membership Checks to Approximate State Machines", SIGCOMM 2006, section 3.4 (the
 * fingerprint-compressed filter) and 4 (the permutations). Names below: d subtables of b buckets
 * with h cells each, f bits of print, x bits of value and timer.
 *
 * Idea
 * ----
 * A key has a bucket in each of d subtables, and its print with its value goes to the least loaded
 * of them, the leftmost of several. A bucket has its prints first, all compared at once
 * (core/cells.h), and their fields behind them:
 *
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *     |  f  |  f  |  f  |  .  | x: v, t | x: v, t | x: v, t |    .    |    h = 4, 3 keys
 *     +-----+-----+-----+-----+---------+---------+---------+---------+
 *
 * To change a value is to write another one in its place or, with `reinserts`, to take the key out
 * and put it into the bucket that is least loaded now.
 *
 * Why permutations: with d independent buckets and one print (permuted=0, as in the paper), a key
 * whose print is in two of its buckets is unknown: nobody knows which of the two it is. A move
 * makes both of them "don't know", a value of its own; a drop is refused, and the key stays until
 * it has aged. Through permutations (core/dleft.h) what is in a bucket came from one fingerprint
 * alone. So there is nothing unknown, a key can always be dropped, and it costs no bit: it even
 * saves the code for "don't know". What it costs is a product for each subtable.
 *
 * The side table (side.h; the paper's TCAM) has a few keys by their full hashes: those whose
 * buckets are all full, and those that are unknown when they are put. It is looked at first; while
 * it is empty that is one comparison.
 *
 * Deviation: a print is never 0, so that 0 is an empty cell whatever the value is.
 *
 * The table is here; what its keys do with their values, and how they age, is in
 * state_print_states.c.
 *
 * Invariants (checked by print_validate)
 *   I1  in a bucket the used cells are first, and what is not used is 0;
 *   I2  a fingerprint has one cell; not permuted, a print is in a bucket once;
 *   I3  the side table has no more than there is room for, no key twice, and 0 behind the last;
 *   I4  the cells and the side table have `keys` keys;
 *   I5  all values are among those that there are, or unknown if not permuted;
 *   I6  what is behind all of that is 0.
 */
#include "state_print.h"
#include "core/checked.h"
#include "size.h"

/* ------------------------------------------------------------------ planning */

static tamis_status print_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (g[STATE_PRINT_PERMUTED] == NEED_FREE) g[STATE_PRINT_PERMUTED] = 1;
    uint64_t const bits = print_value_bits(need->values, need->timer_bits, g[STATE_PRINT_PERMUTED]);
    if (g[STATE_PRINT_VALUE_BITS] == NEED_FREE) g[STATE_PRINT_VALUE_BITS] = bits;
    if (g[STATE_PRINT_VALUE_BITS] != bits || need->values == 0) return TAMIS_ERR_CANNOT;
    state_print_need const want = { .n = (double)need->work.capacity,
                                    .fpr = need->fpr,
                                    .unknown = need->unknown,
                                    .lifetime = (double)need->work.lifetime,
                                    .overflow = need->overflow,
                                    .is_fast = need->prefer == TAMIS_PREFER_FAST };
    if (!tamis_state_print_choose(&want, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, STATE_PRINT_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool print_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    state_print_layout layout;
    if (!tamis_state_print_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.end, 8, FIELD_PAD_BYTES, ret_bytes);
}

static void print_predict(const uint64_t *g, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    uint64_t const capacity = work->capacity, lifetime = work->lifetime;
    double const   n = (double)capacity, t = (double)lifetime;
    *ret_forecast = (tamis_forecast){ .fpr = tamis_state_print_fpr(g, n, t),
                                      .overflow = tamis_state_print_overflow(g, n, t),
                                      .unknown = tamis_state_print_unknown(g, n, t) };
    tamis_state_print_touches(g, lifetime > capacity, n, &ret_forecast->lines_present,
                              &ret_forecast->lines_absent, &ret_forecast->lines_add);
}

static tagged_shape print_cells_shape(const uint64_t *g) {
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

static void print_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    unsigned const        bits = (unsigned)g[STATE_PRINT_VALUE_BITS];
    state_print_layout    layout;
    if (!tamis_state_print_layout(g, &layout)) return; /* it will get no body either */
    print_shape const shape = { .cells = print_cells_shape(g),
                                .side = { layout.side, (unsigned)g[STATE_PRINT_SIDE], bits },
                                .side_unit = g[STATE_PRINT_TABLES] * g[STATE_PRINT_BUCKETS],
                                .end = layout.end,
                                .bits = bits,
                                .is_permuted = g[STATE_PRINT_PERMUTED] != 0,
                                .is_reinserted = g[STATE_PRINT_REINSERTS] != 0 };
    memcpy(table->derived, &shape, sizeof shape);
}

/* Keys in a chunk: all their buckets are asked for while the chunk before is worked on. */
#define CHUNK 8

static void print_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    tagged const of = cells_of(table);
    (void)is_update;
    for (unsigned k = 0; k < n; k++) tagged_fetch(of, tagged_key_of(of, hash[k]));
}

/* ------------------------------------------------------------------ whole tables */

static double print_current_fpr(const tamis_table *table) {
    uint64_t cells = 0;
    for (uint64_t bucket = 0; bucket < shape_of(table)->side_unit; bucket++) {
        cells += tagged_used(cells_of(table), bucket);
    }
    return (double)cells / (double)tamis_dleft_prints(table->geometry);
}

/* How often a print is where it is, or permuted, where its fingerprint belongs. */
static unsigned print_copies(const tamis_table *table, const cells_walk *at) {
    tagged const             of = cells_of(table);
    const cells_shape *const cells = &of.shape->cells;
    dleft_place const        place = { at->bucket, at->found };
    const uint8_t *const     bucket = tagged_bucket(of, at->bucket);
    unsigned const           first = cells_next(cells, bucket, at->found, 0);
    if (cells_next(cells, bucket, at->found, first + 1) < cells->n) return 2;
    if (!of.shape->is_permuted) return 1;
    return tagged_look(of, (tagged_key){ 0, dleft_fingerprint_of(&of.shape->places, place) })
        .matches;
}

static bool print_validate(const tamis_table *table, const char **reterr_why) {
    const print_shape *const s = shape_of(table);
    uint64_t const           most = table->values - s->is_permuted;
    uint64_t                 keys = 0;
    print_walk               walk = { .bit = 0 };
    for (uint64_t bucket = 0; bucket < s->side_unit; bucket++) {
        TAMIS_REQUIRE(tagged_is_whole(cells_of(table), bucket), reterr_why,
                      "I1: a bucket has a gap, or bits behind its cells");
    }
    TAMIS_REQUIRE(side_is_whole(side_of(table)), reterr_why, "I3: the side table is not in order");
    for (; print_next(table, &walk); keys++) {
        TAMIS_REQUIRE(walk.aside != 0 || print_copies(table, &walk.at) == 1, reterr_why,
                      "I2: a fingerprint has two cells");
        TAMIS_REQUIRE(print_value(table, walk.bit) <= most, reterr_why,
                      "I5: a value that there is not");
    }
    TAMIS_REQUIRE(keys == table->keys && table->saturated == 0, reterr_why,
                  "I4: not as many keys as it says");
    TAMIS_REQUIRE(
        field_rest_is_zero(table->body, 8 * s->side_unit * s->cells.cells.bytes, s->side.at) &&
            field_rest_is_zero(table->body, 8 * s->end, table->body_bytes),
        reterr_why, "I6: bits behind the last");
    return true;
}

static void print_survey(const tamis_table *table, kind_survey *ret_survey) {
    *ret_survey = (kind_survey){ .fpr = print_current_fpr(table), .distinct = (double)table->keys };
}

KIND_EXPORT(state_print) = {
    .name = "state_print",
    .summary = "states beside fingerprints, in the least loaded of d buckets",
    .isa = KIND_ISA,
    .fields = { { "tables", 0, UINT64_MAX - 1 },
                { "buckets", 0, UINT64_MAX - 1 },
                { "cells", 0, UINT64_MAX - 1 },
                { "print_bits", 0, UINT64_MAX - 1 },
                { "value_bits", 0, UINT64_MAX - 1 },
                { "bucket_bytes", 0, UINT64_MAX - 1 },
                { "permuted", 0, UINT64_MAX - 1 },
                { "reinserts", 0, UINT64_MAX - 1 },
                { "side", 0, UINT64_MAX - 1 },
                { NULL, 0, 0 } },
    .plan = print_plan,
    .body_bytes = print_body_bytes,
    .predict = print_predict,
    .prepare = print_prepare,
    .fetch = print_fetch,
    .chunk = CHUNK,
    .states = &KIND_STATES(state_print),
    .survey = print_survey,
    .validate = print_validate,
    .empties_to_zero = true,
};
