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
#include "theory/bloom_rate.h"
#include "theory/vi_rate.h"
#include "size.h"

#include <math.h>

static_assert(VI_FREE == KIND_FREE && VI_FIELDS <= TAMIS_MAX_FIELDS, "one mark, enough room");

/* Of few increments and counters of few bits, which counter may hold which is looked up. */
#define LISTED 16
#define LISTED_BITS 8

/* The geometry worked out. */
typedef struct vicbf_shape {
    increments d;
    sectors    in;
    unsigned   bits, hashes, more;
    bool       is_listed; /* what holds what is in `holds` */
    uint64_t   top;
    uint16_t   holds[1 << LISTED_BITS]; /* bit i: a counter of that value may hold increment i */
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

/* One that is stuck holds anybody. */
static void vicbf_list(vicbf_shape *s) {
    s->is_listed = s->bits <= LISTED_BITS && s->d.n <= LISTED;
    for (uint64_t c = 0; s->is_listed && c <= s->top; c++) {
        for (unsigned i = 0; i < s->d.n; i++) {
            bool const is_held = c == s->top || increments_may_hold(&s->d, c, s->d.value[i]);
            s->holds[c] = (uint16_t)(s->holds[c] | (unsigned)is_held << i);
        }
    }
}

static void vicbf_prepare(tamis_table *table) {
    const uint64_t *const g = table->geometry;
    uint64_t              bytes;
    if (!vicbf_body_bytes(g, &bytes)) return; /* it will get no body either */
    vicbf_shape shape = { .d = increments_make(g[VI_INCREMENTS]),
                          .in = sectors_make(g[VI_COUNTERS], g[VI_COUNTER_BITS], vi_sectors(g),
                                             g[VI_BLOCKED] != 0),
                          .bits = (unsigned)g[VI_COUNTER_BITS],
                          .hashes = (unsigned)g[VI_HASHES],
                          .more = (unsigned)g[VI_MORE],
                          .top = bits_low((unsigned)g[VI_COUNTER_BITS]) };
    vicbf_list(&shape);
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

/* Those at the same counter become one. Returns how many are left. */
static unsigned vicbf_join(vicbf_probe *probe, unsigned n) {
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 0;
        while (same < kept && probe[same].at != probe[i].at) same++;
        if (same < kept)
            probe[same].adds += probe[i].adds;
        else
            probe[kept++] = probe[i];
    }
    return kept;
}

/* In a line no two are at the same counter. */
TAMIS_INLINE unsigned vicbf_probes_in_line(const vicbf_shape *s, uint64_t hash,
                                           vicbf_probe *ret_probe) {
    uint64_t const line = sectors_line(&s->in, hash);
    unsigned const hashes = vicbf_hashes(s, hash);
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = sectors_pick(&s->in, i, &chosen);
        ret_probe[i] = (vicbf_probe){ line + counter * s->bits, increments_pick(&s->d, chosen) };
    }
    return hashes;
}

/* All of them, those at the same counter as one. Returns how many. */
TAMIS_INLINE unsigned vicbf_probes(const vicbf_shape *s, uint64_t hash, vicbf_probe *ret_probe) {
    if (s->in.lines != 0) return vicbf_probes_in_line(s, hash, ret_probe);
    unsigned const hashes = vicbf_hashes(s, hash);
    uint64_t       seen = 0; /* counters, modulo 64: most keys need look no further */
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = fastrange_next(&chosen, s->in.counters);
        ret_probe[i] = (vicbf_probe){ counter * s->bits, increments_pick(&s->d, chosen) };
        seen |= UINT64_C(1) << (counter % 64);
    }
    return bits_popcount(seen) == hashes ? hashes : vicbf_join(ret_probe, hashes);
}

/* May a counter hold the increments of a probe? */
TAMIS_INLINE bool vicbf_may_hold(const vicbf_shape *s, uint64_t c, uint64_t adds) {
    return c == s->top || increments_may_hold(&s->d, c, adds);
}

/* The same, of the increment in place `which`, looked up if it can be. */
TAMIS_INLINE bool vicbf_may_hold_one(const vicbf_shape *s, uint64_t c, uint64_t which,
                                     bool is_listed) {
    if (is_listed) return (s->holds[c] >> which & 1) != 0;
    return vicbf_may_hold(s, c, s->d.value[which]);
}

