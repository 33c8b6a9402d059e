/* counting.c - the counting Bloom filter: removal for four times the space.
 *
 * Paper: L. Fan, P. Cao, J. Almeida, A. Broder, "Summary Cache: A Scalable Wide-Area Web Cache
 * Sharing Protocol", IEEE/ACM Transactions on Networking 8(3), 2000. Names below: m counters, k
 * hashes, n keys.
 *
 * Idea
 * ----
 * A Bloom filter whose places are small counters instead of bits. Adding a key counts its k
 * counters up, removing it counts them down, and a key is in the set if none of them is 0.
 *
 *        add "apple"   0 1 0 0 2 0 0 0 0 1 0 ...     k = 3 counters of 4 bits go up
 *        has "pear"    ^             ^   ^           one of them is 0: certainly not there
 *
 * Why four bits are enough: with the best k a counter holds ln 2 = 0.69 on average, and reaches 15
 * with probability 2e-15. Why that is still not never, and what then: a counter that reaches its
 * maximum no longer knows its value. It sticks there, and is never counted down again. So a key
 * whose counters are all stuck stays in the set for good (a flood of one key does that:
 * "saturated"), but no key is ever lost.
 *
 * Blocked: all counters of a key are in one cache line, chosen by its hash, and each in a sector of
 * the line of its own (core/sectors.h). Lines are not equally full, so for the same error the table
 * is larger, but an operation touches one line instead of k.
 *
 * How many copies of a key? No more than its smallest counter says ("minimum selection"). That is
 * too many when others have hit all of its counters, as often as a stranger is taken for present.
 *
 * Minimal increase (S. Cohen, Y. Matias, "Spectral Bloom Filters", SIGMOD 2003): an add counts up
 * only those counters of the key that are its smallest. Each is still at least the copies of every
 * key that has it: for the key that is added the smallest was, and is one more now; for others
 * nothing fell. So counts stay upper estimates, and err several times less often. But a counter no
 * longer knows who counted it up: nothing can be removed. Two such tables merge by addition: what
 * is at least the copies of a key in each is at least their sum in both together.
 *
 * Two places of one key may be the same counter. Then adding counts it up twice, and removing must
 * find 2 there: counting_remove looks before it changes anything, and takes back what it did in the
 * one case that looking place by place cannot see. Minimal increase counts it up once.
 *
 * Invariants (checked by counting_validate)
 *   I1  bits of the body that belong to no counter are zero;
 *   I2  `saturated` is the number of counters at their maximum;
 *   I3  while none is saturated, the counters sum up to k x keys;
 *   I4  with minimal increase instead, they sum up to keys at least and k x keys at most, and none
 *       is more than keys.
 */
#include "core/counters.h"
#include "core/probes.h"
#include "kind.h"
#include "theory/bloom_rate.h"
#include "size.h"

#include <math.h>

static_assert(CBF_FREE == KIND_FREE && CBF_FIELDS <= TAMIS_MAX_FIELDS, "one mark, enough room");
static_assert(CBF_MAX_HASHES <= PROBES_MAX, "places of a key fit");
static_assert(sizeof(sectors) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");

/* ------------------------------------------------------------------ planning */

/* Blocked only if that is fixed: this is the filter that everybody knows, and scattered it becomes
 * a Bloom filter with the same answers. */
static tamis_status counting_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[CBF_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    if (!tamis_cbf_choose(need->fpr, (double)need->capacity, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, sizeof g);
    return TAMIS_OK;
}

static void counting_predict(const uint64_t *g, uint64_t capacity, uint64_t lifetime,
                             tamis_forecast *ret_forecast) {
    double const   m = (double)g[CBF_COUNTERS], n = (double)capacity;
    double const   lines = m * (double)g[CBF_COUNTER_BITS] / SECTORS_LINE_BITS;
    unsigned const k = (unsigned)g[CBF_HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_cbf_fpr(g, n),
        .saturation = tamis_cbf_saturation(g, n, (double)lifetime),
        .lines_present = 1,
        .lines_absent = 1,
        .lines_add = 1,
    };
    if (g[CBF_BLOCKED] != 0) return;
    ret_forecast->lines_present = tamis_bloom_lines_present(lines, k);
    ret_forecast->lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n));
    ret_forecast->lines_add = ret_forecast->lines_present;
}

