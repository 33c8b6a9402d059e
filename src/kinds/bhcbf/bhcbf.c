/* bhcbf.c - the Bh counting filter: pairs of counters that tell what they are made of.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter",
 * sections II and VI. Names below: m entries, k hashes, a Bh sequence
 * D of l numbers, counters c1, c2 and c3.
 *
 * Idea
 * ----
 * A counting Bloom filter whose entries have a second counter. A key counts c1 up by one and c2 by
 * a number of D, which its hash says for each of its k entries. All sums of up to h numbers of D
 * are different: so an entry with few keys tells which numbers were added, and a key whose number
 * is not among them was never there.
 *
 *        D = {1, 4, 13, 15}     c1 = 2, c2 = 17: 4 + 13, and nothing else
 *        has "pear"             adds 15 there: certainly not
 *
 * Why beyond h, too: that 2 keys with c2 = 17 can hold one that adds v is the same as that 1 key
 * can make 17 - v, and of how many keys which sums are to be had is in a table (sums.h), for
 * any number of them. That is the improved lookup; the basic one takes more than h keys for
 * anything. Removals and counts always ask the table, in which the sum that is left must be, too.
 *
 * Why an entry sticks as a whole, and what a centred counter c3 is: pairs.h.
 *
 * Several places of a key may be the same entry. They are one step: so many keys, and the sum of
 * their numbers. A lookup asks place by place, which is enough to say no, and then by steps.
 *
 * Invariants (checked by bhcbf_validate)
 *   I1  bits of the body beyond the m entries are zero;
 *   I2  `saturated` is the number of entries that are marked;
 *   I3  in all others c2 is a sum of c1 numbers of D;
 *   I4  while none is marked, all c1 sum up to k x keys.
 */
#include "core/checked.h"
#include "core/packed.h"
#include "pairs.h"
#include "core/probes.h"
#include "kind.h"
#include "rate.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

#define MAX_STUCK 1e-3 /* chance that any entry ever sticks, unless more is put up with */

static_assert(BH_FREE == KIND_FREE && BH_MAX_HASHES <= PROBES_MAX, "one mark, enough room");
static_assert(sizeof(pairs) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

static uint64_t bhcbf_entry_bits(const uint64_t *geometry) {
    return geometry[BH_COUNT_BITS] + geometry[BH_SUM_BITS];
}

/* As many entries as the cache lines hold that these need. */
static uint64_t bhcbf_fill_lines(const uint64_t *g) {
    uint64_t bytes;
    if (!checked_body_bytes(g[BH_ENTRIES], bhcbf_entry_bits(g), PACKED_PAD_BYTES, &bytes)) {
        return g[BH_ENTRIES];
    }
    return (bytes - PACKED_PAD_BYTES) * 8 / bhcbf_entry_bits(g);
}

static tamis_status bhcbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    bh_need const want = { .n = (double)need->capacity,
                           .fpr = need->fpr,
                           .lifetime = (double)need->lifetime,
                           .stuck = fmax(need->overflow, MAX_STUCK) };
    if (!tamis_bh_choose(&want, g)) return TAMIS_ERR_CANNOT;
    if (need->fixed[BH_ENTRIES] == KIND_FREE) g[BH_ENTRIES] = bhcbf_fill_lines(g);
    memcpy(ret_geometry, g, BH_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool bhcbf_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    return tamis_bh_is_possible(geometry) &&
           checked_body_bytes(geometry[BH_ENTRIES], bhcbf_entry_bits(geometry), PACKED_PAD_BYTES,
                              ret_bytes);
}

static void bhcbf_predict(const uint64_t *g, uint64_t capacity, uint64_t lifetime,
                          tamis_forecast *ret_forecast) {
    double const   m = (double)g[BH_ENTRIES], n = (double)capacity;
    double const   lines = m * (double)bhcbf_entry_bits(g) / 512;
    unsigned const k = (unsigned)g[BH_HASHES];
    pairs const    of = tamis_bh_pairs(g);
    bh_profile     profile;
    tamis_bh_profile(&of, &profile);
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bh_fpr(&profile, g, n),
        .saturation = tamis_bh_saturation(&profile, g, n, (double)lifetime),
        .lines_present = tamis_bloom_lines_present(lines, k),
        .lines_absent =
            tamis_bloom_lines_absent(lines, k, 1 - tamis_bh_excludes(&profile, m, n * k)),
        .lines_add = tamis_bloom_lines_present(lines, k),
    };
}

