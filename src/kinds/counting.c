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
 * Two places of one key may be the same counter. Then adding counts it up twice, and removing must
 * find 2 there: counting_remove looks before it changes anything, and takes back what it did in the
 * one case that looking place by place cannot see.
 *
 * Invariants (checked by counting_validate)
 *   I1  bits of the body beyond the m counters are zero;
 *   I2  `saturated` is the number of counters at their maximum;
 *   I3  while none is saturated, the counters sum up to k x keys.
 */
#include "core/checked.h"
#include "core/packed.h"
#include "core/probes.h"
#include "kind.h"
#include "plan/bloom_size.h"
#include "plan/tails.h"

#include <math.h>

enum { COUNTERS, HASHES, COUNTER_BITS }; /* the geometry: m, k */

#define MIN_COUNTER_BITS 2
#define DEFAULT_COUNTER_BITS 4
#define MAX_COUNTER_BITS 16

/* ------------------------------------------------------------------ planning */

/* As many counters as the cache lines hold that `counters` need. */
static uint64_t counting_fill_lines(uint64_t counters, unsigned bits) {
    uint64_t bytes;
    if (!checked_body_bytes(counters, bits, PACKED_PAD_BYTES, &bytes)) return counters;
    return (bytes - PACKED_PAD_BYTES) * 8 / bits;
}

static tamis_status counting_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t       counters = need->fixed[COUNTERS], k = need->fixed[HASHES];
    uint64_t const fixed_bits = need->fixed[COUNTER_BITS];
    uint64_t const bits = fixed_bits == KIND_FREE ? DEFAULT_COUNTER_BITS : fixed_bits;
    if (bits < MIN_COUNTER_BITS || bits > MAX_COUNTER_BITS) return TAMIS_ERR_CANNOT;
    if (!tamis_bloom_choose(need->fpr, (double)need->capacity, &counters, &k)) {
        return TAMIS_ERR_CANNOT;
    }
    if (need->fixed[COUNTERS] == KIND_FREE) {
        counters = counting_fill_lines(counters, (unsigned)bits);
    }
    ret_geometry[COUNTERS] = counters;
    ret_geometry[HASHES] = k;
    ret_geometry[COUNTER_BITS] = bits;
    return TAMIS_OK;
}

static bool counting_body_bytes(const uint64_t *geometry, uint64_t *ret_bytes) {
    uint64_t const bits = geometry[COUNTER_BITS];
    if (geometry[COUNTERS] < 2 || geometry[HASHES] < 1 || geometry[HASHES] > PROBES_MAX)
        return false;
    if (bits < MIN_COUNTER_BITS || bits > MAX_COUNTER_BITS) return false;
    return checked_body_bytes(geometry[COUNTERS], bits, PACKED_PAD_BYTES, ret_bytes);
}

/* Expected counters that one add brings to their maximum when n - 1 keys are there: those that
 * reach it with n keys and not with n - 1. For many keys that difference cancels, and a key hits a
 * counter at most once: it is then k times the chance to meet one that is just below. */
static double counting_risk(double m, double k, double n, double top) {
    if (n > 100000) return k * exp(tamis_binomial_log((n - 1) * k, 1 / m, top - 1));
    double const with = tamis_binomial_tail(n * k, 1 / m, top);
    return m * (with - tamis_binomial_tail((n - 1) * k, 1 / m, top));
}

/* The probability that any counter ever sticks: in the filling, with the tail of the binomial, or
 * with an add later in place of a removed key. A little too large, since a counter that falls and
 * rises again is counted twice. */
static double counting_saturation(const uint64_t *geometry, double n, double lifetime) {
    double const m = (double)geometry[COUNTERS], k = (double)geometry[HASHES];
    double const top = (double)bits_low((unsigned)geometry[COUNTER_BITS]);
    double const filling = m * tamis_binomial_tail(n * k, 1 / m, top);
    double const replaced = lifetime > n ? lifetime - n : 0;
    return -expm1(-(filling + replaced * counting_risk(m, k, n, top)));
}

static void counting_predict(const uint64_t *geometry, uint64_t capacity, uint64_t lifetime,
                             tamis_forecast *ret_forecast) {
    double const   m = (double)geometry[COUNTERS], n = (double)capacity;
    double const   lines = m * (double)geometry[COUNTER_BITS] / 512;
    unsigned const k = (unsigned)geometry[HASHES];
    *ret_forecast = (tamis_forecast){
        .fpr = tamis_bloom_fpr(m, k, n),
        .saturation = counting_saturation(geometry, n, (double)lifetime),
        .lines_present = tamis_bloom_lines_present(lines, k),
        .lines_absent = tamis_bloom_lines_absent(lines, k, tamis_bloom_fill(m, k, n)),
        .lines_add = tamis_bloom_lines_present(lines, k),
    };
}

