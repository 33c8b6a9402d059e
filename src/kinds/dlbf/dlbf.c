/* dlbf.c - the d-left Bloom filter: fingerprints that get shorter as their bucket fills up.
 *
 * Paper: F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh, G. Varghese, "Bloom Filters via d-Left
 * Hashing and Dynamic Bit Reassignment", Allerton 2006, section II. The paper's names: d subtables
 * of B buckets; a is the load of a bucket.
 *
 * Idea
 * ----
 * As in dlcbf, a key has one bucket in each of d subtables, and goes to the least loaded; of
 * several, to the leftmost. But a bucket has just 64 or 128 bits, and its cells share them: the
 * fewer cells, the longer they are. When one more comes, all lose their last bits.
 *
 *     load 3   | code |        20        |        20        |        20        |
 *     load 4   | code |     15     |     15     |     15     |     15     |  + 1 bit in the code
 *     load 5   | code |   12    |   12    |   12    |   12    |   12    |  + 1 bit in the code
 *
 * The cells of a bucket are sorted. For the usual loads the code says how many of them begin with
 * 0, or with 00, 01, 10 and 11; so the first one or two bits of a cell need not be stored
 * (codes.h).
 *
 * A block is one bucket, or a group of four neighbours that share their bits: then a full bucket
 * takes bits from an emptier one (analysis.h says how many).
 *
 *     block of a group   | code 0 | code 1 | code 2 | code 3 | cells of 0 | cells of 1 | ... | 0 |
 *
 * Every subtable has its own remix of the hash (core/hash.h): some bits of it choose the bucket,
 * and those that are left are the fingerprint. dlcbf's permutations serve removal, and nothing is
 * removed here.
 *
 * What it cannot do
 * -----------------
 * There is no removal: it cannot be known whose a shortened cell was. For the same reason a cell
 * cannot move to an emptier bucket, and tables cannot be merged: a bucket that is less full would
 * need bits that are gone. But all bits of keys that come together are known, so add_balanced
 * places them several times, each in the bucket that is the least loaded by then, before it stores
 * the first.
 *
 * Invariants (checked by dlbf_validate)
 *   I1  the code of every bucket is one that exists;
 *   I2  the cells of a bucket are sorted;
 *   I3  bits after the last cell of a block, and after the last block, are zero;
 *   I4  the loads of all buckets sum up to `keys`, and nothing is saturated.
 */
#include "blocks.h"
#include "core/checked.h"
#include "core/hash.h"
#include "kind.h"
#include "size.h"

#include <math.h>

/* ------------------------------------------------------------------ planning */

static tamis_status dlbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return tamis_dlbf_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

static bool dlbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    dlbf_layout layout;
    if (!tamis_dlbf_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.blocks, 8 * layout.block_bytes, 0, ret_bytes);
}

static void dlbf_predict(const uint64_t *g, const tamis_workload *work,
                         tamis_forecast *ret_forecast) {
    uint64_t const capacity = work->capacity, lifetime = work->lifetime;
    (void)lifetime; /* no removal: the life of a filter is its filling */
    dlbf_forecast const told = tamis_dlbf_forecast(g, (double)capacity);
    *ret_forecast = (tamis_forecast){ .fpr = told.fpr,
                                      .overflow = told.overflow,
                                      .lines_present = told.lines,
                                      .lines_absent = (double)g[DLBF_TABLES],
                                      .lines_add = (double)g[DLBF_TABLES] };
}

static void dlbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    dlbf_shape            s = { .tables = (unsigned)g[DLBF_TABLES],
                                .group = (unsigned)g[DLBF_GROUP],
                                .buckets = g[DLBF_BUCKETS] };
    if (!tamis_dlbf_layout(g, &s.layout)) return; /* it will get no body either */
    codes_make((unsigned)g[DLBF_CELLS], g[DLBF_SORTING], &s.codes);
    for (unsigned a = 0; a <= DLBF_MAX_CELLS; a++) s.saved[a] = (uint8_t)(a * s.codes.sorted[a]);
    /* dlbf_length() divides by multiplying with (inverse[t] + 1) / 2^16. For an empty block the
     * quotient must be at least the longest length: with 2^16 / 2^16 it is all the bits of the
     * block. */
    s.inverse[0] = UINT16_MAX;
    for (unsigned t = 1; t <= DLBF_BLOCK_CELLS; t++) s.inverse[t] = (uint16_t)(UINT16_MAX / t);
    memcpy(table->derived, &s, sizeof s);
}

/* ------------------------------------------------------------------ where a key belongs */

/* Where a key belongs in one subtable. */
typedef struct dlbf_place {
    uint8_t *block;
    unsigned bucket; /* of the block */
    uint64_t print;  /* the fingerprint in its longest form */
} dlbf_place;