/* ------------------------------------------------------------------ lookups in a line */

/* Does counter i of a key allow that it is there? */
TAMIS_INLINE bool vicbf_line_holds(const vicbf_shape *s, counters line, uint64_t hash, unsigned i,
                                   bool is_listed) {
    uint64_t       chosen = remix(hash, i);
    uint64_t const counter = sectors_pick(&s->in, i, &chosen), which = fastrange(chosen, s->d.n);
    return vicbf_may_hold_one(s, counters_get(line, counter * line.bits), which, is_listed);
}

/* Counter by counter, until one excludes the key. The first two at once: after one it would be a
 * branch on a coin toss. */
TAMIS_INLINE bool vicbf_has_in_line(const vicbf_shape *s, counters of, uint64_t hash,
                                    bool is_listed) {
    counters const line = { of.body + sectors_line(&s->in, hash) / 8, of.bits, of.top };
    unsigned const hashes = vicbf_hashes(s, hash);
    unsigned const first = vicbf_line_holds(s, line, hash, 0, is_listed);
    unsigned const second = vicbf_line_holds(s, line, hash, hashes > 1, is_listed);
    if ((first & second) == 0) return false;
    for (unsigned i = 2; i < hashes; i++) {
        if (!vicbf_line_holds(s, line, hash, i, is_listed)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ lookups anywhere */

/* Of a key whose counters all hold it, and some are the same: do they hold it together? */
static __attribute__((noinline)) bool vicbf_holds_together(const vicbf_shape *s, counters of,
                                                           uint64_t hash) {
    vicbf_probe    probe[VI_MAX_HASHES + 1];
    unsigned const n = vicbf_probes(s, hash, probe);
    for (unsigned i = 0; i < n; i++) {
        if (!vicbf_may_hold(s, counters_get(of, probe[i].at), probe[i].adds)) return false;
    }
    return true;
}

/* Counter by counter, until one excludes the key. Only if none does, those that are the same are
 * looked at as one. */
static __attribute__((noinline)) bool vicbf_has_anywhere(const vicbf_shape *s, counters of,
                                                         uint64_t hash) {
    unsigned const hashes = vicbf_hashes(s, hash);
    uint64_t       seen = 0; /* counters, modulo 64 */
    for (unsigned i = 0; i < hashes; i++) {
        uint64_t       chosen = remix(hash, i);
        uint64_t const counter = fastrange_next(&chosen, s->in.counters);
        uint64_t const c = counters_get(of, counter * of.bits);
        if (!vicbf_may_hold_one(s, c, fastrange(chosen, s->d.n), s->is_listed)) return false;
        seen |= UINT64_C(1) << (counter % 64);
    }
    return bits_popcount(seen) == hashes || vicbf_holds_together(s, of, hash);
}

/* ------------------------------------------------------------------ keys, by their hash */

/* Of any width. The usual one has an instance of its own. */
static __attribute__((noinline)) bool vicbf_has_in_any_line(const vicbf_shape *s, uint8_t *body,
                                                            uint64_t hash) {
    return vicbf_has_in_line(s, counters_of(&s->in, body), hash, s->is_listed);
}

static bool vicbf_has(const tamis_table *table, uint64_t hash) {
    const vicbf_shape *const s = shape_of(table);
    if (s->in.lines == 0) return vicbf_has_anywhere(s, counters_of(&s->in, table->body), hash);
    if (s->bits != 8 || !s->is_listed) return vicbf_has_in_any_line(s, table->body, hash);
    return vicbf_has_in_line(s, (counters){ table->body, 8, 255 }, hash, true);
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
        if (!vicbf_may_hold(s, counters_get(of, probe[i].at), probe[i].adds))
            return TAMIS_ERR_ABSENT;
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
    unsigned const           probes = is_update ? s->hashes : 2;
    for (unsigned i = 0; i < n && s->in.lines != 0; i++) {
        prefetch_to_read(table->body + sectors_line(&s->in, hash[i]) / 8);
    }
    for (unsigned i = 0; i < n && s->in.lines == 0; i++) {
        for (unsigned j = 0; j < probes && j < s->hashes; j++) {
            uint64_t const counter = fastrange(remix(hash[i], j), s->in.counters);
            prefetch_to_read(table->body + counter * s->bits / 8);
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
