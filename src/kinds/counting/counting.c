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
 *        has "pear"    ^             ^   ^           one of them is 0: certainly absent
 *
 * Worked example: 10 counters for a key, and k = 7. The share of counters that are not 0 is 1 -
 * e^(-7 / 10) = 0.503, and the fpr 0.503^7 = 0.82%, that of a Bloom filter with 10 bits for a key.
 * With 4 bits in a counter, a key takes 40 bits.
 *
 * Why four bits are enough for membership: with the best k a counter holds ln 2 = 0.69 on average,
 * and reaches 15 with probability 2e-15. That is not never. A counter that reaches its maximum is
 * stuck (core/counters.h): it is never counted down again. A key whose counters are all stuck stays
 * in the set for good ("saturated"; a flood of one key does that), but no key is ever lost.
 *
 * Layout: the counters of a key are anywhere, or all in one cache line, one in each sector of it
 * (core/sectors.h, "blocked"). Lines are not equally full, so for the same rate a blocked table is
 * larger, but an operation touches one line instead of k.
 *
 * Counts ("minimum selection"): a key has at most as many copies as its smallest counter says. It
 * has fewer when other keys have hit all of its counters, which is as frequent as a false positive.
 *
 * Minimal increase (S. Cohen, Y. Matias, "Spectral Bloom Filters", SIGMOD 2003): an add counts up
 * only those counters of the key that have its smallest value.
 *   - Every counter is still at least the copies of each key that has it: the smallest counter of
 *     the added key was at least its copies and is one more now, and no counter fell. So counts are
 *     still upper estimates, and they are wrong several times less often.
 *   - A counter no longer knows which keys counted it up, so nothing can be removed.
 *   - Two such tables are merged by addition: counters that are at least the copies of a key in
 *     each table are at least their sum in both together.
 *
 *     key x has the counters 2, 5, 3     plain: 3, 6, 4      minimal: 3, 5, 3
 *     once more                          plain: 4, 7, 5      minimal: 4, 5, 4
 *
 * The count of x rises by one each time, as it must. The counter 5 belongs to other keys, too,
 * whose counts do not rise.
 *
 * Two of the k counters of a key may be the same one. An add then counts it up twice, and a removal
 * must find 2 there. counting_down() looks at all counters before it changes any, and undoes its
 * changes in the one case that looking at counters one by one cannot see. Minimal increase counts
 * such a counter up once.
 *
 * Invariants (checked by counting_validate)
 *   I1  bits of the body that belong to no counter are zero;
 *   I2  `saturated` is the number of counters at their maximum;
 *   I3  while none is saturated, the counters sum up to k x keys;
 *   I4  with minimal increase instead, they sum up to at least keys and at most k x keys, and no
 *       counter is more than keys.
 */
#include "counter_places.h"
#include "kind.h"
#include "sharing.h"
#include "size.h"
#include "theory/bloom_rate.h"

#include <math.h>

static_assert(CBF_MAX_HASHES <= PROBES_MAX, "places of a key fit");
static_assert(sizeof(sectors) <= KIND_DERIVED * sizeof(uint64_t), "the layout fits its place");

/* ------------------------------------------------------------------ planning */

/* Blocked only if the user fixes that field: this kind is the baseline that everybody knows, and
 * only a scattered table converts to a Bloom filter with the same answers. */
static tamis_status counting_plan(const tamis_need *need, uint64_t *ret_geometry) {
    return tamis_cbf_choose(need, ret_geometry) ? TAMIS_OK : TAMIS_ERR_CANNOT;
}

/* There is no overflow: an add always finds its counters. Copies and churn matter only for
 * saturation. Blocked, every operation touches the one line of its key. */
static void counting_predict(const uint64_t *g, const tamis_workload *work,
                             tamis_forecast *ret_forecast) {
    double const   m = (double)g[CBF_COUNTERS], n = (double)work->capacity;
    double const   lines = m * (double)g[CBF_COUNTER_BITS] / SECTORS_LINE_BITS;
    unsigned const k = (unsigned)g[CBF_HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_cbf_fpr(g, n),
        .saturation = tamis_cbf_saturation(g, work),
        .lines_present = 1,
        .lines_absent = 1,
        .lines_add = 1,
    };
    if (g[CBF_BLOCKED] != 0) return;
    ret_forecast->lines_present = tamis_bloom_lines_present(lines, k);
    ret_forecast->lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n));
    ret_forecast->lines_add = ret_forecast->lines_present;
}