/* With minimal increase a counter does not know who counted it up. */
static unsigned counting_lacks(const uint64_t *geometry) {
    return geometry[CBF_MINIMAL] != 0 ? TAMIS_CAN_REMOVE : 0;
}

static void counting_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!tamis_cbf_body_bytes(g, &bytes)) return; /* it will get no body either */
    sectors const shape =
        sectors_make(g[CBF_COUNTERS], g[CBF_COUNTER_BITS], g[CBF_HASHES], g[CBF_BLOCKED] != 0);
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const sectors *shape_of(const tamis_table *table) {
    return (const sectors *)(const void *)table->derived;
}

TAMIS_INLINE unsigned hashes_of(const tamis_table *table) {
    return (unsigned)table->geometry[CBF_HASHES];
}

TAMIS_INLINE counters counters_in(const tamis_table *table) {
    return counters_of(shape_of(table), table->body);
}

TAMIS_INLINE bool is_blocked(const tamis_table *table) {
    return shape_of(table)->lines != 0;
}

/* ------------------------------------------------------------------ keys, by their counters */

TAMIS_INLINE void counting_up(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const of = counters_in(table);
    uint64_t       stuck = 0;
    bool           is_changed = false;
    for (unsigned i = 0; i < k; i++) is_changed |= counters_up(of, at[i], 1, &stuck);
    table->saturated += stuck;
    table->keys += is_changed; /* an add that met only stuck counters is not counted */
}

/* Minimal increase. A counter that was counted up is no longer one of the smallest: one that comes
 * up twice changes once. */
TAMIS_INLINE void counting_up_least(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const of = counters_in(table);
    uint64_t       least = of.top, stuck = 0;
    for (unsigned i = 0; i < k; i++) least = min_u64(least, counters_get(of, at[i]));
    for (unsigned i = 0; i < k && least != of.top; i++) {
        if (counters_get(of, at[i]) == least) (void)counters_up(of, at[i], 1, &stuck);
    }
    table->saturated += stuck;
    table->keys += least != of.top;
}

TAMIS_INLINE void counting_add_at(tamis_table *table, const uint64_t *at, unsigned k) {
    if (table->geometry[CBF_MINIMAL] != 0)
        counting_up_least(table, at, k);
    else
        counting_up(table, at, k);
}

TAMIS_INLINE bool counting_down(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const of = counters_in(table);
    uint64_t       none = 0; /* what is counted down and up again does not stick */
    bool           is_changed = false;
    for (unsigned i = 0; i < k; i++) {
        if (counters_get(of, at[i]) == 0) return false;
    }
    for (unsigned i = 0; i < k; i++) {
        if (counters_get(of, at[i]) == 0) { /* it is also an earlier one, and held 1 */
            while (i-- != 0) (void)counters_up(of, at[i], 1, &none);
            return false;
        }
        is_changed |= counters_down(of, at[i], 1);
    }
    table->keys -= is_changed && table->keys != 0;
    return true;
}

/* The smallest counter of the key that is not stuck; all stuck is many. */
TAMIS_INLINE uint64_t counting_least(const tamis_table *table, const uint64_t *at, unsigned k) {
    counters const of = counters_in(table);
    uint64_t       least = of.top;
    for (unsigned i = 0; i < k; i++) least = min_u64(least, counters_get(of, at[i]));
    return least == of.top ? TAMIS_COUNT_MANY : least;
}

/* ------------------------------------------------------------------ where a key counts */

/* Counters anywhere, as core/probes.h asks for them: by their number. */

