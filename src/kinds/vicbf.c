/* vicbf.c - a counting filter that reads its counters: a third smaller, with the same layout.
 *
 * Paper: O. Rottenstreich, Y. Kanizo, I. Keslassy, "The Variable-Increment Counting Bloom Filter".
 * Names below: m counters, k hashes, n keys; D, the increments.
 *
 * Idea
 * ----
 * A counting Bloom filter in which a key adds to each of its k counters not 1 but a number of a
 * small set D, which one its hash says. A counter can then exclude a key although it is not 0: if
 * what is left without the key's own number is no sum of numbers of D.
 *
 *        D = {4, 5, 6, 7}    add "apple"   0 0 6 0 0 5 0 0 0 4 0 ...
 *                            has "pear"      7 at the counter that is 6: certainly not there
 *                            has "plum"      5 at a counter that is 9 = 5 + 4: perhaps
 *
 * The best D found is {8, 12, 14, 15} with counters of 8 bits. Fewer counters of more bits, and at
 * the same error a third less memory than counters of 4 bits that only count. With D = {1} it is
 * the plain counting filter.
 *
 * A counter that reaches its maximum no longer knows its value. It sticks there, is never counted
 * down again, and excludes nobody.
 *
 * Two counters of a key may be the same one. Then the key adds both numbers to it at once, and it
 * can hold the key only if it can hold their sum.
 *
 * Blocked: all counters of a key are in one cache line, chosen by its hash, and each in a part of
 * the line of its own. Lines are not equally full, so for the same error the table is larger, by a
 * tenth at 1% and a fifth at 0.1%; but an operation touches one line instead of k.
 *
 * Invariants (checked by vicbf_validate)
 *   I1  bits of the body that belong to no counter are zero;
 *   I2  `saturated` is the number of counters at their maximum;
 *   I3  every other counter is a sum of increments;
 *   I4  with one increment and while none is saturated, the counters sum up to k x keys. With more
 *       of them, keys that were never added may have been removed, and took another sum.
 */
#include "core/counters.h"
#include "core/increments.h"
#include "kind.h"
#include "plan/bloom_size.h"
#include "plan/vi_rate.h"
#include "plan/vi_size.h"

#include <math.h>

static_assert(VI_FREE == KIND_FREE && VI_FIELDS <= TAMIS_MAX_FIELDS, "one mark, enough room");

/* The geometry worked out. */
typedef struct vicbf_shape {
    increments d;
    sectors    in;
    unsigned   bits, hashes, more;
    uint64_t   top;
} vicbf_shape;

static_assert(sizeof(vicbf_shape) <= KIND_DERIVED * sizeof(uint64_t), "the shape fits its place");
static_assert(VI_MAX_HASHES + 1 <= SECTORS_MAX, "a sector for each hash, and for one more");
static_assert(1 << VI_MAX_BITS <= VI_RATE_VALUES, "counters of all values");

/* ------------------------------------------------------------------ planning */

static tamis_status vicbf_plan(const tamis_need *need, uint64_t *ret_geometry) {
    uint64_t g[TAMIS_MAX_FIELDS];
    memcpy(g, need->fixed, sizeof g);
    vi_need const want = { .n = (double)need->capacity,
                           .fpr = need->fpr,
                           .lifetime = (double)need->lifetime,
                           .is_blocked = need->prefer == TAMIS_PREFER_FAST };
    if (!tamis_vi_choose(&want, g)) return TAMIS_ERR_CANNOT;
    memcpy(ret_geometry, g, VI_FIELDS * sizeof g[0]);
    return TAMIS_OK;
}

static bool vicbf_body_bytes(const uint64_t *g, uint64_t *ret_bytes) {
    uint64_t const bits = g[VI_COUNTER_BITS];
    if (bits < VI_MIN_BITS || bits > VI_MAX_BITS || g[VI_BLOCKED] > 1 || g[VI_MORE] > 255)
        return false;
    if (g[VI_HASHES] < 1 || g[VI_HASHES] > VI_MAX_HASHES || g[VI_COUNTERS] < 2) return false;
    if (!increments_are_possible(g[VI_INCREMENTS])) return false;
    return sectors_body_bytes(g[VI_COUNTERS], bits, vi_sectors(g), g[VI_BLOCKED] != 0,
                              FIELD_PAD_BYTES, ret_bytes);
}