static unsigned counting_lacks(const uint64_t *geometry) {
    return geometry[CBF_MINIMAL] != 0 ? TAMIS_CAN_REMOVE : 0;
}

/* The layout of the counters is computed once and kept in table->derived. */
static void counting_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!tamis_cbf_body_bytes(g, &bytes)) return; /* such a geometry gets no body either */
    sectors const layout =
        sectors_make(g[CBF_COUNTERS], g[CBF_COUNTER_BITS], g[CBF_HASHES], g[CBF_BLOCKED] != 0);
    memcpy(table->derived, &layout, sizeof layout);
}

/* ------------------------------------------------------------------ a key, by its counters
 *
 * In this section at[0..k-1] are the first bits of the counters of a key. */

/* Plain add. `stuck` counts the counters that this add brings to their maximum, and not those that
 * were there before: so `saturated` is always the number of stuck counters (I2). */
TAMIS_INLINE void counting_up(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const cells = counting_cells(table);
    uint64_t       stuck = 0;
    bool           is_changed = false;
    for (unsigned i = 0; i < k; i++) is_changed |= counters_up(cells, at[i], 1, &stuck);
    table->saturated += stuck;
    table->keys += is_changed; /* an add that met only stuck counters is not counted */
}

/* Minimal increase. A counter that was just counted up is no longer one of the smallest, so a
 * counter that the key has twice changes once. */
TAMIS_INLINE void counting_up_least(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const cells = counting_cells(table);
    uint64_t       least = cells.top, stuck = 0;
    for (unsigned i = 0; i < k; i++) least = min_u64(least, counters_get(cells, at[i]));
    for (unsigned i = 0; i < k && least != cells.top; i++) {
        if (counters_get(cells, at[i]) == least) (void)counters_up(cells, at[i], 1, &stuck);
    }
    table->saturated += stuck;
    table->keys += least != cells.top;
}

/* The branch is the same for every key of a table, so it is predicted. */
TAMIS_INLINE void counting_add_at(tamis_table *table, const uint64_t *at, unsigned k) {
    if (table->geometry[CBF_MINIMAL] != 0)
        counting_up_least(table, at, k);
    else
        counting_up(table, at, k);
}

/* TAMIS_OK; or nothing changed, and _ABSENT, or _SATURATED if all counters are stuck. The second
 * loop finds a counter that is 0 only if the key has it twice and it held 1: then the first steps
 * are undone. That cannot saturate a counter, since it only returns to the value that it had. For a
 * key with the counters a, b, a, and a = b = 1: a and b become 0, then a is found to be 0, and both
 * become 1 again. */
TAMIS_INLINE tamis_status counting_down(tamis_table *table, const uint64_t *at, unsigned k) {
    counters const cells = counting_cells(table);
    uint64_t       none = 0;
    bool           is_changed = false;
    for (unsigned i = 0; i < k; i++) {
        if (counters_get(cells, at[i]) == 0) return TAMIS_ERR_ABSENT;
    }
    for (unsigned i = 0; i < k; i++) {
        if (counters_get(cells, at[i]) == 0) {
            while (i-- != 0) (void)counters_up(cells, at[i], 1, &none);
            return TAMIS_ERR_ABSENT;
        }
        is_changed |= counters_down(cells, at[i], 1);
    }
    table->keys -= is_changed && table->keys != 0;
    return is_changed ? TAMIS_OK : TAMIS_ERR_SATURATED;
}

/* The smallest counter of the key. If all are stuck, the count is "many". */
TAMIS_INLINE uint64_t counting_least(const tamis_table *table, const uint64_t *at, unsigned k) {
    counters const cells = counting_cells(table);
    uint64_t       least = cells.top;
    for (unsigned i = 0; i < k; i++) least = min_u64(least, counters_get(cells, at[i]));
    return least == cells.top ? TAMIS_COUNT_MANY : least;
}

/* ------------------------------------------------------------------ lookups in one line */

/* Is the counter of a key in sector i not 0? `line` is the counters from the first byte of the line
 * on, so that counter c of it begins at bit c x bits. */