TAMIS_INLINE const uint8_t *place_where(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    unsigned const           bits = shape_of(table)->bits;
    return table->body + field_find(place * bits, bits).byte;
}

TAMIS_INLINE bool place_holds(const void *any, uint64_t place) {
    const tamis_table *const table = any;
    return counters_get(counters_in(table), place * shape_of(table)->bits) != 0;
}

/* In either layout: their first bits. Returns how many. */
TAMIS_INLINE unsigned counting_locate_one(const tamis_table *table, uint64_t hash, uint64_t *at) {
    const sectors *const s = shape_of(table);
    unsigned const       k = hashes_of(table);
    if (s->lines == 0) {
        for (unsigned i = 0; i < k; i++) at[i] = probes_place(hash, i, s->counters) * s->bits;
        return k;
    }
    uint64_t const line = sectors_line(s, hash);
    for (unsigned i = 0; i < k; i++) {
        uint64_t chosen = remix(hash, i);
        at[i] = line + sectors_pick(s, i, &chosen) * s->bits;
    }
    return k;
}

/* Lines of a blocked table are asked for so many keys ahead: more than that are more than a core
 * keeps on their way. */
#define AHEAD 16

TAMIS_INLINE void line_fetch(const tamis_table *table, uint64_t hash, bool is_update) {
    const uint8_t *const line = table->body + sectors_line(shape_of(table), hash) / 8;
    if (is_update)
        prefetch_to_write(line);
    else
        prefetch_to_read(line);
}

/* The counters of as many keys as there is room for, and their memory is on its way. Returns how
 * many keys. Blocked, it was asked for already, but for that of keys further on. */
TAMIS_INLINE unsigned counting_locate(const tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t at[PROBES_LOCATED]) {
    unsigned const k = hashes_of(table), n_keys = (unsigned)min_u64(n, PROBES_LOCATED / k);
    for (unsigned i = 0; i < n_keys; i++) {
        (void)counting_locate_one(table, hash[i], at + i * k);
        if (is_blocked(table)) {
            if (i + AHEAD < n) line_fetch(table, hash[i + AHEAD], true);
            continue;
        }
        for (unsigned j = 0; j < k; j++) prefetch_to_write(table->body + at[i * k + j] / 8);
    }
    return n_keys;
}

/* The lines of the first keys of the next chunk. Tables that are not blocked fetch as they go. */
static void counting_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                           bool is_update) {
    for (unsigned i = 0; i < n && i < AHEAD && is_blocked(table); i++) {
        line_fetch(table, hash[i], is_update);
    }
}

/* ------------------------------------------------------------------ keys, by their hash */

/* Is counter i of a key, in its line, not 0? */
TAMIS_INLINE bool line_holds(const sectors *s, counters line, uint64_t hash, unsigned i) {
    uint64_t chosen = remix(hash, i);
    return counters_get(line, sectors_pick(s, i, &chosen) * line.bits) != 0;
}

/* Counter by counter, until one is 0. The first two at once: after one it would be a branch on a
 * coin toss. */
TAMIS_INLINE bool counting_has_in_line(const tamis_table *table, uint64_t hash, unsigned bits) {
    const sectors *const s = shape_of(table);
    counters const       line = { table->body + sectors_line(s, hash) / 8, bits, bits_low(bits) };
    unsigned const       k = hashes_of(table);
    unsigned const first = line_holds(s, line, hash, 0), second = line_holds(s, line, hash, k > 1);
    if ((first & second) == 0) return false;
    for (unsigned i = 2; i < k; i++) {
        if (!line_holds(s, line, hash, i)) return false;
    }
    return true;
}

/* Of any width. The usual one has an instance of its own. */
static __attribute__((noinline)) bool counting_has_in_any_line(const tamis_table *table,
                                                               uint64_t           hash) {
    return counting_has_in_line(table, hash, shape_of(table)->bits);
}