static void vicbf_predict(const uint64_t *g, uint64_t capacity, uint64_t lifetime,
                          tamis_forecast *ret_forecast) {
    double const n = (double)capacity, hashes = ceil(vi_mean_hashes(g));
    double const lines = (double)g[VI_COUNTERS] * (double)g[VI_COUNTER_BITS] / SECTORS_LINE_BITS;
    vi_profile   profile;
    tamis_vi_profile(g[VI_INCREMENTS], (unsigned)g[VI_COUNTER_BITS], &profile);
    double const excludes =
        tamis_vi_excludes(&profile, (double)g[VI_COUNTERS], n * vi_mean_hashes(g));
    *ret_forecast = (tamis_forecast){ .fpr = tamis_vi_fpr(g, n),
                                      .saturation = tamis_vi_saturation(g, n, (double)lifetime),
                                      .lines_present = 1,
                                      .lines_absent = 1,
                                      .lines_add = 1 };
    if (g[VI_BLOCKED] != 0) return;
    ret_forecast->lines_present = tamis_bloom_lines_present(lines, (unsigned)hashes);
    ret_forecast->lines_absent = tamis_bloom_lines_absent(lines, (unsigned)hashes, 1 - excludes);
    ret_forecast->lines_add = ret_forecast->lines_present;
}

static void vicbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!vicbf_body_bytes(g, &bytes)) return; /* it will get no body either */
    vicbf_shape const shape = { .d = increments_make(g[VI_INCREMENTS]),
                                .in = sectors_make(g[VI_COUNTERS], g[VI_COUNTER_BITS],
                                                   vi_sectors(g), g[VI_BLOCKED] != 0),
                                .bits = (unsigned)g[VI_COUNTER_BITS],
                                .hashes = (unsigned)g[VI_HASHES],
                                .more = (unsigned)g[VI_MORE],
                                .top = bits_low((unsigned)g[VI_COUNTER_BITS]) };
    memcpy(table->derived, &shape, sizeof shape);
}

TAMIS_INLINE const vicbf_shape *shape_of(const tamis_table *table) {
    return (const vicbf_shape *)(const void *)table->derived;
}

/* ------------------------------------------------------------------ where a key counts */

/* A counter, by its first bit, and what the key adds to it. */
typedef struct vicbf_probe {
    uint64_t at, adds;
} vicbf_probe;

/* Hashes of a key: some have one more. */
TAMIS_INLINE unsigned vicbf_hashes(const vicbf_shape *s, uint64_t hash) {
    return s->hashes + (s->more != 0 && (remix(hash, VI_MAX_HASHES + 1) & 255) < s->more);
}

TAMIS_INLINE vicbf_probe vicbf_probe_of(const vicbf_shape *s, uint64_t hash, uint64_t line,
                                        unsigned i) {
    uint64_t       chosen = remix(hash, i);
    uint64_t const at = s->in.lines != 0 ? sectors_pick(&s->in, line, i, &chosen)
                                         : sectors_pick_any(&s->in, &chosen);
    return (vicbf_probe){ at, increments_pick(&s->d, chosen) };
}

/* All of them, those at the same counter as one. Returns how many. */
static unsigned vicbf_probes(const vicbf_shape *s, uint64_t hash, vicbf_probe *ret_probe) {
    uint64_t const line = sectors_line(&s->in, hash);
    unsigned const hashes = vicbf_hashes(s, hash);
    unsigned       n = 0;
    for (unsigned i = 0; i < hashes; i++) {
        vicbf_probe const probe = vicbf_probe_of(s, hash, line, i);
        unsigned          same = 0;
        while (same < n && ret_probe[same].at != probe.at) same++;
        ret_probe[same].adds = (same < n ? ret_probe[same].adds : 0) + probe.adds;
        ret_probe[same].at = probe.at;
        n += same == n;
    }
    return n;
}

TAMIS_INLINE bool vicbf_may_hold(const vicbf_shape *s, const uint8_t *body, vicbf_probe probe) {
    uint64_t const c = field_get(body, probe.at, s->bits);
    return c == s->top || increments_may_hold(&s->d, c, probe.adds);
}