TAMIS_INLINE bool counting_line_holds(const sectors *layout, counters line, uint64_t hash,
                                      unsigned i) {
    uint64_t chosen = remix(hash, i);
    return counters_get(line, sectors_pick(layout, i, &chosen) * line.bits) != 0;
}

/* Counter by counter, until one is 0. The first two are tested together: after one of them alone,
 * the branch would be a coin toss that the processor mispredicts half of the time. */
TAMIS_INLINE bool counting_has_in_line(const tamis_table *table, uint64_t hash, unsigned bits) {
    const sectors *const layout = counting_layout(table);
    uint8_t *const       first_byte = table->body + sectors_line(layout, hash) / 8;
    counters const       line = { first_byte, bits, bits_low(bits) };
    unsigned const       k = counting_hashes(table);
    unsigned const       first = counting_line_holds(layout, line, hash, 0);
    unsigned const       second = counting_line_holds(layout, line, hash, k > 1);
    if ((first & second) == 0) return false;
    for (unsigned i = 2; i < k; i++) {
        if (!counting_line_holds(layout, line, hash, i)) return false;
    }
    return true;
}

/* Counters of any width. */
static __attribute__((noinline)) STRIPE_READER bool
counting_has_in_any_line(const tamis_table *table, uint64_t hash) {
    return counting_has_in_line(table, hash, counting_layout(table)->bits);
}

/* Counters of the usual width have an instance of their own, with a constant width. */
TAMIS_INLINE bool counting_has_blocked(const tamis_table *table, uint64_t hash) {
    return counting_layout(table)->bits == CBF_USUAL_BITS
               ? counting_has_in_line(table, hash, CBF_USUAL_BITS)
               : counting_has_in_any_line(table, hash);
}

/* ------------------------------------------------------------------ one key */

/* Lookups read the table while another thread may change it (SHARE_ONE_LOCK below): whatever a
 * counter holds meanwhile, the places are those of the hash, inside of the body. */
static STRIPE_READER bool counting_has(const tamis_table *table, uint64_t hash) {
    if (counting_is_blocked(table)) return counting_has_blocked(table, hash);
    return probes_hold(table, hash, 0, counting_hashes(table), table->geometry[CBF_COUNTERS],
                       counting_holds);
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
    return counting_down(table, at, k);
}

static STRIPE_READER uint64_t counting_count(const tamis_table *table, uint64_t hash) {
    uint64_t       at[PROBES_MAX];
    unsigned const k = counting_locate_one(table, hash, at);
    return counting_least(table, at, k);
}

/* ------------------------------------------------------------------ a chunk of keys */

/* Prefetch the lines of the first keys of the next chunk; those of the others follow as the chunk
 * is worked on (counting_locate, counting_has_chunk). Scattered tables prefetch as they go. */
static void counting_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                           bool is_update) {
    for (unsigned i = 0; i < n && i < COUNTING_AHEAD && counting_is_blocked(table); i++) {
        counting_fetch_line(table, hash[i], is_update);
    }
}

/* A table that fits into the cache needs no prefetching: its keys are tested one by one
 * (probes_ask_near). */
static STRIPE_READER uint64_t counting_has_chunk(const tamis_table *table, const uint64_t *hash,
                                                 unsigned n) {
    unsigned const k = counting_hashes(table);
    uint64_t const m = table->geometry[CBF_COUNTERS];
    uint64_t       found = 0;
    if (!counting_is_blocked(table)) {
        return table->body_bytes <= PROBES_NEAR
                   ? probes_ask_near(table, hash, n, k, m, counting_holds)
                   : probes_ask(table, hash, n, k, m, counting_where, counting_holds);
    }
    for (unsigned i = 0; i < n; i++) {
        if (i + COUNTING_AHEAD < n) counting_fetch_line(table, hash[i + COUNTING_AHEAD], false);
        found |= (uint64_t)counting_has_blocked(table, hash[i]) << i;
    }
    return found;
}

/* In two passes over as many keys as `at` has room for: the first finds all counters and prefetches
 * them, the second changes them, when they have arrived. The same for the two below. */
static unsigned counting_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = counting_hashes(table);
    uint64_t       at[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) counting_add_at(table, at + i * k, k);
    }
    return n;
}

/* Keys that share counters are changed in order, as one by one: only the places are computed ahead,
 * never the values. */
