/* bhcbf.c - the Bh counting Bloom filter: pairs of counters that show which numbers were added.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * IEEE/ACM Transactions on Networking 22(4), 2014, sections II and VI. Names below follow it: m
 * entries, k hashes, n keys; a Bh sequence D of l numbers; counters c1, c2 and c3.
 *
 * Idea
 * ----
 * A counting Bloom filter whose entries have two counters. A key adds 1 to c1 and a number of the
 * sequence D to c2; its hash says which number, for each of its k entries. D is a Bh sequence: all
 * sums of h of its numbers are different. So an entry with up to h keys tells exactly which numbers
 * were added, and a key whose number is not among them was never added.
 *
 *        D = {1, 4, 13, 15}     c1 = 2, c2 = 17: only 4 + 13 makes 17
 *        has "pear"             adds 15 here: certainly absent
 *
 * Worked example with that D, a B3 sequence, whose sums of two numbers are 2, 5, 8, 14, 16, 17, 19,
 * 26, 28 and 30. An entry with three keys and c2 = 20 is 1 + 4 + 15 and nothing else: it excludes a
 * key that adds 13, since 20 - 13 = 7 is no sum of two numbers. Four keys with c2 = 21 are beyond h
 * = 3; but there, too, 21 - 15 = 6 is a sum of three numbers (1 + 1 + 4), and 21 - 13 = 8 is none:
 * a key that adds 13 is excluded by the improved lookup, and not by the basic one.
 *
 * Why more than h keys still exclude some: 5 keys with sum c2 can hold one that adds v only if 4
 * keys can make c2 - v, and a table says which sums of 4 numbers there are (sums.h). The paper's
 * "improved" lookup asks this table for any number of keys; its basic lookup takes more than h keys
 * for "perhaps". Removals and counts always ask the table, since what remains must be a sum, too.
 *
 * Saturation, and the centred counter c3: see pairs.h.
 *
 * Several places of a key may fall on the same entry. They are one step then: this many keys, and
 * the sum of their numbers. A lookup first tests place by place, which excludes nearly all absent
 * keys, and tests by steps only if that has not.
 *
 * Invariants (checked by bhcbf_validate)
 *   I1  bits of the body beyond the m entries are zero;
 *   I2  `saturated` is the number of marked entries;
 *   I3  in every other entry, c2 is a sum of c1 numbers of D;
 *   I4  while no entry is marked, all c1 sum up to k x keys.
 */
#include "core/checked.h"
#include "core/packed.h"
#include "core/probes.h"
#include "kind.h"
#include "pairs.h"
#include "rate.h"
#include "sequences.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

/* The largest acceptable chance that any entry ever saturates, unless the caller accepts a larger
 * `overflow`. The default overflow, 1e-10, would need wider counters in every entry. That is not
 * worth it: a marked entry loses no key, it only excludes none. */
#define BH_MAX_STUCK 1e-3

static_assert(BH_MAX_HASHES <= PROBES_MAX, "room for all places of a key");
static_assert(sizeof(pairs) <= KIND_DERIVED * sizeof(uint64_t), "the layout fits its place");

/* ------------------------------------------------------------------ planning */

/* c1 and c2 are side by side in one field, so that a lookup reads both with one load. */
static uint64_t bhcbf_entry_bits(const uint64_t *geometry) {
    return geometry[BH_COUNT_BITS] + geometry[BH_SUM_BITS];
}

/* Copies of every key would raise the rate, since entries of more keys exclude less: that is not
 * planned for. */
static tamis_status bhcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[BH_FIELDS];
    if (need->work.copies > 1) return TAMIS_ERR_CANNOT;
    if (!tamis_bh_choose(need, fmax(need->overflow, BH_MAX_STUCK), g)) return TAMIS_ERR_CANNOT;
    if (need->fixed[BH_ENTRIES] == NEED_FREE)
        g[BH_ENTRIES] = checked_fill_lines(g[BH_ENTRIES], bhcbf_entry_bits(g), PACKED_PAD_BYTES);
    memcpy(ret_geometry, g, sizeof g);
    return TAMIS_OK;
}

static bool bhcbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    return tamis_bh_is_possible(geometry) &&
           checked_body_bytes(geometry[BH_ENTRIES], bhcbf_entry_bits(geometry), PACKED_PAD_BYTES,
                              ret_bytes);
}

#define BH_NEVER 1e-30 /* a chance that no forecast needs */