static void bhcbf_prepare(tamis_table *table) {
    if (!tamis_bh_is_possible(table->geometry)) return; /* it will get no body either */
    pairs const shape = tamis_bh_pairs(table->geometry);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const pairs *shape_of(const tamis_table *table) {
    return (const pairs *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ entries */

TAMIS_INLINE uint64_t entry_get(const tamis_table *table, uint64_t entry) {
    return packed_get(table->body, entry, pairs_bits(shape_of(table)));
}

TAMIS_INLINE bool entry_may_hold(const tamis_table *table, uint64_t entry, uint64_t times,
                                 uint64_t sum) {
    const pairs *const s = shape_of(table);
    uint64_t const     field = entry_get(table, entry);
    return field == pairs_mark(s) || pairs_may_hold(s, pairs_unpack(s, field), times, sum);
}

/* What an entry was becomes something else. It may be marked by that. */
TAMIS_INLINE void entry_set(tamis_table *table, uint64_t entry, pair p) {
    const pairs *const s = shape_of(table);
    uint64_t const     field = pairs_pack(s, p);
    packed_set(table->body, entry, pairs_bits(s), field);
    table->saturated += field == pairs_mark(s);
}

/* A step forward, unless marked. Returns 1 if the entry changed. */
TAMIS_INLINE unsigned entry_up(tamis_table *table, const pairs_step *step) {
    const pairs *const s = shape_of(table);
    uint64_t const     field = entry_get(table, step->entry);
    if (field == pairs_mark(s)) return 0;
    pair const p = pairs_unpack(s, field);
    entry_set(table, step->entry, (pair){ p.count + step->times, p.sum + step->sum });
    return 1;
}

/* A step back, of one that can be taken back, unless marked. Returns 1 if the entry changed. */
TAMIS_INLINE unsigned entry_down(tamis_table *table, const pairs_step *step) {
    const pairs *const s = shape_of(table);
    uint64_t const     field = entry_get(table, step->entry);
    if (field == pairs_mark(s)) return 0;
    pair const p = pairs_unpack(s, field);
    entry_set(table, step->entry, (pair){ p.count - step->times, p.sum - step->sum });
    return 1;
}

TAMIS_INLINE bool entry_can_lose(const tamis_table *table, const pairs_step *step) {
    const pairs *const s = shape_of(table);
    uint64_t const     field = entry_get(table, step->entry);
    return field == pairs_mark(s) ||
           pairs_can_lose(s, pairs_unpack(s, field), step->times, step->sum);
}

/* ------------------------------------------------------------------ keys, by their places */

TAMIS_INLINE const uint8_t *place_where(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    const pairs *const       s = shape_of(table);
    return table->body + packed_find(pairs_entry(s, place), pairs_bits(s)).byte;
}

TAMIS_INLINE bool place_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    const pairs *const       s = shape_of(table);
    return entry_may_hold(table, pairs_entry(s, place), 1, pairs_added(s, place));
}

TAMIS_INLINE void bhcbf_up(tamis_table *table, const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(shape_of(table), place, k, step);
    unsigned       changed = 0;
    for (unsigned i = 0; i < n; i++) changed |= entry_up(table, &step[i]);
    table->keys += changed; /* an add that met only marked entries is not counted */
}

TAMIS_INLINE bool bhcbf_down(tamis_table *table, const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(shape_of(table), place, k, step);
    unsigned       changed = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!entry_can_lose(table, &step[i])) return false;
    }
    for (unsigned i = 0; i < n; i++) changed |= entry_down(table, &step[i]);
    table->keys -= table->keys != 0 ? changed : 0;
    return true;
}