static uint64_t counting_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t *ret_saturated) {
    unsigned const k = counting_hashes(table);
    uint64_t       at[PROBES_LOCATED], removed = 0, saturated = 0;
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) {
            tamis_status const status = counting_down(table, at + i * k, k);
            removed |= (uint64_t)(status == TAMIS_OK) << (done + i);
            saturated |= (uint64_t)(status == TAMIS_ERR_SATURATED) << (done + i);
        }
    }
    *ret_saturated = saturated;
    return removed;
}

static void counting_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                                 uint64_t *ret_counts) {
    unsigned const k = counting_hashes(table);
    uint64_t       at[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, at);
        for (unsigned i = 0; i < located; i++) {
            ret_counts[done + i] = counting_least(table, at + i * k, k);
        }
    }
}

/* ------------------------------------------------------------------ merging and subtracting */

/* A sum that reaches the maximum gets stuck, so a merge never fails for lack of room. */
static tamis_status counting_merge(tamis_table *into, const tamis_table *from) {
    into->saturated += counters_add_all(counting_layout(into), into->body, from->body);
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* The reverse of a merge, counter by counter. `keys` may be less than what is taken: adds that met
 * only stuck counters were not counted. */
static tamis_status counting_subtract(tamis_table *into, const tamis_table *from) {
    const sectors *const layout = counting_layout(into);
    /* A part of a set has no counter that is larger than the set's. This is checked first, so that
     * a refusal changes nothing. */
    if (!counters_hold_all(layout, into->body, from->body, NULL, NULL)) return TAMIS_ERR_ABSENT;
    counters_take_all(layout, into->body, from->body);
    into->keys = sub_or_0(into->keys, from->keys); /* not all of them may have been counted */
    return TAMIS_OK;
}

/* ------------------------------------------------------------------ becoming a Bloom filter */

/* Same places, same hashes. The places of a Bloom filter are anywhere, so a blocked table has no
 * such geometry. */
static bool counting_convert_geometry(const uint64_t *geometry, uint64_t *ret_geometry) {
    /* The fields of bloom, whose enum is not visible here; `blocked` stays 0. */
    ret_geometry[0] = geometry[CBF_COUNTERS]; /* bits */
    ret_geometry[1] = geometry[CBF_HASHES];   /* hashes */
    return geometry[CBF_BLOCKED] == 0;
}

/* A counter that is not 0 becomes a mark. Stuck counters may outlive their keys, so that there can
 * be more marks than `keys` accounts for: bloom's I3 needs the larger number. Place i of a key is
 * fastrange(remix(hash, i), m) in both tables. */
static void counting_convert(const tamis_table *from, tamis_table *to) {
    uint64_t const m = from->geometry[CBF_COUNTERS], k = from->geometry[CBF_HASHES];
    uint64_t       marked = 0;
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const holds = counting_holds(from, i);
        to->body[i / 8] |= (uint8_t)(holds << (i % 8));
        marked += holds;
    }
    to->keys = max_u64(from->keys, (marked + k - 1) / k);
}

/* ------------------------------------------------------------------ the table as it is */

/* How many of the n counters from `first` on are not 0: their number is all that a rate depends
 * on. */
static uint64_t counting_held(const tamis_table *table, uint64_t first, uint64_t n) {
    const sectors *const layout = counting_layout(table);
    counters const       cells = counting_cells(table);
    uint64_t             held = 0;
    for (uint64_t i = first; i < first + n; i++) {
        held += counters_get(cells, sectors_at(layout, i)) != 0;
    }
    return held;
}

/* The chance that an absent key of this line finds its counter in every sector not 0: the product
 * of the shares of the sectors. With 2 sectors of 64 counters, of which 32 and 16 are in use, 1/2 x
 * 1/4. */
static double counting_line_fpr(const tamis_table *table, uint64_t line, uint64_t *held) {
    const sectors *const layout = counting_layout(table);
    double               rate = 1;
    for (unsigned i = 0; i < counting_hashes(table); i++) {
        uint64_t const size = layout->first[i + 1] - layout->first[i];
        uint64_t const n = counting_held(table, line * layout->per_line + layout->first[i], size);
        rate *= (double)n / (double)size;
        *held += n;
    }
    return rate;
}

/* Scattered: the rate is the chance that k random counters are not 0. Blocked: the mean of the rate
 * over all lines. */