/* The bucket in subtable i, numbered through all subtables. The bits of the hash that are left are
 * the fingerprint. */
TAMIS_INLINE uint64_t dlbf_bucket_in(const dlbf_shape *s, uint64_t hash, unsigned i,
                                     uint64_t *ret_rest) {
    *ret_rest = remix(hash, i);
    return i * s->buckets + fastrange_next(ret_rest, s->buckets);
}

/* The block of the bucket, which of its buckets it is, and the first bits of what the hash has
 * left. */
TAMIS_INLINE dlbf_place dlbf_place_in(const tamis_table *table, uint64_t hash, unsigned i) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    uint64_t                rest;
    uint64_t const          bucket = dlbf_bucket_in(s, hash, i, &rest);
    uint64_t const          block = s->group == 1 ? bucket : bucket / DLBF_MAX_GROUP;
    return (dlbf_place){ table->body + block * s->layout.block_bytes,
                         (unsigned)bucket & (s->group - 1), rest >> (64 - s->layout.longest) };
}

/* ------------------------------------------------------------------ looking */

/* All subtables, until a cell matches. `group` is a constant in each caller (dlbf_view_of). */
TAMIS_INLINE bool dlbf_holds(const tamis_table *table, uint64_t hash, unsigned group) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    for (unsigned i = 0; i < s->tables; i++) {
        dlbf_place const place = dlbf_place_in(table, hash, i);
        dlbf_view const  view = dlbf_view_of(s, place.block, place.bucket, group);
        if (dlbf_matches(s, place.block, view, place.print)) return true;
    }
    return false;
}

static bool dlbf_has(const tamis_table *table, uint64_t hash) {
    return dlbf_shape_of(table)->group == 1 ? dlbf_holds(table, hash, 1)
                                            : dlbf_holds(table, hash, DLBF_MAX_GROUP);
}

/* ------------------------------------------------------------------ adding */

/* One cell more in a bucket that has room for it, at its place among the sorted ones. */
static void dlbf_insert(tamis_table *table, dlbf_place place) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    dlbf_block              block;
    dlbf_unpack(s, place.block, &block);
    uint64_t *const print = block.print[place.bucket];
    unsigned        cell = block.load[place.bucket]++;
    for (; cell > 0 && print[cell - 1] > place.print; cell--) print[cell] = print[cell - 1];
    print[cell] = place.print;
    dlbf_pack(s, &block, place.block);
    table->keys++;
}

/* A key that matches is not stored again. Else the least loaded bucket gets it, if it has room. */
TAMIS_INLINE tamis_status dlbf_add_key(tamis_table *table, uint64_t hash, unsigned group) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    dlbf_place              least = { 0 };
    unsigned                least_load = (unsigned)table->geometry[DLBF_CELLS];
    for (unsigned i = 0; i < s->tables; i++) {
        dlbf_place const place = dlbf_place_in(table, hash, i);
        dlbf_view const  view = dlbf_view_of(s, place.block, place.bucket, group);
        if (dlbf_matches(s, place.block, view, place.print)) return TAMIS_OK;
        if (split_load(view.split) >= least_load) continue; /* ties go to the left */
        least_load = split_load(view.split);
        least = place;
    }
    if (least.block == NULL) return TAMIS_ERR_FULL;
    dlbf_insert(table, least);
    return TAMIS_OK;
}

static tamis_status dlbf_add(tamis_table *table, uint64_t hash) {
    return dlbf_shape_of(table)->group == 1 ? dlbf_add_key(table, hash, 1)
                                            : dlbf_add_key(table, hash, DLBF_MAX_GROUP);
}

/* Keys of a chunk: their blocks are on their way from memory while the chunk before is worked on.
 * A block is never in two cache lines. */
#define DLBF_CHUNK 8

static void dlbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n, bool is_update) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    (void)is_update;
    for (unsigned k = 0; k < n; k++) {
        for (unsigned i = 0; i < s->tables; i++) {
            prefetch_to_read(dlbf_place_in(table, hash[k], i).block);
        }
    }
}

/* ------------------------------------------------------------------ keys that come together */

/* Section II.D: every key is placed once; then ten times each is taken out and placed again, where
 * the load is the least by then. Ties go to the left then, too: a key that stayed where it is would
 * keep others from moving on, and the false-positive rate would be a fifth higher. Only in the end
 * the keys are stored, in the order in which they came.
 *
 *     scratch   | subtable of each key, a byte | load of each bucket once all are stored, a byte |
 */
#define DLBF_ROUNDS 11
#define DLBF_AHEAD 8 /* keys whose memory is on its way */
enum { DLBF_NOWHERE = DLBF_MAX_TABLES, DLBF_STORED };