/* A profile has two properties of an entry for each number of keys in it: how many absent keys it
 * excludes, and how likely it is to be out of range. It is computed up to the number of keys that
 * practically no entry has. Then both rates are means over the number of keys in an entry, which is
 * binomial. Every entry of the filling, and every change after it, is one more chance to saturate:
 * these are the events. */
static void bhcbf_predict(const uint64_t *g, const tamis_workload *work,
                          tamis_forecast *ret_forecast) {
    double const   m = (double)g[BH_ENTRIES], n = (double)work->capacity;
    double const   lines = m * (double)bhcbf_entry_bits(g) / 512;
    unsigned const k = (unsigned)g[BH_HASHES];
    pairs const    layout = tamis_bh_pairs(g);
    double const events = m + fmax(0, (double)work->lifetime - n) * k; /* in which one may stick */
    bh_profile   profile;
    tamis_bh_profile_rate(&layout, tamis_bh_most_hits(m, n * k, BH_NEVER / events), &profile);
    tamis_bh_profile_risk(&layout, &profile);
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bh_fpr(&profile, m, k, n),
        .saturation = tamis_bh_saturation(&profile, m, k, n, (double)work->lifetime),
        .lines_present = tamis_bloom_lines_present(lines, k),
        .lines_absent =
            tamis_bloom_lines_absent(lines, k, 1 - tamis_bh_excludes(&profile, m, n * k)),
        .lines_add = tamis_bloom_lines_present(lines, k),
    };
}

/* The layout has the table of sums, so it is made once. */
static void bhcbf_prepare(tamis_table *table) {
    if (!tamis_bh_is_possible(table->geometry)) return; /* such a geometry gets no body either */
    pairs const layout = tamis_bh_pairs(table->geometry);
    memcpy(table->derived, &layout, sizeof layout);
}

TAMIS_INLINE const pairs *bhcbf_layout(const tamis_table *table) {
    return (const pairs *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ one entry
 *
 * A marked entry (pairs.h) has lost its counters for good. So a lookup must take it for a yes, a
 * removal may pass it by, and no change may touch it: otherwise a key that is in the set could be
 * missed. */

TAMIS_INLINE uint64_t bhcbf_get(const tamis_table *table, uint64_t entry) {
    return packed_get(table->body, entry, pairs_bits(bhcbf_layout(table)));
}

/* Store a pair in an entry that was not marked. If it does not fit, the entry is marked now: it is
 * the only place where marks are made, and so where `saturated` is counted (I2). */
TAMIS_INLINE void bhcbf_set(tamis_table *table, uint64_t entry, pair p) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     field = pairs_pack(layout, p);
    packed_set(table->body, entry, pairs_bits(layout), field);
    table->saturated += field == pairs_mark(layout);
}

/* Can `times` places of a key, which add `sum` together, be in this entry? As the lookup tests it:
 * the basic lookup ignores c2 beyond h keys. */
TAMIS_INLINE bool bhcbf_entry_may_hold(const tamis_table *table, uint64_t entry, uint64_t times,
                                       uint64_t sum) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     field = bhcbf_get(table, entry);
    if (field == pairs_mark(layout)) return true;
    return pairs_may_hold(layout, pairs_unpack(layout, field), times, sum);
}

/* The same for a removal, which always tests c2: I3 must hold for what remains. */
TAMIS_INLINE bool bhcbf_entry_can_lose(const tamis_table *table, const pairs_step *step) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     field = bhcbf_get(table, step->entry);
    if (field == pairs_mark(layout)) return true;
    return pairs_can_lose(layout, pairs_unpack(layout, field), step->times, step->sum);
}

/* Add a step, unless the entry is marked. Returns 1 if the entry changed. */
TAMIS_INLINE unsigned bhcbf_entry_up(tamis_table *table, const pairs_step *step) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     field = bhcbf_get(table, step->entry);
    if (field == pairs_mark(layout)) return 0;
    pair const p = pairs_unpack(layout, field);
    bhcbf_set(table, step->entry, (pair){ p.count + step->times, p.sum + step->sum });
    return 1;
}

/* Subtract a step that the entry can lose, unless it is marked. Returns 1 if the entry changed. */
TAMIS_INLINE unsigned bhcbf_entry_down(tamis_table *table, const pairs_step *step) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     field = bhcbf_get(table, step->entry);
    if (field == pairs_mark(layout)) return 0;
    pair const p = pairs_unpack(layout, field);
    bhcbf_set(table, step->entry, (pair){ p.count - step->times, p.sum - step->sum });
    return 1;
}