static void counting_survey(const tamis_table *table, kind_survey *ret_survey) {
    const sectors *const layout = counting_layout(table);
    double const         m = (double)layout->counters, k = (double)counting_hashes(table);
    uint64_t             held = 0;
    double               rate = 0;
    for (uint64_t line = 0; line < layout->lines; line++) {
        rate += counting_line_fpr(table, line, &held) / (double)layout->lines;
    }
    if (layout->lines == 0) {
        held = counting_held(table, 0, layout->counters);
        rate = pow((double)held / m, k);
    }
    *ret_survey = (kind_survey){ .fpr = rate,
                                 .distinct = tamis_bloom_distinct(m, k, (double)held),
                                 .load = (double)held / m };
}

/* ------------------------------------------------------------------ validation */

typedef struct counting_tally {
    uint64_t sum, stuck, most; /* of all counters: their sum, how many are stuck, the largest */
} counting_tally;

/* One pass for all that I2, I3 and I4 ask. The sum cannot wrap: 2^62 counters of 16 bits do not fit
 * into any memory, and each adds less than 2^16. */
static counting_tally counting_take_tally(const tamis_table *table) {
    const sectors *const layout = counting_layout(table);
    counters const       cells = counting_cells(table);
    counting_tally       all = { 0, 0, 0 };
    for (uint64_t i = 0; i < layout->counters; i++) {
        uint64_t const value = counters_get(cells, sectors_at(layout, i));
        all.sum += value;
        all.stuck += value == cells.top;
        all.most = max_u64(all.most, value);
    }
    return all;
}

/* `hits` is what the counters sum up to if no add met a stuck counter: k for each key, and with
 * minimal increase between 1 and k. */
static bool counting_validate(const tamis_table *table, const char **reterr_why) {
    counting_tally const all = counting_take_tally(table);
    uint64_t const       keys = table->keys;
    uint64_t             hits = 0; /* k x keys */
    bool const           is_countable = checked_mul(keys, counting_hashes(table), &hits);
    bool const           is_minimal = table->geometry[CBF_MINIMAL] != 0, is_told = all.stuck == 0;
    TAMIS_REQUIRE(sectors_gaps_are_zero(counting_layout(table), table->body, table->body_bytes),
                  reterr_why, "I1: a bit is set that belongs to no counter");
    TAMIS_REQUIRE(all.stuck == table->saturated, reterr_why,
                  "I2: the stored number of saturated counters is wrong");
    /* Sums can be checked only while no counter is stuck: a stuck one has lost hits. */
    TAMIS_REQUIRE(!is_told || is_minimal || (is_countable && all.sum == hits), reterr_why,
                  "I3: the counters do not sum up to k x keys");
    bool const is_between = is_countable && all.sum >= keys && all.sum <= hits && all.most <= keys;
    TAMIS_REQUIRE(!is_told || !is_minimal || is_between, reterr_why,
                  "I4: the counters do not fit the number of keys");
    return true;
}

/* A key has counters in many lines, and a removal looks at all of them before it changes one. */
SHARE_ONE_LOCK(counting);

static const kind_conversion counting_conversion = { .to = "bloom",
                                                     .geometry = counting_convert_geometry,
                                                     .convert = counting_convert };

KIND_EXPORT(counting) = {
    .name = "counting",
    .summary = "counting Bloom filter, as in textbooks; with minimal=1 it cannot remove",
    .isa = KIND_ISA,
    .fields = { { "counters", 2, CBF_MAX_COUNTERS },
                { "hashes", 1, CBF_MAX_HASHES },
                { "counter_bits", CBF_MIN_BITS, CBF_MAX_BITS },
                { "blocked", 0, 1 },
                { "minimal", 0, 1 },
                { NULL, 0, 0 } },
    .first_fields = 3,
    .plan = counting_plan,
    .body_bytes = tamis_cbf_body_bytes,
    .predict = counting_predict,
    .count_to = tamis_cbf_count_to,
    .most_count = (UINT64_C(1) << CBF_MAX_BITS) - 2,
    .lacks = counting_lacks,
    .prepare = counting_prepare,
    .calls = {
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
    },
    .merge = counting_merge,
    .subtract = counting_subtract,
    .conversion = &counting_conversion,
    .sharing = &counting_sharing,
    .survey = counting_survey,
    .validate = counting_validate,
    .empties_to_zero = true,
};