/* A byte for each key and one for each bucket, so that balancing needs no memory of its own. */
static uint64_t dlbf_balance_bytes(const tamis_table *table, uint64_t n) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    return n + s->tables * s->buckets;
}

static void dlbf_fetch_loads(const dlbf_shape *s, uint64_t hash, const uint8_t *load) {
    uint64_t rest;
    for (unsigned i = 0; i < s->tables; i++) {
        prefetch_to_write(load + dlbf_bucket_in(s, hash, i, &rest));
    }
}

/* Take a key out of subtable `where`, if it has a place yet, and place it again. Returns the new
 * subtable, or DLBF_NOWHERE if all its buckets are full. If its buckets have the loads 4 | 4 | 5
 * and it is in the second one, that has 3 without it, and the key stays; if it is in the third one,
 * all have 4, and it goes to the first. */
static uint8_t dlbf_place_again(const tamis_table *table, uint64_t hash, uint8_t where,
                                uint8_t *load) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    uint64_t                least = 0, rest;
    unsigned                least_load = (unsigned)table->geometry[DLBF_CELLS];
    if (where < s->tables) load[dlbf_bucket_in(s, hash, where, &rest)]--;
    where = DLBF_NOWHERE;
    for (unsigned i = 0; i < s->tables; i++) {
        uint64_t const bucket = dlbf_bucket_in(s, hash, i, &rest);
        if (load[bucket] >= least_load) continue;
        least_load = load[bucket];
        least = bucket;
        where = (uint8_t)i;
    }
    if (where != DLBF_NOWHERE) load[least]++;
    return where;
}

/* Find a place for all keys that are not in the table already. */
static void dlbf_balance(const tamis_table *table, const uint64_t *hash, uint64_t n, uint8_t *where,
                         uint8_t *load) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    for (uint64_t bucket = 0; bucket < s->tables * s->buckets; bucket++) {
        const uint8_t *const block = table->body + bucket / s->group * s->layout.block_bytes;
        load[bucket] = (uint8_t)split_load(dlbf_split(s, block, (unsigned)(bucket % s->group)));
    }
    for (uint64_t i = 0; i < n; i++) {
        if (i + DLBF_AHEAD < n) dlbf_fetch(table, hash + i + DLBF_AHEAD, 1, false);
        where[i] = dlbf_has(table, hash[i]) ? DLBF_STORED : DLBF_NOWHERE;
    }
    for (unsigned round = 0; round < DLBF_ROUNDS; round++) {
        for (uint64_t i = 0; i < n; i++) {
            if (i + DLBF_AHEAD < n) dlbf_fetch_loads(s, hash[i + DLBF_AHEAD], load);
            if (where[i] != DLBF_STORED)
                where[i] = dlbf_place_again(table, hash[i], where[i], load);
        }
    }
}

/* Store a key where it was placed. It may match by now: another key of the batch may have the same
 * fingerprint, or be the same key. */
static tamis_status dlbf_store(tamis_table *table, uint64_t hash, unsigned where) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    if (where >= s->tables) return dlbf_add(table, hash);
    dlbf_place const place = dlbf_place_in(table, hash, where);
    unsigned const   load = split_load(dlbf_split(s, place.block, place.bucket));
    if (load >= table->geometry[DLBF_CELLS]) return dlbf_add(table, hash);
    if (!dlbf_has(table, hash)) dlbf_insert(table, place);
    return TAMIS_OK;
}

/* Returns how many keys were taken, in order. A key that found no place in any round is added as
 * usual: a bucket may have room by then, since keys that match are not stored. */
static uint64_t dlbf_add_balanced(tamis_table *table, const uint64_t *hash, uint64_t n,
                                  uint8_t *scratch) {
    const uint8_t *const where = scratch;
    dlbf_balance(table, hash, n, scratch, scratch + n);
    for (uint64_t i = 0; i < n; i++) {
        if (i + DLBF_AHEAD < n) dlbf_fetch(table, hash + i + DLBF_AHEAD, 1, true);
        if (where[i] != DLBF_STORED && dlbf_store(table, hash[i], where[i]) != TAMIS_OK) return i;
    }
    return n;
}

/* ------------------------------------------------------------------ whole tables */

/* What the cells of a block add to the fpr of their subtable, and how many different ones there
 * are: cells that became equal count once. A cell of length L matches an absent key of its bucket
 * with a chance of 2^-L. */
