/* line.c - rank-indexed cache lines: the fastest set that can remove.
 *
 * This construction is ours. It follows the paper: N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed
 * Hashing", ICNP 2008 (kinds/rank/rank.c), but a bucket is one cache line, and its chains are
 * stored one after the other instead of level by level. Names below: B lines (buckets), 62 chains
 * and 50 slots in each, r bits of remainder.
 *
 * Idea
 * ----
 * A hash is split into a line, a chain in it and a remainder. The top 8 bits of the remainder are a
 * byte in the line, in the run of its chain (runs.h). A lookup is a popcount for the rank of the
 * chain, one PDEP for its run, and one comparison with all 50 bytes. An absent key reads one cache
 * line, whatever the fpr: the other bits of a longer remainder, a counter and a value are in a
 * separate array, with a field for each slot. That field is read only if the byte matches
 * (lines.h).
 *
 *     +---------------+-----------+---------------------------------------------+
 *     | occ 62        | starts 50 | 50 bytes, chain by chain                    |      a line
 *     +---------------+-----------+---------------------------------------------+
 *       which chains    where each
 *       are not empty   run begins
 *
 * A line that is too full is cut at a chain. The later chains (its tail) are on a shelf that 16
 * lines share (shelf.h), and entries that do not fit there are in the attic (attic.h):
 *
 *     line, 50 slots  --tail-->  shelf, 28 keys of 16 lines  --rest-->  attic, one for the table
 *
 * Worked example: lines at a mean load of 44 keys (LINE_FAST_LOAD), without counters and with
 * remainders of 8 bits. A line with its 16th part of a shelf has 512 + 32 bits, so a key takes 544
 * / 44 = 12.4 bits; the attic and the spare lines of small tables come on top. An absent key is
 * compared with the 44 / 62 keys of its chain on average, each of which has its byte with a chance
 * of 1 / 256: the fpr is 44 / (62 x 256) = 0.28%. Each further bit of remainder halves the fpr, and
 * costs a bit for each of the 50 slots: 50 / 44 = 1.14 bits for a key.
 *
 * Why
 * ---
 * In a table that is larger than the caches, the number of cache lines decides the speed, and then
 * the number of instructions. A counting filter changes k lines per key and takes four times the
 * memory; rank.c reads an index, and then cells that may be in other lines. Here a lookup is one
 * line and few instructions: with 60 M keys, batches of lookups reach three fifths of the speed of
 * bare memory or more (docs/performance.md). Chains are stored one after the other, so that a
 * chain is one run of bytes, which one comparison can search.
 *
 * Why shelves: lines are not equally full. With room for the fullest, the others would be a third
 * empty. Why a line is cut at a chain, instead of using any free place: then the body depends only
 * on the contents of the set. So its size can be computed (size.h), and removed keys leave no
 * trace. The price is a second cache line for updates of a full line, and for keys whose chain is
 * in a tail: at capacity one line in six is cut, and 1.7% of the keys are in tails (size.h).
 *
 * Modes: how many copies of a fingerprint are distinguished (prints_plan.h chooses the mode).
 *   copies = 1           a set: a fingerprint is stored once, and there is no removal;
 *   copies = 2 to 8      a multiset: each copy is an entry, up to this many;
 *   counter_bits = C     each entry has a counter of C bits: one entry for up to 2^C copies.
 * With the maximum number of copies a fingerprint is saturated, and can no longer be removed.
 *
 * Invariants (checked by line_validate)
 *   I1  the index of a line is valid, and free slots and their rests are zero;
 *   I2  a line has the first chains, as many as fit, and its tail has the others, all sorted;
 *   I3  a shelf has the first entries of its tails, the attic has the others, sorted;
 *   I4  no fingerprint has more copies than it may, and with counters it has one entry;
 *   I5  the copies sum up to `keys`, and `saturated` fingerprints have the maximum;
 *   I6  bits between the parts of the body, and after the last one, are zero;
 *   I7  in states, all values are below `values`;
 *   I8  in states, no timer is longer than that of a key which is touched now.
 */
#include "batches.h"
#include "core/checked.h"
#include "line_growing.h"
#include "prints_plan.h"
#include "shape.h"
#include "shared_lookups.h"

static_assert(LINE_COPIES == LINE_COUNTER_BITS + 1 && LINE_VALUE_BITS == LINE_COPIES + 1,
              "in the order of prints_plan()");