TAMIS_INLINE bool counting_has_blocked(const tamis_table *table, uint64_t hash) {
    return shape_of(table)->bits == CBF_USUAL_BITS
               ? counting_has_in_line(table, hash, CBF_USUAL_BITS)
               : counting_has_in_any_line(table, hash);
}

static bool counting_has(const tamis_table *table, uint64_t hash) {
    if (is_blocked(table)) return counting_has_blocked(table, hash);
    return probes_hold(table, hash, 0, hashes_of(table), table->geometry[CBF_COUNTERS],
                       place_holds);
}

static tamis_status counting_add(tamis_table *table, uint64_t hash) {
    uint64_t       at[PROBES_MAX];
    unsigned const k = counting_locate_one(table, hash, at);
    counting_add_at(table, at, k);
    return TAMIS_OK;
}

static tamis_status counting_remove(tamis_table *table, uint64_t hash) {
    uint64_t       at[PROBES_MAX];
    unsigned const k = counting_locate_one(table, hash, at);
    return counting_down(table, at, k) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static uint64_t counting_count(const tamis_table *table, uint64_t hash) {
    uint64_t       at[PROBES_MAX];
    unsigned const k = counting_locate_one(table, hash, at);
    return counting_least(table, at, k);
}

static uint64_t counting_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = hashes_of(table);
    uint64_t const m = table->geometry[CBF_COUNTERS];
    uint64_t       found = 0;
    if (!is_blocked(table)) {
        return table->body_bytes <= PROBES_NEAR
                   ? probes_ask_near(table, hash, n, k, m, place_holds)
                   : probes_ask(table, hash, n, k, m, place_where, place_holds);
    }
    for (unsigned i = 0; i < n; i++) {
        if (i + AHEAD < n) line_fetch(table, hash[i + AHEAD], false);
        found |= (uint64_t)counting_has_blocked(table, hash[i]) << i;
    }
    return found;
}

static unsigned counting_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = hashes_of(table);
    uint64_t       at[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) counting_add_at(table, at + i * k, k);
    }
    return n;
}

static uint64_t counting_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = hashes_of(table);
    uint64_t       at[PROBES_LOCATED], removed = 0;
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) {
            removed |= (uint64_t)counting_down(table, at + i * k, k) << (done + i);
        }
    }
    return removed;
}