/* ------------------------------------------------------------------ keys, by their hash */

/* Counter by counter, until one excludes the key. Only if none does, those that are the same are
 * looked at as one. */
static bool vicbf_has(const tamis_table *table, uint64_t hash) {
    const vicbf_shape *const s = shape_of(table);
    uint64_t const           line = sectors_line(&s->in, hash);
    unsigned const           hashes = vicbf_hashes(s, hash);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    for (unsigned i = 0; i < hashes; i++) {
        if (!vicbf_may_hold(s, table->body, vicbf_probe_of(s, hash, line, i))) return false;
    }
    unsigned const n = vicbf_probes(s, hash, probe);
    for (unsigned i = 0; n < hashes && i < n; i++) {
        if (!vicbf_may_hold(s, table->body, probe[i])) return false;
    }
    return true;
}

static tamis_status vicbf_add(tamis_table *table, uint64_t hash) {
    const vicbf_shape *const s = shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    counters const           of = counters_of(&s->in, table->body);
    unsigned const           n = vicbf_probes(s, hash, probe);
    uint64_t                 stuck = 0;
    bool                     is_changed = false;
    for (unsigned i = 0; i < n; i++) {
        is_changed |= counters_up(of, probe[i].at, probe[i].adds, &stuck);
    }
    table->saturated += stuck;
    table->keys += is_changed; /* an add that met only stuck counters is not counted */
    return TAMIS_OK;
}

static tamis_status vicbf_remove(tamis_table *table, uint64_t hash) {
    const vicbf_shape *const s = shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    counters const           of = counters_of(&s->in, table->body);
    unsigned const           n = vicbf_probes(s, hash, probe);
    bool                     is_changed = false;
    for (unsigned i = 0; i < n; i++) {
        if (!vicbf_may_hold(s, table->body, probe[i])) return TAMIS_ERR_ABSENT;
    }
    for (unsigned i = 0; i < n; i++) is_changed |= counters_down(of, probe[i].at, probe[i].adds);
    table->keys -= is_changed && table->keys != 0;
    return TAMIS_OK;
}

/* No counter can hold it more often than this; all stuck is many. */
static uint64_t vicbf_count(const tamis_table *table, uint64_t hash) {
    const vicbf_shape *const s = shape_of(table);
    vicbf_probe              probe[VI_MAX_HASHES + 1];
    unsigned const           n = vicbf_probes(s, hash, probe);
    uint64_t                 least = TAMIS_COUNT_MANY;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const c = field_get(table->body, probe[i].at, s->bits);
        if (c != s->top) least = min_u64(least, increments_most(&s->d, c, probe[i].adds));
    }
    return least;
}

/* Keys in a chunk: their first lines are asked for while the chunk before is worked on. */
#define CHUNK 16

/* A lookup of an absent key needs one or two of its counters, an update all. */
static void vicbf_fetch(const tamis_table *table, const uint64_t *hash, unsigned n,
                        bool is_update) {
    const vicbf_shape *const s = shape_of(table);
    unsigned const           probes = s->in.lines != 0 ? 1 : is_update ? s->hashes : 2;
    for (unsigned i = 0; i < n; i++) {
        uint64_t const line = sectors_line(&s->in, hash[i]);
        for (unsigned j = 0; j < probes && j < s->hashes; j++) {
            prefetch_to_read(table->body + vicbf_probe_of(s, hash[i], line, j).at / 8);
        }
    }
}

/* ------------------------------------------------------------------ whole tables */

/* A sum that reaches the maximum sticks, so this is never full. */
static tamis_status vicbf_merge(tamis_table *into, const tamis_table *from) {
    into->saturated += counters_add_all(&shape_of(into)->in, into->body, from->body);
    into->keys = kind_sum_counts(into->keys, from->keys);
    return TAMIS_OK;
}

static bool vicbf_can_be(const void *context, uint64_t rest) {
    return increments_make_up(context, rest);
}

/* What is left of each counter must be a sum of increments. */
static tamis_status vicbf_subtract(tamis_table *into, const tamis_table *from) {
    const vicbf_shape *const s = shape_of(into);
    if (!counters_hold_all(&s->in, into->body, from->body, vicbf_can_be, &s->d))
        return TAMIS_ERR_ABSENT;
    counters_take_all(&s->in, into->body, from->body);
    into->keys = kind_less_counts(into->keys, from->keys);
    return TAMIS_OK;
}