/* ------------------------------------------------------------------ planning */

static tamis_status line_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[LINE_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!prints_plan(need, 1, &g[LINE_COUNTER_BITS])) return TAMIS_ERR_CANNOT;
    if (!tamis_line_choose(need, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, sizeof g);
    return TAMIS_OK;
}

static bool line_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    line_layout layout;
    if (!tamis_line_layout(geometry, &layout)) return false;
    return checked_body_bytes(layout.end, 1, FIELD_PAD_BYTES, ret_bytes);
}

/* A fingerprint that is stored once may stand for several keys, so nothing can be removed. Merging
 * would have to decide between two values of a key. */
static unsigned line_lacks(const uint64_t *g) {
    bool const is_once = g[LINE_COPIES] == 1 && g[LINE_COUNTER_BITS] == 0;
    return (is_once ? TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT : 0) |
           (g[LINE_VALUE_BITS] != 0 ? TAMIS_CAN_MERGE : 0);
}

static void line_predict(const uint64_t *g, const tamis_workload *work,
                         tamis_forecast *ret_forecast) {
    double const n = (double)work->capacity;
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_line_fpr(g, n),
        .overflow = tamis_line_overflow(g, work),
        .saturation = prints_saturation(tamis_line_prints(g), line_most(g), work),
    };
    tamis_line_touches(g, n, &ret_forecast->lines_present, &ret_forecast->lines_absent,
                       &ret_forecast->lines_add);
}

/* The highest count that can be told from "saturated". */
static uint64_t line_count_to(const uint64_t *g) {
    return line_most(g) - 1;
}

static void line_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    line_layout           layout;
    if (!tamis_line_layout(g, &layout)) return; /* it will get no body either */
    line_shape const shape = { .lines = line_make_shape(g, &layout), .most = line_most(g) };
    memcpy(table->derived, &shape, sizeof shape);
}

/* ------------------------------------------------------------------ fingerprints */

/* Buckets are the first digits of prints, and the entries of a bucket are sorted by chain, byte and
 * rest: so prints come in increasing order, as kind.h asks. */
static bool line_each(const tamis_table *table, kind_visit *visit, void *context) {
    const line_shape *const shape = line_shape_of(table);
    lines_list              list;
    for (uint64_t bucket = 0; bucket < shape->lines.buckets; bucket++) {
        lines_gather(line_view(table), bucket, &list);
        for (unsigned i = 0, n; i < list.n; i += n) {
            unsigned const copies = lines_list_copies(&shape->lines, &list, i, &n);
            bool const     is_many = shape->most > 1 && copies >= shape->most;
            uint64_t const print = lines_list_print(&shape->lines, bucket, &list, i);
            if (!visit(context, print, is_many ? TAMIS_COUNT_MANY : copies)) return false;
        }
    }
    return true;
}

/* Tails only grow during a merge, so if the result finds room, every step finds room. */
static tamis_status line_merge(tamis_table *into, const tamis_table *from) {
    const line_shape *const shape = line_shape_of(into);
    lines_list              more;
    tamis_status            status = TAMIS_OK;
    if (!lines_can_join(line_view(into), line_view(from), shape->most)) return TAMIS_ERR_FULL;
    for (uint64_t bucket = 0; bucket < shape->lines.buckets; bucket++) {
        lines_gather(line_view(from), bucket, &more);
        for (unsigned i = 0; i < more.n; i++) {
            lines_place const place = lines_list_place(&shape->lines, bucket, &more, i);
            /* Never _FULL, as lines_can_join() said; TAMIS_OK is 0. */
            status |= line_add_copies_at(into, &place, rest_copies(&shape->lines, more.rest[i]));
        }
    }
    return status;
}

/* ------------------------------------------------------------------ whole tables */

/* A lookup says yes if the fingerprint is stored, so the fpr is the share of stored fingerprints.
 * Copies in separate entries take room, but count once. */