/* ------------------------------------------------------------------ where a key counts */

/* A place is an entry and a number of D (pairs.h): one random number below m x l selects both, so a
 * key needs k random numbers and not 2k. There are this many places: */
TAMIS_INLINE uint64_t bhcbf_places(const tamis_table *table) {
    return table->geometry[BH_ENTRIES] * bhcbf_layout(table)->sums.n;
}

/* The functions that core/probes.h needs. */

TAMIS_INLINE const uint8_t *bhcbf_where(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    const pairs *const       layout = bhcbf_layout(table);
    return table->body + packed_find(pairs_entry(layout, place), pairs_bits(layout)).byte;
}

TAMIS_INLINE bool bhcbf_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    const pairs *const       layout = bhcbf_layout(table);
    return bhcbf_entry_may_hold(table, pairs_entry(layout, place), 1, pairs_added(layout, place));
}

/* All places of one key. Returns k. A place below m x l is an entry and a number at once
 * (pairs.h). */
TAMIS_INLINE unsigned bhcbf_locate_one(const tamis_table *table, uint64_t hash,
                                       uint64_t place[PROBES_MAX]) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t const places = bhcbf_places(table);
    for (unsigned i = 0; i < k; i++) place[i] = probes_place(hash, i, places);
    return k;
}

/* All places of as many keys as there is room for, prefetched. Returns how many keys. */
TAMIS_INLINE unsigned bhcbf_locate(const tamis_table *table, const uint64_t *hash, unsigned n,
                                   uint64_t place[PROBES_LOCATED]) {
    return probes_locate(table, hash, n, (unsigned)table->geometry[BH_HASHES], bhcbf_places(table),
                         bhcbf_where, place);
}

/* ------------------------------------------------------------------ a key, by its places */

/* Add a key: its steps, one for each entry. Entries that are marked already do not change. */
TAMIS_INLINE void bhcbf_up(tamis_table *table, const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(bhcbf_layout(table), place, k, step);
    unsigned       changed = 0;
    for (unsigned i = 0; i < n; i++) changed |= bhcbf_entry_up(table, &step[i]);
    table->keys += changed; /* an add that met only marked entries is not counted */
}

/* TAMIS_OK; or nothing changed, and _ABSENT, or _SATURATED if all entries are marked. All entries
 * are tested before the first changes. Steps are of different entries, so a change of one does not
 * affect the test of another. `keys` can be 0 already: adds that met only marked entries were not
 * counted. */
TAMIS_INLINE tamis_status bhcbf_down(tamis_table *table, const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(bhcbf_layout(table), place, k, step);
    unsigned       changed = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!bhcbf_entry_can_lose(table, &step[i])) return TAMIS_ERR_ABSENT;
    }
    for (unsigned i = 0; i < n; i++) changed |= bhcbf_entry_down(table, &step[i]);
    table->keys -= table->keys != 0 ? changed : 0;
    return changed != 0 ? TAMIS_OK : TAMIS_ERR_SATURATED;
}

/* The fewest copies that any entry allows which is not marked. All marked: many. */
TAMIS_INLINE uint64_t bhcbf_least(const tamis_table *table, const uint64_t *place, unsigned k) {
    const pairs *const layout = bhcbf_layout(table);
    pairs_step         step[PROBES_MAX];
    unsigned const     n = pairs_steps(layout, place, k, step);
    uint64_t           least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const field = bhcbf_get(table, step[i].entry);
        if (field == pairs_mark(layout)) continue;
        least = min_u64(least, pairs_most(layout, pairs_unpack(layout, field), &step[i]));
    }
    return least;
}

/* All places of a key hold it one by one, and some are in the same entry: does every entry hold its
 * whole step? Rarely asked. */
static __attribute__((noinline)) bool bhcbf_holds_together(const tamis_table *table,
                                                           const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(bhcbf_layout(table), place, k, step);
    for (unsigned i = 0; i < n; i++) {
        if (!bhcbf_entry_may_hold(table, step[i].entry, step[i].times, step[i].sum)) return false;
    }
    return true;
}

/* The second half of a lookup, for a key whose places all hold. If its entries differ modulo 64,
 * then no two places are in the same entry, and nothing is left to ask. */