/* The least that an entry of the key allows which is not marked; all marked is many. */
TAMIS_INLINE uint64_t bhcbf_least(const tamis_table *table, const uint64_t *place, unsigned k) {
    const pairs *const s = shape_of(table);
    pairs_step         step[PROBES_MAX];
    unsigned const     n = pairs_steps(s, place, k, step);
    uint64_t           least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const field = entry_get(table, step[i].entry);
        if (field == pairs_mark(s)) continue;
        least = min_u64(least, pairs_most(s, pairs_unpack(s, field), &step[i]));
    }
    return least;
}

/* ------------------------------------------------------------------ keys, by their hash */

/* An entry and a number of D for each hash (pairs.h): so many of both together. */
TAMIS_INLINE uint64_t bhcbf_places(const tamis_table *table) {
    return table->geometry[BH_ENTRIES] * shape_of(table)->sums.n;
}

TAMIS_INLINE unsigned bhcbf_locate_one(const tamis_table *table, uint64_t hash,
                                       uint64_t place[PROBES_MAX]) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t const places = bhcbf_places(table);
    for (unsigned i = 0; i < k; i++) place[i] = probes_place(hash, i, places);
    return k;
}

/* Of a key whose places all hold, and some meet: do they hold together? Seldom asked. */
static __attribute__((noinline)) bool bhcbf_holds_together(const tamis_table *table,
                                                           const uint64_t *place, unsigned k) {
    pairs_step     step[PROBES_MAX];
    unsigned const n = pairs_steps(shape_of(table), place, k, step);
    for (unsigned i = 0; i < n; i++) {
        if (!entry_may_hold(table, step[i].entry, step[i].times, step[i].sum)) return false;
    }
    return true;
}

TAMIS_INLINE bool bhcbf_holds_steps(const tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX], seen = 0; /* entries, modulo 64 */
    unsigned const k = bhcbf_locate_one(table, hash, place);
    for (unsigned i = 0; i < k; i++) {
        seen |= UINT64_C(1) << (pairs_entry(shape_of(table), place[i]) % 64);
    }
    return bits_popcount(seen) == k || bhcbf_holds_together(table, place, k);
}

static bool bhcbf_has(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[BH_HASHES], bhcbf_places(table),
                       place_holds) &&
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
    return bhcbf_down(table, place, k) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static uint64_t bhcbf_count(const tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = bhcbf_locate_one(table, hash, place);
    return bhcbf_least(table, place, k);
}

static uint64_t bhcbf_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t const places = bhcbf_places(table);
    uint64_t const open = table->body_bytes <= PROBES_NEAR
                              ? probes_ask_near(table, hash, n, k, places, place_holds)
                              : probes_ask(table, hash, n, k, places, place_where, place_holds);
    uint64_t       found = open;
    for (uint64_t left = open; left != 0; left &= left - 1) {
        unsigned const key = bits_lowest(left);
        if (!bhcbf_holds_steps(table, hash[key])) found &= ~(UINT64_C(1) << key);
    }
    return found;
}

TAMIS_INLINE unsigned bhcbf_locate(const tamis_table *table, const uint64_t *hash, unsigned n,
                                   uint64_t place[PROBES_LOCATED]) {
    return probes_locate(table, hash, n, (unsigned)table->geometry[BH_HASHES], bhcbf_places(table),
                         place_where, place);
}

static unsigned bhcbf_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = bhcbf_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) bhcbf_up(table, place + i * k, k);
    }
    return n;
}

static uint64_t bhcbf_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[BH_HASHES];
    uint64_t       place[PROBES_LOCATED], removed = 0;
    for (unsigned done = 0, located; done < n; done += located) {
        located = bhcbf_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) {
            removed |= (uint64_t)bhcbf_down(table, place + i * k, k) << (done + i);
        }
    }
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