static void counting_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                                 uint64_t *ret_counts) {
    unsigned const k = hashes_of(table);
    uint64_t       at[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) {
            ret_counts[done + i] = counting_least(table, at + i * k, k);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* A sum that reaches the maximum sticks, so this is never full. */
static tamis_status counting_merge(tamis_table *into, const tamis_table *from) {
    into->saturated += counters_add_all(shape_of(into), into->body, from->body);
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static tamis_status counting_subtract(tamis_table *into, const tamis_table *from) {
    const sectors *const s = shape_of(into);
    if (!counters_hold_all(s, into->body, from->body, NULL, NULL)) return TAMIS_ERR_ABSENT;
    counters_take_all(s, into->body, from->body);
    into->keys = kind_less_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* A Bloom filter has its places anywhere. */
static bool counting_convert_geometry(const uint64_t *geometry, uint64_t *ret_geometry) {
    ret_geometry[0] = geometry[CBF_COUNTERS]; /* bits */
    ret_geometry[1] = geometry[CBF_HASHES];   /* hashes */
    return geometry[CBF_BLOCKED] == 0;
}

/* A counter that is not 0 becomes a mark. */
static void counting_convert(const tamis_table *from, tamis_table *to) {
    uint64_t const m = from->geometry[CBF_COUNTERS], k = from->geometry[CBF_HASHES];
    uint64_t       marked = 0;
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const holds = place_holds(from, i);
        to->body[i / 8] |= (uint8_t)(holds << (i % 8));
        marked += holds;
    }
    /* stuck counters may outlive their keys, so that the marks say more than the count */
    to->keys = max_u64(from->keys, (marked + k - 1) / k);
}

/* The share of n counters from `first` on that are not 0. */
static double counting_share(const tamis_table *table, uint64_t first, uint64_t n) {
    const sectors *const s = shape_of(table);
    counters const       of = counters_in(table);
    uint64_t             held = 0;
    for (uint64_t i = first; i < first + n; i++) held += counters_get(of, sectors_at(s, i)) != 0;
    return (double)held / (double)n;
}

/* Blocked: the mean over lines of the product over sectors. */
static double counting_current_fpr(const tamis_table *table) {
    const sectors *const s = shape_of(table);
    unsigned const       k = hashes_of(table);
    double               sum = 0;
    if (s->lines == 0) return pow(counting_share(table, 0, s->counters), k);
    for (uint64_t line = 0; line < s->lines; line++) {
        double rate = 1;
        for (unsigned i = 0; i < k && rate != 0; i++) {
            uint64_t const first = line * s->per_line + s->first[i];
            rate *= counting_share(table, first, s->first[i + 1] - s->first[i]);
        }
        sum += rate;
    }
    return sum / (double)s->lines;
}

/* What the counters add up to. */
typedef struct tally {
    uint64_t sum, stuck, most;
} tally;

static tally counting_tally(const tamis_table *table) {
    const sectors *const s = shape_of(table);
    counters const       of = counters_in(table);
    tally                all = { 0, 0, 0 };
    for (uint64_t i = 0; i < s->counters; i++) {
        uint64_t const value = counters_get(of, sectors_at(s, i));
        all.sum += value;
        all.stuck += value == of.top;
        all.most = max_u64(all.most, value);
    }
    return all;
}

static bool counting_validate(const tamis_table *table, const char **reterr_why) {
    tally const    all = counting_tally(table);
    uint64_t const keys = table->keys;
    uint64_t       hits = 0;
    bool const     is_countable = checked_mul(keys, hashes_of(table), &hits);
    bool const     is_minimal = table->geometry[CBF_MINIMAL] != 0, is_told = all.stuck == 0;
    TAMIS_REQUIRE(sectors_gaps_are_zero(shape_of(table), table->body, table->body_bytes),
                  reterr_why, "I1: a bit that belongs to no counter");
    TAMIS_REQUIRE(all.stuck == table->saturated, reterr_why,
                  "I2: the number of saturated counters is not what it is said to be");
    TAMIS_REQUIRE(!is_told || is_minimal || (is_countable && all.sum == hits), reterr_why,
                  "I3: the counters do not sum up to k x keys");
    bool const is_between = is_countable && all.sum >= keys && all.sum <= hits && all.most <= keys;
    TAMIS_REQUIRE(!is_told || !is_minimal || is_between, reterr_why,
                  "I4: the counters cannot be those of so many keys");
    return true;
}

KIND_EXPORT(counting) = {
    .name = "counting",
    .summary = "counting Bloom filter: the textbook's way to remove, but not with minimal=1",
    .isa = KIND_ISA,
    .field_names = { "counters", "hashes", "counter_bits", "blocked", "minimal", NULL },
    .first_fields = 3,
    .plan = counting_plan,
    .body_bytes = tamis_cbf_body_bytes,
    .predict = counting_predict,
    .lacks = counting_lacks,
    .prepare = counting_prepare,
    .has = counting_has,
    .add = counting_add,
    .remove = counting_remove,
    .count = counting_count,
    .has_chunk = counting_has_chunk,
    .add_chunk = counting_add_chunk,
    .remove_chunk = counting_remove_chunk,
    .count_chunk = counting_count_chunk,
    .fetch = counting_fetch,
    .chunk = TAMIS_CHUNK,
    .merge = counting_merge,
    .subtract = counting_subtract,
    .converts_to = "bloom",
    .convert_geometry = counting_convert_geometry,
    .convert = counting_convert,
    .current_fpr = counting_current_fpr,
    .validate = counting_validate,
    .empties_to_zero = true,
};