static void line_survey(const tamis_table *table, kind_survey *ret_survey) {
    const lines_shape *const shape = &line_shape_of(table)->lines;
    uint64_t const           all = tamis_line_prints(table->geometry);
    uint64_t const           shelves = (shape->buckets + SHELF_BUCKETS - 1) / SHELF_BUCKETS;
    /* Slots, shelf keys and attic words that there are. */
    uint64_t const room = shape->buckets * LINE_SLOTS + shelves * SHELF_KEYS + shape->room;
    uint64_t       prints = 0, entries = 0;
    lines_list     list;
    for (uint64_t bucket = 0; bucket < shape->buckets; bucket++) {
        lines_gather(line_view(table), bucket, &list);
        entries += list.n;
        for (unsigned i = 0, n; i < list.n; i += n, prints++) {
            (void)lines_list_copies(shape, &list, i, &n);
        }
    }
    *ret_survey = (kind_survey){ .fpr = (double)prints / (double)all,
                                 .distinct = tamis_prints_distinct(all, prints),
                                 .load = (double)entries / (double)room,
                                 .prints = prints };
}

/* I4, and the sums for I5. */
static bool line_copies_are_whole(const line_shape *shape, const lines_list *list, uint64_t *copies,
                                  uint64_t *saturated) {
    for (unsigned i = 0, n; i < list->n; i += n) {
        unsigned const here = lines_list_copies(&shape->lines, list, i, &n);
        if (here > shape->most || (shape->lines.counter_bits != 0 && n != 1)) return false;
        *copies += here;
        *saturated += shape->most > 1 && here == shape->most;
    }
    return true;
}

/* I7 and I8. */
static bool line_states_are_whole(const tamis_table *table, uint64_t bucket, const lines_list *list,
                                  const char **reterr_why) {
    unsigned const bits = line_state_bits(table);
    for (unsigned i = 0; i < list->n && table->values != 0; i++) {
        uint64_t const field = lines_list_field(&line_shape_of(table)->lines, list, i);
        TAMIS_REQUIRE(state_value(table, bits, field) < table->values, reterr_why,
                      "I7: a value is out of range");
        TAMIS_REQUIRE(state_timer_is_possible(table, bits, bucket, field), reterr_why,
                      "I8: a timer is too long");
    }
    return true;
}

/* In the order of trust: what a check reads was checked before. The attic is searched for the
 * tails, so it comes first; then each shelf, when its first bucket is reached; then the index of a
 * line, before its entries are listed. What all buckets have together (I3, I5) comes last. The
 * attic must have no words but those that shelves account for: `sent` is how many these are. */
static bool line_validate(const tamis_table *table, const char **reterr_why) {
    const line_shape *const shape = line_shape_of(table);
    lines_view const        lines = line_view(table);
    shelf_view const        shelves = lines_shelves(lines);
    uint64_t                copies = 0, saturated = 0, sent = 0;
    lines_list              list;
    tail_entry              beyond;
    TAMIS_REQUIRE(attic_is_whole(&shelves.attic, shape->lines.buckets), reterr_why,
                  "I3: the attic is not sorted");
    for (uint64_t bucket = 0; bucket < shape->lines.buckets; bucket++) {
        if (bucket % SHELF_BUCKETS == 0) {
            TAMIS_REQUIRE(shelf_is_whole(&shelves, bucket, shape->lines.buckets, &sent), reterr_why,
                          "I3: a shelf is not sorted, or its counts are wrong");
        }
        TAMIS_REQUIRE(lines_index_is_whole(lines, bucket), reterr_why,
                      "I1: the index of a line is invalid");
        lines_gather(lines, bucket, &list);
        TAMIS_REQUIRE(!tail_get(&shelves, bucket, LINE_MAX_TAIL, &beyond), reterr_why,
                      "I2: a tail is too long");
        TAMIS_REQUIRE(lines_list_is_whole(runs_load(lines_at(lines, bucket)), &list), reterr_why,
                      "I2: a line is cut at a wrong place, or is not sorted");
        TAMIS_REQUIRE(line_copies_are_whole(shape, &list, &copies, &saturated), reterr_why,
                      "I4: a fingerprint has more copies or entries than it may");
        if (!line_states_are_whole(table, bucket, &list, reterr_why)) return false;
    }
    TAMIS_REQUIRE(sent == attic_count(&shelves.attic), reterr_why,
                  "I3: the attic has entries that belong to no shelf");
    TAMIS_REQUIRE(
        field_is_zero(table->body, 8 * (shape->lines.count + 8), shape->lines.slot_rests) &&
            field_rest_is_zero(table->body, shape->lines.end, table->body_bytes),
        reterr_why, "I6: a bit between or behind the parts is set");
    TAMIS_REQUIRE(copies == table->keys && saturated == table->saturated, reterr_why,
                  "I5: the copies do not sum up to the keys");
    return true;
}