TAMIS_INLINE bool bhcbf_holds_steps(const tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX], seen = 0;
    unsigned const k = bhcbf_locate_one(table, hash, place);
    for (unsigned i = 0; i < k; i++) {
        seen |= UINT64_C(1) << (pairs_entry(bhcbf_layout(table), place[i]) % 64);
    }
    return bits_popcount(seen) == k || bhcbf_holds_together(table, place, k);
}

/* ------------------------------------------------------------------ one key */

static bool bhcbf_has(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[BH_HASHES], bhcbf_places(table),
                       bhcbf_holds) &&
           bhcbf_holds_steps(table, hash);
}

static tamis_status bhcbf_add(tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = bhcbf_locate_one(table, hash, place);
    bhcbf_up(table, place, k);
    return TAMIS_OK;
}

static tamis_status bhcbf_remove(tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = bhcbf_locate_one(table, hash, place);
    return bhcbf_down(table, place, k);
}

static uint64_t bhcbf_count(const tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = bhcbf_locate_one(table, hash, place);
    return bhcbf_least(table, place, k);
}

/* ------------------------------------------------------------------ a chunk of keys */

/* First test place by place, for all keys of the chunk. Only keys that are not excluded (`open`)
 * are tested by steps. */
static uint64_t bhcbf_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t const places = bhcbf_places(table);
    uint64_t const open = table->body_bytes <= PROBES_NEAR
                              ? probes_ask_near(table, hash, n, k, places, bhcbf_holds)
                              : probes_ask(table, hash, n, k, places, bhcbf_where, bhcbf_holds);
    uint64_t       found = open;
    for (uint64_t left = open; left != 0; left &= left - 1) {
        unsigned const key = bits_lowest(left);
        if (!bhcbf_holds_steps(table, hash[key])) found &= ~(UINT64_C(1) << key);
    }
    return found;
}

/* In two passes over as many keys as `place` has room for: find and prefetch, then change. The same
 * for the two below. */
static unsigned bhcbf_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = bhcbf_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) bhcbf_up(table, place + i * k, k);
    }
    return n;
}

static uint64_t bhcbf_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n,
                                   uint64_t *ret_saturated) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t       place[PROBES_LOCATED], removed = 0, saturated = 0;
    for (unsigned done = 0, located; done < n; done += located) {
        located = bhcbf_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) {
            tamis_status const status = bhcbf_down(table, place + i * k, k);
            removed |= (uint64_t)(status == TAMIS_OK) << (done + i);
            saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << (done + i);
        }
    }
    *ret_saturated = saturated;
    return removed;
}

static void bhcbf_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                              uint64_t *ret_counts) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = bhcbf_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) {
            ret_counts[done + i] = bhcbf_least(table, place + i * k, k);
        }
    }
}

/* ------------------------------------------------------------------ merging and subtracting */

/* Entry by entry. A sum that does not fit is marked, so a merge never fails for lack of room. A
 * marked entry of `from` unpacks to the largest count there is: with anything more it is out of
 * range, and an empty entry takes it over as it is. */