/* ------------------------------------------------------------------ whole tables */

/* Entry by entry; what no longer fits is marked, so that it is never full. A mark is the largest
 * count there is: with anything more it is a mark again. */
static tamis_status bhcbf_merge(tamis_table *into, const tamis_table *from) {
    const pairs *const s = shape_of(into);
    for (uint64_t i = 0; i < into->geometry[BH_ENTRIES]; i++) {
        uint64_t const a = entry_get(into, i), b = entry_get(from, i);
        if (a == pairs_mark(s) || b == 0) continue;
        pair const p = pairs_unpack(s, a), q = pairs_unpack(s, b);
        entry_set(into, i, (pair){ p.count + q.count, p.sum + q.sum });
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* Entry by entry, if each can be without the other's keys. One that is marked stays so. */
static tamis_status bhcbf_subtract(tamis_table *into, const tamis_table *from) {
    const pairs *const s = shape_of(into);
    uint64_t const     m = into->geometry[BH_ENTRIES], mark = pairs_mark(s);
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const a = entry_get(into, i), b = entry_get(from, i);
        pair const     q = pairs_unpack(s, b);
        if (a == mark) continue;
        if (b == mark || !pairs_can_lose(s, pairs_unpack(s, a), q.count, q.sum))
            return TAMIS_ERR_ABSENT;
    }
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const a = entry_get(into, i), b = entry_get(from, i);
        pair const     p = pairs_unpack(s, a), q = pairs_unpack(s, b);
        if (a != mark && b != 0) entry_set(into, i, (pair){ p.count - q.count, p.sum - q.sum });
    }
    into->keys = kind_less_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static double bhcbf_current_fpr(const tamis_table *table) {
    return tamis_bh_rate(shape_of(table), table->body, table->geometry[BH_ENTRIES],
                         (unsigned)table->geometry[BH_HASHES]);
}

static bool bhcbf_validate(const tamis_table *table, const char **reterr_why) {
    const pairs *const s = shape_of(table);
    uint64_t const     m = table->geometry[BH_ENTRIES], k = table->geometry[BH_HASHES];
    uint64_t           total = 0, marked = 0, expected;
    TAMIS_REQUIRE(field_rest_is_zero(table->body, m * pairs_bits(s), table->body_bytes), reterr_why,
                  "I1: a bit beyond the last entry");
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const field = entry_get(table, i);
        pair const     p = pairs_unpack(s, field);
        bool const     is_marked = field == pairs_mark(s);
        marked += is_marked;
        total += is_marked ? 0 : p.count;
        TAMIS_REQUIRE(is_marked || sums_may_be(&s->sums, p.count, p.sum), reterr_why,
                      "I3: a sum of so many numbers that there is not");
    }
    TAMIS_REQUIRE(marked == table->saturated, reterr_why,
                  "I2: the number of saturated entries is not what it is said to be");
    TAMIS_REQUIRE(marked != 0 || (checked_mul(table->keys, k, &expected) && total == expected),
                  reterr_why, "I4: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(bhcbf) = {
    .name = "bhcbf",
    .summary = "Bh counting filter: a second counter tells keys apart",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .field_names = { "entries", "hashes", "count_bits", "sum_bits", "sequence", "h", "improved",
                     "centred", NULL },
    .plan = bhcbf_plan,
    .body_bytes = bhcbf_body_bytes,
    .predict = bhcbf_predict,
    .prepare = bhcbf_prepare,
    .has = bhcbf_has,
    .add = bhcbf_add,
    .remove = bhcbf_remove,
    .count = bhcbf_count,
    .has_chunk = bhcbf_has_chunk,
    .add_chunk = bhcbf_add_chunk,
    .remove_chunk = bhcbf_remove_chunk,
    .count_chunk = bhcbf_count_chunk,
    .merge = bhcbf_merge,
    .subtract = bhcbf_subtract,
    .current_fpr = bhcbf_current_fpr,
    .validate = bhcbf_validate,
    .empties_to_zero = true,
};