/* ------------------------------------------------------------------ the functions of the kind */

static unsigned line_group_shift(const uint64_t *geometry) {
    (void)geometry;
    return LINE_GROUP_SHIFT;
}

static const kind_sharing line_sharing = { .derived_words = LINE_DERIVED_WORDS,
                                           .group_shift = line_group_shift,
                                           .needs_attic = line_needs_attic,
                                           .copy = line_copy,
                                           .has = line_share_has,
                                           .has_chunk = line_share_has_chunk,
                                           .has_rolling = line_share_has_rolling,
                                           .add_chunk = line_share_add_chunk,
                                           .remove_chunk = line_share_remove_chunk };

/* The same operations for tables without rests: most sets. In these functions is_bare is a constant
 * (lines.h). */
#define LINE_BARE_CALLS                                                                            \
    .has = line_has_bare, .add = line_add_bare, .remove = line_remove_bare, .count = line_count,   \
    .add_copies = line_add_copies, .remove_copies = line_remove_copies,                            \
    .has_id = line_has_id_bare, .add_id = line_add_id_bare, .remove_id = line_remove_id_bare,      \
    .hash_ids = line_hash_ids, .has_chunk = line_has_chunk_bare, .add_chunk = line_add_chunk_bare, \
    .remove_chunk = line_remove_chunk_bare

static const kind_calls line_bare = { LINE_BARE_CALLS,
                                      .fetch = line_fetch_bare,
                                      .fetch_id = line_fetch_id_bare,
                                      .has_rolling = line_has_rolling_bare,
                                      .chunk = LINE_CHUNK,
                                      .has_long_lookups = true,
                                      .has_long_updates = true };

/* For bodies of up to LINE_CACHED_BYTES. Nothing is prefetched, so chunks need not be small. */
static const kind_calls line_bare_cached = { LINE_BARE_CALLS };

/* A table with rests uses the calls of the kind (NULL), whatever its size: line_fetch_as() compares
 * the size with LINE_CACHED_BYTES once for each chunk. */
static const kind_calls *line_form(const uint64_t *geometry) {
    uint64_t   bytes;
    bool const is_bare = line_rest_bits(geometry) == 0;
    bool const is_cached = line_body_bytes(geometry, &bytes) && bytes <= LINE_CACHED_BYTES;
    if (!is_bare) return NULL;
    return is_cached ? &line_bare_cached : &line_bare;
}

KIND_EXPORT(line) = {
    .name = "line",
    .summary = "rank-indexed cache lines: the fastest that can remove",
    .isa = KIND_ISA,
    .is_default = true,
    .fields = { { "buckets", 1, LINE_MAX_BUCKETS },
                { "remainder_bits", LINE_BYTE_BITS, LINE_MAX_REMAINDER_BITS },
                { "counter_bits", 0, LINE_MAX_COUNTER_BITS },
                { "copies", 1, LINE_MAX_COPIES },
                { "value_bits", 0, LINE_MAX_VALUE_BITS },
                { "attic", 0, LINE_MAX_ATTIC },
                { NULL, 0, 0 } },
    .plan = line_plan,
    .body_bytes = line_body_bytes,
    .predict = line_predict,
    .count_to = line_count_to,
    .most_count = (UINT64_C(1) << LINE_MAX_COUNTER_BITS) - 1,
    .lacks = line_lacks,
    .prepare = line_prepare,
    .calls = {
        .has = line_has,
        .add = line_add,
        .remove = line_remove,
        .count = line_count,
        .has_id = line_has_id,
        .add_id = line_add_id,
        .remove_id = line_remove_id,
        .add_copies = line_add_copies,
        .remove_copies = line_remove_copies,
        .hash_ids = line_hash_ids,
        .has_chunk = line_has_chunk,
        .add_chunk = line_add_chunk,
        .remove_chunk = line_remove_chunk,
        .fetch = line_fetch,
        .fetch_id = line_fetch_id,
        .chunk = LINE_CHUNK,
        .has_long_lookups = true,
    },
    .form = line_form,
    .merge = line_merge,
    .prints = tamis_line_prints,
    .each = line_each,
    .growing = &line_growing,
    .sharing = &line_sharing,
    .states = &KIND_STATES(line),
    .survey = line_survey,
    .validate = line_validate,
    .empties_to_zero = true,
};