/* The share of (counter, increment) pairs that exclude nobody, of n counters from `first` on. */
static double vicbf_share(const tamis_table *table, uint64_t first, uint64_t n) {
    const vicbf_shape *const s = shape_of(table);
    uint64_t                 pass = 0;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&s->in, i), s->bits);
        for (unsigned j = 0; j < s->d.n && c != 0; j++) {
            pass += c == s->top || increments_may_hold(&s->d, c, s->d.value[j]);
        }
    }
    return (double)pass / (double)(n * s->d.n);
}

/* Of a line, the product over its sectors; the last one is for some keys only. */
static double vicbf_line_fpr(const tamis_table *table, uint64_t line) {
    const vicbf_shape *const s = shape_of(table);
    double const             more = s->more / 256.0;
    double                   rate = 1;
    for (unsigned i = 0; i < s->hashes + (s->more != 0); i++) {
        uint64_t const first = line * s->in.per_line + s->in.first[i];
        double const   share = vicbf_share(table, first, s->in.first[i + 1] - s->in.first[i]);
        rate *= i < s->hashes ? share : 1 - more + more * share;
    }
    return rate;
}

/* How many counters of each value there are. */
static vi_counts vicbf_tally(const tamis_table *table) {
    const vicbf_shape *const s = shape_of(table);
    vi_counts                all = { .stuck = 0 };
    for (uint64_t i = 0; i < s->in.counters; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&s->in, i), s->bits);
        ++*(c == s->top ? &all.stuck : &all.of[c]);
    }
    return all;
}

static double vicbf_current_fpr(const tamis_table *table) {
    const vicbf_shape *const s = shape_of(table);
    double                   sum = 0;
    for (uint64_t line = 0; line < s->in.lines; line++) sum += vicbf_line_fpr(table, line);
    if (s->in.lines != 0) return sum / (double)s->in.lines;
    vi_counts const all = vicbf_tally(table);
    return tamis_vi_rate(&s->d, &all, s->hashes, s->more);
}

static bool vicbf_validate(const tamis_table *table, const char **reterr_why) {
    const vicbf_shape *const s = shape_of(table);
    uint64_t                 saturated = 0;
    double                   sum = 0;
    TAMIS_REQUIRE(sectors_gaps_are_zero(&s->in, table->body, table->body_bytes), reterr_why,
                  "I1: bits that belong to no counter");
    for (uint64_t i = 0; i < s->in.counters; i++) {
        uint64_t const c = field_get(table->body, sectors_at(&s->in, i), s->bits);
        saturated += c == s->top;
        sum += (double)c;
        TAMIS_REQUIRE(c == s->top || increments_make_up(&s->d, c), reterr_why,
                      "I3: a counter that is no sum of increments");
    }
    TAMIS_REQUIRE(saturated == table->saturated, reterr_why,
                  "I2: not as many counters as it says are saturated");
    bool const is_told = s->d.n == 1 && s->more == 0 && saturated == 0;
    TAMIS_REQUIRE(!is_told || sum == (double)table->keys * s->hashes, reterr_why,
                  "I4: the counters do not sum up to k x keys");
    return true;
}

KIND_EXPORT(vicbf) = {
    .name = "vicbf",
    .summary = "variable-increment counting filter: reads its counters, a third smaller",
    .isa = KIND_ISA,
    .copies_take_room = true,
    .field_names = { "counters", "hashes", "more", "counter_bits", "increments", "blocked", NULL },
    .plan = vicbf_plan,
    .body_bytes = vicbf_body_bytes,
    .predict = vicbf_predict,
    .prepare = vicbf_prepare,
    .has = vicbf_has,
    .add = vicbf_add,
    .remove = vicbf_remove,
    .count = vicbf_count,
    .fetch = vicbf_fetch,
    .chunk = CHUNK,
    .merge = vicbf_merge,
    .subtract = vicbf_subtract,
    .current_fpr = vicbf_current_fpr,
    .validate = vicbf_validate,
    .empties_to_zero = true,
};