static double dlbf_survey_block(const dlbf_shape *s, const uint8_t *bytes, uint64_t *prints) {
    dlbf_block block;
    double     sum = 0;
    dlbf_unpack(s, bytes, &block);
    for (unsigned i = 0; i < s->group; i++) {
        const uint64_t *const print = block.print[i];
        unsigned              different = block.load[i] != 0;
        for (unsigned cell = 1; cell < block.load[i]; cell++) {
            different += print[cell] != print[cell - 1];
        }
        sum += ldexp(different, -(int)dlbf_view_of(s, bytes, i, s->group).length);
        *prints += different;
    }
    return sum;
}

/* An absent key has one bucket in each subtable, and these are independent: the chance of each adds
 * to what the ones before have left. Keys that were false positives when they were added have left
 * no trace, so their number is estimated. */
static void dlbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    uint64_t const          bytes = s->layout.blocks / s->tables * s->layout.block_bytes;
    uint64_t const          room = s->tables * s->buckets * table->geometry[DLBF_CELLS];
    kind_survey             survey = { .load = (double)table->keys / (double)room };
    for (unsigned i = 0; i < s->tables; i++) {
        double sum = 0;
        for (uint64_t at = 0; at < bytes; at += s->layout.block_bytes) {
            sum += dlbf_survey_block(s, table->body + i * bytes + at, &survey.prints);
        }
        survey.fpr += (1 - survey.fpr) * sum / (double)s->buckets;
    }
    survey.distinct = tamis_dlbf_added(table->geometry, (double)table->keys, survey.fpr);
    *ret_survey = survey;
}

/* Check one block, and add its loads to `cells`. */
static bool dlbf_validate_block(const dlbf_shape *s, const uint8_t *bytes, uint64_t *cells,
                                const char **reterr_why) {
    unsigned const bits = s->layout.code_bits, last = s->group - 1;
    dlbf_block     block;
    for (unsigned i = 0; i < s->group; i++) {
        TAMIS_REQUIRE((le64_load(bytes) >> (i * bits) & bits_low(bits)) < s->codes.n, reterr_why,
                      "I1: a bucket has an invalid code");
    }
    dlbf_unpack(s, bytes, &block);
    for (unsigned i = 0; i < s->group; i++) {
        for (unsigned cell = 1; cell < block.load[i]; cell++) {
            TAMIS_REQUIRE(block.print[i][cell - 1] <= block.print[i][cell], reterr_why,
                          "I2: the cells of a bucket are not sorted");
        }
        *cells += block.load[i];
    }
    dlbf_view const view = dlbf_view_of(s, bytes, last, s->group);
    TAMIS_REQUIRE(
        field_rest_is_zero(bytes, view.at + block.load[last] * view.width, s->layout.block_bytes),
        reterr_why, "I3: bits behind the last cell of a block are not 0");
    return true;
}

static bool dlbf_validate(const tamis_table *table, const char **reterr_why) {
    const dlbf_shape *const s = dlbf_shape_of(table);
    uint64_t const          bytes = s->layout.blocks * s->layout.block_bytes;
    uint64_t                cells = 0;
    for (uint64_t at = 0; at < bytes; at += s->layout.block_bytes) {
        if (!dlbf_validate_block(s, table->body + at, &cells, reterr_why)) return false;
    }
    TAMIS_REQUIRE(field_rest_is_zero(table->body, 8 * bytes, table->body_bytes), reterr_why,
                  "I3: bits behind the last block are not 0");
    TAMIS_REQUIRE(cells == table->keys, reterr_why, "I4: the loads do not sum up to the keys");
    TAMIS_REQUIRE(table->saturated == 0, reterr_why,
                  "I4: the number of saturated entries is not 0");
    return true;
}

KIND_EXPORT(dlbf) = {
    .name = "dlbf",
    .summary = "d-left Bloom filter: fingerprints that get shorter as buckets fill up",
    .isa = KIND_ISA,
    .fields = { { "tables", DLBF_MIN_TABLES, DLBF_MAX_TABLES },
                { "buckets", 1, DLBF_MAX_BUCKETS },
                { "bucket_bits", 64, 128 },
                { "cells", 1, DLBF_MAX_CELLS },
                { "sorting", 0, (UINT64_C(1) << (2 * DLBF_MAX_CELLS + 2)) - 1 },
                { "group", 1, DLBF_MAX_GROUP },
                { NULL, 0, 0 } },
    .plan = dlbf_plan,
    .body_bytes = dlbf_body_bytes,
    .predict = dlbf_predict,
    .heeds_most_bytes = true,
    .prepare = dlbf_prepare,
    .calls = {
        .has = dlbf_has,
        .add = dlbf_add,
        .fetch = dlbf_fetch,
        .chunk = DLBF_CHUNK,
        .balance_bytes = dlbf_balance_bytes,
        .add_balanced = dlbf_add_balanced,
    },
    .survey = dlbf_survey,
    .validate = dlbf_validate,
};