static tamis_status bhcbf_merge(tamis_table *into, const tamis_table *from) {
    const pairs *const layout = bhcbf_layout(into);
    for (uint64_t i = 0; i < into->geometry[BH_ENTRIES]; i++) {
        uint64_t const a = bhcbf_get(into, i), b = bhcbf_get(from, i);
        if (a == pairs_mark(layout) || b == 0) continue;
        pair const p = pairs_unpack(layout, a), q = pairs_unpack(layout, b);
        bhcbf_set(into, i, (pair){ p.count + q.count, p.sum + q.sum });
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* Can every entry of `from` have been a part of that of `into`? */
static bool bhcbf_can_subtract(const tamis_table *into, const tamis_table *from) {
    const pairs *const layout = bhcbf_layout(into);
    uint64_t const     mark = pairs_mark(layout);
    for (uint64_t i = 0; i < into->geometry[BH_ENTRIES]; i++) {
        uint64_t const a = bhcbf_get(into, i), b = bhcbf_get(from, i);
        pair const     q = pairs_unpack(layout, b);
        if (a == mark) continue;
        if (b == mark || !pairs_can_lose(layout, pairs_unpack(layout, a), q.count, q.sum))
            return false;
    }
    return true;
}

/* Entry by entry, after all of them were checked. A marked entry stays marked. c3 may leave its
 * range by this, as by any removal: then the entry is marked now. */
static tamis_status bhcbf_subtract(tamis_table *into, const tamis_table *from) {
    const pairs *const layout = bhcbf_layout(into);
    if (!bhcbf_can_subtract(into, from)) return TAMIS_ERR_ABSENT;
    for (uint64_t i = 0; i < into->geometry[BH_ENTRIES]; i++) {
        uint64_t const a = bhcbf_get(into, i), b = bhcbf_get(from, i);
        pair const     p = pairs_unpack(layout, a), q = pairs_unpack(layout, b);
        if (a == pairs_mark(layout) || b == 0) continue;
        bhcbf_set(into, i, (pair){ p.count - q.count, p.sum - q.sum });
    }
    into->keys = sub_or_0(into->keys, from->keys); /* not all of them may have been counted */
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ the table as it is */

/* The number of keys is estimated from the share of entries that are not empty, as in a Bloom
 * filter: copies of a key do not change it. Marked entries may outlive their keys, and still
 * count. */
static void bhcbf_survey(const tamis_table *table, kind_survey *ret_survey) {
    uint64_t const entries = table->geometry[BH_ENTRIES], k = table->geometry[BH_HASHES];
    double const   m = (double)entries;
    uint64_t       used = 0;
    double const fpr = tamis_bh_rate(bhcbf_layout(table), table->body, entries, (unsigned)k, &used);
    *ret_survey = (kind_survey){ .fpr = fpr,
                                 .distinct = tamis_bloom_distinct(m, (double)k, (double)used),
                                 .load = (double)used / m };
}

/* An unmarked entry that I3 accepts has c2 = 0 if c1 = 0: no numbers have the sum 0. So all lookups
 * of an empty entry say no. */
static bool bhcbf_validate(const tamis_table *table, const char **reterr_why) {
    const pairs *const layout = bhcbf_layout(table);
    uint64_t const     m = table->geometry[BH_ENTRIES], k = table->geometry[BH_HASHES];
    uint64_t           total = 0, marked = 0, expected;
    TAMIS_REQUIRE(field_rest_is_zero(table->body, m * pairs_bits(layout), table->body_bytes),
                  reterr_why, "I1: a bit is set beyond the last entry");
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const field = bhcbf_get(table, i);
        pair const     p = pairs_unpack(layout, field);
        bool const     is_marked = field == pairs_mark(layout);
        marked += is_marked;
        total += is_marked ? 0 : p.count;
        TAMIS_REQUIRE(is_marked || sums_may_be(&layout->sums, p.count, p.sum), reterr_why,
                      "I3: the second counter of an entry cannot be a sum of that many numbers");
    }
    TAMIS_REQUIRE(marked == table->saturated, reterr_why,
                  "I2: the stored number of saturated entries is wrong");
    TAMIS_REQUIRE(marked != 0 || (checked_mul(table->keys, k, &expected) && total == expected),
                  reterr_why, "I4: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(bhcbf) = {
    .name = "bhcbf",
    .summary = "Bh counting filter: a second counter tells keys apart",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .fields = { { "entries", 2, PAIRS_MAX_ENTRIES },
                { "hashes", 1, BH_MAX_HASHES },
                { "count_bits", BH_MIN_BITS, BH_MAX_COUNT_BITS },
                { "sum_bits", BH_MIN_BITS, BH_MAX_SUM_BITS },
                { "sequence", 6, UINT64_MAX - 1 },
                { "h", 1, SEQUENCES_MAX_H },
                { "improved", 0, 1 },
                { "centred", 0, 1 },
                { NULL, 0, 0 } },
    .plan = bhcbf_plan,
    .body_bytes = bhcbf_body_bytes,
    .predict = bhcbf_predict,
    .heeds_most_bytes = true,
    .count_to = tamis_bh_count_to,
    .most_count = BH_MAX_COUNT_TO,
    .prepare = bhcbf_prepare,
    .calls = {
        .has = bhcbf_has,
        .add = bhcbf_add,
        .remove = bhcbf_remove,
        .count = bhcbf_count,
        .has_chunk = bhcbf_has_chunk,
        .add_chunk = bhcbf_add_chunk,
        .remove_chunk = bhcbf_remove_chunk,
        .count_chunk = bhcbf_count_chunk,
    },
    .merge = bhcbf_merge,
    .subtract = bhcbf_subtract,
    .survey = bhcbf_survey,
    .validate = bhcbf_validate,
    .empties_to_zero = true,
};