/* ------------------------------------------------------------------ counters */

TAMIS_INLINE unsigned counter_bits(const tamis_table *table) {
    return (unsigned)table->geometry[COUNTER_BITS];
}

TAMIS_INLINE const uint8_t *counter_where(const void *any, uint64_t place) {
    const tamis_table *table = any;
    return table->body + packed_find(place, counter_bits(table)).byte;
}

TAMIS_INLINE uint64_t counter_get(const tamis_table *table, uint64_t place) {
    return packed_get(table->body, place, counter_bits(table));
}

TAMIS_INLINE bool counter_holds(const void *any, uint64_t place) {
    return counter_get(any, place) != 0;
}

/* Count up, unless stuck. Returns 1 if the counter changed. */
TAMIS_INLINE unsigned counter_up(tamis_table *table, uint64_t place) {
    unsigned const bits = counter_bits(table);
    uint64_t const top = bits_low(bits), value = packed_get(table->body, place, bits);
    if (value == top) return 0;
    packed_set(table->body, place, bits, value + 1);
    table->saturated += value + 1 == top;
    return 1;
}

/* Count down a counter that is not 0, unless stuck. Returns 1 if it changed. */
TAMIS_INLINE unsigned counter_down(tamis_table *table, uint64_t place) {
    unsigned const bits = counter_bits(table);
    uint64_t const value = packed_get(table->body, place, bits);
    TAMIS_ASSERT(value != 0);
    if (value == bits_low(bits)) return 0;
    packed_set(table->body, place, bits, value - 1);
    return 1;
}

/* ------------------------------------------------------------------ keys, by their places */

TAMIS_INLINE void counting_up(tamis_table *table, const uint64_t *place, unsigned k) {
    unsigned changed = 0;
    for (unsigned i = 0; i < k; i++) changed |= counter_up(table, place[i]);
    table->keys += changed; /* an add that met only stuck counters is not counted */
}

TAMIS_INLINE bool counting_down(tamis_table *table, const uint64_t *place, unsigned k) {
    for (unsigned i = 0; i < k; i++) {
        if (!counter_holds(table, place[i])) return false;
    }
    unsigned changed = 0;
    for (unsigned i = 0; i < k; i++) {
        if (!counter_holds(table, place[i])) { /* place i is also an earlier one, and it held 1 */
            while (i-- != 0) counter_up(table, place[i]);
            return false;
        }
        changed |= counter_down(table, place[i]);
    }
    table->keys -= table->keys != 0 ? changed : 0;
    return true;
}

/* The smallest counter of the key that is not stuck; all stuck is many. */
TAMIS_INLINE uint64_t counting_least(const tamis_table *table, const uint64_t *place, unsigned k) {
    uint64_t const top = bits_low(counter_bits(table));
    uint64_t       least = top;
    for (unsigned i = 0; i < k; i++) least = min_u64(least, counter_get(table, place[i]));
    return least == top ? TAMIS_COUNT_MANY : least;
}

/* ------------------------------------------------------------------ keys, by their hash */

TAMIS_INLINE unsigned counting_places(const tamis_table *table, uint64_t hash,
                                      uint64_t place[PROBES_MAX]) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    for (unsigned i = 0; i < k; i++) {
        place[i] = probes_place(hash, i, table->geometry[COUNTERS]);
    }
    return k;
}

static bool counting_has(const tamis_table *table, uint64_t hash) {
    return probes_hold(table, hash, 0, (unsigned)table->geometry[HASHES], table->geometry[COUNTERS],
                       counter_holds);
}

static tamis_status counting_add(tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = counting_places(table, hash, place);
    counting_up(table, place, k);
    return TAMIS_OK;
}

static tamis_status counting_remove(tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = counting_places(table, hash, place);
    return counting_down(table, place, k) ? TAMIS_OK : TAMIS_ERR_ABSENT;
}

static uint64_t counting_count(const tamis_table *table, uint64_t hash) {
    uint64_t       place[PROBES_MAX];
    unsigned const k = counting_places(table, hash, place);
    return counting_least(table, place, k);
}

static uint64_t counting_has_chunk(const tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t const m = table->geometry[COUNTERS];
    return table->body_bytes <= PROBES_NEAR
               ? probes_ask_near(table, hash, n, k, m, counter_holds)
               : probes_ask(table, hash, n, k, m, counter_where, counter_holds);
}

TAMIS_INLINE unsigned counting_locate(const tamis_table *table, const uint64_t *hash, unsigned n,
                                      uint64_t place[PROBES_LOCATED]) {
    return probes_locate(table, hash, n, (unsigned)table->geometry[HASHES],
                         table->geometry[COUNTERS], counter_where, place);
}

static unsigned counting_add_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) counting_up(table, place + i * k, k);
    }
    return n;
}

static uint64_t counting_remove_chunk(tamis_table *table, const uint64_t *hash, unsigned n) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t       place[PROBES_LOCATED], removed = 0;
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) {
            removed |= (uint64_t)counting_down(table, place + i * k, k) << (done + i);
        }
    }
    return removed;
}

static void counting_count_chunk(const tamis_table *table, const uint64_t *hash, unsigned n,
                                 uint64_t *ret_counts) {
    unsigned const k = (unsigned)table->geometry[HASHES];
    uint64_t       place[PROBES_LOCATED];
    for (unsigned done = 0, located; done < n; done += located) {
        located = counting_locate(table, hash + done, n - done, place);
        for (unsigned i = 0; i < located; i++) {
            ret_counts[done + i] = counting_least(table, place + i * k, k);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* Counter by counter; a sum that reaches the maximum sticks, so this is never full. */
static tamis_status counting_merge(tamis_table *into, const tamis_table *from) {
    unsigned const bits = counter_bits(into);
    uint64_t const top = bits_low(bits);
    into->saturated = 0;
    for (uint64_t i = 0; i < into->geometry[COUNTERS]; i++) {
        uint64_t const sum = min_u64(counter_get(into, i) + counter_get(from, i), top);
        packed_set(into->body, i, bits, sum);
        into->saturated += sum == top;
    }
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static void counting_convert_geometry(const uint64_t *geometry, uint64_t *ret_geometry) {
    ret_geometry[0] = geometry[COUNTERS]; /* bits */
    ret_geometry[1] = geometry[HASHES];   /* hashes */
}

/* A counter that is not 0 becomes a mark. */
static void counting_convert(const tamis_table *from, tamis_table *to) {
    uint64_t const m = from->geometry[COUNTERS], k = from->geometry[HASHES];
    uint64_t       marked = 0;
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const holds = counter_holds(from, i);
        to->body[i / 8] |= (uint8_t)(holds << (i % 8));
        marked += holds;
    }
    /* stuck counters may outlive their keys, so that the marks say more than the count */
    to->keys = max_u64(from->keys, (marked + k - 1) / k);
}

static double counting_current_fpr(const tamis_table *table) {
    uint64_t const m = table->geometry[COUNTERS];
    uint64_t       held = 0;
    for (uint64_t i = 0; i < m; i++) held += counter_holds(table, i);
    return pow((double)held / (double)m, (double)table->geometry[HASHES]);
}

static bool counting_validate(const tamis_table *table, const char **reterr_why) {
    unsigned const bits = counter_bits(table);
    uint64_t const m = table->geometry[COUNTERS], k = table->geometry[HASHES];
    uint64_t       sum = 0, stuck = 0;
    for (uint64_t i = 0; i < m; i++) {
        uint64_t const value = counter_get(table, i);
        sum += value;
        stuck += value == bits_low(bits);
    }
    for (uint64_t bit = m * bits; bit < table->body_bytes * 8; bit++) {
        TAMIS_REQUIRE(((table->body[bit / 8] >> (bit % 8)) & 1) == 0, reterr_why,
                      "I1: a bit beyond the last counter");
    }
    TAMIS_REQUIRE(stuck == table->saturated, reterr_why,
                  "I2: the number of saturated counters is not what it is said to be");
    uint64_t expected;
    TAMIS_REQUIRE(stuck != 0 || (checked_mul(table->keys, k, &expected) && sum == expected),
                  reterr_why, "I3: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(counting) = {
    .name = "counting",
    .summary = "counting Bloom filter: the textbook's way to remove",
    .isa = KIND_ISA,
    .field_names = { "counters", "hashes", "counter_bits", NULL },
    .plan = counting_plan,
    .body_bytes = counting_body_bytes,
    .predict = counting_predict,
    .has = counting_has,
    .add = counting_add,
    .remove = counting_remove,
    .count = counting_count,
    .has_chunk = counting_has_chunk,
    .add_chunk = counting_add_chunk,
    .remove_chunk = counting_remove_chunk,
    .count_chunk = counting_count_chunk,
    .merge = counting_merge,
    .converts_to = "bloom",
    .convert_geometry = counting_convert_geometry,
    .convert = counting_convert,
    .current_fpr = counting_current_fpr,
    .validate = counting_validate,
    .empties_to_zero = true,
};
